//! `/tenants` (`decisions.md` §2).

use axum::extract::State;
use iam_core::tenant::{PasswordPolicy, Tenant, TenantPatch};
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
    #[schema(inline)]
    password_policy: PasswordPolicyDto,
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
            password_policy: tenant.password_policy.into(),
            created_at: Time(tenant.created_at),
            updated_at: Time(tenant.updated_at),
        }
    }
}

/// The rules for new passwords.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
pub(crate) enum PasswordPolicyDto {
    #[serde(rename = "seed")]
    Seed,
    #[serde(rename = "nist-800-63b-4")]
    Nist,
    #[serde(rename = "asvs-5")]
    Asvs,
}

impl From<PasswordPolicy> for PasswordPolicyDto {
    fn from(policy: PasswordPolicy) -> Self {
        match policy {
            PasswordPolicy::Seed => Self::Seed,
            PasswordPolicy::Nist => Self::Nist,
            PasswordPolicy::Asvs => Self::Asvs,
        }
    }
}

impl From<PasswordPolicyDto> for PasswordPolicy {
    fn from(policy: PasswordPolicyDto) -> Self {
        match policy {
            PasswordPolicyDto::Seed => Self::Seed,
            PasswordPolicyDto::Nist => Self::Nist,
            PasswordPolicyDto::Asvs => Self::Asvs,
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
    /// For passwords that are set from now on. `seed`: 8 to 128 characters of several kinds. `nist-800-63b-4`: 15 to 128
    /// characters of any kind. `asvs-5`: 8 to 128 characters of any kind, where 15 are recommended. The last two refuse
    /// common and breached passwords, and those that consist of the user's own words.
    #[schema(inline)]
    password_policy: Option<PasswordPolicyDto>,
}

impl From<TenantPatchDto> for TenantPatch {
    fn from(TenantPatchDto { name, slug, password_policy }: TenantPatchDto) -> Self {
        Self { name, slug, password_policy: password_policy.map(PasswordPolicy::from) }
    }
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
    Call(caller, body): Call<TenantPatchDto>,
) -> Result<Tagged<TenantDto>, Problem> {
    let tenant = iam.tenants().update_if(&caller, id, body.into(), &precondition).await?;
    Ok(Tagged(tenant.version, tenant.into()))
}
