use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use iam_model::access::{HeldRole, Until, VisibleScope};
use iam_model::assignment::{Assignment, AssignmentFilter, Grant, GrantContext, GrantOrganization, ListedAssignment};
use iam_model::change::{AssignmentChange, ChangedAssignment};
use iam_model::clock::Timestamp;
use iam_model::id::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationStatus;
use iam_model::page::{Page, PageRequest};
use iam_model::role::{Role, TENANT_ADMIN};
use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery, HolderQuery, RoleTransaction as _};
use iam_model::store_error::StoreError;
use iam_model::user::UserStatus;
use iam_store_sql::assignment::{AssignmentRow, ListedAssignmentRow, SharedRoles, expiring, list};
use iam_store_sql::column::moment_optional;
use iam_store_sql::error::expect_rows;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::query::QueryAs;
use sqlx::sqlite::SqliteArguments;
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, FromRow, Sqlite};
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::SqliteTransaction;

type ListedRow = ListedAssignmentRow<i64>;

#[async_trait]
impl AssignmentStore for SqliteStore {
    async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        let rows = select_grants(
            "WHERE a.tenant_id = ?1 AND a.user_id IN (SELECT unhex(value, '-') FROM json_each(?2))",
            NEWEST_FIRST,
        );
        let rows = rows.bind(tenant.as_uuid()).bind(Json(users));
        self.answer(rows.fetch_one(&self.reads_of(tenant))).await?.try_into()
    }

    async fn deciding_grants(
        &self,
        tenant: TenantId,
        users: &[UserId],
        query: &HolderQuery,
    ) -> Result<Vec<Grant>, StoreError> {
        let rows = select_grants(
            "
            WHERE a.tenant_id = ?1
                AND a.user_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                AND (?3 IS NULL OR a.role_id IN (SELECT unhex(value, '-') FROM json_each(?3)))
                AND (a.organization_id IS NULL
                    OR a.organization_id IN (SELECT unhex(value, '-') FROM json_each(?4)))
            ",
            NEWEST_FIRST,
        );
        let roles = query.roles.as_ref().map(Json);
        let rows = rows.bind(tenant.as_uuid()).bind(Json(users)).bind(roles).bind(Json(&query.organizations));
        self.answer(rows.fetch_one(&self.reads_of(tenant))).await?.try_into()
    }

    async fn assigned_users(
        &self,
        tenant: TenantId,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<UserId>, StoreError> {
        let users = sqlx::query_scalar!(
            r#"
            SELECT user_id AS "user_id!: Uuid"
            FROM role_assignments
            WHERE tenant_id = ?1 AND role_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            UNION
            SELECT user_id
            FROM role_assignments
            WHERE tenant_id = ?1 AND organization_id IN (SELECT unhex(value, '-') FROM json_each(?3))
            "#,
            tenant.as_uuid(),
            Json(roles),
            Json(organizations)
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
        let counts = sqlx::query!(
            r#"
            SELECT user_id AS "user_id!: Uuid", count(*) AS "count!: i64"
            FROM role_assignments
            WHERE tenant_id = ?1
                AND user_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                AND (expires_at IS NULL OR expires_at > ?3)
            GROUP BY user_id
            "#,
            tenant.as_uuid(),
            Json(users),
            millis(at)
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
        self.page::<ListedAssignment, ListedRow>(tenant, page, list).await
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
            "SELECT DISTINCT tenant_id FROM role_assignments WHERE expires_at <= ?1 LIMIT ?2",
            millis(now),
            i64::from(limit)
        );
        let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
        Ok(tenants.into_iter().map(TenantId::from).collect())
    }
}

#[async_trait]
impl AssignmentTransaction for SqliteTransaction {
    async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        let tenant = self.tenant();
        let rows = match which {
            GrantQuery::One(id) => {
                let rows = select_grants("WHERE a.tenant_id = ?1 AND a.id = ?2", NEWEST_FIRST);
                rows.bind(tenant).bind(id.as_uuid())
            }
            GrantQuery::Each(ids) => {
                let rows = select_grants(
                    "WHERE a.tenant_id = ?1 AND a.id IN (SELECT unhex(value, '-') FROM json_each(?2))",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(Json(ids))
            }
            GrantQuery::OfUser(user) => {
                let rows = select_grants("WHERE a.tenant_id = ?1 AND a.user_id = ?2", NEWEST_FIRST);
                rows.bind(tenant).bind(user.as_uuid())
            }
            GrantQuery::OfUsers(users) => {
                let rows = select_grants(
                    "WHERE a.tenant_id = ?1 AND a.user_id IN (SELECT unhex(value, '-') FROM json_each(?2))",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(Json(users))
            }
            GrantQuery::OfRole(role) => {
                let rows = select_grants("WHERE a.tenant_id = ?1 AND a.role_id = ?2", NEWEST_FIRST);
                rows.bind(tenant).bind(role.as_uuid())
            }
            GrantQuery::In(organization) => {
                let rows = select_grants("WHERE a.tenant_id = ?1 AND a.organization_id = ?2", NEWEST_FIRST);
                rows.bind(tenant).bind(organization.as_uuid())
            }
            GrantQuery::At(contexts) => {
                // With the expression of the index: a user may have one role in very many organizations.
                let rows = select_grants(
                    "
                    WHERE a.tenant_id = ?1 AND a.id IN (
                        SELECT b.id
                        FROM json_each(?2)
                        CROSS JOIN role_assignments b ON b.tenant_id = ?1
                            AND b.user_id = unhex(value ->> 0, '-')
                            AND b.role_id = unhex(value ->> 1, '-')
                            AND coalesce(b.organization_id, x'') = coalesce(unhex(value ->> 2, '-'), x'')
                    )
                    ",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(contexts_as_json(contexts))
            }
            GrantQuery::OfDirectory(directory) => {
                let rows = select_grants(
                    "
                    WHERE a.tenant_id = ?1 AND a.directory_group_id IN (
                        SELECT d.id
                        FROM directory_groups d
                        WHERE d.tenant_id = ?1 AND d.directory_id = ?2
                    )
                    ",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(directory.as_uuid())
            }
            GrantQuery::OfAccessRequests(requests) => {
                let rows = select_grants(
                    "
                    WHERE a.tenant_id = ?1 AND a.access_request_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                    ",
                    NEWEST_FIRST,
                );
                rows.bind(tenant).bind(Json(requests))
            }
            GrantQuery::Expired { at, limit } => {
                let rows = select_grants(
                    "WHERE a.tenant_id = ?1 AND a.expires_at <= ?2 ORDER BY a.expires_at LIMIT ?3",
                    "g.expires_at, g.created_at DESC, g.id",
                );
                rows.bind(tenant).bind(millis(at)).bind(limit)
            }
        };
        rows.fetch_one(self.connection()).await.map_err(store_error)?.try_into()
    }

    async fn live_assignments(&mut self, users: &[UserId], at: Timestamp) -> Result<Vec<(UserId, u64)>, StoreError> {
        let counts = sqlx::query!(
            r#"
            SELECT user_id AS "user_id!: Uuid", count(*) AS "count!: i64"
            FROM role_assignments
            WHERE tenant_id = ?1
                AND user_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                AND (expires_at IS NULL OR expires_at > ?3)
            GROUP BY user_id
            "#,
            self.tenant(),
            Json(users),
            millis(at)
        );
        let counts = counts.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(counts.into_iter().map(|row| (row.user_id.into(), row.count.unsigned_abs())).collect())
    }

    async fn roles_held_in(
        &mut self,
        organizations: &[OrganizationId],
        now: Timestamp,
    ) -> Result<Vec<HeldRole>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT
                a.role_id AS "role_id!",
                a.organization_id AS "organization_id!",
                CASE WHEN count(*) = count(a.expires_at) THEN max(a.expires_at) END AS "until: i64"
            FROM role_assignments a
            WHERE a.tenant_id = ?1
                AND a.organization_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                AND (a.expires_at <= ?3) IS NOT TRUE
            GROUP BY a.organization_id, a.role_id
            "#,
            self.tenant(),
            Json(organizations),
            millis(now)
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
        let until = sqlx::query_scalar!(
            r#"
            SELECT
                CASE WHEN count(*) = count(a.expires_at) THEN max(a.expires_at) END AS "until: i64"
            FROM role_assignments a
            WHERE a.tenant_id = ?1
                AND a.role_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                AND (a.expires_at <= ?3) IS NOT TRUE
            HAVING count(*) > 0
            "#,
            self.tenant(),
            Json(roles),
            millis(now)
        );
        let until = until.fetch_optional(self.connection()).await.map_err(store_error)?;
        let until = until.map(|until| moment_optional("role_assignments.expires_at", until));
        Ok(until.transpose()?.map(Until::from))
    }

    async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
        let has_other = sqlx::query_scalar!(
            r#"
            SELECT EXISTS (
                SELECT 1
                FROM role_assignments a
                JOIN roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
                JOIN users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
                WHERE a.tenant_id = ?1
                    AND a.user_id <> ?2
                    AND a.organization_id IS NULL
                    AND a.expires_at IS NULL
                    AND r.system
                    AND r.name = ?3
                    AND u.status = ?4
                    AND u.kind = 'HUMAN'
            ) AS "exists!: bool"
            "#,
            self.tenant(),
            than.as_uuid(),
            TENANT_ADMIN,
            UserStatus::Active.as_str()
        );
        has_other.fetch_one(self.connection()).await.map_err(store_error)
    }
}

/// An organization of a grant, or an ancestor of one.
#[derive(Deserialize)]
pub(crate) struct LineageRow {
    id: Uuid,
    parent_id: Option<Uuid>,
    name: String,
    status: String,
}

/// The parts of grants: each role and each organization once, even if many grants have it.
#[derive(FromRow)]
pub(crate) struct GrantRows {
    pub(crate) assignments: Json<Vec<AssignmentRow<i64>>>,
    pub(crate) roles: Json<Vec<RoleRow>>,
    pub(crate) places: Json<Vec<LineageRow>>,
}

impl TryFrom<GrantRows> for Vec<Grant> {
    type Error = StoreError;

    fn try_from(rows: GrantRows) -> Result<Self, StoreError> {
        let roles: SharedRoles = rows.roles.0.into_iter().map(Role::try_from).collect::<Result<_, _>>()?;
        let places: HashMap<Uuid, LineageRow> = rows.places.0.into_iter().map(|place| (place.id, place)).collect();
        let grant = |row: AssignmentRow<i64>| {
            Ok(Grant {
                role: roles.get(row.role_id)?,
                organization: row.organization_id.map(|id| place(&places, id)).transpose()?,
                assignment: row.try_into()?,
            })
        };
        rows.assignments.0.into_iter().map(grant).collect()
    }
}

fn place(places: &HashMap<Uuid, LineageRow>, id: Uuid) -> Result<GrantOrganization, StoreError> {
    let here = places.get(&id).ok_or_else(|| StoreError::corrupt("organizations.id", "is missing"))?;
    let above = |place: &&LineageRow| places.get(&place.parent_id?);
    // Not longer than the number of all these organizations: no constraint forbids a cycle.
    let lineage: Vec<&LineageRow> = std::iter::successors(Some(here), above).take(places.len()).collect();
    Ok(GrantOrganization {
        id: id.into(),
        name: here.name.clone(),
        lineage: lineage.iter().map(|place| place.id.into()).collect(),
        is_lineage_active: lineage.iter().all(|place| place.status == OrganizationStatus::Active.as_str()),
    })
}

/// The order of grants `g`.
const NEWEST_FIRST: &str = "g.created_at DESC, g.id";

/// Selects one row with the parts of grants of a tenant, which is the first parameter: `which` assignments `a`, and
/// their order as grants `g`.
///
/// One statement, so that the parts match each other, also while other transactions write.
fn select_grants<'q>(which: &'static str, order: &'static str) -> QueryAs<'q, Sqlite, GrantRows, SqliteArguments> {
    // Built at run time, because `which` varies from call to call. Only text of this file is inserted.
    sqlx::query_as(AssertSqlSafe(format!(
        "
        WITH RECURSIVE
        granted AS MATERIALIZED (
            SELECT a.*
            FROM role_assignments a
            {which}
        ),
        lineage (id) AS (
            SELECT g.organization_id
            FROM granted g
            WHERE g.organization_id IS NOT NULL
            UNION
            SELECT o.parent_id
            FROM lineage l
            CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
            WHERE o.parent_id IS NOT NULL
        )
        SELECT
            (
                SELECT json_group_array(
                    json_object(
                        'tenant_id', hex(g.tenant_id),
                        'id', hex(g.id),
                        'user_id', hex(g.user_id),
                        'role_id', hex(g.role_id),
                        'organization_id', nullif(hex(g.organization_id), ''),
                        'expires_at', g.expires_at,
                        'created_at', g.created_at,
                        'created_by', nullif(hex(g.created_by), ''),
                        'directory_group_id', nullif(hex(g.directory_group_id), ''),
                        'access_request_id', nullif(hex(g.access_request_id), '')
                    )
                    ORDER BY {order}
                )
                FROM granted g
            ) AS assignments,
            (
                SELECT json_group_array(
                    json_object(
                        'tenant_id', hex(r.tenant_id),
                        'id', hex(r.id),
                        'name', r.name,
                        'description', r.description,
                        'scope', r.scope,
                        'permissions', (
                            SELECT json_group_array(p.permission)
                            FROM role_permissions p
                            WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                        ),
                        'system', json(iif(r.system, 'true', 'false')),
                        'created_at', r.created_at,
                        'updated_at', r.updated_at,
                        'version', r.version
                    )
                )
                FROM roles r
                WHERE r.tenant_id = ?1 AND r.id IN (SELECT g.role_id FROM granted g)
            ) AS roles,
            (
                SELECT json_group_array(
                    json_object(
                        'id', hex(o.id),
                        'parent_id', nullif(hex(o.parent_id), ''),
                        'name', o.name,
                        'status', o.status
                    )
                )
                FROM lineage l
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
            ) AS places
        "
    )))
}

/// Contexts of grants, as a parameter.
pub(crate) fn contexts_as_json(contexts: &[GrantContext]) -> Json<Vec<(UserId, RoleId, Option<OrganizationId>)>> {
    Json(contexts.iter().map(|context| (context.user, context.role, context.organization)).collect())
}

/// The columns of an assignment, as a parameter.
fn as_json(assignment: &Assignment) -> Value {
    json!({
        "id": assignment.id,
        "user_id": assignment.user_id,
        "role_id": assignment.role_id,
        "organization_id": assignment.organization_id,
        "expires_at": assignment.expires_at.map(millis),
        "created_at": millis(assignment.created_at),
        "created_by": assignment.created_by,
        "directory_group_id": assignment.directory_group_id,
        "access_request_id": assignment.access_request_id,
    })
}

impl SqliteTransaction {
    pub(crate) async fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
        match change {
            AssignmentChange::Create(grants) => self.insert_assignments(grants).await,
            AssignmentChange::Activate { grant, .. } => self.insert_assignments(std::slice::from_ref(grant)).await,
            AssignmentChange::Update(changed) => self.update_assignments(changed).await,
            AssignmentChange::Revoke { grants, .. } => self.delete_assignments(grants).await,
        }
    }

    async fn insert_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let rows: Vec<_> = grants.iter().map(|grant| as_json(&grant.assignment)).collect();
        let insert = sqlx::query!(
            r#"
            INSERT INTO role_assignments (
                tenant_id, id, user_id, role_id, organization_id, expires_at, created_at, created_by,
                directory_group_id, access_request_id
            )
            SELECT
                ?1,
                unhex(value ->> 'id', '-'),
                unhex(value ->> 'user_id', '-'),
                unhex(value ->> 'role_id', '-'),
                unhex(value ->> 'organization_id', '-'),
                value ->> 'expires_at',
                value ->> 'created_at',
                unhex(value ->> 'created_by', '-'),
                unhex(value ->> 'directory_group_id', '-'),
                unhex(value ->> 'access_request_id', '-')
            FROM json_each(?2)
            "#,
            self.tenant(),
            Json(rows)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_assignments(&mut self, changed: &[ChangedAssignment]) -> Result<(), StoreError> {
        let rows: Vec<_> = changed.iter().map(|changed| as_json(&changed.after)).collect();
        // By the rowid, so that each assignment is found by its key. SQLite would compare all assignments of the tenant
        // with all that change.
        let update = sqlx::query!(
            r#"
            UPDATE role_assignments AS a
            SET
                expires_at = c.value ->> 'expires_at',
                directory_group_id = unhex(c.value ->> 'directory_group_id', '-'),
                since = (SELECT max(p.until) FROM past_assignments p WHERE p.tenant_id = ?1 AND p.id = a.id)
            FROM json_each(?2) c
            WHERE a.rowid = (
                SELECT b.rowid
                FROM role_assignments b
                WHERE b.tenant_id = ?1 AND b.id = unhex(c.value ->> 'id', '-')
            )
            "#,
            self.tenant(),
            Json(rows)
        );
        expect_rows(self.execute(update).await?, changed.len(), "role assignment")
    }

    async fn delete_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let ids: Vec<AssignmentId> = grants.iter().map(|grant| grant.assignment.id).collect();
        let delete = sqlx::query!(
            r#"
            DELETE FROM role_assignments
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
    use sqlx::QueryBuilder;

    use super::*;
    use crate::plan::{assert_list, plan};

    fn page(filter: &AssignmentFilter) -> QueryBuilder<Sqlite> {
        list::<SqliteStore>(
            TenantId::NONE,
            filter,
            PageRequest::default(),
            Timestamp::UNIX_EPOCH,
            &VisibleScope::Tenant,
        )
    }

    /// The assignments of one user, in one organization, or in a visible scope of organizations are sorted: they are
    /// few.
    #[tokio::test]
    async fn every_filter_finds_its_assignments_by_an_index() {
        let (id, plain) = (Uuid::nil(), AssignmentFilter::default);
        for (filter, index, is_sorted) in [
            (plain(), "COVERING INDEX role_assignments_created_idx (tenant_id=?)", false),
            (
                AssignmentFilter { role: Some(id.into()), ..plain() },
                "COVERING INDEX role_assignments_role_idx (tenant_id=? AND role_id=?)",
                false,
            ),
            (
                AssignmentFilter { organization: Some(id.into()), ..plain() },
                "COVERING INDEX role_assignments_organization_idx (tenant_id=? AND organization_id=?)",
                true,
            ),
            (
                AssignmentFilter { user: Some(id.into()), ..plain() },
                "INDEX role_assignments_context_key (tenant_id=? AND user_id=?)",
                true,
            ),
        ] {
            assert_list(page(&filter), &format!("SEARCH a USING {index}"), is_sorted).await;
        }

        let within = VisibleScope::Organizations(Vec::new());
        let reached =
            list::<SqliteStore>(TenantId::NONE, &plain(), PageRequest::default(), Timestamp::UNIX_EPOCH, &within);
        let index = "COVERING INDEX role_assignments_organization_idx (tenant_id=? AND organization_id=?)";
        assert_list(reached, &format!("SEARCH a USING {index}"), true).await;
    }

    #[tokio::test]
    async fn a_list_subtracts_expired_assignments_from_the_stored_count() {
        let plan = plan(page(&AssignmentFilter::default())).await;
        let key = "role_assignments_expiry_idx (expires_at<?)";
        assert_eq!(plan.last().unwrap(), &format!("SEARCH e USING COVERING INDEX {key}"));
    }
}
