//! The new database that a run works on.

use std::env;
use std::sync::Arc;

use iam_benches::Outcome;
use iam_core::Store;
use iam_store_postgres::PostgresStore;
use iam_store_sqlite::SqliteStore;
use sqlx::{Connection as _, Executor as _, PgConnection, SqliteConnection};
use test_support::postgres::TestDatabase;
use test_support::sqlite::TestFile;

/// A database that goes when this is dropped.
pub(crate) enum Database {
    Sqlite(TestFile),
    Postgres(Box<TestDatabase>),
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(TestFile::create())
    }

    pub(crate) async fn postgres() -> Outcome<Self> {
        if env::var_os("IAM_TEST_POSTGRES_URL").is_none() {
            return Err("there is no PostgreSQL: run scripts/bench-load postgres".into());
        }
        Ok(Self::Postgres(Box::new(TestDatabase::create().await)))
    }

    pub(crate) fn url(&self) -> &str {
        match self {
            Self::Sqlite(file) => file.url(),
            Self::Postgres(database) => database.url(),
        }
    }

    /// The store on it, which the server has migrated.
    pub(crate) async fn store(&self) -> Outcome<Arc<dyn Store>> {
        Ok(match self {
            Self::Sqlite(file) => Arc::new(SqliteStore::open(file.url()).await?),
            Self::Postgres(database) => Arc::new(PostgresStore::connect(database.url()).await?),
        })
    }

    /// Does now what PostgreSQL would do by itself a minute later, in the middle of a measurement.
    pub(crate) async fn settle(&self) -> Outcome {
        if let Self::Postgres(database) = self {
            let mut connection = PgConnection::connect(database.url()).await?;
            connection.execute("VACUUM ANALYZE").await?;
            connection.close().await?;
        }
        Ok(())
    }

    /// Which database it is, and how durable.
    pub(crate) async fn description(&self) -> Outcome<String> {
        match self {
            Self::Sqlite(_) => {
                let mut connection = SqliteConnection::connect("sqlite::memory:").await?;
                let version: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(&mut connection).await?;
                Ok(format!("SQLite {version}, WAL, synchronous = FULL"))
            }
            Self::Postgres(database) => {
                let mut connection = PgConnection::connect(database.url()).await?;
                let version: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut connection).await?;
                let fsync: String = sqlx::query_scalar("SHOW fsync").fetch_one(&mut connection).await?;
                Ok(format!("PostgreSQL {version}, fsync = {fsync}"))
            }
        }
    }
}
