//! What every task in the background has in common.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// Ticks at once and then every so often; after a long piece of work it does not hurry to make up for it.
pub(crate) fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Works until told to stop; what is in the middle by then is cut.
pub(crate) async fn until_stopped(mut stop: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        // An error means that nobody can signal any more: stopping is right then too.
        _ = stop.wait_for(|stop| *stop) => {}
    }
}
