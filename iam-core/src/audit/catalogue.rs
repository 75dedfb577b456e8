use std::borrow::Cow;

/// What kind of thing an entry, or an error, is about: upper snake case.
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
    /// An entry of it. Errors alone are about one.
    pub const AUDIT_ENTRY: Self = Self(Cow::Borrowed("AUDIT_ENTRY"));

    /// The word that stands for it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The word for people: `Role assignment` for `ROLE_ASSIGNMENT`.
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

/// What the service records (`decisions.md` §6), by the names it stores.
pub mod action {
    /// Something was made.
    pub const CREATE: &str = "CREATE";
    /// The audit log was exported.
    pub const READ: &str = "READ";
    /// Fields were changed.
    pub const UPDATE: &str = "UPDATE";
    /// Something was deleted, softly where it is kept.
    pub const DELETE: &str = "DELETE";
    /// A user lost the right to log in for a while.
    pub const USER_SUSPENDED: &str = "USER_SUSPENDED";
    /// A suspended user got it back.
    pub const USER_REACTIVATED: &str = "USER_REACTIVATED";
    /// A session began.
    pub const LOGIN: &str = "LOGIN";
    /// A login was refused.
    pub const LOGIN_FAILURE: &str = "LOGIN_FAILURE";
    /// A session ended.
    pub const LOGOUT: &str = "LOGOUT";
    /// A refresh token was exchanged.
    pub const TOKEN_REFRESH: &str = "TOKEN_REFRESH";
    /// It was proven that a user receives mail at its address.
    pub const EMAIL_VERIFIED: &str = "EMAIL_VERIFIED";
    /// A user changed its password.
    pub const PASSWORD_CHANGE: &str = "PASSWORD_CHANGE";
    /// A user got a role.
    pub const ROLE_ASSIGNED: &str = "ROLE_ASSIGNED";
    /// A user lost a role.
    pub const ROLE_REVOKED: &str = "ROLE_REVOKED";
    /// A person's fields in the audit log were made unreadable.
    pub const ERASE: &str = "ERASE";
}

/// The resource types of `interface.md` §4.4, in that order.
pub const RESOURCE_TYPES: [&str; 6] = ["USER", "ORGANIZATION", "TENANT", "ROLE", "PERMISSION", "SESSION"];

/// The actions of `interface.md` §4.4, in that order.
pub const ACTIONS: [&str; 7] = ["CREATE", "READ", "UPDATE", "DELETE", "LOGIN", "LOGOUT", "LOGIN_FAILURE"];

/// What the service records of one kind of thing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// The kind of thing.
    pub resource_type: ResourceType,
    /// What can happen to it, by the names that are stored.
    pub actions: &'static [&'static str],
}

/// All that the service records (`decisions.md` §6).
pub const CATALOGUE: [Recorded; 8] = {
    use action::{
        CREATE, DELETE, EMAIL_VERIFIED, ERASE, LOGIN, LOGIN_FAILURE, LOGOUT, PASSWORD_CHANGE, READ, ROLE_ASSIGNED,
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
                UPDATE,
                DELETE,
                USER_SUSPENDED,
                USER_REACTIVATED,
                LOGIN_FAILURE,
                PASSWORD_CHANGE,
                EMAIL_VERIFIED,
                ERASE,
            ],
        ),
        of(ResourceType::ORGANIZATION, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::TENANT, &[CREATE, UPDATE]),
        of(ResourceType::ROLE, &[CREATE, UPDATE, DELETE]),
        of(ResourceType::PERMISSION, &[CREATE, DELETE]),
        of(ResourceType::ROLE_ASSIGNMENT, &[ROLE_ASSIGNED, ROLE_REVOKED, UPDATE]),
        of(ResourceType::SESSION, &[LOGIN, LOGOUT, TOKEN_REFRESH]),
        of(ResourceType::AUDIT_LOG, &[READ, UPDATE, DELETE]),
    ]
};

/// What nobody else may say of anything, not even of things the service does not know (`decisions.md` §6).
const RESERVED: [&str; 13] = [
    action::LOGIN,
    action::LOGOUT,
    action::LOGIN_FAILURE,
    action::TOKEN_REFRESH,
    action::PASSWORD_CHANGE,
    action::EMAIL_VERIFIED,
    action::ROLE_ASSIGNED,
    action::ROLE_REVOKED,
    action::USER_SUSPENDED,
    action::USER_REACTIVATED,
    "SUSPEND",
    "REACTIVATE",
    action::ERASE,
];

/// Whether the service itself records this, so that nobody else may: any of its actions on any of its kinds of things,
/// and what is reserved on all.
pub(super) fn is_reserved(action: &str, resource_type: &str) -> bool {
    let is_own_action = CATALOGUE.iter().any(|recorded| recorded.actions.contains(&action));
    let is_own_type = CATALOGUE.iter().any(|recorded| recorded.resource_type.as_str() == resource_type);
    RESERVED.contains(&action) || (is_own_action && is_own_type)
}
