use async_trait::async_trait;
use chrono::{DateTime, Utc};
use iam_core::access::Reach;
use iam_core::clock::Timestamp;
use iam_core::page::{Page, PageRequest, SortOrder};
use iam_core::secret::PasswordHash;
use iam_core::user::{User, UserChange, UserFilter, UserSort, UserSortKey, UserStore, UserTransaction};
use iam_core::{StoreError, TenantId, UserId};
use sqlx::{FromRow, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::push_live;
use crate::audit::execute_audited;
use crate::column::{is_storable, parse};
use crate::error::{expect_row, store_error};
use crate::organization::push_reach;
use crate::page::{page_of, push_page};
use crate::transaction::PostgresTransaction;

#[derive(FromRow)]
pub(crate) struct UserRow {
    pub(crate) tenant_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) email: String,
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) status: String,
    pub(crate) last_login_at: Option<DateTime<Utc>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

impl TryFrom<UserRow> for User {
    type Error = StoreError;

    fn try_from(row: UserRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            email: parse("users.email", &row.email)?,
            first_name: parse("users.first_name", &row.first_name)?,
            last_name: parse("users.last_name", &row.last_name)?,
            status: parse("users.status", &row.status)?,
            last_login_at: row.last_login_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// The columns of a user, and which users.
macro_rules! select_users {
    ($which:literal, $($argument:expr),+) => {
        sqlx::query_as!(
            UserRow,
            r#"
            SELECT
                u.tenant_id,
                u.id,
                u.email,
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
        self.answer(row.fetch_optional(&self.pool())).await?.map(User::try_from).transpose()
    }

    async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.as_uuid()).collect();
        let rows = select_users!("WHERE u.tenant_id = $1 AND u.id = ANY($2)", tenant.as_uuid(), &ids);
        self.answer(rows.fetch_all(&self.pool())).await?.into_iter().map(User::try_from).collect()
    }

    async fn users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        reach: &Reach,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        if !filter.search.as_deref().is_none_or(is_storable) {
            return Ok(Page { items: Vec::new(), total: 0, request: page });
        }
        let mut count = filtered("SELECT count(*)", tenant, filter, reach, now);
        let total: i64 = self.answer(count.build_query_scalar().fetch_one(&self.pool())).await?;
        let mut list = filtered(LIST_COLUMNS, tenant, filter, reach, now);
        list.push(" ORDER BY ").push(sort_column(sort.by)).push(direction(sort)).push(", u.id");
        push_page(&mut list, page);
        let rows: Vec<UserRow> = self.answer(list.build_query_as().fetch_all(&self.pool())).await?;
        page_of(rows, total, page)
    }
}

// The list is built at run time, because which conditions it has, and by what it is sorted, varies from call to call.
// What is pushed is text of this file alone; whatever came from outside is bound.

const LIST_COLUMNS: &str = "
    SELECT
        u.tenant_id,
        u.id,
        u.email,
        u.first_name,
        u.last_name,
        u.status,
        u.last_login_at,
        u.created_at,
        u.updated_at";

/// Selects something of the users within reach that pass a filter.
fn filtered(
    select: &'static str,
    tenant: TenantId,
    filter: &UserFilter,
    reach: &Reach,
    now: Timestamp,
) -> QueryBuilder<Postgres> {
    let mut query = QueryBuilder::new(select);
    query.push(" FROM iam.users u WHERE u.tenant_id = ").push_bind(tenant.as_uuid());
    if let Some(status) = filter.status {
        query.push(" AND u.status = ").push_bind(status.as_str());
    }
    if let Some(search) = &filter.search {
        // Not LIKE, which would give some characters of the text a meaning.
        query.push(" AND (FALSE");
        for column in ["u.email_key", "u.first_name_key", "u.last_name_key"] {
            query.push(" OR strpos(").push(column).push(", ").push_bind(search.to_lowercase()).push(") > 0");
        }
        query.push(")");
    }
    // One assignment may make a user a member of the organization, and another one bring it within reach.
    if let Some(organization) = filter.organization {
        push_holds(&mut query, now);
        query.push(" AND a.organization_id = ").push_bind(organization.as_uuid()).push(")");
    }
    if matches!(reach, Reach::Organizations(_)) {
        push_holds(&mut query, now);
        push_reach(&mut query, "a.organization_id", tenant, reach);
        query.push(")");
    }
    query
}

/// Adds the condition that the user holds an assignment `a` which has not expired. What else it must be, and the
/// closing parenthesis, is left to the caller.
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

/// Never is before every login, which is not PostgreSQL's default. Where there is no NULL it must not be said: an
/// index in the default order could not be used.
fn direction(sort: UserSort) -> &'static str {
    match (sort.order, sort.by) {
        (SortOrder::Ascending, UserSortKey::LastLoginAt) => " ASC NULLS FIRST",
        (SortOrder::Descending, UserSortKey::LastLoginAt) => " DESC NULLS LAST",
        (SortOrder::Ascending, _) => " ASC",
        (SortOrder::Descending, _) => " DESC",
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
            | UserChange::Delete { after, .. } => self.update_user(after).await,
        }
    }

    async fn insert_user(&mut self, user: &User, password: &PasswordHash) -> Result<(), StoreError> {
        let email_key = user.email.key();
        execute_audited!(
            self,
            "$14",
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
                    updated_at
                )
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            )
            "#,
            "INSERT INTO iam.credentials (tenant_id, user_id, password_hash) VALUES ($1, $2, $13)",
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            email_key.as_str(),
            user.first_name.as_str(),
            user.first_name.as_str().to_lowercase(),
            user.last_name.as_str(),
            user.last_name.as_str().to_lowercase(),
            user.status.as_str(),
            user.last_login_at,
            user.created_at,
            user.updated_at,
            password.expose()
        )?;
        Ok(())
    }

    async fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
        let email_key = user.email.key();
        let updated = execute_audited!(
            self,
            "$11",
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
                updated_at = $10
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            user.id.as_uuid(),
            user.email.as_str(),
            email_key.as_str(),
            user.first_name.as_str(),
            user.first_name.as_str().to_lowercase(),
            user.last_name.as_str(),
            user.last_name.as_str().to_lowercase(),
            user.status.as_str(),
            user.updated_at
        )?;
        expect_row(&updated, "user")
    }
}
