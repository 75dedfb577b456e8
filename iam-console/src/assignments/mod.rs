//! Which user holds which role, in which organization, until when.

mod list;
mod new;
mod one;

use axum::Router;
use axum::routing::{get, post};

use crate::state::Console;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/assignments", get(list::show))
        .route("/assignments/new", get(new::show).post(new::create))
        .route("/assignments/{id}", get(one::show))
        .route("/assignments/{id}/end", post(one::change_end))
        .route("/assignments/{id}/revoke", post(one::revoke))
}
