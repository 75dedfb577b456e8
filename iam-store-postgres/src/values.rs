//! Statements that insert nothing but values.

use std::iter;

use iam_store_sql::source::Transaction;
use sqlx::query_builder::Separated;
use sqlx::{Postgres, QueryBuilder};

/// The values of a row that is inserted.
pub(crate) type Row<'r> = Separated<'r, Postgres, &'static str>;

/// How many rows one statement inserts: a statement has at most 65,535 parameters.
const INSERTED: usize = 1_000;

/// Statements for more rows than these are not kept prepared: each number of rows has its own, and together they would
/// push the others out of the cache.
pub(crate) const KEPT: usize = 16;

/// Returns the statements that insert rows. They have nothing but values, so Citus sends them to the shards of the
/// tenants as they are. The rows of a function such as `unnest` it would copy there, and report no code of an error.
/// `insert` is the statement up to its values.
pub(crate) fn inserts<T>(
    insert: &'static str,
    rows: Vec<T>,
    push: impl Fn(&mut Row<'_>, T),
) -> impl Iterator<Item = QueryBuilder<Postgres>> {
    let mut rows = rows.into_iter().peekable();
    iter::from_fn(move || {
        rows.peek()?;
        let mut query = QueryBuilder::new(insert);
        query.push_values(rows.by_ref().take(INSERTED), |mut values, row| push(&mut values, row));
        Some(query)
    })
}

/// Inserts rows; see [`inserts`].
pub(crate) async fn insert_values<T: Send>(
    transaction: &mut Transaction<Postgres>,
    insert: &'static str,
    rows: Vec<T>,
    push: impl Fn(&mut Row<'_>, T) + Send,
) -> sqlx::Result<()> {
    let is_kept = rows.len() <= KEPT;
    for mut query in inserts(insert, rows, push) {
        query.build().persistent(is_kept).execute(&mut *transaction).await?;
    }
    Ok(())
}
