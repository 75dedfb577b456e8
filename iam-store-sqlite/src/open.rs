//! How the file is opened.

use std::fs::OpenOptions;
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use iam_core::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use crate::error::store_error;

const READERS: u32 = 4;
/// How long a unit of work waits for those before it. Rather an error than a queue that nobody waits for any more.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait for another process that holds the lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// What a URL says, refusing what is not a file.
pub(crate) fn options(url: &str) -> Result<SqliteConnectOptions, StoreError> {
    let options = SqliteConnectOptions::from_str(url).map_err(store_error)?;
    let is_memory = url.contains(":memory:") || url.contains("mode=memory");
    if is_memory || options.get_filename().as_os_str().is_empty() {
        // Every connection would have a database of its own.
        return Err(StoreError::Failed("the SQLite store needs a file: `sqlite://PATH`".into()));
    }
    Ok(options.foreign_keys(true).busy_timeout(BUSY_TIMEOUT))
}

/// Makes a file that is missing, readable to its owner alone: it will hold password hashes and signing keys. SQLite
/// gives the files beside it the same permissions.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut open = OpenOptions::new();
    open.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
    open.open(path).map(drop).map_err(|cause| StoreError::Failed(cause.into()))
}

/// The one connection that writes. Whoever wants to write queues for it, in order.
pub(crate) async fn writer(options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    let options = options
        .journal_mode(SqliteJournalMode::Wal)
        // NORMAL would sync the log only now and then: a power cut would take back what was already acknowledged.
        .synchronous(SqliteSynchronous::Full);
    pool(1).connect_with(options).await
}

/// The connections that read, each what was committed last when its statement began.
pub(crate) async fn readers(options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    pool(READERS).connect_with(options.read_only(true)).await
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // A file does not hang up: there is nothing to be asked before each use, and nothing to be opened anew.
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
}
