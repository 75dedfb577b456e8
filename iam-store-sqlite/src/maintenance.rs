use iam_model::store::Turn;
use iam_model::store_error::StoreError;
use iam_store_sql::maintenance_ports;

use crate::SqliteStore;

maintenance_ports! {
    SqliteStore,
    totals: r#"
        SELECT
            (SELECT count(*) FROM sessions WHERE expires_at > ?1) AS "active_sessions!: i64",
            (SELECT count(*) FROM audit_unsealed) AS "pending_entries!: i64"
    "#,
    expired_sessions: r#"
        DELETE FROM sessions
        WHERE rowid IN (SELECT rowid FROM sessions WHERE expires_at <= ?1 LIMIT ?2)
    "#,
    stale_login_attempts: r#"
        DELETE FROM login_attempts
        WHERE rowid IN (
            SELECT rowid
            FROM login_attempts
            WHERE CASE
                WHEN locked_until IS NULL
                    THEN NOT EXISTS (SELECT 1 FROM json_each(failed_at) WHERE value >= ?2)
                ELSE locked_until <= ?1
            END
            LIMIT ?3
        )
    "#,
    idempotency_records: r#"
        DELETE FROM idempotency_records
        WHERE rowid IN (
            SELECT rowid FROM idempotency_records WHERE created_at < ?1 ORDER BY created_at LIMIT ?2
        )
    "#,
    expired_links: r#"
        DELETE FROM links
        WHERE rowid IN (SELECT rowid FROM links WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
    "#,
    expired_challenges: r#"
        DELETE FROM challenges
        WHERE rowid IN (SELECT rowid FROM challenges WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
    "#,
    message_counts: r#"
        DELETE FROM queued_messages
        WHERE rowid IN (
            SELECT rowid
            FROM queued_messages
            WHERE NOT EXISTS (SELECT 1 FROM json_each(queued_at) WHERE value >= ?1)
            LIMIT ?2
        )
    "#,
    ended_deliveries: r#"
        DELETE FROM webhook_deliveries
        WHERE rowid IN (
            SELECT rowid
            FROM webhook_deliveries
            WHERE next_attempt_at IS NULL AND started_at < ?1
            ORDER BY started_at
            LIMIT ?2
        )
    "#,
}

impl SqliteStore {
    /// Only one server uses the file.
    pub(crate) async fn try_to_take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        Ok(self.turns.take(job))
    }
}
