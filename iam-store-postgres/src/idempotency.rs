use iam_store_sql::idempotency_ports;

use crate::PostgresStore;
use crate::error::record_lock_error;
use crate::transaction::PostgresTransaction;

idempotency_ports! {
    PostgresStore,
    PostgresTransaction,
    lock: r#"
        SELECT
            tenant_id AS "tenant_id!",
            id AS "id!",
            request AS "request!",
            answer AS "answer!",
            created_at AS "created_at!"
        FROM iam.lock_idempotency_record($1, $2)
    "#,
    lock_error: record_lock_error,
    keep: r#"
        INSERT INTO iam.idempotency_records (tenant_id, id, request, answer, created_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (tenant_id, id) DO UPDATE
        SET request = excluded.request, answer = excluded.answer, created_at = excluded.created_at
    "#,
}
