//! The password and the e-mail of the person.

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::{Error, FieldError};

use super::{answer, back};
use crate::form::Form;
use crate::problem::refused_form;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Field, FormPage, page};

async fn password_page(
    console: &Console,
    signed_in: &SignedIn,
    errors: &[FieldError],
    error: String,
) -> Result<FormPage, Problem> {
    let me = console.iam.sessions().me(&signed_in.caller).await?;
    let rule = text::password_hint(me.tenant.password_policy, me.tenant.min_password_length());
    let fields = [
        Field::secret("currentPassword", text::t("current-password"), "current-password"),
        Field::secret("newPassword", text::t("new-password"), "new-password").with_hint(rule),
    ];
    Ok(FormPage {
        frame: signed_in.frame_for(console, &me),
        title: text::t("change-password"),
        notice: "",
        intro: text::t("change-password-what"),
        error,
        fields: fields.map(|field| field.with_errors(errors)).into(),
        button: text::t("change-password"),
        back: "/account".to_owned(),
    })
}

pub(super) async fn show_password(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &password_page(&console, &signed_in, &[], String::new()).await?)
}

pub(super) async fn change_password(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let (current, new) = (form.get("currentPassword").into(), form.get("newPassword").into());
    match console.iam.credentials().change_password(&signed_in.caller, current, new).await {
        Ok(()) => Ok(back(&console, "password")),
        Err(error) => {
            refused_form(error, async |errors, text| password_page(&console, &signed_in, &errors, text).await).await
        }
    }
}

async fn email_page(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
    error: String,
) -> Result<FormPage, Problem> {
    let new = Field { kind: "email", ..Field::text("newEmail", text::t("new-email")) }.completed_as("email");
    let fields = [new, Field::secret("currentPassword", text::t("current-password"), "current-password")];
    Ok(FormPage {
        frame: signed_in.frame(console).await?,
        title: text::t("change-email"),
        notice: "",
        intro: text::t("change-email-what"),
        error,
        fields: fields.map(|field| field.shown(form, errors)).into(),
        button: text::t("send-link"),
        back: "/account".to_owned(),
    })
}

pub(super) async fn show_email(State(console): State<Console>, signed_in: SignedIn) -> Result<Response, Problem> {
    page(StatusCode::OK, &email_page(&console, &signed_in, &Form::default(), &[], String::new()).await?)
}

pub(super) async fn change_email(
    State(console): State<Console>,
    signed_in: SignedIn,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let current = form.get("currentPassword").into();
    match console.iam.verification().change_email(&signed_in.caller, form.get("newEmail"), current).await {
        Ok(()) => Ok(back(&console, "email")),
        Err(error) => {
            refused_form(error, async |errors, text| email_page(&console, &signed_in, &form, &errors, text).await).await
        }
    }
}

pub(super) async fn send_verification(
    State(console): State<Console>,
    signed_in: SignedIn,
) -> Result<Response, Problem> {
    let result: Result<(), Error> = console.iam.verification().request(&signed_in.caller).await;
    answer(&console, signed_in.into(), result.map(|()| "verification")).await
}
