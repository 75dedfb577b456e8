//! Each person chooses how much room the lines of pages have.

use axum::Extension;
use axum::extract::State;
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
use crate::text;

/// Keeps the density in the browser, and leads back to the page.
pub(crate) async fn choose(
    State(console): State<Console>,
    _: WithoutFactor,
    _: NoQuery,
    parts: Parts,
    Extension(form): Extension<Form>,
) -> Result<Response, Problem> {
    let chosen = Density::typed(form.get("density"));
    let chosen = chosen.ok_or_else(|| Error::field("density", text::t("one-of-the-list")))?;
    let cookie = console.settings.cookie(&parts).density_kept(chosen.as_str());
    Ok(with_cookie(cookie, Redirect::to(&page_before(&console, &parts, &form))))
}
