//! The second factors of the person, and its recovery codes.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::{Kind, PathId, Problem};
use iam_core::secret::RecoveryCode;
use iam_core::{Error, FactorId, FieldError};
use qrcode::QrCode;
use qrcode::render::svg;

use super::{answer, back};
use crate::cookie::{TemporaryCookie, with_cookie};
use crate::form::Form;
use crate::once::{self, Once};
use crate::problem::refused_form;
use crate::session::{SignedIn, WithoutFactor};
use crate::state::Console;
use crate::text;
use crate::view::{Field, FormPage, Frame, page};

/// An authenticator app that waits for its first code.
struct Setup {
    id: FactorId,
    uri: String,
}

impl Setup {
    fn read(console: &Console, parts: &Parts) -> Option<Self> {
        let texts = TemporaryCookie::Authenticator.read(parts, console.settings.cookie(parts))?;
        let [id, uri] = texts.as_slice() else { return None };
        Some(Self { id: id.parse().ok()?, uri: uri.clone() })
    }

    /// The secret as a person types it.
    fn secret(&self) -> &str {
        let (_, query) = self.uri.split_once('?').unwrap_or_default();
        query.split('&').find_map(|pair| pair.strip_prefix("secret=")).unwrap_or_default()
    }
}

#[derive(Template)]
#[template(path = "authenticator.html")]
struct AuthenticatorPage {
    frame: Frame,
    error: String,
    secret: String,
    uri: String,
    /// The URI as a picture.
    code: String,
    field: Field,
}

impl AuthenticatorPage {
    /// The secret in groups of four characters, so that a person does not lose the place while typing.
    fn spaced_secret(&self) -> String {
        let chars: Vec<char> = self.secret.chars().collect();
        chars.chunks(4).map(String::from_iter).collect::<Vec<_>>().join(" ")
    }
}

async fn setup_page(
    console: &Console,
    signed_in: &SignedIn,
    setup: &Setup,
    (form, errors, error): (&Form, &[FieldError], String),
) -> Result<AuthenticatorPage, Problem> {
    let code = QrCode::new(&setup.uri).map_err(|error| {
        tracing::error!(%error, "a QR code cannot be made");
        Problem::new(Kind::Internal)
    })?;
    let code = code.render::<svg::Color<'_>>().min_dimensions(200, 200).build();
    // The declaration of an XML file has no place inside of a page.
    let code = code.find("<svg").and_then(|start| code.get(start..)).unwrap_or_default().to_owned();
    Ok(AuthenticatorPage {
        frame: signed_in.frame(console).await?,
        error,
        secret: setup.secret().to_owned(),
        uri: setup.uri.clone(),
        code,
        field: Field::text("code", text::t("app-code")).completed_as("one-time-code").shown(form, errors),
    })
}

async fn name_page(
    console: &Console,
    signed_in: &SignedIn,
    form: &Form,
    errors: &[FieldError],
    error: String,
) -> Result<FormPage, Problem> {
    Ok(FormPage {
        frame: signed_in.frame(console).await?,
        title: text::t("add-authenticator"),
        notice: "",
        intro: text::t("authenticator-what"),
        error,
        fields: vec![
            Field::text("name", text::t("name"))
                .optional()
                .with_hint(text::t("authenticator-name-hint"))
                .shown(form, errors),
        ],
        button: text::t("continue"),
        back: "/account".to_owned(),
    })
}

pub(super) async fn show_authenticator(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
) -> Result<Response, Problem> {
    let form = Form::default();
    match Setup::read(&console, &parts) {
        Some(setup) => {
            page(StatusCode::OK, &setup_page(&console, &signed_in, &setup, (&form, &[], String::new())).await?)
        }
        None => page(StatusCode::OK, &name_page(&console, &signed_in, &form, &[], String::new()).await?),
    }
}

pub(super) async fn add_authenticator(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let name = form.given("name");
    match console.iam.factors().add_totp(&signed_in.caller, name.as_deref()).await {
        Ok(setup) => {
            let (id, kind) = (setup.id.to_string(), console.settings.cookie(&parts));
            let cookie = TemporaryCookie::Authenticator.keep(&signed_in.form_token, &[&id, setup.uri.expose()], kind);
            Ok(with_cookie(cookie, Redirect::to(&format!("{}/account/authenticator", console.base()))))
        }
        Err(error) => {
            refused_form(error, async |errors, text| name_page(&console, &signed_in, &form, &errors, text).await).await
        }
    }
}

pub(super) async fn confirm_authenticator(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let Some(setup) = Setup::read(&console, &parts) else {
        return Ok(Redirect::to(&format!("{}/account/authenticator", console.base())).into_response());
    };
    match console.iam.factors().confirm_totp(&signed_in.caller, setup.id, &form.get("code").into()).await {
        Ok(codes) => {
            let forgotten = TemporaryCookie::Authenticator.forgotten(console.settings.cookie(&parts));
            Ok(with_cookie(forgotten, after_new_factor(&console, &signed_in, &parts, &codes)))
        }
        Err(error) => {
            let shown = async |errors: Vec<FieldError>, text| {
                setup_page(&console, &signed_in, &setup, (&form, &errors, text)).await
            };
            refused_form(error, shown).await
        }
    }
}

/// Leads to the recovery codes that came with a factor, or back to the account if there are none.
pub(super) fn after_new_factor(
    console: &Console,
    signed_in: &SignedIn,
    parts: &Parts,
    codes: &[RecoveryCode],
) -> Response {
    if codes.is_empty() { back(console, "factor") } else { to_recovery_codes(console, signed_in, parts, codes) }
}

fn to_recovery_codes(console: &Console, signed_in: &SignedIn, parts: &Parts, codes: &[RecoveryCode]) -> Response {
    let texts: Vec<&str> = codes.iter().map(RecoveryCode::expose).collect();
    once::lead_to(console, signed_in, parts, (TemporaryCookie::RecoveryCodes, &texts), "/account/recovery-codes")
}

/// Shows new recovery codes, once.
pub(super) async fn show_recovery_codes(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    parts: Parts,
) -> Result<Response, Problem> {
    let (title, intro, file) =
        (text::t("recovery-codes").to_owned(), text::t("recovery-codes-once"), "recovery-codes.txt");
    let (trail, back) = (Vec::new(), "/account".to_owned());
    let once = Once { temporary: TemporaryCookie::RecoveryCodes, title, trail, intro, file, back };
    once::show(&console, &signed_in, &parts, once).await
}

pub(super) async fn issue_recovery_codes(
    State(console): State<Console>,
    person: WithoutFactor,
    parts: Parts,
) -> Result<Response, Problem> {
    match console.iam.factors().issue_recovery_codes(&person.signed_in.caller).await {
        Ok(codes) => Ok(to_recovery_codes(&console, &person.signed_in, &parts, &codes)),
        Err(error) => answer(&console, person, Err(error)).await,
    }
}

async fn rename_page(
    console: &Console,
    signed_in: &SignedIn,
    id: FactorId,
    (form, errors, error): (Option<&Form>, &[FieldError], String),
) -> Result<FormPage, Problem> {
    let list = console.iam.factors().list(&signed_in.caller).await?;
    let factor = list.factors.into_iter().find(|factor| factor.id == id);
    let factor = factor.ok_or_else(|| Problem::new(Kind::NotFound))?;
    let typed = form.map_or(factor.name.as_str(), |form| form.get("name"));
    Ok(FormPage {
        frame: signed_in.frame(console).await?,
        title: text::t("rename-factor"),
        notice: "",
        intro: "",
        error,
        fields: vec![Field::text("name", text::t("name")).filled(typed).with_errors(errors)],
        button: text::t("save"),
        back: "/account".to_owned(),
    })
}

pub(super) async fn show_name(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    PathId(id): PathId<FactorId>,
) -> Result<Response, Problem> {
    page(StatusCode::OK, &rename_page(&console, &signed_in, id, (None, &[], String::new())).await?)
}

pub(super) async fn rename(
    State(console): State<Console>,
    WithoutFactor { signed_in, .. }: WithoutFactor,
    PathId(id): PathId<FactorId>,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    match console.iam.factors().rename(&signed_in.caller, id, form.get("name")).await {
        Ok(_) => Ok(back(&console, "renamed")),
        Err(error) => {
            let shown = async |errors: Vec<FieldError>, text| {
                rename_page(&console, &signed_in, id, (Some(&form), &errors, text)).await
            };
            refused_form(error, shown).await
        }
    }
}

pub(super) async fn remove(
    State(console): State<Console>,
    person: WithoutFactor,
    PathId(id): PathId<FactorId>,
) -> Result<Response, Problem> {
    let result: Result<(), Error> = console.iam.factors().remove(&person.signed_in.caller, id).await;
    answer(&console, person, result.map(|()| "removed")).await
}
