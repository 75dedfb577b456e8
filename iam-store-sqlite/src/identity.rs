use async_trait::async_trait;
use iam_model::change::IdentityChange;
use iam_model::id::{IdentityId, IdentityProviderId, TenantId, UserId};
use iam_model::identity::Identity;
use iam_model::identity_provider::Issuer;
use iam_model::store::{IdentityStore, IdentityTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::Email;
use iam_store_sql::column::counted;
use iam_store_sql::error::expect_row;
use iam_store_sql::identity::IdentityRow;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = IdentityRow<i64>;

#[async_trait]
impl IdentityStore for SqliteStore {
    async fn identity(&self, tenant: TenantId, id: IdentityId) -> Result<Option<Identity>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                i.tenant_id, i.id, i.user_id, i.provider_id, i.issuer, i.subject, i.email, i.linked_at, i.last_login_at
            FROM identities i
            WHERE i.tenant_id = ?1 AND i.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Identity::try_from).transpose()
    }

    async fn identities(&self, tenant: TenantId, user: UserId) -> Result<Vec<Identity>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                i.tenant_id, i.id, i.user_id, i.provider_id, i.issuer, i.subject, i.email, i.linked_at, i.last_login_at
            FROM identities i
            WHERE i.tenant_id = ?1 AND i.user_id = ?2
            ORDER BY i.linked_at, i.id
            "#,
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Identity::try_from).collect()
    }

    async fn identity_of(
        &self,
        tenant: TenantId,
        provider: IdentityProviderId,
        issuer: &Issuer,
        subject: &str,
    ) -> Result<Option<Identity>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                i.tenant_id, i.id, i.user_id, i.provider_id, i.issuer, i.subject, i.email, i.linked_at, i.last_login_at
            FROM identities i
            WHERE i.tenant_id = ?1 AND i.provider_id = ?2 AND i.issuer = ?3 AND i.subject = ?4
            "#,
            tenant.as_uuid(),
            provider.as_uuid(),
            issuer.as_str(),
            subject
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Identity::try_from).transpose()
    }
}

#[async_trait]
impl IdentityTransaction for SqliteTransaction {
    async fn identities(&mut self, user: UserId) -> Result<Vec<Identity>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                i.tenant_id, i.id, i.user_id, i.provider_id, i.issuer, i.subject, i.email, i.linked_at, i.last_login_at
            FROM identities i
            WHERE i.tenant_id = ?1 AND i.user_id = ?2
            ORDER BY i.linked_at, i.id
            "#,
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Identity::try_from).collect()
    }

    async fn count_identities(&mut self, provider: IdentityProviderId) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM identities WHERE tenant_id = ?1 AND provider_id = ?2"#,
            self.tenant(),
            provider.as_uuid()
        );
        counted("identities", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_identity(&mut self, change: &IdentityChange) -> Result<(), StoreError> {
        match change {
            IdentityChange::Create(identity) => self.insert_identity(identity).await,
            IdentityChange::Use(identity) => self.update_identity(identity).await,
            IdentityChange::Delete { identity, .. } => self.delete_identity(identity.id).await,
        }
    }

    async fn insert_identity(&mut self, identity: &Identity) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO identities (
                tenant_id, id, user_id, provider_id, issuer, subject, email, linked_at, last_login_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            "#,
            self.tenant(),
            identity.id.as_uuid(),
            identity.user_id.as_uuid(),
            identity.provider_id.as_uuid(),
            identity.issuer.as_str(),
            identity.subject.as_str(),
            identity.email.as_ref().map(Email::as_str),
            millis(identity.linked_at),
            identity.last_login_at.map(millis)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_identity(&mut self, identity: &Identity) -> Result<(), StoreError> {
        let update = sqlx::query!(
            "UPDATE identities SET email = ?3, last_login_at = ?4 WHERE tenant_id = ?1 AND id = ?2",
            self.tenant(),
            identity.id.as_uuid(),
            identity.email.as_ref().map(Email::as_str),
            identity.last_login_at.map(millis)
        );
        expect_row(self.execute(update).await?, "identity")
    }

    async fn delete_identity(&mut self, id: IdentityId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM identities WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "identity")
    }
}
