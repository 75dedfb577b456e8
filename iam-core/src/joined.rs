//! Calls inside a host transaction.

use std::fmt;
use std::ops::Deref;

use iam_model::error::Result;
use iam_model::store::HostTransaction;

use crate::access::Access;
use crate::assignment::Assignments;
use crate::audit::Audit;
use crate::engine::Engine;
use crate::iam::Iam;
use crate::organization::Organizations;
use crate::permission::Permissions;
use crate::role::Roles;
use crate::tenant::Tenants;
use crate::user::Users;

/// The services of an [`Iam`] inside a host transaction, in which the host program also changes its own tables.
///
/// The next call sees the changes of a call, including the audit entries. Other transactions see them once the host
/// transaction is [committed](Self::commit), and then the [hooks](crate::Builder::after_commit) are called. Dropping it
/// rolls everything back. A call that fails changes nothing: the earlier changes stay, and the transaction goes on.
///
/// Logins, sessions and passwords are not available here: their failed attempts must be recorded even if the host
/// transaction is rolled back.
///
/// A change locks the rows that it depends on until the host transaction ends, and other changes in the same tenant
/// wait for them. So keep the transaction short, and wait for nothing else in it.
///
/// The crates of the stores have an example. `Joined` dereferences to the store's host transaction, with its methods.
pub struct Joined<T> {
    inner: Engine,
    host: T,
}

impl Iam {
    /// Returns the services inside a host transaction.
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

    /// As [`Iam::access`]. The rights of a caller itself are those that it had when it was authenticated.
    #[must_use]
    pub fn access(&self) -> Access<'_> {
        Access(&self.inner)
    }

    /// As [`Iam::audit`].
    #[must_use]
    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.inner)
    }

    /// Commits everything, the changes of the host program and of IAM, or nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store): nothing was written. If the connection was lost during the
    /// commit, either everything or nothing was written.
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
