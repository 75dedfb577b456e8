//! Directories, and what they say of their users.

use iam_model::clock::{Timestamp, cut};
use iam_model::directory::{
    Condition, Directory, DirectoryActivity, DirectoryRefusal, DirectoryUser, EmailField, EmailTest, Order,
    ProvisionedUser, TextOperator, UserMoment, UserSortField, UserTest, UserText,
};
use iam_model::id::{DirectoryId, TenantId};
use iam_model::page::SortOrder;
use iam_model::store_error::StoreError;
use iam_model::text::folded;
use serde_json::{Map, Value};
use sqlx::types::Json;
use sqlx::{Encode, FromRow, QueryBuilder, Type};
use uuid::Uuid;

use crate::audit::Fields;
use crate::column::{StoredMoment, integer, moment, moment_optional, not_negative, parse, text};
use crate::page::Counted;
use crate::store::SqlStore;
use crate::user::UserRow;

/// A directory as the stores read it: the columns of its table, except those of its activity.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct DirectoryRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub service_account_id: Uuid,
    pub identity_provider_id: Option<Uuid>,
    pub adopt: bool,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<DirectoryRow<T>> for Directory {
    type Error = StoreError;

    fn try_from(row: DirectoryRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            name: text("directories.name", row.name)?,
            service_account_id: row.service_account_id.into(),
            identity_provider_id: row.identity_provider_id.map(Into::into),
            adopt: row.adopt,
            created_at: moment("directories.created_at", row.created_at)?,
            updated_at: moment("directories.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// A directory with its activity: all columns of the table.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct ListedDirectoryRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub name: String,
    pub service_account_id: Uuid,
    pub identity_provider_id: Option<Uuid>,
    pub adopt: bool,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
    pub last_request_at: Option<T>,
    pub refusals: Json<Vec<DirectoryRefusal>>,
}

impl<T: StoredMoment> ListedDirectoryRow<T> {
    /// Converts the row.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a column is not valid.
    pub fn listed(self) -> Result<(Directory, DirectoryActivity), StoreError> {
        let activity = DirectoryActivity {
            last_request_at: moment_optional("directories.last_request_at", self.last_request_at)?,
            refusals: self.refusals.0,
        };
        let directory = DirectoryRow {
            tenant_id: self.tenant_id,
            id: self.id,
            name: self.name,
            service_account_id: self.service_account_id,
            identity_provider_id: self.identity_provider_id,
            adopt: self.adopt,
            created_at: self.created_at,
            updated_at: self.updated_at,
            version: self.version,
        };
        Ok((directory.try_into()?, activity))
    }
}

/// What a directory says of a user, as the stores read it: the columns of its table, except the searched one.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct DirectoryUserRow<T> {
    pub tenant_id: Uuid,
    pub user_id: Uuid,
    pub directory_id: Uuid,
    pub user_name: String,
    pub attributes: Fields,
    pub deleted_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<DirectoryUserRow<T>> for DirectoryUser {
    type Error = StoreError;

    fn try_from(row: DirectoryUserRow<T>) -> Result<Self, StoreError> {
        Ok(Self {
            tenant_id: row.tenant_id.into(),
            directory_id: row.directory_id.into(),
            user_id: row.user_id.into(),
            user_name: parse("directory_users.user_name", &row.user_name)?,
            attributes: row.attributes.0,
            deleted_at: moment_optional("directory_users.deleted_at", row.deleted_at)?,
            created_at: moment("directory_users.created_at", row.created_at)?,
            updated_at: moment("directory_users.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// A user of a directory that the directory has not deleted: the columns of the user, and what the directory says.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct ProvisionedUserRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub kind: String,
    pub email: String,
    pub email_verified_at: Option<T>,
    pub first_name: String,
    pub last_name: String,
    pub external_id: Option<String>,
    pub home_organization_id: Option<Uuid>,
    pub status: String,
    pub last_login_at: Option<T>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
    pub directory_id: Uuid,
    pub user_name: String,
    pub attributes: Fields,
    pub entry_created_at: T,
    pub entry_updated_at: T,
    pub entry_version: i64,
}

impl<T: StoredMoment> TryFrom<ProvisionedUserRow<T>> for ProvisionedUser {
    type Error = StoreError;

    fn try_from(row: ProvisionedUserRow<T>) -> Result<Self, StoreError> {
        let entry = DirectoryUserRow {
            tenant_id: row.tenant_id,
            user_id: row.id,
            directory_id: row.directory_id,
            user_name: row.user_name,
            attributes: row.attributes,
            deleted_at: None,
            created_at: row.entry_created_at,
            updated_at: row.entry_updated_at,
            version: row.entry_version,
        };
        let user = UserRow {
            tenant_id: row.tenant_id,
            id: row.id,
            kind: row.kind,
            email: row.email,
            email_verified_at: row.email_verified_at,
            first_name: row.first_name,
            last_name: row.last_name,
            external_id: row.external_id,
            home_organization_id: row.home_organization_id,
            status: row.status,
            last_login_at: row.last_login_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
            version: row.version,
        };
        Ok(Self { user: user.try_into()?, entry: entry.try_into()? })
    }
}

/// Returns the value of the column for the attributes of a user.
#[must_use]
pub fn stored_attributes(entry: &DirectoryUser) -> String {
    Value::Object(entry.attributes.clone()).to_string()
}

/// Returns the value of the column in which the attributes of a user are searched: their texts in the form in which
/// they are compared, because SQL cannot make it.
#[must_use]
pub fn stored_search(entry: &DirectoryUser) -> Json<Value> {
    let attributes = &entry.attributes;
    let name = |part: &str| attributes.get("name").and_then(|name| name.get(part));
    let mut search = forms([
        ("displayName", attributes.get("displayName")),
        ("givenName", name("givenName")),
        ("familyName", name("familyName")),
        ("formatted", name("formatted")),
    ]);
    if let Some(emails) = attributes.get("emails").and_then(Value::as_array) {
        search.insert("emails".to_owned(), emails.iter().map(searched_email).collect());
    }
    Json(Value::Object(search))
}

fn searched_email(email: &Value) -> Value {
    let mut searched = forms([("value", email.get("value")), ("type", email.get("type"))]);
    if email.get("primary").and_then(Value::as_bool).unwrap_or_default() {
        searched.insert("primary".to_owned(), Value::Bool(true));
    }
    Value::Object(searched)
}

/// Returns the texts among some values, in the form in which they are compared.
fn forms<'a>(values: impl IntoIterator<Item = (&'static str, Option<&'a Value>)>) -> Map<String, Value> {
    let form = |value: &Value| Some(Value::String(storable(&folded(value.as_str()?))));
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), form(value?)?))).collect()
}

/// Returns a refusal as a list in JSON, to which the earlier ones are added.
#[must_use]
pub fn stored_refusal(refusal: &DirectoryRefusal) -> Json<Vec<DirectoryRefusal>> {
    let (request, detail) = (storable(&refusal.request), storable(&refusal.detail));
    Json(vec![DirectoryRefusal { request, detail, ..refusal.clone() }])
}

/// Returns a text that the JSON of every database can have: PostgreSQL refuses U+0000.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Reads users of a directory. `read` executes the statement of [`list`], which skips so many users and returns at
/// most so many.
///
/// # Errors
///
/// Those of `read`; [`StoreError::Corrupt`] when a row is not valid.
pub async fn read_provisioned<T, F>(
    first: u64,
    limit: u32,
    read: impl Fn(u64, u32) -> F,
) -> Result<(Vec<ProvisionedUser>, u64), StoreError>
where
    T: StoredMoment,
    F: Future<Output = Result<Vec<Counted<ProvisionedUserRow<T>>>, StoreError>>,
{
    let rows = if limit > 0 { read(first, limit).await? } else { Vec::new() };
    let total = match rows.first() {
        // Without a row there is no total, so the first one is read for it.
        None if first > 0 || limit == 0 => read(0, 1).await?.first().map_or(0, |row| row.total),
        row => row.map_or(0, |row| row.total),
    };
    let users = rows.into_iter().map(|counted| ProvisionedUser::try_from(counted.row)).collect::<Result<_, _>>()?;
    Ok((users, not_negative(total)))
}

// The list is built at run time, because its conditions and its order vary from call to call. Only text of this file
// and of the stores is pushed. All values from outside are bound, except numbers.

const LIST_COLUMNS: &str = "
    u.tenant_id, u.id, u.kind, u.email, u.email_verified_at, u.first_name, u.last_name, u.external_id,
    u.home_organization_id, u.status, u.last_login_at, u.created_at, u.updated_at, u.version,
    d.directory_id, d.user_name, d.attributes,
    d.created_at AS entry_created_at, d.updated_at AS entry_updated_at, d.version AS entry_version";

/// How a database searches the users of a directory. `d` is what the directory says of a user.
pub trait DirectorySearch: SqlStore {
    /// The text of the identifier of a user.
    const USER_ID: &'static str;
    /// The e-mails `e` of a user, each in the column `value`.
    const EMAILS: &'static str;
    /// The function that returns the greatest of its arguments.
    const GREATEST: &'static str;
    /// Follows a text that is sorted by Unicode code point.
    const BY_CODE_POINT: &'static str;

    /// Joins what the directory says of the users of the page, as [`push_rows`](SqlStore::push_rows) joins rows.
    fn push_entries(query: &mut QueryBuilder<Self::Database>, tenant: TenantId);
}

/// Builds the statement for the users of a directory that meet a condition and that the directory has not deleted:
/// `first` of them are skipped.
pub fn list<S>(
    tenant: TenantId,
    directory: DirectoryId,
    condition: &Condition<UserTest>,
    sort: (UserSortField, SortOrder),
    first: u64,
    limit: u32,
) -> QueryBuilder<S::Database>
where
    S: DirectorySearch,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    let query = QueryBuilder::new("WITH found AS MATERIALIZED (SELECT d.user_id AS id, d.created_at, ");
    let mut statement = Statement::<S>(query);
    statement.push_key(sort.0);
    statement.push_found(tenant, directory, condition, reads_user(condition, sort.0));
    let query = &mut statement.0;
    query.push(") SELECT (SELECT count(*) FROM found) AS total,").push(LIST_COLUMNS);
    query.push(" FROM (SELECT f.id, f.key, f.created_at FROM found f");
    push_order::<S>(query, "f", sort);
    // Not parameters; see `push_page` of the stores.
    query.push(" LIMIT ").push(limit).push(" OFFSET ").push(integer(first)).push(") p");
    S::push_entries(query, tenant);
    S::push_rows(query, tenant, "users", "u");
    push_order::<S>(query, "p", sort);
    statement.0
}

/// Adds the order of the rows under an alias.
fn push_order<S: SqlStore>(
    query: &mut QueryBuilder<S::Database>,
    alias: &'static str,
    (field, order): (UserSortField, SortOrder),
) {
    query.push(" ORDER BY ").push(alias).push(".key");
    match (field, order) {
        (UserSortField::Text(_), SortOrder::Ascending) => query.push(" ASC NULLS LAST"),
        (UserSortField::Text(_), SortOrder::Descending) => query.push(" DESC NULLS FIRST"),
        _ => query.push(S::direction(order, false)),
    };
    if field != UserSortField::Created {
        query.push(", ").push(alias).push(".created_at");
    }
    query.push(", ").push(alias).push(".id");
}

/// Whether the row of the user is read to find out whether a condition holds, or where the user stands in a list.
fn reads_user(condition: &Condition<UserTest>, sort: UserSortField) -> bool {
    let is_sorted = matches!(sort, UserSortField::LastModified | UserSortField::Text(UserText::ExternalId));
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

/// A statement that is being built. `d` is what the directory says of a user, and `u` the user.
struct Statement<S: SqlStore>(QueryBuilder<S::Database>);

impl<S> Statement<S>
where
    S: DirectorySearch,
    S::Moment: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    Uuid: for<'q> Encode<'q, S::Database> + Type<S::Database>,
    String: for<'q> Encode<'q, S::Database> + Type<S::Database>,
{
    /// Adds the column by which the list is sorted.
    fn push_key(&mut self, field: UserSortField) {
        match field {
            UserSortField::Created => self.push_moment(UserMoment::Created),
            UserSortField::LastModified => self.push_moment(UserMoment::LastModified),
            // Identifiers and their texts have the same order.
            UserSortField::Text(UserText::Id) => drop(self.0.push("d.user_id")),
            UserSortField::Text(field) => drop(self.0.push(text_column::<S>(field)).push(S::BY_CODE_POINT)),
        }
        self.0.push(" AS key");
    }

    /// Adds the FROM clause and the conditions for the users of a directory that meet a condition.
    fn push_found(
        &mut self,
        tenant: TenantId,
        directory: DirectoryId,
        condition: &Condition<UserTest>,
        reads_user: bool,
    ) {
        self.0.push(" FROM ").push(S::SCHEMA).push("directory_users d");
        if reads_user {
            self.0.push(" JOIN ").push(S::SCHEMA).push("users u ON u.id = d.user_id AND u.tenant_id = ");
            self.0.push_bind(tenant.as_uuid());
        }
        self.0.push(" WHERE d.tenant_id = ").push_bind(tenant.as_uuid());
        self.0.push(" AND d.directory_id = ").push_bind(directory.as_uuid()).push(" AND d.deleted_at IS NULL");
        self.push_required(condition);
    }

    /// Adds a condition that all users must meet. An equality is alone, so that the planner finds an index for it.
    fn push_required(&mut self, condition: &Condition<UserTest>) {
        if let Condition::All(conditions) = condition {
            return conditions.iter().for_each(|condition| self.push_required(condition));
        }
        self.0.push(" AND ");
        match condition {
            Condition::Test(UserTest::Text {
                field,
                operator: TextOperator::Equals | TextOperator::Sorted(Order::Equal),
                value,
            }) => self.push_equality(*field, field.form(value)),
            condition => self.push_condition(condition, Self::push_user_test),
        }
    }

    fn push_equality(&mut self, field: UserText, value: String) {
        let id = value.parse::<Uuid>().ok().filter(|id| id.to_string() == value);
        match (field, id) {
            (UserText::Id, Some(id)) => drop(self.0.push("d.user_id = ").push_bind(id)),
            (UserText::Id, None) => drop(self.0.push("FALSE")),
            _ if value.contains('\0') => drop(self.0.push("FALSE")),
            _ => drop(self.0.push(text_column::<S>(field)).push(" = ").push_bind(value)),
        }
    }

    /// Adds a condition that is true or false, and never NULL, like its tests.
    fn push_condition<T>(&mut self, condition: &Condition<T>, test: fn(&mut Self, &T)) {
        match condition {
            Condition::All(conditions) => self.push_joined(conditions, " AND ", "TRUE", test),
            Condition::Any(conditions) => self.push_joined(conditions, " OR ", "FALSE", test),
            Condition::Not(condition) => {
                self.0.push("NOT ");
                self.push_condition(condition, test);
            }
            Condition::Test(one) => test(self, one),
        }
    }

    fn push_joined<T>(
        &mut self,
        conditions: &[Condition<T>],
        word: &'static str,
        without: &'static str,
        test: fn(&mut Self, &T),
    ) {
        let mut before = "(";
        for condition in conditions {
            self.0.push(before);
            self.push_condition(condition, test);
            before = word;
        }
        self.0.push(if conditions.is_empty() { without } else { ")" });
    }

    fn push_user_test(&mut self, test: &UserTest) {
        match test {
            UserTest::Present(field) => drop(self.0.push(text_column::<S>(*field)).push(" IS NOT NULL")),
            UserTest::Text { field, operator, value } => {
                self.push_text_test(text_column::<S>(*field), *operator, &field.form(value));
            }
            UserTest::Active(true) => drop(self.0.push("u.status = 'ACTIVE'")),
            UserTest::Active(false) => drop(self.0.push("u.status <> 'ACTIVE'")),
            UserTest::Moment { field, order, value } => self.push_moment_test(*field, *order, *value),
            UserTest::Email(condition) => {
                self.0.push("EXISTS (SELECT 1 FROM ").push(S::EMAILS).push(" WHERE ");
                self.push_condition(condition, Self::push_email_test);
                self.0.push(")");
            }
        }
    }

    fn push_email_test(&mut self, test: &EmailTest) {
        match test {
            EmailTest::Present(field) => drop(self.0.push(email_column(*field)).push(" IS NOT NULL")),
            EmailTest::Text { field, operator, value } => {
                self.push_text_test(email_column(*field), *operator, &folded(value));
            }
            EmailTest::Primary(true) => drop(self.0.push("(e.value ->> 'primary') IS NOT NULL")),
            EmailTest::Primary(false) => drop(self.0.push("(e.value ->> 'primary') IS NULL")),
        }
    }

    /// Adds a test of a text that may be NULL.
    fn push_text_test(&mut self, column: &'static str, operator: TextOperator, value: &str) {
        if let Some((before, _)) = value.split_once('\0') {
            return self.push_unstorable_test(column, operator, before);
        }
        let query = &mut self.0;
        query.push("coalesce(");
        // Not LIKE, in which some characters of the value would have a special meaning.
        match operator {
            TextOperator::Equals => query.push(column).push(" = "),
            TextOperator::Differs => query.push(column).push(" <> "),
            TextOperator::Contains | TextOperator::StartsWith => {
                query.push(S::POSITION).push("(").push(column).push(", ")
            }
            TextOperator::EndsWith => {
                query.push("substr(").push(column).push(", length(").push(column).push(") + 1 - ");
                query.push(value.chars().count()).push(") = ")
            }
            TextOperator::Sorted(order) => query.push(column).push(S::BY_CODE_POINT).push(comparison(order)),
        };
        query.push_bind(value.to_owned()).push(match operator {
            TextOperator::Differs => ", TRUE)",
            TextOperator::Contains => ") > 0, FALSE)",
            TextOperator::StartsWith => ") = 1, FALSE)",
            TextOperator::Equals | TextOperator::EndsWith | TextOperator::Sorted(_) => ", FALSE)",
        });
    }

    /// Adds a test of a text against a value with U+0000, which no stored text has. `before` is the value up to there: no
    /// text is between both.
    fn push_unstorable_test(&mut self, column: &'static str, operator: TextOperator, before: &str) {
        match operator {
            TextOperator::Differs => drop(self.0.push("TRUE")),
            TextOperator::Equals
            | TextOperator::Contains
            | TextOperator::StartsWith
            | TextOperator::EndsWith
            | TextOperator::Sorted(Order::Equal) => drop(self.0.push("FALSE")),
            TextOperator::Sorted(Order::NotEqual) => drop(self.0.push(column).push(" IS NOT NULL")),
            TextOperator::Sorted(order) => self.push_text_test(column, TextOperator::Sorted(beyond(order)), before),
        }
    }

    fn push_moment(&mut self, field: UserMoment) {
        match field {
            UserMoment::Created => self.0.push("d.created_at"),
            UserMoment::LastModified => self.0.push(S::GREATEST).push("(u.updated_at, d.updated_at)"),
        };
    }

    fn push_moment_test(&mut self, field: UserMoment, order: Order, value: Timestamp) {
        // Stored moments have whole milliseconds. A value within a millisecond is between two of them.
        let is_whole = cut(value) == value;
        match order {
            Order::Equal if !is_whole => drop(self.0.push("FALSE")),
            Order::NotEqual if !is_whole => drop(self.0.push("TRUE")),
            order => {
                self.push_moment(field);
                let order = if is_whole { order } else { beyond(order) };
                self.0.push(comparison(order)).push_bind(S::stored(cut(value)));
            }
        }
    }
}

/// Returns the order against a stored value that is the order against a value directly after it.
fn beyond(order: Order) -> Order {
    match order {
        Order::Greater | Order::GreaterOrEqual => Order::Greater,
        Order::Less | Order::LessOrEqual => Order::LessOrEqual,
        Order::Equal | Order::NotEqual => order,
    }
}

fn comparison(order: Order) -> &'static str {
    match order {
        Order::Equal => " = ",
        Order::NotEqual => " <> ",
        Order::Greater => " > ",
        Order::GreaterOrEqual => " >= ",
        Order::Less => " < ",
        Order::LessOrEqual => " <= ",
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

fn email_column(field: EmailField) -> &'static str {
    match field {
        EmailField::Value => "(e.value ->> 'value')",
        EmailField::Type => "(e.value ->> 'type')",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_searched_in_the_form_in_which_they_are_compared() {
        let Value::Object(attributes) = json!({
            "displayName": "Ada WEI\u{df}",
            "name": { "givenName": "ADA", "formatted": 7 },
            "title": "Dr.",
            "emails": [{ "value": "Ada@Example.com", "type": "Work", "primary": true }, { "primary": false }, "a\0b"],
        }) else {
            panic!()
        };
        let entry = DirectoryUser {
            tenant_id: TenantId::NONE,
            directory_id: Uuid::nil().into(),
            user_id: Uuid::nil().into(),
            user_name: "Ada".parse().unwrap(),
            attributes,
            deleted_at: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            version: 1_i64.into(),
        };
        let expected = json!({
            "displayName": "ada weiss",
            "givenName": "ada",
            "emails": [{ "value": "ada@example.com", "type": "work", "primary": true }, {}, {}],
        });
        assert_eq!(stored_search(&entry).0, expected);
        let entry = DirectoryUser { attributes: Map::new(), ..entry };
        assert_eq!(stored_search(&entry).0, json!({}));
    }
}
