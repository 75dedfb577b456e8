//! Hearing what other processes commit.

use std::convert::Infallible;
use std::time::Duration;

use iam_core::Iam;
use prometheus::{IntGauge, Registry};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::Failure;
use crate::background::{every, until_stopped};

/// Before the store is asked for another feed of changes, once one has ended.
const PAUSE: Duration = Duration::from_millis(500);
/// How often it is looked whether anything is heard.
const PERIOD: Duration = Duration::from_millis(500);
/// After so many looks in a row that found so, following works again: news that are late come and go.
const STEADY: u32 = 6;
/// What becomes of requests.
const MEANWHILE: &str = "the database is asked about the session of each request until it works again";

/// 1 while others are heard.
pub(crate) fn gauge(registry: &Registry) -> prometheus::Result<IntGauge> {
    let gauge = IntGauge::new(
        "changes_heard",
        "1 while this replica hears what others commit; else it asks the database about the session of each request",
    )?;
    registry.register(Box::new(gauge.clone()))?;
    Ok(gauge)
}

/// Listens to what others commit until told to stop, and not at all where the store cannot tell.
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
                let failure = Failure::new("following changes", &error);
                tracing::warn!("{failure}; {MEANWHILE}");
            }
            sleep(PAUSE).await;
        }
    };
    until_stopped(stop, following).await;
}

async fn watch_over(iam: &Iam, gauge: &IntGauge, is_lost: &mut bool) -> Infallible {
    let (mut ticks, mut heard_in_a_row) = (every(PERIOD), 0);
    loop {
        ticks.tick().await;
        let (is_heard, was_heard) = (iam.hears_changes(), heard_in_a_row > 0);
        gauge.set(is_heard.into());
        heard_in_a_row = if is_heard { heard_in_a_row + 1 } else { 0 };
        if *is_lost && heard_in_a_row >= STEADY {
            *is_lost = false;
            tracing::info!("following changes works again");
        } else if !*is_lost && was_heard && !is_heard {
            *is_lost = true;
            tracing::warn!("following changes: they are heard too late; {MEANWHILE}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iam_core::memory::MemoryStore;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_store_that_cannot_tell_is_not_followed() {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let (_sender, stop) = watch::channel(false);
        let gauge = gauge(&Registry::new()).unwrap();
        timeout(Duration::from_secs(30), follow(iam, gauge.clone(), stop)).await.unwrap();
        assert_eq!(gauge.get(), 0);
    }
}
