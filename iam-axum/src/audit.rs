//! `/audit-logs` (`interface.md` §2.6, §4.4, `decisions.md` §6).

use axum::Json;
use axum::extract::State;
use iam_core::Iam;
use iam_core::audit::{AuditEntry, AuditFilter, AuditPage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::extract::{Authenticated, Params, Query};
use crate::openapi::{AUDIT_LOGS, Problems};
use crate::page::page_request;
use crate::problem::Problem;
use crate::time::{Time, end_of, start_of};

/// One thing that happened.
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
    /// The values before, of the changed fields only.
    #[schema(required, value_type = Option<Object>)]
    old_value: Option<Map<String, Value>>,
    /// The values after, of the changed fields only.
    #[schema(required, value_type = Option<Object>)]
    new_value: Option<Map<String, Value>>,
    #[schema(value_type = Object)]
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
    /// What to send as `cursor` for them; null at the end.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Which entries to list.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// About this kind of thing.
    resource_type: Option<String>,
    /// About this very thing.
    resource_id: Option<String>,
    /// Saying that this happened.
    action: Option<String>,
    /// Done by this user.
    #[param(value_type = Option<Uuid>)]
    user_id: Option<String>,
    /// From the request with this correlation id.
    correlation_id: Option<String>,
    /// On this UTC day, or at this moment, or later.
    #[param(value_type = Option<String>, example = "2026-01-31")]
    start_date: Option<String>,
    /// On this UTC day, or at this moment, or earlier.
    #[param(value_type = Option<String>, example = "2026-01-31T09:15:00.123Z")]
    end_date: Option<String>,
    /// How many entries a page holds.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100, default = 20)]
    limit: Option<String>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
}

/// List audit entries
///
/// Newest first, in pages that follow each other by cursor.
#[utoipa::path(
    get,
    path = "/audit-logs",
    operation_id = "listAuditLogs",
    tag = AUDIT_LOGS,
    params(AuditQuery),
    responses((status = 200, description = "A page of entries", body = AuditLog), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn list(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
    Query(query): Query<AuditQuery>,
) -> Result<Json<AuditLog>, Problem> {
    let mut params = Params::default();
    let cursor = params.parse("cursor", query.cursor.as_deref());
    let page = page_request(&mut params, None, query.limit.as_deref())?;
    let filter = AuditFilter {
        action: query.action,
        resource_type: query.resource_type,
        resource_id: query.resource_id,
        user_id: params.parse("userId", query.user_id.as_deref()),
        correlation_id: params.parse("correlationId", query.correlation_id.as_deref()),
        from: params.parse_with("startDate", query.start_date.as_deref(), start_of),
        until: params.parse_with("endDate", query.end_date.as_deref(), end_of),
    };
    params.finish()?;
    let AuditPage { entries, next } = iam.audit().list(&caller, filter, cursor, page.limit()).await?;
    let pagination = CursorPagination {
        limit: page.limit(),
        has_next: next.is_some(),
        next_cursor: next.map(|cursor| cursor.to_string()),
    };
    Ok(Json(AuditLog { data: entries.into_iter().map(AuditEntryDto::from).collect(), pagination }))
}
