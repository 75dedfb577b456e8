//! `/roles` (`docs/http-api.md#roles-and-permissions`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::role::{NewRole, Role, RolePatch, RoleScope};
use iam_core::{Iam, RoleId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{Problems, ROLES};
use crate::extract::{Authenticated, Call, PathId, Query};
use crate::idempotency::RequestKey;
use crate::long::json;
use crate::page::{Collection, PageQuery};
use crate::preview::Target;
use crate::problem::Problem;
use crate::time::Time;

/// A named set of permissions.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Role)]
pub(crate) struct RoleDto {
    id: Uuid,
    name: String,
    description: String,
    #[schema(inline)]
    scope: ScopeDto,
    /// Permissions, `<resource>:*` for all present and future actions on a resource, or `*` for everything.
    permissions: Vec<String>,
    /// Whether the role is built in. A built-in role cannot be changed or deleted.
    system: bool,
    created_at: Time,
    updated_at: Time,
}

#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ScopeDto {
    Tenant,
    Organization,
    Any,
}

impl From<RoleScope> for ScopeDto {
    fn from(scope: RoleScope) -> Self {
        match scope {
            RoleScope::Tenant => Self::Tenant,
            RoleScope::Organization => Self::Organization,
            RoleScope::Any => Self::Any,
        }
    }
}

impl From<ScopeDto> for RoleScope {
    fn from(scope: ScopeDto) -> Self {
        match scope {
            ScopeDto::Tenant => Self::Tenant,
            ScopeDto::Organization => Self::Organization,
            ScopeDto::Any => Self::Any,
        }
    }
}

impl From<Role> for RoleDto {
    fn from(role: Role) -> Self {
        Self {
            id: role.id.as_uuid(),
            name: role.name.into(),
            description: role.description.into(),
            scope: role.scope.into(),
            permissions: role.permissions.iter().map(ToString::to_string).collect(),
            system: role.system,
            created_at: Time(role.created_at),
            updated_at: Time(role.updated_at),
        }
    }
}

/// A permission, `<resource>:*` for every action on a resource, or `*` for everything.
#[derive(ToSchema)]
#[schema(value_type = String, max_length = 120, pattern = "^([*]|[a-z][a-z0-9-]*:([*]|[a-z][a-z0-9-]*))$")]
#[expect(dead_code, reason = "only its schema is used; the domain parses the text")]
pub(crate) struct PermissionPatternDto(String);

/// The role to create.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewRole)]
pub(crate) struct NewRoleDto {
    /// Upper snake case, unique in the tenant.
    #[serde(default)]
    #[schema(required, max_length = 120, pattern = "^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")]
    name: String,
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Where the role can be assigned; ANY if the field is absent.
    #[schema(inline)]
    scope: Option<ScopeDto>,
    /// Registered permissions, `<resource>:*` or `*`, at most 500. The caller must hold each of them.
    #[serde(default)]
    #[schema(inline, value_type = Vec<PermissionPatternDto>)]
    permissions: Vec<String>,
}

impl From<NewRoleDto> for NewRole {
    fn from(dto: NewRoleDto) -> Self {
        let NewRoleDto { name, description, scope, permissions } = dto;
        Self { name, description, scope: scope.map(RoleScope::from).unwrap_or_default(), permissions }
    }
}

/// The changes to a role. Fields that are absent or null stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RolePatch)]
pub(crate) struct RolePatchDto {
    #[schema(max_length = 120, pattern = "^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")]
    name: Option<String>,
    #[schema(max_length = 500)]
    description: Option<String>,
    #[schema(inline)]
    scope: Option<ScopeDto>,
    /// All permissions of the role after the change, at most 500. The caller must hold the permissions that are new.
    #[schema(inline, value_type = Option<Vec<PermissionPatternDto>>)]
    permissions: Option<Vec<String>>,
}

impl From<RolePatchDto> for RolePatch {
    fn from(dto: RolePatchDto) -> Self {
        let RolePatchDto { name, description, scope, permissions } = dto;
        Self { name, description, scope: scope.map(RoleScope::from), permissions }
    }
}

/// List roles
///
/// It is enough that the caller holds the permission in any organization.
#[utoipa::path(
    get,
    path = "/roles",
    operation_id = "listRoles",
    tag = ROLES,
    params(PageQuery),
    responses((status = 200, description = "A page of roles", body = Collection<RoleDto>), Problems),
    extensions(("x-required-permission" = json!("roles:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let roles = iam.roles().list(&caller, query.request()?).await?;
    let permissions: usize = roles.items.iter().map(|role| role.permissions.iter().count()).sum();
    json(&iam, &caller, permissions * PERMISSION, move || Collection::<RoleDto>::of(roles)).await
}

/// About how many bytes the name of a permission has.
const PERMISSION: usize = 25;

/// Create a role
///
/// The role gives nothing until it is assigned. Its name is unique in the tenant.
#[utoipa::path(
    post,
    path = "/roles",
    operation_id = "createRole",
    tag = ROLES,
    request_body = NewRoleDto,
    responses((status = 201, description = "The new role", body = RoleDto), Problems),
    extensions(("x-required-permission" = json!("roles:create"))),
)]
pub(crate) async fn create(
    _: Authenticated,
    target: Target,
    key: RequestKey,
    Call(caller, body): Call<NewRoleDto>,
) -> Result<Response, Problem> {
    let outcome = target.roles().create_once(&caller, body.into(), target.key(&key)).await;
    target.respond(&caller, outcome, |role| (StatusCode::CREATED, Json(RoleDto::from(role)))).await
}

/// Get a role
///
/// It is enough that the caller holds the permission in any organization.
#[utoipa::path(
    get,
    path = "/roles/{id}",
    operation_id = "getRole",
    tag = ROLES,
    params(("id" = Uuid, Path, description = "The role")),
    responses((status = 200, description = "The role", body = RoleDto), Problems),
    extensions(("x-required-permission" = json!("roles:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<RoleId>,
) -> Result<Tagged<RoleDto>, Problem> {
    let role = iam.roles().get(&caller, id).await?;
    Ok(Tagged(role.version, role.into()))
}

/// Change a role
///
/// The change takes effect at once, for every user who holds the role. Built-in roles cannot be changed.
#[utoipa::path(
    patch,
    path = "/roles/{id}",
    operation_id = "updateRole",
    tag = ROLES,
    params(("id" = Uuid, Path, description = "The role")),
    request_body = RolePatchDto,
    responses((status = 200, description = "The changed role", body = RoleDto), Problems),
    extensions(("x-required-permission" = json!("roles:update")), ("x-problems" = json!(["conflict", "insufficient-authentication"]))),
)]
pub(crate) async fn update(
    _: Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<RoleId>,
    Call(caller, body): Call<RolePatchDto>,
) -> Result<Response, Problem> {
    let outcome = target.roles().update_if(&caller, id, body.into(), &precondition).await;
    target.respond(&caller, outcome, |role| Tagged(role.version, RoleDto::from(role))).await
}

/// Delete a role
///
/// Only a role that no user holds can be deleted.
#[utoipa::path(
    delete,
    path = "/roles/{id}",
    operation_id = "deleteRole",
    tag = ROLES,
    params(("id" = Uuid, Path, description = "The role")),
    responses((status = 204, description = "The role is deleted"), Problems),
    extensions(("x-required-permission" = json!("roles:delete")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn delete(
    Authenticated(caller): Authenticated,
    target: Target,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<RoleId>,
) -> Result<Response, Problem> {
    let outcome = target.roles().delete_if(&caller, id, &precondition).await;
    target.respond(&caller, outcome, |()| StatusCode::NO_CONTENT).await
}
