//! The store that the database URL names.

use std::sync::Arc;

use iam_core::memory::MemoryStore;
use iam_core::{Store, StoreError};
use iam_store_postgres::PostgresStore;
use iam_store_sqlite::SqliteStore;

use crate::Failure;
use crate::settings::Database;

/// Opens the store and migrates it.
pub(crate) async fn open(database: &Database) -> Result<Arc<dyn Store>, Failure> {
    open_unnamed(database).await.map_err(|error| Failure::new("opening the database", &error))
}

async fn open_unnamed(database: &Database) -> Result<Arc<dyn Store>, StoreError> {
    match database {
        Database::Memory => Ok(Arc::new(MemoryStore::new())),
        Database::Sqlite(url) => {
            let store = SqliteStore::open(url).await?;
            store.migrate().await?;
            Ok(Arc::new(store))
        }
        Database::Postgres(url) => {
            let store = PostgresStore::connect(url).await?;
            store.migrate().await?;
            Ok(Arc::new(store))
        }
    }
}
