//! The shares of tenants in the connections of a pool.
//!
//! The connections of a pool are served in the order in which tasks ask. Without shares, slow statements of one tenant
//! could occupy all of them, and a queue of its other statements would be ahead of every other tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// Limits how many connections a tenant uses or waits for. Remembers only tenants that do.
pub(crate) struct Shares {
    most: usize,
    tenants: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// A place in the share of a tenant. Dropping it lets the next task of the tenant ask for a connection.
pub(crate) struct SharePermit {
    shares: Arc<Shares>,
    tenant: Uuid,
    /// `None` until there is a place.
    permit: Option<OwnedSemaphorePermit>,
}

impl Shares {
    /// A tenant gets at most half of this number of connections. Fewer than four are not shared out.
    pub(crate) fn of(connections: usize) -> Self {
        let most = if connections < 4 { connections.max(1) } else { connections.div_ceil(2) };
        Self { most, tenants: Mutex::default() }
    }

    /// Waits for a place in the share of a tenant. The tasks of a tenant get places in the order in which they ask.
    pub(crate) async fn acquire(self: &Arc<Self>, tenant: Uuid) -> sqlx::Result<SharePermit> {
        let semaphore = Arc::clone(self.tenants().entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(self.most))));
        // Declared before the wait, so that a task that gives up leaves nothing behind.
        let mut place = SharePermit { shares: Arc::clone(self), tenant, permit: None };
        let permit = semaphore.acquire_owned().await.map_err(|_| sqlx::Error::PoolClosed)?;
        place.permit = Some(permit);
        Ok(place)
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Semaphore>>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharePermit {
    fn drop(&mut self) {
        self.permit = None;
        let mut tenants = self.shares.tenants();
        // A count of 1 means that only the map, which is locked here, has the semaphore.
        if tenants.get(&self.tenant).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            tenants.remove(&self.tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn acquire(shares: &Arc<Shares>, tenant: u128) -> Option<SharePermit> {
        shares.acquire(Uuid::from_u128(tenant)).now_or_never().map(Result::unwrap)
    }

    #[test]
    fn a_tenant_gets_half_of_the_connections_unless_they_are_few() {
        for (connections, most) in [(1, 1), (3, 3), (4, 2), (5, 3), (16, 8)] {
            let shares = Arc::new(Shares::of(connections));
            let mut places: Vec<_> = std::iter::from_fn(|| acquire(&shares, 1)).take(connections).collect();
            assert_eq!(places.len(), most, "{connections}");
            assert!(acquire(&shares, 2).is_some());
            places.pop();
            assert!(acquire(&shares, 1).is_some());
        }
    }

    #[test]
    fn a_tenant_that_uses_and_waits_for_nothing_is_forgotten() {
        let shares = Arc::new(Shares::of(1));
        let place = acquire(&shares, 1).unwrap();
        let mut waiting = Box::pin(shares.acquire(Uuid::from_u128(1)));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(place);
        assert_eq!(shares.tenants().len(), 1);
        drop(waiting);
        assert!(shares.tenants().is_empty());
    }
}
