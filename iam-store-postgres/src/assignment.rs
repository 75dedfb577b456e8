use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_model::access::{Until, VisibleScope};
use iam_model::assignment::{Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment};
use iam_model::change::{AssignmentChange, NewGrant};
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationSummary;
use iam_model::page::{Page, PageRequest};
use iam_model::role::{Role, RoleSummary, TENANT_ADMIN};
use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery, HeldRole, RoleTransaction as _};
use iam_model::store_error::StoreError;
use iam_model::user::UserStatus;
use iam_store_sql::column::parse;
use iam_store_sql::error::expect_row;
use serde::{Deserialize, Deserializer};
use sqlx::types::Json;
use sqlx::{FromRow, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::column::in_range;
use crate::error::store_error;
use crate::organization::push_within;
use crate::page::push_page;
use crate::role::RoleRow;
use crate::transaction::PostgresTransaction;

/// An assignment. Inside a grant it comes as JSON.
#[derive(Deserialize, FromRow)]
struct AssignmentRow {
    tenant_id: Uuid,
    id: Uuid,
    user_id: Uuid,
    role_id: Uuid,
    organization_id: Option<Uuid>,
    #[serde(deserialize_with = "expiry")]
    expires_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
    created_by: Option<Uuid>,
}

/// Parses an expiry. Its year may be after 9999. PostgreSQL writes such a year without the sign that ISO 8601
/// requires.
fn expiry<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let Some(mut text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    if text.find('-').is_some_and(|year| year > "9999".len()) {
        text.insert(0, '+');
    }
    text.parse().map(Some).map_err(serde::de::Error::custom)
}

impl From<AssignmentRow> for Assignment {
    fn from(row: AssignmentRow) -> Self {
        Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            role_id: row.role_id.into(),
            organization_id: row.organization_id.map(OrganizationId::from),
            expires_at: row.expires_at,
            created_at: row.created_at,
            created_by: row.created_by.map(UserId::from),
        }
    }
}

/// An assignment with its role and its organization. Inside a session's snapshot it comes as JSON.
#[derive(Deserialize)]
pub(crate) struct GrantRow {
    assignment: Json<AssignmentRow>,
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
        Ok(Grant { assignment: assignment.into(), role, organization })
    };
    rows.into_iter().map(grant).collect()
}

/// Selects grants. The literals are: text before the statement, which assignments, their order, and text after the
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
                    o.tenant_id,
                    o.id,
                    o.name,
                    o.parent_id,
                    o.status = 'ACTIVE' AS is_awake,
                    ARRAY[o.id] AS lineage
                FROM iam.organizations o
                WHERE (o.tenant_id, o.id) IN (SELECT f.tenant_id, f.organization_id FROM found f)
                UNION ALL
                SELECT
                    s.tenant_id,
                    s.id,
                    s.name,
                    o.parent_id,
                    s.is_awake AND o.status = 'ACTIVE',
                    s.lineage || o.id
                FROM step s
                CROSS JOIN LATERAL (
                    SELECT o.id, o.parent_id, o.status
                    FROM iam.organizations o
                    WHERE o.tenant_id = s.tenant_id
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
                to_json(a) AS "assignment!: Json<AssignmentRow>",
                (
                    SELECT to_json(role)
                    FROM (
                        SELECT
                            r.*,
                            ARRAY(
                                SELECT p.permission
                                FROM iam.role_permissions p
                                WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                            ) AS permissions
                    ) role
                ) AS "role!: Json<RoleRow>",
                to_json(o) AS "organization?: Json<GrantOrganizationRow>"
            FROM found a
            JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
            LEFT JOIN position o ON o.id = a.organization_id
            ORDER BY "# + $order
                + $after,
            $($argument),+
        )
    };
}
pub(crate) use select_grants;

#[async_trait]
impl AssignmentStore for PostgresStore {
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let rows = select_grants!(
            GrantRow,
            "",
            "WHERE a.tenant_id = $1 AND a.user_id = ANY($2)",
            "a.created_at DESC, a.id",
            "",
            tenant.as_uuid(),
            &users
        );
        grants(self.answer(rows.fetch_all(&self.source())).await?)
    }

    async fn assignments(
        &self,
        tenant: TenantId,
        filter: &AssignmentFilter,
        visible_scope: &VisibleScope,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<ListedAssignment>, StoreError> {
        let within = self.within(tenant, visible_scope).await?;
        let is_steady = within.is_none();
        let list = |page| list(tenant, filter, within.as_deref(), page, now);
        self.page::<ListedAssignment, ListedRow>(page, is_steady, list).await
    }

    async fn tenants_with_expired_assignments(&self, now: Timestamp, limit: u32) -> Result<Vec<TenantId>, StoreError> {
        let tenants = sqlx::query_scalar!(
            "SELECT DISTINCT tenant_id FROM iam.role_assignments WHERE expires_at <= $1 LIMIT $2",
            in_range(now),
            i64::from(limit)
        );
        let tenants = self.answer(tenants.fetch_all(&self.source())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }
}

// The list is built at run time, because its conditions vary from call to call. Only text of this file is pushed. All
// values from outside are bound.

const LIST_COLUMNS: &str = "
        a.tenant_id,
        a.id,
        a.user_id,
        a.role_id,
        a.organization_id,
        a.expires_at,
        a.created_at,
        a.created_by,
        u.email,
        r.name AS role_name,
        o.name AS organization_name";

const LIST_JOINS: &str = "
    JOIN iam.users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
    JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
    LEFT JOIN iam.organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
    ORDER BY p.key DESC, p.id";

/// Builds the statement for a page of the assignments in the visible scope that match a filter.
fn list(
    tenant: TenantId,
    filter: &AssignmentFilter,
    within: Option<&[Uuid]>,
    page: PageRequest,
    now: Timestamp,
) -> QueryBuilder<Postgres> {
    let is_everywhere = within.is_none();
    let mut query = QueryBuilder::new("WITH found AS ");
    // Every filter has an index in the order of the list. A visible scope has none.
    query.push(if is_everywhere { "NOT MATERIALIZED" } else { "MATERIALIZED" });
    query.push(" (SELECT a.id, a.created_at AS key");
    push_filter(&mut query, tenant, filter, within, now);
    query.push(") SELECT ");
    if is_everywhere && filter.user.is_none() && filter.role.is_none() && filter.organization.is_none() {
        push_kept_count(&mut query, tenant, filter, now);
    } else {
        query.push("(SELECT count(*) FROM found)");
    }
    query.push(" AS total,").push(LIST_COLUMNS);
    push_page(&mut query, " DESC", page);
    query.push(" JOIN iam.role_assignments a ON a.id = p.id AND a.tenant_id = ").push_bind(tenant.as_uuid());
    query.push(LIST_JOINS);
    query
}

/// Adds the stored count, minus the assignments that have expired and were not swept yet.
fn push_kept_count(query: &mut QueryBuilder<Postgres>, tenant: TenantId, filter: &AssignmentFilter, now: Timestamp) {
    query.push("(SELECT coalesce(sum(c.role_assignments), 0)::bigint FROM iam.tenant_counts c WHERE c.tenant_id = ");
    query.push_bind(tenant.as_uuid()).push(")");
    if !filter.include_expired {
        query.push(" - (SELECT count(*) FROM iam.role_assignments e WHERE e.tenant_id = ").push_bind(tenant.as_uuid());
        query.push(" AND e.expires_at <= ").push_bind(in_range(now)).push(")");
    }
}

#[derive(FromRow)]
struct ListedRow {
    #[sqlx(flatten)]
    assignment: AssignmentRow,
    email: String,
    role_name: String,
    organization_name: Option<String>,
}

impl TryFrom<ListedRow> for ListedAssignment {
    type Error = StoreError;

    fn try_from(row: ListedRow) -> Result<Self, StoreError> {
        let assignment = Assignment::from(row.assignment);
        let organization = assignment.organization_id.zip(row.organization_name);
        Ok(Self {
            email: parse("users.email", &row.email)?,
            role: RoleSummary { id: assignment.role_id, name: parse("roles.name", &row.role_name)? },
            organization: organization.map(|(id, name)| OrganizationSummary { id, name }),
            assignment,
        })
    }
}

/// Adds the FROM clause and the conditions for the assignments in the visible scope that match a filter.
fn push_filter(
    query: &mut QueryBuilder<Postgres>,
    tenant: TenantId,
    filter: &AssignmentFilter,
    within: Option<&[Uuid]>,
    now: Timestamp,
) {
    query.push(" FROM iam.role_assignments a WHERE a.tenant_id = ").push_bind(tenant.as_uuid());
    for (condition, id) in [
        (" AND a.user_id = ", filter.user.map(UserId::as_uuid)),
        (" AND a.role_id = ", filter.role.map(RoleId::as_uuid)),
        (" AND a.organization_id = ", filter.organization.map(OrganizationId::as_uuid)),
    ] {
        if let Some(id) = id {
            query.push(condition).push_bind(id);
        }
    }
    if !filter.include_expired {
        push_live(query, now);
    }
    push_within(query, "a.organization_id", within);
}

/// Adds the condition that an assignment `a` has not expired.
pub(crate) fn push_live(query: &mut QueryBuilder<Postgres>, now: Timestamp) {
    query.push(" AND (a.expires_at IS NULL OR a.expires_at > ").push_bind(in_range(now)).push(")");
}

#[async_trait]
impl AssignmentTransaction for PostgresTransaction {
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        macro_rules! lock {
            ($which:literal, $order:literal, $($argument:expr),+) => {
                select_grants!(GrantRow, "", $which, $order, "", self.tenant(), $($argument),+)
                    .fetch_all(self.connection())
                    .await
            };
        }
        let rows = match which {
            GrantQuery::One(id) => {
                lock!("WHERE a.tenant_id = $1 AND a.id = $2", "a.created_at DESC, a.id", id.as_uuid())
            }
            GrantQuery::OfUser(user) => {
                lock!("WHERE a.tenant_id = $1 AND a.user_id = $2", "a.created_at DESC, a.id", user.as_uuid())
            }
            GrantQuery::OfRole(role) => {
                lock!("WHERE a.tenant_id = $1 AND a.role_id = $2", "a.created_at DESC, a.id", role.as_uuid())
            }
            GrantQuery::In(organization) => lock!(
                "WHERE a.tenant_id = $1 AND a.organization_id = $2",
                "a.created_at DESC, a.id",
                organization.as_uuid()
            ),
            GrantQuery::At(contexts) => {
                let Contexts { users, roles, organizations } = contexts.iter().collect();
                lock!(
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
            GrantQuery::Expired { at, limit } => lock!(
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

    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError> {
        let organizations: Vec<Uuid> = organizations.iter().map(|id| id.as_uuid()).collect();
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
        let roles = self.roles_by_id(&Vec::from_iter(ids)).await?;
        let roles: HashMap<Uuid, Arc<Role>> =
            roles.into_iter().map(|role| (role.id.as_uuid(), Arc::new(role))).collect();
        // A missing role must not count as a role without permissions.
        let missing = |id: Uuid| StoreError::corrupt("role_assignments.role_id", id);
        let held = rows.into_iter().map(|row| {
            let role = Arc::clone(roles.get(&row.role_id).ok_or_else(|| missing(row.role_id))?);
            Ok(HeldRole { role, organization: row.organization_id.into(), until: row.until.into() })
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
        let until = until.fetch_optional(self.connection()).await.map_err(store_error)?;
        Ok(until.map(Until::from))
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        sqlx::query_scalar!(
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
            ) AS "exists!"
            "#,
            self.tenant(),
            than.as_uuid(),
            TENANT_ADMIN,
            UserStatus::Active.as_str()
        )
        .fetch_one(self.connection())
        .await
        .map_err(store_error)
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

impl PostgresTransaction {
    pub(crate) async fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create(grants) => self.insert_assignments(grants).await,
            AssignmentChange::ChangeExpiry { after, .. } => self.update_expiry(after).await,
            AssignmentChange::Revoke { grants, .. } => self.delete_assignments(grants).await,
        }
    }

    async fn insert_assignments(&mut self, grants: &[NewGrant]) -> Result<(), StoreError> {
        let assignments = || grants.iter().map(|grant| &grant.assignment);
        let ids: Vec<Uuid> = assignments().map(|assignment| assignment.id.as_uuid()).collect();
        let contexts: Vec<GrantContext> = assignments().map(Assignment::context).collect();
        let Contexts { users, roles, organizations } = contexts.iter().collect();
        let expires_at: Vec<Option<DateTime<Utc>>> = assignments().map(|assignment| assignment.expires_at).collect();
        let created_at: Vec<DateTime<Utc>> = assignments().map(|assignment| assignment.created_at).collect();
        let created_by: Vec<Option<Uuid>> =
            assignments().map(|assignment| assignment.created_by.map(UserId::as_uuid)).collect();
        execute_audited!(
            self,
            "$9",
            r#"
            INSERT INTO iam.role_assignments (
                tenant_id,
                id,
                user_id,
                role_id,
                organization_id,
                expires_at,
                created_at,
                created_by
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

    async fn update_expiry(&mut self, assignment: &Assignment) -> Result<(), StoreError> {
        let updated = execute_audited!(
            self,
            "$4",
            "UPDATE iam.role_assignments SET expires_at = $3 WHERE tenant_id = $1 AND id = $2",
            self.tenant(),
            assignment.id.as_uuid(),
            assignment.expires_at
        )?;
        expect_row(updated.rows_affected(), "role assignment")
    }

    async fn delete_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = grants.iter().map(|grant| grant.assignment.id.as_uuid()).collect();
        execute_audited!(
            self,
            "$3",
            "DELETE FROM iam.role_assignments WHERE tenant_id = $1 AND id = ANY($2)",
            self.tenant(),
            &ids
        )?;
        Ok(())
    }
}
