use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::FieldError;
use iam_core::webhook::{EventFormat, NewWebhook};

use crate::form::Form;
use crate::problem::refused_form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};
use crate::webhooks::{Fields, secret, typed_format, typed_types};

#[derive(Template)]
#[template(path = "webhook-new.html")]
struct NewWebhookPage {
    frame: Frame,
    error: String,
    fields: Fields,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    (form, errors): (Option<&Form>, &[FieldError]),
) -> Result<NewWebhookPage, Problem> {
    let fields = Fields::of(console, signed_in, None, (form, errors));
    Ok(NewWebhookPage { frame: signed_in.frame(console).await?, error: String::new(), fields })
}

pub(super) async fn show(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, (None, &[])).await?)
}

pub(super) async fn create(
    State(console): State<Console>,
    signed_in: SignedIn,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let result = match typed_format(&form) {
        Ok(format) => {
            let new = NewWebhook {
                url: form.get("url").trim().to_owned(),
                types: typed_types(&form),
                format: format.unwrap_or_default(),
                description: form.get("description").to_owned(),
                enabled: form.has("enabled"),
            };
            console.iam.webhooks().create(&signed_in.caller, new).await
        }
        Err(error) => Err(error),
    };
    match result {
        Ok(issued) => Ok(secret::lead_to(&console, &signed_in, &parts, &issued)),
        Err(error) => {
            refused_form(error, async |errors, error| {
                let shown = page_of(&console, &signed_in, (Some(&form), &errors)).await?;
                Ok(NewWebhookPage { error, ..shown })
            })
            .await
        }
    }
}
