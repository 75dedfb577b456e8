//! A form that a browser has sent without a session, with the token of an earlier session, or before a step-up at a
//! provider. Nothing that was typed is lost: the person sees it and sends it again.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;

use crate::form::{Form, KEPT};
use crate::text;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "resume.html")]
struct ResumePage {
    frame: Frame,
    /// Where the form goes.
    action: String,
    fields: Vec<(String, String)>,
    why: &'static str,
}

/// Returns the page that shows a form again, in the present session, and says why.
pub(crate) fn resume(
    status: StatusCode,
    frame: Frame,
    (action, form): (String, Form),
    why: &'static str,
) -> Result<Response, Problem> {
    page(status, &ResumePage { frame, action, fields: form.into_fields(), why })
}

/// Whether a person may see the value of a field. A form in a field may have a password.
fn is_shown(name: &str) -> bool {
    name != KEPT && !name.to_lowercase().contains("password")
}
