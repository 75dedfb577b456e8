#![doc = include_str!("../README.md")]

mod assignment;
mod audit;
mod column;
mod connections;
mod credential;
mod error;
mod feed;
mod host;
mod idempotency;
mod kept;
mod maintenance;
mod organization;
mod page;
mod partition;
mod permission;
mod role;
mod sequence;
mod session;
mod source;
mod tenant;
mod token;
mod transaction;
mod user;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use iam_core::clock::Timestamp;
use iam_core::{ChangeFeed, Schema, Store, StoreError, TenantId, Transaction};
use sqlx::migrate::{MigrateError, Migration, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection as _, Executor as _, FromRow};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use uuid::Uuid;

use connections::{Connections, three_quarters};
use error::store_error;
use feed::PostgresFeed;
use host::Shared;
use kept::{PING_TIMEOUT, TRUSTED_IDLE};
use partition::KnownMonths;
use source::{Begun, Source};
use transaction::PostgresTransaction;

pub use host::{HostConnection, HostTransaction};

static MIGRATOR: Migrator = sqlx::migrate!();

/// A store in PostgreSQL. Clones share one connection pool.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    connections: Arc<Connections>,
    /// Permits for units of work. Each unit of work holds a connection until the disk has stored its commit. While
    /// the disk is slow, the permits leave the other connections to reads.
    permits: Arc<Semaphore>,
    months: Arc<KnownMonths>,
    /// The host transaction in which every statement is executed, if there is one.
    host: Option<Shared>,
}

const MAX_CONNECTIONS: u32 = 16;
/// An early error is better than a queue of requests whose clients have given up.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// No statement comes near this limit. After it, the client has given up.
const STATEMENT_TIMEOUT: &str = "30s";
/// Locks are held for milliseconds. A longer wait means that the holder of the lock hangs.
const LOCK_TIMEOUT: &str = "10s";
/// A unit of work sends its statements one right after another. A process that stops halfway is lost, and its locks
/// would stay.
const IDLE_IN_TRANSACTION_TIMEOUT: &str = "5s";

impl PostgresStore {
    /// Connects to the database that a `postgres://` URL names, with at most 16 connections. Units of work use at
    /// most three quarters of them. Each [feed](Store::change_feed) has two more connections.
    ///
    /// Between two statements, up to three quarters of the connections stay outside the pool, because a pool pings
    /// each connection that is returned: a second round trip for every statement.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the server does not answer within five seconds, [`StoreError::Failed`] when
    /// the URL is invalid or the server refuses the connection.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let options: PgConnectOptions = url.parse().map_err(store_error)?;
        // The server cuts the name after 63 bytes, and it must be unique. So the unique part comes first.
        let name = format!("{} {}", Uuid::now_v7(), options.get_application_name().unwrap_or("iam"));
        let options = options.application_name(&name).options([
            ("statement_timeout", STATEMENT_TIMEOUT),
            ("lock_timeout", LOCK_TIMEOUT),
            ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_TIMEOUT),
            // When a machine is lost, its connections stay open until the server notices: by default after two hours.
            ("tcp_keepalives_idle", "30"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
        ]);
        let pool = PgPoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A ping before every use is one more round trip for every query. Under load, a connection is never idle
            // for long, and a broken one is closed when it is returned. So only a connection that was idle is pinged.
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    if meta.idle_for > TRUSTED_IDLE {
                        let answer = timeout(PING_TIMEOUT, connection.ping()).await;
                        answer.map_err(|_| sqlx::Error::Io(io::ErrorKind::TimedOut.into()))??;
                    }
                    Ok(true)
                })
            })
            .connect_with(options)
            .await
            .map_err(store_error)?;
        Ok(Self::over(Connections::new(pool, true)))
    }

    /// Uses a pool of the host program, with the limits of that pool. Units of work use at most three quarters of its
    /// connections. Each [feed](Store::change_feed) opens two more connections, with the connect options of the pool.
    /// Every connection returns to the pool after each use, and the pool pings it.
    #[must_use]
    pub fn from_pool(pool: PgPool) -> Self {
        Self::over(Connections::new(pool, false))
    }

    fn over(connections: Connections) -> Self {
        let permits = Arc::new(Semaphore::new(three_quarters(&connections.pool()) as usize));
        Self { connections: Arc::new(connections), permits, months: Arc::default(), host: None }
    }

    /// Returns the pool, for a host program that has its own tables beside the schema `iam`. Do not store the pool:
    /// one that [`connect`](Self::connect) has made is replaced when the database becomes unreachable. Each call also
    /// returns the idle connections of the store to the pool.
    #[must_use]
    pub fn pool(&self) -> PgPool {
        self.connections.pool()
    }

    fn source(&self) -> Source {
        match &self.host {
            Some(host) => Source::Host(host.clone()),
            None => Source::Store(self.connections.kept()),
        }
    }

    /// Waits for the database's answer to a query. Returns an error as soon as the database is found unreachable.
    fn answer<'a, T: 'a>(
        &'a self,
        query: impl Future<Output = sqlx::Result<T>> + Send + 'a,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'a {
        // In a box, because the future has some kilobytes, which would be copied several times before it is polled.
        let query = Box::pin(query);
        async move {
            match self.host {
                // The host program looks after its own connection.
                Some(_) => query.await.map_err(store_error),
                None => self.connections.answer(query).await,
            }
        }
    }

    /// Brings the schema `iam` up to date, and [prepares](Store::prepare) for the next months. A role that may not
    /// change the schema can call this too, if the schema is already up to date.
    ///
    /// Replicas may call this at the same time: with an advisory lock of the database, they migrate one after the
    /// other.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the database does not answer; [`StoreError::Failed`] when a migration fails,
    /// or when the database has one that this program does not know.
    pub async fn migrate(&self) -> Result<(), StoreError> {
        let applied = self.applied().await?;
        if !are_known(&applied) || !are_complete(&applied) {
            self.run_migrations().await?;
        }
        let now = sqlx::query_scalar!(r#"SELECT now() AS "now!""#);
        self.make_months(self.answer(now.fetch_one(&self.source())).await?).await
    }

    /// Compares the schema `iam` with the migrations that this program knows. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the database does not answer.
    pub async fn schema(&self) -> Result<Schema, StoreError> {
        let applied = self.applied().await?;
        Ok(Schema::of(are_known(&applied), are_complete(&applied)))
    }

    async fn begin_transaction(&self) -> Result<Begun, StoreError> {
        self.answer(self.source().begin(None)).await
    }

    /// Begins a transaction without a statement timeout, for statements whose time grows with the data.
    async fn begin_unbounded(&self) -> Result<Begun, StoreError> {
        let mut transaction = self.begin_transaction().await?;
        (&mut *transaction).execute("SET LOCAL statement_timeout = 0").await.map_err(store_error)?;
        Ok(transaction)
    }

    async fn run_migrations(&self) -> Result<(), StoreError> {
        let mut connection = self.answer(self.pool().acquire()).await?;
        // When a migration fails, the session keeps the lock. Closing the connection releases it.
        connection.close_on_drop();
        // A migration has no time limit, and waits until other replicas have finished theirs.
        (&mut *connection).execute("SET statement_timeout = 0; SET lock_timeout = 0").await.map_err(store_error)?;
        // Not `run`: the compiler does not see that the future of `run` is `Send` when it borrows a connection.
        MIGRATOR.run_direct(None, &mut *connection, false).await.map_err(|error| match error {
            MigrateError::Execute(cause) => store_error(cause),
            error => StoreError::Failed(error.into()),
        })
    }

    // These queries are not checked when the crate is compiled, because the table belongs to the migrator and is in
    // no migration.
    async fn applied(&self) -> Result<Vec<Applied>, StoreError> {
        let exists = sqlx::query_scalar::<_, bool>("SELECT to_regclass('iam._migrations') IS NOT NULL");
        if !self.answer(exists.fetch_one(&self.source())).await? {
            return Ok(Vec::new());
        }
        let applied = sqlx::query_as("SELECT version, checksum FROM iam._migrations WHERE success");
        self.answer(applied.fetch_all(&self.source())).await
    }
}

/// A migration that has run.
#[derive(FromRow)]
struct Applied {
    version: i64,
    checksum: Vec<u8>,
}

impl Applied {
    fn is(&self, known: &Migration) -> bool {
        self.version == known.version && *self.checksum == *known.checksum
    }
}

/// Whether this program knows every migration that has run.
fn are_known(applied: &[Applied]) -> bool {
    applied.iter().all(|applied| MIGRATOR.iter().any(|known| applied.is(known)))
}

/// Whether every migration that this program knows has run.
fn are_complete(applied: &[Applied]) -> bool {
    MIGRATOR.iter().all(|known| applied.iter().any(|applied| applied.is(known)))
}

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let begin = async {
            let source = self.source();
            let Source::Store(kept) = &source else { return source.begin(None).await };
            let patience = kept.pool().options().get_acquire_timeout();
            let permit = timeout(patience, Arc::clone(&self.permits).acquire_owned());
            let permit = permit.await.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
            source.begin(Some(permit)).await
        };
        Ok(Box::new(PostgresTransaction::new(tenant, self.answer(begin).await?)))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.answer(sqlx::query("SELECT 1").execute(&self.source())).await.map(drop)
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        Ok(are_complete(&self.applied().await?))
    }

    async fn prepare(&self, now: Timestamp) -> Result<(), StoreError> {
        self.make_months(now).await
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        // Without the triggers, no notification arrives, and a feed would wrongly report that nothing changes.
        if !self.is_migrated().await? {
            return Err(StoreError::Failed("migrations are missing".into()));
        }
        Ok(Some(Box::new(PostgresFeed::open(self.pool()).await?)))
    }

    async fn close(&self) {
        self.pool().close().await;
    }

    fn kind(&self) -> &'static str {
        "PostgreSQL"
    }
}
