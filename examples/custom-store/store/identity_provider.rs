use async_trait::async_trait;
use iam_model::change::IdentityProviderChange;
use iam_model::directory::Directory;
use iam_model::id::{IdentityProviderId, TenantId};
use iam_model::identity_provider::{EncryptedClientSecret, IdentityProvider};
use iam_model::store::{IdentityProviderStore, IdentityProviderTransaction};
use iam_model::store_error::{Constraint, StoreError};
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Row, View, everywhere, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold};

/// An identity provider, and its secret, which serde leaves out because only a store may see it.
#[derive(Serialize, Deserialize)]
pub(super) struct IdentityProviderRow {
    provider: IdentityProvider,
    client_secret: Option<Vec<u8>>,
}

impl From<&IdentityProvider> for IdentityProviderRow {
    fn from(provider: &IdentityProvider) -> Self {
        let client_secret = provider.client_secret.as_ref().map(|secret| secret.0.clone());
        Self { provider: provider.clone(), client_secret }
    }
}

impl From<IdentityProviderRow> for IdentityProvider {
    fn from(row: IdentityProviderRow) -> Self {
        Self { client_secret: row.client_secret.map(EncryptedClientSecret), ..row.provider }
    }
}

impl Row for IdentityProviderRow {
    const TABLE: &'static str = "identity_providers";

    fn key(&self) -> Vec<u8> {
        key(self.provider.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.provider.tenant_id = tenant;
    }
}

#[async_trait]
impl IdentityProviderStore for RedbStore {
    async fn identity_provider(
        &self,
        tenant: TenantId,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError> {
        let row: Option<IdentityProviderRow> = self.read(tenant, |view| view.get(&key(id)))?;
        Ok(row.map(IdentityProvider::from))
    }

    async fn identity_provider_of_any_tenant(
        &self,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError> {
        let mut rows = self.read_all(everywhere::<IdentityProviderRow>)?.into_iter().map(|(_, row)| row);
        Ok(rows.find(|row| row.provider.id == id).map(IdentityProvider::from))
    }

    async fn identity_providers(&self, tenant: TenantId) -> Result<Vec<IdentityProvider>, StoreError> {
        self.read(tenant, |view| view.identity_providers())
    }
}

#[async_trait]
impl IdentityProviderTransaction for RedbTransaction {
    async fn identity_providers(&mut self) -> Result<Vec<IdentityProvider>, StoreError> {
        self.view().identity_providers()
    }
}

impl View<'_> {
    fn identity_providers(self) -> Result<Vec<IdentityProvider>, StoreError> {
        let rows = self.all::<IdentityProviderRow>()?.into_iter();
        let mut providers: Vec<IdentityProvider> = rows.map(IdentityProvider::from).collect();
        providers.sort_by(|a, b| (a.name.as_str(), a.id).cmp(&(b.name.as_str(), b.id)));
        Ok(providers)
    }
}

impl Draft<'_> {
    pub(super) fn write_identity_provider(self, change: &IdentityProviderChange) -> Result<(), StoreError> {
        match change {
            IdentityProviderChange::Create(provider) => {
                self.hold_tenant()?;
                self.put_identity_provider(provider)
            }
            IdentityProviderChange::Update { after, .. } => {
                let stored: Option<IdentityProviderRow> = self.view().get(&key(after.id))?;
                let stored = stored.ok_or(StoreError::Missing("identity provider"))?.provider;
                self.put_identity_provider(&IdentityProvider {
                    created_at: stored.created_at,
                    version: stored.version.next(),
                    ..after.clone()
                })
            }
            IdentityProviderChange::Delete { provider, .. } => {
                let is_named = |directory: &Directory| directory.identity_provider_id == Some(provider.id);
                hold(Constraint::Reference, !self.view().any(is_named)?)?;
                self.remove_identities_at(provider.id)?;
                let removed = self.remove::<IdentityProviderRow>(&key(provider.id))?;
                removed.then_some(()).ok_or(StoreError::Missing("identity provider"))
            }
        }
    }

    fn put_identity_provider(self, provider: &IdentityProvider) -> Result<(), StoreError> {
        let is_taken = self.view().any(|other: &IdentityProviderRow| {
            other.provider.id != provider.id && other.provider.slug == provider.slug
        })?;
        hold(Constraint::IdentityProviderSlug, !is_taken)?;
        self.put(IdentityProviderRow::from(provider))
    }
}
