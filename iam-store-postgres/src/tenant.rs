use async_trait::async_trait;
use iam_model::change::TenantChange;
use iam_model::clock::Timestamp;
use iam_model::credential::LoginCandidates;
use iam_model::id::TenantId;
use iam_model::store::{Directory, TenantStore, TenantTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant::{Tenant, Usage};
use iam_model::validate::{EmailKey, Slug};
use iam_store_sql::error::expect_row;

use crate::PostgresStore;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

pub(crate) type TenantRow = iam_store_sql::tenant::TenantRow<Timestamp>;

/// Selects tenants; the literal says which.
macro_rules! select_tenants {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            TenantRow,
            r#"
            SELECT
                t.id,
                t.name,
                t.slug,
                t.status,
                t.created_at,
                t.updated_at
            FROM iam.tenants t
            "# + $which,
            $($argument),+
        )
    };
}

#[async_trait]
impl Directory for PostgresStore {
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError> {
        let row = select_tenants!("WHERE t.slug = $1", slug.as_str());
        self.answer(row.fetch_optional(&self.source())).await?.map(Tenant::try_from).transpose()
    }

    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
        self.candidates(email, limit).await
    }

    async fn is_empty(&self) -> Result<bool, StoreError> {
        let is_empty = sqlx::query_scalar!(r#"SELECT NOT EXISTS (SELECT 1 FROM iam.tenants) AS "is_empty!""#);
        self.answer(is_empty.fetch_one(&self.source())).await
    }

    async fn has_several_tenants(&self) -> Result<bool, StoreError> {
        let several =
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT 1 FROM iam.tenants LIMIT 1 OFFSET 1) AS "has_several!""#);
        self.answer(several.fetch_one(&self.source())).await
    }
}

#[async_trait]
impl TenantStore for PostgresStore {
    async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError> {
        let row = select_tenants!("WHERE t.id = $1", tenant.as_uuid());
        self.answer(row.fetch_optional(&self.source())).await?.map(Tenant::try_from).transpose()
    }
}

#[async_trait]
impl TenantTransaction for PostgresTransaction {
    // NO KEY, because every new row that refers to the tenant, such as a user, takes a key share lock on it. FOR
    // UPDATE would make that lock wait.
    async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError> {
        let row = select_tenants!("WHERE t.id = $1 FOR NO KEY UPDATE", self.tenant());
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Tenant::try_from).transpose()
    }

    async fn usage(&mut self) -> Result<Usage, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT
                coalesce(sum(active_users + suspended_users + inactive_users), 0)::bigint AS "users!",
                coalesce(sum(organizations), 0)::bigint AS "organizations!",
                coalesce(sum(roles), 0)::bigint AS "roles!",
                coalesce(sum(role_assignments), 0)::bigint AS "role_assignments!"
            FROM iam.tenant_counts
            WHERE tenant_id = $1
            "#,
            self.tenant()
        );
        let row = row.fetch_one(self.connection()).await.map_err(store_error)?;
        Ok(Usage {
            users: row.users.unsigned_abs(),
            organizations: row.organizations.unsigned_abs(),
            roles: row.roles.unsigned_abs(),
            assignments: row.role_assignments.unsigned_abs(),
        })
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_tenant(&mut self, change: &TenantChange) -> Result<(), StoreError> {
        match change {
            TenantChange::Create(tenant) => self.insert_tenant(tenant).await,
            TenantChange::Update { after, .. } | TenantChange::ChangeStatus { after, .. } => {
                self.update_tenant(after).await
            }
        }
    }

    async fn insert_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        sqlx::query!(
            r#"
            INSERT INTO iam.tenants (id, name, slug, status, created_at, updated_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            "#,
            self.tenant(),
            tenant.name.as_str(),
            tenant.slug.as_str(),
            tenant.status.as_str(),
            tenant.created_at,
            tenant.updated_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }

    async fn update_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let updated = sqlx::query!(
            r#"
            UPDATE iam.tenants
            SET
                name = $2,
                slug = $3,
                status = $4,
                updated_at = $5
            WHERE id = $1
            "#,
            self.tenant(),
            tenant.name.as_str(),
            tenant.slug.as_str(),
            tenant.status.as_str(),
            tenant.updated_at
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        expect_row(updated.rows_affected(), "tenant")
    }
}
