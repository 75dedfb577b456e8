//! Each person chooses whether pages are light or dark.

use axum::Extension;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::{Redirect, Response};

use crate::cookie::with_cookie;
use crate::form::Form;
use crate::session::{WithoutFactor, came_from, destination};
use crate::state::Console;
use crate::theme::Theme;

/// Keeps the theme in the browser, and leads back to the page.
pub(crate) async fn choose(
    State(console): State<Console>,
    _: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Response {
    let chosen = Theme::named(form.get("theme"));
    let cookie = console.settings.cookie(&parts).theme_kept(chosen.as_str());
    let back = destination(&console, &came_from(&parts).unwrap_or_default());
    with_cookie(cookie, Redirect::to(&back))
}
