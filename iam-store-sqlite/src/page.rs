//! The statements of lists, in the form of [`iam_store_sql::page`].
//!
//! If `found` is materialized, it is computed once for the count and the page.

use iam_model::page::{Page, PageRequest};
use iam_model::store_error::StoreError;
use iam_store_sql::page::{Counted, offset, read_page};
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::error::store_error;

/// Adds the page that is cut from `found`.
pub(crate) fn push_page(query: &mut QueryBuilder<Sqlite>, direction: &'static str, page: PageRequest) {
    query.push(" FROM (SELECT f.id, f.key FROM found f ORDER BY f.key").push(direction).push(", f.id");
    push_limit(query, page.limit());
    query.push(" OFFSET ").push_bind(offset(page)).push(") p");
}

/// Adds the limit, not as a parameter: the plan of SQLite depends on the value of a limit. So if the limit is a bare
/// parameter, SQLite prepares the statement again for each execution (but not if it is a sum with a parameter).
pub(crate) fn push_limit(query: &mut QueryBuilder<Sqlite>, limit: u32) {
    query.push(" LIMIT ").push(limit);
}

impl SqliteStore {
    /// Reads a page with the statement that `list` makes.
    pub(crate) async fn page<T, R>(
        &self,
        request: PageRequest,
        list: impl Fn(PageRequest) -> QueryBuilder<Sqlite> + Sync,
    ) -> Result<Page<T>, StoreError>
    where
        T: TryFrom<R, Error = StoreError>,
        R: for<'r> FromRow<'r, SqliteRow> + Send + Unpin,
    {
        read_page(request, |request| {
            let mut list = list(request);
            async move { list.build_query_as::<Counted<R>>().fetch_all(&self.readers).await.map_err(store_error) }
        })
        .await
    }
}
