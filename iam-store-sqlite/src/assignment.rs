use std::collections::HashMap;

use iam_model::assignment::{Assignment, Grant, GrantContext, GrantOrganization};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationStatus;
use iam_model::role::Role;
use iam_model::store::GrantQuery;
use iam_model::store_error::StoreError;
use iam_store_sql::assignment::{AssignmentRow, SharedRoles};
use iam_store_sql::assignment_ports;
use serde::Deserialize;
use serde_json::{Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::{SqliteTransaction, execute_audited};

assignment_ports! {
    SqliteStore,
    SqliteTransaction,
    list_moment: i64,
    assigned_users: r#"
        SELECT user_id AS "user_id!: Uuid"
        FROM role_assignments
        WHERE tenant_id = ?1 AND role_id IN (SELECT unhex(value, '-') FROM json_each(?2))
        UNION
        SELECT user_id
        FROM role_assignments
        WHERE tenant_id = ?1 AND organization_id IN (SELECT unhex(value, '-') FROM json_each(?3))
    "#,
    tenants_with_expired: "SELECT DISTINCT tenant_id FROM role_assignments WHERE expires_at <= ?1 LIMIT ?2",
    held_in: r#"
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
    held_until: r#"
        SELECT
            CASE WHEN count(*) = count(a.expires_at) THEN max(a.expires_at) END AS "until: i64"
        FROM role_assignments a
        WHERE a.tenant_id = ?1
            AND a.role_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            AND (a.expires_at <= ?3) IS NOT TRUE
        HAVING count(*) > 0
    "#,
    has_other_administrator: r#"
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
        ) AS "exists!: bool"
    "#,
    update_expiry: (r#"
        UPDATE role_assignments
        SET
            expires_at = ?3,
            since = (SELECT max(until) FROM past_assignments WHERE tenant_id = ?1 AND id = ?2)
        WHERE tenant_id = ?1 AND id = ?2
    "#),
    delete: (
        r#"
        DELETE FROM role_assignments
        WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))
        "#
    ),
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
        is_awake: lineage.iter().all(|place| place.status == OrganizationStatus::Active.as_str()),
    })
}

/// Selects one row with the parts of grants. The arguments are: the type of the row, which assignments, their order,
/// other columns, and the FROM clause of these.
///
/// One statement, so that the parts match each other, also while other transactions write.
macro_rules! select_grants {
    ($row:ident, $which:literal, $order:literal, $columns:literal, $from:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            $row,
            r#"
            WITH RECURSIVE
            granted AS MATERIALIZED (
                SELECT a.*
                FROM role_assignments a
                "# + $which
                + r#"
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
                "# + $columns
                + r#"
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
                            'created_by', nullif(hex(g.created_by), '')
                        )
                        ORDER BY "# + $order
                + r#"
                    )
                    FROM granted g
                ) AS "assignments!: _",
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
                ) AS "roles!: _",
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
                ) AS "places!: _"
            "# + $from,
            $($argument),+
        )
    };
    ($which:literal, $($argument:expr),+) => {
        select_grants!(GrantRows, $which, "g.created_at DESC, g.id", "", "", $($argument),+)
    };
}
pub(crate) use select_grants;

impl SqliteStore {
    pub(crate) async fn read_grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
        let rows = select_grants!(
            "WHERE a.tenant_id = ?1 AND a.user_id IN (SELECT unhex(value, '-') FROM json_each(?2))",
            tenant.as_uuid(),
            Json(users)
        );
        self.answer(rows.fetch_one(&self.reads())).await?.try_into()
    }
}

fn contexts_as_json(contexts: &[GrantContext]) -> Json<Vec<(UserId, RoleId, Option<OrganizationId>)>> {
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
    })
}

impl SqliteTransaction {
    async fn read_grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
        macro_rules! read {
            ($which:literal, $argument:expr) => {
                select_grants!($which, self.tenant(), $argument).fetch_one(self.connection()).await
            };
        }
        let rows = match which {
            GrantQuery::One(id) => read!("WHERE a.tenant_id = ?1 AND a.id = ?2", id.as_uuid()),
            GrantQuery::Each(ids) => {
                read!("WHERE a.tenant_id = ?1 AND a.id IN (SELECT unhex(value, '-') FROM json_each(?2))", Json(ids))
            }
            GrantQuery::OfUser(user) => read!("WHERE a.tenant_id = ?1 AND a.user_id = ?2", user.as_uuid()),
            GrantQuery::OfRole(role) => read!("WHERE a.tenant_id = ?1 AND a.role_id = ?2", role.as_uuid()),
            GrantQuery::In(organization) => {
                read!("WHERE a.tenant_id = ?1 AND a.organization_id = ?2", organization.as_uuid())
            }
            // With the expression of the index: a user may have one role in very many organizations.
            GrantQuery::At(contexts) => read!(
                r#"
                WHERE a.tenant_id = ?1 AND a.id IN (
                    SELECT b.id
                    FROM json_each(?2)
                    CROSS JOIN role_assignments b ON b.tenant_id = ?1
                        AND b.user_id = unhex(value ->> 0, '-')
                        AND b.role_id = unhex(value ->> 1, '-')
                        AND coalesce(b.organization_id, x'') = coalesce(unhex(value ->> 2, '-'), x'')
                )
                "#,
                contexts_as_json(contexts)
            ),
            GrantQuery::Expired { at, limit } => {
                select_grants!(
                    GrantRows,
                    "WHERE a.tenant_id = ?1 AND a.expires_at <= ?2 ORDER BY a.expires_at LIMIT ?3",
                    "g.expires_at, g.created_at DESC, g.id",
                    "",
                    "",
                    self.tenant(),
                    millis(at),
                    limit
                )
                .fetch_one(self.connection())
                .await
            }
        };
        rows.map_err(store_error)?.try_into()
    }

    async fn insert_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
        let rows: Vec<_> = grants.iter().map(|grant| as_json(&grant.assignment)).collect();
        sqlx::query!(
            r#"
            INSERT INTO role_assignments (
                tenant_id, id, user_id, role_id, organization_id, expires_at, created_at, created_by
            )
            SELECT
                ?1,
                unhex(value ->> 'id', '-'),
                unhex(value ->> 'user_id', '-'),
                unhex(value ->> 'role_id', '-'),
                unhex(value ->> 'organization_id', '-'),
                value ->> 'expires_at',
                value ->> 'created_at',
                unhex(value ->> 'created_by', '-')
            FROM json_each(?2)
            "#,
            self.tenant(),
            Json(rows)
        )
        .execute(self.connection())
        .await
        .map_err(store_error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use iam_model::access::VisibleScope;
    use iam_model::assignment::AssignmentFilter;
    use iam_model::clock::Timestamp;
    use iam_model::page::PageRequest;
    use iam_store_sql::assignment::list;
    use sqlx::{QueryBuilder, Sqlite};

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
