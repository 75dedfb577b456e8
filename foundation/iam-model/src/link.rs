//! Links: the one-time tokens that messages contain (`accounts.md`).

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::id::{LinkId, TenantId};
use crate::validate::Email;

/// A link that was sent to an address. There is at most one for each purpose and subject: a newer one replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Identifies the link.
    pub id: LinkId,
    /// The tenant of the subject.
    pub tenant_id: TenantId,
    /// What the link is for.
    pub purpose: LinkPurpose,
    /// The user that the link is about.
    pub subject: Uuid,
    /// The address to which the link is sent.
    pub email: Email,
    /// The SHA-256 digest of the token's secret. The secret itself is never stored.
    pub token_hash: [u8; 32],
    /// When the link was issued.
    pub created_at: Timestamp,
    /// When the link expires.
    pub expires_at: Timestamp,
}

impl Link {
    /// Whether the link has not expired.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// What a link is for. A link of one purpose is refused for every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkPurpose {
    /// It verifies an e-mail address.
    Verify,
    /// It sets a new password.
    Reset,
}

text_enum! { LinkPurpose { Verify = "VERIFY", Reset = "RESET" } }
