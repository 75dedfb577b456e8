//! How many units of work of one tenant run at once.
//!
//! Units of work of one tenant often wait for a lock of that tenant, and keep a connection meanwhile. Without a limit one
//! tenant could hold all connections, so that every other tenant waits too.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::id::TenantId;

/// So many units of work of one tenant run at once. One holds the lock, the next waits for it in the database, and those
/// that need no lock go on beside them.
const MOST: usize = 4;
/// An error soon is better than a queue of requests whose clients have given up.
const PATIENCE: Duration = Duration::from_secs(5);
/// A guess for the client: how long a queue takes is not known.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The units of work that run or wait, by tenant.
#[derive(Default)]
pub(crate) struct InFlight(Mutex<HashMap<TenantId, Arc<Semaphore>>>);

/// Lets one unit of work run; dropping it lets the tenant's next one run.
pub(crate) struct Turn<'a> {
    of: &'a InFlight,
    tenant: TenantId,
    permit: Option<OwnedSemaphorePermit>,
}

impl InFlight {
    /// Waits until few enough units of work of the tenant run, in the order of asking.
    ///
    /// Fails with [`Error::Overloaded`] after five seconds.
    pub(crate) async fn enter(&self, tenant: TenantId) -> Result<Turn<'_>> {
        // Before the places, so that it is dropped after them and can tell whether they are still in use.
        let mut turn = Turn { of: self, tenant, permit: None };
        let places = Arc::clone(self.tenants().entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(MOST))));
        turn.permit = Some(match Arc::clone(&places).try_acquire_owned() {
            Ok(permit) => permit,
            // A timer is only needed where it has to wait.
            Err(_) => timeout(PATIENCE, Arc::clone(&places).acquire_owned())
                .await
                .map_err(|_| Error::Overloaded { retry_after: RETRY_AFTER })?
                .map_err(|closed| Error::internal("waiting for a unit of work", closed))?,
        });
        Ok(turn)
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<TenantId, Arc<Semaphore>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let mut tenants = self.of.tenants();
        // Only the map has the places then, and it is locked.
        if tenants.get(&self.tenant).is_some_and(|places| Arc::strong_count(places) == 1) {
            tenants.remove(&self.tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(uuid::Uuid::from_u128(number))
    }

    async fn full(in_flight: &InFlight, tenant: TenantId) -> Vec<Turn<'_>> {
        let mut turns = Vec::new();
        for _ in 0..MOST {
            turns.push(in_flight.enter(tenant).await.unwrap());
        }
        turns
    }

    #[tokio::test]
    async fn a_tenant_that_waits_keeps_no_other_waiting() {
        let in_flight = InFlight::default();
        let mut turns = full(&in_flight, tenant(1)).await;
        let mut next = pin!(in_flight.enter(tenant(1)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        drop(in_flight.enter(tenant(2)).await.unwrap());
        turns.pop();
        drop(next.await.unwrap());
        assert_eq!(in_flight.tenants().keys().copied().collect::<Vec<_>>(), [tenant(1)]);
        drop(turns);
        assert!(in_flight.tenants().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_unit_of_work_that_waits_for_too_long_is_refused_and_forgotten() {
        let in_flight = InFlight::default();
        let turns = full(&in_flight, tenant(1)).await;
        let refused = in_flight.enter(tenant(1)).await;
        assert!(matches!(refused, Err(Error::Overloaded { retry_after: RETRY_AFTER })));
        drop(turns);
        assert!(in_flight.tenants().is_empty());
    }
}
