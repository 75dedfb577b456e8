use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::store::Store;
use crate::store_error::StoreError;

/// A transaction that the host program has begun in the database of a store. The host program can also run its own
/// statements in it. The `join` methods of the stores on PostgreSQL and SQLite return one.
#[async_trait]
pub trait HostTransaction: Send + Sync + 'static {
    /// Returns a store that runs every statement inside the transaction. Each of its units of work can be rolled back
    /// on its own.
    fn store(&self) -> Arc<dyn Store>;

    /// Commits everything or nothing. If the database would answer the commit with a silent rollback, this is an error.
    async fn commit(self) -> Result<(), StoreError>;
}
