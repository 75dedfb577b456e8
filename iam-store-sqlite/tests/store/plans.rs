//! How the checked queries find their rows. The tests of statements that are built at run time are beside these
//! statements.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use iam_store_sqlite::SqliteStore;
use serde_json::Value;
use sqlx::sqlite::SqlitePool;
use sqlx::{AssertSqlSafe, Executor as _};
use test_support::sqlite::TestFile;

/// Statements that may read a whole table, by their beginning: they are about all tenants or all expired rows, and run
/// in the background; or they stop at the first row.
const WHOLE: [&str; 17] = [
    "SELECT (SELECT count(*) FROM sessions",
    "DELETE FROM sessions WHERE rowid IN",
    "DELETE FROM login_attempts WHERE rowid IN",
    "DELETE FROM queued_messages WHERE rowid IN",
    "SELECT tenant_id, purged, removed FROM audit_logs WHERE purged < removed",
    "SELECT g.tenant_id AS \"tenant_id!: Uuid\" FROM audit_logs g UNION",
    // `keys.rs`: the indexes have only the rows whose keys are to be made again, and none afterwards; and the counts,
    // once.
    "SELECT tenant_id, id, email FROM invitations INDEXED BY invitations_keys_idx WHERE keyed = 0",
    "SELECT tenant_id, id, name, updated_at FROM organizations INDEXED BY organizations_keys_idx WHERE",
    "SELECT tenant_id, id, email, email_key, first_name, last_name, status, email_verified_at IS NOT NULL AS \
     \"is_verified!: bool\", last_login_at, created_at, updated_at FROM users INDEXED BY users_keys_idx",
    "SELECT tenant_id, id, email, email_key, first_name, last_name, status, email_verified_at IS NOT NULL AS \
     \"is_verified!: bool\", last_login_at, created_at, updated_at FROM users INDEXED BY users_conflicts_idx",
    "SELECT tenant_id AS \"tenant_id: Uuid\", email_key FROM login_attempts WHERE length(CAST(email_key AS BLOB))",
    "SELECT DISTINCT tenant_id AS \"tenant_id: Uuid\", email_key FROM queued_messages WHERE length(CAST(email_key AS BLOB))",
    // The delivery of events looks at every webhook.
    "SELECT w.tenant_id, w.id, w.failures > 0 AS \"is_failing!: bool\" FROM webhooks w CROSS JOIN tenants t",
    "SELECT coalesce(max(g.size - max(w.attempted, g.removed)), 0) AS \"entries!: i64\"",
    "SELECT NOT EXISTS (SELECT 1 FROM tenants)",
    "SELECT EXISTS (SELECT 1 FROM tenants LIMIT 1 OFFSET 1)",
    "SELECT id AS \"id!\" FROM changes ORDER BY id DESC LIMIT 1",
];

/// Tables that always stay small.
const SMALL: [&str; 3] = ["signing_keys", "audit_unsealed", "unchecked_permissions"];

#[tokio::test]
async fn every_checked_query_finds_its_rows_by_an_index() {
    let (pool, _file) = migrated().await;
    let wrong = unindexed(&pool, &checked_queries()).await;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_missing_index_is_noticed() {
    let (pool, _file) = migrated().await;
    pool.execute("DROP INDEX users_email_idx").await.unwrap();
    let wrong = unindexed(&pool, &checked_queries()).await;
    assert!(
        wrong.iter().any(|(table, query)| table == "users" && query.contains("u.email_key = k.email_key")),
        "{wrong:#?}"
    );

    let renamed = "SELECT u.id FROM users AS u WHERE u.email = ?1".to_owned();
    assert_eq!(unindexed(&pool, std::slice::from_ref(&renamed)).await, [("users".to_owned(), renamed)]);
}

async fn migrated() -> (SqlitePool, TestFile) {
    let file = TestFile::create();
    SqliteStore::open(file.url()).await.unwrap().migrate().await.unwrap();
    (SqlitePool::connect(file.url()).await.unwrap(), file)
}

/// Returns the queries that read a whole table that may be large, each with its tables.
async fn unindexed(pool: &SqlitePool, queries: &[String]) -> Vec<(String, String)> {
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table'").fetch_all(pool).await.unwrap();
    let tables: BTreeSet<&str> = tables.iter().map(String::as_str).filter(|table| !SMALL.contains(table)).collect();
    let mut wrong = Vec::new();
    for query in queries {
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {query}"))).fetch_all(pool).await.unwrap();
        let scans = plan.iter().filter_map(|(.., step)| whole(step));
        let scanned: Vec<&str> = scans.filter_map(|scan| table(query, scan.split(' ').next()?, &tables)).collect();
        let one_line = query.split_whitespace().collect::<Vec<_>>().join(" ");
        if !scanned.is_empty() && !WHOLE.iter().any(|whole| one_line.starts_with(whole)) {
            wrong.push((scanned.join(", "), one_line));
        }
    }
    wrong
}

/// Returns what a step reads as a whole, or by a search for each value of the first column of an index, of which there
/// are as many as tenants.
fn whole(step: &str) -> Option<&str> {
    step.strip_prefix("SCAN ").or_else(|| step.strip_prefix("SEARCH ").filter(|search| search.contains("(ANY(")))
}

/// Returns the table that a name in a query stands for, if it is one of these.
fn table<'a>(query: &'a str, name: &str, tables: &BTreeSet<&str>) -> Option<&'a str> {
    let words = query.split(|c: char| c.is_whitespace() || "(),".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("AS")).collect();
    let is_it = |pair: &&[&str]| tables.contains(pair[0]) && (pair[0] == name || pair[1] == name);
    words.windows(2).find(is_it).map(|pair| pair[0])
}

/// Returns the statements that are checked when the crate is compiled.
fn checked_queries() -> Vec<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
    let query = |entry: fs::DirEntry| {
        let data: Value = serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap();
        data["query"].as_str().unwrap().to_owned()
    };
    fs::read_dir(data).unwrap().map(|entry| query(entry.unwrap())).collect()
}
