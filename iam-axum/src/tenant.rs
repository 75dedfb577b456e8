//! `/tenants` (`docs/http-api.md#the-tenant`).

use std::mem;

use axum::Json;
use axum::extract::State;
use iam_core::attribute::{AttributeDefinition, UnregisteredAttributes};
use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::{AuthzenIdentifiers, EmailLogin, PasswordLogin, PasswordPolicy, Tenant, TenantPatch};
use iam_core::{Iam, TenantId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::attribute::{OrganizationAttributeDto, UnregisteredAttributesDto, UserAttributeDto};
use crate::conditional::{IfMatch, Tagged};
use crate::description::{Problems, TENANTS};
use crate::extract::{Authenticated, Call, PathId, Whole};
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
    #[schema(inline)]
    second_factor: SecondFactorDto,
    second_factor_grace_days: i64,
    #[schema(inline)]
    password_login: PasswordLoginDto,
    #[schema(inline)]
    email_login: EmailLoginDto,
    #[schema(inline)]
    authzen_identifiers: AuthzenIdentifiersDto,
    /// The attributes that are defined for users. Absent in responses to the registration and about the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    user_attributes: Option<Vec<UserAttributeDto>>,
    /// The attributes that are defined for organizations. Absent where `userAttributes` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    organization_attributes: Option<Vec<OrganizationAttributeDto>>,
    // A comment of documentation here would make the schema an `allOf` that no value fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(inline, nullable = false)]
    unregistered_attributes: Option<UnregisteredAttributesDto>,
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
            second_factor: tenant.second_factor.into(),
            second_factor_grace_days: tenant.second_factor_grace_days.into(),
            password_login: tenant.password_login.into(),
            email_login: tenant.email_login.into(),
            authzen_identifiers: tenant.authzen_identifiers.into(),
            user_attributes: None,
            organization_attributes: None,
            unregistered_attributes: None,
            created_at: Time(tenant.created_at),
            updated_at: Time(tenant.updated_at),
        }
    }
}

impl TenantDto {
    /// With the rules for attributes, for callers that may read the tenant.
    fn whole(mut tenant: Tenant) -> Self {
        let users: Vec<AttributeDefinition> = mem::take(&mut tenant.user_attributes).into();
        let organizations: Vec<AttributeDefinition> = mem::take(&mut tenant.organization_attributes).into();
        Self {
            user_attributes: Some(users.into_iter().map(UserAttributeDto::from).collect()),
            organization_attributes: Some(organizations.into_iter().map(OrganizationAttributeDto::from).collect()),
            unregistered_attributes: Some(tenant.unregistered_attributes.into()),
            ..tenant.into()
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

/// Whether the users have second factors.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum SecondFactorDto {
    Off,
    Optional,
    Required,
}

impl From<SecondFactorPolicy> for SecondFactorDto {
    fn from(policy: SecondFactorPolicy) -> Self {
        match policy {
            SecondFactorPolicy::Off => Self::Off,
            SecondFactorPolicy::Optional => Self::Optional,
            SecondFactorPolicy::Required => Self::Required,
        }
    }
}

impl From<SecondFactorDto> for SecondFactorPolicy {
    fn from(policy: SecondFactorDto) -> Self {
        match policy {
            SecondFactorDto::Off => Self::Off,
            SecondFactorDto::Optional => Self::Optional,
            SecondFactorDto::Required => Self::Required,
        }
    }
}

/// Whether users log in by passwords.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PasswordLoginDto {
    Allowed,
    Federated,
}

impl From<PasswordLogin> for PasswordLoginDto {
    fn from(login: PasswordLogin) -> Self {
        match login {
            PasswordLogin::Allowed => Self::Allowed,
            PasswordLogin::Federated => Self::Federated,
        }
    }
}

impl From<PasswordLoginDto> for PasswordLogin {
    fn from(login: PasswordLoginDto) -> Self {
        match login {
            PasswordLoginDto::Allowed => Self::Allowed,
            PasswordLoginDto::Federated => Self::Federated,
        }
    }
}

/// Whether users log in by a message to their address.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum EmailLoginDto {
    Off,
    On,
}

impl From<EmailLogin> for EmailLoginDto {
    fn from(login: EmailLogin) -> Self {
        match login {
            EmailLogin::Off => Self::Off,
            EmailLogin::On => Self::On,
        }
    }
}

impl From<EmailLoginDto> for EmailLogin {
    fn from(login: EmailLoginDto) -> Self {
        match login {
            EmailLoginDto::Off => Self::Off,
            EmailLoginDto::On => Self::On,
        }
    }
}

/// How requests of AuthZEN name users and organizations.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum AuthzenIdentifiersDto {
    Id,
    Name,
}

impl From<AuthzenIdentifiers> for AuthzenIdentifiersDto {
    fn from(identifiers: AuthzenIdentifiers) -> Self {
        match identifiers {
            AuthzenIdentifiers::Id => Self::Id,
            AuthzenIdentifiers::Name => Self::Name,
        }
    }
}

impl From<AuthzenIdentifiersDto> for AuthzenIdentifiers {
    fn from(identifiers: AuthzenIdentifiersDto) -> Self {
        match identifiers {
            AuthzenIdentifiersDto::Id => Self::Id,
            AuthzenIdentifiersDto::Name => Self::Name,
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
    /// For passwords that are set from now on. `seed`: 8 to 128 characters of several kinds. `nist-800-63b-4`: 15 to
    /// 128 characters of any kind. `asvs-5`: 8 to 128 characters of any kind, where 15 are recommended. The last two
    /// refuse common and breached passwords, and those that consist of the user's own words.
    #[schema(inline)]
    password_policy: Option<PasswordPolicyDto>,
    /// `OFF`: no factor can be set up, and those that exist are still asked for. `OPTIONAL`: each user decides.
    /// `REQUIRED`: a user without a factor must set one up within the grace.
    #[schema(inline)]
    second_factor: Option<SecondFactorDto>,
    /// Counted for each user from its creation, or from the change to `REQUIRED` if that is later.
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 90)]
    second_factor_grace_days: Option<Whole<i64>>,
    /// `FEDERATED`: a user whose address is of a verified domain with an enabled identity provider logs in by it alone.
    /// Holders of all permissions tenant-wide are exempt.
    #[schema(inline)]
    password_login: Option<PasswordLoginDto>,
    /// `ON`: a user whose address is verified can log in by a link or a code that is sent to it.
    #[schema(inline)]
    email_login: Option<EmailLoginDto>,
    /// `ID`: by their identifiers. `NAME`: users by their external identifier, or their e-mail if they have none, and
    /// organizations by their slug.
    #[schema(inline)]
    authzen_identifiers: Option<AuthzenIdentifiersDto>,
    /// All attributes that are defined for users, in the place of the former ones, each key once. Values that do not
    /// have the type of a new definition stay until they are changed.
    #[schema(max_items = 32)]
    user_attributes: Option<Vec<UserAttributeDto>>,
    /// All attributes that are defined for organizations, in the place of the former ones, each key once.
    #[schema(max_items = 32)]
    organization_attributes: Option<Vec<OrganizationAttributeDto>>,
    /// `REFUSED`: no user and no organization gets an attribute that is not defined. Those that exist stay until they are
    /// removed.
    #[schema(inline)]
    unregistered_attributes: Option<UnregisteredAttributesDto>,
}

impl From<TenantPatchDto> for TenantPatch {
    fn from(patch: TenantPatchDto) -> Self {
        Self {
            name: patch.name,
            slug: patch.slug,
            password_policy: patch.password_policy.map(PasswordPolicy::from),
            second_factor: patch.second_factor.map(SecondFactorPolicy::from),
            second_factor_grace_days: patch.second_factor_grace_days.map(|Whole(days)| days),
            password_login: patch.password_login.map(PasswordLogin::from),
            email_login: patch.email_login.map(EmailLogin::from),
            authzen_identifiers: patch.authzen_identifiers.map(AuthzenIdentifiers::from),
            user_attributes: patch.user_attributes.map(definitions),
            organization_attributes: patch.organization_attributes.map(definitions),
            unregistered_attributes: patch.unregistered_attributes.map(UnregisteredAttributes::from),
        }
    }
}

fn definitions<T: Into<AttributeDefinition>>(given: Vec<T>) -> Vec<AttributeDefinition> {
    given.into_iter().map(Into::into).collect()
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
    Ok(Tagged(tenant.version, TenantDto::whole(tenant)))
}

/// The deletion of the tenant.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TenantDeletion)]
pub(crate) struct TenantDeletionDto {
    /// When it begins at the earliest. Null means that none is scheduled.
    #[schema(required)]
    deletion_at: Option<Time>,
    /// Whether the entries of the audit log stay. Null means that none is scheduled.
    #[schema(required)]
    keeps_log: Option<bool>,
    /// Why, in the words of the operator. Null means that none is scheduled.
    #[schema(required)]
    reason: Option<String>,
}

/// Get the deletion of the tenant
///
/// The operator schedules the deletion of tenants, which waits and can be called off. Callers can get that of their own
/// tenant only.
#[utoipa::path(
    get,
    path = "/tenants/{id}/deletion",
    operation_id = "getTenantDeletion",
    tag = TENANTS,
    params(("id" = Uuid, Path, description = "The tenant")),
    responses((status = 200, description = "The deletion, if one is scheduled", body = TenantDeletionDto), Problems),
    extensions(("x-required-permission" = json!("tenants:read"))),
)]
pub(crate) async fn deletion(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<TenantId>,
) -> Result<Json<TenantDeletionDto>, Problem> {
    let deletion = iam.tenants().deletion(&caller, id).await?;
    Ok(Json(TenantDeletionDto {
        deletion_at: deletion.as_ref().map(|deletion| Time(deletion.due_at)),
        keeps_log: deletion.as_ref().map(|deletion| deletion.keeps_log),
        reason: deletion.map(|deletion| deletion.reason.into()),
    }))
}

/// Change the tenant
///
/// Callers can change only their own tenant. To change the policies of passwords, second factors and logins, the
/// session must have authenticated within the last ten minutes; an API key cannot change them.
#[utoipa::path(
    patch,
    path = "/tenants/{id}",
    operation_id = "updateTenant",
    tag = TENANTS,
    params(("id" = Uuid, Path, description = "The tenant")),
    request_body = TenantPatchDto,
    responses((status = 200, description = "The changed tenant", body = TenantDto), Problems),
    extensions(
        ("x-required-permission" = json!("tenants:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<TenantId>,
    Call(caller, body): Call<TenantPatchDto>,
) -> Result<Tagged<TenantDto>, Problem> {
    let tenant = iam.tenants().update_if(&caller, id, body.into(), &precondition).await?;
    Ok(Tagged(tenant.version, TenantDto::whole(tenant)))
}
