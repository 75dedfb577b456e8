use std::collections::HashSet;

use iam_model::domain::Domain;
use iam_model::id::DomainId;
use iam_model::identity_provider::{ClientId, IdentityProvider, Issuer};
use iam_model::manifest::ManifestItemKind;
use iam_model::validate::{DomainName, Name, Slug};

use crate::identity_provider::{IdentityProviderPatch, NewIdentityProvider};
use crate::manifest::document::{Manifest, ManifestIdentityProvider, ManifestProvidedRole, ManifestSecret};
use crate::manifest::plan::planner::{Planner, differing};
use crate::manifest::step::{Operation, Step};

/// The field of a secret.
const CLIENT_SECRET: &str = "clientSecret";

impl Planner<'_> {
    pub(super) fn providers(&mut self, manifest: &Manifest) {
        let slugs: HashSet<&str> = manifest.organizations.iter().map(|named| named.slug.as_str()).collect();
        let roles: HashSet<&str> = manifest.roles.iter().map(|named| named.name.as_str()).collect();
        let (state, mut seen) = (self.state, HashSet::new());
        for (number, given) in manifest.identity_providers.iter().enumerate() {
            let at = format!("identityProviders[{number}]");
            let slug: Option<Slug> = self.check(&at, "slug", &given.slug);
            let name: Option<Name> = self.check(&at, "name", &given.name);
            let issuer: Option<Issuer> = self.check(&at, "issuer", &given.issuer);
            let client_id: Option<ClientId> = self.check(&at, "clientId", &given.client_id);
            let (mut domains, domain_ids) =
                self.domains(&at, &given.domains).into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
            for (number, provided) in given.roles.iter().enumerate() {
                let at = format!("{at}.roles[{number}]");
                let role = provided.role.as_str();
                if !roles.contains(role) {
                    self.check_known(&at, "role", "a role", state.roles.get(role).map(|found| found.id.into()));
                }
                self.check_place(&slugs, &at, "organization", provided.organization.as_deref());
            }
            let (Some(slug), Some(name), Some(issuer), Some(client_id)) = (slug, name, issuer, client_id) else {
                continue;
            };
            if !self.is_first(&mut seen, &at, "slug", slug.as_str()) {
                continue;
            }
            domains.sort_unstable();
            let mut roles = given.roles.clone();
            roles.sort_unstable();
            let wanted = ManifestIdentityProvider {
                slug: slug.to_string(),
                name: name.to_string(),
                issuer: issuer.as_str().to_owned(),
                client_id: client_id.as_str().to_owned(),
                domains,
                roles,
                ..given.clone()
            };
            match state.providers.get(slug.as_str()) {
                None => self.new_provider(at, &wanted, domain_ids, given.roles.clone()),
                Some(existing) => self.provider(at, &wanted, (domain_ids, given.roles.clone()), existing),
            }
        }
    }

    /// Returns the domains with these names, in their order.
    fn domains(&mut self, at: &str, names: &[String]) -> Vec<(String, DomainId)> {
        if names.len() > Domain::MAX {
            self.fields.reject(&format!("{at}.domains"), format!("must have at most {} items", Domain::MAX));
            return Vec::new();
        }
        let mut domains = Vec::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            let field = format!("domains[{number}]");
            let name: Option<DomainName> = self.check(at, &field, name);
            let Some(name) = name else { continue };
            match self.state.domains.get(name.as_str()) {
                Some(id) => domains.push((name.to_string(), *id)),
                None => self.fields.reject(&format!("{at}.{field}"), "must be a domain of the tenant"),
            }
        }
        domains
    }

    fn new_provider(
        &mut self,
        at: String,
        wanted: &ManifestIdentityProvider,
        domains: Vec<DomainId>,
        roles: Vec<ManifestProvidedRole>,
    ) {
        let new = NewIdentityProvider {
            name: wanted.name.clone(),
            slug: Some(wanted.slug.clone()),
            issuer: wanted.issuer.clone(),
            client_id: wanted.client_id.clone(),
            client_secret: wanted.client_secret.clone().map(|ManifestSecret(secret)| secret),
            scopes: Some(wanted.scopes.clone()),
            domains,
            trusts_email: wanted.trusts_email,
            subject_claim: wanted.subject_claim,
            provisioning: wanted.provisioning,
            roles: Vec::new(),
            factor_is_trusted: wanted.factor_is_trusted,
            enabled: wanted.enabled.unwrap_or(true),
        };
        let operation = Operation::CreateProvider { new: Box::new(new), roles };
        self.create(ManifestItemKind::IdentityProvider, &wanted.slug, at, wanted, operation);
        if wanted.client_secret.is_some() {
            self.show_secret(false);
        }
    }

    fn provider(
        &mut self,
        at: String,
        wanted: &ManifestIdentityProvider,
        (domain_ids, given_roles): (Vec<DomainId>, Vec<ManifestProvidedRole>),
        existing: &IdentityProvider,
    ) {
        self.named.insert(existing.id.into());
        let before = self.state.provider(existing);
        let enabled = differing(wanted.enabled, existing.enabled);
        let secret = wanted.client_secret.clone().filter(|given| self.state.secrets.get(&existing.id) != Some(given));
        let after = ManifestIdentityProvider {
            client_secret: secret.clone(),
            enabled: Some(enabled.unwrap_or(existing.enabled)).filter(|enabled| !enabled),
            ..wanted.clone()
        };
        // `before` lacks the domains and roles that do not exist any more.
        let has_gone_domains = before.domains.len() < existing.domain_ids.len();
        let has_gone_roles = before.roles.len() < existing.roles.len();
        let is_secret_new = secret.is_some();
        let patch = IdentityProviderPatch {
            name: differing(Some(after.name.clone()), before.name.clone()),
            slug: None,
            issuer: differing(Some(after.issuer.clone()), before.issuer.clone()),
            client_id: differing(Some(after.client_id.clone()), before.client_id.clone()),
            client_secret: secret.map(|ManifestSecret(secret)| Some(secret)),
            scopes: differing(Some(after.scopes.clone()), before.scopes.clone()),
            domains: (has_gone_domains || before.domains != after.domains).then_some(domain_ids),
            trusts_email: differing(Some(after.trusts_email), before.trusts_email),
            subject_claim: differing(Some(after.subject_claim), before.subject_claim),
            provisioning: differing(Some(after.provisioning), before.provisioning),
            roles: None,
            factor_is_trusted: differing(Some(after.factor_is_trusted), before.factor_is_trusted),
            enabled,
        };
        let roles = (has_gone_roles || before.roles != after.roles).then_some(given_roles);
        let operation = Operation::UpdateProvider { id: existing.id, patch: Box::new(patch), roles };
        let id = existing.id.into();
        self.update(ManifestItemKind::IdentityProvider, id, (&after.slug, at), &before, &after, operation);
        if is_secret_new {
            self.show_secret(existing.client_secret.is_some());
        }
    }

    /// Says in the change that was planned last that a secret is given, and whether it takes the place of another one.
    fn show_secret(&mut self, replaces: bool) {
        let Some(Step { change, .. }) = self.steps.last_mut() else { return };
        if replaces {
            change.before.insert(CLIENT_SECRET.to_owned(), "(former secret)".into());
        }
        change.after.insert(CLIENT_SECRET.to_owned(), "(new secret)".into());
    }
}
