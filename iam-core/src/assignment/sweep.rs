use super::{GrantQuery, RevokeReason, revoke};
use crate::caller::Caller;
use crate::error::Result;
use crate::iam::{Iam, Inner};
use crate::id::TenantId;

/// How many tenants are looked up at once.
const TENANTS: u32 = 100;
/// How many assignments one unit of work removes, so that none holds a tenant's lock for long.
const BATCH: u32 = 500;

impl Iam {
    /// Removes assignments that have expired, in all tenants, and records why; tells how many.
    ///
    /// They have granted nothing since they expired. Several may sweep at once: each assignment is removed, and
    /// recorded, once.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails; what was removed before stays so, and one tenant
    /// that fails does not keep the others waiting.
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

async fn sweep_tenant(iam: &Inner, tenant: TenantId) -> Result<u64> {
    let caller = Caller::system(tenant, "removal of expired role assignments");
    let mut removed = 0;
    loop {
        let mut work = iam.begin(&caller).await?;
        work.locks().lock_tenant().await?;
        let at = work.now();
        let expired = work.locks().grants(GrantQuery::Expired { at, limit: BATCH }).await?;
        let count = expired.len() as u64;
        if count == 0 {
            return Ok(removed);
        }
        revoke(&mut work, expired, RevokeReason::Expired).await?;
        work.commit().await?;
        removed += count;
    }
}
