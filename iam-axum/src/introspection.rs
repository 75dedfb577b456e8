//! `POST /auth/introspect` (RFC 7662, `docs/http-api.md#introspection`).

use std::borrow::Cow;

use axum::Json;
use axum::extract::State;
use iam_core::{Iam, IntrospectedToken, Introspection};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{AUTHENTICATION, Problems};
use crate::extract::CallWithForm;
use crate::problem::Problem;

/// The token to introspect.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = IntrospectionRequest)]
pub(crate) struct IntrospectionRequest {
    /// An access token or an API key.
    #[serde(default)]
    #[schema(required, min_length = 1)]
    token: String,
    /// The kind that the client expects. It makes no difference: a token says itself what it is.
    #[serde(default, rename = "token_type_hint")]
    #[expect(dead_code, reason = "RFC 7662 §2.1 lets a server ignore it")]
    token_type_hint: Option<String>,
}

/// What a token is. If it is not active, the other members are absent.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Introspection)]
pub(crate) struct IntrospectionDto {
    /// Whether this service accepts the token at this moment.
    active: bool,
    /// How the token is sent: always `Bearer`.
    #[serde(rename = "token_type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Bearer")]
    token_type: Option<&'static str>,
    /// The user for whom the token acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sub: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    tenant_id: Option<Uuid>,
    /// Who has issued the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    iss: Option<String>,
    /// When the token was issued, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    iat: Option<i64>,
    /// From when on the token is refused, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    exp: Option<i64>,
    /// For whom an access token is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    aud: Option<String>,
    /// Identifies an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    jti: Option<Uuid>,
    /// The session of an access token.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sid: Option<Uuid>,
    /// By which methods the user of an access token has authenticated (RFC 8176).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<Vec<String>>)]
    amr: Option<Vec<Cow<'static, str>>>,
    /// When the user of an access token has authenticated last, in seconds since 1970.
    #[serde(rename = "auth_time", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    auth_time: Option<i64>,
    /// The user who acts as `sub` (RFC 8693, section 4.1). Absent if `sub` itself does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    act: Option<ActingParty>,
    /// Whether nothing may be changed by the token. Absent without `act`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    read_only: Option<bool>,
    /// The attributes of the user in an access token. Absent if it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<BTreeMap<String, Value>>)]
    attributes: Option<Map<String, Value>>,
    /// True if attributes are left out of the access token because they do not fit. Otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    attributes_truncated: Option<bool>,
    /// Identifies an API key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    api_key_id: Option<Uuid>,
}

/// The user who acts as the subject of a token.
#[derive(Serialize, ToSchema)]
pub(crate) struct ActingParty {
    /// The id of the user.
    sub: Uuid,
}

impl From<Introspection> for IntrospectionDto {
    fn from(introspection: Introspection) -> Self {
        let common = Self {
            active: true,
            token_type: Some("Bearer"),
            sub: Some(introspection.user.as_uuid()),
            tenant_id: Some(introspection.tenant.as_uuid()),
            iss: Some(introspection.issuer),
            iat: Some(introspection.issued_at.timestamp()),
            exp: Some(introspection.expires_at.timestamp()),
            ..Self::default()
        };
        match introspection.token {
            IntrospectedToken::Access {
                id,
                session,
                audience,
                methods,
                authenticated_at,
                impersonator,
                is_read_only,
                attributes,
                attributes_truncated,
                ..
            } => Self {
                aud: Some(audience),
                jti: Some(id.as_uuid()),
                sid: Some(session.as_uuid()),
                amr: Some(methods),
                auth_time: Some(authenticated_at.timestamp()),
                act: impersonator.map(|user| ActingParty { sub: user.as_uuid() }),
                read_only: impersonator.map(|_| is_read_only),
                attributes,
                attributes_truncated: attributes_truncated.then_some(true),
                ..common
            },
            IntrospectedToken::ApiKey { id, .. } => Self { api_key_id: Some(id.as_uuid()), ..common },
            _ => common,
        }
    }
}

/// Introspect a token
///
/// Tells a service that cannot verify tokens itself, or wants to know of ended sessions, what a token is (RFC 7662).
/// The answer is `{"active": false}` for everything that is not a live access token or API key of the caller's tenant,
/// a refresh token too. The caller needs the permission in the whole tenant.
#[utoipa::path(
    post,
    path = "/auth/introspect",
    operation_id = "introspect",
    tag = AUTHENTICATION,
    request_body(content(
        (IntrospectionRequest = "application/json"),
        (IntrospectionRequest = "application/x-www-form-urlencoded"),
    )),
    responses((status = 200, description = "What the token is", body = IntrospectionDto), Problems),
    extensions(("x-required-permission" = json!("sessions:read"))),
)]
pub(crate) async fn introspect(
    State(iam): State<Iam>,
    CallWithForm(caller, body): CallWithForm<IntrospectionRequest>,
) -> Result<Json<IntrospectionDto>, Problem> {
    if body.token.is_empty() {
        return Err(Problem::invalid_field("token", "is required"));
    }
    let introspection = iam.introspect(&caller, &body.token).await?;
    Ok(Json(introspection.map(IntrospectionDto::from).unwrap_or_default()))
}
