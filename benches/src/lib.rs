//! Code that the benchmarks share.

pub mod audit_log;
pub mod client;
pub mod database;
pub mod turns;

use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};
use iam_core::credential::HashingCost;
use iam_core::tenant::{Registered, Registration};
use iam_core::user::NewUser;
use iam_core::{AuditBatch, Caller, Change, Iam, RequestContext, Settings, Store, TenantId, UserId};
use uuid::Uuid;

/// The result of a call that can fail for many reasons.
pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The least cost that Argon2 allows, for measurements that are not about hashing.
pub const CHEAP: HashingCost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };

/// The password of every user.
pub const PASSWORD: &str = "Passw0rd!";

/// The master key of every database. The databases are temporary, so it is not a secret.
pub const MASTER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The identifier for a number.
#[must_use]
pub fn id(number: u64) -> Uuid {
    Uuid::from_u128((0x7000_u128 << 64) | (0x8000_u128 << 48) | u128::from(number))
}

/// An [`Iam`] on a store, with the [`settings`] for this cost.
///
/// # Errors
///
/// Errors of the store.
pub async fn iam(store: Arc<dyn Store>, cost: HashingCost) -> Outcome<Iam> {
    Ok(Iam::builder(store).settings(settings(cost)?).build().await?)
}

/// The default settings, except for the master key and the cost of a password hash.
///
/// # Errors
///
/// None, as long as [`MASTER_KEY`] is a key.
pub fn settings(cost: HashingCost) -> Outcome<Settings> {
    let mut settings = Settings::default();
    settings.hashing_cost = cost;
    settings.master_key = Some(MASTER_KEY.parse()?);
    Ok(settings)
}

/// Registers a new tenant. Its administrator is the [user](new_user) with number 0.
///
/// # Errors
///
/// Errors of the store.
pub async fn register(iam: &Iam) -> Outcome<Registered> {
    let registration = Registration { user: new_user(0), tenant_name: None };
    Ok(iam.tenants().register(&RequestContext::default(), registration).await?)
}

/// Creates `count` users in a tenant, numbered from `from` on.
///
/// # Errors
///
/// Errors of the store, for instance when a user with one of the numbers exists already.
pub async fn fill(iam: &Iam, tenant: TenantId, from: u64, count: u64) -> Outcome<Vec<UserId>> {
    let caller = Caller::system(tenant, "benchmark");
    let mut ids = Vec::new();
    for number in from..from + count {
        ids.push(iam.users().create(&caller, new_user(number)).await?.id);
    }
    Ok(ids)
}

/// The input for a new user with this number.
#[must_use]
pub fn new_user(number: u64) -> NewUser {
    NewUser {
        email: email(number),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

/// The e-mail of the user with this number. All e-mails have the same length.
#[must_use]
pub fn email(number: u64) -> String {
    format!("user{number:09}@example.com")
}

/// Writes a change without its audit entries.
///
/// # Errors
///
/// Errors of the store.
pub async fn write(store: &dyn Store, tenant: TenantId, change: impl Into<Change>) -> Outcome {
    write_all(store, tenant, [change.into()]).await
}

/// Writes changes in one transaction, without their audit entries.
///
/// # Errors
///
/// Errors of the store.
pub async fn write_all(store: &dyn Store, tenant: TenantId, changes: impl IntoIterator<Item = Change>) -> Outcome {
    let mut transaction = store.begin(tenant).await?;
    transaction.lock_tenant().await?;
    for change in changes {
        transaction.write(&change, AuditBatch::of_entries(Vec::new())).await?;
    }
    Ok(transaction.commit().await?)
}

/// Bare Argon2id with this cost.
///
/// # Errors
///
/// When Argon2 does not allow the cost.
pub fn argon2id(cost: HashingCost) -> Outcome<Argon2<'static>> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// The value of a call that must succeed, because failures must not be measured.
#[expect(clippy::expect_used, reason = "a measured closure cannot return an error")]
pub fn sure<T, E: Debug>(result: Result<T, E>) -> T {
    result.expect("the measured call succeeds")
}
