use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::link::{Link, LinkPurpose};

/// A change of links.
#[derive(Clone, Debug)]
pub enum LinkChange {
    /// A link is issued. It replaces the link that its subject had for the same purpose.
    Issue(Link),
    /// The link of a subject for a purpose ends, if there is one: it was used, or it is not needed any more.
    End {
        /// What the link was for.
        purpose: LinkPurpose,
        /// Whom it was about.
        subject: Uuid,
    },
}

impl LinkChange {
    /// Returns no records: the request for a link, and its use, have entries of their own.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Issue(_) | Self::End { .. } => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            // The link goes to the address of the account that it is about.
            Self::Issue(_) | Self::End { .. } => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Issue(_) | Self::End { .. } => Vec::new(),
        }
    }
}
