//! The accounts at identity providers that are linked to the account of the person.

use iam_core::clock::Timestamp;
use iam_core::federation::ProviderSummary;
use iam_core::{Error, IdentityId};

use crate::session::SignedIn;
use crate::state::Console;

/// The accounts that are linked, and the providers at which one can be.
pub(super) struct Linked {
    pub(super) identities: Vec<LinkedAccount>,
    pub(super) open: Vec<ProviderSummary>,
}

/// An account at a provider.
pub(super) struct LinkedAccount {
    pub(super) id: IdentityId,
    /// The name of the provider. A provider that is not enabled shows its issuer.
    pub(super) provider: String,
    pub(super) email: Option<String>,
    pub(super) linked_at: Timestamp,
    pub(super) last_login_at: Option<Timestamp>,
}

impl Linked {
    /// Returns the accounts of a person. `None` where the console offers no provider.
    pub(super) async fn of(console: &Console, signed_in: &SignedIn) -> Result<Option<Self>, Error> {
        if signed_in.provider_callback.is_none() {
            return Ok(None);
        }
        let (federation, caller) = (console.iam.federation(), &signed_in.caller);
        let (user, _) = caller.require_user()?;
        let mut open = federation.providers(&caller.tenant().to_string()).await?;
        let mut identities = Vec::new();
        for identity in federation.identities(caller, user).await? {
            let position = open.iter().position(|provider| provider.id == identity.provider_id);
            let provider = position.map(|position| open.remove(position).name.as_str().to_owned());
            identities.push(LinkedAccount {
                id: identity.id,
                provider: provider.unwrap_or_else(|| identity.issuer.as_str().to_owned()),
                email: identity.email.map(String::from),
                linked_at: identity.linked_at,
                last_login_at: identity.last_login_at,
            });
        }
        Ok(Some(Self { identities, open }))
    }
}
