use std::str::FromStr as _;
use std::time::Duration;

use chrono::Utc;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::types::Json;
use uuid::Uuid;

use super::{AssignmentRow, CountedRow, ListRow, NewUser, OrganizationRow, Queries, UserRow};

/// One connection for writes and four for reads, with the same durability as the server's.
#[derive(Clone)]
pub(super) struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Sqlite {
    pub(super) async fn open(url: &str) -> sqlx::Result<Self> {
        let options = SqliteConnectOptions::from_str(url)?.foreign_keys(true);
        let writer = options.clone().journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
        Ok(Self {
            writer: pool(1).connect_with(writer).await?,
            readers: pool(4).connect_with(options.read_only(true)).await?,
        })
    }
}

fn pool(connections: u32) -> SqlitePoolOptions {
    let pool = SqlitePoolOptions::new().max_connections(connections).test_before_acquire(false);
    pool.acquire_timeout(Duration::from_secs(10)).idle_timeout(None).max_lifetime(None)
}

impl Queries for Sqlite {
    /// Milliseconds since 1970.
    type Time = i64;

    async fn user(&self, tenant: Uuid, id: Uuid) -> sqlx::Result<UserRow<Self::Time>> {
        let query = sqlx::query_as(
            "SELECT tenant_id, id, email, first_name, last_name, status, last_login_at, created_at, updated_at
            FROM users WHERE tenant_id = ?1 AND id = ?2",
        );
        query.bind(tenant).bind(id).fetch_one(&self.readers).await
    }

    // The limits are sums. SQLite plans by the value of a limit: if that is a bare parameter, it plans again for each
    // execution.

    async fn users(&self, tenant: Uuid, limit: i64) -> sqlx::Result<Vec<ListRow<Self::Time>>> {
        let page = sqlx::query_as(
            "SELECT id, email, first_name, last_name, status, last_login_at
            FROM users WHERE tenant_id = ?1 ORDER BY created_at DESC, id LIMIT ?2 + 0",
        );
        page.bind(tenant).bind(limit).fetch_all(&self.readers).await
    }

    async fn count(&self, tenant: Uuid) -> sqlx::Result<i64> {
        let count = sqlx::query_scalar("SELECT count(*) FROM users WHERE tenant_id = ?1");
        count.bind(tenant).fetch_one(&self.readers).await
    }

    async fn users_and_count(&self, tenant: Uuid, limit: i64) -> sqlx::Result<Vec<CountedRow<Self::Time>>> {
        let page = sqlx::query_as(
            "SELECT (SELECT active_users + suspended_users + inactive_users FROM tenant_counts
                WHERE tenant_id = ?1) AS total, id, email, first_name, last_name, status, last_login_at
            FROM users WHERE tenant_id = ?1 ORDER BY created_at DESC, id LIMIT ?2 + 0",
        );
        page.bind(tenant).bind(limit).fetch_all(&self.readers).await
    }

    async fn assignments(&self, tenant: Uuid, limit: i64) -> sqlx::Result<Vec<AssignmentRow<Self::Time>>> {
        let page = sqlx::query_as(
            "SELECT (SELECT role_assignments FROM tenant_counts WHERE tenant_id = ?1) AS total,
                a.id, a.user_id, a.role_id, a.organization_id, a.expires_at, a.created_at, u.email,
                r.name AS role_name, o.name AS organization_name
            FROM role_assignments a
            JOIN users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
            JOIN roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
            LEFT JOIN organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
            WHERE a.tenant_id = ?1 AND (a.expires_at IS NULL OR a.expires_at > ?2)
            ORDER BY a.created_at DESC, a.id LIMIT ?3 + 0",
        );
        page.bind(tenant).bind(Utc::now().timestamp_millis()).bind(limit).fetch_all(&self.readers).await
    }

    async fn children(&self, tenant: Uuid, parent: Uuid) -> sqlx::Result<Vec<OrganizationRow<Self::Time>>> {
        let children = sqlx::query_as(
            "SELECT tenant_id, id, name, slug, status, parent_id, created_at, updated_at FROM organizations
            WHERE tenant_id = ?1 AND parent_id = ?2 AND status <> 'INACTIVE' ORDER BY created_at DESC, id",
        );
        children.bind(tenant).bind(parent).fetch_all(&self.readers).await
    }

    async fn insert(&self, tenant: Uuid, id: Uuid, new: &NewUser, hash: &str) -> sqlx::Result<()> {
        let now = Utc::now().timestamp_millis();
        let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let user = sqlx::query(
            "INSERT INTO users (tenant_id, id, email, email_key, first_name, first_name_key, last_name,
                last_name_key, status, created_at, updated_at)
            VALUES (?1, ?2, ?3, lower(?3), ?4, lower(?4), ?5, lower(?5), 'ACTIVE', ?6, ?6)",
        );
        let user = user.bind(tenant).bind(id).bind(&new.email).bind(&new.first_name).bind(&new.last_name).bind(now);
        user.execute(&mut *transaction).await?;
        let credential = sqlx::query("INSERT INTO credentials (tenant_id, user_id, password_hash) VALUES (?1, ?2, ?3)");
        credential.bind(tenant).bind(id).bind(hash).execute(&mut *transaction).await?;
        let entry = sqlx::query(
            "INSERT INTO audit_entries (tenant_id, id, action, resource_type, resource_id, user_id, new_value,
                metadata, correlation_id, ip_address, created_at, details_salt, origin_salt)
            VALUES (?1, ?2, 'CREATE', 'USER', ?3, ?4, ?5, '{}', ?6, '127.0.0.1', ?7, randomblob(16), randomblob(16))",
        );
        let entry_id = Uuid::now_v7();
        let entry = entry.bind(tenant).bind(entry_id).bind(id.to_string()).bind(id);
        let entry = entry.bind(Json(json!(new)) as Json<Value>).bind(Uuid::now_v7().to_string()).bind(now);
        entry.execute(&mut *transaction).await?;
        let queue = sqlx::query(
            "INSERT INTO audit_unsealed (tenant_id, created_at, id, digest) VALUES (?1, ?2, ?3, randomblob(32))",
        );
        queue.bind(tenant).bind(now).bind(entry_id).execute(&mut *transaction).await?;
        transaction.commit().await
    }
}
