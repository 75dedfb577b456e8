//! Calls that are parts of a transaction of the host program.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use async_trait::async_trait;

use crate::access::Access;
use crate::assignment::Assignments;
use crate::audit::Audit;
use crate::error::{Result, StoreError};
use crate::iam::{Iam, Inner};
use crate::organization::Organizations;
use crate::permission::Permissions;
use crate::role::Roles;
use crate::store::Store;
use crate::tenant::Tenants;
use crate::user::Users;

/// A transaction that the host program has begun in the database of a store, to which it may ask the same database for more
/// than the store does. The stores on PostgreSQL and SQLite make one by `join`.
#[async_trait]
pub trait HostTransaction: Send + Sync + 'static {
    /// A store whose every statement is part of the transaction, and each of whose units of work can be undone apart.
    fn store(&self) -> Arc<dyn Store>;

    /// Makes everything durable, or nothing: also where the database takes a commit without saying that it rolls back.
    async fn commit(self) -> Result<(), StoreError>;
}

/// The services of an [`Iam`] inside a transaction of the host program, which changes its own tables in it too.
///
/// What a call changes is there for the next call, the audit entry included, and for everybody else once the
/// transaction is [committed](Self::commit); then the [hooks](crate::Builder::after_commit) are called too. Dropping it
/// rolls back, and nothing was there. A call that fails leaves what was done before it, and the transaction goes on.
///
/// Logins, sessions and passwords are not offered: what they count of failures must be on record whatever becomes of the
/// host's own work.
///
/// A change locks what it decides by, for others that change the same tenant, until the transaction ends: keep it short, and
/// wait for nothing else in it.
///
/// The crates of the stores have an example, and dereferencing gives what theirs can do.
pub struct Joined<T> {
    inner: Inner,
    host: T,
}

impl Iam {
    /// Takes part in a transaction of the host program.
    #[must_use]
    pub fn within<T: HostTransaction>(&self, host: T) -> Joined<T> {
        Joined { inner: self.0.within(host.store()), host }
    }
}

impl<T: HostTransaction> Joined<T> {
    /// As [`Iam::tenants`].
    #[must_use]
    pub fn tenants(&self) -> Tenants<'_> {
        Tenants(&self.inner)
    }

    /// As [`Iam::users`].
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(&self.inner)
    }

    /// As [`Iam::permissions`].
    #[must_use]
    pub fn permissions(&self) -> Permissions<'_> {
        Permissions(&self.inner)
    }

    /// As [`Iam::roles`].
    #[must_use]
    pub fn roles(&self) -> Roles<'_> {
        Roles(&self.inner)
    }

    /// As [`Iam::organizations`].
    #[must_use]
    pub fn organizations(&self) -> Organizations<'_> {
        Organizations(&self.inner)
    }

    /// As [`Iam::assignments`].
    #[must_use]
    pub fn assignments(&self) -> Assignments<'_> {
        Assignments(&self.inner)
    }

    /// As [`Iam::access`]. What a caller itself may do is what it was when the caller was authenticated.
    #[must_use]
    pub fn access(&self) -> Access<'_> {
        Access(&self.inner)
    }

    /// As [`Iam::audit`].
    #[must_use]
    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.inner)
    }

    /// Makes everything durable, what the host has changed and what IAM has, or nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store): nothing was written, or, when the connection was lost meanwhile, either all
    /// or nothing.
    pub async fn commit(self) -> Result<()> {
        let Self { inner, host } = self;
        host.commit().await?;
        inner.release();
        Ok(())
    }
}

impl<T> Deref for Joined<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.host
    }
}

impl<T> fmt::Debug for Joined<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Joined").field(&self.inner.store.kind()).finish()
    }
}
