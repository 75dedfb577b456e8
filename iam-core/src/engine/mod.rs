//! The engine, which all services share, and the unit of work in which they write.

mod after_commit;
mod computing;
mod escalation;
mod event_streams;
mod impersonation;
mod in_flight;
mod locked_rights;
mod once;
mod outgoing_mail;
mod precondition;
mod quota;
mod standing;
mod trial;
mod user_exports;
mod work;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iam_audit_proof::LogKey;
use iam_model::access::{Rights, VisibleScope};
use iam_model::assignment::GrantOrganization;
use iam_model::audit::{LogHead, ResourceType};
use iam_model::clock::{Clock, Timestamp, cut, monotonic_now};
use iam_model::context::{Actor, RequestContext};
use iam_model::domain::TxtResolver;
use iam_model::error::{Result, Unauthenticated};
use iam_model::id::{ApiKeyId, IdGenerator, OrganizationId, SessionId, TenantId};
use iam_model::identity_provider::ProviderClient;
use iam_model::observe::Observer;
use iam_model::organization::{Ancestry, Hierarchy};
use iam_model::page::PageRequest;
use iam_model::random::Random;
use iam_model::store::{Observed, Store};
use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use iam_model::validate::Slug;
use iam_model::webhook::WebhookSender;
use tokio::time::sleep;
use url::Url;
use uuid::Uuid;

pub use crate::engine::event_streams::OpenStream;
pub use crate::engine::work::UnitOfWork;

pub(crate) use crate::engine::after_commit::{AfterCommit, Hook};
pub(crate) use crate::engine::computing::{Computing, IsCancelled, PreviewPermit};
pub(crate) use crate::engine::event_streams::EventStreams;
pub(crate) use crate::engine::in_flight::{InFlight, Permit};
pub(crate) use crate::engine::locked_rights::LockedRights;
pub(crate) use crate::engine::once::{IdempotencySecret, Once};
pub(crate) use crate::engine::outgoing_mail::OutgoingMail;
pub(crate) use crate::engine::precondition::require_version;
pub(crate) use crate::engine::quota::{hold_quota, hold_user_quota};
pub(crate) use crate::engine::trial::TrialChanges;
pub(crate) use crate::engine::user_exports::{Exporter, RunningExport, UserExports};

use crate::cache::{CachedApiKey, CachedSession, EndedSessions, SessionCache};
use crate::caller::Caller;
use crate::directory_requests::DirectoryRequests;
use crate::distinct::distinct;
use crate::federation_key::FederationKey;
use crate::hashing::PasswordHasher;
use crate::idempotency::Idempotency;
use crate::known_providers::KnownProviders;
use crate::password::PasswordRules;
use crate::secret_cipher::SecretCipher;
use crate::settings::Settings;
use crate::token::{KeyRing, LinkKey, RefreshKey, VerifiedTokens, WebhookKey};

/// A page with so many rows before it is far from the start of its list: the store reads all of them.
pub(crate) const FAR: u64 = 1_000;

/// How long a long read leaves its core to hashes that wait: about the time of one hash.
const PAUSE: Duration = Duration::from_millis(10);

/// The state of the services: what a host transaction or a trial has of its own, and what all share. The fields of
/// [`Shared`] are also those of the engine.
pub(crate) struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) after_commit: AfterCommit,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) long_reads: Arc<InFlight>,
    pub(crate) manifests: Arc<InFlight>,
    /// Receives the changes of units of work, which write nothing then. `None` except in a [`Trial`](crate::Trial).
    pub(crate) trial: Option<TrialChanges>,
    pub(crate) shared: Arc<Shared>,
}

/// The state that is the same inside and outside of host transactions and trials.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: IdGenerator,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) keys: Keys,
    pub(crate) passwords: PasswordHasher,
    pub(crate) password_rules: PasswordRules,
    pub(crate) computing: Computing,
    pub(crate) webhook_tests: InFlight,
    pub(crate) domain_checks: InFlight,
    pub(crate) provider_requests: InFlight,
    pub(crate) known_providers: KnownProviders,
    pub(crate) directory_requests: DirectoryRequests,
    pub(crate) event_streams: Arc<EventStreams>,
    pub(crate) user_exports: Arc<UserExports>,
    pub(crate) verified_tokens: VerifiedTokens,
    pub(crate) ended_sessions: EndedSessions,
    /// The mailer with its pages. `None` if mail is off.
    pub(crate) mail: Option<Arc<OutgoingMail>>,
    /// The sender of the events of webhooks. `None` if webhooks are off.
    pub(crate) webhooks: Option<Arc<dyn WebhookSender>>,
    /// Looks up the records of domains. `None` if only trusted code verifies domains.
    pub(crate) resolver: Option<Arc<dyn TxtResolver>>,
    /// How identity providers are reached. `None` if nobody logs in by one.
    pub(crate) federation: Option<Federation>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// Whether there was more than one tenant at the last query.
    pub(crate) has_several_tenants: AtomicBool,
}

/// How identity providers are reached.
pub(crate) struct Federation {
    pub(crate) client: Arc<dyn ProviderClient>,
    /// The address to which the providers send people back, with a slash at its end. That of a provider has its
    /// identifier after it.
    pub(crate) callbacks: Url,
}

/// The secrets of the installation, each for one purpose. All but the keys of the tokens are derived from that of the
/// log.
pub(crate) struct Keys {
    /// Signs access tokens.
    pub(crate) tokens: KeyRing,
    /// Signs the checkpoints of the audit log.
    pub(crate) log: LogKey,
    pub(crate) idempotency: IdempotencySecret,
    pub(crate) links: LinkKey,
    /// Encrypts the secrets of TOTP generators.
    pub(crate) totp: SecretCipher,
    /// Encrypts the secrets of this service at identity providers.
    pub(crate) client_secrets: SecretCipher,
    pub(crate) webhooks: WebhookKey,
    pub(crate) federation: FederationKey,
    pub(crate) refresh: RefreshKey,
}

impl Keys {
    pub(crate) fn new(tokens: KeyRing, log: LogKey) -> Result<Self> {
        Ok(Self {
            tokens,
            idempotency: IdempotencySecret::new(log.derive("idempotency")),
            links: LinkKey::new(log.derive("links")),
            totp: SecretCipher::new(log.derive("totp"))?,
            client_secrets: SecretCipher::new(log.derive("client secrets"))?,
            webhooks: WebhookKey::new(log.derive("webhooks")),
            federation: FederationKey::new(log.derive("federation")),
            refresh: RefreshKey::new(log.derive("refresh tokens")),
            log,
        })
    }
}

impl Deref for Engine {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Engine {
    pub(crate) fn snapshots(&self) -> &SessionCache {
        self.after_commit.snapshots()
    }

    /// Returns the same state over a host transaction.
    pub(crate) fn within(&self, store: Arc<dyn Store>) -> Self {
        Self {
            store: observed(store, self.observer.as_ref()),
            after_commit: self.after_commit.deferred(),
            // Limits of its own: what is inside a host transaction must not wait for what waits for this transaction.
            in_flight: Arc::default(),
            long_reads: Arc::new(InFlight::of_long_reads()),
            manifests: Arc::new(InFlight::of_manifests()),
            trial: None,
            shared: Arc::clone(&self.shared),
        }
    }

    /// Returns the same state for a trial: units of work write nothing, and their changes can be read.
    pub(crate) fn on_trial(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            after_commit: self.after_commit.deferred(),
            in_flight: Arc::clone(&self.in_flight),
            long_reads: Arc::clone(&self.long_reads),
            manifests: Arc::clone(&self.manifests),
            trial: Some(TrialChanges::default()),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Runs the deferred effects. To be called when the host transaction is committed.
    pub(crate) fn release(&self) {
        self.after_commit.release();
    }

    pub(crate) fn now(&self) -> Timestamp {
        cut(self.clock.now())
    }

    pub(crate) fn next_id<T: From<Uuid>>(&self) -> T {
        self.ids.next(self.now(), &*self.random)
    }

    /// Whether there is more than one tenant. The store is queried until there is.
    pub(crate) async fn has_several_tenants(&self) -> Result<bool, StoreError> {
        let known = &self.has_several_tenants;
        if !known.load(Ordering::Relaxed) && self.store.has_several_tenants().await? {
            known.store(true, Ordering::Relaxed);
        }
        Ok(known.load(Ordering::Relaxed))
    }

    /// Returns the head of a tenant's log, which is empty before the first entry is sequenced.
    pub(crate) async fn log_head(&self, tenant: TenantId) -> Result<LogHead, StoreError> {
        let heads = self.store.log_heads(&[tenant]).await?;
        Ok(heads.into_iter().next().unwrap_or_else(|| LogHead::empty(tenant)))
    }

    /// Returns the tenant with this identifier or slug.
    pub(crate) async fn find_tenant(&self, named: &str) -> Result<Option<Tenant>> {
        if let Ok(id) = named.parse::<TenantId>() {
            return Ok(self.store.tenant(id).await?);
        }
        match named.parse::<Slug>() {
            Ok(slug) => Ok(self.store.tenant_by_slug(&slug).await?),
            Err(_) => Ok(None),
        }
    }

    /// Returns a request context that belongs to no request, with a correlation identifier of its own.
    pub(crate) fn unrelated_context(&self) -> RequestContext {
        let correlation_id = self.next_id::<Uuid>().to_string().parse().ok();
        RequestContext { correlation_id, ..RequestContext::default() }
    }

    /// Returns the rights of a caller at this moment.
    pub(crate) fn rights<'a>(&self, caller: &'a Caller) -> Rights<'a> {
        Rights::new(caller.authority(), self.now())
    }

    /// Waits for the turn of a long read: one whose cost grows with the data of the caller's tenant. The turn lasts
    /// until the permit is dropped, which must be before a wait for anything but the store: other reads of the tenant
    /// wait for it. A call that has a turn must not ask for another one.
    ///
    /// Fails with [`Error::Overloaded`](iam_model::error::Error::Overloaded) after five seconds.
    pub(crate) async fn long_read(&self, caller: &Caller) -> Result<Permit<'_>> {
        self.long_turn(caller.tenant()).await
    }

    /// Waits for the turn of a tenant for something long. While hashes wait for a core, it leaves one to them for a
    /// moment: on few cores, a tenant that begins one long thing after the other would keep its core from them.
    async fn long_turn(&self, tenant: TenantId) -> Result<Permit<'_>> {
        let permit = self.long_reads.acquire(tenant).await?;
        if self.passwords.waiting() > 0 {
            sleep(PAUSE).await;
        }
        Ok(permit)
    }

    /// Waits for the turn of a list as for that of a [long read](Self::long_read), if the list is one: if its filter or
    /// its visible scope makes the store look at more rows than those of the page, or if the page is far from the
    /// start.
    pub(crate) async fn long_list(
        &self,
        caller: &Caller,
        is_filtered: bool,
        visible_scope: &VisibleScope,
        page: PageRequest,
    ) -> Result<Option<Permit<'_>>> {
        let is_long = is_filtered || *visible_scope != VisibleScope::Tenant || page.offset() >= FAR;
        if is_long { self.long_read(caller).await.map(Some) } else { Ok(None) }
    }

    /// Computes something for a tenant beside the async threads, in the turn of a long read: what a tenant makes long
    /// occupies half of the cores, whether it is read or computed.
    ///
    /// Fails with [`Error::Overloaded`](iam_model::error::Error::Overloaded) after a wait of five seconds.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        tenant: TenantId,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let _turn = self.long_turn(tenant).await?;
        self.computing.run(tenant, move |_| compute()).await
    }

    /// Begins a unit of work. One on trial has the turn of a long read until it ends.
    pub(crate) async fn begin<'a>(&'a self, caller: &'a Caller) -> Result<UnitOfWork<'a>> {
        // Before the other permit, so that changes of the tenant do not wait for its previews.
        let turn = if self.trial.is_some() { Some(self.long_read(caller).await?) } else { None };
        let permit = self.in_flight.acquire(caller.tenant()).await?;
        let (clock, ids, random) = (&*self.clock, &self.ids, &*self.random);
        let work =
            UnitOfWork::begin(&*self.store, caller, clock, ids, random, &self.computing, &self.after_commit).await?;
        Ok(work.with_permits([Some(permit), turn]).on_trial(self.trial.as_ref()))
    }

    /// Returns the same caller with its current rights, for calls that take long. Trusted code does not change.
    pub(crate) async fn renewed(&self, caller: &Caller) -> Result<Caller> {
        let now = self.now();
        let (user, session) = match *caller.actor() {
            Actor::User { user, session } => (user, session),
            Actor::ApiKey { key, .. } => {
                let snapshot = self.api_key_snapshot(caller.tenant(), key).await?;
                let snapshot = snapshot.filter(|snapshot| snapshot.is_valid(now)).ok_or(Unauthenticated::ApiKey)?;
                snapshot.require_factor(now)?;
                return Ok(caller.clone().with_authority(Arc::clone(&snapshot.authority)));
            }
            Actor::System { .. } | Actor::Anonymous => return Ok(caller.clone()),
        };
        let tenant = caller.tenant();
        let snapshot = self.session_snapshot(tenant, session, now).await?.ok_or(Unauthenticated::InvalidToken)?;
        let admitted = self.admit((tenant, session, user), snapshot, caller.context()).await?;
        admitted.restriction?;
        Ok(caller.clone().with_authority(Arc::clone(&admitted.session.authority)))
    }

    /// Returns the state of a session, from the cache or from the store.
    pub(crate) async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Option<Arc<CachedSession>>, StoreError> {
        // A cached session that seems expired may have been refreshed since.
        let asked = monotonic_now();
        let cached = self.snapshots().session(tenant, session, asked).filter(|cached| now < cached.expires_at);
        if cached.is_some() {
            return Ok(cached);
        }
        let read_version = self.snapshots().read_version();
        let read = self.store.session_snapshot(tenant, session).await?;
        Ok(read.map(|read| self.snapshots().keep_session(tenant, session, read, read_version, asked)))
    }

    /// Returns the state of an API key, from the cache or from the store.
    pub(crate) async fn api_key_snapshot(
        &self,
        tenant: TenantId,
        id: ApiKeyId,
    ) -> Result<Option<Arc<CachedApiKey>>, StoreError> {
        let asked = monotonic_now();
        if let Some(cached) = self.snapshots().api_key(tenant, id, asked) {
            return Ok(Some(cached));
        }
        let read_version = self.snapshots().read_version();
        let Some(read) = self.store.api_key_snapshot(tenant, id).await? else { return Ok(None) };
        let hierarchy = match read.key.organization_id {
            Some(organization) => self.store.lineages(tenant, &[organization]).await?.into_iter().collect(),
            None => Hierarchy::default(),
        };
        let organization = read.key.organization_id.and_then(|id| hierarchy.node(id)).map(GrantOrganization::from);
        Ok(Some(self.snapshots().keep_api_key(read, organization.as_ref(), read_version, asked)))
    }

    /// Returns the positions of those of these organizations that exist, from the cache or from the store.
    ///
    /// For decisions only: as with rights, a change by another replica may take effect here up to a second later.
    pub(crate) async fn lineages(
        &self,
        tenant: TenantId,
        organizations: impl IntoIterator<Item = OrganizationId>,
    ) -> Result<Arc<Ancestry>, StoreError> {
        let (snapshots, asked) = (self.snapshots(), monotonic_now());
        let (mut lineages, mut unknown) = (Vec::new(), Vec::new());
        for id in distinct(organizations) {
            match snapshots.lineage(tenant, id, asked) {
                Some(lineage) => lineages.push(lineage),
                None => unknown.push(id),
            }
        }
        if !unknown.is_empty() {
            let read_version = snapshots.read_version();
            let read = self.store.lineages(tenant, &unknown).await?;
            let read: Ancestry = read.iter().collect();
            let found = unknown.into_iter().filter_map(|id| read.position(id));
            lineages.extend(found.map(|position| snapshots.keep_lineage(tenant, position, read_version, asked)));
        }
        Ok(match lineages.as_slice() {
            [one] => Arc::clone(one),
            several => Arc::new(Ancestry::merged(several.iter().map(|lineage| &**lineage))),
        })
    }

    /// Makes a call idempotent if it has an idempotency key: under one key, the resource is created only once.
    pub(crate) fn once<'a>(
        &self,
        caller: &Caller,
        idempotency: Option<&'a Idempotency>,
        what: &ResourceType,
    ) -> Once<'a> {
        Once::new(&self.keys.idempotency, caller, idempotency, what.as_str())
    }

    /// Reads the signing keys again if they are stale. To be called before a unit of work that signs: a query inside
    /// the unit of work would need a second connection, and could exhaust the connection pool.
    pub(crate) async fn refresh_keys(&self) -> Result<()> {
        self.keys.tokens.refresh(&*self.store, self.snapshots(), self.now()).await
    }
}

/// Wraps the store so that it reports to the observer, if there is one.
pub(crate) fn observed(store: Arc<dyn Store>, observer: Option<&Arc<dyn Observer>>) -> Arc<dyn Store> {
    match observer {
        Some(observer) => Arc::new(Observed::new(store, Arc::clone(observer))),
        None => store,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use chrono::TimeDelta;
    use iam_model::access_review::AccessReviewFilter;
    use iam_model::assignment::AssignmentFilter;
    use iam_model::audit::AuditFilter;
    use iam_model::error::Error;
    use iam_model::invitation::InvitationFilter;
    use iam_model::organization::OrganizationFilter;
    use iam_model::permission::Permission;
    use iam_model::user::UserFilter;
    use iam_store_memory::MemoryStore;

    use super::*;
    use crate::access::Question;
    use crate::hashing::{HashingCost, Share};
    use crate::iam::Iam;
    use crate::organization::{NewOrganization, OrganizationSort};
    use crate::tenant::{NewTenant, TenantWithUser};
    use crate::user::{NewUser, UserSort};

    /// On few cores, a tenant that begins one long read after the other would keep its core from logins.
    #[tokio::test(start_paused = true)]
    async fn a_long_read_leaves_its_core_to_hashes_that_wait() {
        // Longer than the test.
        let cost = HashingCost { memory_kib: 64, passes: 50_000, lanes: 1 };
        let settings = Settings { hashing_cost: cost, ..Settings::default() };
        let iam = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).build().await.unwrap();
        let caller = Caller::system(iam.0.next_id(), "test");
        let pause = async || {
            let begun = tokio::time::Instant::now();
            drop(iam.0.long_read(&caller).await.unwrap());
            begun.elapsed()
        };
        assert_eq!(pause().await, Duration::ZERO);
        let hashes = std::thread::available_parallelism().unwrap().get() + 2;
        for _ in 0..hashes {
            let iam = iam.clone();
            tokio::spawn(async move { iam.0.passwords.hash_any(Share::SYSTEM, &"Passw0rd!".into()).await });
        }
        while iam.passwords_waiting() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pause().await, PAUSE);
    }

    async fn create_tenant(iam: &Iam, email: &str) -> TenantWithUser {
        let administrator = NewUser {
            email: email.into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        iam.tenants().create("test", NewTenant { name: "Acme".into(), slug: None, administrator }).await.unwrap()
    }

    /// Whether a read has waited for a turn in vain. Another error is none of a store in memory.
    fn waits<T: Debug>(name: &str, read: Result<T>) -> bool {
        match read {
            Ok(_) => false,
            Err(Error::Overloaded { .. }) => true,
            Err(error) => panic!("{name}: {error:?}"),
        }
    }

    /// Which reads of a tenant wait for their turn.
    async fn waiting(iam: &Iam, created: &TenantWithUser) -> Vec<(&'static str, bool)> {
        let (caller, user) = (Caller::system(created.tenant.id, "test"), created.user.id);
        let filter = AssignmentFilter { role: Some(iam.0.next_id()), ..AssignmentFilter::default() };
        let (all, page, far) =
            (AssignmentFilter::default(), PageRequest::default(), PageRequest::new(11, 100).unwrap());
        let (users, organizations) = (UserFilter::default(), OrganizationFilter::default());
        let searched = UserFilter { search: Some("a".to_owned()), ..UserFilter::default() };
        let named = OrganizationFilter { search: Some("a".to_owned()), ..OrganizationFilter::default() };
        let order = OrganizationSort::default();
        let past = iam.now() - TimeDelta::milliseconds(1);
        let permission: Permission = "users:read".parse().unwrap();
        let ask = |user, at| Question { permission: permission.clone(), organization: None, user: Some(user), at };
        let (present, several) = ([ask(user, None)], [ask(user, None), ask(user, Some(past))]);
        let audit = AuditFilter::default();
        let mut export = iam.audit().export(&caller, audit.clone(), None, "text/csv").await.unwrap();
        let mut feed = iam.audit().follow(&caller, None, 1);
        let trial = iam.trial();
        let new = NewOrganization { name: "Root".to_owned(), slug: None, parent: None };
        macro_rules! each {
            ($($name:literal: $read:expr),+ $(,)?) => { vec![$(($name, waits($name, $read.await))),+] };
        }
        each! {
            "who": iam.access().who(&caller, permission.clone(), None, None, page),
            "who holds roles": iam.access().role_holders(&caller, None, None, page),
            "a check about the past": iam.access().check_all(&caller, &several),
            "a check": iam.access().check_all(&caller, &present),
            "roles of a user": iam.assignments().of_user(&caller, user),
            "past roles of a user": iam.assignments().of_user_at(&caller, user, past),
            "past assignments": iam.assignments().list_at(&caller, &all, past, page),
            "assignments of a role": iam.assignments().list(&caller, &filter, page),
            "assignments": iam.assignments().list(&caller, &all, page),
            "a search": iam.users().list(&caller, &searched, UserSort::default(), page),
            "users far from the start": iam.users().list(&caller, &users, UserSort::default(), far),
            "users": iam.users().list(&caller, &users, UserSort::default(), page),
            "organizations by name": iam.organizations().list(&caller, &named, order, page),
            "organizations": iam.organizations().list(&caller, &organizations, order, page),
            "roles": iam.roles().list(&caller, page),
            "sessions": iam.sessions().list(&caller, user),
            "invitations": iam.invitations().list(&caller, &InvitationFilter::default(), page),
            "reviews": iam.access_reviews().list(&caller, &AccessReviewFilter::default(), page),
            "audit entries": iam.audit().list(&caller, audit, None, 10),
            "counts": iam.audit().count_by_day(&caller, "LOGIN", past.date_naive()),
            "actors": iam.audit().count_actors_by_week(&caller, "LOGIN", past.date_naive()),
            "people with a factor": iam.factors().count_people(&caller),
            "an export": export.next(iam),
            "events": feed.next_within(std::time::Duration::ZERO),
            "a computation": iam.compute(&caller, || ()),
            "a change on trial": trial.organizations().create(&caller, new),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn reads_whose_cost_grows_with_their_tenant_wait_for_their_turn() {
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let settings = Settings { hashing_cost, ..Settings::default() };
        let iam = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).build().await.unwrap();
        let (busy, other) =
            (create_tenant(&iam, "ada@example.com").await, create_tenant(&iam, "eve@example.com").await);
        while iam.sequence_audit_logs().await.unwrap().more {}
        let caller = Caller::system(busy.tenant.id, "test");
        let new = NewOrganization { name: "Root".to_owned(), slug: None, parent: None };
        let root = iam.organizations().create(&caller, new).await.unwrap().organization.id;
        for number in 0..100 {
            let new = NewOrganization { name: format!("Child {number}"), slug: None, parent: Some(root) };
            iam.organizations().create(&caller, new).await.unwrap();
        }
        let mut turns = Vec::new();
        while let Ok(turn) = iam.0.long_read(&caller).await {
            turns.push(turn);
        }
        let cheap = ["a check", "assignments", "users", "organizations"];
        for (name, is_waiting) in waiting(&iam, &busy).await {
            assert_eq!(is_waiting, !cheap.contains(&name), "{name}");
        }
        assert!(waits("tree", iam.organizations().tree(&caller, root).await));
        assert!(waits("children", iam.organizations().children(&caller, root).await));
        // Another tenant does not wait for them.
        assert!(waiting(&iam, &other).await.iter().all(|(_, is_waiting)| !is_waiting));
        drop(turns);
        assert!(waiting(&iam, &busy).await.iter().all(|(_, is_waiting)| !is_waiting));
    }
}
