//! The limits of the open event streams of one user and of one tenant, and the end of all that wait for events.
//!
//! A stream stays open for hours, and each event of its tenant wakes it. Without a limit, one user could hold all
//! connections of the server with them, and one tenant could occupy all cores by a few events a second.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iam_model::error::{Error, Result};
use iam_model::id::{TenantId, UserId};
use tokio::sync::watch;

/// The maximum number of open event streams of one user, in this process (`docs/integrating.md#as-a-stream`).
const MAX_STREAMS: usize = 10;

/// The maximum number of open event streams of all users of one tenant, in this process.
const MAX_STREAMS_OF_TENANT: usize = 100;

/// Counts the open event streams of users. Remembers only users that have one.
#[derive(Default)]
pub(crate) struct EventStreams {
    open: Mutex<HashMap<(TenantId, UserId), usize>>,
    /// Whether the program stops, so that nothing waits for events any more.
    have_ended: watch::Sender<bool>,
}

/// An open event stream. Its user can open another one in its place when this is dropped.
#[must_use = "the stream is counted until this is dropped"]
pub struct OpenStream {
    streams: Arc<EventStreams>,
    /// `None` for trusted code, whose streams are not counted.
    of: Option<(TenantId, UserId)>,
}

impl EventStreams {
    /// Counts a stream of a user until the returned value is dropped.
    ///
    /// Fails with [`Error::TooManyStreams`].
    pub(crate) fn open(self: &Arc<Self>, of: Option<(TenantId, UserId)>) -> Result<OpenStream> {
        if let Some(of) = of {
            let mut streams = self.lock();
            let of_tenant = streams.iter().filter(|((tenant, _), _)| *tenant == of.0).map(|(_, count)| count);
            if of_tenant.sum::<usize>() >= MAX_STREAMS_OF_TENANT {
                return Err(Error::TooManyStreams(MAX_STREAMS_OF_TENANT));
            }
            let count = streams.entry(of).or_default();
            if *count >= MAX_STREAMS {
                return Err(Error::TooManyStreams(MAX_STREAMS));
            }
            *count += 1;
        }
        Ok(OpenStream { streams: Arc::clone(self), of })
    }

    /// Ends every wait for events, also those that begin later.
    pub(crate) fn end(&self) {
        self.have_ended.send_replace(true);
    }

    pub(crate) fn have_ended(&self) -> bool {
        *self.have_ended.borrow()
    }

    /// Waits until the program stops.
    pub(crate) async fn ended(&self) {
        // The sender is there as long as this is.
        let _ = self.have_ended.subscribe().wait_for(|have_ended| *have_ended).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(TenantId, UserId), usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let Some(of) = self.of else { return };
        let mut streams = self.streams.lock();
        if let Some(count) = streams.get_mut(&of) {
            *count -= 1;
            if *count == 0 {
                streams.remove(&of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn user(tenant: u128, user: u128) -> Option<(TenantId, UserId)> {
        Some((Uuid::from_u128(tenant).into(), Uuid::from_u128(user).into()))
    }

    fn open(streams: &Arc<EventStreams>, of: Option<(TenantId, UserId)>, count: usize) -> Vec<OpenStream> {
        (0..count).map(|_| streams.open(of).unwrap()).collect()
    }

    #[test]
    fn each_user_has_a_limit_of_its_own() {
        let streams = Arc::default();
        let mut opened = open(&streams, user(1, 1), MAX_STREAMS);
        assert!(matches!(streams.open(user(1, 1)), Err(Error::TooManyStreams(MAX_STREAMS))));
        let _others = [user(1, 2), user(2, 1)].map(|other| open(&streams, other, MAX_STREAMS));
        opened.pop();
        opened.extend(open(&streams, user(1, 1), 1));
        assert!(streams.open(user(1, 1)).is_err());
    }

    #[test]
    fn the_users_of_a_tenant_have_a_limit_together() {
        let streams = Arc::default();
        let mut opened: Vec<OpenStream> = (0..10).flat_map(|id| open(&streams, user(1, id), MAX_STREAMS)).collect();
        assert!(matches!(streams.open(user(1, 10)), Err(Error::TooManyStreams(MAX_STREAMS_OF_TENANT))));
        let _other = open(&streams, user(2, 10), 1);
        opened.pop();
        opened.extend(open(&streams, user(1, 10), 1));
        assert!(streams.open(user(1, 11)).is_err());
        assert!(!streams.lock().contains_key(&user(1, 11).unwrap()), "a refusal is not remembered");
    }

    #[test]
    fn streams_of_trusted_code_are_not_counted() {
        let streams = Arc::default();
        assert_eq!(open(&streams, None, 2 * MAX_STREAMS).len(), 2 * MAX_STREAMS);
        assert!(streams.lock().is_empty());
    }

    #[test]
    fn a_user_without_streams_is_forgotten() {
        let streams = Arc::default();
        let opened = open(&streams, user(1, 1), MAX_STREAMS);
        assert!(streams.open(user(1, 1)).is_err());
        drop(opened);
        assert!(streams.lock().is_empty());
    }
}
