//! The databases of the stores.

use futures_util::future::BoxFuture;
use sqlx::{Database, Executor};

/// A database whose connections execute statements: every database of sqlx.
pub trait SqlDatabase: Database {
    /// Executes statements without parameters.
    fn execute<'c>(
        connection: &'c mut Self::Connection,
        statements: &'static str,
    ) -> BoxFuture<'c, sqlx::Result<Self::QueryResult>>;
}

impl<DB: Database> SqlDatabase for DB
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    fn execute<'c>(
        connection: &'c mut Self::Connection,
        statements: &'static str,
    ) -> BoxFuture<'c, sqlx::Result<Self::QueryResult>> {
        Executor::execute(connection, statements)
    }
}
