//! The cache of sessions, API keys, positions of organizations and rules for attributes. It avoids a query for each
//! request.

mod ended;
mod log_watches;
#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
mod versions;

pub(crate) use crate::cache::ended::EndedSessions;
pub(crate) use crate::cache::versions::ReadVersion;

use std::hash::Hash;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use iam_model::access::{Authority, Until};
use iam_model::api_key::{ApiKey, ApiKeySecret};
use iam_model::assignment::{Grant, GrantOrganization};
use iam_model::attribute::AttributeRules;
use iam_model::clock::Timestamp;
use iam_model::context::Impersonator;
use iam_model::error::Forbidden;
use iam_model::id::{ApiKeyId, OrganizationId, SessionId, TenantId, UserId};
use iam_model::organization::{Ancestry, Position};
use iam_model::permission::PermissionSet;
use iam_model::store::{ApiKeySnapshot, ChangeFeed, FeedNotification, SessionSnapshot};
use iam_model::store_error::StoreError;
use iam_model::tenant::{AuthzenIdentifiers, TenantStatus};
use iam_model::user::UserStatus;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use subtle::ConstantTimeEq as _;
use uuid::Uuid;

use crate::cache::log_watches::LogWatches;
use crate::cache::versions::Versions;
use crate::distinct::distinct;

/// How long the cache may be used after the change feed was complete. So a commit of another replica takes effect here
/// within a second, even when no notification of it arrives.
const LEASE: Duration = Duration::from_millis(900);

/// The maximum age of a cache entry, even if no change of it is notified. It limits the effect of a change without a
/// notification.
const MAX_AGE: Duration = Duration::from_secs(60);

/// The approximate capacity of each cache in bytes: some ten thousand sessions of users with a few roles, or as many
/// organizations with their ancestors.
const CAPACITY: u64 = 16 << 20;

/// The approximate number of entries that this is.
const ITEMS: usize = 1 << 14;

/// The number of shards, which are locked separately. It does not depend on the number of cores, because an entry that
/// is larger than a shard is never cached, and users with hundreds of roles are the most expensive to query.
const SHARDS: usize = 8;

/// The cache of sessions, API keys, positions of organizations and rules for attributes. It returns an entry only while
/// the entry is known to be current.
///
/// This process [invalidates](Self::invalidate) the entries that it changes itself. A change feed notifies it of the
/// changes of other replicas. While no feed is [followed](Self::follow), or its notifications are late, the cache
/// returns nothing.
pub(crate) struct SessionCache {
    sessions: Entries<SessionId, CachedSession>,
    api_keys: Entries<ApiKeyId, CachedApiKey>,
    /// Each organization with its ancestors.
    lineages: Entries<OrganizationId, Ancestry>,
    /// The rules of each tenant. They are no attributes: these are never cached.
    attribute_rules: Entries<(), AttributeRules>,
    log_watches: LogWatches,
    versions: Versions,
    lease: RwLock<Option<Lease>>,
}

/// The time in which this process receives all changes of other replicas.
#[derive(Clone, Copy)]
struct Lease {
    /// Entries that were read before the feed began are not used: a change of them may have been missed.
    since: ReadVersion,
    until: Instant,
}

/// The cached form of a [`SessionSnapshot`].
pub(crate) struct CachedSession {
    pub(crate) user_id: UserId,
    pub(crate) user_status: UserStatus,
    pub(crate) tenant_status: TenantStatus,
    pub(crate) expires_at: Timestamp,
    /// From when on the session is restricted, if it is.
    pub(crate) enrol_by: Option<Timestamp>,
    pub(crate) authzen_identifiers: AuthzenIdentifiers,
    /// The user who acts in the session, if that is another one than its own.
    pub(crate) impersonator: Option<Impersonator>,
    pub(crate) authority: Arc<Authority>,
    /// All role assignments of the user, including expired ones.
    pub(crate) grants: Arc<[Grant]>,
    /// The result of the last comparison of the rights of both users.
    covered: RwLock<Option<Covered>>,
}

/// Until when the user who acts in a session of another one holds all rights of that one.
struct Covered {
    /// The state of its own session, by which the comparison was made. Its rights are those of the same state alone.
    by: Weak<CachedSession>,
    until: Until,
}

/// The cached form of an [`ApiKeySnapshot`].
pub(crate) struct CachedApiKey {
    pub(crate) key: ApiKey,
    pub(crate) user_status: UserStatus,
    pub(crate) tenant_status: TenantStatus,
    /// From when on the key is refused because its user has no second factor, if it is.
    enrol_by: Option<Timestamp>,
    pub(crate) authzen_identifiers: AuthzenIdentifiers,
    pub(crate) authority: Arc<Authority>,
    /// The role assignments of the user that the key has, including expired ones.
    pub(crate) grants: Box<[Grant]>,
    /// When this process has last written the use of the key, in milliseconds since 1970.
    last_use: AtomicI64,
}

/// The cache entries of one kind, by tenant and id.
type Entries<K, T> = Cache<(TenantId, K), Arc<Entry<T>>, BySize>;

/// A cache entry.
struct Entry<T> {
    value: Arc<T>,
    /// A change of one of these may change the value.
    depends_on: Box<[Uuid]>,
    as_of: ReadVersion,
    /// When the store was queried.
    asked: Instant,
    size: usize,
}

impl Default for SessionCache {
    fn default() -> Self {
        Self {
            sessions: entries(),
            api_keys: entries(),
            lineages: entries(),
            attribute_rules: entries(),
            log_watches: LogWatches::default(),
            versions: Versions::default(),
            lease: RwLock::default(),
        }
    }
}

fn entries<K: Eq + Hash, T>() -> Entries<K, T> {
    let mut options = OptionsBuilder::new();
    options.shards(SHARDS).estimated_items_capacity(ITEMS).weight_capacity(CAPACITY);
    #[expect(clippy::expect_used, reason = "both capacities are set")]
    let options = options.build().expect("complete options");
    Cache::with_options(options, BySize, DefaultHashBuilder::default(), DefaultLifecycle::default())
}

impl SessionCache {
    /// Returns a session from the cache, if the entry is current at `at`.
    pub(crate) fn session(&self, tenant: TenantId, session: SessionId, at: Instant) -> Option<Arc<CachedSession>> {
        self.get(&self.sessions, (tenant, session), at)
    }

    /// Returns an API key from the cache, if the entry is current at `at`.
    pub(crate) fn api_key(&self, tenant: TenantId, key: ApiKeyId, at: Instant) -> Option<Arc<CachedApiKey>> {
        self.get(&self.api_keys, (tenant, key), at)
    }

    /// Returns an organization with its ancestors from the cache, if the entry is current at `at`.
    pub(crate) fn lineage(&self, tenant: TenantId, id: OrganizationId, at: Instant) -> Option<Arc<Ancestry>> {
        self.get(&self.lineages, (tenant, id), at)
    }

    /// Returns the rules of a tenant for attributes from the cache, if the entry is current at `at`.
    pub(crate) fn attribute_rules(&self, tenant: TenantId, at: Instant) -> Option<Arc<AttributeRules>> {
        self.get(&self.attribute_rules, (tenant, ()), at)
    }

    fn get<K: Eq + Hash, T>(&self, cache: &Entries<K, T>, key: (TenantId, K), at: Instant) -> Option<Arc<T>> {
        let lease = self.lease().filter(|lease| at < lease.until)?;
        let entry = cache.get(&key)?;
        let is_young = at.duration_since(entry.asked) < MAX_AGE;
        let is_in_lease = entry.as_of >= lease.since;
        let is_current = is_young && is_in_lease && self.versions.are_unchanged_since(entry.as_of, &entry.depends_on);
        is_current.then(|| Arc::clone(&entry.value))
    }

    /// Returns the present read version. To be called before the query whose result is then cached.
    pub(crate) fn read_version(&self) -> ReadVersion {
        self.versions.read_version()
    }

    /// Caches a session that was read after the read version `as_of` was taken.
    pub(crate) fn keep_session(
        &self,
        tenant: TenantId,
        session: SessionId,
        read: SessionSnapshot,
        as_of: ReadVersion,
        asked: Instant,
    ) -> Arc<CachedSession> {
        let snapshot = CachedSession::from(read);
        let held = snapshot.grants.iter().flat_map(identifiers);
        let own = [tenant.as_uuid(), session.as_uuid(), snapshot.user_id.as_uuid()];
        let depends_on = distinct(own.into_iter().chain(held));
        let size = snapshot.size();
        self.keep(&self.sessions, (tenant, session), Entry::new(snapshot, depends_on, as_of, asked, size))
    }

    /// Caches an API key that was read, with its organization, after the read version `as_of` was taken.
    pub(crate) fn keep_api_key(
        &self,
        read: ApiKeySnapshot,
        organization: Option<&GrantOrganization>,
        as_of: ReadVersion,
        asked: Instant,
    ) -> Arc<CachedApiKey> {
        let ApiKeySnapshot { key, user_status, tenant_status, enrol_by, authzen_identifiers, grants } = read;
        let (tenant, id) = (key.tenant_id, key.id);
        let own = [tenant.as_uuid(), id.as_uuid(), key.user_id.as_uuid()];
        let above = organization.into_iter().flat_map(|organization| &organization.lineage);
        let above = above.map(|organization| organization.as_uuid());
        let depends_on = distinct(own.into_iter().chain(above).chain(grants.iter().flat_map(identifiers)));
        let grants = key.narrowed(&grants, organization);
        let snapshot = CachedApiKey {
            user_status,
            tenant_status,
            enrol_by,
            authzen_identifiers,
            authority: Arc::new(Authority::of(&grants)),
            grants: grants.into(),
            last_use: AtomicI64::new(key.last_used_at.map_or(i64::MIN, |last| last.timestamp_millis())),
            key,
        };
        let size = snapshot.size();
        self.keep(&self.api_keys, (tenant, id), Entry::new(snapshot, depends_on, as_of, asked, size))
    }

    /// Caches the position of an organization that was read after the read version `as_of` was taken.
    pub(crate) fn keep_lineage(
        &self,
        tenant: TenantId,
        position: Position<'_>,
        as_of: ReadVersion,
        asked: Instant,
    ) -> Arc<Ancestry> {
        let lineage = Ancestry::above(position);
        let depends_on = position.lineage().map(OrganizationId::as_uuid).collect();
        let size = lineage.size();
        let entry = Entry::new(lineage, depends_on, as_of, asked, size);
        self.keep(&self.lineages, (tenant, position.id()), entry)
    }

    /// Caches the rules of a tenant for attributes that were read after the read version `as_of` was taken.
    pub(crate) fn keep_attribute_rules(
        &self,
        tenant: TenantId,
        rules: AttributeRules,
        as_of: ReadVersion,
        asked: Instant,
    ) -> Arc<AttributeRules> {
        let size = rules.size();
        let entry = Entry::new(rules, vec![tenant.as_uuid()], as_of, asked, size);
        self.keep(&self.attribute_rules, (tenant, ()), entry)
    }

    fn keep<K: Eq + Hash, T>(&self, cache: &Entries<K, T>, key: (TenantId, K), entry: Entry<T>) -> Arc<T> {
        let value = Arc::clone(&entry.value);
        // Before the first notification, and without notifications, an entry would never be used.
        if self.lease().is_some() {
            cache.insert(key, Arc::new(entry));
        }
        value
    }

    /// Invalidates the entries that depend on changed ids. To be called after the commit, and before any client is
    /// told of the commit.
    pub(crate) fn invalidate(&self, changed: &[Uuid]) {
        self.versions.invalidate(changed);
        self.log_watches.wake(changed);
    }

    /// Those who wait for new entries of a log.
    pub(crate) fn log_watches(&self) -> &LogWatches {
        &self.log_watches
    }

    /// Whether `id` has changed after the read version `since`, as far as this process knows.
    pub(crate) fn has_changed(&self, id: Uuid, since: ReadVersion) -> bool {
        !self.versions.are_unchanged_since(since, &[id])
    }

    /// Whether this process has received all changes of other replicas since the read version `since`.
    pub(crate) fn has_received_all(&self, since: ReadVersion, at: Instant) -> bool {
        self.lease().is_some_and(|lease| at < lease.until && since >= lease.since)
    }

    /// Whether this process receives the changes of other replicas at this moment.
    pub(crate) fn are_trusted(&self, at: Instant) -> bool {
        self.lease().is_some_and(|lease| at < lease.until)
    }

    /// Follows a feed until it ends, and returns the error that ended it.
    pub(crate) async fn follow(&self, mut feed: Box<dyn ChangeFeed>) -> StoreError {
        let following = self.start_following();
        loop {
            match feed.next().await {
                Ok(notification) => following.receive(&notification),
                Err(error) => return error,
            }
        }
    }

    /// Starts to follow a feed that is already connected. Entries that were read before this are not used: a change
    /// that was committed between such a read and the beginning of the feed is never notified.
    fn start_following(&self) -> FollowedFeed<'_> {
        FollowedFeed { snapshots: self, since: self.versions.advance() }
    }

    fn lease(&self) -> Option<Lease> {
        *self.lease.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_lease(&self, lease: Option<Lease>) {
        *self.lease.write().unwrap_or_else(PoisonError::into_inner) = lease;
    }
}

/// A feed that is being followed. Dropping it ends the lease.
struct FollowedFeed<'a> {
    snapshots: &'a SessionCache,
    since: ReadVersion,
}

impl FollowedFeed<'_> {
    fn receive(&self, notification: &FeedNotification) {
        // Before the lease is extended: a lease means that all changes are invalidated.
        self.snapshots.invalidate(&notification.changed);
        if let Some(complete_at) = notification.complete_at {
            self.snapshots.set_lease(Some(Lease { since: self.since, until: complete_at + LEASE }));
        }
    }
}

impl Drop for FollowedFeed<'_> {
    fn drop(&mut self) {
        self.snapshots.set_lease(None);
    }
}

impl CachedApiKey {
    /// Whether a secret with this digest is accepted at `now`.
    pub(crate) fn admits(&self, secret_hash: &[u8; 32], now: Timestamp) -> bool {
        self.is_valid(now) && self.accepts_until(secret_hash).is_some_and(|end| now < end)
    }

    /// Returns the instant from which on a secret with this digest is refused: the expiry of the key, or for the former
    /// secret the end of the overlap, if that is earlier. `None` if it is no secret of the key.
    pub(crate) fn accepts_until(&self, secret_hash: &[u8; 32]) -> Option<Timestamp> {
        let ApiKeySecret { hash, former } = &self.key.secret;
        if hash.ct_eq(secret_hash).into() {
            return Some(self.key.expires_at);
        }
        let former = former.as_ref().filter(|former| former.hash.ct_eq(secret_hash).into())?;
        Some(former.until.min(self.key.expires_at))
    }

    /// Whether the key has not expired, and its user and tenant are ACTIVE.
    pub(crate) fn is_valid(&self, now: Timestamp) -> bool {
        self.user_status == UserStatus::Active && self.tenant_status == TenantStatus::Active && self.key.is_live(now)
    }

    /// Checks that the user has set up a second factor, if it must.
    ///
    /// # Errors
    ///
    /// [`Forbidden::SecondFactorRequired`].
    pub(crate) fn require_factor(&self, now: Timestamp) -> Result<(), Forbidden> {
        require_factor(self.enrol_by, now)
    }

    /// Whether the use at `now` is to be written. Of several concurrent callers, one is told to.
    pub(crate) fn take_use(&self, now: Timestamp) -> bool {
        let last = self.last_use.load(Ordering::Relaxed);
        let is_due = ApiKey::is_use_due(Timestamp::from_timestamp_millis(last), now);
        let next = now.timestamp_millis();
        is_due && self.last_use.compare_exchange(last, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Returns the approximate size in bytes.
    fn size(&self) -> usize {
        let patterns = self.key.permissions.iter().flat_map(PermissionSet::iter).map(|pattern| pattern.as_str().len());
        let grants = self.authority.size() + self.grants.iter().map(Grant::size).sum::<usize>();
        size_of::<Self>() + self.key.name.as_str().len() + patterns.sum::<usize>() + grants
    }
}

impl CachedSession {
    /// Whether the session belongs to `user`, and its tokens are accepted at `now`.
    pub(crate) fn admits(&self, user: UserId, now: Timestamp) -> bool {
        self.user_id == user
            && self.user_status == UserStatus::Active
            && self.tenant_status == TenantStatus::Active
            && now < self.expires_at
    }

    /// Checks that the session is not restricted.
    ///
    /// # Errors
    ///
    /// [`Forbidden::SecondFactorRequired`].
    pub(crate) fn require_factor(&self, now: Timestamp) -> Result<(), Forbidden> {
        require_factor(self.enrol_by, now)
    }

    /// Whether it is known that the user of a session whose state is `by` may act as the user of this one at `now`.
    pub(crate) fn is_covered_by(&self, by: &Arc<Self>, now: Timestamp) -> bool {
        let covered = self.covered.read().unwrap_or_else(PoisonError::into_inner);
        covered
            .as_ref()
            .is_some_and(|covered| covered.by.as_ptr() == Arc::as_ptr(by) && covered.until > Until::Moment(now))
    }

    /// Keeps until when it may, unless the rights of one of them change before.
    pub(crate) fn keep_covered(&self, by: &Arc<Self>, until: Until) {
        let covered = Covered { by: Arc::downgrade(by), until };
        *self.covered.write().unwrap_or_else(PoisonError::into_inner) = Some(covered);
    }

    /// Returns the approximate size in bytes.
    fn size(&self) -> usize {
        size_of::<Self>() + self.authority.size() + self.grants.iter().map(Grant::size).sum::<usize>()
    }
}

impl From<SessionSnapshot> for CachedSession {
    fn from(read: SessionSnapshot) -> Self {
        let SessionSnapshot {
            user_id,
            user_status,
            tenant_status,
            expires_at,
            impersonator,
            enrol_by,
            authzen_identifiers,
            grants,
        } = read;
        Self {
            user_id,
            user_status,
            tenant_status,
            expires_at,
            // A user who acts as another one has to authenticate by a factor in its own session.
            enrol_by: enrol_by.filter(|_| impersonator.is_none()),
            authzen_identifiers,
            impersonator,
            authority: Arc::new(Authority::of(&grants)),
            grants: grants.into(),
            covered: RwLock::default(),
        }
    }
}

fn require_factor(enrol_by: Option<Timestamp>, now: Timestamp) -> Result<(), Forbidden> {
    match enrol_by {
        Some(end) if end <= now => Err(Forbidden::SecondFactorRequired),
        _ => Ok(()),
    }
}

impl<T> Entry<T> {
    fn new(value: T, depends_on: Vec<Uuid>, as_of: ReadVersion, asked: Instant, size: usize) -> Self {
        let size = size_of::<Self>() + size_of_val(&*depends_on) + size;
        Self { value: Arc::new(value), depends_on: depends_on.into(), as_of, asked, size }
    }
}

/// Returns the ids that a grant depends on besides its user: its assignment, its role, its organization and the
/// ancestors of that.
fn identifiers(grant: &Grant) -> impl Iterator<Item = Uuid> {
    let lineage = grant.organization.iter().flat_map(|organization| &organization.lineage);
    let organizations = grant.assignment.organization_id.iter().chain(lineage);
    [grant.assignment.id.as_uuid(), grant.role.id.as_uuid()].into_iter().chain(organizations.map(|id| id.as_uuid()))
}

#[derive(Clone)]
struct BySize;

impl<K, T> Weighter<K, Arc<Entry<T>>> for BySize {
    fn weight(&self, _: &K, entry: &Arc<Entry<T>>) -> u64 {
        entry.size as u64
    }
}
