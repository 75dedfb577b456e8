use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::access::VisibleScope;
use crate::clock::Timestamp;
use crate::id::{OrganizationId, TenantId, UserId};
use crate::page::{Page, PageRequest};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::user::{User, UserFilter, UserSort};
use crate::validate::{EmailKey, ExternalId};

/// Reads users.
#[apply(observed)]
#[async_trait]
pub trait UserStore {
    /// Returns one user, in any status.
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError>;

    /// Returns the users with these ids, in no particular order. Ids without a user are left out.
    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Returns the user with this external identifier, in any status. It is compared letter by letter.
    async fn user_by_external_id(&self, tenant: TenantId, external_id: &ExternalId)
    -> Result<Option<User>, StoreError>;

    /// Returns the users, in any status, that have one of these external identifiers or one of these e-mails. Each is
    /// returned once, in no particular order.
    async fn users_named(
        &self,
        tenant: TenantId,
        external_ids: &[ExternalId],
        emails: &[EmailKey],
    ) -> Result<Vec<User>, StoreError>;

    /// Returns a page of the users in the visible scope that pass the filter at a moment, with the exact count of all
    /// of them.
    ///
    /// If the visible scope is a set of organizations, it contains the users who have their home or hold an assignment
    /// in one of them or below. Assignments that have expired at `now` count neither for this nor for [`UserFilter::organization`].
    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        visible_scope: &VisibleScope,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError>;
}

/// Reads users inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait UserTransaction {
    /// Returns one user and locks it until the unit of work ends.
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError>;

    /// Returns users as [`UserStore::users_by_id`] does. The status of a user changes only under
    /// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant). While the unit of work holds this lock, the
    /// statuses that it reads here stay valid.
    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError>;

    /// Returns all service accounts that are not INACTIVE, in no particular order.
    async fn all_service_accounts(&mut self) -> Result<Vec<User>, StoreError>;

    /// Returns a user as [`UserStore::user_by_external_id`] does. A concurrent unit of work may give the identifier to
    /// another user, and only one of the two commits.
    async fn user_by_external_id(&mut self, external_id: &ExternalId) -> Result<Option<User>, StoreError>;

    /// Returns at most this many users whose home is exactly this organization, in the order of their ids, and locks
    /// them until the unit of work ends. The home of a user changes only under
    /// [`lock_tenant`](crate::store::TenantTransaction::lock_tenant).
    async fn lock_users_at_home(&mut self, organization: OrganizationId, limit: u32) -> Result<Vec<User>, StoreError>;
}
