use iam_model::assignment::RevokeReason;
use iam_model::error::Result;
use iam_model::id::TenantId;
use iam_model::store::GrantQuery;

use crate::assignment::of_groups;
use crate::caller::Caller;
use crate::engine::Engine;
use crate::iam::Iam;

/// The number of tenants that one query returns.
const TENANTS: u32 = 100;

/// The number of assignments that one unit of work removes. It is bounded so that no unit of work holds the lock of a
/// tenant for long.
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
        let mut removed = 0;
        loop {
            let mut removed_in_round = 0;
            let mut failure = None;
            for tenant in iam.store.tenants_with_expired_assignments(iam.now(), TENANTS).await? {
                match sweep_tenant(iam, tenant).await {
                    Ok(count) => removed_in_round += count,
                    Err(error) => failure = Some(error),
                }
            }
            removed += removed_in_round;
            if removed_in_round == 0 {
                return failure.map_or(Ok(removed), Err);
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
        let count = expired.len() as u64;
        if count == 0 {
            return Ok(removed);
        }
        of_groups::end_or_hand_over(iam, &mut work, expired, None, Some(RevokeReason::Expired)).await?;
        work.commit().await?;
        removed += count;
    }
}
