use async_trait::async_trait;
use macro_rules_attribute::apply;

use crate::credential::GuardedAccount;
use crate::id::{TenantId, UserId};
use crate::store::observed::observed;
use crate::store_error::StoreError;
use crate::validate::EmailKey;

/// Reads credentials.
#[apply(observed)]
#[async_trait]
pub trait CredentialStore {
    /// Returns the user with this e-mail, in any status, and the failed logins with it. Failed logins that named no
    /// tenant are under [`TenantId::NONE`], which has no users.
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError>;
}

/// Reads credentials inside a unit of work.
#[apply(observed)]
#[async_trait]
pub trait CredentialTransaction {
    /// Returns the failed logins with an e-mail, and the given user, even if the user has another e-mail. Locks both
    /// in this order until the unit of work ends.
    ///
    /// The failed logins are locked even where there are none yet: of two concurrent units of work, the second sees the
    /// writes of the first. A row that was created only for this lock may stay until stale rows are
    /// [removed](crate::store::MaintenanceStore::remove_stale_login_attempts).
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError>;
}
