//! Migrating: again, at once, and after a failure.

use iam_core::Store as _;
use iam_store_sqlite::SqliteStore;
use sqlx::sqlite::SqlitePool;
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

#[tokio::test(flavor = "multi_thread")]
async fn processes_may_open_and_migrate_at_once() {
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
async fn a_migration_that_fails_leaves_nothing() {
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
