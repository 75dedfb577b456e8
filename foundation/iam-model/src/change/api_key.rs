use uuid::Uuid;

use crate::access::GrantedRights;
use crate::api_key::ApiKey;
use crate::assignment::Grant;
use crate::audit::{Record, ResourceType, action};
use crate::clock::{Timestamp, shown};
use crate::context::Author;

/// A change of API keys.
#[derive(Clone, Debug)]
pub enum ApiKeyChange {
    /// A key is made.
    Create {
        /// The key.
        key: ApiKey,
        /// What the key has of the grants of its user, on which the granted rights depend if another user makes it;
        /// `None` if it was not read.
        grants: Option<Vec<Grant>>,
    },
    /// Fields of a key change.
    Update {
        /// The key before the change.
        before: Box<ApiKey>,
        /// The key after the change.
        after: ApiKey,
        /// What the key had of the grants of its user, as for [`Create`](Self::Create).
        grants: Option<Vec<Grant>>,
    },
    /// A key gets a new secret.
    Rotate {
        /// The key after the change.
        after: ApiKey,
        /// What the key has of the grants of its user, as for [`Create`](Self::Create).
        grants: Option<Vec<Grant>>,
    },
    /// Keys are revoked, and removed.
    Delete(Vec<ApiKey>),
}

impl ApiKeyChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Create { key, .. } => vec![of(key, action::CREATE).creating(&key.audited())],
            Self::Update { before, after, .. } => {
                vec![of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()]
            }
            Self::Rotate { after, .. } => {
                let former_until = after.secret.former.as_ref().map(|former| shown(former.until));
                vec![of(after, action::UPDATE).with("isRotated", true).with("formerUntil", former_until)]
            }
            Self::Delete(keys) => keys.iter().map(|key| of(key, action::DELETE).deleting(&key.audited())).collect(),
        }
    }

    pub(crate) fn granted_rights(&self, author: &Author, now: Timestamp) -> Vec<GrantedRights<'_>> {
        let (key, grants) = match self {
            Self::Create { key, grants } => (key, grants),
            Self::Update { after, grants, .. } | Self::Rotate { after, grants } => (after, grants),
            Self::Delete(_) => return Vec::new(),
        };
        // The author can use the key, and so gets its rights.
        if author.user() == Some(key.user_id) {
            return Vec::new();
        }
        GrantedRights::of_account(grants.as_deref(), now)
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            // No request was authenticated by it yet.
            Self::Create { .. } => Vec::new(),
            Self::Update { after, .. } | Self::Rotate { after, .. } => vec![after.id.into()],
            Self::Delete(keys) => keys.iter().map(|key| key.id.into()).collect(),
        }
    }
}

fn of(key: &ApiKey, action: &'static str) -> Record {
    Record::new(action, ResourceType::API_KEY, key.id).with("targetUserId", serde_json::json!(key.user_id))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::access::testing::{Scene, at, id};
    use crate::api_key::{ApiKeySecret, FormerSecret};
    use crate::audit::testing::author;
    use crate::change::{AuditBatch, Change};
    use crate::context::Actor;
    use crate::id::IdGenerator;
    use crate::random::SystemRandom;

    fn key() -> ApiKey {
        ApiKey {
            tenant_id: "00000001-0000-7000-8000-000000000000".parse().unwrap(),
            secret: ApiKeySecret { hash: [1; 32], former: Some(FormerSecret { hash: [2; 32], until: at(7) }) },
            expires_at: at(100),
            ..crate::api_key::tests::key(None, None)
        }
    }

    /// All kinds of changes.
    fn changes(grants: &Option<Vec<Grant>>) -> [ApiKeyChange; 4] {
        let grants = || grants.clone();
        let after = ApiKey { name: "daily".parse().unwrap(), ..key() };
        [
            ApiKeyChange::Create { key: key(), grants: grants() },
            ApiKeyChange::Update { before: Box::new(key()), after, grants: grants() },
            ApiKeyChange::Rotate { after: key(), grants: grants() },
            ApiKeyChange::Delete(vec![key(), key()]),
        ]
    }

    #[test]
    fn every_change_is_recorded() {
        let recorded = changes(&None).map(|change| {
            let (change, author) = (Change::from(change), author(key().tenant_id));
            let batch = AuditBatch::of(&change, &author, at(1), &IdGenerator::new(), &SystemRandom);
            batch.into_entries()
        });
        let actions = recorded.each_ref().map(|entries| entries.iter().map(|entry| &*entry.action).collect::<Vec<_>>());
        assert_eq!(actions, [vec!["CREATE"], vec!["UPDATE"], vec!["UPDATE"], vec!["DELETE"; 2]]);
        let [created, updated, rotated, deleted] = &recorded;
        let fields = json!({
            "displayName": "nightly", "permissions": null, "organizationId": null, "expiresAt": "1970-01-01T00:01:40.000Z",
        });
        assert_eq!((json!(created[0].new_value), json!(deleted[0].old_value)), (fields.clone(), fields));
        assert_eq!(json!(updated[0].new_value), json!({ "displayName": "daily" }));
        assert_eq!(rotated[0].metadata["formerUntil"], "1970-01-01T00:00:07.000Z");
        assert!(recorded.iter().flatten().all(|entry| entry.metadata["targetUserId"] == json!(key().user_id)));
    }

    #[test]
    fn who_makes_a_key_of_another_user_gets_its_rights() {
        let grants = Some(vec![Scene::new().grant("users:read", None, None)]);
        let system = author(key().tenant_id);
        let by =
            |user: &str| Author { actor: Actor::User { user: id(user), session: id("session") }, ..system.clone() };
        for (author, expected) in [(by("user"), [0; 4]), (by("other"), [1, 1, 1, 0]), (system.clone(), [1, 1, 1, 0])] {
            let granted = changes(&grants).map(|change| change.granted_rights(&author, at(1)).len());
            assert_eq!(granted, expected, "{author:?}");
        }
    }

    #[test]
    fn a_change_ends_what_is_cached_of_the_key() {
        let ended = changes(&None).map(|change| change.invalidates());
        let key = Uuid::from(key().id);
        assert_eq!(ended, [vec![], vec![key], vec![key], vec![key, key]]);
    }
}
