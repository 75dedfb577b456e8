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
mod sequence;
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

/// A store in one SQLite file. Clones share the connections.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    writer: Source,
    readers: Source,
    follower: Source,
}

impl SqliteStore {
    /// Opens the file that a `sqlite://PATH` URL names. Creates it if it is missing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the file cannot be opened, is not a database, or the URL asks for a database in
    /// memory; [`StoreError::Unavailable`] when another process keeps it locked.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let options = open::options(url)?;
        open::make_private(options.get_filename())?;
        // The writer first: the readers can neither create the database nor turn on its write-ahead log.
        let writer = open::writer(options.clone()).await?;
        let readers = open::readers(options.clone()).await?;
        Ok(Self { writer, readers, follower: open::follower(options) })
    }

    /// Brings the tables up to date: runs all missing migrations or none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when another process keeps the file locked; [`StoreError::Failed`] when a migration
    /// fails, or when the file has a migration that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // The driver has no lock that prevents two processes from migrating at the same time. This transaction does.
        let mut writer = self.writer.take().await.map_err(store_error)?;
        let mut transaction = writer.begin_with(BEGIN).await.map_err(store_error)?;
        // Not `run`: the compiler does not see that the future of `run` is `Send` when it borrows a connection.
        MIGRATOR.run_direct(None, &mut *transaction, false).await.map_err(|error| match error {
            MigrateError::Execute(cause) => store_error(cause),
            error => StoreError::Failed(error.into()),
        })?;
        // The search index removes replaced text at once, and not only when its parts are merged. This statement is not
        // in a migration, because an older SQLite must understand the migrations when queries are checked.
        sqlx::query("INSERT INTO user_search (user_search, rank) VALUES ('secure-delete', 1)")
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        transaction.commit().await.map_err(store_error)
    }

    /// Compares the schema of the file that a `sqlite://PATH` URL names with the migrations that this program knows.
    /// Creates no file and changes nothing in an existing one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when there is no such file, or it is not a database; [`StoreError::Unavailable`] when
    /// another process keeps it locked.
    pub async fn schema(url: &str) -> Result<Schema, StoreError> {
        let mut connection = open::existing(open::options(url)?).await?;
        let applied = applied(&mut connection).await?;
        // The connection that closes last removes the `-wal` and `-shm` files.
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

// These queries are not checked when the crate is compiled, because the table belongs to the migrator and is in
// no migration.
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
        // SQLite would answer `SELECT 1` without reading the file.
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
        // The writer last: the connection that closes last writes the write-ahead log back into the file, which a
        // reader cannot do.
        self.writer.close().await;
    }

    fn kind(&self) -> &'static str {
        "SQLite"
    }
}
