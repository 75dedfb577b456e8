//! Follows the change feed: notifications about the commits of other processes.

use std::convert::Infallible;
use std::time::Duration;

use iam_core::Iam;
use prometheus::{IntGauge, Registry};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::background::{every, until_stopped};
use crate::failure::Failure;

/// The pause between the end of a change feed and the request for another one.
const PAUSE: Duration = Duration::from_millis(500);
/// How often the task checks whether notifications arrive in time.
const PERIOD: Duration = Duration::from_millis(500);
/// After this many good checks in a row, the feed counts as restored. One good check does not suffice: late
/// notifications come and go.
const STEADY: u32 = 6;
/// The effect on requests, for the log.
const EFFECT: &str = "until it works again, the server reads the session of each request from the database";

/// Creates and registers the gauge that is 1 while notifications arrive in time.
pub(crate) fn gauge(registry: &Registry) -> prometheus::Result<IntGauge> {
    let gauge = IntGauge::new(
        "changes_heard",
        "1 while this replica receives change notifications; 0 while it reads every session from the database",
    )?;
    registry.register(Box::new(gauge.clone()))?;
    Ok(gauge)
}

/// Follows the change feed until the server stops. Returns at once if the store has no change feed.
pub(crate) async fn follow(iam: Iam, gauge: IntGauge, stop: watch::Receiver<bool>) {
    let following = async {
        let mut is_lost = false;
        loop {
            let ended = tokio::select! {
                ended = iam.follow_changes() => ended,
                never = watch_over(&iam, &gauge, &mut is_lost) => match never {},
            };
            gauge.set(0);
            let Err(error) = ended else { return };
            if !is_lost {
                is_lost = true;
                let failure = Failure::new("the change feed failed", &error);
                tracing::warn!("{failure}; {EFFECT}");
            }
            sleep(PAUSE).await;
        }
    };
    until_stopped(stop, following).await;
}

async fn watch_over(iam: &Iam, gauge: &IntGauge, is_lost: &mut bool) -> Infallible {
    let (mut ticks, mut good_checks) = (every(PERIOD), 0);
    loop {
        ticks.tick().await;
        let (is_received, was_received) = (iam.receives_changes(), good_checks > 0);
        gauge.set(is_received.into());
        good_checks = if is_received { good_checks + 1 } else { 0 };
        if *is_lost && good_checks >= STEADY {
            *is_lost = false;
            tracing::info!("the change feed works again");
        } else if !*is_lost && was_received && !is_received {
            *is_lost = true;
            tracing::warn!("the change feed is too slow; {EFFECT}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iam_store_memory::MemoryStore;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_store_without_a_change_feed_is_not_followed() {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let (_sender, stop) = watch::channel(false);
        let gauge = gauge(&Registry::new()).unwrap();
        timeout(Duration::from_secs(30), follow(iam, gauge.clone(), stop)).await.unwrap();
        assert_eq!(gauge.get(), 0);
    }
}
