//! A form that a browser has sent without a session, or with the token of an earlier session. Nothing that was typed is
//! lost: the person sees it and sends it again.

use askama::Template;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;

use crate::english;
use crate::form::Form;
use crate::view::{Frame, page};

#[derive(Template)]
#[template(path = "resume.html")]
struct ResumePage {
    frame: Frame,
    /// Where the form goes.
    action: String,
    fields: Vec<(String, String)>,
}

/// Returns the page that shows a form again, in the present session.
pub(crate) fn resume(status: StatusCode, frame: Frame, action: String, form: Form) -> Result<Response, Problem> {
    page(status, &ResumePage { frame, action, fields: form.into_fields() })
}

/// Whether a person may see the value of a field.
fn is_shown(name: &str) -> bool {
    !name.to_lowercase().contains("password")
}
