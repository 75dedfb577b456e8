//! `/auth/*` and sessions (`docs/http-api.md#authentication`).

use std::net::IpAddr;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::attribute::Attributes;
use iam_core::secret::RefreshToken;
use iam_core::session::{self, AuthenticatedBy, Login, Me, Session, Tokens};
use iam_core::tenant::{self, Registration};
use iam_core::user::{NewUser, User};
use iam_core::{Iam, SessionId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::assignment::{HeldPermissions, HeldRole};
use crate::attribute::{SentAttributes, sent};
use crate::conditional::{IfMatch, Tagged, entity_tag};
use crate::description::{AUTHENTICATION, Problems, SESSIONS};
use crate::extract::{Authenticated, Body, Call, Context, PathId, WithoutFactor};
use crate::idempotency::RequestKey;
use crate::impersonation::ActorDto;
use crate::page::List;
use crate::problem::Problem;
use crate::tenant::TenantDto;
use crate::time::Time;
use crate::user::UserDto;

/// A new tenant and its first user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Registration)]
pub(crate) struct RegistrationDto {
    #[serde(default)]
    #[schema(required, format = "email", max_length = 254)]
    email: String,
    /// Must contain an upper-case and a lower-case letter, a digit and one of `! @ # $ % ^ & *`.
    #[serde(default)]
    #[schema(required, format = Password, min_length = 8, max_length = 128)]
    password: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    first_name: String,
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 100)]
    last_name: String,
    /// If it is absent, the service makes it from the user's name.
    #[schema(min_length = 1, max_length = 120)]
    tenant_name: Option<String>,
}

/// The credentials of a login.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Login)]
pub(crate) struct LoginDto {
    #[serde(default)]
    #[schema(required, format = "email")]
    email: String,
    #[serde(default)]
    #[schema(required, format = Password, min_length = 1)]
    password: String,
    /// The id or the slug of a tenant, for an e-mail that exists in several tenants.
    tenant: Option<String>,
}

/// The refresh token to exchange.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = Refresh)]
pub(crate) struct RefreshDto {
    #[serde(default)]
    #[schema(required, min_length = 1)]
    refresh_token: String,
}

/// A pair of tokens.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Tokens)]
pub(crate) struct TokensDto {
    /// A signed JWT (RFC 7519). Send it as `Authorization: Bearer …`.
    access_token: String,
    /// An opaque token that can be exchanged for the next pair of tokens, once.
    refresh_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// How many seconds the access token is valid.
    #[schema(example = 900)]
    expires_in: u64,
}

impl From<Tokens> for TokensDto {
    fn from(tokens: Tokens) -> Self {
        Self {
            access_token: tokens.access.expose().to_owned(),
            refresh_token: tokens.refresh.expose().to_owned(),
            token_type: "Bearer",
            expires_in: tokens.expires_in.as_secs(),
        }
    }
}

/// A successful login.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoggedIn {
    #[serde(flatten)]
    tokens: TokensDto,
    user: UserDto,
    /// Until when the user must set up a second factor. Absent if it need not.
    #[serde(rename = "enrolBy", skip_serializing_if = "Option::is_none")]
    enrol_by: Option<Time>,
}

impl From<session::LoggedIn> for LoggedIn {
    fn from(login: session::LoggedIn) -> Self {
        Self { tokens: login.tokens.into(), user: login.user.into(), enrol_by: login.enrol_by.map(Time) }
    }
}

/// A new user, who is logged in, with its tenant.
#[derive(Serialize, ToSchema)]
pub(crate) struct Registered {
    tenant: TenantDto,
    #[serde(flatten)]
    login: LoggedIn,
}

impl From<tenant::Registered> for Registered {
    fn from(registered: tenant::Registered) -> Self {
        Self { tenant: registered.tenant.into(), login: registered.login.into() }
    }
}

/// The caller, with its roles and permissions.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Me)]
pub(crate) struct MeDto {
    user: UserDto,
    tenant: TenantDto,
    #[schema(required)]
    session: Option<SessionDto>,
    /// The API key of this request. Absent for a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    api_key: Option<CallingApiKey>,
    /// The user who acts in the session as its user. Absent if the user itself does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    actor: Option<ActorDto>,
    /// How the session has authenticated (RFC 8176): how the actor has, if there is one. Empty for an API key.
    amr: Vec<String>,
    #[schema(required)]
    auth_time: Option<Time>,
    /// Until when the caller must set up a second factor. Afterwards, its sessions can only be used to set one up.
    /// Absent if it need not.
    #[serde(skip_serializing_if = "Option::is_none")]
    enrol_by: Option<Time>,
    /// The attributes of the user that the tenant shows to the person. Absent if it shows none, and for an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<Attributes>,
    /// The entity tag of the user, for `If-Match` of a change of the caller. This answer has no `ETag`: its roles, its
    /// session and its tenant change without the user.
    user_tag: String,
    roles: Vec<HeldRole>,
    permissions: HeldPermissions,
}

/// What the caller changes of itself.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = MePatch)]
pub(crate) struct MePatchDto {
    /// By key: a value replaces that of its key, null removes the key, and other keys stay (RFC 7396). Only keys that the
    /// tenant lets persons change: each text has at most 1,024 characters, and all of them have at most 4 KiB together.
    #[serde(default, deserialize_with = "sent")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<SentAttributes>,
}

/// What the caller sees of itself after a change.
#[derive(Serialize, ToSchema)]
#[schema(as = OwnAttributes)]
pub(crate) struct OwnAttributesDto {
    /// All attributes of the user that the tenant shows to the person.
    #[schema(value_type = BTreeMap<String, Value>)]
    attributes: Attributes,
}

/// The API key that a request was authenticated by.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallingApiKey {
    id: Uuid,
    name: String,
    expires_at: Time,
}

/// A login that has not ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub(crate) struct SessionDto {
    id: Uuid,
    created_at: Time,
    last_used_at: Time,
    /// When the session expires, unless it is refreshed before.
    expires_at: Time,
    #[schema(required, value_type = Option<String>)]
    ip_address: Option<IpAddr>,
    #[schema(required)]
    user_agent: Option<String>,
    /// Whether this is the session of this request.
    current: bool,
    /// The user who acts in the session as its user. Absent for a login of the user itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    actor: Option<ActorDto>,
    /// Why the actor acts as the user. Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    /// Whether the actor can change nothing. Absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    read_only: Option<bool>,
}

impl SessionDto {
    fn seen_from((session, actor): (Session, Option<User>), current: Option<SessionId>) -> Self {
        Self {
            id: session.id.as_uuid(),
            created_at: Time(session.created_at),
            last_used_at: Time(session.last_used_at),
            expires_at: Time(session.expires_at),
            ip_address: session.ip_address,
            user_agent: session.user_agent.map(|agent| agent.as_str().to_owned()),
            current: current == Some(session.id),
            actor: actor.map(ActorDto::from),
            read_only: session.impersonation.as_ref().map(|impersonation| impersonation.by.is_read_only),
            reason: session.impersonation.map(|impersonation| impersonation.reason.into()),
        }
    }
}

/// Register a tenant
///
/// Creates a tenant with its built-in roles, and its first user as TENANT_ADMIN. Logs that user in. A repeat under the
/// same `Idempotency-Key` logs in again; if the user has a second factor by then, the response is 401
/// `second-factor-required`.
#[utoipa::path(
    post,
    path = "/auth/register",
    operation_id = "register",
    tag = AUTHENTICATION,
    request_body = RegistrationDto,
    responses((status = 201, description = "The tenant, its administrator and tokens", body = Registered), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["forbidden", "second-factor-required", "unauthorized"]))),
)]
pub(crate) async fn register(
    State(iam): State<Iam>,
    Context(context): Context,
    RequestKey(key): RequestKey,
    Body(body): Body<RegistrationDto>,
) -> Result<(StatusCode, Json<Registered>), Problem> {
    let RegistrationDto { email, password, first_name, last_name, tenant_name } = body;
    let user = NewUser { email, password: password.into(), first_name, last_name };
    let registration = Registration { user, tenant_name };
    let registered = iam.tenants().register_once(&context, registration, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(registered.into())))
}

/// Log in
///
/// Without `tenant`, the e-mail and the password decide. If they fit users of several tenants, the response is 409 and
/// lists these tenants. If the user has a second factor, the response is 401 `second-factor-required` with a challenge,
/// which `POST /auth/login/second-factor` takes. Too many failed attempts lock the account for a while.
#[utoipa::path(
    post,
    path = "/auth/login",
    operation_id = "login",
    tag = AUTHENTICATION,
    request_body = LoginDto,
    responses((status = 200, description = "Tokens and the user", body = LoggedIn), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["account-locked", "conflict", "federation-required", "forbidden", "second-factor-required", "unauthorized"]))),
)]
pub(crate) async fn login(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<LoginDto>,
) -> Result<Json<LoggedIn>, Problem> {
    let login = Login { email: body.email, password: body.password.into(), tenant: body.tenant };
    Ok(Json(iam.sessions().login(&context, login).await?.into()))
}

/// Exchange a refresh token
///
/// After the exchange, the refresh token is spent. If it is sent again within ten seconds, the response has the same
/// new refresh token. If it is sent again later, the session ends.
#[utoipa::path(
    post,
    path = "/auth/refresh",
    operation_id = "refresh",
    tag = AUTHENTICATION,
    request_body = RefreshDto,
    responses((status = 200, description = "The next pair of tokens", body = TokensDto), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public")), ("x-problems" = json!(["unauthorized"]))),
)]
pub(crate) async fn refresh(
    State(iam): State<Iam>,
    Context(context): Context,
    Body(body): Body<RefreshDto>,
) -> Result<Json<TokensDto>, Problem> {
    let tokens = iam.sessions().refresh(&context, &RefreshToken::from(body.refresh_token)).await?;
    Ok(Json(tokens.into()))
}

/// Log out
///
/// Ends the session of this request. Its access token stops working within a second.
#[utoipa::path(
    post,
    path = "/auth/logout",
    operation_id = "logout",
    tag = AUTHENTICATION,
    responses((status = 204, description = "The session has ended"), Problems),
    extensions(("x-required-permission" = json!("session"))),
)]
pub(crate) async fn logout(
    State(iam): State<Iam>,
    WithoutFactor(caller): WithoutFactor,
) -> Result<StatusCode, Problem> {
    iam.sessions().logout(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Log out everywhere
///
/// Ends all sessions of the caller. The session must have authenticated within the last ten minutes.
#[utoipa::path(
    post,
    path = "/auth/logout-all",
    operation_id = "logoutAll",
    tag = AUTHENTICATION,
    responses((status = 204, description = "All sessions have ended"), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["insufficient-authentication"]))),
)]
pub(crate) async fn logout_all(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<StatusCode, Problem> {
    iam.sessions().logout_all(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get the caller
///
/// Returns the caller's user, tenant, and session or API key, with its current roles and permissions. For an API key,
/// these are what the key may do.
#[utoipa::path(
    get,
    path = "/auth/me",
    operation_id = "getMe",
    tag = AUTHENTICATION,
    responses((status = 200, description = "The caller", body = MeDto), Problems),
    extensions(("x-required-permission" = json!("session"))),
)]
pub(crate) async fn me(State(iam): State<Iam>, WithoutFactor(caller): WithoutFactor) -> Result<Json<MeDto>, Problem> {
    let me = iam.sessions().me(&caller).await?;
    let Me { user, attributes, tenant, by, impersonator, grants, permissions, enrol_by, .. } = me;
    let (session, api_key) = match by {
        AuthenticatedBy::Session(session) => (Some(session), None),
        AuthenticatedBy::ApiKey(key) => (None, Some(key)),
    };
    let amr = session.as_ref().map(|session| session.methods.amr()).unwrap_or_default();
    Ok(Json(MeDto {
        user_tag: entity_tag(user.version),
        user: user.into(),
        tenant: tenant.into(),
        amr: amr.into_iter().map(str::to_owned).collect(),
        auth_time: session.as_ref().map(|session| Time(session.authenticated_at)),
        enrol_by: enrol_by.map(Time),
        session: session.map(|session| {
            let current = session.id;
            SessionDto::seen_from((session, impersonator.clone()), Some(current))
        }),
        actor: impersonator.map(ActorDto::from),
        api_key: api_key.map(|key| CallingApiKey {
            id: key.id.as_uuid(),
            name: key.name.into(),
            expires_at: Time(key.expires_at),
        }),
        attributes,
        permissions: permissions.into(),
        roles: grants.into_iter().map(HeldRole::from).collect(),
    }))
}

/// Change the caller
///
/// Changes attributes that the tenant lets persons change themselves. The user and its version change as by
/// `PATCH /users/{id}`, and `If-Match` is compared with the tag of the user. An API key of the user cannot do it.
#[utoipa::path(
    patch,
    path = "/auth/me",
    operation_id = "updateMe",
    tag = AUTHENTICATION,
    request_body = MePatchDto,
    responses((status = 200, description = "What the caller sees of itself", body = OwnAttributesDto), Problems),
    extensions(("x-required-permission" = json!("session")), ("x-problems" = json!(["forbidden"]))),
)]
pub(crate) async fn update_me(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    Call(caller, body): Call<MePatchDto>,
) -> Result<Tagged<OwnAttributesDto>, Problem> {
    let given = SentAttributes::of_new(body.attributes)?;
    let (version, attributes) = iam.users().update_own_attributes_if(&caller, &given, &precondition).await?;
    Ok(Tagged(version, OwnAttributesDto { attributes }))
}

/// List a user's sessions
///
/// A user can always list its own sessions, among them those in which other users act as it. To list those of another
/// user, the caller needs the permission.
#[utoipa::path(
    get,
    path = "/users/{id}/sessions",
    operation_id = "listUserSessions",
    tag = SESSIONS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The live sessions, newest first", body = List<SessionDto>), Problems),
    extensions(("x-required-permission" = json!("sessions:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<Json<List<SessionDto>>, Problem> {
    let current = caller.require_user().ok().map(|(_, session)| session);
    let sessions = iam.sessions().list_with_actors(&caller, user).await?;
    let data = sessions.into_iter().map(|listed| SessionDto::seen_from(listed, current)).collect();
    Ok(Json(List { data }))
}

/// Log a user out everywhere
///
/// Ends all sessions of a user. A user can always end its own sessions. To end those of another user, the caller needs
/// the permission. The session must have authenticated within the last ten minutes. The access tokens of the ended
/// sessions stop working within a second.
#[utoipa::path(
    post,
    path = "/users/{id}/logout-all",
    operation_id = "logoutUser",
    tag = SESSIONS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 204, description = "All sessions of the user have ended"), Problems),
    extensions(("x-required-permission" = json!("sessions:delete")), ("x-problems" = json!(["insufficient-authentication"]))),
)]
pub(crate) async fn logout_user(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<StatusCode, Problem> {
    iam.sessions().logout_user(&caller, user).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End a session
///
/// A user can always end its own sessions, and those in which it acts as another user. To end other sessions of another
/// user, the caller needs the permission. To end another session than that of this request, or one in which the caller
/// acts as another user, the session must have authenticated within the last ten minutes.
#[utoipa::path(
    delete,
    path = "/sessions/{id}",
    operation_id = "deleteSession",
    tag = SESSIONS,
    params(("id" = Uuid, Path, description = "The session")),
    responses((status = 204, description = "The session has ended"), Problems),
    extensions(("x-required-permission" = json!("sessions:delete")), ("x-problems" = json!(["insufficient-authentication"]))),
)]
pub(crate) async fn terminate(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<SessionId>,
) -> Result<StatusCode, Problem> {
    iam.sessions().terminate(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
