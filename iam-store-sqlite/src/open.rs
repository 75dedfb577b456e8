//! How the file is opened.

use std::fs::OpenOptions;
use std::path::Path;
use std::str::FromStr as _;
use std::time::{Duration, Instant};

use iam_core::StoreError;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use tokio::time::sleep;

use crate::connections::Connections;
use crate::error::store_error;
use crate::source::Source;

pub(crate) const READERS: u32 = 4;
/// How long to wait for another process that holds the lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_AFTER: Duration = Duration::from_millis(10);
#[cfg(unix)]
const OWNER_ALONE: u32 = 0o600;
#[cfg(unix)]
const OF_OTHERS: u32 = 0o077;

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

/// Makes a file that is missing, and takes a file that is there from everybody but its owner: it holds password hashes
/// and signing keys. SQLite gives the files beside it the same permissions when it makes them, so those that are there
/// already are taken from others too.
///
/// # Errors
///
/// Fails for a file that others may read and whose permissions this process may not change.
pub(crate) fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut open = OpenOptions::new();
    open.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut open, OWNER_ALONE);
    open.open(path).map_err(|cause| StoreError::Failed(cause.into()))?;
    #[cfg(unix)]
    for beside in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(beside);
        take_from_others(Path::new(&file))?;
    }
    Ok(())
}

#[cfg(unix)]
fn take_from_others(file: &Path) -> Result<(), StoreError> {
    use std::fs::{Permissions, metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    let Ok(metadata) = metadata(file) else { return Ok(()) };
    if metadata.permissions().mode() & OF_OTHERS == 0 {
        return Ok(());
    }
    set_permissions(file, Permissions::from_mode(OWNER_ALONE)).map_err(|cause| {
        let file = file.display();
        StoreError::Failed(format!("others may read {file}, and its permissions cannot be changed: {cause}").into())
    })
}

/// The one connection that writes. Whoever wants to write queues for it, in order.
pub(crate) async fn writer(options: SqliteConnectOptions) -> Result<Source, StoreError> {
    let options = options
        .journal_mode(SqliteJournalMode::Wal)
        // NORMAL would sync the log only now and then: a power cut would take back what was already acknowledged.
        .synchronous(SqliteSynchronous::Full)
        // What is deleted or written over is blanked out, and so are pages that fall free: otherwise what was erased
        // could still be read in the file. FAST would leave it in pages that fall free.
        .pragma("secure_delete", "ON");
    let begun = Instant::now();
    loop {
        // Two processes that turn on the log of a new file at the same moment do not wait for each other: one fails at
        // once.
        match opened(options.clone(), 1).await {
            Err(StoreError::Unavailable(_)) if begun.elapsed() < BUSY_TIMEOUT => sleep(RETRY_AFTER).await,
            opened => return opened,
        }
    }
}

/// A connection to a file that is there already, left as it is. It may write all the same: without that it could not
/// take away what SQLite puts beside the file while it is open.
pub(crate) async fn existing(options: SqliteConnectOptions) -> Result<SqliteConnection, StoreError> {
    let path = options.get_filename();
    if !path.exists() {
        return Err(StoreError::Failed(format!("there is no file {}", path.display()).into()));
    }
    SqliteConnection::connect_with(&options.create_if_missing(false)).await.map_err(store_error)
}

/// The connections that read, each what was committed last when its statement began.
pub(crate) async fn readers(options: SqliteConnectOptions) -> Result<Source, StoreError> {
    opened(options.read_only(true), READERS).await
}

/// The connection of a feed, made when there is one. It is none of the readers: requests that wait for those must not keep
/// the feed waiting.
pub(crate) fn follower(options: SqliteConnectOptions) -> Source {
    Source::Store(Connections::new(options.read_only(true), 1))
}

/// Folds the write-ahead log into the file and cuts it off: there stand pages as they were before something was erased.
///
/// It does not wait for those who read or write at this moment. Then the log is cut off after the next erasure or when
/// the store is closed, and written over meanwhile. The erasure itself is committed in any case, so nothing is told.
pub(crate) async fn cut_log(options: &SqliteConnectOptions) {
    // Not the writer: it must not be left without its patience when somebody loses theirs halfway.
    let impatient = options.clone().busy_timeout(Duration::ZERO);
    if let Ok(mut connection) = SqliteConnection::connect_with(&impatient).await {
        drop(sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await);
        drop(connection.close().await);
    }
}

/// Connections of which one is open, so that a file that cannot be opened is known now.
async fn opened(options: SqliteConnectOptions, most: u32) -> Result<Source, StoreError> {
    let connections = Connections::new(options, most);
    connections.take().await.map_err(store_error)?.keep();
    Ok(Source::Store(connections))
}

#[cfg(test)]
mod tests {
    use test_support::sqlite::TestFile;

    use super::*;

    async fn pragma(source: &Source, name: &'static str) -> String {
        let sql = sqlx::AssertSqlSafe(format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}"));
        sqlx::query_scalar(sql).fetch_one(source).await.unwrap()
    }

    /// What an acknowledged write needs to survive a power cut, and a reference to hold.
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
