//! Links: the one-time tokens that messages contain (`docs/http-api.md#links-by-mail`).

use uuid::Uuid;

use crate::clock::Timestamp;
use crate::id::{LinkId, TenantId};
use crate::mail::{MailKind, Recipient};
use crate::validate::Email;

/// A link that was sent to an address. There is at most one for each purpose and subject: a newer one replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Identifies the link.
    pub id: LinkId,
    /// The tenant of the subject.
    pub tenant_id: TenantId,
    /// The purpose of the link.
    pub purpose: LinkPurpose,
    /// The user or the invitation that the link is about.
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
    /// The address to which a message with the link goes: the one for which it was issued.
    #[must_use]
    pub fn recipient(&self) -> Recipient {
        Recipient::on_record(self.email.clone())
    }

    /// Whether the link has not expired.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

/// The purpose of a link. A link of one purpose is refused for every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkPurpose {
    /// It verifies an e-mail address.
    Verify,
    /// It sets a new password.
    Reset,
    /// It accepts an invitation.
    Invitation,
    /// It logs in.
    Login,
}

text_enum! { LinkPurpose { Verify = "VERIFY", Reset = "RESET", Invitation = "INVITATION", Login = "LOGIN" } }

impl LinkPurpose {
    /// Every purpose.
    const ALL: [Self; 4] = [Self::Verify, Self::Reset, Self::Invitation, Self::Login];

    /// Returns the kind of the message that contains the link.
    #[must_use]
    pub fn message(self) -> MailKind {
        match self {
            Self::Verify => MailKind::Verify,
            Self::Reset => MailKind::Reset,
            Self::Invitation => MailKind::Invitation,
            Self::Login => MailKind::Login,
        }
    }

    /// Returns the purpose of the link in a message. `None` if a message of this kind has no link.
    #[must_use]
    pub fn of(message: MailKind) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.message() == message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_has_its_own_message_and_other_messages_have_no_link() {
        let purposes = |kind: &MailKind| LinkPurpose::of(*kind).map(LinkPurpose::as_str);
        let with_link: Vec<_> = MailKind::ALL.iter().filter_map(purposes).collect();
        assert_eq!(with_link, ["VERIFY", "RESET", "INVITATION", "LOGIN"]);
        assert_eq!(MailKind::ALL.len(), 21);
        assert!(LinkPurpose::ALL.iter().all(|purpose| LinkPurpose::of(purpose.message()) == Some(*purpose)));
    }
}
