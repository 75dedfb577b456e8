//! What is tidied up in the background.

use std::time::Duration;

use iam_core::Iam;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// How often. What has expired grants nothing from its instant on, so nobody waits for this.
const PERIOD: Duration = Duration::from_secs(60);

/// Removes expired role assignments and lets the store prepare for what is to come, until told to stop; a sweep that is
/// cut leaves what it has not committed.
pub(crate) async fn sweep(iam: Iam, mut stop: watch::Receiver<bool>) {
    let sweeping = async {
        let mut ticks = interval(PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
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
        }
    };
    tokio::select! {
        () = sweeping => {}
        // An error means that nobody can signal any more: stopping is right then too.
        _ = stop.wait_for(|stop| *stop) => {}
    }
}
