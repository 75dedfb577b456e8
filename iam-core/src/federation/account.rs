//! Whose account it is (`docs/federation.md#whose-account`).

use iam_model::assignment::Grant;
use iam_model::credential;
use iam_model::error::Result;
use iam_model::factor::{Factor, FactorKind};
use iam_model::id::{DomainId, TenantId};
use iam_model::identity::Identity;
use iam_model::identity_provider::{IdentityProvider, Provisioning};
use iam_model::permission::PermissionPattern;
use iam_model::store::GrantQuery;
use iam_model::user::{User, UserStatus};
use iam_model::validate::{Email, ExternalId};

use crate::engine::{Engine, UnitOfWork};
use crate::federation::state::Person;

/// The account of a person, as it is now. It is decided again when the login ends.
pub(super) enum Account {
    /// The user who is linked to the person.
    Linked(Identity),
    /// The user whom a directory has given the name that the provider has for the person, and who is to be linked.
    OfDirectory(User),
    /// The user with the address of the person, who is to be linked.
    ByAddress {
        /// The user.
        user: User,
        /// Whether the user had no way to log in. Then another person may have made the account and still be in it.
        is_locked_out: bool,
    },
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
        if let Some(account) = self.of_directory(provider, person).await? {
            return Ok(account);
        }
        if provider.provisioning == Provisioning::Off {
            return Ok(Account::None);
        }
        let Some(email) = person.email.as_deref().and_then(|email| email.parse::<Email>().ok()) else {
            return Ok(Account::None);
        };
        let spoken = self.verified_domain_of(tenant, &email).await?;
        let speaks = spoken.is_some_and(|domain| provider.domain_ids.contains(&domain));
        match self.store.guarded_account(tenant, &email.key()).await?.account {
            Some(found) if speaks && is_usable(provider, person) => self.by_address(provider, found).await,
            Some(_) => Ok(Account::None),
            None if provider.provisioning != Provisioning::Create => Ok(Account::None),
            // Without domains, it is a social provider: it may say that an address is verified, and links nobody. Where the
            // domain is proven, it does not speak for the address: the person who has it would be linked to the account.
            None if provider.domain_ids.is_empty() && person.email_verified && spoken.is_none() => {
                let is_invited = self.pending_invitation(tenant, &email).await?.is_some();
                Ok(if is_invited { Account::None } else { Account::New(email) })
            }
            None if speaks && is_usable(provider, person) => Ok(Account::New(email)),
            None => Ok(Account::None),
        }
    }

    /// Returns the VERIFIED domain of an address, if the tenant has it.
    pub(super) async fn verified_domain_of(&self, tenant: TenantId, email: &Email) -> Result<Option<DomainId>> {
        let Some(name) = email.domain() else { return Ok(None) };
        let domain = self.store.verified_domain(&name).await?;
        Ok(domain.filter(|domain| domain.tenant_id == tenant).map(|domain| domain.id))
    }

    /// Returns the user whom a directory that names the provider knows by the name of a person. `None` if there is none.
    ///
    /// The directory says who the person is. If that user may not be linked, the person gets no other account: neither by
    /// its address, nor a new one for a person whom the directory has deleted.
    async fn of_directory(&self, provider: &IdentityProvider, person: &Person) -> Result<Option<Account>> {
        let tenant = provider.tenant_id;
        let Ok(external_id) = person.subject.parse::<ExternalId>() else { return Ok(None) };
        let Some(user) = self.store.user_by_external_id(tenant, &external_id).await? else { return Ok(None) };
        let Some(entry) = self.store.directory_user(tenant, user.id).await? else { return Ok(None) };
        let directory = self.store.directory(tenant, entry.directory_id).await?;
        if directory.is_none_or(|directory| directory.identity_provider_id != Some(provider.id)) {
            return Ok(None);
        }
        let is_linked = self.store.identities(tenant, user.id).await?.iter().any(|identity| identity.is_at(provider));
        let holds_all = self.store.grants_of(tenant, &[user.id]).await?.iter().any(holds_everything);
        let is_there = entry.deleted_at.is_none() && user.status != UserStatus::Inactive;
        let may_be_linked = is_there && !is_linked && !holds_all;
        Ok(Some(if may_be_linked { Account::OfDirectory(user) } else { Account::None }))
    }

    /// Returns the user with the address of a person, if it may be linked to it: its own address is verified, it holds no
    /// role with all permissions, and it is linked to no other person at the provider.
    async fn by_address(&self, provider: &IdentityProvider, found: credential::Account) -> Result<Account> {
        let credential::Account { user, password, .. } = found;
        if user.email_verified_at.is_none() || user.status != UserStatus::Active {
            return Ok(Account::None);
        }
        let identities = self.store.identities(user.tenant_id, user.id).await?;
        if identities.iter().any(|identity| identity.is_at(provider)) {
            return Ok(Account::None);
        }
        let is_locked_out = password.is_unset() && !self.has_way_in(&user, &identities).await?;
        if password.is_unset() && !is_locked_out && !self.has_proven_address(&user, &identities).await? {
            return Ok(Account::None);
        }
        let holds_all = self.store.grants_of(user.tenant_id, &[user.id]).await?.iter().any(holds_everything);
        Ok(if holds_all { Account::None } else { Account::ByAddress { user, is_locked_out } })
    }

    /// Whether a user without a password can log in, by an identity or a passkey.
    async fn has_way_in(&self, user: &User, identities: &[Identity]) -> Result<bool> {
        let is_passkey = |factor: &Factor| factor.is_confirmed() && factor.kind == FactorKind::Passkey;
        let has_passkey = self.store.factors(user.tenant_id, user.id).await?.iter().any(is_passkey);
        Ok(has_passkey || !identities.is_empty())
    }

    /// Whether the address of a user without a password was proven by more than a social provider: by one that speaks
    /// for its domain. Otherwise, whoever has made the account would stay in it beside the person with the address.
    async fn has_proven_address(&self, user: &User, identities: &[Identity]) -> Result<bool> {
        let Some(domain) = self.verified_domain_of(user.tenant_id, &user.email).await? else { return Ok(false) };
        let providers = self.store.identity_providers(user.tenant_id).await?;
        let mut speaking = providers.iter().filter(|provider| provider.domain_ids.contains(&domain));
        Ok(speaking.any(|provider| identities.iter().any(|identity| identity.provider_id == provider.id)))
    }
}

/// Whether a user may still be linked as the one [of a directory](Account::OfDirectory), under the locks of its tenant and
/// of its account.
pub(super) async fn is_of_directory_now(
    work: &mut UnitOfWork<'_>,
    (provider, person): (&IdentityProvider, &Person),
    user: &User,
) -> Result<bool> {
    let is_named = user.external_id.as_ref().is_some_and(|id| id.as_str() == person.subject);
    let entry = work.reads().directory_user(user.id).await?.filter(|entry| entry.deleted_at.is_none());
    let Some(entry) = entry.filter(|_| is_named) else { return Ok(false) };
    let directories = work.reads().directories().await?;
    let mut of_provider = directories.iter().filter(|directory| directory.identity_provider_id == Some(provider.id));
    Ok(of_provider.any(|directory| directory.id == entry.directory_id)
        && !work.reads().grants(GrantQuery::OfUser(user.id)).await?.iter().any(holds_everything))
}

/// Whether a grant is of a role with all permissions, wherever and whenever it counts.
pub(super) fn holds_everything(grant: &Grant) -> bool {
    grant.role.permissions.covers(&PermissionPattern::everything())
}

/// Whether a provider says that the address of a person is verified, or counts as if it did.
fn is_usable(provider: &IdentityProvider, person: &Person) -> bool {
    person.email_verified || provider.trusts_email
}
