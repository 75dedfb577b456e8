//! The threads for computations that would occupy an async thread for too long
//! (`docs/security.md#work-is-bounded-by-its-tenant`).
//!
//! They are few, and have a lower priority than the async threads, so that requests of other tenants go first. While
//! they are all in use, the next computation is that of the tenant that has waited longest, and no tenant uses more than
//! half of them.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, available_parallelism};

use iam_model::error::{Conflict, Error, Result};
use iam_model::id::TenantId;
use tokio::sync::oneshot;

use crate::hashing::Priority;

/// The number of patterns of permissions that a comparison of rights may read on an async thread.
pub(super) const CHECKED_AT_ONCE: usize = 5_000;

/// How many previews of one tenant are computed or wait at a time (`docs/foresight.md#before-a-change-the-preview`).
const MAX_PREVIEWS: usize = 2;

/// The smallest number of threads: one tenant uses half of them.
const MIN_THREADS: usize = 2;

/// The threads and the computations that wait for them. The threads start when they are first needed, and end when this
/// is dropped.
pub(crate) struct Computing(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Signals the threads: a computation waits or has ended, or this was dropped.
    wakeup: Condvar,
    max_threads: usize,
}

#[derive(Default)]
struct State {
    /// The tenant that has waited longest for its turn is the first.
    waiting: VecDeque<(TenantId, VecDeque<Job>)>,
    running: HashMap<TenantId, usize>,
    previews: HashMap<TenantId, usize>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

type Job = Box<dyn FnOnce() + Send>;

/// Tells a computation whether its caller has given up, so that it can break off.
pub(crate) type IsCancelled<'a> = &'a dyn Fn() -> bool;

/// The permit for one preview of a tenant.
pub(crate) struct PreviewPermit {
    shared: Arc<Shared>,
    tenant: TenantId,
}

impl Default for Computing {
    fn default() -> Self {
        let cores = available_parallelism().map_or(MIN_THREADS, usize::from);
        Self::with_threads(cores.max(MIN_THREADS))
    }
}

impl Computing {
    fn with_threads(max_threads: usize) -> Self {
        Self(Arc::new(Shared { state: Mutex::default(), wakeup: Condvar::new(), max_threads }))
    }

    /// Lets a tenant compute one more preview.
    ///
    /// # Errors
    ///
    /// [`Conflict::PreviewsRunning`] if it computes as many as it may.
    pub(crate) fn admit_preview(&self, tenant: TenantId) -> Result<PreviewPermit> {
        let mut state = self.0.lock();
        let running = state.previews.entry(tenant).or_default();
        if *running >= MAX_PREVIEWS {
            return Err(Conflict::PreviewsRunning.into());
        }
        *running += 1;
        drop(state);
        Ok(PreviewPermit { shared: Arc::clone(&self.0), tenant })
    }

    /// Computes something for a tenant, and waits for the result. Dropping the future cancels the computation: it does
    /// not begin, or it can break off.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        tenant: TenantId,
        compute: impl FnOnce(IsCancelled<'_>) -> T + Send + 'static,
    ) -> Result<T> {
        let (answer, computed) = oneshot::channel();
        let job = move || {
            if !answer.is_closed() {
                let result = compute(&|| answer.is_closed());
                // The caller may have given up meanwhile.
                let _ = answer.send(result);
            }
        };
        self.put(tenant, Box::new(job))?;
        computed.await.map_err(|cause| Error::internal("a computation", cause))
    }

    fn put(&self, tenant: TenantId, job: Job) -> Result<()> {
        let shared = &self.0;
        let mut state = shared.lock();
        if state.idle == 0 && state.threads < shared.max_threads {
            match start(shared) {
                Ok(()) => state.threads += 1,
                Err(error) if state.threads == 0 => return Err(Error::internal("starting a computing thread", error)),
                // The threads that exist do the work.
                Err(error) => tracing::debug!(%error, "cannot start another computing thread"),
            }
        }
        match state.waiting.iter_mut().find(|(waiting, _)| *waiting == tenant) {
            Some((_, jobs)) => jobs.push_back(job),
            None => state.waiting.push_back((tenant, VecDeque::from([job]))),
        }
        drop(state);
        shared.wakeup.notify_one();
        Ok(())
    }
}

impl Drop for Computing {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.wakeup.notify_all();
    }
}

impl Drop for PreviewPermit {
    fn drop(&mut self) {
        release(&mut self.shared.lock().previews, self.tenant);
    }
}

fn start(shared: &Arc<Shared>) -> io::Result<()> {
    let shared = Arc::clone(shared);
    let serve = move || {
        Priority::Lower.apply();
        shared.serve();
    };
    thread::Builder::new().name("compute".to_owned()).spawn(serve).map(drop)
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self) {
        while let Some((tenant, job)) = self.next() {
            // A panic must not end the thread. The caller gets an error, because nothing answers it.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a computation panicked");
            }
            let mut state = self.lock();
            release(&mut state.running, tenant);
            drop(state);
            // Another job of this tenant may run now.
            self.wakeup.notify_one();
        }
    }

    /// Waits for the next job. Returns `None` when the queue is closed.
    fn next(&self) -> Option<(TenantId, Job)> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(next) = state.next(self.max_threads / 2) {
                return Some(next);
            }
            state.idle += 1;
            state = self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }
}

impl State {
    /// Takes a job of the first tenant that uses fewer than `share` threads.
    fn next(&mut self, share: usize) -> Option<(TenantId, Job)> {
        let running = &self.running;
        let may_run = |(tenant, _): &(TenantId, VecDeque<Job>)| running.get(tenant).copied().unwrap_or(0) < share;
        let first = self.waiting.iter().position(may_run)?;
        let (tenant, mut jobs) = self.waiting.remove(first)?;
        let job = jobs.pop_front()?;
        if !jobs.is_empty() {
            self.waiting.push_back((tenant, jobs));
        }
        *self.running.entry(tenant).or_default() += 1;
        Some((tenant, job))
    }
}

fn release(counts: &mut HashMap<TenantId, usize>, tenant: TenantId) {
    if let Some(count) = counts.get_mut(&tenant) {
        *count -= 1;
        if *count == 0 {
            counts.remove(&tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn tenant(number: u128) -> TenantId {
        TenantId::from_uuid(uuid::Uuid::from_u128(number))
    }

    /// A computation that says that it has begun, and waits.
    struct Held {
        begun: mpsc::Receiver<()>,
        end: mpsc::Sender<()>,
        task: tokio::task::JoinHandle<Result<bool>>,
    }

    impl Held {
        fn start(computing: &Arc<Computing>, number: u128) -> Self {
            let ((begin, begun), (end, ended)) = (mpsc::channel(), mpsc::channel::<()>());
            let computing = Arc::clone(computing);
            let task = tokio::spawn(async move {
                let compute = move |is_cancelled: IsCancelled<'_>| {
                    begin.send(()).unwrap();
                    // Also when the sender is dropped.
                    let _ = ended.recv();
                    is_cancelled()
                };
                computing.run(tenant(number), compute).await
            });
            Self { begun, end, task }
        }

        async fn has_begun(&self) -> bool {
            for _ in 0..200 {
                if self.begun.try_recv().is_ok() {
                    return true;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            false
        }
    }

    #[tokio::test]
    async fn a_tenant_uses_half_of_the_threads_while_another_one_gets_the_rest() {
        let computing = Arc::new(Computing::with_threads(2));
        let first = Held::start(&computing, 1);
        assert!(first.has_begun().await);
        let second = Held::start(&computing, 1);
        tokio::task::yield_now().await;
        let other = Held::start(&computing, 2);
        assert!(other.has_begun().await, "the other tenant does not wait for the first one");
        assert!(second.begun.try_recv().is_err(), "the first tenant has its half");
        first.end.send(()).unwrap();
        assert!(second.has_begun().await);
        drop((second.end, other.end));
        for task in [first.task, second.task, other.task] {
            assert!(!task.await.unwrap().unwrap());
        }
        // The thread gives back its place after it has sent the result.
        let is_idle = || {
            let state = computing.0.lock();
            state.running.is_empty() && state.waiting.is_empty()
        };
        let idle = async {
            while !is_idle() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), idle).await.expect("no place is lost");
    }

    #[tokio::test]
    async fn a_computation_whose_caller_has_given_up_breaks_off_or_does_not_begin() {
        let computing = Arc::new(Computing::with_threads(2));
        let (seen, sees) = mpsc::channel();
        let (begin, begun) = mpsc::channel();
        let task = tokio::spawn({
            let computing = Arc::clone(&computing);
            async move {
                let compute = move |is_cancelled: IsCancelled<'_>| {
                    begin.send(()).unwrap();
                    while !is_cancelled() {
                        thread::yield_now();
                    }
                    seen.send(()).unwrap();
                };
                computing.run(tenant(1), compute).await
            }
        });
        while begun.try_recv().is_err() {
            tokio::task::yield_now().await;
        }
        let waiting = Held::start(&computing, 1);
        tokio::task::yield_now().await;
        waiting.task.abort();
        task.abort();
        assert!(waiting.task.await.unwrap_err().is_cancelled() && task.await.unwrap_err().is_cancelled());
        sees.recv().unwrap();
        assert!(computing.run(tenant(1), |_| true).await.unwrap(), "the thread is free again");
        assert!(waiting.begun.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_panic_ends_neither_the_thread_nor_its_queue() {
        let computing = Computing::with_threads(2);
        let failed = computing.run(tenant(1), |_| panic!("on purpose")).await;
        let failed: Result<()> = failed;
        assert!(matches!(failed, Err(Error::Internal(_))), "{failed:?}");
        assert_eq!(computing.run(tenant(1), |_| 7).await.unwrap(), 7);
    }

    #[test]
    fn a_tenant_computes_two_previews_at_a_time() {
        let computing = Computing::with_threads(2);
        let permits = [computing.admit_preview(tenant(1)).unwrap(), computing.admit_preview(tenant(1)).unwrap()];
        let refused = computing.admit_preview(tenant(1));
        assert!(matches!(refused, Err(Error::Conflict(Conflict::PreviewsRunning))));
        drop(computing.admit_preview(tenant(2)).unwrap());
        drop(permits);
        assert!(computing.0.lock().previews.is_empty());
        drop(computing.admit_preview(tenant(1)).unwrap());
    }
}
