use async_trait::async_trait;
use iam_model::store::Turn;
use iam_model::store_error::StoreError;
use iam_store_sql::maintenance_ports;
use iam_store_sql::source::{Source, Transaction};
use sqlx::{Executor as _, Postgres};

use crate::PostgresStore;
use crate::error::store_error;

maintenance_ports! {
    PostgresStore,
    totals: r#"
        SELECT
            (SELECT count(*) FROM iam.sessions WHERE expires_at > $1) AS "active_sessions!",
            (SELECT count(*) FROM iam.audit_unsealed) AS "pending_entries!"
    "#,
    // Citus locks no rows of several nodes. There, a row that meanwhile is not stale any more must not be deleted, so the
    // condition is checked again on the newest version of the row.
    //
    // As a subquery, the rows could be selected again for each row of the outer table, without those that are already
    // deleted, and the limit would not hold. It is the same below.
    //
    // There is no index for this, because every refresh of a session would have to write it. The whole table is read,
    // once a minute.
    expired_sessions: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, id
                FROM iam.sessions
                WHERE expires_at <= $1
                LIMIT $2
            )
            DELETE FROM iam.sessions d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.id = stale.id
                AND d.expires_at <= $1
        "#
    ),
    // Skips locked rows: a login attempt holds the row's lock until its failure is counted.
    stale_login_attempts: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, email_key
                FROM iam.login_attempts
                WHERE CASE
                    WHEN locked_until IS NULL THEN $2 > ALL (failed_at)
                    ELSE locked_until <= $1
                END
                LIMIT $3
            )
            DELETE FROM iam.login_attempts d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.email_key = stale.email_key
                AND CASE
                    WHEN d.locked_until IS NULL THEN $2 > ALL (d.failed_at)
                    ELSE d.locked_until <= $1
                END
        "#
    ),
    idempotency_records: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, id
                FROM iam.idempotency_records
                WHERE created_at < $1
                ORDER BY created_at
                LIMIT $2
            )
            DELETE FROM iam.idempotency_records d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.id = stale.id
                AND d.created_at < $1
        "#
    ),
    expired_links: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, purpose, subject
                FROM iam.links
                WHERE expires_at <= $1
                ORDER BY expires_at
                LIMIT $2
            )
            DELETE FROM iam.links d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.purpose = stale.purpose AND d.subject = stale.subject
                AND d.expires_at <= $1
        "#
    ),
    // Skips locked rows: a unit of work that answers a challenge holds the row's lock.
    expired_challenges: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, token_hash
                FROM iam.challenges
                WHERE expires_at <= $1
                ORDER BY expires_at
                LIMIT $2
            )
            DELETE FROM iam.challenges d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.token_hash = stale.token_hash
                AND d.expires_at <= $1
        "#
    ),
    // Skips locked rows: a unit of work that queues a message holds the row's lock until the message is counted.
    message_counts: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, email_key, kind
                FROM iam.queued_messages
                WHERE $1 > ALL (queued_at)
                LIMIT $2
            )
            DELETE FROM iam.queued_messages d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.email_key = stale.email_key AND d.kind = stale.kind
                AND $1 > ALL (d.queued_at)
        "#
    ),
    ended_deliveries: (
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
        distributed: r#"
            WITH stale AS MATERIALIZED (
                SELECT tenant_id, webhook_id, sequence
                FROM iam.webhook_deliveries
                WHERE next_attempt_at IS NULL AND started_at < $1
                ORDER BY started_at
                LIMIT $2
            )
            DELETE FROM iam.webhook_deliveries d
            USING stale
            WHERE d.tenant_id = stale.tenant_id AND d.webhook_id = stale.webhook_id AND d.sequence = stale.sequence
                AND d.next_attempt_at IS NULL AND d.started_at < $1
        "#
    ),
}

impl PostgresStore {
    // The lock ends with its transaction, and so with the connection: at once when the process ends, and by the
    // keepalives of TCP when its whole machine is lost.
    pub(crate) async fn try_to_take_turn(&self, job: &'static str) -> Result<Option<Box<dyn Turn>>, StoreError> {
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
