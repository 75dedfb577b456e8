use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::store::{MaintenanceStore, OnlyTurn, Totals, Turn};
use iam_model::store_error::StoreError;
use iam_store_sql::column::counted;

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;

#[async_trait]
impl MaintenanceStore for SqliteStore {
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError> {
        let now = millis(now);
        let totals = sqlx::query!(
            r#"
            SELECT
                (SELECT count(*) FROM sessions WHERE expires_at > ?1) AS "active_sessions!: i64",
                (SELECT count(*) FROM audit_unsealed) AS "pending_entries!: i64"
            "#,
            now
        );
        let totals = totals.fetch_one(&self.readers).await.map_err(store_error)?;
        Ok(Totals {
            active_sessions: counted("sessions", totals.active_sessions)?,
            pending_entries: counted("audit_unsealed", totals.pending_entries)?,
        })
    }

    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let now = millis(now);
        let deleted = sqlx::query!(
            r#"
            DELETE FROM sessions
            WHERE rowid IN (SELECT rowid FROM sessions WHERE expires_at <= ?1 LIMIT ?2)
            "#,
            now,
            limit
        );
        Ok(deleted.execute(&self.writer).await.map_err(store_error)?.rows_affected())
    }

    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let (now, failed_before) = (millis(now), millis(failed_before));
        let deleted = sqlx::query!(
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
            now,
            failed_before,
            limit
        );
        Ok(deleted.execute(&self.writer).await.map_err(store_error)?.rows_affected())
    }

    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = millis(before);
        let deleted = sqlx::query!(
            r#"
            DELETE FROM idempotency_records
            WHERE rowid IN (
                SELECT rowid FROM idempotency_records WHERE created_at < ?1 ORDER BY created_at LIMIT ?2
            )
            "#,
            before,
            limit
        );
        Ok(deleted.execute(&self.writer).await.map_err(store_error)?.rows_affected())
    }

    // Only one server uses the file, so it can always do the job.
    async fn take_turn(&self, _job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        Ok(Some(Box::new(OnlyTurn)))
    }
}
