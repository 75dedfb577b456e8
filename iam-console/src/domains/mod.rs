//! The domains of the tenant: a list, a page for each with the record that proves it, and a form for a new one.

mod list;
mod new;
mod one;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Console;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/domains", get(list::show))
        .route("/domains/new", get(new::show).post(new::create))
        .route("/domains/{id}", get(one::show))
        .route("/domains/{id}/verify", post(one::verify))
        .route("/domains/{id}/delete", post(one::delete))
}
