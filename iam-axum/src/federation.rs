//! `/auth/federation`, `/auth/identities`, `/users/{id}/identities` and `/identities`
//! (`docs/federation.md#the-flow`).

use axum::Json;
use axum::extract::{FromRef, FromRequestParts, RawQuery, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use iam_core::federation::{FederatedLogin, Finished, Identity, ProviderSummary, StartFederation, StartedFederation};
use iam_core::{Caller, Error, Iam, IdentityId, IdentityProviderId, Unauthenticated, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::accept::prefers;
use crate::description::{FEDERATION, Problems};
use crate::extract::{Authenticated, Body, Call, Context, Form, Params, PathId, Query, WithoutFactor};
use crate::page::List;
use crate::problem::{Kind, Problem};
use crate::request_state::HumanPage;
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

impl From<FederatedLogin> for DiscoveredProviderDto {
    fn from(provider: FederatedLogin) -> Self {
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
    /// Whether to authenticate the caller's session again, by the provider by which it began.
    #[serde(default)]
    step_up: bool,
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

/// The caller of an operation that works with and without a token, also if it must set up a second factor first.
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
        // A person who must set up a second factor may have to authenticate again before.
        WithoutFactor::from_request_parts(parts, state).await.map(|WithoutFactor(caller)| Self(Some(caller)))
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
    let tenant = query.tenant.ok_or_else(|| Error::field("tenant", "is required"))?;
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
    let discovered = iam.federation().discover(&body.email).await?;
    let providers = discovered.providers.into_iter().map(DiscoveredProviderDto::from).collect();
    Ok(Json(DiscoveredDto { providers, password_allowed: discovered.password_allowed }))
}

/// Begin a login by a provider
///
/// The browser goes to `authorizationUrl`, and comes back to `redirectUri` with `code` or with `error`: `access_denied`,
/// `login_failed`, `not_linked` or `unavailable`. The code challenge binds the result to this client. With `stepUp`, the
/// caller's session authenticates again: it finishes by `POST /auth/federation/finish`, which then answers 204.
#[utoipa::path(
    post,
    path = "/auth/federation/start",
    operation_id = "startFederation",
    tag = FEDERATION,
    request_body = StartDto,
    responses((status = 200, description = "Where the browser goes", body = StartedDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["forbidden", "not-found", "unauthorized", "unavailable"]))),
)]
pub(crate) async fn start(
    State(iam): State<Iam>,
    Context(context): Context,
    MaybeAuthenticated(caller): MaybeAuthenticated,
    Body(body): Body<StartDto>,
) -> Result<Json<StartedDto>, Problem> {
    let started = if body.step_up {
        let caller = caller.ok_or(Error::from(Unauthenticated::InvalidToken))?;
        iam.federation().start_step_up(&caller, body.parse()?).await?
    } else {
        iam.federation().start(&context, body.parse()?).await?
    };
    Ok(Json(started.into()))
}

/// Come back from a provider
///
/// The provider sends the browser here. It goes on to the client. For a state that is unknown, used or expired, the
/// response is 400: a page, where the browser prefers one.
#[utoipa::path(
    get,
    path = "/auth/federation/callback/{id}",
    operation_id = "returnFromFederation",
    tag = FEDERATION,
    params(("id" = Uuid, Path, description = "The provider")),
    responses((status = 303, description = "The browser goes on to the client"), Problems),
    security(()),
    extensions(("x-ignores-parameters" = json!(true)), ("x-required-permission" = json!("public"))),
)]
pub(crate) async fn callback(
    State(iam): State<Iam>,
    Context(context): Context,
    PathId(provider): PathId<IdentityProviderId>,
    RawQuery(query): RawQuery,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // A preview of the address must not spend the state.
    if method == Method::HEAD {
        return Err(Problem::new(Kind::MethodNotAllowed));
    }
    let outcome = match iam.federation().callback(&context, provider, query.as_deref().unwrap_or_default()).await {
        Ok(outcome) => outcome,
        Err(Error::Validation(_)) if prefers(&headers, "text/html", "application/problem+json") => {
            return Ok(HumanPage((StatusCode::BAD_REQUEST, Html(TOO_LATE))).into_response());
        }
        Err(error) => return Err(error.into()),
    };
    let location = HeaderValue::from_str(&outcome.location);
    let location = location.map_err(|cause| Error::internal("address of a client", cause))?;
    let no_referrer = (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok((StatusCode::SEE_OTHER, [(header::LOCATION, location), no_referrer]).into_response())
}

/// Finish a login by a provider
///
/// The code works once, for a minute; a wrong verifier spends it. If the user has a second factor, the response is 401
/// `second-factor-required` as for `POST /auth/login`. For a link or a step-up, which the same session has begun, the
/// response is 204.
#[utoipa::path(
    post,
    path = "/auth/federation/finish",
    operation_id = "finishFederation",
    tag = FEDERATION,
    request_body = FinishDto,
    responses(
        (status = 200, description = "Tokens and the user", body = LoggedIn),
        (status = 204, description = "The account at the provider is linked, or the session has authenticated again"),
        Problems
    ),
    security(()),
    extensions(
        ("x-required-permission" = json!("public")),
        ("x-problems" = json!(["conflict", "forbidden", "insufficient-authentication", "second-factor-required", "unauthorized"])),
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

/// What a person sees who comes back with an unknown state: nothing that the request contained.
const TOO_LATE: &str = "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Sign-in not finished</title>\n\
    <h1>Sign-in not finished</h1>\n\
    <p>This sign-in is unknown, was used already, or took longer than ten minutes. Begin again where you came from.</p>\n\
    </html>\n";

/// The logout token of a provider.
#[derive(Deserialize, ToSchema)]
#[schema(as = BackchannelLogout)]
pub(crate) struct LogoutDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    logout_token: String,
}

/// Log out at a provider
///
/// The provider tells that a person has logged out there (OpenID Connect Back-Channel Logout 1.0). The sessions that
/// began by the named session at the provider end, or all that began by the named account there. A token works once.
#[utoipa::path(
    post,
    path = "/auth/federation/backchannel-logout/{id}",
    operation_id = "logOutByFederation",
    tag = FEDERATION,
    params(("id" = Uuid, Path, description = "The provider")),
    request_body(content((LogoutDto = "application/x-www-form-urlencoded"))),
    responses((status = 200, description = "The sessions have ended"), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["unavailable"]))),
)]
pub(crate) async fn backchannel_logout(
    State(iam): State<Iam>,
    Context(context): Context,
    PathId(provider): PathId<IdentityProviderId>,
    Form(body): Form<LogoutDto>,
) -> Result<StatusCode, Problem> {
    if body.logout_token.is_empty() {
        return Err(Problem::invalid_field("logout_token", "is required"));
    }
    iam.federation().log_out(&context, provider, &body.logout_token).await?;
    Ok(StatusCode::OK)
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
        ("x-problems" = json!(["forbidden", "insufficient-authentication", "not-found", "unavailable"])),
    ),
)]
pub(crate) async fn start_linking(
    State(iam): State<Iam>,
    Call(caller, body): Call<StartDto>,
) -> Result<Json<StartedDto>, Problem> {
    if body.step_up {
        return Err(Problem::invalid_field("stepUp", "belongs to POST /auth/federation/start"));
    }
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
