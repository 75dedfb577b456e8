//! The statements of lists, in the form of [`iam_store_sql::page`].
//!
//! If `found` is materialized, it is computed once. Otherwise the planner, which cannot know how few rows
//! match, might read everything in the order of the list to fill a page.
//!
//! If the caller's visible scope is some organizations, another statement finds these first.

use iam_model::page::{Page, PageRequest};
use iam_model::store_error::StoreError;
use iam_store_sql::page::{Counted, offset, read_page};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Postgres, QueryBuilder};

use crate::PostgresStore;

/// Adds the page that is cut from `found`.
pub(crate) fn push_page(query: &mut QueryBuilder<Postgres>, direction: &'static str, page: PageRequest) {
    query.push(" FROM (SELECT f.id, f.key FROM found f ORDER BY f.key").push(direction).push(", f.id");
    // Not a parameter: the planner would expect that the page has a tenth of all rows.
    query.push(" LIMIT ").push(page.limit());
    if page.offset() > 0 {
        query.push(" OFFSET ").push_bind(offset(page));
    }
    query.push(") p");
}

impl PostgresStore {
    /// Reads a page with the statement that `list` makes.
    ///
    /// If `is_steady`, a first page has the same plan for all values, and the prepared statement is cached. For other
    /// pages, the planner must see the values.
    pub(crate) async fn page<T, R>(
        &self,
        request: PageRequest,
        is_steady: bool,
        list: impl Fn(PageRequest) -> QueryBuilder<Postgres> + Sync,
    ) -> Result<Page<T>, StoreError>
    where
        T: TryFrom<R, Error = StoreError>,
        R: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        read_page(request, |request| {
            let mut list = list(request);
            async move {
                let rows = list.build_query_as::<Counted<R>>().persistent(is_steady && request.offset() == 0);
                self.answer(rows.fetch_all(&self.source())).await
            }
        })
        .await
    }
}
