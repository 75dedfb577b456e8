//! Hashing threads for passwords, and the queue in front of them.
//!
//! Hashing does not use the blocking threads of the runtime, because these do other work too, and a thread that has
//! lowered its priority cannot raise it again. A helper thread hands the next password to each hashing thread. If an
//! async thread did that, hashing threads would stay idle while hashes keep the async thread from a core.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
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

/// When a job waits and no hash was finished for this long, the [fallback thread](Priority::Low) makes hashes. When a
/// hash takes this long, the fallback thread makes it too, and the first result counts.
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
    /// The jobs whose thread gets no core.
    stalled: VecDeque<Job>,
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
        self.jobs.retain(|job| !job.is_over());
        self.children.iter_mut().for_each(|(_, queue)| queue.remove_cancelled());
        self.children.retain(|(_, queue)| queue.len() > 0);
    }
}

#[derive(Clone)]
struct Job {
    share: Share,
    hash: HashFn,
    queued_at: Instant,
    /// `None` when the job is answered.
    answer: Arc<Mutex<Option<oneshot::Sender<HashResult>>>>,
}

impl Job {
    fn new(share: Share, hash: HashFn) -> (Self, oneshot::Receiver<HashResult>) {
        let (answer, made) = oneshot::channel();
        (Self { share, hash, queued_at: now(), answer: Arc::new(Mutex::new(Some(answer))) }, made)
    }

    fn answer(&self) -> MutexGuard<'_, Option<oneshot::Sender<HashResult>>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is answered, or its caller has cancelled.
    fn is_over(&self) -> bool {
        self.answer().as_ref().is_none_or(oneshot::Sender::is_closed)
    }
}

/// A function that makes a hash. Two threads may call it. It uses memory that belongs to the thread and is reused for
/// the next hash: newly allocated memory would cost a tenth of the time of a hash.
pub(super) type HashFn = Arc<dyn Fn(&mut Vec<Block>) -> Result<Output> + Send + Sync>;

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
            stalled: VecDeque::new(),
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
        let (job, made) = Job::new(share, hash);
        self.put(job)?;
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
        while let Some(job) = next() {
            let started = now();
            let output = hasher.make(Arc::clone(&job.hash), self.stall, || match priority {
                Priority::Lowest => self.hand_over(job.clone()),
                Priority::Low => {}
            });
            let took = started.elapsed();
            let answer = job.answer().take();
            let mut state = self.lock();
            if matches!(priority, Priority::Lowest) {
                state.last_hash_at = now();
            }
            // Another thread may have been faster.
            let Some(answer) = answer else { continue };
            state.hash_time = (state.hash_time.saturating_mul(7).saturating_add(took)) / 8;
            drop(state);
            // The caller may have cancelled meanwhile.
            let _ = answer.send(HashResult { output, waited: started - job.queued_at, took });
        }
    }

    /// Lets the fallback thread make a hash too.
    fn hand_over(&self, job: Job) {
        self.lock().stalled.push_back(job);
        self.fallback_wakeup.notify_one();
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

    /// Waits for a job whose thread gets no core, or until a job waits and no other thread has finished a hash for the
    /// stall time. Returns `None` when the queue is closed.
    fn next_stalled(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            state.waiting.remove_cancelled();
            state.stalled.retain(|job| !job.is_over());
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.stalled.pop_front() {
                return Some(job);
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

    /// Makes a hash. Calls `stalled` when it takes longer than `stall`.
    fn make(&self, hash: HashFn, stall: Duration, stalled: impl FnOnce()) -> Result<Output> {
        self.hashes.send(hash).map_err(|_| Error::internal("password hashing", "its thread has ended"))?;
        let mut made = self.outputs.recv_timeout(stall);
        if matches!(made, Err(RecvTimeoutError::Timeout)) {
            stalled();
            made = self.outputs.recv().map_err(Into::into);
        }
        made.map_err(|cause| Error::internal("password hashing", cause))?
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
mod tests;
