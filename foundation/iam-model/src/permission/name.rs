//! Permissions `<resource>:<action>` and the patterns that cover them (`docs/http-api.md#access`).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::validate::Invalid;

/// A permission: `<resource>:<action>`, both `[a-z][a-z0-9-]*`, at most 120 characters in total.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission(Cow<'static, str>);

macro_rules! built_in {
    ($($name:ident = $text:literal, $description:literal;)+) => {
        $(
            #[doc = concat!("`", $text, "`: ", $description)]
            pub const $name: Permission = Permission(Cow::Borrowed($text));
        )+

        /// The built-in permissions with their descriptions. The catalogue of each tenant starts with them.
        pub const BUILT_IN: &[(Permission, &str)] = &[$(($name, $description),)+];
    };
}

built_in! {
    USERS_CREATE = "users:create", "Make users, and restore deleted ones.";
    USERS_READ = "users:read", "See users.";
    USERS_UPDATE = "users:update", "Change, suspend and reactivate users.";
    USERS_DELETE = "users:delete", "Delete users.";
    ROLE_ASSIGNMENTS_CREATE = "role-assignments:create", "Give roles to users.";
    ROLE_ASSIGNMENTS_READ = "role-assignments:read", "See who holds which role, and ask what others may do.";
    ROLE_ASSIGNMENTS_UPDATE = "role-assignments:update", "Change when role assignments expire.";
    ROLE_ASSIGNMENTS_DELETE = "role-assignments:delete", "Take roles from users.";
    ROLES_CREATE = "roles:create", "Make roles.";
    ROLES_READ = "roles:read", "See roles and what they permit.";
    ROLES_UPDATE = "roles:update", "Change roles and what they permit.";
    ROLES_DELETE = "roles:delete", "Delete roles.";
    PERMISSIONS_CREATE = "permissions:create", "Register permissions.";
    PERMISSIONS_READ = "permissions:read", "See the catalogue of permissions.";
    PERMISSIONS_UPDATE = "permissions:update", "Reserved.";
    PERMISSIONS_DELETE = "permissions:delete", "Remove permissions from the catalogue.";
    ORGANIZATIONS_CREATE = "organizations:create", "Make organizations.";
    ORGANIZATIONS_READ = "organizations:read", "See organizations.";
    ORGANIZATIONS_UPDATE = "organizations:update", "Change, move and suspend organizations.";
    ORGANIZATIONS_DELETE = "organizations:delete", "Delete organizations.";
    AUDIT_LOGS_CREATE = "audit-logs:create", "Record events of the application.";
    AUDIT_LOGS_READ = "audit-logs:read", "Read the audit log.";
    AUDIT_LOGS_UPDATE = "audit-logs:update", "Set how long audit entries are kept.";
    AUDIT_LOGS_DELETE = "audit-logs:delete", "Remove old audit entries, erase a person's fields.";
    TENANTS_CREATE = "tenants:create", "Reserved: tenants are made by registering.";
    TENANTS_READ = "tenants:read", "See the tenant.";
    TENANTS_UPDATE = "tenants:update", "Change the tenant.";
    TENANTS_DELETE = "tenants:delete", "Reserved.";
    SESSIONS_CREATE = "sessions:create", "Reserved: sessions are made by logging in.";
    SESSIONS_READ = "sessions:read", "See the sessions of users.";
    SESSIONS_UPDATE = "sessions:update", "Reserved.";
    SESSIONS_DELETE = "sessions:delete", "End the sessions of users.";
    INVITATIONS_CREATE = "invitations:create", "Invite people.";
    INVITATIONS_READ = "invitations:read", "See invitations.";
    INVITATIONS_UPDATE = "invitations:update", "Send invitations again.";
    INVITATIONS_DELETE = "invitations:delete", "Revoke invitations.";
    API_KEYS_CREATE = "api-keys:create", "Make API keys for other users.";
    API_KEYS_READ = "api-keys:read", "See the API keys of other users.";
    API_KEYS_UPDATE = "api-keys:update", "Change and rotate the API keys of other users.";
    API_KEYS_DELETE = "api-keys:delete", "Revoke the API keys of other users.";
    WEBHOOKS_CREATE = "webhooks:create", "Make webhooks.";
    WEBHOOKS_READ = "webhooks:read", "See webhooks and their deliveries.";
    WEBHOOKS_UPDATE = "webhooks:update", "Change, test and replay webhooks, and rotate their secrets.";
    WEBHOOKS_DELETE = "webhooks:delete", "Remove webhooks.";
    ACCESS_REVIEWS_CREATE = "access-reviews:create", "Begin access reviews.";
    ACCESS_REVIEWS_READ = "access-reviews:read", "See access reviews and their items.";
    ACCESS_REVIEWS_UPDATE = "access-reviews:update", "Decide in access reviews, complete and cancel them.";
    ACCESS_REVIEWS_DELETE = "access-reviews:delete", "Reserved.";
    DOMAINS_CREATE = "domains:create", "Add domains.";
    DOMAINS_READ = "domains:read", "See domains.";
    DOMAINS_UPDATE = "domains:update", "Verify domains.";
    DOMAINS_DELETE = "domains:delete", "Remove domains.";
    IDENTITY_PROVIDERS_CREATE = "identity-providers:create", "Make identity providers, with all permissions.";
    IDENTITY_PROVIDERS_READ = "identity-providers:read", "See identity providers.";
    IDENTITY_PROVIDERS_UPDATE = "identity-providers:update", "Rename identity providers; change them, with all permissions.";
    IDENTITY_PROVIDERS_DELETE = "identity-providers:delete", "Remove identity providers, with all permissions.";
    DIRECTORIES_CREATE = "directories:create", "Make directories.";
    DIRECTORIES_READ = "directories:read", "See directories.";
    DIRECTORIES_UPDATE = "directories:update", "Change directories.";
    DIRECTORIES_DELETE = "directories:delete", "Remove directories.";
    IMPERSONATIONS_CREATE = "impersonations:create", "Act as other users, with all of their permissions oneself.";
    IMPERSONATIONS_READ = "impersonations:read", "Reserved.";
    IMPERSONATIONS_UPDATE = "impersonations:update", "Reserved.";
    IMPERSONATIONS_DELETE = "impersonations:delete", "Reserved.";
    ELIGIBILITIES_CREATE = "eligibilities:create", "Let users ask for roles, with all permissions of these oneself.";
    ELIGIBILITIES_READ = "eligibilities:read", "See who may ask for which role.";
    ELIGIBILITIES_UPDATE = "eligibilities:update", "Change who may ask for roles for how long, and who decides.";
    ELIGIBILITIES_DELETE = "eligibilities:delete", "Remove the right of users to ask for roles.";
    ACCESS_REQUESTS_CREATE = "access-requests:create", "Reserved: users ask by eligibilities.";
    ACCESS_REQUESTS_READ = "access-requests:read", "See the access requests of other users.";
    ACCESS_REQUESTS_UPDATE = "access-requests:update", "Decide about the access requests of other users, and cancel them.";
    ACCESS_REQUESTS_DELETE = "access-requests:delete", "Reserved.";
    LEGAL_HOLDS_CREATE = "iam-legal-holds:create", "Place legal holds.";
    LEGAL_HOLDS_READ = "iam-legal-holds:read", "See legal holds.";
    LEGAL_HOLDS_UPDATE = "iam-legal-holds:update", "Reserved.";
    LEGAL_HOLDS_DELETE = "iam-legal-holds:delete", "Release legal holds.";
}

impl Permission {
    /// The maximum length of a permission or a pattern, in characters.
    pub const MAX_LENGTH: usize = 120;

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The resource: the part before the colon.
    #[must_use]
    pub fn resource(&self) -> &str {
        self.0.split_once(':').map_or("", |(resource, _)| resource)
    }

    /// The action: the part after the colon.
    #[must_use]
    pub fn action(&self) -> &str {
        self.0.split_once(':').map_or("", |(_, action)| action)
    }

    /// Whether it is one of the [`BUILT_IN`] permissions.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        BUILT_IN.iter().any(|(name, _)| name == self)
    }
}

/// Lets a function accept a permission or its text.
impl TryFrom<&str> for Permission {
    type Error = Invalid;

    fn try_from(text: &str) -> Result<Self, Invalid> {
        text.parse()
    }
}

impl FromStr for Permission {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.split_once(':') {
            Some((resource, action)) if text.len() <= Self::MAX_LENGTH && is_word(resource) && is_word(action) => {
                Ok(Self(Cow::Owned(text.to_owned())))
            }
            _ => Err(Invalid::new(format!(
                "must be <resource>:<action> in lower-case letters, digits and hyphens, at most {} characters",
                Self::MAX_LENGTH
            ))),
        }
    }
}

serde_by_text! { Permission }

serde_by_text! { PermissionPattern }

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// A pattern of permissions, as a role contains it: one permission, `<resource>:*` for all present and future actions
/// on a resource, or `*` for everything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermissionPattern(Box<str>);

impl PermissionPattern {
    /// `*`
    pub fn everything() -> Self {
        Self("*".into())
    }

    /// `<resource>:*` for the resource of a permission.
    pub fn whole_resource_of(permission: &Permission) -> Self {
        Self(format!("{}:*", permission.resource()).into())
    }

    /// All patterns that allow a permission.
    #[must_use]
    pub fn allowing(permission: &Permission) -> [Self; 3] {
        [permission.into(), Self::whole_resource_of(permission), Self::everything()]
    }

    /// Whether this pattern covers everything that the other pattern covers, including permissions that are registered
    /// later.
    ///
    /// All present actions on a resource together are less than `<resource>:*`, which also covers future actions.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match self.kind() {
            PatternKind::Everything => true,
            PatternKind::Resource(resource) => other.resource() == Some(resource),
            PatternKind::Exact(_) => self == other,
        }
    }

    /// The resource whose actions it names; `None` for `*`.
    #[must_use]
    pub fn resource(&self) -> Option<&str> {
        match self.kind() {
            PatternKind::Everything => None,
            PatternKind::Resource(resource) => Some(resource),
            PatternKind::Exact(permission) => permission.split_once(':').map(|(resource, _)| resource),
        }
    }

    /// The kind of this pattern.
    pub fn kind(&self) -> PatternKind<'_> {
        match self.0.strip_suffix('*') {
            None => PatternKind::Exact(&self.0),
            Some("") => PatternKind::Everything,
            Some(resource) => PatternKind::Resource(resource.trim_end_matches(':')),
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PermissionPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_short = text.len() <= Permission::MAX_LENGTH;
        let is_wildcard = text == "*" || is_short && text.strip_suffix(":*").is_some_and(is_word);
        if is_wildcard || text.parse::<Permission>().is_ok() {
            Ok(Self(text.into()))
        } else {
            Err(Invalid::new("must be <resource>:<action>, <resource>:* or *"))
        }
    }
}

impl From<&Permission> for PermissionPattern {
    fn from(permission: &Permission) -> Self {
        Self(permission.as_str().into())
    }
}

impl fmt::Display for PermissionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The three kinds of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternKind<'a> {
    /// `*`
    Everything,
    /// Every action on this resource.
    Resource(&'a str),
    /// This permission alone.
    Exact(&'a str),
}

impl fmt::Debug for PermissionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_is_a_resource_and_an_action() {
        assert!("orders:refund-2".parse::<Permission>().is_ok());
        assert!(format!("a:{}", "b".repeat(118)).parse::<Permission>().is_ok());
        assert!(format!("{}:*", "b".repeat(119)).parse::<PermissionPattern>().is_err());
        let long = format!("a:{}", "b".repeat(119));
        for bad in
            ["", "users", "users:", ":read", "users:*", "*", "Users:read", "users:read:all", "1users:read", &long]
        {
            assert!(bad.parse::<Permission>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_covers_only_what_it_names() {
        let pattern = |text: &str| text.parse::<PermissionPattern>().unwrap();
        let covers = |held: &str, wanted: &str| pattern(held).covers(&pattern(wanted));
        for (held, wanted) in [
            ("*", "*"),
            ("*", "users:*"),
            ("*", "users:read"),
            ("users:*", "users:*"),
            ("users:*", "users:read"),
            ("users:read", "users:read"),
        ] {
            assert!(covers(held, wanted), "{held} {wanted}");
        }
        for (held, wanted) in [
            ("users:*", "*"),
            ("users:read", "*"),
            ("users:read", "users:*"),
            ("users:read", "users:update"),
            ("users:*", "user:read"),
            ("user:*", "users:read"),
            ("users:*", "users-x:read"),
            ("users:*", "users-x:*"),
        ] {
            assert!(!covers(held, wanted), "{held} {wanted}");
        }
    }

    #[test]
    fn built_in_permissions_are_well_formed_and_distinct() {
        let mut names: Vec<&str> = BUILT_IN.iter().map(|(permission, _)| permission.as_str()).collect();
        assert!(names.iter().all(|name| name.parse::<Permission>().is_ok()));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 19 * 4);
    }

    #[test]
    fn a_malformed_pattern_is_refused() {
        for bad in ["", "**", "*:read", ":*", "users:**"] {
            assert!(bad.parse::<PermissionPattern>().is_err(), "{bad}");
        }
    }
}
