//! `/audit-logs/retention`: how long entries are kept.

use axum::Json;
use axum::extract::State;
use iam_core::Iam;
use iam_core::audit::{PendingRetention, Retention};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::description::{AUDIT_LOGS, Problems};
use crate::extract::{Authenticated, Call, Whole, nullable};
use crate::problem::Problem;
use crate::time::Time;

/// How long a tenant keeps its audit entries.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditRetention)]
pub(crate) struct RetentionDto {
    /// The retention that is in force, in days. Null means forever.
    #[schema(required, minimum = 1, maximum = 36500, example = 365)]
    retention_days: Option<u32>,
    /// A shorter retention that was set and takes effect later. Null means none.
    #[schema(required)]
    pending: Option<PendingRetentionDto>,
}

/// A retention that takes effect later.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PendingAuditRetention)]
pub(crate) struct PendingRetentionDto {
    #[schema(minimum = 1, maximum = 36500, example = 90)]
    retention_days: u32,
    from: Time,
}

impl From<Retention> for RetentionDto {
    fn from(Retention { days, pending }: Retention) -> Self {
        let later = |PendingRetention { days, from }| PendingRetentionDto { retention_days: days, from: Time(from) };
        Self { retention_days: days, pending: pending.map(later) }
    }
}

/// How long to keep audit entries.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAuditRetention)]
pub(crate) struct NewRetentionDto {
    /// The number of days. Null means forever. The field must not be absent.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(required, value_type = Option<u32>, minimum = 1, maximum = 36500, example = 365)]
    retention_days: Option<Option<Whole<u32>>>,
}

/// How many entries were removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct RemovedEntries {
    removed: u64,
}

/// Get the retention
///
/// Returns how many days the tenant keeps its entries.
#[utoipa::path(
    get,
    path = "/audit-logs/retention",
    operation_id = "getAuditRetention",
    tag = AUDIT_LOGS,
    responses((status = 200, description = "The retention", body = RetentionDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:read"))),
)]
pub(crate) async fn get(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<RetentionDto>, Problem> {
    Ok(Json(iam.audit().retention(&caller).await?.into()))
}

/// Set the retention
///
/// This removes no entries. A retention that is longer than the one in force takes effect at once. A shorter one
/// takes effect after 30 days, and is `pending` until then. The operator sets the minimum. A change is recorded as
/// UPDATE on AUDIT_LOG. The session must have authenticated within the last ten minutes; an API key cannot do this.
#[utoipa::path(
    put,
    path = "/audit-logs/retention",
    operation_id = "setAuditRetention",
    tag = AUDIT_LOGS,
    request_body = NewRetentionDto,
    responses((status = 200, description = "The retention", body = RetentionDto), Problems),
    extensions(
        ("x-required-permission" = json!("audit-logs:update")),
        ("x-problems" = json!(["insufficient-authentication"])),
    ),
)]
pub(crate) async fn set(
    State(iam): State<Iam>,
    Call(caller, NewRetentionDto { retention_days }): Call<NewRetentionDto>,
) -> Result<Json<RetentionDto>, Problem> {
    let Some(retention_days) = retention_days else {
        return Err(Problem::invalid_field("retentionDays", "is required; null keeps entries forever"));
    };
    let retention_days = retention_days.map(|Whole(days)| days);
    Ok(Json(iam.audit().set_retention(&caller, retention_days).await?.into()))
}

/// Apply the retention
///
/// Removes the entries that are older than the retention, in the order of their sequence numbers. Pending entries,
/// which have no sequence number yet, are not removed. The removal is recorded as DELETE on AUDIT_LOG, with the
/// sequence number up to which the entries are removed (`metadata.until`). The leaves of these entries stay in the
/// tree, so that all other entries can still be proven. If there is nothing to remove, nothing is recorded. The session
/// must have authenticated within the last ten minutes; an API key cannot do this.
#[utoipa::path(
    post,
    path = "/audit-logs/retention/apply",
    operation_id = "applyAuditRetention",
    tag = AUDIT_LOGS,
    responses((status = 200, description = "How many entries were removed", body = RemovedEntries), Problems),
    extensions(
        ("x-required-permission" = json!("audit-logs:delete")),
        ("x-problems" = json!(["insufficient-authentication", "legal-hold"])),
    ),
)]
pub(crate) async fn apply(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<RemovedEntries>, Problem> {
    let removed = iam.audit().apply_retention(&caller).await?;
    Ok(Json(RemovedEntries { removed }))
}
