//! Eligibilities.

use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::id::{OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, smaller};
use crate::store::SqlStore;

/// An eligibility as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct EligibilityRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub role_id: Uuid,
    pub organization_id: Option<Uuid>,
    pub user_id: Option<Uuid>,
    pub held_role_id: Option<Uuid>,
    pub max_seconds: i64,
    pub approvals: i64,
    pub approver_role_id: Option<Uuid>,
    pub expires_at: Option<T>,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<EligibilityRow<T>> for Eligibility {
    type Error = StoreError;

    fn try_from(row: EligibilityRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            role_id: row.role_id.into(),
            organization_id: row.organization_id.map(OrganizationId::from),
            eligible: eligible("eligibilities.user_id", row.user_id, row.held_role_id)?,
            max_seconds: smaller("eligibilities.max_seconds", row.max_seconds)?,
            approvals: smaller("eligibilities.approvals", row.approvals)?,
            approver_role_id: row.approver_role_id.map(RoleId::from),
            expires_at: moment_optional("eligibilities.expires_at", row.expires_at)?,
            created_at: moment("eligibilities.created_at", row.created_at)?,
            created_by: row.created_by.map(UserId::from),
            updated_at: moment("eligibilities.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// Converts the columns of who may ask. `column` is that of the user.
pub(crate) fn eligible(
    column: &'static str,
    user: Option<Uuid>,
    held_role: Option<Uuid>,
) -> Result<Eligible, StoreError> {
    match (user, held_role) {
        (Some(user), None) => Ok(Eligible::User(user.into())),
        (None, Some(role)) => Ok(Eligible::HoldersOf(role.into())),
        (Some(_), Some(_)) => Err(StoreError::corrupt(column, "stands beside a role")),
        (None, None) => Err(StoreError::corrupt(column, "is missing")),
    }
}

// The list is built at run time, because its conditions vary from call to call. Only text of this file and of the
// stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        e.tenant_id,
        e.id,
        e.role_id,
        e.organization_id,
        e.user_id,
        e.held_role_id,
        e.max_seconds,
        e.approvals,
        e.approver_role_id,
        e.expires_at,
        e.created_at,
        e.created_by,
        e.updated_at,
        e.version";

/// Builds the statement for a page of the eligibilities in a visible scope.
pub fn list<S>(tenant: TenantId, page: PageRequest, scope: &S::Scope) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT e.id, e.created_at AS key FROM ");
    query.push(S::SCHEMA).push("eligibilities e WHERE e.tenant_id = ").push_bind(tenant.as_uuid());
    S::push_scope(&mut query, "e.organization_id", tenant, scope);
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    S::push_page(&mut query, " DESC", page);
    S::push_rows(&mut query, tenant, "eligibilities", "e");
    query.push(" ORDER BY p.key DESC, p.id");
    query
}
