use iam_core::organization::{Organization, OrganizationChange};
use iam_core::{OrganizationId, StoreError};

use crate::error::store_error;
use crate::transaction::PostgresTransaction;

impl PostgresTransaction {
    pub(crate) async fn write_organization(&mut self, change: &OrganizationChange) -> Result<(), StoreError> {
        match change {
            OrganizationChange::Create(organization) => self.insert_organization(organization).await,
        }
    }

    async fn insert_organization(&mut self, organization: &Organization) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO iam.organizations (tenant_id, id, name, slug, parent_id, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            "#,
            self.tenant(),
            organization.id.as_uuid(),
            organization.name.as_str(),
            organization.slug.as_str(),
            organization.parent_id.map(OrganizationId::as_uuid),
            organization.created_at,
            organization.updated_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}
