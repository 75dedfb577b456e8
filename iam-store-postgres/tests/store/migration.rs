//! Migrations: repeated, concurrent, and after a failure.

use std::sync::Arc;
use std::time::Duration;

use iam_conformance::World;
use iam_core::session::SessionChange;
use iam_core::{Schema, Store as _};
use iam_store_postgres::PostgresStore;
use sqlx::AssertSqlSafe;
use sqlx::postgres::PgPool;
use test_support::keys::Earlier;
use test_support::postgres::TestDatabase;
use test_support::reserved::Former;

#[tokio::test]
async fn a_store_is_migrated_once_all_migrations_have_run() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    assert!(!store.is_migrated().await.unwrap());
    store.migrate().await.unwrap();
    assert!(store.is_migrated().await.unwrap());
    store.migrate().await.unwrap();

    sqlx::query("UPDATE iam._migrations SET checksum = ''").execute(&database.pool()).await.unwrap();
    assert!(!store.is_migrated().await.unwrap());
    assert!(store.migrate().await.is_err());
}

#[tokio::test]
async fn schema_reports_missing_and_unknown_migrations_and_changes_nothing() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    assert_eq!(store.schema().await.unwrap(), Schema::Behind);
    let schemas = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM pg_namespace WHERE nspname = 'iam'");
    assert_eq!(schemas.fetch_one(&database.pool()).await.unwrap(), 0);
    store.migrate().await.unwrap();
    assert_eq!(store.schema().await.unwrap(), Schema::UpToDate);
    let newer = "INSERT INTO iam._migrations SELECT 9999, description, installed_on, success, checksum, execution_time \
                 FROM iam._migrations WHERE version = 1";
    sqlx::query(newer).execute(&database.pool()).await.unwrap();
    assert_eq!(store.schema().await.unwrap(), Schema::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_may_migrate_at_the_same_time() {
    let database = TestDatabase::create().await;
    let mut replicas = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let url = database.url().to_owned();
        replicas.spawn(async move { PostgresStore::connect(&url).await.unwrap().migrate().await });
    }
    for outcome in replicas.join_all().await {
        outcome.unwrap();
    }
}

#[tokio::test]
async fn a_failed_migration_releases_its_lock() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    for statement in ["CREATE SCHEMA iam", "CREATE TABLE iam.tenants ()"] {
        sqlx::query(statement).execute(&database.pool()).await.unwrap();
    }
    store.migrate().await.unwrap_err();
    sqlx::query("DROP TABLE iam.tenants").execute(&database.pool()).await.unwrap();
    let other = database.store().await;
    tokio::time::timeout(Duration::from_secs(5), other.migrate()).await.expect("no session holds the lock").unwrap();
}

/// Replicas are upgraded one by one, and the previous release does not write these columns.
#[tokio::test]
async fn a_session_of_the_release_without_factors_was_authenticated_by_a_password_when_it_began() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store));
    let tenant = world.tenant("acme").await;
    let user = world.user(&tenant, "ada@example.com").await;
    world.commit(tenant.id, SessionChange::Start(world.new_session(&user))).await;
    let columns = "user_id, created_at, last_used_at, expires_at, refresh_tag_key, refresh_current";
    let insert = format!(
        "INSERT INTO iam.sessions (tenant_id, id, {columns}) SELECT tenant_id, gen_random_uuid(), {columns} FROM iam.sessions"
    );
    world.tick();
    sqlx::query(AssertSqlSafe(insert)).execute(&database.pool()).await.unwrap();
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
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let world = World::new(Arc::new(store));
    let tenant = world.tenant("acme").await;
    world.user(&tenant, "ada@example.com").await;
    let other = database.pool();
    let begin = async || {
        let begin = "INSERT INTO iam.sessions (tenant_id, id, user_id, created_at, last_used_at, expires_at, \
                     refresh_tag_key, refresh_current) \
                     SELECT tenant_id, gen_random_uuid(), id, now(), now(), now(), '', '' FROM iam.users";
        sqlx::query(begin).execute(&other).await
    };
    begin().await.unwrap();
    let set_up = "INSERT INTO iam.factors SELECT tenant_id, id, id, 'totp', 'Phone', '', NULL, 0, now(), NULL, NULL \
                  FROM iam.users";
    sqlx::query(set_up).execute(&other).await.unwrap();
    begin().await.unwrap();
    sqlx::query("UPDATE iam.factors SET confirmed_at = now()").execute(&other).await.unwrap();
    let refused = begin().await.unwrap_err().to_string();
    assert!(refused.contains("the user has a second factor"), "{refused}");
    sqlx::query("DELETE FROM iam.factors").execute(&other).await.unwrap();
    begin().await.unwrap();
}

#[tokio::test]
async fn the_keys_of_the_previous_release_are_made_again() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let (world, other) = (World::new(Arc::new(store.clone())), database.pool());
    let earlier = Earlier {
        world: &world,
        schema: "iam.",
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
    let database = TestDatabase::create().await;
    let store = database.store().await;
    let (world, other) = (World::new(Arc::new(store.clone())), database.pool());
    let mut former = sqlx::migrate!();
    former.migrations = former.migrations.iter().filter(|migration| migration.version <= 23).cloned().collect();
    former.run(&other).await.unwrap();
    permissions(&world, &store, &other).permissions_of_applications_are_renamed().await;
}

#[tokio::test]
async fn rights_of_the_service_stay_when_names_are_reserved() {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    let (world, other) = (World::new(Arc::new(store.clone())), database.pool());
    let guard = ["ALTER TABLE iam.permissions DROP CONSTRAINT permissions_reserved_check"];
    permissions(&world, &store, &other).rights_of_the_service_stay(&guard).await;
}

fn permissions<'a>(
    world: &'a World,
    store: &'a PostgresStore,
    other: &'a PgPool,
) -> Former<'a, impl AsyncFn(String) -> Result<(), String>, impl AsyncFn()> {
    Former {
        world,
        schema: "iam.",
        execute: async move |statement: String| {
            let executed = sqlx::query(AssertSqlSafe(statement)).execute(other).await;
            executed.map(drop).map_err(|error| error.to_string())
        },
        migrate: async move || store.migrate().await.unwrap(),
    }
}
