//! The feed: the entries of a log in the order of its leaves (`docs/integrating.md#a-program-learns-what-happens`).
//!
//! Nothing is written for it. Its order is that of the sequencer, so a reader that keeps the number of the last entry
//! misses no entry and sees none twice.

use std::pin::pin;
use std::time::Duration;

use iam_model::audit::{AuditEntry, EventPattern, SequencedEntry};
use iam_model::clock::monotonic_now;
use iam_model::error::{Error, Result};
use iam_model::permission;
use iam_model::validate::Fields;
use tokio::time::{Instant, sleep_until};

use crate::audit::Audit;
use crate::caller::Caller;
use crate::engine::{Engine, OpenStream};

/// An entry of the log with its number in the sequence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogEvent {
    /// The number of the entry in the log of its tenant, counted from one. Numbers have no gaps.
    pub sequence: u64,
    /// The entry.
    pub entry: AuditEntry,
}

/// Consecutive events of a log.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventPage {
    /// The events, in the order of the sequence.
    pub events: Vec<LogEvent>,
    /// After which number the next page starts. To keep until the events are processed.
    pub next: u64,
    /// Whether the program stops, so that feeds wait no more; see [`Iam::end_feeds`](crate::Iam::end_feeds).
    pub has_ended: bool,
}

/// Follows the log of the caller's tenant; see [`Audit::follow`].
pub struct EventFeed<'a> {
    iam: &'a Engine,
    caller: Caller,
    after: Option<u64>,
    patterns: Vec<EventPattern>,
    limit: u32,
}

/// The maximum number of events in a page.
pub(crate) const MAX_EVENTS: u32 = 500;

/// How many entries are read at once. An entry has some 50 KiB at most.
const CHUNK: u32 = 100;

/// How many bytes the events of a page have, approximately: a page ends with the event that exceeds them.
const MAX_BYTES: usize = 4 << 20;

/// How many entries one page skips at most, because they match no pattern.
const SKIPPED: u64 = 10_000;

/// How often a caller that waits must still have the permission.
const RECHECK: Duration = Duration::from_secs(5);

/// How often the store is queried while the notifications of other replicas do not arrive.
const POLL: Duration = Duration::from_secs(1);

impl<'a> Audit<'a> {
    /// Follows the log of the caller's tenant: its entries in the order of the sequence, from after the number `after`
    /// on, or from the first one that retention has left. A page has at most `limit` (1–500) events, and fewer if they are
    /// large.
    ///
    /// An entry appears in the feed when it is [sequenced](crate::Iam::sequence_audit_logs), which some task must do. A
    /// waiting feed makes no query while nothing happens, if this process
    /// [follows](crate::Iam::follow_changes) the changes of others.
    ///
    /// Needs `audit-logs:read` tenant-wide, at each page. Trusted code can follow every tenant with a
    /// [`Caller::system`] of that tenant.
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// let mut feed = iam.audit().follow(&ada, None, 100);
    /// # iam.sequence_audit_logs().await?;
    /// let page = feed.next().await?;
    /// for event in &page.events {
    ///     println!("{} {}", event.sequence, event.entry.event_type());
    /// }
    /// let kept = page.next; // to keep with the result of the work, for `follow` after a restart
    /// # assert_eq!(kept, page.events.len() as u64);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn follow(&self, caller: &Caller, after: Option<u64>, limit: u32) -> EventFeed<'a> {
        EventFeed { iam: self.0, caller: caller.clone(), after, patterns: Vec::new(), limit }
    }

    /// Counts an open stream of events of the caller's user, until the returned value is dropped. An API key counts for
    /// its user, and a session in which another user acts for that other one; trusted code is not counted. A host
    /// program that lets users [`follow`](Self::follow) their log holds one for as long as such a feed waits or its
    /// events are sent.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyStreams`] if the user has ten open streams in this process, or its tenant a hundred.
    pub fn open_stream(&self, caller: &Caller) -> Result<OpenStream> {
        self.0.event_streams.open(caller.person().map(|user| (caller.tenant(), user)))
    }
}

impl EventFeed<'_> {
    /// Shows only events that match one of these patterns. Without any, it shows all.
    #[must_use]
    pub fn only(self, patterns: Vec<EventPattern>) -> Self {
        Self { patterns, ..self }
    }

    /// Waits until there are events, and returns them. The page is empty only when [feeds end](EventPage::has_ended).
    ///
    /// # Errors
    ///
    /// Those of [`next_within`](Self::next_within).
    pub async fn next(&mut self) -> Result<EventPage> {
        loop {
            let page = self.next_within(Duration::from_secs(60)).await?;
            if !page.events.is_empty() || page.has_ended {
                return Ok(page);
            }
        }
    }

    /// Returns the next events as soon as there are some, and an empty page when this time has passed or [feeds
    /// end](crate::Iam::end_feeds). Then the next page starts where the last one ended; but if a pattern has skipped more
    /// than 10,000 entries, it starts after those.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Unauthenticated`] when the caller's session has ended or its API key was revoked;
    /// [`Error::EventsRemoved`] when retention has removed the next entries; [`Error::Validation`] which names `limit`, or
    /// `after` if it is beyond the newest entry: the log was restored from a backup that is older than the reader.
    pub async fn next_within(&mut self, wait: Duration) -> Result<EventPage> {
        let mut fields = Fields::default();
        if !(1..=MAX_EVENTS).contains(&self.limit) {
            fields.reject("limit", format!("must be 1 to {MAX_EVENTS}"));
        }
        fields.finish()?;
        let (snapshots, streams) = (self.iam.snapshots(), &self.iam.event_streams);
        let watch = snapshots.log_watches().of(self.caller.tenant());
        let until = Instant::now() + wait;
        let mut scanned = None;
        loop {
            let mut continued = pin!(watch.notified());
            // Before the log is read: what is sequenced afterwards wakes this feed.
            continued.as_mut().enable();
            let read_version = snapshots.read_version();
            self.require().await?;
            let page = self.read(scanned).await?;
            let has_ended = streams.have_ended();
            if !page.events.is_empty() || page.has_more || has_ended || Instant::now() >= until {
                self.after = Some(page.next);
                let Page { events, next, .. } = page;
                return Ok(EventPage { events, next, has_ended });
            }
            scanned = Some(page.scanned);
            loop {
                let pause = if snapshots.are_trusted(monotonic_now()) { RECHECK } else { POLL };
                let is_woken = tokio::select! {
                    () = continued.as_mut() => true,
                    () = streams.ended() => true,
                    () = sleep_until(until.min(Instant::now() + pause)) => false,
                };
                let has_missed = !snapshots.has_received_all(read_version, monotonic_now());
                if is_woken || has_missed || Instant::now() >= until {
                    break;
                }
                self.require().await?;
            }
        }
    }

    /// Reads the caller's rights again, from the cache if possible, and requires the permission.
    async fn require(&mut self) -> Result<()> {
        self.caller = self.iam.renewed(&self.caller).await?;
        self.iam.rights(&self.caller).require(&permission::AUDIT_LOGS_READ)
    }

    /// Reads a page. `scanned` is up to where an earlier attempt has found nothing.
    async fn read(&self, scanned: Option<u64>) -> Result<Page> {
        let head = self.iam.log_head(self.caller.tenant()).await?;
        let start = self.after.unwrap_or(head.removed);
        if start > head.leaves {
            let message = format!("must not be after {}, the newest sequence", head.leaves);
            return Err(Error::field("after", message));
        }
        let mut from = scanned.unwrap_or(start).max(start);
        if from < head.removed {
            return Err(Error::EventsRemoved { first: head.removed + 1 });
        }
        let (first, mut events, mut bytes) = (from, Vec::new(), 0);
        loop {
            let mut chunk = self.chunk(from).await?;
            // A replica may have entries that are not safe on the primary yet.
            chunk.retain(|read| read.leaf.sequence < head.leaves);
            let is_last = chunk.len() < CHUNK as usize;
            for SequencedEntry { leaf, entry } in chunk {
                let Some(entry) = entry else { return Err(self.missing(leaf.sequence).await?) };
                from = leaf.sequence + 1;
                if self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(&entry)) {
                    bytes += entry.size();
                    events.push(LogEvent { sequence: from, entry });
                }
                if events.len() == self.limit as usize || bytes > MAX_BYTES {
                    return Ok(Page { events, next: from, scanned: from, has_more: false });
                }
            }
            let has_more = !is_last && from - first >= SKIPPED;
            if is_last || has_more {
                // A reader that found nothing asks again from the same place.
                let next = if events.is_empty() && !has_more { start } else { from };
                return Ok(Page { events, next, scanned: from, has_more });
            }
        }
    }

    /// Reads the next entries. Each chunk waits for a turn, so that a page of many chunks does not hold up other reads
    /// of the tenant.
    async fn chunk(&self, from: u64) -> Result<Vec<SequencedEntry>> {
        let _turn = self.iam.long_read(&self.caller).await?;
        Ok(self.iam.store.sequenced_entries(self.caller.tenant(), from, CHUNK).await?)
    }

    /// Returns why an entry with a leaf is missing: retention has removed it a moment ago, or the log was changed.
    async fn missing(&self, sequence: u64) -> Result<Error> {
        let head = self.iam.log_head(self.caller.tenant()).await?;
        if sequence < head.removed {
            return Ok(Error::EventsRemoved { first: head.removed + 1 });
        }
        Ok(Error::internal("audit log", format!("the entry with the sequence number {} is missing", sequence + 1)))
    }
}

/// The result of one read.
struct Page {
    events: Vec<LogEvent>,
    next: u64,
    /// Up to which number the attempt has looked.
    scanned: u64,
    /// Whether the attempt has skipped so much that it stopped before the end.
    has_more: bool,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iam_model::audit::NewEvent;
    use iam_model::context::RequestContext;
    use iam_store_memory::MemoryStore;
    use serde_json::json;

    use super::MAX_BYTES;
    use crate::caller::Caller;
    use crate::iam::Iam;
    use crate::tenant::Registration;
    use crate::user::NewUser;

    #[tokio::test]
    async fn a_page_of_large_events_has_fewer_and_the_next_one_continues() {
        const EVENT: usize = 15_000;
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let user = NewUser {
            email: "ada@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        let registration = Registration { user, tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let caller = Caller::system(registered.tenant.id, "test");
        let metadata = json!({ "text": "x".repeat(EVENT) }).as_object().cloned().unwrap_or_default();
        let count = MAX_BYTES / EVENT + 10;
        for _ in 0..count {
            let (action, resource_type, metadata) = ("SENT".to_owned(), "LETTER".to_owned(), metadata.clone());
            let event = NewEvent { action, resource_type, metadata, ..NewEvent::default() };
            iam.audit().log(&caller, event).await.unwrap();
        }
        while iam.sequence_audit_logs().await.unwrap().more {}
        let mut feed = iam.audit().follow(&caller, None, 500);
        let (first, second) = (feed.next().await.unwrap(), feed.next().await.unwrap());
        assert!(first.events.len() < count, "{}", first.events.len());
        assert_eq!(first.next, first.events.len() as u64);
        let sequences = first.events.iter().chain(&second.events).map(|event| event.sequence);
        assert!(sequences.eq(1..=second.next) && second.next > count as u64);
    }
}
