use async_trait::async_trait;
use iam_model::attribute::{AttributeOwner, AttributeRules, Attributes};
use iam_model::id::{TenantId, UserId};
use iam_model::store::{AttributeStore, AttributeTransaction};
use iam_model::store_error::StoreError;
use iam_model::user::User;
use iam_store_sql::attribute::{AttributeRulesRow, attributes, attributes_of};
use iam_store_sql::user::UserWithAttributesRow;
use sqlx::types::Json;

use crate::error::store_error;
use crate::store::SqliteStore;
use crate::transaction::SqliteTransaction;

type UserRow = UserWithAttributesRow<i64>;

#[async_trait]
impl AttributeStore for SqliteStore {
    async fn attributes(&self, tenant: TenantId, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        let text = sqlx::query_scalar!(
            "SELECT a.attributes FROM attributes a WHERE a.tenant_id = ?1 AND a.owner_id = ?2",
            tenant.as_uuid(),
            owner.as_uuid()
        );
        attributes(self.answer(text.fetch_optional(&self.reads_of(tenant))).await?)
    }

    async fn user_with_attributes(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Option<(User, Attributes)>, StoreError> {
        let row = sqlx::query_as!(
            UserRow,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version,
                a.attributes AS "attributes?"
            FROM users u
            LEFT JOIN attributes a ON a.tenant_id = u.tenant_id AND a.owner_id = u.id
            WHERE u.tenant_id = ?1 AND u.id = ?2
            "#,
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(TryInto::try_into).transpose()
    }

    async fn attributes_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<(UserId, Attributes)>, StoreError> {
        let users = Json(users.iter().map(|user| user.as_uuid()).collect::<Vec<_>>());
        let rows = sqlx::query!(
            r#"
            SELECT a.owner_id, a.attributes
            FROM attributes a
            WHERE a.tenant_id = ?1 AND a.owner_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            tenant.as_uuid(),
            &users
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter().map(|row| attributes_of(row.owner_id, row.attributes)).collect()
    }
}

#[async_trait]
impl AttributeTransaction for SqliteTransaction {
    async fn attributes(&mut self, owner: AttributeOwner) -> Result<Attributes, StoreError> {
        let text = sqlx::query_scalar!(
            "SELECT a.attributes FROM attributes a WHERE a.tenant_id = ?1 AND a.owner_id = ?2",
            self.tenant(),
            owner.as_uuid()
        );
        attributes(text.fetch_optional(self.connection()).await.map_err(store_error)?)
    }

    async fn attribute_rules(&mut self) -> Result<AttributeRules, StoreError> {
        let row = sqlx::query_as!(
            AttributeRulesRow,
            r#"
            SELECT t.user_attributes, t.organization_attributes, t.unregistered_attributes
            FROM tenants t
            WHERE t.id = ?1
            "#,
            self.tenant()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        Ok(row.map(AttributeRules::try_from).transpose()?.unwrap_or_default())
    }
}

impl SqliteTransaction {
    /// Writes the attributes of an owner, and the values by which it is found, in the place of the former ones.
    pub(crate) async fn write_attributes(
        &mut self,
        owner: AttributeOwner,
        attributes: &Attributes,
    ) -> Result<(), StoreError> {
        let (tenant, owner) = (self.tenant(), owner.as_uuid());
        let delete = sqlx::query!("DELETE FROM attribute_values WHERE tenant_id = ?1 AND owner_id = ?2", tenant, owner);
        self.execute(delete).await?;
        if attributes.is_empty() {
            let delete = sqlx::query!("DELETE FROM attributes WHERE tenant_id = ?1 AND owner_id = ?2", tenant, owner);
            return self.execute(delete).await.map(drop);
        }
        let write = sqlx::query!(
            r#"
            INSERT INTO attributes (tenant_id, owner_id, attributes)
            VALUES (?1, ?2, ?3)
            ON CONFLICT (tenant_id, owner_id) DO UPDATE SET attributes = excluded.attributes
            "#,
            tenant,
            owner,
            attributes.to_text()
        );
        self.execute(write).await?;
        let values: Vec<(String, String)> =
            attributes.indexed().into_iter().map(|indexed| (indexed.key, indexed.value)).collect();
        let insert = sqlx::query!(
            r#"
            INSERT INTO attribute_values (tenant_id, owner_id, key, value)
            SELECT ?1, ?2, v.value ->> 0, v.value ->> 1
            FROM json_each(?3) v
            "#,
            tenant,
            owner,
            Json(values)
        );
        self.execute(insert).await.map(drop)
    }
}
