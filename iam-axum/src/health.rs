//! `/health` (`interface.md` §2.8, `decisions.md` §7).

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use iam_core::Iam;
use serde::Serialize;
use serde_json::json;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::Settings;
use crate::openapi::{HEALTH, Problems};
use crate::problem::Problem;
use crate::time::Time;

/// The service, by its own account.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
    /// The service's name.
    service: String,
    /// The service's release.
    version: String,
    timestamp: Time,
    /// Where it runs.
    environment: String,
}

/// The process answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct Live {
    #[schema(example = "ok")]
    status: &'static str,
}

/// The service can do its work.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ready {
    #[schema(example = "ok")]
    status: &'static str,
    checks: Checks,
}

/// What was looked at.
#[derive(Serialize, ToSchema)]
pub(crate) struct Checks {
    database: DatabaseCheck,
    migrations: Check,
}

/// Whether the store answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatabaseCheck {
    #[schema(example = "ok")]
    status: &'static str,
    /// How long it took to answer, in milliseconds.
    latency_ms: f64,
}

/// Whether something is as it should be.
#[derive(Serialize, ToSchema)]
pub(crate) struct Check {
    #[schema(example = "ok")]
    status: &'static str,
}

/// A store that takes longer than this is not ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// Get the service's health
#[utoipa::path(
    get,
    path = "/health",
    operation_id = "getHealth",
    tag = HEALTH,
    responses((status = 200, description = "The service answers", body = Health), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn health(State(iam): State<Iam>, State(settings): State<Arc<Settings>>) -> Json<Health> {
    Json(Health {
        status: "ok",
        service: settings.service.clone(),
        version: settings.version.clone(),
        timestamp: Time(iam.now()),
        environment: settings.environment.clone(),
    })
}

/// Check whether the service is ready
///
/// Asks the store; until it answers and every migration has run, this is a 503 with the same `checks`.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "getReadiness",
    tag = HEALTH,
    responses((status = 200, description = "The service can do its work", body = Ready), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn ready(State(iam): State<Iam>) -> Result<Json<Ready>, Problem> {
    let started = Instant::now();
    let answers = matches!(timeout(PATIENCE, iam.ping()).await, Ok(Ok(())));
    let latency_ms = (started.elapsed().as_secs_f64() * 1_000_000.0).round() / 1000.0;
    let migrated = answers && matches!(timeout(PATIENCE, iam.is_migrated()).await, Ok(Ok(true)));
    let checks = Checks {
        database: DatabaseCheck { status: word(answers), latency_ms },
        migrations: Check { status: word(migrated) },
    };
    if answers && migrated {
        Ok(Json(Ready { status: "ok", checks }))
    } else {
        let detail = if answers { "The database is not migrated." } else { "The database does not answer." };
        Err(Problem::unavailable().detail(detail).with("checks", json!(checks)))
    }
}

fn word(is_ok: bool) -> &'static str {
    if is_ok { "ok" } else { "unavailable" }
}

/// Check whether the process is alive
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "getLiveness",
    tag = HEALTH,
    responses((status = 200, description = "The process answers", body = Live), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn live() -> Json<Live> {
    Json(Live { status: "ok" })
}
