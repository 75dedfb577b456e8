use std::sync::Arc;

use async_trait::async_trait;
use iam_model::change::DirectoryChange;
use iam_model::clock::Timestamp;
use iam_model::directory::{Directory, DirectoryActivity, DirectoryRefusal};
use iam_model::id::{DirectoryId, IdentityProviderId, TenantId, UserId};
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl DirectoryStore for MemoryStore {
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError> {
        Ok(self.tenant_state(tenant).directories.get(&id).cloned())
    }

    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError> {
        let state = self.tenant_state(tenant);
        let listed = |directory: Directory| {
            let activity = state.directory_activities.get(&directory.id).cloned().unwrap_or_default();
            (directory, activity)
        };
        Ok(state.sorted_directories().into_iter().map(listed).collect())
    }

    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError> {
        let state = self.tenant_state(tenant);
        Ok(state.directories.values().find(|directory| directory.service_account_id == account).cloned())
    }

    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError> {
        // A unit of work that has begun would undo the write.
        let _writer = self.writer.lock().await;
        self.change(|state| {
            let state = state.tenants.get_mut(&tenant).map(Arc::make_mut);
            let Some(state) = state.filter(|state| state.directories.contains_key(&id)) else { return };
            let activity = state.directory_activities.entry(id).or_default();
            activity.last_request_at = activity.last_request_at.max(Some(at));
            if let Some(refusal) = refusal {
                activity.refusals.insert(0, refusal.clone());
                activity.refusals.truncate(DirectoryRefusal::MAX);
            }
        });
        Ok(())
    }
}

#[async_trait]
impl DirectoryTransaction for MemoryTransaction {
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError> {
        Ok(self.draft.sorted_directories())
    }
}

impl TenantState {
    fn sorted_directories(&self) -> Vec<Directory> {
        let mut directories: Vec<Directory> = self.directories.values().cloned().collect();
        directories.sort_by(|a, b| (a.name.as_str(), a.id).cmp(&(b.name.as_str(), b.id)));
        directories
    }

    pub(super) fn is_provider_of_directory(&self, provider: IdentityProviderId) -> bool {
        self.directories.values().any(|directory| directory.identity_provider_id == Some(provider))
    }

    pub(super) fn write_directory(&mut self, change: &DirectoryChange) -> Result<(), StoreError> {
        match change {
            DirectoryChange::Create(directory) => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.put_directory(directory.clone())
            }
            DirectoryChange::Update { after, .. } => {
                let stored = self.directories.get(&after.id).ok_or(StoreError::Missing("directory"))?;
                let (tenant_id, created_at, version) = (stored.tenant_id, stored.created_at, stored.version.next());
                self.put_directory(Directory { tenant_id, created_at, version, ..after.clone() })
            }
            DirectoryChange::Delete(directory) => {
                self.directories.remove(&directory.id).ok_or(StoreError::Missing("directory"))?;
                self.directory_activities.remove(&directory.id);
                self.directory_users.retain(|_, entry| entry.directory_id != directory.id);
                self.remove_groups_of(directory.id);
                Ok(())
            }
        }
    }

    fn put_directory(&mut self, directory: Directory) -> Result<(), StoreError> {
        let mut others = self.directories.values().filter(|other| other.id != directory.id);
        let is_free = others.all(|other| other.service_account_id != directory.service_account_id);
        hold(Constraint::DirectoryAccount, is_free)?;
        let has_provider = directory.identity_provider_id.is_none_or(|id| self.identity_providers.contains_key(&id));
        let has_account = self.users.contains_key(&directory.service_account_id);
        hold(Constraint::Reference, has_account && has_provider)?;
        self.directories.insert(directory.id, directory);
        Ok(())
    }
}
