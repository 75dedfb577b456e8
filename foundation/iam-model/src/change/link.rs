use uuid::Uuid;

use crate::access::GrantedRights;
use crate::assignment::Grant;
use crate::audit::{Record, ResourceType, action};
use crate::clock::Timestamp;
use crate::context::Author;
use crate::link::{Link, LinkPurpose};

/// A change of links.
#[derive(Clone, Debug)]
pub enum LinkChange {
    /// A link is issued. It replaces the link that its subject had for the same purpose.
    Issue {
        /// The link.
        link: Link,
        /// The role assignments of the user, on which the granted rights depend if another user starts a reset; `None`
        /// if they were not read.
        grants: Option<Vec<Grant>>,
    },
    /// The message with a link is sent now, so the link expires later.
    Send {
        /// The link with its new expiry.
        link: Link,
    },
    /// The link of a subject for a purpose ends, if there is one: it was used, or it is not needed any more.
    End {
        /// The purpose of the link.
        purpose: LinkPurpose,
        /// Whom it was about.
        subject: Uuid,
    },
    /// All links of the tenant for a purpose end.
    EndAll {
        /// The purpose of the links.
        purpose: LinkPurpose,
    },
}

impl LinkChange {
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Issue { link, .. } => match link.purpose {
                // The use of the link is recorded.
                LinkPurpose::Verify => Vec::new(),
                // The invitation has entries of its own.
                LinkPurpose::Invitation => Vec::new(),
                LinkPurpose::Reset => {
                    vec![Record::new(action::PASSWORD_RESET_REQUESTED, ResourceType::USER, link.subject)]
                }
                LinkPurpose::Login => {
                    vec![Record::new(action::EMAIL_LOGIN_REQUESTED, ResourceType::USER, link.subject)]
                }
            },
            // What the link is for has entries of its own.
            Self::Send { .. } | Self::End { .. } | Self::EndAll { .. } => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self, author: &Author, now: Timestamp) -> Vec<GrantedRights<'_>> {
        let (link, grants) = match self {
            Self::Issue { link, grants } => (link, grants),
            Self::Send { .. } | Self::End { .. } | Self::EndAll { .. } => return Vec::new(),
        };
        // A user that starts a reset or a login for another one, and reads the mail of that address, could use the
        // account.
        let starts_for_another = author.user().is_some_and(|user| user.as_uuid() != link.subject);
        let gives_account = matches!(link.purpose, LinkPurpose::Reset | LinkPurpose::Login);
        if !gives_account || !starts_for_another {
            return Vec::new();
        }
        GrantedRights::of_account(grants.as_deref(), now)
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Issue { .. } | Self::Send { .. } | Self::End { .. } | Self::EndAll { .. } => Vec::new(),
        }
    }
}
