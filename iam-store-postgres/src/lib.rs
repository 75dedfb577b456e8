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
mod seal;
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

/// Keeps everything in PostgreSQL; clones share the pool of connections.
#[derive(Clone, Debug)]
pub struct PostgresStore {
    connections: Arc<Connections>,
    /// Of units of work, each of which keeps a connection until the disk has it. While that is slow, they leave the others to
    /// those who read.
    places: Arc<Semaphore>,
    months: Arc<KnownMonths>,
    /// In which every statement is executed, if there is one.
    host: Option<Shared>,
}

const MAX_CONNECTIONS: u32 = 16;
/// Rather an error soon than a queue of requests that nobody waits for any more.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// No statement takes as long by far; one that does is no good to anybody any more.
const STATEMENT_TIMEOUT: &str = "30s";
/// Locks are held for milliseconds. Whoever waits for longer waits for something that hangs.
const LOCK_TIMEOUT: &str = "10s";
/// A unit of work asks one thing right after another. Whoever stops halfway has vanished, and would leave its locks behind.
const IDLE_IN_TRANSACTION_TIMEOUT: &str = "5s";

impl PostgresStore {
    /// Connects to the database that a `postgres://` URL names, with at most 16 connections, of which units of work use three
    /// quarters. Each [feed](Store::change_feed) has two more. As many as units of work use are kept between two statements
    /// without asking each whether it still works, as a pool does, which is a second round trip.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] when the server does not answer within five seconds, [`StoreError::Failed`] when
    /// the URL is none or the server refuses.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let options: PgConnectOptions = url.parse().map_err(store_error)?;
        // The server cuts it after 63 bytes, and it must be nobody else's.
        let name = format!("{} {}", Uuid::now_v7(), options.get_application_name().unwrap_or("iam"));
        let options = options.application_name(&name).options([
            ("statement_timeout", STATEMENT_TIMEOUT),
            ("lock_timeout", LOCK_TIMEOUT),
            ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION_TIMEOUT),
            // A machine that vanishes leaves its connections behind until the server notices: by default after two hours.
            ("tcp_keepalives_idle", "30"),
            ("tcp_keepalives_interval", "10"),
            ("tcp_keepalives_count", "3"),
        ]);
        let pool = PgPoolOptions::new()
            .max_connections(MAX_CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // Asking before every use is one more round trip for every query. Under load a connection is never idle
            // for long and a broken one is thrown away when it is given back, so only one that rested is asked.
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

    /// Uses a pool that the host program has made, with its own limits; units of work use three quarters of its connections.
    /// Each [feed](Store::change_feed) has two connections beside it, made with the options of the pool's. Every connection
    /// goes back to the pool after each use, and the pool asks it whether it still works.
    #[must_use]
    pub fn from_pool(pool: PgPool) -> Self {
        Self::over(Connections::new(pool, false))
    }

    fn over(connections: Connections) -> Self {
        let places = Arc::new(Semaphore::new(three_quarters(&connections.pool()) as usize));
        Self { connections: Arc::new(connections), places, months: Arc::default(), host: None }
    }

    /// The pool, for a host program that keeps tables of its own beside the schema `iam`. It is not to be kept: one that
    /// [`connect`](Self::connect) has made is given up for another when the database goes away. It is given back what is kept
    /// between two statements, as often as this is called.
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

    /// What the database answers; an error as soon as it turns out to be away.
    fn answer<'a, T: 'a>(
        &'a self,
        asked: impl Future<Output = sqlx::Result<T>> + Send + 'a,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + 'a {
        // In a box, because it is some kilobytes, which would be copied again and again on its way to where it is polled.
        let asked = Box::pin(asked);
        async move {
            match self.host {
                // Its connection is the host's to look after.
                Some(_) => asked.await.map_err(store_error),
                None => self.connections.answer(asked).await,
            }
        }
    }

    /// Brings the schema `iam` up to date, and [prepares](Store::prepare) for the months to come. A role that may not
    /// change the schema can call this too, as long as another one has brought it up to date.
    ///
    /// Replicas may do so at the same moment: an advisory lock of the database lets one after the other.
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

    /// How the schema `iam` stands to the migrations that this program knows. Changes nothing.
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

    /// A transaction whose statements may take as long as they need, for what grows with the data.
    async fn begin_unbounded(&self) -> Result<Begun, StoreError> {
        let mut transaction = self.begin_transaction().await?;
        (&mut *transaction).execute("SET LOCAL statement_timeout = 0").await.map_err(store_error)?;
        Ok(transaction)
    }

    async fn run_migrations(&self) -> Result<(), StoreError> {
        let mut connection = self.answer(self.pool().acquire()).await?;
        // When a migration fails, the lock stays with the session: closing that gives it back.
        connection.close_on_drop();
        // A migration takes as long as it takes, and waits until other replicas are done with theirs.
        (&mut *connection).execute("SET statement_timeout = 0; SET lock_timeout = 0").await.map_err(store_error)?;
        // Not `run`: the compiler does not see that its future is `Send` when it borrows a connection.
        MIGRATOR.run_direct(None, &mut *connection, false).await.map_err(|error| match error {
            MigrateError::Execute(cause) => store_error(cause),
            error => StoreError::Failed(error.into()),
        })
    }

    // Unchecked queries, because the table is the migrator's own and not part of any migration.
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
            let place = timeout(patience, Arc::clone(&self.places).acquire_owned());
            let place = place.await.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
            source.begin(Some(place)).await
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
        // Where nobody tells anything, silence must not be believed.
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
