//! The requirements and the consequences of a change of a user's status (`docs/http-api.md#the-status-of-a-user`), and
//! the homes that a user can have.

use iam_model::audit::ResourceType;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::OrganizationId;
use iam_model::organization::Position;
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::session::EndReason;
use iam_model::user::UserStatus;

/// A change from one status to another, with its requirements and consequences.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StatusMove {
    /// The permission that the caller needs beside `users:update`.
    pub(super) permission: Option<Permission>,
    /// Whether the user can use its roles again.
    pub(super) regains_roles: bool,
    /// Whether the user stops being ACTIVE, so that it cannot administer the tenant any more.
    pub(super) leaves_active: bool,
    /// The reason for which the user's sessions end, if they end.
    pub(super) ends_sessions: Option<EndReason>,
    /// Whether the user's role assignments end.
    pub(super) revokes_roles: bool,
}

impl StatusMove {
    pub(crate) fn between(before: UserStatus, after: UserStatus) -> Self {
        use UserStatus::{Active, Inactive, Suspended};
        Self {
            permission: match (before, after) {
                (Inactive, Active | Suspended) => Some(permission::USERS_CREATE),
                (Active | Suspended, Inactive) => Some(permission::USERS_DELETE),
                _ => None,
            },
            regains_roles: before != Active && after == Active,
            leaves_active: before == Active && after != Active,
            ends_sessions: match (before, after) {
                (Active | Suspended, Inactive) => Some(EndReason::UserDeleted),
                (Active, Suspended) => Some(EndReason::UserSuspended),
                _ => None,
            },
            revokes_roles: before != Inactive && after == Inactive,
        }
    }
}

/// Checks that an organization can be the home of a user. `position` returns where it is in the tree.
pub(super) fn check_home<'a>(
    home: Option<OrganizationId>,
    position: impl FnOnce(OrganizationId) -> Option<Position<'a>>,
) -> Result<()> {
    let Some(home) = home else { return Ok(()) };
    let refusal = match position(home) {
        None => Error::NotFound(ResourceType::ORGANIZATION),
        Some(position) if position.is_inactive() => Conflict::OrganizationInactive.into(),
        Some(_) => return Ok(()),
    };
    Err(refusal.about("homeOrganizationId"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use UserStatus::{Active, Inactive, Suspended};

    #[test]
    fn each_status_change_has_its_requirements_and_consequences() {
        let rows: Vec<String> = [Active, Suspended, Inactive]
            .into_iter()
            .flat_map(|before| [Active, Suspended, Inactive].map(|after| (before, after)))
            .map(|(before, after)| {
                let status_move = StatusMove::between(before, after);
                let needs = status_move.permission.map_or("-".to_owned(), |needed| needed.to_string());
                let ends = status_move.ends_sessions.map_or("-", EndReason::as_str);
                let StatusMove { regains_roles, leaves_active, revokes_roles, .. } = status_move;
                format!("{before} {after} {needs} {ends} {regains_roles} {leaves_active} {revokes_roles}")
            })
            .collect();
        assert_eq!(
            rows,
            [
                "ACTIVE ACTIVE - - false false false",
                "ACTIVE SUSPENDED - USER_SUSPENDED false true false",
                "ACTIVE INACTIVE users:delete USER_DELETED false true true",
                "SUSPENDED ACTIVE - - true false false",
                "SUSPENDED SUSPENDED - - false false false",
                "SUSPENDED INACTIVE users:delete USER_DELETED false false true",
                "INACTIVE ACTIVE users:create - true false false",
                "INACTIVE SUSPENDED users:create - false false false",
                "INACTIVE INACTIVE - - false false false",
            ]
        );
    }
}
