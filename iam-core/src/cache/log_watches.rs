//! Those who wait for new entries of a log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use iam_model::audit::log_id;
use iam_model::id::TenantId;
use tokio::sync::Notify;
use uuid::Uuid;

/// The logs that are waited for, by their [`log_id`]. A log that nothing waits for takes no memory for long.
#[derive(Default)]
pub(crate) struct LogWatches {
    logs: Mutex<HashMap<Uuid, Weak<Notify>>>,
    any: Notify,
}

impl LogWatches {
    /// Returns the signal that is given when the log of a tenant continues.
    pub(crate) fn of(&self, tenant: TenantId) -> Arc<Notify> {
        let mut watches = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        let log = log_id(tenant);
        if let Some(watch) = watches.get(&log).and_then(Weak::upgrade) {
            return watch;
        }
        watches.retain(|_, watch| watch.strong_count() > 0);
        let watch = Arc::default();
        watches.insert(log, Arc::downgrade(&watch));
        watch
    }

    /// Waits until a log continues. Returns at once if one did since the last call. Only one task can wait.
    pub(crate) async fn any(&self) {
        self.any.notified().await;
    }

    /// Wakes all who wait for one of these logs. Other ids are ignored.
    pub(super) fn wake(&self, changed: &[Uuid]) {
        // Nearly all ids are those of resources, and every commit comes here.
        let mut logs = changed.iter().filter(|id| id.get_version_num() == 8).peekable();
        if logs.peek().is_none() {
            return;
        }
        self.any.notify_one();
        let watches = self.logs.lock().unwrap_or_else(PoisonError::into_inner);
        for watch in logs.filter_map(|log| watches.get(log)?.upgrade()) {
            watch.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_log_wakes_those_who_wait_for_it_and_no_others() {
        let (watches, [one, other]) = (LogWatches::default(), [1, 2].map(|id| Uuid::from_u128(id).into()));
        let (watch, same, another) = (watches.of(one), watches.of(one), watches.of(other));
        let (mut first, mut second, mut third) =
            (Box::pin(watch.notified()), Box::pin(same.notified()), Box::pin(another.notified()));
        for waiting in [&mut first, &mut second, &mut third] {
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        watches.wake(&[Uuid::from_u128(1)]);
        assert!(first.as_mut().now_or_never().is_none(), "the id of the tenant is not that of its log");
        watches.wake(&[log_id(one)]);
        assert!(first.now_or_never().is_some() && second.now_or_never().is_some());
        assert!(third.now_or_never().is_none());
    }

    #[test]
    fn a_log_that_continues_wakes_the_one_who_waits_for_any_log() {
        let watches = LogWatches::default();
        let continues = || watches.any().now_or_never().is_some();
        assert!(!continues());
        watches.wake(&[Uuid::from_u128(1)]);
        assert!(!continues());
        watches.wake(&[log_id(TenantId::NONE)]);
        watches.wake(&[log_id(TenantId::NONE)]);
        assert!(continues() && !continues());
    }

    #[test]
    fn logs_without_waiters_are_forgotten() {
        let watches = LogWatches::default();
        for id in 0..100 {
            watches.of(Uuid::from_u128(id).into());
        }
        assert_eq!(watches.logs.lock().unwrap().len(), 1);
    }
}
