//! What is known of sessions and of where organizations stand, so that the store need not be asked for each request.

#[cfg(test)]
mod model;
mod stamps;
#[cfg(test)]
mod tests;

use std::hash::Hash;
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
use crate::id::{OrganizationId, SessionId, TenantId, UserId};
use crate::organization::{Ancestry, Position};
use crate::tenant::TenantStatus;
use crate::user::UserStatus;

/// For this long after it has heard of everything the process goes by what it has kept. Whatever others commit counts
/// here within a second, however little is heard of them.
const LEASE: Duration = Duration::from_millis(900);
/// For this long a snapshot is used at most, whatever is heard: should anything ever change that nobody tells of, it does not
/// stay unseen.
const MAX_AGE: Duration = Duration::from_secs(60);
/// About how many bytes are kept at most of each kind: some ten thousand sessions of users with a few roles, or as many
/// organizations with everything above them.
const CAPACITY: u64 = 16 << 20;
/// About how many that is.
const ITEMS: usize = 1 << 14;
/// So many parts are locked apart, however many cores there are: what weighs more than a part is never kept, and those who
/// hold hundreds of roles are the dearest to ask about.
const PARTS: usize = 8;

/// What the store said of sessions and of where organizations stand, for as long as it is known to be so still.
///
/// What this process changes it [stamps](Self::touch) itself. What others change it is told by a feed; while nobody
/// [follows](Self::follow) one, or its news are late, nothing that was kept is given out.
pub(crate) struct Snapshots {
    sessions: Answers<SessionId, Snapshot>,
    /// Each organization with everything above it.
    lineages: Answers<OrganizationId, Ancestry>,
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
    /// Every assignment of the user, expired ones included.
    pub(crate) grants: Box<[Grant]>,
}

/// Answers of the store, by what was asked for.
type Answers<K, T> = Cache<(TenantId, K), Arc<Answer<T>>, BySize>;

/// An answer of the store as it is kept.
struct Answer<T> {
    value: Arc<T>,
    /// Whatever changes one of these may change the answer.
    hangs_on: Box<[Uuid]>,
    as_of: Ticket,
    /// When the store was asked.
    asked: Instant,
    size: usize,
}

impl Default for Snapshots {
    fn default() -> Self {
        Self { sessions: answers(), lineages: answers(), stamps: Stamps::default(), trust: RwLock::default() }
    }
}

fn answers<K: Eq + Hash, T>() -> Answers<K, T> {
    let mut options = OptionsBuilder::new();
    options.shards(PARTS).estimated_items_capacity(ITEMS).weight_capacity(CAPACITY);
    #[expect(clippy::expect_used, reason = "both capacities are set")]
    let options = options.build().expect("complete options");
    Cache::with_options(options, BySize, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

impl Snapshots {
    /// What was kept of a session, if it is so still.
    pub(crate) fn session(&self, tenant: TenantId, session: SessionId, at: Instant) -> Option<Arc<Snapshot>> {
        self.get(&self.sessions, (tenant, session), at)
    }

    /// An organization with everything above it, if that was kept and is so still.
    pub(crate) fn lineage(&self, tenant: TenantId, id: OrganizationId, at: Instant) -> Option<Arc<Ancestry>> {
        self.get(&self.lineages, (tenant, id), at)
    }

    fn get<K: Eq + Hash, T>(&self, kept: &Answers<K, T>, key: (TenantId, K), at: Instant) -> Option<Arc<T>> {
        let trust = self.trust().filter(|trust| at < trust.until)?;
        let answer = kept.get(&key)?;
        let is_young = at.duration_since(answer.asked) < MAX_AGE;
        let is_heard_of = answer.as_of >= trust.since;
        let stands = is_young && is_heard_of && self.stamps.are_before(answer.as_of, &answer.hangs_on);
        stands.then(|| Arc::clone(&answer.value))
    }

    /// To be taken before the store is asked for what is then kept.
    pub(crate) fn ticket(&self) -> Ticket {
        self.stamps.ticket()
    }

    /// Keeps what the store said of a session when it was asked after this ticket was taken.
    pub(crate) fn keep_session(
        &self,
        tenant: TenantId,
        session: SessionId,
        read: SessionSnapshot,
        as_of: Ticket,
        asked: Instant,
    ) -> Arc<Snapshot> {
        let snapshot = Snapshot::from(read);
        let held = snapshot.grants.iter().flat_map(identifiers);
        let own = [tenant.as_uuid(), session.as_uuid(), snapshot.user_id.as_uuid()];
        let mut hangs_on: Vec<Uuid> = own.into_iter().chain(held).collect();
        hangs_on.sort_unstable();
        hangs_on.dedup();
        let size = snapshot.size();
        self.keep(&self.sessions, (tenant, session), Answer::new(snapshot, hangs_on, as_of, asked, size))
    }

    /// Keeps where an organization stands, as the store said when it was asked after this ticket was taken.
    pub(crate) fn keep_lineage(
        &self,
        tenant: TenantId,
        position: Position<'_>,
        as_of: Ticket,
        asked: Instant,
    ) -> Arc<Ancestry> {
        let lineage = Ancestry::above(position);
        let hangs_on = position.lineage().map(OrganizationId::as_uuid).collect();
        let size = lineage.size();
        let answer = Answer::new(lineage, hangs_on, as_of, asked, size);
        self.keep(&self.lineages, (tenant, position.id()), answer)
    }

    fn keep<K: Eq + Hash, T>(&self, kept: &Answers<K, T>, key: (TenantId, K), answer: Answer<T>) -> Arc<T> {
        let value = Arc::clone(&answer.value);
        // Nothing that was read before the first news is worth its memory, and nothing at all where none come.
        if self.trust().is_some() {
            kept.insert(key, Arc::new(answer));
        }
        value
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

    /// About how many bytes it takes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.authority.size() + self.grants.iter().map(Grant::size).sum::<usize>()
    }
}

impl From<SessionSnapshot> for Snapshot {
    fn from(read: SessionSnapshot) -> Self {
        let SessionSnapshot { user_id, user_status, tenant_status, expires_at, grants } = read;
        let authority = Arc::new(Authority::of(&grants));
        Self { user_id, user_status, tenant_status, expires_at, authority, grants: grants.into() }
    }
}

impl<T> Answer<T> {
    fn new(value: T, hangs_on: Vec<Uuid>, as_of: Ticket, asked: Instant, size: usize) -> Self {
        let size = size_of::<Self>() + size_of_val(&*hangs_on) + size;
        Self { value: Arc::new(value), hangs_on: hangs_on.into(), as_of, asked, size }
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

impl<K, T> Weighter<K, Arc<Answer<T>>> for BySize {
    fn weight(&self, _: &K, answer: &Arc<Answer<T>>) -> u64 {
        answer.size as u64
    }
}
