//! `/users/{id}/api-keys` and `/api-keys` (`docs/http-api.md#api-keys`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::TimeDelta;
use iam_core::api_key::{ApiKey, ApiKeyPatch, NewApiKey};
use iam_core::permission::PermissionSet;
use iam_core::secret::ApiKeyToken;
use iam_core::{ApiKeyId, Iam, OrganizationId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::conditional::{IfMatch, Tagged};
use crate::description::{API_KEYS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Whole};
use crate::idempotency::RequestKey;
use crate::page::List;
use crate::problem::Problem;
use crate::role::PermissionPatternDto;
use crate::time::{Time, moment};

/// A key by which a program acts as a user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey)]
pub(crate) struct ApiKeyDto {
    id: Uuid,
    user_id: Uuid,
    name: String,
    /// The beginning of the key, which is no secret.
    prefix: String,
    /// The only permissions of the key, as far as its user holds them. Null means all permissions of its user.
    #[schema(required)]
    permissions: Option<Vec<String>>,
    /// The organization in which, and below which, the key has its permissions. Null means everywhere.
    #[schema(required)]
    organization_id: Option<Uuid>,
    expires_at: Time,
    created_at: Time,
    /// The user who made the key. Null means the service itself.
    #[schema(required)]
    created_by: Option<Uuid>,
    /// When a request was last made with the key, up to an hour too early. Null means never.
    #[schema(required)]
    last_used_at: Option<Time>,
}

/// A key with its text, which is never shown again.
#[derive(Serialize, ToSchema)]
#[schema(as = IssuedApiKey)]
pub(crate) struct IssuedApiKeyDto {
    /// Send it as `Authorization: Bearer …`. Null in the answer to a repeated request.
    #[schema(required)]
    key: Option<String>,
    #[serde(flatten)]
    details: ApiKeyDto,
}

impl ApiKeyDto {
    fn new(iam: &Iam, key: ApiKey) -> Self {
        let texts = |set: PermissionSet| set.iter().map(|pattern| pattern.as_str().to_owned()).collect();
        Self {
            id: key.id.as_uuid(),
            user_id: key.user_id.as_uuid(),
            name: key.name.into(),
            prefix: iam.api_keys().prefix(key.id),
            permissions: key.permissions.map(texts),
            organization_id: key.organization_id.map(OrganizationId::as_uuid),
            expires_at: Time(key.expires_at),
            created_at: Time(key.created_at),
            created_by: key.created_by.map(UserId::as_uuid),
            last_used_at: key.last_used_at.map(Time),
        }
    }
}

impl IssuedApiKeyDto {
    fn new(iam: &Iam, (key, token): (ApiKey, Option<ApiKeyToken>)) -> Self {
        Self { key: token.map(|token| token.expose().to_owned()), details: ApiKeyDto::new(iam, key) }
    }
}

/// The key to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewApiKey)]
pub(crate) struct NewApiKeyDto {
    #[serde(default)]
    #[schema(required, min_length = 1, max_length = 120)]
    name: String,
    /// The only permissions of the key: permissions, `<resource>:*`, or `*`. Those that its user does not hold give
    /// nothing until it does. Absent or null means all permissions of its user, which only the user itself can give to
    /// a key.
    #[schema(max_items = 1_000, inline, value_type = Option<Vec<PermissionPatternDto>>)]
    permissions: Option<Vec<String>>,
    /// The organization in which, and below which, the key has its permissions. Absent or null means everywhere.
    #[schema(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// At most 365 days from now. Absent or null means 90 days from now.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

/// The changes to a key, which only make it narrower. Fields that are absent or null stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApiKeyPatch)]
pub(crate) struct ApiKeyPatchDto {
    #[schema(min_length = 1, max_length = 120)]
    name: Option<String>,
    /// Permissions that the present ones cover.
    #[schema(max_items = 1_000, inline, value_type = Option<Vec<PermissionPatternDto>>)]
    permissions: Option<Vec<String>>,
    /// Not later than the present expiry.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<String>,
}

/// How to replace the secret of a key.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApiKeyRotation)]
pub(crate) struct RotationDto {
    /// For how many seconds the former key is still accepted: none if it is absent.
    #[serde(default)]
    #[schema(value_type = u32, minimum = 0, maximum = 86_400)]
    overlap_seconds: Whole<u32>,
}

/// List a user's API keys
///
/// Shows expired keys, too, newest first. A user can always list its own keys in a session. To list those of another
/// user, the caller needs the permission.
#[utoipa::path(
    get,
    path = "/users/{id}/api-keys",
    operation_id = "listApiKeys",
    tag = API_KEYS,
    params(("id" = Uuid, Path, description = "The user")),
    responses((status = 200, description = "The keys", body = List<ApiKeyDto>), Problems),
    extensions(("x-required-permission" = json!("api-keys:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(user): PathId<UserId>,
) -> Result<Json<List<ApiKeyDto>>, Problem> {
    let keys = iam.api_keys().list(&caller, user).await?;
    Ok(Json(List { data: keys.into_iter().map(|key| ApiKeyDto::new(&iam, key)).collect() }))
}

/// Make an API key
///
/// The response has the key, which is never shown again. At each request, the key may do what its user may do at that
/// moment, and no more than its own permissions, in its own organization. It cannot log in, change passwords or second
/// factors, or make keys. The session must have authenticated within the last ten minutes. A user needs no permission for
/// its own keys. The key of another user names its permissions, and the caller must hold each of them itself, there and
/// as long as the key lasts, whether or not the user holds it. A person is told of a new key by mail. A user has 20 keys
/// at most.
#[utoipa::path(
    post,
    path = "/users/{id}/api-keys",
    operation_id = "createApiKey",
    tag = API_KEYS,
    params(("id" = Uuid, Path, description = "The user")),
    request_body = NewApiKeyDto,
    responses((status = 201, description = "The new key", body = IssuedApiKeyDto), Problems),
    extensions(
        ("x-required-permission" = json!("api-keys:create")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    _: Authenticated,
    PathId(user): PathId<UserId>,
    Call(caller, body): Call<NewApiKeyDto>,
) -> Result<(StatusCode, Json<IssuedApiKeyDto>), Problem> {
    let mut params = Params::default();
    let organization = params.parse("organizationId", body.organization_id.as_deref());
    let expires_at = params.parse_with("expiresAt", body.expires_at.as_deref(), moment);
    params.finish()?;
    let new = NewApiKey { name: body.name, permissions: body.permissions, organization, expires_at };
    let issued = iam.api_keys().create_once(&caller, user, new, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(IssuedApiKeyDto::new(&iam, issued))))
}

/// Get an API key
///
/// A user can always read its own keys in a session. To read that of another user, the caller needs the permission.
#[utoipa::path(
    get,
    path = "/api-keys/{id}",
    operation_id = "getApiKey",
    tag = API_KEYS,
    params(("id" = Uuid, Path, description = "The key")),
    responses((status = 200, description = "The key", body = ApiKeyDto), Problems),
    extensions(("x-required-permission" = json!("api-keys:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<ApiKeyId>,
) -> Result<Tagged<ApiKeyDto>, Problem> {
    let key = iam.api_keys().get(&caller, id).await?;
    Ok(Tagged(key.version, ApiKeyDto::new(&iam, key)))
}

/// Change an API key
///
/// A key can get another name, fewer permissions and an earlier expiry. A user changes its own keys in a session that
/// has authenticated within the last ten minutes. To change that of another user, the caller needs the permission, and
/// must hold the permissions that the key then has, there and as long as it lasts.
#[utoipa::path(
    patch,
    path = "/api-keys/{id}",
    operation_id = "updateApiKey",
    tag = API_KEYS,
    params(("id" = Uuid, Path, description = "The key")),
    request_body = ApiKeyPatchDto,
    responses((status = 200, description = "The changed key", body = ApiKeyDto), Problems),
    extensions(
        ("x-required-permission" = json!("api-keys:update")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<ApiKeyId>,
    Call(caller, body): Call<ApiKeyPatchDto>,
) -> Result<Tagged<ApiKeyDto>, Problem> {
    let mut params = Params::default();
    let expires_at = params.parse_with("expiresAt", body.expires_at.as_deref(), moment);
    params.finish()?;
    let patch = ApiKeyPatch { name: body.name, permissions: body.permissions, expires_at };
    let key = iam.api_keys().update_if(&caller, id, patch, &precondition).await?;
    Ok(Tagged(key.version, ApiKeyDto::new(&iam, key)))
}

/// Rotate an API key
///
/// The key gets a new secret and keeps its id. The response has the new text of the key, which is never shown again.
/// The former one is accepted for some time, if the request says so. The session must have authenticated within the last
/// ten minutes. To rotate the key of another user, the caller needs the permission, and must hold the permissions of the
/// key, there and as long as it lasts.
#[utoipa::path(
    post,
    path = "/api-keys/{id}/rotate",
    operation_id = "rotateApiKey",
    tag = API_KEYS,
    params(("id" = Uuid, Path, description = "The key")),
    request_body = RotationDto,
    responses((status = 200, description = "The key with its new text", body = IssuedApiKeyDto), Problems),
    extensions(
        ("x-required-permission" = json!("api-keys:update")),
        ("x-problems" = json!(["conflict", "insufficient-authentication"])),
    ),
)]
pub(crate) async fn rotate(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    _: Authenticated,
    PathId(id): PathId<ApiKeyId>,
    Call(caller, body): Call<RotationDto>,
) -> Result<Json<IssuedApiKeyDto>, Problem> {
    let overlap = TimeDelta::seconds(body.overlap_seconds.0.into());
    let issued = iam.api_keys().rotate_once(&caller, id, overlap, key.as_ref()).await?;
    Ok(Json(IssuedApiKeyDto::new(&iam, issued)))
}

/// Revoke an API key
///
/// The key is refused at once by the replica that revokes it, and within a second by all others. A user revokes its own
/// keys in a session that has authenticated within the last ten minutes. To revoke that of another user, the caller
/// needs the permission.
#[utoipa::path(
    delete,
    path = "/api-keys/{id}",
    operation_id = "deleteApiKey",
    tag = API_KEYS,
    params(("id" = Uuid, Path, description = "The key")),
    responses((status = 204, description = "The key is revoked"), Problems),
    extensions(
        ("x-required-permission" = json!("api-keys:delete")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<ApiKeyId>,
) -> Result<StatusCode, Problem> {
    iam.api_keys().delete(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
