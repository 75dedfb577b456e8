//! `/health` (`docs/operating.md#health`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use iam_core::Iam;
use serde::Serialize;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::description::{HEALTH, Problems};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::time::Time;

/// The health of the service.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
    /// The service's name.
    service: String,
    /// The service's release.
    version: String,
    timestamp: Time,
    /// The environment in which the service runs.
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

/// The results of the readiness checks.
#[derive(Serialize, ToSchema)]
pub(crate) struct Checks {
    database: DatabaseCheck,
    migrations: Check,
}

/// Whether the database answers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatabaseCheck {
    #[schema(example = "ok")]
    status: &'static str,
    /// How long the database took to answer, in milliseconds.
    latency_ms: f64,
}

/// The result of a check.
#[derive(Serialize, ToSchema)]
pub(crate) struct Check {
    #[schema(example = "ok")]
    status: &'static str,
}

/// A store that takes longer than this to answer is not ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// Get the service's health
///
/// Shows the name, the version, the environment and the time of the service.
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
/// Asks the database. Until it answers and every migration has run, the response is a 503 with the same `checks`.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "getReadiness",
    tag = HEALTH,
    responses((status = 200, description = "The service can do its work", body = Ready), Problems),
    security(()),
    extensions(("x-required-permission" = json!("public"))),
)]
pub(crate) async fn ready(
    State(iam): State<Iam>,
    State(readiness): State<Arc<Readiness>>,
) -> Result<Json<Ready>, Problem> {
    let Probe { answers, migrated, latency_ms } = readiness.ask(|| probe(&iam)).await;
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

/// The answer to a probe while the services start, when the database may not be migrated yet.
pub(crate) async fn starting() -> Problem {
    let checks = Checks {
        database: DatabaseCheck { status: word(false), latency_ms: 0.0 },
        migrations: Check { status: word(false) },
    };
    Problem::unavailable().detail("The service is starting.").with("checks", json!(checks))
}

/// The result of a probe of the store.
#[derive(Clone, Copy)]
struct Probe {
    answers: bool,
    migrated: bool,
    latency_ms: f64,
}

async fn probe(iam: &Iam) -> Probe {
    let started = Instant::now();
    let answers = matches!(timeout(PATIENCE, iam.ping()).await, Ok(Ok(())));
    let latency_ms = (started.elapsed().as_secs_f64() * 1_000_000.0).round() / 1000.0;
    let migrated = answers && matches!(timeout(PATIENCE, iam.is_migrated()).await, Ok(Ok(true)));
    Probe { answers, migrated, latency_ms }
}

/// Probes the store once for all requests that wait. No rate limit applies to these requests, so a stranger could
/// otherwise use every database connection.
#[derive(Default)]
pub(crate) struct Readiness(Mutex<Option<(Instant, Probe)>>);

impl Readiness {
    /// Returns the result of a probe that began after this call.
    async fn ask<F: Future<Output = Probe>>(&self, probe: impl FnOnce() -> F) -> Probe {
        let arrived = Instant::now();
        let mut last = self.0.lock().await;
        if let Some((began, found)) = *last
            && began >= arrived
        {
            return found;
        }
        let began = Instant::now();
        let found = probe().await;
        *last = Some((began, found));
        found
    }
}

fn word(is_ok: bool) -> &'static str {
    if is_ok { "ok" } else { "unavailable" }
}

/// Check whether the process is alive
///
/// Answers as long as the process can answer requests at all. It does not depend on the database.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join_all;
    use tokio::sync::Semaphore;
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn requests_that_wait_share_one_probe() {
        let (readiness, asked, gate) = (Readiness::default(), AtomicU32::new(0), Semaphore::new(0));
        let ask = async || {
            let probe = || async {
                let number = asked.fetch_add(1, Ordering::Relaxed);
                gate.acquire().await.unwrap().forget();
                Probe { answers: true, migrated: true, latency_ms: number.into() }
            };
            readiness.ask(probe).await.latency_ms
        };
        let others = async {
            // The first probe has already begun, so its result may be too old for the requests that come now.
            yield_now().await;
            let waiting = join_all((0..20).map(|_| ask()));
            let opened = async { gate.add_permits(2) };
            tokio::join!(waiting, opened).0
        };
        let (first, others) = tokio::join!(ask(), others);
        assert_eq!((first, others), (0.0, vec![1.0; 20]));
        gate.add_permits(1);
        assert_eq!(ask().await, 2.0, "a later request starts a new probe");
    }
}
