//! What the benchmarks share.

pub mod audit_log;
pub mod database;

use std::error::Error;
use std::fmt::Debug;
use std::sync::Arc;

use argon2::{Algorithm, Argon2, Params, Version};
use iam_core::credential::HashingCost;
use iam_core::tenant::{Registered, Registration};
use iam_core::user::NewUser;
use iam_core::{Caller, Iam, RequestContext, Settings, Store, TenantId, UserId};
use uuid::Uuid;

/// What comes of something that can fail for many reasons.
pub type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The least that Argon2 allows, for where hashing is not what is measured.
pub const CHEAP: HashingCost = HashingCost { memory_kib: 8, passes: 1, lanes: 1 };

/// The password of every user.
pub const PASSWORD: &str = "Passw0rd!";

/// The master key of every database. They are thrown away, so it is no secret.
pub const MASTER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The identifier with a number.
#[must_use]
pub fn id(number: u64) -> Uuid {
    Uuid::from_u128((0x7000_u128 << 64) | (0x8000_u128 << 48) | u128::from(number))
}

/// An [`Iam`] over a store, with these [`settings`].
///
/// # Errors
///
/// What the store says.
pub async fn iam(store: Arc<dyn Store>, cost: HashingCost) -> Outcome<Iam> {
    Ok(Iam::builder(store).settings(settings(cost)?).build().await?)
}

/// The default settings but for the master key and what a password hash costs.
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

/// A new tenant, whose administrator is the [user](new_user) of number 0.
///
/// # Errors
///
/// What the store says.
pub async fn register(iam: &Iam) -> Outcome<Registered> {
    let registration = Registration { user: new_user(0), tenant_name: None };
    Ok(iam.tenants().register(&RequestContext::default(), registration).await?)
}

/// As many users in a tenant, numbered from `from` on.
///
/// # Errors
///
/// What the store says, for instance that one of the numbers is taken.
pub async fn fill(iam: &Iam, tenant: TenantId, from: u64, count: u64) -> Outcome<Vec<UserId>> {
    let caller = Caller::system(tenant, "benchmark");
    let mut ids = Vec::new();
    for number in from..from + count {
        ids.push(iam.users().create(&caller, new_user(number)).await?.id);
    }
    Ok(ids)
}

/// The input that makes a user of this number.
#[must_use]
pub fn new_user(number: u64) -> NewUser {
    NewUser {
        email: email(number),
        password: PASSWORD.into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    }
}

/// The e-mail of the user of this number; all are of the same length.
#[must_use]
pub fn email(number: u64) -> String {
    format!("user{number:09}@example.com")
}

/// Bare Argon2id of a cost.
///
/// # Errors
///
/// When Argon2 does not allow the cost.
pub fn argon2id(cost: HashingCost) -> Outcome<Argon2<'static>> {
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, None)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// The value of something that must go well: what failures cost is not what is measured.
#[expect(clippy::expect_used, reason = "a measured closure has nobody to hand an error to")]
pub fn sure<T, E: Debug>(result: Result<T, E>) -> T {
    result.expect("what is measured goes well")
}
