use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::audit::catalogue::is_reserved;
use crate::audit::{ResourceType, Salts};
use crate::clock::Timestamp;
use crate::context::RequestContext;
use crate::id::{AuditEntryId, OrganizationId, TenantId, UserId};

/// One recorded event. Only an erasure of personal fields changes an entry.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditEntry {
    /// The identifier of the entry; newer entries have greater identifiers.
    pub id: AuditEntryId,
    /// The tenant that the entry belongs to.
    pub tenant_id: TenantId,
    /// The action, for instance `USER_SUSPENDED`.
    pub action: Cow<'static, str>,
    /// The type of the resource that it happened to.
    pub resource_type: ResourceType,
    /// The resource; `None` for a failed login, and for an event of the application that names none.
    pub resource_id: Option<String>,
    /// The organization that the entry is about, or in which the event happened.
    pub organization_id: Option<OrganizationId>,
    /// The acting user; `None` for trusted code and for a failed login.
    pub user_id: Option<UserId>,
    /// The values before, of the changed fields only.
    pub old_value: Option<Map<String, Value>>,
    /// The values after, of the changed fields only.
    pub new_value: Option<Map<String, Value>>,
    /// Further data about the event.
    pub metadata: Map<String, Value>,
    /// The request in which it happened.
    pub context: RequestContext,
    /// When it happened.
    pub created_at: Timestamp,
    /// The salts that keep its personal fields from being guessed from its hash.
    pub salts: Salts,
}

impl AuditEntry {
    /// Whether the service itself has recorded the entry, and not an application as an event of its own. Only then, the
    /// values and the metadata are what the service knows.
    #[must_use]
    pub fn is_of_service(&self) -> bool {
        is_reserved(&self.action, self.resource_type.as_str())
    }

    /// Returns the type of the event: its resource type and its action, such as `USER.CREATE`.
    #[must_use]
    pub fn event_type(&self) -> String {
        format!("{}.{}", self.resource_type.as_str(), self.action)
    }

    /// Returns the approximate size of the entry as JSON, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        const OTHER_FIELDS: usize = 512;
        let values = [self.old_value.as_ref(), self.new_value.as_ref(), Some(&self.metadata)];
        OTHER_FIELDS + values.into_iter().flatten().map(size_of_fields).sum::<usize>()
    }
}

fn size_of_fields(fields: &Map<String, Value>) -> usize {
    fields.iter().map(|(name, value)| name.len() + 4 + size_of_value(value)).sum()
}

fn size_of_value(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 3,
        Value::Array(items) => items.iter().map(size_of_value).sum::<usize>() + 2,
        Value::Object(fields) => size_of_fields(fields) + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::audit::testing;

    #[test]
    fn the_size_grows_with_every_value() {
        let size = |metadata: Value| {
            let metadata = metadata.as_object().cloned().unwrap();
            AuditEntry { metadata, ..testing::entry(Value::Null) }.size()
        };
        let text = "x".repeat(1_000);
        let base = size(json!({}));
        for metadata in [json!({ "a": text }), json!({ "a": [1, { "b": text }] }), json!({ (text.clone()): null })] {
            assert!((1_000..1_100).contains(&(size(metadata.clone()) - base)), "{metadata}");
        }
    }
}
