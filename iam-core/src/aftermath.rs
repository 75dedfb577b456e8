//! What follows a commit.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use crate::audit::AuditEntry;
use crate::session::Snapshots;

/// A function of the host; see [`Builder::after_commit`](crate::Builder::after_commit).
pub(crate) type Hook = Box<dyn Fn(&[AuditEntry]) + Send + Sync>;

/// Who has to know of what was committed.
#[derive(Default)]
pub(crate) struct Followers {
    pub(crate) snapshots: Snapshots,
    pub(crate) hooks: Vec<Hook>,
}

/// Tells the followers what units of work have done: at once, or when the transaction of the host ends of which those are
/// parts.
#[derive(Default)]
pub(crate) struct Aftermath {
    followers: Arc<Followers>,
    held_back: Option<Mutex<Recorded>>,
}

/// What a unit of work has done.
#[derive(Default)]
struct Recorded {
    /// Of what has changed.
    ids: Vec<Uuid>,
    /// For the hooks, where there are any.
    entries: Vec<AuditEntry>,
}

impl Aftermath {
    pub(crate) fn at_once(hooks: Vec<Hook>) -> Self {
        let followers = Followers { snapshots: Snapshots::default(), hooks };
        Self { followers: Arc::new(followers), held_back: None }
    }

    /// For the same followers, when the transaction of the host has ended.
    pub(crate) fn held_back(&self) -> Self {
        Self { followers: Arc::clone(&self.followers), held_back: Some(Mutex::default()) }
    }

    pub(crate) fn snapshots(&self) -> &Snapshots {
        &self.followers.snapshots
    }

    /// The transaction of the host is committed.
    pub(crate) fn release(&self) {
        if let Some(mut held_back) = self.locked() {
            let Recorded { ids, entries } = mem::take(&mut *held_back);
            drop(held_back);
            self.followers.tell(&ids, &entries);
        }
    }

    fn locked(&self) -> Option<MutexGuard<'_, Recorded>> {
        Some(self.held_back.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A commit that fails, or that nobody waits for to the end, may have taken place.
impl Drop for Aftermath {
    fn drop(&mut self) {
        if let Some(Recorded { ids, .. }) = self.locked().map(|mut held_back| mem::take(&mut *held_back)) {
            self.followers.snapshots.touch(&ids);
        }
    }
}

impl Followers {
    fn tell(&self, ids: &[Uuid], entries: &[AuditEntry]) {
        self.snapshots.touch(ids);
        if !entries.is_empty() {
            self.hooks.iter().for_each(|hook| hook(entries));
        }
    }
}

/// What one unit of work has done so far. Dropped, whatever has become of it, what it has changed counts anew: a commit that
/// fails, or that nobody waits for to the end, may have taken place.
pub(crate) struct Doing<'a> {
    aftermath: &'a Aftermath,
    recorded: Recorded,
}

impl<'a> Doing<'a> {
    pub(crate) fn nothing(aftermath: &'a Aftermath) -> Self {
        Self { aftermath, recorded: Recorded::default() }
    }

    pub(crate) fn touch(&mut self, ids: impl IntoIterator<Item = Uuid>) {
        self.recorded.ids.extend(ids);
    }

    pub(crate) fn record(&mut self, entries: &[AuditEntry]) {
        if !self.aftermath.followers.hooks.is_empty() {
            self.recorded.entries.extend_from_slice(entries);
        }
    }

    /// All of it is committed.
    pub(crate) fn done(mut self) {
        let recorded = mem::take(&mut self.recorded);
        match self.aftermath.locked() {
            Some(mut held_back) => {
                held_back.ids.extend(recorded.ids);
                held_back.entries.extend(recorded.entries);
            }
            None => self.aftermath.followers.tell(&recorded.ids, &recorded.entries),
        }
    }
}

impl Drop for Doing<'_> {
    fn drop(&mut self) {
        let ids = mem::take(&mut self.recorded.ids);
        match self.aftermath.locked() {
            Some(mut held_back) => held_back.ids.extend(ids),
            None => self.aftermath.followers.snapshots.touch(&ids),
        }
    }
}
