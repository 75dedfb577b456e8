//! Access requests: lists of them, a form to ask for a role, and a page for each, on which people decide.

mod list;
mod new;
mod one;
mod said;

use axum::Router;
use axum::routing::get;
use iam_core::access_request::{AccessRequestFilter, AccessRequestStatus, CancelCause, ListedAccessRequest};
use iam_core::page::PageRequest;
use iam_core::{Caller, Error, Iam};

use crate::state::Console;
use crate::text;

pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .route("/access-requests", get(list::show))
        .route("/access-requests/new", get(new::show).post(new::create))
        .route("/access-requests/{id}", get(one::show))
        // Who opens the address of an action, such as that of the page of an error, comes to the request.
        .route("/access-requests/{id}/approve", get(one::reopen).post(one::approve))
        .route("/access-requests/{id}/deny", get(one::reopen).post(one::deny))
        .route("/access-requests/{id}/cancel", get(one::reopen).post(one::cancel))
        .route("/access-requests/{id}/end", get(one::reopen).post(one::end))
}

const STATUSES: [AccessRequestStatus; 7] = [
    AccessRequestStatus::Pending,
    AccessRequestStatus::Approved,
    AccessRequestStatus::Active,
    AccessRequestStatus::Ended,
    AccessRequestStatus::Denied,
    AccessRequestStatus::Cancelled,
    AccessRequestStatus::Lapsed,
];

/// Returns the requests of a person that are open: of each status, at most as many as a person has in all.
pub(crate) async fn own_open(iam: &Iam, caller: &Caller) -> Result<Vec<ListedAccessRequest>, Error> {
    let Some(user) = caller.user() else { return Ok(Vec::new()) };
    let mut open = Vec::new();
    for status in STATUSES.into_iter().filter(|status| status.is_open()) {
        let filter = AccessRequestFilter { status: Some(status), user: Some(user), ..AccessRequestFilter::default() };
        open.extend(iam.access_requests().list(caller, &filter, PageRequest::default()).await?.items);
    }
    Ok(open)
}

pub(crate) fn text_of(status: &AccessRequestStatus) -> &'static str {
    match status {
        AccessRequestStatus::Pending => text::t("pending"),
        AccessRequestStatus::Approved => text::t("request-approved"),
        AccessRequestStatus::Active => text::t("request-in-force"),
        AccessRequestStatus::Ended => text::t("request-ended"),
        AccessRequestStatus::Denied => text::t("request-denied"),
        AccessRequestStatus::Cancelled => text::t("request-cancelled"),
        AccessRequestStatus::Lapsed => text::t("request-lapsed"),
    }
}

/// Returns why the service has cancelled a request, as a sentence.
fn cause_of(cause: &CancelCause) -> &'static str {
    match cause {
        CancelCause::Outdated => text::t("cancelled-as-outdated"),
        CancelCause::NotEligible => text::t("cancelled-as-not-eligible"),
        CancelCause::RoleHeld => text::t("cancelled-as-role-held"),
        CancelCause::UserSuspended => text::t("cancelled-as-user-suspended"),
        CancelCause::UserDeleted => text::t("cancelled-as-user-deleted"),
    }
}

/// Returns the name of the role for which a user asks; of one that is gone, the name that it had then.
pub(crate) fn role_of(listed: &ListedAccessRequest) -> String {
    match &listed.role {
        Some(role) => role.name.to_string(),
        None => text::deleted(listed.request.role_name.as_str()),
    }
}
