use async_trait::async_trait;
use iam_model::change::LegalHoldChange;
use iam_model::id::{LegalHoldId, TenantId, UserId};
use iam_model::legal_hold::{Destroyed, LegalHold};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{LegalHoldStore, LegalHoldTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first, page};

#[async_trait]
impl LegalHoldStore for MemoryStore {
    async fn legal_hold(&self, tenant: TenantId, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError> {
        Ok(self.tenant_state(tenant).legal_holds.get(&id).cloned())
    }

    async fn legal_holds(&self, tenant: TenantId, request: PageRequest) -> Result<Page<LegalHold>, StoreError> {
        let state = self.tenant_state(tenant);
        let mut found: Vec<&LegalHold> = state.legal_holds.values().collect();
        newest_first(&mut found, |hold| (hold.created_at, hold.id));
        Ok(page(&found, request))
    }
}

#[async_trait]
impl LegalHoldTransaction for MemoryTransaction {
    async fn legal_hold(&mut self, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError> {
        Ok(self.draft.legal_holds.get(&id).cloned())
    }

    async fn legal_hold_of(&mut self, destroyed: Destroyed) -> Result<Option<LegalHold>, StoreError> {
        let entry_of = |user: UserId| self.draft.directory_users.get(&user);
        let directory_of = |hold: &LegalHold| hold.user_id.and_then(entry_of).map(|entry| entry.directory_id);
        let holds = self.draft.legal_holds.values().filter(|hold| hold.keeps(destroyed, directory_of(hold)));
        Ok(holds.min_by_key(|hold| (hold.created_at, hold.id)).cloned())
    }

    async fn count_legal_holds(&mut self) -> Result<u64, StoreError> {
        Ok(self.draft.legal_holds.len() as u64)
    }
}

impl TenantState {
    pub(super) fn write_legal_hold(&mut self, change: &LegalHoldChange) -> Result<(), StoreError> {
        match change {
            LegalHoldChange::Place(placed) => {
                let is_there = placed.user_id.is_none_or(|user| self.users.contains_key(&user));
                hold(Constraint::Reference, self.tenant.is_some() && is_there)?;
                self.legal_holds.insert(placed.id, placed.clone());
            }
            LegalHoldChange::Release { hold, .. } => {
                self.legal_holds.remove(&hold.id).ok_or(StoreError::Missing("legal hold"))?;
            }
        }
        Ok(())
    }
}
