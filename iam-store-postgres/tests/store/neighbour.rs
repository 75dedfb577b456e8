//! A tenant whose units of work wait for its own lock leaves connections to other tenants.

use std::sync::Arc;

use iam_core::credential::HashingCost;
use iam_core::role::TENANT_ADMIN;
use iam_core::tenant::{Registration, TenantPatch};
use iam_core::user::NewUser;
use iam_core::{Caller, Iam, RequestContext, Settings};
use sqlx::postgres::PgPool;
use test_support::postgres::TestDatabase;
use tokio::task::JoinSet;

/// More than the connections of a store.
const MANY: usize = 20;
/// Half of them.
const HALF: i64 = 8;

async fn register(iam: &Iam, email: &str) -> Caller {
    let user = NewUser {
        email: email.to_owned(),
        password: "Passw0rd!".into(),
        first_name: "Ada".to_owned(),
        last_name: "Lovelace".to_owned(),
    };
    let registration = Registration { user, tenant_name: None };
    let registered = iam.tenants().register(&RequestContext::default(), registration).await.unwrap();
    Caller::system(registered.tenant.id, "test")
}

async fn rename(iam: Iam, caller: Caller, name: String) -> iam_core::Result<()> {
    let patch = TenantPatch { name: Some(name), ..TenantPatch::default() };
    iam.tenants().update(&caller, caller.tenant(), patch).await.map(drop)
}

async fn waiting_for_a_lock(pool: &PgPool) -> i64 {
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'";
    sqlx::query_scalar(waiting).fetch_one(pool).await.unwrap()
}

/// An installation with two tenants, and connections to its database outside of the store.
async fn installation() -> (TestDatabase, Iam, [Caller; 2], PgPool) {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let mut settings = Settings::default();
    settings.hashing_cost = HashingCost { memory_kib: 64, passes: 1, lanes: 1 };
    let iam = Iam::builder(Arc::new(store)).settings(settings).build().await.unwrap();
    let tenants = [register(&iam, "ada@example.com").await, register(&iam, "bob@example.com").await];
    let pool = PgPool::connect(database.url()).await.unwrap();
    (database, iam, tenants, pool)
}

#[tokio::test]
async fn a_tenant_that_waits_for_its_own_lock_leaves_connections_to_the_others() {
    let (_database, iam, [busy, other], pool) = installation().await;
    let mut holding = pool.begin().await.unwrap();
    let lock = "SELECT FROM iam.tenants WHERE id = $1 FOR NO KEY UPDATE";
    sqlx::query(lock).bind(busy.tenant().as_uuid()).execute(&mut *holding).await.unwrap();
    let waiting: JoinSet<_> =
        (0..MANY).map(|number| rename(iam.clone(), busy.clone(), format!("Busy {number}"))).collect();
    while waiting_for_a_lock(&pool).await == 0 {
        tokio::task::yield_now().await;
    }
    rename(iam.clone(), other, "Other".to_owned()).await.unwrap();
    holding.rollback().await.unwrap();
    waiting.join_all().await.into_iter().for_each(Result::unwrap);
}

#[tokio::test]
async fn slow_reads_of_a_tenant_leave_half_of_the_connections_to_the_others() {
    let (_database, iam, [busy, other], pool) = installation().await;
    let mut holding = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE iam.roles IN ACCESS EXCLUSIVE MODE").execute(&mut *holding).await.unwrap();
    let read = |iam: Iam, caller: Caller| async move { iam.roles().by_name(&caller, TENANT_ADMIN).await.map(drop) };
    let waiting: JoinSet<_> = (0..MANY).map(|_| read(iam.clone(), busy.clone())).collect();
    while waiting_for_a_lock(&pool).await < HALF {
        tokio::task::yield_now().await;
    }
    iam.tenants().get(&other, other.tenant()).await.unwrap();
    assert_eq!(waiting_for_a_lock(&pool).await, HALF);
    holding.rollback().await.unwrap();
    waiting.join_all().await.into_iter().for_each(Result::unwrap);
}
