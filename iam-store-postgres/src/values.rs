//! Statements that insert nothing but values.

use iam_store_sql::source::Transaction;
use sqlx::query_builder::Separated;
use sqlx::{Postgres, QueryBuilder};

/// The values of a row that is inserted.
pub(crate) type Row<'r> = Separated<'r, Postgres, &'static str>;

/// How many rows one statement inserts: a statement has at most 65,535 parameters.
const INSERTED: usize = 1_000;

/// Inserts rows by statements that have nothing but values, which Citus sends to the shards of the tenants as they are. The
/// rows of a function such as `unnest` it would copy there, and report no code of an error. `insert` is the statement up to
/// its values.
pub(crate) async fn insert_values<T: Send>(
    transaction: &mut Transaction<Postgres>,
    insert: &'static str,
    rows: Vec<T>,
    push: impl Fn(&mut Row<'_>, T) + Send,
) -> sqlx::Result<()> {
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let mut query = QueryBuilder::new(insert);
        query.push_values(rows.by_ref().take(INSERTED), |mut values, row| push(&mut values, row));
        query.build().execute(&mut *transaction).await?;
    }
    Ok(())
}
