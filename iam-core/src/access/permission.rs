//! Permissions `<resource>:<action>` and the patterns that cover them (`decisions.md` §4).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::validate::Invalid;

/// One thing that can be permitted: `<resource>:<action>`, both `[a-z][a-z0-9-]*`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission(Cow<'static, str>);

macro_rules! built_in {
    ($($name:ident = $text:literal;)+) => {$(
        #[doc = concat!("`", $text, "`")]
        pub const $name: Permission = Permission(Cow::Borrowed($text));
    )+};
}

built_in! {
    USERS_CREATE = "users:create";
    USERS_READ = "users:read";
    USERS_UPDATE = "users:update";
    USERS_DELETE = "users:delete";
    SESSIONS_READ = "sessions:read";
    SESSIONS_DELETE = "sessions:delete";
    TENANTS_READ = "tenants:read";
    TENANTS_UPDATE = "tenants:update";
    AUDIT_LOGS_READ = "audit-logs:read";
    ROLE_ASSIGNMENTS_READ = "role-assignments:read";
}

impl Permission {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn resource(&self) -> &str {
        self.0.split_once(':').map_or("", |(resource, _)| resource)
    }
}

impl FromStr for Permission {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.split_once(':') {
            Some((resource, action)) if is_word(resource) && is_word(action) => Ok(Self(Cow::Owned(text.to_owned()))),
            _ => Err(Invalid::new("must be <resource>:<action> in lower-case letters, digits and hyphens")),
        }
    }
}

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

/// What a role holds: one permission, `<resource>:*` for every action there will ever be, or `*` for everything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PermissionPattern(String);

impl PermissionPattern {
    pub(crate) fn everything() -> Self {
        Self("*".to_owned())
    }

    /// Whether the pattern covers the permission.
    #[must_use]
    pub fn covers(&self, permission: &Permission) -> bool {
        match self.0.strip_suffix(":*") {
            Some(resource) => resource == permission.resource(),
            None => self.0 == "*" || self.0 == permission.as_str(),
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
        let is_wildcard = text == "*" || text.strip_suffix(":*").is_some_and(is_word);
        if is_wildcard || text.parse::<Permission>().is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("must be <resource>:<action>, <resource>:* or *"))
        }
    }
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
    fn permissions_are_two_words() {
        assert!("orders:refund-2".parse::<Permission>().is_ok());
        for bad in ["", "users", "users:", ":read", "users:*", "*", "Users:read", "users:read:all", "1users:read"] {
            assert!(bad.parse::<Permission>().is_err(), "{bad}");
        }
    }

    #[test]
    fn patterns_cover_what_they_say_and_no_more() {
        let covers =
            |pattern: &str, permission: &Permission| pattern.parse::<PermissionPattern>().unwrap().covers(permission);
        assert!(covers("*", &USERS_READ));
        assert!(covers("users:*", &USERS_READ));
        assert!(covers("users:read", &USERS_READ));
        assert!(!covers("users:read", &USERS_UPDATE));
        assert!(!covers("user:*", &USERS_READ));
        assert!(!covers("users:*", &"users-x:read".parse().unwrap()));
        for bad in ["", "**", "*:read", ":*", "users:**"] {
            assert!(bad.parse::<PermissionPattern>().is_err(), "{bad}");
        }
    }
}
