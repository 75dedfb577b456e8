use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::{DirectoryChange, DirectoryUserChange};
use iam_model::clock::Timestamp;
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryGroup, DirectoryName, DirectoryRefusal, DirectoryUser,
    GroupSortField, GroupTest, ProvisionedUser, UserSortField, UserTest,
};
use iam_model::id::{DirectoryGroupId, DirectoryId, IdentityProviderId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::store::{DirectoryStore, DirectoryTransaction};
use iam_model::store_error::StoreError;
use iam_model::user::UserStatus;
use iam_store_sql::audit::Fields;
use iam_store_sql::column::not_negative;
use iam_store_sql::directory::{
    DirectoryGroupRow, DirectoryRow, DirectorySearch, DirectoryUserRow, GivingGroupRow, GrantContextRow,
    ListedDirectoryRow, ProvisionedUserRow, list_groups, list_users, read_list, stored_attributes, stored_refusal,
    stored_search,
};
use iam_store_sql::error::expect_row;
use iam_store_sql::page::Counted;
use sqlx::types::Json;
use sqlx::{QueryBuilder, Sqlite};
use uuid::Uuid;

use crate::SqliteStore;
use crate::assignment::contexts_as_json;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type Row = DirectoryRow<i64>;
type ListedRow = ListedDirectoryRow<i64>;
type EntryRow = DirectoryUserRow<i64>;
type ProvisionedRow = ProvisionedUserRow<i64>;
type GroupRow = DirectoryGroupRow<i64>;
type GivingRow = GivingGroupRow<i64>;
type Grants = Json<Vec<PlacedRole>>;
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

    async fn directory_group(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        let row = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM directory_groups g
            WHERE g.tenant_id = ?1 AND g.id = ?2 AND g.directory_id = ?3
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            directory.as_uuid()
        );
        self.answer(row.fetch_optional(&self.reads_of(tenant))).await?.map(DirectoryGroup::try_from).transpose()
    }

    async fn directory_groups(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<GroupTest>,
        sort: (GroupSortField, SortOrder),
        first: u64,
        limit: u32,
    ) -> Result<(Vec<DirectoryGroup>, u64), StoreError> {
        // Not prepared once for all: the text of the statement varies from call to call.
        read_list(first, limit, |first, limit| {
            self.list(tenant, move |source| {
                let mut list = list_groups::<Self>(tenant, directory, condition, sort, first, limit);
                async move {
                    let rows = list.build_query_as::<Counted<GroupRow>>();
                    rows.persistent(false).fetch_all(&source).await
                }
            })
        })
        .await
    }

    async fn directory_group_members(
        &self,
        tenant: TenantId,
        groups: &[DirectoryGroupId],
    ) -> Result<Vec<(DirectoryGroupId, UserId)>, StoreError> {
        let rows = sqlx::query!(
            r#"
            SELECT m.group_id, m.user_id
            FROM directory_group_members m
            WHERE m.tenant_id = ?1 AND m.group_id IN (SELECT unhex(value, '-') FROM json_each(?2))
            ORDER BY m.group_id, m.user_id
            "#,
            tenant.as_uuid(),
            Json(groups)
        );
        let rows = self.answer(rows.fetch_all(&self.reads_of(tenant))).await?;
        Ok(rows.into_iter().map(|row| (row.group_id.into(), row.user_id.into())).collect())
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
        name: &DirectoryName,
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

    async fn present_directory_users(
        &mut self,
        directory: DirectoryId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        // The plus sign keeps SQLite from reading all users of the directory.
        let ids = sqlx::query_scalar!(
            r#"
            SELECT d.user_id
            FROM directory_users d
            CROSS JOIN users u ON u.tenant_id = d.tenant_id AND u.id = d.user_id
            WHERE d.tenant_id = ?1
                AND d.user_id IN (SELECT unhex(value, '-') FROM json_each(?2))
                AND +d.directory_id = ?3
                AND d.deleted_at IS NULL
                AND u.status <> ?4
            ORDER BY d.user_id
            "#,
            self.tenant(),
            Json(users),
            directory.as_uuid(),
            UserStatus::Inactive.as_str()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }

    async fn directory_group(
        &mut self,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        let row = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM directory_groups g
            WHERE g.tenant_id = ?1 AND g.id = ?2 AND g.directory_id = ?3
            "#,
            self.tenant(),
            id.as_uuid(),
            directory.as_uuid()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(DirectoryGroup::try_from).transpose()
    }

    async fn directory_group_named(
        &mut self,
        directory: DirectoryId,
        name: &DirectoryName,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        let row = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM directory_groups g
            WHERE g.tenant_id = ?1 AND g.directory_id = ?2 AND g.display_name_key = ?3
            "#,
            self.tenant(),
            directory.as_uuid(),
            name.key()
        );
        row.fetch_optional(self.connection()).await.map_err(store_error)?.map(DirectoryGroup::try_from).transpose()
    }

    async fn count_directory_groups(&mut self, directory: DirectoryId) -> Result<u64, StoreError> {
        let count = sqlx::query_scalar!(
            r#"
            SELECT count(*) AS "count!: i64"
            FROM directory_groups g
            WHERE g.tenant_id = ?1 AND g.directory_id = ?2
            "#,
            self.tenant(),
            directory.as_uuid()
        );
        count.fetch_one(self.connection()).await.map(not_negative).map_err(store_error)
    }

    async fn members_of_group(&mut self, group: DirectoryGroupId) -> Result<Vec<UserId>, StoreError> {
        let ids = sqlx::query_scalar!(
            r#"
            SELECT m.user_id
            FROM directory_group_members m
            WHERE m.tenant_id = ?1 AND m.group_id = ?2
            ORDER BY m.user_id
            "#,
            self.tenant(),
            group.as_uuid()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }

    async fn members_among(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let ids = sqlx::query_scalar!(
            r#"
            SELECT m.user_id
            FROM directory_group_members m
            WHERE m.tenant_id = ?1
                AND m.group_id = ?2
                AND m.user_id IN (SELECT unhex(value, '-') FROM json_each(?3))
            ORDER BY m.user_id
            "#,
            self.tenant(),
            group.as_uuid(),
            Json(users)
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }

    async fn groups_of_member(&mut self, user: UserId) -> Result<Vec<DirectoryGroup>, StoreError> {
        let rows = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM directory_group_members m
            CROSS JOIN directory_groups g ON g.tenant_id = m.tenant_id AND g.id = m.group_id
            WHERE m.tenant_id = ?1 AND m.user_id = ?2
            ORDER BY g.id
            "#,
            self.tenant(),
            user.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(DirectoryGroup::try_from).collect()
    }

    async fn mapped_groups(
        &mut self,
        roles: &[RoleId],
        organizations: &[OrganizationId],
    ) -> Result<Vec<DirectoryGroup>, StoreError> {
        let rows = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM directory_groups g
            WHERE g.tenant_id = ?1
                AND g.grants <> '[]'
                AND EXISTS (
                    SELECT 1
                    FROM json_each(g.grants) p
                    WHERE p.value ->> 'roleId' IN (SELECT value FROM json_each(?2))
                        OR p.value ->> 'organizationId' IN (SELECT value FROM json_each(?3))
                )
            ORDER BY g.id
            "#,
            self.tenant(),
            Json(roles),
            Json(organizations)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(DirectoryGroup::try_from).collect()
    }

    async fn withheld_in_group(&mut self, group: DirectoryGroupId) -> Result<Vec<GrantContext>, StoreError> {
        let rows = sqlx::query_as!(
            GrantContextRow,
            r#"
            SELECT w.user_id, w.role_id, w.organization_id
            FROM directory_withheld w
            WHERE w.tenant_id = ?1 AND w.group_id = ?2
            ORDER BY w.user_id, w.role_id, w.organization_id
            "#,
            self.tenant(),
            group.as_uuid()
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(rows.into_iter().map(GrantContext::from).collect())
    }

    async fn giving_groups(
        &mut self,
        contexts: &[GrantContext],
        except: Option<DirectoryGroupId>,
    ) -> Result<Vec<(GrantContext, DirectoryGroup)>, StoreError> {
        let rows = sqlx::query_as!(
            GivingRow,
            r#"
            SELECT
                unhex(c.value ->> 0, '-') AS "user_id!: Uuid",
                unhex(c.value ->> 1, '-') AS "role_id!: Uuid",
                unhex(c.value ->> 2, '-') AS "organization_id?: Uuid",
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM json_each(?2) c
            CROSS JOIN directory_groups g ON g.tenant_id = ?1 AND g.id = (
                SELECT m.group_id
                FROM directory_group_members m
                CROSS JOIN directory_groups h ON h.tenant_id = ?1 AND h.id = m.group_id
                WHERE m.tenant_id = ?1
                    AND m.user_id = unhex(c.value ->> 0, '-')
                    AND m.group_id IS NOT ?3
                    AND EXISTS (
                        SELECT 1
                        FROM json_each(h.grants) p
                        WHERE p.value ->> 'roleId' = c.value ->> 1
                            AND p.value ->> 'organizationId' IS c.value ->> 2
                    )
                    AND NOT EXISTS (
                        SELECT 1
                        FROM directory_withheld w
                        WHERE w.tenant_id = ?1
                            AND w.group_id = m.group_id
                            AND w.user_id = m.user_id
                            AND w.role_id = unhex(c.value ->> 1, '-')
                            AND coalesce(w.organization_id, x'') = coalesce(unhex(c.value ->> 2, '-'), x'')
                    )
                ORDER BY m.group_id
                LIMIT 1
            )
            ORDER BY c.key
            "#,
            self.tenant(),
            contexts_as_json(contexts),
            except.map(DirectoryGroupId::as_uuid)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(GivingRow::giving).collect()
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
            DirectoryUserChange::Forget(entry) => self.delete_directory_user(entry.user_id).await,
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

    async fn delete_directory_user(&mut self, user: UserId) -> Result<(), StoreError> {
        self.erases = true;
        let delete = sqlx::query!(
            "DELETE FROM directory_users WHERE tenant_id = ?1 AND user_id = ?2",
            self.tenant(),
            user.as_uuid()
        );
        expect_row(self.execute(delete).await?, "user of a directory")
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

#[cfg(test)]
mod tests {
    use iam_model::directory::{GroupMoment, GroupText, Order, TextOperator, UserText};

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
                let query = list_users::<SqliteStore>(TenantId::NONE, directory, &condition, sort, 0, 20);
                let plan = plan(query).await;
                assert_eq!(plan[0], format!("SEARCH {found}"), "{plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN d") || step.starts_with("SCAN u")), "{plan:#?}");
            }
        }
    }

    fn groups(condition: &Condition<GroupTest>, field: GroupSortField, order: SortOrder) -> QueryBuilder<Sqlite> {
        list_groups::<SqliteStore>(TenantId::NONE, Uuid::nil().into(), condition, (field, order), 0, 20)
    }

    fn text(field: GroupText, operator: TextOperator, value: &str) -> Condition<GroupTest> {
        Condition::Test(GroupTest::Text { field, operator, value: value.to_owned() })
    }

    fn moment(order: Order, value: Timestamp) -> Condition<GroupTest> {
        Condition::Test(GroupTest::Moment { field: GroupMoment::LastModified, order, value })
    }

    /// Before a directory writes a group, it looks for the group by one of these, or for the groups of a user.
    #[tokio::test]
    async fn a_group_is_found_by_its_name_an_identifier_or_a_member_alone() {
        let id = Uuid::nil().to_string();
        let names = "sqlite_autoindex_directory_groups_2 (tenant_id=? AND directory_id=? AND display_name_key=?)";
        let ids = "sqlite_autoindex_directory_groups_1 (tenant_id=? AND id=?)";
        let external_ids = "directory_groups_external_idx (tenant_id=? AND directory_id=? AND external_id=?)";
        for (test, index) in [
            (text(GroupText::DisplayName, TextOperator::Equals, "Staff"), names),
            (text(GroupText::ExternalId, TextOperator::Sorted(Order::Equal), "7"), external_ids),
            (text(GroupText::Id, TextOperator::Equals, &id), ids),
            (Condition::Test(GroupTest::Member(id.clone())), ids),
        ] {
            for condition in [test.clone(), Condition::All(vec![Condition::Test(GroupTest::HasMembers), test])] {
                let plan = plan(groups(&condition, GroupSortField::Created, SortOrder::Ascending)).await;
                assert_eq!(plan[0], format!("SEARCH g USING INDEX {index}"), "{plan:#?}");
                assert!(!plan.iter().any(|step| step.starts_with("SCAN g") || step.starts_with("SCAN m")), "{plan:#?}");
            }
        }
    }

    /// Returns what a condition adds to those of the directory.
    fn rendered(condition: &Condition<GroupTest>) -> String {
        let statement = groups(condition, GroupSortField::Created, SortOrder::Ascending).into_string();
        let (_, conditions) = statement.split_once(" AND g.directory_id = ?").unwrap();
        conditions.split_once(") SELECT (SELECT count(*)").unwrap().0.to_owned()
    }

    #[test]
    fn values_of_conditions_are_bound_and_no_test_is_null() {
        let (all, any, not) = (Condition::All, Condition::Any, |inner| Condition::Not(Box::new(inner)));
        let has_members = || Condition::Test(GroupTest::HasMembers);
        let external = |operator, value| text(GroupText::ExternalId, operator, value);
        let name = |operator, value| text(GroupText::DisplayName, operator, value);
        let member = |user: &str| Condition::Test(GroupTest::Member(user.to_owned()));
        // The second one is between two moments that are stored.
        let (stored, between) = (Timestamp::UNIX_EPOCH, Timestamp::from_timestamp_nanos(1));
        for (condition, expected) in [
            (Condition::always(), ""),
            (any(Vec::new()), " AND FALSE"),
            (all(vec![has_members(), all(vec![has_members()])]), " AND g.members > 0 AND g.members > 0"),
            (any(vec![has_members(), all(Vec::new())]), " AND (g.members > 0 OR TRUE)"),
            (name(TextOperator::Equals, "Staff"), " AND g.display_name_key = ?"),
            (not(name(TextOperator::Equals, "Staff")), " AND NOT coalesce(g.display_name_key = ?, FALSE)"),
            (name(TextOperator::StartsWith, "Staff"), " AND coalesce(instr(g.display_name_key, ?) = 1, FALSE)"),
            (external(TextOperator::Differs, "7"), " AND coalesce(g.external_id <> ?, TRUE)"),
            (external(TextOperator::Equals, "a\0b"), " AND FALSE"),
            (external(TextOperator::Sorted(Order::GreaterOrEqual), "a\0b"), " AND coalesce(g.external_id > ?, FALSE)"),
            (Condition::Test(GroupTest::Present(GroupText::ExternalId)), " AND g.external_id IS NOT NULL"),
            (text(GroupText::Id, TextOperator::Equals, "7"), " AND FALSE"),
            (moment(Order::GreaterOrEqual, stored), " AND g.updated_at >= ?"),
            (moment(Order::GreaterOrEqual, between), " AND g.updated_at > ?"),
            (member("7"), " AND FALSE"),
            (
                not(member(&Uuid::nil().to_string())),
                " AND NOT g.id IN (SELECT m.group_id FROM directory_group_members m WHERE m.tenant_id = ? \
                 AND m.user_id = ?)",
            ),
        ] {
            assert_eq!(rendered(&condition), expected, "{condition:?}");
        }
    }

    #[test]
    fn groups_without_the_text_come_last_in_ascending_order() {
        let (always, external) = (Condition::always(), GroupSortField::Text(GroupText::ExternalId));
        for (field, order, expected) in [
            (external, SortOrder::Ascending, " ORDER BY p.key ASC NULLS LAST, p.created_at, p.id"),
            (external, SortOrder::Descending, " ORDER BY p.key DESC NULLS FIRST, p.created_at, p.id"),
            (GroupSortField::LastModified, SortOrder::Descending, " ORDER BY p.key DESC, p.created_at, p.id"),
            (GroupSortField::Created, SortOrder::Ascending, " ORDER BY p.key ASC, p.id"),
        ] {
            let statement = groups(&always, field, order).into_string();
            assert!(statement.ends_with(expected), "{statement}");
        }
    }
}
