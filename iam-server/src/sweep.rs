//! What is tidied up in the background.

use std::time::Duration;

use iam_core::Iam;
use tokio::sync::watch;

use crate::background::{every, until_stopped};

/// How often. What has expired grants nothing from its instant on, so nobody waits for this.
const PERIOD: Duration = Duration::from_secs(60);

/// Removes expired role assignments and old answers to requests, and lets the store prepare for what is to come, until told to stop; a sweep that is
/// cut leaves what it has not committed.
pub(crate) async fn sweep(iam: Iam, stop: watch::Receiver<bool>) {
    let sweeping = async {
        let mut ticks = every(PERIOD);
        loop {
            ticks.tick().await;
            if let Err(error) = iam.prepare_store().await {
                tracing::warn!(%error, "the store could not prepare for what is to come");
            }
            match iam.remove_expired_assignments().await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "removed expired role assignments"),
                Err(error) => tracing::warn!(%error, "expired role assignments could not be removed"),
            }
            if let Err(error) = iam.remove_idempotency_records().await {
                tracing::warn!(%error, "old answers to requests could not be removed");
            }
        }
    };
    until_stopped(stop, sweeping).await;
}
