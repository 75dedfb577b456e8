//! A user of the directory.

use iam_benches::email;
use serde_json::{Map, Value, json};

/// What a directory says of a user.
pub(crate) struct Person {
    /// Also the user name.
    pub(crate) email: String,
    pub(crate) external_id: String,
}

impl Person {
    pub(crate) fn new(number: u64) -> Self {
        Self { email: email(number), external_id: format!("person-{number}") }
    }

    /// The resource as the directory sends it.
    pub(crate) fn resource(&self) -> Value {
        let mut resource = attributes(&self.email);
        resource.insert("userName".to_owned(), self.email.as_str().into());
        resource.insert("externalId".to_owned(), self.external_id.as_str().into());
        resource.insert("active".to_owned(), true.into());
        resource.into()
    }
}

/// The attributes that are kept of a user with this e-mail.
pub(crate) fn attributes(email: &str) -> Map<String, Value> {
    let name = json!({ "givenName": "Ada", "familyName": "Lovelace" });
    let emails = json!([{ "value": email, "type": "work", "primary": true }]);
    Map::from_iter([("name".to_owned(), name), ("emails".to_owned(), emails)])
}

/// The texts in which such a user is searched.
pub(crate) fn search(email: &str) -> Value {
    let emails = json!([{ "value": email, "type": "work", "primary": true }]);
    json!({ "givenName": "ada", "familyName": "lovelace", "emails": emails })
}
