use std::collections::BTreeSet;

use async_trait::async_trait;
use iam_model::access::{HeldRole, Until, VisibleScope};
use iam_model::assignment::{Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment};
use iam_model::change::{AssignmentChange, ChangedAssignment};
use iam_model::clock::Timestamp;
use iam_model::id::{AccessRequestId, DirectoryGroupId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::{Page, PageRequest};
use iam_model::role::{Role, TENANT_ADMIN};
use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery, HolderQuery, RoleTransaction as _};
use iam_model::store_error::StoreError;
use iam_model::user::UserStatus;
use iam_store_sql::assignment::{AssignmentRow, ListedAssignmentRow, SharedRoles, expiring, list};
use iam_store_sql::column::moment_optional;
use iam_store_sql::error::expect_rows;
use iam_store_sql::store::SqlStore as _;
use serde::Deserialize;
use sqlx::postgres::PgArguments;
use sqlx::query::QueryAs;
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, FromRow, Postgres};
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::{Moment, in_range, latest_end};
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

/// Other programs may have written moments that the usual type cannot hold.
type ListedRow = ListedAssignmentRow<Moment>;

#[async_trait]
impl AssignmentStore for PostgresStore {
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let rows = select_grants("WHERE a.tenant_id = $1 AND a.user_id = ANY($2)", NEWEST_FIRST);
        let rows = rows.bind(tenant.as_uuid()).bind(users);
        grants(self.answer(rows.fetch_all(&self.reads_of(tenant))).await?)
    }

    async fn deciding_grants(
        &self,
        tenant: TenantId,
        users: &[UserId],
        query: &HolderQuery,
    ) -> Result<Vec<Grant>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let ids = |roles: &Vec<RoleId>| -> Vec<Uuid> { roles.iter().map(|role| role.as_uuid()).collect() };
        let roles: Option<Vec<Uuid>> = query.roles.as_ref().map(ids);
        let organizations: Vec<Uuid> = query.organizations.iter().map(|organization| organization.as_uuid()).collect();
        let rows = select_grants(
            "
            WHERE a.tenant_id = $1
                AND a.user_id = ANY($2)
                AND ($3::uuid[] IS NULL OR a.role_id = ANY($3))
                AND (a.organization_id IS NULL OR a.organization_id = ANY($4))
            ",
            NEWEST_FIRST,
        );
        let rows = rows.bind(tenant.as_uuid()).bind(users).bind(roles).bind(organizations);
        grants(self.answer(rows.fetch_all(&self.reads_of(tenant))).await?)
    }

    async fn assigned_users(
        &self,
        tenant: TenantId,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<UserId>, StoreError> {
        let roles: Vec<Uuid> = roles.iter().map(|role| role.as_uuid()).collect();
        let organizations: Vec<Uuid> = organizations.iter().map(|organization| organization.as_uuid()).collect();
        // A UNION and not OR: each half has an index.
        let users = sqlx::query_scalar!(
            r#"
            SELECT user_id AS "user_id!"
            FROM iam.role_assignments
            WHERE tenant_id = $1 AND role_id = ANY($2)
            UNION
            SELECT user_id
            FROM iam.role_assignments
            WHERE tenant_id = $1 AND organization_id = ANY($3)
            "#,
            tenant.as_uuid(),
            &roles,
            &organizations
        );
        let users = self.answer(users.fetch_all(&self.reads_of(tenant))).await?;
        Ok(users.into_iter().map(UserId::from).collect())
    }

    async fn live_assignments(
        &self,
        tenant: TenantId,
        users: &[UserId],
        at: Timestamp,
    ) -> Result<Vec<(UserId, u64)>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let counts = sqlx::query!(
            r#"
            SELECT user_id, count(*) AS "count!"
            FROM iam.role_assignments
            WHERE tenant_id = $1 AND user_id = ANY($2) AND (expires_at IS NULL OR expires_at > $3)
            GROUP BY user_id
            "#,
            tenant.as_uuid(),
            &users,
            in_range(at)
        );
        let counts = self.answer(counts.fetch_all(&self.reads_of(tenant))).await?;
        Ok(counts.into_iter().map(|row| (row.user_id.into(), row.count.unsigned_abs())).collect())
    }

    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<ListedAssignment>, StoreError> {
        let scope = self.scope(tenant, visible_scope).await?;
        let list = |page| list::<Self>(tenant, filter, page, now, &scope);
        self.page::<ListedAssignment, ListedRow>(tenant, page, Self::is_everywhere(&scope), list).await
    }

    async fn expiring_assignments(
        &self,
        tenant: TenantId,
        visible_scope: &VisibleScope,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ListedAssignment>, StoreError> {
        let scope = self.scope(tenant, visible_scope).await?;
        let rows = self
            .list(tenant, |source| {
                let mut query = expiring::<Self>(tenant, &scope, now, until, limit);
                async move { query.build_query_as::<ListedRow>().fetch_all(&source).await }
            })
            .await?;
        rows.into_iter().map(ListedAssignment::try_from).collect()
    }

    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let tenants = sqlx::query_scalar!(
            "SELECT DISTINCT tenant_id FROM iam.role_assignments WHERE expires_at <= $1 LIMIT $2",
            in_range(now),
            i64::from(limit)
        );
        let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }
}

#[async_trait]
impl AssignmentTransaction for PostgresTransaction {
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        let tenant = self.tenant();
        let rows = match which {
            GrantQuery::One(id) => {
                let rows = select_grants("WHERE a.tenant_id = $1 AND a.id = $2", NEWEST_FIRST);
                rows.bind(tenant).bind(id.as_uuid())
            }
            GrantQuery::Each(ids) => {
                let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
                let rows = select_grants("WHERE a.tenant_id = $1 AND a.id = ANY($2)", NEWEST_FIRST);
                rows.bind(tenant).bind(ids)
            }
            GrantQuery::OfUser(user) => {
                let rows = select_grants("WHERE a.tenant_id = $1 AND a.user_id = $2", NEWEST_FIRST);
                rows.bind(tenant).bind(user.as_uuid())
            }
            GrantQuery::OfUsers(users) => {
                let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
                let rows = select_grants("WHERE a.tenant_id = $1 AND a.user_id = ANY($2)", NEWEST_FIRST);
                rows.bind(tenant).bind(users)
            }
            GrantQuery::OfRole(role) => {
                let rows = select_grants("WHERE a.tenant_id = $1 AND a.role_id = $2", NEWEST_FIRST);
                rows.bind(tenant).bind(role.as_uuid())
            }
            GrantQuery::In(organization) => {
                let rows = select_grants("WHERE a.tenant_id = $1 AND a.organization_id = $2", NEWEST_FIRST);
                rows.bind(tenant).bind(organization.as_uuid())
            }
            GrantQuery::At(contexts) => {
                let Contexts { users, roles, organizations } = contexts.iter().collect();
                let rows = select_grants(
                    "
                    JOIN (
                        SELECT DISTINCT *
                        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[])
                    ) c (user_id, role_id, organization_id)
                        ON c.user_id = a.user_id
                        AND c.role_id = a.role_id
                        AND c.organization_id IS NOT DISTINCT FROM a.organization_id
                    WHERE a.tenant_id = $1 AND a.user_id = ANY($2)
                    ",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(users).bind(roles).bind(organizations)
            }
            GrantQuery::OfDirectory(directory) => {
                // The group of each assignment is found by its key. With a join, the planner would compare each
                // assignment with each group.
                let rows = select_grants(
                    "
                    WHERE a.tenant_id = $1 AND a.directory_group_id IS NOT NULL AND $2 = (
                        SELECT d.directory_id
                        FROM iam.directory_groups d
                        WHERE d.tenant_id = $1 AND d.id = a.directory_group_id
                    )
                    ",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(directory.as_uuid())
            }
            GrantQuery::OfAccessRequests(requests) => {
                let requests: Vec<Uuid> = requests.iter().map(|request| request.as_uuid()).collect();
                let rows = select_grants(
                    "
                    WHERE a.tenant_id = $1 AND a.access_request_id IS NOT NULL AND a.access_request_id = ANY($2)
                    ",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(requests)
            }
            GrantQuery::Expired { at, limit } => {
                let rows = select_grants(
                    "
                    WHERE a.tenant_id = $1 AND a.expires_at <= $2
                    ORDER BY a.expires_at, a.created_at DESC, a.id
                    LIMIT $3
                    ",
                    "a.expires_at, a.created_at DESC, a.id",
                );
                rows.bind(tenant).bind(in_range(at)).bind(i64::from(limit))
            }
        };
        grants(rows.fetch_all(self.connection()).await.map_err(store_error)?)
    }

    async fn live_assignments(&mut self, users: &[UserId], at: Timestamp) -> Result<Vec<(UserId, u64)>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let counts = sqlx::query!(
            r#"
            SELECT user_id, count(*) AS "count!"
            FROM iam.role_assignments
            WHERE tenant_id = $1 AND user_id = ANY($2) AND (expires_at IS NULL OR expires_at > $3)
            GROUP BY user_id
            "#,
            self.tenant(),
            &users,
            in_range(at)
        );
        let counts = counts.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(counts.into_iter().map(|row| (row.user_id.into(), row.count.unsigned_abs())).collect())
    }

    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError> {
        let organizations: Vec<Uuid> = organizations.iter().map(|organization| organization.as_uuid()).collect();
        let rows = sqlx::query!(
            r#"
            SELECT
                a.organization_id AS "organization_id!",
                a.role_id,
                -- NULL if one of them never expires.
                CASE WHEN count(*) = count(a.expires_at) THEN max(a.expires_at) END AS until
            FROM iam.role_assignments a
            WHERE a.tenant_id = $1
                AND a.organization_id = ANY($2)
                AND (a.expires_at IS NULL OR a.expires_at > $3)
            GROUP BY a.organization_id, a.role_id
            "#,
            self.tenant(),
            &organizations,
            in_range(now)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        let ids: BTreeSet<RoleId> = rows.iter().map(|row| row.role_id.into()).collect();
        let roles: SharedRoles = self.roles_by_id(&Vec::from_iter(ids)).await?.into_iter().collect();
        let held = rows.into_iter().map(|row| {
            Ok(HeldRole {
                role: roles.get(row.role_id)?,
                organization: row.organization_id.into(),
                until: moment_optional("role_assignments.expires_at", row.until)?.into(),
            })
        });
        held.collect()
    }

    async fn roles_held_until(&mut self, roles: &[RoleId], now: Timestamp) -> Result<Option<Until>, StoreError> {
        let roles: Vec<Uuid> = roles.iter().map(|role| role.as_uuid()).collect();
        let until = sqlx::query_scalar!(
            r#"
            SELECT
                -- NULL if one of them never expires.
                CASE WHEN count(*) = count(a.expires_at) THEN max(a.expires_at) END AS until
            FROM iam.role_assignments a
            WHERE a.tenant_id = $1
                AND a.role_id = ANY($2)
                AND (a.expires_at IS NULL OR a.expires_at > $3)
            HAVING count(*) > 0
            "#,
            self.tenant(),
            &roles,
            in_range(now)
        );
        latest_end("role_assignments.expires_at", until.fetch_optional(self.connection()).await.map_err(store_error)?)
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        let has_other = sqlx::query_scalar!(
            r#"
            SELECT EXISTS (
                SELECT
                FROM iam.role_assignments a
                JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
                JOIN iam.users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
                WHERE a.tenant_id = $1
                    AND a.user_id <> $2
                    AND a.organization_id IS NULL
                    AND a.expires_at IS NULL
                    AND r.system
                    AND r.name = $3
                    AND u.status = $4
                    AND u.kind = 'HUMAN'
            ) AS "exists!"
            "#,
            self.tenant(),
            than.as_uuid(),
            TENANT_ADMIN,
            UserStatus::Active.as_str()
        );
        has_other.fetch_one(self.connection()).await.map_err(store_error)
    }
}

/// An assignment with its role and its organization. Inside a session's snapshot it comes as JSON.
#[derive(Deserialize, FromRow)]
pub(crate) struct GrantRow {
    assignment: Json<AssignmentRow<Moment>>,
    /// `None` if another row of the same result has it.
    role: Option<Json<RoleRow>>,
    organization: Option<Json<GrantOrganizationRow>>,
}

#[derive(Deserialize)]
struct GrantOrganizationRow {
    id: Uuid,
    name: String,
    lineage: Vec<Uuid>,
    is_lineage_active: bool,
}

impl From<GrantOrganizationRow> for GrantOrganization {
    fn from(row: GrantOrganizationRow) -> Self {
        let lineage = row.lineage.into_iter().map(OrganizationId::from).collect();
        Self { id: row.id.into(), name: row.name, lineage, is_lineage_active: row.is_lineage_active }
    }
}

/// Converts rows to grants. Grants of the same role share it.
pub(crate) fn grants(mut rows: Vec<GrantRow>) -> Result<Vec<Grant>, StoreError> {
    let roles = rows.iter_mut().filter_map(|row| row.role.take()).map(|Json(role)| Role::try_from(role));
    let roles: SharedRoles = roles.collect::<Result<_, _>>()?;
    let grant = |row: GrantRow| {
        let Json(assignment) = row.assignment;
        let organization = row.organization.map(|Json(organization)| organization.into());
        Ok(Grant { role: roles.get(assignment.role_id)?, assignment: assignment.try_into()?, organization })
    };
    rows.into_iter().map(grant).collect()
}

/// The order of grants.
const NEWEST_FIRST: &str = "a.created_at DESC, a.id";

/// Selects grants of a tenant, which is the first parameter: `which` assignments `a`, in an order.
///
/// One query finds the ancestors of all organizations together, and not grant by grant. Grant by grant would be as
/// fast, but for some hundred grants the planner would expect so much work that it compiles the statement first,
/// which takes longer than all the rest. Each step up the tree has a LIMIT, because the planner expects many more
/// steps than there are: to join them, it would read all organizations.
///
/// Only one grant of each role comes with the role: a user may have a role of 500 permissions in 1,000 organizations.
fn select_grants<'q>(which: &'static str, order: &'static str) -> QueryAs<'q, Postgres, GrantRow, PgArguments> {
    // Built at run time, because `which` varies from call to call. Only text of this file is inserted.
    sqlx::query_as(AssertSqlSafe(format!(
        "
        WITH RECURSIVE found AS (
            SELECT a.*
            FROM iam.role_assignments a
            {which}
        ),
        step AS (
            SELECT
                o.id,
                o.name,
                o.parent_id,
                o.status = 'ACTIVE' AS is_lineage_active,
                ARRAY[o.id] AS lineage
            FROM (SELECT DISTINCT f.organization_id AS id FROM found f) f
            -- LIMIT, so that each is found by its key. A hash join would read all organizations of the tenant.
            CROSS JOIN LATERAL (
                SELECT o.id, o.name, o.parent_id, o.status
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id = f.id
                LIMIT 1
            ) o
            UNION ALL
            SELECT
                s.id,
                s.name,
                o.parent_id,
                s.is_lineage_active AND o.status = 'ACTIVE',
                s.lineage || o.id
            FROM step s
            CROSS JOIN LATERAL (
                SELECT o.id, o.parent_id, o.status
                FROM iam.organizations o
                WHERE o.tenant_id = $1
                    AND o.id = s.parent_id
                    -- Even a cycle, which the service never writes, would end.
                    AND o.id <> ALL (s.lineage)
                LIMIT 1
            ) o
        ),
        position AS (
            -- The last step has read every ancestor.
            SELECT DISTINCT ON (s.id)
                s.id,
                s.name,
                s.lineage,
                s.is_lineage_active
            FROM step s
            ORDER BY s.id, cardinality(s.lineage) DESC
        )
        SELECT
            to_json(a) AS assignment,
            CASE WHEN row_number() OVER (PARTITION BY a.role_id) = 1 THEN (
                SELECT to_json(role)
                FROM (
                    SELECT
                        r.*,
                        ARRAY(
                            SELECT p.permission
                            FROM iam.role_permissions p
                            WHERE p.tenant_id = $1 AND p.role_id = r.id
                        ) AS permissions
                ) role
            ) END AS role,
            to_json(o) AS organization
        FROM found a
        JOIN iam.roles r ON r.tenant_id = $1 AND r.id = a.role_id
        LEFT JOIN position o ON o.id = a.organization_id
        ORDER BY {order}
        "
    )))
}

/// Contexts of grants, turned from rows to columns.
#[derive(Default)]
pub(crate) struct Contexts {
    pub(crate) users: Vec<Uuid>,
    pub(crate) roles: Vec<Uuid>,
    pub(crate) organizations: Vec<Option<Uuid>>,
}

impl<'a> FromIterator<&'a GrantContext> for Contexts {
    fn from_iter<I: IntoIterator<Item = &'a GrantContext>>(contexts: I) -> Self {
        let mut columns = Self::default();
        for context in contexts {
            columns.users.push(context.user.as_uuid());
            columns.roles.push(context.role.as_uuid());
            columns.organizations.push(context.organization.map(OrganizationId::as_uuid));
        }
        columns
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create(grants) => self.insert_assignments(grants).await,
            AssignmentChange::Activate { grant, .. } => self.insert_assignments(std::slice::from_ref(grant)).await,
            AssignmentChange::Update(changed) => self.update_assignments(changed).await,
            AssignmentChange::Revoke { grants, .. } => self.delete_assignments(grants).await,
        }
    }

    async fn insert_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let tenant = self.tenant();
        let insert = "
            INSERT INTO iam.role_assignments (
                tenant_id, id, user_id, role_id, organization_id, expires_at, created_at, created_by,
                directory_group_id, access_request_id
            ) ";
        let assignments = grants.iter().map(|grant| grant.assignment.clone()).collect();
        let push = |row: &mut Row<'_>, assignment: Assignment| {
            row.push_bind(tenant).push_bind(assignment.id.as_uuid()).push_bind(assignment.user_id.as_uuid());
            row.push_bind(assignment.role_id.as_uuid());
            row.push_bind(assignment.organization_id.map(OrganizationId::as_uuid));
            row.push_bind(assignment.expires_at).push_bind(assignment.created_at);
            row.push_bind(assignment.created_by.map(UserId::as_uuid));
            row.push_bind(assignment.directory_group_id.map(DirectoryGroupId::as_uuid));
            row.push_bind(assignment.access_request_id.map(AccessRequestId::as_uuid));
        };
        self.insert_values(insert, assignments, push).await
    }

    async fn update_assignments(&mut self, changed: &[ChangedAssignment]) -> Result<(), StoreError> {
        let after = || changed.iter().map(|changed| &changed.after);
        let ids: Vec<Uuid> = after().map(|after| after.id.as_uuid()).collect();
        let expiries: Vec<Option<Timestamp>> = after().map(|after| after.expires_at.map(in_range)).collect();
        let groups: Vec<Option<Uuid>> =
            after().map(|after| after.directory_group_id.map(DirectoryGroupId::as_uuid)).collect();
        let update = sqlx::query!(
            r#"
            UPDATE iam.role_assignments a
            SET
                expires_at = c.expires_at,
                directory_group_id = c.directory_group_id,
                since = (SELECT max(p.until) FROM iam.past_assignments p WHERE p.tenant_id = $1 AND p.id = a.id)
            FROM unnest($2::uuid[], $3::timestamptz[], $4::uuid[]) c (id, expires_at, directory_group_id)
            WHERE a.tenant_id = $1 AND a.id = c.id
            "#,
            self.tenant(),
            &ids,
            &expiries as _,
            &groups as _
        );
        expect_rows(self.execute(update).await?, changed.len(), "role assignment")
    }

    async fn delete_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = grants.iter().map(|grant| grant.assignment.id.as_uuid()).collect();
        let delete =
            sqlx::query!("DELETE FROM iam.role_assignments WHERE tenant_id = $1 AND id = ANY($2)", self.tenant(), &ids);
        self.execute(delete).await.map(drop)
    }
}
