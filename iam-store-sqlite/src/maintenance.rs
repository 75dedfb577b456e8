use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::store::{MaintenanceStore, Totals, Turn};
use iam_model::store_error::StoreError;
use iam_store_sql::column::counted;

use crate::SqliteStore;
use crate::column::millis;

#[async_trait]
impl MaintenanceStore for SqliteStore {
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError> {
        let totals = sqlx::query!(
            r#"
            SELECT
                (SELECT count(*) FROM sessions WHERE expires_at > ?1) AS "active_sessions!: i64",
                (SELECT count(*) FROM audit_unsealed) AS "pending_entries!: i64"
            "#,
            millis(now)
        );
        let totals = self.answer(totals.fetch_one(&self.reads())).await?;
        Ok(Totals {
            active_sessions: counted("sessions", totals.active_sessions)?,
            pending_entries: counted("audit_unsealed", totals.pending_entries)?,
        })
    }

    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM sessions
            WHERE rowid IN (SELECT rowid FROM sessions WHERE expires_at <= ?1 LIMIT ?2)
            "#,
            millis(now),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
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
            millis(now),
            millis(failed_before),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM idempotency_records
            WHERE rowid IN (
                SELECT rowid FROM idempotency_records WHERE created_at < ?1 ORDER BY created_at LIMIT ?2
            )
            "#,
            millis(before),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM links
            WHERE rowid IN (SELECT rowid FROM links WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
            "#,
            millis(now),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM challenges
            WHERE rowid IN (SELECT rowid FROM challenges WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)
            "#,
            millis(now),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM queued_messages
            WHERE rowid IN (
                SELECT rowid
                FROM queued_messages
                WHERE NOT EXISTS (SELECT 1 FROM json_each(queued_at) WHERE value >= ?1)
                LIMIT ?2
            )
            "#,
            millis(before),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM webhook_deliveries
            WHERE rowid IN (
                SELECT rowid
                FROM webhook_deliveries
                WHERE next_attempt_at IS NULL AND started_at < ?1
                ORDER BY started_at
                LIMIT ?2
            )
            "#,
            millis(before),
            i64::from(limit)
        );
        Ok(self.answer(delete.execute(&self.writes())).await?.rows_affected())
    }

    /// Only one server uses the file.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        Ok(self.turns.take(job))
    }
}
