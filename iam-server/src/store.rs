//! The store that the database URL names.

use std::sync::Arc;
use std::time::{Duration, Instant};

use iam_core::{Schema, Store, StoreError};
use iam_store_memory::MemoryStore;
use iam_store_postgres::PostgresStore;
use iam_store_sqlite::{AddressConflict, SqliteStore};
use tokio::time::sleep;

use crate::failure::Failure;
use crate::settings::Database;

/// How long a start waits for a process that has locked the database file. Each attempt takes some seconds more.
const LOCK_WAIT: Duration = Duration::from_secs(60);
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Opens the store and migrates it.
pub(crate) async fn open(database: &Database) -> Result<Arc<dyn Store>, Failure> {
    open_and_migrate(database).await.map_err(|error| Failure::new("opening the database", &error))
}

/// Compares the schema of the database with the migrations of this program. Changes nothing and creates no file.
pub(crate) async fn schema(database: &Database) -> Result<Schema, Failure> {
    let schema = match database {
        Database::Memory => Ok(Schema::UpToDate),
        Database::Sqlite(url) => SqliteStore::schema(url).await,
        Database::Postgres { url, direct_url, read_urls } => match connect(url, direct_url.as_deref(), read_urls).await
        {
            Ok(store) => store.schema().await,
            Err(error) => Err(error),
        },
    };
    schema.map_err(|error| Failure::new("opening the database", &error))
}

/// Migrates a database with Citus, and distributes its tables.
pub(crate) async fn distribute(database: &Database) -> Result<(), Failure> {
    let Database::Postgres { url, direct_url, read_urls } = database else {
        return Err(Failure("only the tables of a PostgreSQL database can be distributed".to_owned()));
    };
    let distributed = async { connect(url, direct_url.as_deref(), read_urls).await?.migrate_distributed().await };
    distributed.await.map_err(|error| Failure::new("distributing the tables", &error))
}

async fn open_and_migrate(database: &Database) -> Result<Arc<dyn Store>, StoreError> {
    match database {
        Database::Memory => Ok(Arc::new(MemoryStore::new())),
        Database::Sqlite(url) => {
            let store = when_unlocked(url).await?;
            report(&store.address_conflicts().await?);
            Ok(Arc::new(store))
        }
        Database::Postgres { url, direct_url, read_urls } => {
            let store = connect(url, direct_url.as_deref(), read_urls).await?;
            store.migrate().await?;
            report(&store.address_conflicts().await?);
            Ok(Arc::new(store))
        }
    }
}

/// Opens a SQLite file and migrates it. Waits while another process has locked it, for instance for a backup, so that a
/// start does not fail because of that. No command waits for ever.
async fn when_unlocked(url: &str) -> Result<SqliteStore, StoreError> {
    let begun = Instant::now();
    loop {
        let opened = async {
            let store = SqliteStore::open(url).await?;
            store.migrate().await?;
            Ok(store)
        };
        match opened.await {
            Err(StoreError::Unavailable(error)) if begun.elapsed() < LOCK_WAIT => {
                tracing::warn!(%error, "cannot use the database file yet: waiting until no other process has locked it");
                sleep(RETRY_AFTER).await;
            }
            opened => return opened,
        }
    }
}

/// Names the users that no login finds, because another account of their tenant keeps the same address.
fn report(conflicts: &[AddressConflict]) {
    for AddressConflict { tenant_id, user_id, holder_id } in conflicts {
        tracing::warn!(
            tenant = %tenant_id,
            user = %user_id,
            holder = %holder_id,
            "two users of a tenant have the same address, and only the holder can log in with it: \
             change the address of one of them"
        );
    }
}

async fn connect(url: &str, direct_url: Option<&str>, read_urls: &[String]) -> Result<PostgresStore, StoreError> {
    let store = match direct_url {
        Some(direct_url) => PostgresStore::connect_through_pooler(url, direct_url).await?,
        None => PostgresStore::connect(url).await?,
    };
    store.with_replicas(read_urls.iter().map(String::as_str))
}
