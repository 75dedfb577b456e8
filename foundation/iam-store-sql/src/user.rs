//! Users.

use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::PageRequest;
use iam_model::store_error::StoreError;
use iam_model::user::{User, UserFilter, UserSort, UserSortKey, UserStatus, UserSummary};
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::column::{parse, parse_optional};
use crate::store::SqlStore;

/// Calls a macro with the columns of users `u`; see [`table`](crate::table).
#[doc(hidden)]
#[macro_export]
macro_rules! with_user_columns {
    ($macro:ident $arguments:tt) => {
        $crate::$macro! {
            $arguments
            (tenant_id: Uuid, into, "u.tenant_id", user_tenant_id, r#"u.tenant_id AS "user_tenant_id?""#)
            (id: Uuid, into, "u.id", user_id, r#"u.id AS "user_id?""#)
            (kind: String, parse, "u.kind", user_kind, r#"u.kind AS "user_kind?""#)
            (email: String, parse, "u.email", user_email, r#"u.email AS "user_email?""#)
            (
                email_verified_at: Option<T>, moment_optional, "u.email_verified_at",
                user_email_verified_at, r#"u.email_verified_at AS "user_email_verified_at?""#
            )
            (first_name: String, parse, "u.first_name", user_first_name, r#"u.first_name AS "user_first_name?""#)
            (last_name: String, parse, "u.last_name", user_last_name, r#"u.last_name AS "user_last_name?""#)
            (status: String, parse, "u.status", user_status, r#"u.status AS "user_status?""#)
            (
                last_login_at: Option<T>, moment_optional, "u.last_login_at",
                user_last_login_at, r#"u.last_login_at AS "user_last_login_at?""#
            )
            (created_at: T, moment, "u.created_at", user_created_at, r#"u.created_at AS "user_created_at?""#)
            (updated_at: T, moment, "u.updated_at", user_updated_at, r#"u.updated_at AS "user_updated_at?""#)
            (version: i64, into, "u.version", user_version, r#"u.version AS "user_version?""#)
        }
    };
}

with_user_columns! {
    row_type (
        /// A user as the stores read it: the columns of its table.
        UserRow, User, "users"
    )
}

/// What lists of other nouns show of a user.
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
            email: parse("users.email", &row.email)?,
            service_name: parse_optional("users.first_name", row.service_name.as_deref())?,
        })
    }
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file
// and of the stores is pushed. All values from outside are bound.

const LIST_COLUMNS: &str = crate::with_user_columns!(column_text());

/// How a database searches users.
pub trait UserSearch: SqlStore {
    /// Whether a user can match a search. If not, the database is not asked.
    fn can_match(_search: &str) -> bool {
        true
    }

    /// Adds the FROM clause of the users `u` that may match a search, and the condition that they are in the tenant.
    fn push_candidates(query: &mut QueryBuilder<Self::Database>, tenant: TenantId, search: Option<&str>);

    /// Adds the condition that the user matches a search.
    fn push_search(query: &mut QueryBuilder<Self::Database>, search: &str);

    /// Adds the condition that the user has an assignment `a`. The calling function adds the other conditions of `a`,
    /// and the closing parenthesis.
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
    if let Some(kind) = filter.kind {
        query.push(" AND u.kind = '").push(kind.as_str()).push("'");
    }
    if let Some(search) = &filter.search {
        S::push_search(query, search);
    }
    // Two conditions: a user may be a member of the organization by one assignment, and in the visible scope by
    // another.
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
    if filter.kind.is_some() || filter.search.is_some() || filter.organization.is_some() || !is_everywhere {
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

/// Selects users; the literal says from where and which.
#[doc(hidden)]
#[macro_export]
macro_rules! select_users {
    ($row:ident, $which:literal, $($argument:expr),+) => {
        $crate::with_user_columns!(select_columns ($row, $which, $($argument),+))
    };
}

/// Implements the ports of users; see [`store`](crate::store).
///
/// `insert` is one statement that also writes the password (`with_password`), or two statements. The first form needs a
/// statement that writes the password alone, for distributed tables.
#[macro_export]
macro_rules! user_ports {
    (
        $store:ident,
        $transaction:ident,
        by_id: $by_id:literal,
        by_ids: $by_ids:literal,
        lock: $lock:literal,
        insert: $insert:tt,
        update: $update:tt $(,)?
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
                        UserChange::Create { user, password, .. } => self.insert_user(user, password.as_ref()).await,
                        UserChange::Update { after, .. }
                        | UserChange::ChangeStatus { after, .. }
                        | UserChange::VerifyEmail { after, .. }
                        | UserChange::ConfirmEmail { after, .. }
                        | UserChange::Delete { after, .. } => self.update_user(after).await,
                    }
                }

                async fn insert_user(
                    &mut self,
                    user: &User,
                    password: Option<&PasswordHash>,
                ) -> Result<(), StoreError> {
                    $crate::insert_user!($insert, self, $store, user, password);
                    Ok(())
                }

                async fn update_user(&mut self, user: &User) -> Result<(), StoreError> {
                    let updated =
                        $crate::with_written_user_columns!(update_columns, user, $store, ($update, self, user.id))?;
                    expect_row(updated.rows_affected(), "user")
                }
            }
        };
    };
}

/// Calls a macro with the columns of a user that changes write: the column, its parameter, the assignment, the value.
/// Columns that only an insert writes stand after the semicolon.
#[doc(hidden)]
#[macro_export]
macro_rules! with_written_user_columns {
    ($macro:ident, $user:ident, $store:ident, $arguments:tt) => {
        $crate::$macro! {
            $arguments
            ("email", "$3", "email = $3", $user.email.as_str())
            ("email_key", "$4", "email_key = $4", $user.email.key().as_str().to_owned())
            (
                "email_verified_at", "$5", "email_verified_at = $5",
                $user.email_verified_at.map($store::stored)
            )
            ("first_name", "$6", "first_name = $6", $user.first_name.as_str())
            ("first_name_key", "$7", "first_name_key = $7", folded($user.first_name.as_str()))
            ("last_name", "$8", "last_name = $8", $user.last_name.as_str())
            ("last_name_key", "$9", "last_name_key = $9", folded($user.last_name.as_str()))
            ("status", "$10", "status = $10", $user.status.as_str())
            ("updated_at", "$11", "updated_at = $11", $store::stored($user.updated_at))
            ;
            ("last_login_at", "$12", $user.last_login_at.map($store::stored))
            ("created_at", "$13", $store::stored($user.created_at))
            ("kind", "$14", $user.kind.as_str())
        }
    };
}

/// Inserts a user and its password, if it has one, by one statement or by two.
#[doc(hidden)]
#[macro_export]
macro_rules! insert_user {
    (
        (with_password: $entry:literal, $insert_password:literal, alone: $alone:literal, $($insert:tt)+),
        $transaction:expr, $store:ident, $user:ident, $password:ident
    ) => {
        if $transaction.is_distributed() {
            $crate::with_written_user_columns!(
                insert_columns,
                $user,
                $store,
                ((alone,), ($($insert)+), $transaction, $user.id)
            )?;
            if let Some(password) = $password {
                execute_audited!(
                    $transaction,
                    alone,
                    $alone,
                    $transaction.tenant(),
                    $user.id.as_uuid(),
                    password.expose()
                )?;
            }
        } else {
            $crate::with_written_user_columns!(
                insert_columns,
                $user,
                $store,
                (
                    ($entry, with $insert_password,),
                    ($($insert)+),
                    $transaction,
                    $user.id,
                    $password.map(PasswordHash::expose)
                )
            )?;
        }
    };
    (
        ($before:literal columns $middle:literal parameters $after:literal, $insert_password:literal),
        $transaction:expr, $store:ident, $user:ident, $password:ident
    ) => {
        $crate::with_written_user_columns!(
            insert_columns,
            $user,
            $store,
            ((), ($before columns $middle parameters $after), $transaction, $user.id)
        )?;
        if let Some(password) = $password {
            execute_audited!(
                $transaction,
                $insert_password,
                $transaction.tenant(),
                $user.id.as_uuid(),
                password.expose()
            )?;
        }
    };
}
