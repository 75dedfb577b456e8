use async_trait::async_trait;

use super::Session;
use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::id::{SessionId, TenantId, UserId};
use crate::tenant::{Tenant, TenantStatus};
use crate::user::{User, UserStatus};

/// What decides whether an access token still stands for its user, and for what rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// Whose session it is.
    pub user_id: UserId,
    /// Whether that user may log in.
    pub user_status: UserStatus,
    /// Whether the tenant is served.
    pub tenant_status: TenantStatus,
    /// From this instant on the session is over.
    pub expires_at: Timestamp,
    /// Every assignment of the user, expired ones included.
    pub grants: Vec<Grant>,
}

/// A session with whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionDetails {
    /// The session.
    pub session: Session,
    /// Its user.
    pub user: User,
    /// Its tenant.
    pub tenant: Tenant,
}

/// Reads sessions.
#[async_trait]
pub trait SessionStore {
    /// What an authenticated request needs to know of a session that has not ended. Whatever was committed is seen: a
    /// session that is not found is taken to have ended for good.
    async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError>;

    /// One session that has not ended.
    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// One session that has not ended, with its user and its tenant.
    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Result<Option<SessionDetails>, StoreError>;

    /// The sessions of a user that have not ended, expired ones included, newest first, then by identifier.
    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError>;
}

/// Reads sessions inside a unit of work.
#[async_trait]
pub trait SessionTransaction {
    /// One session that has not ended, locked until the unit of work ends.
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// The sessions of a user as [`SessionStore::sessions_of`] gives them, locked until the unit of work ends.
    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError>;

    /// At most `limit` sessions of the tenant that have not ended, expired ones included, in the order of their identifiers
    /// and locked until the unit of work ends.
    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError>;
}
