//! Identity providers.

use iam_core::identity_provider::{Provisioning, SubjectClaim};

pub(crate) const IDENTITY_PROVIDERS: &str = "Identity providers";
pub(crate) const IDENTITY_PROVIDER: &str = "Identity provider";
pub(crate) const IDENTITY_PROVIDERS_WHAT: &str = "By an identity provider, such as Entra, Okta, Google or Keycloak, people sign in with the accounts that they have.";
pub(crate) const NO_IDENTITY_PROVIDERS: &str = "There is no identity provider yet.";
pub(crate) const NEW_IDENTITY_PROVIDER: &str = "New identity provider";
pub(crate) const CREATE_IDENTITY_PROVIDER: &str = "Create the identity provider";
pub(crate) const IDENTITY_PROVIDER_CREATED: &str =
    "The identity provider is created. Register the addresses below at the provider.";
pub(crate) const IDENTITY_PROVIDER_REMOVED: &str = "The identity provider is removed.";
pub(crate) const IDENTITY_PROVIDER_CHANGED_MEANWHILE: &str =
    "The identity provider has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const ABOUT_THIS_IDENTITY_PROVIDER: &str = "what was done to this identity provider";
pub(crate) const IDENTITY_PROVIDER_READ_ONLY: &str = "You may see this identity provider, and may not change it.";
pub(crate) const PROVIDER_SETTINGS: &str = "Settings of the provider";
pub(crate) const ISSUER: &str = "Issuer";
pub(crate) const ISSUER_HINT: &str = "Such as https://login.example.com, to the letter as the provider names itself.";
pub(crate) const CLIENT_ID: &str = "Client id";
pub(crate) const CLIENT_ID_HINT: &str = "How the provider names this service";
pub(crate) const CLIENT_SECRET: &str = "Client secret";
pub(crate) const CLIENT_SECRET_HINT: &str = "Leave it empty if the provider gives none. It is never shown again.";
pub(crate) const CLIENT_SECRET_KEPT: &str = "It is never shown. Leave it empty to keep the secret that is stored.";
pub(crate) const REMOVE_SECRET: &str = "Remove the secret";
pub(crate) const SECRET_AND_REMOVED: &str = "must be empty if the secret is to be removed";
pub(crate) const SCOPES: &str = "Scopes";
pub(crate) const SCOPES_HINT: &str = "What the provider is asked for, with spaces between them. One of them is openid.";
pub(crate) const PROVIDER_DOMAINS_HINT: &str =
    "The provider speaks for the people in these domains. A pending domain has no effect.";
pub(crate) const PROVIDER_NEEDS_DOMAIN: &str = "The tenant has no domain.";
pub(crate) const DOMAINS_HIDDEN: &str = "You may not see the domains.";
pub(crate) const TRUSTS_EMAIL: &str = "An e-mail address counts as verified, although the provider does not say so";
pub(crate) const SUBJECT_CLAIM: &str = "What names a person";
pub(crate) const PROVISIONING: &str = "Accounts of people who sign in for the first time";
pub(crate) const PROVIDED_ROLES: &str = "Roles of new users";
pub(crate) const PROVIDED_ROLES_HINT: &str = "The users that the provider makes get these roles. An empty row counts for nothing. No role may have all permissions.";
pub(crate) const FACTOR_IS_TRUSTED: &str = "A second factor at the provider counts here";
pub(crate) const PROVIDER_ENABLED: &str = "People sign in by it";
pub(crate) const ADDRESSES: &str = "Addresses of this service";
pub(crate) const ADDRESSES_WHAT: &str = "Register these addresses at the provider.";
pub(crate) const CALLBACK_URL: &str = "Callback";
pub(crate) const LOGOUT_URL: &str = "Back-channel logout";
pub(crate) const FEDERATION_OFF: &str =
    "This installation reaches no identity providers. The operator can turn federation on.";
pub(crate) const REMOVE_PROVIDER_WHAT: &str =
    "Linked persons cannot sign in by it any more, and their links are removed. Sessions go on.";
pub(crate) const REMOVE_PROVIDER_CONFIRM: &str = "Yes, remove this identity provider";

/// The name of a claim that names a person.
pub(crate) fn subject_claim(claim: &SubjectClaim) -> &'static str {
    match claim {
        SubjectClaim::Sub => "sub: the subject",
        SubjectClaim::Oid => "oid: the object identifier of Entra",
    }
}

/// What happens with a person who is not linked to a user.
pub(crate) fn provisioning(provisioning: &Provisioning) -> &'static str {
    match provisioning {
        Provisioning::Off => "Nothing happens: people link their own accounts.",
        Provisioning::Link => "The user with the verified address of the person is linked.",
        Provisioning::Create => "The user with the verified address of the person is linked, or a new user is made.",
    }
}
