use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::access_review::{AccessReviewFilter, AccessReviewStatus, ListedAccessReview};
use iam_core::clock::Timestamp;
use iam_core::page::{Page, PageRequest};
use iam_core::{Error, InvalidFields};
use serde::Deserialize;

use crate::query::{Query, filter};
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::time::Time;
use crate::view::{Frame, page, query};

/// How many reviews a page of the list has.
const LIMIT: u32 = 25;

const STATUSES: [AccessReviewStatus; 3] =
    [AccessReviewStatus::Open, AccessReviewStatus::Completed, AccessReviewStatus::Cancelled];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    status: String,
    page: Option<u64>,
}

#[derive(Template)]
#[template(path = "access-reviews.html")]
struct ReviewsPage {
    frame: Frame,
    status: Option<AccessReviewStatus>,
    reviews: Page<ListedAccessReview>,
    now: Timestamp,
}

impl ReviewsPage {
    /// Returns the address of another page of the same list.
    fn address(&self, page: u64) -> String {
        let page = page.to_string();
        let status = self.status.map_or("", AccessReviewStatus::as_str);
        format!("{}/access-reviews?{}", self.frame.base, query(&[("status", status), ("page", &page)]))
    }

    fn is_shown(&self, status: &AccessReviewStatus) -> bool {
        self.status == Some(*status)
    }

    /// Whether an OPEN review should have been completed by now.
    fn is_late(&self, listed: &ListedAccessReview) -> bool {
        listed.review.status == AccessReviewStatus::Open && listed.review.due_at < self.now
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let status: Option<AccessReviewStatus> = filter("status", &params.status)?;
    let request =
        PageRequest::new(params.page.unwrap_or(1), LIMIT).map_err(|invalid: InvalidFields| Error::from(invalid))?;
    let filter = AccessReviewFilter { status };
    let reviews = console.iam.access_reviews().list(&signed_in.caller, &filter, request).await?;
    let frame = signed_in.frame(&console).await?;
    page(StatusCode::OK, &ReviewsPage { frame, status, reviews, now: console.iam.now() })
}
