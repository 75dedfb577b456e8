use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::DirectoryGroup;
use iam_model::id::{DirectoryGroupId, UserId};
use iam_model::store_error::StoreError;
use iam_model::validate::ExternalId;
use iam_store_sql::error::expect_row;
use sqlx::types::Json;
use uuid::Uuid;

use crate::assignment::Contexts;
use crate::column::in_range;
use crate::error::store_error;
use crate::transaction::PostgresTransaction;
use crate::values::Row;

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
