use async_trait::async_trait;
use iam_model::clock::Timestamp;
use iam_model::store::{MaintenanceStore, Totals, Turn};
use iam_model::store_error::StoreError;
use iam_store_sql::column::counted;
use iam_store_sql::source::{Source, Transaction};
use sqlx::{Executor as _, Postgres};

use crate::PostgresStore;
use crate::column::in_range;
use crate::distribution::maintenance::{
    ended_deliveries, expired_challenges, expired_links, expired_sessions, idempotency_records, message_counts,
    stale_login_attempts,
};
use crate::error::store_error;

// As a subquery, the rows that are deleted could be selected again for each row of the outer table, without those that
// are already deleted, and the limit would not hold.

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
        let totals = self.answer(totals.fetch_one(&self.reads())).await?;
        Ok(Totals {
            active_sessions: counted("sessions", totals.active_sessions)?,
            pending_entries: counted("audit_unsealed", totals.pending_entries)?,
        })
    }

    async fn remove_expired_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (now, limit) = (in_range(now), i64::from(limit));
        // There is no index for this, because every refresh of a session would have to write it. The whole table is
        // read, once a minute.
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, id
                FROM iam.sessions
                WHERE expires_at <= $1
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.sessions d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.id = stale.id
            "#,
            now,
            limit
        );
        self.delete_stale(delete, expired_sessions(now, limit)).await
    }

    async fn remove_stale_login_attempts(
        &self,
        now: Timestamp,
        failed_before: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        let (now, failed_before, limit) = (in_range(now), in_range(failed_before), i64::from(limit));
        // Skips locked rows: a login attempt holds the row's lock until its failure is counted.
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, email_key
                FROM iam.login_attempts
                WHERE CASE
                    WHEN locked_until IS NULL THEN $2 > ALL (failed_at)
                    ELSE locked_until <= $1
                END
                LIMIT $3
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.login_attempts d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.email_key = stale.email_key
            "#,
            now,
            failed_before,
            limit
        );
        self.delete_stale(delete, stale_login_attempts(now, failed_before, limit)).await
    }

    async fn remove_idempotency_records(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (before, limit) = (in_range(before), i64::from(limit));
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, id
                FROM iam.idempotency_records
                WHERE created_at < $1
                ORDER BY created_at
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.idempotency_records d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.id = stale.id
            "#,
            before,
            limit
        );
        self.delete_stale(delete, idempotency_records(before, limit)).await
    }

    async fn remove_expired_links(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (now, limit) = (in_range(now), i64::from(limit));
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, purpose, subject
                FROM iam.links
                WHERE expires_at <= $1
                ORDER BY expires_at
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.links d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.purpose = stale.purpose AND d.subject = stale.subject
            "#,
            now,
            limit
        );
        self.delete_stale(delete, expired_links(now, limit)).await
    }

    async fn remove_expired_challenges(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (now, limit) = (in_range(now), i64::from(limit));
        // Skips locked rows: a unit of work that answers a challenge holds the row's lock.
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, token_hash
                FROM iam.challenges
                WHERE expires_at <= $1
                ORDER BY expires_at
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.challenges d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.token_hash = stale.token_hash
            "#,
            now,
            limit
        );
        self.delete_stale(delete, expired_challenges(now, limit)).await
    }

    async fn remove_message_counts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (before, limit) = (in_range(before), i64::from(limit));
        // Skips locked rows: a unit of work that queues a message holds the row's lock until the message is counted.
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, email_key, kind
                FROM iam.queued_messages
                WHERE $1 > ALL (queued_at)
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.queued_messages d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.email_key = stale.email_key AND d.kind = stale.kind
            "#,
            before,
            limit
        );
        self.delete_stale(delete, message_counts(before, limit)).await
    }

    async fn remove_ended_deliveries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (before, limit) = (in_range(before), i64::from(limit));
        let delete = sqlx::query!(
            r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, webhook_id, sequence
                FROM iam.webhook_deliveries
                WHERE next_attempt_at IS NULL AND started_at < $1
                ORDER BY started_at
                LIMIT $2
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM iam.webhook_deliveries d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.webhook_id = stale.webhook_id AND d.sequence = stale.sequence
            "#,
            before,
            limit
        );
        self.delete_stale(delete, ended_deliveries(before, limit)).await
    }

    /// The lock ends with its transaction, and so with the connection: at once when the process ends, and by the
    /// keepalives of TCP when its whole machine is lost.
    async fn take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
        let sessions = self.sessions();
        let mut transaction = sessions.answer(Source::Pool(sessions.pool()).begin()).await?;
        // The transaction is idle during the whole turn.
        let idle = "SET LOCAL idle_in_transaction_session_timeout = 0";
        transaction.execute(idle).await.map_err(store_error)?;
        let locked = sqlx::query_scalar!(
            r#"SELECT pg_try_advisory_xact_lock(hashtextextended('iam.job ' || $1, 0)) AS "locked!""#,
            job
        );
        if locked.fetch_one(&mut transaction).await.map_err(store_error)? {
            return Ok(Some(Box::new(PostgresTurn(transaction))));
        }
        transaction.rollback().await.map_err(store_error)?;
        Ok(None)
    }
}

struct PostgresTurn(Transaction<Postgres>);

#[async_trait]
impl Turn for PostgresTurn {
    async fn is_held(&mut self) -> bool {
        self.0.execute("SELECT 1").await.is_ok()
    }

    async fn end(self: Box<Self>) {
        // If the rollback fails, the connection is closed, and the lock ends with it.
        let _ = self.0.rollback().await;
    }
}
