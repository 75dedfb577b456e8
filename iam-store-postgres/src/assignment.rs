use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use iam_model::assignment::{Assignment, Grant, GrantContext, GrantOrganization};
use iam_model::id::{OrganizationId, TenantId, UserId};
use iam_model::role::Role;
use iam_model::store::GrantQuery;
use iam_model::store_error::StoreError;
use iam_store_sql::assignment::AssignmentRow;
use iam_store_sql::assignment_ports;
use iam_store_sql::store::SqlStore as _;
use serde::Deserialize;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::column::{Moment, in_range};
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

assignment_ports! {
    PostgresStore,
    PostgresTransaction,
    list_moment: Moment,
    // A UNION and not OR: each half has an index.
    assigned_users: r#"
        SELECT user_id AS "user_id!"
        FROM iam.role_assignments
        WHERE tenant_id = $1 AND role_id = ANY($2)
        UNION
        SELECT user_id
        FROM iam.role_assignments
        WHERE tenant_id = $1 AND organization_id = ANY($3)
    "#,
    tenants_with_expired: "SELECT DISTINCT tenant_id FROM iam.role_assignments WHERE expires_at <= $1 LIMIT $2",
    held_in: r#"
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
    held_until: r#"
        SELECT
            -- NULL if one of them never expires.
            CASE WHEN count(*) = count(a.expires_at) THEN max(a.expires_at) END AS until
        FROM iam.role_assignments a
        WHERE a.tenant_id = $1
            AND a.role_id = ANY($2)
            AND (a.expires_at IS NULL OR a.expires_at > $3)
        HAVING count(*) > 0
    "#,
    has_other_administrator: r#"
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
        ) AS "exists!"
    "#,
    update_expiry: (
        "$4",
        r#"
        UPDATE iam.role_assignments
        SET
            expires_at = $3,
            since = (SELECT max(until) FROM iam.past_assignments WHERE tenant_id = $1 AND id = $2)
        WHERE tenant_id = $1 AND id = $2
        "#
    ),
    delete: (
        "$3",
        "DELETE FROM iam.role_assignments WHERE tenant_id = $1 AND id = ANY($2)"
    ),
}

/// An assignment with its role and its organization. Inside a session's snapshot it comes as JSON.
#[derive(Deserialize)]
pub(crate) struct GrantRow {
    assignment: Json<AssignmentRow<Moment>>,
    role: Json<RoleRow>,
    organization: Option<Json<GrantOrganizationRow>>,
}

#[derive(Deserialize)]
struct GrantOrganizationRow {
    id: Uuid,
    name: String,
    lineage: Vec<Uuid>,
    is_awake: bool,
}

impl From<GrantOrganizationRow> for GrantOrganization {
    fn from(row: GrantOrganizationRow) -> Self {
        let lineage = row.lineage.into_iter().map(OrganizationId::from).collect();
        Self { id: row.id.into(), name: row.name, lineage, is_awake: row.is_awake }
    }
}

/// Converts rows to grants. Grants of the same role share it.
pub(crate) fn grants(rows: Vec<GrantRow>) -> Result<Vec<Grant>, StoreError> {
    let mut roles: HashMap<Uuid, Arc<Role>> = HashMap::new();
    let grant = |row: GrantRow| {
        let (Json(assignment), Json(role)) = (row.assignment, row.role);
        let role = match roles.get(&role.id) {
            Some(known) => Arc::clone(known),
            None => {
                let (id, role) = (role.id, Arc::new(Role::try_from(role)?));
                roles.insert(id, Arc::clone(&role));
                role
            }
        };
        let organization = row.organization.map(|Json(organization)| organization.into());
        Ok(Grant { assignment: assignment.try_into()?, role, organization })
    };
    rows.into_iter().map(grant).collect()
}

/// Selects grants of a tenant, which is the first parameter. The literals are: text before the statement, which assignments, their order, and text after the
/// statement.
///
/// One query finds the ancestors of all organizations together, and not grant by grant. Grant by grant would be as
/// fast, but for some hundred grants the planner would expect so much work that it compiles the statement first,
/// which takes longer than all the rest. Each step up the tree has a LIMIT, because the planner expects many more
/// steps than there are: to join them, it would read all organizations.
macro_rules! select_grants {
    ($row:ident, $before:literal, $which:literal, $order:literal, $after:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            $before
                + r#"
            WITH RECURSIVE found AS (
                SELECT a.*
                FROM iam.role_assignments a
                "# + $which
                + r#"
            ),
            step AS (
                SELECT
                    o.id,
                    o.name,
                    o.parent_id,
                    o.status = 'ACTIVE' AS is_awake,
                    ARRAY[o.id] AS lineage
                FROM iam.organizations o
                WHERE o.tenant_id = $1 AND o.id IN (SELECT f.organization_id FROM found f)
                UNION ALL
                SELECT
                    s.id,
                    s.name,
                    o.parent_id,
                    s.is_awake AND o.status = 'ACTIVE',
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
                    s.is_awake
                FROM step s
                ORDER BY s.id, cardinality(s.lineage) DESC
            )
            SELECT
                to_json(a) AS "assignment!: Json<AssignmentRow<Moment>>",
                (
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
                ) AS "role!: Json<RoleRow>",
                to_json(o) AS "organization?: Json<GrantOrganizationRow>"
            FROM found a
            JOIN iam.roles r ON r.tenant_id = $1 AND r.id = a.role_id
            LEFT JOIN position o ON o.id = a.organization_id
            ORDER BY "# + $order
                + $after,
            $($argument),+
        )
    };
}
pub(crate) use select_grants;

impl PostgresStore {
    pub(crate) async fn read_grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        let rows = select_grants!(
            GrantRow,
            "",
            "WHERE a.tenant_id = $1 AND a.user_id = ANY($2)",
            "a.created_at DESC, a.id",
            "",
            tenant.as_uuid(),
            &Self::ids(users.iter().map(|user| user.as_uuid()))
        );
        grants(self.answer(rows.fetch_all(&self.reads())).await?)
    }
}

/// Contexts of grants, turned from rows to columns.
#[derive(Default)]
struct Contexts {
    users: Vec<Uuid>,
    roles: Vec<Uuid>,
    organizations: Vec<Option<Uuid>>,
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

/// Assignments, turned from rows to columns.
#[derive(Default)]
struct AssignmentColumns {
    ids: Vec<Uuid>,
    users: Vec<Uuid>,
    roles: Vec<Uuid>,
    organizations: Vec<Option<Uuid>>,
    expires_at: Vec<Option<DateTime<Utc>>>,
    created_at: Vec<DateTime<Utc>>,
    created_by: Vec<Option<Uuid>>,
}

impl<'a> FromIterator<&'a Assignment> for AssignmentColumns {
    fn from_iter<I: IntoIterator<Item = &'a Assignment>>(assignments: I) -> Self {
        let mut columns = Self::default();
        for assignment in assignments {
            columns.ids.push(assignment.id.as_uuid());
            columns.users.push(assignment.user_id.as_uuid());
            columns.roles.push(assignment.role_id.as_uuid());
            columns.organizations.push(assignment.organization_id.map(OrganizationId::as_uuid));
            columns.expires_at.push(assignment.expires_at);
            columns.created_at.push(assignment.created_at);
            columns.created_by.push(assignment.created_by.map(UserId::as_uuid));
        }
        columns
    }
}

impl PostgresTransaction {
    async fn read_grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        macro_rules! read {
            ($which:literal, $order:literal, $($argument:expr),+) => {
                select_grants!(GrantRow, "", $which, $order, "", self.tenant(), $($argument),+)
                    .fetch_all(self.connection())
                    .await
            };
        }
        let rows = match which {
            GrantQuery::One(id) => {
                read!("WHERE a.tenant_id = $1 AND a.id = $2", "a.created_at DESC, a.id", id.as_uuid())
            }
            GrantQuery::Each(ids) => read!(
                "WHERE a.tenant_id = $1 AND a.id = ANY($2)",
                "a.created_at DESC, a.id",
                &PostgresStore::ids(ids.iter().map(|id| id.as_uuid()))
            ),
            GrantQuery::OfUser(user) => {
                read!("WHERE a.tenant_id = $1 AND a.user_id = $2", "a.created_at DESC, a.id", user.as_uuid())
            }
            GrantQuery::OfRole(role) => {
                read!("WHERE a.tenant_id = $1 AND a.role_id = $2", "a.created_at DESC, a.id", role.as_uuid())
            }
            GrantQuery::In(organization) => read!(
                "WHERE a.tenant_id = $1 AND a.organization_id = $2",
                "a.created_at DESC, a.id",
                organization.as_uuid()
            ),
            GrantQuery::At(contexts) => {
                let Contexts { users, roles, organizations } = contexts.iter().collect();
                read!(
                    r#"
                    JOIN (
                        SELECT DISTINCT *
                        FROM unnest($2::uuid[], $3::uuid[], $4::uuid[])
                    ) c (user_id, role_id, organization_id)
                        ON c.user_id = a.user_id
                        AND c.role_id = a.role_id
                        AND c.organization_id IS NOT DISTINCT FROM a.organization_id
                    WHERE a.tenant_id = $1
                    "#,
                    "a.created_at DESC, a.id",
                    &users,
                    &roles,
                    &organizations as &[Option<Uuid>]
                )
            }
            GrantQuery::Expired { at, limit } => read!(
                r#"
                WHERE a.tenant_id = $1 AND a.expires_at <= $2
                ORDER BY a.expires_at, a.created_at DESC, a.id
                LIMIT $3
                "#,
                "a.expires_at, a.created_at DESC, a.id",
                in_range(at),
                i64::from(limit)
            ),
        };
        grants(rows.map_err(store_error)?)
    }

    async fn insert_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        if self.is_distributed() {
            let tenant = self.tenant();
            let insert = "
                INSERT INTO iam.role_assignments (
                    tenant_id, id, user_id, role_id, organization_id, expires_at, created_at, created_by
                ) ";
            let assignments = grants.iter().map(|grant| grant.assignment.clone()).collect();
            let push = |row: &mut Row<'_>, assignment: Assignment| {
                row.push_bind(tenant).push_bind(assignment.id.as_uuid()).push_bind(assignment.user_id.as_uuid());
                row.push_bind(assignment.role_id.as_uuid());
                row.push_bind(assignment.organization_id.map(OrganizationId::as_uuid));
                row.push_bind(assignment.expires_at).push_bind(assignment.created_at);
                row.push_bind(assignment.created_by.map(UserId::as_uuid));
            };
            return self.insert_values(insert, assignments, push).await;
        }
        let AssignmentColumns { ids, users, roles, organizations, expires_at, created_at, created_by } =
            grants.iter().map(|grant| &grant.assignment).collect();
        execute_audited!(
            self,
            "$9",
            r#"
            INSERT INTO iam.role_assignments (
                tenant_id, id, user_id, role_id, organization_id, expires_at, created_at, created_by
            )
            SELECT $1, *
            FROM unnest(
                $2::uuid[],
                $3::uuid[],
                $4::uuid[],
                $5::uuid[],
                $6::timestamptz[],
                $7::timestamptz[],
                $8::uuid[]
            )
            "#,
            self.tenant(),
            &ids,
            &users,
            &roles,
            &organizations as &[Option<Uuid>],
            &expires_at as &[Option<DateTime<Utc>>],
            &created_at,
            &created_by as &[Option<Uuid>]
        )?;
        Ok(())
    }
}
