//! Access reviews: people decide about role assignments, one by one, whether they stay
//! (`docs/http-api.md#access-reviews`).
//!
//! A review freezes the assignments that it is about when it begins. Decisions have no effect until the review is
//! completed, which revokes all assignments that are to be revoked, or none.

mod input;
mod service;

pub use crate::access_review::input::{NewAccessReview, NewDecision};
pub use crate::access_review::service::AccessReviews;
pub use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, Decided, ListedAccessReview,
    ListedReviewItem, MAX_ITEMS, MAX_RESTRICTIONS, ReviewDecision, ReviewItemFilter, ReviewOutcome, ReviewProgress,
};
pub use iam_model::change::AccessReviewChange;
pub use iam_model::store::{AccessReviewStore, AccessReviewTransaction};
