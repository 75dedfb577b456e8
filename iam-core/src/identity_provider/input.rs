use std::collections::HashSet;
use std::str::FromStr;

use iam_model::error::{Error, Result};
use iam_model::id::DomainId;
use iam_model::identity_provider::{ClientId, IdentityProvider, Issuer, Provisioning, Scope, SubjectClaim};
use iam_model::role::PlacedRole;
use iam_model::secret::ClientSecret;
use iam_model::validate::{Fields, Invalid, Name, Slug};

use crate::assignment::{check_places, role_field};

/// The input for a new identity provider, as typed; see
/// [`IdentityProviders::create`](crate::identity_provider::IdentityProviders::create).
#[derive(Clone, Debug)]
pub struct NewIdentityProvider {
    /// 1–120 characters.
    pub name: String,
    /// Unique in the tenant; made from the name if it is `None`.
    pub slug: Option<String>,
    /// Names the provider in its tokens, to the letter.
    pub issuer: String,
    /// Names this service at the provider: 1–255 characters.
    pub client_id: String,
    /// The secret of this service at the provider, at most 512 characters; `None` if it has none.
    pub client_secret: Option<ClientSecret>,
    /// What the provider is asked for: at most 20 scopes, one of them `openid`. `None` for `openid`, `email` and
    /// `profile`.
    pub scopes: Option<Vec<String>>,
    /// The domains for which the provider speaks: at most 50.
    pub domains: Vec<DomainId>,
    /// Whether an address counts as verified without the claim `email_verified`.
    pub trusts_email: bool,
    /// The claim that names a person.
    pub subject_claim: SubjectClaim,
    /// Whether accounts are linked and made.
    pub provisioning: Provisioning,
    /// The roles of the users that are made: at most 50, each once in an organization or tenant-wide. None of them has
    /// all permissions.
    pub roles: Vec<PlacedRole>,
    /// Whether a second factor at the provider counts here.
    pub factor_is_trusted: bool,
    /// Whether people log in by it.
    pub enabled: bool,
}

/// A provider that is enabled, without a secret, domains and roles.
impl Default for NewIdentityProvider {
    fn default() -> Self {
        Self {
            name: String::new(),
            slug: None,
            issuer: String::new(),
            client_id: String::new(),
            client_secret: None,
            scopes: None,
            domains: Vec::new(),
            trusts_email: false,
            subject_claim: SubjectClaim::default(),
            provisioning: Provisioning::default(),
            roles: Vec::new(),
            factor_is_trusted: false,
            enabled: true,
        }
    }
}

/// The texts of a [`NewIdentityProvider`], valid.
pub(super) struct ValidProvider {
    pub(super) name: Name,
    pub(super) slug: Option<Slug>,
    pub(super) issuer: Issuer,
    pub(super) client_id: ClientId,
    pub(super) scopes: Vec<Scope>,
    pub(super) typed: NewIdentityProvider,
}

impl NewIdentityProvider {
    pub(super) fn validate(self) -> Result<ValidProvider> {
        let mut fields = Fields::default();
        let name = fields.check("name", self.name.parse());
        let slug = fields.check_optional("slug", self.slug.as_deref());
        let issuer = fields.check("issuer", self.issuer.parse());
        let client_id = fields.check("clientId", self.client_id.parse());
        check_secret(&mut fields, self.client_secret.as_ref());
        let scopes = match &self.scopes {
            Some(texts) => check_scopes(&mut fields, texts),
            None => IdentityProvider::DEFAULT_SCOPES.iter().filter_map(|scope| scope.parse().ok()).collect(),
        };
        check_domains(&mut fields, &self.domains);
        check_roles(&mut fields, &self.roles);
        match (name, issuer, client_id) {
            (Some(name), Some(issuer), Some(client_id)) if fields.is_empty() => {
                Ok(ValidProvider { name, slug, issuer, client_id, scopes, typed: self })
            }
            _ => Err(fields.into_error().into()),
        }
    }
}

/// Changes of an identity provider. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub struct IdentityProviderPatch {
    /// 1–120 characters.
    pub name: Option<String>,
    /// Unique in the tenant.
    pub slug: Option<String>,
    /// Names the provider in its tokens, to the letter.
    pub issuer: Option<String>,
    /// 1–255 characters.
    pub client_id: Option<String>,
    /// At most 512 characters; `Some(None)` removes the secret.
    pub client_secret: Option<Option<ClientSecret>>,
    /// All its scopes after the change.
    pub scopes: Option<Vec<String>>,
    /// All its domains after the change.
    pub domains: Option<Vec<DomainId>>,
    /// Whether an address counts as verified without the claim `email_verified`.
    pub trusts_email: Option<bool>,
    /// The claim that names a person.
    pub subject_claim: Option<SubjectClaim>,
    /// Whether accounts are linked and made.
    pub provisioning: Option<Provisioning>,
    /// All its roles after the change.
    pub roles: Option<Vec<PlacedRole>>,
    /// Whether a second factor at the provider counts here.
    pub factor_is_trusted: Option<bool>,
    /// Whether people log in by it.
    pub enabled: Option<bool>,
}

/// The texts of an [`IdentityProviderPatch`], valid.
pub(super) struct ValidPatch {
    name: Option<Name>,
    slug: Option<Slug>,
    pub(super) issuer: Option<Issuer>,
    client_id: Option<ClientId>,
    scopes: Option<Vec<Scope>>,
    pub(super) typed: IdentityProviderPatch,
}

impl IdentityProviderPatch {
    /// Whether it changes the name at most, which gives nothing to anyone.
    pub(super) fn only_renames(&self) -> bool {
        self.slug.is_none()
            && self.issuer.is_none()
            && self.client_id.is_none()
            && self.client_secret.is_none()
            && self.scopes.is_none()
            && self.domains.is_none()
            && self.trusts_email.is_none()
            && self.subject_claim.is_none()
            && self.provisioning.is_none()
            && self.roles.is_none()
            && self.factor_is_trusted.is_none()
            && self.enabled.is_none()
    }

    pub(super) fn validate(self) -> Result<ValidPatch> {
        let mut fields = Fields::default();
        let name = fields.check_optional("name", self.name.as_deref());
        let slug = fields.check_optional("slug", self.slug.as_deref());
        let issuer = fields.check_optional("issuer", self.issuer.as_deref());
        let client_id = fields.check_optional("clientId", self.client_id.as_deref());
        check_secret(&mut fields, self.client_secret.as_ref().and_then(Option::as_ref));
        let scopes = self.scopes.as_ref().map(|texts| check_scopes(&mut fields, texts));
        check_domains(&mut fields, self.domains.as_deref().unwrap_or_default());
        check_roles(&mut fields, self.roles.as_deref().unwrap_or_default());
        fields.finish()?;
        Ok(ValidPatch { name, slug, issuer, client_id, scopes, typed: self })
    }
}

impl ValidPatch {
    /// Returns the provider after the change, except for its secret.
    pub(super) fn apply(&self, before: &IdentityProvider) -> IdentityProvider {
        let typed = &self.typed;
        IdentityProvider {
            name: self.name.clone().unwrap_or_else(|| before.name.clone()),
            slug: self.slug.clone().unwrap_or_else(|| before.slug.clone()),
            issuer: self.issuer.clone().unwrap_or_else(|| before.issuer.clone()),
            client_id: self.client_id.clone().unwrap_or_else(|| before.client_id.clone()),
            scopes: self.scopes.clone().unwrap_or_else(|| before.scopes.clone()),
            domain_ids: typed.domains.clone().unwrap_or_else(|| before.domain_ids.clone()),
            trusts_email: typed.trusts_email.unwrap_or(before.trusts_email),
            subject_claim: typed.subject_claim.unwrap_or(before.subject_claim),
            provisioning: typed.provisioning.unwrap_or(before.provisioning),
            roles: typed.roles.clone().unwrap_or_else(|| before.roles.clone()),
            factor_is_trusted: typed.factor_is_trusted.unwrap_or(before.factor_is_trusted),
            enabled: typed.enabled.unwrap_or(before.enabled),
            ..before.clone()
        }
    }
}

fn check_secret(fields: &mut Fields, secret: Option<&ClientSecret>) {
    const MAX: usize = 512;
    if let Some(secret) = secret
        && !(1..=MAX).contains(&secret.expose().chars().count())
    {
        fields.reject("clientSecret", format!("must be 1 to {MAX} characters"));
    }
}

fn check_scopes(fields: &mut Fields, texts: &[String]) -> Vec<Scope> {
    const OPENID: &str = "openid";
    if texts.len() > IdentityProvider::MAX_SCOPES {
        fields.reject("scopes", format!("must have at most {} items", IdentityProvider::MAX_SCOPES));
        return Vec::new();
    }
    if !texts.iter().any(|text| text == OPENID) {
        fields.reject("scopes", "must contain openid");
    }
    let parse = |(number, text): (usize, &String)| -> Option<Scope> {
        let parsed: Result<Scope, Invalid> = Scope::from_str(text);
        fields.check(&format!("scopes[{number}]"), parsed)
    };
    texts.iter().enumerate().filter_map(parse).collect()
}

fn check_domains(fields: &mut Fields, domains: &[DomainId]) {
    const MAX: usize = iam_model::domain::Domain::MAX;
    if domains.len() > MAX {
        fields.reject("domainIds", format!("must have at most {MAX} items"));
    }
    let mut seen = HashSet::new();
    for (number, domain) in domains.iter().enumerate() {
        if !seen.insert(domain) {
            fields.reject(&format!("domainIds[{number}]"), "is the same as an item before it");
        }
    }
}

fn check_roles(fields: &mut Fields, roles: &[PlacedRole]) {
    let places = roles.iter().map(|role| (role.role_id, role.organization_id));
    check_places(fields, "roles", places, IdentityProvider::MAX_ROLES);
}

/// The error for a role with all permissions.
pub(super) fn all_permissions(number: usize) -> Error {
    Error::field(role_field(number, "roleId"), "must not be a role with all permissions")
}
