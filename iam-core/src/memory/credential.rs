use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use super::{MemoryStore, TenantState};
use crate::credential::{Account, CredentialChange, CredentialStore, CredentialTransaction, LoginAttempts};
use crate::error::StoreError;
use crate::id::{TenantId, UserId};
use crate::validate::EmailKey;

#[async_trait]
impl CredentialStore for MemoryStore {
    async fn account(&self, tenant: TenantId, email: &EmailKey) -> Result<Option<Account>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.user_with_email(email).and_then(|user| state.account(user.id)))
    }

    async fn login_attempts(&self, tenant: TenantId, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        Ok(self.tenant_state(tenant).attempts.get(email).cloned().unwrap_or_default())
    }
}

#[async_trait]
impl CredentialTransaction for MemoryTransaction {
    async fn lock_account(&mut self, user: UserId) -> Result<Option<Account>, StoreError> {
        Ok(self.draft.account(user))
    }

    async fn lock_login_attempts(&mut self, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        Ok(self.draft.attempts.get(email).cloned().unwrap_or_default())
    }
}

impl TenantState {
    fn account(&self, user: UserId) -> Option<Account> {
        Some(Account { user: self.users.get(&user)?.clone(), password: self.passwords.get(&user)?.clone() })
    }

    pub(super) fn write_credential(&mut self, change: &CredentialChange) {
        match change {
            CredentialChange::ChangePassword { user, password } | CredentialChange::Rehash { user, password } => {
                self.passwords.insert(*user, password.clone());
            }
            CredentialChange::CountFailure { email, attempts, .. } => {
                self.attempts.insert(email.key(), attempts.clone());
            }
            CredentialChange::ClearFailures(email) => {
                self.attempts.remove(email);
            }
            CredentialChange::Refuse { .. } => {}
        }
    }
}
