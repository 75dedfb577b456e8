use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::store::{MaintenanceStore, Totals, Turn};
use iam_model::store_error::StoreError;
use sqlx::Executor as _;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::source::Begun;

#[async_trait]
impl MaintenanceStore for PostgresStore {
    async fn totals(&self, now: Timestamp) -> Result<Totals, StoreError> {
        let totals = sqlx::query!(
            r#"
            SELECT
                (SELECT count(*) FROM iam.sessions WHERE expires_at > $1) AS "active_sessions!",
                (SELECT count(*) FROM iam.audit_unsealed) AS "pending_entries!"
            "#,
            in_range(now)
        );
        let totals = self.answer(totals.fetch_one(&self.source())).await?;
        Ok(Totals {
            active_sessions: totals.active_sessions.unsigned_abs(),
            pending_entries: totals.pending_entries.unsigned_abs(),
        })
    }

    // There is no index for this, because every refresh of a session would have to write it. The whole table is read,
    // once a minute.
    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let deleted = sqlx::query!(
            r#"
            DELETE FROM iam.sessions
            WHERE (tenant_id, id) IN (
                SELECT tenant_id, id
                FROM iam.sessions
                WHERE expires_at <= $1
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            "#,
            in_range(now),
            i64::from(limit)
        );
        Ok(self.answer(deleted.execute(&self.source())).await?.rows_affected())
    }

    // Skips locked rows: a login attempt holds the row's lock until its failure is counted.
    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let deleted = sqlx::query!(
            r#"
            DELETE FROM iam.login_attempts
            WHERE (tenant_id, email_key) IN (
                SELECT tenant_id, email_key
                FROM iam.login_attempts
                WHERE CASE
                    WHEN locked_until IS NULL THEN $2 > ALL (failed_at)
                    ELSE locked_until <= $1
                END
                LIMIT $3
                FOR UPDATE SKIP LOCKED
            )
            "#,
            in_range(now),
            in_range(failed_before),
            i64::from(limit)
        );
        Ok(self.answer(deleted.execute(&self.source())).await?.rows_affected())
    }

    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let deleted = sqlx::query!(
            r#"
            DELETE FROM iam.idempotency_records
            WHERE (tenant_id, id) IN (
                SELECT tenant_id, id
                FROM iam.idempotency_records
                WHERE created_at < $1
                ORDER BY created_at
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            "#,
            in_range(before),
            i64::from(limit)
        );
        Ok(self.answer(deleted.execute(&self.source())).await?.rows_affected())
    }

    // The lock ends with its transaction, and so with the connection: at once when the process ends, and by the
    // keepalives of TCP when its whole machine is lost.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        let mut transaction = self.begin_transaction().await?;
        // The transaction is idle during the whole turn.
        let idle = "SET LOCAL idle_in_transaction_session_timeout = 0";
        (&mut *transaction).execute(idle).await.map_err(store_error)?;
        let locked = sqlx::query_scalar!(
            r#"SELECT pg_try_advisory_xact_lock(hashtextextended('iam.job ' || $1, 0)) AS "locked!""#,
            job
        );
        if locked.fetch_one(&mut *transaction).await.map_err(store_error)? {
            return Ok(Some(Box::new(PostgresTurn(transaction))));
        }
        transaction.rollback().await.map_err(store_error)?;
        Ok(None)
    }
}

struct PostgresTurn(Begun);

#[async_trait]
impl Turn for PostgresTurn {
    async fn end(self: Box<Self>) {
        // If the rollback fails, the connection is closed, and the lock ends with it.
        let _ = self.0.rollback().await;
    }
}
