//! `/webhooks` (`docs/integrating.md#a-program-is-told-what-happens`).

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use iam_core::secret::WebhookSecret;
use iam_core::webhook::{Delivery, DeliveryStatus, NewWebhook, Webhook, WebhookAnswer, WebhookPatch};
use iam_core::{Iam, UserId, WebhookId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::audit::EventFormatDto;
use crate::conditional::{IfMatch, Tagged};
use crate::description::{Problems, WEBHOOKS};
use crate::event::EventPatternDto;
use crate::extract::{Authenticated, Call, PathId, Whole};
use crate::idempotency::RequestKey;
use crate::page::List;
use crate::problem::Problem;
use crate::time::Time;

/// Sends the events of the tenant to an address.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub(crate) struct WebhookDto {
    id: Uuid,
    url: String,
    types: Vec<String>,
    #[schema(inline)]
    format: EventFormatDto,
    description: String,
    enabled: bool,
    created_at: Time,
    /// The user who made the webhook. Null means the service itself.
    #[schema(required)]
    created_by: Option<Uuid>,
}

/// A webhook with its secret, which is never shown again.
#[derive(Serialize, ToSchema)]
#[schema(as = IssuedWebhook)]
pub(crate) struct IssuedWebhookDto {
    /// The receiver verifies requests with it, by Standard Webhooks. Null in the answer to a repeated request.
    #[schema(required)]
    secret: Option<String>,
    #[serde(flatten)]
    details: WebhookDto,
}

impl From<Webhook> for WebhookDto {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id.as_uuid(),
            url: webhook.url.to_string(),
            types: webhook.types.iter().map(ToString::to_string).collect(),
            format: webhook.format.into(),
            description: webhook.description.into(),
            enabled: webhook.enabled,
            created_at: Time(webhook.created_at),
            created_by: webhook.created_by.map(UserId::as_uuid),
        }
    }
}

impl From<(Webhook, Option<WebhookSecret>)> for IssuedWebhookDto {
    fn from((webhook, secret): (Webhook, Option<WebhookSecret>)) -> Self {
        Self { secret: secret.map(|secret| secret.expose().to_owned()), details: webhook.into() }
    }
}

/// The webhook to make.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewWebhook)]
pub(crate) struct NewWebhookDto {
    /// Begins with `https://`. It must not contain a secret, because the audit log shows it.
    #[serde(default)]
    #[schema(required, max_length = 2_048, pattern = "^https?://")]
    url: String,
    /// The types of the events to send: `USER.CREATE`, or `USER.*` for all actions on a resource type.
    #[serde(default)]
    #[schema(required, min_items = 1, max_items = 100, inline, value_type = Vec<EventPatternDto>)]
    types: Vec<String>,
    /// How it writes them. Absent or null means `native`.
    #[schema(inline)]
    format: Option<EventFormatDto>,
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Whether it sends events from the start. Absent or null means that it does.
    enabled: Option<bool>,
}

impl From<NewWebhookDto> for NewWebhook {
    fn from(body: NewWebhookDto) -> Self {
        Self {
            url: body.url,
            types: body.types,
            format: body.format.map(Into::into).unwrap_or_default(),
            description: body.description.unwrap_or_default(),
            enabled: body.enabled.unwrap_or(true),
        }
    }
}

/// The changes to a webhook. Fields that are absent or null stay unchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WebhookPatch)]
pub(crate) struct WebhookPatchDto {
    /// Begins with `https://`. It must not contain a secret, because the audit log shows it.
    #[schema(max_length = 2_048, pattern = "^https?://")]
    url: Option<String>,
    /// All types of events to send after the change.
    #[schema(min_items = 1, max_items = 100, inline, value_type = Option<Vec<EventPatternDto>>)]
    types: Option<Vec<String>>,
    #[schema(inline)]
    format: Option<EventFormatDto>,
    #[schema(max_length = 500)]
    description: Option<String>,
    /// Whether it sends events. When it is switched on, it continues with the events since it was switched off.
    enabled: Option<bool>,
}

impl From<WebhookPatchDto> for WebhookPatch {
    fn from(WebhookPatchDto { url, types, format, description, enabled }: WebhookPatchDto) -> Self {
        Self { url, types, format: format.map(Into::into), description, enabled }
    }
}

/// What the receiver has answered.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookTest)]
pub(crate) struct WebhookTestDto {
    /// The status code. Null means that there was no answer.
    #[schema(required, minimum = 100, maximum = 599)]
    http_status: Option<u16>,
    /// Why the receiver has not accepted the event. Null means that it has.
    #[schema(required)]
    error: Option<String>,
    /// How long the request took, in milliseconds.
    duration_ms: u32,
}

impl From<WebhookAnswer> for WebhookTestDto {
    fn from(answer: WebhookAnswer) -> Self {
        Self { http_status: answer.http_status, error: answer.error, duration_ms: answer.duration_ms }
    }
}

/// An event that a webhook has sent, or could not send yet.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub(crate) struct DeliveryDto {
    /// The entry of the audit log, and the header `webhook-id` of each attempt.
    id: Uuid,
    /// The number of the event in the log.
    sequence: u64,
    r#type: String,
    /// How often the event was sent.
    attempt: u32,
    status: DeliveryStatusDto,
    /// The status code of the last answer. Null means that there was no answer.
    #[schema(required, minimum = 100, maximum = 599)]
    http_status: Option<u16>,
    /// Why the last attempt failed. Null means that it did not.
    #[schema(required)]
    error: Option<String>,
    /// When the last attempt began.
    started_at: Time,
    /// How long the last attempt took, in milliseconds.
    duration_ms: u32,
    /// When the next attempt is due. Null means that none follows.
    #[schema(required)]
    next_attempt_at: Option<Time>,
}

/// The state of a delivery: the receiver has accepted the event, no attempt follows, or another attempt follows.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schema(as = DeliveryStatus)]
pub(crate) enum DeliveryStatusDto {
    Delivered,
    Failed,
    Pending,
}

impl From<DeliveryStatus> for DeliveryStatusDto {
    fn from(status: DeliveryStatus) -> Self {
        match status {
            DeliveryStatus::Delivered => Self::Delivered,
            DeliveryStatus::Failed => Self::Failed,
            DeliveryStatus::Pending => Self::Pending,
        }
    }
}

impl From<Delivery> for DeliveryDto {
    fn from(delivery: Delivery) -> Self {
        Self {
            id: delivery.entry_id.as_uuid(),
            sequence: delivery.sequence,
            r#type: delivery.event_type,
            attempt: delivery.attempt,
            status: delivery.status.into(),
            http_status: delivery.http_status,
            error: delivery.error,
            started_at: Time(delivery.started_at),
            duration_ms: delivery.duration_ms,
            next_attempt_at: delivery.next_attempt_at.map(Time),
        }
    }
}

/// Where to begin again.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WebhookReplay)]
pub(crate) struct ReplayDto {
    /// The number of the first event to send again.
    #[serde(default)]
    #[schema(required, value_type = u64, minimum = 1)]
    from_sequence: Whole<u64>,
}

/// List the webhooks
///
/// Newest first. A tenant has 20 webhooks at most.
#[utoipa::path(
    get,
    path = "/webhooks",
    operation_id = "listWebhooks",
    tag = WEBHOOKS,
    responses((status = 200, description = "The webhooks", body = List<WebhookDto>), Problems),
    extensions(("x-required-permission" = json!("webhooks:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<List<WebhookDto>>, Problem> {
    let webhooks = iam.webhooks().list(&caller).await?;
    Ok(Json(List { data: webhooks.into_iter().map(WebhookDto::from).collect() }))
}

/// Make a webhook
///
/// It sends the events from now on, each one at least once, in the order of the log until one fails. The response has
/// the secret, which is never shown again. The caller needs `audit-logs:read`, too, because the receiver gets entries
/// of the audit log. The webhook belongs to the tenant: it sends events until it is removed or switched off. A tenant
/// has 20 webhooks at most.
///
/// With the format `native`, a request has the entry in `data`, beside its `type` and its `timestamp`. With `ocsf`, its
/// body is the entry as an event of the Open Cybersecurity Schema Framework 1.6.0.
#[utoipa::path(
    post,
    path = "/webhooks",
    operation_id = "createWebhook",
    tag = WEBHOOKS,
    request_body = NewWebhookDto,
    responses((status = 201, description = "The new webhook", body = IssuedWebhookDto), Problems),
    extensions(
        ("x-required-permission" = json!("webhooks:create")),
        ("x-problems" = json!(["conflict"])),
    ),
)]
pub(crate) async fn create(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewWebhookDto>,
) -> Result<(StatusCode, Json<IssuedWebhookDto>), Problem> {
    let issued = iam.webhooks().create_once(&caller, body.into(), key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(issued.into())))
}

/// Get a webhook
///
/// Its secret is not shown.
#[utoipa::path(
    get,
    path = "/webhooks/{id}",
    operation_id = "getWebhook",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    responses((status = 200, description = "The webhook", body = WebhookDto), Problems),
    extensions(("x-required-permission" = json!("webhooks:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
) -> Result<Tagged<WebhookDto>, Problem> {
    let webhook = iam.webhooks().get(&caller, id).await?;
    Ok(Tagged(webhook.version, webhook.into()))
}

/// Change a webhook
///
/// To change the address or the types, or to switch the webhook on, the caller needs `audit-logs:read`, too.
#[utoipa::path(
    patch,
    path = "/webhooks/{id}",
    operation_id = "updateWebhook",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    request_body = WebhookPatchDto,
    responses((status = 200, description = "The changed webhook", body = WebhookDto), Problems),
    extensions(("x-required-permission" = json!("webhooks:update"))),
)]
pub(crate) async fn update(
    State(iam): State<Iam>,
    _: Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<WebhookId>,
    Call(caller, body): Call<WebhookPatchDto>,
) -> Result<Tagged<WebhookDto>, Problem> {
    let webhook = iam.webhooks().update_if(&caller, id, body.into(), &precondition).await?;
    Ok(Tagged(webhook.version, webhook.into()))
}

/// Remove a webhook
///
/// Its deliveries are removed, too. An attempt in progress is not cancelled.
#[utoipa::path(
    delete,
    path = "/webhooks/{id}",
    operation_id = "deleteWebhook",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    responses((status = 204, description = "The webhook is removed"), Problems),
    extensions(("x-required-permission" = json!("webhooks:delete"))),
)]
pub(crate) async fn delete(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    IfMatch(precondition): IfMatch,
    PathId(id): PathId<WebhookId>,
) -> Result<StatusCode, Problem> {
    iam.webhooks().delete_if(&caller, id, &precondition).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Rotate the secret of a webhook
///
/// The response has the new secret, which is never shown again. For 24 hours, requests are signed with the former
/// secret, too.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/rotate-secret",
    operation_id = "rotateWebhookSecret",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    responses((status = 200, description = "The webhook with its new secret", body = IssuedWebhookDto), Problems),
    extensions(("x-required-permission" = json!("webhooks:update"))),
)]
pub(crate) async fn rotate_secret(
    State(iam): State<Iam>,
    RequestKey(key): RequestKey,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<IssuedWebhookDto>, Problem> {
    Ok(Json(iam.webhooks().rotate_secret_once(&caller, id, key.as_ref()).await?.into()))
}

/// Test a webhook
///
/// Sends an event of the type `WEBHOOK.TEST`, which is not in the log, and shows what the receiver has answered. A
/// webhook that is switched off can be tested, too. A tenant makes four tests at the same time at most.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/test",
    operation_id = "testWebhook",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    responses((status = 200, description = "The answer of the receiver", body = WebhookTestDto), Problems),
    extensions(("x-required-permission" = json!("webhooks:update"))),
)]
pub(crate) async fn test(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<WebhookTestDto>, Problem> {
    Ok(Json(iam.webhooks().test(&caller, id).await?.into()))
}

/// List the deliveries of a webhook
///
/// The newest 200, by the last attempt. Those that have ended are removed after seven days.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/deliveries",
    operation_id = "listDeliveries",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    responses((status = 200, description = "The deliveries", body = List<DeliveryDto>), Problems),
    extensions(("x-required-permission" = json!("webhooks:read"))),
)]
pub(crate) async fn deliveries(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<WebhookId>,
) -> Result<Json<List<DeliveryDto>>, Problem> {
    let deliveries = iam.webhooks().deliveries(&caller, id).await?;
    Ok(Json(List { data: deliveries.into_iter().map(DeliveryDto::from).collect() }))
}

/// Send events again
///
/// The webhook sends the events again from this one on. The caller needs `audit-logs:read`, too, because the receiver
/// gets entries of the audit log. If retention has removed it, the response is 410, and
/// `firstSequence` is the number of the first event that is left.
#[utoipa::path(
    post,
    path = "/webhooks/{id}/replay",
    operation_id = "replayWebhook",
    tag = WEBHOOKS,
    params(("id" = Uuid, Path, description = "The webhook")),
    request_body = ReplayDto,
    responses((status = 202, description = "The events are sent again"), Problems),
    extensions(
        ("x-required-permission" = json!("webhooks:update")),
        ("x-problems" = json!(["gone"])),
    ),
)]
pub(crate) async fn replay(
    State(iam): State<Iam>,
    _: Authenticated,
    PathId(id): PathId<WebhookId>,
    Call(caller, body): Call<ReplayDto>,
) -> Result<StatusCode, Problem> {
    let Whole(from) = body.from_sequence;
    iam.webhooks().replay(&caller, id, from).await?;
    Ok(StatusCode::ACCEPTED)
}
