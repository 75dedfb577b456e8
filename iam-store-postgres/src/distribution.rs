//! Tables that Citus distributes over several nodes, by tenant.

use iam_model::store_error::StoreError;
use sqlx::Executor as _;

use crate::error::store_error;
use crate::store::PostgresStore;

/// Distributes the tables, and replaces the functions that would read or lock rows of several nodes.
const DISTRIBUTE: &str = include_str!("../distributed.sql");

impl PostgresStore {
    /// [Migrates](Self::migrate), and distributes the tables over the nodes of Citus, by tenant. The store must be
    /// connected to the coordinator, in a database with the extension `citus`, and the workers must be known there. Call
    /// it after each upgrade too: it distributes the tables of new migrations. No server may run meanwhile, and a new
    /// store must call it first.
    ///
    /// # Errors
    ///
    /// Those of [`migrate`](Self::migrate); [`StoreError::Failed`] when the database does not have Citus.
    pub async fn migrate_distributed(&self) -> Result<(), StoreError> {
        if !self.has_citus().await? {
            return Err(StoreError::Failed("the database does not have the extension citus".into()));
        }
        self.migrate().await?;
        let pool = self.sessions().pool();
        // The settings of the script end with its session.
        let mut connection = self.answer(pool.acquire()).await?.detach();
        connection.execute("SET statement_timeout = 0; SET lock_timeout = 0").await.map_err(store_error)?;
        connection.execute(DISTRIBUTE).await.map(drop).map_err(store_error)
    }

    pub(crate) async fn has_citus(&self) -> Result<bool, StoreError> {
        let has_citus =
            sqlx::query_scalar::<_, bool>("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')");
        self.answer(has_citus.fetch_one(&self.reads())).await
    }

    /// Whether the tables are distributed. Then each statement of a request must name one tenant, and insert nothing in a
    /// WITH clause.
    pub(crate) async fn is_distributed(&self) -> Result<bool, StoreError> {
        if let Some(known) = self.distributed.get() {
            return Ok(*known);
        }
        // One of the functions that only distributed tables have.
        let has_function =
            sqlx::query_scalar::<_, bool>("SELECT to_regprocedure('iam.unnamed_attempts(text)') IS NOT NULL");
        let found = self.answer(has_function.fetch_one(&self.reads())).await?;
        Ok(*self.distributed.get_or_init(|| found))
    }
}
