//! The entry point: [`Iam`], its [`Settings`] and its [builder](Iam::builder).

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::TimeDelta;
use uuid::Uuid;

use crate::access::{Access, Rights};
use crate::after_commit::{AfterCommit, Hook};
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
use crate::session::{EndedSessions, NextSecret, Session, SessionCache, Sessions, Snapshot, Tokens, refresh_token};
use crate::store::Store;
use crate::tenant::{Quota, Tenants};
use crate::token::{
    self, Claims, KeyPurpose, KeyRing, MasterKey, PublicKey, RETIREMENT, SigningKey, VerifiedToken, VerifiedTokens,
    first_or_stored,
};
use crate::token::{pair, reencrypted};
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

/// The state that all services share.
pub(crate) struct Inner {
    pub(crate) store: Arc<dyn Store>,
    after_commit: AfterCommit,
    /// Not in `common`: a unit of work inside a host transaction must not wait for units of work that wait for this
    /// transaction.
    in_flight: InFlight,
    common: Arc<Common>,
}

/// The state that is the same inside and outside of host transactions.
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
    /// Whether there was more than one tenant at the last query.
    has_several_tenants: AtomicBool,
}

impl Deref for Inner {
    type Target = Common;

    fn deref(&self) -> &Common {
        &self.common
    }
}

/// The settings. The defaults are those of `decisions.md` §2.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// The `iss` claim of access tokens.
    pub issuer: String,
    /// The `aud` claim of access tokens.
    pub audience: String,
    /// How long an access token is valid: 15 minutes.
    pub access_token_lifetime: TimeDelta,
    /// How long a session lasts without a refresh: 7 days.
    pub session_idle: TimeDelta,
    /// How long a session lasts at most after its login, even if it is refreshed: 30 days.
    pub session_absolute: TimeDelta,
    /// How long a refresh token that was just spent is still accepted: 10 seconds.
    pub refresh_grace: TimeDelta,
    /// When failed logins lock an account.
    pub lockout: Lockout,
    /// Whether strangers may create tenants.
    pub registration: bool,
    /// The cost of a password hash.
    pub hashing_cost: HashingCost,
    /// The maximum expected wait of a password in the hash queue: 2 seconds. A call whose expected wait is longer is
    /// refused at once with [`Error::Overloaded`].
    pub password_wait: Duration,
    /// The maximum depth of an organization: 5. Roots have depth 0.
    pub max_organization_depth: u32,
    /// Encrypts private keys in the store. Without it, they are stored unencrypted.
    pub master_key: Option<MasterKey>,
    /// The maximum numbers of resources of a tenant.
    pub quota: Quota,
    /// The age at which [`Iam::rotate_keys_when_due`] replaces a signing key for access tokens: 90 days.
    pub key_rotation: TimeDelta,
    /// The shortest retention that a tenant can choose for its audit log, in whole days: 30 days.
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
    /// Returns the shortest retention of an audit log, in whole days.
    pub(crate) fn least_retention_days(&self) -> u32 {
        let days = self.audit_min_retention.num_seconds().max(0).unsigned_abs().div_ceil(86_400);
        days.clamp(1, 36_500).try_into().unwrap_or(36_500)
    }

    /// Returns when a session expires that began at `began` and is refreshed at `now`.
    pub(crate) fn session_expiry(&self, began: Timestamp, now: Timestamp) -> Timestamp {
        (now + self.session_idle).min(began + self.session_absolute)
    }
}

/// Builds an [`Iam`]; see [`Iam::builder`].
pub struct Builder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    observer: Option<Arc<dyn Observer>>,
    hooks: Vec<Hook>,
    settings: Settings,
}

impl Builder {
    /// Uses these settings instead of the defaults.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Uses this clock instead of the system's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Uses this source of randomness instead of the system's.
    #[must_use]
    pub fn random(mut self, random: impl Random) -> Self {
        self.random = Arc::new(random);
        self
    }

    /// Reports the operations of the store, and the hashing of passwords, to an observer.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Adds a hook: a function that is called with the audit entries of each commit through this [`Iam`], for
    /// instance to send mail, to invalidate a cache, or to publish an event. Several hooks are called in the order in
    /// which they were added.
    ///
    /// A hook is called after the commit and before the service returns to its caller, so it must not wait for
    /// anything. Send slow work to a task of your own, as in the example. A hook is not called for commits of other
    /// replicas, and possibly not for a commit just before a crash. A program that must not miss any entry reads the
    /// [audit log](Iam::audit) from the last entry that it has read.
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
    ///             // The receiver may be closed.
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

    /// Builds the [`Iam`]. Reads the signing keys from the store, and creates the first ones if there are none.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails; [`Error::Validation`] when the lifetime of access tokens is not between
    /// one second and one day; [`Error::Internal`] when a signing key cannot be decrypted with the configured master
    /// key, or when Argon2 does not allow the hashing cost.
    pub async fn build(self) -> Result<Iam> {
        let Self { store, clock, random, observer, hooks, settings } = self;
        let store = observed(store, observer.as_ref());
        if settings.access_token_lifetime < TimeDelta::seconds(1) || settings.access_token_lifetime > RETIREMENT {
            return Err(Error::field("access_token_lifetime", "must be between one second and one day"));
        }
        let ids = IdGenerator::new();
        let now = cut(clock.now());
        let first = ids.next(now, &*random);
        let keys = KeyRing::open(&*store, settings.master_key.clone(), now, first, &*random).await?;
        let (first, master) = (ids.next(now, &*random), settings.master_key.as_ref());
        let log_keys = first_or_stored(KeyPurpose::Checkpoints, &*store, master, now, first, &*random).await?;
        // The first key, even if there are later ones: its id is in the names of the logs.
        let log_key = log_keys.first().ok_or_else(|| Error::internal("checkpoint key", "there is none"))?;
        let log_key = LogKey::new(pair(&log_key, master)?, log_key.id);
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
        let after_commit = AfterCommit::immediate(hooks);
        Ok(Iam(Arc::new(Inner { store, after_commit, in_flight: InFlight::default(), common })))
    }
}

/// Wraps the store so that it reports to the observer, if there is one.
fn observed(store: Arc<dyn Store>, observer: Option<&Arc<dyn Observer>>) -> Arc<dyn Store> {
    match observer {
        Some(observer) => Arc::new(Observed::new(store, Arc::clone(observer))),
        None => store,
    }
}

impl Iam {
    /// Returns a builder for an [`Iam`] over a store.
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

    /// The service for tenants: creates, reads and changes them.
    #[must_use]
    pub fn tenants(&self) -> Tenants<'_> {
        Tenants(&self.0)
    }

    /// The service for users: creates, reads, changes and deletes them.
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(&self.0)
    }

    /// The service for passwords: changes and resets them.
    #[must_use]
    pub fn credentials(&self) -> Credentials<'_> {
        Credentials(&self.0)
    }

    /// The service for sessions: begins, refreshes, lists and ends them.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.0)
    }

    /// The service for permissions: registers, reads and removes them.
    #[must_use]
    pub fn permissions(&self) -> Permissions<'_> {
        Permissions(&self.0)
    }

    /// The service for roles: creates, reads, changes and deletes them.
    #[must_use]
    pub fn roles(&self) -> Roles<'_> {
        Roles(&self.0)
    }

    /// The service for organizations: creates, reads, changes, moves and deletes them.
    #[must_use]
    pub fn organizations(&self) -> Organizations<'_> {
        Organizations(&self.0)
    }

    /// The service for access checks: answers whether a user has a permission.
    #[must_use]
    pub fn access(&self) -> Access<'_> {
        Access(&self.0)
    }

    /// The service for role assignments: gives roles to users and takes them away.
    #[must_use]
    pub fn assignments(&self) -> Assignments<'_> {
        Assignments(&self.0)
    }

    /// The service for the audit log.
    #[must_use]
    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.0)
    }

    /// Returns the number of passwords that wait to be hashed in this process.
    #[must_use]
    pub fn passwords_waiting(&self) -> usize {
        self.0.passwords.waiting()
    }

    /// Returns the settings of this `Iam`.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the present moment of its clock, cut to milliseconds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Returns the caller that an access token stands for.
    ///
    /// The token's signature, issuer, audience and times must be right, and its session must not have ended. A token is
    /// refused as soon as its session ends. If another `Iam` ends the session and this one
    /// [follows](Self::follow_changes) the changes of others, the token is refused within a second.
    ///
    /// # Errors
    ///
    /// [`Unauthenticated::InvalidToken`], [`Unauthenticated::ExpiredToken`]; [`Error::Store`] when the store fails.
    pub async fn authenticate(&self, token: &str, context: RequestContext) -> Result<Caller> {
        self.authenticate_verified(&self.verify(token).await?, context).await
    }

    /// Does the first half of [`authenticate`](Self::authenticate): it verifies the token. For code that must decide
    /// before the store is queried for the session, such as a rate limit. Only the signing keys are read from the
    /// store, and only from time to time.
    ///
    /// # Errors
    ///
    /// The same as [`authenticate`](Self::authenticate). But a session that has ended is an error only if this process
    /// already knows that it has ended.
    pub async fn verify(&self, token: &str) -> Result<VerifiedToken> {
        let iam = &*self.0;
        let now = iam.now();
        let cached = iam.verified_tokens.get(token);
        let kid = cached.as_ref().map_or_else(|| token::key_of(token), |cached| Ok(cached.key()))?;
        let key = iam
            .keys
            .verifying_key(&*iam.store, iam.snapshots(), kid, now)
            .await?
            .ok_or(Unauthenticated::InvalidToken)?;
        let verified = match &cached {
            Some(cached) => cached.clone(),
            None => VerifiedToken::new(kid, token::verify(token, &key, &iam.settings.issuer, &iam.settings.audience)?),
        };
        verified.claims().check_times(now)?;
        if iam.ended_sessions.contains(verified.claims().sid, now) {
            return Err(Unauthenticated::InvalidToken.into());
        }
        if cached.is_none() {
            iam.verified_tokens.keep(token, verified.clone());
        }
        Ok(verified)
    }

    /// Does the second half of [`authenticate`](Self::authenticate): it checks the session. Call it again to check
    /// later that the token and the session are still valid.
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

    /// Follows the commits of other replicas, so that [`authenticate`](Self::authenticate) can use cached sessions
    /// instead of querying the store. Keep it running, and call it again a moment after it has failed. Until then,
    /// and while no notifications arrive, every request queries the store.
    ///
    /// A commit through this `Iam` takes effect here at once in any case, and a commit of another replica within a
    /// second. This function returns when the store fails, or at once when the store has no
    /// [change feed](crate::Store::change_feed).
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn follow_changes(&self) -> Result<(), StoreError> {
        match self.0.store.change_feed().await? {
            Some(feed) => Err(self.0.snapshots().follow(feed).await),
            None => Ok(()),
        }
    }

    /// Whether this process [receives](Self::follow_changes) the changes of other replicas at this moment.
    #[must_use]
    pub fn hears_changes(&self) -> bool {
        self.0.snapshots().are_trusted(monotonic_now())
    }

    /// Returns the public keys that verify access tokens (RFC 7517).
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn public_keys(&self) -> Result<Vec<PublicKey>> {
        self.0.keys.public_keys(&*self.0.store, self.0.snapshots(), self.0.now()).await
    }

    /// Adds a signing key. It is published at once and begins to sign a minute later. The older keys still verify the
    /// tokens that they signed, so no user is logged out.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails, or when another replica rotates the keys at the same moment.
    pub async fn rotate_keys(&self) -> Result<SigningKey> {
        let iam = &*self.0;
        iam.keys.rotate(&*iam.store, iam.snapshots(), iam.now(), iam.next_id(), &*iam.random).await
    }

    /// [Rotates](Self::rotate_keys) the signing keys if the newest has reached the age [`Settings::key_rotation`].
    /// Returns the new key, if one was created. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails.
    pub async fn rotate_keys_when_due(&self) -> Result<Option<SigningKey>> {
        let (iam, age) = (&*self.0, self.0.settings.key_rotation);
        iam.keys.rotate_when_due(&*iam.store, iam.snapshots(), age, iam.now(), iam.next_id(), &*iam.random).await
    }

    /// Revokes a key that has leaked, and erases its private half. Tokens that it signed are refused, here at once
    /// and by other replicas within a second. Sessions stay: they are refreshed with the key whose identifier this
    /// returns, which signs from this moment on.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] naming `key` when no such key signs access tokens; [`Error::Store`] when the store fails.
    pub async fn revoke_key(&self, key: KeyId) -> Result<KeyId> {
        let iam = &*self.0;
        iam.keys.revoke(&*iam.store, iam.snapshots(), key, iam.now(), iam.next_id(), &*iam.random).await
    }

    /// Erases the private halves of signing keys whose successors have signed for ten minutes, and returns how many.
    /// Their public halves still verify the tokens that they signed. For a periodic job.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] when the store fails. Private halves that were erased before stay erased.
    pub async fn erase_replaced_keys(&self) -> Result<u64> {
        self.0.keys.erase_replaced(&*self.0.store, self.0.now()).await
    }

    /// Encrypts every private key under the [master key](Settings::master_key) that is stored unencrypted, or is
    /// encrypted under the key that the master key [replaces](MasterKey::replacing). Returns how many keys it has
    /// changed. An attacker that has read a key earlier, in the store or in a backup of it, can still use it. If that
    /// matters, [rotate](Self::rotate_keys) the keys.
    ///
    /// # Errors
    ///
    /// [`Error::Validation`] when there is no master key; [`Error::Store`] when the store fails. Keys that were changed
    /// before stay changed.
    pub async fn reencrypt_keys(&self) -> Result<u64> {
        let (store, Common { settings, random, .. }) = (&self.0.store, &**self.0);
        let Some(master) = &settings.master_key else {
            return Err(Error::field("master_key", "is missing"));
        };
        let mut changed = 0;
        // Repeated until no key is left: another replica may have added or changed a key meanwhile.
        loop {
            let mut is_done = true;
            for purpose in [KeyPurpose::AccessTokens, KeyPurpose::Checkpoints] {
                for key in store.signing_keys(purpose).await? {
                    if let Some(encrypted) = reencrypted(&key, master, &**random)? {
                        changed += u64::from(store.replace_private_key(key.id, &key.private, &encrypted).await?);
                        is_done = false;
                    }
                }
            }
            if is_done {
                return Ok(changed);
            }
        }
    }

    /// Lets the store prepare for the near future, for instance for next month's entries of the audit log. Call it
    /// once a day or more often.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn prepare_store(&self) -> Result<(), StoreError> {
        self.0.store.prepare(self.0.now()).await
    }

    /// Checks that the store answers.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.0.store.ping().await
    }

    /// Whether there is no tenant yet.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        self.0.store.is_empty().await
    }

    /// Returns the kind of the store, as a word for people.
    #[must_use]
    pub fn store_kind(&self) -> &'static str {
        self.0.store.kind()
    }

    /// Closes the store: waits until its resources are unused, and releases them.
    pub async fn close(&self) {
        self.0.store.close().await;
    }

    /// Whether every migration that this program knows has run.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn is_migrated(&self) -> Result<bool, StoreError> {
        self.0.store.is_migrated().await
    }
}

impl Inner {
    pub(crate) fn snapshots(&self) -> &SessionCache {
        self.after_commit.snapshots()
    }

    /// Returns the same state over a host transaction.
    pub(crate) fn within(&self, store: Arc<dyn Store>) -> Self {
        let store = observed(store, self.observer.as_ref());
        let after_commit = self.after_commit.deferred();
        Self { store, after_commit, in_flight: InFlight::default(), common: Arc::clone(&self.common) }
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
        let known = &self.common.has_several_tenants;
        if !known.load(Ordering::Relaxed) && self.store.has_several_tenants().await? {
            known.store(true, Ordering::Relaxed);
        }
        Ok(known.load(Ordering::Relaxed))
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
        Ok(work.await?.with_permit(permit))
    }

    /// Returns the same caller with its current rights, for calls that take long. Trusted code does not change.
    pub(crate) async fn renewed(&self, caller: &Caller) -> Result<Caller> {
        let Actor::User { user, session } = *caller.actor() else { return Ok(caller.clone()) };
        let now = self.now();
        let snapshot = self.session_snapshot(caller.tenant(), session, now).await?;
        let snapshot = snapshot.filter(|snapshot| snapshot.admits(user, now)).ok_or(Unauthenticated::InvalidToken)?;
        Ok(caller.clone().with_authority(Arc::clone(&snapshot.authority)))
    }

    /// Returns the state of a session, from the cache or from the store.
    pub(crate) async fn session_snapshot(
        &self,
        tenant: TenantId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Option<Arc<Snapshot>>, StoreError> {
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

    /// Returns the positions of those of these organizations that exist, from the cache or from the store.
    ///
    /// For decisions only: as with rights, a change by another replica may take effect here up to a second later.
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

    /// Makes a call idempotent if the caller has an idempotency key: under one key, the resource is created only once.
    pub(crate) fn once<'a>(&self, caller: &'a Caller, what: &ResourceType) -> Once<'a> {
        Once::new(&self.idempotency, caller, what.as_str())
    }

    /// Reads the signing keys again if they are stale. To be called before a unit of work that signs: a query inside
    /// the unit of work would need a second connection, and could exhaust the connection pool.
    pub(crate) async fn refresh_keys(&self) -> Result<()> {
        self.keys.refresh(&*self.store, self.snapshots(), self.now()).await
    }

    /// Returns a new pair of tokens for a session.
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
            refresh: refresh_token(&session.refresh, session.tenant_id, session.id, secret),
            expires_in: lifetime.to_std().map_err(|cause| Error::internal("access token lifetime", cause))?,
        })
    }
}
