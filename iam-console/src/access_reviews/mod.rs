//! Access reviews: a list, a form for a new one, and a page for each, on which people decide.

mod list;
mod new;
mod one;

use axum::Router;
use axum::routing::{get, post};
use iam_core::access_review::AccessReviewStatus;

use crate::state::Console;
use crate::text;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/access-reviews", get(list::show))
        .route("/access-reviews/new", get(new::show).post(new::create))
        .route("/access-reviews/organizations", get(new::organizations))
        .route("/access-reviews/{id}", get(one::show))
        .route("/access-reviews/{id}/items.csv", get(one::file))
        .route("/access-reviews/{id}/items/{item}", post(one::decide))
        .route("/access-reviews/{id}/keep", post(one::keep))
        .route("/access-reviews/{id}/complete", post(one::complete))
        .route("/access-reviews/{id}/cancel", post(one::cancel))
}

fn text_of(status: &AccessReviewStatus) -> &'static str {
    match status {
        AccessReviewStatus::Open => text::t("review-open"),
        AccessReviewStatus::Completed => text::t("review-completed"),
        AccessReviewStatus::Cancelled => text::t("review-cancelled"),
    }
}
