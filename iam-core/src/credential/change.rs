use uuid::Uuid;

use super::LoginAttempts;
use crate::audit::{Record, ResourceType, action};
use crate::id::UserId;
use crate::secret::PasswordHash;
use crate::validate::{Email, EmailKey};

/// A change of credentials.
#[derive(Clone, Debug)]
pub enum CredentialChange {
    /// A user has another password: its own choice, or that of trusted code.
    ChangePassword {
        /// The user.
        user: UserId,
        /// The new password's hash.
        password: PasswordHash,
    },
    /// The same password is hashed at today's cost.
    Rehash {
        /// The user.
        user: UserId,
        /// The same password's new hash.
        password: PasswordHash,
    },
    /// A login failed and counts.
    CountFailure {
        /// The e-mail that was tried.
        email: Email,
        /// Why it failed.
        reason: LoginFailure,
        /// The attempts with this one.
        attempts: LoginAttempts,
        /// Whether the audit log keeps it. A login that names no tenant and opens a session in one leaves nothing in the
        /// others, so that no tenant learns of another.
        is_recorded: bool,
    },
    /// A login was refused and does not count.
    Refuse {
        /// The e-mail that was tried.
        email: Email,
        /// Why it was refused.
        reason: LoginFailure,
        /// How many failures stand against it.
        attempt_count: usize,
    },
    /// A success clears the failures of an e-mail, in the tenant and of logins that named none; so does another password
    /// from trusted code.
    ClearFailures(EmailKey),
}

/// Why a login failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginFailure {
    /// Nobody has this e-mail.
    UnknownUser,
    /// The password is wrong.
    InvalidPassword,
    /// Too many failures: the password was not even looked at.
    AccountLocked,
    /// The password is right and the user suspended.
    UserSuspended,
    /// The user was deleted.
    UserInactive,
    /// The password is right and the tenant suspended.
    TenantSuspended,
}

words! {
    LoginFailure {
        UnknownUser = "UNKNOWN_USER",
        InvalidPassword = "INVALID_PASSWORD",
        AccountLocked = "ACCOUNT_LOCKED",
        UserSuspended = "USER_SUSPENDED",
        UserInactive = "USER_INACTIVE",
        TenantSuspended = "TENANT_SUSPENDED",
    }
}

impl CredentialChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::ChangePassword { user, .. } => {
                vec![Record::new(action::PASSWORD_CHANGE, ResourceType::USER, user)]
            }
            Self::CountFailure { is_recorded: false, .. } => Vec::new(),
            Self::CountFailure { email, reason, attempts, .. } => vec![failure(email, *reason, attempts.count())],
            Self::Refuse { email, reason, attempt_count } => vec![failure(email, *reason, *attempt_count)],
            // The password stays the same.
            Self::Rehash { .. } => Vec::new(),
            // The session's LOGIN entry says it, or the password's PASSWORD_CHANGE.
            Self::ClearFailures(_) => Vec::new(),
        }
    }

    pub(crate) fn touched(&self) -> Vec<Uuid> {
        match self {
            // The sessions that end with a password are a change of their own.
            Self::ChangePassword { .. }
            | Self::Rehash { .. }
            | Self::CountFailure { .. }
            | Self::Refuse { .. }
            | Self::ClearFailures(_) => Vec::new(),
        }
    }
}

fn failure(email: &Email, reason: LoginFailure, attempt_count: usize) -> Record {
    Record::unattributed(action::LOGIN_FAILURE, ResourceType::USER)
        .with("email", email.as_str())
        .with("reason", reason.as_str())
        .with("attemptCount", attempt_count)
}
