use iam_model::context::Actor;
use iam_model::error::{Conflict, Result};
use iam_model::tenant::{Quota, QuotaKind};

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
    work.locks().lock_tenant().await?;
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
        QuotaKind::Users => work.locks().usage().await?.users,
        QuotaKind::Organizations => work.locks().usage().await?.organizations,
        QuotaKind::Roles => work.locks().usage().await?.roles,
        QuotaKind::Assignments => work.locks().usage().await?.assignments,
        QuotaKind::Permissions => work.locks().permission_names().await?.len() as u64,
    })
}
