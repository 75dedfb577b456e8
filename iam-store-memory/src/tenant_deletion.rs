use std::sync::Arc;

use async_trait::async_trait;
use iam_model::change::TenantDeletionChange;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::store::{TenantDeletionStore, TenantDeletionTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant_deletion::TenantDeletion;

use crate::state::{MemoryStore, MemoryTransaction, State, TenantState, hold};

#[async_trait]
impl TenantDeletionStore for MemoryStore {
    async fn tenant_deletion(&self, tenant: TenantId) -> Result<Option<TenantDeletion>, StoreError> {
        Ok(self.tenant_state(tenant).deletion.clone())
    }

    async fn due_tenant_deletions(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantDeletion>, StoreError> {
        Ok(self.read(|state| {
            let deletions = state.tenants.values().filter_map(|tenant| tenant.deletion.clone());
            let mut due: Vec<TenantDeletion> = deletions.filter(|deletion| deletion.is_due(now)).collect();
            due.sort_by_key(|deletion| (deletion.due_at, deletion.tenant_id));
            due.truncate(limit as usize);
            due
        }))
    }

    // Ignores the limit, which bounds how long a database holds its locks. This store does not need it.
    async fn remove_rows_of_tenant(&self, tenant: TenantId, _limit: u32) -> Result<u64, StoreError> {
        let _writer = self.writer.lock().await;
        Ok(self.change(|state| {
            if !has_begun(state, tenant) {
                return 0;
            }
            let Some(before) = state.tenants.get(&tenant).map(Arc::clone) else { return 0 };
            let left = TenantState {
                tenant: before.tenant.clone(),
                deletion: before.deletion.clone(),
                ..TenantState::default()
            };
            state.tenants.insert(tenant, Arc::new(left));
            let others = state.idempotency.len() + state.outbox.len() + state.queued_mail.len() + state.sent_mail.len();
            state.idempotency.retain(|(of, _), _| *of != tenant);
            state.outbox.retain(|_, message| message.tenant_id != tenant);
            state.queued_mail.retain(|(of, _, _), _| *of != tenant);
            state.sent_mail.remove(&tenant);
            let others =
                others - state.idempotency.len() - state.outbox.len() - state.queued_mail.len() - state.sent_mail.len();
            // A tenant never has users without roles and permissions: none of these means that nothing is left.
            (before.users.len() + before.roles.len() + before.permissions.len() + others) as u64
        }))
    }

    async fn remove_tenant(&self, tenant: TenantId) -> Result<(), StoreError> {
        let _writer = self.writer.lock().await;
        self.change(|state| {
            if has_begun(state, tenant) {
                state.tenants.remove(&tenant);
            }
        });
        Ok(())
    }
}

fn has_begun(state: &State, tenant: TenantId) -> bool {
    let deletion = state.tenants.get(&tenant).and_then(|tenant| tenant.deletion.as_ref());
    deletion.is_some_and(|deletion| deletion.begun_at.is_some())
}

#[async_trait]
impl TenantDeletionTransaction for MemoryTransaction {
    async fn tenant_deletion(&mut self) -> Result<Option<TenantDeletion>, StoreError> {
        Ok(self.draft.deletion.clone())
    }
}

impl TenantState {
    pub(super) fn write_tenant_deletion(&mut self, change: &TenantDeletionChange) -> Result<(), StoreError> {
        let missing = || StoreError::Missing("tenant deletion");
        let waits = self.deletion.as_ref().is_some_and(|deletion| deletion.begun_at.is_none());
        match change {
            TenantDeletionChange::Schedule(deletion) => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.deletion = Some(deletion.clone());
            }
            TenantDeletionChange::Cancel { .. } => {
                self.deletion.take().filter(|_| waits).map(drop).ok_or_else(missing)?
            }
            TenantDeletionChange::Begin { after, .. } => {
                let stored = self.deletion.as_mut().filter(|_| waits).ok_or_else(missing)?;
                (stored.begun_at, stored.contents) = (after.begun_at, after.contents);
            }
        }
        Ok(())
    }
}
