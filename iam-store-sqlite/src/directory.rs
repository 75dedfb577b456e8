use async_trait::async_trait;
use iam_model::change::{DirectoryChange, DirectoryUserChange};
use iam_model::clock::Timestamp;
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryRefusal, DirectoryUser, DirectoryUserName, ProvisionedUser,
    UserSortField, UserTest,
};
use iam_model::id::{DirectoryId, IdentityProviderId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::StoreError;
use iam_store_sql::audit::Fields;
use iam_store_sql::directory::{
    DirectoryRow, DirectorySearch, DirectoryUserRow, ListedDirectoryRow, ProvisionedUserRow, list, read_provisioned,
    stored_attributes, stored_refusal, stored_search,
};
use iam_store_sql::error::expect_row;
use iam_store_sql::page::Counted;
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite};

use crate::SqliteStore;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = DirectoryRow<i64>;
type ListedRow = ListedDirectoryRow<i64>;
type EntryRow = DirectoryUserRow<i64>;
type ProvisionedRow = ProvisionedUserRow<i64>;
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

    async fn directory_user(&self, tenant: TenantId, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        let row = sqlx::query_as!(
            EntryRow,
            r#"
            SELECT
                d.tenant_id, d.user_id, d.directory_id, d.user_name, d.attributes AS "attributes: Fields", d.deleted_at,
                d.created_at, d.updated_at, d.version
            FROM directory_users d
            WHERE d.tenant_id = ?1 AND d.user_id = ?2
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
            FROM directory_users d
            JOIN users u ON u.tenant_id = d.tenant_id AND u.id = d.user_id
            WHERE d.tenant_id = ?1 AND d.user_id = ?2 AND d.directory_id = ?3 AND d.deleted_at IS NULL
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
        // Not prepared once for all: the text of the statement varies from call to call.
        read_provisioned(first, limit, |first, limit| {
            self.list(tenant, move |source| {
                let mut list = list::<Self>(tenant, directory, condition, sort, first, limit);
                async move {
                    let rows = list.build_query_as::<Counted<ProvisionedRow>>();
                    rows.persistent(false).fetch_all(&source).await
                }
            })
        })
        .await
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

    async fn directory_user(&mut self, user: UserId) -> Result<Option<DirectoryUser>, StoreError> {
        let row = sqlx::query_as!(
            EntryRow,
            r#"
            SELECT
                d.tenant_id, d.user_id, d.directory_id, d.user_name, d.attributes AS "attributes: Fields", d.deleted_at,
                d.created_at, d.updated_at, d.version
            FROM directory_users d
            WHERE d.tenant_id = ?1 AND d.user_id = ?2
            "#,
            self.tenant(),
            user.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(DirectoryUser::try_from).transpose()
    }

    async fn directory_user_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryUserName,
    ) -> Result<Option<DirectoryUser>, StoreError> {
        let row = sqlx::query_as!(
            EntryRow,
            r#"
            SELECT
                d.tenant_id, d.user_id, d.directory_id, d.user_name, d.attributes AS "attributes: Fields", d.deleted_at,
                d.created_at, d.updated_at, d.version
            FROM directory_users d
            WHERE d.tenant_id = ?1 AND d.directory_id = ?2 AND d.user_name_key = ?3
            "#,
            self.tenant(),
            directory.as_uuid(),
            name.key()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(DirectoryUser::try_from).transpose()
    }

    async fn users_of_directory(&mut self, directory: DirectoryId) -> Result<Vec<UserId>, StoreError> {
        // The plus sign keeps SQLite from reading all users of the tenant in this order.
        let ids = sqlx::query_scalar!(
            r#"
            SELECT d.user_id
            FROM directory_users d
            WHERE d.tenant_id = ?1 AND d.directory_id = ?2 AND d.deleted_at IS NULL
            ORDER BY +d.user_id
            "#,
            self.tenant(),
            directory.as_uuid()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
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

    pub(crate) async fn write_directory_user(&mut self, change: &DirectoryUserChange) -> Result<(), StoreError> {
        match change {
            DirectoryUserChange::Create(entry) => self.insert_directory_user(entry).await,
            DirectoryUserChange::Update { after, .. } => self.update_directory_user(after).await,
        }
    }

    async fn insert_directory_user(&mut self, entry: &DirectoryUser) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO directory_users (
                tenant_id, user_id, directory_id, user_name, user_name_key, attributes, search, deleted_at, created_at,
                updated_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            "#,
            self.tenant(),
            entry.user_id.as_uuid(),
            entry.directory_id.as_uuid(),
            entry.user_name.as_str(),
            entry.user_name.key(),
            stored_attributes(entry),
            stored_search(entry) as _,
            entry.deleted_at.map(millis),
            millis(entry.created_at),
            millis(entry.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_directory_user(&mut self, entry: &DirectoryUser) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE directory_users
            SET
                directory_id = ?3,
                user_name = ?4,
                user_name_key = ?5,
                attributes = ?6,
                search = ?7,
                deleted_at = ?8,
                created_at = ?9,
                updated_at = ?10,
                version = version + 1
            WHERE tenant_id = ?1 AND user_id = ?2
            "#,
            self.tenant(),
            entry.user_id.as_uuid(),
            entry.directory_id.as_uuid(),
            entry.user_name.as_str(),
            entry.user_name.key(),
            stored_attributes(entry),
            stored_search(entry) as _,
            entry.deleted_at.map(millis),
            millis(entry.created_at),
            millis(entry.updated_at)
        );
        expect_row(self.execute(update).await?, "user of a directory")
    }
}

impl DirectorySearch for SqliteStore {
    const USER_ID: &'static str = "lower(
        substr(hex(d.user_id), 1, 8) || '-' || substr(hex(d.user_id), 9, 4) || '-' || substr(hex(d.user_id), 13, 4)
        || '-' || substr(hex(d.user_id), 17, 4) || '-' || substr(hex(d.user_id), 21)
    )";
    const EMAILS: &'static str = "json_each(d.search, '$.emails') e";
    const GREATEST: &'static str = "max";
    const BY_CODE_POINT: &'static str = "";

    fn push_entries(query: &mut QueryBuilder<Sqlite>, tenant: TenantId) {
        query.push(" CROSS JOIN directory_users d ON d.user_id = p.id AND d.tenant_id = ");
        query.push_bind(tenant.as_uuid());
    }
}

#[cfg(test)]
mod tests {
    use iam_model::directory::{TextOperator, UserText};
    use uuid::Uuid;

    use super::*;
    use crate::plan::plan;

    /// Before a directory writes a user, it looks for the user by one of these.
    #[tokio::test]
    async fn a_user_is_found_by_its_name_or_an_identifier_alone() {
        let names = "directory_users_2 (tenant_id=? AND directory_id=? AND user_name_key=?)";
        for (field, found) in [
            (UserText::UserName, format!("d USING INDEX sqlite_autoindex_{names}")),
            (UserText::ExternalId, "u USING INDEX users_external_id_key (tenant_id=? AND external_id=?)".to_owned()),
            (UserText::Id, "d USING INDEX sqlite_autoindex_directory_users_1 (tenant_id=? AND user_id=?)".to_owned()),
        ] {
            let value = Uuid::nil().to_string();
            let equals = Condition::Test(UserTest::Text { field, operator: TextOperator::Equals, value });
            for condition in [equals.clone(), Condition::All(vec![Condition::Test(UserTest::Active(true)), equals])] {
                let (directory, sort) = (Uuid::nil().into(), (UserSortField::Created, SortOrder::Ascending));
                let query = list::<SqliteStore>(TenantId::NONE, directory, &condition, sort, 0, 20);
                let plan = plan(query).await;
                assert_eq!(plan[0], format!("SEARCH {found}"), "{plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN d") || step.starts_with("SCAN u")), "{plan:#?}");
            }
        }
    }
}
