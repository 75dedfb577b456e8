//! `/tenants` (`decisions.md` §2).

use axum::extract::State;
use iam_core::tenant::{Tenant, TenantPatch};
use iam_core::{Iam, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{Problems, TENANTS};
use crate::extract::{Authenticated, Call, PathId};
use crate::problem::Problem;
use crate::time::Time;

/// A customer. No other tenant can see its users.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Tenant)]
pub(crate) struct TenantDto {
    id: Uuid,
    name: String,
    slug: String,
    #[schema(example = "ACTIVE")]
    status: &'static str,
    created_at: Time,
    updated_at: Time,
}

impl From<Tenant> for TenantDto {
    fn from(tenant: Tenant) -> Self {
        Self {
            id: tenant.id.as_uuid(),
            name: tenant.name.into(),
            slug: tenant.slug.into(),
            status: tenant.status.as_str(),
            created_at: Time(tenant.created_at),
            updated_at: Time(tenant.updated_at),
        }
    }
}

/// The changes to a tenant. Fields that are absent or null stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = TenantPatch)]
pub(crate) struct TenantPatchDto {
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
    /// Unique among all tenants.
    #[schema(min_length = 1, max_length = 63, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
    slug: Option<String>,
}

/// Get the tenant
///
/// Callers can get only their own tenant.
#[utoipa::path(
    get,
    path = "/tenants/{id}",
    operation_id = "getTenant",
    tag = TENANTS,
    params(("id" = Uuid, Path, description = "The tenant")),
    responses((status = 200, description = "The tenant", body = TenantDto), Problems),
    extensions(("x-required-permission" = json!("tenants:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<TenantId>,
) -> Result<Tagged<TenantDto>, Problem> {
    let tenant = iam.tenants().get(&caller, id).await?;
    Ok(Tagged(tenant.version, tenant.into()))
}

/// Change the tenant
///
/// Callers can change only their own tenant.
#[utoipa::path(
    patch,
    path = "/tenants/{id}",
    operation_id = "updateTenant",
    tag = TENANTS,
    params(("id" = Uuid, Path, description = "The tenant")),
    request_body = TenantPatchDto,
    responses((status = 200, description = "The changed tenant", body = TenantDto), Problems),
    extensions(("x-required-permission" = json!("tenants:update")), ("x-problems" = json!(["conflict"]))),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<TenantId>,
    Call(caller, TenantPatchDto { name, slug }): Call<TenantPatchDto>,
) -> Result<Tagged<TenantDto>, Problem> {
    let tenant = iam.tenants().update_if(&caller, id, TenantPatch { name, slug }, &precondition).await?;
    Ok(Tagged(tenant.version, tenant.into()))
}
