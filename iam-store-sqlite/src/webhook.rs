use iam_store_sql::webhook_ports;

use crate::SqliteStore;
use crate::transaction::{SqliteTransaction, execute_audited};

webhook_ports! {
    SqliteStore,
    SqliteTransaction,
    by_id: "FROM webhooks w WHERE w.tenant_id = ?1 AND w.id = ?2",
    of_tenant: "FROM webhooks w WHERE w.tenant_id = ?1 ORDER BY w.created_at DESC, w.id",
    lock: "FROM webhooks w WHERE w.tenant_id = ?1 AND w.id = ?2",
    count: r#"SELECT count(*) AS "count!" FROM webhooks WHERE tenant_id = ?1"#,
    // `CROSS JOIN` begins with the webhooks: there may be many tenants without any.
    due: r#"
        SELECT w.tenant_id, w.id, w.failures > 0 AS "is_failing!: bool"
        FROM webhooks w
        CROSS JOIN tenants t ON t.id = w.tenant_id
        WHERE w.enabled
            AND t.status = 'ACTIVE'
            AND (
                (w.paused_until IS NULL OR w.paused_until <= ?1)
                    AND EXISTS (
                        SELECT 1 FROM audit_logs g WHERE g.tenant_id = w.tenant_id AND g.size > w.attempted
                    )
                OR EXISTS (
                    SELECT 1
                    FROM webhook_deliveries d
                    WHERE d.tenant_id = w.tenant_id AND d.webhook_id = w.id AND d.next_attempt_at <= ?1
                        AND d.sequence <= w.attempted
                )
            )
    "#,
    progress: r#"
        SELECT w.attempted, w.failures, w.paused_until
        FROM webhooks w
        JOIN tenants t ON t.id = w.tenant_id
        WHERE w.tenant_id = ?1 AND w.id = ?2 AND w.enabled AND t.status = 'ACTIVE'
    "#,
    deliveries: r#"
        FROM webhook_deliveries d
        WHERE d.tenant_id = ?1 AND d.webhook_id = ?2
        ORDER BY d.started_at DESC, d.sequence DESC
        LIMIT ?3
    "#,
    due_deliveries: r#"
        FROM webhook_deliveries d
        WHERE d.tenant_id = ?1 AND d.webhook_id = ?2 AND d.next_attempt_at <= ?3 AND d.sequence <= ?5
        ORDER BY d.sequence
        LIMIT ?4
    "#,
    put_deliveries: r#"
        INSERT INTO webhook_deliveries (
            tenant_id, webhook_id, sequence, entry_id, event_type, attempt, status, http_status, error,
            started_at, duration_ms, next_attempt_at
        )
        SELECT
            w.tenant_id, w.id,
            d.value ->> 'sequence', unhex(d.value ->> 'entry_id', '-'), d.value ->> 'event_type', d.value ->> 'attempt',
            d.value ->> 'status', d.value ->> 'http_status', d.value ->> 'error', d.value ->> 'started_at',
            d.value ->> 'duration_ms', d.value ->> 'next_attempt_at'
        FROM webhooks w
        CROSS JOIN json_each(?3) d
        WHERE w.tenant_id = ?1 AND w.id = ?2
        ON CONFLICT (tenant_id, webhook_id, sequence) DO UPDATE SET
            attempt = excluded.attempt,
            status = excluded.status,
            http_status = excluded.http_status,
            error = excluded.error,
            started_at = excluded.started_at,
            duration_ms = excluded.duration_ms,
            next_attempt_at = excluded.next_attempt_at
    "#,
    advance: r#"
        UPDATE webhooks
        SET attempted = ?4, failures = ?5, paused_until = ?6
        WHERE tenant_id = ?1 AND id = ?2 AND attempted = ?3 AND version = ?7
    "#,
    // The leaves are counted from zero, so the leaf with the number of the last attempted event is the next one.
    backlog: r#"
        SELECT
            coalesce(max(g.size - max(w.attempted, g.removed)), 0) AS "entries!: i64",
            min(l.created_at) AS "since: i64"
        FROM webhooks w
        CROSS JOIN tenants t ON t.id = w.tenant_id
        CROSS JOIN audit_logs g ON g.tenant_id = w.tenant_id
        LEFT JOIN audit_leaves l ON l.tenant_id = w.tenant_id AND l.sequence = max(w.attempted, g.removed)
        WHERE w.enabled AND t.status = 'ACTIVE'
    "#,
    insert: (
        r#"
        INSERT INTO webhooks (
            tenant_id, id, url, types, description, enabled, salt, former_salt, former_until, created_at,
            created_by, attempted
        )
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
        "#
    ),
    update: (
        r#"
        UPDATE webhooks
        SET
            url = ?3,
            types = ?4,
            description = ?5,
            enabled = ?6,
            salt = ?7,
            former_salt = ?8,
            former_until = ?9,
            version = version + 1
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
    resume: "UPDATE webhooks SET failures = 0, paused_until = NULL WHERE tenant_id = ?1 AND id = ?2",
    replay: (
        r#"
        UPDATE webhooks
        SET attempted = min(attempted, ?3), failures = 0, paused_until = NULL, version = version + 1
        WHERE tenant_id = ?1 AND id = ?2
        "#
    ),
    delete: ("DELETE FROM webhooks WHERE tenant_id = ?1 AND id = ?2"),
}
