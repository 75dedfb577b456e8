use async_trait::async_trait;

use super::{User, UserFilter, UserSort};
use crate::access::Reach;
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{TenantId, UserId};
use crate::page::{Page, PageRequest};

/// Reads users.
#[async_trait]
pub trait UserStore {
    /// One user, whatever its status.
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError>;

    /// The users with these ids, as far as there are any, in no particular order.
    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// A page of the users within reach that pass the filter at a moment, with the exact count of all of them.
    ///
    /// Within reach of organizations is who holds an assignment in one of them, or below. Assignments that have
    /// expired by then count neither for that nor for [`UserFilter::organization`].
    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        reach: &Reach,
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

    /// As [`UserStore::users_by_id`]. Users change their state under
    /// [`lock_tenant`](crate::tenant::TenantTransaction::lock_tenant) only; under it, the states that are read here
    /// stay true.
    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;
}
