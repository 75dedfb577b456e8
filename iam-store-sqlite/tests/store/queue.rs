//! Rows that another program writes into the queue of the audit log do not delay other entries.

use std::sync::Arc;

use iam_core::TenantId;
use iam_store_sqlite::SqliteStore;
use sqlx::sqlite::SqlitePool;
use test_support::cases;
use test_support::sqlite::TestFile;

async fn migrated() -> (Arc<SqliteStore>, SqlitePool, TestFile) {
    let file = TestFile::create();
    let store = SqliteStore::open(file.url()).await.unwrap();
    store.migrate().await.unwrap();
    let other = SqlitePool::connect(file.url()).await.unwrap();
    (Arc::new(store), other, file)
}

#[tokio::test]
async fn a_stuck_log_does_not_delay_other_logs() {
    let (store, other, _file) = migrated().await;
    let queue_again = async |tenant: TenantId| {
        let insert = "INSERT INTO audit_unsealed (tenant_id, created_at, id, digest)
            SELECT tenant_id, created_at, id, zeroblob(32)
            FROM audit_entries
            WHERE tenant_id = ?1";
        sqlx::query(insert).bind(tenant.as_uuid()).execute(&other).await.unwrap();
    };
    cases::a_stuck_log_does_not_delay_other_logs(store, queue_again).await;
}

#[tokio::test]
async fn malformed_queue_rows_do_not_delay_other_entries() {
    for (created_at, id, digest) in [
        ("7", "zeroblob(16)", "zeroblob(31)"),
        ("7", "zeroblob(15)", "zeroblob(32)"),
        ("-1", "zeroblob(16)", "zeroblob(32)"),
        ("-9223372036854775808", "zeroblob(16)", "zeroblob(32)"),
        ("9223372036854775807", "zeroblob(16)", "zeroblob(32)"),
    ] {
        let (store, other, _file) = migrated().await;
        let insert = async |tenant: TenantId| {
            let of_no_tenant = "INSERT INTO audit_unsealed VALUES (zeroblob(7), 7, zeroblob(16), zeroblob(32))";
            sqlx::query(of_no_tenant).execute(&other).await.unwrap();
            let sql = format!("INSERT INTO audit_unsealed VALUES (?1, {created_at}, {id}, {digest})");
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(tenant.as_uuid()).execute(&other).await.unwrap();
        };
        cases::malformed_queue_rows_do_not_delay_other_entries(store, insert).await;
    }
}
