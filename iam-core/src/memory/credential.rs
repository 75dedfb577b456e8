use async_trait::async_trait;

use super::transaction::MemoryTransaction;
use super::{MemoryStore, TenantState};
use crate::credential::{Account, CredentialChange, CredentialStore, CredentialTransaction, GuardedAccount};
use crate::error::StoreError;
use crate::id::{TenantId, UserId};
use crate::validate::EmailKey;

#[async_trait]
impl CredentialStore for MemoryStore {
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.guarded_account(email, state.user_with_email(email).map(|user| user.id)))
    }
}

#[async_trait]
impl CredentialTransaction for MemoryTransaction {
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError> {
        Ok(self.draft.guarded_account(email, user))
    }
}

impl TenantState {
    pub(super) fn guarded_account(&self, email: &EmailKey, user: Option<UserId>) -> GuardedAccount {
        let attempts = self.attempts.get(email).cloned().unwrap_or_default();
        GuardedAccount { account: user.and_then(|user| self.account(user)), attempts }
    }

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
