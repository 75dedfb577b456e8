//! The digest of an entry. The log commits to it, and it stays the same when personal fields are erased.
//!
//! The digest is SHA-256 over a canonical JSON text, the *statement* of the entry. The statement contains every field
//! except the personal ones. In their place it contains two commitments, SHA-256 over a random salt and the values:
//! `details` for the personal fields in the values and the metadata, `origin` for the client's address and user
//! agent. Erasure keeps the commitment and destroys the salt and the values. So the digest stays the same, and the
//! values cannot be found by guessing.

use std::fmt;

use serde_json::{Map, Value};

use crate::audit::field_name::is_folded;
use crate::audit::{AuditEntry, Digest, ResourceType, Salt, canonical};
use crate::clock::shown;
use crate::context::{CorrelationId, UserAgent};

/// The text that replaces an erased personal value.
pub const ERASED: &str = "[ERASED]";

/// The version of the statement's format, in case the format must change.
const VERSION: &[u8] = b"1";

/// The names of personal fields, in lower case and without underscores. The list is part of the format of the
/// statement: a changed list changes the digests of stored entries, so it needs a new [`VERSION`].
const PERSONAL: [&str; 9] =
    ["email", "firstname", "lastname", "fullname", "displayname", "phone", "phonenumber", "address", "ipaddress"];

/// A further personal field in the values of entries about a factor or an API key: its name may be that of a person. In
/// the metadata, which an application may write, it is not personal.
const PERSONAL_OF_FACTORS_AND_KEYS: &str = "name";

/// A further personal field in the values of entries about an identity: a provider may use an address as the subject.
const PERSONAL_OF_IDENTITIES: &str = "subject";

/// Further personal fields in the values of entries about a user: another system knows the person by the first two, and
/// the third one is what the tenant keeps of the person, or all that a directory says of it.
const PERSONAL_OF_USERS: [&str; 3] = ["externalId", "userName", "attributes"];

/// Further personal fields in entries about a tenant: a tenant is often named after the person who registered it.
const PERSONAL_OF_TENANTS: [&str; 2] = ["name", "slug"];

impl AuditEntry {
    /// Returns the digest that the log commits to: SHA-256 of the [`statement`](Self::statement).
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&[self.statement().as_bytes()])
    }

    /// Returns the canonical text of the entry, in which personal values are withheld: JSON without blanks, keys
    /// sorted.
    #[must_use]
    pub fn statement(&self) -> String {
        let ([metadata, new_value, old_value], details) = self.stated_values();
        let details = self.salts.details.commit(details, &Value::from(ERASED));
        let correlation_id = self.context.correlation_id.as_ref();
        let mut statement = Statement(Vec::with_capacity(1_024));
        // In alphabetical order.
        statement.text("action", Some(&self.action));
        statement.text("correlationId", correlation_id.map(CorrelationId::as_str));
        statement.text("createdAt", Some(&shown(self.created_at)));
        statement.shown("details", Some(details));
        statement.shown("id", Some(self.id));
        statement.json("metadata", &metadata);
        statement.json("newValue", &new_value);
        statement.json("oldValue", &old_value);
        statement.shown("organizationId", self.organization_id);
        statement.shown("origin", Some(self.origin_commitment()));
        statement.text("resourceId", self.resource_id.as_deref());
        statement.text("resourceType", Some(self.resource_type.as_str()));
        statement.shown("tenantId", Some(self.tenant_id));
        statement.shown("userId", self.user_id);
        statement.json("version", VERSION);
        statement.0.push(b'}');
        String::from_utf8(statement.0).unwrap_or_default()
    }

    /// Returns the metadata and the values as the statement contains them, and the personal values that it withholds.
    fn stated_values(&self) -> ([Vec<u8>; 3], Vec<&Value>) {
        let mut withheld = Vec::new();
        let values = [
            (Some(&self.metadata), Part::Metadata),
            (self.new_value.as_ref(), Part::Values),
            (self.old_value.as_ref(), Part::Values),
        ];
        let stated = values.map(|(fields, part)| {
            let mut json = Vec::with_capacity(128);
            let mut withhold = |name: &str, value| {
                let is_personal = self.is_personal(name, part);
                if is_personal {
                    withheld.push(value);
                }
                is_personal
            };
            match fields {
                Some(fields) => canonical::write_fields(fields, &mut json, &mut withhold),
                None => json.extend_from_slice(b"null"),
            }
            json
        });
        (stated, withheld)
    }

    /// Returns the salts and values that are needed to check the commitments of the statement.
    #[must_use]
    pub fn openings(&self) -> Openings {
        let details = self.stated_values().1.into_iter().cloned().collect();
        Openings {
            details: Opening::of(self.salts.details, details),
            origin: Opening::of(self.salts.origin, self.origin().to_vec()),
        }
    }

    /// Destroys the personal values in the old and new values and the metadata, and their salt.
    pub fn erase_details(&mut self) {
        let details = self.stated_values().1;
        self.salts.details = Salt::Destroyed(self.salts.details.commit(details, &Value::from(ERASED)));
        self.metadata = self.without_personal(&self.metadata, Part::Metadata);
        self.new_value = self.new_value.as_ref().map(|fields| self.without_personal(fields, Part::Values));
        self.old_value = self.old_value.as_ref().map(|fields| self.without_personal(fields, Part::Values));
    }

    /// Destroys the client's address and user agent, and their salt.
    pub fn erase_origin(&mut self) {
        self.salts.origin = Salt::Destroyed(self.origin_commitment());
        self.context.ip_address = None;
        self.context.user_agent = None;
    }

    /// Returns the personal values in the old and new values and the metadata; none if they were erased.
    pub fn personal_values(&self) -> Vec<Value> {
        self.openings().details.map(|opening| opening.values).unwrap_or_default()
    }

    fn origin_commitment(&self) -> Digest {
        self.salts.origin.commit(&self.origin(), &Value::Null)
    }

    fn origin(&self) -> [Value; 2] {
        let address = self.context.ip_address.map(|address| address.to_string());
        let agent = self.context.user_agent.as_ref().map(UserAgent::as_str);
        [Value::from(address), Value::from(agent)]
    }

    /// Returns the same fields with [`ERASED`] in the place of each personal value.
    fn without_personal(&self, fields: &Map<String, Value>, part: Part) -> Map<String, Value> {
        let erased = |(name, value): (&String, &Value)| {
            let is_personal = self.is_personal(name, part);
            let value = if is_personal { Value::from(ERASED) } else { self.without_personal_in(value, part) };
            (name.clone(), value)
        };
        fields.iter().map(erased).collect()
    }

    fn without_personal_in(&self, value: &Value, part: Part) -> Value {
        match value {
            Value::Object(fields) => Value::Object(self.without_personal(fields, part)),
            Value::Array(items) => items.iter().map(|item| self.without_personal_in(item, part)).collect(),
            plain => plain.clone(),
        }
    }

    fn is_personal(&self, name: &str, part: Part) -> bool {
        let is_of_factor_or_key = [ResourceType::FACTOR, ResourceType::API_KEY].contains(&self.resource_type);
        PERSONAL.iter().any(|personal| is_folded(name, personal))
            || (self.resource_type == ResourceType::TENANT
                && PERSONAL_OF_TENANTS.iter().any(|personal| is_folded(name, personal)))
            || (part == Part::Values && is_of_factor_or_key && name == PERSONAL_OF_FACTORS_AND_KEYS)
            || (part == Part::Values && self.resource_type == ResourceType::IDENTITY && name == PERSONAL_OF_IDENTITIES)
            || (part == Part::Values && self.resource_type == ResourceType::USER && PERSONAL_OF_USERS.contains(&name))
    }
}

/// A part of an entry that has fields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Metadata,
    /// The old or the new values.
    Values,
}

/// A statement that is being written.
struct Statement(Vec<u8>);

impl Statement {
    fn json(&mut self, name: &str, json: &[u8]) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        canonical::write_text(name, &mut self.0);
        self.0.push(b':');
        self.0.extend_from_slice(json);
    }

    fn text(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => {
                self.json(name, b"");
                canonical::write_text(text, &mut self.0);
            }
            None => self.json(name, b"null"),
        }
    }

    fn shown(&mut self, name: &str, value: Option<impl fmt::Display>) {
        self.text(name, value.map(|value| value.to_string()).as_deref());
    }
}

/// The salts and values that are needed to check the two commitments of a statement; `None` where a part was erased.
#[derive(Clone, Debug, PartialEq)]
pub struct Openings {
    /// For the commitment `details`.
    pub details: Option<Opening>,
    /// For the commitment `origin`: the client's address, then its user agent.
    pub origin: Option<Opening>,
}

/// The salt and the values of a commitment. The commitment is SHA-256 of the salt, followed by the canonical JSON
/// array of the values.
#[derive(Clone, PartialEq)]
pub struct Opening {
    /// The salt.
    pub salt: [u8; 16],
    /// The values, in the order in which the statement withholds them.
    pub values: Vec<Value>,
}

impl Opening {
    fn of(salt: Salt, values: Vec<Value>) -> Option<Self> {
        match salt {
            Salt::Known(salt) => Some(Self { salt, values }),
            Salt::Destroyed(_) => None,
        }
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opening([REDACTED])")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::audit::canonical::WITHHELD;
    use crate::audit::testing::entry;

    fn fields(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn the_statement_withholds_only_personal_values() {
        let entry = entry(json!({ "email": "ada@example.com", "deep": [{ "First_Name": "Ada", "status": "ACTIVE" }] }));
        let statement: Value = serde_json::from_str(&entry.statement()).unwrap();
        let expected = json!({ "email": WITHHELD, "deep": [{ "First_Name": WITHHELD, "status": "ACTIVE" }] });
        assert_eq!(statement["newValue"], expected);
        assert!(!entry.statement().contains("192.0.2.7"), "{}", entry.statement());
        assert_eq!(entry.personal_values(), [json!("Ada"), json!("ada@example.com")]);
    }

    #[test]
    fn what_another_system_knows_of_a_user_is_personal() {
        let attributes =
            json!({ "name": { "givenName": "Ada" }, "title": "Countess", "emails": [{ "value": "a@b.example" }] });
        let values = json!({ "externalId": "00u1", "userName": "ada", "attributes": attributes, "status": "ACTIVE" });
        let about_user = entry(values.clone());
        assert_eq!(about_user.personal_values(), [attributes, json!("00u1"), json!("ada")]);
        let mut erased = about_user.clone();
        erased.erase_details();
        let left = json!({ "externalId": ERASED, "userName": ERASED, "attributes": ERASED, "status": "ACTIVE" });
        assert_eq!((json!(erased.new_value), erased.digest()), (left, about_user.digest()));
        // An application that writes such a field means something of its own.
        let of_application = AuditEntry { new_value: None, metadata: fields(values.clone()), ..entry(Value::Null) };
        assert!(of_application.personal_values().is_empty());
        let about_role = AuditEntry { resource_type: ResourceType::ROLE, ..entry(values) };
        assert!(about_role.personal_values().is_empty());
    }

    #[test]
    fn a_third_party_can_check_the_commitments() {
        let entry = entry(json!({ "email": "ada@example.com", "b": 1 }));
        let statement: Value = serde_json::from_str(&entry.statement()).unwrap();
        let Openings { details, origin } = entry.openings();
        for (name, Opening { salt, values }, text) in [
            ("details", details.unwrap(), r#"["ada@example.com"]"#),
            ("origin", origin.unwrap(), r#"["192.0.2.7","test/1.0"]"#),
        ] {
            assert_eq!(Value::Array(values).to_string(), text);
            assert_eq!(statement[name], Digest::of(&[&salt, text.as_bytes()]).to_string());
        }
    }

    #[test]
    fn erasure_keeps_the_digest_and_removes_the_values() {
        let entry = entry(json!({ "email": "ada@example.com", "status": "ACTIVE" }));
        let mut erased = entry.clone();
        erased.erase_details();
        assert_eq!(erased.digest(), entry.digest());
        assert_eq!(erased.new_value, Some(fields(json!({ "email": ERASED, "status": "ACTIVE" }))));
        assert_eq!(erased.context, entry.context, "the other part does not change");
        erased.erase_origin();
        assert_eq!(erased.digest(), entry.digest());
        assert_eq!((erased.context.ip_address, &erased.context.user_agent), (None, &None));
        let twice = erased.clone();
        erased.erase_details();
        erased.erase_origin();
        assert_eq!(erased, twice);
        assert_eq!(erased.openings(), Openings { details: None, origin: None });
    }

    #[test]
    fn a_value_in_place_of_an_erased_one_changes_the_digest() {
        let mut erased = entry(json!({ "email": "ada@example.com" }));
        erased.erase_details();
        erased.erase_origin();
        let digest = erased.digest();
        let forged = AuditEntry { new_value: Some(fields(json!({ "email": "eve@example.com" }))), ..erased.clone() };
        assert_ne!(forged.digest(), digest);
        erased.context.ip_address = Some([192, 0, 2, 9].into());
        assert_ne!(erased.digest(), digest);
    }

    #[test]
    fn every_changed_field_changes_the_digest() {
        let before = entry(json!({ "email": "ada@example.com", "n": 9_007_199_254_740_993_u64 }));
        type Change = (&'static str, fn(&mut AuditEntry));
        let changes: [Change; 15] = [
            ("id", |entry| entry.id = uuid::Uuid::from_u128(99).into()),
            ("tenant", |entry| entry.tenant_id = uuid::Uuid::from_u128(99).into()),
            ("action", |entry| entry.action = "OTHER".into()),
            ("resource type", |entry| entry.resource_type = ResourceType::ROLE),
            ("resource", |entry| entry.resource_id = None),
            ("organization", |entry| entry.organization_id = Some(uuid::Uuid::from_u128(99).into())),
            ("user", |entry| entry.user_id = None),
            ("old value", |entry| entry.old_value = Some(Map::new())),
            ("new value", |entry| entry.new_value = None),
            ("personal value", |entry| entry.new_value = Some(fields(json!({ "email": "", "n": 1 })))),
            ("number", |entry| {
                let fields = fields(json!({ "email": "ada@example.com", "n": 9_007_199_254_740_992_u64 }));
                entry.new_value = Some(fields);
            }),
            ("metadata", |entry| drop(entry.metadata.insert("a".into(), json!(1)))),
            ("address", |entry| entry.context.ip_address = None),
            ("salt", |entry| entry.salts.origin = Salt::Known([9; 16])),
            ("time", |entry| entry.created_at += chrono::TimeDelta::milliseconds(1)),
        ];
        for (what, change) in changes {
            let mut after = before.clone();
            change(&mut after);
            assert_ne!(after.digest(), before.digest(), "{what}");
        }
    }

    proptest! {
        #[test]
        fn an_entry_has_the_same_digest_after_a_json_round_trip(numbers: Vec<f64>, texts: Vec<String>) {
            let before = entry(json!({ "numbers": numbers, "texts": texts, "email": texts }));
            let text = serde_json::to_string(before.new_value.as_ref().unwrap()).unwrap();
            let after = AuditEntry { new_value: Some(serde_json::from_str(&text).unwrap()), ..before.clone() };
            prop_assert_eq!(after.digest(), before.digest());
        }
    }
}
