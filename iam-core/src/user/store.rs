use async_trait::async_trait;

use super::{User, UserFilter, UserSort};
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{TenantId, UserId};
use crate::page::{Page, PageRequest};

/// Reads users.
#[async_trait]
pub trait UserStore {
    /// One user, whatever its status.
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError>;

    /// A page of the users that pass the filter at a moment (assignments that have expired by then do not count for
    /// [`UserFilter::organization`]), with the exact count of all of them.
    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError>;
}

/// Reads users inside a unit of work.
#[async_trait]
pub trait UserTransaction {
    /// One user, locked until the unit of work ends.
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError>;
}
