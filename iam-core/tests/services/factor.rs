//! Second factors, logins with them, step-ups, and tenants that require a factor.

#[expect(dead_code, reason = "these tests need fewer of its parts than those of the crate that has it")]
#[path = "../../../foundation/iam-webauthn/tests/webauthn/authenticator.rs"]
mod webauthn;

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use chrono::TimeDelta;
use iam_core::api_key::NewApiKey;
use iam_core::audit::{AuditEntry, AuditFilter};
use iam_core::credential::HashingCost;
use iam_core::factor::webauthn::{AuthenticationResponse, RegistrationResponse};
use iam_core::factor::{AuthenticationMethod, Factor, PendingLogin, SecondFactorPolicy};
use iam_core::secret::RecoveryCode;
use iam_core::session::{AuthenticatedBy, FRESH, FactorProof, LoggedIn, Login, Me, Session, StepUp};
use iam_core::tenant::{Registration, TenantPatch};
use iam_core::user::{NewUser, User, UserPatch};
use iam_core::{Caller, Conflict, Error, FactorId, Forbidden, Iam, RequestContext, Result, Settings, Unauthenticated};
use iam_model::change::LoginFailure;
use iam_model::clock::Clock as _;
use iam_model::clock::testing::FixedClock;
use iam_model::observe::Observer;
use iam_model::store_error::StoreError;
use iam_store_memory::MemoryStore;
use totp_rs::Totp;
use webauthn::{Authentication, BE, BS, Key, Registration as NewPasskey};

const PASSWORD: &str = "Passw0rd!";
const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";
const STEP: TimeDelta = TimeDelta::seconds(30);
const INSTANT: TimeDelta = TimeDelta::milliseconds(1);

/// A service with the administrator of a tenant.
struct World {
    iam: Iam,
    clock: FixedClock,
    ada: Caller,
    meanwhile: Arc<Meanwhile>,
}

/// Does something once, directly after a query of the store.
#[derive(Default)]
struct Meanwhile(Mutex<Option<Interruption>>);

/// The name of the query, and what is done after it.
type Interruption = (&'static str, Box<dyn FnOnce() + Send>);

impl Observer for Meanwhile {
    fn store_answered(&self, operation: &'static str, _: Duration, _: Option<&StoreError>) {
        let taken = self.0.lock().unwrap().take_if(|(expected, _)| *expected == operation);
        if let Some((_, something)) = taken {
            thread::spawn(something).join().unwrap();
        }
    }

    fn login_failed(&self, _: LoginFailure) {}

    fn password_hashed(&self, _: Duration, _: Duration) {}

    fn password_refused(&self) {}

    fn webhook_attempted(&self, _: iam_core::webhook::DeliveryStatus) {}
}

/// An authenticator app.
struct App {
    id: FactorId,
    totp: Totp,
    recovery_codes: Vec<RecoveryCode>,
}

/// A software authenticator with one passkey.
struct Laptop {
    key: Key,
    handle: Vec<u8>,
    counter: u32,
    factor: Factor,
    recovery_codes: Vec<RecoveryCode>,
}

fn person(email: &str) -> NewUser {
    let (first_name, last_name) = ("Ada".to_owned(), "Lovelace".to_owned());
    NewUser { email: email.to_owned(), password: PASSWORD.into(), first_name, last_name }
}

impl World {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    async fn with(set: impl FnOnce(&mut Settings)) -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00.123Z");
        let mut settings = Settings::default();
        settings.hashing_cost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };
        settings.relying_party = Some(webauthn::relying_party());
        set(&mut settings);
        let builder = Iam::builder(Arc::new(MemoryStore::new())).settings(settings).clock(clock.clone());
        let meanwhile = Arc::new(Meanwhile::default());
        let iam = builder.observer(Arc::clone(&meanwhile) as Arc<dyn Observer>).build().await.unwrap();
        let registration = Registration { user: person(ADA), tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        let ada = caller(&iam, &registered.login).await.unwrap();
        Self { iam, clock, ada, meanwhile }
    }

    async fn grace(&self) -> (User, Caller) {
        let user = self.iam.users().create(&self.ada, person(GRACE)).await.unwrap();
        (user, caller(&self.iam, &self.log_in(GRACE).await.unwrap()).await.unwrap())
    }

    async fn set_up(&self, by: &Caller) -> App {
        let setup = self.iam.factors().add_totp(by, None).await.unwrap();
        App { id: setup.id, totp: Totp::from_url(setup.uri.expose()).unwrap(), recovery_codes: Vec::new() }
    }

    /// Sets up an app by the code of the step before, so that the present code is not used.
    async fn enrol(&self, by: &Caller) -> App {
        let app = self.set_up(by).await;
        let recovery_codes = self.iam.factors().confirm_totp(by, app.id, &self.code(&app, -1).into()).await.unwrap();
        App { recovery_codes, ..app }
    }

    fn code(&self, app: &App, steps: i32) -> String {
        let at = self.clock.now() + STEP * steps;
        app.totp.generate(at.timestamp().try_into().unwrap()).to_string()
    }

    fn proof(&self, app: &App, steps: i32) -> FactorProof {
        FactorProof::Code(self.code(app, steps).into())
    }

    async fn log_in(&self, email: &str) -> Result<LoggedIn> {
        self.log_in_with(email, PASSWORD).await
    }

    async fn log_in_with(&self, email: &str, password: &str) -> Result<LoggedIn> {
        let tenant = Some(self.ada.tenant().to_string());
        let login = Login { email: email.to_owned(), password: password.into(), tenant };
        self.iam.sessions().login(&RequestContext::default(), login).await
    }

    async fn pending(&self, email: &str) -> PendingLogin {
        match self.log_in(email).await {
            Err(Error::SecondFactorRequired(pending)) => pending,
            other => panic!("a second factor is required: {other:?}"),
        }
    }

    async fn finish(&self, pending: &PendingLogin, proof: &FactorProof) -> Result<LoggedIn> {
        self.iam.sessions().login_with_factor(&RequestContext::default(), &pending.challenge, proof).await
    }

    async fn step_up(&self, proof: FactorProof) -> Result<()> {
        self.iam.sessions().step_up(&self.ada, StepUp::Factor(proof)).await
    }

    async fn laptop(&self, by: &Caller, id: &[u8]) -> Laptop {
        let (key, options) = (Key::es256(), self.iam.factors().passkey_options(by).await.unwrap());
        let response = RegistrationResponse::from_json(&NewPasskey::of(&key, id, &options).json()).unwrap();
        let (factor, recovery_codes) = self.iam.factors().add_passkey(by, None, &response).await.unwrap();
        let ids = [by.tenant().as_uuid(), by.user().unwrap().as_uuid()];
        let handle = ids.iter().flat_map(|id| *id.as_bytes()).collect();
        Laptop { key, handle, counter: 0, factor, recovery_codes }
    }

    async fn require_factors(&self, policy: SecondFactorPolicy, days: i64) {
        let patch =
            TenantPatch { second_factor: Some(policy), second_factor_grace_days: Some(days), ..TenantPatch::default() };
        self.iam.tenants().update(&Caller::system(self.ada.tenant(), "test"), self.ada.tenant(), patch).await.unwrap();
    }

    async fn log(&self, action: &str) -> Vec<AuditEntry> {
        let system = Caller::system(self.ada.tenant(), "test");
        let filter = AuditFilter { action: Some(action.into()), ..AuditFilter::default() };
        self.iam.audit().list(&system, filter, None, 100).await.unwrap().entries
    }

    async fn reasons(&self) -> Vec<String> {
        let text = |entry: &AuditEntry| entry.metadata["reason"].as_str().unwrap().to_owned();
        self.log("LOGIN_FAILURE").await.iter().map(text).collect()
    }
}

impl Laptop {
    fn answer(&mut self, options: &serde_json::Value) -> AuthenticationResponse {
        self.counter += 1;
        let mut answer = Authentication::of(self.factor.credential_id.as_deref().unwrap(), options);
        (answer.data.counter, answer.user_handle) = (self.counter, Some(self.handle.clone()));
        AuthenticationResponse::from_json(&answer.json(&self.key)).unwrap()
    }

    fn proof(&mut self, options: &serde_json::Value) -> FactorProof {
        FactorProof::Passkey(Box::new(self.answer(options)))
    }
}

async fn caller(iam: &Iam, login: &LoggedIn) -> Result<Caller> {
    iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await
}

fn unauthenticated<T: std::fmt::Debug>(result: Result<T>) -> Unauthenticated {
    match result {
        Err(Error::Unauthenticated(reason)) => reason,
        other => panic!("unauthenticated expected: {other:?}"),
    }
}

fn conflict<T: std::fmt::Debug>(result: Result<T>) -> Conflict {
    match result {
        Err(Error::Conflict(conflict)) => conflict,
        other => panic!("a conflict expected: {other:?}"),
    }
}

fn is_not_fresh<T: std::fmt::Debug>(result: Result<T>) -> bool {
    matches!(unauthenticated(result), Unauthenticated::NotFresh { max_age } if max_age.as_secs() == 600)
}

fn fields<T: std::fmt::Debug>(result: Result<T>) -> Vec<String> {
    match result {
        Err(Error::Validation(errors)) => errors.into_iter().map(|error| error.field).collect(),
        other => panic!("invalid fields expected: {other:?}"),
    }
}

fn session_of(me: &Me) -> &Session {
    match &me.by {
        AuthenticatedBy::Session(session) => session,
        AuthenticatedBy::ApiKey(_) => panic!("{me:?}"),
    }
}

#[tokio::test]
async fn a_login_with_a_factor_needs_both_halves() {
    let world = World::new().await;
    let app = world.enrol(&world.ada).await;
    assert_eq!(app.recovery_codes.len(), 10);
    let pending = world.pending(ADA).await;
    assert_eq!(pending.methods, [AuthenticationMethod::Totp, AuthenticationMethod::RecoveryCode]);
    assert_eq!(pending.expires_in.as_secs(), 300);
    assert_eq!(world.log("LOGIN").await.len(), 1, "only that of the registration");
    let login = world.finish(&pending, &world.proof(&app, 0)).await.unwrap();
    let me = world.iam.sessions().me(&caller(&world.iam, &login).await.unwrap()).await.unwrap();
    assert_eq!(
        (session_of(&me).methods.to_string(), session_of(&me).authenticated_at),
        ("password+totp".into(), world.clock.now())
    );
    assert_eq!(unauthenticated(world.finish(&pending, &world.proof(&app, 1)).await), Unauthenticated::Challenge);
    assert_eq!(world.iam.factors().list(&world.ada).await.unwrap().factors[0].last_used_at, Some(world.clock.now()));
}

#[tokio::test]
async fn a_code_is_used_once_and_never_after_a_later_one() {
    let world = World::new().await;
    let app = world.enrol(&world.ada).await;
    let pending = [world.pending(ADA).await, world.pending(ADA).await];
    world.finish(&pending[0], &world.proof(&app, 0)).await.unwrap();
    for steps in [0, -1] {
        let refused = world.finish(&pending[1], &world.proof(&app, steps)).await;
        assert_eq!(unauthenticated(refused), Unauthenticated::SecondFactor, "{steps}");
    }
    world.finish(&pending[1], &world.proof(&app, 1)).await.unwrap();
}

#[tokio::test]
async fn the_code_that_has_confirmed_an_app_does_not_log_in() {
    let world = World::new().await;
    let app = world.set_up(&world.ada).await;
    world.iam.factors().confirm_totp(&world.ada, app.id, &world.code(&app, 0).into()).await.unwrap();
    let pending = world.pending(ADA).await;
    assert_eq!(unauthenticated(world.finish(&pending, &world.proof(&app, 0)).await), Unauthenticated::SecondFactor);
    world.finish(&pending, &world.proof(&app, 1)).await.unwrap();
}

#[tokio::test]
async fn a_recovery_code_is_used_once() {
    let world = World::new().await;
    let app = world.enrol(&world.ada).await;
    let proof = FactorProof::RecoveryCode(app.recovery_codes[0].clone());
    world.finish(&world.pending(ADA).await, &proof).await.unwrap();
    let refused = world.finish(&world.pending(ADA).await, &proof).await;
    assert_eq!(unauthenticated(refused), Unauthenticated::SecondFactor);
    assert_eq!(world.log("RECOVERY_CODE_USED").await[0].metadata["left"], 9);
    assert_eq!(world.iam.factors().list(&world.ada).await.unwrap().recovery_codes_left, 9);
    for code in &app.recovery_codes[1..] {
        let proof = FactorProof::RecoveryCode(code.clone());
        world.finish(&world.pending(ADA).await, &proof).await.unwrap();
    }
    assert_eq!(world.pending(ADA).await.methods, [AuthenticationMethod::Totp]);
}

#[tokio::test]
async fn wrong_codes_lock_the_account_and_a_right_password_does_not_help() {
    let world = World::new().await;
    let app = world.enrol(&world.ada).await;
    for _ in 0..5 {
        let pending = world.pending(ADA).await;
        let refused = world.finish(&pending, &FactorProof::Code("000000".into())).await;
        assert_eq!(unauthenticated(refused), Unauthenticated::SecondFactor);
    }
    assert!(matches!(world.log_in(ADA).await, Err(Error::AccountLocked { .. })));
    assert_eq!(
        world.reasons().await,
        ["ACCOUNT_LOCKED", "SECOND_FACTOR", "SECOND_FACTOR", "SECOND_FACTOR", "SECOND_FACTOR", "SECOND_FACTOR"]
    );
    world.clock.advance(TimeDelta::minutes(15));
    let pending = world.pending(ADA).await;
    world.finish(&pending, &world.proof(&app, 0)).await.unwrap();
}

#[tokio::test]
async fn a_right_code_clears_the_failures_and_a_right_password_alone_only_without_a_factor() {
    let world = World::new().await;
    let (_, _grace) = world.grace().await;
    let app = world.enrol(&world.ada).await;
    for email in [ADA, GRACE] {
        for _ in 0..4 {
            assert_eq!(unauthenticated(world.log_in_with(email, "Wr0ng$one").await), Unauthenticated::Credentials);
        }
    }
    world.log_in(GRACE).await.unwrap();
    let pending = world.pending(ADA).await;
    world.finish(&pending, &world.proof(&app, 0)).await.unwrap();
    for email in [ADA, GRACE] {
        assert_eq!(unauthenticated(world.log_in_with(email, "Wr0ng$one").await), Unauthenticated::Credentials);
        assert_eq!(world.log("LOGIN_FAILURE").await[0].metadata["attemptCount"], 1, "{email}");
    }
}

#[tokio::test]
async fn while_the_account_is_locked_no_factor_is_judged() {
    let world = World::new().await;
    let app = world.enrol(&world.ada).await;
    let pending = world.pending(ADA).await;
    for _ in 0..5 {
        assert_eq!(unauthenticated(world.log_in_with(ADA, "Wr0ng$one").await), Unauthenticated::Credentials);
    }
    let refused = world.finish(&pending, &world.proof(&app, 0)).await;
    assert!(matches!(refused, Err(Error::AccountLocked { retry_after }) if retry_after.as_secs() == 900));
    assert!(matches!(world.step_up(world.proof(&app, 0)).await, Err(Error::AccountLocked { .. })));
    assert_eq!(world.reasons().await[..2], ["ACCOUNT_LOCKED", "ACCOUNT_LOCKED"]);
}

#[tokio::test]
async fn a_challenge_ends_with_its_tries_its_time_and_the_password() {
    let world = World::with(|settings| settings.lockout.failures = 100).await;
    let app = world.enrol(&world.ada).await;
    let [spent, late, changed] = [world.pending(ADA).await, world.pending(ADA).await, world.pending(ADA).await];
    for tries in 1..=5 {
        let refused = world.finish(&spent, &FactorProof::Code("000000".into())).await;
        assert_eq!(unauthenticated(refused), Unauthenticated::SecondFactor, "{tries}");
    }
    assert_eq!(unauthenticated(world.finish(&spent, &world.proof(&app, 0)).await), Unauthenticated::Challenge);
    let new = "N3w&Password";
    world.iam.credentials().change_password(&world.ada, PASSWORD.into(), new.into()).await.unwrap();
    for pending in [&late, &changed] {
        assert_eq!(unauthenticated(world.finish(pending, &world.proof(&app, 0)).await), Unauthenticated::Challenge);
    }
    world.iam.credentials().change_password(&world.ada, new.into(), PASSWORD.into()).await.unwrap();
    let [kept, late] = [world.pending(ADA).await, world.pending(ADA).await];
    world.clock.advance(TimeDelta::minutes(5) - INSTANT);
    world.finish(&kept, &world.proof(&app, 0)).await.unwrap();
    world.clock.advance(INSTANT);
    assert_eq!(unauthenticated(world.finish(&late, &world.proof(&app, 1)).await), Unauthenticated::Challenge);
    assert_eq!(world.iam.remove_expired_challenges().await.unwrap(), 1);
}

#[tokio::test]
async fn a_user_that_may_not_log_in_does_not_finish_a_login() {
    let world = World::new().await;
    let (user, grace) = world.grace().await;
    let app = world.enrol(&grace).await;
    let pending = world.pending(GRACE).await;
    world.iam.users().suspend(&world.ada, user.id).await.unwrap();
    let refused = world.finish(&pending, &world.proof(&app, 0)).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::Suspended))));
    assert_eq!(world.reasons().await, ["USER_SUSPENDED"]);
    world.iam.users().reactivate(&world.ada, user.id).await.unwrap();
    let system = Caller::system(world.ada.tenant(), "test");
    world.iam.tenants().suspend(&system).await.unwrap();
    assert_eq!(unauthenticated(world.finish(&pending, &world.proof(&app, 0)).await), Unauthenticated::Challenge);
    world.iam.tenants().reactivate(&system).await.unwrap();
    world.iam.users().delete(&system, user.id).await.unwrap();
    assert_eq!(unauthenticated(world.finish(&pending, &world.proof(&app, 0)).await), Unauthenticated::Challenge);
}

#[tokio::test]
async fn factors_are_set_up_renamed_and_removed() {
    let world = World::new().await;
    let factors = world.iam.factors();
    let first = world.set_up(&world.ada).await;
    assert_eq!(fields(factors.confirm_totp(&world.ada, first.id, &"000000".into()).await), ["code"]);
    let codes = factors.confirm_totp(&world.ada, first.id, &world.code(&first, 0).into()).await.unwrap();
    assert_eq!(codes.len(), 10);
    let again = factors.confirm_totp(&world.ada, first.id, &world.code(&first, 1).into()).await;
    assert_eq!(conflict(again), Conflict::FactorConfirmed);
    let second = world.set_up(&world.ada).await;
    let codes = factors.confirm_totp(&world.ada, second.id, &world.code(&second, 0).into()).await.unwrap();
    assert!(codes.is_empty(), "there are codes already");
    assert_eq!(factors.rename(&world.ada, first.id, " Phone ").await.unwrap().name.as_str(), "Phone");
    assert_eq!(fields(factors.rename(&world.ada, first.id, "").await), ["name"]);
    assert_eq!(fields(factors.add_totp(&world.ada, Some("")).await), ["name"]);
    let names = async || {
        let list = factors.list(&world.ada).await.unwrap();
        let names: Vec<String> = list.factors.iter().map(|factor| factor.name.to_string()).collect();
        (names, list.recovery_codes_left)
    };
    let expected = vec!["Phone".to_owned(), "Authenticator app".to_owned()];
    assert_eq!(names().await, (expected, 10));
    assert_eq!(world.log("UPDATE").await[0].new_value.as_ref().unwrap()["name"], "Phone");
    factors.remove(&world.ada, first.id).await.unwrap();
    assert_eq!(names().await, (vec!["Authenticator app".to_owned()], 10));
    assert!(matches!(factors.remove(&world.ada, first.id).await, Err(Error::NotFound(_))));
    let new = factors.issue_recovery_codes(&world.ada).await.unwrap();
    assert!(new.len() == 10 && new[0].expose() != codes.first().map_or("", RecoveryCode::expose));
    factors.remove(&world.ada, second.id).await.unwrap();
    assert_eq!(names().await, (vec![], 0));
    assert_eq!(conflict(factors.issue_recovery_codes(&world.ada).await), Conflict::NoFactor);
    world.log_in(ADA).await.unwrap();
}

#[tokio::test]
async fn an_unconfirmed_factor_can_be_neither_renamed_nor_removed() {
    let world = World::new().await;
    let pending = world.set_up(&world.ada).await;
    let factors = world.iam.factors();
    assert!(matches!(factors.rename(&world.ada, pending.id, "Phone").await, Err(Error::NotFound(_))));
    assert!(matches!(factors.remove(&world.ada, pending.id).await, Err(Error::NotFound(_))));
    // A confirmed one beside it is the last one.
    let app = world.enrol(&world.ada).await;
    world.set_up(&world.ada).await;
    world.require_factors(SecondFactorPolicy::Required, 7).await;
    assert_eq!(conflict(factors.remove(&world.ada, app.id).await), Conflict::LastFactor);
}

#[tokio::test]
async fn a_user_has_at_most_twenty_factors() {
    let world = World::new().await;
    for _ in 0..Factor::MAX - 1 {
        world.enrol(&world.ada).await;
    }
    let pending = world.set_up(&world.ada).await;
    let options = world.iam.factors().passkey_options(&world.ada).await.unwrap();
    let key = Key::es256();
    let response = RegistrationResponse::from_json(&NewPasskey::of(&key, b"laptop", &options).json()).unwrap();
    world.laptop(&world.ada, b"phone").await;
    let confirm = world.iam.factors().confirm_totp(&world.ada, pending.id, &world.code(&pending, 0).into()).await;
    assert_eq!(conflict(confirm), Conflict::TooManyFactors);
    assert_eq!(conflict(world.iam.factors().add_totp(&world.ada, None).await), Conflict::TooManyFactors);
    assert_eq!(conflict(world.iam.factors().passkey_options(&world.ada).await), Conflict::TooManyFactors);
    let added = world.iam.factors().add_passkey(&world.ada, None, &response).await;
    assert_eq!(conflict(added), Conflict::TooManyFactors);
}

#[tokio::test]
async fn changes_of_credentials_need_a_recent_authentication() {
    let world = World::new().await;
    let (user, grace) = world.grace().await;
    let app = world.enrol(&world.ada).await;
    let (iam, ada) = (&world.iam, &world.ada);
    let other = iam.sessions().list(ada, user.id).await.unwrap()[0].id;
    let (_, own) = ada.require_user().unwrap();
    let email = |email: &str| UserPatch { email: Some(email.to_owned()), ..UserPatch::default() };
    world.clock.advance(FRESH);
    iam.sessions().require_fresh(ada, FRESH).await.unwrap();
    iam.users().update(ada, user.id, email("hopper@example.com")).await.unwrap();
    world.clock.advance(INSTANT);
    assert!(is_not_fresh(iam.sessions().require_fresh(ada, FRESH).await));
    iam.sessions().require_fresh(ada, FRESH + INSTANT).await.unwrap();
    assert!(is_not_fresh(iam.users().update(ada, user.id, email(GRACE)).await));
    iam.users().update(ada, user.id, email("hopper@example.com")).await.unwrap();
    assert!(is_not_fresh(iam.credentials().change_password(ada, PASSWORD.into(), "N3w&Password".into()).await));
    assert!(is_not_fresh(iam.verification().change_email(ada, "new@example.com", PASSWORD.into()).await));
    assert!(is_not_fresh(iam.sessions().logout_all(ada).await));
    assert!(is_not_fresh(iam.sessions().logout_user(ada, user.id).await));
    assert!(is_not_fresh(iam.sessions().terminate(ada, other).await));
    assert!(is_not_fresh(iam.factors().add_totp(ada, None).await));
    assert!(is_not_fresh(iam.factors().passkey_options(ada).await));
    assert!(is_not_fresh(iam.factors().remove(ada, app.id).await));
    assert!(is_not_fresh(iam.factors().issue_recovery_codes(ada).await));
    assert!(is_not_fresh(iam.factors().reset(ada, user.id).await));
    // Trusted code has no session, and needs none.
    let system = Caller::system(ada.tenant(), "test");
    iam.sessions().require_fresh(&system, TimeDelta::zero()).await.unwrap();
    iam.factors().reset(&system, user.id).await.unwrap();
    // The own session can always be ended. Afterwards it authenticates nothing.
    iam.sessions().terminate(ada, own).await.unwrap();
    assert_eq!(unauthenticated(iam.sessions().require_fresh(ada, FRESH).await), Unauthenticated::InvalidToken);
    iam.sessions().require_fresh(&grace, FRESH + INSTANT).await.unwrap();
}

#[tokio::test]
async fn a_session_authenticates_again() {
    let world = World::new().await;
    let sessions = world.iam.sessions();
    let password = |password: &str| StepUp::Password(password.into());
    world.clock.advance(FRESH + INSTANT);
    assert_eq!(fields(sessions.step_up(&world.ada, password("")).await), ["password"]);
    let wrong = sessions.step_up(&world.ada, password("Wr0ng$one")).await;
    assert_eq!(unauthenticated(wrong), Unauthenticated::Credentials);
    sessions.step_up(&world.ada, password(PASSWORD)).await.unwrap();
    sessions.require_fresh(&world.ada, TimeDelta::zero()).await.unwrap();
    let app = world.enrol(&world.ada).await;
    world.clock.advance(FRESH + INSTANT);
    for typed in [PASSWORD, "Wr0ng$one"] {
        let refused = sessions.step_up(&world.ada, password(typed)).await;
        assert_eq!(unauthenticated(refused), Unauthenticated::PasswordAlone);
    }
    let refused = world.step_up(FactorProof::Code("000000".into())).await;
    assert_eq!(unauthenticated(refused), Unauthenticated::SecondFactor);
    assert_eq!(world.reasons().await, ["SECOND_FACTOR", "INVALID_PASSWORD"]);
    world.step_up(world.proof(&app, 0)).await.unwrap();
    sessions.require_fresh(&world.ada, TimeDelta::zero()).await.unwrap();
    let me = sessions.me(&world.ada).await.unwrap();
    assert_eq!(session_of(&me).methods.to_string(), "password+totp");
    assert_eq!(unauthenticated(world.step_up(world.proof(&app, 0)).await), Unauthenticated::SecondFactor);
}

#[tokio::test]
async fn a_tenant_that_requires_factors_restricts_users_without_one() {
    let world = World::new().await;
    let (user, grace) = world.grace().await;
    world.enrol(&world.ada).await;
    world.require_factors(SecondFactorPolicy::Required, 1).await;
    let end = world.clock.now() + TimeDelta::days(1);
    world.clock.advance(TimeDelta::days(1) - INSTANT);
    let login = world.log_in(GRACE).await.unwrap();
    assert_eq!(login.enrol_by, Some(end));
    let token = world.iam.verify(login.tokens.access.expose()).await.unwrap();
    world.iam.authenticate_verified(&token, RequestContext::default()).await.unwrap();
    world.clock.advance(INSTANT);
    let refused = world.iam.authenticate_verified(&token, RequestContext::default()).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::SecondFactorRequired))));
    let restricted = world.iam.authenticate_without_factor(&token, RequestContext::default()).await.unwrap();
    assert_eq!(world.iam.sessions().me(&restricted).await.unwrap().enrol_by, Some(end));
    let app = world.enrol(&restricted).await;
    let freed = world.iam.authenticate_verified(&token, RequestContext::default()).await.unwrap();
    assert_eq!(world.iam.sessions().me(&freed).await.unwrap().enrol_by, None);
    assert_eq!(conflict(world.iam.factors().remove(&restricted, app.id).await), Conflict::LastFactor);
    let system = Caller::system(world.ada.tenant(), "test");
    world.iam.factors().reset(&system, user.id).await.unwrap();
    assert!(world.iam.authenticate_verified(&token, RequestContext::default()).await.is_err());
    drop(grace);
    world.require_factors(SecondFactorPolicy::Off, 1).await;
    let login = world.log_in(GRACE).await.unwrap();
    assert_eq!(login.enrol_by, None);
    let grace = caller(&world.iam, &login).await.unwrap();
    assert_eq!(conflict(world.iam.factors().add_totp(&grace, None).await), Conflict::SecondFactorOff);
    assert_eq!(conflict(world.iam.factors().passkey_options(&grace).await), Conflict::SecondFactorOff);
}

#[tokio::test]
async fn factors_of_another_user_are_removed_by_those_who_cover_it() {
    let world = World::new().await;
    let (user, grace) = world.grace().await;
    let app = world.enrol(&grace).await;
    let pending = world.pending(GRACE).await;
    let factors = world.iam.factors();
    assert_eq!(conflict(factors.reset(&world.ada, world.ada.user().unwrap()).await), Conflict::OwnFactors);
    assert!(matches!(factors.reset(&grace, world.ada.user().unwrap()).await, Err(Error::Forbidden(_))));
    factors.reset(&world.ada, user.id).await.unwrap();
    assert_eq!(unauthenticated(world.finish(&pending, &world.proof(&app, 0)).await), Unauthenticated::Challenge);
    assert_eq!(world.log("LOGOUT").await[0].metadata["reason"], "FACTORS_REMOVED");
    assert_eq!(world.log("DELETE").await.len(), 1);
    world.log_in(GRACE).await.unwrap();
    let system = Caller::system(world.ada.tenant(), "test");
    assert_eq!(fields(factors.reset_with_email(&system, "grace").await), ["email"]);
    assert!(matches!(factors.reset_with_email(&system, "x@example.com").await, Err(Error::NotFound(_))));
    let refused = factors.reset_with_email(&world.ada, GRACE).await;
    assert!(matches!(refused, Err(Error::Forbidden(Forbidden::NotTrusted))));
    // The sessions of a user without a factor stay.
    assert_eq!(factors.reset_with_email(&system, GRACE).await.unwrap().id, user.id);
    assert_eq!(world.iam.sessions().list(&world.ada, user.id).await.unwrap().len(), 1);
    let unconfirmed = caller(&world.iam, &world.log_in(GRACE).await.unwrap()).await.unwrap();
    world.set_up(&unconfirmed).await;
    factors.reset_with_email(&system, GRACE).await.unwrap();
    assert_eq!(world.log("DELETE").await.len(), 1, "an unconfirmed factor was never recorded");
}

#[tokio::test]
async fn a_passkey_logs_in_beside_and_without_the_password() {
    let world = World::new().await;
    let mut laptop = world.laptop(&world.ada, b"laptop").await;
    assert_eq!((laptop.recovery_codes.len(), laptop.factor.name.as_str()), (10, "Passkey"));
    let pending = world.pending(ADA).await;
    assert_eq!(pending.methods, [AuthenticationMethod::Passkey, AuthenticationMethod::RecoveryCode]);
    let sessions = world.iam.sessions();
    let options = sessions.second_factor_options(&pending.challenge).await.unwrap();
    let proof = laptop.proof(&options);
    world.clock.advance(INSTANT);
    world.finish(&pending, &proof).await.unwrap();
    let used = world.iam.factors().list(&world.ada).await.unwrap().factors[0].last_used_at;
    assert_eq!(used, Some(world.clock.now()));
    assert_eq!(world.log("LOGIN").await[0].metadata["method"], "password+passkey");
    let options = sessions.passkey_options(None).await.unwrap();
    let answer = laptop.answer(&options);
    let login = sessions.login_by_passkey(&RequestContext::default(), &answer).await.unwrap();
    assert_eq!(login.user.id, world.ada.user().unwrap());
    assert_eq!(world.log("LOGIN").await[0].metadata["method"], "passkey");
    let replayed = sessions.login_by_passkey(&RequestContext::default(), &answer).await;
    assert_eq!(unauthenticated(replayed), Unauthenticated::Passkey);
}

#[tokio::test]
async fn a_wrong_passkey_uses_up_its_options_and_counts_only_after_the_password() {
    let world = World::new().await;
    let mut laptop = world.laptop(&world.ada, b"laptop").await;
    let sessions = world.iam.sessions();
    let pending = world.pending(ADA).await;
    let options = sessions.second_factor_options(&pending.challenge).await.unwrap();
    let right = laptop.proof(&options);
    let key = std::mem::replace(&mut laptop.key, Key::es256());
    let forged = laptop.proof(&options);
    assert_eq!(unauthenticated(world.finish(&pending, &forged).await), Unauthenticated::SecondFactor);
    assert_eq!(unauthenticated(world.finish(&pending, &right).await), Unauthenticated::SecondFactor);
    assert_eq!(world.log("LOGIN_FAILURE").await[0].metadata["attemptCount"], 2);
    let options = sessions.passkey_options(None).await.unwrap();
    let forged = sessions.login_by_passkey(&RequestContext::default(), &laptop.answer(&options)).await;
    assert_eq!(unauthenticated(forged), Unauthenticated::Passkey);
    assert_eq!(world.log("LOGIN_FAILURE").await[0].metadata["attemptCount"], 2);
    laptop.key = key;
    // A wrong code leaves the options of a passkey open.
    let options = sessions.second_factor_options(&pending.challenge).await.unwrap();
    let wrong = world.finish(&pending, &FactorProof::Code("000000".into())).await;
    assert_eq!(unauthenticated(wrong), Unauthenticated::SecondFactor);
    let proof = laptop.proof(&options);
    world.finish(&pending, &proof).await.unwrap();
}

#[tokio::test]
async fn a_passkey_authenticates_a_session_again() {
    let world = World::new().await;
    let mut laptop = world.laptop(&world.ada, b"laptop").await;
    let (_, grace) = world.grace().await;
    let sessions = world.iam.sessions();
    let of_grace = sessions.step_up_options(&grace).await.unwrap();
    let proof = laptop.proof(&of_grace);
    assert_eq!(unauthenticated(world.step_up(proof).await), Unauthenticated::Passkey);
    let login = sessions.passkey_options(None).await.unwrap();
    let proof = laptop.proof(&login);
    assert_eq!(unauthenticated(world.step_up(proof).await), Unauthenticated::Passkey);
    let options = sessions.step_up_options(&world.ada).await.unwrap();
    let late = sessions.step_up_options(&world.ada).await.unwrap();
    let proof = laptop.proof(&options);
    world.step_up(proof.clone()).await.unwrap();
    assert_eq!(unauthenticated(world.step_up(proof).await), Unauthenticated::Passkey);
    world.clock.advance(TimeDelta::minutes(5));
    let proof = laptop.proof(&late);
    assert_eq!(unauthenticated(world.step_up(proof).await), Unauthenticated::Passkey);
}

#[tokio::test]
async fn a_counter_that_falls_back_is_recorded_and_the_greater_one_is_kept() {
    let world = World::new().await;
    let mut laptop = world.laptop(&world.ada, b"laptop").await;
    for (counter, fallen) in [(6, 0), (2, 1), (7, 1), (7, 2)] {
        laptop.counter = counter;
        let options = world.iam.sessions().passkey_options(None).await.unwrap();
        let answer = laptop.answer(&options);
        world.iam.sessions().login_by_passkey(&RequestContext::default(), &answer).await.unwrap();
        assert_eq!(world.log("PASSKEY_COUNTER").await.len(), fallen, "{counter}");
    }
    let metadata = &world.log("PASSKEY_COUNTER").await[0].metadata;
    assert_eq!((&metadata["before"], &metadata["after"]), (&8.into(), &8.into()));
}

#[tokio::test]
async fn what_a_passkey_says_of_its_backup_is_kept() {
    let world = World::new().await;
    let (key, options) = (Key::es256(), world.iam.factors().passkey_options(&world.ada).await.unwrap());
    let mut new = NewPasskey::of(&key, b"laptop", &options);
    new.data.flags |= BE;
    let response = RegistrationResponse::from_json(&new.json()).unwrap();
    world.iam.factors().add_passkey(&world.ada, None, &response).await.unwrap();
    let ids = [world.ada.tenant().as_uuid(), world.ada.user().unwrap().as_uuid()];
    let handle: Vec<u8> = ids.iter().flat_map(|id| *id.as_bytes()).collect();
    let stored = async || {
        let key = world.iam.factors().list(&world.ada).await.unwrap().factors[0].key.0.clone();
        serde_json::from_slice::<serde_json::Value>(&key).unwrap()
    };
    let registered = stored().await;
    assert_eq!(registered["backupEligible"], true);
    for backed_up in [true, false, true] {
        let options = world.iam.sessions().passkey_options(None).await.unwrap();
        let mut answer = Authentication::of(b"laptop", &options);
        answer.data.flags |= if backed_up { BE | BS } else { BE };
        answer.user_handle = Some(handle.clone());
        let answer = AuthenticationResponse::from_json(&answer.json(&key)).unwrap();
        world.iam.sessions().login_by_passkey(&RequestContext::default(), &answer).await.unwrap();
        let kept = stored().await;
        assert_eq!((&kept["backedUp"], &kept["publicKey"]), (&backed_up.into(), &registered["publicKey"]));
    }
}

#[tokio::test]
async fn the_options_of_a_tenant_are_for_its_users_and_a_suspended_tenant_has_none() {
    let world = World::new().await;
    let mut laptop = world.laptop(&world.ada, b"laptop").await;
    let registration = Registration { user: person("eve@example.org"), tenant_name: Some("Other".into()) };
    world.iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
    let sessions = world.iam.sessions();
    let mut log_in = async |tenant: Option<&str>| {
        let options = sessions.passkey_options(tenant).await.unwrap();
        let answer = laptop.answer(&options);
        sessions.login_by_passkey(&RequestContext::default(), &answer).await
    };
    let own = world.ada.tenant().to_string();
    log_in(Some(&own)).await.unwrap();
    assert_eq!(unauthenticated(log_in(Some("other")).await), Unauthenticated::Passkey);
    assert_eq!(unauthenticated(log_in(Some("no-such-tenant")).await), Unauthenticated::Passkey);
    let system = Caller::system(world.ada.tenant(), "test");
    world.iam.tenants().suspend(&system).await.unwrap();
    assert!(matches!(log_in(None).await, Err(Error::Forbidden(Forbidden::TenantSuspended))));
    assert_eq!(world.reasons().await, ["TENANT_SUSPENDED"]);
}

#[tokio::test]
async fn a_registration_answers_the_options_of_its_user_once_in_time() {
    let world = World::new().await;
    let (_, grace) = world.grace().await;
    let (factors, sessions) = (world.iam.factors(), world.iam.sessions());
    let add = async |by: &Caller, options: &serde_json::Value, id: &[u8]| {
        let response = NewPasskey::of(&Key::es256(), id, options).json();
        factors.add_passkey(by, Some("Laptop"), &RegistrationResponse::from_json(&response).unwrap()).await
    };
    let of_grace = factors.passkey_options(&grace).await.unwrap();
    assert_eq!(fields(add(&world.ada, &of_grace, b"a").await), ["credential"]);
    let step_up = sessions.step_up_options(&world.ada).await.unwrap();
    let mut mixed = factors.passkey_options(&world.ada).await.unwrap();
    mixed["challenge"] = step_up["challenge"].clone();
    assert_eq!(fields(add(&world.ada, &mixed, b"a").await), ["credential"]);
    let [first, late] =
        [factors.passkey_options(&world.ada).await.unwrap(), factors.passkey_options(&world.ada).await.unwrap()];
    add(&world.ada, &first, b"a").await.unwrap();
    assert_eq!(fields(add(&world.ada, &first, b"b").await), ["credential"]);
    assert_eq!(conflict(add(&grace, &of_grace, b"a").await), Conflict::PasskeyRegistered);
    world.clock.advance(TimeDelta::minutes(5));
    assert_eq!(fields(add(&world.ada, &late, b"b").await), ["credential"]);
    let options = factors.passkey_options(&world.ada).await.unwrap();
    assert_eq!(options["excludeCredentials"].as_array().unwrap().len(), 1);
    let response = NewPasskey::of(&Key::es256(), b"a", &options).json();
    let again = factors.add_passkey(&world.ada, None, &RegistrationResponse::from_json(&response).unwrap()).await;
    assert_eq!(fields(again), ["credential"]);
    // A refused answer has used up the options.
    assert_eq!(fields(add(&world.ada, &options, b"b").await), ["credential"]);
}

#[tokio::test]
async fn without_a_relying_party_no_passkey_is_accepted() {
    let world = World::with(|settings| settings.relying_party = None).await;
    assert!(matches!(world.iam.factors().passkey_options(&world.ada).await, Err(Error::PasskeysOff)));
    assert!(matches!(world.iam.sessions().passkey_options(None).await, Err(Error::PasskeysOff)));
    assert!(matches!(world.iam.sessions().step_up_options(&world.ada).await, Err(Error::PasskeysOff)));
}

#[tokio::test]
async fn trusted_code_has_no_factors() {
    let world = World::new().await;
    let system = Caller::system(world.ada.tenant(), "test");
    let not_a_user = |result: Result<()>| matches!(result, Err(Error::Forbidden(Forbidden::NotAUser)));
    assert!(not_a_user(world.iam.factors().list(&system).await.map(drop)));
    assert!(not_a_user(world.iam.factors().add_totp(&system, None).await.map(drop)));
    assert!(not_a_user(world.iam.factors().issue_recovery_codes(&system).await.map(drop)));
    assert!(not_a_user(world.iam.sessions().step_up(&system, StepUp::Password(PASSWORD.into())).await));
}

#[tokio::test]
async fn a_factor_that_is_confirmed_during_a_step_up_by_password_is_needed_for_it() {
    let world = World::new().await;
    let app = world.set_up(&world.ada).await;
    let (iam, ada, code) = (world.iam.clone(), world.ada.clone(), world.code(&app, 0));
    let confirm = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(iam.factors().confirm_totp(&ada, app.id, &code.into())).unwrap();
    };
    *world.meanwhile.0.lock().unwrap() = Some(("factors", Box::new(confirm)));
    let refused = world.iam.sessions().step_up(&world.ada, StepUp::Password(PASSWORD.into())).await;
    assert_eq!(unauthenticated(refused), Unauthenticated::PasswordAlone);
    assert!(world.meanwhile.0.lock().unwrap().is_none(), "the factor was confirmed meanwhile");
}

/// A thief that knows the password has logged in before the owner sets up a factor.
#[tokio::test]
async fn a_session_of_a_password_alone_gains_nothing_from_a_factor_that_was_set_up_elsewhere() {
    let world = World::new().await;
    let (_, owner) = world.grace().await;
    let thief = caller(&world.iam, &world.log_in(GRACE).await.unwrap()).await.unwrap();
    let app = world.enrol(&owner).await;
    let (factors, sessions) = (world.iam.factors(), world.iam.sessions());
    assert!(is_not_fresh(factors.remove(&thief, app.id).await));
    assert!(is_not_fresh(factors.issue_recovery_codes(&thief).await));
    assert!(is_not_fresh(factors.add_totp(&thief, None).await));
    assert!(is_not_fresh(factors.passkey_options(&thief).await));
    assert!(is_not_fresh(sessions.logout_all(&thief).await));
    assert!(is_not_fresh(sessions.require_fresh(&thief, FRESH).await));
    let key = NewApiKey { name: "key".to_owned(), ..NewApiKey::default() };
    assert!(is_not_fresh(world.iam.api_keys().create(&thief, thief.user().unwrap(), key).await));
    let change = world.iam.credentials().change_password(&thief, PASSWORD.into(), "An0ther pass!".into()).await;
    assert!(is_not_fresh(change));
    assert_eq!(factors.list(&owner).await.unwrap().factors.len(), 1);

    sessions.require_fresh(&owner, FRESH).await.unwrap();
    sessions.step_up(&thief, StepUp::Factor(world.proof(&app, 0))).await.unwrap();
    factors.issue_recovery_codes(&thief).await.unwrap();
}

/// The owner confirms its first factor while a request of the thief waits for the lock of the account.
#[tokio::test]
async fn a_factor_that_is_set_up_during_a_request_is_not_managed_by_it() {
    let world = World::new().await;
    let (_, owner) = world.grace().await;
    let thief = caller(&world.iam, &world.log_in(GRACE).await.unwrap()).await.unwrap();
    let setup = world.set_up(&owner).await;
    let (iam, by, code) = (world.iam.clone(), owner.clone(), world.code(&setup, -1));
    let confirm = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(iam.factors().confirm_totp(&by, setup.id, &code.into())).unwrap();
    };
    *world.meanwhile.0.lock().unwrap() = Some(("session", Box::new(confirm)));
    assert!(is_not_fresh(world.iam.factors().issue_recovery_codes(&thief).await));
    assert!(world.meanwhile.0.lock().unwrap().is_none(), "the factor was confirmed meanwhile");
}

#[tokio::test]
async fn a_step_up_by_the_password_does_not_count_for_a_later_factor() {
    let world = World::new().await;
    let (_, session) = world.grace().await;
    let app = world.enrol(&session).await;
    world.iam.factors().remove(&session, app.id).await.unwrap();
    world.iam.sessions().step_up(&session, StepUp::Password(PASSWORD.into())).await.unwrap();
    let me = world.iam.sessions().me(&session).await.unwrap();
    assert_eq!(session_of(&me).methods.to_string(), "password");
    let owner = caller(&world.iam, &world.log_in(GRACE).await.unwrap()).await.unwrap();
    world.enrol(&owner).await;
    assert!(is_not_fresh(world.iam.factors().issue_recovery_codes(&session).await));
}

/// A thief knows the password, and its login waits for the second factor.
#[tokio::test]
async fn a_login_that_waits_for_a_factor_ends_where_sessions_end() {
    for way in [
        "logout-all",
        "logout-user",
        "terminate",
        "own factor",
        "end-all",
        "end-all of user",
        "suspend",
        "email",
        "reuse",
    ] {
        let world = World::new().await;
        let (user, grace) = world.grace().await;
        let (iam, system) = (&world.iam, Caller::system(world.ada.tenant(), "test"));
        let app = world.enrol(&grace).await;
        let other = world.laptop(&grace, b"laptop").await;
        let login = world.finish(&world.pending(GRACE).await, &world.proof(&app, 0)).await.unwrap();
        world.clock.advance(STEP * 2);
        let pending = world.pending(GRACE).await;
        match way {
            "logout-all" => iam.sessions().logout_all(&grace).await.unwrap(),
            "logout-user" => iam.sessions().logout_user(&world.ada, user.id).await.unwrap(),
            "terminate" => {
                let (_, session) = caller(iam, &login).await.unwrap().require_user().unwrap();
                iam.sessions().terminate(&grace, session).await.unwrap();
            }
            "own factor" => iam.factors().remove(&grace, other.factor.id).await.unwrap(),
            "end-all" => drop(iam.sessions().end_all(&system).await.unwrap()),
            "end-all of user" => drop(iam.sessions().end_all_with_email(&system, GRACE).await.unwrap()),
            "suspend" => {
                iam.tenants().suspend(&system).await.unwrap();
                iam.tenants().reactivate(&system).await.unwrap();
            }
            "email" => {
                for email in ["new@example.com", GRACE] {
                    let patch = UserPatch { email: Some(email.to_owned()), ..UserPatch::default() };
                    iam.users().update(&system, user.id, patch).await.unwrap();
                }
            }
            _ => {
                let context = RequestContext::default();
                iam.sessions().refresh(&context, &login.tokens.refresh).await.unwrap();
                world.clock.advance(TimeDelta::minutes(1));
                let reused = iam.sessions().refresh(&context, &login.tokens.refresh).await;
                assert_eq!(unauthenticated(reused), Unauthenticated::RefreshToken);
            }
        }
        let refused = world.finish(&pending, &world.proof(&app, 0)).await;
        assert_eq!(unauthenticated(refused), Unauthenticated::Challenge, "{way}");
    }
}

/// Otherwise, an administrator that knows the password could remove the factors without being told of.
#[tokio::test]
async fn a_restored_user_needs_its_factors() {
    let world = World::new().await;
    let (user, grace) = world.grace().await;
    let app = world.enrol(&grace).await;
    world.iam.users().delete(&world.ada, user.id).await.unwrap();
    let active = UserPatch { status: Some(iam_core::user::UserStatus::Active), ..UserPatch::default() };
    world.iam.users().update(&world.ada, user.id, active).await.unwrap();
    let pending = world.pending(GRACE).await;
    world.finish(&pending, &world.proof(&app, 0)).await.unwrap();
}
