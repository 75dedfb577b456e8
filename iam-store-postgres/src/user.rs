use async_trait::async_trait;
use iam_model::access::VisibleScope;
use iam_model::change::UserChange;
use iam_model::clock::Timestamp;
use iam_model::id::{TenantId, UserId};
use iam_model::page::{Page, PageRequest, SortOrder};
use iam_model::secret::PasswordHash;
use iam_model::store::{UserStore, UserTransaction};
use iam_model::store_error::StoreError;
use iam_model::user::{User, UserFilter, UserSort, UserSortKey, UserStatus};
use iam_model::validate::folded;
use iam_store_sql::error::expect_row;
use iam_store_sql::page::direction;
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::push_live;
use crate::audit::execute_audited;
use crate::error::store_error;
use crate::organization::push_within;
use crate::page::push_page;
use crate::transaction::PostgresTransaction;

pub(crate) type UserRow = iam_store_sql::user::UserRow<Timestamp>;

/// Selects users; the literal says which.
macro_rules! select_users {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            UserRow,
            r#"
            SELECT
                u.tenant_id,
                u.id,
                u.email,
                u.email_verified_at,
                u.first_name,
                u.last_name,
                u.status,
                u.last_login_at,
                u.created_at,
                u.updated_at
            FROM iam.users u
            "# + $which,
            $($argument),+
        )
    };
}

#[async_trait]
impl UserStore for PostgresStore {
    async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
        let row = select_users!("WHERE u.tenant_id = $1 AND u.id = $2", tenant.as_uuid(), id.as_uuid());
        self.answer(row.fetch_optional(&self.source())).await?.map(User::try_from).transpose()
    }

    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = select_users!("WHERE u.tenant_id = $1 AND u.id = ANY($2)", tenant.as_uuid(), &ids);
        self.answer(rows.fetch_all(&self.source())).await?.into_iter().map(User::try_from).collect()
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        visible_scope: &VisibleScope,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        // No name and no address has a control character. One such character separates the searched fields, and
        // another one ends a text.
        if filter.search.as_ref().is_some_and(|search| search.contains(char::is_control)) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let within = self.within(tenant, visible_scope).await?;
        let is_steady = filter.search.is_none() && within.is_none();
        let list = |page| list(tenant, filter, within.as_deref(), sort, page, now);
        self.page::<User, UserRow>(page, is_steady, list).await
    }
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file
// is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = "
        u.tenant_id,
        u.id,
        u.email,
        u.email_verified_at,
        u.first_name,
        u.last_name,
        u.status,
        u.last_login_at,
        u.created_at,
        u.updated_at";

/// Builds the statement for a page of the users in the visible scope that match a filter.
fn list(
    tenant: TenantId,
    filter: &UserFilter,
    within: Option<&[Uuid]>,
    sort: UserSort,
    page: PageRequest,
    now: Timestamp,
) -> QueryBuilder<Postgres> {
    let kept = kept_count(filter, within);
    let direction = list_direction(sort);
    let mut query = QueryBuilder::new("WITH found AS ");
    query.push(if kept.is_some() { "NOT MATERIALIZED" } else { "MATERIALIZED" });
    query.push(" (SELECT u.id, ").push(sort_column(sort.by)).push(" AS key");
    push_filter(&mut query, tenant, filter, within, now);
    query.push(") SELECT (");
    match kept {
        Some(users) => {
            query.push("SELECT coalesce(sum(").push(users).push("), 0)::bigint FROM iam.tenant_counts c");
            query.push(" WHERE c.tenant_id = ").push_bind(tenant.as_uuid())
        }
        None => query.push("SELECT count(*) FROM found"),
    };
    query.push(") AS total,").push(LIST_COLUMNS);
    push_page(&mut query, direction, page);
    query.push(" JOIN iam.users u ON u.id = p.id AND u.tenant_id = ").push_bind(tenant.as_uuid());
    query.push(" ORDER BY p.key").push(direction).push(", p.id");
    query
}

/// Returns the expression for the stored count of exactly these users, if there is one.
fn kept_count(filter: &UserFilter, within: Option<&[Uuid]>) -> Option<&'static str> {
    if filter.search.is_some() || filter.organization.is_some() || within.is_some() {
        return None;
    }
    Some(match filter.status {
        None => "c.active_users + c.suspended_users + c.inactive_users",
        Some(UserStatus::Active) => "c.active_users",
        Some(UserStatus::Suspended) => "c.suspended_users",
        Some(UserStatus::Inactive) => "c.inactive_users",
    })
}

/// Adds the FROM clause and the conditions for the users in the visible scope that match a filter.
fn push_filter(
    query: &mut QueryBuilder<Postgres>,
    tenant: TenantId,
    filter: &UserFilter,
    within: Option<&[Uuid]>,
    now: Timestamp,
) {
    query.push(" FROM iam.users u WHERE u.tenant_id = ").push_bind(tenant.as_uuid());
    if let Some(status) = filter.status {
        // Not a parameter: the planner knows how many users have each status.
        query.push(" AND u.status = '").push(status.as_str()).push("'");
    }
    if let Some(search) = &filter.search {
        let search = folded(search);
        let indexed: String = search.chars().take(INDEXED).collect();
        query.push(" AND ").push(SEARCHED).push(" LIKE ").push_bind(containing(&indexed));
        query.push(" AND strpos(").push(SEARCHED).push(", ").push_bind(search).push(") > 0");
    }
    // Two conditions: a user may be a member of the organization by one assignment, and in the visible scope by
    // another.
    if let Some(organization) = filter.organization {
        push_holds(query, now);
        query.push(" AND a.organization_id = ").push_bind(organization.as_uuid()).push(")");
    }
    if within.is_some() {
        push_holds(query, now);
        push_within(query, "a.organization_id", within);
        query.push(")");
    }
}

/// The searched text. It is the expression of the index.
const SEARCHED: &str = "(replace(u.email_key, 'ς', 'σ') || E'\\n' || u.first_name_key || E'\\n' || u.last_name_key)";

/// The index is searched for at most this many characters of a text. They leave few other users. The beginning of an
/// address excludes more users than its end, which all users may share and which makes the search slower.
const INDEXED: usize = 12;

/// Returns the LIKE pattern for all texts that contain a text.
fn containing(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

/// Adds the condition that the user has an assignment `a` that has not expired. The calling function adds the other
/// conditions of `a`, and the closing parenthesis.
fn push_holds(query: &mut QueryBuilder<Postgres>, now: Timestamp) {
    query.push(
        " AND EXISTS (
            SELECT FROM iam.role_assignments a
            WHERE a.tenant_id = u.tenant_id AND a.user_id = u.id",
    );
    push_live(query, now);
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

/// Sorts users that never logged in before all logins, which is not PostgreSQL's default. For a column without NULL,
/// the statement must not say where NULL sorts: an index in the default order could not be used.
fn list_direction(sort: UserSort) -> &'static str {
    match (sort.order, sort.by) {
        (SortOrder::Ascending, UserSortKey::LastLoginAt) => " ASC NULLS FIRST",
        (SortOrder::Descending, UserSortKey::LastLoginAt) => " DESC NULLS LAST",
        (order, _) => direction(order),
    }
}

#[async_trait]
impl UserTransaction for PostgresTransaction {
    async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
        let row = select_users!("WHERE u.tenant_id = $1 AND u.id = $2 FOR UPDATE", self.tenant(), id.as_uuid());
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(User::try_from).transpose()
    }

    async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = select_users!("WHERE u.tenant_id = $1 AND u.id = ANY($2)", self.tenant(), &ids);
        rows.fetch_all(self.connection()).await.map_err(store_error)?.into_iter().map(User::try_from).collect()
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_user(&mut self, change: &UserChange) -> Result<(), StoreError> {
        match change {
            UserChange::Create { user, password } => self.insert_user(user, password).await,
            UserChange::Update { after, .. }
            | UserChange::ChangeStatus { after, .. }
            | UserChange::VerifyEmail { after, .. }
            | UserChange::Delete { after, .. } => self.update_user(after).await,
        }
    }

    async fn insert_user(&mut self, user: &User, password: &PasswordHash) -> Result<(), StoreError> {
        let email_key = user.email.key();
        execute_audited!(
            self,
            "$15",
            with r#"
            made AS (
                INSERT INTO iam.users (
                    tenant_id,
                    id,
                    email,
                    email_key,
                    first_name,
                    first_name_key,
                    last_name,
                    last_name_key,
                    status,
                    last_login_at,
                    created_at,
                    updated_at,
                    email_verified_at
                )
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $14)
            )
            "#,
            "INSERT INTO iam.credentials (tenant_id, user_id, password_hash) VALUES ($1, $2, $13)",
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            email_key.as_str(),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            user.last_login_at,
            user.created_at,
            user.updated_at,
            password.expose(),
            user.email_verified_at
        )?;
        Ok(())
    }

    async fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
        let email_key = user.email.key();
        let updated = execute_audited!(
            self,
            "$12",
            r#"
            UPDATE iam.users
            SET
                email = $3,
                email_key = $4,
                first_name = $5,
                first_name_key = $6,
                last_name = $7,
                last_name_key = $8,
                status = $9,
                updated_at = $10,
                email_verified_at = $11
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            email_key.as_str(),
            user.first_name.as_str(),
            folded(user.first_name.as_str()),
            user.last_name.as_str(),
            folded(user.last_name.as_str()),
            user.status.as_str(),
            user.updated_at,
            user.email_verified_at
        )?;
        expect_row(updated.rows_affected(), "user")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_pattern_matches_special_characters_literally() {
        assert_eq!(containing("50%_\\é"), "%50\\%\\_\\\\é%");
    }
}
