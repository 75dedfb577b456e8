//! The worker's own data.

use std::path::Path;

use chrono::NaiveDate;
use iam_core::TenantId;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{FromRow, SqlitePool};
use uuid::Uuid;

/// The database of the billing. It is separate from IAM's database.
#[derive(Clone, Debug)]
pub(crate) struct Billing(SqlitePool);

#[derive(Debug, FromRow)]
pub(crate) struct Invoice {
    pub(crate) number: String,
    tenant_id: Uuid,
    pub(crate) due_on: NaiveDate,
}

impl Invoice {
    pub(crate) fn new(number: impl Into<String>, tenant: TenantId, due_on: NaiveDate) -> Self {
        Self { number: number.into(), tenant_id: tenant.as_uuid(), due_on }
    }

    pub(crate) fn tenant(&self) -> TenantId {
        TenantId::from_uuid(self.tenant_id)
    }
}

impl Billing {
    pub(crate) async fn open(file: &Path) -> sqlx::Result<Self> {
        let pool = SqlitePool::connect_with(SqliteConnectOptions::new().filename(file).create_if_missing(true)).await?;
        sqlx::raw_sql(include_str!("schema.sql")).execute(&pool).await?;
        Ok(Self(pool))
    }

    pub(crate) async fn add(&self, invoice: &Invoice) -> sqlx::Result<()> {
        let insert = sqlx::query("INSERT INTO invoices (number, tenant_id, due_on) VALUES (?1, ?2, ?3)");
        let insert = insert.bind(&invoice.number).bind(invoice.tenant_id).bind(invoice.due_on);
        insert.execute(&self.0).await.map(drop)
    }

    pub(crate) async fn overdue(&self, today: NaiveDate, limit: u32) -> sqlx::Result<Vec<Invoice>> {
        sqlx::query_as("SELECT * FROM invoices WHERE status = 'OPEN' AND due_on < ?1 ORDER BY due_on, number LIMIT ?2")
            .bind(today)
            .bind(limit)
            .fetch_all(&self.0)
            .await
    }

    pub(crate) async fn close(&self, invoice: &Invoice) -> sqlx::Result<()> {
        let update = sqlx::query("UPDATE invoices SET status = 'CLOSED' WHERE number = ?1");
        update.bind(&invoice.number).execute(&self.0).await.map(drop)
    }

    pub(crate) async fn position(&self, tenant: TenantId) -> sqlx::Result<u64> {
        let next = sqlx::query_scalar("SELECT next FROM positions WHERE tenant_id = ?1").bind(tenant.as_uuid());
        let next: Option<i64> = next.fetch_optional(&self.0).await?;
        Ok(next.unwrap_or(0).cast_unsigned())
    }

    pub(crate) async fn move_to(&self, tenant: TenantId, next: u64) -> sqlx::Result<()> {
        let insert = "INSERT INTO positions (tenant_id, next) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET next = ?2";
        sqlx::query(insert).bind(tenant.as_uuid()).bind(next.cast_signed()).execute(&self.0).await.map(drop)
    }
}
