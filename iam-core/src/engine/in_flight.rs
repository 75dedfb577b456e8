//! The limits of the concurrent work of one tenant: its units of work, its long reads, its manifests, the tests of its
//! webhooks, and the checks of its domains. Work beyond a limit waits for its turn, and delays no other tenant.
//!
//! Units of work of one tenant often wait for a lock of that tenant, and occupy a connection meanwhile. Without a
//! limit, one tenant could occupy all connections, so that every other tenant would wait, too.
//!
//! A long read is one whose cost grows with the data of its tenant: it occupies a core of the database, and then a
//! thread of the runtime that converts the rows. Without a limit, a dozen of them would occupy all cores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use iam_model::error::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

/// The maximum number of concurrent units of work of one tenant, of tests of its webhooks, and of checks of its
/// domains. One unit of work holds the lock, the next waits for it in the database, and those that need no lock run at
/// the same time.
const MAX_CONCURRENT: usize = 4;

/// The maximum wait for a permit. An early error is better than a queue of requests whose clients have given up.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// An estimate for the client: the time that a queue needs is not known.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// A semaphore for each tenant, or each part of one, that does something or waits for its turn.
pub(crate) struct InFlight {
    most: usize,
    tenants: Mutex<HashMap<Uuid, Arc<Semaphore>>>,
}

/// The permit to do one thing. Dropping it lets the next task of the tenant have its turn.
#[must_use = "the turn lasts until this is dropped"]
pub(crate) struct Permit<'a> {
    in_flight: &'a InFlight,
    tenant: Uuid,
    semaphore_permit: Option<OwnedSemaphorePermit>,
}

impl Default for InFlight {
    fn default() -> Self {
        Self { most: MAX_CONCURRENT, tenants: Mutex::default() }
    }
}

impl InFlight {
    /// The limit for long reads: each occupies about one core, and a tenant gets half of the cores.
    pub(crate) fn of_long_reads() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self { most: (cores / 2).max(1), tenants: Mutex::default() }
    }

    /// The limit for manifests, applied and previewed: one of a tenant asks its identity providers and then waits for a
    /// unit of work, which on SQLite all tenants wait for.
    pub(crate) fn of_manifests() -> Self {
        Self { most: 1, tenants: Mutex::default() }
    }

    /// Waits until the tenant has a free permit. The waiting tasks are served in the order of their calls.
    ///
    /// Fails with [`Error::Overloaded`] after five seconds.
    pub(crate) async fn acquire(&self, tenant: impl Into<Uuid>) -> Result<Permit<'_>> {
        let tenant = tenant.into();
        // Declared before the semaphore, so that it is dropped after it and can see whether the semaphore is still
        // used.
        let mut permit = Permit { in_flight: self, tenant, semaphore_permit: None };
        let semaphore = Arc::clone(self.tenants().entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(self.most))));
        permit.semaphore_permit = Some(match Arc::clone(&semaphore).try_acquire_owned() {
            Ok(semaphore_permit) => semaphore_permit,
            // A timer is only needed for a wait.
            Err(_) => timeout(MAX_WAIT, Arc::clone(&semaphore).acquire_owned())
                .await
                .map_err(|_| Error::Overloaded { retry_after: RETRY_AFTER })?
                .map_err(|closed| Error::internal("waiting for a turn", closed))?,
        });
        Ok(permit)
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Semaphore>>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore_permit = None;
        let mut tenants = self.in_flight.tenants();
        // A count of 1 means that only the map, which is locked here, has the semaphore.
        if tenants.get(&self.tenant).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            tenants.remove(&self.tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn tenant(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    async fn all_permits(in_flight: &InFlight, tenant: Uuid) -> Vec<Permit<'_>> {
        let mut permits = Vec::new();
        for _ in 0..in_flight.most {
            permits.push(in_flight.acquire(tenant).await.unwrap());
        }
        permits
    }

    #[tokio::test]
    async fn a_waiting_tenant_does_not_delay_another_tenant() {
        for in_flight in [InFlight::default(), InFlight::of_long_reads(), InFlight::of_manifests()] {
            has_its_own_turns(&in_flight).await;
        }
    }

    async fn has_its_own_turns(in_flight: &InFlight) {
        let mut permits = all_permits(in_flight, tenant(1)).await;
        let mut next = pin!(in_flight.acquire(tenant(1)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        drop(in_flight.acquire(tenant(2)).await.unwrap());
        permits.pop();
        permits.push(next.await.unwrap());
        assert_eq!(in_flight.tenants().keys().copied().collect::<Vec<_>>(), [tenant(1)]);
        drop(permits);
        assert!(in_flight.tenants().is_empty());
    }

    #[test]
    fn a_tenant_reads_much_with_half_of_the_cores() {
        let cores = available_parallelism().unwrap().get();
        let most = InFlight::of_long_reads().most;
        assert!(most == cores / 2 || (cores == 1 && most == 1), "{most} of {cores}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_unit_of_work_that_waits_too_long_is_refused_and_removed() {
        let in_flight = InFlight::default();
        let permits = all_permits(&in_flight, tenant(1)).await;
        let refused = in_flight.acquire(tenant(1)).await;
        assert!(matches!(refused, Err(Error::Overloaded { retry_after: RETRY_AFTER })));
        drop(permits);
        assert!(in_flight.tenants().is_empty());
    }
}
