use iam_model::id::TenantId;
use iam_model::validate::folded;
use iam_store_sql::user::UserSearch;
use iam_store_sql::user_ports;
use sqlx::{Postgres, QueryBuilder};

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::transaction::PostgresTransaction;

user_ports! {
    PostgresStore,
    PostgresTransaction,
    by_id: "FROM iam.users u WHERE u.tenant_id = $1 AND u.id = $2",
    by_ids: "FROM iam.users u WHERE u.tenant_id = $1 AND u.id = ANY($2)",
    lock: "FROM iam.users u WHERE u.tenant_id = $1 AND u.id = $2 FOR UPDATE",
    insert: (with_password:
        "$16",
        r#"
        password AS (
            INSERT INTO iam.credentials (tenant_id, user_id, password_hash)
            SELECT $1, $2, $15
            WHERE $15::text IS NOT NULL
        )
        "#,
        alone: "INSERT INTO iam.credentials (tenant_id, user_id, password_hash) VALUES ($1, $2, $3)",
        "INSERT INTO iam.users (" columns ") VALUES (" parameters ")"
    ),
    update: (
        entry: "$12",
        "UPDATE iam.users SET " assignments "version = version + 1 WHERE tenant_id = $1 AND id = $2"
    ),
}

impl UserSearch for PostgresStore {
    /// No name and no address has a control character. One such character separates the searched fields, and another
    /// one ends a text.
    fn can_match(search: &str) -> bool {
        !search.contains(char::is_control)
    }

    fn push_candidates(query: &mut QueryBuilder<Postgres>, tenant: TenantId, _search: Option<&str>) {
        query.push(" FROM iam.users u WHERE u.tenant_id = ").push_bind(tenant.as_uuid());
    }

    fn push_search(query: &mut QueryBuilder<Postgres>, search: &str) {
        let search = folded(search);
        let indexed: String = search.chars().take(INDEXED).collect();
        query.push(" AND ").push(SEARCHED).push(" LIKE ").push_bind(containing(&indexed));
        query.push(" AND strpos(").push(SEARCHED).push(", ").push_bind(search).push(") > 0");
    }

    fn push_holds(query: &mut QueryBuilder<Postgres>, _tenant: TenantId) {
        query.push(" AND EXISTS (SELECT FROM iam.role_assignments a");
        query.push(" WHERE a.tenant_id = u.tenant_id AND a.user_id = u.id");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_pattern_matches_special_characters_literally() {
        assert_eq!(containing("50%_\\é"), "%50\\%\\_\\\\é%");
    }
}
