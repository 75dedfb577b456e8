//! Which logins succeed, what the answers to the others reveal, and what the audit log of each tenant records.

use std::sync::Arc;
use std::time::Duration;

use iam_conformance::World;
use iam_core::audit::AuditFilter;
use iam_core::session::Login;
use iam_core::tenant::{Tenant, TenantStatus};
use iam_core::user::{ImportedUser, NewUser, User, UserStatus};
use iam_core::{Caller, Conflict, Error, Forbidden, Iam, RequestContext, Unauthenticated};
use iam_store_memory::MemoryStore;

const EMAIL: &str = "ada@example.com";
const RIGHT: &str = "Passw0rd!";
const OTHER: &str = "An0ther$one";
const WRONG: &str = "Wr0ng$one";
/// A hash of [`RIGHT`] by Python's argon2-cffi. It is weaker than the hashes that this service makes.
const WEAK_HASH: &str = "$argon2i$v=19$m=4096,t=3,p=1$c2FsdHNhbHRzYWx0$7la2pMHemBM+Mwlg2XLmkpqRiQHE9As5dsmlmAdcSdo";

/// An account with the e-mail [`EMAIL`], in a tenant of its own.
#[derive(Clone, Copy, Debug)]
struct Account {
    password: &'static str,
    is_verified: bool,
    status: UserStatus,
    tenant: TenantStatus,
}

const ACTIVE: Account =
    Account { password: RIGHT, is_verified: false, status: UserStatus::Active, tenant: TenantStatus::Active };
const VERIFIED: Account = Account { is_verified: true, ..ACTIVE };
const SUSPENDED: Account = Account { status: UserStatus::Suspended, ..ACTIVE };
const DELETED: Account = Account { status: UserStatus::Inactive, ..ACTIVE };
const TENANT_SUSPENDED: Account = Account { tenant: TenantStatus::Suspended, ..ACTIVE };
/// An account with another password.
const ANOTHER: Account = Account { password: OTHER, ..ACTIVE };

/// The tenant that a login names.
#[derive(Clone, Copy)]
enum To {
    /// No tenant.
    Anywhere,
    /// The tenant of the account with this number.
    Tenant(usize),
}

/// A service with accounts that have the same e-mail.
struct Accounts {
    world: World,
    iam: Iam,
    tenants: Vec<Tenant>,
}

impl Accounts {
    async fn new(accounts: &[Account]) -> Self {
        let world = World::new(Arc::new(MemoryStore::new()));
        let iam = world.iam().await;
        let mut tenants = Vec::new();
        for (number, account) in accounts.iter().enumerate() {
            let tenant = world.tenant(&format!("tenant-{number}")).await;
            let system = Caller::system(tenant.id, "test");
            let user = iam.users().create(&system, new_user(account.password)).await.unwrap();
            if account.is_verified {
                iam.users().verify_email(&system, EMAIL).await.unwrap();
            }
            match account.status {
                UserStatus::Active => {}
                UserStatus::Suspended => drop(iam.users().suspend(&system, user.id).await.unwrap()),
                UserStatus::Inactive => iam.users().delete(&system, user.id).await.unwrap(),
            }
            if account.tenant == TenantStatus::Suspended {
                iam.tenants().suspend(&system).await.unwrap();
            }
            tenants.push(tenant);
        }
        Self { world, iam, tenants }
    }

    async fn log_in(&self, to: To, password: &str) -> Result<User, Error> {
        let tenant = match to {
            To::Anywhere => None,
            To::Tenant(number) => Some(self.tenants[number].slug.to_string()),
        };
        let context = RequestContext { correlation_id: Some("the-request".parse().unwrap()), ..Default::default() };
        let login = Login { email: EMAIL.to_owned(), password: password.into(), tenant };
        self.iam.sessions().login(&context, login).await.map(|login| login.user)
    }

    /// Returns the answer to a login as a short text, with the numbers of the tenants that it names.
    async fn answer(&self, to: To, password: &str) -> String {
        let number = |id| self.tenants.iter().position(|tenant| tenant.id == id).unwrap();
        let mut answer = self.log_in(to, password).await;
        // On a busy machine, several logins at once wait for too long for their hashes.
        while let Err(Error::Overloaded { .. }) = answer {
            tokio::time::sleep(Duration::from_millis(100)).await;
            answer = self.log_in(to, password).await;
        }
        match answer {
            Ok(user) => format!("in {}", number(user.tenant_id)),
            Err(Error::Unauthenticated(Unauthenticated::Credentials)) => "wrong".to_owned(),
            Err(Error::Forbidden(Forbidden::Suspended)) => "suspended".to_owned(),
            Err(Error::Forbidden(Forbidden::TenantSuspended)) => "tenant suspended".to_owned(),
            Err(Error::AccountLocked { .. }) => "locked".to_owned(),
            Err(Error::Conflict(Conflict::SeveralTenants(tenants))) => {
                let mut numbers: Vec<_> = tenants.iter().map(|tenant| number(tenant.id)).collect();
                numbers.sort_unstable();
                format!("several {numbers:?}")
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    async fn fail(&self, to: To, times: usize) {
        for _ in 0..times {
            self.answer(to, WRONG).await;
        }
    }

    /// Returns the reasons of the failures in each tenant's log, oldest first. A star marks an entry that does not
    /// show the context of the request.
    async fn recorded(&self) -> Vec<Vec<String>> {
        let mut recorded = Vec::new();
        for tenant in &self.tenants {
            let filter = AuditFilter { action: Some("LOGIN_FAILURE".to_owned()), ..AuditFilter::default() };
            let system = Caller::system(tenant.id, "test");
            let log = self.iam.audit().list(&system, filter, None, 100).await.unwrap();
            // An entry that must not show the request has a correlation id of its own.
            assert!(log.entries.iter().all(|entry| entry.context.correlation_id.is_some()));
            let reason = |entry: &iam_core::audit::AuditEntry| {
                let is_shown = entry.context.correlation_id.as_ref().is_some_and(|id| id.as_str() == "the-request");
                format!("{}{}", entry.metadata["reason"].as_str().unwrap(), if is_shown { "" } else { "*" })
            };
            recorded.push(log.entries.iter().rev().map(reason).collect());
        }
        recorded
    }

    async fn hash(&self, number: usize) -> String {
        let (tenant, key) = (self.tenants[number].id, EMAIL.parse::<iam_core::Email>().unwrap().key());
        let guarded = self.world.store.guarded_account(tenant, &key).await.unwrap();
        guarded.account.unwrap().password.expose().to_owned()
    }
}

fn new_user(password: &str) -> NewUser {
    NewUser {
        email: EMAIL.to_owned(),
        password: password.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

#[tokio::test]
async fn a_login_to_a_named_tenant_depends_on_password_and_status() {
    for (account, password, answer, reason) in [
        (ACTIVE, RIGHT, "in 0", None),
        (ACTIVE, WRONG, "wrong", Some("INVALID_PASSWORD")),
        (VERIFIED, RIGHT, "in 0", None),
        (SUSPENDED, RIGHT, "suspended", Some("USER_SUSPENDED")),
        (SUSPENDED, WRONG, "wrong", Some("INVALID_PASSWORD")),
        (DELETED, RIGHT, "wrong", Some("USER_INACTIVE")),
        (DELETED, WRONG, "wrong", Some("USER_INACTIVE")),
        (TENANT_SUSPENDED, RIGHT, "tenant suspended", Some("TENANT_SUSPENDED")),
        (TENANT_SUSPENDED, WRONG, "wrong", Some("INVALID_PASSWORD")),
    ] {
        let accounts = Accounts::new(&[account, ANOTHER]).await;
        assert_eq!(accounts.answer(To::Tenant(0), password).await, answer, "{account:?}, {password}");
        let reasons: Vec<_> = reason.into_iter().map(str::to_owned).collect();
        assert_eq!(accounts.recorded().await, [reasons, vec![]], "{account:?}, {password}");
    }
}

#[tokio::test]
async fn a_login_without_a_tenant_tries_the_accounts_of_the_email() {
    /// The accounts, one for each tenant; the password; the answer; the failures that each tenant recorded.
    type Case = (&'static [Account], &'static str, &'static str, &'static [&'static [&'static str]]);

    const VERIFIED_AND_DELETED: Account = Account { is_verified: true, ..DELETED };
    let cases: &[Case] = &[
        (&[], RIGHT, "wrong", &[]),
        (&[ACTIVE], RIGHT, "in 0", &[&[]]),
        // With one tenant, a stranger cannot have created the account.
        (&[ACTIVE], WRONG, "wrong", &[&["INVALID_PASSWORD"]]),
        (&[ACTIVE, ANOTHER], RIGHT, "in 0", &[&[], &[]]),
        (&[ACTIVE, ANOTHER], OTHER, "in 1", &[&[], &[]]),
        (&[ACTIVE, ANOTHER], WRONG, "wrong", &[&["INVALID_PASSWORD*"], &["INVALID_PASSWORD*"]]),
        (&[ACTIVE, ACTIVE, ANOTHER], RIGHT, "several [0, 1]", &[&[], &[], &[]]),
        // Verified accounts come first, and their entries show the request.
        (&[VERIFIED, ANOTHER], WRONG, "wrong", &[&["INVALID_PASSWORD"], &[]]),
        (&[VERIFIED, ANOTHER], OTHER, "wrong", &[&["INVALID_PASSWORD"], &[]]),
        (&[VERIFIED, ACTIVE], RIGHT, "in 0", &[&[], &[]]),
        (&[VERIFIED, VERIFIED], RIGHT, "several [0, 1]", &[&[], &[]]),
        (&[SUSPENDED, ANOTHER], RIGHT, "suspended", &[&["USER_SUSPENDED"], &[]]),
        (&[SUSPENDED, ACTIVE], RIGHT, "in 1", &[&[], &[]]),
        (&[TENANT_SUSPENDED, ACTIVE], RIGHT, "in 1", &[&[], &[]]),
        (&[SUSPENDED, TENANT_SUSPENDED], RIGHT, "tenant suspended", &[&["USER_SUSPENDED"], &["TENANT_SUSPENDED"]]),
        // A deleted user counts only if no other user has the e-mail.
        (&[DELETED], RIGHT, "wrong", &[&["USER_INACTIVE"]]),
        (&[DELETED, ACTIVE], RIGHT, "in 1", &[&[], &[]]),
        (&[DELETED, ACTIVE], WRONG, "wrong", &[&[], &["INVALID_PASSWORD*"]]),
        (&[VERIFIED_AND_DELETED, ACTIVE], RIGHT, "in 1", &[&[], &[]]),
        (&[DELETED, DELETED], RIGHT, "wrong", &[&["USER_INACTIVE*"], &["USER_INACTIVE*"]]),
    ];
    for (existing, password, answer, recorded) in cases {
        let accounts = Accounts::new(existing).await;
        assert_eq!(accounts.answer(To::Anywhere, password).await, *answer, "{existing:?}, {password}");
        assert_eq!(accounts.recorded().await, *recorded, "{existing:?}, {password}");
    }
}

#[tokio::test]
async fn failures_are_recorded_in_full_when_registration_is_closed() {
    let world = World::new(Arc::new(MemoryStore::new()));
    let mut settings = world.iam().await.settings().clone();
    settings.registration = false;
    let iam = Iam::builder(Arc::clone(&world.store)).settings(settings).clock(world.clock.clone());
    let iam = iam.build().await.unwrap();
    let mut tenants = Vec::new();
    for slug in ["acme", "globex"] {
        let tenant = world.tenant(slug).await;
        iam.users().create(&Caller::system(tenant.id, "test"), new_user(RIGHT)).await.unwrap();
        tenants.push(tenant);
    }
    let accounts = Accounts { world, iam, tenants };
    assert_eq!(accounts.answer(To::Anywhere, WRONG).await, "wrong");
    assert_eq!(accounts.recorded().await, [["INVALID_PASSWORD"], ["INVALID_PASSWORD"]]);
}

#[tokio::test]
async fn an_account_reveals_its_lock_only_to_logins_that_may_know_it() {
    for (existing, failed, to, answer, last) in [
        (&[ACTIVE, ANOTHER], To::Tenant(0), To::Tenant(0), "locked", Some("ACCOUNT_LOCKED")),
        // The password is not checked.
        (&[SUSPENDED, ANOTHER], To::Tenant(0), To::Tenant(0), "locked", Some("ACCOUNT_LOCKED")),
        (&[ACTIVE, ANOTHER], To::Anywhere, To::Tenant(0), "locked", Some("ACCOUNT_LOCKED")),
        (&[ACTIVE, ANOTHER], To::Anywhere, To::Anywhere, "locked", Some("ACCOUNT_LOCKED*")),
        // To a login that names no tenant, only a single verified account reveals its lock.
        (&[VERIFIED, ANOTHER], To::Tenant(0), To::Anywhere, "locked", Some("ACCOUNT_LOCKED")),
        (&[ACTIVE, ANOTHER], To::Tenant(0), To::Anywhere, "wrong", Some("ACCOUNT_LOCKED*")),
        (&[VERIFIED, VERIFIED], To::Tenant(0), To::Anywhere, "in 1", None),
        (&[ACTIVE, ANOTHER], To::Tenant(1), To::Anywhere, "in 0", None),
        (&[ACTIVE, ANOTHER], To::Tenant(1), To::Tenant(0), "in 0", None),
    ] {
        let accounts = Accounts::new(existing).await;
        accounts.fail(failed, 4).await;
        let before = accounts.recorded().await;
        accounts.fail(failed, 1).await;
        let failed_at = accounts.recorded().await[0].len();
        assert_eq!(accounts.answer(to, RIGHT).await, answer, "{existing:?}");
        let reasons = accounts.recorded().await;
        assert_eq!(reasons[0].get(failed_at).map(String::as_str), last, "{existing:?}: {before:?}, {reasons:?}");
    }
}

/// Otherwise the owner of one account could guess the password of another account with the same e-mail, and never be
/// locked out.
#[tokio::test]
async fn a_right_password_in_one_tenant_counts_as_wrong_in_the_others() {
    let accounts = Accounts::new(&[ACTIVE, ANOTHER]).await;
    for _ in 0..5 {
        assert_eq!(accounts.answer(To::Anywhere, RIGHT).await, "in 0");
    }
    assert_eq!(accounts.answer(To::Tenant(1), OTHER).await, "locked");
    // Only the failure that locks the account is recorded, and does not tell where it came from.
    let recorded = ["INVALID_PASSWORD*", "ACCOUNT_LOCKED"].map(str::to_owned);
    assert_eq!(accounts.recorded().await, [vec![], recorded.to_vec()]);
}

#[tokio::test]
async fn a_login_clears_the_failures_before_it() {
    for to in [To::Tenant(0), To::Anywhere] {
        let accounts = Accounts::new(&[ACTIVE]).await;
        for _ in 0..3 {
            accounts.fail(to, 4).await;
            assert_eq!(accounts.answer(to, RIGHT).await, "in 0");
        }
    }
}

/// Each login verifies the weak hash. All but one of them find a replaced hash under the lock.
#[tokio::test]
async fn logins_that_race_to_replace_a_weak_hash_all_succeed() {
    let accounts = Accounts::new(&[]).await;
    let tenant = accounts.world.tenant("acme").await;
    let system = Caller::system(tenant.id, "test");
    let user = ImportedUser {
        email: EMAIL.to_owned(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
        password_hash: WEAK_HASH.into(),
        status: UserStatus::Active,
        attributes: serde_json::Map::new(),
    };
    accounts.iam.users().import(&system).unwrap().add(user).await.unwrap();
    let accounts = Accounts { tenants: vec![tenant], ..accounts };
    let login = || accounts.answer(To::Anywhere, RIGHT);
    let answers = tokio::join!(login(), login(), login(), login());
    assert_eq!(<[String; 4]>::from(answers), ["in 0"; 4]);
    let replaced = accounts.hash(0).await;
    assert!(replaced.starts_with("$argon2id$"), "{replaced}");
    // A wrong password replaces no hash, and a right password does not replace a strong hash.
    assert_eq!(accounts.answer(To::Anywhere, WRONG).await, "wrong");
    assert_eq!(accounts.answer(To::Anywhere, RIGHT).await, "in 0");
    assert_eq!(accounts.hash(0).await, replaced);
}
