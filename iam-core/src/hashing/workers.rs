//! Hashing threads for passwords, and the queue in front of them.
//!
//! Hashing does not use the blocking threads of the runtime, because these do other work too, and a thread that has
//! lowered its priority cannot raise it again. A helper thread hands the next password to each hashing thread. If an
//! async thread did that, hashing threads would stay idle while hashes keep the async thread from a core.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use argon2::Block;
use argon2::password_hash::phc::Output;
use iam_model::error::{Error, Result};
use tokio::sync::oneshot;

use crate::hashing::Share;
use crate::hashing::share::QueueKey;

/// The assumed time of a hash until the first one is done.
const INITIAL_HASH_TIME: Duration = Duration::from_millis(10);

/// When a job waits and no hash was finished for this long, the [fallback thread](Priority::Low) makes hashes.
const STALL: Duration = Duration::from_millis(500);

/// The hashing threads: as many as the machine has cores, and one fallback thread for when these get no core. They
/// start when they are first needed, and end when this is dropped.
pub(super) struct Workers(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Signals the hashing threads: a job was queued, or the queue was closed.
    wakeup: Condvar,
    /// Signals the same to the fallback thread.
    fallback_wakeup: Condvar,
    max_threads: NonZero<u32>,
    max_wait: Duration,
    stall: Duration,
}

struct State {
    waiting: HashQueue,
    threads: u32,
    idle: usize,
    /// How long a hash takes: a moving average over recent hashes.
    hash_time: Duration,
    /// When the last hash was finished, without those of the fallback thread.
    last_hash_at: Instant,
    is_closed: bool,
}

/// The jobs that wait, by share. On each level, the queues that have jobs are served round robin. Within a share, jobs
/// are served in the order of arrival. While two shares wait, neither gets more than every second hash.
#[derive(Default)]
struct HashQueue {
    jobs: VecDeque<Job>,
    children: VecDeque<(QueueKey, HashQueue)>,
}

impl HashQueue {
    fn push(&mut self, job: Job) {
        let mut queue = self;
        for key in job.share.queue_keys() {
            let found = queue.children.iter().position(|(other, _)| *other == key);
            let index = found.unwrap_or_else(|| {
                queue.children.push_back((key, Self::default()));
                queue.children.len() - 1
            });
            #[expect(clippy::indexing_slicing, reason = "the index was found or just added")]
            let (_, next) = &mut queue.children[index];
            queue = next;
        }
        queue.jobs.push_back(job);
    }

    fn pop(&mut self) -> Option<Job> {
        if let Some(job) = self.jobs.pop_front() {
            return Some(job);
        }
        let (key, mut queue) = self.children.pop_front()?;
        let job = queue.pop();
        if queue.len() > 0 {
            self.children.push_back((key, queue));
        }
        job
    }

    fn len(&self) -> usize {
        self.jobs.len() + self.children.iter().map(|(_, queue)| queue.len()).sum::<usize>()
    }

    /// Returns how many jobs are served before the next job of a share. On each level, these are the jobs ahead in its
    /// own queue, and as many rounds of every other queue.
    fn ahead_of(&self, keys: &[QueueKey]) -> usize {
        let [key, below @ ..] = keys else { return self.jobs.len() };
        let own = self.children.iter().find(|(other, _)| other == key).map_or(0, |(_, queue)| queue.ahead_of(below));
        let others = self.children.iter().filter(|(other, _)| other != key);
        own + others.map(|(_, queue)| queue.len().min(own + 1)).sum::<usize>()
    }

    /// Returns when the next job was queued.
    fn next_queued_at(&self) -> Option<Instant> {
        match self.jobs.front() {
            Some(job) => Some(job.queued_at),
            None => self.children.front()?.1.next_queued_at(),
        }
    }

    fn remove_cancelled(&mut self) {
        self.jobs.retain(|job| !job.answer.is_closed());
        self.children.iter_mut().for_each(|(_, queue)| queue.remove_cancelled());
        self.children.retain(|(_, queue)| queue.len() > 0);
    }
}

struct Job {
    share: Share,
    hash: HashFn,
    queued_at: Instant,
    answer: oneshot::Sender<HashResult>,
}

/// A function that makes a hash. It uses memory that belongs to the thread and is reused for the next hash: newly
/// allocated memory would cost a tenth of the time of a hash.
pub(super) type HashFn = Box<dyn FnOnce(&mut Vec<Block>) -> Result<Output> + Send>;

/// The result of a hash.
pub(super) struct HashResult {
    pub(super) output: Result<Output>,
    /// How long the hash waited for a thread.
    pub(super) waited: Duration,
    /// How long the hash took after that.
    pub(super) took: Duration,
}

impl Workers {
    /// Creates an empty queue. A password whose expected wait exceeds `max_wait` is refused.
    pub(super) fn new(max_wait: Duration) -> Self {
        Self::with_threads(available_parallelism().unwrap_or(NonZero::<usize>::MIN), max_wait, STALL)
    }

    pub(super) fn with_threads(threads: NonZero<usize>, max_wait: Duration, stall: Duration) -> Self {
        let hash_time = INITIAL_HASH_TIME;
        let state = State {
            waiting: HashQueue::default(),
            threads: 0,
            idle: 0,
            hash_time,
            last_hash_at: now(),
            is_closed: false,
        };
        let (state, wakeup, fallback_wakeup) = (Mutex::new(state), Condvar::new(), Condvar::new());
        let max_threads = threads.try_into().unwrap_or(NonZero::<u32>::MAX);
        Self(Arc::new(Shared { state, wakeup, fallback_wakeup, max_threads, max_wait, stall }))
    }

    /// Returns the number of hashes that wait for a thread.
    pub(super) fn waiting(&self) -> usize {
        let mut state = self.0.lock();
        state.waiting.remove_cancelled();
        state.waiting.len()
    }

    /// Refuses a password that would wait for too long.
    pub(super) fn admit(&self, share: Share) -> Result<()> {
        self.0.admit(&mut self.0.lock(), share)
    }

    /// Queues a hash and waits for its result. Dropping the future before a thread starts the hash cancels it.
    pub(super) async fn make(&self, share: Share, hash: HashFn) -> Result<HashResult> {
        let (answer, made) = oneshot::channel();
        self.put(Job { share, hash, queued_at: now(), answer })?;
        made.await.map_err(|cause| Error::internal("password hashing", cause))
    }

    fn put(&self, job: Job) -> Result<()> {
        let shared = &self.0;
        let mut state = shared.lock();
        shared.admit(&mut state, job.share)?;
        if state.idle <= state.waiting.len() && state.threads < shared.max_threads.get() {
            let mut started = start(shared, Priority::Lowest);
            if started.is_ok() {
                state.threads += 1;
                if state.threads == 1 {
                    started = start(shared, Priority::Low);
                }
            }
            match started {
                Err(error) if state.threads == 0 => return Err(Error::internal("starting a hashing thread", error)),
                // The threads that exist make the hash.
                Err(error) => tracing::debug!(%error, "cannot start another hashing thread"),
                Ok(()) => {}
            }
        }
        state.waiting.push(job);
        shared.wakeup.notify_one();
        // With longer queues, the fallback thread already waits with a timeout.
        if state.waiting.len() == 1 {
            shared.fallback_wakeup.notify_one();
        }
        Ok(())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.wakeup.notify_all();
        self.0.fallback_wakeup.notify_all();
    }
}

/// Starts a hashing thread and the helper thread that hands jobs to it.
fn start(shared: &Arc<Shared>, priority: Priority) -> io::Result<()> {
    let hasher = HashingThread::start(priority)?;
    let shared = Arc::clone(shared);
    thread::Builder::new().name("password-queue".to_owned()).spawn(move || shared.serve(&hasher, priority))?;
    Ok(())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, state: &mut State, share: Share) -> Result<()> {
        state.waiting.remove_cancelled();
        let ahead = u32::try_from(state.waiting.ahead_of(&share.queue_keys())).unwrap_or(u32::MAX);
        let wait = state.hash_time.saturating_mul(ahead) / self.max_threads.get();
        if wait <= self.max_wait {
            return Ok(());
        }
        // After this time, all jobs that are ahead at this moment are done.
        Err(Error::Overloaded { retry_after: Duration::from_secs(wait.as_secs() + 1) })
    }

    /// Hands one job after the other to a hashing thread.
    fn serve(&self, hasher: &HashingThread, priority: Priority) {
        let next = || match priority {
            Priority::Lowest => self.next(),
            Priority::Low => self.next_stalled(),
        };
        while let Some(Job { hash, queued_at, answer, .. }) = next() {
            let started = now();
            let output = hasher.make(hash);
            let took = started.elapsed();
            let mut state = self.lock();
            state.hash_time = (state.hash_time.saturating_mul(7).saturating_add(took)) / 8;
            if matches!(priority, Priority::Lowest) {
                state.last_hash_at = now();
            }
            drop(state);
            // The caller may have cancelled meanwhile.
            let _ = answer.send(HashResult { output, waited: started - queued_at, took });
        }
    }

    /// Waits for the next job. Returns `None` when the queue is closed.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            state.waiting.remove_cancelled();
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.waiting.pop() {
                return Some(job);
            }
            state.idle += 1;
            state = self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Waits until a job waits and no other thread has finished a hash for the stall time. Returns `None` when the
    /// queue is closed.
    fn next_stalled(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            state.waiting.remove_cancelled();
            if state.is_closed {
                return None;
            }
            let Some(queued_at) = state.waiting.next_queued_at() else {
                state = self.fallback_wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = self.stall.saturating_sub(queued_at.max(state.last_hash_at).elapsed());
            if left.is_zero() {
                return state.waiting.pop();
            }
            state = self.fallback_wakeup.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A hashing thread. It ends when this is dropped.
///
/// It has a lower priority than all other threads, so it may lose its core for a long time at any moment. Other
/// threads could then not get a lock that it holds: neither the lock of the queue nor the locks of the runtime, which
/// are needed to wake a task. So it shares locks only with its helper thread, which takes all other locks for it.
struct HashingThread {
    hashes: mpsc::Sender<HashFn>,
    outputs: mpsc::Receiver<Result<Output>>,
}

impl HashingThread {
    fn start(priority: Priority) -> io::Result<Self> {
        let (hashes, given) = mpsc::channel::<HashFn>();
        let (give, outputs) = mpsc::channel();
        let work = move || {
            priority.apply();
            let mut memory = Vec::new();
            for hash in given {
                // A panic must end neither the thread nor the jobs that wait.
                let output = catch_unwind(AssertUnwindSafe(|| hash(&mut memory)));
                let output = output.unwrap_or_else(|_| Err(Error::internal("password hashing", "a hash panicked")));
                if give.send(output).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("password-hash".to_owned()).spawn(work)?;
        Ok(Self { hashes, outputs })
    }

    fn make(&self, hash: HashFn) -> Result<Output> {
        let given = self.hashes.send(hash).map_err(|_| Error::internal("password hashing", "its thread has ended"));
        given.and_then(|()| self.outputs.recv().map_err(|cause| Error::internal("password hashing", cause))?)
    }
}

#[expect(clippy::disallowed_methods, reason = "measures hashes on this machine, which the clock of the domain cannot")]
fn now() -> Instant {
    Instant::now()
}

/// The priority of a hashing thread. A hash occupies a core for a long time. A request without a hash takes a fraction
/// of that time, so it goes first.
#[derive(Clone, Copy)]
enum Priority {
    /// The thread yields its core to other threads at once, and gets almost no time while they need the core.
    Lowest,
    /// The priority of the fallback thread, so that hashing goes on while requests need all cores. Beside a thread of
    /// normal priority, it gets a tenth of a core. But it does not yield the core at once. If all hashing threads had
    /// this priority, a request, which wakes several threads one after the other, would wait each time.
    Low,
}

impl Priority {
    /// Sets the priority of the calling thread, on Linux. If this fails, hashes are made with the normal priority.
    #[cfg(all(feature = "idle-hashing", target_os = "linux"))]
    fn apply(self) {
        use thread_priority::{NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, unix};

        if matches!(self, Self::Lowest) {
            let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            let thread = unix::thread_native_id();
            if let Err(error) = unix::set_thread_priority_and_policy(thread, ThreadPriority::Min, policy) {
                tracing::debug!(?error, "cannot restrict password hashing to idle time");
            }
        }
        if let Err(error) = rustix::process::setpriority_process(None, NICE) {
            tracing::debug!(%error, "cannot lower the priority of password hashing");
        }
    }

    #[cfg(not(all(feature = "idle-hashing", target_os = "linux")))]
    fn apply(self) {}
}

#[cfg(all(feature = "idle-hashing", target_os = "linux"))]
const NICE: i32 = 10;

#[cfg(test)]
mod tests {
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;
    use crate::caller::Caller;
    use iam_model::context::RequestContext;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn workers(threads: usize, max_wait: Duration) -> Workers {
        Workers::with_threads(NonZero::new(threads).unwrap(), max_wait, PATIENCE)
    }

    fn output() -> Result<Output> {
        Ok(Output::new(&[7; 32]).unwrap())
    }

    /// A job that keeps a thread busy until the test opens it.
    struct Gate {
        entered: mpsc::Receiver<()>,
        open: mpsc::Sender<()>,
        made: oneshot::Receiver<HashResult>,
    }

    /// Queues a job that keeps a thread busy until the gate is opened.
    fn gate(workers: &Workers) -> Gate {
        let (enter, entered) = mpsc::channel();
        let (open, opened) = mpsc::channel();
        let made = put(workers, move |_| {
            enter.send(()).unwrap();
            let _ = opened.recv();
            output()
        });
        Gate { entered, open, made: made.unwrap() }
    }

    fn put(
        workers: &Workers,
        hash: impl FnOnce(&mut Vec<Block>) -> Result<Output> + Send + 'static,
    ) -> Result<oneshot::Receiver<HashResult>> {
        put_for(workers, Share::SYSTEM, hash)
    }

    fn put_for(
        workers: &Workers,
        share: Share,
        hash: impl FnOnce(&mut Vec<Block>) -> Result<Output> + Send + 'static,
    ) -> Result<oneshot::Receiver<HashResult>> {
        let (answer, made) = oneshot::channel();
        workers.put(Job { share, hash: Box::new(hash), queued_at: now(), answer })?;
        Ok(made)
    }

    fn at(number: u8) -> RequestContext {
        RequestContext { ip_address: Some([192, 0, number, 0].into()), ..RequestContext::default() }
    }

    fn network(number: u8) -> Share {
        Share::of_client(&at(number))
    }

    /// The share of the users of a tenant in a network.
    fn users(tenant: u128, network: u8) -> Share {
        let id = Uuid::from_u128;
        Share::of(&Caller::founder(id(tenant).into(), id(1).into(), id(2).into(), at(network)))
    }

    #[tokio::test]
    async fn a_client_with_many_tenants_gets_no_more_hashes_than_another() {
        let workers = workers(1, PATIENCE);
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let (served, order) = mpsc::channel();
        let mut made = Vec::new();
        for (share, name) in [
            (users(1, 1), 'a'),
            (users(2, 1), 'b'),
            (users(3, 1), 'c'),
            (users(4, 1), 'd'),
            (users(5, 2), 'U'),
            (network(3), 'S'),
            (network(3), 'T'),
        ] {
            let served = served.clone();
            let hash = move |_: &mut Vec<Block>| {
                served.send(name).unwrap();
                output()
            };
            made.push(put_for(&workers, share, hash).unwrap());
        }
        let ahead = |share: Share| workers.0.lock().waiting.ahead_of(&share.queue_keys());
        // The jobs ahead are those of its own network, of other networks of users, and of strangers.
        assert_eq!((ahead(users(6, 1)), ahead(users(5, 2)), ahead(users(6, 3))), (4 + 1 + 2, 1 + 2 + 2, 2 + 2));
        assert_eq!((ahead(network(4)), ahead(network(3)), ahead(Share::SYSTEM)), (1 + 2, 2 + 3, 2));
        gate.open.send(()).unwrap();
        for made in made {
            made.await.unwrap().output.unwrap();
        }
        assert_eq!(order.try_iter().collect::<String>(), "aSUTbcd");
    }

    #[tokio::test]
    async fn shares_are_served_round_robin() {
        let workers = workers(1, PATIENCE);
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let (served, order) = mpsc::channel();
        let put = |share, name| {
            let served = served.clone();
            let hash = move |_: &mut Vec<Block>| {
                served.send(name).unwrap();
                output()
            };
            put_for(&workers, share, hash).unwrap()
        };
        let mut made: Vec<_> = (0..4).map(|_| put(network(1), 'a')).collect();
        made.extend([put(network(2), 'b'), put(network(2), 'b'), put(network(3), 'c')]);
        gate.open.send(()).unwrap();
        for made in made {
            made.await.unwrap().output.unwrap();
        }
        assert_eq!(order.try_iter().collect::<String>(), "abcabaa");
    }

    #[tokio::test]
    async fn a_share_that_fills_its_queue_is_refused_and_others_are_not() {
        // Until the first hash is done, a hash is assumed to take 10 ms: on one thread, four hashes take 40 ms.
        let workers = workers(1, Duration::from_millis(45));
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let put = |share| put_for(&workers, share, |_| output());
        let mut waiting: Vec<_> = (0..5).map(|_| put(network(1)).unwrap()).collect();
        assert!(matches!(put(network(1)), Err(Error::Overloaded { .. })));
        // One job of network 1 is ahead of the first job of network 2. Two are ahead of the second, which also waits
        // for the first.
        waiting.extend((0..2).map(|_| put(network(2)).unwrap()));
        workers.admit(network(2)).err().unwrap();
        workers.admit(network(3)).unwrap();
        drop(waiting);
        gate.open.send(()).unwrap();
    }

    #[tokio::test]
    async fn jobs_of_a_share_are_served_in_the_order_of_arrival() {
        let workers = workers(1, PATIENCE);
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let (served, order) = mpsc::channel();
        let made: Vec<_> = (0..5)
            .map(|number| {
                let served = served.clone();
                put(&workers, move |_| {
                    served.send(number).unwrap();
                    output()
                })
            })
            .collect();
        assert_eq!(workers.waiting(), 5);
        gate.open.send(()).unwrap();
        for made in made {
            made.unwrap().await.unwrap().output.unwrap();
        }
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(workers.waiting(), 0);
    }

    #[tokio::test]
    async fn every_thread_makes_one_hash_at_a_time() {
        let workers = workers(2, PATIENCE);
        let gates = [gate(&workers), gate(&workers), gate(&workers)];
        for gate in &gates[..2] {
            gate.entered.recv_timeout(PATIENCE).unwrap();
        }
        assert_eq!(workers.waiting(), 1);
        assert!(gates[2].entered.try_recv().is_err());
        gates[0].open.send(()).unwrap();
        gates[2].entered.recv_timeout(PATIENCE).unwrap();
    }

    #[tokio::test]
    async fn a_thread_is_started_only_when_the_others_are_busy() {
        let workers = workers(8, PATIENCE);
        for _ in 0..20 {
            workers.make(Share::SYSTEM, Box::new(|_| output())).await.unwrap();
            // The answer comes a moment before the thread is idle again.
            while workers.0.lock().idle == 0 {
                thread::yield_now();
            }
        }
        assert_eq!(workers.0.lock().threads, 1);
    }

    #[test]
    fn a_password_that_would_wait_for_too_long_is_refused_at_once() {
        // Until the first hash is done, a hash is assumed to take 10 ms: on one thread, three hashes take 30 ms.
        let workers = workers(1, Duration::from_millis(25));
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let waiting: Vec<_> = (0..3).map(|_| put(&workers, |_| output()).unwrap()).collect();
        for refused in [put(&workers, |_| output()).map(drop), workers.admit(Share::SYSTEM)] {
            assert!(matches!(refused, Err(Error::Overloaded { retry_after }) if retry_after.as_secs() == 1));
        }
        assert_eq!(workers.waiting(), 3);
        drop(waiting);
        workers.admit(Share::SYSTEM).unwrap();
    }

    #[tokio::test]
    async fn the_expected_wait_follows_the_time_that_hashes_take() {
        let workers = workers(1, Duration::from_millis(1));
        workers.0.lock().hash_time = Duration::ZERO;
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let made = put(&workers, |_| output()).unwrap();
        workers.admit(Share::SYSTEM).unwrap();
        workers.0.lock().hash_time = Duration::from_secs(80);
        let refused = workers.admit(Share::SYSTEM);
        assert!(matches!(refused, Err(Error::Overloaded { retry_after }) if retry_after.as_secs() == 81));
        gate.open.send(()).unwrap();
        made.await.unwrap();
        // Each hash moves the average by an eighth of the difference.
        assert!(workers.0.lock().hash_time < Duration::from_secs(80));
    }

    #[tokio::test]
    async fn a_cancelled_hash_is_not_made() {
        let workers = workers(1, PATIENCE);
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let (made, was_made) = mpsc::channel::<()>();
        let hurried = workers.make(
            Share::SYSTEM,
            Box::new(move |_| {
                made.send(()).unwrap();
                output()
            }),
        );
        timeout(Duration::ZERO, hurried).await.err().unwrap();
        assert_eq!(workers.waiting(), 0);
        gate.open.send(()).unwrap();
        gate.made.await.unwrap().output.unwrap();
        workers.make(Share::SYSTEM, Box::new(|_| output())).await.unwrap();
        assert!(was_made.recv().is_err());
    }

    #[tokio::test]
    async fn a_panic_ends_neither_the_thread_nor_waiting_jobs() {
        let workers = workers(1, PATIENCE);
        let made = workers.make(Share::SYSTEM, Box::new(|_| panic!("a defect"))).await.unwrap();
        assert!(matches!(made.output, Err(Error::Internal(_))));
        workers.make(Share::SYSTEM, Box::new(|_| output())).await.unwrap().output.unwrap();
        assert_eq!(workers.0.lock().threads, 1);
    }

    #[tokio::test]
    async fn threads_end_when_the_workers_are_dropped() {
        let workers = workers(2, PATIENCE);
        let (busy, idle) = (gate(&workers), gate(&workers));
        busy.entered.recv_timeout(PATIENCE).unwrap();
        idle.entered.recv_timeout(PATIENCE).unwrap();
        idle.open.send(()).unwrap();
        idle.made.await.unwrap();
        let shared = Arc::downgrade(&workers.0);
        drop(workers);
        busy.open.send(()).unwrap();
        busy.made.await.unwrap();
        let ended = async {
            while shared.upgrade().is_some() {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, ended).await.unwrap();
    }

    #[tokio::test]
    async fn the_fallback_thread_makes_hashes_when_the_others_stall() {
        let workers = Workers::with_threads(NonZero::<usize>::MIN, PATIENCE, Duration::from_millis(1));
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        for _ in 0..3 {
            workers.make(Share::SYSTEM, Box::new(|_| output())).await.unwrap().output.unwrap();
        }
        assert_eq!(workers.0.lock().threads, 1);
        gate.open.send(()).unwrap();
        gate.made.await.unwrap().output.unwrap();
    }

    #[cfg(all(feature = "idle-hashing", target_os = "linux"))]
    #[tokio::test]
    async fn hashing_threads_use_idle_time_and_the_fallback_thread_has_low_priority() {
        use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, unix};

        let ours = || (rustix::process::getpriority_process(None).unwrap(), unix::thread_schedule_policy().unwrap());
        let workers = Workers::with_threads(NonZero::<usize>::MIN, PATIENCE, Duration::from_millis(1));
        let (tell, told) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        let theirs = tell.clone();
        let first = put(&workers, move |_| {
            theirs.send(ours()).unwrap();
            let _ = opened.recv();
            output()
        });
        let hash = move |_: &mut Vec<Block>| {
            tell.send(ours()).unwrap();
            output()
        };
        workers.make(Share::SYSTEM, Box::new(hash)).await.unwrap();
        open.send(()).unwrap();
        first.unwrap().await.unwrap();
        // The fallback thread may have taken the first job.
        let mut theirs: Vec<_> = told.iter().collect();
        theirs.sort_unstable();
        let (before, policy) = ours();
        let policies = [ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle), policy];
        assert_eq!(theirs, policies.map(|policy| (before.max(NICE), policy)));
    }
}
