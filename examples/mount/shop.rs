//! The state that every handler uses.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use axum::extract::FromRef;
use iam_core::{Iam, Joined};
use iam_store_sqlite::{HostTransaction, SqliteStore};
use sqlx::SqlitePool;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::sync::mpsc::UnboundedSender;

use crate::failure::Failure;
use crate::mail::{self, Mail};

/// The shop's own pool and IAM's store, on one file. With `FromRef`, [`Authenticated`](iam_axum::Authenticated) finds
/// IAM.
#[derive(Clone, Debug, FromRef)]
pub(crate) struct Shop {
    pub(crate) iam: Iam,
    pub(crate) pool: SqlitePool,
    store: SqliteStore,
}

impl Shop {
    pub(crate) async fn open(file: &Path, mails: UnboundedSender<Mail>) -> Result<Self, Box<dyn Error>> {
        // IAM first: it creates the file, which no other user of the machine can read, and turns on the write-ahead
        // log.
        let store = SqliteStore::open(&format!("sqlite://{}", file.display())).await?;
        store.migrate().await?;
        let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(file)).await?;
        // Each of the two migrators has its own table.
        sqlx::migrate!("mount/migrations").run(&pool).await?;
        let iam = Iam::builder(Arc::new(store.clone())).after_commit(mail::hook(mails)).build().await?;
        Ok(Self { iam, pool, store })
    }

    /// Begins a transaction that the shop and IAM share.
    pub(crate) async fn begin(&self) -> Result<Joined<HostTransaction>, Failure> {
        // It locks the database for writing at once. A transaction that begins with a read cannot write after another
        // transaction has written in between.
        let transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        Ok(self.iam.within(self.store.join(transaction).await?))
    }

    pub(crate) async fn close(&self) {
        self.pool.close().await;
        self.iam.close().await;
    }
}
