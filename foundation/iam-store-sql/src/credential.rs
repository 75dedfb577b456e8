//! Passwords and failed logins.

use iam_model::credential::{Account, GuardedAccount, LoginAttempts, LoginCandidate, LoginCandidates};
use iam_model::store_error::StoreError;
use uuid::Uuid;

use crate::column::{StoredMoment, StoredMoments, moment_optional};
use crate::tenant::TenantRow;
use crate::user::UserRow;

/// The failed logins with an e-mail, and an account that has it: its user, the tenant of the user, and its password.
/// Each may be missing: then all of its columns are NULL.
#[expect(missing_docs, reason = "the migrations document the columns")]
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
    pub password_hash: Option<String>,
    pub user_tenant_id: Option<Uuid>,
    pub user_id: Option<Uuid>,
    pub user_kind: Option<String>,
    pub user_email: Option<String>,
    pub user_email_verified_at: Option<T>,
    pub user_first_name: Option<String>,
    pub user_last_name: Option<String>,
    pub user_external_id: Option<String>,
    pub user_home_organization_id: Option<Uuid>,
    pub user_status: Option<String>,
    pub user_last_login_at: Option<T>,
    pub user_created_at: Option<T>,
    pub user_updated_at: Option<T>,
    pub user_version: Option<i64>,
    pub tenant_id: Option<Uuid>,
    pub tenant_name: Option<String>,
    pub tenant_slug: Option<String>,
    pub tenant_status: Option<String>,
    pub tenant_password_policy: Option<String>,
    pub tenant_second_factor: Option<String>,
    pub tenant_second_factor_grace_days: Option<i64>,
    pub tenant_second_factor_required_at: Option<T>,
    pub tenant_password_login: Option<String>,
    pub tenant_email_login: Option<String>,
    pub tenant_authzen_identifiers: Option<String>,
    pub tenant_user_attributes: Option<String>,
    pub tenant_organization_attributes: Option<String>,
    pub tenant_unregistered_attributes: Option<String>,
    pub tenant_created_at: Option<T>,
    pub tenant_updated_at: Option<T>,
    pub tenant_version: Option<i64>,
}

impl<T: StoredMoment, M: StoredMoments> AccountRow<T, M> {
    /// Converts a row to the account, and the failed logins with its e-mail.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a column is not valid.
    pub fn guarded(mut self) -> Result<GuardedAccount, StoreError> {
        let attempts_without_tenant = attempts(self.unnamed_failed_at.take(), self.unnamed_locked_until.take())?;
        let attempts = attempts(self.failed_at.take(), self.locked_until.take())?;
        let account = match self.stored_account() {
            Some((user, _, password)) => Some(account(user, password)?),
            None => None,
        };
        let has_unnamed_failures = !attempts_without_tenant.failed_at.is_empty();
        Ok(GuardedAccount { account, attempts, has_unnamed_failures })
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

    fn candidate(mut self) -> Result<Option<LoginCandidate>, StoreError> {
        let attempts = attempts(self.failed_at.take(), self.locked_until.take())?;
        let Some((user, tenant, password)) = self.stored_account() else { return Ok(None) };
        Ok(Some(LoginCandidate { tenant: tenant.try_into()?, account: account(user, password)?, attempts }))
    }

    /// Returns the user, its tenant and its password, if none of them is missing.
    fn stored_account(self) -> Option<(UserRow<T>, TenantRow<T>, String)> {
        let user = UserRow {
            tenant_id: self.user_tenant_id?,
            id: self.user_id?,
            kind: self.user_kind?,
            email: self.user_email?,
            email_verified_at: self.user_email_verified_at,
            first_name: self.user_first_name?,
            last_name: self.user_last_name?,
            external_id: self.user_external_id,
            home_organization_id: self.user_home_organization_id,
            status: self.user_status?,
            last_login_at: self.user_last_login_at,
            created_at: self.user_created_at?,
            updated_at: self.user_updated_at?,
            version: self.user_version?,
        };
        let tenant = TenantRow {
            id: self.tenant_id?,
            name: self.tenant_name?,
            slug: self.tenant_slug?,
            status: self.tenant_status?,
            password_policy: self.tenant_password_policy?,
            second_factor: self.tenant_second_factor?,
            second_factor_grace_days: self.tenant_second_factor_grace_days?,
            second_factor_required_at: self.tenant_second_factor_required_at,
            password_login: self.tenant_password_login?,
            email_login: self.tenant_email_login?,
            authzen_identifiers: self.tenant_authzen_identifiers?,
            user_attributes: self.tenant_user_attributes?,
            organization_attributes: self.tenant_organization_attributes?,
            unregistered_attributes: self.tenant_unregistered_attributes?,
            created_at: self.tenant_created_at?,
            updated_at: self.tenant_updated_at?,
            version: self.tenant_version?,
        };
        Some((user, tenant, self.password_hash?))
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
