use async_trait::async_trait;
use iam_model::change::IdentityChange;
use iam_model::id::{IdentityId, IdentityProviderId, TenantId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::Issuer;
use iam_model::store::{IdentityStore, IdentityTransaction};
use iam_model::store_error::{Constraint, StoreError};

use crate::state::{MemoryStore, MemoryTransaction, TenantState, hold};

#[async_trait]
impl IdentityStore for MemoryStore {
    async fn identity(&self, tenant: TenantId, id: IdentityId) -> Result<Option<Identity>, StoreError> {
        Ok(self.tenant_state(tenant).identities.get(&id).cloned())
    }

    async fn identities(&self, tenant: TenantId, user: UserId) -> Result<Vec<Identity>, StoreError> {
        Ok(self.tenant_state(tenant).identities_of(user))
    }

    async fn identity_of(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        issuer: &Issuer,
        subject: &str,
    ) -> Result<Option<Identity>, StoreError> {
        Ok(self.tenant_state(tenant).identity_with(provider, issuer, subject).cloned())
    }
}

#[async_trait]
impl IdentityTransaction for MemoryTransaction {
    async fn identities(&mut self, user: UserId) -> Result<Vec<Identity>, StoreError> {
        Ok(self.draft.identities_of(user))
    }

    async fn count_identities(&mut self, provider: IdentityProviderId) -> Result<u64, StoreError> {
        let at_provider = self.draft.identities.values().filter(|identity| identity.provider_id == provider);
        Ok(at_provider.count() as u64)
    }
}

impl TenantState {
    fn identities_of(&self, user: UserId) -> Vec<Identity> {
        let of_user = self.identities.values().filter(|identity| identity.user_id == user);
        let mut identities: Vec<Identity> = of_user.cloned().collect();
        identities.sort_by_key(|identity| (identity.linked_at, identity.id));
        identities
    }

    fn identity_with(&self, provider: IdentityProviderId, issuer: &Issuer, subject: &str) -> Option<&Identity> {
        let mut at_provider = self.identities.values().filter(|identity| identity.provider_id == provider);
        at_provider.find(|identity| identity.issuer == *issuer && identity.subject == subject)
    }

    pub(super) fn write_identity(&mut self, change: &IdentityChange) -> Result<(), StoreError> {
        match change {
            IdentityChange::Create(identity) => {
                let Identity { user_id, provider_id, issuer, subject, .. } = identity;
                let has_both = self.users.contains_key(user_id) && self.identity_providers.contains_key(provider_id);
                hold(Constraint::Reference, has_both)?;
                let is_linked = self.identity_with(*provider_id, issuer, subject).is_some();
                let mut of_user = self.identities.values().filter(|other| other.user_id == *user_id);
                let has_another = of_user.any(|other| other.provider_id == *provider_id);
                hold(Constraint::Identity, !is_linked && !has_another)?;
                self.identities.insert(identity.id, identity.clone());
            }
            IdentityChange::Use(after) => {
                let stored = self.identities.get_mut(&after.id).ok_or(StoreError::Missing("identity"))?;
                stored.email.clone_from(&after.email);
                stored.last_login_at = after.last_login_at;
            }
            IdentityChange::Delete { identity, .. } => {
                self.identities.remove(&identity.id).ok_or(StoreError::Missing("identity"))?;
            }
        }
        Ok(())
    }
}
