//! `/role-assignments` and `/users/{id}/roles` (`docs/http-api.md#role-assignments`), and the roles and permissions
//! that `/auth/me` shows (`docs/http-api.md#sessions`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::assignment::{
    Assignment, AssignmentFilter, AssignmentPatch, EffectivePermissions, Grant, GrantOrganization, ListedAssignment,
    NewAssignment,
};
use iam_core::clock::Timestamp;
use iam_core::organization::OrganizationSummary;
use iam_core::permission::PermissionSet;
use iam_core::role::RoleSummary;
use iam_core::user::UserSummary;
use iam_core::{AccessRequestId, AssignmentId, DirectoryGroupId, Iam, OrganizationId, PersonName, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::description::{Problems, ROLE_ASSIGNMENTS, USERS};
use crate::extract::{Authenticated, Call, Params, PathId, Query, nullable, truth};
use crate::idempotency::RequestKey;
use crate::long::{ITEM, json};
use crate::page::{Collection, List, PageQuery};
use crate::preview::Target;
use crate::problem::Problem;
use crate::time::{Time, moment};

/// A role that a user holds, tenant-wide or in an organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RoleAssignment)]
pub(crate) struct AssignmentDto {
    id: Uuid,
    user_id: Uuid,
    role_id: Uuid,
    /// Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
    /// When it expires. Null means never.
    #[schema(required)]
    expires_at: Option<Time>,
    created_at: Time,
    /// The user who created it. Null means the service itself.
    #[schema(required)]
    created_by: Option<Uuid>,
    /// The group of a directory that gives the role. Null if it was assigned by other means.
    #[schema(required)]
    directory_group_id: Option<Uuid>,
    /// The access request by which the role is held, or was given: it ends with it. Null for a standing assignment.
    #[schema(required)]
    access_request_id: Option<Uuid>,
}

impl From<Assignment> for AssignmentDto {
    fn from(assignment: Assignment) -> Self {
        Self {
            id: assignment.id.as_uuid(),
            user_id: assignment.user_id.as_uuid(),
            role_id: assignment.role_id.as_uuid(),
            organization_id: assignment.organization_id.map(OrganizationId::as_uuid),
            expires_at: assignment.expires_at.map(Time),
            created_at: Time(assignment.created_at),
            created_by: assignment.created_by.map(UserId::as_uuid),
            directory_group_id: assignment.directory_group_id.map(DirectoryGroupId::as_uuid),
            access_request_id: assignment.access_request_id.map(AccessRequestId::as_uuid),
        }
    }
}

/// An embedded resource, with its name.
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

impl From<GrantOrganization> for Named {
    fn from(organization: GrantOrganization) -> Self {
        Self { id: organization.id.as_uuid(), name: organization.name }
    }
}

impl From<RoleSummary> for Named {
    fn from(role: RoleSummary) -> Self {
        Self { id: role.id.as_uuid(), name: role.name.into() }
    }
}

/// An assignment of a user, with its role and its organization.
#[derive(Serialize, ToSchema)]
#[schema(as = UserRole)]
pub(crate) struct UserRoleDto {
    #[serde(flatten)]
    assignment: AssignmentDto,
    role: Named,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization: Option<Named>,
}

impl From<Grant> for UserRoleDto {
    fn from(Grant { assignment, role, organization }: Grant) -> Self {
        Self { assignment: assignment.into(), role: role.summary().into(), organization: organization.map(Named::from) }
    }
}

/// An assignment as lists show it.
#[derive(Serialize, ToSchema)]
#[schema(as = ListedRoleAssignment)]
pub(crate) struct ListedAssignmentDto {
    #[serde(flatten)]
    assignment: AssignmentDto,
    user: AssignedUser,
    role: Named,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization: Option<Named>,
}

/// The user who holds a role.
#[derive(Serialize, ToSchema)]
pub(crate) struct AssignedUser {
    id: Uuid,
    /// Absent for a service account.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    email: Option<String>,
    /// The name of a service account. Absent for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    name: Option<String>,
}

impl AssignedUser {
    pub(crate) fn new(id: UserId, UserSummary { email, service_name }: UserSummary) -> Self {
        let email = service_name.is_none().then(|| email.into());
        Self { id: id.as_uuid(), email, name: service_name.map(PersonName::into) }
    }
}

impl From<ListedAssignment> for ListedAssignmentDto {
    fn from(listed: ListedAssignment) -> Self {
        Self {
            user: AssignedUser::new(listed.assignment.user_id, listed.user),
            assignment: listed.assignment.into(),
            role: listed.role.into(),
            organization: listed.organization.map(Named::from),
        }
    }
}

/// A role that the caller holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HeldRole {
    assignment_id: Uuid,
    role: Named,
    /// Absent when the role is held tenant-wide.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization: Option<Named>,
    /// When it expires. Null means never.
    #[schema(required)]
    expires_at: Option<Time>,
}

impl From<Grant> for HeldRole {
    fn from(grant: Grant) -> Self {
        Self {
            assignment_id: grant.assignment.id.as_uuid(),
            role: grant.role.summary().into(),
            organization: grant.organization.map(Named::from),
            expires_at: grant.assignment.expires_at.map(Time),
        }
    }
}

/// The caller's permissions: tenant-wide, and in addition in single organizations. A permission in an organization
/// also applies to everything below it.
#[derive(Serialize, ToSchema)]
pub(crate) struct HeldPermissions {
    #[schema(example = json!(["users:read"]))]
    tenant: Vec<String>,
    organizations: Vec<OrganizationPermissions>,
    /// Whether organizations are left out, the lowest first, because there are more than 20,000 permissions in all of
    /// them. Absent if none is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    truncated: bool,
}

/// The caller's permissions in an organization, including those that are inherited from organizations above.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrganizationPermissions {
    organization_id: Uuid,
    permissions: Vec<String>,
}

impl From<EffectivePermissions> for HeldPermissions {
    fn from(held: EffectivePermissions) -> Self {
        let in_organization = |(id, set): (OrganizationId, PermissionSet)| OrganizationPermissions {
            organization_id: id.as_uuid(),
            permissions: names(&set),
        };
        Self {
            tenant: names(&held.tenant),
            organizations: held.organizations.into_iter().map(in_organization).collect(),
            truncated: held.truncated,
        }
    }
}

fn names(set: &PermissionSet) -> Vec<String> {
    set.iter().map(ToString::to_string).collect()
}

/// The role assignment to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewRoleAssignment)]
pub(crate) struct NewAssignmentDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    user_id: String,
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    role_id: String,
    /// Absent or null means tenant-wide.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// Must be in the future. Absent or null means never.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

impl NewAssignmentDto {
    fn parse(&self, params: &mut Params, field: impl Fn(&str) -> String) -> Option<NewAssignment> {
        let user = params.require(&field("userId"), &self.user_id);
        let role = params.require(&field("roleId"), &self.role_id);
        let organization = params.parse(&field("organizationId"), self.organization_id.as_deref());
        let expires_at = params.parse_with(&field("expiresAt"), self.expires_at.as_deref(), moment);
        Some(NewAssignment { user: user?, role: role?, organization, expires_at })
    }
}

/// The role assignments to create: all or none.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewRoleAssignments)]
pub(crate) struct NewAssignmentsDto {
    #[serde(default)]
    #[schema(required, min_items = 1, max_items = 500)]
    assignments: Vec<NewAssignmentDto>,
}

/// The assignments that were created.
#[derive(Serialize, ToSchema)]
#[schema(as = CreatedRoleAssignments)]
pub(crate) struct CreatedAssignments {
    created: usize,
    assignments: Vec<CreatedAssignment>,
}

/// An assignment that was created.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CreatedRoleAssignment)]
pub(crate) struct CreatedAssignment {
    id: Uuid,
    user_id: Uuid,
    role_id: Uuid,
}

impl From<Assignment> for CreatedAssignment {
    fn from(assignment: Assignment) -> Self {
        Self {
            id: assignment.id.as_uuid(),
            user_id: assignment.user_id.as_uuid(),
            role_id: assignment.role_id.as_uuid(),
        }
    }
}

/// The changes to an assignment. Fields that are absent stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RoleAssignmentPatch)]
pub(crate) struct AssignmentPatchDto {
    /// Must be in the future. Null means never.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Option<String>>,
}

/// Which assignments to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AssignmentQuery {
    /// Assignments of this user.
    #[param(value_type = Option<Uuid>)]
    user_id: Option<String>,
    /// Assignments of this role.
    #[param(value_type = Option<Uuid>)]
    role_id: Option<String>,
    /// Assignments in exactly this organization.
    #[param(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// Assignments that expire before this moment, and have not expired yet unless `includeExpired` is `true`.
    #[param(value_type = Option<String>, format = DateTime)]
    ends_before: Option<String>,
    /// Whether to include expired assignments.
    #[param(value_type = Option<bool>, default = false)]
    include_expired: Option<String>,
}

/// The moment of a list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AsOfQuery {
    /// Lists what was held at this moment. The caller then also needs `audit-logs:read`. For a later moment, lists what
    /// will be held as things stand now. Absent means now.
    #[param(value_type = Option<String>, format = DateTime)]
    as_of: Option<String>,
}

impl AsOfQuery {
    fn moment(&self, params: &mut Params) -> Option<Timestamp> {
        params.parse_with("asOf", self.as_of.as_deref(), moment)
    }
}

/// List role assignments
///
/// A caller who holds the permission only in some organizations sees the assignments in these organizations and below
/// them.
#[utoipa::path(
    get,
    path = "/role-assignments",
    operation_id = "listRoleAssignments",
    tag = ROLE_ASSIGNMENTS,
    params(PageQuery, AssignmentQuery, AsOfQuery),
    responses((status = 200, description = "A page of assignments", body = Collection<ListedAssignmentDto>), Problems),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(page): Query<PageQuery>,
    Query(query): Query<AssignmentQuery>,
    Query(as_of): Query<AsOfQuery>,
) -> Result<Json<Collection<ListedAssignmentDto>>, Problem> {
    let mut params = Params::default();
    let page = page.request_among(&mut params);
    let include_expired = params.parse_with("includeExpired", query.include_expired.as_deref(), truth);
    let filter = AssignmentFilter {
        user: params.parse("userId", query.user_id.as_deref()),
        role: params.parse("roleId", query.role_id.as_deref()),
        organization: params.parse("organizationId", query.organization_id.as_deref()),
        ends_before: params.parse_with("endsBefore", query.ends_before.as_deref(), moment),
        include_expired: include_expired.unwrap_or(false),
    };
    let as_of = as_of.moment(&mut params);
    params.finish()?;
    let listed = match as_of {
        None => iam.assignments().list(&caller, &filter, page).await?,
        Some(at) => iam.assignments().list_at(&caller, &filter, at, page).await?,
    };
    Ok(Json(Collection::of(listed)))
}

/// Assign a role
///
/// The caller needs `role-assignments:create` in the organization of the assignment, or tenant-wide if it has none.
/// There the caller must also hold all permissions of the role, for at least as long as the assignment lasts. The
/// `scope` of the role must allow the place.
///
/// A role that can change what protects the tenant (`tenants:update`, `audit-logs:update`, `audit-logs:delete`) is given
/// tenant-wide only in a session that has authenticated within the last ten minutes, and by no API key. The same holds
/// for a later expiry.
#[utoipa::path(
    post,
    path = "/role-assignments",
    operation_id = "createRoleAssignment",
    tag = ROLE_ASSIGNMENTS,
    request_body = NewAssignmentDto,
    responses((status = 201, description = "The new assignment", body = AssignmentDto), Problems),
    extensions(("x-required-permission" = json!("role-assignments:create")), ("x-problems" = json!(["insufficient-authentication", "not-found", "validation"]))),
)]
pub(crate) async fn create(
    _: Authenticated,
    target: Target,
    key: RequestKey,
    Call(caller, body): Call<NewAssignmentDto>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let new = body.parse(&mut params, str::to_owned);
    params.finish()?;
    let Some(new) = new else { return Err(Problem::invalid_field("body", "is incomplete")) };
    let outcome = target.assignments().create_once(&caller, new, target.key(&key)).await;
    let created = |assignment| (StatusCode::CREATED, Json(AssignmentDto::from(assignment)));
    target.respond(&caller, outcome, created).await
}

/// Assign several roles
///
/// Assigns 1–500 roles, all or none. Every item is checked like a single assignment.
#[utoipa::path(
    post,
    path = "/role-assignments/bulk",
    operation_id = "createRoleAssignments",
    tag = ROLE_ASSIGNMENTS,
    request_body = NewAssignmentsDto,
    responses((status = 201, description = "The new assignments, in order", body = CreatedAssignments), Problems),
    extensions(("x-required-permission" = json!("role-assignments:create")), ("x-problems" = json!(["insufficient-authentication", "not-found", "validation"]))),
)]
pub(crate) async fn create_all(
    _: Authenticated,
    target: Target,
    key: RequestKey,
    Call(caller, NewAssignmentsDto { assignments }): Call<NewAssignmentsDto>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let parse = |(number, new): (usize, &NewAssignmentDto)| {
        new.parse(&mut params, |field| format!("assignments[{number}].{field}"))
    };
    let new: Vec<NewAssignment> = assignments.iter().enumerate().filter_map(parse).collect();
    params.finish()?;
    let outcome = target.assignments().create_all_once(&caller, &new, target.key(&key)).await;
    let created = |made: Vec<Assignment>| {
        let assignments: Vec<CreatedAssignment> = made.into_iter().map(CreatedAssignment::from).collect();
        (StatusCode::CREATED, Json(CreatedAssignments { created: assignments.len(), assignments }))
    };
    target.respond(&caller, outcome, created).await
}

/// Change when an assignment expires
///
/// For a later expiry, the caller must hold all permissions of the role where the role is held, until the new expiry.
#[utoipa::path(
    patch,
    path = "/role-assignments/{id}",
    operation_id = "updateRoleAssignment",
    tag = ROLE_ASSIGNMENTS,
    params(("id" = Uuid, Path, description = "The assignment")),
    request_body = AssignmentPatchDto,
    responses((status = 200, description = "The changed assignment", body = AssignmentDto), Problems),
    extensions(("x-required-permission" = json!("role-assignments:update")), ("x-problems" = json!(["conflict", "insufficient-authentication", "validation"]))),
)]
pub(crate) async fn update(
    _: Authenticated,
    target: Target,
    PathId(id): PathId<AssignmentId>,
    Call(caller, body): Call<AssignmentPatchDto>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let expires_at = body.expires_at.map(|text| params.parse_with("expiresAt", text.as_deref(), moment));
    params.finish()?;
    let outcome = target.assignments().update(&caller, id, AssignmentPatch { expires_at }).await;
    target.respond(&caller, outcome, |assignment| Json(AssignmentDto::from(assignment))).await
}

/// Revoke a role
///
/// The user loses the role at once. The last administrator of a tenant keeps its role: the response is then 409.
#[utoipa::path(
    delete,
    path = "/role-assignments/{id}",
    operation_id = "deleteRoleAssignment",
    tag = ROLE_ASSIGNMENTS,
    params(("id" = Uuid, Path, description = "The assignment")),
    responses((status = 204, description = "The assignment is deleted"), Problems),
    extensions(("x-required-permission" = json!("role-assignments:delete")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn delete(
    Authenticated(caller): Authenticated,
    target: Target,
    PathId(id): PathId<AssignmentId>,
) -> Result<Response, Problem> {
    let outcome = target.assignments().delete(&caller, id).await;
    target.respond(&caller, outcome, |()| StatusCode::NO_CONTENT).await
}

/// List a user's roles
///
/// Returns the assignments that have not expired. A user can always list its own. To list those of another user, the
/// caller needs the permission. If the caller holds it only in some organizations, the list shows the assignments in
/// these organizations and below them.
#[utoipa::path(
    get,
    path = "/users/{id}/roles",
    operation_id = "listUserRoles",
    tag = USERS,
    params(("id" = Uuid, Path, description = "The user"), AsOfQuery),
    responses((status = 200, description = "The assignments, newest first", body = List<UserRoleDto>), Problems),
    extensions(("x-required-permission" = json!("role-assignments:read"))),
)]
pub(crate) async fn of_user(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
    Query(as_of): Query<AsOfQuery>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let as_of = as_of.moment(&mut params);
    params.finish()?;
    let grants = match as_of {
        None => iam.assignments().of_user(&caller, user).await?,
        Some(at) => iam.assignments().of_user_at(&caller, user, at).await?,
    };
    let data = |grants: Vec<Grant>| List { data: grants.into_iter().map(UserRoleDto::from).collect::<Vec<_>>() };
    json(&iam, &caller, grants.len() * ITEM, move || data(grants)).await
}
