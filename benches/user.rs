//! The cost of the service and of each store, without HTTP and with almost no hashing.

mod on_stores;

use std::hint::black_box;
use std::time::{Duration, Instant};

use argon2::PasswordHasher as _;
use criterion::Criterion;
use iam_benches::{CHEAP, Outcome, PASSWORD, argon2id, fill, iam, register, sure};
use iam_core::api_key::NewApiKey;
use iam_core::secret::{AccessToken, ApiKeyToken};
use iam_core::session::{Impersonation, NewImpersonation};
use iam_core::{Caller, Iam, RequestContext, TenantId, UserId};
use test_support::TestStore;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use on_stores::on_stores;

/// The number of users for the reads.
const USERS: u64 = 1_000;

/// The number of users that are created in one tenant. The store in memory copies the tenant for every unit of work, so
/// its cost depends on the tenant's size. That size must not depend on the length of the measurement.
const PER_TENANT: u64 = 100;

fn main() -> Outcome {
    on_stores(measure_store, measure_cheap_hash)
}

fn measure_store(criterion: &mut Criterion, runtime: &Runtime, test: &TestStore) -> Outcome {
    let iam = runtime.block_on(iam(test.store(), CHEAP))?;
    let registered = runtime.block_on(register(&iam))?;
    let tenant = registered.tenant.id;
    let users = runtime.block_on(fill(&iam, tenant, 1, USERS))?;
    let token = registered.login.tokens.access.expose();
    let key = runtime.block_on(api_key(&iam, tenant, registered.login.user.id))?;
    let acting = runtime.block_on(acting(&iam, token, &users))?;
    let proofs = [("", token), (" by API key", key.expose()), (" as another user", acting.expose())];
    for (how, token) in proofs {
        measure_authenticate(criterion, runtime, &iam, token, &format!("{}{how}, read", test.name()));
    }
    let feed = runtime.spawn({
        let iam = iam.clone();
        async move { iam.follow_changes().await }
    });
    if runtime.block_on(has_feed(&iam, &feed)) {
        for (how, token) in proofs {
            measure_authenticate(criterion, runtime, &iam, token, &format!("{}{how}, cached", test.name()));
        }
    }
    measure_get(criterion, runtime, &iam, (tenant, &users), test.name());
    measure_create(criterion, runtime, &iam, test.name());
    runtime.block_on(iam.close());
    Ok(())
}

/// Makes a key of a user.
async fn api_key(iam: &Iam, tenant: TenantId, user: UserId) -> Outcome<ApiKeyToken> {
    let new = NewApiKey { name: "benchmark".to_owned(), ..NewApiKey::default() };
    Ok(iam.api_keys().create(&Caller::system(tenant, "benchmark"), user, new).await?.token)
}

/// Begins to act as the first of these users.
async fn acting(iam: &Iam, token: &str, users: &[UserId]) -> Outcome<AccessToken> {
    let caller = iam.authenticate(token, RequestContext::default()).await?;
    let user = users.first().ok_or("there is no user")?;
    let new = NewImpersonation { reason: "benchmark".to_owned(), duration: Impersonation::MAX, read_only: true };
    Ok(iam.sessions().impersonate(&caller, *user, new).await?.1)
}

/// Waits until change notifications are received. Returns false if the store has no change feed.
async fn has_feed<T>(iam: &Iam, feed: &JoinHandle<T>) -> bool {
    while !iam.receives_changes() {
        if feed.is_finished() {
            return false;
        }
        sleep(Duration::from_millis(1)).await;
    }
    true
}

/// Measures the part of a request before `get`: a cached token or a key, and its session. The session is read from the
/// store each time, or it is cached while change notifications are received.
fn measure_authenticate(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam, token: &str, what: &str) {
    criterion.bench_function(&format!("user/authenticate/{what}"), |bencher| {
        bencher
            .to_async(runtime)
            .iter(|| async { sure(iam.authenticate(black_box(token), RequestContext::default()).await) });
    });
}

fn measure_get(
    criterion: &mut Criterion,
    runtime: &Runtime,
    iam: &Iam,
    (tenant, users): (TenantId, &[UserId]),
    store: &str,
) {
    let caller = Caller::system(tenant, "benchmark");
    let any = || sure(fastrand::choice(users).copied().ok_or("there is no user"));
    criterion.bench_function(&format!("user/get/{store}"), |bencher| {
        bencher.to_async(runtime).iter(|| async { sure(iam.users().get(&caller, any()).await) });
    });
}

fn measure_create(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam, store: &str) {
    criterion.bench_function(&format!("user/create/{store}"), |bencher| {
        bencher.to_async(runtime).iter_custom(|count| async move { sure(time_create(iam, count).await) });
    });
}

/// The time to create this number of users.
async fn time_create(iam: &Iam, count: u64) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    let mut left = count;
    while left > 0 {
        let now = left.min(PER_TENANT);
        let tenant = register(iam).await?.tenant.id;
        let began = Instant::now();
        black_box(fill(iam, tenant, 1, now).await?);
        elapsed += began.elapsed();
        left -= now;
    }
    Ok(elapsed)
}

/// Measures the hash in `create`.
fn measure_cheap_hash(criterion: &mut Criterion) -> Outcome {
    let argon2 = argon2id(CHEAP)?;
    criterion.bench_function("user/create, only the hash", |bencher| {
        bencher.iter(|| sure(argon2.hash_password_with_salt(black_box(PASSWORD).as_bytes(), &[7; 16])));
    });
    Ok(())
}
