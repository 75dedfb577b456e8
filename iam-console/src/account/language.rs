//! Each person chooses the language of the pages.

use axum::Extension;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::{Redirect, Response};

use crate::cookie::with_cookie;
use crate::form::Form;
use crate::session::{WithoutFactor, came_from, destination};
use crate::state::Console;
use crate::text::Language;

/// Keeps the language in the browser, and leads back to the page.
pub(crate) async fn choose(
    State(console): State<Console>,
    _: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Response {
    let chosen = Language::named(form.get("language")).unwrap_or_else(Language::current);
    let cookie = console.settings.cookie(&parts).language_kept(chosen.tag);
    let back = destination(&console, &came_from(&parts).unwrap_or_default());
    with_cookie(cookie, Redirect::to(&back))
}
