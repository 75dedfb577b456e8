//! A store on [redb](https://docs.rs/redb), an embedded database of keys and values.
//!
//! redb gives durable transactions, one writer at a time, and readers that see what was committed before they began.
//! All else is here: rows, constraints, order, pages.

mod assignment;
mod audit;
mod credential;
mod feed;
mod idempotency;
mod maintenance;
mod organization;
mod permission;
mod role;
mod rows;
mod seal;
mod session;
mod tenant;
mod token;
mod transaction;
mod user;

use std::cmp::Reverse;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use iam_core::clock::Timestamp;
use iam_core::page::{Page, PageRequest};
use iam_core::{ChangeFeed, Constraint, Store, StoreError, TenantId, Transaction};
use redb::{Database, ReadableDatabase as _, WriteTransaction};
use tokio::sync::{Mutex, OwnedMutexGuard};
use uuid::Uuid;

use feed::Feed;
use rows::{Rows, View, failed};
use transaction::RedbTransaction;

/// Keeps everything in one file, which one process has open.
pub(crate) struct RedbStore {
    /// Nothing once it is closed.
    database: RwLock<Option<Arc<Database>>>,
    /// Whose turn it is to write. redb has writers wait too, but a thread each.
    writer: Arc<Mutex<()>>,
    feed: Feed,
}

/// The right to write, and what has been written with it. The order matters: the right goes last.
struct Writing {
    rows: WriteTransaction,
    _writer: OwnedMutexGuard<()>,
}

impl RedbStore {
    /// Opens a file, or makes it.
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let database = Arc::new(Database::create(path).map_err(failed)?);
        let store = Self { database: RwLock::new(Some(database)), writer: Arc::default(), feed: Feed::default() };
        store.write(transaction::create_tables).await?;
        Ok(store)
    }

    fn database(&self) -> Result<Arc<Database>, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner).clone();
        database.ok_or_else(|| StoreError::Unavailable("the store is closed".into()))
    }

    /// Reads what is committed, of all tenants.
    fn read_all<T>(&self, read: impl FnOnce(&dyn Rows) -> Result<T, StoreError>) -> Result<T, StoreError> {
        read(&self.database()?.begin_read().map_err(failed)?)
    }

    /// Reads what is committed of one tenant. All that is read together is of one moment.
    fn read<T>(&self, tenant: TenantId, read: impl FnOnce(View<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.read_all(|rows| read(View::new(rows, tenant)))
    }

    /// Waits for the turn to write.
    async fn begin_write(&self) -> Result<Writing, StoreError> {
        let writer = Arc::clone(&self.writer).lock_owned().await;
        let rows = self.database()?.begin_write().map_err(failed)?;
        Ok(Writing { rows, _writer: writer })
    }

    /// Writes outside of a unit of work, all or nothing.
    async fn write<T>(&self, write: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.write_and_tell(Vec::new(), write).await
    }

    /// The same, and the feed tells of it.
    async fn write_and_tell<T>(
        &self,
        changed: Vec<Uuid>,
        write: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let writing = self.begin_write().await?;
        let written = write(&writing.rows)?;
        writing.commit(&self.feed, changed).await?;
        Ok(written)
    }
}

impl Writing {
    /// Makes everything durable and tells of it, on a thread that may wait for the disk. Whoever does not wait for the
    /// answer leaves it done: the turn to write ends only with it.
    async fn commit(self, feed: &Feed, changed: Vec<Uuid>) -> Result<(), StoreError> {
        let feed = feed.clone();
        let commit = move || {
            let Self { rows, _writer } = self;
            feed.tell(changed, || rows.commit().map_err(failed))
        };
        tokio::task::spawn_blocking(commit).await.map_err(|cause| StoreError::Failed(cause.into()))?
    }
}

#[async_trait]
impl Store for RedbStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        Ok(Box::new(RedbTransaction::new(tenant, self.begin_write().await?, self.feed.clone())))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.read_all(|_| Ok(()))
    }

    // A store with a format of its own compares here what has been migrated with what it knows.
    async fn is_migrated(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        Ok(Some(self.feed.follow()))
    }

    async fn close(&self) {
        let _writer = self.writer.lock().await;
        self.database.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn kind(&self) -> &'static str {
        "redb"
    }
}

/// Refuses what violates a constraint.
fn hold(constraint: Constraint, holds: bool) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Conflict(constraint)) }
}

/// The page that was asked for of everything that was found, in the order in which it stands.
fn page<T>(found: Vec<T>, request: PageRequest) -> Page<T> {
    let total = found.len() as u64;
    let offset = usize::try_from(request.offset()).unwrap_or(usize::MAX);
    Page { items: found.into_iter().skip(offset).take(request.limit() as usize).collect(), total, request }
}

/// Sorts newest first, then by identifier.
fn newest_first<T, I: Ord>(mut found: Vec<T>, key: impl Fn(&T) -> (Timestamp, I)) -> Vec<T> {
    found.sort_by_key(|item| {
        let (created_at, id) = key(item);
        (Reverse(created_at), id)
    });
    found
}
