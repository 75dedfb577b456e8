use iam_store_sql::mail_ports;

use crate::SqliteStore;
use crate::transaction::SqliteTransaction;

mail_ports! {
    SqliteStore,
    SqliteTransaction,
    claim: r#"
        UPDATE messages
        SET attempts = attempts + 1, next_attempt_at = ?2
        WHERE (tenant_id, id) IN (
            SELECT tenant_id, id
            FROM messages
            WHERE next_attempt_at <= ?1
            ORDER BY next_attempt_at, id
            LIMIT ?3
        )
        RETURNING
            tenant_id AS "tenant_id!: uuid::Uuid",
            id AS "id!: uuid::Uuid",
            kind AS "kind!",
            email AS "email!",
            subject AS "subject: uuid::Uuid",
            link_id AS "link_id: uuid::Uuid",
            correlation_id,
            ip_address,
            user_agent,
            attempts AS "attempts!: i32",
            next_attempt_at AS "next_attempt_at!",
            created_at AS "created_at!"
    "#,
    postpone: "UPDATE messages SET next_attempt_at = ?4 WHERE tenant_id = ?1 AND id = ?2 AND attempts = ?3",
    remove: "DELETE FROM messages WHERE tenant_id = ?1 AND id = ?2 AND attempts = ?3",
    lock_queued: r#"
        SELECT queued_at AS "queued_at: sqlx::types::Json<Vec<i64>>"
        FROM queued_messages
        WHERE tenant_id = ?1 AND email_key = ?2 AND kind = ?3
    "#,
    insert: r#"
        INSERT INTO messages (
            tenant_id, id, kind, email, subject, link_id, correlation_id, ip_address, user_agent, attempts,
            next_attempt_at, created_at
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    "#,
    put_queued: r#"
        INSERT INTO queued_messages (tenant_id, email_key, kind, queued_at)
        VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (tenant_id, email_key, kind) DO UPDATE SET queued_at = excluded.queued_at
    "#,
}
