use async_trait::async_trait;

use super::GuardedAccount;
use crate::error::StoreError;
use crate::id::{TenantId, UserId};
use crate::validate::EmailKey;

/// Reads credentials.
#[async_trait]
pub trait CredentialStore {
    /// The user with this e-mail, whatever its status, and its failed logins; [`TenantId::NONE`] for an e-mail that
    /// nobody has.
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError>;
}

/// Reads credentials inside a unit of work.
#[async_trait]
pub trait CredentialTransaction {
    /// The failed logins of an e-mail, and then the user that is given, whatever its e-mail; both locked in this order
    /// until the unit of work ends.
    ///
    /// The failures are locked also where there are none yet: of two that race, the second sees what the first wrote.
    /// A row that was made for it alone may stay until stale ones are
    /// [removed](crate::maintenance::MaintenanceStore::remove_stale_login_attempts).
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError>;
}
