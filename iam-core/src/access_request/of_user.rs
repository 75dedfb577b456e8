use iam_model::access_request::{AccessRequestStatus, CancelCause};
use iam_model::assignment::{Grant, RevokeReason};
use iam_model::error::Result;
use iam_model::id::UserId;
use iam_model::user::UserStatus;

use crate::access_request::closing::{cancel, lapse};
use crate::assignment::revoke;
use crate::engine::UnitOfWork;

/// Ends what a user holds by access requests, and cancels the requests of the user that wait, because the user is not
/// ACTIVE any more: neither comes back. `grants` are the assignments of the user that have not ended yet. To be called
/// under the tenant's lock.
pub(crate) async fn end_of_user(
    work: &mut UnitOfWork<'_>,
    user: UserId,
    grants: Vec<Grant>,
    status: UserStatus,
) -> Result<()> {
    let held: Vec<Grant> = grants.into_iter().filter(|grant| !grant.assignment.is_standing()).collect();
    revoke(work, held, RevokeReason::Ended).await?;
    let cause = match status {
        UserStatus::Inactive => CancelCause::UserDeleted,
        UserStatus::Active | UserStatus::Suspended => CancelCause::UserSuspended,
    };
    let now = work.now();
    for request in work.reads().open_access_requests_of(user).await? {
        match (request.status, request.status_at(now)) {
            // It has ended with its assignment.
            (AccessRequestStatus::Active, _) => {}
            (_, AccessRequestStatus::Lapsed) => lapse(work, &request).await?,
            _ => cancel(work, &request, cause).await?,
        }
    }
    Ok(())
}
