use async_trait::async_trait;
use iam_model::assignment::GrantContext;
use iam_model::change::DirectoryGroupChange;
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

use crate::SqliteStore;
use crate::assignment::contexts_as_json;
use crate::column::millis;
use crate::error::store_error;
use crate::transaction::SqliteTransaction;

type GroupRow = DirectoryGroupRow<i64>;
type GivingRow = GivingGroupRow<i64>;
type Grants = Json<Vec<PlacedRole>>;

#[async_trait]
impl DirectoryGroupStore for SqliteStore {
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
}

#[async_trait]
impl DirectoryGroupTransaction for SqliteTransaction {
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

#[cfg(test)]
mod tests {
    use iam_model::clock::Timestamp;
    use iam_model::directory::{GroupMoment, GroupText, Order, TextOperator};
    use sqlx::{QueryBuilder, Sqlite};

    use super::*;
    use crate::plan::plan;

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
