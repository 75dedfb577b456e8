//! Role assignments: `/users/{id}/roles` (`decisions.md` §3), and as `/auth/me` shows them (§2).

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use iam_core::access::{Grants, PermissionSet};
use iam_core::assignment::Grant;
use iam_core::clock::Timestamp;
use iam_core::organization::OrganizationSummary;
use iam_core::{Iam, UserId};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::extract::{Authenticated, PathId};
use crate::openapi::{Problems, USERS};
use crate::page::List;
use crate::problem::Problem;
use crate::time::Time;

/// A role that the caller holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldRole {
    assignment_id: Uuid,
    role: Named,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<Named>,
    /// Null is never.
    #[schema(required)]
    expires_at: Option<Time>,
}

/// Something that is embedded with its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct Named {
    id: Uuid,
    name: String,
}

impl From<OrganizationSummary> for Named {
    fn from(organization: OrganizationSummary) -> Self {
        Self { id: organization.id.as_uuid(), name: organization.name }
    }
}

impl From<Grant> for HeldRole {
    fn from(grant: Grant) -> Self {
        Self {
            assignment_id: grant.assignment.id.as_uuid(),
            role: Named { id: grant.role.id.as_uuid(), name: grant.role.name },
            organization: grant.organization.map(Named::from),
            expires_at: grant.assignment.expires_at.map(Time),
        }
    }
}

/// A role that a user holds, tenant-wide or in an organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoleAssignment)]
pub(crate) struct AssignmentDto {
    id: Uuid,
    user_id: Uuid,
    role_id: Uuid,
    /// Null is tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// Null is never.
    #[schema(required)]
    expires_at: Option<Time>,
    created_at: Time,
    /// Who made it; null is the service itself.
    #[schema(required)]
    created_by: Option<Uuid>,
    role: Named,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    organization: Option<Named>,
}

impl From<Grant> for AssignmentDto {
    fn from(Grant { assignment, role, organization }: Grant) -> Self {
        Self {
            id: assignment.id.as_uuid(),
            user_id: assignment.user_id.as_uuid(),
            role_id: assignment.role_id.as_uuid(),
            organization_id: assignment.organization_id.map(iam_core::OrganizationId::as_uuid),
            expires_at: assignment.expires_at.map(Time),
            created_at: Time(assignment.created_at),
            created_by: assignment.created_by.map(UserId::as_uuid),
            role: Named { id: role.id.as_uuid(), name: role.name },
            organization: organization.map(Named::from),
        }
    }
}

/// What the caller may do, tenant-wide and beyond that in single organizations.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeldPermissions {
    #[schema(example = json!(["users:read"]))]
    tenant: Vec<String>,
    organizations: Vec<OrganizationPermissions>,
}

/// What the caller may do in an organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganizationPermissions {
    organization_id: Uuid,
    permissions: Vec<String>,
}

impl HeldPermissions {
    pub(crate) fn at(now: Timestamp, grants: &[Grant]) -> Self {
        let grants = Grants::at(now, grants);
        let organizations: &BTreeMap<_, _> = grants.organizations();
        let in_organization = |(id, set): (&iam_core::OrganizationId, &PermissionSet)| OrganizationPermissions {
            organization_id: id.as_uuid(),
            permissions: names(set),
        };
        Self { tenant: names(grants.tenant()), organizations: organizations.iter().map(in_organization).collect() }
    }
}

fn names(set: &PermissionSet) -> Vec<String> {
    set.iter().map(|pattern| pattern.as_str().to_owned()).collect()
}

/// List a user's roles
///
/// The assignments that have not expired. One's own always; another's with the permission.
#[utoipa::path(
    get,
    path = "/users/{id}/roles",
    operation_id = "listUserRoles",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The assignments, newest first", body = List<AssignmentDto>), Problems),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn of_user(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<Json<List<AssignmentDto>>, Problem> {
    let grants = iam.assignments().of_user(&caller, user).await?;
    Ok(Json(List { data: grants.into_iter().map(AssignmentDto::from).collect() }))
}
