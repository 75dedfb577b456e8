use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;
use iam_core::FieldError;
use iam_core::permission::NewPermission;

use crate::form::Form;
use crate::problem::refused_form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "permission-new.html")]
struct NewPermissionPage {
    frame: Frame,
    error: String,
    name: Field,
    description: Field,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    (form, errors, error): (&Form, &[FieldError], String),
) -> Result<NewPermissionPage, Problem> {
    let name = Field::text("name", text::t("name")).with_hint(text::t("permission-name-hint"));
    let description = Field::text("description", text::t("description")).optional();
    Ok(NewPermissionPage {
        frame: signed_in.frame(console).await?,
        error,
        name: name.shown(form, errors),
        description: description.with_hint(text::t("permission-description-hint")).shown(form, errors),
    })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, (&Form::default(), &[], String::new())).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let new = NewPermission { name: form.get("name").trim().to_owned(), description: form.given("description") };
    match console.iam.permissions().create(&signed_in.caller, new).await {
        Ok(created) => {
            Ok(Redirect::to(&format!("{}/permissions/{}?done=created", console.base(), created.id)).into_response())
        }
        Err(error) => {
            let shown =
                async |errors: Vec<FieldError>, text| page_of(&console, &signed_in, (&form, &errors, text)).await;
            refused_form(error, shown).await
        }
    }
}
