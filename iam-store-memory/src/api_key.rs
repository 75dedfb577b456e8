use std::sync::Arc;

use async_trait::async_trait;
use iam_model::api_key::ApiKey;
use iam_model::change::ApiKeyChange;
use iam_model::clock::Timestamp;
use iam_model::id::{ApiKeyId, TenantId, UserId};
use iam_model::store::{ApiKeySnapshot, ApiKeyStore, ApiKeyTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold, newest_first};

#[async_trait]
impl ApiKeyStore for MemoryStore {
    async fn api_key_snapshot(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKeySnapshot>, StoreError> {
        let state = self.tenant_state(tenant);
        let snapshot = |key: &ApiKey| {
            let (tenant, user) = (state.tenant.as_ref()?, state.users.get(&key.user_id)?);
            let has_factor = state.has_factor(user.id);
            Some(ApiKeySnapshot {
                key: key.clone(),
                user_status: user.status,
                tenant_status: tenant.status,
                enrol_by: tenant.factor_demand().refuses_keys_from(user.kind, user.created_at, has_factor),
                authzen_identifiers: tenant.authzen_identifiers,
                grants: state.grants(|assignment| assignment.user_id == key.user_id),
            })
        };
        Ok(state.api_keys.get(&id).and_then(snapshot))
    }

    async fn api_key(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        Ok(self.tenant_state(tenant).api_keys.get(&id).cloned())
    }

    async fn api_keys_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        Ok(self.tenant_state(tenant).api_keys_of(user))
    }

    async fn expiring_api_keys(
        &self,
        tenant: TenantId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let state = self.tenant_state(tenant);
        let expires = |key: &&ApiKey| now < key.expires_at && key.expires_at <= until;
        let mut keys: Vec<ApiKey> = state.api_keys.values().filter(expires).cloned().collect();
        keys.sort_by_key(|key| (key.expires_at, key.id));
        keys.truncate(limit as usize);
        Ok(keys)
    }

    async fn record_api_key_use(&self, tenant: TenantId, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        // A unit of work that has begun would undo the write.
        let _writer = self.writer.lock().await;
        self.change(|state| {
            let key = state.tenants.get_mut(&tenant).and_then(|tenant| Arc::make_mut(tenant).api_keys.get_mut(&id));
            if let Some(key) = key {
                key.last_used_at = key.last_used_at.max(Some(now));
            }
        });
        Ok(())
    }
}

#[async_trait]
impl ApiKeyTransaction for MemoryTransaction {
    async fn lock_api_key(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        Ok(self.draft.api_keys.get(&id).cloned())
    }

    async fn lock_api_keys_of(&mut self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        Ok(self.draft.api_keys_of(user))
    }
}

impl TenantState {
    fn api_keys_of(&self, user: UserId) -> Vec<ApiKey> {
        let mut keys: Vec<ApiKey> = self.api_keys.values().filter(|key| key.user_id == user).cloned().collect();
        newest_first(&mut keys, |key| (key.created_at, key.id));
        keys
    }

    pub(super) fn write_api_key(&mut self, change: &ApiKeyChange) -> Result<(), StoreError> {
        match change {
            ApiKeyChange::Create { key, .. } => {
                hold(Constraint::Reference, self.users.contains_key(&key.user_id))?;
                let is_known = key.organization_id.is_none_or(|id| self.organizations.contains_key(&id));
                hold(Constraint::Reference, is_known)?;
                self.api_keys.insert(key.id, key.clone());
            }
            ApiKeyChange::Update { after, .. } | ApiKeyChange::Rotate { after, .. } => {
                let stored = self.api_keys.get_mut(&after.id).ok_or(StoreError::Missing("API key"))?;
                let (last_used_at, version) = (stored.last_used_at, stored.version.next());
                *stored = ApiKey { last_used_at, version, ..after.clone() };
            }
            ApiKeyChange::Delete(keys) => self.api_keys.retain(|id, _| keys.iter().all(|key| key.id != *id)),
        }
        Ok(())
    }
}
