use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OwnedMutexGuard;

use super::{MemoryStore, TenantState};
use crate::AuditBatch;
use crate::audit::{AuditChange, AuditEntry};
use crate::change::Change;
use crate::error::StoreError;
use crate::id::TenantId;
use crate::idempotency::IdempotencyRecord;
use crate::store::Transaction;
use crate::validate::EmailKey;

/// A private copy of a tenant, with the lock that serializes writers.
pub(super) struct MemoryTransaction {
    pub(super) store: MemoryStore,
    pub(super) tenant: TenantId,
    pub(super) draft: TenantState,
    /// The changes of the audit log. The log is not part of the draft, because it only grows.
    pub(super) audit: Vec<AuditChange>,
    pub(super) entries: Vec<AuditEntry>,
    /// New idempotency records. They are not part of the draft of a tenant, because some belong to no tenant.
    pub(super) idempotency: Vec<IdempotencyRecord>,
    /// E-mails whose failed attempts under [`TenantId::NONE`] are deleted.
    pub(super) cleared: Vec<EmailKey>,
    pub(super) _writer: OwnedMutexGuard<()>,
}

#[async_trait]
impl Transaction for MemoryTransaction {
    async fn write(&mut self, change: &Change, audit: AuditBatch) -> Result<(), StoreError> {
        self.entries.extend(audit.into_entries());
        match change {
            Change::Tenant(change) => self.write_tenant(change),
            Change::User(change) => self.draft.write_user(change),
            Change::Credential(change) => {
                self.write_credential(change);
                Ok(())
            }
            Change::Session(change) => self.draft.write_session(change),
            Change::Permission(change) => self.draft.write_permission(change),
            Change::Role(change) => self.draft.write_role(change),
            Change::Assignment(change) => self.draft.write_assignment(change),
            Change::Organization(change) => self.draft.write_organization(change),
            Change::Audit(change) => {
                self.audit.push(change.clone());
                Ok(())
            }
            Change::Idempotency(change) => {
                self.write_idempotency(change);
                Ok(())
            }
        }
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        let Self { store, tenant, draft, audit: changes, entries, idempotency, cleared, _writer } = *self;
        store.change(|state| {
            state.tenants.insert(tenant, Arc::new(draft));
            if let Some(unnamed) = state.tenants.get_mut(&TenantId::NONE).filter(|_| !cleared.is_empty()) {
                Arc::make_mut(unnamed).attempts.retain(|email, _| !cleared.contains(email));
            }
            let log = state.audit.entry(tenant).or_default();
            changes.iter().for_each(|change| log.change(change));
            log.record(entries);
            state.idempotency.extend(idempotency.into_iter().map(|record| ((record.tenant_id, record.id), record)));
        });
        Ok(())
    }
}
