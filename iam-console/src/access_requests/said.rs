use iam_core::access_request::{AccessRequest, AccessRequestStatus, ListedAccessRequest};
use iam_core::clock::Timestamp;

use crate::access_requests::role_of;
use crate::text;

/// Returns what a page says to a person after its action, as long as it is still so: a text, and the moment that follows
/// it. `done` names the action, and is empty if there was none.
pub(super) fn feedback(done: &str, listed: &ListedAccessRequest) -> Option<(String, Option<Timestamp>)> {
    let request = &listed.request;
    let user = listed.user.email.as_str();
    let role = role_of(listed);
    match (done, request.status) {
        ("asked", AccessRequestStatus::Approved) => Some((text::you_get(&role), request.starts_at)),
        ("asked", AccessRequestStatus::Active) => Some((text::you_have(&role), request.ends_at)),
        ("asked", AccessRequestStatus::Pending) => Some((text::t("request-sent").to_owned(), None)),
        ("approved", AccessRequestStatus::Approved) => Some((text::user_gets(user, &role), request.starts_at)),
        ("approved", AccessRequestStatus::Active) => Some((text::user_has(user, &role), request.ends_at)),
        ("approved", AccessRequestStatus::Pending) => Some((text::t("approval-saved").to_owned(), None)),
        ("denied", AccessRequestStatus::Denied) => Some((text::t("denial-saved").to_owned(), None)),
        ("cancelled", AccessRequestStatus::Cancelled) => Some((text::t("request-is-cancelled").to_owned(), None)),
        ("ended", AccessRequestStatus::Ended) => Some((text::t("access-has-ended").to_owned(), None)),
        _ => None,
    }
}

/// Returns the moments of a request before it is closed, each with its label.
pub(super) fn moments(request: &AccessRequest) -> Vec<(&'static str, Timestamp)> {
    let status = request.status;
    let lapse = (status == AccessRequestStatus::Pending).then_some((text::t("lapses-at"), request.lapses_at));
    let begin = match status {
        AccessRequestStatus::Pending => text::t("not-before"),
        AccessRequestStatus::Approved => text::t("begins-at"),
        AccessRequestStatus::Active | AccessRequestStatus::Ended => text::t("began-at"),
        AccessRequestStatus::Denied | AccessRequestStatus::Cancelled | AccessRequestStatus::Lapsed => {
            text::t("was-to-begin")
        }
    };
    let end = match status {
        AccessRequestStatus::Approved | AccessRequestStatus::Active => {
            request.ends_at.map(|at| (text::t("ends-at"), at))
        }
        AccessRequestStatus::Ended => {
            let is_early = |end: &Timestamp| request.closed_at.is_some_and(|closed| closed < *end);
            request.ends_at.filter(is_early).map(|at| (text::t("was-to-end"), at))
        }
        _ => None,
    };
    let begin = request.starts_at.map(|at| (begin, at));
    lapse.into_iter().chain(begin).chain(end).collect()
}

/// Returns the moment at which a request was closed, with its label.
pub(super) fn closing(request: &AccessRequest) -> Option<(&'static str, Timestamp)> {
    match request.status {
        // One that has ended by itself is closed later, or not yet.
        AccessRequestStatus::Ended => {
            let end = request.closed_at.into_iter().chain(request.ends_at).min()?;
            Some((text::t("request-ended"), end))
        }
        _ => Some((text::t("closed"), request.closed_at?)),
    }
}

/// Returns why a decision comes too late, by what has become of the request. `None` for one that waits for decisions.
pub(super) fn why_too_late(listed: &ListedAccessRequest, closed_by: Option<&str>) -> Option<String> {
    let request = &listed.request;
    let is_own = request.closed_by == Some(request.requested_by);
    let by = if is_own { Some(listed.user.email.as_str()) } else { closed_by };
    let text = match (request.status, by) {
        (AccessRequestStatus::Pending, _) => return None,
        (AccessRequestStatus::Cancelled, Some(by)) => text::cancelled_by(by),
        (AccessRequestStatus::Cancelled, None) => text::t("cancelled-meanwhile").to_owned(),
        (AccessRequestStatus::Denied, Some(by)) => text::denied_by(by),
        (AccessRequestStatus::Denied, None) => text::t("denied-meanwhile").to_owned(),
        (AccessRequestStatus::Approved | AccessRequestStatus::Active, _) => text::t("approved-meanwhile").to_owned(),
        (AccessRequestStatus::Ended, _) => text::t("ended-meanwhile").to_owned(),
        (AccessRequestStatus::Lapsed, _) => text::t("lapsed-meanwhile").to_owned(),
    };
    Some(text)
}
