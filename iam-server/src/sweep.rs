//! Removes expired data in the background.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use iam_core::Iam;
use iam_core::token::SigningKey;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use tokio::sync::watch;

use crate::background::{every, until_stopped, within};

/// The time between two sweeps. Expired data has no effect from the moment of its expiry on, so no caller waits for a
/// sweep.
const PERIOD: Duration = Duration::from_secs(60);
/// How long a turn may take. The next turn does the work that is left.
const LIMIT: Duration = Duration::from_secs(600);

/// Removes expired data and lets the store prepare for future data, until the server stops. One replica at a time
/// does so. A cancelled sweep leaves the work that it has not committed.
pub(crate) async fn sweep(iam: Iam, metrics: Arc<SweepMetrics>, stop: watch::Receiver<bool>) {
    let sweeping = async {
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            let turn = async {
                // Without a turn, another replica is sweeping.
                if let Some(turn) = iam.take_turn("sweep").await? {
                    round(&iam, &metrics).await;
                    turn.end().await;
                }
                Ok(())
            };
            if let Err(error) = within(LIMIT, turn).await {
                metrics.note("turn", Err(error));
            }
        }
    };
    until_stopped(stop, sweeping).await;
}

async fn round(iam: &Iam, metrics: &SweepMetrics) {
    metrics.note("audit_months", iam.prepare_store().await.map(|()| 0));
    metrics.note("expired_assignments", iam.remove_expired_assignments().await);
    metrics.note("expired_sessions", iam.remove_expired_sessions().await);
    metrics.note("stale_login_attempts", iam.remove_stale_login_attempts().await);
    metrics.note("idempotency_records", iam.remove_idempotency_records().await);
    metrics.note("expired_links", iam.remove_expired_links().await);
    metrics.note("expired_challenges", iam.remove_expired_challenges().await);
    metrics.note("message_counts", iam.remove_message_counts().await);
    metrics.note("ended_deliveries", iam.remove_ended_deliveries().await);
    metrics.note("key_rotations", iam.rotate_keys_when_due().await.map(|key| key.map_or(0, |key| rotated(&key))));
    metrics.note("replaced_keys", iam.erase_replaced_keys().await);
}

/// Logs a rotation. Returns how many keys are removed: none, the old key only stops signing.
fn rotated(key: &SigningKey) -> u64 {
    tracing::info!(key = %key.id, signs_from = %key.signs_from.to_rfc3339(), "the signing key was rotated");
    0
}

/// The metrics of the sweepers of this replica.
pub(crate) struct SweepMetrics {
    removed: IntCounterVec,
    failures: IntCounterVec,
    last_success: IntGaugeVec,
}

impl SweepMetrics {
    pub(crate) fn new(registry: &Registry) -> prometheus::Result<Self> {
        let of = ["sweeper"];
        let metrics = Self {
            removed: IntCounterVec::new(Opts::new("sweeper_removed_total", "Items that sweepers removed"), &of)?,
            failures: IntCounterVec::new(Opts::new("sweeper_failures_total", "Sweeps that failed"), &of)?,
            last_success: IntGaugeVec::new(
                Opts::new(
                    "sweeper_last_success_timestamp_seconds",
                    "Time of this replica's last successful sweep; replicas take turns, so use the latest",
                ),
                &of,
            )?,
        };
        registry.register(Box::new(metrics.removed.clone()))?;
        registry.register(Box::new(metrics.failures.clone()))?;
        registry.register(Box::new(metrics.last_success.clone()))?;
        Ok(metrics)
    }

    /// Counts and logs the result of a sweeper.
    fn note(&self, sweeper: &str, swept: Result<u64, impl Display>) {
        self.count(sweeper, &swept);
        match swept {
            Ok(0) => {}
            Ok(removed) => tracing::info!(sweeper, removed, "swept"),
            Err(error) => tracing::warn!(sweeper, %error, "sweeping failed"),
        }
    }

    /// Counts the result of a sweeper.
    pub(crate) fn count<E>(&self, sweeper: &str, swept: &Result<u64, E>) {
        match swept {
            Ok(removed) => {
                self.removed.with_label_values(&[sweeper]).inc_by(*removed);
                self.last_success.with_label_values(&[sweeper]).set(chrono::Utc::now().timestamp());
            }
            Err(_) => self.failures.with_label_values(&[sweeper]).inc(),
        }
    }
}
