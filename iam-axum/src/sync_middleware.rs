//! Middleware that works before and after the rest of the stack, at the lowest possible cost.
//!
//! [`axum::middleware::from_fn`] takes any async function. For that, it clones the rest of the stack, in which every
//! route and layer has a box of its own. It also puts this clone and its own future into boxes. Middleware that waits
//! for nothing needs none of this.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use pin_project_lite::pin_project;
use tower::{Layer, Service};

/// The work before a request is answered.
pub(crate) trait Around: Clone {
    type After: After;

    fn before(&self, request: Request) -> (Request, Self::After);
}

/// The work while a request is answered, and after that.
pub(crate) trait After {
    /// Runs a part of the work of the inner service.
    fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    fn after(self, response: Response) -> Response;
}

/// For middleware that has nothing to do after the response.
impl After for () {
    fn after(self, response: Response) -> Response {
        response
    }
}

/// Returns the layer of an [`Around`].
pub(crate) fn around<A>(around: A) -> AroundLayer<A> {
    AroundLayer(around)
}

#[derive(Clone)]
pub(crate) struct AroundLayer<A>(A);

impl<A: Around, S> Layer<S> for AroundLayer<A> {
    type Service = AroundService<A, S>;

    fn layer(&self, inner: S) -> Self::Service {
        AroundService { around: self.0.clone(), inner }
    }
}

#[derive(Clone)]
pub(crate) struct AroundService<A, S> {
    around: A,
    inner: S,
}

impl<A, S> Service<Request> for AroundService<A, S>
where
    A: Around,
    S: Service<Request, Response: IntoResponse, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = AroundFuture<A::After, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (request, after) = self.around.before(request);
        let inner = after.within(|| self.inner.call(request));
        AroundFuture { inner, after: Some(after) }
    }
}

pin_project! {
    pub(crate) struct AroundFuture<T, F> {
        #[pin]
        inner: F,
        // `None` after the response.
        after: Option<T>,
    }
}

impl<T, F, R> Future for AroundFuture<T, F>
where
    T: After,
    F: Future<Output = Result<R, Infallible>>,
    R: IntoResponse,
{
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let poll = || this.inner.poll(context);
        let Ok(response) = ready!(match &this.after {
            Some(after) => after.within(poll),
            None => poll(),
        });
        let response = response.into_response();
        Poll::Ready(Ok(match this.after.take() {
            Some(after) => after.after(response),
            None => response,
        }))
    }
}
