//! The engine: what all services share, and the unit of work in which they write.

mod after_commit;
mod in_flight;
mod locked_rights;
mod once;
mod post;
mod precondition;
mod quota;
mod trial;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use iam_audit_proof::LogKey;
use iam_model::access::Rights;
use iam_model::assignment::GrantOrganization;
use iam_model::audit::{LogHead, ResourceType};
use iam_model::clock::{Clock, Timestamp, cut, monotonic_now};
use iam_model::context::{Actor, RequestContext};
use iam_model::error::{Result, Unauthenticated};
use iam_model::id::{ApiKeyId, IdGenerator, OrganizationId, SessionId, TenantId};
use iam_model::observe::Observer;
use iam_model::organization::{Ancestry, Hierarchy};
use iam_model::random::Random;
use iam_model::store::{Observed, Store};
use iam_model::store_error::StoreError;
use iam_model::tenant::Tenant;
use iam_model::validate::Slug;
use iam_model::webhook::WebhookSender;
use uuid::Uuid;

pub use crate::engine::work::UnitOfWork;

pub(crate) use crate::engine::after_commit::{AfterCommit, Hook};
pub(crate) use crate::engine::in_flight::InFlight;
pub(crate) use crate::engine::locked_rights::LockedRights;
pub(crate) use crate::engine::once::{IdempotencySecret, Once};
pub(crate) use crate::engine::post::Post;
pub(crate) use crate::engine::precondition::require_version;
pub(crate) use crate::engine::quota::hold_quota;
pub(crate) use crate::engine::trial::TrialChanges;

use crate::cache::{CachedApiKey, CachedSession, EndedSessions, SessionCache};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::hashing::PasswordHasher;
use crate::idempotency::Idempotency;
use crate::one_time::TotpCipher;
use crate::password::PasswordRules;
use crate::settings::Settings;
use crate::token::{KeyRing, LinkKey, VerifiedTokens, WebhookKey};

/// The state that all services share. The parts behind an [`Arc`] are the same inside and outside of host
/// transactions.
pub(crate) struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) after_commit: AfterCommit,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) webhook_tests: Arc<InFlight>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) passwords: Arc<PasswordHasher>,
    pub(crate) password_rules: Arc<PasswordRules>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) log_key: Arc<LogKey>,
    pub(crate) idempotency: Arc<IdempotencySecret>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<IdGenerator>,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) link_key: Arc<LinkKey>,
    pub(crate) totp_cipher: Arc<TotpCipher>,
    pub(crate) webhook_key: Arc<WebhookKey>,
    /// What sends mail. `None` if mail is off.
    pub(crate) post: Option<Arc<Post>>,
    /// What sends the events of webhooks. `None` if webhooks are off.
    pub(crate) webhooks: Option<Arc<dyn WebhookSender>>,
    pub(crate) verified_tokens: Arc<VerifiedTokens>,
    pub(crate) ended_sessions: Arc<EndedSessions>,
    /// Whether there was more than one tenant at the last query.
    pub(crate) has_several_tenants: Arc<AtomicBool>,
    /// Receives the changes of units of work, which write nothing then. `None` except in a [`Trial`](crate::Trial).
    pub(crate) trial: Option<TrialChanges>,
}

impl Engine {
    pub(crate) fn snapshots(&self) -> &SessionCache {
        self.after_commit.snapshots()
    }

    /// Returns the same state over a host transaction.
    pub(crate) fn within(&self, store: Arc<dyn Store>) -> Self {
        let store = observed(store, self.observer.as_ref());
        // A limit of its own: a unit of work inside a host transaction must not wait for units of work that wait for
        // this transaction.
        Self { in_flight: Arc::default(), ..self.over(store, None) }
    }

    /// Returns the same state for a trial: units of work write nothing, and their changes can be read.
    pub(crate) fn on_trial(&self) -> Self {
        self.over(Arc::clone(&self.store), Some(TrialChanges::default()))
    }

    fn over(&self, store: Arc<dyn Store>, trial: Option<TrialChanges>) -> Self {
        Self {
            store,
            trial,
            after_commit: self.after_commit.deferred(),
            in_flight: Arc::clone(&self.in_flight),
            webhook_tests: Arc::clone(&self.webhook_tests),
            random: Arc::clone(&self.random),
            passwords: Arc::clone(&self.passwords),
            password_rules: Arc::clone(&self.password_rules),
            settings: Arc::clone(&self.settings),
            log_key: Arc::clone(&self.log_key),
            idempotency: Arc::clone(&self.idempotency),
            observer: self.observer.clone(),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            keys: Arc::clone(&self.keys),
            link_key: Arc::clone(&self.link_key),
            totp_cipher: Arc::clone(&self.totp_cipher),
            webhook_key: Arc::clone(&self.webhook_key),
            post: self.post.clone(),
            webhooks: self.webhooks.clone(),
            verified_tokens: Arc::clone(&self.verified_tokens),
            ended_sessions: Arc::clone(&self.ended_sessions),
            has_several_tenants: Arc::clone(&self.has_several_tenants),
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

    pub(crate) async fn begin<'a>(&'a self, caller: &'a Caller) -> Result<UnitOfWork<'a>> {
        let permit = self.in_flight.acquire(caller.tenant()).await?;
        let work = UnitOfWork::begin(&*self.store, caller, &*self.clock, &self.ids, &*self.random, &self.after_commit);
        Ok(work.await?.with_permit(permit).on_trial(self.trial.as_ref()))
    }

    /// Returns the same caller with its current rights, for calls that take long. Trusted code does not change.
    pub(crate) async fn renewed(&self, caller: &Caller) -> Result<Caller> {
        let now = self.now();
        let (user, session) = match *caller.actor() {
            Actor::User { user, session } => (user, session),
            Actor::ApiKey { key, .. } => {
                let snapshot = self.api_key_snapshot(caller.tenant(), key).await?;
                let snapshot = snapshot.filter(|snapshot| snapshot.is_valid(now)).ok_or(Unauthenticated::ApiKey)?;
                return Ok(caller.clone().with_authority(Arc::clone(&snapshot.authority)));
            }
            Actor::System { .. } | Actor::Anonymous => return Ok(caller.clone()),
        };
        let snapshot = self.session_snapshot(caller.tenant(), session, now).await?;
        let snapshot = snapshot.filter(|snapshot| snapshot.admits(user, now)).ok_or(Unauthenticated::InvalidToken)?;
        snapshot.require_factor(now)?;
        Ok(caller.clone().with_authority(Arc::clone(&snapshot.authority)))
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
        Once::new(&self.idempotency, caller, idempotency, what.as_str())
    }

    /// Reads the signing keys again if they are stale. To be called before a unit of work that signs: a query inside
    /// the unit of work would need a second connection, and could exhaust the connection pool.
    pub(crate) async fn refresh_keys(&self) -> Result<()> {
        self.keys.refresh(&*self.store, self.snapshots(), self.now()).await
    }
}

/// Wraps the store so that it reports to the observer, if there is one.
pub(crate) fn observed(store: Arc<dyn Store>, observer: Option<&Arc<dyn Observer>>) -> Arc<dyn Store> {
    match observer {
        Some(observer) => Arc::new(Observed::new(store, Arc::clone(observer))),
        None => store,
    }
}
