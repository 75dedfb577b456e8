//! The organizations of the tenant: their tree, a map of it, and a page for each.

mod map;
mod moving;
mod new;
mod one;
mod tree;

use axum::Router;
use axum::routing::{get, post};
use iam_core::organization::OrganizationStatus;

use crate::state::Console;
use crate::text;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/organizations", get(tree::show))
        .route("/organizations/map", get(map::show))
        .route("/organizations/new", get(new::show).post(new::create))
        .route("/organizations/{id}", get(one::show).post(one::update))
        .route("/organizations/{id}/below", get(tree::show_below))
        .route("/organizations/{id}/move", get(moving::show).post(moving::move_to))
        .route("/organizations/{id}/status", post(one::change_status))
        .route("/organizations/{id}/delete", post(one::delete))
}

fn text_of(status: &OrganizationStatus) -> &'static str {
    match status {
        OrganizationStatus::Active => text::t("active"),
        OrganizationStatus::Suspended => text::t("suspended"),
        OrganizationStatus::Inactive => text::t("deleted"),
    }
}
