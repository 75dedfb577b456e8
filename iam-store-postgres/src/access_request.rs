use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::access_request::{
    AccessDecision, AccessRequest, AccessRequestFilter, AccessRequestScope, ApproverPlace, CancelCause,
};
use iam_model::change::AccessRequestChange;
use iam_model::clock::Timestamp;
use iam_model::id::{AccessRequestId, AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::store::{AccessRequestStore, AccessRequestTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::{Description, Reason};
use iam_store_sql::access_request::{
    AccessRequestRow, ListScope, StoredDecisions, deciding_scopes, is_whole, list, shows_nothing,
};
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = AccessRequestRow<Timestamp>;
type Decisions = Json<Vec<AccessDecision>>;

#[async_trait]
impl AccessRequestStore for PostgresStore {
    async fn access_request(&self, tenant: TenantId, id: AccessRequestId) -> Result<Option<AccessRequest>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions AS "decisions: Decisions", status, assignment_id,
                starts_at, ends_at, lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause, version
            FROM iam.access_requests
            WHERE tenant_id = $1 AND id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(AccessRequest::try_from).transpose()
    }

    async fn access_requests(
        &self,
        tenant: TenantId,
        filter: &AccessRequestFilter,
        scope: &AccessRequestScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<AccessRequest>, StoreError> {
        let deciding = self.deciding_places(tenant, &scope.deciding).await?;
        let scope = AccessRequestScope { deciding, ..scope.clone() };
        if shows_nothing(filter, &scope) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let scope = self.list_scope(tenant, &scope).await?;
        let list = |page| list::<Self>(tenant, filter, &scope, page, now);
        self.page::<AccessRequest, Row>(tenant, page, is_whole::<Self>(filter, &scope), list).await
    }

    async fn tenants_with_due_access_requests(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let tenants = sqlx::query_scalar!(
            "SELECT DISTINCT tenant_id FROM iam.access_requests WHERE due_at <= $1 LIMIT $2",
            in_range(now),
            i64::from(limit)
        );
        let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }
}

impl PostgresStore {
    /// Leaves out the roles that decide about no request: a user can hold very many roles, and few of them decide.
    async fn deciding_places(
        &self,
        tenant: TenantId,
        places: &[ApproverPlace],
    ) -> Result<Vec<ApproverPlace>, StoreError> {
        let roles: Vec<Uuid> = places.iter().filter_map(|place| place.role).map(RoleId::as_uuid).collect();
        // OFFSET, so that each role is found by its key.
        let deciding = sqlx::query_scalar!(
            r#"
            SELECT r.id AS "id!"
            FROM unnest($2::uuid[]) r (id)
            WHERE EXISTS (
                SELECT
                FROM iam.access_requests q
                WHERE q.tenant_id = $1 AND q.approver_role_id = r.id
                OFFSET 0
            )
            "#,
            tenant.as_uuid(),
            &roles
        );
        let deciding = self.answer(deciding.fetch_all(&self.reads_of(tenant))).await?;
        let deciding: BTreeSet<RoleId> = deciding.into_iter().map(RoleId::from).collect();
        let decides = |place: &&ApproverPlace| place.role.is_none_or(|role| deciding.contains(&role));
        Ok(places.iter().filter(decides).copied().collect())
    }

    /// Finds the organizations of the visible scopes in a scope.
    async fn list_scope(
        &self,
        tenant: TenantId,
        scope: &AccessRequestScope,
    ) -> Result<ListScope<Option<Vec<Uuid>>>, StoreError> {
        let read = match &scope.read {
            Some(visible) => Some(self.scope(tenant, visible).await?),
            None => None,
        };
        let mut deciding = Vec::new();
        for (roles, visible) in deciding_scopes(&scope.deciding) {
            deciding.push((roles, self.scope(tenant, &visible).await?));
        }
        Ok(ListScope { user: scope.user, read, deciding })
    }
}

#[async_trait]
impl AccessRequestTransaction for PostgresTransaction {
    async fn access_requests_by_id(&mut self, ids: &[AccessRequestId]) -> Result<Vec<AccessRequest>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions AS "decisions: Decisions", status, assignment_id,
                starts_at, ends_at, lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause, version
            FROM iam.access_requests
            WHERE tenant_id = $1 AND id = ANY($2)
            "#,
            self.tenant(),
            &ids
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(AccessRequest::try_from).collect()
    }

    async fn open_access_requests_of(&mut self, user: UserId) -> Result<Vec<AccessRequest>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions AS "decisions: Decisions", status, assignment_id,
                starts_at, ends_at, lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause, version
            FROM iam.access_requests
            WHERE tenant_id = $1 AND requested_by = $2 AND status IN ('PENDING', 'APPROVED', 'ACTIVE')
            ORDER BY created_at DESC, id
            "#,
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(AccessRequest::try_from).collect()
    }

    async fn due_access_requests(&mut self, at: Timestamp, limit: u32) -> Result<Vec<AccessRequest>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions AS "decisions: Decisions", status, assignment_id,
                starts_at, ends_at, lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause, version
            FROM iam.access_requests
            WHERE tenant_id = $1 AND due_at <= $2
            ORDER BY due_at, id
            LIMIT $3
            "#,
            self.tenant(),
            in_range(at),
            i64::from(limit)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(AccessRequest::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_access_request(&mut self, change: &AccessRequestChange) -> Result<(), StoreError> {
        match change {
            AccessRequestChange::Create(request) => self.insert_access_request(request).await,
            AccessRequestChange::Update { after, .. } => self.update_access_request(after).await,
            AccessRequestChange::RemoveOldest { user, kept } => self.remove_oldest_access_requests(*user, *kept).await,
        }
    }

    async fn insert_access_request(&mut self, request: &AccessRequest) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.access_requests (
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions, status, assignment_id, starts_at, ends_at,
                lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause
            )
            VALUES (
                $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
                $21, $22, $23
            )
            "#,
            self.tenant(),
            request.id.as_uuid(),
            request.eligibility_id.as_uuid(),
            request.role_id.as_uuid(),
            request.role_name.as_str(),
            request.organization_id.map(OrganizationId::as_uuid),
            request.requested_by.as_uuid(),
            request.reason.as_str(),
            request.ticket.as_ref().map(Description::as_str),
            i64::from(request.seconds),
            i64::from(request.approvals_needed),
            request.approver_role_id.map(RoleId::as_uuid),
            Json(&request.decisions) as _,
            request.status.as_str(),
            request.assignment_id.map(AssignmentId::as_uuid),
            request.starts_at.map(in_range),
            request.ends_at.map(in_range),
            in_range(request.lapses_at),
            in_range(request.created_at),
            request.closed_at.map(in_range),
            request.closed_by.map(UserId::as_uuid),
            request.close_reason.as_ref().map(Reason::as_str),
            request.cancel_cause.map(CancelCause::as_str)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_access_request(&mut self, request: &AccessRequest) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.access_requests
            SET
                decisions = $3,
                status = $4,
                assignment_id = $5,
                starts_at = $6,
                ends_at = $7,
                closed_at = $8,
                closed_by = $9,
                close_reason = $10,
                cancel_cause = $11,
                version = version + 1
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            request.id.as_uuid(),
            Json(&request.decisions) as _,
            request.status.as_str(),
            request.assignment_id.map(AssignmentId::as_uuid),
            request.starts_at.map(in_range),
            request.ends_at.map(in_range),
            request.closed_at.map(in_range),
            request.closed_by.map(UserId::as_uuid),
            request.close_reason.as_ref().map(Reason::as_str),
            request.cancel_cause.map(CancelCause::as_str)
        );
        expect_row(self.execute(update).await?, "access request")
    }

    async fn remove_oldest_access_requests(&mut self, user: UserId, kept: u32) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM iam.access_requests
            WHERE tenant_id = $1 AND id IN (
                SELECT q.id
                FROM iam.access_requests q
                WHERE q.tenant_id = $1
                    AND q.requested_by = $2
                    AND q.status NOT IN ('PENDING', 'APPROVED', 'ACTIVE')
                ORDER BY q.created_at DESC, q.id DESC
                OFFSET $3
            )
            "#,
            self.tenant(),
            user.as_uuid(),
            i64::from(kept)
        );
        delete.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}

impl StoredDecisions for PostgresStore {
    const DECISIONS: &'static str = "jsonb_array_elements(q.decisions)";

    const DECIDER: &'static str = "(d.value ->> 'userId')::uuid";

    const ROLE_VERSION: &'static str = "(d.value ->> 'roleVersion')::bigint";
}
