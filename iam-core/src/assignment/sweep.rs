use std::collections::BTreeMap;

use iam_model::assignment::{Grant, RevokeReason};
use iam_model::error::Result;
use iam_model::id::{AccessRequestId, TenantId};
use iam_model::store::GrantQuery;

use crate::assignment::ending::ENDED_AT_ONCE;
use crate::assignment::of_groups;
use crate::caller::Caller;
use crate::due_tenants::DueTenants;
use crate::engine::Engine;
use crate::iam::Iam;

/// The number of expired assignments that one unit of work reads. It is bounded, like the number of assignments that
/// end, so that no unit of work holds the lock of a tenant for long.
const BATCH: u32 = 500;

impl Iam {
    /// Removes expired assignments in all tenants, and records the reason. Returns their number. If a group of a
    /// directory gives the role to the user, and may still give it, it makes a new assignment.
    ///
    /// An assignment grants nothing from its expiry on, even before it is removed. Concurrent calls are allowed: each
    /// assignment is removed and recorded once.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](iam_model::error::Error::Store) when the store fails. Earlier removals stay in effect. A
    /// failure in one tenant does not stop the removal in the other tenants.
    pub async fn remove_expired_assignments(&self) -> Result<u64> {
        let iam = &*self.0;
        let mut sweep = DueTenants::default();
        loop {
            let due = iam.store.tenants_with_expired_assignments(iam.now(), sweep.limit()).await?;
            let tenants = sweep.select(due);
            if tenants.is_empty() {
                return sweep.finish();
            }
            for tenant in tenants {
                sweep.worked(tenant, sweep_tenant(iam, tenant).await);
            }
        }
    }
}

async fn sweep_tenant(iam: &Engine, tenant: TenantId) -> Result<u64> {
    let caller = Caller::system(tenant, "removal of expired role assignments");
    let mut removed = 0;
    loop {
        let mut work = iam.begin(&caller).await?;
        work.reads().lock_tenant().await?;
        let at = work.now();
        let expired = work.reads().grants(GrantQuery::Expired { at, limit: BATCH }).await?;
        if expired.is_empty() {
            return Ok(removed);
        }
        // An elevation ends in one step with everything that has its mark.
        let mut by_mark: BTreeMap<Option<AccessRequestId>, Vec<Grant>> = BTreeMap::new();
        for grant in expired {
            by_mark.entry(grant.assignment.access_request_id).or_default().push(grant);
        }
        let mut count = 0;
        for grants in by_mark.into_values() {
            if work.ended_assignments() >= ENDED_AT_ONCE {
                break;
            }
            count += grants.len() as u64;
            of_groups::end_or_hand_over(iam, &mut work, grants, None, Some(RevokeReason::Expired), None).await?;
        }
        work.commit().await?;
        removed += count;
    }
}
