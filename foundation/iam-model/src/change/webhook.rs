use serde_json::json;
use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::clock::shown;
use crate::webhook::Webhook;

/// A change of webhooks.
#[derive(Clone, Debug)]
pub enum WebhookChange {
    /// A webhook is made.
    Create {
        /// The webhook.
        webhook: Webhook,
        /// It sends the events from after this number on.
        after: u64,
    },
    /// Fields of a webhook change. A webhook that is switched on has no failures behind it.
    Update {
        /// The webhook before the change.
        before: Box<Webhook>,
        /// The webhook after the change.
        after: Webhook,
        /// Why the service itself makes the change.
        reason: Option<String>,
    },
    /// A webhook gets a new secret.
    Rotate {
        /// The webhook after the change.
        after: Webhook,
    },
    /// A webhook sends events again.
    Replay {
        /// The webhook after the change, which has only another version.
        webhook: Webhook,
        /// It sends the events from after this number on, or from where it is, if that is earlier.
        after: u64,
    },
    /// A webhook is removed, with its deliveries.
    Delete(Webhook),
}

impl WebhookChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        let record = match self {
            Self::Create { webhook, .. } => of(webhook, action::CREATE).creating(&webhook.audited()),
            Self::Update { before, after, reason } => {
                let record = of(after, action::UPDATE).changing(&before.audited(), &after.audited());
                let record = record.listing_changed_fields();
                match reason {
                    Some(reason) => record.with("reason", reason.as_str()),
                    None => record,
                }
            }
            Self::Rotate { after } => {
                let former_until = after.salt.former.as_ref().map(|former| shown(former.until));
                of(after, action::UPDATE).with("isRotated", true).with("formerUntil", former_until)
            }
            Self::Replay { webhook, after } => of(webhook, action::UPDATE).with("replayedFrom", json!(after + 1)),
            Self::Delete(webhook) => of(webhook, action::DELETE).deleting(&webhook.audited()),
        };
        vec![record]
    }

    // The events that a webhook sends are no right of a user. Who makes one must be allowed to read all of them.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create { .. } | Self::Update { .. } | Self::Rotate { .. } | Self::Replay { .. } | Self::Delete(_) => {
                Vec::new()
            }
        }
    }

    // No request is authenticated by a webhook.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create { .. } | Self::Update { .. } | Self::Rotate { .. } | Self::Replay { .. } | Self::Delete(_) => {
                Vec::new()
            }
        }
    }
}

fn of(webhook: &Webhook, action: &'static str) -> Record {
    Record::new(action, ResourceType::WEBHOOK, webhook.id)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::access::testing::at;
    use crate::audit::testing::author;
    use crate::change::Change;
    use crate::id::IdGenerator;
    use crate::random::SystemRandom;
    use crate::webhook::{FormerSalt, WebhookSalt};

    fn webhook() -> Webhook {
        Webhook {
            tenant_id: "00000001-0000-7000-8000-000000000000".parse().unwrap(),
            types: vec!["USER.*".parse().unwrap()],
            salt: WebhookSalt { current: [1; 32], former: Some(FormerSalt { salt: [2; 32], until: at(7) }) },
            ..crate::webhook::tests::webhook()
        }
    }

    /// The action, the old and new values, and the metadata of the entry of a change.
    fn recorded(change: WebhookChange) -> (String, Value, Value, Value) {
        let change = Change::from(change);
        let author = author(webhook().tenant_id);
        let batch = crate::change::AuditBatch::of(&change, &author, at(1), &IdGenerator::new(), &SystemRandom);
        let [entry] = batch.entries() else { panic!("{} entries", batch.entries().len()) };
        assert_eq!(entry.resource_type, ResourceType::WEBHOOK);
        assert_eq!(entry.resource_id, Some(webhook().id.to_string()));
        let [old, new] = [&entry.old_value, &entry.new_value].map(|value| json!(value));
        (entry.action.to_string(), old, new, json!(entry.metadata))
    }

    #[test]
    fn every_change_is_recorded_without_a_salt() {
        let fields = webhook().audited();
        let create = recorded(WebhookChange::Create { webhook: webhook(), after: 7 });
        assert_eq!(create, ("CREATE".into(), Value::Null, fields.clone(), json!({ "system": "test" })));
        let after = Webhook { enabled: false, ..webhook() };
        let update = |reason| WebhookChange::Update { before: webhook().into(), after: after.clone(), reason };
        let (action, old, new, metadata) = recorded(update(None));
        assert_eq!((action.as_str(), old, new), ("UPDATE", json!({ "enabled": true }), json!({ "enabled": false })));
        assert_eq!(metadata, json!({ "system": "test", "changedFields": ["enabled"] }));
        let (.., metadata) = recorded(update(Some("gone".to_owned())));
        assert_eq!(metadata["reason"], "gone");
        let (action, old, new, metadata) = recorded(WebhookChange::Rotate { after: webhook() });
        assert_eq!((action.as_str(), old, new), ("UPDATE", Value::Null, Value::Null));
        let expected = json!({ "system": "test", "isRotated": true, "formerUntil": "1970-01-01T00:00:07.000Z" });
        assert_eq!(metadata, expected);
        let (action, .., metadata) = recorded(WebhookChange::Replay { webhook: webhook(), after: 6 });
        assert_eq!((action.as_str(), metadata), ("UPDATE", json!({ "system": "test", "replayedFrom": 7 })));
        let (action, old, new, _) = recorded(WebhookChange::Delete(webhook()));
        assert_eq!((action.as_str(), old, new), ("DELETE", fields, Value::Null));
    }

    #[test]
    fn a_change_gives_no_rights_and_ends_no_session() {
        for change in [
            WebhookChange::Create { webhook: webhook(), after: 0 },
            WebhookChange::Update { before: webhook().into(), after: webhook(), reason: None },
            WebhookChange::Rotate { after: webhook() },
            WebhookChange::Replay { webhook: webhook(), after: 0 },
            WebhookChange::Delete(webhook()),
        ] {
            assert!(change.granted_rights().is_empty() && change.invalidates().is_empty());
        }
    }
}
