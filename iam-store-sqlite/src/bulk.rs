//! Statements that write many rows.

use iam_model::store_error::StoreError;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::error::store_error;

/// The maximum number of rows that one statement writes.
pub(crate) const CHUNK: usize = 50;

/// Executes a statement for `rows` rows. Returns how many it has written.
pub(crate) async fn execute(
    query: &mut QueryBuilder<Sqlite>,
    rows: usize,
    connection: &mut SqliteConnection,
) -> Result<u64, StoreError> {
    // The statements for one row and for a full chunk are executed often, so they are cached. The others would push
    // them out of the cache.
    let query = query.build().persistent(rows == 1 || rows == CHUNK);
    Ok(query.execute(connection).await.map_err(store_error)?.rows_affected())
}
