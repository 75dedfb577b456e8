use std::str::FromStr;

use iam_model::permission::Permission;
use iam_model::validate::Invalid;

/// The type of the subjects: people and service accounts.
pub(super) const USER: &str = "user";

/// The type of the resources that are organizations.
pub(super) const ORGANIZATION: &str = "organization";

/// A subject (AuthZEN, section 5.1). Only those of the type `user` exist.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Its `type`.
    pub kind: &'a str,
    /// Names the user, as the tenant has [chosen](crate::tenant::AuthzenIdentifiers).
    pub id: &'a str,
}

/// A resource (AuthZEN, section 5.2).
#[derive(Clone, Copy, Debug)]
pub struct Resource<'a> {
    /// Its `type`: the resource of the permission.
    pub kind: &'a str,
    /// Names an organization if the type is `organization`. Otherwise the application knows what it names.
    pub id: &'a str,
    /// The property `organizationId`: names the organization in which the resource is. `None` for tenant-wide.
    pub organization: Option<&'a str>,
}

/// The question whether a subject may do something with a resource (AuthZEN, section 6.1).
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// Who.
    pub subject: Subject<'a>,
    /// The `name` of the action.
    pub action: &'a str,
    /// With what.
    pub resource: Resource<'a>,
}

/// Which of several evaluations are answered (AuthZEN, section 7.1.2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Semantic {
    /// All.
    #[default]
    ExecuteAll,
    /// Those up to the first one that is denied.
    DenyOnFirstDeny,
    /// Those up to the first one that is permitted.
    PermitOnFirstPermit,
}

impl<'a> Resource<'a> {
    /// Returns the text that names the organization of the resource. An organization is its own: otherwise a property
    /// would say that it is another one. The `id` of another resource names none: otherwise who names an organization
    /// after a resource would choose where that is.
    pub(super) fn place(self) -> Option<&'a str> {
        if self.kind == ORGANIZATION { Some(self.id) } else { self.organization }
    }
}

impl Semantic {
    /// Whether no evaluation after one with this decision is answered.
    #[must_use]
    pub fn ends_at(self, decision: bool) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !decision,
            Self::PermitOnFirstPermit => decision,
        }
    }
}

impl FromStr for Semantic {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "execute_all" => Ok(Self::ExecuteAll),
            "deny_on_first_deny" => Ok(Self::DenyOnFirstDeny),
            "permit_on_first_permit" => Ok(Self::PermitOnFirstPermit),
            _ => Err(Invalid::one_of(&["execute_all", "deny_on_first_deny", "permit_on_first_permit"])),
        }
    }
}

/// Returns the permission of an action on resources of a type; `None` if these words make none.
pub(super) fn permission_of(kind: &str, action: &str) -> Option<Permission> {
    format!("{kind}:{action}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_and_an_action_are_the_two_words_of_a_permission() {
        for (kind, action, expected) in [
            ("orders", "read", Some("orders:read")),
            ("role-assignments", "read", Some("role-assignments:read")),
            ("orders", "*", None),
            ("*", "read", None),
            ("orders:read", "all", None),
            ("orders", "read:all", None),
            ("", "orders:read", None),
            ("orders:read", "", None),
            ("Orders", "read", None),
            ("orders", "can_read", None),
            ("orders", "", None),
            (" orders", "read", None),
            ("orders", "read\0", None),
        ] {
            assert_eq!(permission_of(kind, action).as_ref().map(Permission::as_str), expected, "{kind} {action}");
        }
        assert_eq!(permission_of(&"o".repeat(200_000), "read"), None);
    }

    #[test]
    fn only_an_organization_is_where_its_id_says() {
        for (kind, organization, expected) in [
            ("organization", None, Some("north")),
            ("organization", Some("south"), Some("north")),
            ("orders", None, None),
            ("orders", Some("south"), Some("south")),
            ("organizations", None, None),
            ("Organization", None, None),
        ] {
            assert_eq!(Resource { kind, id: "north", organization }.place(), expected, "{kind} {organization:?}");
        }
    }

    #[test]
    fn a_semantic_ends_at_its_decision() {
        for (text, at_deny, at_permit) in [
            ("execute_all", false, false),
            ("deny_on_first_deny", true, false),
            ("permit_on_first_permit", false, true),
        ] {
            let semantic: Semantic = text.parse().unwrap();
            assert_eq!((semantic.ends_at(false), semantic.ends_at(true)), (at_deny, at_permit), "{text}");
        }
        assert_eq!(Semantic::default(), Semantic::ExecuteAll);
        for wrong in ["", "EXECUTE_ALL", "deny-on-first-deny", "execute_all "] {
            assert!(wrong.parse::<Semantic>().is_err(), "{wrong}");
        }
    }
}
