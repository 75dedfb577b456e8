use iam_store_sql::mail_ports;

use crate::PostgresStore;
use crate::transaction::PostgresTransaction;

mail_ports! {
    PostgresStore,
    PostgresTransaction,
    // Skips locked rows: another replica claims them. As a subquery, the rows could be selected again for each row of
    // the outer table, without those that are already claimed, and the limit would not hold.
    claim: r#"
        WITH due AS MATERIALIZED (
            SELECT tenant_id, id
            FROM iam.messages
            WHERE next_attempt_at <= $1
            ORDER BY next_attempt_at, id
            LIMIT $3
            FOR UPDATE SKIP LOCKED
        )
        UPDATE iam.messages m
        SET attempts = attempts + 1, next_attempt_at = $2
        FROM due
        WHERE m.tenant_id = due.tenant_id AND m.id = due.id
        RETURNING
            m.tenant_id,
            m.id,
            m.kind,
            m.email,
            m.subject,
            m.link_id,
            m.correlation_id,
            m.ip_address,
            m.user_agent,
            m.attempts,
            m.next_attempt_at,
            m.created_at
    "#,
    distributed: {
        due: r#"
            SELECT tenant_id, id
            FROM iam.messages
            WHERE next_attempt_at <= $1
            ORDER BY next_attempt_at, id
            LIMIT $2
        "#,
        claim_one: r#"
            UPDATE iam.messages m
            SET attempts = attempts + 1, next_attempt_at = $4
            WHERE m.tenant_id = $1 AND m.id = $2 AND m.next_attempt_at <= $3
            RETURNING
                m.tenant_id,
                m.id,
                m.kind,
                m.email,
                m.subject,
                m.link_id,
                m.correlation_id,
                m.ip_address,
                m.user_agent,
                m.attempts,
                m.next_attempt_at,
                m.created_at
        "#,
    },
    postpone: "UPDATE iam.messages SET next_attempt_at = $4 WHERE tenant_id = $1 AND id = $2 AND attempts = $3",
    remove: "DELETE FROM iam.messages WHERE tenant_id = $1 AND id = $2 AND attempts = $3",
    // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which locks
    // it and returns its newest version.
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
