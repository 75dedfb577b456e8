//! Each person chooses how pages look: the room of lines, light or dark, and the language. The browser keeps it.

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::request::Parts;
use axum::response::{Redirect, Response};
use iam_axum::Problem;
use iam_core::Error;

use crate::cookie::with_cookie;
use crate::density::Density;
use crate::form::Form;
use crate::query::NoQuery;
use crate::session::{WithoutFactor, page_before};
use crate::state::Console;
use crate::text::{self, Language};
use crate::theme::Theme;

pub(super) async fn choose_density(
    State(console): State<Console>,
    _: WithoutFactor,
    _: NoQuery,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let chosen = one_of("density", Density::typed(form.get("density")))?;
    Ok(kept(&console, &parts, &form, console.settings.cookie(&parts).density_kept(chosen.as_str())))
}

pub(super) async fn choose_theme(
    State(console): State<Console>,
    _: WithoutFactor,
    _: NoQuery,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let chosen = one_of("theme", Theme::typed(form.get("theme")))?;
    Ok(kept(&console, &parts, &form, console.settings.cookie(&parts).theme_kept(chosen.as_str())))
}

pub(super) async fn choose_language(
    State(console): State<Console>,
    _: WithoutFactor,
    _: NoQuery,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let chosen = one_of("language", Language::named(form.get("language")))?;
    Ok(kept(&console, &parts, &form, console.settings.cookie(&parts).language_kept(chosen.tag)))
}

fn one_of<T>(field: &'static str, chosen: Option<T>) -> Result<T, Error> {
    chosen.ok_or_else(|| Error::field(field, text::t("one-of-the-list")))
}

/// Leads back to the page, with a cookie that keeps the choice.
fn kept(console: &Console, parts: &Parts, form: &Form, cookie: Option<HeaderValue>) -> Response {
    with_cookie(cookie, Redirect::to(&page_before(console, parts, form)))
}
