use async_trait::async_trait;
use iam_model::change::LinkChange;
use iam_model::id::TenantId;
use iam_model::link::{Link, LinkPurpose};
use iam_model::store::{LinkStore, LinkTransaction};
use iam_model::store_error::{Constraint, StoreError};
use uuid::Uuid;

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl LinkStore for MemoryStore {
    async fn link_by_token(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Link>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.links.values().find(|link| link.token_hash == *token_hash).cloned())
    }

    async fn link(&self, tenant: TenantId, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        Ok(self.tenant_state(tenant).links.get(&(purpose, subject)).cloned())
    }
}

#[async_trait]
impl LinkTransaction for MemoryTransaction {
    async fn lock_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        Ok(self.draft.links.get(&(purpose, subject)).cloned())
    }
}

impl TenantState {
    pub(super) fn write_link(&mut self, change: &LinkChange) -> Result<(), StoreError> {
        match change {
            LinkChange::Issue { link, .. } => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.links.insert((link.purpose, link.subject), link.clone());
            }
            LinkChange::Send { link } => {
                let stored = self.links.get_mut(&(link.purpose, link.subject)).filter(|stored| stored.id == link.id);
                stored.ok_or(StoreError::Missing("link"))?.expires_at = link.expires_at;
            }
            LinkChange::End { purpose, subject } => {
                self.links.remove(&(*purpose, *subject));
            }
            LinkChange::EndAll { purpose } => self.links.retain(|(of_purpose, _), _| of_purpose != purpose),
        }
        Ok(())
    }
}
