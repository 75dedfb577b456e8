//! The identity providers of the tenant: a list, a page for each, and a form for a new one.

mod list;
mod new;
mod one;

use std::collections::BTreeSet;

use axum::Router;
use axum::routing::{get, post};
use iam_core::domain::Domain;
use iam_core::identity_provider::{IdentityProvider, ProvidedRole, Provisioning, Scope, SubjectClaim};
use iam_core::secret::ClientSecret;
use iam_core::{DomainId, Error, FieldError};

use crate::english;
use crate::form::Form;
use crate::picker;
use crate::problem::{collected, if_allowed};
use crate::roles;
use crate::rows;
use crate::session::SignedIn;
use crate::state::Console;
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
        let slug_field = Field::text("slug", english::SLUG);
        let (slug_field, secret_hint) = match provider {
            None => (slug_field.optional().with_hint(english::NEW_SLUG_HINT), english::CLIENT_SECRET_HINT),
            Some(IdentityProvider { client_secret: None, .. }) => {
                (slug_field.with_hint(english::SLUG_HINT), english::CLIENT_SECRET_HINT)
            }
            Some(_) => (slug_field.with_hint(english::SLUG_HINT), english::CLIENT_SECRET_KEPT),
        };
        let secret = Field::secret("clientSecret", english::CLIENT_SECRET, "new-password").optional();
        let scopes = provider.map_or_else(
            || IdentityProvider::DEFAULT_SCOPES.join(" "),
            |provider| provider.scopes.iter().map(Scope::as_str).collect::<Vec<_>>().join(" "),
        );
        let typed_scopes = form.map(typed_scopes).unwrap_or_default();
        let subject_claim = provider.map(|provider| provider.subject_claim).unwrap_or_default();
        let provisioning = provider.map(|provider| provider.provisioning).unwrap_or_default();
        Ok(Self {
            texts: vec![
                shown(Field::text("name", english::NAME), name),
                shown(slug_field, slug),
                shown(Field::text("issuer", english::ISSUER).with_hint(english::ISSUER_HINT), issuer),
                shown(Field::text("clientId", english::CLIENT_ID).with_hint(english::CLIENT_ID_HINT), client_id),
                shown(secret.with_hint(secret_hint), ""),
            ],
            has_secret: provider.is_some_and(|provider| provider.client_secret.is_some()),
            removes_secret: has("removeSecret", false),
            scopes: Field {
                error: errors_of_list("scopes", english::SCOPES, &typed_scopes, errors),
                ..shown(Field::text("scopes", english::SCOPES).with_hint(english::SCOPES_HINT), &scopes)
            },
            domains,
            chosen_domains: match form {
                Some(form) => form.all("domainIds").filter_map(|id| id.parse().ok()).collect(),
                None => provider.map(|provider| set_of(&provider.domain_ids)).unwrap_or_default(),
            },
            domains_error: errors_of_list("domainIds", english::DOMAINS, &[], errors),
            trusts_email: has("trustsEmail", provider.is_some_and(|provider| provider.trusts_email)),
            subject_claim: value("subjectClaim", subject_claim.as_str()),
            subject_claim_error: error_of("subjectClaim", english::SUBJECT_CLAIM),
            provisioning: value("provisioning", provisioning.as_str()),
            provisioning_error: error_of("provisioning", english::PROVISIONING),
            roles: match form {
                Some(form) => typed_rows(console, form, errors),
                None => stored_rows(console, signed_in, provider).await?,
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

fn role_fields(console: &Console, number: usize) -> [Field; 2] {
    let role = Field::text(rows::name("role", number), english::ROLE).optional();
    let organization = Field::text(rows::name("organization", number), english::ORGANIZATION).optional();
    [
        picker::of_role(console, role),
        picker::of_organization(console, organization.with_hint(english::ORGANIZATION_OR_TENANT)),
    ]
}

fn typed_rows(console: &Console, form: &Form, errors: &[FieldError]) -> Vec<Vec<Field>> {
    let shown = |number| role_fields(console, number).map(|field| field.shown(form, errors)).into();
    (0..rows::number(form, MAX_ROLES)).map(shown).collect()
}

/// Returns the rows of the roles of a provider, or an empty row.
async fn stored_rows(
    console: &Console,
    signed_in: &SignedIn,
    provider: Option<&IdentityProvider>,
) -> Result<Vec<Vec<Field>>, Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let stored = provider.map(|provider| provider.roles.as_slice()).unwrap_or_default();
    if stored.is_empty() {
        return Ok(vec![role_fields(console, 0).into()]);
    }
    let named = if_allowed(roles::all(iam, caller).await)?.unwrap_or_default();
    let mut shown = Vec::new();
    for (number, provided) in stored.iter().enumerate() {
        let found = named.iter().find(|role| role.id == provided.role_id);
        let name = found.map_or_else(|| provided.role_id.to_string(), |role| role.name.to_string());
        let place = provided.organization_id.map(|id| id.to_string()).unwrap_or_default();
        let place = picker::shown_organization(iam, caller, &place).await?;
        let [role, organization] = role_fields(console, number);
        shown.push(vec![role.filled(&name), organization.filled(&place)]);
    }
    Ok(shown)
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
    roles: Vec<ProvidedRole>,
    /// The row of each role.
    rows: Vec<usize>,
}

impl Typed {
    async fn read(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<Self, Error> {
        let mut errors = Vec::new();
        let secret = Some(form.get("clientSecret")).filter(|secret| !secret.is_empty());
        if secret.is_some() && form.has("removeSecret") {
            errors.push(FieldError::new("clientSecret", english::SECRET_AND_REMOVED));
        }
        let domains = form.all("domainIds").map(str::parse).collect::<Result<Vec<DomainId>, _>>();
        let domains = domains.map_err(|_| Error::field("domainIds", english::CHOOSE_AGAIN));
        let domains = collected(domains, &mut errors)?.unwrap_or_default();
        let chosen = |name: &str| Error::field(name, english::MUST_BE_CHOSEN);
        let subject_claim = form.get("subjectClaim").parse::<SubjectClaim>().map_err(|_| chosen("subjectClaim"));
        let subject_claim = collected(subject_claim, &mut errors)?.unwrap_or_default();
        let provisioning = form.get("provisioning").parse::<Provisioning>().map_err(|_| chosen("provisioning"));
        let provisioning = collected(provisioning, &mut errors)?.unwrap_or_default();
        let (roles, rows) = typed_roles(console, signed_in, form, &mut errors).await?;
        if !errors.is_empty() {
            return Err(Error::Validation(errors));
        }
        let (scopes, secret) = (typed_scopes(form), secret.map(ClientSecret::from));
        Ok(Self { scopes, secret, domains, subject_claim, provisioning, roles, rows })
    }
}

/// Returns the roles of a form, and the row of each.
async fn typed_roles(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &mut Vec<FieldError>,
) -> Result<(Vec<ProvidedRole>, Vec<usize>), Error> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let (mut roles, mut numbers) = (Vec::new(), Vec::new());
    for number in 0..rows::number(form, MAX_ROLES) {
        let [role, organization] = ["role", "organization"].map(|field| rows::name(field, number));
        let typed_organization = form.given(&organization);
        let Some(typed_role) = form.given(&role) else {
            if typed_organization.is_some() {
                errors.push(FieldError::new(role, english::ROLE_MISSING));
            }
            continue;
        };
        let role_id = collected(picker::role(iam, caller, &role, &typed_role).await, errors)?;
        let typed = typed_organization.unwrap_or_default();
        let organization_id = picker::organization(iam, caller, &organization, &typed).await;
        let organization_id = collected(organization_id, errors)?.flatten();
        if let Some(role_id) = role_id {
            roles.push(ProvidedRole { role_id, organization_id });
            numbers.push(number);
        }
    }
    Ok((roles, numbers))
}
