use iam_store_sql::mail_ports;

use crate::PostgresStore;
use crate::transaction::PostgresTransaction;

mail_ports! {
    PostgresStore,
    PostgresTransaction,
    // Skips locked rows: another replica claims them.
    claim: r#"
        UPDATE iam.messages
        SET attempts = attempts + 1, next_attempt_at = $2
        WHERE (tenant_id, id) IN (
            SELECT tenant_id, id
            FROM iam.messages
            WHERE next_attempt_at <= $1
            ORDER BY next_attempt_at, id
            LIMIT $3
            FOR UPDATE SKIP LOCKED
        )
        RETURNING
            tenant_id,
            id,
            kind,
            email,
            subject,
            link_id,
            correlation_id,
            ip_address,
            user_agent,
            attempts,
            next_attempt_at,
            created_at
    "#,
    postpone: "UPDATE iam.messages SET next_attempt_at = $4 WHERE tenant_id = $1 AND id = $2 AND attempts = $3",
    remove: "DELETE FROM iam.messages WHERE tenant_id = $1 AND id = $2 AND attempts = $3",
    // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which locks it
    // and returns its newest version.
    lock_queued: r#"
        INSERT INTO iam.queued_messages AS q (tenant_id, email_key, kind)
        VALUES ($1, $2, $3)
        ON CONFLICT (tenant_id, email_key, kind) DO UPDATE SET tenant_id = excluded.tenant_id
        RETURNING q.queued_at
    "#,
    insert: r#"
        INSERT INTO iam.messages (
            tenant_id, id, kind, email, subject, link_id, correlation_id, ip_address, user_agent, attempts,
            next_attempt_at, created_at
        )
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    "#,
    put_queued: r#"
        INSERT INTO iam.queued_messages (tenant_id, email_key, kind, queued_at)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (tenant_id, email_key, kind) DO UPDATE SET queued_at = excluded.queued_at
    "#,
}
