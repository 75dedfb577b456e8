use std::sync::Arc;

use uuid::Uuid;

use super::*;
use crate::hashing::HashingCost;
use crate::iam::Iam;
use crate::settings::Settings;
use crate::tenant::Registration;
use crate::user::NewUser;
use iam_model::audit::AuditFilter;
use iam_model::clock::Timestamp;
use iam_model::clock::testing::FixedClock;
use iam_model::credential::Lockout;
use iam_model::id::UserId;
use iam_model::secret::PasswordHash;
use iam_model::user::User;
use iam_model::version::Version;
use iam_store_memory::MemoryStore;

const HASH: &str = "the hash that was verified";
const RIGHT: Outcome = Outcome::Right { is_outdated: false };

fn account(email: &str, hash: &str, status: UserStatus) -> Account {
    let now = Timestamp::default();
    let user = User {
        id: UserId::from(Uuid::from_u128(7)),
        tenant_id: TenantId::from(Uuid::from_u128(1)),
        kind: iam_model::user::UserKind::Human,
        email: email.parse().unwrap(),
        email_verified_at: None,
        first_name: "Ada".parse().unwrap(),
        last_name: "Lovelace".parse().unwrap(),
        external_id: None,
        home_organization_id: None,
        status,
        last_login_at: None,
        created_at: now,
        updated_at: now,
        version: Version::FIRST,
    };
    Account { user, password: PasswordHash::from(hash.to_owned()) }
}

/// Calls `test` with an attempt for the account of `ada@example.com`, whose hash was [`HASH`].
fn with_attempt<T>(
    (status, outcome): (UserStatus, Outcome),
    tenant_status: TenantStatus,
    when_locked: DuringLockout,
    test: impl FnOnce(&PasswordAttempt<'_>) -> T,
) -> T {
    let (email, password) = ("ada@example.com".parse().unwrap(), Password::from("Passw0rd!"));
    let credentials = PasswordCredentials { email: &email, password: &password, share: Share::SYSTEM };
    let tenant = LoginTenant { status: tenant_status, ..LoginTenant::active(TenantId::from(Uuid::from_u128(1))) };
    let account = Some(account("ada@example.com", HASH, status));
    let refusal_delay = Duration::from_millis(3);
    test(&PasswordAttempt { tenant, credentials, account, outcome, when_locked, is_recorded: true, refusal_delay })
}

#[test]
fn only_the_right_password_of_an_active_user_in_an_active_tenant_logs_in() {
    use LoginFailure as Failure;
    use TenantStatus as Tenant;
    use UserStatus as User;

    for (user, outcome, tenant, expected) in [
        (User::Active, RIGHT, Tenant::Active, Ok(())),
        (User::Active, Outcome::Right { is_outdated: true }, Tenant::Active, Ok(())),
        (User::Active, RIGHT, Tenant::Suspended, Err(Failure::TenantSuspended)),
        (User::Active, Outcome::Wrong, Tenant::Active, Err(Failure::InvalidPassword)),
        (User::Active, Outcome::Wrong, Tenant::Suspended, Err(Failure::InvalidPassword)),
        (User::Suspended, RIGHT, Tenant::Active, Err(Failure::UserSuspended)),
        (User::Suspended, RIGHT, Tenant::Suspended, Err(Failure::TenantSuspended)),
        (User::Suspended, Outcome::Wrong, Tenant::Active, Err(Failure::InvalidPassword)),
        (User::Inactive, RIGHT, Tenant::Active, Err(Failure::UserInactive)),
        (User::Inactive, Outcome::Wrong, Tenant::Suspended, Err(Failure::UserInactive)),
    ] {
        let is_right = matches!(outcome, Outcome::Right { .. });
        with_attempt((user, outcome), tenant, DuringLockout::Refuse, |attempt| {
            let case = format!("{user:?}, right: {is_right}, {tenant:?}");
            let check = |current| attempt.check_current_account(current).map(drop);
            assert_eq!(check(attempt.account.clone()), expected, "{case}");
            assert_eq!(check(None), Err(Failure::UnknownUser), "{case}");
            assert_eq!(attempt.is_right(), is_right && user != User::Inactive, "{case}");
            assert_eq!(attempt.may_log_in(), expected.is_ok(), "{case}");
            // When the hash or the e-mail has changed since, a right password counts as wrong.
            let stale = if user == User::Inactive { Failure::UserInactive } else { Failure::InvalidPassword };
            assert_eq!(check(Some(account("ada@example.com", "another hash", user))), Err(stale), "{case}");
            assert_eq!(check(Some(account("grace@example.com", HASH, user))), Err(stale), "{case}");
        });
    }
}

#[test]
fn only_a_right_password_with_a_changed_hash_is_verified_again() {
    for (outcome, email, hash, expected) in [
        (RIGHT, "ada@example.com", "another hash", true),
        (RIGHT, "ADA@example.com", "another hash", true),
        (RIGHT, "ada@example.com", HASH, false),
        (RIGHT, "grace@example.com", "another hash", false),
        (Outcome::Wrong, "ada@example.com", "another hash", false),
        (Outcome::Locked, "ada@example.com", "another hash", false),
    ] {
        with_attempt((UserStatus::Active, outcome), TenantStatus::Active, DuringLockout::Refuse, |attempt| {
            let current = account(email, hash, UserStatus::Active);
            assert_eq!(attempt.is_outdated(Some(&current)), expected, "{email}, {hash}");
            assert!(!attempt.is_outdated(None));
        });
    }
}

#[test]
fn only_a_locked_account_without_concealment_reveals_its_lock() {
    for (outcome, when_locked, expected) in [
        (Outcome::Locked, DuringLockout::Refuse, true),
        (Outcome::Locked, DuringLockout::Conceal, false),
        (Outcome::Wrong, DuringLockout::Refuse, false),
        (RIGHT, DuringLockout::Refuse, false),
        (RIGHT, DuringLockout::Conceal, false),
    ] {
        with_attempt((UserStatus::Active, outcome), TenantStatus::Active, when_locked, |attempt| {
            assert_eq!(attempt.reveals_lock(), expected);
            assert_eq!(attempt.refusal_delay(), Duration::from_millis(3));
        });
    }
}

/// A service with one account of `ada@example.com`, whose attempts a test verifies and applies step by step.
struct Service {
    iam: Iam,
    clock: FixedClock,
    tenant: TenantId,
    email: Email,
}

const PASSWORD: &str = "Passw0rd!";

impl Service {
    async fn new() -> Self {
        let clock = FixedClock::at("2026-01-31T09:15:00Z");
        let hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
        let settings = Settings { hashing_cost, ..Settings::default() };
        let iam = Iam::builder(Arc::new(MemoryStore::new())).clock(clock.clone()).settings(settings);
        let iam = iam.build().await.unwrap();
        let user = NewUser {
            email: "ada@example.com".to_owned(),
            password: PASSWORD.into(),
            first_name: "Ada".to_owned(),
            last_name: "Lovelace".to_owned(),
        };
        let registration = Registration { user, tenant_name: None };
        let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
        Self { iam, clock, tenant: registered.tenant.id, email: "ada@example.com".parse().unwrap() }
    }

    fn tenant(&self) -> LoginTenant {
        LoginTenant::active(self.tenant)
    }

    fn credentials<'a>(&'a self, password: &'a Password) -> PasswordCredentials<'a> {
        PasswordCredentials { email: &self.email, password, share: Share::SYSTEM }
    }

    async fn guarded(&self) -> GuardedAccount {
        self.iam.0.store.guarded_account(self.tenant, &self.email.key()).await.unwrap()
    }

    async fn verify<'a>(&'a self, password: &'a Password, when_locked: DuringLockout) -> PasswordAttempt<'a> {
        let credentials = self.credentials(password);
        PasswordAttempt::verify(&self.iam.0, self.tenant(), credentials, self.guarded().await, when_locked)
            .await
            .unwrap()
    }

    async fn apply(&self, attempt: PasswordAttempt<'_>) -> Result<(), Refusal> {
        let caller = Caller::anonymous(self.tenant, RequestContext::default());
        let (applied, work) = attempt.apply_under_lock(&self.iam.0, &caller).await.unwrap();
        work.commit().await.unwrap();
        applied.map(drop)
    }

    /// Fails until the account is locked.
    async fn lock(&self) {
        let wrong = Password::from("Wr0ng$one");
        for _ in 0..5 {
            let failed = self.apply(self.verify(&wrong, DuringLockout::Refuse).await).await;
            assert_eq!(failed, Err(Refusal::Wrong));
        }
    }

    async fn reasons(&self) -> Vec<String> {
        let filter = AuditFilter { action: Some("LOGIN_FAILURE".to_owned()), ..AuditFilter::default() };
        let log = self.iam.audit().list(&Caller::system(self.tenant, "test"), filter, None, 100).await.unwrap();
        log.entries.iter().rev().map(|entry| entry.metadata["reason"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_lock_that_ends_before_the_attempt_is_applied_still_refuses() {
    type Make = for<'a> fn(&Service, PasswordCredentials<'a>, GuardedAccount) -> PasswordAttempt<'a>;

    let password = Password::from(PASSWORD);
    let at_once = Refusal::Locked(Duration::from_secs(1));
    for (when_locked, refusal) in [(DuringLockout::Refuse, at_once), (DuringLockout::Conceal, Refusal::Wrong)] {
        let service = Service::new().await;
        service.lock().await;
        let attempt = service.verify(&password, when_locked).await;
        service.clock.advance(Lockout::default().duration);
        assert_eq!(service.apply(attempt).await, Err(refusal));
        assert_eq!(service.reasons().await.last().unwrap(), "ACCOUNT_LOCKED");
        assert_eq!(service.guarded().await.attempts.count(), 5);
    }
    let refused: Make =
        |service, credentials, guarded| PasswordAttempt::refused(service.tenant(), credentials, guarded);
    let refused_meanwhile: Make =
        |service, credentials, _| PasswordAttempt::wrong(service.tenant(), credentials).into_refused();
    for make in [refused, refused_meanwhile] {
        let service = Service::new().await;
        let attempt = make(&service, service.credentials(&password), service.guarded().await);
        assert_eq!(service.apply(attempt).await, Err(at_once));
        assert_eq!(service.reasons().await, ["ACCOUNT_LOCKED"]);
    }
}

#[tokio::test]
async fn a_concealed_attempt_that_is_refused_meanwhile_tells_of_the_lock() {
    let (service, password) = (Service::new().await, Password::from(PASSWORD));
    let attempt = service.verify(&password, DuringLockout::Conceal).await.into_refused();
    assert!(attempt.reveals_lock());
}

#[tokio::test]
async fn a_right_password_is_confirmed_unless_its_account_was_locked_meanwhile() {
    let (service, password) = (Service::new().await, Password::from(PASSWORD));
    let attempt = service.verify(&password, DuringLockout::Conceal).await.confirmed(&service.iam.0).await.unwrap();
    assert!(attempt.is_right());
    service.lock().await;
    assert!(!attempt.confirmed(&service.iam.0).await.unwrap().is_right());
}

#[tokio::test]
async fn an_unrecorded_attempt_stays_so_when_it_is_verified_again() {
    let (service, password) = (Service::new().await, Password::from(PASSWORD));
    let attempt = service.verify(&password, DuringLockout::Conceal).await.unrecorded();
    let trusted = Caller::system(service.tenant, "test");
    service.iam.credentials().reset_password(&trusted, "ada@example.com", "An0ther$one".into()).await.unwrap();
    assert_eq!(service.apply(attempt).await, Err(Refusal::Wrong));
    assert_eq!(service.reasons().await, Vec::<String>::new());
    assert_eq!(service.guarded().await.attempts.count(), 1);
}
