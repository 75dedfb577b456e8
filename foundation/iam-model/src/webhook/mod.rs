//! Webhooks: how events are sent to other systems, by [Standard Webhooks] 1.0
//! (`docs/integrating.md#a-program-is-told-what-happens`).
//!
//! A webhook follows the log of its tenant from a number on. The delivery of an event is a row only once it was
//! attempted, so nothing is written when an event occurs.
//!
//! [Standard Webhooks]: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

mod address;
mod delivery;
mod sender;
mod url;

pub use address::{AddressPolicy, is_public};
pub use delivery::{Delivery, DeliveryProgress, DeliveryStatus, DueWebhook, WebhookBacklog, WebhookWork, wait_after};
pub use sender::{SendError, WebhookRequest, WebhookSender};
pub use url::WebhookUrl;

use std::fmt;

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit::{AuditEntry, EventFormat, EventPattern};
use crate::clock::Timestamp;
use crate::id::{TenantId, UserId, WebhookId};
use crate::validate::Description;
use crate::version::Version;

/// Sends the events of a tenant to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Identifies the webhook.
    pub id: WebhookId,
    /// The tenant whose events it sends.
    pub tenant_id: TenantId,
    /// Where it sends them.
    pub url: WebhookUrl,
    /// Which events it sends.
    pub types: Vec<EventPattern>,
    /// How it writes them. What was kept before webhooks had a format has none.
    #[serde(default)]
    pub format: EventFormat,
    /// A text for people.
    pub description: Description,
    /// Whether it sends events. A webhook that is switched off continues later with the events since.
    pub enabled: bool,
    /// The salt of its secret.
    pub salt: WebhookSalt,
    /// When it was made.
    pub created_at: Timestamp,
    /// The user who made it; `None` for trusted code.
    pub created_by: Option<UserId>,
    /// The version of the row.
    pub version: Version,
}

/// The salt of the secret of a webhook. The secret is computed from it and from a key of the installation. It is no
/// secret: without that key, it tells nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSalt {
    /// That of the present secret.
    pub current: [u8; 32],
    /// That of the secret before the last rotation, while requests are also signed with it.
    pub former: Option<FormerSalt>,
}

/// The salt of the secret before the last rotation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerSalt {
    /// The salt.
    pub salt: [u8; 32],
    /// The instant from which on no request is signed with it.
    pub until: Timestamp,
}

impl fmt::Debug for WebhookSalt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSalt").finish_non_exhaustive()
    }
}

impl Webhook {
    /// The maximum number of webhooks of a tenant.
    pub const MAX: usize = 20;

    /// The maximum number of patterns of a webhook.
    pub const MAX_TYPES: usize = 100;

    /// How long requests are also signed with the former secret after a rotation: one day.
    pub const OVERLAP: TimeDelta = TimeDelta::days(1);

    /// Returns the webhook after a change of other fields. The store raises the version by the same step.
    #[must_use]
    pub fn changed(self) -> Self {
        Self { version: self.version.next(), ..self }
    }

    /// Returns the salts of the secrets that sign a request at a moment, the present one first.
    pub fn salts(&self, now: Timestamp) -> impl Iterator<Item = &[u8; 32]> {
        let former = self.salt.former.as_ref().filter(|former| now < former.until);
        std::iter::once(&self.salt.current).chain(former.map(|former| &former.salt))
    }

    /// Whether it sends an entry of the log.
    #[must_use]
    pub fn sends(&self, entry: &AuditEntry) -> bool {
        self.types.iter().any(|pattern| pattern.matches(entry))
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "url": self.url.as_str(),
            "types": self.types.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "format": self.format.as_str(),
            "description": self.description.as_str(),
            "enabled": self.enabled,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::access::testing::{at, id};

    #[test]
    fn what_a_secret_is_computed_from_is_not_printed() {
        let printed = format!("{:?}", webhook().salt);
        assert_eq!(printed, "WebhookSalt { .. }");
    }

    pub(crate) fn webhook() -> Webhook {
        Webhook {
            id: id("webhook"),
            tenant_id: TenantId::NONE,
            url: "https://example.com/hook".parse().unwrap(),
            types: vec!["USER.*".parse().unwrap(), "ROLE.CREATE".parse().unwrap()],
            format: EventFormat::Ocsf,
            description: "the warehouse".parse().unwrap(),
            enabled: true,
            salt: WebhookSalt { current: [1; 32], former: Some(FormerSalt { salt: [2; 32], until: at(10) }) },
            created_at: at(0),
            created_by: None,
            version: Version::FIRST,
        }
    }

    #[test]
    fn the_former_secret_signs_until_the_end_of_its_overlap() {
        let webhook = webhook();
        assert_eq!(webhook.salts(at(9)).collect::<Vec<_>>(), [&[1; 32], &[2; 32]]);
        assert_eq!(webhook.salts(at(10)).collect::<Vec<_>>(), [&[1; 32]]);
    }

    #[test]
    fn a_webhook_sends_the_entries_that_one_of_its_patterns_matches() {
        let entry = crate::audit::testing::entry(json!({}));
        let pattern = |text: &str| text.parse::<EventPattern>().unwrap();
        let (own, other) = (pattern(&entry.event_type()), pattern("OTHER.*"));
        let sends = |types| Webhook { types, ..webhook() }.sends(&entry);
        assert!(sends(vec![other.clone(), own]) && !sends(vec![other]));
    }

    #[test]
    fn a_change_raises_the_version_and_the_audit_log_has_no_salt() {
        let webhook = webhook();
        assert_eq!(webhook.clone().changed().version, webhook.version.next());
        let expected = json!({
            "url": "https://example.com/hook",
            "types": ["USER.*", "ROLE.CREATE"],
            "format": "ocsf",
            "description": "the warehouse",
            "enabled": true,
        });
        assert_eq!(webhook.audited(), expected);
        assert!(!format!("{webhook:?}").contains("[1,"), "{webhook:?}");
    }
}
