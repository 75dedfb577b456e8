use async_trait::async_trait;
use iam_model::change::IdentityProviderChange;
use iam_model::clock::Timestamp;
use iam_model::id::{DomainId, IdentityProviderId, TenantId};
use iam_model::identity_provider::IdentityProvider;
use iam_model::role::PlacedRole;
use iam_model::store::{IdentityProviderStore, IdentityProviderTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::error::expect_row;
use iam_store_sql::identity_provider::{IdentityProviderRow, stored_scopes, stored_secret};
use sqlx::types::Json;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = IdentityProviderRow<Timestamp>;
type Domains = Json<Vec<DomainId>>;
type Roles = Json<Vec<PlacedRole>>;

#[async_trait]
impl IdentityProviderStore for PostgresStore {
    async fn identity_provider(
        &self,
        tenant: TenantId,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                p.tenant_id, p.id, p.name, p.slug, p.issuer, p.client_id, p.client_secret, p.scopes,
                p.domain_ids AS "domain_ids: Domains", p.trusts_email, p.subject_claim, p.provisioning,
                p.roles AS "roles: Roles", p.factor_is_trusted, p.enabled, p.created_at, p.updated_at, p.version
            FROM iam.identity_providers p
            WHERE p.tenant_id = $1 AND p.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(IdentityProvider::try_from).transpose()
    }

    async fn identity_provider_of_any_tenant(
        &self,
        id: IdentityProviderId,
    ) -> Result<Option<IdentityProvider>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                p.tenant_id, p.id, p.name, p.slug, p.issuer, p.client_id, p.client_secret, p.scopes,
                p.domain_ids AS "domain_ids: Domains", p.trusts_email, p.subject_claim, p.provisioning,
                p.roles AS "roles: Roles", p.factor_is_trusted, p.enabled, p.created_at, p.updated_at, p.version
            FROM iam.identity_providers p
            WHERE p.id = $1
            "#,
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads())).await?.map(IdentityProvider::try_from).transpose()
    }

    async fn identity_providers(&self, tenant: TenantId) -> Result<Vec<IdentityProvider>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                p.tenant_id, p.id, p.name, p.slug, p.issuer, p.client_id, p.client_secret, p.scopes,
                p.domain_ids AS "domain_ids: Domains", p.trusts_email, p.subject_claim, p.provisioning,
                p.roles AS "roles: Roles", p.factor_is_trusted, p.enabled, p.created_at, p.updated_at, p.version
            FROM iam.identity_providers p
            WHERE p.tenant_id = $1
            ORDER BY p.name, p.id
            "#,
            tenant.as_uuid()
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter().map(IdentityProvider::try_from).collect()
    }
}

#[async_trait]
impl IdentityProviderTransaction for PostgresTransaction {
    async fn identity_providers(&mut self) -> Result<Vec<IdentityProvider>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                p.tenant_id, p.id, p.name, p.slug, p.issuer, p.client_id, p.client_secret, p.scopes,
                p.domain_ids AS "domain_ids: Domains", p.trusts_email, p.subject_claim, p.provisioning,
                p.roles AS "roles: Roles", p.factor_is_trusted, p.enabled, p.created_at, p.updated_at, p.version
            FROM iam.identity_providers p
            WHERE p.tenant_id = $1
            ORDER BY p.name, p.id
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(IdentityProvider::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_identity_provider(&mut self, change: &IdentityProviderChange) -> Result<(), StoreError> {
        match change {
            IdentityProviderChange::Create(provider) => self.insert_identity_provider(provider).await,
            IdentityProviderChange::Update { after, .. } => self.update_identity_provider(after).await,
            IdentityProviderChange::Delete { provider, .. } => self.delete_identity_provider(provider.id).await,
        }
    }

    async fn insert_identity_provider(&mut self, provider: &IdentityProvider) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.identity_providers (
                tenant_id, id, name, slug, issuer, client_id, client_secret, scopes, domain_ids, trusts_email,
                subject_claim, provisioning, roles, factor_is_trusted, enabled, created_at, updated_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
            "#,
            self.tenant(),
            provider.id.as_uuid(),
            provider.name.as_str(),
            provider.slug.as_str(),
            provider.issuer.as_str(),
            provider.client_id.as_str(),
            stored_secret(provider),
            stored_scopes(provider),
            Json(&provider.domain_ids) as _,
            provider.trusts_email,
            provider.subject_claim.as_str(),
            provider.provisioning.as_str(),
            Json(&provider.roles) as _,
            provider.factor_is_trusted,
            provider.enabled,
            in_range(provider.created_at),
            in_range(provider.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_identity_provider(&mut self, provider: &IdentityProvider) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.identity_providers
            SET
                name = $3,
                slug = $4,
                issuer = $5,
                client_id = $6,
                client_secret = $7,
                scopes = $8,
                domain_ids = $9,
                trusts_email = $10,
                subject_claim = $11,
                provisioning = $12,
                roles = $13,
                factor_is_trusted = $14,
                enabled = $15,
                updated_at = $16,
                version = version + 1
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            provider.id.as_uuid(),
            provider.name.as_str(),
            provider.slug.as_str(),
            provider.issuer.as_str(),
            provider.client_id.as_str(),
            stored_secret(provider),
            stored_scopes(provider),
            Json(&provider.domain_ids) as _,
            provider.trusts_email,
            provider.subject_claim.as_str(),
            provider.provisioning.as_str(),
            Json(&provider.roles) as _,
            provider.factor_is_trusted,
            provider.enabled,
            in_range(provider.updated_at)
        );
        expect_row(self.execute(update).await?, "identity provider")
    }

    async fn delete_identity_provider(&mut self, id: IdentityProviderId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM iam.identity_providers WHERE tenant_id = $1 AND id = $2",
            self.tenant(),
            id.as_uuid()
        );
        expect_row(self.execute(delete).await?, "identity provider")
    }
}
