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
//! an index.

use iam_model::page::{Page, PageRequest};
use iam_model::store_error::StoreError;
use sqlx::FromRow;

use crate::column::not_negative;

/// A row of a page, and how many rows the whole list has.
#[derive(Debug, FromRow)]
pub struct Counted<T> {
    /// How many rows the whole list has.
    pub total: i64,
    /// The row.
    #[sqlx(flatten)]
    pub row: T,
}

/// Returns how many rows come before the page. If the database cannot count that far, the page is empty, like any
/// page past the end.
#[must_use]
pub fn offset(page: PageRequest) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

/// Makes a page of these rows. A stored total may be wrong, and even negative, if rows were changed without the
/// triggers. The page must be returned nevertheless.
///
/// # Errors
///
/// [`StoreError::Corrupt`] when a row is not valid.
pub fn page_of<T, R>(rows: Vec<R>, total: i64, request: PageRequest) -> Result<Page<T>, StoreError>
where
    T: TryFrom<R, Error = StoreError>,
{
    let items = rows.into_iter().map(T::try_from).collect::<Result<_, _>>()?;
    Ok(Page { items, total: not_negative(total), request })
}

/// Reads a page. `read` executes the statement of the list for a page.
///
/// # Errors
///
/// Those of `read`; [`StoreError::Corrupt`] when a row is not valid.
pub async fn read_page<T, R, F>(request: PageRequest, read: impl Fn(PageRequest) -> F) -> Result<Page<T>, StoreError>
where
    T: TryFrom<R, Error = StoreError>,
    F: Future<Output = Result<Vec<Counted<R>>, StoreError>>,
{
    let rows = read(request).await?;
    let total = match rows.first() {
        // Without a row there is no total, so the first page is read for it.
        None if request.offset() > 0 => read(PageRequest::default()).await?.first().map_or(0, |row| row.total),
        first => first.map_or(0, |row| row.total),
    };
    page_of(rows.into_iter().map(|counted| counted.row).collect(), total, request)
}
