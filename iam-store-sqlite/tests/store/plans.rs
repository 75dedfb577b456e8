//! How the checked queries find their rows.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use iam_store_sqlite::SqliteStore;
use serde_json::Value;
use sqlx::AssertSqlSafe;
use sqlx::sqlite::SqlitePool;
use test_support::sqlite::TestFile;

/// What reads a whole table, by the beginning of its statement: it is about all tenants, or everything that is over, and done
/// in the background; or it stops at the first row.
const WHOLE: [&str; 7] = [
    "SELECT (SELECT count(*) FROM sessions",
    "DELETE FROM sessions WHERE rowid IN",
    "DELETE FROM login_attempts WHERE rowid IN",
    "SELECT tenant_id, purged, removed FROM audit_logs WHERE purged < removed",
    "SELECT g.tenant_id AS \"tenant_id!: Uuid\" FROM audit_logs g UNION",
    "SELECT NOT EXISTS (SELECT 1 FROM tenants)",
    "SELECT id AS \"id!\" FROM changes ORDER BY id DESC LIMIT 1",
];

/// Tables that stay small whatever is asked of the service.
const SMALL: [&str; 2] = ["signing_keys", "audit_unsealed"];

#[tokio::test]
async fn every_checked_query_finds_its_rows_by_an_index() {
    let file = TestFile::create();
    SqliteStore::open(file.url()).await.unwrap().migrate().await.unwrap();
    let pool = SqlitePool::connect(file.url()).await.unwrap();
    let tables: Vec<String> =
        sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table'").fetch_all(&pool).await.unwrap();
    let tables: BTreeSet<&str> = tables.iter().map(String::as_str).filter(|table| !SMALL.contains(table)).collect();
    let mut wrong = Vec::new();
    for query in checked_queries() {
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {query}"))).fetch_all(&pool).await.unwrap();
        let scans = plan.iter().filter_map(|(.., step)| step.strip_prefix("SCAN "));
        let scanned: Vec<&str> = scans.filter_map(|scan| table(&query, scan.split(' ').next()?, &tables)).collect();
        let one_line = query.split_whitespace().collect::<Vec<_>>().join(" ");
        if !scanned.is_empty() && !WHOLE.iter().any(|whole| one_line.starts_with(whole)) {
            wrong.push((scanned.join(", "), one_line));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The table that stands behind a name in a query, if it is one of these.
fn table<'a>(query: &'a str, name: &str, tables: &BTreeSet<&str>) -> Option<&'a str> {
    let words: Vec<&str> =
        query.split(|c: char| c.is_whitespace() || "(),".contains(c)).filter(|word| !word.is_empty()).collect();
    let is_it = |pair: &&[&str]| tables.contains(pair[0]) && (pair[0] == name || pair[1] == name);
    words.windows(2).find(is_it).map(|pair| pair[0])
}

/// The statements that are checked when the crate is compiled.
fn checked_queries() -> Vec<String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx");
    let query = |entry: fs::DirEntry| {
        let data: Value = serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap();
        data["query"].as_str().unwrap().to_owned()
    };
    fs::read_dir(data).unwrap().map(|entry| query(entry.unwrap())).collect()
}
