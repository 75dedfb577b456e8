//! The wrapper of a store that reports to an [`Observer`].
//!
//! The attribute `#[apply(observed)]` of a port implements the port for the wrapper: every method calls the method of
//! the wrapped store and reports its name. So no method of a port is written here again, and none can be forgotten.

use std::sync::Arc;
use std::time::Instant;

use crate::change::LoginFailure;
use crate::observe::Observer;
use crate::store_error::StoreError;

/// A store that reports to an observer how long each of its operations took.
pub struct Observed<S: ?Sized> {
    pub(super) store: Arc<S>,
    pub(super) observer: Arc<dyn Observer>,
}

impl<S: ?Sized> Observed<S> {
    /// Wraps a store, and reports its operations to the observer.
    #[must_use]
    pub fn new(store: Arc<S>, observer: Arc<dyn Observer>) -> Self {
        Self { store, observer }
    }
}

/// A transaction of an [`Observed`] store.
pub(super) struct ObservedTransaction<T: ?Sized> {
    pub(super) store: Box<T>,
    pub(super) observer: Arc<dyn Observer>,
    /// The failed logins to report after the commit.
    pub(super) failures: Vec<LoginFailure>,
}

/// Waits for an operation of a store, and reports how long it took.
#[expect(clippy::disallowed_methods, reason = "it only measures, and no decision depends on it")]
pub(super) async fn timed<T>(
    observer: &dyn Observer,
    operation: &'static str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let started = Instant::now();
    let answer = call.await;
    observer.store_answered(operation, started.elapsed(), answer.as_ref().err());
    answer
}

/// An attribute of a port. It leaves the port as it is, and implements it for [`Observed`] if its methods take `&self`,
/// or for [`ObservedTransaction`] if they take `&mut self`.
macro_rules! observed {
    ($($port:tt)+) => {
        $($port)+
        $crate::store::observed::implemented! { $($port)+ }
    };
}

macro_rules! implemented {
    ($(#[$_:meta])* pub trait $port:ident {
        $($(#[$__:meta])* async fn $method:ident(&$this:ident $(, $name:ident: $type:ty)* $(,)?) -> $answer:ty;)+
    }) => {
        #[async_trait]
        impl<S: $port + Send + Sync + ?Sized> $port for $crate::store::observed::Observed<S> {
            $(async fn $method(&$this, $($name: $type),*) -> $answer {
                let call = $this.store.$method($($name),*);
                $crate::store::observed::timed(&*$this.observer, stringify!($method), call).await
            })+
        }
    };
    ($(#[$_:meta])* pub trait $port:ident {
        $($(#[$__:meta])* async fn $method:ident(&mut $this:ident $(, $name:ident: $type:ty)* $(,)?) -> $answer:ty;)+
    }) => {
        #[async_trait]
        impl<T: $port + Send + ?Sized> $port for $crate::store::observed::ObservedTransaction<T> {
            $(async fn $method(&mut $this, $($name: $type),*) -> $answer {
                let call = $this.store.$method($($name),*);
                $crate::store::observed::timed(&*$this.observer, stringify!($method), call).await
            })+
        }
    };
}

pub(super) use {implemented, observed};
