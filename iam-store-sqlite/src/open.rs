//! Opens the connections to the file.

use std::fs::OpenOptions;
use std::path::Path;
use std::str::FromStr as _;
use std::time::{Duration, Instant};

use iam_model::store_error::StoreError;
use iam_store_sql::pool::{Pool, PoolSettings};
use iam_store_sql::source::Source;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection as _, Sqlite};
use tokio::time::sleep;

use crate::error::store_error;

/// Twice as many as a tenant may use at the same time.
pub(crate) const READERS: u32 = 8;
/// How long to wait for a connection that other tasks use. An error is better than a queue of requests whose clients
/// have given up.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Takes the write lock at once. A transaction that reads first and takes the lock later fails if another transaction
/// wrote in between, even with a long busy timeout.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";
/// How long to wait for another process that holds the lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_AFTER: Duration = Duration::from_millis(10);
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;
#[cfg(unix)]
const OTHER_USERS: u32 = 0o077;

/// Parses a URL. Refuses a database that is not in a file.
pub(crate) fn options(url: &str) -> Result<SqliteConnectOptions, StoreError> {
    let options = SqliteConnectOptions::from_str(url).map_err(store_error)?;
    let is_memory = url.contains(":memory:") || url.contains("mode=memory");
    if is_memory || options.get_filename().as_os_str().is_empty() {
        // Every connection would have its own database in memory.
        return Err(StoreError::Failed("the SQLite store needs a file: `sqlite://PATH`".into()));
    }
    Ok(options.foreign_keys(true).busy_timeout(BUSY_TIMEOUT))
}

/// Creates the file if it is missing, and makes an existing file accessible only to its owner: it contains password
/// hashes and signing keys. SQLite gives the files beside it the same permissions, but only when it creates them. So
/// files beside it that already exist are made accessible only to their owner, too.
///
/// # Errors
///
/// Fails for a file that other users may read and whose permissions this process may not change.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut open = OpenOptions::new();
    open.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, OWNER_ONLY);
    open.open(path).map_err(|cause| StoreError::Failed(cause.into()))?;
    #[cfg(unix)]
    for beside in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(beside);
        restrict_to_owner(Path::new(&file))?;
    }
    Ok(())
}

#[cfg(unix)]
fn restrict_to_owner(file: &Path) -> Result<(), StoreError> {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let Ok(metadata) = metadata(file) else { return Ok(()) };
    if metadata.permissions().mode() & OTHER_USERS == 0 {
        return Ok(());
    }
    set_permissions(file, Permissions::from_mode(OWNER_ONLY)).map_err(|cause| {
        let file = file.display();
        StoreError::Failed(format!("other users may read {file}, and its mode cannot be changed: {cause}").into())
    })
}

/// Opens the only connection that writes. Writers get it in the order in which they ask.
pub(crate) async fn writer(options: SqliteConnectOptions) -> Result<Source<Sqlite>, StoreError> {
    let options = options
        .journal_mode(SqliteJournalMode::Wal)
        // NORMAL would sync the log only now and then: a power cut could undo acknowledged changes.
        .synchronous(SqliteSynchronous::Full)
        // Overwrites deleted and replaced data with zeros, also in pages that become free: otherwise erased data could
        // still be read in the file. FAST would leave it in pages that become free.
        .pragma("secure_delete", "ON");
    let begun = Instant::now();
    loop {
        // If two processes turn on the log of a new file at the same time, they do not wait for each other: one of them
        // fails at once, and tries again here.
        match opened(options.clone(), 1).await {
            Err(StoreError::Unavailable(_)) if begun.elapsed() < BUSY_TIMEOUT => sleep(RETRY_AFTER).await,
            opened => return opened,
        }
    }
}

/// Opens a connection to an existing file, and does not change the file. The connection may write nevertheless: a
/// read-only connection could not remove the files that SQLite puts beside the file while it is open.
pub(crate) async fn existing(options: SqliteConnectOptions) -> Result<SqliteConnection, StoreError> {
    let path = options.get_filename();
    if !path.exists() {
        return Err(StoreError::Failed(format!("there is no file {}", path.display()).into()));
    }
    SqliteConnection::connect_with(&options.create_if_missing(false)).await.map_err(store_error)
}

/// Opens the connections that read. Each statement sees the commits from before it began.
pub(crate) async fn readers(options: SqliteConnectOptions) -> Result<Source<Sqlite>, StoreError> {
    opened(options.read_only(true), READERS).await
}

/// Returns the connection of a change feed. It is opened when a feed needs it. It is not one of the readers: requests
/// that wait for those must not delay the feed.
pub(crate) fn follower(options: SqliteConnectOptions) -> Source<Sqlite> {
    pool(options.read_only(true), 1)
}

/// Writes the write-ahead log back into the file and truncates the log: it contains pages from before an erasure.
///
/// Does not wait for connections that read or write at this moment. In that case, the log is truncated after the next
/// erasure or when the store is closed, and is overwritten until then. The erasure itself is committed in any case, so
/// errors are ignored.
pub(crate) async fn cut_log(options: &SqliteConnectOptions) {
    // Not on the writer: if this future were dropped halfway, the writer would keep the timeout of zero.
    let options = options.clone().busy_timeout(Duration::ZERO);
    if let Ok(mut connection) = SqliteConnection::connect_with(&options).await {
        drop(sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await);
        drop(connection.close().await);
    }
}

/// Returns connections, and opens one of them, so that a file that cannot be opened is an error at once.
async fn opened(options: SqliteConnectOptions, most: u32) -> Result<Source<Sqlite>, StoreError> {
    let source = pool(options, most);
    source.acquire().await.map_err(store_error)?.give_back();
    Ok(source)
}

fn pool(options: SqliteConnectOptions, max_connections: u32) -> Source<Sqlite> {
    let (acquire_timeout, begin) = (ACQUIRE_TIMEOUT, BEGIN);
    Source::Pool(Pool::new(options, PoolSettings::local(max_connections, acquire_timeout, begin)))
}

#[cfg(test)]
mod tests {
    use test_support::sqlite::TestFile;

    use super::*;

    async fn pragma(source: &Source<Sqlite>, name: &'static str) -> String {
        let sql = sqlx::AssertSqlSafe(format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}"));
        sqlx::query_scalar(sql).fetch_one(source).await.unwrap()
    }

    /// An acknowledged write must survive a power cut, and a reference must be valid.
    #[tokio::test]
    async fn every_commit_is_synced_and_references_are_checked() {
        const FULL: &str = "2";
        let file = TestFile::create();
        let options = options(file.url()).unwrap();
        let writer = writer(options.clone().create_if_missing(true)).await.unwrap();
        assert_eq!(pragma(&writer, "journal_mode").await, "wal");
        assert_eq!(pragma(&writer, "synchronous").await, FULL);
        assert_eq!(pragma(&writer, "foreign_keys").await, "1");
        assert_eq!(pragma(&writer, "secure_delete").await, "1");
        let readers = readers(options).await.unwrap();
        sqlx::query("CREATE TABLE t (c)").execute(&readers).await.unwrap_err();
    }
}
