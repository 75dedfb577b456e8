//! The catalogue of permissions: a list, a form to register a permission of the application, and a page for each.

mod list;
mod new;
mod one;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Console;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/permissions", get(list::show))
        .route("/permissions/new", get(new::show).post(new::create))
        .route("/permissions/{id}", get(one::show))
        .route("/permissions/{id}/delete", post(one::delete))
}
