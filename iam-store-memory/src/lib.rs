//! A [`Store`] in memory: for tests, for examples, and as the model that the other stores are compared with.
//!
//! It gives the same guarantees as the databases, except durability. A unit of work changes its own copy of its tenant,
//! and replaces the tenant by the copy when it commits. Units of work are serialized. The cost of the copy is
//! proportional to the size of the tenant, so this store does not suit a million users.

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
mod group_members;
mod history;
mod idempotency;
mod identity;
mod identity_provider;
mod invitation;
mod legal_hold;
mod link;
mod log;
mod mail;
mod maintenance;
mod manifest;
mod organization;
mod past_versions;
mod permission;
mod role;
mod session;
mod signing_key;
mod state;
mod stored_webhook;
mod tenant;
mod tenant_deletion;
mod transaction;
mod user;
mod webhook;

use std::sync::Arc;

use async_trait::async_trait;
use iam_model::id::TenantId;
use iam_model::store::{Store, Transaction};
use iam_model::store_error::StoreError;

pub use state::MemoryStore;
use state::{MemoryTransaction, TenantState};

#[async_trait]
impl Store for MemoryStore {
    async fn begin(&self, tenant: TenantId) -> Result<Box<dyn Transaction>, StoreError> {
        let writer = Arc::clone(&self.writer).lock_owned().await;
        let draft = TenantState::clone(&self.tenant_state(tenant));
        Ok(Box::new(MemoryTransaction {
            store: self.clone(),
            tenant,
            draft,
            audit: Vec::new(),
            entries: Vec::new(),
            idempotency: Vec::new(),
            mail: Vec::new(),
            cleared: Vec::new(),
            _writer: writer,
        }))
    }

    async fn ping(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn is_migrated(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn close(&self) {}

    fn kind(&self) -> &'static str {
        "memory"
    }
}
