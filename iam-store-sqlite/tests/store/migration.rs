//! Migrations: repeated, concurrent, and after a failure.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::session::SessionChange;
use iam_core::{Schema, Store as _, StoreError};
use iam_store_sqlite::SqliteStore;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqlitePool;
use test_support::keys::Earlier;
use test_support::reserved::Former;
use test_support::sqlite::TestFile;

#[tokio::test]
async fn a_store_is_migrated_once_all_migrations_have_run() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    assert!(!store.is_migrated().await.unwrap());
    store.migrate().await.unwrap();
    assert!(store.is_migrated().await.unwrap());
    store.migrate().await.unwrap();

    let other = SqlitePool::connect(file.url()).await.unwrap();
    sqlx::query("UPDATE _iam_migrations SET checksum = x''").execute(&other).await.unwrap();
    assert!(!store.is_migrated().await.unwrap());
    assert!(store.migrate().await.is_err());
}

#[tokio::test]
async fn schema_reports_missing_and_unknown_migrations_and_changes_nothing() {
    let file = TestFile::create();
    let schema = async || SqliteStore::schema(file.url()).await;
    assert!(matches!(schema().await, Err(StoreError::Failed(_))));
    assert!(!file.path().exists());
    std::fs::write(file.path(), "").unwrap();
    assert_eq!(schema().await.unwrap(), Schema::Behind);
    assert_eq!(std::fs::metadata(file.path()).unwrap().len(), 0);

    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    assert_eq!(schema().await.unwrap(), Schema::UpToDate, "beside a running program");
    store.close().await;
    let before = std::fs::read(file.path()).unwrap();
    assert_eq!(schema().await.unwrap(), Schema::UpToDate);
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
    assert_eq!(std::fs::read_dir(file.path().parent().unwrap()).unwrap().count(), 1);

    let other = SqlitePool::connect(file.url()).await.unwrap();
    let newer = "INSERT INTO _iam_migrations SELECT 9999, description, installed_on, success, checksum, execution_time \
                 FROM _iam_migrations WHERE version = 1";
    sqlx::query(newer).execute(&other).await.unwrap();
    assert_eq!(schema().await.unwrap(), Schema::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_may_open_and_migrate_at_the_same_time() {
    for _ in 0..5 {
        let file = TestFile::create();
        let mut processes = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let url = file.url().to_owned();
            processes.spawn(async move { SqliteStore::open(&url).await.unwrap().migrate().await });
        }
        for outcome in processes.join_all().await {
            outcome.unwrap();
        }
    }
}

#[tokio::test]
async fn a_failed_migration_leaves_nothing() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    let other = SqlitePool::connect(file.url()).await.unwrap();
    sqlx::query("CREATE TABLE roles (id)").execute(&other).await.unwrap();
    store.migrate().await.unwrap_err();
    let tables: Vec<String> = sqlx::query_scalar("SELECT name FROM sqlite_schema").fetch_all(&other).await.unwrap();
    assert_eq!(tables, ["roles"]);
    sqlx::query("DROP TABLE roles").execute(&other).await.unwrap();
    store.migrate().await.unwrap();
}

/// Replicas are upgraded one by one, and the previous release does not write these columns.
#[tokio::test]
async fn a_session_of_the_release_without_factors_was_authenticated_by_a_password_when_it_began() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.commit(tenant.id, SessionChange::Start(world.new_session(&user))).await;
    let columns = "user_id, created_at, last_used_at, expires_at, refresh_tag_key, refresh_current";
    let insert = format!(
        "INSERT INTO sessions (tenant_id, id, {columns}) SELECT tenant_id, randomblob(16), {columns} FROM sessions"
    );
    world.tick();
    sqlx::query(AssertSqlSafe(insert)).execute(&SqlitePool::connect(file.url()).await.unwrap()).await.unwrap();
    let sessions = world.store.sessions_of(tenant.id, user.id).await.unwrap();
    assert_eq!(sessions.len(), 2);
    for session in sessions {
        assert_eq!(session.methods.to_string(), "password");
        assert_eq!(session.authenticated_at, session.created_at);
    }
}

/// A server of the previous release does not ask for a second factor. It writes no `authenticated_at`.
#[tokio::test]
async fn the_previous_release_begins_no_session_of_a_user_with_a_factor() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store));
    let tenant = world.tenant("acme").await;
    world.user(&tenant, "ada@example.com").await;
    let other = SqlitePool::connect(file.url()).await.unwrap();
    let begin = async || {
        let begin = "INSERT INTO sessions (tenant_id, id, user_id, created_at, last_used_at, expires_at, \
                     refresh_tag_key, refresh_current) \
                     SELECT tenant_id, randomblob(16), id, 0, 0, 0, x'', x'' FROM users";
        sqlx::query(begin).execute(&other).await
    };
    begin().await.unwrap();
    let set_up =
        "INSERT INTO factors SELECT tenant_id, id, id, 'totp', 'Phone', x'', NULL, 0, 7, NULL, NULL FROM users";
    sqlx::query(set_up).execute(&other).await.unwrap();
    begin().await.unwrap();
    sqlx::query("UPDATE factors SET confirmed_at = 7").execute(&other).await.unwrap();
    let refused = begin().await.unwrap_err().to_string();
    assert!(refused.contains("the user has a second factor"), "{refused}");
    sqlx::query("DELETE FROM factors").execute(&other).await.unwrap();
    begin().await.unwrap();
}

#[tokio::test]
async fn the_keys_of_the_previous_release_are_made_again() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let (world, other) = (World::new(Arc::new(store.clone())), SqlitePool::connect(file.url()).await.unwrap());
    let earlier = Earlier {
        world: &world,
        schema: "",
        execute: async |statement: String| {
            sqlx::query(AssertSqlSafe(statement)).execute(&other).await.unwrap();
        },
        migrate: async || store.migrate().await.unwrap(),
        conflicts: async || {
            let conflicts = store.address_conflicts().await.unwrap();
            conflicts.into_iter().map(|conflict| (conflict.user_id, conflict.holder_id)).collect()
        },
    };
    earlier.keys_are_made_again().await;
}

/// The release with the migrations up to 0023 had none of the resources whose names are reserved.
#[tokio::test]
async fn permissions_of_applications_with_reserved_names_are_renamed() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    let (world, other) = (World::new(Arc::new(store.clone())), SqlitePool::connect(file.url()).await.unwrap());
    let mut former = sqlx::migrate!();
    former.migrations = former.migrations.iter().filter(|migration| migration.version <= 23).cloned().collect();
    former.run(&other).await.unwrap();
    permissions(&world, &store, &other).permissions_of_applications_are_renamed().await;
}

#[tokio::test]
async fn rights_of_the_service_stay_when_names_are_reserved() {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let (world, other) = (World::new(Arc::new(store.clone())), SqlitePool::connect(file.url()).await.unwrap());
    let guards = ["DROP TRIGGER permissions_reserved_insert", "DROP TRIGGER permissions_reserved_update"];
    permissions(&world, &store, &other).rights_of_the_service_stay(&guards).await;
}

fn permissions<'a>(
    world: &'a World,
    store: &'a SqliteStore,
    other: &'a SqlitePool,
) -> Former<'a, impl AsyncFn(String) -> Result<(), String>, impl AsyncFn()> {
    Former {
        world,
        schema: "",
        execute: async move |statement: String| {
            let executed = sqlx::query(AssertSqlSafe(statement)).execute(other).await;
            executed.map(drop).map_err(|error| error.to_string())
        },
        migrate: async move || store.migrate().await.unwrap(),
    }
}
