use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::api_key::ApiKey;
use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::id::{ApiKeyId, TenantId, UserId};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::tenant::{AuthzenIdentifiers, TenantStatus};
use crate::user::UserStatus;

/// The state that decides whether an API key is valid, and which rights it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeySnapshot {
    /// The key.
    pub key: ApiKey,
    /// The status of its user.
    pub user_status: UserStatus,
    /// The status of its tenant.
    pub tenant_status: TenantStatus,
    /// From when on the key is refused;
    /// [`FactorDemand::refuses_keys_from`](crate::factor::FactorDemand::refuses_keys_from).
    pub enrol_by: Option<Timestamp>,
    /// How requests of AuthZEN name users and organizations in the tenant.
    pub authzen_identifiers: AuthzenIdentifiers,
    /// All role assignments of its user, including expired ones.
    pub grants: Vec<Grant>,
}

/// Reads API keys.
#[apply(observed)]
#[async_trait]
pub trait ApiKeyStore {
    /// Returns the state of a key that an authenticated request needs. `None` when the key was revoked.
    ///
    /// The read must see every committed change.
    async fn api_key_snapshot(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKeySnapshot>, StoreError>;

    /// Returns a key, also an expired one.
    async fn api_key(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Returns the keys of a user, also expired ones, newest first, then by identifier.
    async fn api_keys_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<ApiKey>, StoreError>;

    /// Returns the keys of a tenant that expire after `now`, and at `until` at the latest: earliest expiry first, then
    /// by identifier, at most `limit`.
    async fn expiring_api_keys(
        &self,
        tenant: TenantId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError>;

    /// Keeps that a request was authenticated by a key at a moment, unless the key was revoked or its last use is
    /// later. Neither raises the version of the row nor notifies.
    async fn record_api_key_use(&self, tenant: TenantId, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError>;
}

/// Reads API keys inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait ApiKeyTransaction {
    /// Returns a key, also an expired one, and locks it until the unit of work ends.
    async fn lock_api_key(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Returns the keys of a user as [`ApiKeyStore::api_keys_of`] does, and locks them until the unit of work ends.
    async fn lock_api_keys_of(&mut self, user: UserId) -> Result<Vec<ApiKey>, StoreError>;
}
