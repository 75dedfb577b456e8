//! What every task in the background has in common.

use std::time::Duration;

use iam_core::StoreError;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

/// Ticks at once and then every so often; after a long piece of work it does not hurry to make up for it.
pub(crate) fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A piece of work that has a limit: a database that falls silent in the middle of it would keep the task for ever.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = iam_core::Result<T>>) -> iam_core::Result<T> {
    let late = |_| iam_core::Error::Store(StoreError::Unavailable(format!("no answer within {limit:?}").into()));
    timeout(limit, work).await.map_err(late).flatten()
}

/// Runs a task in the background, and again a second after each time that it panicked: nobody would notice otherwise that
/// it is gone.
pub(crate) fn keep_running<T>(name: &'static str, task: impl Fn() -> T + Send + 'static)
where
    T: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(async move {
        while tokio::spawn(task()).await.is_err() {
            tracing::error!(task = name, "a task in the background panicked and is started again");
            sleep(Duration::from_secs(1)).await;
        }
    });
}

/// Works until told to stop; what is in the middle by then is cut.
pub(crate) async fn until_stopped(mut stop: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        // An error means that nobody can signal any more: stopping is right then too.
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_is_started_again_until_it_ends() {
        let runs = Arc::new(AtomicU32::new(0));
        let (ended, end) = tokio::sync::oneshot::channel::<()>();
        let ended = Arc::new(std::sync::Mutex::new(Some(ended)));
        let counted = Arc::clone(&runs);
        keep_running("test", move || {
            let (runs, ended) = (Arc::clone(&counted), Arc::clone(&ended));
            async move {
                assert!(runs.fetch_add(1, Ordering::Relaxed) > 0, "the first run fails");
                drop(ended.lock().unwrap().take());
            }
        });
        let _ = end.await;
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }
}
