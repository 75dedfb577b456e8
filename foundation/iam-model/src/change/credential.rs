use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Attribution, Record, ResourceType, action};
use crate::credential::LoginAttempts;
use crate::id::{IdentityProviderId, UserId};
use crate::secret::PasswordHash;
use crate::validate::{Email, EmailKey};

/// A change of credentials.
#[derive(Clone, Debug)]
pub enum CredentialChange {
    /// A user gets another password, chosen by the user or by trusted code.
    ChangePassword {
        /// The user.
        user: UserId,
        /// The hash of the new password.
        password: PasswordHash,
    },
    /// A user gets another password by a link that was sent to its address.
    ResetPassword {
        /// The user.
        user: UserId,
        /// The hash of the new password.
        password: PasswordHash,
    },
    /// The hash of an unchanged password is replaced by one at the current cost.
    Rehash {
        /// The user.
        user: UserId,
        /// The new hash of the same password.
        password: PasswordHash,
    },
    /// A login failed and counts towards the lockout.
    CountFailure {
        /// The e-mail that was tried.
        email: Email,
        /// Why it failed.
        reason: LoginFailure,
        /// The failed attempts, including this one.
        attempts: LoginAttempts,
        /// Whether the failure gets an audit entry. A login that names no tenant and opens a session in one tenant
        /// leaves no entry in the others, unless it locks an account there, so that no tenant learns of another.
        is_recorded: bool,
    },
    /// A login was refused and does not count towards the lockout.
    Refuse {
        /// The e-mail that was tried.
        email: Email,
        /// Why it was refused.
        reason: LoginFailure,
        /// How many failed attempts with this e-mail count.
        attempt_count: usize,
    },
    /// A person who comes from an identity provider is refused. It does not count as a failed attempt.
    RefuseFederated {
        /// The provider.
        provider: IdentityProviderId,
        /// Why: SIGNATURE, ISSUER, AUDIENCE, EXPIRED, NONCE or NOT_LINKED.
        cause: &'static str,
    },
    /// The failed attempts with an e-mail are cleared: those in the tenant, and those that named no tenant. A
    /// successful login and a password reset by trusted code do this.
    ClearFailures(EmailKey),
}

/// Why a login failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginFailure {
    /// No user has this e-mail.
    UnknownUser,
    /// The password is wrong.
    InvalidPassword,
    /// The account was locked after too many failures. The password was not checked.
    AccountLocked,
    /// The password is right, but the user is suspended.
    UserSuspended,
    /// The user is deleted.
    UserInactive,
    /// The password is right, but the tenant is suspended.
    TenantSuspended,
    /// The second factor is wrong, or was used before.
    SecondFactor,
    /// The password is right, but the user logs in by an identity provider alone.
    FederationRequired,
    /// The code of a message is wrong.
    InvalidCode,
}

text_enum! {
    LoginFailure {
        UnknownUser = "UNKNOWN_USER",
        InvalidPassword = "INVALID_PASSWORD",
        AccountLocked = "ACCOUNT_LOCKED",
        UserSuspended = "USER_SUSPENDED",
        UserInactive = "USER_INACTIVE",
        TenantSuspended = "TENANT_SUSPENDED",
        SecondFactor = "SECOND_FACTOR",
        FederationRequired = "FEDERATION_REQUIRED",
        InvalidCode = "INVALID_CODE",
    }
}

impl CredentialChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::ChangePassword { user, .. } => {
                vec![Record::new(action::PASSWORD_CHANGE, ResourceType::USER, user)]
            }
            Self::ResetPassword { user, .. } => {
                // The caller is anonymous. Only the token identifies the user.
                let record = Record::new(action::PASSWORD_CHANGE, ResourceType::USER, user).with("method", "reset");
                vec![record.attributed(Attribution::User(*user))]
            }
            Self::CountFailure { is_recorded: false, .. } => Vec::new(),
            Self::CountFailure { email, reason, attempts, .. } => vec![failure(email, *reason, attempts.count())],
            Self::Refuse { email, reason, attempt_count } => vec![failure(email, *reason, *attempt_count)],
            Self::RefuseFederated { provider, cause } => vec![
                Record::unattributed(action::LOGIN_FAILURE, ResourceType::USER)
                    .with("reason", "FEDERATION")
                    .with("cause", *cause)
                    .with("providerId", provider.to_string()),
            ],
            // The password stays the same.
            Self::Rehash { .. } => Vec::new(),
            // The LOGIN entry of the session or the PASSWORD_CHANGE entry of the reset implies it.
            Self::ClearFailures(_) => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            // Only the user itself and trusted code change a password.
            Self::ChangePassword { .. }
            | Self::ResetPassword { .. }
            | Self::Rehash { .. }
            | Self::CountFailure { .. }
            | Self::Refuse { .. }
            | Self::RefuseFederated { .. }
            | Self::ClearFailures(_) => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // Sessions that end because of a new password are a separate change.
            Self::ChangePassword { .. }
            | Self::ResetPassword { .. }
            | Self::Rehash { .. }
            | Self::CountFailure { .. }
            | Self::Refuse { .. }
            | Self::RefuseFederated { .. }
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
