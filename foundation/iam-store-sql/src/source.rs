//! Where statements are executed: each on a connection of a pool, or all of them in one host transaction.

use std::fmt::{self, Debug, Formatter};
use std::ops::{Deref, DerefMut};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _, TryFutureExt as _, TryStreamExt as _};
use sqlx::error::BoxDynError;
use sqlx::{Database, Describe, Either, Execute, Executor, SqlStr};
use uuid::Uuid;

use crate::database::SqlDatabase;
use crate::host::{HostConnection, Savepoint, SharedTransaction};
use crate::pool::{Pool, PooledConnection};

/// Executes statements like a pool of the driver.
pub enum Source<DB: SqlDatabase> {
    /// Each statement on a connection of the pool.
    Pool(Pool<DB>),
    /// All statements in one host transaction.
    Host(SharedTransaction<DB>),
}

impl<DB: SqlDatabase> Source<DB> {
    /// Returns the same source for the work of a tenant; see [`Pool::of_tenant`]. A host transaction has its own
    /// connection.
    #[must_use]
    pub fn of_tenant(&self, tenant: Uuid) -> Self {
        match self {
            Self::Pool(pool) => Self::Pool(pool.of_tenant(tenant)),
            Self::Host(shared) => Self::Host(shared.clone()),
        }
    }

    /// Returns a connection that works, as far as can be known.
    ///
    /// # Errors
    ///
    /// When no connection is free in time, the database refuses, the pool is closed, or the host transaction is over.
    pub async fn acquire(&self) -> sqlx::Result<Acquired<DB>> {
        Ok(match self {
            Self::Pool(pool) => Acquired::Pool(pool.acquire().await?),
            Self::Host(shared) => Acquired::Host(shared.take().await?),
        })
    }

    /// Begins a transaction. In a host transaction, sets a savepoint instead.
    ///
    /// # Errors
    ///
    /// Those of [`acquire`](Self::acquire).
    pub async fn begin(&self) -> sqlx::Result<Transaction<DB>> {
        Ok(match self {
            Self::Pool(pool) => Transaction::Pool(pool.begin().await?),
            Self::Host(shared) => Transaction::Host(shared.begin().await?),
        })
    }

    /// Begins the transaction of a unit of work. At the same time, units of work use at most three quarters of the
    /// connections.
    ///
    /// # Errors
    ///
    /// Those of [`acquire`](Self::acquire).
    pub async fn begin_unit_of_work(&self) -> sqlx::Result<Transaction<DB>> {
        match self {
            Self::Pool(pool) => pool.begin_unit_of_work().await.map(Transaction::Pool),
            Self::Host(_) => self.begin().await,
        }
    }

    /// Whether each transaction may have another session of the database.
    fn has_session_per_transaction(&self) -> bool {
        matches!(self, Self::Pool(pool) if pool.has_session_per_transaction())
    }

    /// Waits until no connection of the pool is in use, and closes all of them. Leaves a host transaction as it is.
    pub async fn close(&self) {
        if let Self::Pool(pool) = self {
            pool.close().await;
        }
    }
}

impl<DB: SqlDatabase> Clone for Source<DB> {
    fn clone(&self) -> Self {
        match self {
            Self::Pool(pool) => Self::Pool(pool.clone()),
            Self::Host(shared) => Self::Host(shared.clone()),
        }
    }
}

impl<DB: SqlDatabase> Debug for Source<DB> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pool(pool) => pool.fmt(formatter),
            Self::Host(shared) => shared.fmt(formatter),
        }
    }
}

/// A connection in use. [`give_back`](Self::give_back) returns it after a use without an error. Dropping it means that
/// its last statement was cancelled or has failed.
pub enum Acquired<DB: SqlDatabase> {
    /// A connection of the pool.
    Pool(PooledConnection<DB>),
    /// The connection of the host transaction.
    Host(HostConnection<DB>),
}

impl<DB: SqlDatabase> Acquired<DB> {
    /// Returns the connection after a use without an error.
    pub fn give_back(self) {
        if let Self::Pool(connection) = self {
            connection.give_back();
        }
    }
}

impl<DB: SqlDatabase> Deref for Acquired<DB> {
    type Target = DB::Connection;

    fn deref(&self) -> &DB::Connection {
        match self {
            Self::Pool(connection) => connection,
            Self::Host(connection) => connection,
        }
    }
}

impl<DB: SqlDatabase> DerefMut for Acquired<DB> {
    fn deref_mut(&mut self) -> &mut DB::Connection {
        match self {
            Self::Pool(connection) => connection,
            Self::Host(connection) => connection,
        }
    }
}

impl<'s, DB: Database> Executor<'s> for &'s Source<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    type Database = DB;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Either<DB::QueryResult, DB::Row>>>
    where
        's: 'e,
        E: 'q + Execute<'q, DB>,
    {
        let answer = async move {
            let answer: Vec<_> = if self.has_session_per_transaction() {
                let mut transaction = self.begin().await?;
                let answer = transaction.fetch_many(query).try_collect().await?;
                transaction.commit().await?;
                answer
            } else {
                let mut connection = self.acquire().await?;
                let answer = connection.fetch_many(query).try_collect().await?;
                connection.give_back();
                answer
            };
            Ok(stream::iter(answer).map(Ok))
        };
        answer.try_flatten_stream().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<DB::Row>>>
    where
        's: 'e,
        E: 'q + Execute<'q, DB>,
    {
        let answer = async move {
            if self.has_session_per_transaction() {
                let mut transaction = self.begin().await?;
                let row = transaction.fetch_optional(query).await?;
                transaction.commit().await?;
                return Ok(row);
            }
            let mut connection = self.acquire().await?;
            let row = connection.fetch_optional(query).await?;
            connection.give_back();
            Ok(row)
        };
        answer.boxed()
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [DB::TypeInfo]) -> BoxFuture<'e, sqlx::Result<DB::Statement>>
    where
        's: 'e,
    {
        async move { self.acquire().await?.prepare_with(sql, parameters).await }.boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, sqlx::Result<Describe<DB>>>
    where
        's: 'e,
    {
        async move { self.acquire().await?.describe(sql).await }.boxed()
    }
}

/// A transaction, or a savepoint in a host transaction. Dropping it rolls back.
pub enum Transaction<DB: SqlDatabase> {
    /// A transaction on a connection of the pool.
    Pool(PooledConnection<DB>),
    /// A savepoint.
    Host(Savepoint<DB>),
}

impl<DB: SqlDatabase> Transaction<DB> {
    /// Commits.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub async fn commit(self) -> sqlx::Result<()> {
        match self {
            Self::Pool(connection) => connection.end("COMMIT").await,
            Self::Host(savepoint) => savepoint.release().await,
        }
    }

    /// Rolls back.
    ///
    /// # Errors
    ///
    /// When the database refuses.
    pub async fn rollback(self) -> sqlx::Result<()> {
        match self {
            Self::Pool(connection) => connection.end("ROLLBACK").await,
            Self::Host(savepoint) => savepoint.rollback().await,
        }
    }
}

impl<DB: SqlDatabase> Debug for Transaction<DB> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Transaction").finish_non_exhaustive()
    }
}

impl<DB: SqlDatabase> Transaction<DB> {
    /// The connection. Behind a pooler, execute statements on the transaction instead: those on the connection stay
    /// prepared after it.
    pub fn connection(&mut self) -> &mut DB::Connection {
        self.parts().0
    }

    /// The connection, and whether its session keeps prepared statements for the next transaction.
    fn parts(&mut self) -> (&mut DB::Connection, bool) {
        match self {
            Self::Pool(connection) => {
                let keeps_statements = !connection.has_session_per_transaction();
                (connection, keeps_statements)
            }
            Self::Host(savepoint) => (savepoint, true),
        }
    }
}

impl<'t, DB: Database> Executor<'t> for &'t mut Transaction<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    type Database = DB;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Either<DB::QueryResult, DB::Row>>>
    where
        't: 'e,
        E: 'q + Execute<'q, DB>,
    {
        let (connection, is_kept) = self.parts();
        connection.fetch_many(Statement { query, is_kept })
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<DB::Row>>>
    where
        't: 'e,
        E: 'q + Execute<'q, DB>,
    {
        let (connection, is_kept) = self.parts();
        connection.fetch_optional(Statement { query, is_kept })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [DB::TypeInfo]) -> BoxFuture<'e, sqlx::Result<DB::Statement>>
    where
        't: 'e,
    {
        self.parts().0.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, sqlx::Result<Describe<DB>>>
    where
        't: 'e,
    {
        self.parts().0.describe(sql)
    }
}

/// A statement, and whether its session keeps it prepared for the next transaction.
struct Statement<E> {
    query: E,
    is_kept: bool,
}

impl<'q, DB: Database, E: Execute<'q, DB>> Execute<'q, DB> for Statement<E> {
    fn sql(self) -> SqlStr {
        self.query.sql()
    }

    fn statement(&self) -> Option<&DB::Statement> {
        self.query.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<DB::Arguments>, BoxDynError> {
        self.query.take_arguments()
    }

    fn persistent(&self) -> bool {
        self.is_kept && self.query.persistent()
    }
}
