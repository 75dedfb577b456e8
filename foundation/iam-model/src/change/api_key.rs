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
