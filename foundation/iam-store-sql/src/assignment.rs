//! Role assignments.

use std::collections::HashMap;
use std::sync::Arc;

use iam_model::assignment::{Assignment, AssignmentFilter, ListedAssignment};
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
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

/// An assignment of a list, with what the list shows of its user, its role and its organization.
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
    // Every filter has an index in the order of the list. A visible scope has none.
    query.push(if is_everywhere { "NOT MATERIALIZED" } else { "MATERIALIZED" });
    query.push(" (SELECT a.id, a.created_at AS key FROM ").push(S::SCHEMA).push("role_assignments a");
    query.push(" WHERE a.tenant_id = ").push_bind(tenant.as_uuid());
    push_filter::<S>(&mut query, filter, now);
    S::push_scope(&mut query, "a.organization_id", tenant, scope);
    query.push(") SELECT ");
    if is_everywhere && filter.user.is_none() && filter.role.is_none() && filter.organization.is_none() {
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
    if !filter.include_expired {
        S::push_live(query, now);
    }
}

/// Implements the ports of role assignments; see [`store`](crate::store).
///
/// The store also has a method `read_grants_of`, and the transaction the methods `read_grants` and
/// `insert_assignments`, because each database has its own way to read grants and to insert many rows. It needs
/// [`role_ports!`](crate::role_ports) for the roles that users hold. `list_moment` is the type of moments in lists and
/// grants: other programs may have written moments that the database's usual type cannot hold.
#[macro_export]
macro_rules! assignment_ports {
    (
        $store:ident,
        $transaction:ident,
        list_moment: $moment:ty,
        assigned_users: $assigned_users:literal,
        tenants_with_expired: $tenants_with_expired:literal,
        held_in: $held_in:literal,
        held_until: $held_until:literal,
        has_other_administrator: $has_other_administrator:literal,
        update_expiry: ($($update_expiry:tt)+),
        delete: ($($delete:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::access::{HeldRole, Until, VisibleScope};
            use iam_model::assignment::{AssignmentFilter, Grant, ListedAssignment};
            use iam_model::change::AssignmentChange;
            use iam_model::clock::Timestamp;
            use iam_model::id::{AssignmentId, OrganizationId, RoleId, TenantId, UserId};
            use iam_model::page::{Page, PageRequest};
            use iam_model::role::TENANT_ADMIN;
            use iam_model::store::{AssignmentStore, AssignmentTransaction, GrantQuery, RoleTransaction as _};
            use iam_model::store_error::StoreError;
            use iam_model::user::UserStatus;
            use std::collections::BTreeSet;
            use $crate::assignment::{SharedRoles, expiring, list};
            use $crate::column::moment_optional;
            use $crate::error::expect_row;
            use $crate::store::SqlStore;

            type Row = $crate::assignment::ListedAssignmentRow<$moment>;

            #[async_trait::async_trait]
            impl AssignmentStore for $store {
                async fn grants_of(&self, tenant: TenantId, users: &[UserId]) -> Result<Vec<Grant>, StoreError> {
                    self.read_grants_of(tenant, users).await
                }

                async fn assigned_users(
                    &self,
                    tenant: TenantId,
                    roles: &[RoleId],
                    organizations: &[OrganizationId],
                ) -> Result<Vec<UserId>, StoreError> {
                    let roles = Self::ids(roles.iter().map(|role| role.as_uuid()));
                    let organizations = Self::ids(organizations.iter().map(|organization| organization.as_uuid()));
                    let users = sqlx::query_scalar!($assigned_users, tenant.as_uuid(), &roles, &organizations);
                    let users = self.answer(users.fetch_all(&self.reads())).await?;
                    Ok(users.into_iter().map(UserId::from).collect())
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
                    self.page::<ListedAssignment, Row>(page, Self::is_everywhere(&scope), list).await
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
                        .list(|source| {
                            let mut query = expiring::<Self>(tenant, &scope, now, until, limit);
                            async move { query.build_query_as::<Row>().fetch_all(&source).await }
                        })
                        .await?;
                    rows.into_iter().map(ListedAssignment::try_from).collect()
                }

                async fn tenants_with_expired_assignments(
                    &self,
                    now: Timestamp,
                    limit: u32,
                ) -> Result<Vec<TenantId>, StoreError> {
                    let tenants =
                        sqlx::query_scalar!($tenants_with_expired, $store::stored(now), i64::from(limit));
                    let tenants = self.answer(tenants.fetch_all(&self.reads())).await?;
                    Ok(tenants.into_iter().map(TenantId::from).collect())
                }
            }

            #[async_trait::async_trait]
            impl AssignmentTransaction for $transaction {
                async fn grants(&mut self, which: GrantQuery<'_>) -> Result<Vec<Grant>, StoreError> {
                    self.read_grants(which).await
                }

                async fn roles_held_in(
                    &mut self,
                    organizations: &[OrganizationId],
                    now: Timestamp,
                ) -> Result<Vec<HeldRole>, StoreError> {
                    let organizations = $store::ids(organizations.iter().map(|id| id.as_uuid()));
                    let rows = sqlx::query!($held_in, self.tenant(), &organizations, $store::stored(now));
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
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

                async fn roles_held_until(
                    &mut self,
                    roles: &[RoleId],
                    now: Timestamp,
                ) -> Result<Option<Until>, StoreError> {
                    let roles = $store::ids(roles.iter().map(|role| role.as_uuid()));
                    let until = sqlx::query_scalar!($held_until, self.tenant(), &roles, $store::stored(now));
                    let until = until.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    let until = until.map(|until| moment_optional("role_assignments.expires_at", until));
                    Ok(until.transpose()?.map(Until::from))
                }

                async fn has_other_administrator(&mut self, than: UserId) -> Result<bool, StoreError> {
                    let has_other = sqlx::query_scalar!(
                        $has_other_administrator,
                        self.tenant(),
                        than.as_uuid(),
                        TENANT_ADMIN,
                        UserStatus::Active.as_str()
                    );
                    has_other.fetch_one(self.connection()).await.map_err($store::store_error)
                }
            }

            impl $transaction {
                pub(crate) async fn write_assignment(&mut self, change: &AssignmentChange) -> Result<(), StoreError> {
                    match change {
                        AssignmentChange::Create(grants) => self.insert_assignments(grants).await,
                        AssignmentChange::ChangeExpiry { grant, expires_at } => {
                            self.update_expiry(grant.assignment.id, *expires_at).await
                        }
                        AssignmentChange::Revoke { grants, .. } => self.delete_assignments(grants).await,
                    }
                }

                async fn update_expiry(
                    &mut self,
                    id: AssignmentId,
                    expires_at: Option<Timestamp>,
                ) -> Result<(), StoreError> {
                    let updated = execute_audited!(
                        self,
                        $($update_expiry)+,
                        self.tenant(),
                        id.as_uuid(),
                        expires_at.map($store::stored)
                    )?;
                    expect_row(updated.rows_affected(), "role assignment")
                }

                async fn delete_assignments(&mut self, grants: &[Grant]) -> Result<(), StoreError> {
                    let ids = $store::ids(grants.iter().map(|grant| grant.assignment.id.as_uuid()));
                    execute_audited!(self, $($delete)+, self.tenant(), &ids)?;
                    Ok(())
                }
            }
        };
    };
}
