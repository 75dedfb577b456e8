//! Where statements are executed: each on a connection of the store, or all of them in one host transaction.

use std::ops::{Deref, DerefMut};

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _, TryFutureExt as _, TryStreamExt as _};
use iam_store_sql::host::{HostConnection, Savepoint, SharedTransaction};
use sqlx::postgres::{PgQueryResult, PgRow, PgStatement, PgTypeInfo};
use sqlx::{Describe, Either, Execute, Executor, PgConnection, Postgres, SqlStr};
use tokio::sync::OwnedSemaphorePermit;

use crate::kept::{self, Kept, Lent};

/// Executes statements like a pool.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Each statement on an idle connection, or on one from the pool.
    Store(Kept),
    /// All statements in one host transaction.
    Host(SharedTransaction<Postgres>),
}

impl Source {
    async fn take(&self) -> sqlx::Result<Taken> {
        Ok(match self {
            Self::Store(kept) => Taken::Store(kept.take().await?, kept.clone()),
            Self::Host(shared) => Taken::Host(shared.take().await?),
        })
    }

    /// Begins a transaction. In a host transaction, sets a savepoint instead. The transaction holds the permit, if
    /// there is one, as long as its connection.
    pub(crate) async fn begin(&self, permit: Option<OwnedSemaphorePermit>) -> sqlx::Result<Begun> {
        Ok(match self {
            Self::Store(kept) => Begun::Store(kept.begin(permit).await?),
            Self::Host(shared) => Begun::Host(shared.begin().await?),
        })
    }
}

/// A connection that is in use.
enum Taken {
    Store(Lent, Kept),
    Host(HostConnection<Postgres>),
}

impl Taken {
    /// Returns the connection after a use without an error.
    fn keep(self) {
        if let Self::Store(lent, kept) = self {
            kept.keep(lent);
        }
    }
}

impl Deref for Taken {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Store(lent, _) => lent,
            Self::Host(guard) => guard,
        }
    }
}

impl DerefMut for Taken {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Store(lent, _) => lent,
            Self::Host(guard) => guard,
        }
    }
}

impl<'s> Executor<'s> for &'s Source {
    type Database = Postgres;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Either<PgQueryResult, PgRow>>>
    where
        's: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let answer = async move {
            let mut taken = self.take().await?;
            let answer: Vec<_> = taken.fetch_many(query).try_collect().await?;
            taken.keep();
            Ok(stream::iter(answer).map(Ok))
        };
        answer.try_flatten_stream().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<PgRow>>>
    where
        's: 'e,
        E: 'q + Execute<'q, Postgres>,
    {
        let answer = async move {
            let mut taken = self.take().await?;
            let row = taken.fetch_optional(query).await?;
            taken.keep();
            Ok(row)
        };
        answer.boxed()
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> BoxFuture<'e, sqlx::Result<PgStatement>>
    where
        's: 'e,
    {
        async move { self.take().await?.prepare_with(sql, parameters).await }.boxed()
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, sqlx::Result<Describe<Postgres>>>
    where
        's: 'e,
    {
        async move { self.take().await?.describe(sql).await }.boxed()
    }
}

/// A transaction, or a savepoint in a host transaction. Dropping it rolls back.
pub(crate) enum Begun {
    Store(kept::Begun),
    Host(Savepoint<Postgres>),
}

impl Begun {
    pub(crate) async fn commit(self) -> sqlx::Result<()> {
        match self {
            Self::Store(begun) => begun.commit().await,
            Self::Host(savepoint) => savepoint.release().await,
        }
    }

    pub(crate) async fn rollback(self) -> sqlx::Result<()> {
        match self {
            Self::Store(begun) => begun.rollback().await,
            Self::Host(savepoint) => savepoint.rollback().await,
        }
    }
}

impl Deref for Begun {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        match self {
            Self::Store(begun) => begun,
            Self::Host(savepoint) => savepoint,
        }
    }
}

impl DerefMut for Begun {
    fn deref_mut(&mut self) -> &mut PgConnection {
        match self {
            Self::Store(begun) => begun,
            Self::Host(savepoint) => savepoint,
        }
    }
}
