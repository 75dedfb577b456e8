//! The change feed: which commits of other programs it returns, and when a feed ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use iam_conformance::World;
use iam_conformance::feed::told;
use iam_core::session::SessionChange;
use iam_core::{ChangeFeed, Store as _, StoreError};
use iam_store_sqlite::SqliteStore;
use sqlx::Executor as _;
use sqlx::sqlite::SqlitePool;
use test_support::sqlite::TestFile;
use uuid::Uuid;

async fn migrated(file: &TestFile) -> SqliteStore {
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    store
}

async fn follow(store: &SqliteStore) -> Box<dyn ChangeFeed> {
    store.change_feed().await.unwrap().expect("SQLite has a change feed")
}

async fn expect_end(feed: &mut dyn ChangeFeed) {
    for _ in 0..2 {
        let ended = feed.next().await;
        assert!(matches!(ended, Err(StoreError::Unavailable(_))), "{ended:?}");
    }
}

/// Other programs need not know the feed: triggers record the changes of every statement.
#[tokio::test]
async fn statements_of_other_programs_reach_the_feed() {
    let file = TestFile::create();
    let store = migrated(&file).await;
    let mut feed = follow(&store).await;
    let world = World::new(Arc::new(migrated(&file).await));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    let role = world.role(&tenant, "BUYER", &["orders:read"]).await;
    world.give(&user, &role, None).await;
    let organization = world.organization(&tenant, "root").await;
    let session = world.new_session(&user);
    world.commit(tenant.id, SessionChange::Start(session.clone())).await;
    let (user, role, session) = (user.id.as_uuid(), role.id.as_uuid(), session.id.as_uuid());
    let tenant = tenant.id.as_uuid();
    assert_eq!(told(&mut *feed).await, BTreeSet::from([user, role]));
    let other = SqlitePool::connect(file.url()).await.unwrap();
    for (statement, expected) in [
        ("UPDATE users SET status = 'SUSPENDED'", Some(user)),
        ("UPDATE users SET status = 'SUSPENDED', last_login_at = 7", None),
        ("UPDATE organizations SET status = 'SUSPENDED'", Some(organization.id.as_uuid())),
        ("UPDATE organizations SET slug = 'other'", None),
        ("UPDATE roles SET scope = 'TENANT'", Some(role)),
        ("UPDATE role_permissions SET permission = '*'", Some(role)),
        ("DELETE FROM role_permissions", Some(role)),
        ("UPDATE role_assignments SET expires_at = 7", Some(user)),
        ("DELETE FROM role_assignments", Some(user)),
        ("DELETE FROM roles", Some(role)),
        ("UPDATE sessions SET expires_at = expires_at + 1", None),
        ("UPDATE sessions SET expires_at = 7", Some(session)),
        ("DELETE FROM sessions", Some(session)),
        ("DELETE FROM sessions", None),
        ("UPDATE tenants SET second_factor = 'REQUIRED', second_factor_required_at = 7", Some(tenant)),
        ("UPDATE tenants SET second_factor_grace_days = 0", Some(tenant)),
        ("UPDATE tenants SET second_factor_grace_days = 0, name = 'Other'", None),
        ("UPDATE tenants SET authzen_identifiers = 'NAME'", Some(tenant)),
        ("UPDATE tenants SET authzen_identifiers = 'NAME', name = 'Another'", None),
        ("UPDATE tenants SET user_attributes = '[{\"key\":\"a\",\"type\":\"STRING\"}]'", Some(tenant)),
        ("UPDATE tenants SET user_attributes = user_attributes, name = 'Other'", None),
        ("UPDATE tenants SET unregistered_attributes = 'REFUSED'", Some(tenant)),
        ("INSERT INTO factors SELECT tenant_id, id, id, 'totp', 'Phone', x'', NULL, 0, 7, NULL, NULL FROM users", None),
        ("UPDATE factors SET counter = 7, confirmed_at = NULL", None),
        ("UPDATE factors SET confirmed_at = 7", Some(user)),
        ("UPDATE factors SET counter = 8, confirmed_at = confirmed_at", None),
        ("DELETE FROM factors", Some(user)),
        (
            "INSERT INTO factors SELECT tenant_id, id, id, 'passkey', 'Key', x'', x'', 0, 7, 7, NULL FROM users",
            Some(user),
        ),
        (
            "INSERT INTO api_keys (tenant_id, id, user_id, name, secret_hash, expires_at, created_at) \
             SELECT tenant_id, id, id, 'Key', zeroblob(32), 7, 7 FROM users",
            None,
        ),
        ("UPDATE api_keys SET last_used_at = 7", None),
        ("UPDATE api_keys SET expires_at = 7", Some(user)),
        ("DELETE FROM api_keys", Some(user)),
    ] {
        other.execute(statement).await.unwrap();
        assert_eq!(told(&mut *feed).await, BTreeSet::from_iter(expected), "{statement}");
    }
}

const ADD_MANY: &str = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20000)
    INSERT INTO changes (changed) SELECT randomblob(16) FROM numbers";

/// The table does not grow without limit. A feed that reads too late ends, so that it does not miss changes unnoticed.
#[tokio::test]
async fn old_changes_are_removed_and_a_feed_that_missed_them_ends() {
    let file = TestFile::create();
    let store = migrated(&file).await;
    let other = SqlitePool::connect(file.url()).await.unwrap();
    let mut late = follow(&store).await;
    told(&mut *late).await;
    other.execute(ADD_MANY).await.unwrap();
    expect_end(&mut *late).await;
    let kept = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM changes").fetch_one(&other).await.unwrap();
    assert!((5_000..=6_000).contains(&kept), "{kept}");

    let mut feed = follow(&store).await;
    assert_eq!(told(&mut *feed).await, BTreeSet::new());
    let id = Uuid::now_v7();
    sqlx::query("INSERT INTO changes (changed) VALUES (?1)").bind(id).execute(&other).await.unwrap();
    assert_eq!(told(&mut *feed).await, BTreeSet::from([id]));
    other.execute("DELETE FROM changes").await.unwrap();
    expect_end(&mut *feed).await;
}

#[tokio::test]
async fn a_store_with_a_feed_closes_its_file() {
    let file = TestFile::create();
    let store = migrated(&file).await;
    let mut feed = follow(&store).await;
    told(&mut *feed).await;
    store.close().await;
    expect_end(&mut *feed).await;
    let names = std::fs::read_dir(file.path().parent().unwrap()).unwrap();
    assert_eq!(names.map(|entry| entry.unwrap().path()).collect::<Vec<_>>(), [file.path()]);
}

#[tokio::test]
async fn a_file_that_is_not_migrated_has_no_feed() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    assert!(store.change_feed().await.is_err());
}
