use iam_model::assignment::RevokeReason;
use iam_model::change::EligibilityChange;
use iam_model::eligibility::Eligibility;
use iam_model::error::Result;
use iam_model::id::{OrganizationId, UserId};

use crate::engine::UnitOfWork;

/// How many eligibilities one change removes: the audit entries of a change are made in one step, which must not take
/// long.
const REMOVED_AT_ONCE: usize = 200;

/// Removes eligibilities for a reason. `None` if the only reason is a request to remove them. What was asked for by
/// them and has begun goes on. To be called under the tenant's lock.
pub(crate) async fn remove(
    work: &mut UnitOfWork<'_>,
    eligibilities: &[Eligibility],
    reason: Option<RevokeReason>,
) -> Result<()> {
    for eligibilities in eligibilities.chunks(REMOVED_AT_ONCE) {
        work.apply(EligibilityChange::Delete { eligibilities: eligibilities.to_vec(), reason }).await?;
    }
    Ok(())
}

/// Removes the eligibilities in an organization that is deleted.
pub(crate) async fn removed_in(work: &mut UnitOfWork<'_>, organization: OrganizationId) -> Result<()> {
    let mut all = work.reads().all_eligibilities().await?;
    all.retain(|eligibility| eligibility.organization_id == Some(organization));
    remove(work, &all, Some(RevokeReason::OrganizationDeleted)).await
}

/// Removes the eligibilities that name a user who is deleted.
pub(crate) async fn removed_of(work: &mut UnitOfWork<'_>, user: UserId) -> Result<()> {
    let mut all = work.reads().all_eligibilities().await?;
    all.retain(|eligibility| eligibility.eligible.user() == Some(user));
    remove(work, &all, Some(RevokeReason::UserDeleted)).await
}
