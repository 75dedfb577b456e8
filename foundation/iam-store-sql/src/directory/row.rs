//! Directories, what they say of their users, and their groups, as rows.

use iam_model::assignment::GrantContext;
use iam_model::directory::{
    Directory, DirectoryActivity, DirectoryGroup, DirectoryRefusal, DirectoryUser, ProvisionedUser,
};
use iam_model::id::OrganizationId;
use iam_model::role::PlacedRole;
use iam_model::store_error::StoreError;
use iam_model::text::folded;
use serde_json::{Map, Value};
use sqlx::FromRow;
use sqlx::types::Json;
use uuid::Uuid;

use crate::audit::Fields;
use crate::column::{StoredMoment, moment, moment_optional, parse, text};
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
        Ok(Self::new(user.try_into()?, entry.try_into()?))
    }
}

/// A group of a directory as the stores read it: the columns of its table, except the searched one.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug, FromRow)]
pub struct DirectoryGroupRow<T> {
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub directory_id: Uuid,
    pub display_name: String,
    pub external_id: Option<String>,
    pub members: i64,
    pub grants: Json<Vec<PlacedRole>>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> TryFrom<DirectoryGroupRow<T>> for DirectoryGroup {
    type Error = StoreError;

    fn try_from(row: DirectoryGroupRow<T>) -> Result<Self, StoreError> {
        let members = u32::try_from(row.members);
        Ok(Self {
            id: row.id.into(),
            tenant_id: row.tenant_id.into(),
            directory_id: row.directory_id.into(),
            display_name: parse("directory_groups.display_name", &row.display_name)?,
            external_id: row.external_id.map(|id| text("directory_groups.external_id", id)).transpose()?,
            members: members.map_err(|cause| StoreError::corrupt("directory_groups.members", cause))?,
            grants: row.grants.0,
            created_at: moment("directory_groups.created_at", row.created_at)?,
            updated_at: moment("directory_groups.updated_at", row.updated_at)?,
            version: row.version.into(),
        })
    }
}

/// A user, and the role that a group gives to it.
#[expect(missing_docs, reason = "the fields are the columns of the statements")]
#[derive(Debug)]
pub struct GrantContextRow {
    pub user_id: Uuid,
    pub role_id: Uuid,
    pub organization_id: Option<Uuid>,
}

impl From<GrantContextRow> for GrantContext {
    fn from(row: GrantContextRow) -> Self {
        Self {
            user: row.user_id.into(),
            role: row.role_id.into(),
            organization: row.organization_id.map(OrganizationId::from),
        }
    }
}

/// A user, the role that a group gives to it, and the group.
#[expect(missing_docs, reason = "the migrations document the columns")]
#[derive(Debug)]
pub struct GivingGroupRow<T> {
    pub user_id: Uuid,
    pub role_id: Uuid,
    pub organization_id: Option<Uuid>,
    pub tenant_id: Uuid,
    pub id: Uuid,
    pub directory_id: Uuid,
    pub display_name: String,
    pub external_id: Option<String>,
    pub members: i64,
    pub grants: Json<Vec<PlacedRole>>,
    pub created_at: T,
    pub updated_at: T,
    pub version: i64,
}

impl<T: StoredMoment> GivingGroupRow<T> {
    /// Converts the row.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] when a column is not valid.
    pub fn giving(self) -> Result<(GrantContext, DirectoryGroup), StoreError> {
        let Self { user_id, role_id, organization_id, .. } = self;
        let group = DirectoryGroupRow {
            tenant_id: self.tenant_id,
            id: self.id,
            directory_id: self.directory_id,
            display_name: self.display_name,
            external_id: self.external_id,
            members: self.members,
            grants: self.grants,
            created_at: self.created_at,
            updated_at: self.updated_at,
            version: self.version,
        };
        Ok((GrantContextRow { user_id, role_id, organization_id }.into(), group.try_into()?))
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

#[cfg(test)]
mod tests {
    use iam_model::clock::Timestamp;
    use iam_model::id::TenantId;
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
