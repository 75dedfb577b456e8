//! The cost of second factors, on every store: logins with and without one beside each other, and the other operations
//! beside the statements of the store that they cannot do without.

mod on_stores;
#[expect(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the authenticator of the tests of that crate, of which the benchmark needs a part"
)]
#[path = "../foundation/iam-webauthn/tests/webauthn/authenticator.rs"]
mod webauthn;

use std::io::{Write as _, stdout};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use criterion::Criterion;
use iam_benches::turns::in_turn;
use iam_benches::{Outcome, PASSWORD, email, new_user, register, settings, sure};
use iam_core::clock::Clock as _;
use iam_core::credential::HashingCost;
use iam_core::factor::FactorChange;
use iam_core::factor::webauthn::{AuthenticationResponse, RegistrationResponse};
use iam_core::session::{FactorProof, LoggedIn, Login, StepUp};
use iam_core::{AuditBatch, Caller, Change, Error, Iam, RequestContext, Store, UserId};
use iam_model::clock::testing::FixedClock;
use test_support::TestStore;
use tokio::runtime::Runtime;
use totp_rs::Totp;

use on_stores::on_stores;
use webauthn::{Authentication, Key, Registration};

fn main() -> Outcome {
    on_stores(measure_store, |_| Ok(()))
}

fn measure_store(criterion: &mut Criterion, runtime: &Runtime, test: &TestStore) -> Outcome {
    let bench = runtime.block_on(Bench::new(test))?;
    let name = test.name();
    let logins = runtime.block_on(in_turn(
        LOGINS,
        async || {
            bench.pass();
            Ok(bench.log_in(WITHOUT).await?)
        },
        async || {
            bench.pass();
            bench.log_in_by_code().await
        },
    ))?;
    writeln!(stdout(), "factor/login by password, and by password and code/{name}: {logins}")?;
    criterion.bench_function(&format!("factor/login by passkey/{name}"), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| {
            let bench = &bench;
            async move { sure(bench.time_passkeys(count).await) }
        });
    });
    criterion.bench_function(&format!("factor/step up by code/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(bench.step_up().await) });
    });
    criterion.bench_function(&format!("factor/list/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(bench.iam.factors().list(&bench.caller).await) });
    });
    criterion.bench_function(&format!("factor/floor: list/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(bench.read().await) });
    });
    criterion.bench_function(&format!("factor/set up/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(bench.iam.factors().add_totp(&bench.caller, None).await) });
    });
    criterion.bench_function(&format!("factor/floor: set up/{name}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(bench.write().await) });
    });
    runtime.block_on(bench.iam.close());
    Ok(())
}

/// A service with a user who has an authenticator app and a passkey, and one who has only a password.
struct Bench {
    iam: Iam,
    store: Arc<dyn Store>,
    clock: FixedClock,
    caller: Caller,
    totp: Totp,
    key: Key,
    passkey: Vec<u8>,
    handle: Vec<u8>,
}

/// The number of logins of each kind that are compared.
const LOGINS: usize = 200;

/// The numbers of the two users.
const WITH_FACTORS: u64 = 0;
const WITHOUT: u64 = 1;

impl Bench {
    async fn new(test: &TestStore) -> Outcome<Self> {
        let clock = FixedClock::at("2026-01-31T09:15:00Z");
        let mut settings = settings(HashingCost::default())?;
        settings.relying_party = Some(webauthn::relying_party());
        let iam = Iam::builder(test.store()).settings(settings).clock(clock.clone()).build().await?;
        let registered = register(&iam).await?;
        let system = Caller::system(registered.tenant.id, "benchmark");
        iam.users().create(&system, new_user(WITHOUT)).await?;
        let token = registered.login.tokens.access.expose();
        let caller = iam.authenticate(token, RequestContext::default()).await?;

        let setup = iam.factors().add_totp(&caller, None).await?;
        let totp = Totp::from_url(setup.uri.expose())?;
        iam.factors().confirm_totp(&caller, setup.id, &code(&totp, &clock)?).await?;
        let (options, key, passkey) =
            (iam.factors().passkey_options(&caller).await?, Key::es256(), b"passkey".to_vec());
        let response = RegistrationResponse::from_json(&Registration::of(&key, &passkey, &options).json())?;
        iam.factors().add_passkey(&caller, None, &response).await?;
        let handle = [caller.tenant().as_uuid().into_bytes(), registered.login.user.id.as_uuid().into_bytes()].concat();
        Ok(Self { iam, store: test.store(), clock, caller, totp, key, passkey, handle })
    }

    async fn log_in(&self, number: u64) -> Result<LoggedIn, Error> {
        let login = Login { email: email(number), password: PASSWORD.into(), tenant: None };
        self.iam.sessions().login(&RequestContext::default(), login).await
    }

    async fn log_in_by_code(&self) -> Outcome<LoggedIn> {
        let Err(Error::SecondFactorRequired(pending)) = self.log_in(WITH_FACTORS).await else {
            return Err("the login needs no second factor".into());
        };
        let proof = self.proof()?;
        Ok(self.iam.sessions().login_with_factor(&RequestContext::default(), &pending.challenge, &proof).await?)
    }

    async fn step_up(&self) -> Outcome {
        self.pass();
        Ok(self.iam.sessions().step_up(&self.caller, StepUp::Factor(self.proof()?)).await?)
    }

    /// Lets a minute pass, so that the present code was not used, and the next login of any kind reads the signing
    /// keys.
    fn pass(&self) {
        self.clock.advance(TimeDelta::minutes(1));
    }

    fn proof(&self) -> Outcome<FactorProof> {
        Ok(FactorProof::Code(code(&self.totp, &self.clock)?))
    }

    /// The time of this number of logins, without that of the authenticator.
    async fn time_passkeys(&self, count: u64) -> Outcome<Duration> {
        let mut elapsed = Duration::ZERO;
        for _ in 0..count {
            let began = Instant::now();
            let options = self.iam.sessions().passkey_options(None).await?;
            elapsed += began.elapsed();
            let mut answer = Authentication::of(&self.passkey, &options);
            (answer.user_handle, answer.data.counter) = (Some(self.handle.clone()), 0);
            let answer = answer.json(&self.key);
            let began = Instant::now();
            let response = AuthenticationResponse::from_json(&answer)?;
            self.iam.sessions().login_by_passkey(&RequestContext::default(), &response).await?;
            elapsed += began.elapsed();
        }
        Ok(elapsed)
    }

    fn user(&self) -> Outcome<UserId> {
        Ok(self.caller.user().ok_or("the caller is a user")?)
    }

    /// Reads the factors without the service.
    async fn read(&self) -> Outcome {
        let (tenant, user) = (self.caller.tenant(), self.user()?);
        self.store.factors(tenant, user).await?;
        self.store.recovery_codes_left(tenant, user).await?;
        Ok(())
    }

    /// Writes an unconfirmed factor without the service.
    async fn write(&self) -> Outcome {
        let user = self.user()?;
        let mut transaction = self.store.begin(self.caller.tenant()).await?;
        transaction.lock_user(user).await?;
        let mut factors = transaction.factors(user).await?;
        factors.retain(|factor| !factor.is_confirmed());
        let factor = factors.pop().ok_or("no factor is unconfirmed")?;
        let change = Change::from(FactorChange::Prepare(factor));
        transaction.write(&change, AuditBatch::of_entries(Vec::new())).await?;
        Ok(transaction.commit().await?)
    }
}

/// The code that an authenticator app shows.
fn code(totp: &Totp, clock: &FixedClock) -> Outcome<iam_core::secret::OneTimeCode> {
    let now = u64::try_from(clock.now().timestamp())?;
    Ok(totp.generate(now).to_string().into())
}
