//! What is known of sessions, so that the store need not be asked for each request.

#[cfg(test)]
mod model;
mod stamps;
#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use uuid::Uuid;

use stamps::Stamps;
pub(crate) use stamps::Ticket;

use super::SessionSnapshot;
use crate::access::Authority;
use crate::assignment::Grant;
use crate::clock::Timestamp;
use crate::error::StoreError;
use crate::feed::{ChangeFeed, News};
use crate::id::{SessionId, TenantId, UserId};
use crate::tenant::TenantStatus;
use crate::user::UserStatus;

/// For this long after it has heard of everything the process goes by what it has kept. Whatever others commit counts
/// here within a second, however little is heard of them.
const LEASE: Duration = Duration::from_millis(900);
/// For this long a snapshot is used at most, whatever is heard: should anything ever change that nobody tells of, it does not
/// stay unseen.
const MAX_AGE: Duration = Duration::from_secs(60);
/// About how many bytes are kept at most: some ten thousand sessions of users with a few roles.
const CAPACITY: u64 = 16 << 20;
/// About how many sessions that is.
const SESSIONS: usize = 1 << 14;
/// So many parts are locked apart, however many cores there are: what weighs more than a part is never kept, and those who
/// hold hundreds of roles are the dearest to ask about.
const PARTS: usize = 8;

/// What the store said of sessions, for as long as it is known to be so still.
///
/// What this process changes it [stamps](Self::touch) itself. What others change it is told by a feed; while nobody
/// [follows](Self::follow) one, or its news are late, nothing that was kept is given out.
pub(crate) struct Snapshots {
    kept: Cache<(TenantId, SessionId), Arc<Snapshot>, BySize>,
    stamps: Stamps,
    trust: RwLock<Option<Trust>>,
}

/// That the process hears of what others change.
#[derive(Clone, Copy)]
struct Trust {
    /// What was read before the feed began may have changed unheard.
    since: Ticket,
    until: Instant,
}

/// A [`SessionSnapshot`] as it is kept.
pub(crate) struct Snapshot {
    pub(crate) user_id: UserId,
    pub(crate) user_status: UserStatus,
    pub(crate) tenant_status: TenantStatus,
    pub(crate) expires_at: Timestamp,
    pub(crate) authority: Arc<Authority>,
    /// Whatever changes one of these may change the snapshot.
    hangs_on: Box<[Uuid]>,
    as_of: Ticket,
    /// When the store was asked.
    asked: Instant,
    size: usize,
}

impl Default for Snapshots {
    fn default() -> Self {
        let mut options = OptionsBuilder::new();
        options.shards(PARTS).estimated_items_capacity(SESSIONS).weight_capacity(CAPACITY);
        #[expect(clippy::expect_used, reason = "both capacities are set")]
        let options = options.build().expect("complete options");
        let kept = Cache::with_options(options, BySize, DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self { kept, stamps: Stamps::default(), trust: RwLock::default() }
    }
}

impl Snapshots {
    /// What was kept of a session, if it is so still.
    pub(crate) fn get(&self, tenant: TenantId, session: SessionId, at: Instant) -> Option<Arc<Snapshot>> {
        let trust = self.trust().filter(|trust| at < trust.until)?;
        let snapshot = self.kept.get(&(tenant, session))?;
        let is_young = at.duration_since(snapshot.asked) < MAX_AGE;
        let is_heard_of = snapshot.as_of >= trust.since;
        let stands = is_young && is_heard_of && self.stamps.are_before(snapshot.as_of, &snapshot.hangs_on);
        stands.then_some(snapshot)
    }

    /// To be taken before the store is asked for what is then [kept](Self::keep).
    pub(crate) fn ticket(&self) -> Ticket {
        self.stamps.ticket()
    }

    /// Keeps what the store said when it was asked after this ticket was taken.
    pub(crate) fn keep(
        &self,
        tenant: TenantId,
        session: SessionId,
        read: &SessionSnapshot,
        as_of: Ticket,
        asked: Instant,
    ) -> Arc<Snapshot> {
        let snapshot = Arc::new(Snapshot::new(tenant, session, read, as_of, asked));
        // Nothing that was read before the first news is worth its memory, and nothing at all where none come.
        if self.trust().is_some() {
            self.kept.insert((tenant, session), Arc::clone(&snapshot));
        }
        snapshot
    }

    /// Something has changed. To be called once it is committed, and before anybody is told that it is.
    pub(crate) fn touch(&self, changed: &[Uuid]) {
        self.stamps.touch(changed);
    }

    /// Whether something was changed, as far as this process has heard, after a ticket was taken.
    pub(crate) fn is_touched(&self, id: Uuid, since: Ticket) -> bool {
        !self.stamps.are_before(since, &[id])
    }

    /// Whether this process has heard of everything that others have changed since a ticket was taken.
    pub(crate) fn has_heard_all(&self, since: Ticket, at: Instant) -> bool {
        self.trust().is_some_and(|trust| at < trust.until && since >= trust.since)
    }

    /// Whether what others change is heard of at this moment.
    pub(crate) fn are_trusted(&self, at: Instant) -> bool {
        self.trust().is_some_and(|trust| at < trust.until)
    }

    /// Follows a feed to its end.
    pub(crate) async fn follow(&self, mut feed: Box<dyn ChangeFeed>) -> StoreError {
        let following = self.begin_to_follow();
        loop {
            match feed.next().await {
                Ok(news) => following.hear(&news),
                Err(error) => return error,
            }
        }
    }

    /// Begins to follow a feed, which tells already: what is committed between a read that is kept and the beginning of
    /// the feed would never be heard of.
    fn begin_to_follow(&self) -> Following<'_> {
        Following { snapshots: self, since: self.stamps.advance() }
    }

    fn trust(&self) -> Option<Trust> {
        *self.trust.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_trust(&self, trust: Option<Trust>) {
        *self.trust.write().unwrap_or_else(PoisonError::into_inner) = trust;
    }
}

/// Follows a feed. Dropping it gives up the trust.
struct Following<'a> {
    snapshots: &'a Snapshots,
    since: Ticket,
}

impl Following<'_> {
    fn hear(&self, news: &News) {
        // Before they are trusted: that is to say that everything is stamped.
        self.snapshots.touch(&news.changed);
        if let Some(complete_at) = news.complete_at {
            self.snapshots.set_trust(Some(Trust { since: self.since, until: complete_at + LEASE }));
        }
    }
}

impl Drop for Following<'_> {
    fn drop(&mut self) {
        self.snapshots.set_trust(None);
    }
}

impl Snapshot {
    /// Whether the session is that of a user, and its tokens are accepted at a moment.
    pub(crate) fn admits(&self, user: UserId, now: Timestamp) -> bool {
        self.user_id == user
            && self.user_status == UserStatus::Active
            && self.tenant_status == TenantStatus::Active
            && now < self.expires_at
    }

    fn new(tenant: TenantId, session: SessionId, read: &SessionSnapshot, as_of: Ticket, asked: Instant) -> Self {
        let SessionSnapshot { user_id, user_status, tenant_status, expires_at, grants } = read;
        let held = grants.iter().flat_map(identifiers);
        let own = [tenant.as_uuid(), session.as_uuid(), user_id.as_uuid()];
        let mut hangs_on: Vec<Uuid> = own.into_iter().chain(held).collect();
        hangs_on.sort_unstable();
        hangs_on.dedup();
        let authority = Authority::of(grants);
        let size = size_of::<Self>() + size_of_val(&*hangs_on) + authority.size();
        Self {
            user_id: *user_id,
            user_status: *user_status,
            tenant_status: *tenant_status,
            expires_at: *expires_at,
            authority: Arc::new(authority),
            hangs_on: hangs_on.into(),
            as_of,
            asked,
            size,
        }
    }
}

/// What a grant hangs on, beside its user: its assignment, its role, its organization and everything above that.
fn identifiers(grant: &Grant) -> impl Iterator<Item = Uuid> {
    let lineage = grant.organization.iter().flat_map(|organization| &organization.lineage);
    let organizations = grant.assignment.organization_id.iter().chain(lineage);
    [grant.assignment.id.as_uuid(), grant.role.id.as_uuid()].into_iter().chain(organizations.map(|id| id.as_uuid()))
}

#[derive(Clone)]
struct BySize;

impl Weighter<(TenantId, SessionId), Arc<Snapshot>> for BySize {
    fn weight(&self, _: &(TenantId, SessionId), snapshot: &Arc<Snapshot>) -> u64 {
        snapshot.size as u64
    }
}
