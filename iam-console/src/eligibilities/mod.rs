//! Eligibilities: a list, a page for each, and a form for a new one.

mod list;
mod new;
mod one;
mod reach;

use axum::Router;
use axum::routing::{get, post};
use iam_core::{Caller, Error, Iam, RoleId};

use crate::form::Form;
use crate::picker;
use crate::state::Console;
use crate::text;
use crate::view::Field;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/eligibilities", get(list::show))
        .route("/eligibilities/new", get(new::show).post(new::create))
        .route("/eligibilities/{id}", get(one::show).post(one::update))
        .route("/eligibilities/{id}/delete", post(one::delete))
}

/// The field for the role of those who decide.
fn approver_field(console: &Console) -> Field {
    let field = Field::text("approverRole", text::t("approver-role")).optional();
    picker::of_role(console, field.with_hint(text::t("approver-role-hint")))
}

/// Returns the role that a form names in a field. `None` if the field is empty.
async fn typed_role(iam: &Iam, caller: &Caller, form: &Form, field: &str) -> Result<Option<RoleId>, Error> {
    match form.given(field) {
        Some(text) => picker::role(iam, caller, field, &text).await.map(Some),
        None => Ok(None),
    }
}
