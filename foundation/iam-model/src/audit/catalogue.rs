use std::borrow::Cow;

/// The type of the resource that an entry or an error is about, in upper snake case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceType(Cow<'static, str>);

impl ResourceType {
    /// A user of the tenant.
    pub const USER: Self = Self(Cow::Borrowed("USER"));
    /// An organization of the tenant.
    pub const ORGANIZATION: Self = Self(Cow::Borrowed("ORGANIZATION"));
    /// The tenant itself.
    pub const TENANT: Self = Self(Cow::Borrowed("TENANT"));
    /// A role.
    pub const ROLE: Self = Self(Cow::Borrowed("ROLE"));
    /// A permission of the catalogue.
    pub const PERMISSION: Self = Self(Cow::Borrowed("PERMISSION"));
    /// A role assignment.
    pub const ROLE_ASSIGNMENT: Self = Self(Cow::Borrowed("ROLE_ASSIGNMENT"));
    /// A login session.
    pub const SESSION: Self = Self(Cow::Borrowed("SESSION"));
    /// The audit log itself.
    pub const AUDIT_LOG: Self = Self(Cow::Borrowed("AUDIT_LOG"));
    /// An invitation.
    pub const INVITATION: Self = Self(Cow::Borrowed("INVITATION"));
    /// A second factor of a user.
    pub const FACTOR: Self = Self(Cow::Borrowed("FACTOR"));
    /// An API key of a user.
    pub const API_KEY: Self = Self(Cow::Borrowed("API_KEY"));
    /// A webhook of the tenant.
    pub const WEBHOOK: Self = Self(Cow::Borrowed("WEBHOOK"));
    /// An access review.
    pub const ACCESS_REVIEW: Self = Self(Cow::Borrowed("ACCESS_REVIEW"));
    /// An item of an access review. Only errors are about one.
    pub const ACCESS_REVIEW_ITEM: Self = Self(Cow::Borrowed("ACCESS_REVIEW_ITEM"));
    /// A domain of the tenant.
    pub const DOMAIN: Self = Self(Cow::Borrowed("DOMAIN"));
    /// The link of a user to an account at an identity provider.
    pub const IDENTITY: Self = Self(Cow::Borrowed("IDENTITY"));
    /// An identity provider of the tenant.
    pub const IDENTITY_PROVIDER: Self = Self(Cow::Borrowed("IDENTITY_PROVIDER"));
    /// A directory of the tenant.
    pub const DIRECTORY: Self = Self(Cow::Borrowed("DIRECTORY"));
    /// A group of a directory.
    pub const DIRECTORY_GROUP: Self = Self(Cow::Borrowed("DIRECTORY_GROUP"));
    /// An eligibility.
    pub const ELIGIBILITY: Self = Self(Cow::Borrowed("ELIGIBILITY"));
    /// An access request.
    pub const ACCESS_REQUEST: Self = Self(Cow::Borrowed("ACCESS_REQUEST"));
    /// A legal hold.
    pub const LEGAL_HOLD: Self = Self(Cow::Borrowed("LEGAL_HOLD"));
    /// An entry of the audit log. Only errors are about one.
    pub const AUDIT_ENTRY: Self = Self(Cow::Borrowed("AUDIT_ENTRY"));

    /// Returns the type as it is stored.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the type for human readers: `Role assignment` for `ROLE_ASSIGNMENT`.
    #[must_use]
    pub fn title(&self) -> String {
        let words = self.0.replace('_', " ").to_lowercase();
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

impl From<String> for ResourceType {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

/// The actions that the service records (`docs/audit.md#what-is-recorded`), by their stored names.
pub mod action {
    /// A resource was created.
    pub const CREATE: &str = "CREATE";
    /// The audit log was exported, or all that is held about a user.
    pub const READ: &str = "READ";
    /// Fields of a resource were changed.
    pub const UPDATE: &str = "UPDATE";
    /// A resource was deleted; softly, where the service retains it.
    pub const DELETE: &str = "DELETE";
    /// A user was suspended and cannot log in.
    pub const USER_SUSPENDED: &str = "USER_SUSPENDED";
    /// A suspended user was reactivated and can log in again.
    pub const USER_REACTIVATED: &str = "USER_REACTIVATED";
    /// A session began.
    pub const LOGIN: &str = "LOGIN";
    /// A login was refused.
    pub const LOGIN_FAILURE: &str = "LOGIN_FAILURE";
    /// A session ended.
    pub const LOGOUT: &str = "LOGOUT";
    /// A user began to act as another one, in a session of that one.
    pub const IMPERSONATION_STARTED: &str = "IMPERSONATION_STARTED";
    /// A session ended in which a user acted as another one.
    pub const IMPERSONATION_ENDED: &str = "IMPERSONATION_ENDED";
    /// A refresh token was exchanged.
    pub const TOKEN_REFRESH: &str = "TOKEN_REFRESH";
    /// A user proved that it receives mail at its address.
    pub const EMAIL_VERIFIED: &str = "EMAIL_VERIFIED";
    /// A user changed its password.
    pub const PASSWORD_CHANGE: &str = "PASSWORD_CHANGE";
    /// A link was issued with which a user can choose a new password.
    pub const PASSWORD_RESET_REQUESTED: &str = "PASSWORD_RESET_REQUESTED";
    /// A link and a code were issued with which a user can log in.
    pub const EMAIL_LOGIN_REQUESTED: &str = "EMAIL_LOGIN_REQUESTED";
    /// A recovery code was used in place of a second factor.
    pub const RECOVERY_CODE_USED: &str = "RECOVERY_CODE_USED";
    /// A user got a new set of recovery codes.
    pub const RECOVERY_CODES_ISSUED: &str = "RECOVERY_CODES_ISSUED";
    /// The counter of a passkey fell back, so a copy of it may exist.
    pub const PASSKEY_COUNTER: &str = "PASSKEY_COUNTER";
    /// A user got a role.
    pub const ROLE_ASSIGNED: &str = "ROLE_ASSIGNED";
    /// A user lost a role.
    pub const ROLE_REVOKED: &str = "ROLE_REVOKED";
    /// An invited person accepted, and is a user now.
    pub const ACCEPTED: &str = "ACCEPTED";
    /// An access review ended, and the assignments that were to be revoked are revoked.
    pub const COMPLETED: &str = "COMPLETED";
    /// A user has approved an access request.
    pub const APPROVED: &str = "APPROVED";
    /// A user has refused an access request.
    pub const DENIED: &str = "DENIED";
    /// An access request was taken back, or what it needs was gone.
    pub const CANCELLED: &str = "CANCELLED";
    /// The approvals of an access request did not come in time.
    pub const LAPSED: &str = "LAPSED";
    /// What an access request had given has ended.
    pub const ENDED: &str = "ENDED";
    /// The personal fields of a user were erased in the audit log.
    pub const ERASE: &str = "ERASE";
}

/// The resource types of `docs/http-api.md#the-audit-log-over-http`, in that order.
pub const RESOURCE_TYPES: [&str; 6] = ["USER", "ORGANIZATION", "TENANT", "ROLE", "PERMISSION", "SESSION"];

/// The actions of `docs/http-api.md#the-audit-log-over-http`, in that order.
pub const ACTIONS: [&str; 7] = ["CREATE", "READ", "UPDATE", "DELETE", "LOGIN", "LOGOUT", "LOGIN_FAILURE"];

/// The actions that the service records for one resource type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The resource type.
    pub resource_type: ResourceType,
    /// The actions, by their stored names.
    pub actions: &'static [&'static str],
}

/// Everything that the service records (`docs/audit.md#what-is-recorded`).
pub const CATALOGUE: [Recorded; 21] = {
    use action::{
        ACCEPTED, APPROVED, CANCELLED, COMPLETED, CREATE, DELETE, DENIED, EMAIL_LOGIN_REQUESTED, EMAIL_VERIFIED, ENDED,
        ERASE, IMPERSONATION_ENDED, IMPERSONATION_STARTED, LAPSED, LOGIN, LOGIN_FAILURE, LOGOUT, PASSKEY_COUNTER,
        PASSWORD_CHANGE, PASSWORD_RESET_REQUESTED, READ, RECOVERY_CODE_USED, RECOVERY_CODES_ISSUED, ROLE_ASSIGNED,
        ROLE_REVOKED, TOKEN_REFRESH, UPDATE, USER_REACTIVATED, USER_SUSPENDED,
    };
    const fn of(resource_type: ResourceType, actions: &'static [&'static str]) -> Recorded {
        Recorded { resource_type, actions }
    }
    [
        of(
            ResourceType::USER,
            &[
                CREATE,
                READ,
                UPDATE,
                DELETE,
                USER_SUSPENDED,
                USER_REACTIVATED,
                LOGIN_FAILURE,
                PASSWORD_CHANGE,
                PASSWORD_RESET_REQUESTED,
                EMAIL_LOGIN_REQUESTED,
                EMAIL_VERIFIED,
                RECOVERY_CODE_USED,
                RECOVERY_CODES_ISSUED,
                ERASE,
            ],
        ),
        of(ResourceType::ORGANIZATION, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::TENANT, &[CREATE, READ, UPDATE, DELETE]),
        of(ResourceType::ROLE, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::PERMISSION, &[CREATE, DELETE]),
        of(ResourceType::ROLE_ASSIGNMENT, &[ROLE_ASSIGNED, ROLE_REVOKED, UPDATE]),
        of(ResourceType::SESSION, &[LOGIN, LOGOUT, TOKEN_REFRESH, UPDATE, IMPERSONATION_STARTED, IMPERSONATION_ENDED]),
        of(ResourceType::AUDIT_LOG, &[READ, UPDATE, DELETE]),
        of(ResourceType::INVITATION, &[CREATE, UPDATE, DELETE, ACCEPTED]),
        of(ResourceType::FACTOR, &[CREATE, UPDATE, DELETE, PASSKEY_COUNTER]),
        of(ResourceType::API_KEY, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::WEBHOOK, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::ACCESS_REVIEW, &[CREATE, UPDATE, COMPLETED]),
        of(ResourceType::DOMAIN, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::IDENTITY_PROVIDER, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::IDENTITY, &[CREATE, DELETE]),
        of(ResourceType::DIRECTORY, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::DIRECTORY_GROUP, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::ELIGIBILITY, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::ACCESS_REQUEST, &[CREATE, APPROVED, DENIED, CANCELLED, LAPSED, ENDED]),
        of(ResourceType::LEGAL_HOLD, &[CREATE, DELETE]),
    ]
};

/// Actions that an application may not record for any resource type, not even for its own types
/// (`docs/audit.md#events-of-an-application`).
const RESERVED: [&str; 20] = [
    action::LOGIN,
    action::LOGOUT,
    action::LOGIN_FAILURE,
    action::TOKEN_REFRESH,
    action::PASSWORD_CHANGE,
    action::PASSWORD_RESET_REQUESTED,
    action::EMAIL_LOGIN_REQUESTED,
    action::EMAIL_VERIFIED,
    action::ROLE_ASSIGNED,
    action::ROLE_REVOKED,
    action::USER_SUSPENDED,
    action::USER_REACTIVATED,
    "SUSPEND",
    "REACTIVATE",
    action::RECOVERY_CODE_USED,
    action::RECOVERY_CODES_ISSUED,
    action::PASSKEY_COUNTER,
    action::ERASE,
    action::IMPERSONATION_STARTED,
    action::IMPERSONATION_ENDED,
];

/// Returns whether only the service may record this: one of its actions on one of its resource types, or a reserved
/// action on any resource type.
pub(super) fn is_reserved(action: &str, resource_type: &str) -> bool {
    let is_own_action = CATALOGUE.iter().any(|recorded| recorded.actions.contains(&action));
    let is_own_type = CATALOGUE.iter().any(|recorded| recorded.resource_type.as_str() == resource_type);
    RESERVED.contains(&action) || (is_own_action && is_own_type)
}
