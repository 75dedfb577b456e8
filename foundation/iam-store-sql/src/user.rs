//! Users.

use iam_model::attribute::Attributes;
use iam_model::clock::Timestamp;
use iam_model::id::{OrganizationId, TenantId};
use iam_model::page::PageRequest;
use iam_model::search::SearchWord;
use iam_model::store_error::StoreError;
use iam_model::user::{User, UserFilter, UserKind, UserSort, UserSortKey, UserStatus, UserSummary};
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::attribute::{attributes, push_has};
use crate::column::{StoredMoment, moment, moment_optional, parse, text};
use crate::store::SqlStore;

/// A user as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct UserRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub email_verified_at: Option<T>,
    pub first_name: String,
    pub last_name: String,
    pub external_id: Option<String>,
    pub home_organization_id: Option<Uuid>,
    pub status: String,
    pub last_login_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<UserRow<T>> for User {
    type Error = StoreError;

    fn try_from(row: UserRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            id: row.id.into(),
            kind: parse("users.kind", row.kind)?,
            email: text("users.email", row.email)?,
            email_verified_at: moment_optional("users.email_verified_at", row.email_verified_at)?,
            first_name: text("users.first_name", row.first_name)?,
            last_name: text("users.last_name", row.last_name)?,
            external_id: row.external_id.map(|id| text("users.external_id", id)).transpose()?,
            home_organization_id: row.home_organization_id.map(OrganizationId::from),
            status: parse("users.status", row.status)?,
            last_login_at: moment_optional("users.last_login_at", row.last_login_at)?,
            created_at: moment("users.created_at", row.created_at)?,
            updated_at: moment("users.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// A user with its attributes.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct UserWithAttributesRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub email_verified_at: Option<T>,
    pub first_name: String,
    pub last_name: String,
    pub external_id: Option<String>,
    pub home_organization_id: Option<Uuid>,
    pub status: String,
    pub last_login_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
    /// `None` for a user without attributes.
    pub attributes: Option<String>,
}

impl<T: StoredMoment> TryFrom<UserWithAttributesRow<T>> for (User, Attributes) {
    type Error = StoreError;

    fn try_from(row: UserWithAttributesRow<T>) -> Result<Self, StoreError> {
        let user = UserRow {
            tenant_id: row.tenant_id,
            id: row.id,
            kind: row.kind,
            email: row.email,
            email_verified_at: row.email_verified_at,
            first_name: row.first_name,
            last_name: row.last_name,
            external_id: row.external_id,
            home_organization_id: row.home_organization_id,
            status: row.status,
            last_login_at: row.last_login_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
        };
        Ok((user.try_into()?, attributes(row.attributes)?))
    }
}

/// The summary of a user in lists of other nouns.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct UserSummaryRow {
    pub email: String,
    /// The name of a service account.
    pub service_name: Option<String>,
}

impl TryFrom<UserSummaryRow> for UserSummary {
    type Error = StoreError;

    fn try_from(row: UserSummaryRow) -> Result<Self, StoreError> {
        Ok(Self {
            email: text("users.email", row.email)?,
            service_name: row.service_name.map(|name| text("users.first_name", name)).transpose()?,
        })
    }
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file
// and of the stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
    u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
    u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version";

/// How a database searches users.
pub trait UserSearch: SqlStore {
    /// Whether a user can match a search. If not, the database is not asked.
    fn can_match(_search: &str) -> bool {
        true
    }

    /// Adds the FROM clause of the users `u` that may match a search, and the condition that they are in the tenant.
    fn push_candidates(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, search: &[SearchWord]);

    /// Adds the condition that the user has a word of a search.
    fn push_search(query: &mut QueryBuilder<Self::Database>, word: &SearchWord);

    /// Adds the condition that the user has an assignment `a`. The calling function adds the other conditions of `a`,
    /// and the closing parenthesis.
    fn push_holds(query: &mut QueryBuilder<Self::Database>, tenant: TenantId);

    /// Adds the condition that the user has an assignment `a` or its home in the visible scope.
    fn push_belongs(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, now: Timestamp, scope: &Self::Scope)
    where
        Uuid: for<'q> Encode<'q, Self::Database> + Type<Self::Database>,
    {
        // Not OR, for which all users of the tenant would be read.
        query.push(" AND u.id IN (SELECT a.user_id FROM ").push(Self::SCHEMA).push("role_assignments a");
        query.push(" WHERE a.tenant_id = ").push_bind(tenant.as_uuid());
        Self::push_live(query, now);
        Self::push_scope(query, "a.organization_id", tenant, scope);
        query.push(" UNION ALL SELECT h.id FROM ").push(Self::SCHEMA).push("users h");
        query.push(" WHERE h.tenant_id = ").push_bind(tenant.as_uuid());
        Self::push_scope(query, "h.home_organization_id", tenant, scope);
        query.push(")");
    }
}

/// Builds the statement for a page of the users that match a filter at a moment.
pub fn list<S>(
    tenant: TenantId,
    filter: &UserFilter,
    sort: UserSort,
    page: PageRequest,
    now: Timestamp,
    scope: &S::Scope,
) -> QueryBuilder<S::Database>
where
    S: UserSearch,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let stored_count = stored_count(filter, S::is_everywhere(scope));
    let direction = S::direction(sort.order, sort.by == UserSortKey::LastLoginAt);
    let mut query = QueryBuilder::new("WITH found AS ");
    query.push(if stored_count.is_some() { "NOT MATERIALIZED" } else { "MATERIALIZED" });
    query.push(" (SELECT u.id, ").push(sort_column(sort.by)).push(" AS key");
    push_filter::<S>(&mut query, tenant, filter, now, scope);
    query.push(") SELECT ");
    match stored_count {
        Some(users) => S::push_stored_count(&mut query, tenant, users),
        None => drop(query.push("(SELECT count(*) FROM found)")),
    }
    query.push(" AS total,").push(LIST_COLUMNS);
    S::push_page(&mut query, direction, page);
    S::push_rows(&mut query, tenant, "users", "u");
    query.push(" ORDER BY p.key").push(direction).push(", p.id");
    query
}

/// Adds the FROM clause and the conditions for the users in the visible scope that match a filter.
fn push_filter<S>(
    query: &mut QueryBuilder<S::Database>,
    tenant: TenantId,
    filter: &UserFilter,
    now: Timestamp,
    scope: &S::Scope,
) where
    S: UserSearch,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let search = SearchWord::all(filter.search.as_deref().unwrap_or_default());
    S::push_candidates(query, tenant, &search);
    if let Some(status) = filter.status {
        // Not a parameter: the planner knows how many users have each status.
        query.push(" AND u.status = '").push(status.as_str()).push("'");
    }
    if let Some(kind) = filter.kind {
        query.push(" AND u.kind = '").push(kind.as_str()).push("'");
    }
    for word in &search {
        S::push_search(query, word);
    }
    // Two conditions: a user may be a member of the organization by one assignment, and in the visible scope by
    // another.
    if let Some(organization) = filter.organization {
        S::push_holds(query, tenant);
        S::push_live(query, now);
        query.push(" AND a.organization_id = ").push_bind(organization.as_uuid()).push(")");
    }
    if let Some(attribute) = &filter.attribute {
        push_has::<S>(query, "u.id", tenant, attribute);
    }
    if let Some(has_factor) = filter.has_factor {
        query.push(" AND u.kind = '").push(UserKind::Human.as_str()).push("' AND ");
        query.push(if has_factor { "EXISTS" } else { "NOT EXISTS" });
        query.push(" (SELECT 1 FROM ").push(S::SCHEMA).push("factors f WHERE f.tenant_id = ");
        query.push_bind(tenant.as_uuid()).push(" AND f.user_id = u.id AND f.confirmed_at IS NOT NULL)");
    }
    if !S::is_everywhere(scope) {
        S::push_belongs(query, tenant, now, scope);
    }
}

/// Returns the expression for the stored count of exactly these users, if there is one.
fn stored_count(filter: &UserFilter, is_everywhere: bool) -> Option<&'static str> {
    let UserFilter { status: _, kind, search, organization, attribute, has_factor } = filter;
    let is_by_status_alone = kind.is_none()
        && search.is_none()
        && organization.is_none()
        && attribute.is_none()
        && has_factor.is_none()
        && is_everywhere;
    if !is_by_status_alone {
        return None;
    }
    Some(match filter.status {
        None => "c.active_users + c.suspended_users + c.inactive_users",
        Some(UserStatus::Active) => "c.active_users",
        Some(UserStatus::Suspended) => "c.suspended_users",
        Some(UserStatus::Inactive) => "c.inactive_users",
    })
}

fn sort_column(by: UserSortKey) -> &'static str {
    match by {
        UserSortKey::CreatedAt => "u.created_at",
        UserSortKey::UpdatedAt => "u.updated_at",
        UserSortKey::Email => "u.email_key",
        UserSortKey::FirstName => "u.first_name_key",
        UserSortKey::LastName => "u.last_name_key",
        UserSortKey::LastLoginAt => "u.last_login_at",
        UserSortKey::Status => "u.status",
    }
}
