use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::challenge::Challenge;
use crate::factor::Factor;
use crate::id::{TenantId, UserId};
use crate::store::observed::observed;
use crate::store_error::StoreError;

/// Reads second factors and challenges.
#[apply(observed)]
#[async_trait]
pub trait FactorStore {
    /// Returns the factors of a user, also unconfirmed ones, oldest first, then by identifier.
    async fn factors(&self, tenant: TenantId, user: UserId) -> Result<Vec<Factor>, StoreError>;

    /// Returns the number of recovery codes that a user has left.
    async fn recovery_codes_left(&self, tenant: TenantId, user: UserId) -> Result<u64, StoreError>;

    /// Counts the ACTIVE people who have a confirmed factor, no further than `limit`.
    async fn people_with_factor(&self, tenant: TenantId, limit: u32) -> Result<u64, StoreError>;

    /// Returns the challenge with this digest, also if it cannot be answered any more.
    async fn challenge(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError>;
}

/// Reads second factors and challenges inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait FactorTransaction {
    /// Returns the factors of a user as [`FactorStore::factors`] does. They change only under the lock of the account,
    /// so they stay valid while the unit of work holds this lock.
    async fn factors(&mut self, user: UserId) -> Result<Vec<Factor>, StoreError>;

    /// Returns the digests of the recovery codes that a user has left, in no particular order. They change only under
    /// the lock of the account.
    async fn recovery_codes(&mut self, user: UserId) -> Result<Vec<[u8; 32]>, StoreError>;

    /// Returns the challenge with this digest, also if it cannot be answered any more, and locks it until the unit of
    /// work ends. Of two concurrent units of work that end one challenge, the second finds none.
    async fn lock_challenge(&mut self, token_hash: &[u8; 32]) -> Result<Option<Challenge>, StoreError>;
}
