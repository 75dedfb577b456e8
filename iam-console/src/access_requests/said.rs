use iam_core::access_request::{AccessRequest, AccessRequestStatus, ListedAccessRequest};
use iam_core::clock::Timestamp;

use crate::access_requests::role_of;
use crate::english;

/// Returns what a page says to a person after its action, as long as it is still so: a text, and the moment that follows
/// it. `notice` is what the action has done, and empty if there was none.
pub(super) fn feedback(notice: &'static str, listed: &ListedAccessRequest) -> Option<(String, Option<Timestamp>)> {
    let request = &listed.request;
    let user = listed.user.email.as_str();
    let role = role_of(listed);
    match (notice, request.status) {
        (english::REQUEST_SENT, AccessRequestStatus::Approved) => Some((english::you_get(&role), request.starts_at)),
        (english::REQUEST_SENT, AccessRequestStatus::Active) => Some((english::you_have(&role), request.ends_at)),
        (english::APPROVAL_SAVED, AccessRequestStatus::Approved) => {
            Some((english::user_gets(user, &role), request.starts_at))
        }
        (english::APPROVAL_SAVED, AccessRequestStatus::Active) => {
            Some((english::user_has(user, &role), request.ends_at))
        }
        (english::REQUEST_SENT | english::APPROVAL_SAVED, AccessRequestStatus::Pending)
        | (english::DENIAL_SAVED, AccessRequestStatus::Denied)
        | (english::REQUEST_IS_CANCELLED, AccessRequestStatus::Cancelled)
        | (english::ACCESS_HAS_ENDED, AccessRequestStatus::Ended) => Some((notice.to_owned(), None)),
        _ => None,
    }
}

/// Returns the moments of a request before it is closed, each with its label.
pub(super) fn moments(request: &AccessRequest) -> Vec<(&'static str, Timestamp)> {
    let status = request.status;
    let lapse = (status == AccessRequestStatus::Pending).then_some((english::LAPSES_AT, request.lapses_at));
    let begin = match status {
        AccessRequestStatus::Pending => english::NOT_BEFORE,
        AccessRequestStatus::Approved => english::BEGINS_AT,
        AccessRequestStatus::Active | AccessRequestStatus::Ended => english::BEGAN_AT,
        AccessRequestStatus::Denied | AccessRequestStatus::Cancelled | AccessRequestStatus::Lapsed => {
            english::WAS_TO_BEGIN
        }
    };
    let end = match status {
        AccessRequestStatus::Approved | AccessRequestStatus::Active => request.ends_at.map(|at| (english::ENDS_AT, at)),
        AccessRequestStatus::Ended => {
            let is_early = |end: &Timestamp| request.closed_at.is_some_and(|closed| closed < *end);
            request.ends_at.filter(is_early).map(|at| (english::WAS_TO_END, at))
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
            Some((english::REQUEST_ENDED, end))
        }
        _ => Some((english::CLOSED, request.closed_at?)),
    }
}

/// Returns why a decision comes too late, by what has become of the request. `None` for one that waits for decisions.
pub(super) fn why_too_late(listed: &ListedAccessRequest, closed_by: Option<&str>) -> Option<String> {
    let request = &listed.request;
    let is_own = request.closed_by == Some(request.requested_by);
    let by = if is_own { Some(listed.user.email.as_str()) } else { closed_by };
    let text = match (request.status, by) {
        (AccessRequestStatus::Pending, _) => return None,
        (AccessRequestStatus::Cancelled, Some(by)) => english::cancelled_by(by),
        (AccessRequestStatus::Cancelled, None) => english::CANCELLED_MEANWHILE.to_owned(),
        (AccessRequestStatus::Denied, Some(by)) => english::denied_by(by),
        (AccessRequestStatus::Denied, None) => english::DENIED_MEANWHILE.to_owned(),
        (AccessRequestStatus::Approved | AccessRequestStatus::Active, _) => english::APPROVED_MEANWHILE.to_owned(),
        (AccessRequestStatus::Ended, _) => english::ENDED_MEANWHILE.to_owned(),
        (AccessRequestStatus::Lapsed, _) => english::LAPSED_MEANWHILE.to_owned(),
    };
    Some(text)
}
