//! The registration of a passkey. The script `passkey.js` asks the browser for it.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use iam_axum::Problem;
use iam_core::factor::webauthn::RegistrationResponse;
use iam_core::{Error, FieldError};

use super::factors::after_new_factor;
use crate::form::Form;
use crate::problem::refused_form;
use crate::session::{SignedIn, WithoutFactor};
use crate::state::Console;
use crate::text;
use crate::view::{Field, Frame, page};

#[derive(Template)]
#[template(path = "passkey.html")]
struct PasskeyPage {
    frame: Frame,
    notice: &'static str,
    error: String,
    field: Field,
}

async fn page_of(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
    error: String,
) -> Result<PasskeyPage, Problem> {
    let typed = if form.has("name") { form.get("name") } else { text::t("passkey-name") };
    let field = Field::text("name", text::t("name")).filled(typed).with_errors(errors);
    Ok(PasskeyPage { frame: signed_in.frame(console).await?, notice: "", error, field })
}

pub(super) async fn show(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &page_of(&console, &signed_in, &Form::default(), &[], String::new()).await?)
}

pub(super) async fn options(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
) -> Result<Response, Problem> {
    Ok(Json(console.iam.factors().passkey_options(&signed_in.caller).await?).into_response())
}

pub(super) async fn add(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let shown = async |errors: Vec<FieldError>, text| page_of(&console, &signed_in, &form, &errors, text).await;
    let credential = iam_json::from_slice(form.get("credential").as_bytes()).ok();
    let Some(response) = credential.and_then(|json| RegistrationResponse::from_json(&json).ok()) else {
        // The script got no options. The same call tells why, and the session authenticates again if it must.
        return match console.iam.factors().passkey_options(&signed_in.caller).await {
            Ok(_) => {
                let shown = shown(Vec::new(), String::new()).await?;
                page(StatusCode::OK, &PasskeyPage { notice: text::t("passkey-go-on"), ..shown })
            }
            Err(error) => refused_form(error, shown).await,
        };
    };
    match console.iam.factors().add_passkey(&signed_in.caller, Some(form.get("name")), &response).await {
        Ok((_, codes)) => Ok(after_new_factor(&console, &signed_in, &parts, &codes)),
        // There is no field for what the browser has answered.
        Err(Error::Validation(errors)) if errors.iter().any(|error| error.field == "credential") => {
            let shown = shown(Vec::new(), text::t("passkey-refused").to_owned()).await?;
            page(StatusCode::BAD_REQUEST, &shown)
        }
        Err(error) => refused_form(error, shown).await,
    }
}
