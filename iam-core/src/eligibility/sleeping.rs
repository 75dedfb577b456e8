use iam_model::access::{Authority, ResourceScope};
use iam_model::assignment::Grant;
use iam_model::eligibility::{Eligibility, Eligible};
use iam_model::error::Result;
use iam_model::id::{AssignmentId, RoleId, UserId};

use crate::assignment::References;
use crate::engine::UnitOfWork;

/// Returns the role assignments of a user, with those that the user can have by asking for them, and those that it can
/// give to others because it holds their approver role. A caller that takes over the account, or makes it ACTIVE, could
/// ask and decide in its name. To be called under the tenant's lock.
pub(crate) async fn with_sleeping(work: &mut UnitOfWork<'_>, user: UserId, grants: &[Grant]) -> Result<Vec<Grant>> {
    let (now, rights) = (work.now(), Authority::of(grants));
    let holds = |role: RoleId| grants.iter().any(|grant| grant.assignment.role_id == role);
    let may_be_for = |eligibility: &Eligibility| match eligibility.eligible {
        Eligible::User(named) => named == user,
        Eligible::HoldersOf(role) => holds(role),
    };
    let mut eligibilities = work.reads().all_eligibilities().await?;
    eligibilities.retain(|eligibility| may_be_for(eligibility) || eligibility.approver_role_id.is_some_and(holds));
    let mut all = grants.to_vec();
    if eligibilities.is_empty() {
        return Ok(all);
    }
    let roles = eligibilities.iter().map(|eligibility| eligibility.role_id);
    let organizations = eligibilities.iter().filter_map(|eligibility| eligibility.organization_id);
    let references = References::load(work, roles, organizations).await?;
    for eligibility in &eligibilities {
        let Some(mut offered) = references.offer_freely(eligibility.role_id, eligibility.organization_id) else {
            continue;
        };
        let scope = offered.organization.as_ref().map_or(ResourceScope::Tenant, ResourceScope::OfGrant);
        if eligibility.is_for(user, &rights, scope, now) || eligibility.lets_decide(&rights, scope, now) {
            offered.expires_at = eligibility.expires_at;
            // No assignment has this identifier, because it is that of the eligibility.
            let id = AssignmentId::from(eligibility.id.as_uuid());
            all.push(offered.granted(id, (user, eligibility.created_by), now));
        }
    }
    Ok(all)
}
