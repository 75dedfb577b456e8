use async_trait::async_trait;
use iam_model::change::DomainChange;
use iam_model::clock::Timestamp;
use iam_model::domain::Domain;
use iam_model::id::{DomainId, TenantId};
use iam_model::store::{DomainStore, DomainTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::DomainName;
use iam_store_sql::column::counted;
use iam_store_sql::domain::DomainRow;
use iam_store_sql::error::expect_row;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = DomainRow<Timestamp>;

#[async_trait]
impl DomainStore for PostgresStore {
    async fn domain(&self, tenant: TenantId, id: DomainId) -> Result<Option<Domain>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.challenge, d.verified_at, d.is_trusted, d.checked_at, d.absent_since,
                d.created_at
            FROM iam.domains d
            WHERE d.tenant_id = $1 AND d.id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Domain::try_from).transpose()
    }

    async fn domains(&self, tenant: TenantId) -> Result<Vec<Domain>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.challenge, d.verified_at, d.is_trusted, d.checked_at, d.absent_since,
                d.created_at
            FROM iam.domains d
            WHERE d.tenant_id = $1
            ORDER BY d.name
            "#,
            tenant.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Domain::try_from).collect()
    }

    async fn verified_domain(&self, name: &DomainName) -> Result<Option<Domain>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.challenge, d.verified_at, d.is_trusted, d.checked_at, d.absent_since,
                d.created_at
            FROM iam.domains d
            WHERE d.name = $1 AND d.verified_at IS NOT NULL
            "#,
            name.as_str()
        );
        self.answer(row.fetch_optional(&self.reads())).await?.map(Domain::try_from).transpose()
    }

    async fn domains_to_check(&self, before: Timestamp, limit: u32) -> Result<Vec<Domain>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.challenge, d.verified_at, d.is_trusted, d.checked_at, d.absent_since,
                d.created_at
            FROM iam.domains d
            WHERE d.verified_at IS NOT NULL AND NOT d.is_trusted AND d.checked_at <= $1
            ORDER BY d.checked_at, d.id
            LIMIT $2
            "#,
            in_range(before),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(Domain::try_from).collect()
    }
}

#[async_trait]
impl DomainTransaction for PostgresTransaction {
    async fn lock_domain(&mut self, id: DomainId) -> Result<Option<Domain>, StoreError> {
        // Citus lets only one transaction at a time lock rows of such a table. A transaction that also locks the tenant
        // must do so before: otherwise two of them could wait for each other.
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.challenge, d.verified_at, d.is_trusted, d.checked_at, d.absent_since,
                d.created_at
            FROM iam.domains d
            WHERE d.tenant_id = $1 AND d.id = $2
            FOR UPDATE
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Domain::try_from).transpose()
    }

    async fn domain_named(&mut self, name: &DomainName) -> Result<Option<Domain>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.challenge, d.verified_at, d.is_trusted, d.checked_at, d.absent_since,
                d.created_at
            FROM iam.domains d
            WHERE d.tenant_id = $1 AND d.name = $2
            "#,
            self.tenant(),
            name.as_str()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Domain::try_from).transpose()
    }

    async fn count_domains(&mut self) -> Result<u64, StoreError> {
        let count =
            sqlx::query_scalar!(r#"SELECT count(*) AS "count!" FROM iam.domains WHERE tenant_id = $1"#, self.tenant());
        counted("domains", count.fetch_one(self.connection()).await.map_err(store_error)?)
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_domain(&mut self, change: &DomainChange) -> Result<(), StoreError> {
        match change {
            DomainChange::Create(domain) => self.insert_domain(domain).await,
            DomainChange::Check { after, .. } => self.update_domain(after).await,
            DomainChange::Delete(domain) => self.delete_domain(domain.id).await,
        }
    }

    async fn insert_domain(&mut self, domain: &Domain) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.domains (
                tenant_id, id, name, challenge, verified_at, is_trusted, checked_at, absent_since, created_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            "#,
            self.tenant(),
            domain.id.as_uuid(),
            domain.name.as_str(),
            domain.challenge.as_str(),
            domain.verified_at.map(in_range),
            domain.is_trusted,
            domain.checked_at.map(in_range),
            domain.absent_since.map(in_range),
            in_range(domain.created_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_domain(&mut self, domain: &Domain) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.domains
            SET verified_at = $3, is_trusted = $4, checked_at = $5, absent_since = $6
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            domain.id.as_uuid(),
            domain.verified_at.map(in_range),
            domain.is_trusted,
            domain.checked_at.map(in_range),
            domain.absent_since.map(in_range)
        );
        expect_row(self.execute(update).await?, "domain")
    }

    async fn delete_domain(&mut self, id: DomainId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM iam.domains WHERE tenant_id = $1 AND id = $2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "domain")
    }
}
