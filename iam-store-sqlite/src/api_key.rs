use async_trait::async_trait;
use iam_model::api_key::ApiKey;
use iam_model::change::ApiKeyChange;
use iam_model::clock::Timestamp;
use iam_model::id::{ApiKeyId, OrganizationId, TenantId, UserId};
use iam_model::store::{ApiKeySnapshot, ApiKeyStore, ApiKeyTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::api_key::{ApiKeyRow, stored_permissions};
use iam_store_sql::assignment::AssignmentRow;
use iam_store_sql::column::parse;
use iam_store_sql::error::expect_row;
use iam_store_sql::factor::DemandRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::SqliteStore;
use crate::assignment::{GrantRows, LineageRow};
use crate::column::millis;
use crate::error::store_error;
use crate::role::RoleRow;
use crate::transaction::SqliteTransaction;

type Row = ApiKeyRow<i64>;

/// A key with the statuses of its user and its tenant, and with the grants of the user.
struct SnapshotRow {
    tenant_id: Uuid,
    id: Uuid,
    user_id: Uuid,
    name: String,
    secret_hash: Vec<u8>,
    former_hash: Option<Vec<u8>>,
    former_until: Option<i64>,
    permissions: Option<String>,
    organization_id: Option<Uuid>,
    expires_at: i64,
    created_at: i64,
    created_by: Option<Uuid>,
    rotated_by_owner: bool,
    last_used_at: Option<i64>,
    version: i64,
    user_status: String,
    user_kind: String,
    user_created_at: i64,
    tenant_status: String,
    second_factor_required_at: Option<i64>,
    second_factor_grace_days: i64,
    authzen_identifiers: String,
    has_factor: bool,
    assignments: Json<Vec<AssignmentRow<i64>>>,
    roles: Json<Vec<RoleRow>>,
    places: Json<Vec<LineageRow>>,
}

impl TryFrom<SnapshotRow> for ApiKeySnapshot {
    type Error = StoreError;

    fn try_from(row: SnapshotRow) -> Result<Self, StoreError> {
        let key = Row {
            tenant_id: row.tenant_id,
            id: row.id,
            user_id: row.user_id,
            name: row.name,
            secret_hash: row.secret_hash,
            former_hash: row.former_hash,
            former_until: row.former_until,
            permissions: row.permissions,
            organization_id: row.organization_id,
            expires_at: row.expires_at,
            created_at: row.created_at,
            created_by: row.created_by,
            rotated_by_owner: row.rotated_by_owner,
            last_used_at: row.last_used_at,
            version: row.version,
        };
        let demand = DemandRow {
            required_at: row.second_factor_required_at,
            grace_days: row.second_factor_grace_days,
            user_created_at: row.user_created_at,
            has_factor: row.has_factor,
        };
        let grants = GrantRows { assignments: row.assignments, roles: row.roles, places: row.places };
        Ok(Self {
            key: key.try_into()?,
            user_status: parse("users.status", &row.user_status)?,
            tenant_status: parse("tenants.status", &row.tenant_status)?,
            enrol_by: demand.refuses_keys_from(&row.user_kind)?,
            authzen_identifiers: parse("tenants.authzen_identifiers", &row.authzen_identifiers)?,
            grants: grants.try_into()?,
        })
    }
}

#[async_trait]
impl ApiKeyStore for SqliteStore {
    async fn api_key_snapshot(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKeySnapshot>, StoreError> {
        let row = sqlx::query_as!(
            SnapshotRow,
            r#"
            WITH RECURSIVE
            granted AS MATERIALIZED (
                SELECT a.*
                FROM role_assignments a
                WHERE a.tenant_id = ?1
                    AND a.user_id = (SELECT k.user_id FROM api_keys k WHERE k.tenant_id = ?1 AND k.id = ?2)
            ),
            lineage (id) AS (
                SELECT g.organization_id
                FROM granted g
                WHERE g.organization_id IS NOT NULL
                UNION
                SELECT o.parent_id
                FROM lineage l
                CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
                WHERE o.parent_id IS NOT NULL
            )
            SELECT
                k.tenant_id,
                k.id,
                k.user_id,
                k.name,
                k.secret_hash,
                k.former_hash,
                k.former_until,
                k.permissions,
                k.organization_id,
                k.expires_at,
                k.created_at,
                k.created_by,
                k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at,
                k.version,
                u.status AS user_status,
                u.kind AS user_kind,
                u.created_at AS user_created_at,
                t.status AS tenant_status,
                t.second_factor_required_at,
                t.second_factor_grace_days,
                t.authzen_identifiers,
                CASE
                    WHEN t.second_factor_required_at IS NULL THEN FALSE
                    ELSE EXISTS (
                        SELECT 1
                        FROM factors f
                        WHERE f.tenant_id = k.tenant_id AND f.user_id = k.user_id AND f.confirmed_at IS NOT NULL
                    )
                END AS "has_factor!: bool",
                (
                    SELECT json_group_array(
                        json_object(
                            'tenant_id', hex(g.tenant_id),
                            'id', hex(g.id),
                            'user_id', hex(g.user_id),
                            'role_id', hex(g.role_id),
                            'organization_id', nullif(hex(g.organization_id), ''),
                            'expires_at', g.expires_at,
                            'created_at', g.created_at,
                            'created_by', nullif(hex(g.created_by), ''),
                            'directory_group_id', nullif(hex(g.directory_group_id), ''),
                            'access_request_id', nullif(hex(g.access_request_id), '')
                        )
                        ORDER BY g.created_at DESC, g.id
                    )
                    FROM granted g
                ) AS "assignments!: _",
                (
                    SELECT json_group_array(
                        json_object(
                            'tenant_id', hex(r.tenant_id),
                            'id', hex(r.id),
                            'name', r.name,
                            'description', r.description,
                            'scope', r.scope,
                            'permissions', (
                                SELECT json_group_array(p.permission)
                                FROM role_permissions p
                                WHERE p.tenant_id = r.tenant_id AND p.role_id = r.id
                            ),
                            'system', json(iif(r.system, 'true', 'false')),
                            'created_at', r.created_at,
                            'updated_at', r.updated_at,
                            'version', r.version
                        )
                    )
                    FROM roles r
                    WHERE r.tenant_id = ?1 AND r.id IN (SELECT g.role_id FROM granted g)
                ) AS "roles!: _",
                (
                    SELECT json_group_array(
                        json_object(
                            'id', hex(o.id),
                            'parent_id', nullif(hex(o.parent_id), ''),
                            'name', o.name,
                            'status', o.status
                        )
                    )
                    FROM lineage l
                    CROSS JOIN organizations o ON o.tenant_id = ?1 AND o.id = l.id
                ) AS "places!: _"
            FROM api_keys k
            JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.user_id
            JOIN tenants t ON t.id = k.tenant_id
            WHERE k.tenant_id = ?1 AND k.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(ApiKeySnapshot::try_from).transpose()
    }

    async fn api_key(&self, tenant: TenantId, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                k.tenant_id, k.id, k.user_id, k.name, k.secret_hash, k.former_hash, k.former_until, k.permissions,
                k.organization_id, k.expires_at, k.created_at, k.created_by, k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at, k.version
            FROM api_keys k
            WHERE k.tenant_id = ?1 AND k.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(ApiKey::try_from).transpose()
    }

    async fn api_keys_of(&self, tenant: TenantId, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                k.tenant_id, k.id, k.user_id, k.name, k.secret_hash, k.former_hash, k.former_until, k.permissions,
                k.organization_id, k.expires_at, k.created_at, k.created_by, k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at, k.version
            FROM api_keys k
            WHERE k.tenant_id = ?1 AND k.user_id = ?2
            ORDER BY k.created_at DESC, k.id
            "#,
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(ApiKey::try_from).collect()
    }

    async fn expiring_api_keys(
        &self,
        tenant: TenantId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                k.tenant_id, k.id, k.user_id, k.name, k.secret_hash, k.former_hash, k.former_until, k.permissions,
                k.organization_id, k.expires_at, k.created_at, k.created_by, k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at, k.version
            FROM api_keys k
            WHERE k.tenant_id = ?1 AND k.expires_at > ?2 AND k.expires_at <= ?3
            ORDER BY k.expires_at, k.id
            LIMIT ?4
            "#,
            tenant.as_uuid(),
            millis(now),
            millis(until),
            i64::from(limit)
        );
        self.answer(rows.fetch_all(&self.reads_of(tenant))).await?.into_iter().map(ApiKey::try_from).collect()
    }

    async fn record_api_key_use(&self, tenant: TenantId, id: ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE api_keys
            SET last_used_at = ?3
            WHERE tenant_id = ?1 AND id = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            millis(now)
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }
}

#[async_trait]
impl ApiKeyTransaction for SqliteTransaction {
    async fn lock_api_key(&mut self, id: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                k.tenant_id, k.id, k.user_id, k.name, k.secret_hash, k.former_hash, k.former_until, k.permissions,
                k.organization_id, k.expires_at, k.created_at, k.created_by, k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at, k.version
            FROM api_keys k
            WHERE k.tenant_id = ?1 AND k.id = ?2
            "#,
            self.tenant(),
            id.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(ApiKey::try_from).transpose()
    }

    async fn lock_api_keys_of(&mut self, user: UserId) -> Result<Vec<ApiKey>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                k.tenant_id, k.id, k.user_id, k.name, k.secret_hash, k.former_hash, k.former_until, k.permissions,
                k.organization_id, k.expires_at, k.created_at, k.created_by, k.rotated_by_owner AS "rotated_by_owner: bool",
                k.last_used_at, k.version
            FROM api_keys k
            WHERE k.tenant_id = ?1 AND k.user_id = ?2
            ORDER BY k.created_at DESC, k.id
            "#,
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(ApiKey::try_from).collect()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_api_key(&mut self, change: &ApiKeyChange) -> Result<(), StoreError> {
        match change {
            ApiKeyChange::Create { key, .. } => self.insert_api_key(key).await,
            ApiKeyChange::Update { after, .. } | ApiKeyChange::Rotate { after, .. } => self.update_api_key(after).await,
            ApiKeyChange::Delete(keys) => self.delete_api_keys(keys).await,
        }
    }

    async fn insert_api_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        let former = key.secret.former.as_ref();
        let insert = sqlx::query!(
            r#"
            INSERT INTO api_keys (
                tenant_id, id, name, secret_hash, former_hash, former_until, permissions, expires_at, user_id,
                organization_id, created_at, created_by, rotated_by_owner, last_used_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            "#,
            self.tenant(),
            key.id.as_uuid(),
            key.name.as_str(),
            key.secret.hash.as_slice(),
            former.map(|former| former.hash.as_slice()),
            former.map(|former| millis(former.until)),
            key.permissions.as_ref().map(stored_permissions),
            millis(key.expires_at),
            key.user_id.as_uuid(),
            key.organization_id.map(OrganizationId::as_uuid),
            millis(key.created_at),
            key.created_by.map(UserId::as_uuid),
            key.rotated_by_owner,
            key.last_used_at.map(millis)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_api_key(&mut self, key: &ApiKey) -> Result<(), StoreError> {
        let former = key.secret.former.as_ref();
        let update = sqlx::query!(
            r#"
            UPDATE api_keys
            SET
                name = ?3,
                secret_hash = ?4,
                former_hash = ?5,
                former_until = ?6,
                permissions = ?7,
                expires_at = ?8,
                rotated_by_owner = ?9,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            key.id.as_uuid(),
            key.name.as_str(),
            key.secret.hash.as_slice(),
            former.map(|former| former.hash.as_slice()),
            former.map(|former| millis(former.until)),
            key.permissions.as_ref().map(stored_permissions),
            millis(key.expires_at),
            key.rotated_by_owner
        );
        expect_row(self.execute(update).await?, "API key")
    }

    async fn delete_api_keys(&mut self, keys: &[ApiKey]) -> Result<(), StoreError> {
        let ids = Json(keys.iter().map(|key| key.id.as_uuid()).collect::<Vec<_>>());
        let delete = sqlx::query!(
            "DELETE FROM api_keys WHERE tenant_id = ?1 AND id IN (SELECT unhex(value, '-') FROM json_each(?2))",
            self.tenant(),
            &ids
        );
        self.execute(delete).await.map(drop)
    }
}
