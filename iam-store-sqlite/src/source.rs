//! Where statements are executed: each on a connection of the store, or all of them in one host transaction.

use std::ops::{Deref, DerefMut};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _, TryFutureExt as _, TryStreamExt as _};
use iam_store_sql::host::{HostConnection, Savepoint, SharedTransaction};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteQueryResult, SqliteRow, SqliteStatement, SqliteTypeInfo,
};
use sqlx::{Describe, Either, Execute, Executor, SqlStr, Sqlite};

use crate::connections::{self, Connections, Lent};

/// Executes statements like a pool.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Each statement on one of the connections.
    Store(Connections),
    /// All statements in one host transaction.
    Host(SharedTransaction<Sqlite>),
}

impl Source {
    /// Returns a connection that works.
    pub(crate) async fn take(&self) -> sqlx::Result<Taken> {
        Ok(match self {
            Self::Store(connections) => Taken::Store(connections.take().await?),
            Self::Host(shared) => Taken::Host(shared.take().await?),
        })
    }

    /// Begins a transaction that writes. In a host transaction, sets a savepoint instead.
    pub(crate) async fn begin(&self) -> sqlx::Result<Begun> {
        Ok(match self {
            Self::Store(connections) => Begun::Store(connections.begin().await?),
            Self::Host(shared) => Begun::Host(shared.begin().await?),
        })
    }

    /// Returns the options of the store's own connections. `None` for a host transaction.
    pub(crate) fn options(&self) -> Option<&SqliteConnectOptions> {
        match self {
            Self::Store(connections) => Some(connections.options()),
            Self::Host(_) => None,
        }
    }

    pub(crate) async fn close(&self) {
        if let Self::Store(connections) = self {
            connections.close().await;
        }
    }
}

/// A connection that is in use.
pub(crate) enum Taken {
    Store(Lent),
    Host(HostConnection<Sqlite>),
}

impl Taken {
    /// Returns the connection after a use without an error.
    pub(crate) fn keep(self) {
        if let Self::Store(lent) = self {
            lent.keep();
        }
    }
}

impl Deref for Taken {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        match self {
            Self::Store(lent) => lent,
            Self::Host(guard) => guard,
        }
    }
}

impl DerefMut for Taken {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Store(lent) => lent,
            Self::Host(guard) => guard,
        }
    }
}

impl<'s> Executor<'s> for &'s Source {
    type Database = Sqlite;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Either<SqliteQueryResult, SqliteRow>>>
    where
        's: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let answer = async move {
            let mut taken = self.take().await?;
            let answer: Vec<_> = taken.fetch_many(query).try_collect().await?;
            taken.keep();
            Ok(stream::iter(answer).map(Ok))
        };
        answer.try_flatten_stream().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<SqliteRow>>>
    where
        's: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let answer = async move {
            let mut taken = self.take().await?;
            let row = taken.fetch_optional(query).await?;
            taken.keep();
            Ok(row)
        };
        answer.boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [SqliteTypeInfo],
    ) -> BoxFuture<'e, sqlx::Result<SqliteStatement>>
    where
        's: 'e,
    {
        async move { self.take().await?.prepare_with(sql, parameters).await }.boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, sqlx::Result<Describe<Sqlite>>>
    where
        's: 'e,
    {
        async move { self.take().await?.describe(sql).await }.boxed()
    }
}

/// A transaction that writes, or a savepoint in a host transaction. Dropping it rolls back.
pub(crate) enum Begun {
    Store(connections::Begun),
    Host(Savepoint<Sqlite>),
}

impl Begun {
    pub(crate) async fn commit(self) -> sqlx::Result<()> {
        match self {
            Self::Store(begun) => begun.commit().await,
            Self::Host(savepoint) => savepoint.release().await,
        }
    }
}

impl Deref for Begun {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        match self {
            Self::Store(begun) => begun,
            Self::Host(savepoint) => savepoint,
        }
    }
}

impl DerefMut for Begun {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        match self {
            Self::Store(begun) => begun,
            Self::Host(savepoint) => savepoint,
        }
    }
}
