//! Whose account it is (`docs/federation.md#whose-account`).

use iam_model::assignment::Grant;
use iam_model::domain::DomainStatus;
use iam_model::error::Result;
use iam_model::identity::Identity;
use iam_model::identity_provider::{IdentityProvider, Provisioning};
use iam_model::permission::PermissionPattern;
use iam_model::user::{User, UserStatus};
use iam_model::validate::Email;

use crate::engine::Engine;
use crate::federation::state::Person;

/// The account of a person, as it is now. It is decided again when the login ends.
pub(super) enum Account {
    /// The user who is linked to the person.
    Linked(Identity),
    /// The user with the address of the person, who is to be linked.
    ByAddress(User),
    /// Nobody has the address, and a user is to be made.
    New(Email),
    /// The person has no account, and gets none.
    None,
}

impl Engine {
    /// Returns the account of a person.
    pub(super) async fn account_of(&self, provider: &IdentityProvider, person: &Person) -> Result<Account> {
        let tenant = provider.tenant_id;
        let linked = self.store.identity_of(tenant, provider.id, &provider.issuer, &person.subject).await?;
        if let Some(identity) = linked {
            return Ok(Account::Linked(identity));
        }
        if provider.provisioning == Provisioning::Off {
            return Ok(Account::None);
        }
        let Some(email) = person.email.as_deref().and_then(|email| email.parse::<Email>().ok()) else {
            return Ok(Account::None);
        };
        let speaks = self.speaks_for(provider, &email).await?;
        let found = self.store.guarded_account(tenant, &email.key()).await?.account.map(|account| account.user);
        match found {
            Some(user) if speaks && is_usable(provider, person) && self.may_be_linked(provider, &user).await? => {
                Ok(Account::ByAddress(user))
            }
            Some(_) => Ok(Account::None),
            None if provider.provisioning != Provisioning::Create => Ok(Account::None),
            // Without domains, it is a social provider: it may say that an address is verified, and links nobody.
            None if provider.domain_ids.is_empty() && person.email_verified => Ok(Account::New(email)),
            None if speaks && is_usable(provider, person) => Ok(Account::New(email)),
            None => Ok(Account::None),
        }
    }

    /// Whether an address is of a VERIFIED domain of a provider.
    async fn speaks_for(&self, provider: &IdentityProvider, email: &Email) -> Result<bool> {
        let Some(name) = email.domain() else { return Ok(false) };
        let domains = self.store.domains(provider.tenant_id).await?;
        let speaks = domains.iter().any(|domain| {
            domain.name == name && domain.status() == DomainStatus::Verified && provider.domain_ids.contains(&domain.id)
        });
        Ok(speaks)
    }

    /// Whether a user with the address of a person may be linked to it: its own address is verified, it holds no role
    /// with all permissions, and it is linked to no other person at the provider.
    async fn may_be_linked(&self, provider: &IdentityProvider, user: &User) -> Result<bool> {
        if user.email_verified_at.is_none() || user.status != UserStatus::Active {
            return Ok(false);
        }
        let identities = self.store.identities(user.tenant_id, user.id).await?;
        if identities.iter().any(|identity| identity.provider_id == provider.id) {
            return Ok(false);
        }
        Ok(!self.store.grants_of(user.tenant_id, &[user.id]).await?.iter().any(holds_everything))
    }
}

/// Whether a grant is of a role with all permissions, wherever and whenever it counts.
pub(super) fn holds_everything(grant: &Grant) -> bool {
    grant.role.permissions.covers(&PermissionPattern::everything())
}

/// Whether a provider says that the address of a person is verified, or counts as if it did.
fn is_usable(provider: &IdentityProvider, person: &Person) -> bool {
    person.email_verified || provider.trusts_email
}
