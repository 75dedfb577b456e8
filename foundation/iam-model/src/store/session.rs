use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::context::Impersonator;
use crate::id::{IdentityProviderId, SessionId, TenantId, UserId};
use crate::session::Session;
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::tenant::{AuthzenIdentifiers, Tenant, TenantStatus};
use crate::user::{User, UserStatus};

/// The state that decides whether an access token is still valid, and which rights it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSnapshot {
    /// The user of the session.
    pub user_id: UserId,
    /// The user's status.
    pub user_status: UserStatus,
    /// The tenant's status.
    pub tenant_status: TenantStatus,
    /// When the session expires.
    pub expires_at: Timestamp,
    /// The user who acts in the session, if that is another one than its own.
    pub impersonator: Option<Impersonator>,
    /// From when on the session is restricted;
    /// [`FactorDemand::restricts_session_from`](crate::factor::FactorDemand::restricts_session_from).
    pub enrol_by: Option<Timestamp>,
    /// How requests of AuthZEN name users and organizations in the tenant.
    pub authzen_identifiers: AuthzenIdentifiers,
    /// All role assignments of the user, including expired ones.
    pub grants: Vec<Grant>,
}

/// A session with its user and its tenant.
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
#[apply(observed)]
#[async_trait]
pub trait SessionStore {
    /// Returns the state of a session that an authenticated request needs. `None` when the session has ended.
    ///
    /// The read must see every committed change: a session that is not found counts as ended forever.
    async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<SessionSnapshot>, StoreError>;

    /// Returns a session that has not ended.
    async fn session(&self, tenant: TenantId, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// Returns a session that has not ended, with its user and its tenant.
    async fn session_details(&self, tenant: TenantId, id: SessionId) -> Result<Option<SessionDetails>, StoreError>;

    /// Returns the sessions of a user that have not ended, including expired ones, newest first, then by identifier.
    async fn sessions_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<Session>, StoreError>;

    /// Returns the sessions that have not ended and that began by this session at an identity provider, including
    /// expired ones, by identifier.
    async fn sessions_of_provider(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        session: &str,
    ) -> Result<Vec<Session>, StoreError>;
}

/// Reads sessions inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait SessionTransaction {
    /// Returns a session that has not ended, and locks it until the unit of work ends.
    async fn lock_session(&mut self, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// Returns a session that has not ended, and the sessions in which its user acts as another one because of it, by
    /// identifier. Locks them until the unit of work ends.
    async fn lock_session_with_impersonations(&mut self, id: SessionId) -> Result<Vec<Session>, StoreError>;

    /// Returns the sessions of a user as [`SessionStore::sessions_of`] does, and with them those in which the user acts
    /// as another one. Locks them until the unit of work ends, all in one order, so that two units of work which end
    /// the sessions of users who act as each other do not wait for each other.
    async fn lock_sessions_of(&mut self, user: UserId) -> Result<Vec<Session>, StoreError>;

    /// Returns at most `limit` sessions of the tenant that have not ended, including expired ones, in the order of
    /// their identifiers. Locks them until the unit of work ends.
    async fn lock_sessions(&mut self, limit: u32) -> Result<Vec<Session>, StoreError>;
}
