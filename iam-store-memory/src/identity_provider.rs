use async_trait::async_trait;
use iam_model::change::IdentityProviderChange;
use iam_model::id::{IdentityProviderId, TenantId};
use iam_model::identity_provider::IdentityProvider;
use iam_model::store::{IdentityProviderStore, IdentityProviderTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl IdentityProviderStore for MemoryStore {
    async fn identity_provider(
        &self,
        tenant: TenantId,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError> {
        Ok(self.tenant_state(tenant).identity_providers.get(&id).cloned())
    }

    async fn identity_provider_of_any_tenant(
        &self,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError> {
        Ok(self.read(|state| state.tenants.values().find_map(|tenant| tenant.identity_providers.get(&id)).cloned()))
    }

    async fn identity_providers(&self, tenant: TenantId) -> Result<Vec<IdentityProvider>, StoreError> {
        Ok(self.tenant_state(tenant).sorted_identity_providers())
    }
}

#[async_trait]
impl IdentityProviderTransaction for MemoryTransaction {
    async fn identity_providers(&mut self) -> Result<Vec<IdentityProvider>, StoreError> {
        Ok(self.draft.sorted_identity_providers())
    }
}

impl TenantState {
    fn sorted_identity_providers(&self) -> Vec<IdentityProvider> {
        let mut providers: Vec<IdentityProvider> = self.identity_providers.values().cloned().collect();
        providers.sort_by(|a, b| (a.name.as_str(), a.id).cmp(&(b.name.as_str(), b.id)));
        providers
    }

    pub(super) fn write_identity_provider(&mut self, change: &IdentityProviderChange) -> Result<(), StoreError> {
        match change {
            IdentityProviderChange::Create(provider) => {
                hold(Constraint::Reference, self.tenant.is_some())?;
                self.hold_provider_slug(provider)?;
                self.identity_providers.insert(provider.id, provider.clone());
            }
            IdentityProviderChange::Update { after, .. } => {
                let stored = self.identity_providers.get(&after.id).ok_or(StoreError::Missing("identity provider"))?;
                let changed = IdentityProvider {
                    tenant_id: stored.tenant_id,
                    created_at: stored.created_at,
                    version: stored.version.next(),
                    ..after.clone()
                };
                self.hold_provider_slug(&changed)?;
                self.identity_providers.insert(changed.id, changed);
            }
            IdentityProviderChange::Delete { provider, .. } => {
                hold(Constraint::Reference, !self.is_provider_of_directory(provider.id))?;
                self.identity_providers.remove(&provider.id).ok_or(StoreError::Missing("identity provider"))?;
                self.identities.retain(|_, identity| identity.provider_id != provider.id);
            }
        }
        Ok(())
    }

    fn hold_provider_slug(&self, provider: &IdentityProvider) -> Result<(), StoreError> {
        let mut others = self.identity_providers.values().filter(|other| other.id != provider.id);
        hold(Constraint::IdentityProviderSlug, others.all(|other| other.slug != provider.slug))
    }
}
