use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::{Record, ResourceType, action};
use crate::identity::Identity;

/// A change of identities.
#[derive(Clone, Debug)]
pub enum IdentityChange {
    /// A user is linked to an account at a provider. Neither has another link there.
    Create(Identity),
    /// A user logs in by an identity: its address and its last login change.
    Use(Identity),
    /// A link is removed.
    Delete(Identity),
}

impl IdentityChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Create(identity) => of(identity, action::CREATE).creating(&identity.audited()),
            // The session that begins is recorded.
            Self::Use(_) => return Vec::new(),
            Self::Delete(identity) => of(identity, action::DELETE).deleting(&identity.audited()),
        }]
    }

    // The holder of the account at the provider gets the account here, not the author. The owner is told.
    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create(_) | Self::Use(_) | Self::Delete(_) => Vec::new(),
        }
    }

    // No request is authenticated by an identity. Sessions go on without it.
    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create(_) | Self::Use(_) | Self::Delete(_) => Vec::new(),
        }
    }
}

fn of(identity: &Identity, action: &'static str) -> Record {
    Record::new(action, ResourceType::IDENTITY, identity.id).with("targetUserId", identity.user_id.to_string())
}
