//! The identity providers of the tenant: a list, a page for each, and a form for a new one.

mod list;
mod new;
mod one;

use std::collections::BTreeSet;

use axum::Router;
use axum::routing::{get, post};
use iam_core::domain::Domain;
use iam_core::identity_provider::{IdentityProvider, Provisioning, Scope, SubjectClaim};
use iam_core::role::PlacedRole;
use iam_core::secret::ClientSecret;
use iam_core::{DomainId, Error, FieldError};

use crate::form::Form;
use crate::placed_roles;
use crate::problem::{collected, if_allowed};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, errors_of_list};

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/identity-providers", get(list::show))
        .route("/identity-providers/new", get(new::show).post(new::create))
        .route("/identity-providers/{id}", get(one::show).post(one::update))
        .route("/identity-providers/{id}/delete", post(one::delete))
}

const MAX_ROLES: usize = IdentityProvider::MAX_ROLES;

/// The fields of a provider in a form.
struct Fields {
    /// The fields before the scopes. The secret is the last one.
    texts: Vec<Field>,
    /// Whether the provider has a secret.
    has_secret: bool,
    removes_secret: bool,
    scopes: Field,
    /// `None` if the caller may not see them.
    domains: Option<Vec<Domain>>,
    chosen_domains: BTreeSet<DomainId>,
    domains_error: String,
    trusts_email: bool,
    subject_claim: String,
    subject_claim_error: String,
    provisioning: String,
    provisioning_error: String,
    /// The fields of each role.
    roles: Vec<Vec<Field>>,
    factor_is_trusted: bool,
    enabled: bool,
}

impl Fields {
    /// Returns the fields with the typed values or, without a form, with those of the provider.
    async fn of(
        console: &Console,
        signed_in: &SignedIn,
        provider: Option<&IdentityProvider>,
        (form, errors): (Option<&Form>, &[FieldError]),
    ) -> Result<Self, Error> {
        let domains = if_allowed(console.iam.domains().list(&signed_in.caller).await)?;
        let value = |name: &str, stored: &str| form.map_or(stored, |form| form.get(name)).to_owned();
        let has = |name: &str, stored: bool| form.map_or(stored, |form| form.has(name));
        let shown = |field: Field, stored: &str| {
            let value = value(&field.name, stored);
            field.filled(&value).with_errors(errors)
        };
        let error_of = |name, label| Field::text(name, label).with_errors(errors).error;
        let [name, slug, issuer, client_id] = provider.map_or([""; 4], |provider| {
            [provider.name.as_str(), provider.slug.as_str(), provider.issuer.as_str(), provider.client_id.as_str()]
        });
        let slug_field = Field::text("slug", text::t("slug"));
        let (slug_field, secret_hint) = match provider {
            None => (slug_field.optional().with_hint(text::t("new-slug-hint")), text::t("client-secret-hint")),
            Some(IdentityProvider { client_secret: None, .. }) => {
                (slug_field.with_hint(text::t("slug-hint")), text::t("client-secret-hint"))
            }
            Some(_) => (slug_field.with_hint(text::t("slug-hint")), text::t("client-secret-kept")),
        };
        let secret = Field::secret("clientSecret", text::t("client-secret"), "new-password").optional();
        let scopes = provider.map_or_else(
            || IdentityProvider::DEFAULT_SCOPES.join(" "),
            |provider| provider.scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" "),
        );
        let typed_scopes = form.map(typed_scopes).unwrap_or_default();
        let subject_claim = provider.map(|provider| provider.subject_claim).unwrap_or_default();
        let provisioning = provider.map(|provider| provider.provisioning).unwrap_or_default();
        let stored_roles = provider.map(|provider| provider.roles.as_slice()).unwrap_or_default();
        Ok(Self {
            texts: vec![
                shown(Field::text("name", text::t("name")), name),
                shown(slug_field, slug),
                shown(Field::text("issuer", text::t("issuer")).with_hint(text::t("issuer-hint")), issuer),
                shown(Field::text("clientId", text::t("client-id")).with_hint(text::t("client-id-hint")), client_id),
                shown(secret.with_hint(secret_hint), ""),
            ],
            has_secret: provider.is_some_and(|provider| provider.client_secret.is_some()),
            removes_secret: has("removeSecret", false),
            scopes: Field {
                error: errors_of_list("scopes", text::t("scopes"), &typed_scopes, errors),
                ..shown(Field::text("scopes", text::t("scopes")).with_hint(text::t("scopes-hint")), &scopes)
            },
            domains,
            chosen_domains: match form {
                Some(form) => form.all("domainIds").filter_map(|id| id.parse().ok()).collect(),
                None => provider.map(|provider| set_of(&provider.domain_ids)).unwrap_or_default(),
            },
            domains_error: errors_of_list("domainIds", text::t("domains"), &[], errors),
            trusts_email: has("trustsEmail", provider.is_some_and(|provider| provider.trusts_email)),
            subject_claim: value("subjectClaim", subject_claim.as_str()),
            subject_claim_error: error_of("subjectClaim", text::t("subject-claim")),
            provisioning: value("provisioning", provisioning.as_str()),
            provisioning_error: error_of("provisioning", text::t("provisioning")),
            roles: match form {
                Some(form) => placed_roles::typed_rows(console, (form, errors), MAX_ROLES),
                None => placed_roles::stored_rows(console, signed_in, stored_roles).await?,
            },
            factor_is_trusted: has("factorIsTrusted", provider.is_some_and(|provider| provider.factor_is_trusted)),
            enabled: has("enabled", provider.is_none_or(|provider| provider.enabled)),
        })
    }

    fn is_chosen(&self, domain: &Domain) -> bool {
        self.chosen_domains.contains(&domain.id)
    }
}

fn set_of(domains: &[DomainId]) -> BTreeSet<DomainId> {
    domains.iter().copied().collect()
}

/// Returns the scopes that a form names, separated by spaces.
fn typed_scopes(form: &Form) -> Vec<String> {
    form.get("scopes").split_whitespace().map(str::to_owned).collect()
}

/// The values of a form that are more than texts.
struct Typed {
    scopes: Vec<String>,
    secret: Option<ClientSecret>,
    domains: Vec<DomainId>,
    subject_claim: SubjectClaim,
    provisioning: Provisioning,
    roles: Vec<PlacedRole>,
    /// The row of each role.
    rows: Vec<usize>,
}

impl Typed {
    async fn read(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<Self, Error> {
        let mut errors = Vec::new();
        let secret = Some(form.get("clientSecret")).filter(|secret| !secret.is_empty());
        if secret.is_some() && form.has("removeSecret") {
            errors.push(FieldError::new("clientSecret", text::t("secret-and-removed")));
        }
        let domains = form.all("domainIds").map(str::parse).collect::<Result<Vec<DomainId>, _>>();
        let domains = domains.map_err(|_| Error::field("domainIds", text::t("choose-again")));
        let domains = collected(domains, &mut errors)?.unwrap_or_default();
        let chosen = |name: &str| Error::field(name, text::t("must-be-chosen"));
        let subject_claim = form.get("subjectClaim").parse::<SubjectClaim>().map_err(|_| chosen("subjectClaim"));
        let subject_claim = collected(subject_claim, &mut errors)?.unwrap_or_default();
        let provisioning = form.get("provisioning").parse::<Provisioning>().map_err(|_| chosen("provisioning"));
        let provisioning = collected(provisioning, &mut errors)?.unwrap_or_default();
        let (roles, rows) = placed_roles::typed(console, signed_in, (form, MAX_ROLES), &mut errors).await?;
        if !errors.is_empty() {
            return Err(Error::Validation(errors));
        }
        let (scopes, secret) = (typed_scopes(form), secret.map(ClientSecret::from));
        Ok(Self { scopes, secret, domains, subject_claim, provisioning, roles, rows })
    }
}
