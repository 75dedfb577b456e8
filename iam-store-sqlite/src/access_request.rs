use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::access::VisibleScope;
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
    AccessRequestRow, ListScope, StoredDecisions, deciding_scopes, list, shows_nothing,
};
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = AccessRequestRow<i64>;
type Decisions = Json<Vec<AccessDecision>>;

#[async_trait]
impl AccessRequestStore for SqliteStore {
    async fn access_request(&self, tenant: TenantId, id: AccessRequestId) -> Result<Option<AccessRequest>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions AS "decisions: Decisions", status, assignment_id,
                starts_at, ends_at, lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause, version
            FROM access_requests
            WHERE tenant_id = ?1 AND id = ?2
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
        self.page::<AccessRequest, Row>(tenant, page, list).await
    }

    async fn tenants_with_due_access_requests(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        // SQLite would search the index of each tenant.
        let tenants = sqlx::query_scalar!(
            r#"
            SELECT DISTINCT tenant_id
            FROM access_requests INDEXED BY access_requests_due_idx
            WHERE due_at <= ?1
            LIMIT ?2
            "#,
            millis(now),
            i64::from(limit)
        );
        let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }
}

impl SqliteStore {
    /// Leaves out the roles that decide about no request: a user can hold very many roles, and few of them decide.
    async fn deciding_places(
        &self,
        tenant: TenantId,
        places: &[ApproverPlace],
    ) -> Result<Vec<ApproverPlace>, StoreError> {
        let roles: Vec<RoleId> = places.iter().filter_map(|place| place.role).collect();
        let deciding = sqlx::query_scalar!(
            r#"
            SELECT unhex(r.value, '-') AS "id!: Uuid"
            FROM json_each(?2) r
            WHERE EXISTS (
                SELECT 1
                FROM access_requests q
                WHERE q.tenant_id = ?1 AND q.approver_role_id = unhex(r.value, '-')
            )
            "#,
            tenant.as_uuid(),
            Json(roles)
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
    ) -> Result<ListScope<VisibleScope>, StoreError> {
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
impl AccessRequestTransaction for SqliteTransaction {
    async fn access_requests_by_id(&mut self, ids: &[AccessRequestId]) -> Result<Vec<AccessRequest>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions AS "decisions: Decisions", status, assignment_id,
                starts_at, ends_at, lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause, version
            FROM access_requests
            WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))
            "#,
            self.tenant(),
            Json(ids)
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
            FROM access_requests
            WHERE tenant_id = ?1 AND requested_by = ?2 AND status IN ('PENDING', 'APPROVED', 'ACTIVE')
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
            FROM access_requests
            WHERE tenant_id = ?1 AND due_at <= ?2
            ORDER BY due_at, id
            LIMIT ?3
            "#,
            self.tenant(),
            millis(at),
            i64::from(limit)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(AccessRequest::try_from).collect()
    }
}

impl SqliteTransaction {
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
            INSERT INTO access_requests (
                tenant_id, id, eligibility_id, role_id, role_name, organization_id, requested_by, reason, ticket,
                seconds, approvals_needed, approver_role_id, decisions, status, assignment_id, starts_at, ends_at,
                lapses_at, created_at, closed_at, closed_by, close_reason, cancel_cause
            )
            VALUES (
                ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                ?21, ?22, ?23
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
            Json(&request.decisions),
            request.status.as_str(),
            request.assignment_id.map(AssignmentId::as_uuid),
            request.starts_at.map(millis),
            request.ends_at.map(millis),
            millis(request.lapses_at),
            millis(request.created_at),
            request.closed_at.map(millis),
            request.closed_by.map(UserId::as_uuid),
            request.close_reason.as_ref().map(Reason::as_str),
            request.cancel_cause.map(CancelCause::as_str)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_access_request(&mut self, request: &AccessRequest) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE access_requests
            SET
                decisions = ?3,
                status = ?4,
                assignment_id = ?5,
                starts_at = ?6,
                ends_at = ?7,
                closed_at = ?8,
                closed_by = ?9,
                close_reason = ?10,
                cancel_cause = ?11,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            request.id.as_uuid(),
            Json(&request.decisions),
            request.status.as_str(),
            request.assignment_id.map(AssignmentId::as_uuid),
            request.starts_at.map(millis),
            request.ends_at.map(millis),
            request.closed_at.map(millis),
            request.closed_by.map(UserId::as_uuid),
            request.close_reason.as_ref().map(Reason::as_str),
            request.cancel_cause.map(CancelCause::as_str)
        );
        expect_row(self.execute(update).await?, "access request")
    }

    async fn remove_oldest_access_requests(&mut self, user: UserId, kept: u32) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM access_requests
            WHERE tenant_id = ?1 AND id IN (
                SELECT q.id
                FROM access_requests q
                WHERE q.tenant_id = ?1
                    AND q.requested_by = ?2
                    AND q.status NOT IN ('PENDING', 'APPROVED', 'ACTIVE')
                ORDER BY q.created_at DESC, q.id DESC
                LIMIT -1 OFFSET ?3
            )
            "#,
            self.tenant(),
            user.as_uuid(),
            i64::from(kept)
        );
        delete.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}

impl StoredDecisions for SqliteStore {
    const DECISIONS: &'static str = "json_each(q.decisions)";

    const DECIDER: &'static str = "unhex(d.value ->> 'userId', '-')";

    const ROLE_VERSION: &'static str = "d.value ->> 'roleVersion'";
}

#[cfg(test)]
mod tests {
    use iam_model::access_request::AccessRequestStatus;
    use sqlx::{QueryBuilder, Sqlite};

    use super::*;
    use crate::plan::assert_list;

    fn page(filter: &AccessRequestFilter, scope: &ListScope<VisibleScope>) -> QueryBuilder<Sqlite> {
        list::<SqliteStore>(TenantId::NONE, filter, scope, PageRequest::default(), Timestamp::UNIX_EPOCH)
    }

    /// The requests of one user, for one role, in one organization, with one status or of one time are sorted: they are
    /// few.
    #[tokio::test]
    async fn every_filter_finds_its_requests_by_an_index() {
        let (id, plain, moment) = (Uuid::nil(), AccessRequestFilter::default, Some(Timestamp::UNIX_EPOCH));
        let scope = ListScope { user: None, read: Some(VisibleScope::Tenant), deciding: Vec::new() };
        for (filter, index, is_sorted) in [
            (plain(), "COVERING INDEX access_requests_created_idx (tenant_id=?)", false),
            (
                AccessRequestFilter { user: Some(id.into()), ..plain() },
                "COVERING INDEX access_requests_requester_idx (tenant_id=? AND requested_by=?)",
                true,
            ),
            (
                AccessRequestFilter { role: Some(id.into()), ..plain() },
                "COVERING INDEX access_requests_role_idx (tenant_id=? AND role_id=?)",
                true,
            ),
            (
                AccessRequestFilter { organization: Some(id.into()), ..plain() },
                "COVERING INDEX access_requests_organization_idx (tenant_id=? AND organization_id=?)",
                true,
            ),
            (
                AccessRequestFilter { status: Some(AccessRequestStatus::Active), ..plain() },
                "INDEX access_requests_status_idx (tenant_id=? AND status=?)",
                true,
            ),
            (
                AccessRequestFilter { status: Some(AccessRequestStatus::Ended), ..plain() },
                "INDEX access_requests_status_idx (tenant_id=? AND status=?)",
                true,
            ),
            (
                AccessRequestFilter { from: moment, until: moment, ..plain() },
                "COVERING INDEX access_requests_created_idx (tenant_id=? AND created_at>? AND created_at<?)",
                true,
            ),
            (
                AccessRequestFilter { user: Some(id.into()), from: moment, ..plain() },
                "COVERING INDEX access_requests_requester_idx (tenant_id=? AND requested_by=? AND created_at>?)",
                true,
            ),
        ] {
            assert_list(page(&filter, &scope), &format!("SEARCH q USING {index}"), is_sorted).await;
        }
    }

    /// What is to be decided is found among the PENDING requests alone.
    #[tokio::test]
    async fn requests_to_decide_are_found_by_an_index() {
        let to_decide = AccessRequestFilter { to_decide: true, ..AccessRequestFilter::default() };
        let deciding = vec![(vec![None], VisibleScope::Tenant)];
        let scope = ListScope { user: Some(Uuid::nil().into()), read: None, deciding };
        let index = "INDEX access_requests_pending_idx (tenant_id=? AND approver_role_id=?)";
        assert_list(page(&to_decide, &scope), &format!("SEARCH q USING {index}"), true).await;
    }
}
