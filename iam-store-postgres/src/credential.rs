use chrono::{DateTime, Utc};
use iam_model::credential::LoginAttempts;
use iam_model::store_error::StoreError;
use iam_model::validate::EmailKey;
use iam_store_sql::credential_ports;

use crate::PostgresStore;
use crate::audit::execute_audited;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

credential_ports! {
    PostgresStore,
    PostgresTransaction,
    attempts: r#"
        a.failed_at AS "failed_at?",
        a.locked_until AS "locked_until?",
        n.failed_at AS "unnamed_failed_at?",
        n.locked_until AS "unnamed_locked_until?",
        c.password_hash AS "password_hash?"
    "#,
    candidates: r#"
        FROM (SELECT $1::text AS email_key) k
        LEFT JOIN iam.login_attempts n ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = k.email_key
        LEFT JOIN iam.users u ON u.email_key = k.email_key
        LEFT JOIN iam.tenants t ON t.id = u.tenant_id
        LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
        LEFT JOIN iam.login_attempts a ON a.tenant_id = u.tenant_id AND a.email_key = u.email_key
        ORDER BY
            u.status = 'INACTIVE',
            u.email_verified_at IS NULL,
            u.last_login_at DESC NULLS LAST,
            u.created_at,
            u.tenant_id
        LIMIT $2
    "#,
    guarded: r#"
        FROM (SELECT $1::uuid AS tenant_id, $2::text AS email_key) k
        LEFT JOIN iam.login_attempts n ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = k.email_key
        LEFT JOIN iam.login_attempts a ON a.tenant_id = k.tenant_id AND a.email_key = k.email_key
        LEFT JOIN iam.users u ON u.tenant_id = k.tenant_id AND u.email_key = k.email_key
        LEFT JOIN iam.tenants t ON t.id = u.tenant_id
        LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
    "#,
    // A row that does not exist cannot be locked, so it is created. An existing row is written unchanged, which locks
    // it and returns its newest version. The account is found by the returned row, so that it is locked after that row.
    lock: (
        r#"
        WITH attempts AS (
            INSERT INTO iam.login_attempts AS a (tenant_id, email_key)
            VALUES ($1, $2)
            ON CONFLICT (tenant_id, email_key) DO UPDATE SET tenant_id = excluded.tenant_id
            RETURNING
                a.tenant_id,
                a.email_key,
                a.failed_at,
                a.locked_until
        )
        "#,
        r#"
        FROM attempts a
        LEFT JOIN iam.login_attempts n ON n.tenant_id = '00000000-0000-0000-0000-000000000000' AND n.email_key = a.email_key
        LEFT JOIN LATERAL (
            SELECT * FROM iam.users WHERE tenant_id = a.tenant_id AND id = $3 FOR UPDATE
        ) u ON true
        LEFT JOIN LATERAL (
            SELECT * FROM iam.credentials WHERE tenant_id = u.tenant_id AND user_id = u.id FOR UPDATE
        ) c ON true
        LEFT JOIN iam.tenants t ON t.id = u.tenant_id
        "#
    ),
    update: (
        "$4",
        "UPDATE iam.credentials SET password_hash = $3 WHERE tenant_id = $1 AND user_id = $2"
    ),
    put_attempts: (
        "$5",
        r#"
        INSERT INTO iam.login_attempts (tenant_id, email_key, failed_at, locked_until)
        VALUES ($1, $2, $3, $4)
        ON CONFLICT (tenant_id, email_key) DO UPDATE
        SET failed_at = excluded.failed_at, locked_until = excluded.locked_until
        "#
    ),
    delete_attempts: r#"
        DELETE FROM iam.login_attempts
        WHERE tenant_id IN ($1, '00000000-0000-0000-0000-000000000000') AND email_key = $2
    "#,
    distributed: {
        attempts: r#"
            a.failed_at AS "failed_at?",
            a.locked_until AS "locked_until?",
            NULL::timestamptz[] AS "unnamed_failed_at?",
            NULL::timestamptz AS "unnamed_locked_until?",
            c.password_hash AS "password_hash?"
        "#,
        candidates: r#"
            FROM iam.users u
            JOIN iam.tenants t ON t.id = u.tenant_id
            LEFT JOIN iam.credentials c ON c.tenant_id = u.tenant_id AND c.user_id = u.id
            LEFT JOIN iam.login_attempts a ON a.tenant_id = u.tenant_id AND a.email_key = u.email_key
            WHERE u.email_key = $1
            ORDER BY
                u.status = 'INACTIVE',
                u.email_verified_at IS NULL,
                u.last_login_at DESC NULLS LAST,
                u.created_at,
                u.tenant_id
            LIMIT $2
        "#,
        guarded: r#"
            FROM (SELECT $1::uuid AS tenant_id, $2::text AS email_key) k
            LEFT JOIN iam.login_attempts a ON a.tenant_id = $1 AND a.email_key = k.email_key
            LEFT JOIN iam.users u ON u.tenant_id = $1 AND u.email_key = k.email_key
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            LEFT JOIN iam.credentials c ON c.tenant_id = $1 AND c.user_id = u.id
        "#,
        make_attempts: r#"
            INSERT INTO iam.login_attempts AS a (tenant_id, email_key)
            VALUES ($1, $2)
            ON CONFLICT (tenant_id, email_key) DO UPDATE SET tenant_id = excluded.tenant_id
        "#,
        lock: r#"
            FROM iam.login_attempts a
            LEFT JOIN LATERAL (
                SELECT * FROM iam.users WHERE tenant_id = $1 AND id = $3 FOR UPDATE
            ) u ON true
            LEFT JOIN LATERAL (
                SELECT * FROM iam.credentials WHERE tenant_id = $1 AND user_id = u.id FOR UPDATE
            ) c ON true
            LEFT JOIN iam.tenants t ON t.id = u.tenant_id
            WHERE a.tenant_id = $1 AND a.email_key = $2
        "#,
        delete_attempts: "DELETE FROM iam.login_attempts WHERE tenant_id = $1 AND email_key = $2",
    },
}

/// The failed logins that named no tenant. They have no tenant, so one node has all of them. Logins must not depend on
/// that node: if it does not answer, the functions of the database find and remove nothing. They exist only where the
/// tables are distributed, so these statements are not checked when the crate is compiled.
const UNNAMED: &str = "SELECT failed_at, locked_until FROM iam.unnamed_attempts($1)";
const FORGET_UNNAMED: &str = "SELECT iam.forget_unnamed_attempts($1)";

type UnnamedRow = (Option<Vec<DateTime<Utc>>>, Option<DateTime<Utc>>);

fn unnamed(row: UnnamedRow) -> LoginAttempts {
    LoginAttempts { failed_at: row.0.unwrap_or_default(), locked_until: row.1 }
}

impl PostgresStore {
    async fn unnamed_attempts(&self, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        let row = sqlx::query_as(UNNAMED).bind(email.as_str());
        self.answer(row.fetch_one(&self.reads())).await.map(unnamed)
    }
}

impl PostgresTransaction {
    async fn unnamed_attempts(&mut self, email: &EmailKey) -> Result<LoginAttempts, StoreError> {
        let row = sqlx::query_as(UNNAMED).bind(email.as_str());
        row.fetch_one(self.connection()).await.map(unnamed).map_err(store_error)
    }

    async fn forget_unnamed_attempts(&mut self, email: &EmailKey) -> Result<(), StoreError> {
        let forget = sqlx::query(FORGET_UNNAMED).bind(email.as_str());
        forget.execute(self.connection()).await.map(drop).map_err(store_error)
    }
}
