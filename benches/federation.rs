//! The cost of logins by an identity provider, on every store, each step beside the least that it cannot do without.
//!
//! The provider is in this process, so no row has the time of a network. The callback exchanges the code and checks the
//! ID token; the finish only logs the person in. The floor is that of both steps: the check of a token, and the writes
//! of a login.

mod on_stores;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use criterion::Criterion;
use iam_benches::{CHEAP, Outcome, register, settings, sure, write};
use iam_core::clock::Clock as _;
use iam_core::domain::DomainName;
use iam_core::factor::{
    AuthenticationMethod, AuthenticationMethods, Ceremony, Challenge, ChallengeChange, ChallengePurpose,
};
use iam_core::federation::{Finished, IdentityChange, StartFederation, code_challenge};
use iam_core::identity_provider::{Issuer, NewIdentityProvider, Provisioning};
use iam_core::secret::ChallengeToken;
use iam_core::session::{EndReason, ProviderSession, RefreshState, Session, SessionChange};
use iam_core::{
    AuditBatch, Caller, Change, Iam, IdentityProviderId, RequestContext, SessionId, Store, TenantId, UserId,
};
use iam_model::clock::testing::FixedClock;
use iam_openid::{Expectations, ProviderKeys, verify_id_token};
use serde_json::json;
use test_support::TestStore;
use test_support::identity_provider::{ISSUER, Providers, claims};
use tokio::runtime::Runtime;
use uuid::Uuid;

use on_stores::on_stores;

const CLIENT_ID: &str = "iam";
const SUBJECT: &str = "248289761001";
const EMAIL: &str = "grace@example.com";
const REDIRECT: &str = "https://app.example.com/signed-in";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

fn main() -> Outcome {
    on_stores(measure_store, |_| Ok(()))
}

fn measure_store(criterion: &mut Criterion, runtime: &Runtime, test: &TestStore) -> Outcome {
    let bench = runtime.block_on(Bench::new(test))?;
    // The first login makes the user. In all others, the person is known.
    runtime.block_on(bench.time_logins(1))?;
    let mut measure = Rows { criterion, runtime, store: test.name() };

    measure.row("discover", async || Ok(bench.iam.federation().discover(EMAIL).await?));
    measure.row("floor: discover", async || Ok(bench.store.verified_domain(&bench.domain).await?));
    measure.timed("start", async |count| bench.time_starts(count).await);
    measure.timed("floor: start", async |count| bench.time_challenges(count).await);
    measure.timed("callback", async |count| Ok(bench.time_logins(count).await?.callback));
    measure.timed("finish", async |count| Ok(bench.time_logins(count).await?.finish));
    measure.timed("floor: callback and finish", async |count| bench.time_writes(count).await);
    runtime.block_on(bench.iam.close());
    Ok(())
}

/// The rows of a store.
struct Rows<'a> {
    criterion: &'a mut Criterion,
    runtime: &'a Runtime,
    store: &'a str,
}

impl Rows<'_> {
    fn row<T>(&mut self, what: &str, work: impl AsyncFn() -> Outcome<T>) {
        self.criterion.bench_function(&format!("federation/{what}/{}", self.store), |bencher| {
            bencher.to_async(self.runtime).iter(|| async { sure(work().await) });
        });
    }

    /// A row of work that measures itself, without what it prepares and removes.
    fn timed(&mut self, what: &str, work: impl AsyncFn(u64) -> Outcome<Duration>) {
        self.criterion.bench_function(&format!("federation/{what}/{}", self.store), |bencher| {
            bencher.to_async(self.runtime).iter_custom(|count| {
                let work = &work;
                async move { sure(work(count).await) }
            });
        });
    }
}

/// A tenant with a VERIFIED domain, and a provider that speaks for it.
struct Bench {
    iam: Iam,
    store: Arc<dyn Store>,
    clock: FixedClock,
    providers: Providers,
    tenant: TenantId,
    domain: DomainName,
    provider: IdentityProviderId,
}

/// The times of the two steps of a number of logins.
#[derive(Default)]
struct Logins {
    callback: Duration,
    finish: Duration,
}

impl Bench {
    async fn new(test: &TestStore) -> Outcome<Self> {
        let (providers, clock) = (Providers::default(), FixedClock::at("2026-01-31T09:15:00Z"));
        let mut settings = settings(CHEAP)?;
        settings.federation_redirects = vec![REDIRECT.to_owned()];
        let builder = Iam::builder(test.store()).settings(settings).clock(clock.clone());
        let callbacks = "https://iam.example.com/auth/federation/callback/";
        let iam = builder.federation(Arc::new(providers.clone()), callbacks.parse()?).build().await?;
        let tenant = register(&iam).await?.tenant.id;
        let system = Caller::system(tenant, "benchmark");
        let domain = iam.domains().create(&system, "example.com").await?;
        iam.domains().trust(&system, domain.id).await?;
        let new = NewIdentityProvider {
            name: "Acme".to_owned(),
            issuer: ISSUER.to_owned(),
            client_id: CLIENT_ID.to_owned(),
            domains: vec![domain.id],
            provisioning: Provisioning::Create,
            ..NewIdentityProvider::default()
        };
        let provider = iam.identity_providers().create(&system, new).await?.id;
        Ok(Self { iam, store: test.store(), clock, providers, tenant, domain: domain.name, provider })
    }

    fn start(&self) -> StartFederation {
        StartFederation {
            provider: self.provider,
            redirect_uri: REDIRECT.to_owned(),
            code_challenge: code_challenge(VERIFIER),
            login_hint: None,
        }
    }

    async fn write(&self, change: impl Into<Change>) -> Outcome {
        write(&*self.store, self.tenant, change).await
    }

    /// The time to begin this number of logins. Each is removed, so that the store does not grow.
    async fn time_starts(&self, count: u64) -> Outcome<Duration> {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            let (context, start) = (RequestContext::default(), self.start());
            let began = Instant::now();
            black_box(self.iam.federation().start(&context, start).await?);
            elapsed += began.elapsed();
            self.write(ChallengeChange::EndAllOfTenant).await?;
        }
        Ok(elapsed)
    }

    /// The time to write this number of challenges without the service, each in a transaction.
    async fn time_challenges(&self, count: u64) -> Outcome<Duration> {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            let change = Change::from(ChallengeChange::Issue(self.challenge(ChallengePurpose::FederationStart)));
            let began = Instant::now();
            let mut transaction = self.store.begin(self.tenant).await?;
            transaction.write(&change, AuditBatch::of_entries(Vec::new())).await?;
            transaction.commit().await?;
            elapsed += began.elapsed();
            self.write(ChallengeChange::EndAllOfTenant).await?;
        }
        Ok(elapsed)
    }

    /// The times of this number of logins. Each session ends, so that the next login finds none.
    async fn time_logins(&self, count: u64) -> Outcome<Logins> {
        let (mut times, context) = (Logins::default(), RequestContext::default());
        for _ in 0..count {
            let query = self.log_in_at_provider().await?;
            let began = Instant::now();
            let outcome = self.iam.federation().callback(&context, self.provider, &query).await?;
            times.callback += began.elapsed();
            let code: ChallengeToken = outcome.location.split_once("?code=").ok_or("the login has failed")?.1.into();
            let began = Instant::now();
            let finished = self.iam.federation().finish(&context, None, &code, VERIFIER).await?;
            times.finish += began.elapsed();
            let Finished::LoggedIn(logged_in) = finished else { return Err("there is no session".into()) };
            let caller = self.iam.authenticate(logged_in.tokens.access.expose(), context.clone()).await?;
            self.iam.sessions().logout(&caller).await?;
        }
        Ok(times)
    }

    /// Returns the query with which the browser comes back from the provider.
    async fn log_in_at_provider(&self) -> Outcome<String> {
        let started = self.iam.federation().start(&RequestContext::default(), self.start()).await?;
        Ok(self.providers.log_in(started.authorization_url.as_str(), self.clock.now(), &json!({})))
    }

    /// The time to check an ID token, and to write a login without the service, this number of times.
    async fn time_writes(&self, count: u64) -> Outcome<Duration> {
        const NONCE: &str = "a nonce";
        let (now, issuer): (_, Issuer) = (self.clock.now(), ISSUER.parse()?);
        let token = self.providers.sign(&claims(ISSUER, CLIENT_ID, NONCE, now));
        let keys = ProviderKeys::parse(self.providers.keys().as_bytes())?;
        let expected = Expectations { issuer: ISSUER, client_id: CLIENT_ID };
        let identity = self.store.identity_of(self.tenant, self.provider, &issuer, SUBJECT).await?;
        let identity = identity.ok_or("the person is no user")?;
        let user = identity.user_id;
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            let (challenge, session) = (self.challenge(ChallengePurpose::FederationFinish), self.session(user));
            self.write(ChallengeChange::Issue(challenge.clone())).await?;
            let changes: [Change; 3] = [
                ChallengeChange::End(challenge).into(),
                IdentityChange::Use(identity.clone()).into(),
                SessionChange::Start(session.clone()).into(),
            ];
            let began = Instant::now();
            black_box(verify_id_token(&token, &keys, expected, NONCE, None, now)?);
            let mut transaction = self.store.begin(self.tenant).await?;
            transaction.lock_user(user).await?;
            for change in &changes {
                transaction.write(change, AuditBatch::of_entries(Vec::new())).await?;
            }
            transaction.commit().await?;
            elapsed += began.elapsed();
            self.write(SessionChange::End { sessions: vec![session], reason: EndReason::Logout }).await?;
        }
        Ok(elapsed)
    }

    /// A challenge with about as much state as that of a login.
    fn challenge(&self, purpose: ChallengePurpose) -> Challenge {
        let challenge = Challenge::begin(purpose, self.tenant, None, [7; 32], self.clock.now());
        Challenge { ceremony: Some(Ceremony(vec![b'x'; 300])), ..challenge }
    }

    fn session(&self, user: UserId) -> Session {
        let now = self.clock.now();
        Session {
            id: SessionId::from(Uuid::now_v7()),
            tenant_id: self.tenant,
            user_id: user,
            ip_address: None,
            user_agent: None,
            methods: AuthenticationMethods::only(AuthenticationMethod::Federation),
            authenticated_at: now,
            created_at: now,
            last_used_at: now,
            expires_at: now + TimeDelta::days(7),
            refresh: RefreshState { tag_key: [1; 32], current: [2; 32], spent: None },
            provider: Some(ProviderSession { provider_id: self.provider, session: None }),
            impersonation: None,
        }
    }
}
