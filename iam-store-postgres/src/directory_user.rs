use async_trait::async_trait;
use iam_model::change::DirectoryUserChange;
use iam_model::clock::Timestamp;
use iam_model::directory::{Condition, DirectoryName, DirectoryUser, ProvisionedUser, UserSortField, UserTest};
use iam_model::id::{DirectoryId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::store::{DirectoryUserStore, DirectoryUserTransaction};
use iam_model::store_error::StoreError;
use iam_model::user::UserStatus;
use iam_store_sql::audit::Fields;
use iam_store_sql::directory::{
    DirectoryUserRow, ProvisionedUserRow, list_users, read_list, stored_attributes, stored_search,
};
use iam_store_sql::error::expect_row;
use iam_store_sql::page::Counted;
use uuid::Uuid;

use crate::PostgresStore;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type EntryRow = DirectoryUserRow<Timestamp>;
type ProvisionedRow = ProvisionedUserRow<Timestamp>;

#[async_trait]
impl DirectoryUserStore for PostgresStore {
    async fn directory_user(&self, tenant: TenantId, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        let row = sqlx::query_as!(
            EntryRow,
            r#"
            SELECT
                d.tenant_id, d.user_id, d.directory_id, d.user_name, d.attributes AS "attributes: Fields", d.deleted_at,
                d.created_at, d.updated_at, d.version
            FROM iam.directory_users d
            WHERE d.tenant_id = $1 AND d.user_id = $2
            "#,
            tenant.as_uuid(),
            user.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(DirectoryUser::try_from).transpose()
    }

    async fn provisioned_user(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        user: UserId,
    ) -> Result<Option<ProvisionedUser>, StoreError> {
        let row = sqlx::query_as!(
            ProvisionedRow,
            r#"
            SELECT
                u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
                u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version,
                d.directory_id, d.user_name, d.attributes AS "attributes: Fields",
                d.created_at AS entry_created_at, d.updated_at AS entry_updated_at, d.version AS entry_version
            FROM iam.directory_users d
            JOIN iam.users u ON u.tenant_id = d.tenant_id AND u.id = d.user_id
            WHERE d.tenant_id = $1 AND d.user_id = $2 AND d.directory_id = $3 AND d.deleted_at IS NULL
            "#,
            tenant.as_uuid(),
            user.as_uuid(),
            directory.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(ProvisionedUser::try_from).transpose()
    }

    async fn provisioned_users(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<UserTest>,
        sort: (UserSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<ProvisionedUser>, u64), StoreError> {
        // Not prepared once for all: the text of the statement varies from call to call, and the planner must see the
        // values.
        read_list(first, limit, |first, limit| {
            self.list(tenant, move |source| {
                let mut list = list_users::<Self>(tenant, directory, condition, sort, first, limit);
                async move {
                    let rows = list.build_query_as::<Counted<ProvisionedRow>>();
                    rows.persistent(false).fetch_all(&source).await
                }
            })
        })
        .await
    }
}

#[async_trait]
impl DirectoryUserTransaction for PostgresTransaction {
    async fn directory_user(&mut self, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        let row = sqlx::query_as!(
            EntryRow,
            r#"
            SELECT
                d.tenant_id, d.user_id, d.directory_id, d.user_name, d.attributes AS "attributes: Fields", d.deleted_at,
                d.created_at, d.updated_at, d.version
            FROM iam.directory_users d
            WHERE d.tenant_id = $1 AND d.user_id = $2
            "#,
            self.tenant(),
            user.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(DirectoryUser::try_from).transpose()
    }

    async fn directory_user_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryUser>, StoreError> {
        let row = sqlx::query_as!(
            EntryRow,
            r#"
            SELECT
                d.tenant_id, d.user_id, d.directory_id, d.user_name, d.attributes AS "attributes: Fields", d.deleted_at,
                d.created_at, d.updated_at, d.version
            FROM iam.directory_users d
            WHERE d.tenant_id = $1 AND d.directory_id = $2 AND d.user_name_key = $3
            "#,
            self.tenant(),
            directory.as_uuid(),
            name.key()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(DirectoryUser::try_from).transpose()
    }

    async fn users_of_directory(&mut self, directory: DirectoryId) -> Result<Vec<UserId>, StoreError> {
        let ids = sqlx::query_scalar!(
            r#"
            SELECT d.user_id
            FROM iam.directory_users d
            WHERE d.tenant_id = $1 AND d.directory_id = $2 AND d.deleted_at IS NULL
            ORDER BY d.user_id
            "#,
            self.tenant(),
            directory.as_uuid()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }

    async fn present_directory_users(
        &mut self,
        directory: DirectoryId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        // LIMIT, so that each user is found by its key. The planner would read all users of the directory.
        let ids = sqlx::query_scalar!(
            r#"
            SELECT DISTINCT d.user_id
            FROM unnest($2::uuid[]) w (id)
            CROSS JOIN LATERAL (
                SELECT d.user_id, d.directory_id, d.deleted_at
                FROM iam.directory_users d
                WHERE d.tenant_id = $1 AND d.user_id = w.id
                LIMIT 1
            ) d
            CROSS JOIN LATERAL (
                SELECT u.status
                FROM iam.users u
                WHERE u.tenant_id = $1 AND u.id = w.id
                LIMIT 1
            ) u
            WHERE d.directory_id = $3 AND d.deleted_at IS NULL AND u.status <> $4
            ORDER BY d.user_id
            "#,
            self.tenant(),
            &users,
            directory.as_uuid(),
            UserStatus::Inactive.as_str()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }
}

impl PostgresTransaction {
    pub(crate) async fn write_directory_user(&mut self, change: &DirectoryUserChange) -> Result<(), StoreError> {
        match change {
            DirectoryUserChange::Create(entry) => self.insert_directory_user(entry).await,
            DirectoryUserChange::Update { after, .. } => self.update_directory_user(after).await,
            DirectoryUserChange::Forget(entry) => self.delete_directory_user(entry.user_id).await,
        }
    }

    async fn insert_directory_user(&mut self, entry: &DirectoryUser) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.directory_users (
                tenant_id, user_id, directory_id, user_name, user_name_key, attributes, search, deleted_at, created_at,
                updated_at
            )
            VALUES ($1, $2, $3, $4, $5, $6::text::json, $7, $8, $9, $10)
            "#,
            self.tenant(),
            entry.user_id.as_uuid(),
            entry.directory_id.as_uuid(),
            entry.user_name.as_str(),
            entry.user_name.key(),
            stored_attributes(entry),
            stored_search(entry) as _,
            entry.deleted_at.map(in_range),
            in_range(entry.created_at),
            in_range(entry.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_directory_user(&mut self, entry: &DirectoryUser) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.directory_users
            SET
                directory_id = $3,
                user_name = $4,
                user_name_key = $5,
                attributes = $6::text::json,
                search = $7,
                deleted_at = $8,
                created_at = $9,
                updated_at = $10,
                version = version + 1
            WHERE tenant_id = $1 AND user_id = $2
            "#,
            self.tenant(),
            entry.user_id.as_uuid(),
            entry.directory_id.as_uuid(),
            entry.user_name.as_str(),
            entry.user_name.key(),
            stored_attributes(entry),
            stored_search(entry) as _,
            entry.deleted_at.map(in_range),
            in_range(entry.created_at),
            in_range(entry.updated_at)
        );
        expect_row(self.execute(update).await?, "user of a directory")
    }

    async fn delete_directory_user(&mut self, user: UserId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM iam.directory_users WHERE tenant_id = $1 AND user_id = $2",
            self.tenant(),
            user.as_uuid()
        );
        expect_row(self.execute(delete).await?, "user of a directory")
    }
}
