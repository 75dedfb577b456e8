use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::FieldError;

use crate::form::Form;
use crate::problem::refused_form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "domain-new.html")]
struct NewDomainPage {
    frame: Frame,
    error: String,
    domain: Field,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    (form, errors, error): (&Form, &[FieldError], String),
) -> Result<NewDomainPage, Problem> {
    let domain = Field::text("domain", text::t("domain")).with_hint(text::t("domain-hint")).shown(form, errors);
    Ok(NewDomainPage { frame: signed_in.frame(console).await?, error, domain })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, (&Form::default(), &[], String::new())).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match console.iam.domains().create(&signed_in.caller, form.get("domain").trim()).await {
        Ok(domain) => Ok(Redirect::to(&format!("{}/domains/{}?done=added", console.base(), domain.id)).into_response()),
        Err(error) => {
            let shown =
                async |errors: Vec<FieldError>, text| page_of(&console, &signed_in, (&form, &errors, text)).await;
            refused_form(error, shown).await
        }
    }
}
