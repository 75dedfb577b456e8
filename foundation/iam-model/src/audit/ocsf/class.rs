use crate::audit::{AuditEntry, ResourceType, action};

/// The class of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    AccountChange,
    Authentication,
    EntityManagement,
    UserAccess,
    ApiActivity,
}

impl Class {
    /// Returns the class of an entry. That of an application's own event does not depend on what the event is about.
    pub(super) fn of(entry: &AuditEntry) -> Self {
        let is_about = |resource_type: ResourceType| entry.resource_type == resource_type;
        if !entry.is_of_service() {
            Self::ApiActivity
        } else if is_about(ResourceType::SESSION) || entry.action == action::LOGIN_FAILURE {
            Self::Authentication
        } else if is_about(ResourceType::USER) {
            Self::AccountChange
        } else if is_about(ResourceType::ROLE_ASSIGNMENT) {
            Self::UserAccess
        } else {
            Self::EntityManagement
        }
    }

    pub(super) const fn uid(self) -> u32 {
        match self {
            Self::AccountChange => 3001,
            Self::Authentication => 3002,
            Self::EntityManagement => 3004,
            Self::UserAccess => 3005,
            Self::ApiActivity => 6003,
        }
    }

    pub(super) const fn caption(self) -> &'static str {
        match self {
            Self::AccountChange => "Account Change",
            Self::Authentication => "Authentication",
            Self::EntityManagement => "Entity Management",
            Self::UserAccess => "User Access Management",
            Self::ApiActivity => "API Activity",
        }
    }

    pub(super) const fn category(self) -> Choice {
        match self {
            Self::AccountChange | Self::Authentication | Self::EntityManagement | Self::UserAccess => {
                Choice(3, "Identity & Access Management")
            }
            Self::ApiActivity => Choice(6, "Application Activity"),
        }
    }

    /// Returns what an action is in this class.
    pub(super) fn activity(self, name: &str) -> Choice {
        match (self, name) {
            (Self::AccountChange, action::CREATE) => Choice(1, "Create"),
            (Self::AccountChange, action::USER_REACTIVATED) => Choice(2, "Enable"),
            (Self::AccountChange, action::PASSWORD_CHANGE) => Choice(3, "Password Change"),
            (Self::AccountChange, action::PASSWORD_RESET_REQUESTED) => Choice(4, "Password Reset"),
            (Self::AccountChange, action::USER_SUSPENDED) => Choice(5, "Disable"),
            (Self::AccountChange, action::DELETE) => Choice(6, "Delete"),
            (Self::Authentication, action::LOGIN | action::LOGIN_FAILURE) => Choice(1, "Logon"),
            (Self::Authentication, action::IMPERSONATION_STARTED) => Choice(7, "Account Switch"),
            (Self::Authentication, action::LOGOUT | action::IMPERSONATION_ENDED) => Choice(2, "Logoff"),
            (Self::UserAccess, action::ROLE_ASSIGNED) => Choice(1, "Assign Privileges"),
            (Self::UserAccess, action::ROLE_REVOKED) => Choice(2, "Revoke Privileges"),
            (Self::EntityManagement | Self::ApiActivity, action::CREATE) => Choice(1, "Create"),
            (Self::EntityManagement | Self::ApiActivity, action::READ) => Choice(2, "Read"),
            (Self::EntityManagement | Self::ApiActivity, action::UPDATE) => Choice(3, "Update"),
            (Self::EntityManagement | Self::ApiActivity, action::DELETE) => Choice(4, "Delete"),
            _ => Choice::OTHER,
        }
    }
}

/// A value of an enumeration of the schema, with its caption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice(pub(super) u32, pub(super) &'static str);

impl Choice {
    pub(super) const UNKNOWN: Self = Self(0, "Unknown");
    pub(super) const OTHER: Self = Self(99, "Other");
}
