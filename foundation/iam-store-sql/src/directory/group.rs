//! Lists of the groups of a directory.

use iam_model::directory::{Condition, GroupMoment, GroupSortField, GroupTest, GroupText};
use iam_model::id::{DirectoryId, TenantId, UserId};
use iam_model::page::SortOrder;
use sqlx::{Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::directory::condition::{DirectorySearch, SortKey, Statement, is_equality};

const COLUMNS: &str = "
    g.tenant_id, g.id, g.directory_id, g.display_name, g.external_id, g.members, g.grants, g.created_at, g.updated_at,
    g.version";

/// Builds the statement for the groups of a directory that meet a condition: `first` of them are skipped.
pub fn list<S>(
    tenant: TenantId,
    directory: DirectoryId,
    condition: &Condition<GroupTest>,
    (field, order): (GroupSortField, SortOrder),
    first: u64,
    limit: u32,
) -> QueryBuilder<S::Database>
where
    S: DirectorySearch,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let sort = (sort_key(field), order);
    let mut statement = Statement::<S>::begin(tenant);
    statement.push_found_groups(directory, condition, field);
    statement.push_page(COLUMNS, sort, first, limit);
    S::push_rows(&mut statement.query, tenant, "directory_groups", "g");
    statement.push_order("p", sort);
    statement.query
}

fn sort_key(field: GroupSortField) -> SortKey {
    match field {
        GroupSortField::Created => SortKey::Created,
        GroupSortField::LastModified => SortKey::Moment,
        GroupSortField::Text(_) => SortKey::Text,
    }
}

impl<S> Statement<S>
where
    S: DirectorySearch,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    /// Adds the groups of a directory that meet a condition, with the column by which the list is sorted.
    fn push_found_groups(&mut self, directory: DirectoryId, condition: &Condition<GroupTest>, field: GroupSortField) {
        self.query.push("g.id, g.created_at, ");
        match field {
            GroupSortField::Created => self.query.push(moment_column(GroupMoment::Created)),
            GroupSortField::LastModified => self.query.push(moment_column(GroupMoment::LastModified)),
            // Identifiers and their texts have the same order.
            GroupSortField::Text(GroupText::Id) => self.query.push("g.id"),
            GroupSortField::Text(field) => self.query.push(text_column::<S>(field)).push(S::BY_CODE_POINT),
        };
        self.query.push(" AS key FROM ").push(S::SCHEMA).push("directory_groups g WHERE g.tenant_id = ");
        self.query.push_bind(self.tenant.as_uuid()).push(" AND g.directory_id = ").push_bind(directory.as_uuid());
        self.push_required(condition, Self::push_required_group_test, Self::push_group_test);
    }

    fn push_required_group_test(&mut self, test: &GroupTest) {
        match test {
            GroupTest::Text { field: GroupText::Id, operator, value } if is_equality(*operator) => {
                self.push_equal_id("g.id", value);
            }
            GroupTest::Text { field, operator, value } if is_equality(*operator) => {
                self.push_equal_text(text_column::<S>(*field), field.form(value));
            }
            test => self.push_group_test(test),
        }
    }

    fn push_group_test(&mut self, test: &GroupTest) {
        match test {
            GroupTest::Present(field) => drop(self.query.push(text_column::<S>(*field)).push(" IS NOT NULL")),
            GroupTest::Text { field, operator, value } => {
                self.push_text_test(text_column::<S>(*field), *operator, &field.form(value));
            }
            GroupTest::Moment { field, order, value } => self.push_moment_test(moment_column(*field), *order, *value),
            GroupTest::Member(user) => match user.parse() {
                Ok(user) => self.push_member_test(user),
                Err(_) => drop(self.query.push("FALSE")),
            },
            GroupTest::HasMembers => drop(self.query.push("g.members > 0")),
        }
    }

    /// Adds the test that a user is a member. Not EXISTS: the groups of the user are found first, by an index.
    fn push_member_test(&mut self, user: UserId) {
        self.query.push("g.id IN (SELECT m.group_id FROM ").push(S::SCHEMA).push("directory_group_members m");
        self.query.push(" WHERE m.tenant_id = ").push_bind(self.tenant.as_uuid());
        self.query.push(" AND m.user_id = ").push_bind(user.as_uuid()).push(")");
    }
}

/// Returns the form of a text in which it is compared.
fn text_column<S: DirectorySearch>(field: GroupText) -> &'static str {
    match field {
        GroupText::Id => S::GROUP_ID,
        GroupText::ExternalId => "g.external_id",
        GroupText::DisplayName => "g.display_name_key",
    }
}

fn moment_column(field: GroupMoment) -> &'static str {
    match field {
        GroupMoment::Created => "g.created_at",
        GroupMoment::LastModified => "g.updated_at",
    }
}
