use iam_store_sql::idempotency_ports;

use crate::SqliteStore;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

idempotency_ports! {
    SqliteStore,
    SqliteTransaction,
    lock: r#"
        SELECT tenant_id AS "tenant_id: uuid::Uuid", id, request, answer, created_at
        FROM idempotency_records
        WHERE tenant_id = ?1 AND id = ?2
    "#,
    lock_error: store_error,
    keep: r#"
        INSERT INTO idempotency_records (tenant_id, id, request, answer, created_at)
        VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT (tenant_id, id) DO UPDATE
        SET request = excluded.request, answer = excluded.answer, created_at = excluded.created_at
    "#,
}
