use std::collections::HashMap;

use iam_model::assignment::Grant;
use iam_model::context::Actor;
use iam_model::error::{Conflict, Error, Result};
use iam_model::id::UserId;
use iam_model::tenant::{Quota, QuotaKind};

use crate::distinct::distinct;
use crate::engine::work::UnitOfWork;

/// The distance to the quota from which units of work take the tenant's lock, so that they run one after the other.
/// Further away they do not need the lock, because no more than this many units of work run at the same time.
const MARGIN: u64 = 1_000;

/// Refuses to create `more` rows of a kind if the caller's tenant would then exceed its quota. Must be called before
/// the first write.
pub(crate) async fn hold_quota(quota: &Quota, work: &mut UnitOfWork<'_>, kind: QuotaKind, more: usize) -> Result<()> {
    if matches!(work.caller().actor(), Actor::System { .. }) {
        return Ok(());
    }
    let (limit, more) = (quota.of(kind), more as u64);
    if used(work, kind).await?.saturating_add(more) <= limit.saturating_sub(MARGIN) {
        return Ok(());
    }
    work.reads().lock_tenant().await?;
    if used(work, kind).await?.saturating_add(more) <= limit {
        Ok(())
    } else {
        Err(Conflict::QuotaExceeded(kind, limit).into())
    }
}

/// Returns how many rows of a kind the tenant has. Permissions have no stored count: they are few and rarely created,
/// so they are counted here.
async fn used(work: &mut UnitOfWork<'_>, kind: QuotaKind) -> Result<u64> {
    Ok(match kind {
        QuotaKind::Users => work.reads().usage().await?.users,
        QuotaKind::Organizations => work.reads().usage().await?.organizations,
        QuotaKind::Roles => work.reads().usage().await?.roles,
        QuotaKind::Assignments => work.reads().usage().await?.assignments,
        QuotaKind::Invitations => {
            let now = work.now();
            work.reads().pending_invitations(now).await?
        }
        QuotaKind::Permissions => work.reads().permission_names().await?.len() as u64,
        // Not of the tenant: `hold_user_quota` counts them.
        QuotaKind::UserAssignments => 0,
    })
}

/// Refuses assignments with which a user would have more that have not expired than the quota allows. Must be called
/// under the tenant's lock, under which assignments begin, before the first write. `about` adds the number of the
/// assignment to the error.
pub(crate) async fn hold_user_quota(
    quota: &Quota,
    work: &mut UnitOfWork<'_>,
    new: &[Grant],
    about: impl Fn(usize, Error) -> Error,
) -> Result<()> {
    if matches!(work.caller().actor(), Actor::System { .. }) {
        return Ok(());
    }
    let limit = quota.of(QuotaKind::UserAssignments);
    let now = work.now();
    let users = distinct(new.iter().map(|grant| grant.assignment.user_id));
    let held = work.reads().live_assignments(&users, now).await?;
    let mut held: HashMap<UserId, u64> = held.into_iter().collect();
    for (number, grant) in new.iter().enumerate() {
        let held = held.entry(grant.assignment.user_id).or_default();
        *held += 1;
        if *held > limit {
            return Err(about(number, Conflict::QuotaExceeded(QuotaKind::UserAssignments, limit).into()));
        }
    }
    Ok(())
}
