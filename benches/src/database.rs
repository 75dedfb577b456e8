//! A new database for a run.

use std::env;
use std::str::FromStr as _;
use std::sync::Arc;

use iam_core::Store;
use iam_store_postgres::PostgresStore;
use iam_store_sqlite::SqliteStore;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};
use test_support::postgres::TestDatabase;
use test_support::sqlite::TestFile;

use crate::Outcome;

/// A database that is removed when this is dropped.
pub enum Database {
    /// A file.
    Sqlite(TestFile),
    /// A database on the server that `IAM_TEST_POSTGRES_URL` names.
    Postgres(Box<TestDatabase>),
}

/// One connection for bare queries, with the same durability as the connections of the store.
#[derive(Clone)]
pub enum Bare {
    /// To SQLite.
    Sqlite(SqlitePool),
    /// To PostgreSQL.
    Postgres(PgPool),
}

/// Opens the store on the database of a URL, and migrates it.
///
/// # Errors
///
/// Errors of the store.
pub async fn store(url: &str) -> Outcome<Arc<dyn Store>> {
    if url.starts_with("sqlite:") {
        let store = SqliteStore::open(url).await?;
        store.migrate().await?;
        return Ok(Arc::new(store));
    }
    let store = PostgresStore::connect(url).await?;
    store.migrate().await?;
    Ok(Arc::new(store))
}

/// The databases that the arguments of a bench name, all of them if it names none.
pub fn selected() -> impl Iterator<Item = &'static str> {
    const KINDS: [&str; 2] = ["PostgreSQL", "SQLite"];
    let is_named = |kind: &str| env::args().any(|argument| argument == kind);
    let is_any_named = KINDS.into_iter().any(is_named);
    KINDS.into_iter().filter(move |kind| is_named(kind) || !is_any_named)
}

/// Removes the indexes of a table that only find rows, so that it is filled quickly. Returns the statements that make
/// them again.
///
/// # Errors
///
/// Errors of the database.
pub async fn drop_indexes(connection: &mut PgConnection, table: &str) -> Outcome<Vec<String>> {
    let indexes = sqlx::query_as(
        "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid)
        FROM pg_index i
        WHERE i.indrelid = $1::text::regclass AND NOT i.indisunique",
    );
    let indexes: Vec<(String, String)> = indexes.bind(table).fetch_all(&mut *connection).await?;
    for (name, _) in &indexes {
        connection.execute(AssertSqlSafe(format!("DROP INDEX {name}"))).await?;
    }
    Ok(indexes.into_iter().map(|(_, definition)| definition).collect())
}

impl Database {
    /// A new database of one of the [`selected`] kinds.
    ///
    /// # Errors
    ///
    /// Those of [`postgres`](Self::postgres).
    pub async fn of(kind: &str) -> Outcome<Self> {
        Ok(if kind == "SQLite" { Self::sqlite() } else { Self::postgres().await? })
    }

    /// A file that does not exist yet.
    #[must_use]
    pub fn sqlite() -> Self {
        Self::Sqlite(TestFile::create())
    }

    /// An empty database.
    ///
    /// # Errors
    ///
    /// When `IAM_TEST_POSTGRES_URL` is not set.
    pub async fn postgres() -> Outcome<Self> {
        if env::var_os("IAM_TEST_POSTGRES_URL").is_none() {
            return Err("there is no PostgreSQL: docs/performance.md says how to start one".into());
        }
        Ok(Self::Postgres(Box::new(TestDatabase::create().await)))
    }

    /// The URL of the database.
    #[must_use]
    pub fn url(&self) -> &str {
        match self {
            Self::Sqlite(file) => file.url(),
            Self::Postgres(database) => database.url(),
        }
    }

    /// Opens the store on this database, and migrates it.
    ///
    /// # Errors
    ///
    /// Errors of the store.
    pub async fn store(&self) -> Outcome<Arc<dyn Store>> {
        store(self.url()).await
    }

    /// Opens a connection in addition to those of the store. The store must have migrated the database before.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub async fn bare(&self) -> Outcome<Bare> {
        Ok(match self {
            Self::Sqlite(file) => {
                let options = SqliteConnectOptions::from_str(file.url())?.foreign_keys(true);
                let options = options.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
                let pool = SqlitePoolOptions::new().max_connections(1).test_before_acquire(false);
                Bare::Sqlite(pool.connect_with(options).await?)
            }
            Self::Postgres(database) => {
                let pool = PgPoolOptions::new().max_connections(1).test_before_acquire(false);
                Bare::Postgres(pool.connect(database.url()).await?)
            }
        })
    }

    /// Vacuums and analyses a PostgreSQL database. Otherwise PostgreSQL would do so itself a minute later, in the
    /// middle of a measurement.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub async fn vacuum(&self) -> Outcome {
        if let Self::Postgres(database) = self {
            let mut connection = PgConnection::connect(database.url()).await?;
            connection.execute("VACUUM ANALYZE").await?;
            connection.close().await?;
        }
        Ok(())
    }

    /// The name, version and durability settings of the database.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub async fn description(&self) -> Outcome<String> {
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
