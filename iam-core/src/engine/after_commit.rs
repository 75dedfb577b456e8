//! The effects of a unit of work after its commit: invalidation of the cache, and calls of hooks.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use iam_model::audit::AuditEntry;
use uuid::Uuid;

use crate::cache::SessionCache;
use crate::engine::outgoing_mail::OutgoingMail;

/// A function of the host program; see [`Builder::after_commit`](crate::iam::Builder::after_commit).
pub(crate) type Hook = Box<dyn Fn(&[AuditEntry]) + Send + Sync>;

/// The receivers of committed changes: the cache, the hooks, and the delivery of mail.
#[derive(Default)]
pub(crate) struct Subscribers {
    pub(crate) snapshots: SessionCache,
    pub(crate) hooks: Vec<Hook>,
    /// Waits for queued messages. `None` if mail is off.
    pub(crate) mail: Option<Arc<OutgoingMail>>,
}

/// Passes the effects of units of work to the subscribers: directly after each commit, or, for units of work inside a
/// host transaction, when the host transaction ends.
#[derive(Default)]
pub(crate) struct AfterCommit {
    subscribers: Arc<Subscribers>,
    /// The effects that wait for the end of the host transaction. `None` without a host transaction.
    deferred: Option<Mutex<Recorded>>,
}

/// The effects of a unit of work.
#[derive(Default)]
struct Recorded {
    /// The ids of the changed resources.
    ids: Vec<Uuid>,
    /// The audit entries for the hooks. Empty if there are no hooks.
    entries: Vec<AuditEntry>,
    /// Whether a message was queued.
    has_mail: bool,
}

impl AfterCommit {
    pub(crate) fn immediate(hooks: Vec<Hook>, mail: Option<Arc<OutgoingMail>>) -> Self {
        let subscribers = Subscribers { snapshots: SessionCache::default(), hooks, mail };
        Self { subscribers: Arc::new(subscribers), deferred: None }
    }

    /// Returns one for the same subscribers that waits for the end of a host transaction.
    pub(crate) fn deferred(&self) -> Self {
        Self { subscribers: Arc::clone(&self.subscribers), deferred: Some(Mutex::default()) }
    }

    pub(crate) fn snapshots(&self) -> &SessionCache {
        &self.subscribers.snapshots
    }

    /// Passes the deferred effects on. To be called when the host transaction is committed.
    pub(crate) fn release(&self) {
        if let Some(mut deferred) = self.locked() {
            let recorded = mem::take(&mut *deferred);
            drop(deferred);
            self.subscribers.notify(&recorded);
        }
    }

    fn locked(&self) -> Option<MutexGuard<'_, Recorded>> {
        Some(self.deferred.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Invalidates the changed ids in any case: a commit that fails or is cancelled may still have taken effect.
impl Drop for AfterCommit {
    fn drop(&mut self) {
        if let Some(Recorded { ids, .. }) = self.locked().map(|mut deferred| mem::take(&mut *deferred)) {
            self.subscribers.snapshots.invalidate(&ids);
        }
    }
}

impl Subscribers {
    fn notify(&self, Recorded { ids, entries, has_mail }: &Recorded) {
        self.snapshots.invalidate(ids);
        if !entries.is_empty() {
            self.hooks.iter().for_each(|hook| hook(entries));
        }
        if let Some(mail) = self.mail.as_ref().filter(|_| *has_mail) {
            mail.queued.notify_one();
        }
    }
}

/// The effects of one unit of work so far. Dropping it invalidates the changed ids in any case: a commit that fails or
/// is cancelled may still have taken effect.
pub(crate) struct PendingEffects<'a> {
    after_commit: &'a AfterCommit,
    recorded: Recorded,
}

impl<'a> PendingEffects<'a> {
    pub(crate) fn new(after_commit: &'a AfterCommit) -> Self {
        Self { after_commit, recorded: Recorded::default() }
    }

    pub(crate) fn invalidate(&mut self, ids: impl IntoIterator<Item = Uuid>) {
        self.recorded.ids.extend(ids);
    }

    pub(crate) fn record(&mut self, entries: &[AuditEntry]) {
        if !self.after_commit.subscribers.hooks.is_empty() {
            self.recorded.entries.extend_from_slice(entries);
        }
    }

    pub(crate) fn queue_mail(&mut self) {
        self.recorded.has_mail = true;
    }

    /// Passes the effects on, or defers them to the end of the host transaction. To be called after the commit.
    pub(crate) fn committed(mut self) {
        let recorded = mem::take(&mut self.recorded);
        match self.after_commit.locked() {
            Some(mut deferred) => {
                deferred.ids.extend(recorded.ids);
                deferred.entries.extend(recorded.entries);
                deferred.has_mail |= recorded.has_mail;
            }
            None => self.after_commit.subscribers.notify(&recorded),
        }
    }
}

impl Drop for PendingEffects<'_> {
    fn drop(&mut self) {
        let ids = mem::take(&mut self.recorded.ids);
        match self.after_commit.locked() {
            Some(mut deferred) => deferred.ids.extend(ids),
            None => self.after_commit.subscribers.snapshots.invalidate(&ids),
        }
    }
}
