use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::assignment::{Assignment, AssignmentFilter};
use iam_model::change::AuditBatch;
use iam_model::clock::Timestamp;
use iam_model::history::{EndedVersion, Past, PastStatus};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::Organization;
use iam_model::page::{Page, PageRequest};
use iam_model::role::Role;
use iam_model::store::{HistoryStore, HolderQuery};
use iam_model::store_error::StoreError;
use iam_store_sql::assignment::AssignmentRow;
use iam_store_sql::column::moment;
use iam_store_sql::history::{HolderRow, PastAssignmentRow, PastVersionRow, holders, list_at};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{Moment, in_range};
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

/// Other programs may have written moments that the usual type cannot hold.
type ListedRow = AssignmentRow<Moment>;
type Row = PastAssignmentRow<Timestamp>;

#[async_trait]
impl HistoryStore for PostgresStore {
    async fn history_start(&self, tenant: TenantId) -> Result<Option<Timestamp>, StoreError> {
        let start = sqlx::query_scalar!("SELECT since FROM iam.history_starts WHERE tenant_id = $1", tenant.as_uuid());
        let start = self.answer(start.fetch_optional(&self.reads_of(tenant))).await?;
        start.map(|start| moment("history_starts.since", start)).transpose()
    }

    async fn past_assignments_of(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<Assignment>>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by,
                directory_group_id, access_request_id
            FROM iam.past_assignments
            WHERE tenant_id = $1 AND user_id = ANY($2) AND until > $3
            "#,
            tenant.as_uuid(),
            &users,
            in_range(after)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Past::try_from).collect()
    }

    async fn past_roles(
        &self,
        tenant: TenantId,
        roles: Option<&[RoleId]>,
        after: Timestamp,
    ) -> Result<Vec<Past<Role>>, StoreError> {
        match roles {
            Some(roles) => {
                let ids = roles.iter().map(|role| role.as_uuid()).collect();
                self.past_versions("ROLE", tenant, ids, after).await
            }
            None => self.all_past_versions("ROLE", tenant, after).await,
        }
    }

    async fn past_organizations(
        &self,
        tenant: TenantId,
        organizations: &[OrganizationId],
        after: Timestamp,
    ) -> Result<Vec<Past<Organization>>, StoreError> {
        let ids = organizations.iter().map(|organization| organization.as_uuid()).collect();
        self.past_versions("ORGANIZATION", tenant, ids, after).await
    }

    async fn past_statuses(
        &self,
        tenant: TenantId,
        users: &[UserId],
        after: Timestamp,
    ) -> Result<Vec<Past<PastStatus>>, StoreError> {
        let ids = users.iter().map(|user| user.as_uuid()).collect();
        self.past_versions("STATUS", tenant, ids, after).await
    }

    async fn assignments_at(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        at: Timestamp,
    ) -> Result<Page<Assignment>, StoreError> {
        let scope = self.scope(tenant, visible_scope).await?;
        let list = |page| list_at::<Self>(tenant, filter, page, at, &scope);
        self.page::<Assignment, ListedRow>(tenant, page, false, list).await
    }

    async fn holders(
        &self,
        tenant: TenantId,
        query: &HolderQuery,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<UserId>, StoreError> {
        if query.roles.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let list = |page| holders::<Self>(tenant, query, page, now);
        self.page::<UserId, HolderRow>(tenant, page, false, list).await
    }
}

impl PostgresStore {
    async fn past_versions<V>(
        &self,
        kind: &'static str,
        tenant: TenantId,
        ids: Vec<Uuid>,
        after: Timestamp,
    ) -> Result<Vec<Past<V>>, StoreError>
    where
        V: DeserializeOwned + Send + Unpin,
    {
        let rows = sqlx::query_as!(
            PastVersionRow::<V, Timestamp>,
            r#"
            SELECT until, value AS "value: Json<V>"
            FROM iam.past_versions
            WHERE tenant_id = $1 AND kind = $2 AND until > $3 AND id = ANY($4)
            "#,
            tenant.as_uuid(),
            kind,
            in_range(after),
            &ids
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Past::try_from).collect()
    }

    async fn all_past_versions<V>(
        &self,
        kind: &'static str,
        tenant: TenantId,
        after: Timestamp,
    ) -> Result<Vec<Past<V>>, StoreError>
    where
        V: DeserializeOwned + Send + Unpin,
    {
        let rows = sqlx::query_as!(
            PastVersionRow::<V, Timestamp>,
            r#"
            SELECT until, value AS "value: Json<V>"
            FROM iam.past_versions
            WHERE tenant_id = $1 AND kind = $2 AND until > $3
            "#,
            tenant.as_uuid(),
            kind,
            in_range(after)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(Past::try_from).collect()
    }
}

impl PostgresTransaction {
    /// Keeps the versions that a change ends.
    pub(crate) async fn keep_ended_versions(&mut self, batch: &AuditBatch) -> Result<(), StoreError> {
        // The rows still have the versions that end: nothing is written yet.
        let (mut assignments, until) = (Vec::new(), batch.at());
        for ended in batch.ended_versions() {
            match ended {
                EndedVersion::Assignment(version) => assignments.push(version.id.as_uuid()),
                EndedVersion::Role(version) => {
                    self.insert_past_version("ROLE", version.id.as_uuid(), version, until).await?;
                }
                EndedVersion::Organization(version) => {
                    self.insert_past_version("ORGANIZATION", version.id.as_uuid(), version, until).await?;
                }
                EndedVersion::Status(version) => {
                    self.insert_past_version("STATUS", version.user_id.as_uuid(), version, until).await?;
                }
            }
        }
        if !assignments.is_empty() {
            self.insert_past_assignments(assignments, until).await?;
        }
        Ok(())
    }

    async fn insert_past_assignments(&mut self, ids: Vec<Uuid>, until: Timestamp) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.past_assignments (
                tenant_id, id, until, user_id, role_id, organization_id, expires_at, created_at, created_by,
                directory_group_id, access_request_id, since
            )
            SELECT
                tenant_id, id, $2::timestamptz, user_id, role_id, organization_id, expires_at, created_at, created_by,
                directory_group_id, access_request_id, coalesce(since, created_at)
            FROM iam.role_assignments
            WHERE tenant_id = $1 AND id = ANY($3)
            ON CONFLICT DO NOTHING
            "#,
            self.tenant(),
            in_range(until),
            &ids
        );
        insert.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    async fn insert_past_version(
        &mut self,
        kind: &'static str,
        id: Uuid,
        version: &(impl Serialize + Sync),
        until: Timestamp,
    ) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.past_versions (tenant_id, kind, id, until, value)
            VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT DO NOTHING
            "#,
            self.tenant(),
            kind,
            id,
            in_range(until),
            Json(version) as _
        );
        insert.execute(self.connection()).await.map(drop).map_err(store_error)
    }

    /// Writes a past version of a role over the one that ended at the same instant.
    pub(crate) async fn replace_past_role(&mut self, past: &Past<Role>) -> Result<(), StoreError> {
        let id = past.version.id.as_uuid();
        let former = sqlx::query!(
            "DELETE FROM iam.past_versions WHERE tenant_id = $1 AND kind = 'ROLE' AND id = $2 AND until = $3",
            self.tenant(),
            id,
            in_range(past.until)
        );
        former.execute(self.connection()).await.map_err(store_error)?;
        self.insert_past_version("ROLE", id, &past.version, past.until).await
    }

    /// Removes the versions that ended at or before a moment, from which on the history is complete then.
    pub(crate) async fn forget_past_versions(&mut self, before: Timestamp) -> Result<(), StoreError> {
        let (tenant, before) = (self.tenant(), in_range(before));
        let forget =
            sqlx::query!("DELETE FROM iam.past_assignments WHERE tenant_id = $1 AND until <= $2", tenant, before);
        forget.execute(self.connection()).await.map_err(store_error)?;
        let forget = sqlx::query!("DELETE FROM iam.past_versions WHERE tenant_id = $1 AND until <= $2", tenant, before);
        forget.execute(self.connection()).await.map_err(store_error)?;
        let begin = sqlx::query!(
            r#"
            INSERT INTO iam.history_starts (tenant_id, since)
            VALUES ($1, $2)
            ON CONFLICT (tenant_id) DO UPDATE SET since = greatest(history_starts.since, excluded.since)
            "#,
            tenant,
            before
        );
        begin.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
