use iam_model::access::VisibleScope;
use iam_model::clock::Timestamp;
use iam_model::id::TenantId;
use iam_model::page::{Page, PageRequest};
use iam_model::store_error::StoreError;
use iam_model::user::{User, UserFilter, UserSort};
use iam_model::validate::folded;
use iam_store_sql::store::SqlStore as _;
use iam_store_sql::user::{UserRow, list};
use iam_store_sql::user_ports;
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::organization::push_within;
use crate::transaction::PostgresTransaction;

user_ports! {
    PostgresStore,
    PostgresTransaction,
    by_id: "FROM iam.users u WHERE u.tenant_id = $1 AND u.id = $2",
    by_ids: "FROM iam.users u WHERE u.tenant_id = $1 AND u.id = ANY($2)",
    lock: "FROM iam.users u WHERE u.tenant_id = $1 AND u.id = $2 FOR UPDATE",
    insert: (one:
        "$15",
        with r#"
        made AS (
            INSERT INTO iam.users (
                tenant_id,
                id,
                email,
                email_key,
                email_verified_at,
                first_name,
                first_name_key,
                last_name,
                last_name_key,
                status,
                last_login_at,
                created_at,
                updated_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
        )
        "#,
        "INSERT INTO iam.credentials (tenant_id, user_id, password_hash) VALUES ($1, $2, $14)"
    ),
    update: (
        "$12",
        r#"
        UPDATE iam.users
        SET
            email = $3,
            email_key = $4,
            email_verified_at = $5,
            first_name = $6,
            first_name_key = $7,
            last_name = $8,
            last_name_key = $9,
            status = $10,
            updated_at = $11
        WHERE tenant_id = $1 AND id = $2
        "#
    ),
}

impl PostgresStore {
    pub(crate) async fn list_users(
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
        let list = |page| {
            let within = within.as_deref();
            list::<Self>(tenant, filter, sort, page, within.is_some(), |query| {
                push_filter(query, tenant, filter, within, now);
            })
        };
        self.page::<User, UserRow<Timestamp>>(page, is_steady, list).await
    }
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
    PostgresStore::push_live(query, now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_pattern_matches_special_characters_literally() {
        assert_eq!(containing("50%_\\é"), "%50\\%\\_\\\\é%");
    }
}
