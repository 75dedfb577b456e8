use async_trait::async_trait;
use iam_model::change::TenantChange;
use iam_model::credential::LoginCandidates;
use iam_model::id::TenantId;
use iam_model::store::{Directory, TenantStore, TenantTransaction};
use iam_model::store_error::StoreError;
use iam_model::tenant::{Tenant, Usage};
use iam_model::validate::{EmailKey, Slug};
use iam_store_sql::column::not_negative;
use iam_store_sql::error::expect_row;
use iam_store_sql::tenant::TenantRow;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = TenantRow<i64>;

#[async_trait]
impl Directory for SqliteStore {
    async fn tenant_by_slug(&self, slug: &Slug) -> Result<Option<Tenant>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                t.id, t.name, t.slug, t.status, t.password_policy, t.second_factor, t.second_factor_grace_days,
                t.second_factor_required_at, t.password_login, t.email_login, t.authzen_identifiers, t.user_attributes,
                t.organization_attributes, t.unregistered_attributes, t.created_at, t.updated_at, t.version
            FROM tenants t
            WHERE t.slug = ?1
            "#,
            slug.as_str()
        );
        self.answer(row.fetch_optional(&self.reads())).await?.map(Tenant::try_from).transpose()
    }

    async fn login_candidates(&self, email: &EmailKey, limit: u32) -> Result<LoginCandidates, StoreError> {
        self.candidates(email, limit).await
    }

    async fn is_empty(&self) -> Result<bool, StoreError> {
        let is_empty = sqlx::query_scalar!(r#"SELECT NOT EXISTS (SELECT 1 FROM tenants) AS "is_empty!: bool""#);
        self.answer(is_empty.fetch_one(&self.reads())).await
    }

    async fn has_several_tenants(&self) -> Result<bool, StoreError> {
        let has_several =
            sqlx::query_scalar!(r#"SELECT EXISTS (SELECT 1 FROM tenants LIMIT 1 OFFSET 1) AS "has_several!: bool""#);
        self.answer(has_several.fetch_one(&self.reads())).await
    }

    async fn has_email_logins(&self) -> Result<bool, StoreError> {
        let has_some = sqlx::query_scalar!(
            r#"
            SELECT EXISTS (
                SELECT 1
                FROM tenants
                WHERE email_login = 'ON' AND status = 'ACTIVE'
            ) AS "has_some!: bool"
            "#
        );
        self.answer(has_some.fetch_one(&self.reads())).await
    }
}

#[async_trait]
impl TenantStore for SqliteStore {
    async fn tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                t.id, t.name, t.slug, t.status, t.password_policy, t.second_factor, t.second_factor_grace_days,
                t.second_factor_required_at, t.password_login, t.email_login, t.authzen_identifiers, t.user_attributes,
                t.organization_attributes, t.unregistered_attributes, t.created_at, t.updated_at, t.version
            FROM tenants t
            WHERE t.id = ?1
            "#,
            tenant.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Tenant::try_from).transpose()
    }
}

#[async_trait]
impl TenantTransaction for SqliteTransaction {
    async fn lock_tenant(&mut self) -> Result<Option<Tenant>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                t.id, t.name, t.slug, t.status, t.password_policy, t.second_factor, t.second_factor_grace_days,
                t.second_factor_required_at, t.password_login, t.email_login, t.authzen_identifiers, t.user_attributes,
                t.organization_attributes, t.unregistered_attributes, t.created_at, t.updated_at, t.version
            FROM tenants t
            WHERE t.id = ?1
            "#,
            self.tenant()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(Tenant::try_from).transpose()
    }

    async fn usage(&mut self) -> Result<Usage, StoreError> {
        let row = sqlx::query!(
            r#"
            SELECT
                active_users + suspended_users + inactive_users AS "users!: i64",
                organizations,
                roles,
                role_assignments
            FROM tenant_counts
            WHERE tenant_id = ?1
            "#,
            self.tenant()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        let Some(row) = row else { return Ok(Usage::default()) };
        Ok(Usage {
            users: not_negative(row.users),
            organizations: not_negative(row.organizations),
            roles: not_negative(row.roles),
            assignments: not_negative(row.role_assignments),
        })
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_tenant(&mut self, change: &TenantChange) -> Result<(), StoreError> {
        match change {
            TenantChange::Create(tenant) => self.insert_tenant(tenant).await,
            TenantChange::Update { after, .. } | TenantChange::ChangeStatus { after, .. } => {
                self.update_tenant(after).await
            }
        }
    }

    async fn insert_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO tenants (
                id, name, slug, status, created_at, updated_at, password_policy, second_factor,
                second_factor_grace_days, second_factor_required_at, password_login, email_login,
                authzen_identifiers, user_attributes, organization_attributes, unregistered_attributes
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            "#,
            self.tenant(),
            tenant.name.as_str(),
            tenant.slug.as_str(),
            tenant.status.as_str(),
            millis(tenant.created_at),
            millis(tenant.updated_at),
            tenant.password_policy.as_str(),
            tenant.second_factor.as_str(),
            i64::from(tenant.second_factor_grace_days),
            tenant.second_factor_required_at.map(millis),
            tenant.password_login.as_str(),
            tenant.email_login.as_str(),
            tenant.authzen_identifiers.as_str(),
            tenant.user_attributes.to_text(),
            tenant.organization_attributes.to_text(),
            tenant.unregistered_attributes.as_str()
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_tenant(&mut self, tenant: &Tenant) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE tenants
            SET
                name = ?2,
                slug = ?3,
                status = ?4,
                updated_at = ?5,
                password_policy = ?6,
                second_factor = ?7,
                second_factor_grace_days = ?8,
                second_factor_required_at = ?9,
                password_login = ?10,
                email_login = ?11,
                authzen_identifiers = ?12,
                user_attributes = ?13,
                organization_attributes = ?14,
                unregistered_attributes = ?15,
                version = version + 1
            WHERE id = ?1
            "#,
            self.tenant(),
            tenant.name.as_str(),
            tenant.slug.as_str(),
            tenant.status.as_str(),
            millis(tenant.updated_at),
            tenant.password_policy.as_str(),
            tenant.second_factor.as_str(),
            i64::from(tenant.second_factor_grace_days),
            tenant.second_factor_required_at.map(millis),
            tenant.password_login.as_str(),
            tenant.email_login.as_str(),
            tenant.authzen_identifiers.as_str(),
            tenant.user_attributes.to_text(),
            tenant.organization_attributes.to_text(),
            tenant.unregistered_attributes.as_str()
        );
        expect_row(self.execute(update).await?, "tenant")
    }
}
