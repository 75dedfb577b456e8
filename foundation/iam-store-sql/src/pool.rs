//! A pool of connections with two priorities.
//!
//! The pool of the driver pings each connection that is returned: another round trip for every statement and every
//! transaction. Here, a connection that has just answered goes to its next use without a ping. The connection that was
//! used last is used next, because its caches in the database are warm.
//!
//! A tenant uses at most half of the connections, so that its slow statements do not delay those of other tenants.
//!
//! Each unit of work holds a connection until the disk has stored its commit. So units of work get at most three
//! quarters of the connections. While the disk is slow, the others are left to reads.

use std::fmt::{self, Debug, Formatter};
use std::io::{self, ErrorKind};
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::{ConnectOptions as _, Connection as _, Database};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::database::SqlDatabase;
use crate::error::busy;
use crate::share::{SharePermit, Shares};

/// A remote connection that was idle for longer is pinged before its next use.
const TRUSTED_IDLE: Duration = Duration::from_secs(1);
/// A connection that does not answer a ping within this time is lost.
pub const PING_TIMEOUT: Duration = Duration::from_secs(1);
/// A remote connection whose statement was cancelled or has failed, and that does not answer within this time, is
/// closed.
const RECOVERY_TIMEOUT: Duration = Duration::from_secs(5);
/// A remote connection that was idle for longer is closed.
const MAX_IDLE: Duration = Duration::from_secs(10 * 60);
/// A remote connection that is older is closed after its use: it may lead to a server that others no longer use.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);
/// The codes of PostgreSQL for too many connections, for a server that is starting or stopping, and for a standby that
/// may become the primary.
const STARTING: [&str; 3] = ["53300", "57P03", "0A000"];
/// The time between two attempts to connect to such a server.
const RETRY_AFTER: Duration = Duration::from_millis(100);

/// How to connect to a database.
pub type ConnectOptions<DB> = <<DB as Database>::Connection as sqlx::Connection>::Options;

/// How a pool uses its connections.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// The maximum number of connections.
    pub max_connections: u32,
    /// How long a task waits for a connection.
    pub acquire_timeout: Duration,
    /// The statement that begins a transaction.
    pub begin: &'static str,
    /// Statements that fail on a server that must not be used. Each new connection executes them.
    pub check: Option<&'static str>,
    /// Whether connections go over a network, where they can be lost without an error.
    pub is_remote: bool,
    /// Whether a pooler between this program and the database gives each transaction any session. Then no setting and
    /// no prepared statement outlives its transaction, and each statement needs one.
    pub session_per_transaction: bool,
}

impl PoolSettings {
    /// The settings for connections to a file.
    #[must_use]
    pub const fn local(max_connections: u32, acquire_timeout: Duration, begin: &'static str) -> Self {
        Self { max_connections, acquire_timeout, begin, check: None, is_remote: false, session_per_transaction: false }
    }
}

/// A pool of connections. Tasks get connections in the order in which they ask. Clones share the connections.
pub struct Pool<DB: SqlDatabase> {
    shared: Arc<Shared<DB>>,
    /// The tenant whose share the connections count for; `None` for work that belongs to no tenant.
    tenant: Option<Uuid>,
}

struct Shared<DB: SqlDatabase> {
    origin: Origin<DB>,
    settings: PoolSettings,
    /// Whether the pool is being closed, or is closed.
    is_closed: AtomicBool,
    /// The connection that was used last is the last one.
    idle: Mutex<Vec<Idle<DB>>>,
    /// One permit for each connection.
    permits: Arc<Semaphore>,
    /// Permits for units of work.
    work_permits: Arc<Semaphore>,
    shares: Arc<Shares>,
}

/// Where a pool gets its connections.
enum Origin<DB: SqlDatabase> {
    /// The pool opens them.
    Own(ConnectOptions<DB>),
    /// Each comes from a pool of the host program and returns to it after each use, so that the host program can get
    /// it.
    Host(sqlx::Pool<DB>),
}

struct Idle<DB: SqlDatabase> {
    connection: DB::Connection,
    opened: Instant,
    used: Instant,
}

impl<DB: SqlDatabase> Pool<DB> {
    /// Makes a pool that opens a connection when it is first needed.
    #[must_use]
    pub fn new(options: ConnectOptions<DB>, settings: PoolSettings) -> Self {
        Self::over(Origin::Own(options), settings)
    }

    /// Uses the connections of a pool of the host program, with its limits.
    #[must_use]
    pub fn of_host(pool: sqlx::Pool<DB>, begin: &'static str) -> Self {
        let (most, timeout) = (pool.options().get_max_connections(), pool.options().get_acquire_timeout());
        let settings = PoolSettings { is_remote: true, ..PoolSettings::local(most, timeout, begin) };
        Self::over(Origin::Host(pool), settings)
    }

    fn over(origin: Origin<DB>, settings: PoolSettings) -> Self {
        let most = settings.max_connections as usize;
        let (permits, work_permits) = (Semaphore::new(most).into(), Semaphore::new(most - most / 4).into());
        let (is_closed, idle, shares) = (AtomicBool::default(), Mutex::default(), Arc::new(Shares::of(most)));
        let shared = Shared { origin, settings, is_closed, idle, permits, work_permits, shares };
        Self { shared: Arc::new(shared), tenant: None }
    }

    /// Returns the same pool for the work of a tenant, which uses or waits for at most half of the connections at the
    /// same time.
    #[must_use]
    pub fn of_tenant(&self, tenant: Uuid) -> Self {
        Self { tenant: Some(tenant), ..self.clone() }
    }

    /// Makes an empty pool that connects to the same database. `None` for a pool of the host program.
    #[must_use]
    pub fn renewed(&self) -> Option<Self> {
        match &self.shared.origin {
            Origin::Own(options) => Some(Self::new(options.clone(), self.shared.settings)),
            Origin::Host(_) => None,
        }
    }

    /// Whether this pool opens its own connections.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self.shared.origin, Origin::Own(_))
    }

    /// Whether each transaction may have another session of the database.
    #[must_use]
    pub fn has_session_per_transaction(&self) -> bool {
        self.shared.settings.session_per_transaction
    }

    /// Returns how to connect to the same database.
    #[must_use]
    pub fn connect_options(&self) -> ConnectOptions<DB> {
        match &self.shared.origin {
            Origin::Own(options) => options.clone(),
            Origin::Host(pool) => (*pool.connect_options()).clone(),
        }
    }

    /// Opens a connection outside of the pool. Does not wait for a server that is starting.
    ///
    /// # Errors
    ///
    /// When the database does not answer or refuses.
    pub async fn connect_once(&self) -> sqlx::Result<DB::Connection> {
        connect_once::<DB>(&self.connect_options(), self.shared.settings.check).await
    }

    /// Returns a connection that works, as far as can be known.
    ///
    /// # Errors
    ///
    /// When no connection is free in time, the database refuses, or the pool is closed.
    pub async fn acquire(&self) -> sqlx::Result<PooledConnection<DB>> {
        let share = self.share().await?;
        self.in_time(self.connection(share, None)).await
    }

    /// Waits until the tenant has a place in its share.
    async fn share(&self) -> sqlx::Result<Option<SharePermit>> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let acquiring = self.shared.shares.acquire(tenant);
        timeout(self.shared.settings.acquire_timeout, acquiring).await.map_err(|_| busy())?.map(Some)
    }

    pub(crate) async fn begin(&self) -> sqlx::Result<PooledConnection<DB>> {
        self.acquire().await?.begun().await
    }

    pub(crate) async fn begin_unit_of_work(&self) -> sqlx::Result<PooledConnection<DB>> {
        let share = self.share().await?;
        let acquiring = async { self.connection(share, Some(permit(&self.shared.work_permits).await?)).await };
        self.in_time(acquiring).await?.begun().await
    }

    async fn in_time<T>(&self, acquiring: impl Future<Output = sqlx::Result<T>>) -> sqlx::Result<T> {
        timeout(self.shared.settings.acquire_timeout, acquiring).await.map_err(|_| sqlx::Error::PoolTimedOut)?
    }

    async fn connection(
        &self,
        share_permit: Option<SharePermit>,
        work_permit: Option<OwnedSemaphorePermit>,
    ) -> sqlx::Result<PooledConnection<DB>> {
        if self.is_closed() {
            return Err(sqlx::Error::PoolClosed);
        }
        let permit = permit(&self.shared.permits).await?;
        let held = Held { connection: self.shared.connection().await?, permit, work_permit, share_permit };
        Ok(PooledConnection { held: Some(held), pool: self.clone(), in_transaction: false })
    }

    /// Whether the pool is being closed, or is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed.load(Ordering::Relaxed)
            || matches!(&self.shared.origin, Origin::Host(pool) if pool.is_closed())
    }

    /// Closes the pool without waiting. Tasks that wait for a connection get an error. A connection in use is closed
    /// when it is returned.
    pub fn abandon(&self) {
        drop(self.shared.shut());
    }

    /// Waits until no connection is in use, and closes all of them. Later callers get an error.
    pub async fn close(&self) {
        // At once, so that the time of waiting does not look like an outage.
        self.shared.is_closed.store(true, Ordering::Relaxed);
        // Held until the pool is closed, so that no task gets a connection in between.
        let _all = self.shared.permits.acquire_many(self.shared.settings.max_connections).await;
        for idle in self.shared.shut() {
            if let Err(error) = idle.connection.close().await {
                tracing::warn!(%error, "closing a connection to the database failed");
            }
        }
        if let Origin::Host(pool) = &self.shared.origin {
            pool.close().await;
        }
    }
}

impl<DB: SqlDatabase> Clone for Pool<DB> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), tenant: self.tenant }
    }
}

impl<DB: SqlDatabase> Debug for Pool<DB> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pool").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

async fn permit(permits: &Arc<Semaphore>) -> sqlx::Result<OwnedSemaphorePermit> {
    Arc::clone(permits).acquire_owned().await.map_err(|_| sqlx::Error::PoolClosed)
}

impl<DB: SqlDatabase> Shared<DB> {
    fn idle(&self) -> MutexGuard<'_, Vec<Idle<DB>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pop(&self) -> Option<Idle<DB>> {
        self.idle().pop()
    }

    async fn connection(&self) -> sqlx::Result<Connection<DB>> {
        let options = match &self.origin {
            Origin::Own(options) => options,
            Origin::Host(pool) => return pool.acquire().await.map(Connection::Host),
        };
        while let Some(Idle { mut connection, opened, used }) = self.pop() {
            let is_trusted = !self.settings.is_remote || used.elapsed() <= TRUSTED_IDLE;
            if is_trusted || matches!(timeout(PING_TIMEOUT, connection.ping()).await, Ok(Ok(()))) {
                return Ok(Connection::Own(connection, opened));
            }
        }
        // In a box, because the future is large and this is rare.
        let connection = Box::pin(connect::<DB>(options, self.settings.check)).await?;
        Ok(Connection::Own(connection, Instant::now()))
    }

    /// Takes a connection back that has just answered.
    fn put(&self, held: Held<DB>) {
        // The permits are released last, because they are declared first: the task that gets one looks for an idle
        // connection.
        let Held { permit: _permit, work_permit: _work_permit, share_permit: _share_permit, connection } = held;
        // A pool of the host program takes its connection back when this is dropped.
        let Connection::Own(connection, opened) = connection else { return };
        let is_remote = self.settings.is_remote;
        let mut idle = self.idle();
        if self.permits.is_closed() || (is_remote && opened.elapsed() > MAX_AGE) {
            close_in_background::<DB>(connection);
            return;
        }
        idle.push(Idle { connection, opened, used: Instant::now() });
        if is_remote && idle.first().is_some_and(|first| first.used.elapsed() > MAX_IDLE) {
            close_in_background::<DB>(idle.remove(0).connection);
        }
    }

    /// Refuses all later callers. Returns the idle connections.
    fn shut(&self) -> Vec<Idle<DB>> {
        let mut idle = self.idle();
        self.is_closed.store(true, Ordering::Relaxed);
        self.work_permits.close();
        self.permits.close();
        mem::take(&mut *idle)
    }
}

async fn connect_once<DB: SqlDatabase>(
    options: &ConnectOptions<DB>,
    check: Option<&'static str>,
) -> sqlx::Result<DB::Connection> {
    let mut connection = options.connect().await.map_err(|error| match error {
        // The connection was closed before its first answer. A proxy does that while it has no server.
        sqlx::Error::Protocol(text) => sqlx::Error::Io(io::Error::new(ErrorKind::ConnectionRefused, text)),
        error => error,
    })?;
    if let Some(check) = check {
        DB::execute(&mut connection, check).await?;
    }
    Ok(connection)
}

async fn connect<DB: SqlDatabase>(
    options: &ConnectOptions<DB>,
    check: Option<&'static str>,
) -> sqlx::Result<DB::Connection> {
    loop {
        match connect_once::<DB>(options, check).await {
            Err(error) if is_starting(&error) => sleep(RETRY_AFTER).await,
            connected => return connected,
        }
    }
}

fn close_in_background<DB: SqlDatabase>(connection: DB::Connection) {
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(connection.close());
    }
}

/// Whether a server does not accept connections yet, or has no free connection at this moment.
fn is_starting(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(error) => error.kind() == ErrorKind::ConnectionRefused,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| STARTING.contains(&&*code)),
        _ => false,
    }
}

/// A connection in use. [`give_back`](Self::give_back) returns it to the pool. When it is dropped instead, its last
/// statement was cancelled or has failed. Then a task returns it as soon as it answers again, so that its answer to
/// that statement reaches no other statement. If it began a transaction, the task rolls it back.
pub struct PooledConnection<DB: SqlDatabase> {
    /// `None` when the connection is returned.
    held: Option<Held<DB>>,
    pool: Pool<DB>,
    /// Whether a transaction may have begun and not ended.
    in_transaction: bool,
}

struct Held<DB: SqlDatabase> {
    connection: Connection<DB>,
    permit: OwnedSemaphorePermit,
    work_permit: Option<OwnedSemaphorePermit>,
    share_permit: Option<SharePermit>,
}

enum Connection<DB: SqlDatabase> {
    /// A connection, and when it was opened.
    Own(DB::Connection, Instant),
    Host(PoolConnection<DB>),
}

impl<DB: SqlDatabase> PooledConnection<DB> {
    /// Returns the connection to the pool after a use without an error.
    pub fn give_back(mut self) {
        if let Some(held) = self.held.take() {
            self.pool.shared.put(held);
        }
    }

    /// Takes the connection out of the pool, so that its session has no later user.
    #[must_use]
    #[expect(clippy::expect_used, reason = "only methods that consume this take the connection")]
    pub fn detach(mut self) -> DB::Connection {
        self.held.take().expect("the connection is not returned").connection.detach()
    }

    pub(crate) fn has_session_per_transaction(&self) -> bool {
        self.pool.has_session_per_transaction()
    }

    async fn begun(mut self) -> sqlx::Result<Self> {
        let begin = self.pool.shared.settings.begin;
        self.in_transaction = true;
        let begun = DB::execute(&mut self, begin).await;
        self.in_transaction = begun.is_ok();
        begun.map(|_| self)
    }

    /// Ends the transaction.
    pub(crate) async fn end(mut self, statement: &'static str) -> sqlx::Result<()> {
        DB::execute(&mut self, statement).await?;
        self.give_back();
        Ok(())
    }
}

impl<DB: SqlDatabase> Deref for PooledConnection<DB> {
    type Target = DB::Connection;

    #[expect(clippy::expect_used, reason = "only methods that consume this take the connection")]
    fn deref(&self) -> &DB::Connection {
        match &self.held.as_ref().expect("the connection is not returned").connection {
            Connection::Own(connection, _) => connection,
            Connection::Host(connection) => connection,
        }
    }
}

impl<DB: SqlDatabase> DerefMut for PooledConnection<DB> {
    #[expect(clippy::expect_used, reason = "only methods that consume this take the connection")]
    fn deref_mut(&mut self) -> &mut DB::Connection {
        self.held.as_mut().expect("the connection is not returned").connection.as_mut()
    }
}

impl<DB: SqlDatabase> Drop for PooledConnection<DB> {
    fn drop(&mut self) {
        let Some(mut held) = self.held.take() else { return };
        let Ok(runtime) = Handle::try_current() else {
            // A pool of the host program could not take the connection back.
            drop(held.connection.detach());
            return;
        };
        let (pool, in_transaction) = (self.pool.clone(), self.in_transaction);
        runtime.spawn(async move {
            let recovering = held.connection.recover(in_transaction);
            let has_recovered = match pool.shared.settings.is_remote {
                true => timeout(RECOVERY_TIMEOUT, recovering).await.unwrap_or(false),
                // The thread of a connection to a file always answers at the end of its statement.
                false => recovering.await,
            };
            if has_recovered {
                pool.shared.put(held);
            } else {
                drop(held.connection.detach());
            }
        });
    }
}

impl<DB: SqlDatabase> Connection<DB> {
    fn as_mut(&mut self) -> &mut DB::Connection {
        match self {
            Self::Own(connection, _) => connection,
            Self::Host(connection) => connection,
        }
    }

    fn detach(self) -> DB::Connection {
        match self {
            Self::Own(connection, _) => connection,
            Self::Host(connection) => connection.detach(),
        }
    }

    /// Waits for the answer to the last statement, and rolls a transaction back. Returns whether the connection works.
    async fn recover(&mut self, in_transaction: bool) -> bool {
        match in_transaction {
            // If there is no transaction, SQLite has rolled it back after an error, and this fails.
            true => DB::execute(self.as_mut(), "ROLLBACK").await.is_ok(),
            false => self.as_mut().ping().await.is_ok(),
        }
    }
}
