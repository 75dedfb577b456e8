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
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::organization::push_visible_scope;
use crate::transaction::{SqliteTransaction, execute_audited};

user_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM users u WHERE u.tenant_id = ?1 AND u.id = ?2",
    by_ids: "FROM users u WHERE u.tenant_id = ?1 AND u.id IN (SELECT unhex(value, '-') FROM json_each(?2))",
    lock: "FROM users u WHERE u.tenant_id = ?1 AND u.id = ?2",
    insert: (
        r#"
        INSERT INTO users (
            number,
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
        VALUES (
            (
                SELECT coalesce(
                    (SELECT max(u.number) + 1 FROM users u WHERE u.number BETWEEN t.first_user AND t.last_user),
                    t.first_user
                )
                FROM tenants t
                WHERE t.id = ?1
            ),
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13
        )
        "#,
        "INSERT INTO credentials (tenant_id, user_id, password_hash) VALUES (?1, ?2, ?3)"
    ),
    update: (
        r#"
        UPDATE users
        SET
            email = ?3,
            email_key = ?4,
            email_verified_at = ?5,
            first_name = ?6,
            first_name_key = ?7,
            last_name = ?8,
            last_name_key = ?9,
            status = ?10,
            updated_at = ?11
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
}

impl SqliteStore {
    pub(crate) async fn list_users(
        &self,
        tenant: TenantId,
        filter: &UserFilter,
        visible_scope: &VisibleScope,
        sort: UserSort,
        page: PageRequest,
        now: Timestamp,
    ) -> Result<Page<User>, StoreError> {
        let list = |page| users(tenant, filter, visible_scope, sort, page, now);
        self.page::<User, UserRow<i64>>(page, list).await
    }
}

/// Builds the statement for a page of the users in the visible scope that match a filter.
fn users(
    tenant: TenantId,
    filter: &UserFilter,
    visible_scope: &VisibleScope,
    sort: UserSort,
    page: PageRequest,
    now: Timestamp,
) -> QueryBuilder<Sqlite> {
    let is_restricted = matches!(visible_scope, VisibleScope::Organizations(_));
    list::<SqliteStore>(tenant, filter, sort, page, is_restricted, |query| {
        push_filter(query, tenant, filter, visible_scope, now);
    })
}

/// Adds the FROM clause and the conditions for the users in the visible scope that match a filter.
fn push_filter(
    query: &mut QueryBuilder<Sqlite>,
    tenant: TenantId,
    filter: &UserFilter,
    visible_scope: &VisibleScope,
    now: Timestamp,
) {
    match &filter.search {
        None => query.push(" FROM users u WHERE u.tenant_id = "),
        Some(search) => {
            query.push(" FROM tenants t");
            match candidates(search) {
                Some(candidates) => {
                    query.push(" CROSS JOIN user_search s ON s.rowid BETWEEN t.first_user AND t.last_user");
                    query.push(" AND s.user_search MATCH ").push_bind(candidates);
                    query.push(" CROSS JOIN users u ON u.number = s.rowid")
                }
                None => query.push(" CROSS JOIN users u ON u.number BETWEEN t.first_user AND t.last_user"),
            };
            // The plus sign keeps SQLite from using an index on tenant_id: the range of the tenant is read as a whole.
            query.push(" WHERE t.id = ").push_bind(tenant.as_uuid()).push(" AND +u.tenant_id = ")
        }
    }
    .push_bind(tenant.as_uuid());
    if let Some(status) = filter.status {
        query.push(" AND u.status = ").push_bind(status.as_str());
    }
    if let Some(search) = &filter.search {
        // Not LIKE, in which some characters of the text would have a special meaning, and which limits the length
        // of the text.
        query.push(" AND (FALSE");
        for column in ["replace(u.email_key, 'ς', 'σ')", "u.first_name_key", "u.last_name_key"] {
            query.push(" OR instr(").push(column).push(", ").push_bind(folded(search)).push(") > 0");
        }
        query.push(")");
    }
    // Two conditions: a user may be a member of the organization by one assignment, and in the visible scope by
    // another.
    if let Some(organization) = filter.organization {
        push_holds(query, tenant, now);
        query.push(" AND a.organization_id = ").push_bind(organization.as_uuid()).push(")");
    }
    if matches!(visible_scope, VisibleScope::Organizations(_)) {
        push_holds(query, tenant, now);
        push_visible_scope(query, "a.organization_id", tenant, visible_scope);
        query.push(")");
    }
}

/// The index is searched for at most this many groups of three characters of a text. They leave few other users. The
/// beginning of an address excludes more users than its end, which all users may share and which makes the search
/// slower.
const MAX_GROUPS: usize = 10;

/// Returns the search expression for all users that have the first groups of three characters of a text. `None` for a
/// shorter text, which has no such group, and for a text with a NUL character, for which the index has no answer.
fn candidates(search: &str) -> Option<String> {
    let characters: Vec<char> = folded(search).chars().collect();
    if characters.len() < 3 || characters.contains(&'\0') {
        return None;
    }
    let quoted = |group: &[char]| format!("\"{}\"", group.iter().collect::<String>().replace('"', "\"\""));
    Some(characters.windows(3).take(MAX_GROUPS).map(quoted).collect::<Vec<_>>().join(" AND "))
}

/// Adds the condition that the user has an assignment `a` that has not expired. The calling function adds the other
/// conditions of `a`, and the closing parenthesis.
///
/// Not EXISTS, which would be evaluated for every user of the tenant, even if only few users have such an assignment.
fn push_holds(query: &mut QueryBuilder<Sqlite>, tenant: TenantId, now: Timestamp) {
    query
        .push(" AND u.id IN (SELECT a.user_id FROM role_assignments a WHERE a.tenant_id = ")
        .push_bind(tenant.as_uuid());
    SqliteStore::push_live(query, now);
}

#[cfg(test)]
mod tests {
    use iam_model::id::OrganizationId;
    use iam_model::page::SortOrder;
    use uuid::Uuid;

    use iam_model::user::{UserSortKey, UserStatus};

    use super::*;
    use crate::plan::{assert_list, plan};

    fn page(filter: &UserFilter, sort: UserSort) -> QueryBuilder<Sqlite> {
        users(TenantId::NONE, filter, &VisibleScope::Tenant, sort, PageRequest::default(), Timestamp::UNIX_EPOCH)
    }

    /// Backwards, only rows with the same value are sorted.
    #[tokio::test]
    async fn every_order_except_by_status_is_read_from_an_index() {
        for (by, index) in [
            (UserSortKey::CreatedAt, "COVERING INDEX users_created_idx"),
            (UserSortKey::UpdatedAt, "COVERING INDEX users_updated_idx"),
            (UserSortKey::Email, "INDEX sqlite_autoindex_users_2"),
            (UserSortKey::FirstName, "COVERING INDEX users_first_name_idx"),
            (UserSortKey::LastName, "COVERING INDEX users_last_name_idx"),
            (UserSortKey::LastLoginAt, "COVERING INDEX users_last_login_idx"),
        ] {
            for order in [SortOrder::Ascending, SortOrder::Descending] {
                let query = page(&UserFilter::default(), UserSort { by, order });
                assert_list(query, &format!("SEARCH u USING {index} (tenant_id=?)"), false).await;
            }
        }
    }

    #[tokio::test]
    async fn every_filter_finds_its_users_by_an_index() {
        let query = |filter| page(&filter, UserSort::default());
        let status = query(UserFilter { status: Some(UserStatus::Active), ..UserFilter::default() });
        assert_list(status, "SEARCH u USING COVERING INDEX users_status_idx (tenant_id=? AND status=?)", false).await;

        let search = plan(query(UserFilter { search: Some("ada".to_owned()), ..UserFilter::default() })).await;
        assert!(search[1].starts_with("SCAN s VIRTUAL TABLE INDEX "), "{search:#?}");
        assert_eq!(search[2], "SEARCH u USING INTEGER PRIMARY KEY (rowid=?)");
        let short = plan(query(UserFilter { search: Some("ad".to_owned()), ..UserFilter::default() })).await;
        assert_eq!(short[1], "SEARCH u USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");

        let organization = Some(OrganizationId::from(Uuid::nil()));
        let members = plan(query(UserFilter { organization, ..UserFilter::default() })).await;
        let key = "role_assignments_organization_idx (tenant_id=? AND organization_id=?)";
        let expected = [
            "SEARCH u USING INDEX sqlite_autoindex_users_1 (tenant_id=? AND id=?)",
            &format!("SEARCH a USING COVERING INDEX {key}"),
        ];
        assert_eq!(members[..2], expected);

        let within = VisibleScope::Organizations(Vec::new());
        let (filter, sort, page) = (UserFilter::default(), UserSort::default(), PageRequest::default());
        let reached = plan(users(TenantId::NONE, &filter, &within, sort, page, Timestamp::UNIX_EPOCH)).await;
        assert_eq!(reached[..2], expected);
    }

    #[test]
    fn a_text_is_searched_by_its_groups_of_three_characters() {
        assert_eq!(candidates("Ad"), None);
        assert_eq!(candidates("a\0da").as_deref(), None);
        assert_eq!(candidates("ÉMI").as_deref(), Some("\"émi\""));
        assert_eq!(candidates("a\" OR").as_deref(), Some("\"a\"\" \" AND \"\"\" o\" AND \" or\""));
        assert_eq!(candidates(&"abc".repeat(100)).map(|all| all.matches(" AND ").count()), Some(MAX_GROUPS - 1));
    }
}
