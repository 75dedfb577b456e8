use iam_store_sql::credential_ports;

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

credential_ports! {
    SqliteStore,
    SqliteTransaction,
    attempts: r#"
        a.failed_at AS "failed_at?: sqlx::types::Json<Vec<i64>>",
        a.locked_until AS "locked_until?",
        n.failed_at AS "unnamed_failed_at?: sqlx::types::Json<Vec<i64>>",
        n.locked_until AS "unnamed_locked_until?",
        c.password_hash AS "password_hash?"
    "#,
    candidates: r#"
        FROM (SELECT ?1 AS email_key) k
        LEFT JOIN login_attempts n ON n.tenant_id = zeroblob(16) AND n.email_key = k.email_key
        LEFT JOIN users u ON u.email_key = k.email_key
        LEFT JOIN tenants t ON t.id = u.tenant_id
        LEFT JOIN credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
        LEFT JOIN login_attempts a ON a.tenant_id = u.tenant_id AND a.email_key = u.email_key
        ORDER BY
            u.status = 'INACTIVE',
            u.email_verified_at IS NULL,
            u.last_login_at DESC,
            u.created_at,
            u.tenant_id
        LIMIT ?2
    "#,
    guarded: r#"
        FROM (SELECT ?1 AS tenant_id, ?2 AS email_key) k
        LEFT JOIN login_attempts n ON n.tenant_id = zeroblob(16) AND n.email_key = k.email_key
        LEFT JOIN login_attempts a ON a.tenant_id = k.tenant_id AND a.email_key = k.email_key
        LEFT JOIN users u ON u.tenant_id = k.tenant_id AND u.email_key = k.email_key
        LEFT JOIN tenants t ON t.id = u.tenant_id
        LEFT JOIN credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
    "#,
    lock: (
        "",
        r#"
        FROM (SELECT ?1 AS tenant_id, ?2 AS email_key) k
        LEFT JOIN login_attempts n ON n.tenant_id = zeroblob(16) AND n.email_key = k.email_key
        LEFT JOIN login_attempts a ON a.tenant_id = k.tenant_id AND a.email_key = k.email_key
        LEFT JOIN users u ON u.tenant_id = k.tenant_id AND u.id = ?3
        LEFT JOIN tenants t ON t.id = u.tenant_id
        LEFT JOIN credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
        "#
    ),
    update: ("UPDATE credentials SET password_hash = ?3 WHERE tenant_id = ?1 AND user_id = ?2"),
    put_attempts: (
        r#"
        INSERT INTO login_attempts (tenant_id, email_key, failed_at, locked_until)
        VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (tenant_id, email_key) DO UPDATE
        SET failed_at = excluded.failed_at, locked_until = excluded.locked_until
        "#
    ),
    delete_attempts: "DELETE FROM login_attempts WHERE tenant_id IN (?1, zeroblob(16)) AND email_key = ?2",
}
