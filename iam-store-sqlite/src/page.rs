//! Pages of lists.
//!
//! A list is one statement, which counts all rows and reads the page, so that both see the same data:
//!
//! ```sql
//! WITH found AS (SELECT …id, … AS key FROM … WHERE …)
//! SELECT (SELECT count(*) FROM found) AS total, … FROM (…) p CROSS JOIN … ORDER BY p.key, p.id
//! ```
//!
//! The page `p` is cut from `found` before the rows themselves are read. So the rows before the page are skipped in
//! an index. If `found` is materialized, it is computed once for the count and the page.

use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::store_error::StoreError;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::error::store_error;

/// A row of a page, and how many rows the whole list has.
#[derive(FromRow)]
struct Counted<T> {
    total: i64,
    #[sqlx(flatten)]
    row: T,
}

/// Returns how many rows come before the page. If the database cannot count that far, the page is empty, like any
/// page past the end.
pub(crate) fn offset(page: PageRequest) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

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

/// Returns the sort direction. SQLite sorts NULL before all values. So users that never logged in come before all
/// logins, as they must.
pub(crate) fn direction(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Ascending => " ASC",
        SortOrder::Descending => " DESC",
    }
}

/// Makes a page of these rows. A stored total may be wrong, and even negative, if rows were changed without the
/// triggers. The page must be returned nevertheless.
pub(crate) fn page_of<R, T>(rows: Vec<R>, total: i64, request: PageRequest) -> Result<Page<T>, StoreError>
where
    T: TryFrom<R, Error = StoreError>,
{
    let items = rows.into_iter().map(T::try_from).collect::<Result<_, _>>()?;
    Ok(Page { items, total: total.try_into().unwrap_or_default(), request })
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
        let read = async |request: PageRequest| {
            let mut list = list(request);
            list.build_query_as::<Counted<R>>().fetch_all(&self.readers).await.map_err(store_error)
        };
        let rows = read(request).await?;
        let total = match rows.first() {
            // Without a row there is no total, so the first page is read for it.
            None if request.offset() > 0 => read(PageRequest::default()).await?.first().map_or(0, |row| row.total),
            first => first.map_or(0, |row| row.total),
        };
        page_of(rows.into_iter().map(|counted| counted.row).collect(), total, request)
    }
}
