use async_trait::async_trait;
use iam_model::change::CredentialChange;
use iam_model::clock::Timestamp;
use iam_model::credential::{Account, GuardedAccount, LoginAttempts};
use iam_model::id::{TenantId, UserId};
use iam_model::secret::PasswordHash;
use iam_model::store::{CredentialStore, CredentialTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use serde::{Deserialize, Serialize};

use super::RedbStore;
use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;

/// The password of a user.
#[derive(Serialize, Deserialize)]
pub(super) struct PasswordRow {
    user: UserId,
    hash: String,
}

impl PasswordRow {
    pub(super) fn new(user: UserId, password: &PasswordHash) -> Self {
        Self { user, hash: password.expose().to_owned() }
    }
}

impl Row for PasswordRow {
    const TABLE: &'static str = "passwords";

    fn key(&self) -> Vec<u8> {
        key(self.user)
    }
}

/// The failed logins of an e-mail. The e-mail may belong to no user.
#[derive(Serialize, Deserialize)]
pub(super) struct AttemptsRow {
    email: String,
    failed_at: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
}

impl AttemptsRow {
    pub(super) fn still_counts(&self, now: Timestamp, failed_before: Timestamp) -> bool {
        match self.locked_until {
            Some(until) => now < until,
            None => self.failed_at.iter().any(|at| *at >= failed_before),
        }
    }
}

impl Row for AttemptsRow {
    const TABLE: &'static str = "login_attempts";

    fn key(&self) -> Vec<u8> {
        self.email.as_bytes().to_vec()
    }
}

#[async_trait]
impl CredentialStore for RedbStore {
    async fn guarded_account(&self, tenant: TenantId, email: &EmailKey) -> Result<GuardedAccount, StoreError> {
        self.read(tenant, |view| {
            let user = view.user_with_email(email)?;
            view.guarded_account(email, user.map(|user| user.id))
        })
        .and_then(|guarded| Ok(GuardedAccount { has_unnamed_failures: self.has_unnamed_failures(email)?, ..guarded }))
    }
}

#[async_trait]
impl CredentialTransaction for RedbTransaction {
    async fn lock_guarded_account(
        &mut self,
        email: &EmailKey,
        user: Option<UserId>,
    ) -> Result<GuardedAccount, StoreError> {
        let unnamed = self.view().of(TenantId::NONE).get::<AttemptsRow>(email.as_str().as_bytes())?;
        let guarded = self.view().guarded_account(email, user)?;
        Ok(GuardedAccount { has_unnamed_failures: unnamed.is_some(), ..guarded })
    }
}

impl RedbStore {
    fn has_unnamed_failures(&self, email: &EmailKey) -> Result<bool, StoreError> {
        self.read(TenantId::NONE, |view| view.has::<AttemptsRow>(email.as_str().as_bytes()))
    }
}

impl View<'_> {
    pub(super) fn guarded_account(self, email: &EmailKey, user: Option<UserId>) -> Result<GuardedAccount, StoreError> {
        let account = user.map(|user| self.account(user)).transpose()?.flatten();
        Ok(GuardedAccount { account, attempts: self.attempts(email)?, has_unnamed_failures: false })
    }

    pub(super) fn attempts(self, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        let row = self.get::<AttemptsRow>(email.as_str().as_bytes())?;
        let attempts = row.map(|row| LoginAttempts { failed_at: row.failed_at, locked_until: row.locked_until });
        Ok(attempts.unwrap_or_default())
    }

    pub(super) fn account(self, user: UserId) -> Result<Option<Account>, StoreError> {
        let password = self.get::<PasswordRow>(&key(user))?;
        let user = self.get(&key(user))?;
        Ok(user.zip(password).map(|(user, row)| Account { user, password: row.hash.into() }))
    }
}

impl Draft<'_> {
    pub(super) fn write_credential(self, change: &CredentialChange) -> Result<(), StoreError> {
        match change {
            CredentialChange::ChangePassword { user, password }
            | CredentialChange::ResetPassword { user, password }
            | CredentialChange::Rehash { user, password } => self.put(PasswordRow::new(*user, password)),
            CredentialChange::CountFailure { email, attempts, .. } => self.put(AttemptsRow {
                email: email.key().as_str().to_owned(),
                failed_at: attempts.failed_at.clone(),
                locked_until: attempts.locked_until,
            }),
            CredentialChange::ClearFailures(email) => {
                let key = email.as_str().as_bytes();
                self.remove::<AttemptsRow>(key)?;
                self.of(TenantId::NONE).remove::<AttemptsRow>(key).map(drop)
            }
            CredentialChange::Refuse { .. } | CredentialChange::RefuseFederated { .. } => Ok(()),
        }
    }
}
