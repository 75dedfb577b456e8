//! `/auth/federation`, `/auth/identities`, `/users/{id}/identities` and `/identities`
//! (`docs/federation.md#the-flow`).

use axum::Json;
use axum::extract::{FromRef, FromRequestParts, RawQuery, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use iam_core::federation::{
    DiscoveredProvider, Finished, Identity, ProviderSummary, StartFederation, StartedFederation,
};
use iam_core::{Caller, Error, Iam, IdentityId, IdentityProviderId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::description::{FEDERATION, Problems};
use crate::extract::{Authenticated, Body, Call, Context, Params, PathId, Query, authenticate};
use crate::page::List;
use crate::problem::Problem;
use crate::session::LoggedIn;
use crate::time::Time;

/// A provider by which people log in.
#[derive(Serialize, ToSchema)]
#[schema(as = ProviderSummary)]
pub(crate) struct ProviderSummaryDto {
    id: Uuid,
    name: String,
    slug: String,
}

impl From<ProviderSummary> for ProviderSummaryDto {
    fn from(provider: ProviderSummary) -> Self {
        Self { id: provider.id.as_uuid(), name: provider.name.into(), slug: provider.slug.into() }
    }
}

/// Whose providers to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct ProvidersQuery {
    /// The identifier or slug of the tenant.
    #[param(required, example = "analytical-engines")]
    tenant: Option<String>,
}

/// The address of a person.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Discovery)]
pub(crate) struct DiscoveryDto {
    #[serde(default)]
    #[schema(required, format = "email")]
    email: String,
}

/// How the people with an address log in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Discovered)]
pub(crate) struct DiscoveredDto {
    /// The providers that speak for the domain of the address.
    providers: Vec<DiscoveredProviderDto>,
    /// Whether they may log in by a password.
    password_allowed: bool,
}

/// A provider, and its tenant.
#[derive(Serialize, ToSchema)]
#[schema(as = DiscoveredProvider)]
pub(crate) struct DiscoveredProviderDto {
    id: Uuid,
    name: String,
    tenant: DiscoveredTenantDto,
}

/// The tenant of a provider.
#[derive(Serialize, ToSchema)]
#[schema(as = DiscoveredTenant)]
pub(crate) struct DiscoveredTenantDto {
    slug: String,
    name: String,
}

impl From<DiscoveredProvider> for DiscoveredProviderDto {
    fn from(provider: DiscoveredProvider) -> Self {
        let tenant = DiscoveredTenantDto { slug: provider.tenant.slug.into(), name: provider.tenant.name.into() };
        Self { id: provider.id.as_uuid(), name: provider.name.into(), tenant }
    }
}

/// How a login by a provider begins.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = FederationStart)]
pub(crate) struct StartDto {
    #[serde(default)]
    #[schema(required, value_type = Uuid)]
    provider_id: String,
    /// One of the addresses that the operator allows, to the letter. A loopback address may have any port.
    #[serde(default)]
    #[schema(required)]
    redirect_uri: String,
    /// The S256 challenge (RFC 7636) of a secret that the client keeps.
    #[serde(default)]
    #[schema(required, min_length = 43, max_length = 43)]
    code_challenge: String,
    /// The address of the person, which the provider may use.
    #[schema(max_length = 254)]
    login_hint: Option<String>,
}

impl StartDto {
    fn parse(self) -> Result<StartFederation, Problem> {
        let mut params = Params::default();
        let provider: Option<IdentityProviderId> = params.require("providerId", &self.provider_id);
        params.finish()?;
        let provider = provider.ok_or_else(|| Error::field("providerId", "must be a UUID"))?;
        let Self { redirect_uri, code_challenge, login_hint, .. } = self;
        Ok(StartFederation { provider, redirect_uri, code_challenge, login_hint })
    }
}

/// Where the browser goes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StartedFederation)]
pub(crate) struct StartedDto {
    /// The address of the provider.
    authorization_url: String,
    /// How long the person may take there, in seconds.
    expires_in: u64,
}

impl From<StartedFederation> for StartedDto {
    fn from(started: StartedFederation) -> Self {
        Self { authorization_url: started.authorization_url.into(), expires_in: started.expires_in.as_secs() }
    }
}

/// What the browser has brought back, and the secret of the client.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = FederationFinish)]
pub(crate) struct FinishDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    code: String,
    /// The secret whose challenge the client has sent at the start.
    #[serde(default)]
    #[schema(required, min_length = 1)]
    code_verifier: String,
}

/// An account at a provider by which a user logs in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Identity)]
pub(crate) struct IdentityDto {
    id: Uuid,
    provider_id: Uuid,
    issuer: String,
    /// The person, as the provider names it.
    subject: String,
    /// The address of the account at the provider. Null if the provider does not say it.
    #[schema(required)]
    email: Option<String>,
    linked_at: Time,
    /// Null means never.
    #[schema(required)]
    last_login_at: Option<Time>,
}

impl From<Identity> for IdentityDto {
    fn from(identity: Identity) -> Self {
        Self {
            id: identity.id.as_uuid(),
            provider_id: identity.provider_id.as_uuid(),
            issuer: identity.issuer.as_str().to_owned(),
            subject: identity.subject,
            email: identity.email.map(String::from),
            linked_at: Time(identity.linked_at),
            last_login_at: identity.last_login_at.map(Time),
        }
    }
}

/// The caller of an operation that works with and without a token.
pub(crate) struct MaybeAuthenticated(Option<Caller>);

impl<S> FromRequestParts<S> for MaybeAuthenticated
where
    S: Send + Sync,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if !parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(Self(None));
        }
        authenticate(parts, &Iam::from_ref(state)).await.map(|caller| Self(Some(caller)))
    }
}

/// List the providers of a tenant
///
/// Those by which people log in, by name. A tenant that does not exist has none.
#[utoipa::path(
    get,
    path = "/auth/federation/providers",
    operation_id = "listFederationProviders",
    tag = FEDERATION,
    params(ProvidersQuery),
    responses((status = 200, description = "The providers", body = List<ProviderSummaryDto>), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn providers(
    State(iam): State<Iam>,
    Query(query): Query<ProvidersQuery>,
) -> Result<Json<List<ProviderSummaryDto>>, Problem> {
    let tenant = query.tenant.filter(|tenant| !tenant.is_empty());
    let tenant = tenant.ok_or_else(|| Error::field("tenant", "is required"))?;
    let providers = iam.federation().providers(&tenant).await?;
    Ok(Json(List { data: providers.into_iter().map(ProviderSummaryDto::from).collect() }))
}

/// Find the providers for an address
///
/// By the domain of the address alone: the answer says nothing about a person.
#[utoipa::path(
    post,
    path = "/auth/federation/discover",
    operation_id = "discoverFederation",
    tag = FEDERATION,
    request_body = DiscoveryDto,
    responses((status = 200, description = "How people with this address log in", body = DiscoveredDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn discover(
    State(iam): State<Iam>,
    Body(body): Body<DiscoveryDto>,
) -> Result<Json<DiscoveredDto>, Problem> {
    let providers = iam.federation().discover(&body.email).await?;
    let providers = providers.into_iter().map(DiscoveredProviderDto::from).collect();
    Ok(Json(DiscoveredDto { providers, password_allowed: true }))
}

/// Begin a login by a provider
///
/// The browser goes to `authorizationUrl`, and comes back to `redirectUri` with `code` or with `error`: `access_denied`,
/// `login_failed`, `not_linked` or `unavailable`. The code challenge binds the result to this client.
#[utoipa::path(
    post,
    path = "/auth/federation/start",
    operation_id = "startFederation",
    tag = FEDERATION,
    request_body = StartDto,
    responses((status = 200, description = "Where the browser goes", body = StartedDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["not-found", "unavailable"]))),
)]
pub(crate) async fn start(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<StartDto>,
) -> Result<Json<StartedDto>, Problem> {
    Ok(Json(iam.federation().start(&context, body.parse()?).await?.into()))
}

/// Come back from a provider
///
/// The provider sends the browser here. It goes on to the client.
#[utoipa::path(
    get,
    path = "/auth/federation/callback/{id}",
    operation_id = "returnFromFederation",
    tag = FEDERATION,
    params(("id" = Uuid, Path, description = "The provider")),
    responses((status = 303, description = "The browser goes on to the client"), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-ignores-parameters" = json!(true))),
)]
pub(crate) async fn callback(
    State(iam): State<Iam>,
    Context(context): Context,
    PathId(provider): PathId<IdentityProviderId>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let outcome = iam.federation().callback(&context, provider, query.as_deref().unwrap_or_default()).await?;
    let location = HeaderValue::from_str(&outcome.location);
    let location = location.map_err(|cause| Error::internal("address of a client", cause))?;
    let no_referrer = (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, location), no_referrer]).into_response())
}

/// Finish a login by a provider
///
/// The code works once, for a minute; a wrong verifier spends it. If the user has a second factor, the response is 401
/// `second-factor-required` as for `POST /auth/login`. For a link, which the same session has begun, the response is
/// 204.
#[utoipa::path(
    post,
    path = "/auth/federation/finish",
    operation_id = "finishFederation",
    tag = FEDERATION,
    request_body = FinishDto,
    responses(
        (status = 200, description = "Tokens and the user", body = LoggedIn),
        (status = 204, description = "The account at the provider is linked"),
        Problems
    ),
    security(()),
    extensions(
        ("x-required-permission" = json!("public")),
        ("x-problems" = json!(["conflict", "forbidden", "second-factor-required", "unauthorized"])),
    ),
)]
pub(crate) async fn finish(
    State(iam): State<Iam>,
    Context(context): Context,
    MaybeAuthenticated(caller): MaybeAuthenticated,
    Body(body): Body<FinishDto>,
) -> Result<Response, Problem> {
    let code = body.code.into();
    match iam.federation().finish(&context, caller.as_ref(), &code, &body.code_verifier).await? {
        Finished::LoggedIn(logged_in) => Ok(Json(LoggedIn::from(*logged_in)).into_response()),
        _ => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// Begin to link an account at a provider
///
/// To the caller's own user. The session must have authenticated within the last ten minutes, and finishes by
/// `POST /auth/federation/finish`.
#[utoipa::path(
    post,
    path = "/auth/identities/start",
    operation_id = "startIdentity",
    tag = FEDERATION,
    request_body = StartDto,
    responses((status = 200, description = "Where the browser goes", body = StartedDto), Problems),
    extensions(
        ("x-required-permission" = json!("session")),
        ("x-problems" = json!(["insufficient-authentication", "not-found", "unavailable"])),
    ),
)]
pub(crate) async fn start_linking(
    State(iam): State<Iam>,
    Call(caller, body): Call<StartDto>,
) -> Result<Json<StartedDto>, Problem> {
    Ok(Json(iam.federation().start_linking(&caller, body.parse()?).await?.into()))
}

/// List a user's identities
///
/// A user can always list its own in a session.
#[utoipa::path(
    get,
    path = "/users/{id}/identities",
    operation_id = "listIdentities",
    tag = FEDERATION,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The identities", body = List<IdentityDto>), Problems),
    extensions(("x-required-permission" = json!("users:read"))),
)]
pub(crate) async fn identities(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<Json<List<IdentityDto>>, Problem> {
    let identities = iam.federation().identities(&caller, user).await?;
    Ok(Json(List { data: identities.into_iter().map(IdentityDto::from).collect() }))
}

/// Remove an identity
///
/// A user can always remove its own in a session. For another user's, the caller needs everything that the user's roles
/// permit. The session must have authenticated within the last ten minutes. The only way to log in stays: 409.
#[utoipa::path(
    delete,
    path = "/identities/{id}",
    operation_id = "deleteIdentity",
    tag = FEDERATION,
    params(("id" = Uuid, Path, description = "The identity")),
    responses((status = 204, description = "The identity is removed"), Problems),
    extensions(
        ("x-required-permission" = json!("users:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn unlink(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<IdentityId>,
) -> Result<StatusCode, Problem> {
    iam.federation().unlink(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
