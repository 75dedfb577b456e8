//! The change feed: which commits send notifications, and when a feed ends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_conformance::World;
use iam_conformance::feed::told;
use iam_core::session::SessionChange;
use iam_core::{ChangeFeed, Store as _, StoreError};
use iam_store_postgres::PostgresStore;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
use test_support::postgres::TestDatabase;
use test_support::proxy::{Fault, Proxy};
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::pool::occupy;

/// The time limit of each step of a test.
const PATIENCE: Duration = Duration::from_secs(30);

async fn migrated(url: &str) -> PostgresStore {
    let store = PostgresStore::connect(url).await.unwrap();
    store.migrate().await.unwrap();
    store
}

/// Opens a feed and waits until it receives notifications.
async fn follow(store: &PostgresStore) -> Box<dyn ChangeFeed> {
    let mut feed = store.change_feed().await.unwrap().expect("PostgreSQL has a change feed");
    told(&mut *feed).await;
    feed
}

/// Checks that a feed ends and stays ended. Returns the last moment at which it was complete.
async fn expect_end(feed: &mut dyn ChangeFeed) -> Option<Instant> {
    let mut complete_at = None;
    let ending = async {
        loop {
            match feed.next().await {
                Ok(notification) => complete_at = notification.complete_at.max(complete_at),
                Err(error) => break error,
            }
        }
    };
    let error = timeout(PATIENCE, ending).await.expect("the feed ends");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(timeout(PATIENCE, feed.next()).await.unwrap().is_err());
    complete_at
}

/// Waits until the database has this many connections in addition to `asks`.
pub(crate) async fn expect_connections(asks: &mut PgConnection, expected: i64) {
    let count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let counting = async {
        while sqlx::query_scalar::<_, i64>(count).fetch_one(&mut *asks).await.unwrap() != expected {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, counting).await.unwrap_or_else(|_| panic!("never {expected} connections"));
}

/// Other programs need not know the feed: the database notifies of the changes of every statement.
#[tokio::test]
async fn statements_of_other_programs_send_notifications() {
    let database = TestDatabase::create().await;
    let world = World::new(Arc::new(migrated(database.url()).await));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    world.give(&user, &role, None).await;
    let organization = world.organization(&tenant, "root").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    let (user, role, session) = (user.id.as_uuid(), role.id.as_uuid(), session.id.as_uuid());
    let tenant = tenant.id.as_uuid();
    let mut feed = follow(&migrated(database.url()).await).await;
    let other = PgPool::connect(database.url()).await.unwrap();
    for (statement, expected) in [
        ("UPDATE iam.users SET status = 'SUSPENDED'", Some(user)),
        ("UPDATE iam.users SET status = 'SUSPENDED', last_login_at = now()", None),
        ("UPDATE iam.organizations SET status = 'SUSPENDED'", Some(organization.id.as_uuid())),
        ("UPDATE iam.organizations SET slug = 'other'", None),
        ("UPDATE iam.roles SET scope = 'TENANT'", Some(role)),
        ("UPDATE iam.role_permissions SET permission = '*'", Some(role)),
        ("DELETE FROM iam.role_permissions", Some(role)),
        ("UPDATE iam.role_assignments SET expires_at = now()", Some(user)),
        ("DELETE FROM iam.role_assignments", Some(user)),
        ("DELETE FROM iam.roles", Some(role)),
        ("UPDATE iam.sessions SET expires_at = expires_at + interval '1 day'", None),
        ("UPDATE iam.sessions SET expires_at = expires_at - interval '2 days'", Some(session)),
        ("DELETE FROM iam.sessions", Some(session)),
        ("DELETE FROM iam.sessions", None),
        ("UPDATE iam.tenants SET second_factor = 'REQUIRED', second_factor_required_at = now()", Some(tenant)),
        ("UPDATE iam.tenants SET second_factor_grace_days = 0", Some(tenant)),
        ("UPDATE iam.tenants SET second_factor_grace_days = 0, name = 'Other'", None),
        ("UPDATE iam.tenants SET authzen_identifiers = 'NAME'", Some(tenant)),
        ("UPDATE iam.tenants SET authzen_identifiers = 'NAME', name = 'Another'", None),
        ("UPDATE iam.tenants SET user_attributes = '[{\"key\":\"a\",\"type\":\"STRING\"}]'", Some(tenant)),
        ("UPDATE iam.tenants SET user_attributes = user_attributes, name = 'Other'", None),
        ("UPDATE iam.tenants SET unregistered_attributes = 'REFUSED'", Some(tenant)),
        (
            "INSERT INTO iam.factors SELECT tenant_id, id, id, 'totp', 'Phone', '', NULL, 0, now(), NULL, NULL \
             FROM iam.users",
            None,
        ),
        ("UPDATE iam.factors SET counter = 7, confirmed_at = NULL", None),
        ("UPDATE iam.factors SET confirmed_at = now()", Some(user)),
        ("UPDATE iam.factors SET counter = 8, confirmed_at = confirmed_at", None),
        ("DELETE FROM iam.factors", Some(user)),
        (
            "INSERT INTO iam.factors SELECT tenant_id, id, id, 'passkey', 'Key', '', '', 0, now(), now(), NULL \
             FROM iam.users",
            Some(user),
        ),
        (
            "INSERT INTO iam.api_keys (tenant_id, id, user_id, name, secret_hash, expires_at, created_at) \
             SELECT tenant_id, id, id, 'Key', sha256(uuid_send(id)), now(), now() FROM iam.users",
            None,
        ),
        ("UPDATE iam.api_keys SET last_used_at = now()", None),
        ("UPDATE iam.api_keys SET expires_at = now()", Some(user)),
        ("DELETE FROM iam.api_keys", Some(user)),
    ] {
        other.execute(statement).await.unwrap();
        assert_eq!(told(&mut *feed).await, BTreeSet::from_iter(expected), "{statement}");
    }
}

/// TRUNCATE does not show which rows are deleted.
#[tokio::test]
async fn a_truncated_table_ends_the_feed() {
    let database = TestDatabase::create().await;
    let store = migrated(database.url()).await;
    for table in
        ["sessions", "role_assignments", "role_permissions", "factors", "api_keys", "users CASCADE", "tenants CASCADE"]
    {
        let mut feed = follow(&store).await;
        database.pool().execute(AssertSqlSafe(format!("TRUNCATE iam.{table}"))).await.unwrap();
        expect_end(&mut *feed).await;
    }
}

#[tokio::test]
async fn unknown_payloads_on_the_channel_are_ignored() {
    let database = TestDatabase::create().await;
    let store = migrated(database.url()).await;
    let mut feed = follow(&store).await;
    let id = Uuid::now_v7();
    for payload in ["", "hello", "everything and more", &"x".repeat(7_999), &id.to_string()] {
        let notify = sqlx::query("SELECT pg_notify('iam_changes', $1)").bind(payload);
        notify.execute(&database.pool()).await.unwrap();
    }
    assert_eq!(told(&mut *feed).await, BTreeSet::from([id]));
}

/// Notifications that are sent while a connection is lost would be missed.
#[tokio::test]
async fn a_feed_ends_when_either_of_its_connections_is_lost() {
    let database = TestDatabase::create().await;
    let store = migrated(database.url()).await;
    for statement in ["LISTEN%", "SELECT pg_notify%"] {
        let mut feed = follow(&store).await;
        let terminate = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE $1";
        let terminate = sqlx::query_scalar::<_, i64>(terminate).bind(statement);
        assert_eq!(terminate.fetch_one(&database.pool()).await.unwrap(), 1, "{statement}");
        expect_end(&mut *feed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_ends_when_the_network_becomes_silent() {
    let database = TestDatabase::create().await;
    migrated(database.url()).await.close().await;
    for fault in [Fault::Silent, Fault::Severed] {
        let proxy = Proxy::before(database.url());
        let store = PostgresStore::connect(&proxy.url(database.url())).await.unwrap();
        let mut feed = follow(&store).await;
        proxy.set(fault);
        let silent_since = Instant::now();
        let complete_at = expect_end(&mut *feed).await;
        assert!(complete_at.is_none_or(|moment| moment <= silent_since), "{fault:?}");
    }
}

/// Behind a pooler that shares connections between clients, a listener receives nothing and gets no error. In this
/// test, a function that replaces the one of the database has the same effect.
#[tokio::test]
async fn a_feed_whose_heartbeats_do_not_come_back_is_never_complete_and_ends() {
    let database = TestDatabase::create().await;
    migrated(database.url()).await;
    let nothing = "CREATE FUNCTION public.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''";
    database.pool().execute(nothing).await.unwrap();
    let prefer_it = "DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database());
    END $$";
    database.pool().execute(prefer_it).await.unwrap();
    let store = database.store().await;
    let mut feed = store.change_feed().await.unwrap().unwrap();
    assert_eq!(expect_end(&mut *feed).await, None);
}

/// A feed does not need the pool: requests may use every connection of the store.
#[tokio::test]
async fn a_feed_goes_on_while_the_pool_is_exhausted() {
    let database = TestDatabase::create().await;
    let store = migrated(database.url()).await;
    let mut feed = follow(&store).await;
    let _busy = occupy(&store).await;
    told(&mut *feed).await;
}

/// The listening connection sends nothing as long as nothing changes.
#[tokio::test]
async fn a_feed_outlives_the_idle_session_timeout() {
    let database = TestDatabase::create().await;
    migrated(database.url()).await;
    let end_idle_sessions = "DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET idle_session_timeout = 1000', current_database());
    END $$";
    database.pool().execute(end_idle_sessions).await.unwrap();
    let store = database.store().await;
    let mut feed = follow(&store).await;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        feed.next().await.expect("the feed continues");
    }
}

#[tokio::test]
async fn a_dropped_feed_leaves_no_connection_behind() {
    let database = TestDatabase::create().await;
    migrated(database.url()).await.close().await;
    // A pool whose number of connections does not change.
    let pool = PgPoolOptions::new().max_connections(1).connect(database.url()).await.unwrap();
    let store = PostgresStore::from_pool(pool);
    let mut asks = PgConnection::connect(database.url()).await.unwrap();
    expect_connections(&mut asks, 1).await;
    let feed = follow(&store).await;
    expect_connections(&mut asks, 3).await;
    drop(feed);
    expect_connections(&mut asks, 1).await;
}

#[tokio::test]
async fn closing_a_store_ends_its_feed_without_waiting_for_it() {
    let database = TestDatabase::create().await;
    let store = migrated(database.url()).await;
    let mut asks = PgConnection::connect(database.url()).await.unwrap();
    let mut feed = follow(&store).await;
    timeout(PATIENCE, store.close()).await.expect("closing does not wait for the feed");
    expect_end(&mut *feed).await;
    drop(feed);
    expect_connections(&mut asks, 0).await;
}

/// Without the triggers, a silent feed would not mean that nothing changes.
#[tokio::test]
async fn a_database_that_is_not_migrated_has_no_feed() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    assert!(store.change_feed().await.is_err());
}
