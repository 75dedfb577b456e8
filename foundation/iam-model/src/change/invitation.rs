use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::OfferedRole;
use crate::audit::{Record, ResourceType, action};
use crate::invitation::Invitation;

/// A change of invitations.
#[derive(Clone, Debug)]
pub enum InvitationChange {
    /// A person is invited. An invitation of the same address that is still PENDING, but has expired, becomes EXPIRED.
    Create {
        /// The invitation.
        invitation: Invitation,
        /// The roles of the invitation, on which the granted rights depend.
        offered: Vec<OfferedRole>,
    },
    /// An invitation is sent again, and expires later.
    Renew {
        /// The invitation before the change.
        before: Invitation,
        /// The invitation after the change.
        after: Invitation,
    },
    /// The message with the invitation is sent now, so the invitation expires later. It is not recorded: how long a
    /// message waited is no decision of a person.
    Send {
        /// The invitation with its new expiry.
        after: Invitation,
    },
    /// The invited person, who is the author, has become a user.
    Accept {
        /// The invitation before the change.
        before: Invitation,
        /// The invitation after the change.
        after: Invitation,
    },
    /// An invitation is revoked, and its record is kept.
    Revoke {
        /// The invitation before the change.
        before: Invitation,
        /// The invitation after the change.
        after: Invitation,
    },
}

impl InvitationChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        vec![match self {
            Self::Send { .. } => return Vec::new(),
            Self::Create { invitation, .. } => of(invitation, action::CREATE).creating(&invitation.audited()),
            Self::Renew { before, after } => {
                of(after, action::UPDATE).changing(&before.audited(), &after.audited()).listing_changed_fields()
            }
            Self::Accept { before, after } => of(after, action::ACCEPTED).changing(&before.audited(), &after.audited()),
            Self::Revoke { before, after } => of(after, action::DELETE).deleting(&before.audited()),
        }]
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Create { invitation, offered } => {
                let is_known = offered.len() == invitation.roles.len()
                    && offered.iter().zip(&invitation.roles).all(|(offered, role)| role.is(offered));
                if is_known {
                    offered.iter().map(GrantedRights::of_offered).collect()
                } else {
                    vec![GrantedRights::everything()]
                }
            }
            // The assignments of the new user are a change of their own.
            Self::Accept { .. } => Vec::new(),
            // The rights of the user who invited are read again when the invitation is accepted.
            Self::Renew { .. } | Self::Send { .. } | Self::Revoke { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Create { .. }
            | Self::Renew { .. }
            | Self::Send { .. }
            | Self::Accept { .. }
            | Self::Revoke { .. } => Vec::new(),
        }
    }
}

fn of(invitation: &Invitation, action: &'static str) -> Record {
    Record::new(action, ResourceType::INVITATION, invitation.id)
}
