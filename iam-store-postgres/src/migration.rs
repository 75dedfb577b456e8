//! The migrations of the schema `iam`.

use iam_model::store::Schema;
use iam_model::store_error::StoreError;
use iam_store_sql::migration::{Applied, migrate_error, schema};
use iam_store_sql::reserved::BuiltInSince;
use sqlx::Executor as _;
use sqlx::migrate::Migrator;

use crate::error::store_error;
use crate::store::PostgresStore;

pub(crate) static MIGRATOR: Migrator = sqlx::migrate!();

impl PostgresStore {
    /// Brings the schema `iam` up to date, and [prepares](iam_model::store::Store::prepare) for the next months. A role
    /// that may not change the schema can call this too, if the schema is already up to date.
    ///
    /// Replicas may call this at the same time: with an advisory lock of the database, they migrate one after the
    /// other.
    ///
    /// Where two addresses of a tenant become one by a migration, [`address_conflicts`](Self::address_conflicts) names
    /// both users. Where an application had registered a permission whose name is reserved, the log names the new name.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the database does not answer; [`StoreError::Failed`] when a migration fails,
    /// or when the database has one that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let applied = self.applied().await?;
        if schema(&MIGRATOR, &applied) != Schema::UpToDate {
            self.run_migrations().await?;
            self.move_counts().await?;
        }
        self.rename_reserved(&BuiltInSince::of(&applied)).await?;
        self.make_keys().await?;
        let now = sqlx::query_scalar!(r#"SELECT now() AS "now!""#);
        self.make_months(self.answer(now.fetch_one(&self.reads())).await?).await
    }

    /// Compares the schema `iam` with the migrations that this program knows. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the database does not answer.
    pub async fn schema(&self) -> Result<Schema, StoreError> {
        Ok(schema(&MIGRATOR, &self.applied().await?))
    }

    async fn run_migrations(&self) -> Result<(), StoreError> {
        let pool = self.sessions().pool();
        // When a migration fails, the session keeps the lock. Closing the connection releases it.
        let mut connection = self.answer(pool.acquire()).await?.detach();
        // A migration has no time limit, and waits until other replicas have finished theirs.
        connection.execute("SET statement_timeout = 0; SET lock_timeout = 0").await.map_err(store_error)?;
        if self.has_citus().await? {
            // A later migration can add triggers to tables that are distributed already.
            connection.execute("SET citus.enable_unsafe_triggers = on").await.map_err(store_error)?;
        }
        // Not `run`: the compiler does not see that the future of `run` is `Send` when it borrows a connection.
        MIGRATOR.run_direct(None, &mut connection, false).await.map_err(|error| migrate_error(error, store_error))
    }

    // These queries are not checked when the crate is compiled, because the table belongs to the migrator and is in
    // no migration.
    pub(crate) async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        let exists = sqlx::query_scalar::<_, bool>("SELECT to_regclass('iam._migrations') IS NOT NULL");
        if !self.answer(exists.fetch_one(&self.reads())).await? {
            return Ok(Vec::new());
        }
        let applied = sqlx::query_as(
            "SELECT version, checksum, ceil(extract(epoch FROM installed_on) * 1000)::bigint AS installed_at
            FROM iam._migrations
            WHERE success",
        );
        self.answer(applied.fetch_all(&self.reads())).await
    }
}
