//! Attributes: what a tenant keeps of its users and organizations beside their fields (`docs/http-api.md#attributes`).

mod claim;
mod definition;
mod patch;
mod search;

pub use claim::AttributeClaims;
pub use definition::{
    AttributeDefinition, AttributeDefinitions, AttributeRules, AttributeType, OwnerRules, UnregisteredAttributes,
};
pub use patch::AttributesPatch;
pub use search::{AttributeFilter, IndexedValue};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::id::{OrganizationId, UserId};

/// The attributes of a user or an organization: a JSON object.
///
/// They are kept apart from the user or organization, because most reads of these need no attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Attributes(BTreeMap<String, Value>);

impl Attributes {
    /// The maximum size, in bytes of JSON without blanks: 16 KiB. Values that also the person writes count only for what
    /// exceeds [`MAX_PERSON_BYTES`](Self::MAX_PERSON_BYTES).
    pub const MAX_BYTES: usize = 16 * 1024;

    /// The maximum number of keys. Those that also the person writes do not count.
    pub const MAX_KEYS: usize = 32;

    /// The maximum size of all values that the person writes, when it writes one, in bytes of JSON without blanks: 4 KiB.
    pub const MAX_PERSON_BYTES: usize = 4 * 1024;

    /// The maximum number of characters of each text that the person writes.
    pub const MAX_PERSON_TEXT: usize = 1024;

    /// How deep values may be nested: the object of the attributes is the first level.
    pub const MAX_DEPTH: usize = 5;

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns the keys with their values, sorted by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the attributes whose key passes.
    #[must_use]
    pub fn select(&self, passes: impl Fn(&str) -> bool) -> Self {
        let passing = self.0.iter().filter(|(key, _)| passes(key));
        Self(passing.map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    /// Returns the JSON text that a store keeps: without blanks, with sorted keys.
    #[must_use]
    pub fn to_text(&self) -> String {
        // JSON that was read can always be written.
        serde_json::to_string(&self.0).unwrap_or_else(|_| "{}".to_owned())
    }

    /// Reads the text that a store keeps. It is not checked again: an earlier release may have had other rules.
    ///
    /// # Errors
    ///
    /// The error of the parser when the text is no JSON object.
    pub fn stored(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// Returns the values by which the owner is found, at most one for a key: texts of at most
    /// [`AttributeFilter::MAX_VALUE`] characters, numbers and truth values.
    #[must_use]
    pub fn indexed(&self) -> Vec<IndexedValue> {
        self.iter().filter_map(|(key, value)| IndexedValue::of(key, value)).collect()
    }
}

impl From<Attributes> for Map<String, Value> {
    fn from(attributes: Attributes) -> Self {
        attributes.0.into_iter().collect()
    }
}

/// A change of attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAttributes {
    /// The attributes before the change.
    pub before: Attributes,
    /// The attributes after the change.
    pub after: Attributes,
}

impl ChangedAttributes {
    /// Adds the keys that change to the fields that the audit log records, under `attributes`.
    pub(crate) fn record_in(&self, before: &mut Value, after: &mut Value) {
        let differs = |key: &str| self.before.get(key) != self.after.get(key);
        insert(before, &self.before.select(differs));
        insert(after, &self.after.select(differs));
    }
}

/// Adds attributes to the fields that the audit log records.
pub(crate) fn insert(fields: &mut Value, attributes: &Attributes) {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert("attributes".to_owned(), Map::from(attributes.clone()).into());
    }
}

/// Whose attributes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttributeOwner {
    /// A person or a service account.
    User(UserId),
    /// An organization.
    Organization(OrganizationId),
}

impl AttributeOwner {
    /// Returns the identifier of the user or the organization. No user has that of an organization.
    #[must_use]
    pub fn as_uuid(self) -> Uuid {
        match self {
            Self::User(id) => id.as_uuid(),
            Self::Organization(id) => id.as_uuid(),
        }
    }
}

impl From<UserId> for AttributeOwner {
    fn from(id: UserId) -> Self {
        Self::User(id)
    }
}

impl From<OrganizationId> for AttributeOwner {
    fn from(id: OrganizationId) -> Self {
        Self::Organization(id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_stored_text_has_sorted_keys_and_is_read_back() {
        let attributes: Attributes =
            serde_json::from_value(json!({ "b": [1, 1.5], "a": { "d": null, "c": true } })).unwrap();
        assert_eq!(attributes.to_text(), r#"{"a":{"c":true,"d":null},"b":[1,1.5]}"#);
        assert_eq!(Attributes::stored(&attributes.to_text()).unwrap(), attributes);
    }

    #[test]
    fn only_the_keys_that_change_are_recorded() {
        let attributes = |value: Value| serde_json::from_value::<Attributes>(value).unwrap();
        let changed = ChangedAttributes {
            before: attributes(json!({ "a": 1, "b": 1, "c": 1 })),
            after: attributes(json!({ "a": 1, "b": 2, "d": 1 })),
        };
        let (mut before, mut after) = (json!({ "name": "x" }), json!({ "name": "x" }));
        changed.record_in(&mut before, &mut after);
        assert_eq!(before, json!({ "name": "x", "attributes": { "b": 1, "c": 1 } }));
        assert_eq!(after, json!({ "name": "x", "attributes": { "b": 2, "d": 1 } }));
    }
}
