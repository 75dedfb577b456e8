use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::types::Json;
use uuid::Uuid;

use super::{AssignmentRow, CountedRow, ListRow, NewUser, OrganizationRow, Queries, UserRow};

/// As many connections as the server's store has.
#[derive(Clone)]
pub(super) struct Postgres(PgPool);

impl Postgres {
    pub(super) async fn connect(url: &str) -> sqlx::Result<Self> {
        let pool = PgPoolOptions::new().max_connections(16).test_before_acquire(false);
        Ok(Self(pool.connect(url).await?))
    }
}

impl Queries for Postgres {
    type Time = DateTime<Utc>;

    async fn user(&self, tenant: Uuid, id: Uuid) -> sqlx::Result<UserRow<Self::Time>> {
        let query = sqlx::query_as(
            "SELECT tenant_id, id, email, first_name, last_name, status, last_login_at, created_at, updated_at
            FROM iam.users WHERE tenant_id = $1 AND id = $2",
        );
        query.bind(tenant).bind(id).fetch_one(&self.0).await
    }

    async fn users(&self, tenant: Uuid, limit: i64) -> sqlx::Result<Vec<ListRow<Self::Time>>> {
        let page = sqlx::query_as(
            "SELECT id, email, first_name, last_name, status, last_login_at
            FROM iam.users WHERE tenant_id = $1 ORDER BY created_at DESC, id LIMIT $2",
        );
        page.bind(tenant).bind(limit).fetch_all(&self.0).await
    }

    async fn count(&self, tenant: Uuid) -> sqlx::Result<i64> {
        let count = sqlx::query_scalar("SELECT count(*) FROM iam.users WHERE tenant_id = $1");
        count.bind(tenant).fetch_one(&self.0).await
    }

    async fn users_and_count(&self, tenant: Uuid, limit: i64) -> sqlx::Result<Vec<CountedRow<Self::Time>>> {
        let page = sqlx::query_as(
            "SELECT (SELECT coalesce(sum(active_users + suspended_users + inactive_users), 0)::bigint
                FROM iam.tenant_counts WHERE tenant_id = $1) AS total,
                id, email, first_name, last_name, status, last_login_at
            FROM iam.users WHERE tenant_id = $1 ORDER BY created_at DESC, id LIMIT $2",
        );
        page.bind(tenant).bind(limit).fetch_all(&self.0).await
    }

    async fn assignments(&self, tenant: Uuid, limit: i64) -> sqlx::Result<Vec<AssignmentRow<Self::Time>>> {
        let page = sqlx::query_as(
            "SELECT (SELECT coalesce(sum(role_assignments), 0)::bigint FROM iam.tenant_counts WHERE tenant_id = $1) AS total,
                a.id, a.user_id, a.role_id, a.organization_id, a.expires_at, a.created_at, u.email,
                r.name AS role_name, o.name AS organization_name
            FROM iam.role_assignments a
            JOIN iam.users u ON u.tenant_id = a.tenant_id AND u.id = a.user_id
            JOIN iam.roles r ON r.tenant_id = a.tenant_id AND r.id = a.role_id
            LEFT JOIN iam.organizations o ON o.tenant_id = a.tenant_id AND o.id = a.organization_id
            WHERE a.tenant_id = $1 AND (a.expires_at IS NULL OR a.expires_at > $2)
            ORDER BY a.created_at DESC, a.id LIMIT $3",
        );
        page.bind(tenant).bind(Utc::now()).bind(limit).fetch_all(&self.0).await
    }

    async fn children(&self, tenant: Uuid, parent: Uuid) -> sqlx::Result<Vec<OrganizationRow<Self::Time>>> {
        let children = sqlx::query_as(
            "SELECT tenant_id, id, name, slug, status, parent_id, created_at, updated_at FROM iam.organizations
            WHERE tenant_id = $1 AND parent_id = $2 AND status <> 'INACTIVE' ORDER BY created_at DESC, id",
        );
        children.bind(tenant).bind(parent).fetch_all(&self.0).await
    }

    async fn insert(&self, tenant: Uuid, id: Uuid, new: &NewUser, hash: &str) -> sqlx::Result<()> {
        let now = Utc::now();
        let mut transaction = self.0.begin().await?;
        let insert = sqlx::query(
            "WITH made AS (
                INSERT INTO iam.users (tenant_id, id, email, email_key, first_name, first_name_key, last_name,
                    last_name_key, status, created_at, updated_at)
                VALUES ($1, $2, $3, lower($3), $4, lower($4), $5, lower($5), 'ACTIVE', $6, $6)
            ), logged AS (
                INSERT INTO iam.audit_unsealed (tenant_id, id, action, resource_type, resource_id, user_id, new_value,
                    metadata, correlation_id, ip_address, created_at, details_salt, origin_salt, digest)
                VALUES ($1, $8, 'CREATE', 'USER', $2::text, $2, $9, '{}', $10, '127.0.0.1', $6,
                    uuid_send($8), uuid_send($8), sha256(uuid_send($8)))
            )
            INSERT INTO iam.credentials (tenant_id, user_id, password_hash) VALUES ($1, $2, $7)",
        );
        let insert = insert.bind(tenant).bind(id).bind(&new.email).bind(&new.first_name).bind(&new.last_name).bind(now);
        let insert = insert.bind(hash).bind(Uuid::now_v7()).bind(Json(json!(new)) as Json<Value>);
        insert.bind(Uuid::now_v7().to_string()).execute(&mut *transaction).await?;
        transaction.commit().await
    }
}
