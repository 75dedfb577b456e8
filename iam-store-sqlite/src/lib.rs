#![doc = include_str!("../README.md")]

mod access_request;
mod access_review;
mod api_key;
mod assignment;
mod attribute;
mod audit;
mod bulk;
mod column;
mod credential;
mod directory;
mod directory_group;
mod directory_user;
mod domain;
mod eligibility;
mod error;
mod factor;
mod feed;
mod history;
mod host;
mod idempotency;
mod identity;
mod identity_provider;
mod invitation;
mod keys;
mod legal_hold;
mod link;
mod mail;
mod maintenance;
mod manifest;
mod migration;
mod open;
mod organization;
mod permission;
mod plan;
mod reserved;
mod role;
mod sequence;
mod session;
mod signing_key;
mod store;
mod tenant;
mod tenant_deletion;
mod transaction;
mod user;
mod webhook;

use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::store::{ChangeFeed, Store, Transaction};
use iam_model::store_error::StoreError;
use iam_store_sql::migration::is_complete;

use error::store_error;
use feed::SqliteFeed;
use migration::{MIGRATOR, applied};
use transaction::SqliteTransaction;

pub use iam_store_sql::keys::AddressConflict;

pub use host::{HostConnection, HostTransaction};
pub use store::SqliteStore;

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let transaction = self.writer.of_tenant(tenant.as_uuid()).begin_unit_of_work().await.map_err(store_error)?;
        Ok(Box::new(SqliteTransaction::new(tenant, transaction, self.writer.clone())))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        // SQLite would answer `SELECT 1` without reading the file.
        sqlx::query("SELECT count(*) FROM sqlite_schema").execute(&self.readers).await.map_err(store_error)?;
        Ok(())
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        let mut connection = self.readers.acquire().await.map_err(store_error)?;
        let applied = applied(&mut connection).await?;
        connection.give_back();
        Ok(is_complete(&MIGRATOR, &applied))
    }

    async fn prepare(&self, _now: Timestamp) -> Result<(), StoreError> {
        self.make_keys().await
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        Ok(Some(Box::new(SqliteFeed::open(self.follower.clone()).await?)))
    }

    async fn close(&self) {
        self.readers.close().await;
        self.follower.close().await;
        // The writer last: the connection that closes last writes the write-ahead log back into the file, which a
        // reader cannot do.
        self.writer.close().await;
    }

    fn kind(&self) -> &'static str {
        "SQLite"
    }
}
