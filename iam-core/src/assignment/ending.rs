use std::collections::HashSet;
use std::slice;

use iam_model::access_request::{AccessRequest, AccessRequestStatus};
use iam_model::assignment::{Grant, RevokeReason};
use iam_model::change::{AccessRequestChange, AccessRequestEvent, AssignmentChange};
use iam_model::error::{Conflict, Result};
use iam_model::id::{AccessRequestId, AssignmentId, UserId};
use iam_model::store::GrantQuery;
use iam_model::user::User;
use iam_model::validate::Reason;

use crate::distinct::distinct;
use crate::engine::UnitOfWork;

/// How many assignments one change ends: the audit entries of a change are made in one step, which must not take long.
const REVOKED_AT_ONCE: usize = 200;

/// After how many ended assignments the unit of work of a sweeper commits. The last elevation that ends in it can add
/// [`MAX_GIVEN`](iam_model::access_request::MAX_GIVEN) to these.
pub(crate) const ENDED_AT_ONCE: usize = 1_000;

/// How many users, or access requests, one query reads.
const READ_AT_ONCE: usize = 500;

/// Ends assignments for a reason. `None` if the only reason is a request to revoke them. For assignments that are
/// already expired, the recorded reason is `EXPIRED`.
///
/// With the assignment of an elevation, its access request ends, and so does everything that was given by it
/// (`docs/access-requests.md#the-end-of-an-elevation`). To be called under the tenant's lock.
pub(crate) async fn revoke(
    work: &mut UnitOfWork<'_>,
    grants: Vec<Grant>,
    reason: impl Into<Option<RevokeReason>>,
) -> Result<()> {
    revoke_saying(work, grants, reason.into(), None).await
}

/// Ends assignments as [`revoke`] does. `said` is what the caller says about the end of the elevations among them.
pub(super) async fn revoke_saying(
    work: &mut UnitOfWork<'_>,
    grants: Vec<Grant>,
    reason: Option<RevokeReason>,
    said: Option<&Reason>,
) -> Result<()> {
    let now = work.now();
    let Elevations { requests, given } = Elevations::of(work, &grants).await?;
    let own: HashSet<AssignmentId> = requests.iter().filter_map(|request| request.assignment_id).collect();
    let is_own = |grant: &Grant| own.contains(&grant.assignment.id);
    let reason_of = |grant: &Grant| match reason {
        _ if !grant.assignment.is_live(now) => Some(RevokeReason::Expired),
        None if is_own(grant) => Some(RevokeReason::Ended),
        reason => reason,
    };
    let given = given.into_iter().map(|grant| {
        let is_live = grant.assignment.is_live(now);
        (Some(if is_live { RevokeReason::Ended } else { RevokeReason::Expired }), grant)
    });
    let ended: Vec<_> = requests.iter().map(|request| (request, end_of(request, &grants, reason_of))).collect();
    let mut by_reason: Vec<(Option<RevokeReason>, Vec<Grant>)> = Vec::new();
    for (reason, grant) in grants.iter().map(|grant| (reason_of(grant), grant.clone())).chain(given) {
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, grants)) => grants.push(grant),
            None => by_reason.push((reason, vec![grant])),
        }
    }
    by_reason.sort_by_key(|(reason, _)| *reason == Some(RevokeReason::Expired));
    for (reason, grants) in by_reason {
        for grants in grants.chunks(REVOKED_AT_ONCE) {
            work.apply(AssignmentChange::Revoke { grants: grants.to_vec(), reason }).await?;
        }
    }
    for (request, reason) in ended {
        let by = if reason == RevokeReason::Expired { None } else { work.caller().user() };
        let after = request.closed(AccessRequestStatus::Ended, now, by).with_close_reason(said).changed();
        let (before, after, event) = (request.clone().into(), after.into(), AccessRequestEvent::Ended(reason));
        work.apply(AccessRequestChange::Update { before, after, event }).await?;
    }
    Ok(())
}

/// Returns the reason for which the elevation of a request ends: that of its assignment.
fn end_of(
    request: &AccessRequest,
    grants: &[Grant],
    reason_of: impl Fn(&Grant) -> Option<RevokeReason>,
) -> RevokeReason {
    let own = grants.iter().find(|grant| request.assignment_id == Some(grant.assignment.id));
    own.and_then(reason_of).unwrap_or(RevokeReason::Ended)
}

/// The elevations that end with some assignments.
#[derive(Default)]
struct Elevations {
    /// The requests to which they belong.
    requests: Vec<AccessRequest>,
    /// What was given by them, without these assignments.
    given: Vec<Grant>,
}

impl Elevations {
    async fn of(work: &mut UnitOfWork<'_>, ending: &[Grant]) -> Result<Self> {
        let marks = distinct(ending.iter().filter_map(|grant| grant.assignment.access_request_id));
        let ids: HashSet<AssignmentId> = ending.iter().map(|grant| grant.assignment.id).collect();
        let mut elevations = Self::default();
        for marks in marks.chunks(READ_AT_ONCE) {
            let mut requests = work.reads().access_requests_by_id(marks).await?;
            requests.retain(|request| {
                let is_ending = request.assignment_id.is_some_and(|id| ids.contains(&id));
                is_ending && request.status == AccessRequestStatus::Active
            });
            let marks: Vec<AccessRequestId> = requests.iter().map(|request| request.id).collect();
            if marks.is_empty() {
                continue;
            }
            let given = work.reads().grants(GrantQuery::OfAccessRequests(&marks)).await?;
            elevations.given.extend(given.into_iter().filter(|grant| !ids.contains(&grant.assignment.id)));
            elevations.requests.extend(requests);
        }
        Ok(elevations)
    }
}

/// Fails if the tenant would lose its last administrator with these assignments of a user. A tenant always keeps an
/// ACTIVE person who holds `TENANT_ADMIN` tenant-wide without expiry (`docs/http-api.md#the-last-administrator`).
pub(crate) async fn keep_an_administrator(work: &mut UnitOfWork<'_>, user: UserId, losing: &[Grant]) -> Result<()> {
    let is_administrator = losing.iter().any(Grant::is_lasting_administration);
    if is_administrator && !work.reads().has_other_administrator(user).await? {
        return Err(Conflict::LastAdministrator.into());
    }
    Ok(())
}

/// Fails if the tenant would lose its last administrator with these assignments, which may be those of several users.
/// They end together, so none of these users is the one that the tenant keeps.
pub(super) async fn keep_another_administrator(work: &mut UnitOfWork<'_>, losing: &[&Grant]) -> Result<()> {
    let losing: Vec<&Grant> = losing.iter().copied().filter(|grant| grant.is_lasting_administration()).collect();
    let role = match losing.as_slice() {
        [] => return Ok(()),
        [one] => return keep_an_administrator(work, one.assignment.user_id, slice::from_ref(*one)).await,
        [first, ..] => first.role.id,
    };
    let users: HashSet<UserId> = losing.iter().map(|grant| grant.assignment.user_id).collect();
    let others = work
        .reads()
        .grants(GrantQuery::OfRole(role))
        .await?
        .into_iter()
        .filter(|grant| grant.is_lasting_administration() && !users.contains(&grant.assignment.user_id));
    let others: Vec<UserId> = others.map(|grant| grant.assignment.user_id).collect();
    for others in others.chunks(READ_AT_ONCE) {
        if work.reads().users_by_id(others).await?.iter().any(User::can_administer) {
            return Ok(());
        }
    }
    Err(Conflict::LastAdministrator.into())
}
