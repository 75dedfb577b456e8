//! Passwords and failed logins.

use iam_model::credential::{Account, GuardedAccount, LoginAttempts, LoginCandidate, LoginCandidates};
use iam_model::store_error::StoreError;

use crate::column::{StoredMoment, StoredMoments, moment_optional};
use crate::tenant::TenantRow;
use crate::user::UserRow;

/// The failed logins with an e-mail, and an account that has it. Each may be missing: then all of its columns are NULL.
#[derive(Debug)]
pub struct AccountRow<T, M> {
    /// When logins failed in the tenant of the account.
    pub failed_at: Option<M>,
    /// Until when these failures lock the account.
    pub locked_until: Option<T>,
    /// When logins failed that named no tenant.
    pub unnamed_failed_at: Option<M>,
    /// Until when these failures lock.
    pub unnamed_locked_until: Option<T>,
    /// The user and its tenant.
    pub user: Option<(UserRow<T>, TenantRow<T>)>,
    /// The hash of its password.
    pub password_hash: Option<String>,
}

impl<T: StoredMoment, M: StoredMoments> AccountRow<T, M> {
    /// Converts a row to the account, and the failed logins with its e-mail.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a column is not valid.
    pub fn guarded(self) -> Result<GuardedAccount, StoreError> {
        let attempts_without_tenant = attempts(self.unnamed_failed_at, self.unnamed_locked_until)?;
        let account = match (self.user, self.password_hash) {
            (Some((user, _)), Some(password)) => Some(account(user, password)?),
            _ => None,
        };
        Ok(GuardedAccount {
            account,
            attempts: attempts(self.failed_at, self.locked_until)?,
            has_unnamed_failures: !attempts_without_tenant.failed_at.is_empty(),
        })
    }

    /// Converts rows to the accounts that have an e-mail. Without an account, there is one row.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a column is not valid.
    pub fn candidates(mut rows: Vec<Self>) -> Result<LoginCandidates, StoreError> {
        let Some(first) = rows.first_mut() else { return Ok(LoginCandidates::default()) };
        let attempts = attempts(first.unnamed_failed_at.take(), first.unnamed_locked_until.take())?;
        let accounts = rows.into_iter().filter_map(|row| row.candidate().transpose());
        Ok(LoginCandidates { attempts, accounts: accounts.collect::<Result<_, _>>()? })
    }

    fn candidate(self) -> Result<Option<LoginCandidate>, StoreError> {
        let (Some((user, tenant)), Some(password)) = (self.user, self.password_hash) else { return Ok(None) };
        let attempts = attempts(self.failed_at, self.locked_until)?;
        Ok(Some(LoginCandidate { tenant: tenant.try_into()?, account: account(user, password)?, attempts }))
    }
}

/// Converts the columns of failed logins. Without a row, no login has failed.
fn attempts<T: StoredMoment>(
    failed_at: Option<impl StoredMoments>,
    locked_until: Option<T>,
) -> Result<LoginAttempts, StoreError> {
    let failed_at = failed_at.map(|failed_at| failed_at.moments("login_attempts.failed_at")).transpose()?;
    let locked_until = moment_optional("login_attempts.locked_until", locked_until)?;
    Ok(LoginAttempts { failed_at: failed_at.unwrap_or_default(), locked_until })
}

fn account<T: StoredMoment>(user: UserRow<T>, password_hash: String) -> Result<Account, StoreError> {
    Ok(Account { user: user.try_into()?, password: password_hash.into() })
}

/// Makes an [`AccountRow`](crate::credential::AccountRow) of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! account_row {
    ($row:ident) => {
        $crate::credential::AccountRow {
            failed_at: $row.failed_at,
            locked_until: $row.locked_until,
            unnamed_failed_at: $row.unnamed_failed_at,
            unnamed_locked_until: $row.unnamed_locked_until,
            password_hash: $row.password_hash,
            user: $crate::user_and_tenant!($row),
        }
    };
}

/// Implements the ports of passwords and failed logins; see [`store`](crate::store).
///
/// All statements read the same columns. `attempts` names the columns of failed logins in the tenant, of failed logins
/// that named no tenant, and of the password.
///
/// The failed logins without a tenant are on another node than the account if the tables are distributed. Then
/// `distributed` reads them by a statement of their own, and the store has the methods `unnamed_attempts` and
/// `forget_unnamed_attempts`.
#[macro_export]
macro_rules! credential_ports {
    (
        $store:ident,
        $transaction:ident,
        attempts: $attempts:literal,
        candidates: $candidates:literal,
        guarded: $guarded:literal,
        lock: ($lock_with:literal, $lock:literal),
        update: ($($update:tt)+),
        put_attempts: ($($put_attempts:tt)+),
        delete_attempts: $delete_attempts:literal,
        $(distributed: {
            attempts: $distributed_attempts:literal,
            candidates: $distributed_candidates:literal,
            guarded: $distributed_guarded:literal,
            make_attempts: $make_attempts:literal,
            lock: $distributed_lock:literal,
            delete_attempts: $distributed_delete_attempts:literal $(,)?
        } $(,)?)?
    ) => {
        const _: () = {
            use iam_model::change::CredentialChange;
            use iam_model::credential::{GuardedAccount, LoginAttempts, LoginCandidates};
            use iam_model::id::{TenantId, UserId};
            use iam_model::secret::PasswordHash;
            use iam_model::store::{CredentialStore, CredentialTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::validate::EmailKey;
            use $crate::credential::AccountRow;
            use $crate::error::expect_row;
            use $crate::store::SqlStore;

            impl $store {
                /// Reads the accounts that have an e-mail. One statement, so that it takes as long for an e-mail that
                /// no account has.
                pub(crate) async fn candidates(
                    &self,
                    email: &EmailKey,
                    limit: u32,
                ) -> Result<LoginCandidates, StoreError> {
                    let limit = i64::from(limit);
                    $(
                        if self.is_distributed().await? {
                            let rows = $crate::select_with_user_and_tenant!(
                                "SELECT " + $distributed_attempts,
                                $distributed_candidates,
                                email.as_str(),
                                limit
                            );
                            let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                            let rows = rows.into_iter().map(|row| $crate::account_row!(row)).collect();
                            let unnamed = self.unnamed_attempts(email).await?;
                            return Ok(LoginCandidates { attempts: unnamed, ..AccountRow::candidates(rows)? });
                        }
                    )?
                    let rows =
                        $crate::select_with_user_and_tenant!("SELECT " + $attempts, $candidates, email.as_str(), limit);
                    let rows = self.answer(rows.fetch_all(&self.reads())).await?;
                    AccountRow::candidates(rows.into_iter().map(|row| $crate::account_row!(row)).collect())
                }
            }

            #[async_trait::async_trait]
            impl CredentialStore for $store {
                async fn guarded_account(
                    &self,
                    tenant: TenantId,
                    email: &EmailKey,
                ) -> Result<GuardedAccount, StoreError> {
                    $(
                        if self.is_distributed().await? {
                            let row = $crate::select_with_user_and_tenant!(
                                "SELECT " + $distributed_attempts,
                                $distributed_guarded,
                                tenant.as_uuid(),
                                email.as_str()
                            );
                            let row = self.answer(row.fetch_one(&self.reads())).await?;
                            let account = $crate::account_row!(row).guarded()?;
                            let unnamed = self.unnamed_attempts(email).await?;
                            let has_unnamed_failures = !unnamed.failed_at.is_empty();
                            return Ok(GuardedAccount { has_unnamed_failures, ..account });
                        }
                    )?
                    let row = $crate::select_with_user_and_tenant!(
                        "SELECT " + $attempts,
                        $guarded,
                        tenant.as_uuid(),
                        email.as_str()
                    );
                    let row = self.answer(row.fetch_one(&self.reads())).await?;
                    $crate::account_row!(row).guarded()
                }
            }

            #[async_trait::async_trait]
            impl CredentialTransaction for $transaction {
                async fn lock_guarded_account(
                    &mut self,
                    email: &EmailKey,
                    user: Option<UserId>,
                ) -> Result<GuardedAccount, StoreError> {
                    let user = user.map(UserId::as_uuid);
                    $(
                        if self.is_distributed() {
                            let make = sqlx::query!($make_attempts, self.tenant(), email.as_str());
                            make.execute(self.connection()).await.map_err($store::store_error)?;
                            let row = $crate::select_with_user_and_tenant!(
                                "SELECT " + $distributed_attempts,
                                $distributed_lock,
                                self.tenant(),
                                email.as_str(),
                                user
                            );
                            let row = row.fetch_one(self.connection()).await.map_err($store::store_error)?;
                            let account = $crate::account_row!(row).guarded()?;
                            let unnamed = self.unnamed_attempts(email).await?;
                            let has_unnamed_failures = !unnamed.failed_at.is_empty();
                            return Ok(GuardedAccount { has_unnamed_failures, ..account });
                        }
                    )?
                    let row = $crate::select_with_user_and_tenant!(
                        $lock_with + "SELECT " + $attempts,
                        $lock,
                        self.tenant(),
                        email.as_str(),
                        user
                    );
                    let row = row.fetch_one(self.connection()).await.map_err($store::store_error)?;
                    $crate::account_row!(row).guarded()
                }
            }

            impl $transaction {
                pub(crate) async fn write_credential(&mut self, change: &CredentialChange) -> Result<(), StoreError> {
                    match change {
                        CredentialChange::ChangePassword { user, password }
                        | CredentialChange::ResetPassword { user, password }
                        | CredentialChange::Rehash { user, password } => self.update_credential(*user, password).await,
                        CredentialChange::CountFailure { email, attempts, .. } => {
                            self.put_login_attempts(&email.key(), attempts).await
                        }
                        CredentialChange::ClearFailures(email) => self.delete_login_attempts(email).await,
                        // Only its audit entry is written.
                        CredentialChange::Refuse { .. } => Ok(()),
                    }
                }

                async fn update_credential(&mut self, user: UserId, password: &PasswordHash) -> Result<(), StoreError> {
                    let updated =
                        execute_audited!(self, $($update)+, self.tenant(), user.as_uuid(), password.expose())?;
                    expect_row(updated.rows_affected(), "user")
                }

                async fn put_login_attempts(
                    &mut self,
                    email: &EmailKey,
                    attempts: &LoginAttempts,
                ) -> Result<(), StoreError> {
                    let failed_at = $store::stored_list(&attempts.failed_at);
                    let locked_until = attempts.locked_until.map($store::stored);
                    execute_audited!(
                        self,
                        $($put_attempts)+,
                        self.tenant(),
                        email.as_str(),
                        &failed_at,
                        locked_until
                    )?;
                    Ok(())
                }

                async fn delete_login_attempts(&mut self, email: &EmailKey) -> Result<(), StoreError> {
                    $(
                        if self.is_distributed() {
                            let delete = sqlx::query!($distributed_delete_attempts, self.tenant(), email.as_str());
                            delete.execute(self.connection()).await.map_err($store::store_error)?;
                            return self.forget_unnamed_attempts(email).await;
                        }
                    )?
                    let delete = sqlx::query!($delete_attempts, self.tenant(), email.as_str());
                    delete.execute(self.connection()).await.map(drop).map_err($store::store_error)
                }
            }
        };
    };
}
