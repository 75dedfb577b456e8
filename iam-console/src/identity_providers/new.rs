use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::identity_provider::{NewIdentityProvider, Provisioning, SubjectClaim};
use iam_core::{Error, FieldError, IdentityProviderId};

use crate::form::Form;
use crate::identity_providers::{Fields, Typed};
use crate::problem::refused_form;
use crate::rows;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "identity-provider-new.html")]
struct NewProviderPage {
    frame: Frame,
    error: String,
    fields: Fields,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<NewProviderPage, Problem> {
    let fields = Fields::of(console, signed_in, None, (form, errors)).await?;
    Ok(NewProviderPage { frame: signed_in.frame(console).await?, error: String::new(), fields })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, (None, &[])).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    if form.has("more") {
        return page(StatusCode::OK, &page_of(&console, &signed_in, (Some(&form), &[])).await?);
    }
    match make(&console, &signed_in, &form).await {
        Ok(id) => Ok(Redirect::to(&format!("{}/identity-providers/{id}?done=created", console.base())).into_response()),
        Err(error) => {
            refused_form(error, async |errors, error| {
                let shown = page_of(&console, &signed_in, (Some(&form), &errors)).await?;
                Ok(NewProviderPage { error, ..shown })
            })
            .await
        }
    }
}

async fn make(console: &Console, signed_in: &SignedIn, form: &Form) -> Result<IdentityProviderId, Error> {
    let typed = Typed::read(console, signed_in, form).await?;
    let new = NewIdentityProvider {
        name: form.get("name").to_owned(),
        slug: form.given("slug"),
        issuer: form.get("issuer").trim().to_owned(),
        client_id: form.get("clientId").trim().to_owned(),
        client_secret: typed.secret,
        scopes: Some(typed.scopes),
        domains: typed.domains,
        trusts_email: form.has("trustsEmail"),
        subject_claim: typed.subject_claim,
        provisioning: typed.provisioning,
        roles: typed.roles,
        factor_is_trusted: form.has("factorIsTrusted"),
        enabled: form.has("enabled"),
    };
    let made = console.iam.identity_providers().create(&signed_in.caller, new).await;
    Ok(made.map_err(|error| rows::as_typed(error, "roles", &typed.rows))?.id)
}
