//! The migrations of the file.

use iam_model::store::Schema;
use iam_model::store_error::StoreError;
use iam_store_sql::migration::{Applied, is_complete, migrate_error, schema};
use iam_store_sql::reserved::BuiltInSince;
use sqlx::Connection as _;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnection;

use crate::error::store_error;
use crate::open::{self, BEGIN};
use crate::store::SqliteStore;

pub(crate) static MIGRATOR: Migrator = sqlx::migrate!();

impl SqliteStore {
    /// Brings the tables up to date: runs all missing migrations or none.
    ///
    /// Where two addresses of a tenant become one by a migration, [`address_conflicts`](Self::address_conflicts) names
    /// both users. Where an application had registered a permission whose name is reserved, the log names the new name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when another process keeps the file locked; [`StoreError::Failed`] when a migration
    /// fails, or when the file has a migration that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        // The driver has no lock that prevents two processes from migrating at the same time. This transaction does.
        let mut writer = self.writer.acquire().await.map_err(store_error)?;
        let mut transaction = writer.begin_with(BEGIN).await.map_err(store_error)?;
        let before = applied(&mut transaction).await?;
        let is_behind = !is_complete(&MIGRATOR, &before);
        // Not `run`: the compiler does not see that the future of `run` is `Send` when it borrows a connection.
        MIGRATOR.run_direct(None, &mut *transaction, false).await.map_err(|error| migrate_error(error, store_error))?;
        // The search index removes replaced text at once, and not only when its parts are merged. This statement is not
        // in a migration, because an older SQLite must understand the migrations when queries are checked.
        sqlx::query("INSERT INTO user_search (user_search, rank) VALUES ('secure-delete', 1)")
            .execute(&mut *transaction)
            .await
            .map_err(store_error)?;
        if is_behind {
            Self::move_counts(&mut transaction).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        writer.give_back();
        self.rename_reserved(&BuiltInSince::of(&before)).await?;
        self.make_keys().await
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
        Ok(schema(&MIGRATOR, &applied))
    }
}

// These queries are not checked when the crate is compiled, because the table belongs to the migrator and is in
// no migration.
pub(crate) async fn applied(connection: &mut SqliteConnection) -> Result<Vec<Applied>, StoreError> {
    let exists = "SELECT count(*) = 1 FROM sqlite_schema WHERE name = '_iam_migrations'";
    if !sqlx::query_scalar::<_, bool>(exists).fetch_one(&mut *connection).await.map_err(store_error)? {
        return Ok(Vec::new());
    }
    // The moment is stored in seconds.
    let applied = sqlx::query_as(
        "SELECT version, checksum, (unixepoch(installed_on) + 1) * 1000 AS installed_at
        FROM _iam_migrations
        WHERE success",
    );
    applied.fetch_all(connection).await.map_err(store_error)
}
