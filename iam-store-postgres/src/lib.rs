#![doc = include_str!("../README.md")]

mod access_request;
mod access_review;
mod api_key;
mod assignment;
mod attribute;
mod audit;
mod column;
mod connections;
mod credential;
mod directory;
mod directory_group;
mod directory_user;
mod distribution;
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
mod months;
mod organization;
mod partition;
mod permission;
mod replica;
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
mod values;
mod webhook;
mod written_entry;

use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::store::{ChangeFeed, Store, Transaction};
use iam_model::store_error::StoreError;
use iam_store_sql::migration::is_complete;

use feed::PostgresFeed;
use migration::MIGRATOR;
use transaction::PostgresTransaction;

pub use iam_store_sql::keys::AddressConflict;

pub use host::{HostConnection, HostTransaction};
pub use store::PostgresStore;

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let is_distributed = self.is_distributed().await?;
        let transaction = self.answer(self.writes().of_tenant(tenant.as_uuid()).begin_unit_of_work()).await?;
        Ok(Box::new(PostgresTransaction::new(tenant, is_distributed, transaction)))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.answer(sqlx::query("SELECT 1").execute(&self.reads())).await.map(drop)
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        Ok(is_complete(&MIGRATOR, &self.applied().await?))
    }

    async fn prepare(&self, now: Timestamp) -> Result<(), StoreError> {
        self.make_months(now).await?;
        self.make_keys().await
    }

    async fn change_feed(&self) -> Result<Option<Box<dyn ChangeFeed>>, StoreError> {
        // Without the triggers, no notification arrives, and a feed would wrongly report that nothing changes.
        if !self.is_migrated().await? {
            return Err(StoreError::Failed("migrations are missing".into()));
        }
        // A prepared transaction cannot send notifications, so the triggers of distributed tables send none.
        if self.is_distributed().await? {
            return Ok(None);
        }
        Ok(Some(Box::new(PostgresFeed::open(self.sessions().pool()).await?)))
    }

    async fn close(&self) {
        self.close_all().await;
    }

    fn kind(&self) -> &'static str {
        "PostgreSQL"
    }
}
