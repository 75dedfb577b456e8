//! Secrets that are shown once: an answer leads to a page of their own, so that a reload repeats nothing.

use askama::Template;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use iam_axum::Problem;

use crate::cookie::{TemporaryCookie, with_cookie};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page};

/// The texts of the page of some secrets.
pub(crate) struct Once {
    /// The cookie that keeps the secrets until the page is open.
    pub(crate) temporary: TemporaryCookie,
    pub(crate) title: String,
    /// The pages above it: their addresses below the path of the console, and their names.
    pub(crate) trail: Vec<(String, String)>,
    pub(crate) intro: &'static str,
    /// The name of a file in which a browser can keep them; empty if there is none.
    pub(crate) file: &'static str,
    /// The page to which the person returns, below the path of the console.
    pub(crate) back: String,
}

#[derive(Template)]
#[template(path = "once.html")]
struct OncePage {
    frame: Frame,
    title: String,
    trail: Vec<(String, String)>,
    intro: &'static str,
    secrets: Vec<String>,
    file: &'static str,
    back: String,
}

/// Leads to the page of some secrets, which is at a path of the console.
pub(crate) fn lead_to(
    console: &Console,
    signed_in: &SignedIn,
    parts: &Parts,
    (temporary, secrets): (TemporaryCookie, &[&str]),
    path: &str,
) -> Response {
    let cookie = temporary.keep(&signed_in.form_token, secrets, console.settings.cookie(parts));
    with_cookie(cookie, Redirect::to(&format!("{}{path}", console.base())))
}

/// Shows the secrets. Afterwards, the browser has forgotten them, and the page leads back.
pub(crate) async fn show(
    console: &Console,
    signed_in: &SignedIn,
    parts: &Parts,
    once: Once,
) -> Result<Response, Problem> {
    let Once { temporary, title, trail, intro, file, back } = once;
    let kind = console.settings.cookie(parts);
    let Some(secrets) = temporary.read(parts, kind) else {
        return Ok(Redirect::to(&format!("{}{back}", console.base())).into_response());
    };
    let frame = signed_in.frame(console).await?;
    let shown = page(StatusCode::OK, &OncePage { frame, title, trail, intro, secrets, file, back })?;
    Ok(with_cookie(temporary.forgotten(kind), shown))
}
