use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{PathId, Problem};
use iam_core::identity_provider::{IdentityProvider, IdentityProviderPatch, Provisioning, Scope, SubjectClaim};
use iam_core::version::Precondition;
use iam_core::{Error, FieldError, IdentityProviderId};
use serde::Deserialize;

use crate::form::Form;
use crate::identity_providers::{Fields, Typed, set_of};
use crate::problem::{if_allowed, refused_form, refused_in_place};
use crate::query::Query;
use crate::rows;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Copied, Frame, page};

#[derive(Template)]
#[template(path = "identity-provider.html")]
struct ProviderPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    provider: IdentityProvider,
    /// The version that the person has seen: a form that is shown again must not replace values that it does not show.
    version: String,
    fields: Fields,
    /// The addresses to register at the provider; none if federation is off.
    addresses: Vec<Copied>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    done: String,
}

impl Done {
    fn notice(&self) -> &'static str {
        match &*self.done {
            "created" => text::t("identity-provider-created"),
            "saved" => text::t("saved"),
            _ => "",
        }
    }
}

/// Returns the page of a provider, with the typed values instead of those of the provider.
async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    provider: IdentityProvider,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<ProviderPage, Problem> {
    Ok(ProviderPage {
        frame: signed_in.frame(console).await?,
        notice: "",
        error: String::new(),
        version: form.map_or_else(|| provider.version.to_string(), |form| form.get("version").to_owned()),
        fields: Fields::of(console, signed_in, Some(&provider), (form, errors)).await?,
        addresses: addresses(console, provider.id),
        provider,
    })
}

fn addresses(console: &Console, id: IdentityProviderId) -> Vec<Copied> {
    let Some(callback) = console.iam.identity_providers().callback_url(id).map(String::from) else {
        return Vec::new();
    };
    let logout = callback.rsplit_once("/callback/").map(|(before, id)| format!("{before}/backchannel-logout/{id}"));
    let callback = Copied { id: "callback-url", label: text::t("callback-url"), text: callback };
    let logout = logout.map(|text| Copied { id: "logout-url", label: text::t("logout-url"), text });
    [Some(callback), logout].into_iter().flatten().collect()
}

async fn find(console: &Console, signed_in: &SignedIn, id: IdentityProviderId) -> Result<IdentityProvider, Problem> {
    Ok(console.iam.identity_providers().get(&signed_in.caller, id).await?)
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<IdentityProviderId>,
    Query(done): Query<Done>,
) -> Result<Response, Problem> {
    let provider = find(&console, &signed_in, id).await?;
    let shown = page_of(&console, &signed_in, provider, (None, &[])).await?;
    page(StatusCode::OK, &ProviderPage { notice: done.notice(), ..shown })
}

pub(super) async fn update(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<IdentityProviderId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let provider = find(&console, &signed_in, id).await?;
    if form.has("more") {
        return page(StatusCode::OK, &page_of(&console, &signed_in, provider, (Some(&form), &[])).await?);
    }
    match change(&console, &signed_in, &provider, &form).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/identity-providers/{id}?done=saved", console.base())).into_response()),
        Err(error) => {
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_form(error, async |errors, error| {
                let error = if is_late { text::t("identity-provider-changed-meanwhile").to_owned() } else { error };
                let shown = page_of(&console, &signed_in, provider, (Some(&form), &errors)).await?;
                Ok(ProviderPage { error, ..shown })
            })
            .await
        }
    }
}

/// Changes only what differs: a call that names more than the name needs all permissions.
async fn change(
    console: &Console,
    signed_in: &SignedIn,
    provider: &IdentityProvider,
    form: &Form,
) -> Result<(), Error> {
    let caller = &signed_in.caller;
    let typed = Typed::read(console, signed_in, form).await?;
    // A form without the domains removes none of them.
    let has_domains = if_allowed(console.iam.domains().list(caller).await)?.is_some();
    let text = |name: &str, stored: &str| Some(form.get(name).trim().to_owned()).filter(|typed| typed != stored);
    let flag = |name: &str, stored: bool| Some(form.has(name)).filter(|typed| *typed != stored);
    let stored_scopes: Vec<&str> = provider.scopes.iter().map(Scope::as_str).collect();
    let patch = IdentityProviderPatch {
        name: text("name", provider.name.as_str()),
        slug: text("slug", provider.slug.as_str()),
        issuer: text("issuer", provider.issuer.as_str()),
        client_id: text("clientId", provider.client_id.as_str()),
        client_secret: if form.has("removeSecret") { Some(None) } else { typed.secret.map(Some) },
        scopes: Some(typed.scopes).filter(|scopes| *scopes != stored_scopes),
        domains: Some(typed.domains).filter(|domains| has_domains && set_of(domains) != set_of(&provider.domain_ids)),
        trusts_email: flag("trustsEmail", provider.trusts_email),
        subject_claim: Some(typed.subject_claim).filter(|claim| *claim != provider.subject_claim),
        provisioning: Some(typed.provisioning).filter(|provisioning| *provisioning != provider.provisioning),
        roles: Some(typed.roles).filter(|roles| *roles != provider.roles),
        factor_is_trusted: flag("factorIsTrusted", provider.factor_is_trusted),
        enabled: flag("enabled", provider.enabled),
    };
    let changed = console.iam.identity_providers().update_if(caller, provider.id, patch, &precondition(form)).await;
    changed.map(|_| ()).map_err(|error| rows::as_typed(error, "roles", &typed.rows))
}

/// The change is made only if the provider is as the form shows it.
fn precondition(form: &Form) -> Precondition {
    Precondition::OneOf(form.get("version").parse().into_iter().collect())
}

pub(super) async fn delete(
    State(console): State<Console>,
    signed_in: SignedIn,
    PathId(id): PathId<IdentityProviderId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match console.iam.identity_providers().delete_if(&signed_in.caller, id, &precondition(&form)).await {
        Ok(()) => Ok(Redirect::to(&format!("{}/identity-providers?done=removed", console.base())).into_response()),
        Err(error) => {
            let provider = find(&console, &signed_in, id).await?;
            let shown = page_of(&console, &signed_in, provider, (None, &[])).await?;
            let is_late = matches!(error, Error::PreconditionFailed);
            refused_in_place(error, |error| {
                let error = if is_late { text::t("identity-provider-changed-meanwhile").to_owned() } else { error };
                ProviderPage { error, ..shown }
            })
        }
    }
}
