//! Rows that another program writes into the queue of the audit log do not delay other entries.

use std::sync::Arc;

use iam_core::TenantId;
use iam_store_postgres::PostgresStore;
use test_support::cases;
use test_support::postgres::TestDatabase;

async fn migrated() -> (Arc<PostgresStore>, TestDatabase) {
    let database = TestDatabase::create().await;
    let store = database.store().await;
    store.migrate().await.unwrap();
    (Arc::new(store), database)
}

#[tokio::test]
async fn a_stuck_log_does_not_delay_other_logs() {
    let (store, database) = migrated().await;
    let pool = database.pool();
    let queue_again = async |tenant: TenantId| {
        let insert = "INSERT INTO iam.audit_unsealed
            SELECT e.*, sha256('')
            FROM iam.audit_entries e
            WHERE tenant_id = $1";
        sqlx::query(insert).bind(tenant.as_uuid()).execute(&pool).await.unwrap();
    };
    cases::a_stuck_log_does_not_delay_other_logs(store, queue_again).await;
}

#[tokio::test]
async fn malformed_queue_rows_do_not_delay_other_entries() {
    for (created_at, salt, digest) in [
        ("1970-01-02", "sha256('')", "''"),
        ("1970-01-02", "'short'", "sha256('')"),
        ("1969-12-31", "sha256('')", "sha256('')"),
        ("-infinity", "sha256('')", "sha256('')"),
        ("infinity", "sha256('')", "sha256('')"),
        ("10000-01-01", "sha256('')", "sha256('')"),
    ] {
        let (store, database) = migrated().await;
        let pool = database.pool();
        let insert = async |tenant: TenantId| {
            let sql = format!(
                "INSERT INTO iam.audit_unsealed (
                    tenant_id, id, action, resource_type, metadata, created_at, details_salt, origin_salt, digest
                )
                VALUES ($1, gen_random_uuid(), 'SENT', 'LETTER', '{{}}', '{created_at}', {salt}, {salt}, {digest})"
            );
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(tenant.as_uuid()).execute(&pool).await.unwrap();
        };
        cases::malformed_queue_rows_do_not_delay_other_entries(store, insert).await;
    }
}
