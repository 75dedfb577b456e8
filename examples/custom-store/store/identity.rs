use async_trait::async_trait;
use iam_model::change::IdentityChange;
use iam_model::id::{IdentityId, IdentityProviderId, TenantId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::Issuer;
use iam_model::store::{IdentityStore, IdentityTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::user::User;

use super::identity_provider::IdentityProviderRow;
use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

impl Row for Identity {
    const TABLE: &'static str = "identities";

    fn key(&self) -> Vec<u8> {
        key(self.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.tenant_id = tenant;
    }
}

#[async_trait]
impl IdentityStore for RedbStore {
    async fn identity(&self, tenant: TenantId, id: IdentityId) -> Result<Option<Identity>, StoreError> {
        self.read(tenant, |view| view.get(&key(id)))
    }

    async fn identities(&self, tenant: TenantId, user: UserId) -> Result<Vec<Identity>, StoreError> {
        self.read(tenant, |view| view.identities(user))
    }

    async fn identity_of(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        issuer: &Issuer,
        subject: &str,
    ) -> Result<Option<Identity>, StoreError> {
        let is_it = |identity: &Identity| names(identity, provider, issuer, subject);
        Ok(self.read(tenant, |view| view.select(is_it))?.into_iter().next())
    }
}

#[async_trait]
impl IdentityTransaction for RedbTransaction {
    async fn identities(&mut self, user: UserId) -> Result<Vec<Identity>, StoreError> {
        self.view().identities(user)
    }

    async fn count_identities(&mut self, provider: IdentityProviderId) -> Result<u64, StoreError> {
        Ok(self.view().select(|identity: &Identity| identity.provider_id == provider)?.len() as u64)
    }
}

fn names(identity: &Identity, provider: IdentityProviderId, issuer: &Issuer, subject: &str) -> bool {
    identity.provider_id == provider && identity.issuer == *issuer && identity.subject == subject
}

impl View<'_> {
    fn identities(self, user: UserId) -> Result<Vec<Identity>, StoreError> {
        let mut identities = self.select(|identity: &Identity| identity.user_id == user)?;
        identities.sort_by_key(|identity| (identity.linked_at, identity.id));
        Ok(identities)
    }
}

impl Draft<'_> {
    pub(super) fn write_identity(self, change: &IdentityChange) -> Result<(), StoreError> {
        match change {
            IdentityChange::Create(identity) => {
                let Identity { user_id, provider_id, issuer, subject, .. } = identity;
                hold(Constraint::Reference, self.view().has::<User>(&key(*user_id))?)?;
                hold(Constraint::Reference, self.view().has::<IdentityProviderRow>(&key(*provider_id))?)?;
                let is_taken = self.view().any(|other: &Identity| {
                    names(other, *provider_id, issuer, subject)
                        || (other.user_id == *user_id && other.provider_id == *provider_id)
                })?;
                hold(Constraint::Identity, !is_taken)?;
                self.put(identity.clone())
            }
            IdentityChange::Use(after) => {
                let stored: Option<Identity> = self.view().get(&key(after.id))?;
                self.put(Identity {
                    email: after.email.clone(),
                    last_login_at: after.last_login_at,
                    ..stored.ok_or(StoreError::Missing("identity"))?
                })
            }
            IdentityChange::Delete { identity, .. } => {
                let removed = self.remove::<Identity>(&key(identity.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("identity"))
            }
        }
    }

    pub(super) fn remove_identities_at(self, provider: IdentityProviderId) -> Result<(), StoreError> {
        let ended = self.view().select(|identity: &Identity| identity.provider_id == provider)?;
        ended.iter().try_for_each(|identity| self.remove::<Identity>(&identity.key()).map(drop))
    }
}
