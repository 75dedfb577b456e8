//! `/audit-logs/retention`: for how long entries are kept.

use axum::Json;
use axum::extract::State;
use iam_core::Iam;
use iam_core::audit::{PendingRetention, Retention};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::extract::{Authenticated, Call, nullable};
use crate::openapi::{AUDIT_LOGS, Problems};
use crate::problem::Problem;
use crate::time::Time;

/// For how long a tenant keeps its audit entries.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditRetention)]
pub(crate) struct RetentionDto {
    /// What counts now; null is forever.
    #[schema(required, minimum = 1, maximum = 36500, example = 365)]
    retention_days: Option<u32>,
    /// A shorter one that was set, and counts later; null is none.
    #[schema(required)]
    pending: Option<PendingRetentionDto>,
}

/// A retention that counts from a later moment on.
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

/// For how long to keep audit entries from now on.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAuditRetention)]
pub(crate) struct NewRetentionDto {
    /// Null is forever, absent is a mistake.
    //
    // Not an integer: to JSON Schema, 365.0 is one too.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(required, value_type = Option<u32>, minimum = 1, maximum = 36500, example = 365)]
    retention_days: Option<Option<f64>>,
}

/// How many entries were removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct RemovedEntries {
    removed: u64,
}

/// Get the retention
///
/// For how many days the tenant keeps its entries.
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
/// Nothing is removed by this. A retention that is longer than the one that counts takes its place at once; a shorter one
/// after 30 days, and until then it is `pending`. The operator sets the least that is allowed. A change is recorded as
/// UPDATE on AUDIT_LOG.
#[utoipa::path(
    put,
    path = "/audit-logs/retention",
    operation_id = "setAuditRetention",
    tag = AUDIT_LOGS,
    request_body = NewRetentionDto,
    responses((status = 200, description = "The retention", body = RetentionDto), Problems),
    extensions(("x-required-permission" = json!("audit-logs:update"))),
)]
pub(crate) async fn set(
    State(iam): State<Iam>,
    Call(caller, NewRetentionDto { retention_days }): Call<NewRetentionDto>,
) -> Result<Json<RetentionDto>, Problem> {
    let Some(retention_days) = retention_days else {
        return Err(Problem::invalid_field("retentionDays", "is required; null keeps entries forever"));
    };
    let retention_days = retention_days.map(whole_days).transpose()?;
    Ok(Json(iam.audit().set_retention(&caller, retention_days).await?.into()))
}

/// A number without a fraction, the nearest that there is: what no number of days can be stays out of bounds.
fn whole_days(days: f64) -> Result<u32, Problem> {
    if days.fract() == 0.0 {
        Ok(days as u32)
    } else {
        Err(Problem::invalid_field("retentionDays", "must be a whole number"))
    }
}

/// Apply the retention
///
/// Removes the entries that are older than the retention, in the order of their sequence and only sealed ones, and
/// records that as DELETE on AUDIT_LOG with the place in the sequence up to which they are gone (`metadata.until`). Their
/// leaves stay in the tree, so that all other entries can still be proven. Where there is nothing to remove, nothing is
/// recorded.
#[utoipa::path(
    post,
    path = "/audit-logs/retention/apply",
    operation_id = "applyAuditRetention",
    tag = AUDIT_LOGS,
    responses((status = 200, description = "How many entries were removed", body = RemovedEntries), Problems),
    extensions(("x-required-permission" = json!("audit-logs:delete"))),
)]
pub(crate) async fn apply(
    State(iam): State<Iam>,
    Authenticated(caller): Authenticated,
) -> Result<Json<RemovedEntries>, Problem> {
    let removed = iam.audit().apply_retention(&caller).await?;
    Ok(Json(RemovedEntries { removed }))
}
