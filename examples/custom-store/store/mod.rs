//! A store on [redb](https://docs.rs/redb), an embedded database of keys and values.
//!
//! redb provides durable transactions, one writer at a time, and readers that see the data that was committed before
//! they began. This module adds the rest: rows, constraints, order, pages.

mod access_request;
mod access_review;
mod api_key;
mod assignment;
mod attribute;
mod audit;
mod credential;
mod directory;
mod directory_group;
mod directory_user;
mod domain;
mod eligibility;
mod factor;
mod feed;
mod history;
mod idempotency;
mod identity;
mod identity_provider;
mod invitation;
mod legal_hold;
mod link;
mod mail;
mod maintenance;
mod manifest;
mod organization;
mod permission;
mod role;
mod rows;
mod sequence;
mod session;
mod signing_key;
mod tenant;
mod tenant_deletion;
mod transaction;
mod user;
mod webhook;

use std::cmp::Reverse;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::{Page, PageRequest};
use iam_model::store::{ChangeFeed, LocalTurns, Store, Transaction};
use iam_model::store_error::{Constraint, StoreError};
use redb::{Database, ReadableDatabase as _, WriteTransaction};
use tokio::sync::{Mutex, OwnedMutexGuard};
use uuid::Uuid;

use feed::Feed;
use rows::{Rows, View, failed};
use transaction::RedbTransaction;

/// A store in one file. Only one process can have the file open.
pub(crate) struct RedbStore {
    /// `None` after the store is closed.
    database: RwLock<Option<Arc<Database>>>,
    /// The lock of the one writer. redb has such a lock, too, but a writer that waits for redb's lock blocks a thread.
    writer: Arc<Mutex<()>>,
    feed: Feed,
    turns: LocalTurns,
}

/// The lock of the one writer, and the writes under it. The order of the fields matters: the lock is released last.
struct Writing {
    rows: WriteTransaction,
    _writer: OwnedMutexGuard<()>,
}

impl RedbStore {
    /// Opens a file, or creates it.
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let database = Arc::new(Database::create(path).map_err(failed)?);
        let database = RwLock::new(Some(database));
        let store = Self { database, writer: Arc::default(), feed: Feed::default(), turns: LocalTurns::default() };
        store.write(transaction::create_tables).await?;
        Ok(store)
    }

    fn database(&self) -> Result<Arc<Database>, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner).clone();
        database.ok_or_else(|| StoreError::Unavailable("the store is closed".into()))
    }

    /// Reads the committed rows of all tenants.
    fn read_all<T>(&self, read: impl FnOnce(&dyn Rows) -> Result<T, StoreError>) -> Result<T, StoreError> {
        read(&self.database()?.begin_read().map_err(failed)?)
    }

    /// Reads the committed rows of one tenant. All reads in one call see the same snapshot.
    fn read<T>(&self, tenant: TenantId, read: impl FnOnce(View<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.read_all(|rows| read(View::new(rows, tenant)))
    }

    /// Waits for the lock of the one writer, and begins a transaction.
    async fn begin_write(&self) -> Result<Writing, StoreError> {
        let writer = Arc::clone(&self.writer).lock_owned().await;
        let rows = self.database()?.begin_write().map_err(failed)?;
        Ok(Writing { rows, _writer: writer })
    }

    /// Writes outside of a unit of work. Either all writes take effect, or none.
    async fn write<T>(&self, write: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.write_and_notify(Vec::new(), write).await
    }

    /// Does the same, and sends a notification with these ids after the commit.
    async fn write_and_notify<T>(
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
    /// Commits durably and sends the notification, on a thread that may wait for the disk. If the caller is cancelled
    /// while it waits, the commit still runs to its end, and the lock is released only then.
    async fn commit(self, feed: &Feed, changed: Vec<Uuid>) -> Result<(), StoreError> {
        let feed = feed.clone();
        let commit = move || {
            let Self { rows, _writer } = self;
            feed.notify(changed, || rows.commit().map_err(failed))
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

    // A store with a versioned format compares the version of the file with its own version here.
    async fn is_migrated(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        Ok(Some(self.feed.subscribe()))
    }

    async fn close(&self) {
        let _writer = self.writer.lock().await;
        self.database.write().unwrap_or_else(PoisonError::into_inner).take();
    }

    fn kind(&self) -> &'static str {
        "redb"
    }
}

/// Returns a conflict with this constraint unless the constraint holds.
fn hold(constraint: Constraint, holds: bool) -> Result<(), StoreError> {
    if holds { Ok(()) } else { Err(StoreError::Conflict(constraint)) }
}

/// Returns the requested page of all items that were found, in their order.
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
