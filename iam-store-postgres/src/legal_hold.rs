use async_trait::async_trait;
use iam_model::change::LegalHoldChange;
use iam_model::clock::Timestamp;
use iam_model::id::{LegalHoldId, TenantId, UserId};
use iam_model::legal_hold::{Destroyed, LegalHold};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{LegalHoldStore, LegalHoldTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::column::counted;
use iam_store_sql::error::expect_row;
use iam_store_sql::legal_hold::{KeptBy, LegalHoldRow};
use iam_store_sql::page::{offset, page_of};

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = LegalHoldRow<Timestamp>;

#[async_trait]
impl LegalHoldStore for PostgresStore {
    async fn legal_hold(&self, tenant: TenantId, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT tenant_id, id, user_id, reason, placed_by, created_at
            FROM iam.legal_holds
            WHERE tenant_id = $1 AND id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(LegalHold::try_from).transpose()
    }

    async fn legal_holds(&self, tenant: TenantId, page: PageRequest) -> Result<Page<LegalHold>, StoreError> {
        let tenant = tenant.as_uuid();
        let (rows, total) = self
            .list(tenant, |source| async move {
                let total = sqlx::query_scalar!(
                    r#"SELECT count(*) AS "count!" FROM iam.legal_holds WHERE tenant_id = $1"#,
                    tenant
                );
                let total = total.fetch_one(&source).await?;
                let rows = sqlx::query_as!(
                    Row,
                    r#"
                    SELECT tenant_id, id, user_id, reason, placed_by, created_at
                    FROM iam.legal_holds
                    WHERE tenant_id = $1
                    ORDER BY created_at DESC, id
                    LIMIT $2 OFFSET $3
                    "#,
                    tenant,
                    i64::from(page.limit()),
                    offset(page)
                );
                Ok((rows.fetch_all(&source).await?, total))
            })
            .await?;
        page_of(rows, total, page)
    }
}

#[async_trait]
impl LegalHoldTransaction for PostgresTransaction {
    async fn legal_hold(&mut self, id: LegalHoldId) -> Result<Option<LegalHold>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT tenant_id, id, user_id, reason, placed_by, created_at
            FROM iam.legal_holds
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(LegalHold::try_from).transpose()
    }

    async fn legal_hold_of(&mut self, destroyed: Destroyed) -> Result<Option<LegalHold>, StoreError> {
        let KeptBy { every, of_user, of_directory } = destroyed.into();
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT h.tenant_id, h.id, h.user_id, h.reason, h.placed_by, h.created_at
            FROM iam.legal_holds h
            WHERE h.tenant_id = $1
                AND ($2 OR h.user_id IS NULL OR h.user_id = $3 OR EXISTS (
                    SELECT 1 FROM iam.directory_users u
                    WHERE u.tenant_id = $1 AND u.user_id = h.user_id AND u.directory_id = $4
                ))
            ORDER BY h.created_at, h.id
            LIMIT 1
            "#,
            self.tenant(),
            every,
            of_user,
            of_directory
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(LegalHold::try_from).transpose()
    }

    async fn count_legal_holds(&mut self) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"SELECT count(*) AS "count!" FROM iam.legal_holds WHERE tenant_id = $1"#,
            self.tenant()
        );
        counted("legal_holds", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_legal_hold(&mut self, change: &LegalHoldChange) -> Result<(), StoreError> {
        match change {
            LegalHoldChange::Place(hold) => self.insert_legal_hold(hold).await,
            LegalHoldChange::Release { hold, .. } => self.delete_legal_hold(hold.id).await,
        }
    }

    async fn insert_legal_hold(&mut self, hold: &LegalHold) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.legal_holds (tenant_id, id, user_id, reason, placed_by, created_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            "#,
            self.tenant(),
            hold.id.as_uuid(),
            hold.user_id.map(UserId::as_uuid),
            hold.reason.as_str(),
            hold.placed_by.map(UserId::as_uuid),
            in_range(hold.created_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn delete_legal_hold(&mut self, id: LegalHoldId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM iam.legal_holds WHERE tenant_id = $1 AND id = $2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "legal hold")
    }
}
