//! The removal of rows in the background on Citus, which locks no rows of several nodes. A row that meanwhile is not
//! stale any more must not be deleted, so each condition is checked again on the newest version of the row.

use iam_model::clock::Timestamp;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;

/// A statement that deletes rows.
pub(crate) type Delete = Query<'static, Postgres, PgArguments>;

pub(crate) fn expired_sessions(now: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        now,
        limit
    )
}

pub(crate) fn stale_login_attempts(now: Timestamp, failed_before: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        now,
        failed_before,
        limit
    )
}

pub(crate) fn idempotency_records(before: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        before,
        limit
    )
}

pub(crate) fn expired_links(now: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        now,
        limit
    )
}

pub(crate) fn expired_challenges(now: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        now,
        limit
    )
}

pub(crate) fn message_counts(before: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        before,
        limit
    )
}

pub(crate) fn ended_deliveries(before: Timestamp, limit: i64) -> Delete {
    sqlx::query!(
        r#"
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
        "#,
        before,
        limit
    )
}
