use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use chrono::TimeDelta;
use iam_audit_proof::LogKey;
use iam_model::audit::AuditEntry;
use iam_model::clock::{Clock, SystemClock, cut};
use iam_model::domain::TxtResolver;
use iam_model::error::{Error, Result};
use iam_model::id::IdGenerator;
use iam_model::identity_provider::ProviderClient;
use iam_model::mail::Mailer;
use iam_model::observe::Observer;
use iam_model::random::{Random, SystemRandom};
use iam_model::signing_key::KeyPurpose;
use iam_model::store::Store;
use iam_model::webhook::WebhookSender;
use tokio::sync::Notify;
use url::Url;

use crate::cache::EndedSessions;
use crate::directory_requests::DirectoryRequests;
use crate::engine::{AfterCommit, Computing, Engine, Federation, Hook, InFlight, Keys, OutgoingMail, Shared, observed};
use crate::hashing::PasswordHasher;
use crate::iam::Iam;
use crate::known_providers::KnownProviders;
use crate::link_pages::LinkPages;
use crate::password::PasswordRules;
use crate::secret_cipher::SecretCipher;
use crate::settings::Settings;
use crate::token::{KeyRing, RETIREMENT, VerifiedTokens, first_or_stored, pair};

/// Builds an [`Iam`]; see [`Iam::builder`].
pub struct Builder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    observer: Option<Arc<dyn Observer>>,
    hooks: Vec<Hook>,
    mail: Option<(Arc<dyn Mailer>, LinkPages)>,
    webhooks: Option<Arc<dyn WebhookSender>>,
    resolver: Option<Arc<dyn TxtResolver>>,
    federation: Option<Federation>,
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

    /// Sends mail by this mailer. Links in it lead to these pages. By default, mail is off.
    ///
    /// The program must call [`Iam::deliver_mail`] again and again; see [`mail`](crate::mail).
    #[must_use]
    pub fn mail(mut self, mailer: Arc<dyn Mailer>, pages: LinkPages) -> Self {
        self.mail = Some((mailer, pages));
        self
    }

    /// Sends the events of webhooks by this sender. By default, webhooks are off.
    ///
    /// A task of the program must call [`Iam::deliver_webhooks`]; see [`webhook`](crate::webhook).
    #[must_use]
    pub fn webhooks(mut self, sender: Arc<dyn WebhookSender>) -> Self {
        self.webhooks = Some(sender);
        self
    }

    /// Looks up the records of domains by this resolver. By default, only trusted code verifies domains.
    ///
    /// The program should call [`Iam::check_domains`] every hour; see [`domain`](crate::domain).
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn TxtResolver>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Lets people log in by identity providers, which this client reaches. `callbacks` is the address of the router's
    /// `/auth/federation/callback/`: a provider sends people back to it, with the identifier of the provider after it.
    /// By default, federation is off.
    #[must_use]
    pub fn federation(mut self, client: Arc<dyn ProviderClient>, callbacks: Url) -> Self {
        self.federation = Some(Federation { client, callbacks });
        self
    }

    /// Reports the operations of the store, the hashing of passwords, and the deliveries of webhooks, to an observer.
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
    /// use iam_store_memory::MemoryStore;
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
    /// one second and one day, or when the file of breached passwords cannot be used; [`Error::Internal`] when a
    /// signing key cannot be decrypted with the configured master key, or when Argon2 does not allow the hashing cost.
    pub async fn build(self) -> Result<Iam> {
        let Self { store, clock, random, observer, hooks, mail, webhooks, resolver, federation, settings } = self;
        let store = observed(store, observer.as_ref());
        if settings.access_token_lifetime < TimeDelta::seconds(1) || settings.access_token_lifetime > RETIREMENT {
            return Err(Error::field("access_token_lifetime", "must be between one second and one day"));
        }
        let password_rules =
            PasswordRules::open(settings.refuse_common_passwords, settings.breached_passwords.as_deref())?;
        let ids = IdGenerator::new();
        let now = cut(clock.now());
        let first = ids.next(now, &*random);
        let tokens = KeyRing::open(&*store, settings.master_key.clone(), now, first, &*random).await?;
        let (first, master) = (ids.next(now, &*random), settings.master_key.as_ref());
        let log_keys = first_or_stored(KeyPurpose::Checkpoints, &*store, master, now, first, &*random).await?;
        // The first key, even if there are later ones: its id is in the names of the logs.
        let log_key = log_keys.first().ok_or_else(|| Error::internal("checkpoint key", "there is none"))?;
        let keys = Keys::new(tokens, LogKey::new(pair(log_key, master)?, log_key.id))?;
        let mail = mail.map(|(mailer, pages)| Arc::new(OutgoingMail { mailer, pages, queued: Notify::new() }));
        let passwords = PasswordHasher::new(
            settings.hashing_cost,
            settings.password_wait,
            observer.clone(),
            Arc::clone(&random),
            SecretCipher::new(keys.log.derive("hash secrets"))?,
        )?;
        Ok(Iam(Arc::new(Engine {
            store,
            after_commit: AfterCommit::immediate(hooks, mail.clone()),
            in_flight: Arc::default(),
            long_reads: Arc::new(InFlight::of_long_reads()),
            manifests: Arc::new(InFlight::of_manifests()),
            trial: None,
            shared: Arc::new(Shared {
                settings,
                clock,
                ids,
                random,
                keys,
                passwords,
                password_rules,
                computing: Computing::default(),
                webhook_tests: InFlight::default(),
                domain_checks: InFlight::default(),
                provider_requests: InFlight::default(),
                known_providers: KnownProviders::default(),
                directory_requests: DirectoryRequests::default(),
                event_streams: Arc::default(),
                user_exports: Arc::default(),
                verified_tokens: VerifiedTokens::default(),
                ended_sessions: EndedSessions::default(),
                mail,
                webhooks,
                resolver,
                federation,
                observer,
                has_several_tenants: AtomicBool::default(),
            }),
        })))
    }
}

impl Iam {
    /// Returns a builder for an [`Iam`] over a store.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use iam_core::Iam;
    /// use iam_store_memory::MemoryStore;
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
            mail: None,
            webhooks: None,
            resolver: None,
            federation: None,
            settings: Settings::default(),
        }
    }
}
