use async_trait::async_trait;
use iam_model::change::CredentialChange;
use iam_model::credential::{Account, GuardedAccount};
use iam_model::id::{TenantId, UserId};
use iam_model::store::{CredentialStore, CredentialTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;

use crate::state::{MemoryStore, MemoryTransaction, TenantState};

#[async_trait]
impl CredentialStore for MemoryStore {
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError> {
        let state = self.tenant_state(tenant);
        let has_unnamed_failures = self.has_unnamed_failures(email);
        let guarded = state.guarded_account(email, state.user_with_email(email).map(|user| user.id));
        Ok(GuardedAccount { has_unnamed_failures, ..guarded })
    }
}

#[async_trait]
impl CredentialTransaction for MemoryTransaction {
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError> {
        let has_unnamed_failures = self.store.has_unnamed_failures(email);
        Ok(GuardedAccount { has_unnamed_failures, ..self.draft.guarded_account(email, user) })
    }
}

impl MemoryStore {
    fn has_unnamed_failures(&self, email: &EmailKey) -> bool {
        self.tenant_state(TenantId::NONE).attempts.contains_key(email)
    }
}

impl TenantState {
    fn guarded_account(&self, email: &EmailKey, user: Option<UserId>) -> GuardedAccount {
        let attempts = self.attempts.get(email).cloned().unwrap_or_default();
        GuardedAccount { account: user.and_then(|user| self.account(user)), attempts, has_unnamed_failures: false }
    }

    pub(super) fn account(&self, user: UserId) -> Option<Account> {
        Some(Account { user: self.users.get(&user)?.clone(), password: self.passwords.get(&user)?.clone() })
    }
}

impl MemoryTransaction {
    pub(super) fn write_credential(&mut self, change: &CredentialChange) {
        match change {
            CredentialChange::ChangePassword { user, password }
            | CredentialChange::ResetPassword { user, password }
            | CredentialChange::Rehash { user, password } => {
                self.draft.passwords.insert(*user, password.clone());
            }
            CredentialChange::CountFailure { email, attempts, .. } => {
                self.draft.attempts.insert(email.key(), attempts.clone());
            }
            CredentialChange::ClearFailures(email) => {
                self.draft.attempts.remove(email);
                self.cleared.push(email.clone());
            }
            CredentialChange::Refuse { .. } | CredentialChange::RefuseFederated { .. } => {}
        }
    }
}
