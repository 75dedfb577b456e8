//! The users of the tenant: a list, a page for each, and a form for a new one.

mod account;
mod act;
mod export;
mod import;
mod list;
mod new;
mod one;
mod rights;
mod time_line;

use axum::Router;
use axum::routing::{get, post};
use iam_core::user::UserStatus;

use crate::state::Console;
use crate::text;

/// The field of forms with the home of a user.
const HOME: &str = "homeOrganizationId";

/// The field of forms with the external identifier of a person.
const EXTERNAL_ID: &str = "externalId";

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/users", get(list::show))
        .route("/users/new", get(new::show).post(new::create))
        .route("/users/{id}", get(one::show).post(one::update))
        .route("/users/{id}/suspend", post(account::suspend))
        .route("/users/{id}/reactivate", post(account::reactivate))
        .route("/users/{id}/delete", post(account::delete))
        .route("/users/{id}/restore", post(account::restore))
        .route("/users/{id}/sign-out", post(account::sign_out))
        .route("/users/{id}/end-session", post(one::end_session))
        .route("/users/{id}/revoke-key", post(one::revoke_key))
        .route("/users/{id}/reset-factors", post(account::reset_factors))
        .route("/users/{id}/password-reset", post(account::send_reset))
        .route("/account/export", post(export::export_own))
        .route("/users/{id}/export", post(export::export))
        .route("/users/{id}/act", post(act::begin))
        .route("/stop-acting", post(act::stop))
        .route("/users/import", get(import::show).post(import::run))
}

pub(crate) fn text_of(status: &UserStatus) -> &'static str {
    match status {
        UserStatus::Active => text::t("active"),
        UserStatus::Suspended => text::t("suspended"),
        UserStatus::Inactive => text::t("deleted"),
    }
}
