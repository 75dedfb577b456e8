//! Access reviews: people decide about role assignments and eligibilities, one by one, whether they stay
//! (`docs/http-api.md#access-reviews`).
//!
//! A review freezes what it is about when it begins. Decisions have no effect until the review is completed, which
//! revokes everything that is to be revoked, or nothing.

mod input;
mod service;

pub use crate::access_review::input::{NewAccessReview, NewDecision};
pub use crate::access_review::service::AccessReviews;
pub use iam_model::access_review::{
    AccessReview, AccessReviewFilter, AccessReviewItem, AccessReviewStatus, Decided, ListedAccessReview,
    ListedReviewItem, MAX_ITEMS, MAX_RESTRICTIONS, ReviewDecision, ReviewItemFilter, ReviewItemKind, ReviewOutcome,
    ReviewProgress, ReviewSubject,
};
pub use iam_model::change::AccessReviewChange;
pub use iam_model::store::{AccessReviewStore, AccessReviewTransaction};
