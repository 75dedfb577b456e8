//! Pages of lists.
//!
//! A list is one statement, which counts the whole and reads the page, so that both are of the same moment:
//!
//! ```sql
//! WITH found AS (SELECT …id, … AS key FROM … WHERE …)
//! SELECT (SELECT count(*) FROM found) AS total, … FROM (…) p CROSS JOIN … ORDER BY p.key, p.id
//! ```
//!
//! The page `p` is cut from what is found before the rows themselves are read, so that what comes before it is passed over
//! in an index. Where `found` is materialized, it is found once for the count and the page.

use iam_core::StoreError;
use iam_core::page::{Page, PageRequest, SortOrder};
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::error::store_error;

/// A row of a page, beside how many the whole list has.
#[derive(FromRow)]
struct Counted<T> {
    total: i64,
    #[sqlx(flatten)]
    row: T,
}

/// How many rows come before the page. A page beyond what the database can count is empty like any past the end.
pub(crate) fn offset(page: PageRequest) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

/// Adds the page of what is found.
pub(crate) fn push_page(query: &mut QueryBuilder<Sqlite>, direction: &'static str, page: PageRequest) {
    query.push(" FROM (SELECT f.id, f.key FROM found f ORDER BY f.key").push(direction).push(", f.id");
    push_limit(query, page.limit());
    query.push(" OFFSET ").push_bind(offset(page)).push(") p");
}

/// Adds how many rows are wanted. It is not bound: SQLite plans by what a limit is, and so prepares a statement anew for each
/// execution where that is a bare parameter (and not where it is a sum).
pub(crate) fn push_limit(query: &mut QueryBuilder<Sqlite>, limit: u32) {
    query.push(" LIMIT ").push(limit);
}

/// SQLite puts NULL before everything, as never is before every login.
pub(crate) fn direction(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Ascending => " ASC",
        SortOrder::Descending => " DESC",
    }
}

/// The page that these rows are. A total that is kept may be wrong, and even negative, where somebody has gone around the
/// triggers: nobody is to miss the page for that.
pub(crate) fn page_of<R, T>(rows: Vec<R>, total: i64, request: PageRequest) -> Result<Page<T>, StoreError>
where
    T: TryFrom<R, Error = StoreError>,
{
    let items = rows.into_iter().map(T::try_from).collect::<Result<_, _>>()?;
    Ok(Page { items, total: total.try_into().unwrap_or_default(), request })
}

impl SqliteStore {
    /// Reads a page by the statement for it.
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
            // No row tells how many there are before it.
            None if request.offset() > 0 => read(PageRequest::default()).await?.first().map_or(0, |row| row.total),
            first => first.map_or(0, |row| row.total),
        };
        page_of(rows.into_iter().map(|counted| counted.row).collect(), total, request)
    }
}
