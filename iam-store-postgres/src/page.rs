//! Pages of lists.
//!
//! A list is one statement, which counts all rows and reads the page, so that both see the same data:
//!
//! ```sql
//! WITH found AS (SELECT …id, … AS key FROM … WHERE …)
//! SELECT (SELECT count(*) FROM found) AS total, … FROM (…) p JOIN … ORDER BY p.key, p.id
//! ```
//!
//! The page `p` is cut from `found` before the rows themselves are read. So the rows before the page are skipped in
//! an index. If `found` is materialized, it is computed once. Otherwise the planner, which cannot know how few rows
//! match, might read everything in the order of the list to fill a page.
//!
//! If the caller's visible scope is some organizations, another statement finds these first.

use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::store_error::StoreError;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Postgres, QueryBuilder};

use crate::PostgresStore;

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

/// Makes a page of these rows. A stored total may be wrong, and even negative, if rows were changed without the
/// triggers. The page must be returned nevertheless.
pub(crate) fn page_of<T, R>(rows: Vec<R>, total: i64, request: PageRequest) -> Result<Page<T>, StoreError>
where
    T: TryFrom<R, Error = StoreError>,
{
    let items = rows.into_iter().map(T::try_from).collect::<Result<_, _>>()?;
    Ok(Page { items, total: total.try_into().unwrap_or_default(), request })
}

pub(crate) fn direction(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Ascending => " ASC",
        SortOrder::Descending => " DESC",
    }
}

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
        let read = async |request: PageRequest| {
            let mut list = list(request);
            let rows = list.build_query_as::<Counted<R>>().persistent(is_steady && request.offset() == 0);
            self.answer(rows.fetch_all(&self.source())).await
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
