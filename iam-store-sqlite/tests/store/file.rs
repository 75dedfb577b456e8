//! The file: how it is opened, shared and closed.

use std::sync::Arc;

use iam_conformance::World;
use iam_core::tenant::Directory as _;
use iam_core::{Store, StoreError, TenantId};
use iam_store_sqlite::SqliteStore;
use sqlx::Connection as _;
use sqlx::sqlite::SqliteConnection;
use test_support::sqlite::TestFile;

async fn migrated(file: &TestFile) -> SqliteStore {
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    store
}

#[tokio::test]
async fn data_survives_reopening_and_is_in_one_file() {
    let file = TestFile::create();
    let store = migrated(&file).await;
    let tenant = World::new(Arc::new(store.clone())).tenant("acme").await;
    store.close().await;
    let names = std::fs::read_dir(file.path().parent().unwrap()).unwrap();
    assert_eq!(names.map(|entry| entry.unwrap().path()).collect::<Vec<_>>(), [file.path()]);

    let store = SqliteStore::open(file.url()).await.unwrap();
    assert!(store.is_migrated().await.unwrap());
    assert_eq!(store.tenant_by_slug(&tenant.slug).await.unwrap(), Some(tenant));
}

#[cfg(unix)]
#[tokio::test]
async fn the_files_are_readable_to_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let file = TestFile::create();
    let entries = || std::fs::read_dir(file.path().parent().unwrap()).unwrap().map(Result::unwrap);
    let modes = || entries().map(|entry| entry.metadata().unwrap().permissions().mode() & 0o777).collect::<Vec<_>>();
    let store = migrated(&file).await;
    assert_eq!(modes(), [0o600; 3], "the database, its log, and the log's index");

    // As if the files were copied, or created by a program with another umask.
    for entry in entries() {
        std::fs::set_permissions(entry.path(), std::fs::Permissions::from_mode(0o664)).unwrap();
    }
    let _again = SqliteStore::open(file.url()).await.unwrap();
    assert_eq!(modes(), [0o600; 3], "repaired at open");
    drop(store);
}

#[tokio::test]
async fn urls_and_files_without_a_database_are_refused() {
    for url in
        ["sqlite::memory:", "sqlite://:memory:", "sqlite://iam.db?mode=memory", "sqlite://", "sqlite:///no/such/iam.db"]
    {
        let refused = SqliteStore::open(url).await;
        assert!(matches!(refused, Err(StoreError::Failed(_))), "{url}: {refused:?}");
    }
    let file = TestFile::create();
    std::fs::write(file.path(), "no database, but a text that is long enough to be taken for one".repeat(100)).unwrap();
    let refused = SqliteStore::open(file.url()).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
}

/// Two programs that use one file, for instance the server and a command beside it.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_can_write_to_one_file() {
    let file = TestFile::create();
    let first = Arc::new(World::new(Arc::new(migrated(&file).await)));
    let second = Arc::new(World::new(Arc::new(migrated(&file).await)));
    let tenant = first.tenant("acme").await;
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..20 {
        for (name, world) in [("first", &first), ("second", &second)] {
            let (world, tenant) = (Arc::clone(world), tenant.clone());
            writers.spawn(async move { world.user(&tenant, &format!("{name}{number}@example.com")).await });
        }
    }
    assert_eq!(writers.join_all().await.len(), 40);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_another_process_keeps_locked_is_unavailable() {
    let file = TestFile::create();
    let store = migrated(&file).await;
    let mut other = SqliteConnection::connect(file.url()).await.unwrap();
    let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    let refused = store.begin(TenantId::NONE).await;
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{:?}", refused.err());
    // Readers do not wait for a writer.
    store.ping().await.unwrap();
    lock.rollback().await.unwrap();
    assert!(store.begin(TenantId::NONE).await.is_ok());
}

#[tokio::test]
async fn a_closed_store_is_unavailable() {
    let file = TestFile::create();
    let store = migrated(&file).await;
    store.close().await;
    let (reading, writing) = (store.ping().await, store.begin(TenantId::NONE).await);
    assert!(matches!(reading, Err(StoreError::Unavailable(_))), "{reading:?}");
    assert!(matches!(writing, Err(StoreError::Unavailable(_))), "{:?}", writing.err());
}
