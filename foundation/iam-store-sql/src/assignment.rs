//! Role assignments.

use std::collections::HashMap;
use std::sync::Arc;

use iam_model::assignment::{Assignment, AssignmentFilter, ListedAssignment};
use iam_model::clock::Timestamp;
use iam_model::id::{AccessRequestId, DirectoryGroupId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::organization::OrganizationSummary;
use iam_model::page::PageRequest;
use iam_model::role::{Role, RoleSummary};
use iam_model::store_error::StoreError;
use serde::Deserialize;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse};
use crate::store::SqlStore;
use crate::user::UserSummaryRow;

/// An assignment as the stores read it: the columns of its table. Inside a grant it comes as JSON.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, Deserialize, FromRow)]
pub struct AssignmentRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub user_id: Uuid,
    pub role_id: Uuid,
    pub organization_id: Option<Uuid>,
    pub expires_at: Option<T>,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub directory_group_id: Option<Uuid>,
    pub access_request_id: Option<Uuid>,
}

impl<T: StoredMoment> TryFrom<AssignmentRow<T>> for Assignment {
    type Error = StoreError;

    fn try_from(row: AssignmentRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            user_id: row.user_id.into(),
            role_id: row.role_id.into(),
            organization_id: row.organization_id.map(OrganizationId::from),
            expires_at: moment_optional("role_assignments.expires_at", row.expires_at)?,
            created_at: moment("role_assignments.created_at", row.created_at)?,
            created_by: row.created_by.map(UserId::from),
            directory_group_id: row.directory_group_id.map(DirectoryGroupId::from),
            access_request_id: row.access_request_id.map(AccessRequestId::from),
        })
    }
}

/// Roles by their identifiers. Grants of the same role share it.
#[derive(Debug)]
pub struct SharedRoles(HashMap<Uuid, Arc<Role>>);

impl FromIterator<Role> for SharedRoles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        Self(roles.into_iter().map(|role| (role.id.as_uuid(), Arc::new(role))).collect())
    }
}

impl SharedRoles {
    /// Returns the role of an assignment.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when it is missing: a missing role must not count as a role without permissions.
    pub fn get(&self, id: Uuid) -> Result<Arc<Role>, StoreError> {
        self.0.get(&id).map(Arc::clone).ok_or_else(|| StoreError::corrupt("role_assignments.role_id", "names no role"))
    }
}

/// An assignment of a list, with the summaries of its user, its role and its organization.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct ListedAssignmentRow<T> {
    #[sqlx(flatten)]
    pub assignment: AssignmentRow<T>,
    #[sqlx(flatten)]
    pub user: UserSummaryRow,
    pub role_name: String,
    pub organization_name: Option<String>,
}

impl<T: StoredMoment> TryFrom<ListedAssignmentRow<T>> for ListedAssignment {
    type Error = StoreError;

    fn try_from(row: ListedAssignmentRow<T>) -> Result<Self, StoreError> {
        let assignment = Assignment::try_from(row.assignment)?;
        let organization = assignment.organization_id.zip(row.organization_name);
        Ok(Self {
            user: row.user.try_into()?,
            role: RoleSummary { id: assignment.role_id, name: parse("roles.name", &row.role_name)? },
            organization: organization.map(|(id, name)| OrganizationSummary { id, name }),
            assignment,
        })
    }
}

// The list is built at run time, because its conditions vary from call to call. Only text of this file and of the
// stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        a.tenant_id,
        a.id,
        a.user_id,
        a.role_id,
        a.organization_id,
        a.expires_at,
        a.created_at,
        a.created_by,
        a.directory_group_id,
        a.access_request_id,
        u.email,
        CASE WHEN u.kind = 'SERVICE' THEN u.first_name END AS service_name,
        r.name AS role_name,
        o.name AS organization_name";

/// Builds the statement for a page of the assignments that match a filter at a moment.
pub fn list<S>(
    tenant: TenantId,
    filter: &AssignmentFilter,
    page: PageRequest,
    now: Timestamp,
    scope: &S::Scope,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let is_everywhere = S::is_everywhere(scope);
    let mut query = QueryBuilder::new("WITH found AS ");
    // Every other filter has an index in the order of the list. A visible scope and an end have none.
    let has_order = is_everywhere && filter.ends_before.is_none();
    query.push(if has_order { "NOT MATERIALIZED" } else { "MATERIALIZED" });
    query.push(" (SELECT a.id, a.created_at AS key FROM ").push(S::SCHEMA).push("role_assignments a");
    query.push(" WHERE a.tenant_id = ").push_bind(tenant.as_uuid());
    push_filter::<S>(&mut query, filter, now);
    S::push_scope(&mut query, "a.organization_id", tenant, scope);
    query.push(") SELECT ");
    if has_order && filter.user.is_none() && filter.role.is_none() && filter.organization.is_none() {
        S::push_stored_count(&mut query, tenant, "c.role_assignments");
        if !filter.include_expired {
            // The tenant has many more assignments that have not expired.
            query.push(" - (SELECT count(*) FROM ").push(S::SCHEMA).push("role_assignments e WHERE ");
            query.push(S::UNINDEXED).push("e.tenant_id = ").push_bind(tenant.as_uuid());
            query.push(" AND e.expires_at <= ").push_bind(S::stored(now)).push(")");
        }
    } else {
        query.push("(SELECT count(*) FROM found)");
    }
    query.push(" AS total,").push(LIST_COLUMNS);
    S::push_page(&mut query, " DESC", page);
    // Not `push_rows`: without an estimate for these rows, PostgreSQL reads whole tables for the other joins.
    S::join_rows(&mut query, tenant, "role_assignments", "a");
    push_joins::<S>(&mut query);
    query.push(" ORDER BY p.key DESC, p.id");
    query
}

/// Builds the statement for the assignments that expire after `now`, and at `until` at the latest.
pub fn expiring<S>(
    tenant: TenantId,
    scope: &S::Scope,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query = QueryBuilder::new("SELECT");
    query.push(LIST_COLUMNS).push(" FROM (SELECT a.id FROM ").push(S::SCHEMA).push("role_assignments a");
    query.push(" WHERE a.tenant_id = ").push_bind(tenant.as_uuid());
    query.push(" AND a.expires_at > ").push_bind(S::stored(now));
    query.push(" AND a.expires_at <= ").push_bind(S::stored(until));
    S::push_scope(&mut query, "a.organization_id", tenant, scope);
    query.push(" ORDER BY a.expires_at, a.id LIMIT ").push(limit).push(") p");
    S::join_rows(&mut query, tenant, "role_assignments", "a");
    push_joins::<S>(&mut query);
    query.push(" ORDER BY a.expires_at, a.id");
    query
}

/// Joins the user, the role and the organization of the assignments `a`.
fn push_joins<S: SqlStore>(query: &mut QueryBuilder<S::Database>) {
    for (join, joined) in [
        (S::JOIN, "users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id"),
        (S::JOIN, "roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id"),
        (" LEFT JOIN ", "organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id"),
    ] {
        query.push(join).push(S::SCHEMA).push(joined);
    }
}

/// Adds the conditions of a filter to the assignments `a`.
pub(crate) fn push_filter<S>(query: &mut QueryBuilder<S::Database>, filter: &AssignmentFilter, now: Timestamp)
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    for (condition, id) in [
        (" AND a.user_id = ", filter.user.map(UserId::as_uuid)),
        (" AND a.role_id = ", filter.role.map(RoleId::as_uuid)),
        (" AND a.organization_id = ", filter.organization.map(OrganizationId::as_uuid)),
    ] {
        if let Some(id) = id {
            query.push(condition).push_bind(id);
        }
    }
    if let Some(moment) = filter.ends_before {
        query.push(" AND a.expires_at < ").push_bind(S::stored(moment));
    }
    if !filter.include_expired {
        S::push_live(query, now);
    }
}
