//! Checks the plans of the statements that are built at run time.

#![cfg(test)]

use sqlx::{QueryBuilder, Row as _, Sqlite};
use test_support::sqlite::TestFile;

use crate::SqliteStore;

/// Returns the searches, scans and sorts in the plan of a query, in the order of SQLite.
pub(crate) async fn plan(query: QueryBuilder<Sqlite>) -> Vec<String> {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let sql = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", query.sql().as_str()));
    let steps = sqlx::query(sql).fetch_all(&store.readers).await.unwrap();
    let is_work = |step: &String| ["SEARCH ", "SCAN ", "USE "].iter().any(|word| step.starts_with(word));
    steps.iter().map(|step| step.get("detail")).filter(is_work).collect()
}

/// Fails unless the plan of a query has exactly these searches and no sort.
pub(crate) async fn assert_plan(query: QueryBuilder<Sqlite>, expected: &[&str]) {
    assert_eq!(plan(query).await, expected);
}

/// Fails unless the plan of a list begins with this search, and has a sort exactly if `is_sorted`.
pub(crate) async fn assert_list(query: QueryBuilder<Sqlite>, first: &str, is_sorted: bool) {
    let plan = plan(query).await;
    assert_eq!(plan.first().map(String::as_str), Some(first), "{plan:#?}");
    assert_eq!(plan.iter().any(|step| step == "USE TEMP B-TREE FOR ORDER BY"), is_sorted, "{plan:#?}");
}
