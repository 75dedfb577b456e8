#![doc = include_str!("../README.md")]

mod assignment;
mod audit;
mod bulk;
mod column;
mod connections;
mod credential;
mod error;
mod feed;
mod host;
mod idempotency;
mod maintenance;
mod open;
mod organization;
mod page;
mod permission;
mod plan;
mod role;
mod seal;
mod session;
mod source;
mod tenant;
mod token;
mod transaction;
mod user;

use async_trait::async_trait;
use iam_core::{ChangeFeed, Schema, Store, StoreError, TenantId, Transaction};
use sqlx::migrate::{MigrateError, Migration, Migrator};
use sqlx::sqlite::SqliteConnection;
use sqlx::{Connection as _, FromRow};

use connections::BEGIN;
use error::store_error;
use feed::SqliteFeed;
use source::Source;
use transaction::SqliteTransaction;

pub use host::{HostConnection, HostTransaction};

static MIGRATOR: Migrator = sqlx::migrate!();

/// Keeps everything in one SQLite file; clones share the connections.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: Source,
    readers: Source,
    follower: Source,
}

impl SqliteStore {
    /// Opens the file that a `sqlite://PATH` URL names, making it when it is missing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the file cannot be opened, is no database, or the URL asks for a database in
    /// memory; [`StoreError::Unavailable`] when another process keeps it locked.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let options = open::options(url)?;
        open::make_private(options.get_filename())?;
        // The writer first: only it may make the file and turn on its write-ahead log.
        let writer = open::writer(options.clone()).await?;
        let readers = open::readers(options.clone()).await?;
        Ok(Self { writer, readers, follower: open::follower(options) })
    }

    /// Brings the tables up to date, all migrations or none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when another process keeps the file locked; [`StoreError::Failed`] when a migration
    /// fails, or when the file has one that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // The driver has no lock of its own that would keep two processes from migrating at once.
        let mut writer = self.writer.take().await.map_err(store_error)?;
        let mut transaction = writer.begin_with(BEGIN).await.map_err(store_error)?;
        // Not `run`: the compiler does not see that its future is `Send` when it borrows a connection.
        MIGRATOR.run_direct(None, &mut *transaction, false).await.map_err(|error| match error {
            MigrateError::Execute(cause) => store_error(cause),
            error => StoreError::Failed(error.into()),
        })?;
        // What is replaced in the search index goes at once, and not when its parts are merged. Not in the migration, which an
        // older SQLite must understand when queries are checked.
        sqlx::query("INSERT INTO user_search (user_search, rank) VALUES ('secure-delete', 1)")
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)
    }

    /// How the schema of the file that a `sqlite://PATH` URL names stands to the migrations that this program knows.
    /// Makes no file and changes nothing in one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when there is no such file, or it is no database; [`StoreError::Unavailable`] when another
    /// process keeps it locked.
    pub async fn schema(url: &str) -> Result<Schema, StoreError> {
        let mut connection = open::existing(open::options(url)?).await?;
        let applied = applied(&mut connection).await?;
        // Whoever closes last takes away the files beside it.
        connection.close().await.map_err(store_error)?;
        let are_known = applied.iter().all(|applied| MIGRATOR.iter().any(|known| applied.is(known)));
        Ok(Schema::of(are_known, are_complete(&applied)))
    }
}

/// A migration that has run.
#[derive(FromRow)]
struct Applied {
    version: i64,
    checksum: Vec<u8>,
}

impl Applied {
    fn is(&self, known: &Migration) -> bool {
        self.version == known.version && *self.checksum == *known.checksum
    }
}

// Unchecked queries, because the table is the migrator's own and not part of any migration.
async fn applied(connection: &mut SqliteConnection) -> Result<Vec<Applied>, StoreError> {
    let exists = "SELECT count(*) = 1 FROM sqlite_schema WHERE name = '_iam_migrations'";
    if !sqlx::query_scalar::<_, bool>(exists).fetch_one(&mut *connection).await.map_err(store_error)? {
        return Ok(Vec::new());
    }
    let applied = sqlx::query_as("SELECT version, checksum FROM _iam_migrations WHERE success");
    applied.fetch_all(connection).await.map_err(store_error)
}

/// Whether every migration that this program knows has run.
fn are_complete(applied: &[Applied]) -> bool {
    MIGRATOR.iter().all(|known| applied.iter().any(|applied| applied.is(known)))
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let begun = self.writer.begin().await.map_err(store_error)?;
        Ok(Box::new(SqliteTransaction::new(tenant, begun, self.writer.clone())))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        // A constant would be answered without a look at the file.
        sqlx::query("SELECT count(*) FROM sqlite_schema").execute(&self.readers).await.map_err(store_error)?;
        Ok(())
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        let mut connection = self.readers.take().await.map_err(store_error)?;
        let applied = applied(&mut connection).await?;
        connection.keep();
        Ok(are_complete(&applied))
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        Ok(Some(Box::new(SqliteFeed::open(self.follower.clone()).await?)))
    }

    async fn close(&self) {
        self.readers.close().await;
        self.follower.close().await;
        // Whoever closes last folds the write-ahead log into the file, which a reader may not.
        self.writer.close().await;
    }

    fn kind(&self) -> &'static str {
        "SQLite"
    }
}
