//! Lets access requests begin and end at their time, in the background.

use std::sync::Arc;
use std::time::Duration;

use iam_core::Iam;
use tokio::sync::watch;

use crate::background::{every, until_stopped, within};
use crate::sweep::SweepMetrics;

/// How often the task looks for requests whose time has come. A request that was approved for later begins within this
/// time and that of one round. What it gives ends at its instant, whether or not the task has run.
const PERIOD: Duration = Duration::from_secs(1);
/// How long a round may take. The next round does the work that is left.
const LIMIT: Duration = Duration::from_secs(60);

/// Lets requests lapse, begin and end until the server stops. Replicas do so beside each other: each request is advanced
/// once.
pub(crate) async fn advance(iam: Iam, metrics: Arc<SweepMetrics>, stop: watch::Receiver<bool>) {
    let advancing = async {
        let mut is_failing = false;
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            let round = within(LIMIT, iam.advance_access_requests()).await;
            metrics.count("access_requests", &round);
            // Each problem is logged once, and not in every round.
            match round {
                Ok(_) => is_failing = false,
                Err(error) => {
                    if !is_failing {
                        tracing::warn!(%error, "access requests could not be advanced; those that are due wait");
                    }
                    is_failing = true;
                }
            }
        }
    };
    until_stopped(stop, advancing).await;
}
