use async_trait::async_trait;
use iam_model::api_key::{ApiKey, ApiKeySecret, FormerSecret};
use iam_model::change::ApiKeyChange;
use iam_model::clock::Timestamp;
use iam_model::factor::Factor;
use iam_model::id::{ApiKeyId, OrganizationId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::permission::PermissionSet;
use iam_model::store::{ApiKeySnapshot, ApiKeyStore, ApiKeyTransaction};
use iam_model::store_error::{Constraint, StoreError};
use iam_model::tenant::Tenant;
use iam_model::user::User;
use iam_model::validate::Name;
use iam_model::version::Version;
use serde::{Deserialize, Serialize};

use super::rows::{Draft, Row, View, key};
use super::transaction::RedbTransaction;
use super::{RedbStore, hold, newest_first};

/// An API key. `ApiKey` does not implement the traits of serde, because only a store may see its secret.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ApiKeyRow(#[serde(with = "ApiKeyFields")] ApiKey);

#[derive(Serialize, Deserialize)]
#[serde(remote = "ApiKey")]
struct ApiKeyFields {
    id: ApiKeyId,
    tenant_id: TenantId,
    user_id: UserId,
    name: Name,
    #[serde(with = "SecretFields")]
    secret: ApiKeySecret,
    permissions: Option<PermissionSet>,
    organization_id: Option<OrganizationId>,
    expires_at: Timestamp,
    created_at: Timestamp,
    created_by: Option<UserId>,
    rotated_by_owner: bool,
    last_used_at: Option<Timestamp>,
    version: Version,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ApiKeySecret")]
struct SecretFields {
    hash: [u8; 32],
    #[serde(with = "former")]
    former: Option<FormerSecret>,
}

mod former {
    use iam_model::api_key::FormerSecret;
    use iam_model::clock::Timestamp;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(former: &Option<FormerSecret>, to: S) -> Result<S::Ok, S::Error> {
        former.as_ref().map(|former| (former.hash, former.until)).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<FormerSecret>, D::Error> {
        let fields = Option::<([u8; 32], Timestamp)>::deserialize(from)?;
        Ok(fields.map(|(hash, until)| FormerSecret { hash, until }))
    }
}

impl Row for ApiKeyRow {
    const TABLE: &'static str = "api_keys";

    fn key(&self) -> Vec<u8> {
        key(self.0.id)
    }

    fn belong_to(&mut self, tenant: TenantId) {
        self.0.tenant_id = tenant;
    }
}

#[async_trait]
impl ApiKeyStore for RedbStore {
    async fn api_key_snapshot(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKeySnapshot>, StoreError> {
        self.read(tenant, |view| {
            let Some(found) = view.api_key(id)? else { return Ok(None) };
            let (user, tenant) = (view.get::<User>(&key(found.user_id))?, view.get::<Tenant>(&[])?);
            let (Some(user), Some(tenant)) = (user, tenant) else { return Ok(None) };
            Ok(Some(ApiKeySnapshot {
                user_status: user.status,
                tenant_status: tenant.status,
                enrol_by: tenant.factor_demand().refuses_keys_from(
                    user.kind,
                    user.created_at,
                    view.factors(user.id)?.iter().any(Factor::is_confirmed),
                ),
                authzen_identifiers: tenant.authzen_identifiers,
                grants: view.grants(|assignment| assignment.user_id == found.user_id)?,
                key: found,
            }))
        })
    }

    async fn api_key(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        self.read(tenant, |view| view.api_key(id))
    }

    async fn api_keys_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        self.read(tenant, |view| view.api_keys_of(user))
    }

    async fn expiring_api_keys(
        &self,
        tenant: TenantId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let expires = |ApiKeyRow(key): &ApiKeyRow| now < key.expires_at && key.expires_at <= until;
        let rows = self.read(tenant, |view| view.select(expires))?;
        let mut keys: Vec<ApiKey> = rows.into_iter().map(|ApiKeyRow(key)| key).collect();
        keys.sort_by_key(|key| (key.expires_at, key.id));
        keys.truncate(limit as usize);
        Ok(keys)
    }

    async fn record_api_key_use(&self, tenant: TenantId, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        self.write(|rows| {
            let draft = Draft::new(rows, tenant);
            let Some(found) = draft.view().api_key(id)? else { return Ok(()) };
            let last_used_at = found.last_used_at.max(Some(now));
            draft.put(ApiKeyRow(ApiKey { last_used_at, ..found }))
        })
        .await
    }
}

#[async_trait]
impl ApiKeyTransaction for RedbTransaction {
    async fn lock_api_key(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        self.view().api_key(id)
    }

    async fn lock_api_keys_of(&mut self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        self.view().api_keys_of(user)
    }
}

impl View<'_> {
    fn api_key(self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        Ok(self.get(&key(id))?.map(|ApiKeyRow(found)| found))
    }

    fn api_keys_of(self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        let rows = self.select(|ApiKeyRow(found)| found.user_id == user)?;
        let keys = rows.into_iter().map(|ApiKeyRow(found)| found).collect();
        Ok(newest_first(keys, |key: &ApiKey| (key.created_at, key.id)))
    }
}

impl Draft<'_> {
    pub(super) fn write_api_key(self, change: &ApiKeyChange) -> Result<(), StoreError> {
        match change {
            ApiKeyChange::Create { key: made, .. } => {
                hold(Constraint::Reference, self.view().has::<User>(&key(made.user_id))?)?;
                if let Some(organization) = made.organization_id {
                    hold(Constraint::Reference, self.view().has::<Organization>(&key(organization))?)?;
                }
                self.put(ApiKeyRow(made.clone()))
            }
            ApiKeyChange::Update { after, .. } | ApiKeyChange::Rotate { after, .. } => {
                let stored = self.view().api_key(after.id)?.ok_or(StoreError::Missing("API key"))?;
                let (last_used_at, version) = (stored.last_used_at, stored.version.next());
                self.put(ApiKeyRow(ApiKey { last_used_at, version, ..after.clone() }))
            }
            ApiKeyChange::Delete(keys) => {
                for revoked in keys {
                    self.remove::<ApiKeyRow>(&key(revoked.id))?;
                }
                Ok(())
            }
        }
    }
}
