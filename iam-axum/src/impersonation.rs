//! `/users/{id}/impersonations`, and who acts in a session (`docs/http-api.md#acting-as-another`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::secret::AccessToken;
use iam_core::session::{NewImpersonation, StartedImpersonation};
use iam_core::user::User;
use iam_core::{Iam, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::description::{Problems, SESSIONS};
use crate::extract::{Authenticated, Call, PathId, Whole};
use crate::idempotency::RequestKey;
use crate::problem::Problem;
use crate::time::Time;

/// A user who acts as another one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Actor)]
pub(crate) struct ActorDto {
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
}

impl From<User> for ActorDto {
    fn from(user: User) -> Self {
        Self {
            id: user.id.as_uuid(),
            email: user.email.into(),
            first_name: user.first_name.into(),
            last_name: user.last_name.into(),
        }
    }
}

/// How to act as another user.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewImpersonation)]
pub(crate) struct NewImpersonationDto {
    /// Why. The other user and the audit log see it.
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 500)]
    reason: String,
    /// For how many seconds at most.
    #[serde(default)]
    #[schema(required, value_type = u32, minimum = 60, maximum = 3_600)]
    seconds: Whole<u32>,
    /// Whether nothing can be changed. Absent or null means that nothing can.
    read_only: Option<bool>,
}

/// A session in which a user acts as another one.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Impersonation)]
pub(crate) struct ImpersonationDto {
    /// The session, which `DELETE /sessions/{id}` ends.
    session_id: Uuid,
    /// The user of the session.
    user_id: Uuid,
    /// The user who acts in it.
    actor_id: Uuid,
    /// Why.
    reason: String,
    /// Whether nothing can be changed in it.
    read_only: bool,
    created_at: Time,
    /// When it ends at the latest.
    expires_at: Time,
    /// A signed JWT (RFC 7519) with the claim `act` (RFC 8693). Send it as `Authorization: Bearer …`. Null in the
    /// answer to a repeated request.
    #[schema(required)]
    access_token: Option<String>,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    token_type: &'static str,
    /// How many seconds the access token is valid. It cannot be refreshed.
    #[schema(example = 900)]
    expires_in: u64,
}

impl From<(StartedImpersonation, Option<AccessToken>)> for ImpersonationDto {
    fn from((started, token): (StartedImpersonation, Option<AccessToken>)) -> Self {
        Self {
            session_id: started.session_id.as_uuid(),
            user_id: started.user_id.as_uuid(),
            actor_id: started.actor_id.as_uuid(),
            reason: started.reason.into(),
            read_only: started.read_only,
            created_at: Time(started.created_at),
            expires_at: Time(started.expires_at),
            access_token: token.map(|token| token.expose().to_owned()),
            token_type: "Bearer",
            expires_in: u64::try_from((started.expires_at - started.created_at).num_seconds()).unwrap_or_default(),
        }
    }
}

/// Act as another user
///
/// Begins a session of the user, in which the caller acts as that user, and which cannot be refreshed. The caller needs
/// everything that the user may do, also at each request of the session. The user must be a person and must not hold
/// all permissions; it is told by mail, and sees the session among its own. The session ends with the caller's. It is
/// never fresh, and cannot change how the user logs in, or give rights. Every entry of the audit log names both. The
/// caller's session must have authenticated within the last ten minutes.
#[utoipa::path(
    post,
    path = "/users/{id}/impersonations",
    operation_id = "createImpersonation",
    tag = SESSIONS,
    params(("id" = Uuid, Path, description = "The user to act as")),
    request_body = NewImpersonationDto,
    responses((status = 201, description = "The session, with its access token", body = ImpersonationDto), Problems),
    extensions(
        ("x-required-permission" = json!("impersonations:create")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    _: Authenticated,
    PathId(user): PathId<UserId>,
    Call(caller, body): Call<NewImpersonationDto>,
) -> Result<(StatusCode, Json<ImpersonationDto>), Problem> {
    let new = NewImpersonation {
        reason: body.reason,
        duration: TimeDelta::seconds(body.seconds.0.into()),
        read_only: body.read_only.unwrap_or(true),
    };
    let started = iam.sessions().impersonate_once(&caller, user, new, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(started.into())))
}
