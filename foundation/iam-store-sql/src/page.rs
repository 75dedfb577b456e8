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

/// Implements the method `page` of a store, which reads a page with the statement that `list` makes. If `is_steady`,
/// the first page has the same plan for all values.
#[macro_export]
macro_rules! list_pages {
    ($store:ident) => {
        impl $store {
            pub(crate) async fn page<T, R>(
                &self,
                request: iam_model::page::PageRequest,
                is_steady: bool,
                list: impl Fn(
                    iam_model::page::PageRequest,
                ) -> sqlx::QueryBuilder<<Self as $crate::store::SqlStore>::Database>
                + Sync,
            ) -> Result<iam_model::page::Page<T>, iam_model::store_error::StoreError>
            where
                T: TryFrom<R, Error = iam_model::store_error::StoreError>,
                R: for<'r> sqlx::FromRow<'r, <<Self as $crate::store::SqlStore>::Database as sqlx::Database>::Row>
                    + Send
                    + Unpin,
            {
                let is_kept = !<Self as $crate::store::SqlStore>::PLANS_BY_VALUE;
                let list = &list;
                $crate::page::read_page(request, |request| {
                    self.list(move |source| {
                        let mut list = list(request);
                        async move {
                            let rows = list.build_query_as::<$crate::page::Counted<R>>();
                            let rows = rows.persistent(is_kept || (is_steady && request.offset() == 0));
                            rows.fetch_all(&source).await
                        }
                    })
                })
                .await
            }
        }
    };
}
