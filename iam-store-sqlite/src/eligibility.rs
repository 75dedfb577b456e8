use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::EligibilityChange;
use iam_model::eligibility::Eligibility;
use iam_model::id::{EligibilityId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{EligibilityStore, EligibilityTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::eligibility::{EligibilityRow, list};
use iam_store_sql::error::expect_row;
use sqlx::types::Json;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = EligibilityRow<i64>;

#[async_trait]
impl EligibilityStore for SqliteStore {
    async fn eligibility(&self, tenant: TenantId, id: EligibilityId) -> Result<Option<Eligibility>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals,
                approver_role_id, expires_at, created_at, created_by, updated_at, version
            FROM eligibilities
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Eligibility::try_from).transpose()
    }

    async fn eligibilities(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
        page: PageRequest,
    ) -> Result<Page<Eligibility>, StoreError> {
        let scope = self.scope(tenant, visible_scope).await?;
        let list = |page| list::<Self>(tenant, page, &scope);
        self.page::<Eligibility, Row>(tenant, page, list).await
    }

    async fn eligibilities_of(
        &self,
        tenant: TenantId,
        user: UserId,
        held_roles: &[RoleId],
    ) -> Result<Vec<Eligibility>, StoreError> {
        // A UNION and not OR: each half has an index.
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals,
                approver_role_id, expires_at, created_at, created_by, updated_at, version
            FROM eligibilities
            WHERE tenant_id = ?1 AND id IN (
                SELECT n.id
                FROM eligibilities n
                WHERE n.tenant_id = ?1 AND n.user_id = ?2
                UNION ALL
                SELECT h.id
                FROM eligibilities h
                WHERE h.tenant_id = ?1 AND h.held_role_id IN (SELECT unhex(value, '-') FROM json_each(?3))
            )
            ORDER BY created_at DESC, id
            "#,
            tenant.as_uuid(),
            user.as_uuid(),
            Json(held_roles)
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter().map(Eligibility::try_from).collect()
    }
}

#[async_trait]
impl EligibilityTransaction for SqliteTransaction {
    async fn eligibility(&mut self, id: EligibilityId) -> Result<Option<Eligibility>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals,
                approver_role_id, expires_at, created_at, created_by, updated_at, version
            FROM eligibilities
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        let row = row.fetch_optional(self.connection()).await.map_err(store_error)?;
        row.map(Eligibility::try_from).transpose()
    }

    async fn all_eligibilities(&mut self) -> Result<Vec<Eligibility>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals,
                approver_role_id, expires_at, created_at, created_by, updated_at, version
            FROM eligibilities
            WHERE tenant_id = ?1
            ORDER BY created_at DESC, id
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Eligibility::try_from).collect()
    }

    async fn eligibilities_led_to_by(&mut self, roles: &[RoleId]) -> Result<Vec<Eligibility>, StoreError> {
        // A UNION and not OR: each half has an index.
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals,
                approver_role_id, expires_at, created_at, created_by, updated_at, version
            FROM eligibilities
            WHERE tenant_id = ?1 AND id IN (
                SELECT h.id
                FROM eligibilities h
                WHERE h.tenant_id = ?1 AND h.held_role_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                UNION ALL
                SELECT a.id
                FROM eligibilities a
                WHERE a.tenant_id = ?1 AND a.approver_role_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            )
            ORDER BY created_at DESC, id
            "#,
            self.tenant(),
            Json(roles)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Eligibility::try_from).collect()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_eligibility(&mut self, change: &EligibilityChange) -> Result<(), StoreError> {
        match change {
            EligibilityChange::Create { eligibility, .. } => self.insert_eligibility(eligibility).await,
            EligibilityChange::Update { after, .. } => self.update_eligibility(after).await,
            EligibilityChange::Delete { eligibilities, .. } => self.delete_eligibilities(eligibilities).await,
        }
    }

    async fn insert_eligibility(&mut self, eligibility: &Eligibility) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO eligibilities (
                tenant_id, id, role_id, organization_id, user_id, held_role_id, max_seconds, approvals,
                approver_role_id, expires_at, created_at, created_by, updated_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            "#,
            self.tenant(),
            eligibility.id.as_uuid(),
            eligibility.role_id.as_uuid(),
            eligibility.organization_id.map(OrganizationId::as_uuid),
            eligibility.eligible.user().map(UserId::as_uuid),
            eligibility.eligible.held_role().map(RoleId::as_uuid),
            i64::from(eligibility.max_seconds),
            i64::from(eligibility.approvals),
            eligibility.approver_role_id.map(RoleId::as_uuid),
            eligibility.expires_at.map(millis),
            millis(eligibility.created_at),
            eligibility.created_by.map(UserId::as_uuid),
            millis(eligibility.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_eligibility(&mut self, eligibility: &Eligibility) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE eligibilities
            SET
                max_seconds = ?3,
                approvals = ?4,
                approver_role_id = ?5,
                expires_at = ?6,
                updated_at = ?7,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            eligibility.id.as_uuid(),
            i64::from(eligibility.max_seconds),
            i64::from(eligibility.approvals),
            eligibility.approver_role_id.map(RoleId::as_uuid),
            eligibility.expires_at.map(millis),
            millis(eligibility.updated_at)
        );
        expect_row(self.execute(update).await?, "eligibility")
    }

    async fn delete_eligibilities(&mut self, eligibilities: &[Eligibility]) -> Result<(), StoreError> {
        let ids: Vec<EligibilityId> = eligibilities.iter().map(|eligibility| eligibility.id).collect();
        let delete = sqlx::query!(
            r#"
            DELETE FROM eligibilities
            WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            self.tenant(),
            Json(ids)
        );
        self.execute(delete).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::assert_list;

    /// The eligibilities of a tenant are few, so they are sorted.
    #[tokio::test]
    async fn a_list_finds_its_eligibilities_by_an_index() {
        let page = list::<SqliteStore>(TenantId::NONE, PageRequest::default(), &VisibleScope::Tenant);
        assert_list(page, "SEARCH e USING COVERING INDEX eligibilities_created_idx (tenant_id=?)", true).await;
    }
}
