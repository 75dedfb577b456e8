use async_trait::async_trait;

use super::{Account, LoginAttempts};
use crate::error::StoreError;
use crate::id::{TenantId, UserId};
use crate::validate::EmailKey;

/// Reads credentials.
#[async_trait]
pub trait CredentialStore {
    /// The user with this e-mail, whatever its status, and its password's hash.
    async fn account(&self, tenant: TenantId, email: &EmailKey) -> Result<Option<Account>, StoreError>;

    /// The failed logins of an e-mail; [`TenantId::NONE`] for an e-mail that nobody has.
    async fn login_attempts(&self, tenant: TenantId, email: &EmailKey) -> Result<LoginAttempts, StoreError>;
}

/// Reads credentials inside a unit of work.
#[async_trait]
pub trait CredentialTransaction {
    /// A user and its password's hash, both locked until the unit of work ends.
    async fn lock_account(&mut self, user: UserId) -> Result<Option<Account>, StoreError>;

    /// The failed logins of an e-mail, locked until the unit of work ends, also where there are none yet: of two
    /// that race, the second sees what the first wrote. A row that was made for it alone may stay until stale ones are
    /// [removed](crate::maintenance::MaintenanceStore::remove_stale_login_attempts).
    async fn lock_login_attempts(&mut self, email: &EmailKey) -> Result<LoginAttempts, StoreError>;
}
