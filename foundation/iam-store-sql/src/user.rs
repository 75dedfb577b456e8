//! Users.

use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use iam_model::user::{User, UserFilter, UserSort, UserSortKey, UserStatus};
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{StoredMoment, moment, moment_optional, parse};
use crate::store::SqlStore;

/// A user as the stores read it: the columns of its table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct UserRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub email: String,
    pub email_verified_at: Option<T>,
    pub first_name: String,
    pub last_name: String,
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
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            email: parse("users.email", &row.email)?,
            email_verified_at: moment_optional("users.email_verified_at", row.email_verified_at)?,
            first_name: parse("users.first_name", &row.first_name)?,
            last_name: parse("users.last_name", &row.last_name)?,
            status: parse("users.status", &row.status)?,
            last_login_at: moment_optional("users.last_login_at", row.last_login_at)?,
            created_at: moment("users.created_at", row.created_at)?,
            updated_at: moment("users.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// Selects a user and its tenant, each of which may be missing, beside other columns. The literals are the statement
/// before and after the columns of both.
#[doc(hidden)]
#[macro_export]
macro_rules! select_with_user_and_tenant {
    ($before:literal $(+ $more:literal)*, $after:literal, $($argument:expr),+) => {
        sqlx::query!(
            $before $(+ $more)* + r#",
                u.id AS "user_id?",
                u.email AS "user_email?",
                u.email_verified_at AS "user_email_verified_at?",
                u.first_name AS "user_first_name?",
                u.last_name AS "user_last_name?",
                u.status AS "user_status?",
                u.last_login_at AS "user_last_login_at?",
                u.created_at AS "user_created_at?",
                u.updated_at AS "user_updated_at?",
                u.version AS "user_version?",
                t.id AS "tenant_id?",
                t.name AS "tenant_name?",
                t.slug AS "tenant_slug?",
                t.status AS "tenant_status?",
                t.created_at AS "tenant_created_at?",
                t.updated_at AS "tenant_updated_at?",
                t.version AS "tenant_version?"
            "# + $after,
            $($argument),+
        )
    };
}

/// Takes the user and the tenant out of a row of [`select_with_user_and_tenant!`], if the row has them.
#[doc(hidden)]
#[macro_export]
macro_rules! user_and_tenant {
    ($row:ident) => {
        (|| {
            let tenant = $crate::tenant::TenantRow {
                id: $row.tenant_id?,
                name: $row.tenant_name?,
                slug: $row.tenant_slug?,
                status: $row.tenant_status?,
                created_at: $row.tenant_created_at?,
                updated_at: $row.tenant_updated_at?,
                version: $row.tenant_version?,
            };
            let user = $crate::user::UserRow {
                tenant_id: tenant.id,
                id: $row.user_id?,
                email: $row.user_email?,
                email_verified_at: $row.user_email_verified_at,
                first_name: $row.user_first_name?,
                last_name: $row.user_last_name?,
                status: $row.user_status?,
                last_login_at: $row.user_last_login_at,
                created_at: $row.user_created_at?,
                updated_at: $row.user_updated_at?,
                version: $row.user_version?,
            };
            Some((user, tenant))
        })()
    };
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file and
// of the stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = crate::with_user_columns!(user_column_text());

/// How an engine searches users.
pub trait UserSearch: SqlStore {
    /// Whether a user can match a search. If not, the engine is not asked.
    fn can_match(_search: &str) -> bool {
        true
    }

    /// Adds the FROM clause of the users `u` that may match a search, and the condition that they are in the tenant.
    fn push_candidates(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, search: Option<&str>);

    /// Adds the condition that the user matches a search.
    fn push_search(query: &mut QueryBuilder<Self::Database>, search: &str);

    /// Adds the condition that the user has an assignment `a`. The calling function adds the other conditions of `a`, and
    /// the closing parenthesis.
    fn push_holds(query: &mut QueryBuilder<Self::Database>, tenant: TenantId);
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
{
    S::push_candidates(query, tenant, filter.search.as_deref());
    if let Some(status) = filter.status {
        // Not a parameter: the planner knows how many users have each status.
        query.push(" AND u.status = '").push(status.as_str()).push("'");
    }
    if let Some(search) = &filter.search {
        S::push_search(query, search);
    }
    // Two conditions: a user may be a member of the organization by one assignment, and in the visible scope by another.
    if let Some(organization) = filter.organization {
        S::push_holds(query, tenant);
        S::push_live(query, now);
        query.push(" AND a.organization_id = ").push_bind(organization.as_uuid()).push(")");
    }
    if !S::is_everywhere(scope) {
        S::push_holds(query, tenant);
        S::push_live(query, now);
        S::push_scope(query, "a.organization_id", tenant, scope);
        query.push(")");
    }
}

/// Returns the expression for the stored count of exactly these users, if there is one.
fn stored_count(filter: &UserFilter, is_everywhere: bool) -> Option<&'static str> {
    if filter.search.is_some() || filter.organization.is_some() || !is_everywhere {
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

/// Calls a macro with the columns of users `u`, as a literal before the arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! with_user_columns {
    ($macro:ident $arguments:tt) => {
        $crate::$macro! {
            r#"
                u.tenant_id,
                u.id,
                u.email,
                u.email_verified_at,
                u.first_name,
                u.last_name,
                u.status,
                u.last_login_at,
                u.created_at,
                u.updated_at,
                u.version
            "#
            $arguments
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! user_column_text {
    ($columns:literal ()) => {
        $columns
    };
}

/// Selects users; the literal says from where and which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_users {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        $crate::with_user_columns!(select_user_columns ($row, $which, $($argument),+))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! select_user_columns {
    ($columns:literal ($row:ident, $which:expr, $($argument:expr),+)) => {
        sqlx::query_as!($row, "SELECT " + $columns + $which, $($argument),+)
    };
}

/// Implements the ports of users; see [`store`](crate::store).
///
/// `insert` is one statement that also writes the password (`with_password`), or two statements.
#[macro_export]
macro_rules! user_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        by_ids: $by_ids:literal,
        lock: $lock:literal,
        insert: $insert:tt,
        update: ($($update:tt)+) $(,)?
    ) => {
        const _: () = {
            use iam_model::access::VisibleScope;
            use iam_model::change::UserChange;
            use iam_model::clock::Timestamp;
            use iam_model::id::{TenantId, UserId};
            use iam_model::page::{Page, PageRequest};
            use iam_model::secret::PasswordHash;
            use iam_model::store::{UserStore, UserTransaction};
            use iam_model::store_error::StoreError;
            use iam_model::user::{User, UserFilter, UserSort};
            use iam_model::validate::folded;
            use $crate::error::expect_row;
            use $crate::select_users;
            use $crate::store::SqlStore;
            use $crate::user::{UserSearch as _, list};

            type Row = $crate::user::UserRow<<$store as SqlStore>::Moment>;

            #[async_trait::async_trait]
            impl UserStore for $store {
                async fn user(&self, tenant: TenantId, id: UserId) -> Result<Option<User>, StoreError> {
                    let row = select_users!(Row, $by_id, tenant.as_uuid(), id.as_uuid());
                    self.answer(row.fetch_optional(&self.reads())).await?.map(User::try_from).transpose()
                }

                async fn users_by_id(&self, tenant: TenantId, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
                    let ids = $store::ids(ids.iter().map(|id| id.as_uuid()));
                    let rows = select_users!(Row, $by_ids, tenant.as_uuid(), &ids);
                    self.answer(rows.fetch_all(&self.reads())).await?.into_iter().map(User::try_from).collect()
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
                    if !filter.search.as_deref().is_none_or(Self::can_match) {
                        return Ok(Page { items: Vec::new(), total: 0, request: page });
                    }
                    let scope = self.scope(tenant, visible_scope).await?;
                    let is_steady = filter.search.is_none() && Self::is_everywhere(&scope);
                    let list = |page| list::<Self>(tenant, filter, sort, page, now, &scope);
                    self.page::<User, Row>(page, is_steady, list).await
                }
            }

            #[async_trait::async_trait]
            impl UserTransaction for $transaction {
                async fn lock_user(&mut self, id: UserId) -> Result<Option<User>, StoreError> {
                    let row = select_users!(Row, $lock, self.tenant(), id.as_uuid());
                    let row = row.fetch_optional(self.connection()).await.map_err($store::store_error)?;
                    row.map(User::try_from).transpose()
                }

                async fn users_by_id(&mut self, ids: &[UserId]) -> Result<Vec<User>, StoreError> {
                    let ids = $store::ids(ids.iter().map(|id| id.as_uuid()));
                    let rows = select_users!(Row, $by_ids, self.tenant(), &ids);
                    let rows = rows.fetch_all(self.connection()).await.map_err($store::store_error)?;
                    rows.into_iter().map(User::try_from).collect()
                }
            }

            impl $transaction {
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
                    $crate::insert_user!($insert, self, $store, user, password);
                    Ok(())
                }

                async fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
                    let updated = $crate::write_user_columns!(($($update)+), self, $store, user);
                    expect_row(updated.rows_affected(), "user")
                }
            }
        };
    };
}

/// Executes a statement with the columns of a user that can change, and more values after them.
#[doc(hidden)]
#[macro_export]
macro_rules! write_user_columns {
    (($($statement:tt)+), $transaction:expr, $store:ident, $user:ident $(, $more:expr)*) => {{
        let email_key = $user.email.key();
        execute_audited!(
            $transaction,
            $($statement)+,
            $transaction.tenant(),
            $user.id.as_uuid(),
            $user.email.as_str(),
            email_key.as_str(),
            $user.email_verified_at.map($store::stored),
            $user.first_name.as_str(),
            folded($user.first_name.as_str()),
            $user.last_name.as_str(),
            folded($user.last_name.as_str()),
            $user.status.as_str(),
            $store::stored($user.updated_at)
            $(, $more)*
        )?
    }};
}

/// Inserts a user and its password, by one statement or by two.
#[doc(hidden)]
#[macro_export]
macro_rules! insert_user {
    ((with_password: $($insert:tt)+), $transaction:expr, $store:ident, $user:ident, $password:ident) => {
        $crate::write_user_columns!(
            ($($insert)+),
            $transaction,
            $store,
            $user,
            $user.last_login_at.map($store::stored),
            $store::stored($user.created_at),
            $password.expose()
        );
    };
    (($insert:literal, $insert_password:literal), $transaction:expr, $store:ident, $user:ident, $password:ident) => {
        $crate::write_user_columns!(
            ($insert),
            $transaction,
            $store,
            $user,
            $user.last_login_at.map($store::stored),
            $store::stored($user.created_at)
        );
        execute_audited!(
            $transaction,
            $insert_password,
            $transaction.tenant(),
            $user.id.as_uuid(),
            $password.expose()
        )?;
    };
}
