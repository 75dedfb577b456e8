use iam_model::id::TenantId;
use iam_model::validate::folded;
use iam_store_sql::user::UserSearch;
use iam_store_sql::user_ports;
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

user_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM users u WHERE u.tenant_id = ?1 AND u.id = ?2",
    by_ids: "FROM users u WHERE u.tenant_id = ?1 AND u.id IN (SELECT unhex(value, '-') FROM json_each(?2))",
    lock: "FROM users u WHERE u.tenant_id = ?1 AND u.id = ?2",
    insert: (
        "INSERT INTO users (number, " columns r#")
        VALUES (
            (
                SELECT coalesce(
                    (SELECT max(u.number) + 1 FROM users u WHERE u.number BETWEEN t.first_user AND t.last_user),
                    t.first_user
                )
                FROM tenants t
                WHERE t.id = $1
            ),
            "# parameters ")",
        "INSERT INTO credentials (tenant_id, user_id, password_hash) VALUES (?1, ?2, ?3)"
    ),
    update: ("UPDATE users SET " assignments "version = version + 1 WHERE tenant_id = $1 AND id = $2"),
}

impl UserSearch for SqliteStore {
    fn push_candidates(query: &mut QueryBuilder<Sqlite>, tenant: TenantId, search: Option<&str>) {
        match search {
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
                // The plus sign keeps SQLite from using an index on tenant_id: the range of the tenant is read as a
                // whole.
                query.push(" WHERE t.id = ").push_bind(tenant.as_uuid()).push(" AND +u.tenant_id = ")
            }
        }
        .push_bind(tenant.as_uuid());
    }

    /// Not LIKE, in which some characters of the text would have a special meaning, and which limits the length of the
    /// text.
    fn push_search(query: &mut QueryBuilder<Sqlite>, search: &str) {
        query.push(" AND (FALSE");
        for column in ["replace(u.email_key, 'ς', 'σ')", "u.first_name_key", "u.last_name_key"] {
            query.push(" OR instr(").push(column).push(", ").push_bind(folded(search)).push(") > 0");
        }
        query.push(")");
    }

    /// Not EXISTS, which would be evaluated for every user of the tenant, even if only few users have such an
    /// assignment.
    fn push_holds(query: &mut QueryBuilder<Sqlite>, tenant: TenantId) {
        query.push(" AND u.id IN (SELECT a.user_id FROM role_assignments a WHERE a.tenant_id = ");
        query.push_bind(tenant.as_uuid());
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

#[cfg(test)]
mod tests {
    use iam_model::access::VisibleScope;
    use iam_model::clock::Timestamp;
    use iam_model::id::OrganizationId;
    use iam_model::page::{PageRequest, SortOrder};
    use iam_model::user::{UserFilter, UserSort, UserSortKey, UserStatus};
    use iam_store_sql::user::list;
    use uuid::Uuid;

    use super::*;
    use crate::plan::{assert_list, plan};

    fn page(filter: &UserFilter, sort: UserSort) -> QueryBuilder<Sqlite> {
        listed(filter, sort, &VisibleScope::Tenant)
    }

    fn listed(filter: &UserFilter, sort: UserSort, scope: &VisibleScope) -> QueryBuilder<Sqlite> {
        let (page, now) = (PageRequest::default(), Timestamp::UNIX_EPOCH);
        list::<SqliteStore>(TenantId::NONE, filter, sort, page, now, scope)
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
        let reached = plan(listed(&UserFilter::default(), UserSort::default(), &within)).await;
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
