//! Each person chooses how much room the lines of pages have.

use axum::Extension;
use axum::extract::State;
use axum::http::request::Parts;
use axum::response::{Redirect, Response};

use crate::cookie::with_cookie;
use crate::density::Density;
use crate::form::Form;
use crate::session::{WithoutFactor, came_from, destination};
use crate::state::Console;

/// Keeps the density in the browser, and leads back to the page.
pub(crate) async fn choose(
    State(console): State<Console>,
    _: WithoutFactor,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Response {
    let chosen = Density::named(form.get("density"));
    let cookie = console.settings.cookie(&parts).density_kept(chosen.as_str());
    let back = destination(&console, &came_from(&parts).unwrap_or_default());
    with_cookie(cookie, Redirect::to(&back))
}
