use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
use iam_model::clock::Timestamp;
use iam_model::directory::{Condition, DirectoryGroup, DirectoryName, GroupSortField, GroupTest};
use iam_model::id::{DirectoryGroupId, DirectoryId, OrganizationId, RoleId, TenantId, UserId};
use iam_model::page::SortOrder;
use iam_model::role::PlacedRole;
use iam_model::store::{DirectoryGroupStore, DirectoryGroupTransaction};
use iam_model::store_error::StoreError;
use iam_model::validate::ExternalId;
use iam_store_sql::column::not_negative;
use iam_store_sql::directory::{DirectoryGroupRow, GivingGroupRow, GrantContextRow, list_groups, read_list};
use iam_store_sql::error::expect_row;
use iam_store_sql::page::Counted;
use sqlx::types::Json;
use uuid::Uuid;

use crate::PostgresStore;
use crate::assignment::Contexts;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

type GroupRow = DirectoryGroupRow<Timestamp>;
type GivingRow = GivingGroupRow<Timestamp>;
type Grants = Json<Vec<PlacedRole>>;

#[async_trait]
impl DirectoryGroupStore for PostgresStore {
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
}

#[async_trait]
impl DirectoryGroupTransaction for PostgresTransaction {
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
    pub(crate) async fn write_directory_group(&mut self, change: &DirectoryGroupChange) -> Result<(), StoreError> {
        match change {
            DirectoryGroupChange::Create { group, members } => {
                self.insert_directory_group(group).await?;
                self.insert_group_members(group.id, members).await
            }
            DirectoryGroupChange::Update { after, added, removed, .. } => {
                self.update_directory_group(after).await?;
                self.delete_group_members(after.id, removed).await?;
                self.insert_group_members(after.id, added).await
            }
            DirectoryGroupChange::Delete(group) => self.delete_directory_group(group.id).await,
            DirectoryGroupChange::Withhold(contexts) => self.withhold(contexts).await,
        }
    }

    async fn insert_directory_group(&mut self, group: &DirectoryGroup) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO iam.directory_groups (
                tenant_id, id, directory_id, display_name, display_name_key, external_id, members, grants, created_at,
                updated_at
            )
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            "#,
            self.tenant(),
            group.id.as_uuid(),
            group.directory_id.as_uuid(),
            group.display_name.as_str(),
            group.display_name.key(),
            group.external_id.as_ref().map(ExternalId::as_str),
            i64::from(group.members),
            Json(&group.grants) as _,
            in_range(group.created_at),
            in_range(group.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_directory_group(&mut self, group: &DirectoryGroup) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE iam.directory_groups
            SET
                display_name = $3,
                display_name_key = $4,
                external_id = $5,
                members = $6,
                grants = $7,
                updated_at = $8,
                version = version + 1
            WHERE tenant_id = $1 AND id = $2
            "#,
            self.tenant(),
            group.id.as_uuid(),
            group.display_name.as_str(),
            group.display_name.key(),
            group.external_id.as_ref().map(ExternalId::as_str),
            i64::from(group.members),
            Json(&group.grants) as _,
            in_range(group.updated_at)
        );
        expect_row(self.execute(update).await?, "group of a directory")
    }

    async fn delete_directory_group(&mut self, id: DirectoryGroupId) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            "DELETE FROM iam.directory_groups WHERE tenant_id = $1 AND id = $2",
            self.tenant(),
            id.as_uuid()
        );
        expect_row(self.execute(delete).await?, "group of a directory")
    }

    async fn insert_group_members(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<(), StoreError> {
        let (tenant, group) = (self.tenant(), group.as_uuid());
        let insert = "INSERT INTO iam.directory_group_members (tenant_id, group_id, user_id) ";
        let push = |row: &mut Row<'_>, user: UserId| {
            row.push_bind(tenant).push_bind(group).push_bind(user.as_uuid());
        };
        self.insert_values(insert, users.to_vec(), push).await
    }

    /// Removes members, with the roles that are withheld from them.
    async fn delete_group_members(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<(), StoreError> {
        if users.is_empty() {
            return Ok(());
        }
        let users: Vec<Uuid> = users.iter().map(|user| user.as_uuid()).collect();
        let delete = sqlx::query!(
            r#"
            DELETE FROM iam.directory_group_members
            WHERE tenant_id = $1 AND group_id = $2 AND user_id = ANY($3)
            "#,
            self.tenant(),
            group.as_uuid(),
            &users
        );
        self.execute(delete).await.map(drop)
    }

    /// Two statements: what is withheld is found first, and only values are inserted; see
    /// [`inserts`](crate::values::inserts).
    async fn withhold(&mut self, contexts: &[GrantContext]) -> Result<(), StoreError> {
        let tenant = self.tenant();
        let Contexts { users, roles, organizations } = contexts.iter().collect();
        // LIMIT and OFFSET, so that each row is found by its key.
        let given = sqlx::query!(
            r#"
            SELECT DISTINCT
                m.group_id AS "group_id!", c.user_id AS "user_id!", c.role_id AS "role_id!", c.organization_id
            FROM unnest($2::uuid[], $3::uuid[], $4::uuid[]) c (user_id, role_id, organization_id)
            CROSS JOIN LATERAL (
                SELECT m.group_id
                FROM iam.directory_group_members m
                WHERE m.tenant_id = $1 AND m.user_id = c.user_id
                OFFSET 0
            ) m
            CROSS JOIN LATERAL (
                SELECT g.grants
                FROM iam.directory_groups g
                WHERE g.tenant_id = $1 AND g.id = m.group_id
                LIMIT 1
            ) g
            WHERE EXISTS (
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
            "#,
            tenant,
            &users,
            &roles,
            &organizations as _
        );
        let given = given.fetch_all(self.connection()).await.map_err(store_error)?;
        let rows = given.into_iter().map(|row| (row.group_id, row.user_id, row.role_id, row.organization_id)).collect();
        let insert = "INSERT INTO iam.directory_withheld (tenant_id, group_id, user_id, role_id, organization_id) ";
        let push = |row: &mut Row<'_>, (group, user, role, organization): (Uuid, Uuid, Uuid, Option<Uuid>)| {
            row.push_bind(tenant).push_bind(group).push_bind(user).push_bind(role).push_bind(organization);
        };
        self.insert_values(insert, rows, push).await
    }
}
