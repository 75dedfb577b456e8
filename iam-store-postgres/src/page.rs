//! Pages of lists.
//!
//! A list is one statement, which counts the whole and reads the page, so that both are of the same moment:
//!
//! ```sql
//! WITH found AS (SELECT …id, … AS key FROM … WHERE …)
//! SELECT (SELECT count(*) FROM found) AS total, … FROM (…) p JOIN … ORDER BY p.key, p.id
//! ```
//!
//! The page `p` is cut from what is found before the rows themselves are read, so that what comes before it is passed over
//! in an index. Where `found` is materialized, it is found once and for all: the planner cannot know how few it will be, and
//! must not go through everything in the order of the list to fill a page.
//!
//! Where only some organizations are within the caller's reach, these are found by a statement before it.

use iam_core::StoreError;
use iam_core::page::{Page, PageRequest, SortOrder};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Postgres, QueryBuilder};

use crate::PostgresStore;

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

/// The page that these rows are. A total that is kept may be wrong, and even negative, where somebody has gone around the
/// triggers: nobody is to miss the page for that.
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

/// Adds the page of what is found.
pub(crate) fn push_page(query: &mut QueryBuilder<Postgres>, direction: &'static str, page: PageRequest) {
    query.push(" FROM (SELECT f.id, f.key FROM found f ORDER BY f.key").push(direction).push(", f.id");
    // Not bound: the planner would expect a tenth of everything.
    query.push(" LIMIT ").push(page.limit());
    if page.offset() > 0 {
        query.push(" OFFSET ").push_bind(offset(page));
    }
    query.push(") p");
}

impl PostgresStore {
    /// Reads a page by the statement for it.
    ///
    /// Where `is_steady`, a first page has the same plan whatever is asked for, and that is kept. Of others the planner must
    /// see the values.
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
            // No row tells how many there are before it.
            None if request.offset() > 0 => read(PageRequest::default()).await?.first().map_or(0, |row| row.total),
            first => first.map_or(0, |row| row.total),
        };
        page_of(rows.into_iter().map(|counted| counted.row).collect(), total, request)
    }
}
