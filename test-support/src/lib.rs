//! Stores for tests. Each store is empty, and is removed after the test.
//!
//! ```
//! # fn takes(_: std::sync::Arc<dyn iam_core::Store>) {}
//! # async fn example() {
//! for test in test_support::stores().await {
//!     takes(test.store()); // failure messages name the store by `test.name()`
//! }
//! # }
//! ```

#![expect(clippy::expect_used, clippy::panic, clippy::missing_panics_doc, reason = "a test fails by panicking")]

pub mod cases;
pub mod host;
pub mod identity_provider;
pub mod keys;
pub mod postgres;
pub mod proxy;
pub mod redis;
pub mod reserved;
pub mod reused;
pub mod sqlite;

use std::sync::Arc;

use iam_core::Store;
use iam_store_memory::MemoryStore;
use iam_store_sqlite::SqliteStore;

use reused::ReusedStore;
use sqlite::TestFile;

/// Whether tests of random events go on for long: with `IAM_TEST_LONG=on`, as each night.
#[must_use]
pub fn is_long_run() -> bool {
    std::env::var("IAM_TEST_LONG").is_ok_and(|value| value == "on")
}

/// Returns how often a test repeats a random event: a fifth of the number for a change, and all of it in a long run.
#[must_use]
pub fn repetitions(long_run: usize) -> usize {
    if is_long_run() { long_run } else { long_run.div_ceil(5) }
}

/// An empty, migrated store. Its file or database is removed when this is dropped.
pub struct TestStore {
    store: Arc<dyn Store>,
    /// The file or the database, which is removed on drop.
    _resource: Box<dyn Send + Sync>,
}

impl TestStore {
    /// A store in memory.
    #[must_use]
    pub fn memory() -> Self {
        Self { store: Arc::new(MemoryStore::new()), _resource: Box::new(()) }
    }

    /// A store in a temporary SQLite file.
    pub async fn sqlite() -> Self {
        let file = TestFile::migrated().await;
        let store = SqliteStore::open(file.url()).await.expect("the file opens");
        Self { store: Arc::new(store), _resource: Box::new(file) }
    }

    /// A store in a PostgreSQL database that no other test uses at the same time. Only for tests that [`reused::run`]
    /// runs.
    pub async fn postgres() -> Self {
        let reused = ReusedStore::take(async |database| database.store().await).await;
        Self { store: reused.store(), _resource: Box::new(reused) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// The kind of the store.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.store.kind()
    }
}

/// One store of each kind.
pub async fn stores() -> Vec<TestStore> {
    vec![TestStore::memory(), TestStore::sqlite().await, TestStore::postgres().await]
}
