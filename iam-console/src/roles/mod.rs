//! The roles of the tenant: a list, a page for each, and a form to make or change one.

mod edit;
mod list;
mod one;

use axum::Router;
use axum::routing::{get, post};
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::role::{Role, RoleScope};
use iam_core::text::folded;
use iam_core::{Caller, Error, Iam};

use crate::paging::MAX_PAGES;
use crate::state::Console;
use crate::text;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/roles", get(list::show))
        .route("/roles/new", get(edit::show_new).post(edit::create))
        .route("/roles/{id}", get(one::show))
        .route("/roles/{id}/edit", get(edit::show).post(edit::update))
        .route("/roles/{id}/delete", post(one::delete))
}

pub(crate) fn text_of(scope: &RoleScope) -> &'static str {
    match scope {
        RoleScope::Tenant => text::t("scope-tenant"),
        RoleScope::Organization => text::t("scope-organization"),
        RoleScope::Any => text::t("scope-any"),
    }
}

/// Returns the name that a role has if a person types it as a title, such as `HELP_DESK` for "Help desk".
pub(crate) fn name_of(typed: &str) -> String {
    typed.trim().to_uppercase().replace([' ', '-'], "_")
}

/// Whether the name of a role has a text, typed as a title or as a name.
pub(crate) fn is_named_with(role: &Role, typed: &str) -> bool {
    folded(role.name.as_str()).contains(&folded(&name_of(typed)))
}

/// Returns the roles by their names, at most 1,000.
pub(crate) async fn all(iam: &Iam, caller: &Caller) -> Result<Vec<Role>, Error> {
    let mut roles = Vec::new();
    for number in 1..=MAX_PAGES {
        let page = iam.roles().list(caller, PageRequest::new(number, MAX_LIMIT)?).await?;
        let has_next = page.has_next();
        roles.extend(page.items);
        if !has_next {
            break;
        }
    }
    roles.sort_by(|one: &Role, other: &Role| one.name.as_str().cmp(other.name.as_str()));
    Ok(roles)
}
