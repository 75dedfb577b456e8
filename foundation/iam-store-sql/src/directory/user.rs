//! Lists of the users of a directory.

use iam_model::directory::{Condition, EmailField, EmailTest, UserMoment, UserSortField, UserTest, UserText};
use iam_model::id::{DirectoryId, TenantId};
use iam_model::page::SortOrder;
use iam_model::text::folded;
use sqlx::{Encode, QueryBuilder, Type};
use uuid::Uuid;

use crate::directory::condition::{DirectorySearch, SortKey, Statement, is_equality};

const COLUMNS: &str = "
    u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
    u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version,
    d.directory_id, d.user_name, d.attributes,
    d.created_at AS entry_created_at, d.updated_at AS entry_updated_at, d.version AS entry_version";

/// Builds the statement for the users of a directory that meet a condition and that the directory has not deleted:
/// `first` of them are skipped.
pub fn list<S>(
    tenant: TenantId,
    directory: DirectoryId,
    condition: &Condition<UserTest>,
    (field, order): (UserSortField, SortOrder),
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
    statement.push_found_users(directory, condition, field);
    statement.push_page(COLUMNS, sort, first, limit);
    S::push_entries(&mut statement.query, tenant);
    S::push_rows(&mut statement.query, tenant, "users", "u");
    statement.push_order("p", sort);
    statement.query
}

fn sort_key(field: UserSortField) -> SortKey {
    match field {
        UserSortField::Created => SortKey::Created,
        UserSortField::LastModified => SortKey::Moment,
        UserSortField::Text(_) => SortKey::Text,
    }
}

/// Whether the row of the user is read to find out whether a condition holds, or where the user stands in a list.
fn reads_user(condition: &Condition<UserTest>, field: UserSortField) -> bool {
    let is_sorted = matches!(field, UserSortField::LastModified | UserSortField::Text(UserText::ExternalId));
    is_sorted || tests_user(condition)
}

fn tests_user(condition: &Condition<UserTest>) -> bool {
    match condition {
        Condition::All(conditions) | Condition::Any(conditions) => conditions.iter().any(tests_user),
        Condition::Not(condition) => tests_user(condition),
        Condition::Test(test) => match test {
            UserTest::Present(field) | UserTest::Text { field, .. } => *field == UserText::ExternalId,
            UserTest::Moment { field, .. } => *field == UserMoment::LastModified,
            UserTest::Active(_) => true,
            UserTest::Email(_) => false,
        },
    }
}

impl<S> Statement<S>
where
    S: DirectorySearch,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    /// Adds the users of a directory that meet a condition, with the column by which the list is sorted.
    fn push_found_users(&mut self, directory: DirectoryId, condition: &Condition<UserTest>, field: UserSortField) {
        let tenant = self.tenant.as_uuid();
        self.query.push("d.user_id AS id, d.created_at, ");
        match field {
            UserSortField::Created => self.query.push(moment_column::<S>(UserMoment::Created)),
            UserSortField::LastModified => self.query.push(moment_column::<S>(UserMoment::LastModified)),
            // Identifiers and their texts have the same order.
            UserSortField::Text(UserText::Id) => self.query.push("d.user_id"),
            UserSortField::Text(field) => self.query.push(text_column::<S>(field)).push(S::BY_CODE_POINT),
        };
        self.query.push(" AS key FROM ").push(S::SCHEMA).push("directory_users d");
        if reads_user(condition, field) {
            self.query.push(" JOIN ").push(S::SCHEMA).push("users u ON u.id = d.user_id AND u.tenant_id = ");
            self.query.push_bind(tenant);
        }
        self.query.push(" WHERE d.tenant_id = ").push_bind(tenant);
        self.query.push(" AND d.directory_id = ").push_bind(directory.as_uuid()).push(" AND d.deleted_at IS NULL");
        self.push_required(condition, Self::push_required_user_test, Self::push_user_test);
    }

    fn push_required_user_test(&mut self, test: &UserTest) {
        match test {
            UserTest::Text { field: UserText::Id, operator, value } if is_equality(*operator) => {
                self.push_equal_id("d.user_id", value);
            }
            UserTest::Text { field, operator, value } if is_equality(*operator) => {
                self.push_equal_text(text_column::<S>(*field), field.form(value));
            }
            test => self.push_user_test(test),
        }
    }

    fn push_user_test(&mut self, test: &UserTest) {
        match test {
            UserTest::Present(field) => drop(self.query.push(text_column::<S>(*field)).push(" IS NOT NULL")),
            UserTest::Text { field, operator, value } => {
                self.push_text_test(text_column::<S>(*field), *operator, &field.form(value));
            }
            UserTest::Active(true) => drop(self.query.push("u.status = 'ACTIVE'")),
            UserTest::Active(false) => drop(self.query.push("u.status <> 'ACTIVE'")),
            UserTest::Moment { field, order, value } => {
                self.push_moment_test(moment_column::<S>(*field), *order, *value);
            }
            UserTest::Email(condition) => {
                self.query.push("EXISTS (SELECT 1 FROM ").push(S::EMAILS).push(" WHERE ");
                self.push_condition(condition, Self::push_email_test);
                self.query.push(")");
            }
        }
    }

    fn push_email_test(&mut self, test: &EmailTest) {
        match test {
            EmailTest::Present(field) => drop(self.query.push(email_column(*field)).push(" IS NOT NULL")),
            EmailTest::Text { field, operator, value } => {
                self.push_text_test(email_column(*field), *operator, &folded(value));
            }
            EmailTest::Primary(true) => drop(self.query.push("(e.value ->> 'primary') IS NOT NULL")),
            EmailTest::Primary(false) => drop(self.query.push("(e.value ->> 'primary') IS NULL")),
        }
    }
}

/// Returns the form of a text in which it is compared.
fn text_column<S: DirectorySearch>(field: UserText) -> &'static str {
    match field {
        UserText::Id => S::USER_ID,
        UserText::ExternalId => "u.external_id",
        UserText::UserName => "d.user_name_key",
        UserText::DisplayName => "(d.search ->> 'displayName')",
        UserText::GivenName => "(d.search ->> 'givenName')",
        UserText::FamilyName => "(d.search ->> 'familyName')",
        UserText::FormattedName => "(d.search ->> 'formatted')",
    }
}

fn moment_column<S: DirectorySearch>(field: UserMoment) -> &'static str {
    match field {
        UserMoment::Created => "d.created_at",
        UserMoment::LastModified => S::LAST_MODIFIED,
    }
}

fn email_column(field: EmailField) -> &'static str {
    match field {
        EmailField::Value => "(e.value ->> 'value')",
        EmailField::Type => "(e.value ->> 'type')",
    }
}
