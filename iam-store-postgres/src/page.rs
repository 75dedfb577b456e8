//! Pages of lists.

use iam_core::StoreError;
use iam_core::page::{Page, PageRequest};
use sqlx::{Postgres, QueryBuilder};

/// How many rows come before the page. A page beyond what the database can count is empty like any past the end.
pub(crate) fn offset(page: PageRequest) -> i64 {
    i64::try_from(page.offset()).unwrap_or(i64::MAX)
}

pub(crate) fn push_page(query: &mut QueryBuilder<Postgres>, page: PageRequest) {
    query.push(" LIMIT ").push_bind(i64::from(page.limit()));
    query.push(" OFFSET ").push_bind(offset(page));
}

/// The page that these rows are.
pub(crate) fn page_of<T, R>(rows: Vec<R>, total: i64, request: PageRequest) -> Result<Page<T>, StoreError>
where
    T: TryFrom<R, Error = StoreError>,
{
    let items = rows.into_iter().map(T::try_from).collect::<Result<_, _>>()?;
    Ok(Page { items, total: total.unsigned_abs(), request })
}
