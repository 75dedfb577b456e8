//! Identities: accounts at identity providers to which users are linked (`docs/federation.md#identities`).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::Timestamp;
use crate::id::{IdentityId, IdentityProviderId, TenantId, UserId};
use crate::identity_provider::{IdentityProvider, Issuer};
use crate::validate::Email;

/// An account at a provider by which a user logs in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// Identifies the link.
    pub id: IdentityId,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The user.
    pub user_id: UserId,
    /// The provider. A user has one identity at each.
    pub provider_id: IdentityProviderId,
    /// The issuer of the provider at the time of the link.
    pub issuer: Issuer,
    /// The person, as the provider names it: at most 255 characters. It belongs to one user.
    pub subject: String,
    /// The address of the account at the provider, when the user logged in last.
    pub email: Option<Email>,
    /// When the user was linked.
    pub linked_at: Timestamp,
    /// When the user logged in by it last.
    pub last_login_at: Option<Timestamp>,
}

impl Identity {
    /// The maximum length of a subject, in characters (OpenID Connect Core 1.0, section 2).
    pub const MAX_SUBJECT: usize = 255;

    /// Whether the link is to an account at the issuer that the provider has now. Otherwise no person comes from there
    /// any more.
    #[must_use]
    pub fn is_at(&self, provider: &IdentityProvider) -> bool {
        self.provider_id == provider.id && self.issuer == provider.issuer
    }

    /// Returns the fields that the audit log records.
    pub(crate) fn audited(&self) -> Value {
        json!({
            "providerId": self.provider_id,
            "issuer": self.issuer.as_str(),
            "subject": self.subject,
            "email": self.email.as_ref().map(Email::as_str),
        })
    }
}
