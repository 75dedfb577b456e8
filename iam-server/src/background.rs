//! Helpers of all background tasks.

use std::time::Duration;

use iam_core::StoreError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval, sleep, timeout};

/// Returns an interval that ticks at once and then once in every period. After a long piece of work, it does not make
/// up for the ticks that it missed.
pub(crate) fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Runs a piece of work with a time limit. Without it, a database that falls silent would block the task for ever.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = iam_core::Result<T>>) -> iam_core::Result<T> {
    let late = |_| iam_core::Error::Store(StoreError::Unavailable(format!("no answer within {limit:?}").into()));
    timeout(limit, work).await.map_err(late).flatten()
}

/// Runs a task in the background, and starts it again a second after each panic. Otherwise it would be gone unnoticed.
/// The returned handle is ready when the task ends.
pub(crate) fn keep_running<T>(name: &'static str, task: impl Fn() -> T + Send + 'static) -> JoinHandle<()>
where
    T: Future<Output = ()> + Send + 'static,
{
    tokio::spawn(async move {
        while tokio::spawn(task()).await.is_err() {
            tracing::error!(task = name, "a background task panicked and is started again");
            sleep(Duration::from_secs(1)).await;
        }
    })
}

/// Runs work until it ends or the server stops. A stop cancels the work.
pub(crate) async fn until_stopped(mut stop: watch::Receiver<bool>, work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        // An error means that no signal can come any more. Stopping is right then, too.
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
