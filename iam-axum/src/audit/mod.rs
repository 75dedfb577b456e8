//! `/audit-logs` (`docs/http-api.md#the-audit-log-over-http`): reads entries and records the events of an application.

pub(crate) mod erasure;
pub(crate) mod export;
mod format;
mod metadata;
pub(crate) mod proof;
pub(crate) mod retention;

use std::num::NonZeroU32;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_core::audit::{AuditEntry, AuditFilter, AuditPage, Cursor, NewEvent, Recorded};
use iam_core::{AuditEntryId, Iam, permission};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

pub(crate) use crate::audit::format::EventFormatDto;
use crate::audit::metadata::Metadata;
pub(crate) use crate::audit::metadata::has_exact_numbers;
use crate::description::{AUDIT_LOGS, Problems};
use crate::extract::{Authenticated, Call, Params, PathId, Query};
use crate::idempotency::RequestKey;
use crate::long::json;
use crate::page::{List, page_request};
use crate::problem::Problem;
use crate::rate_limit::Limited;
use crate::rate_limiting::charge;
use crate::state::ApiState;
use crate::time::{DateOrMoment, Time, end_of, start_of};

/// An entry of the audit log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub(crate) struct AuditEntryDto {
    id: Uuid,
    tenant_id: Uuid,
    #[schema(example = "UPDATE")]
    action: String,
    #[schema(example = "USER")]
    resource_type: String,
    /// Null for a failed login.
    #[schema(required)]
    resource_id: Option<String>,
    /// The acting user; null for the service itself and for a failed login.
    #[schema(required)]
    user_id: Option<Uuid>,
    /// The previous values, of the changed fields only.
    #[schema(required, value_type = Option<BTreeMap<String, Value>>)]
    old_value: Option<Map<String, Value>>,
    /// The new values, of the changed fields only.
    #[schema(required, value_type = Option<BTreeMap<String, Value>>)]
    new_value: Option<Map<String, Value>>,
    #[schema(value_type = BTreeMap<String, Value>)]
    metadata: Map<String, Value>,
    #[schema(required)]
    correlation_id: Option<String>,
    #[schema(required)]
    ip_address: Option<String>,
    #[schema(required)]
    user_agent: Option<String>,
    created_at: Time,
}

impl From<AuditEntry> for AuditEntryDto {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id.as_uuid(),
            tenant_id: entry.tenant_id.as_uuid(),
            action: entry.action.into_owned(),
            resource_type: entry.resource_type.as_str().to_owned(),
            resource_id: entry.resource_id,
            user_id: entry.user_id.map(iam_core::UserId::as_uuid),
            old_value: entry.old_value,
            new_value: entry.new_value,
            metadata: entry.metadata,
            correlation_id: entry.context.correlation_id.map(|id| id.as_str().to_owned()),
            ip_address: entry.context.ip_address.map(|address| address.to_string()),
            user_agent: entry.context.user_agent.map(|agent| agent.as_str().to_owned()),
            created_at: Time(entry.created_at),
        }
    }
}

/// A page of the audit log, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditLog {
    data: Vec<AuditEntryDto>,
    pagination: CursorPagination,
}

/// Where the next page starts.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CursorPagination {
    /// How many entries a page holds at most.
    limit: u32,
    /// Whether older entries follow.
    has_next: bool,
    /// To get the older entries, send this value as `cursor`. Null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Which entries to show.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Entries about this resource type. `GET /audit-logs/catalogue` lists all types; another one finds nothing.
    resource_type: Option<String>,
    /// Entries about the resource with this id.
    resource_id: Option<String>,
    /// Entries with this action. `GET /audit-logs/catalogue` lists all actions; another one finds nothing.
    action: Option<String>,
    /// Entries of actions by this user.
    #[param(value_type = Option<Uuid>)]
    user_id: Option<String>,
    /// Entries about this organization or about role assignments in it.
    #[param(value_type = Option<Uuid>)]
    organization_id: Option<String>,
    /// Entries from the request with this correlation id.
    #[param(min_length = 1, max_length = 128, pattern = "^[!-~]+$")]
    correlation_id: Option<String>,
    // No examples: Swagger UI would send them, and an empty list would answer.
    /// Entries of this UTC day (`2026-01-31`) or of this moment (`2026-01-31T09:15:00.123Z`), or later.
    #[param(value_type = Option<DateOrMoment>, inline)]
    start_date: Option<String>,
    /// Entries of this UTC day or of this moment, or earlier.
    #[param(value_type = Option<DateOrMoment>, inline)]
    end_date: Option<String>,
    /// Entries that are older than this position: the `nextCursor` of a page, or the `cursor` of an exported entry.
    cursor: Option<String>,
}

impl AuditQuery {
    /// Returns the filter and the position to start from. `params` collects the errors, together with those of the
    /// other parameters.
    fn parse(self, params: &mut Params) -> (AuditFilter, Option<Cursor>) {
        let cursor = params.parse("cursor", self.cursor.as_deref());
        let filter = AuditFilter {
            action: self.action,
            resource_type: self.resource_type,
            resource_id: self.resource_id,
            user_id: params.parse("userId", self.user_id.as_deref()),
            organization_id: params.parse("organizationId", self.organization_id.as_deref()),
            correlation_id: params.parse("correlationId", self.correlation_id.as_deref()),
            from: params.parse_with("startDate", self.start_date.as_deref(), start_of),
            until: params.parse_with("endDate", self.end_date.as_deref(), end_of),
        };
        (filter, cursor)
    }
}

/// How much of the log to show.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditLimit {
    /// How many entries a page holds at most.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100, default = 20)]
    limit: Option<String>,
}

/// List audit entries
///
/// Returns a page of entries, newest first. To get the next page, send the `nextCursor` of this page as `cursor`.
#[utoipa::path(
    get,
    path = "/audit-logs",
    operation_id = "listAuditLogs",
    tag = AUDIT_LOGS,
    params(AuditQuery, AuditLimit),
    responses((status = 200, description = "A page of entries", body = AuditLog), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(query): Query<AuditQuery>,
    Query(AuditLimit { limit }): Query<AuditLimit>,
) -> Result<Response, Problem> {
    let mut params = Params::default();
    let (filter, cursor) = query.parse(&mut params);
    let page = page_request(&mut params, None, limit.as_deref());
    params.finish()?;
    let AuditPage { entries, next, .. } = iam.audit().list(&caller, filter, cursor, page.limit()).await?;
    let pagination = CursorPagination {
        limit: page.limit(),
        has_next: next.is_some(),
        next_cursor: next.map(|cursor| cursor.to_string()),
    };
    let size = entries.iter().map(AuditEntry::size).sum();
    let data = move || AuditLog { data: entries.into_iter().map(AuditEntryDto::from).collect(), pagination };
    json(&iam, &caller, size, data).await
}

/// Get an audit entry
///
/// The entry shows the values before and after the change, without secrets.
#[utoipa::path(
    get,
    path = "/audit-logs/{id}",
    operation_id = "getAuditLog",
    tag = AUDIT_LOGS,
    params(("id" = Uuid, Path, description = "The entry")),
    responses((status = 200, description = "The entry", body = AuditEntryDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    PathId(id): PathId<AuditEntryId>,
) -> Result<Json<AuditEntryDto>, Problem> {
    Ok(Json(iam.audit().get(&caller, id).await?.into()))
}

/// An event of an application.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAuditEvent)]
pub(crate) struct NewEventDto {
    /// What happened.
    #[serde(default)]
    #[schema(required, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "INVOICE_SENT")]
    action: String,
    /// The type of the resource to which it happened.
    #[serde(default)]
    #[schema(required, pattern = "^[A-Z][A-Z0-9_]{0,63}$", example = "INVOICE")]
    resource_type: String,
    /// The id of the resource, which need not be a UUID.
    #[schema(max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", example = "2026-0017")]
    resource_id: Option<String>,
    /// Any other information: at most 16 KiB, 500 values and 120 levels. Fields with the name of a secret (`password`,
    /// `token`, …) are redacted at any depth. A number that a 64-bit floating-point number cannot keep exactly is refused,
    /// and so are the fields `apiKeyId` and `system`, which the service itself writes.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    metadata: Option<Metadata>,
}

/// Record an event
///
/// Records an event of an application, in addition to the entries that the service itself records. The service's own
/// entries cannot be forged: its actions on its own resource types, as the catalogue lists them, are refused (400).
/// On any resource type, LOGIN, LOGOUT, LOGIN_FAILURE, TOKEN_REFRESH, PASSWORD_CHANGE, ROLE_ASSIGNED, ROLE_REVOKED,
/// USER_SUSPENDED, USER_REACTIVATED, SUSPEND, REACTIVATE and ERASE are refused, too.
#[utoipa::path(
    post,
    path = "/audit-logs",
    operation_id = "createAuditLog",
    tag = AUDIT_LOGS,
    request_body = NewEventDto,
    responses((status = 201, description = "The new entry", body = AuditEntryDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:create"))),
)]
pub(crate) async fn create(
    State(state): State<ApiState>,
    RequestKey(key): RequestKey,
    Call(caller, body): Call<NewEventDto>,
) -> Result<(StatusCode, Json<AuditEntryDto>), Problem> {
    let ApiState { iam, settings, .. } = &state;
    // Before the event is counted: only callers with the permission use up the tenant's limit.
    iam.access().require(&caller, permission::AUDIT_LOGS_CREATE, None).await?;
    let NewEventDto { action, resource_type, resource_id, metadata } = body;
    let kib = metadata.as_ref().map_or(NonZeroU32::MIN, Metadata::kib);
    charge(settings, Limited::Events(caller.tenant()), kib).await?;
    let metadata = metadata.map(|metadata| metadata.read()).transpose()?.unwrap_or_default();
    let event = NewEvent { action, resource_type, resource_id, metadata };
    let entry = iam.audit().log_once(&caller, event, key.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(entry.into())))
}

/// List the resource types
///
/// Returns the resource types of the commonest entries. `GET /audit-logs/catalogue` lists all of them.
#[utoipa::path(
    get,
    path = "/audit-logs/resource-types",
    operation_id = "listAuditResourceTypes",
    tag = AUDIT_LOGS,
    responses((status = 200, description = "The resource types", body = Vec<String>), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn resource_types(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<&'static [&'static str]>, Problem> {
    Ok(Json(iam.audit().resource_types(&caller)?))
}

/// List the actions
///
/// Returns the commonest actions. `GET /audit-logs/catalogue` lists all of them.
#[utoipa::path(
    get,
    path = "/audit-logs/actions",
    operation_id = "listAuditActions",
    tag = AUDIT_LOGS,
    responses((status = 200, description = "The actions", body = Vec<String>), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn actions(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<&'static [&'static str]>, Problem> {
    Ok(Json(iam.audit().actions(&caller)?))
}

/// The actions that the service records for one resource type.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Recorded)]
pub(crate) struct RecordedDto {
    #[schema(example = "TENANT")]
    resource_type: String,
    #[schema(example = json!(["CREATE", "UPDATE"]))]
    actions: &'static [&'static str],
}

impl From<Recorded> for RecordedDto {
    fn from(recorded: Recorded) -> Self {
        Self { resource_type: recorded.resource_type.as_str().to_owned(), actions: recorded.actions }
    }
}

/// List all that the service records
///
/// Returns all resource types, each with its actions. The names are those that are stored, and that the filters of
/// the list accept.
#[utoipa::path(
    get,
    path = "/audit-logs/catalogue",
    operation_id = "listAuditCatalogue",
    tag = AUDIT_LOGS,
    responses((status = 200, description = "The catalogue", body = List<RecordedDto>), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn catalogue(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<List<RecordedDto>>, Problem> {
    Ok(Json(List { data: iam.audit().catalogue(&caller)?.into_iter().map(RecordedDto::from).collect() }))
}
