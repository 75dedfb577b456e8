//! Eligibilities: a list, a page for each, and a form for a new one.

mod list;
mod new;
mod one;
mod reach;

use axum::Router;
use axum::routing::{get, post};
use iam_core::eligibility::{Eligibility, Eligible, ListedEligibility};
use iam_core::{Caller, Error, Iam, RoleId, UserId};

use crate::form::Form;
use crate::names::Names;
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

/// Reads the names of the users and the roles that some eligibilities name beside the role to ask for.
pub(crate) async fn names_of(iam: &Iam, caller: &Caller, listed: &[ListedEligibility]) -> Result<Names, Error> {
    let eligibilities = || listed.iter().map(|listed| &listed.eligibility);
    let made_by = eligibilities().filter_map(|eligibility| eligibility.created_by);
    let users: Vec<UserId> = eligibilities().filter_map(|found| found.eligible.user()).chain(made_by).collect();
    let named = |eligibility: &Eligibility| [eligibility.eligible.held_role(), eligibility.approver_role_id];
    let roles: Vec<RoleId> = eligibilities().flat_map(named).flatten().collect();
    Names::read(iam, caller, users, []).await?.with_roles(iam, caller, roles).await
}

pub(crate) fn place_of(listed: &ListedEligibility) -> &str {
    listed.organization.as_ref().map_or(text::t("whole-tenant"), |organization| &organization.name)
}

/// Returns who may ask by an eligibility.
pub(crate) fn eligible_of(eligibility: &Eligibility, names: &Names) -> String {
    match eligibility.eligible {
        Eligible::User(user) => names.user(user),
        Eligible::HoldersOf(role) => text::holders_of(&names.role(role)),
    }
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
