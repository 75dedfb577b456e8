//! The front door: [`Iam`], its [`Settings`] and its [builder](Iam::builder).

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use uuid::Uuid;

use crate::access::{Access, Rights};
use crate::aftermath::{Aftermath, Hook};
use crate::assignment::Assignments;
use crate::audit::{Audit, AuditEntry, LogKey, ResourceType};
use crate::caller::{Actor, Caller, RequestContext};
use crate::clock::{Clock, SystemClock, Timestamp, cut, monotonic_now};
use crate::credential::{Credentials, HashingCost, Lockout, PasswordHasher};
use crate::error::{Error, Result, StoreError, Unauthenticated};
use crate::id::{IdGenerator, KeyId, OrganizationId, SessionId, TenantId};
use crate::idempotency::{IdempotencySecret, Once};
use crate::in_flight::InFlight;
use crate::observe::{Observed, Observer};
use crate::organization::{Ancestry, Organizations};
use crate::permission::Permissions;
use crate::random::{Random, SystemRandom};
use crate::role::Roles;
use crate::session::{EndedSessions, NextSecret, Session, Sessions, Snapshot, Snapshots, Tokens};
use crate::store::Store;
use crate::tenant::{Quota, Tenants};
use crate::token::{
    self, Claims, KeyPurpose, KeyRing, MasterKey, PublicKey, RETIREMENT, SigningKey, VerifiedToken, VerifiedTokens,
    first_or_stored,
};
use crate::user::Users;
use crate::work::UnitOfWork;

/// Users, sessions, roles and audit over a store. Cheap to clone.
#[derive(Clone)]
pub struct Iam(pub(crate) Arc<Inner>);

impl fmt::Debug for Iam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iam").field(&self.0.store.kind()).finish()
    }
}

/// What every service works with.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    aftermath: Aftermath,
    /// Not common: a unit of work inside a transaction of the host must not wait for those that wait for this transaction.
    in_flight: InFlight,
    common: Arc<Common>,
}

/// What does not depend on whether the host has begun a transaction.
pub(crate) struct Common {
    pub(crate) random: Arc<dyn Random>,
    pub(crate) passwords: PasswordHasher,
    pub(crate) settings: Settings,
    pub(crate) log_key: LogKey,
    pub(crate) idempotency: IdempotencySecret,
    observer: Option<Arc<dyn Observer>>,
    clock: Arc<dyn Clock>,
    ids: IdGenerator,
    keys: KeyRing,
    verified_tokens: VerifiedTokens,
    ended_sessions: EndedSessions,
    /// Whether there was more than one tenant when the store was asked last.
    has_several_tenants: AtomicBool,
}

impl Deref for Inner {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

/// What can be set. The defaults are those of `decisions.md` §2.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The `iss` claim of access tokens.
    pub issuer: String,
    /// The `aud` claim of access tokens.
    pub audience: String,
    /// How long an access token is valid: 15 minutes.
    pub access_token_lifetime: TimeDelta,
    /// A session that is not refreshed for this long is over: 7 days.
    pub session_idle: TimeDelta,
    /// A session is over this long after its login, whatever happens: 30 days.
    pub session_absolute: TimeDelta,
    /// For this long the refresh token just spent is forgiven: 10 seconds.
    pub refresh_grace: TimeDelta,
    /// When failed logins lock an account.
    pub lockout: Lockout,
    /// Whether strangers may create tenants.
    pub registration: bool,
    /// What a password hash costs.
    pub hashing_cost: HashingCost,
    /// How long a password may wait to be hashed, as far as can be foreseen; whoever would wait for longer is refused at
    /// once with [`Error::Overloaded`]: 2 seconds.
    pub password_wait: Duration,
    /// How deep an organization may stand; roots stand at depth 0: 5.
    pub max_organization_depth: u32,
    /// Encrypts private keys at rest.
    pub master_key: Option<MasterKey>,
    /// How much a tenant may have at most.
    pub quota: Quota,
    /// The oldest age that a signing key for access tokens reaches before [`Iam::rotate_keys_when_due`] replaces it: 90 days.
    pub key_rotation: TimeDelta,
    /// The shortest time, in whole days, for which a tenant can have its audit log kept: 30 days.
    pub audit_min_retention: TimeDelta,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            issuer: "iam".to_owned(),
            audience: "iam".to_owned(),
            access_token_lifetime: TimeDelta::minutes(15),
            session_idle: TimeDelta::days(7),
            session_absolute: TimeDelta::days(30),
            refresh_grace: TimeDelta::seconds(10),
            lockout: Lockout::default(),
            registration: true,
            hashing_cost: HashingCost::default(),
            password_wait: Duration::from_secs(2),
            max_organization_depth: 5,
            master_key: None,
            quota: Quota::default(),
            key_rotation: TimeDelta::days(90),
            audit_min_retention: TimeDelta::days(30),
        }
    }
}

impl Settings {
    /// The shortest retention of an audit log, in whole days.
    pub(crate) fn least_retention_days(&self) -> u32 {
        let days = self.audit_min_retention.num_seconds().max(0).unsigned_abs().div_ceil(86_400);
        days.clamp(1, 36_500).try_into().unwrap_or(36_500)
    }

    /// When a session that began then and is used now is over.
    pub(crate) fn session_expiry(&self, began: Timestamp, now: Timestamp) -> Timestamp {
        (now + self.session_idle).min(began + self.session_absolute)
    }
}

/// Puts an [`Iam`] together; see [`Iam::builder`].
pub struct Builder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    observer: Option<Arc<dyn Observer>>,
    hooks: Vec<Hook>,
    settings: Settings,
}

impl Builder {
    /// Uses other settings than the defaults.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Uses another clock than the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Uses another source of randomness than the system's.
    #[must_use]
    pub fn random(mut self, random: impl Random) -> Self {
        self.random = Arc::new(random);
        self
    }

    /// Tells somebody what happens in the store, and to passwords.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Calls a function with the audit entries of whatever is committed through this [`Iam`], for instance to send mail, to
    /// drop what a cache holds, or to publish an event. There can be several; each is called in the order in which they were
    /// added.
    ///
    /// It is called after the commit and before whoever asked for the change is told, so it must not wait for anything: send
    /// what takes time to a task of your own, as here. What others commit to the same database it is not called for, and what
    /// is committed just before a crash may go unheard. Whoever must not miss anything reads the [audit log](Iam::audit)
    /// from where it last was.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use iam_core::audit::ResourceType;
    /// use iam_core::memory::MemoryStore;
    /// use iam_core::tenant::Registration;
    /// use iam_core::{Iam, RequestContext};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> iam_core::Result<()> {
    /// let (sender, mut mails) = tokio::sync::mpsc::unbounded_channel();
    /// let iam = Iam::builder(Arc::new(MemoryStore::new()))
    ///     .after_commit(move |entries| {
    ///         for entry in entries.iter().filter(|entry| entry.action == "CREATE" && entry.resource_type == ResourceType::USER) {
    ///             // Nobody may listen any more.
    ///             let _ = sender.send(entry.resource_id.clone());
    ///         }
    ///     })
    ///     .build()
    ///     .await?;
    ///
    /// # let user = iam_core::user::NewUser {
    /// #     email: "ada@example.com".into(),
    /// #     password: "Passw0rd!".into(),
    /// #     first_name: "Ada".into(),
    /// #     last_name: "Lovelace".into(),
    /// # };
    /// let registered = iam.tenants().register(&RequestContext::default(), Registration { user, tenant_name: None }).await?;
    /// assert_eq!(mails.recv().await, Some(Some(registered.login.user.id.to_string())));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn after_commit(mut self, hook: impl Fn(&[AuditEntry]) + Send + Sync + 'static) -> Self {
        self.hooks.push(Box::new(hook));
        self
    }

    /// Reads the signing keys from the store, making the first one where there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails; [`Error::Validation`] when the access tokens' lifetime is not from a
    /// second to a day; [`Error::Internal`] when a signing key cannot be opened under the
    /// configured master key, or when Argon2 does not allow the hashing cost.
    pub async fn build(self) -> Result<Iam> {
        let Self { store, clock, random, observer, hooks, settings } = self;
        let store = observed(store, observer.as_ref());
        if settings.access_token_lifetime < TimeDelta::seconds(1) || settings.access_token_lifetime > RETIREMENT {
            return Err(Error::field("access_token_lifetime", "must be from a second to a day"));
        }
        let ids = IdGenerator::new();
        let now = cut(clock.now());
        let first = ids.next(now, &*random);
        let keys = KeyRing::open(&*store, settings.master_key.clone(), now, first, &*random).await?;
        let (first, master) = (ids.next(now, &*random), settings.master_key.as_ref());
        let log_keys = first_or_stored(KeyPurpose::Checkpoints, &*store, master, now, first, &*random).await?;
        // The first, whoever has put others beside it: the logs are named after it.
        let log_key = log_keys.first().ok_or_else(|| Error::internal("checkpoint key", "there is none"))?;
        let log_key = LogKey::new(log_key.pair(master)?, log_key.id);
        let idempotency = IdempotencySecret::new(log_key.derive("idempotency"));
        let passwords =
            PasswordHasher::new(settings.hashing_cost, settings.password_wait, observer.clone(), Arc::clone(&random))?;
        let common = Arc::new(Common {
            random,
            passwords,
            settings,
            log_key,
            idempotency,
            observer,
            clock,
            ids,
            keys,
            verified_tokens: VerifiedTokens::default(),
            ended_sessions: EndedSessions::default(),
            has_several_tenants: AtomicBool::new(false),
        });
        let aftermath = Aftermath::at_once(hooks);
        Ok(Iam(Arc::new(Inner { store, aftermath, in_flight: InFlight::default(), common })))
    }
}

/// A store that tells the observer, if there is one.
fn observed(store: Arc<dyn Store>, observer: Option<&Arc<dyn Observer>>) -> Arc<dyn Store> {
    match observer {
        Some(observer) => Arc::new(Observed::new(store, Arc::clone(observer))),
        None => store,
    }
}

impl Iam {
    /// Starts to put an [`Iam`] together over a store.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use iam_core::{Iam, memory::MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> iam_core::Result<()> {
    /// let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn builder(store: Arc<dyn Store>) -> Builder {
        Builder {
            store,
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            observer: None,
            hooks: Vec::new(),
            settings: Settings::default(),
        }
    }

    /// Makes, reads and changes tenants.
    #[must_use]
    pub fn tenants(&self) -> Tenants<'_> {
        Tenants(&self.0)
    }

    /// Makes, reads, changes and deletes users.
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(&self.0)
    }

    /// Changes and resets passwords.
    #[must_use]
    pub fn credentials(&self) -> Credentials<'_> {
        Credentials(&self.0)
    }

    /// Begins, refreshes, lists and ends sessions.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.0)
    }

    /// Registers, reads and removes permissions.
    #[must_use]
    pub fn permissions(&self) -> Permissions<'_> {
        Permissions(&self.0)
    }

    /// Makes, reads, changes and deletes roles.
    #[must_use]
    pub fn roles(&self) -> Roles<'_> {
        Roles(&self.0)
    }

    /// Makes, reads, changes, moves and deletes organizations.
    #[must_use]
    pub fn organizations(&self) -> Organizations<'_> {
        Organizations(&self.0)
    }

    /// Answers who may do what.
    #[must_use]
    pub fn access(&self) -> Access<'_> {
        Access(&self.0)
    }

    /// Gives roles to users, and takes them away.
    #[must_use]
    pub fn assignments(&self) -> Assignments<'_> {
        Assignments(&self.0)
    }

    /// Reads the audit log.
    #[must_use]
    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.0)
    }

    /// How many passwords wait to be hashed in this process.
    #[must_use]
    pub fn passwords_waiting(&self) -> usize {
        self.0.passwords.waiting()
    }

    /// The settings it was built with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// The present moment, by the clock it was built with.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// The user behind an access token.
    ///
    /// The token's signature, issuer, audience and times must be right, and its session must not have ended: a
    /// token stops working the moment its session does, or within a second of that where the session is ended through
    /// another `Iam` and this one [follows](Self::follow_changes) what others change.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`], [`Unauthenticated::ExpiredToken`]; [`Error::Store`] when the store fails.
    pub async fn authenticate(&self, token: &str, context: RequestContext) -> Result<Caller> {
        self.authenticate_verified(&self.verify(token).await?, context).await
    }

    /// The first half of [`authenticate`](Self::authenticate), for who must decide before that asks the store for the
    /// session, such as what limits rates. The store is asked for signing keys only, now and then.
    ///
    /// # Errors
    ///
    /// Those of [`authenticate`](Self::authenticate), for everything but a session that this process does not know to have
    /// ended.
    pub async fn verify(&self, token: &str) -> Result<VerifiedToken> {
        let iam = &*self.0;
        let now = iam.now();
        let kept = iam.verified_tokens.get(token);
        let kid = kept.as_ref().map_or_else(|| token::key_of(token), |kept| Ok(kept.key()))?;
        let key = iam
            .keys
            .verifying_key(&*iam.store, iam.snapshots(), kid, now)
            .await?
            .ok_or(Unauthenticated::InvalidToken)?;
        let verified = match &kept {
            Some(kept) => kept.clone(),
            None => VerifiedToken::new(kid, token::verify(token, &key, &iam.settings.issuer, &iam.settings.audience)?),
        };
        verified.claims().check_times(now)?;
        if iam.ended_sessions.contains(verified.claims().sid, now) {
            return Err(Unauthenticated::InvalidToken.into());
        }
        if kept.is_none() {
            iam.verified_tokens.keep(token, verified.clone());
        }
        Ok(verified)
    }

    /// The second half of [`authenticate`](Self::authenticate), after the first; again, for whoever must know whether the token
    /// and the session still stand.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`] when the session has ended or the key was revoked,
    /// [`Unauthenticated::ExpiredToken`]; [`Error::Store`] when the store fails.
    pub async fn authenticate_verified(&self, token: &VerifiedToken, context: RequestContext) -> Result<Caller> {
        let (iam, claims) = (&*self.0, token.claims());
        let now = iam.now();
        // Time may have passed since the first half.
        claims.check_times(now)?;
        if !iam.keys.accepts(&*iam.store, iam.snapshots(), token.key(), now).await? {
            return Err(Unauthenticated::InvalidToken.into());
        }
        let Some(snapshot) = iam.session_snapshot(claims.tenant_id, claims.sid, now).await? else {
            iam.ended_sessions.remember(claims.sid, claims.exp, now);
            return Err(Unauthenticated::InvalidToken.into());
        };
        if !snapshot.admits(claims.sub, now) {
            return Err(Unauthenticated::InvalidToken.into());
        }
        let authority = Arc::clone(&snapshot.authority);
        Ok(Caller::user_session(claims.tenant_id, claims.sub, claims.sid, authority, context))
    }

    /// Listens to what others commit, so that [`authenticate`](Self::authenticate) need not ask the store about sessions
    /// that it knows. Keep it running, and call it again a moment after it failed: until then, and while nothing is heard,
    /// the store is asked with every request.
    ///
    /// What is committed through this `Iam` counts at once either way; what others commit, within a second. It ends where
    /// the store fails, or at once where that [cannot tell](crate::Store::change_feed).
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn follow_changes(&self) -> Result<(), StoreError> {
        match self.0.store.change_feed().await? {
            Some(feed) => Err(self.0.snapshots().follow(feed).await),
            None => Ok(()),
        }
    }

    /// Whether what others commit is [heard of](Self::follow_changes) at this moment.
    #[must_use]
    pub fn hears_changes(&self) -> bool {
        self.0.snapshots().are_trusted(monotonic_now())
    }

    /// The public keys with which access tokens can be verified (RFC 7517).
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn public_keys(&self) -> Result<Vec<PublicKey>> {
        self.0.keys.public_keys(&*self.0.store, self.0.snapshots(), self.0.now()).await
    }

    /// Adds a signing key. It is published at once and signs a minute later; the older keys go on verifying what
    /// they signed, so nobody is logged out.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails, or when two rotate at the same moment.
    pub async fn rotate_keys(&self) -> Result<SigningKey> {
        let iam = &*self.0;
        iam.keys.rotate(&*iam.store, iam.snapshots(), iam.now(), iam.next_id(), &*iam.random).await
    }

    /// [Rotates](Self::rotate_keys) the signing keys when the newest is as old as [`Settings::key_rotation`] says; gives the
    /// new key, if one was made. For a job that runs now and then.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn rotate_keys_when_due(&self) -> Result<Option<SigningKey>> {
        let (iam, age) = (&*self.0, self.0.settings.key_rotation);
        iam.keys.rotate_when_due(&*iam.store, iam.snapshots(), age, iam.now(), iam.next_id(), &*iam.random).await
    }

    /// Withdraws a key that has leaked: what it signed is refused, here at once and elsewhere within a second. Sessions
    /// stay: they refresh under the key whose identifier is given, which signs from now on. Its private half is erased.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] naming `key` when no such key signs access tokens; [`Error::Store`] when the store fails.
    pub async fn revoke_key(&self, key: KeyId) -> Result<KeyId> {
        let iam = &*self.0;
        iam.keys.revoke(&*iam.store, iam.snapshots(), key, iam.now(), iam.next_id(), &*iam.random).await
    }

    /// Erases the private halves of signing keys whose successors have signed for ten minutes; tells how many. For a job that
    /// runs now and then. What they signed is verified by their public halves.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails; what was erased before stays so.
    pub async fn erase_replaced_keys(&self) -> Result<u64> {
        self.0.keys.erase_replaced(&*self.0.store, self.0.now()).await
    }

    /// Encrypts under the [master key](Settings::master_key) every private key that is not, be it that it is kept as it
    /// is or under the key that the master key [replaces](MasterKey::replacing). Gives how many it has changed. What was
    /// read in the store before, or in a backup of it, is as good as ever: [rotate](Self::rotate_keys) where that counts.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] when there is no master key; [`Error::Store`] when the store fails. Keys that are changed by
    /// then stay so.
    pub async fn reencrypt_keys(&self) -> Result<u64> {
        let (store, Common { settings, random, .. }) = (&self.0.store, &**self.0);
        let Some(master) = &settings.master_key else {
            return Err(Error::field("master_key", "is missing"));
        };
        let mut changed = 0;
        // Again until there is nothing left: somebody else may have added a key, or changed one, meanwhile.
        loop {
            let mut is_done = true;
            for purpose in [KeyPurpose::AccessTokens, KeyPurpose::Checkpoints] {
                for key in store.signing_keys(purpose).await? {
                    if let Some(sealed) = key.resealed(master, &**random)? {
                        changed += u64::from(store.replace_private_key(key.id, &key.private, &sealed).await?);
                        is_done = false;
                    }
                }
            }
            if is_done {
                return Ok(changed);
            }
        }
    }

    /// Lets the store prepare for what is to come, such as next month's entries of the audit log. Call it once a day
    /// or more often.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn prepare_store(&self) -> Result<(), StoreError> {
        self.0.store.prepare(self.0.now()).await
    }

    /// Asks whether the store answers.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.0.store.ping().await
    }

    /// Whether there is no tenant yet.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        self.0.store.is_empty().await
    }

    /// A word for people: which kind of store this is.
    #[must_use]
    pub fn store_kind(&self) -> &'static str {
        self.0.store.kind()
    }

    /// Gives back what the store holds, waiting for those who use it.
    pub async fn close(&self) {
        self.0.store.close().await;
    }

    /// Whether every migration that this program knows has run.
    ///
    /// # Errors
    ///
    /// What the store says.
    pub async fn is_migrated(&self) -> Result<bool, StoreError> {
        self.0.store.is_migrated().await
    }
}

impl Inner {
    pub(crate) fn snapshots(&self) -> &Snapshots {
        self.aftermath.snapshots()
    }

    /// The same over a transaction of the host.
    pub(crate) fn within(&self, store: Arc<dyn Store>) -> Self {
        let store = observed(store, self.observer.as_ref());
        let aftermath = self.aftermath.held_back();
        Self { store, aftermath, in_flight: InFlight::default(), common: Arc::clone(&self.common) }
    }

    /// The transaction of the host is committed.
    pub(crate) fn release(&self) {
        self.aftermath.release();
    }

    pub(crate) fn now(&self) -> Timestamp {
        cut(self.clock.now())
    }

    pub(crate) fn next_id<T: From<Uuid>>(&self) -> T {
        self.ids.next(self.now(), &*self.random)
    }

    /// Whether there is more than one tenant. The store is asked until there is.
    pub(crate) async fn has_several_tenants(&self) -> Result<bool, StoreError> {
        let known = &self.common.has_several_tenants;
        if !known.load(Ordering::Relaxed) && self.store.has_several_tenants().await? {
            known.store(true, Ordering::Relaxed);
        }
        Ok(known.load(Ordering::Relaxed))
    }

    /// A request context that tells nothing of any request, and has a correlation identifier of its own.
    pub(crate) fn unrelated_context(&self) -> RequestContext {
        let correlation_id = self.next_id::<Uuid>().to_string().parse().ok();
        RequestContext { correlation_id, ..RequestContext::default() }
    }

    /// What a caller may do at this moment.
    pub(crate) fn rights<'a>(&self, caller: &'a Caller) -> Rights<'a> {
        Rights::new(caller.authority(), self.now())
    }

    pub(crate) async fn begin<'a>(&'a self, caller: &'a Caller) -> Result<UnitOfWork<'a>> {
        let turn = self.in_flight.enter(caller.tenant()).await?;
        let work = UnitOfWork::begin(&*self.store, caller, &*self.clock, &self.ids, &*self.random, &self.aftermath);
        Ok(work.await?.in_turn(turn))
    }

    /// The same caller with the rights of this moment, for what goes on for long. Trusted code stays what it is.
    pub(crate) async fn renewed(&self, caller: &Caller) -> Result<Caller> {
        let Actor::User { user, session } = *caller.actor() else { return Ok(caller.clone()) };
        let now = self.now();
        let snapshot = self.session_snapshot(caller.tenant(), session, now).await?;
        let snapshot = snapshot.filter(|snapshot| snapshot.admits(user, now)).ok_or(Unauthenticated::InvalidToken)?;
        Ok(caller.clone().with_authority(Arc::clone(&snapshot.authority)))
    }

    /// What stands of a session: what was kept of it, or else what the store says.
    pub(crate) async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Option<Arc<Snapshot>>, StoreError> {
        // One that seems to be over may have been refreshed since.
        let asked = monotonic_now();
        let kept = self.snapshots().session(tenant, session, asked).filter(|kept| now < kept.expires_at);
        if kept.is_some() {
            return Ok(kept);
        }
        let ticket = self.snapshots().ticket();
        let read = self.store.session_snapshot(tenant, session).await?;
        Ok(read.map(|read| self.snapshots().keep_session(tenant, session, read, ticket, asked)))
    }

    /// Where organizations stand, as far as there are any: what was kept of it, or else what the store says.
    ///
    /// For decisions alone: as with rights, what others have changed may count here a second later.
    pub(crate) async fn lineages(
        &self,
        tenant: TenantId,
        organizations: impl IntoIterator<Item = OrganizationId>,
    ) -> Result<Arc<Ancestry>, StoreError> {
        let (snapshots, asked) = (self.snapshots(), monotonic_now());
        let mut ids: Vec<OrganizationId> = organizations.into_iter().collect();
        ids.sort_unstable();
        ids.dedup();
        let (mut lineages, mut unknown) = (Vec::with_capacity(ids.len()), Vec::new());
        for id in ids {
            match snapshots.lineage(tenant, id, asked) {
                Some(lineage) => lineages.push(lineage),
                None => unknown.push(id),
            }
        }
        if !unknown.is_empty() {
            let ticket = snapshots.ticket();
            let read = self.store.lineages(tenant, &unknown).await?;
            let read: Ancestry = read.iter().collect();
            let found = unknown.into_iter().filter_map(|id| read.position(id));
            lineages.extend(found.map(|position| snapshots.keep_lineage(tenant, position, ticket, asked)));
        }
        Ok(match lineages.as_slice() {
            [one] => Arc::clone(one),
            several => Arc::new(Ancestry::merged(several.iter().map(|lineage| &**lineage))),
        })
    }

    /// What a caller asks for is made once, if it says under which key.
    pub(crate) fn once<'a>(&self, caller: &'a Caller, what: &ResourceType) -> Once<'a> {
        Once::new(&self.idempotency, caller, what.as_str())
    }

    /// Reads the signing keys again where they are stale. Whoever will sign calls this before it begins a unit of
    /// work, inside which asking the store for more could exhaust its connections.
    pub(crate) async fn refresh_keys(&self) -> Result<()> {
        self.keys.refresh(&*self.store, self.snapshots(), self.now()).await
    }

    /// A pair of tokens of a session.
    pub(crate) fn tokens_for(&self, session: &Session, secret: &NextSecret, now: Timestamp) -> Result<Tokens> {
        let lifetime = self.settings.access_token_lifetime;
        let claims = Claims {
            iss: self.settings.issuer.clone(),
            aud: self.settings.audience.clone(),
            sub: session.user_id,
            sid: session.id,
            jti: self.next_id(),
            tenant_id: session.tenant_id,
            iat: now.timestamp(),
            nbf: now.timestamp(),
            exp: (now + lifetime).timestamp(),
        };
        Ok(Tokens {
            access: token::sign(&claims, &self.keys, now)?,
            refresh: session.refresh.token(session.tenant_id, session.id, secret),
            expires_in: lifetime.to_std().map_err(|cause| Error::internal("access token lifetime", cause))?,
        })
    }
}
