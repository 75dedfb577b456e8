use std::collections::HashSet;
use std::slice;

use iam_model::assignment::{Grant, RevokeReason};
use iam_model::change::AssignmentChange;
use iam_model::error::{Conflict, Result};
use iam_model::id::UserId;
use iam_model::store::GrantQuery;
use iam_model::user::User;

use crate::engine::UnitOfWork;

/// How many assignments one change ends: the audit entries of a change are made in one step, which must not take long.
const REVOKED_AT_ONCE: usize = 200;

/// How many users one query reads.
const READ_AT_ONCE: usize = 500;

/// Ends assignments for a reason. `None` if the only reason is a request to revoke them. For assignments that are
/// already expired, the recorded reason is `EXPIRED`.
pub(crate) async fn revoke(
    work: &mut UnitOfWork<'_>,
    grants: Vec<Grant>,
    reason: impl Into<Option<RevokeReason>>,
) -> Result<()> {
    let (now, reason): (_, Option<RevokeReason>) = (work.now(), reason.into());
    let (live, expired): (Vec<_>, Vec<_>) = grants.into_iter().partition(|grant| grant.assignment.is_live(now));
    for (grants, reason) in [(live, reason), (expired, Some(RevokeReason::Expired))] {
        for grants in grants.chunks(REVOKED_AT_ONCE) {
            work.apply(AssignmentChange::Revoke { grants: grants.to_vec(), reason }).await?;
        }
    }
    Ok(())
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
