use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::Grant;
use crate::audit::{Attribution, Record, ResourceType, action};
use crate::clock::Timestamp;
use crate::context::Author;
use crate::identity::Identity;

/// A change of identities.
#[derive(Clone, Debug)]
pub enum IdentityChange {
    /// A user is linked to an account at a provider. Neither has another link there.
    Create(Identity),
    /// A user logs in by an identity: its address and its last login change.
    Use(Identity),
    /// A link is removed.
    Delete {
        /// The link.
        identity: Identity,
        /// The role assignments of its user, on which the granted rights depend if another user removes it; `None` if
        /// they were not read.
        grants: Option<Vec<Grant>>,
    },
}

impl IdentityChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            // The person may be anonymous until it is linked.
            Self::Create(identity) => of(identity, action::CREATE)
                .creating(&identity.audited())
                .attributed(Attribution::User(identity.user_id)),
            // The session that begins is recorded.
            Self::Use(_) => return Vec::new(),
            Self::Delete { identity, .. } => of(identity, action::DELETE).deleting(&identity.audited()),
        }]
    }

    pub(crate) fn granted_rights(&self, author: &Author, now: Timestamp) -> Vec<GrantedRights<'_>> {
        let (identity, grants) = match self {
            // The holder of the account at the provider gets the account here, not the author. The owner is told.
            Self::Create(_) | Self::Use(_) => return Vec::new(),
            Self::Delete { identity, grants } => (identity, grants),
        };
        // Without the link, another person with the address may get the account.
        if author.user().is_none_or(|author| author == identity.user_id) {
            return Vec::new();
        }
        GrantedRights::of_account(grants.as_deref(), now)
    }

    // No request is authenticated by an identity. Sessions go on without it.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Use(_) | Self::Delete { .. } => Vec::new(),
        }
    }
}

fn of(identity: &Identity, action: &'static str) -> Record {
    Record::new(action, ResourceType::IDENTITY, identity.id).with("targetUserId", identity.user_id.to_string())
}
