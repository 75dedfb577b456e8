//! `/permissions` (`docs/http-api.md#roles-and-permissions`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::permission::{NewPermission, RegisteredPermission};
use iam_core::{Iam, PermissionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{Problems, ROLES};
use crate::extract::{Authenticated, Call, PathId, Query};
use crate::idempotency::RequestKey;
use crate::page::{Collection, PageQuery};
use crate::problem::Problem;
use crate::time::Time;

/// A permission that roles can hold.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Permission)]
pub(crate) struct PermissionDto {
    id: Uuid,
    #[schema(example = "orders:refund")]
    name: String,
    description: String,
    /// Whether the permission is built in. A built-in permission cannot be deleted.
    system: bool,
    created_at: Time,
}

impl From<RegisteredPermission> for PermissionDto {
    fn from(permission: RegisteredPermission) -> Self {
        Self {
            id: permission.id.as_uuid(),
            name: permission.name.to_string(),
            description: permission.description.into(),
            system: permission.system,
            created_at: Time(permission.created_at),
        }
    }
}

/// The permission to register.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewPermission)]
pub(crate) struct NewPermissionDto {
    /// `<resource>:<action>`, unique in the tenant. Resources of coming releases are reserved, and so are all that begin
    /// with `iam-`.
    #[serde(default)]
    #[schema(required, max_length = 120, pattern = "^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$", example = "orders:refund")]
    name: String,
    #[schema(max_length = 500)]
    description: Option<String>,
}

/// List permissions
///
/// Returns the catalogue: the built-in permissions and those of the application. It is enough that the caller holds
/// the permission in any organization.
#[utoipa::path(
    get,
    path = "/permissions",
    operation_id = "listPermissions",
    tag = ROLES,
    params(PageQuery),
    responses((status = 200, description = "A page of the catalogue", body = Collection<PermissionDto>), Problems),
    extensions(("x-required-permission" = json!("permissions:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(query): Query<PageQuery>,
) -> Result<Json<Collection<PermissionDto>>, Problem> {
    let page = query.request()?;
    Ok(Json(Collection::of(iam.permissions().list(&caller, page).await?)))
}

/// Register a permission
///
/// A role that holds `*` or `<resource>:*` holds the new permission at once. If a role holds `<resource>:*`, the caller
/// must hold the new permission, too, because the users of that role get it.
#[utoipa::path(
    post,
    path = "/permissions",
    operation_id = "createPermission",
    tag = ROLES,
    request_body = NewPermissionDto,
    responses((status = 201, description = "The registered permission", body = PermissionDto), Problems),
    extensions(("x-required-permission" = json!("permissions:create"))),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, NewPermissionDto { name, description }): Call<NewPermissionDto>,
) -> Result<(StatusCode, Json<PermissionDto>), Problem> {
    let permission = iam.permissions().create_once(&caller, NewPermission { name, description }, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(permission.into())))
}

/// Delete a permission
///
/// Only a permission of the application that no role holds can be deleted.
#[utoipa::path(
    delete,
    path = "/permissions/{id}",
    operation_id = "deletePermission",
    tag = ROLES,
    params(("id" = Uuid, Path, description = "The permission")),
    responses((status = 204, description = "The permission is deleted"), Problems),
    extensions(("x-required-permission" = json!("permissions:delete")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<PermissionId>,
) -> Result<StatusCode, Problem> {
    iam.permissions().delete(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
