use iam_model::access_request::{AccessRequest, AccessRequestStatus, CancelCause};
use iam_model::assignment::RevokeReason;
use iam_model::change::AccessRequestEvent;
use iam_model::error::Result;
use iam_model::store::GrantQuery;
use iam_model::validate::Reason;

use crate::access_request::activation::update;
use crate::assignment::of_groups;
use crate::engine::{Engine, UnitOfWork};

/// Cancels a request that has not begun and that cannot begin, for a cause.
pub(super) async fn cancel(work: &mut UnitOfWork<'_>, request: &AccessRequest, cause: CancelCause) -> Result<()> {
    let after = request.cancelled_for(cause, work.now());
    work.apply(update(request, after, AccessRequestEvent::Cancelled(Some(cause)))).await
}

/// Lets a request lapse.
pub(super) async fn lapse(work: &mut UnitOfWork<'_>, request: &AccessRequest) -> Result<()> {
    let after = request.closed(AccessRequestStatus::Lapsed, work.now(), None);
    work.apply(update(request, after, AccessRequestEvent::Lapsed)).await
}

/// Ends the elevation of an ACTIVE request, with all that was given by it. What a group of a directory gives goes on.
/// `said` is the reason that the caller gives.
pub(super) async fn end(
    iam: &Engine,
    work: &mut UnitOfWork<'_>,
    request: &AccessRequest,
    reason: RevokeReason,
    said: Option<&Reason>,
) -> Result<()> {
    let own = |id| request.assignment_id == Some(id);
    let mut grants = work.reads().grants(GrantQuery::OfAccessRequests(&[request.id])).await?;
    if grants.iter().any(|grant| own(grant.assignment.id)) {
        // The others end with it.
        grants.retain(|grant| own(grant.assignment.id));
        return of_groups::end_or_hand_over(iam, work, grants, None, Some(reason), said).await;
    }
    // The assignment of the elevation is gone.
    of_groups::end_or_hand_over(iam, work, grants, None, Some(reason), said).await?;
    let after = request.closed(AccessRequestStatus::Ended, work.now(), work.caller().user());
    let after = after.with_close_reason(said);
    work.apply(update(request, after, AccessRequestEvent::Ended(reason))).await
}

/// Writes what has happened to an open request by itself: it has lapsed, or its elevation has ended. Returns whether it
/// is still open.
pub(super) async fn settle(iam: &Engine, work: &mut UnitOfWork<'_>, request: &AccessRequest) -> Result<bool> {
    match request.status_at(work.now()) {
        AccessRequestStatus::Lapsed => lapse(work, request).await?,
        AccessRequestStatus::Ended => end(iam, work, request, RevokeReason::Expired, None).await?,
        status => return Ok(status.is_open()),
    }
    Ok(false)
}
