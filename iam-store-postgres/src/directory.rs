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
use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::Contexts;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;

type Row = DirectoryRow<Timestamp>;
type ListedRow = ListedDirectoryRow<Timestamp>;
type EntryRow = DirectoryUserRow<Timestamp>;
type ProvisionedRow = ProvisionedUserRow<Timestamp>;
type GroupRow = DirectoryGroupRow<Timestamp>;
type GivingRow = GivingGroupRow<Timestamp>;
type Grants = Json<Vec<PlacedRole>>;
type Refusals = Json<Vec<DirectoryRefusal>>;

// The statement that adds a refusal keeps this many.
const _: () = assert!(DirectoryRefusal::MAX == 20);

#[async_trait]
impl DirectoryStore for PostgresStore {
    async fn directory(&self, tenant: TenantId, id: DirectoryId) -> Result<Option<Directory>, StoreError> {
        let row = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.service_account_id, d.identity_provider_id, d.adopt, d.created_at,
                d.updated_at, d.version
            FROM iam.directories d
            WHERE d.tenant_id = $1 AND d.id = $2
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
            FROM iam.directories d
            WHERE d.tenant_id = $1
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
            FROM iam.directories d
            WHERE d.tenant_id = $1 AND d.service_account_id = $2
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

    async fn directory_group(
        &self,
        tenant: TenantId,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        // LIMIT, so that it is found by its key. The planner would read all groups of the directory.
        let row = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM (
                SELECT *
                FROM iam.directory_groups
                WHERE tenant_id = $1 AND id = $2
                LIMIT 1
            ) g
            WHERE g.directory_id = $3
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
        // Not prepared once for all: the text of the statement varies from call to call, and the planner must see the
        // values.
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
        let groups: Vec<Uuid> = groups.iter().map(|group| group.as_uuid()).collect();
        // OFFSET, so that the members of each group are found by its key.
        let rows = sqlx::query!(
            r#"
            SELECT DISTINCT m.group_id, m.user_id
            FROM unnest($2::uuid[]) g (id)
            CROSS JOIN LATERAL (
                SELECT m.group_id, m.user_id
                FROM iam.directory_group_members m
                WHERE m.tenant_id = $1 AND m.group_id = g.id
                OFFSET 0
            ) m
            ORDER BY m.group_id, m.user_id
            "#,
            tenant.as_uuid(),
            &groups
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
                UPDATE iam.directories
                SET last_request_at = $3
                WHERE tenant_id = $1 AND id = $2 AND (last_request_at IS NULL OR last_request_at < $3)
                "#,
                tenant.as_uuid(),
                id.as_uuid(),
                in_range(at)
            );
            return self.answer(update.execute(&self.writes())).await.map(drop);
        };
        let update = sqlx::query!(
            r#"
            UPDATE iam.directories
            SET
                last_request_at = greatest(last_request_at, $3),
                refusals = jsonb_path_query_array($4::jsonb || refusals, '$[0 to 19]')
            WHERE tenant_id = $1 AND id = $2
            "#,
            tenant.as_uuid(),
            id.as_uuid(),
            in_range(at),
            stored_refusal(refusal) as _
        );
        self.answer(update.execute(&self.writes())).await.map(drop)
    }
}

#[async_trait]
impl DirectoryTransaction for PostgresTransaction {
    async fn directories(&mut self) -> Result<Vec<Directory>, StoreError> {
        let rows = sqlx::query_as!(
            Row,
            r#"
            SELECT
                d.tenant_id, d.id, d.name, d.service_account_id, d.identity_provider_id, d.adopt, d.created_at,
                d.updated_at, d.version
            FROM iam.directories d
            WHERE d.tenant_id = $1
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

    async fn directory_group(
        &mut self,
        directory: DirectoryId,
        id: DirectoryGroupId,
    ) -> Result<Option<DirectoryGroup>, StoreError> {
        // LIMIT, so that it is found by its key. The planner would read all groups of the directory.
        let row = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM (
                SELECT *
                FROM iam.directory_groups
                WHERE tenant_id = $1 AND id = $2
                LIMIT 1
            ) g
            WHERE g.directory_id = $3
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
            FROM iam.directory_groups g
            WHERE g.tenant_id = $1 AND g.directory_id = $2 AND g.display_name_key = $3
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
            SELECT count(*) AS "count!"
            FROM iam.directory_groups g
            WHERE g.tenant_id = $1 AND g.directory_id = $2
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
            FROM iam.directory_group_members m
            WHERE m.tenant_id = $1 AND m.group_id = $2
            ORDER BY m.user_id
            "#,
            self.tenant(),
            group.as_uuid()
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }

    async fn members_among(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let ids = sqlx::query_scalar!(
            r#"
            SELECT m.user_id
            FROM iam.directory_group_members m
            WHERE m.tenant_id = $1 AND m.group_id = $2 AND m.user_id = ANY($3)
            ORDER BY m.user_id
            "#,
            self.tenant(),
            group.as_uuid(),
            &users
        );
        let ids = ids.fetch_all(self.connection()).await.map_err(store_error)?;
        Ok(ids.into_iter().map(UserId::from).collect())
    }

    async fn groups_of_member(&mut self, user: UserId) -> Result<Vec<DirectoryGroup>, StoreError> {
        // LIMIT, so that each group is found by its key.
        let rows = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM iam.directory_group_members m
            CROSS JOIN LATERAL (
                SELECT *
                FROM iam.directory_groups
                WHERE tenant_id = $1 AND id = m.group_id
                LIMIT 1
            ) g
            WHERE m.tenant_id = $1 AND m.user_id = $2
            ORDER BY m.group_id
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
        let roles: Vec<Uuid> = roles.iter().map(|role| role.as_uuid()).collect();
        let organizations: Vec<Uuid> = organizations.iter().map(|organization| organization.as_uuid()).collect();
        let rows = sqlx::query_as!(
            GroupRow,
            r#"
            SELECT
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM iam.directory_groups g
            WHERE g.tenant_id = $1
                AND g.grants <> '[]'
                AND EXISTS (
                    SELECT
                    FROM jsonb_to_recordset(g.grants) p ("roleId" uuid, "organizationId" uuid)
                    WHERE p."roleId" = ANY($2) OR p."organizationId" = ANY($3)
                )
            ORDER BY g.id
            "#,
            self.tenant(),
            &roles,
            &organizations
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(DirectoryGroup::try_from).collect()
    }

    async fn withheld_in_group(&mut self, group: DirectoryGroupId) -> Result<Vec<GrantContext>, StoreError> {
        let rows = sqlx::query_as!(
            GrantContextRow,
            r#"
            SELECT w.user_id, w.role_id, w.organization_id
            FROM iam.directory_withheld w
            WHERE w.tenant_id = $1 AND w.group_id = $2
            ORDER BY w.user_id, w.role_id, w.organization_id NULLS FIRST
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
        let Contexts { users, roles, organizations } = contexts.iter().collect();
        // LIMIT and OFFSET, so that each row is found by its key. The planner would read all groups of the tenant for
        // each context.
        let rows = sqlx::query_as!(
            GivingRow,
            r#"
            SELECT
                c.user_id AS "user_id!", c.role_id AS "role_id!", c.organization_id,
                g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members,
                g.grants AS "grants: Grants", g.created_at, g.updated_at, g.version
            FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY
                c (user_id, role_id, organization_id, place)
            CROSS JOIN LATERAL (
                SELECT g.*
                FROM iam.directory_group_members m
                CROSS JOIN LATERAL (
                    SELECT *
                    FROM iam.directory_groups
                    WHERE tenant_id = $1 AND id = m.group_id
                    LIMIT 1
                ) g
                WHERE m.tenant_id = $1
                    AND m.user_id = c.user_id
                    AND m.group_id IS DISTINCT FROM $5
                    AND EXISTS (
                        SELECT
                        FROM jsonb_to_recordset(g.grants) p ("roleId" uuid, "organizationId" uuid)
                        WHERE p."roleId" = c.role_id AND p."organizationId" IS NOT DISTINCT FROM c.organization_id
                    )
                    AND NOT EXISTS (
                        SELECT
                        FROM iam.directory_withheld w
                        WHERE w.tenant_id = $1
                            AND w.group_id = m.group_id
                            AND w.user_id = c.user_id
                            AND w.role_id = c.role_id
                            AND w.organization_id IS NOT DISTINCT FROM c.organization_id
                        OFFSET 0
                    )
                ORDER BY m.group_id
                LIMIT 1
            ) g
            ORDER BY c.place
            "#,
            self.tenant(),
            &users,
            &roles,
            &organizations as _,
            except.map(DirectoryGroupId::as_uuid)
        );
        let rows = rows.fetch_all(self.connection()).await.map_err(store_error)?;
        rows.into_iter().map(GivingRow::giving).collect()
    }
}

impl PostgresTransaction {
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
            INSERT INTO iam.directories (
                tenant_id, id, name, service_account_id, identity_provider_id, adopt, created_at, updated_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            "#,
            self.tenant(),
            directory.id.as_uuid(),
            directory.name.as_str(),
            directory.service_account_id.as_uuid(),
            directory.identity_provider_id.map(IdentityProviderId::as_uuid),
            directory.adopt,
            in_range(directory.created_at),
            in_range(directory.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_directory(&mut self, directory: &Directory) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.directories
            SET
                name = $3,
                service_account_id = $4,
                identity_provider_id = $5,
                adopt = $6,
                updated_at = $7,
                version = version + 1
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            directory.id.as_uuid(),
            directory.name.as_str(),
            directory.service_account_id.as_uuid(),
            directory.identity_provider_id.map(IdentityProviderId::as_uuid),
            directory.adopt,
            in_range(directory.updated_at)
        );
        expect_row(self.execute(update).await?, "directory")
    }

    async fn delete_directory(&mut self, id: DirectoryId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM iam.directories WHERE tenant_id = $1 AND id = $2", self.tenant(), id.as_uuid());
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

impl DirectorySearch for PostgresStore {
    const USER_ID: &'static str = "d.user_id::text";
    const GROUP_ID: &'static str = "g.id::text";
    const EMAILS: &'static str = "jsonb_array_elements(d.search -> 'emails') e (value)";
    const LAST_MODIFIED: &'static str = "greatest(u.updated_at, d.updated_at)";
    const BY_CODE_POINT: &'static str = " COLLATE \"C\"";

    fn push_entries(query: &mut QueryBuilder<Postgres>, tenant: TenantId) {
        query.push(" CROSS JOIN LATERAL (SELECT * FROM iam.directory_users WHERE tenant_id = ");
        query.push_bind(tenant.as_uuid()).push(" AND user_id = p.id OFFSET 0) d");
    }
}
