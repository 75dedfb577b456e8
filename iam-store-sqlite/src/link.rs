use async_trait::async_trait;
use iam_model::change::LinkChange;
use iam_model::id::TenantId;
use iam_model::link::{Link, LinkPurpose};
use iam_model::store::{LinkStore, LinkTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::error::expect_row;
use iam_store_sql::link::LinkRow;
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = LinkRow<i64>;

#[async_trait]
impl LinkStore for SqliteStore {
    async fn link_by_token(&self, tenant: TenantId, token_hash: &[u8; 32]) -> Result<Option<Link>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT tenant_id, purpose, subject, id, email, token_hash, created_at, expires_at
            FROM links
            WHERE tenant_id = ?1 AND token_hash = ?2
            "#,
            tenant.as_uuid(),
            token_hash.as_slice()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Link::try_from).transpose()
    }

    async fn link(&self, tenant: TenantId, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT tenant_id, purpose, subject, id, email, token_hash, created_at, expires_at
            FROM links
            WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3
            "#,
            tenant.as_uuid(),
            purpose.as_str(),
            subject
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Link::try_from).transpose()
    }
}

#[async_trait]
impl LinkTransaction for SqliteTransaction {
    async fn lock_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<Option<Link>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT tenant_id, purpose, subject, id, email, token_hash, created_at, expires_at
            FROM links
            WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3
            "#,
            self.tenant(),
            purpose.as_str(),
            subject
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Link::try_from).transpose()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_link(&mut self, change: &LinkChange) -> Result<(), StoreError> {
        match change {
            LinkChange::Issue { link, .. } => self.issue_link(link).await,
            LinkChange::Send { link } => self.send_link(link).await,
            LinkChange::End { purpose, subject } => self.end_link(*purpose, *subject).await,
            LinkChange::EndAll { purpose } => self.end_links(*purpose).await,
        }
    }

    async fn issue_link(&mut self, link: &Link) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO links (tenant_id, purpose, subject, id, email, token_hash, created_at, expires_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (tenant_id, purpose, subject) DO UPDATE
            SET
                id = excluded.id,
                email = excluded.email,
                token_hash = excluded.token_hash,
                created_at = excluded.created_at,
                expires_at = excluded.expires_at
            "#,
            self.tenant(),
            link.purpose.as_str(),
            link.subject,
            link.id.as_uuid(),
            link.email.as_str(),
            link.token_hash.as_slice(),
            millis(link.created_at),
            millis(link.expires_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn send_link(&mut self, link: &Link) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE links
            SET expires_at = ?5
            WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3 AND id = ?4
            "#,
            self.tenant(),
            link.purpose.as_str(),
            link.subject,
            link.id.as_uuid(),
            millis(link.expires_at)
        );
        expect_row(self.execute(update).await?, "link")
    }

    async fn end_links(&mut self, purpose: LinkPurpose) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM links WHERE tenant_id = ?1 AND purpose = ?2", self.tenant(), purpose.as_str());
        self.execute(delete).await.map(drop)
    }

    async fn end_link(&mut self, purpose: LinkPurpose, subject: Uuid) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM links WHERE tenant_id = ?1 AND purpose = ?2 AND subject = ?3",
            self.tenant(),
            purpose.as_str(),
            subject
        );
        self.execute(delete).await.map(drop)
    }
}
