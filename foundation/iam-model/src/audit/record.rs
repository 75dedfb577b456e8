use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::audit::field_name::is_folded;
use crate::audit::{AuditEntry, ResourceType, Salt, Salts};
use crate::clock::Timestamp;
use crate::context::{Actor, Author};
use crate::id::{AuditEntryId, OrganizationId, UserId};
use crate::random::Random;

/// The member of an entry's metadata that says why trusted code acted.
pub(super) const SYSTEM: &str = "system";

/// The field of the metadata that names the API key of the caller.
pub(super) const API_KEY: &str = "apiKeyId";

/// The field of the metadata that names the directory for which the caller acts.
pub(super) const DIRECTORY: &str = "directoryId";

/// The field of the metadata that names the user who acts in the session of another one, whom the entry names as the
/// acting user.
pub(crate) const ACTOR: &str = "actorId";

/// The description of a change for the audit log, without the caller and the time.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    action: Cow<'static, str>,
    resource_type: ResourceType,
    resource_id: Option<String>,
    organization_id: Option<OrganizationId>,
    attribution: Attribution,
    old_value: Option<Map<String, Value>>,
    new_value: Option<Map<String, Value>>,
    metadata: Map<String, Value>,
    /// The field of the metadata that names the person behind the caller, if it is to be named beside the acting user.
    person: Option<&'static str>,
}

/// The acting user that an entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribution {
    /// The caller.
    Caller,
    /// This user, who authenticated in the same unit of work.
    User(UserId),
    /// No user, as `docs/audit.md#what-is-recorded` requires for a failed login.
    NoUser,
}

impl Record {
    pub(crate) fn new(action: &'static str, resource_type: ResourceType, resource_id: impl ToString) -> Self {
        Self::of(action.into(), resource_type, Some(resource_id.to_string()))
    }

    /// Creates a record. It may have no resource, and its action and resource type may come from the application.
    pub(super) fn of(action: Cow<'static, str>, resource_type: ResourceType, resource_id: Option<String>) -> Self {
        Self {
            action,
            resource_type,
            resource_id,
            organization_id: None,
            attribution: Attribution::Caller,
            old_value: None,
            new_value: None,
            metadata: Map::new(),
            person: None,
        }
    }

    /// Creates a record without a resource and without an acting user.
    pub(crate) fn unattributed(action: &'static str, resource_type: ResourceType) -> Self {
        Self::of(action.into(), resource_type, None).attributed(Attribution::NoUser)
    }

    /// Sets the acting user, where that is not the caller.
    pub(crate) fn attributed(self, attribution: Attribution) -> Self {
        Self { attribution, ..self }
    }

    /// Names the person behind the caller in this field of the metadata, if it is a user: for a record that is
    /// attributed to another one.
    pub(crate) fn naming_person(self, field: &'static str) -> Self {
        Self { person: Some(field), ..self }
    }

    /// Sets the organization that the record is about, or in which the event happens.
    pub(crate) fn in_organization(self, organization_id: Option<OrganizationId>) -> Self {
        Self { organization_id, ..self }
    }

    /// Adds a field to the metadata.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// Adds all these fields to the metadata.
    pub(crate) fn with_all(mut self, metadata: Map<String, Value>) -> Self {
        self.metadata.extend(metadata);
        self
    }

    /// Sets the fields of a created resource as the new values.
    pub(crate) fn creating(mut self, fields: &Value) -> Self {
        self.new_value = Some(object(fields));
        self
    }

    /// Sets the fields of a deleted resource as the old values.
    pub(crate) fn deleting(mut self, fields: &Value) -> Self {
        self.old_value = Some(object(fields));
        self
    }

    /// Sets the fields that differ as the old and new values.
    pub(crate) fn changing(mut self, before: &Value, after: &Value) -> Self {
        let (before, after) = (object(before), object(after));
        let differs = |key: &&String| before.get(*key) != after.get(*key);
        let vanished = before.keys().filter(|key| !after.contains_key(*key));
        let changed: Vec<String> = after.keys().filter(differs).chain(vanished).cloned().collect();
        let pick = |from: &Map<String, Value>| {
            changed.iter().map(|key| (key.clone(), from.get(key).cloned().unwrap_or_default())).collect()
        };
        self.old_value = Some(pick(&before));
        self.new_value = Some(pick(&after));
        self
    }

    /// Lists the changed fields in the metadata, as for an UPDATE.
    pub(crate) fn listing_changed_fields(self) -> Self {
        let changed: Vec<&String> = self.new_value.iter().flat_map(Map::keys).collect();
        let changed = json!(changed);
        self.with("changedFields", changed)
    }

    /// Builds the entry: the redacted record with the acting user, the time and the request.
    pub(crate) fn into_entry(
        self,
        id: AuditEntryId,
        author: &Author,
        created_at: Timestamp,
        random: &dyn Random,
    ) -> AuditEntry {
        let mut metadata = self.metadata;
        match &author.actor {
            Actor::System { reason } => drop(metadata.insert(SYSTEM.to_owned(), Value::from(reason.as_ref()))),
            Actor::ApiKey { key, .. } => drop(metadata.insert(API_KEY.to_owned(), json!(key))),
            Actor::User { .. } | Actor::Anonymous => {}
        }
        if let Some(by) = author.impersonator {
            // A record about a session in which another user acts names that one.
            metadata.entry(ACTOR).or_insert_with(|| json!(by.user));
        }
        if let Some((field, person)) = self.person.zip(author.person()) {
            metadata.insert(field.to_owned(), json!(person));
        }
        if let Some(directory) = author.directory {
            metadata.insert(DIRECTORY.to_owned(), json!(directory));
        }
        AuditEntry {
            id,
            tenant_id: author.tenant,
            action: self.action,
            resource_type: self.resource_type,
            resource_id: self.resource_id,
            organization_id: self.organization_id,
            user_id: match self.attribution {
                Attribution::Caller => author.user(),
                Attribution::User(user) => Some(user),
                Attribution::NoUser => None,
            },
            old_value: self.old_value.map(redacted),
            new_value: self.new_value.map(redacted),
            metadata: redacted(metadata),
            context: author.context.clone(),
            created_at,
            salts: Salts { details: Salt::draw(random), origin: Salt::draw(random) },
        }
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// The text that replaces a secret.
const REDACTED: &str = "[REDACTED]";

/// The names of secret fields, in lower case and without underscores and hyphens.
const SECRETS: [&str; 9] = [
    "password",
    "passwordhash",
    "currentpassword",
    "newpassword",
    "refreshtoken",
    "accesstoken",
    "token",
    "secret",
    "authorization",
];

/// Replaces the value of every field with a secret's name, at any depth. The field itself stays.
fn redacted(fields: Map<String, Value>) -> Map<String, Value> {
    fields
        .into_iter()
        .map(|(name, value)| {
            let value = if is_secret(&name) { Value::from(REDACTED) } else { redacted_value(value) };
            (name, value)
        })
        .collect()
}

fn redacted_value(value: Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(redacted(fields)),
        Value::Array(items) => items.into_iter().map(redacted_value).collect(),
        plain => plain,
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.replace('-', "");
    SECRETS.iter().any(|secret| is_folded(&name, secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redact(value: Value) -> Value {
        redacted_value(value)
    }

    #[test]
    fn secrets_are_redacted_by_name_at_any_depth_in_any_case_and_type() {
        let value = json!({
            "email": "ada@example.com",
            "Password": "x",
            "deep": [{ "refresh_token": { "nested": 1 }, "kept": null }, [{ "AUTHORIZATION": "Bearer x" }]],
            "Access-Token": "x",
            "new--pass_word-": ["x"],
            "passwords": "not one of the names",
            "to ken": "not one of the names",
        });
        assert_eq!(
            redact(value),
            json!({
                "email": "ada@example.com",
                "Password": "[REDACTED]",
                "deep": [{ "refresh_token": "[REDACTED]", "kept": null }, [{ "AUTHORIZATION": "[REDACTED]" }]],
                "Access-Token": "[REDACTED]",
                "new--pass_word-": "[REDACTED]",
                "passwords": "not one of the names",
                "to ken": "not one of the names",
            })
        );
    }

    #[test]
    fn an_update_holds_the_changed_fields_only() {
        let record = Record::new("UPDATE", ResourceType::USER, "1")
            .changing(&json!({ "a": 1, "b": 2 }), &json!({ "a": 1, "b": 3 }))
            .listing_changed_fields();
        assert_eq!(Value::Object(record.old_value.unwrap()), json!({ "b": 2 }));
        assert_eq!(Value::Object(record.new_value.unwrap()), json!({ "b": 3 }));
        assert_eq!(Value::Object(record.metadata), json!({ "changedFields": ["b"] }));
    }
}
