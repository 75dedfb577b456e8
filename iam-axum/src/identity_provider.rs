//! `/identity-providers` (`docs/federation.md#providers`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::identity_provider::{
    IdentityProvider, IdentityProviderPatch, NewIdentityProvider, Provisioning, SubjectClaim,
};
use iam_core::role::PlacedRole;
use iam_core::secret::ClientSecret;
use iam_core::{DomainId, Iam, IdentityProviderId, OrganizationId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{IDENTITY_PROVIDERS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, nullable};
use crate::idempotency::RequestKey;
use crate::page::List;
use crate::problem::Problem;
use crate::time::Time;

/// A provider by which people log in. Its secret is never shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = IdentityProvider)]
pub(crate) struct IdentityProviderDto {
    id: Uuid,
    name: String,
    slug: String,
    issuer: String,
    client_id: String,
    scopes: Vec<String>,
    domain_ids: Vec<Uuid>,
    trusts_email: bool,
    #[schema(inline)]
    subject_claim: SubjectClaimDto,
    #[schema(inline)]
    provisioning: ProvisioningDto,
    roles: Vec<ProvidedRoleDto>,
    factor_is_trusted: bool,
    enabled: bool,
    /// The address to register at the provider. Null if this installation reaches no providers.
    #[schema(required)]
    callback_url: Option<String>,
    created_at: Time,
    updated_at: Time,
}

#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SubjectClaimDto {
    Sub,
    Oid,
}

#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ProvisioningDto {
    Off,
    Link,
    Create,
}

/// A role of the users that a provider makes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProvidedRole)]
pub(crate) struct ProvidedRoleDto {
    role_id: Uuid,
    /// Null means tenant-wide.
    #[schema(required)]
    organization_id: Option<Uuid>,
}

impl From<SubjectClaim> for SubjectClaimDto {
    fn from(claim: SubjectClaim) -> Self {
        match claim {
            SubjectClaim::Sub => Self::Sub,
            SubjectClaim::Oid => Self::Oid,
        }
    }
}

impl From<SubjectClaimDto> for SubjectClaim {
    fn from(claim: SubjectClaimDto) -> Self {
        match claim {
            SubjectClaimDto::Sub => Self::Sub,
            SubjectClaimDto::Oid => Self::Oid,
        }
    }
}

impl From<Provisioning> for ProvisioningDto {
    fn from(provisioning: Provisioning) -> Self {
        match provisioning {
            Provisioning::Off => Self::Off,
            Provisioning::Link => Self::Link,
            Provisioning::Create => Self::Create,
        }
    }
}

impl From<ProvisioningDto> for Provisioning {
    fn from(provisioning: ProvisioningDto) -> Self {
        match provisioning {
            ProvisioningDto::Off => Self::Off,
            ProvisioningDto::Link => Self::Link,
            ProvisioningDto::Create => Self::Create,
        }
    }
}

impl IdentityProviderDto {
    fn new(iam: &Iam, provider: IdentityProvider) -> Self {
        let role = |role: PlacedRole| ProvidedRoleDto {
            role_id: role.role_id.as_uuid(),
            organization_id: role.organization_id.map(OrganizationId::as_uuid),
        };
        Self {
            id: provider.id.as_uuid(),
            name: provider.name.into(),
            slug: provider.slug.into(),
            issuer: provider.issuer.as_str().to_owned(),
            client_id: provider.client_id.as_str().to_owned(),
            scopes: provider.scopes.iter().map(|scope| scope.as_str().to_owned()).collect(),
            domain_ids: provider.domain_ids.into_iter().map(DomainId::as_uuid).collect(),
            trusts_email: provider.trusts_email,
            subject_claim: provider.subject_claim.into(),
            provisioning: provider.provisioning.into(),
            roles: provider.roles.into_iter().map(role).collect(),
            factor_is_trusted: provider.factor_is_trusted,
            enabled: provider.enabled,
            callback_url: iam.identity_providers().callback_url(provider.id).map(String::from),
            created_at: Time(provider.created_at),
            updated_at: Time(provider.updated_at),
        }
    }
}

/// The provider to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewIdentityProvider)]
pub(crate) struct NewIdentityProviderDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 120)]
    name: String,
    /// Unique in the tenant. Absent or null means one that is made from the name.
    #[schema(max_length = 63)]
    slug: Option<String>,
    /// To the letter as in the discovery document of the provider, which is read.
    #[serde(default)]
    #[schema(required, max_length = 512)]
    issuer: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 255)]
    client_id: String,
    /// The secret of this service at the provider, which is never shown. Absent or null means that it has none.
    #[schema(min_length = 1, max_length = 512)]
    client_secret: Option<String>,
    /// One of them is `openid`. Absent or null means `openid`, `email` and `profile`.
    #[schema(min_items = 1, max_items = 20)]
    scopes: Option<Vec<String>>,
    /// The domains for which the provider speaks; none if it is absent. One that is PENDING has no effect.
    #[serde(default)]
    #[schema(max_items = 50, value_type = Vec<Uuid>)]
    domain_ids: Vec<String>,
    /// Whether an address counts as verified without the claim `email_verified`. Absent or null means that it does not.
    trusts_email: Option<bool>,
    /// The claim that names a person. Absent or null means `sub`.
    #[schema(inline)]
    subject_claim: Option<SubjectClaimDto>,
    /// Whether accounts are linked and made. Absent or null means LINK.
    #[schema(inline)]
    provisioning: Option<ProvisioningDto>,
    /// The roles of the users that are made; none if it is absent. None of them may have all permissions.
    #[serde(default)]
    #[schema(max_items = 50)]
    roles: Vec<NewProvidedRoleDto>,
    /// Whether a second factor at the provider counts here. Absent or null means that it does not.
    factor_is_trusted: Option<bool>,
    /// Whether people log in by it. Absent or null means that they do.
    enabled: Option<bool>,
}

/// A role of the users that a provider is to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewProvidedRole)]
pub(crate) struct NewProvidedRoleDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    role_id: String,
    /// Absent or null means tenant-wide.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
}

impl NewIdentityProviderDto {
    fn parse(self) -> Result<NewIdentityProvider, Problem> {
        let mut params = Params::default();
        let domains = parse_domains(&mut params, &self.domain_ids);
        let roles = parse_roles(&mut params, &self.roles);
        params.finish()?;
        let defaults = NewIdentityProvider::default();
        Ok(NewIdentityProvider {
            name: self.name,
            slug: self.slug,
            issuer: self.issuer,
            client_id: self.client_id,
            client_secret: self.client_secret.map(ClientSecret::from),
            scopes: self.scopes,
            domains,
            trusts_email: self.trusts_email.unwrap_or(defaults.trusts_email),
            subject_claim: self.subject_claim.map_or(defaults.subject_claim, SubjectClaim::from),
            provisioning: self.provisioning.map_or(defaults.provisioning, Provisioning::from),
            roles,
            factor_is_trusted: self.factor_is_trusted.unwrap_or(defaults.factor_is_trusted),
            enabled: self.enabled.unwrap_or(defaults.enabled),
        })
    }
}

fn parse_domains(params: &mut Params, texts: &[String]) -> Vec<DomainId> {
    let parse = |(number, text): (usize, &String)| params.require(&format!("domainIds[{number}]"), text);
    texts.iter().enumerate().filter_map(parse).collect()
}

fn parse_roles(params: &mut Params, roles: &[NewProvidedRoleDto]) -> Vec<PlacedRole> {
    let parse = |(number, role): (usize, &NewProvidedRoleDto)| {
        let role_id = params.require(&format!("roles[{number}].roleId"), &role.role_id);
        let organization = format!("roles[{number}].organizationId");
        let organization_id = params.parse(&organization, role.organization_id.as_deref());
        Some(PlacedRole { role_id: role_id?, organization_id })
    };
    roles.iter().enumerate().filter_map(parse).collect()
}

/// The changes to a provider. Fields that are absent or null stay unchanged, except that null removes the secret.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = IdentityProviderPatch)]
pub(crate) struct IdentityProviderPatchDto {
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
    #[schema(max_length = 63)]
    slug: Option<String>,
    /// To the letter as in the discovery document of the provider, which is read.
    #[schema(max_length = 512)]
    issuer: Option<String>,
    #[schema(min_length = 1, max_length = 255)]
    client_id: Option<String>,
    /// The secret of this service at the provider, which is never shown. Null removes it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 512)]
    client_secret: Option<Option<String>>,
    /// All scopes after the change. One of them is `openid`.
    #[schema(min_items = 1, max_items = 20)]
    scopes: Option<Vec<String>>,
    /// All domains after the change.
    #[schema(max_items = 50, value_type = Option<Vec<Uuid>>)]
    domain_ids: Option<Vec<String>>,
    trusts_email: Option<bool>,
    #[schema(inline)]
    subject_claim: Option<SubjectClaimDto>,
    #[schema(inline)]
    provisioning: Option<ProvisioningDto>,
    /// All roles after the change. None of them may have all permissions.
    #[schema(max_items = 50)]
    roles: Option<Vec<NewProvidedRoleDto>>,
    factor_is_trusted: Option<bool>,
    enabled: Option<bool>,
}

impl IdentityProviderPatchDto {
    fn parse(self) -> Result<IdentityProviderPatch, Problem> {
        let mut params = Params::default();
        let domains = self.domain_ids.as_ref().map(|texts| parse_domains(&mut params, texts));
        let roles = self.roles.as_ref().map(|roles| parse_roles(&mut params, roles));
        params.finish()?;
        Ok(IdentityProviderPatch {
            name: self.name,
            slug: self.slug,
            issuer: self.issuer,
            client_id: self.client_id,
            client_secret: self.client_secret.map(|secret| secret.map(ClientSecret::from)),
            scopes: self.scopes,
            domains,
            trusts_email: self.trusts_email,
            subject_claim: self.subject_claim.map(SubjectClaim::from),
            provisioning: self.provisioning.map(Provisioning::from),
            roles,
            factor_is_trusted: self.factor_is_trusted,
            enabled: self.enabled,
        })
    }
}

/// List the identity providers
///
/// By name. A tenant has 20 identity providers at most.
#[utoipa::path(
    get,
    path = "/identity-providers",
    operation_id = "listIdentityProviders",
    tag = IDENTITY_PROVIDERS,
    responses((status = 200, description = "The providers", body = List<IdentityProviderDto>), Problems),
    extensions(("x-required-permission" = json!("identity-providers:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<List<IdentityProviderDto>>, Problem> {
    let providers = iam.identity_providers().list(&caller).await?;
    Ok(Json(List { data: providers.into_iter().map(|provider| IdentityProviderDto::new(&iam, provider)).collect() }))
}

/// Make an identity provider
///
/// It speaks for everybody in its domains. So the caller also needs `*` tenant-wide, and a session that has
/// authenticated within the last ten minutes. The discovery document of the issuer is read, and a provider that cannot
/// be used is refused. A tenant has 20 identity providers at most.
#[utoipa::path(
    post,
    path = "/identity-providers",
    operation_id = "createIdentityProvider",
    tag = IDENTITY_PROVIDERS,
    request_body = NewIdentityProviderDto,
    responses((status = 201, description = "The new provider", body = IdentityProviderDto), Problems),
    extensions(
        ("x-required-permission" = json!("identity-providers:create")),
        ("x-problems" = json!(["conflict", "insufficient-authentication", "not-found", "unavailable"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewIdentityProviderDto>,
) -> Result<(StatusCode, Json<IdentityProviderDto>), Problem> {
    let provider = iam.identity_providers().create_once(&caller, body.parse()?, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(IdentityProviderDto::new(&iam, provider))))
}

/// Get an identity provider
///
/// Its secret is not shown.
#[utoipa::path(
    get,
    path = "/identity-providers/{id}",
    operation_id = "getIdentityProvider",
    tag = IDENTITY_PROVIDERS,
    params(("id" = Uuid, Path, description = "The provider")),
    responses((status = 200, description = "The provider", body = IdentityProviderDto), Problems),
    extensions(("x-required-permission" = json!("identity-providers:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<IdentityProviderId>,
) -> Result<Tagged<IdentityProviderDto>, Problem> {
    let provider = iam.identity_providers().get(&caller, id).await?;
    Ok(Tagged(provider.version, IdentityProviderDto::new(&iam, provider)))
}

/// Change an identity provider
///
/// To change more than the name, the caller also needs `*` tenant-wide, and a session that has authenticated within the
/// last ten minutes. A new issuer is checked like that of a new provider.
#[utoipa::path(
    patch,
    path = "/identity-providers/{id}",
    operation_id = "updateIdentityProvider",
    tag = IDENTITY_PROVIDERS,
    params(("id" = Uuid, Path, description = "The provider")),
    request_body = IdentityProviderPatchDto,
    responses((status = 200, description = "The changed provider", body = IdentityProviderDto), Problems),
    extensions(
        ("x-required-permission" = json!("identity-providers:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication", "unavailable"])),
    ),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<IdentityProviderId>,
    Call(caller, body): Call<IdentityProviderPatchDto>,
) -> Result<Tagged<IdentityProviderDto>, Problem> {
    let provider = iam.identity_providers().update_if(&caller, id, body.parse()?, &precondition).await?;
    Ok(Tagged(provider.version, IdentityProviderDto::new(&iam, provider)))
}

/// Remove an identity provider
///
/// The caller also needs `*` tenant-wide, and a session that has authenticated within the last ten minutes. Sessions go
/// on.
#[utoipa::path(
    delete,
    path = "/identity-providers/{id}",
    operation_id = "deleteIdentityProvider",
    tag = IDENTITY_PROVIDERS,
    params(("id" = Uuid, Path, description = "The provider")),
    responses((status = 204, description = "The provider is removed"), Problems),
    extensions(
        ("x-required-permission" = json!("identity-providers:delete")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<IdentityProviderId>,
) -> Result<StatusCode, Problem> {
    iam.identity_providers().delete_if(&caller, id, &precondition).await?;
    Ok(StatusCode::NO_CONTENT)
}
