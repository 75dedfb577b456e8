//! Past versions: the rows that changes replaced or removed.

use iam_model::assignment::{Assignment, AssignmentFilter};
use iam_model::clock::Timestamp;
use iam_model::history::Past;
use iam_model::id::{TenantId, UserId};
use iam_model::page::PageRequest;
use iam_model::store::HolderQuery;
use iam_model::store_error::StoreError;
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::assignment::{AssignmentRow, push_filter};
use crate::column::{StoredMoment, moment};
use crate::page::offset;
use crate::store::SqlStore;

/// A past version of an assignment: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct PastAssignmentRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub until: T,
    pub user_id: Uuid,
    pub role_id: Uuid,
    pub organization_id: Option<Uuid>,
    pub expires_at: Option<T>,
    pub created_at: T,
    pub created_by: Option<Uuid>,
    pub directory_group_id: Option<Uuid>,
    pub access_request_id: Option<Uuid>,
}

impl<T: StoredMoment> TryFrom<PastAssignmentRow<T>> for Past<Assignment> {
    type Error = StoreError;

    fn try_from(row: PastAssignmentRow<T>) -> Result<Self, StoreError> {
        let version = AssignmentRow {
            tenant_id: row.tenant_id,
            id: row.id,
            user_id: row.user_id,
            role_id: row.role_id,
            organization_id: row.organization_id,
            expires_at: row.expires_at,
            created_at: row.created_at,
            created_by: row.created_by,
            directory_group_id: row.directory_group_id,
            access_request_id: row.access_request_id,
        };
        Ok(Self { version: version.try_into()?, until: moment("past_assignments.until", row.until)? })
    }
}

/// A past version of something else, as JSON.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct PastVersionRow<V, T> {
    pub until: T,
    pub value: Json<V>,
}

impl<V, T: StoredMoment> TryFrom<PastVersionRow<V, T>> for Past<V> {
    type Error = StoreError;

    fn try_from(row: PastVersionRow<V, T>) -> Result<Self, StoreError> {
        Ok(Self { version: row.value.0, until: moment("past_versions.until", row.until)? })
    }
}

/// A user who holds a role.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct HolderRow {
    pub user_id: Uuid,
}

impl TryFrom<HolderRow> for UserId {
    type Error = StoreError;

    fn try_from(row: HolderRow) -> Result<Self, StoreError> {
        Ok(row.user_id.into())
    }
}

// The lists are built at run time, because their conditions vary from call to call. Only text of this file and of the
// stores is pushed. All values from outside are bound.

const COLUMNS: &str = "a.tenant_id, a.id, a.user_id, a.role_id, a.organization_id, a.expires_at, a.created_at, \
    a.created_by, a.directory_group_id, a.access_request_id";

/// Where the versions of a moment are.
#[derive(Clone, Copy)]
enum Source {
    Current,
    Past,
}

/// Adds the rows of one table that are assignments of a tenant as they were at a moment, as `a`.
fn push_source<S>(query: &mut QueryBuilder<S::Database>, source: Source, tenant: TenantId, at: Timestamp)
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let table = match source {
        Source::Current => "role_assignments",
        Source::Past => "past_assignments",
    };
    query.push(" FROM ").push(S::SCHEMA).push(table).push(" a WHERE a.tenant_id = ").push_bind(tenant.as_uuid());
    match source {
        Source::Current => {
            query.push(" AND a.created_at <= ").push_bind(S::stored(at));
            query.push(" AND (a.since IS NULL OR a.since <= ").push_bind(S::stored(at)).push(")");
        }
        Source::Past => {
            query.push(" AND a.since <= ").push_bind(S::stored(at)).push(" AND a.until > ").push_bind(S::stored(at));
        }
    }
}

/// Builds the statement for a page of the assignments that existed at a moment and match a filter.
///
/// Each table is counted by an index, and gives its newest rows up to the end of the page by another index. A union of
/// all rows would be sorted as a whole.
pub fn list_at<S>(
    tenant: TenantId,
    filter: &AssignmentFilter,
    page: PageRequest,
    at: Timestamp,
    scope: &S::Scope,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let push_found = |query: &mut QueryBuilder<S::Database>, source| {
        push_source::<S>(query, source, tenant, at);
        push_filter::<S>(query, filter, at);
        S::push_scope(query, "a.organization_id", tenant, scope);
    };
    let newest = offset(page).saturating_add(page.limit().into());
    let push_newest = |query: &mut QueryBuilder<S::Database>, source, alias: &'static str| {
        query.push("SELECT * FROM (SELECT ").push(COLUMNS);
        push_found(query, source);
        if matches!(source, Source::Past) {
            // Where the index begins to be read.
            query.push(" AND a.created_at <= ").push_bind(S::stored(at));
        }
        query.push(" ORDER BY a.created_at DESC, a.id LIMIT ").push(newest).push(") ").push(alias);
    };
    let mut query = QueryBuilder::new("SELECT (SELECT count(*)");
    push_found(&mut query, Source::Current);
    query.push(") + (SELECT count(*)");
    push_found(&mut query, Source::Past);
    query.push(") AS total, a.* FROM (");
    push_newest(&mut query, Source::Current, "current_rows");
    query.push(" UNION ALL ");
    push_newest(&mut query, Source::Past, "past_rows");
    // With the limit outside of the union, SQLite would count once for each half of it.
    query.push(" ORDER BY created_at DESC, id");
    push_limit::<S>(&mut query, page);
    query.push(") a ORDER BY a.created_at DESC, a.id");
    query
}

/// Builds the statement for a page of the users who are ACTIVE and hold one of some roles, or any role, in one of some
/// places.
pub fn holders<S>(
    tenant: TenantId,
    HolderQuery { roles, organizations, at }: &HolderQuery,
    page: PageRequest,
    now: Timestamp,
) -> QueryBuilder<S::Database>
where
    S: SqlStore,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let is_past = *at < now;
    let push_holding = |query: &mut QueryBuilder<S::Database>| {
        if let Some(roles) = roles {
            query.push(" AND a.role_id IN ");
            push_ids::<S>(query, roles.iter().map(|role| role.as_uuid()));
        }
        query.push(" AND (a.organization_id IS NULL");
        if !organizations.is_empty() {
            query.push(" OR a.organization_id IN ");
            push_ids::<S>(query, organizations.iter().map(|organization| organization.as_uuid()));
        }
        query.push(")");
        S::push_live(query, *at);
    };
    let mut query = QueryBuilder::new("WITH held AS MATERIALIZED (SELECT DISTINCT a.user_id");
    if is_past {
        push_source::<S>(&mut query, Source::Current, tenant, *at);
        push_holding(&mut query);
        query.push(" UNION SELECT a.user_id");
        push_source::<S>(&mut query, Source::Past, tenant, *at);
    } else {
        query.push(" FROM ").push(S::SCHEMA).push("role_assignments a WHERE a.tenant_id = ");
        query.push_bind(tenant.as_uuid());
    }
    push_holding(&mut query);
    // The status is a subquery: PostgreSQL would join a few holders with all users of the tenant.
    query.push("), found AS MATERIALIZED (SELECT h.user_id FROM held h WHERE ");
    if is_past {
        query
            .push("coalesce((SELECT v.value ->> 'status' FROM ")
            .push(S::SCHEMA)
            .push("past_versions v WHERE v.tenant_id = ");
        query.push_bind(tenant.as_uuid()).push(" AND v.kind = 'STATUS' AND v.id = h.user_id AND v.until > ");
        query.push_bind(S::stored(*at)).push(" ORDER BY v.until LIMIT 1), ");
    }
    query.push("(SELECT u.status FROM ").push(S::SCHEMA).push("users u WHERE u.tenant_id = ");
    query.push_bind(tenant.as_uuid()).push(" AND u.id = h.user_id)");
    query.push(if is_past { ") = 'ACTIVE')" } else { " = 'ACTIVE')" });
    query.push(" SELECT (SELECT count(*) FROM found) AS total, f.user_id FROM found f ORDER BY f.user_id");
    push_limit::<S>(&mut query, page);
    query
}

fn push_limit<S: SqlStore>(query: &mut QueryBuilder<S::Database>, page: PageRequest) {
    query.push(format_args!(" LIMIT {} OFFSET {}", page.limit(), offset(page)));
}

/// Adds a list of identifiers, at least one.
fn push_ids<S>(query: &mut QueryBuilder<S::Database>, ids: impl Iterator<Item = Uuid>)
where
    S: SqlStore,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let mut list = query.push("(").separated(", ");
    for id in ids {
        list.push_bind(id);
    }
    query.push(")");
}
