use async_trait::async_trait;
use iam_model::change::DirectoryChange;
use iam_model::clock::Timestamp;
use iam_model::directory::{Directory, DirectoryActivity, DirectoryRefusal};
use iam_model::id::{DirectoryId, IdentityProviderId, TenantId, UserId};
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::directory::{DirectoryRow, DirectorySearch, ListedDirectoryRow, stored_refusal};
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = DirectoryRow<i64>;
type ListedRow = ListedDirectoryRow<i64>;
type Refusals = Json<Vec<DirectoryRefusal>>;

// The statement that adds a refusal keeps this many.
const _: () = assert!(DirectoryRefusal::MAX == 20);

#[async_trait]
impl DirectoryStore for SqliteStore {
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.service_account_id, d.identity_provider_id, d.adopt, d.created_at,
                d.updated_at, d.version
            FROM directories d
            WHERE d.tenant_id = ?1 AND d.id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Directory::try_from).transpose()
    }

    async fn directories(&self, tenant: TenantId) -> Result<Vec<(Directory, DirectoryActivity)>, StoreError> {
        let rows = sqlx::query_as!(
            ListedRow,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.service_account_id, d.identity_provider_id, d.adopt, d.created_at,
                d.updated_at, d.version, d.last_request_at, d.refusals AS "refusals: Refusals"
            FROM directories d
            WHERE d.tenant_id = ?1
            ORDER BY d.name, d.id
            "#,
            tenant.as_uuid()
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        rows.into_iter().map(ListedRow::listed).collect()
    }

    async fn directory_of_account(&self, tenant: TenantId, account: UserId) -> Result<Option<Directory>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.service_account_id, d.identity_provider_id, d.adopt, d.created_at,
                d.updated_at, d.version
            FROM directories d
            WHERE d.tenant_id = ?1 AND d.service_account_id = ?2
            "#,
            tenant.as_uuid(),
            account.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(Directory::try_from).transpose()
    }

    async fn record_directory_request(
        &self,
        tenant: TenantId,
        id: DirectoryId,
        at: Timestamp,
        refusal: Option<&DirectoryRefusal>,
    ) -> Result<(), StoreError> {
        let Some(refusal) = refusal else {
            let update = sqlx::query!(
                r#"
                UPDATE directories
                SET last_request_at = ?3
                WHERE tenant_id = ?1 AND id = ?2 AND (last_request_at IS NULL OR last_request_at < ?3)
                "#,
                tenant.as_uuid(),
                id.as_uuid(),
                millis(at)
            );
            return self.answer(update.execute(&self.writes())).await.map(drop);
        };
        let update = sqlx::query!(
            r#"
            UPDATE directories
            SET
                last_request_at = max(coalesce(last_request_at, ?3), ?3),
                refusals = (
                    SELECT json_group_array(json(r.value) ORDER BY r.place)
                    FROM (
                        SELECT n.value, -1 AS place
                        FROM json_each(?4) n
                        UNION ALL
                        SELECT e.value, e.key
                        FROM json_each(directories.refusals) e
                    ) r
                    WHERE r.place < 19
                )
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            millis(at),
            stored_refusal(refusal) as _
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }
}

#[async_trait]
impl DirectoryTransaction for SqliteTransaction {
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.service_account_id, d.identity_provider_id, d.adopt, d.created_at,
                d.updated_at, d.version
            FROM directories d
            WHERE d.tenant_id = ?1
            ORDER BY d.name, d.id
            "#,
            self.tenant()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(Directory::try_from).collect()
    }
}

impl SqliteTransaction {
    pub(crate) async fn write_directory(&mut self, change: &DirectoryChange) -> Result<(), StoreError> {
        match change {
            DirectoryChange::Create(directory) => self.insert_directory(directory).await,
            DirectoryChange::Update { after, .. } => self.update_directory(after).await,
            DirectoryChange::Delete(directory) => self.delete_directory(directory.id).await,
        }
    }

    async fn insert_directory(&mut self, directory: &Directory) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO directories (
                tenant_id, id, name, service_account_id, identity_provider_id, adopt, created_at, updated_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            "#,
            self.tenant(),
            directory.id.as_uuid(),
            directory.name.as_str(),
            directory.service_account_id.as_uuid(),
            directory.identity_provider_id.map(IdentityProviderId::as_uuid),
            directory.adopt,
            millis(directory.created_at),
            millis(directory.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_directory(&mut self, directory: &Directory) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE directories
            SET
                name = ?3,
                service_account_id = ?4,
                identity_provider_id = ?5,
                adopt = ?6,
                updated_at = ?7,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            directory.id.as_uuid(),
            directory.name.as_str(),
            directory.service_account_id.as_uuid(),
            directory.identity_provider_id.map(IdentityProviderId::as_uuid),
            directory.adopt,
            millis(directory.updated_at)
        );
        expect_row(self.execute(update).await?, "directory")
    }

    async fn delete_directory(&mut self, id: DirectoryId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM directories WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "directory")
    }
}

impl DirectorySearch for SqliteStore {
    const USER_ID: &'static str = "lower(
        substr(hex(d.user_id), 1, 8) || '-' || substr(hex(d.user_id), 9, 4) || '-' || substr(hex(d.user_id), 13, 4)
        || '-' || substr(hex(d.user_id), 17, 4) || '-' || substr(hex(d.user_id), 21)
    )";
    const GROUP_ID: &'static str = "lower(
        substr(hex(g.id), 1, 8) || '-' || substr(hex(g.id), 9, 4) || '-' || substr(hex(g.id), 13, 4)
        || '-' || substr(hex(g.id), 17, 4) || '-' || substr(hex(g.id), 21)
    )";
    const EMAILS: &'static str = "json_each(d.search, '$.emails') e";
    const LAST_MODIFIED: &'static str = "max(u.updated_at, d.updated_at)";
    const BY_CODE_POINT: &'static str = "";

    fn push_entries(query: &mut QueryBuilder<Sqlite>, tenant: TenantId) {
        query.push(" CROSS JOIN directory_users d ON d.user_id = p.id AND d.tenant_id = ");
        query.push_bind(tenant.as_uuid());
    }
}
