use uuid::Uuid;

use crate::access::GrantedRights;
use crate::audit::Record;
use crate::challenge::{Challenge, ChallengePurpose};
use crate::id::UserId;

/// A change of challenges.
#[derive(Clone, Debug)]
pub enum ChallengeChange {
    /// A proof of identity begins.
    Issue(Challenge),
    /// A wrong answer is counted, or a WebAuthn ceremony begins.
    Update(Challenge),
    /// A challenge ends: it was answered.
    End(Challenge),
    /// All challenges of a user end, for instance because its password was changed.
    EndAll(UserId),
    /// All challenges of the tenant for this purpose end, for instance because its users do not log in so any more.
    EndAllFor(ChallengePurpose),
    /// All challenges of the tenant end, because its sessions end.
    EndAllOfTenant,
}

impl ChallengeChange {
    /// Returns no records: the answer is recorded.
    pub(crate) fn records(&self) -> Vec<Record> {
        match self {
            Self::Issue(_)
            | Self::Update(_)
            | Self::End(_)
            | Self::EndAll(_)
            | Self::EndAllFor(_)
            | Self::EndAllOfTenant => Vec::new(),
        }
    }

    pub(crate) fn granted_rights(&self) -> Vec<GrantedRights<'_>> {
        match self {
            Self::Issue(_)
            | Self::Update(_)
            | Self::End(_)
            | Self::EndAll(_)
            | Self::EndAllFor(_)
            | Self::EndAllOfTenant => Vec::new(),
        }
    }

    pub(crate) fn invalidates(&self) -> Vec<Uuid> {
        match self {
            Self::Issue(_)
            | Self::Update(_)
            | Self::End(_)
            | Self::EndAll(_)
            | Self::EndAllFor(_)
            | Self::EndAllOfTenant => Vec::new(),
        }
    }
}
