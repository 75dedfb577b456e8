use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
use iam_model::directory::DirectoryGroup;
use iam_model::id::{DirectoryGroupId, UserId};
use iam_model::store_error::StoreError;
use iam_model::validate::ExternalId;
use iam_store_sql::error::expect_row;
use sqlx::types::Json;

use crate::assignment::contexts_as_json;
use crate::column::millis;
use crate::transaction::SqliteTransaction;

impl SqliteTransaction {
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
            INSERT INTO directory_groups (
                tenant_id, id, directory_id, display_name, display_name_key, external_id, members, grants, created_at,
                updated_at
            )
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            "#,
            self.tenant(),
            group.id.as_uuid(),
            group.directory_id.as_uuid(),
            group.display_name.as_str(),
            group.display_name.key(),
            group.external_id.as_ref().map(ExternalId::as_str),
            i64::from(group.members),
            Json(&group.grants) as _,
            millis(group.created_at),
            millis(group.updated_at)
        );
        self.execute(insert).await.map(drop)
    }

    async fn update_directory_group(&mut self, group: &DirectoryGroup) -> Result<(), StoreError> {
        let update = sqlx::query!(
            r#"
            UPDATE directory_groups
            SET
                display_name = ?3,
                display_name_key = ?4,
                external_id = ?5,
                members = ?6,
                grants = ?7,
                updated_at = ?8,
                version = version + 1
            WHERE tenant_id = ?1 AND id = ?2
            "#,
            self.tenant(),
            group.id.as_uuid(),
            group.display_name.as_str(),
            group.display_name.key(),
            group.external_id.as_ref().map(ExternalId::as_str),
            i64::from(group.members),
            Json(&group.grants) as _,
            millis(group.updated_at)
        );
        expect_row(self.execute(update).await?, "group of a directory")
    }

    async fn delete_directory_group(&mut self, id: DirectoryGroupId) -> Result<(), StoreError> {
        let delete =
            sqlx::query!("DELETE FROM directory_groups WHERE tenant_id = ?1 AND id = ?2", self.tenant(), id.as_uuid());
        expect_row(self.execute(delete).await?, "group of a directory")
    }

    async fn insert_group_members(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO directory_group_members (tenant_id, group_id, user_id)
            SELECT ?1, ?2, unhex(value, '-')
            FROM json_each(?3)
            "#,
            self.tenant(),
            group.as_uuid(),
            Json(users)
        );
        self.execute(insert).await.map(drop)
    }

    /// Removes members, with the roles that are withheld from them.
    async fn delete_group_members(&mut self, group: DirectoryGroupId, users: &[UserId]) -> Result<(), StoreError> {
        let delete = sqlx::query!(
            r#"
            DELETE FROM directory_group_members
            WHERE tenant_id = ?1 AND group_id = ?2 AND user_id IN (SELECT unhex(value, '-') FROM json_each(?3))
            "#,
            self.tenant(),
            group.as_uuid(),
            Json(users)
        );
        self.execute(delete).await.map(drop)
    }

    async fn withhold(&mut self, contexts: &[GrantContext]) -> Result<(), StoreError> {
        let insert = sqlx::query!(
            r#"
            INSERT INTO directory_withheld (tenant_id, group_id, user_id, role_id, organization_id)
            SELECT ?1, m.group_id, m.user_id, unhex(c.value ->> 1, '-'), unhex(c.value ->> 2, '-')
            FROM json_each(?2) c
            CROSS JOIN directory_group_members m ON m.tenant_id = ?1 AND m.user_id = unhex(c.value ->> 0, '-')
            CROSS JOIN directory_groups g ON g.tenant_id = ?1 AND g.id = m.group_id
            WHERE EXISTS (
                SELECT 1
                FROM json_each(g.grants) p
                WHERE p.value ->> 'roleId' = c.value ->> 1
                    AND p.value ->> 'organizationId' IS c.value ->> 2
            )
            ON CONFLICT DO NOTHING
            "#,
            self.tenant(),
            contexts_as_json(contexts)
        );
        self.execute(insert).await.map(drop)
    }
}
