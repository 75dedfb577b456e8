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
const STALL: Duration = Duration::from_millis(150);

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
    /// How many hashes are being made that need more memory than usual.
    large: u32,
    /// How long a hash of this installation takes: a moving average over recent hashes, by their weight.
    hash_time: Duration,
    /// When the last hash was finished, without those of the fallback thread.
    last_hash_at: Instant,
    is_closed: bool,
}

/// The jobs that wait, by share. On each level, the queue that has used the least time of hashing is served next.
/// Within a share, jobs are served in the order of arrival. While two shares wait, neither gets more than half of the
/// time, however long its hashes take.
///
/// This is start-time fair queueing: a queue that had no jobs for a while goes on from the time of the others, so that
/// it can neither save up time nor get rid of what it used just before.
#[derive(Default)]
struct HashQueue {
    jobs: VecDeque<Job>,
    children: Vec<(QueueKey, HashQueue)>,
    /// How much time the queue has used, on the clock of its parent.
    used: Duration,
    /// The clock of the children: the used time of the child that was served last.
    clock: Duration,
}

/// The maximum number of queues without jobs that are remembered on a level, for the time that they have used.
const MAX_IDLE: usize = 256;

impl HashQueue {
    fn push(&mut self, job: Job) {
        let mut queue = self;
        for key in job.share.queue_keys() {
            let clock = queue.clock;
            let found = queue.children.iter().position(|(other, _)| *other == key);
            let index = found.unwrap_or_else(|| {
                queue.children.push((key, Self::default()));
                queue.children.len() - 1
            });
            #[expect(clippy::indexing_slicing, reason = "the index was found or just added")]
            let (_, next) = &mut queue.children[index];
            if next.len() == 0 {
                next.used = next.used.max(clock);
            }
            queue = next;
        }
        queue.jobs.push_back(job);
    }

    /// Removes the next of the jobs that may start now, and charges its expected time. A hash of this installation
    /// takes `usual`.
    fn pop(&mut self, may_start: &impl Fn(&Job) -> bool, usual: Duration) -> Option<Job> {
        if let Some(index) = self.jobs.iter().position(may_start) {
            return self.jobs.remove(index);
        }
        let waiting = self.children.iter_mut().map(|(_, queue)| queue).filter(|queue| queue.peek(may_start).is_some());
        let next = waiting.min_by_key(|queue| queue.used)?;
        let job = next.pop(may_start, usual)?;
        self.clock = self.clock.max(next.used);
        next.used += job.expected(usual);
        Some(job)
    }

    /// Returns the job that [`pop`](Self::pop) would remove.
    fn peek(&self, may_start: &impl Fn(&Job) -> bool) -> Option<&Job> {
        let child = |(_, queue): &'_ (QueueKey, Self)| queue.used;
        self.jobs.iter().find(|job| may_start(job)).or_else(|| {
            let waiting = self.children.iter().filter(|(_, queue)| queue.peek(may_start).is_some());
            waiting.min_by_key(|queue| child(queue)).and_then(|(_, queue)| queue.peek(may_start))
        })
    }

    /// Corrects what a share is charged for a hash, when it is known how long it took. `charged` was charged before.
    fn charge(&mut self, share: Share, charged: Duration, took: Duration) {
        let mut queue = self;
        for key in share.queue_keys() {
            let Some((_, next)) = queue.children.iter_mut().find(|(other, _)| *other == key) else { return };
            next.used = (next.used + took).saturating_sub(charged);
            queue = next;
        }
    }

    fn len(&self) -> usize {
        self.jobs.len() + self.children.iter().map(|(_, queue)| queue.len()).sum::<usize>()
    }

    /// Returns how long the jobs are expected to take.
    fn expected(&self, usual: Duration) -> Duration {
        let own: Duration = self.jobs.iter().map(|job| job.expected(usual)).sum();
        own + self.children.iter().map(|(_, queue)| queue.expected(usual)).sum::<Duration>()
    }

    /// Returns how long the jobs are expected to take that are served before the next job of a share. On each level,
    /// these are the jobs ahead in its own queue, and as much of every other queue and one `usual` hash.
    fn ahead_of(&self, keys: &[QueueKey], usual: Duration) -> Duration {
        let [key, below @ ..] = keys else { return self.expected(usual) };
        let own = self.children.iter().find(|(other, _)| other == key);
        let own = own.map_or(Duration::ZERO, |(_, queue)| queue.ahead_of(below, usual));
        let others = self.children.iter().filter(|(other, _)| other != key);
        own + others.map(|(_, queue)| queue.expected(usual).min(own + usual)).sum::<Duration>()
    }

    /// Removes the jobs whose caller has cancelled, and the queues that need not be remembered.
    fn remove_cancelled(&mut self) {
        self.jobs.retain(|job| !job.is_over());
        self.children.iter_mut().for_each(|(_, queue)| queue.remove_cancelled());
        let clock = self.clock;
        self.children.retain(|(_, queue)| queue.len() > 0 || queue.used > clock);
        if self.children.iter().filter(|(_, queue)| queue.len() == 0).count() > MAX_IDLE {
            self.children.retain(|(_, queue)| queue.len() > 0);
        }
    }
}

/// What a hash needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    /// How often the time of a hash of this installation.
    pub(super) weight: f64,
    /// Whether it needs more memory than a hash of this installation. One such hash is made at a time.
    pub(super) needs_more_memory: bool,
}

impl Load {
    #[cfg(test)]
    pub(super) const USUAL: Self = Self { weight: 1.0, needs_more_memory: false };

    /// Returns how often its time is of that of a hash of this installation, and at least a thousandth: times are
    /// divided by it.
    fn weight(self) -> f64 {
        self.weight.clamp(0.001, 1_000_000.0)
    }
}

/// Returns a multiple of a time, and the greatest possible time where it would be greater.
fn scaled(time: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(time.as_secs_f64() * factor).unwrap_or(Duration::MAX)
}

#[derive(Clone)]
struct Job {
    share: Share,
    load: Load,
    hash: HashFn,
    queued_at: Instant,
    /// `None` when the job is answered.
    answer: Arc<Mutex<Option<oneshot::Sender<HashResult>>>>,
}

impl Job {
    fn new(share: Share, load: Load, hash: HashFn) -> (Self, oneshot::Receiver<HashResult>) {
        let (answer, made) = oneshot::channel();
        let answer = Arc::new(Mutex::new(Some(answer)));
        (Self { share, load, hash, queued_at: now(), answer }, made)
    }

    /// Returns how long the hash is expected to take.
    fn expected(&self, usual: Duration) -> Duration {
        scaled(usual, self.load.weight())
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
            large: 0,
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
    pub(super) async fn make(&self, share: Share, load: Load, hash: HashFn) -> Result<HashResult> {
        let (job, made) = Job::new(share, load, hash);
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
        let wait = state.waiting.ahead_of(&share.queue_keys(), state.hash_time) / self.max_threads.get();
        if wait <= self.max_wait {
            return Ok(());
        }
        // After this time, all jobs that are ahead at this moment are done.
        Err(Error::Overloaded { retry_after: Duration::from_secs(wait.as_secs() + 1) })
    }

    /// Hands one job after the other to a hashing thread.
    fn serve(&self, hasher: &HashingThread, priority: Priority) {
        let next = || match priority {
            Priority::Lowest | Priority::Lower => self.next(),
            Priority::Low => self.next_stalled(),
        };
        while let Some((job, charged)) = next() {
            let started = now();
            // A hash that takes longer than others is not late so soon.
            let stall = scaled(self.stall, job.load.weight().max(1.0));
            let output = hasher.make(Arc::clone(&job.hash), stall, || match priority {
                Priority::Lowest | Priority::Lower => self.hand_over(job.clone()),
                Priority::Low => {}
            });
            let took = started.elapsed();
            let answer = job.answer().take();
            let mut state = self.lock();
            if job.load.needs_more_memory {
                state.large = state.large.saturating_sub(1);
                // The next such hash can start, and this thread may be the fallback thread, which does not start it.
                self.wakeup.notify_one();
            }
            state.waiting.charge(job.share, charged, took);
            if matches!(priority, Priority::Lowest) {
                state.last_hash_at = now();
            }
            // Another thread may have been faster.
            let Some(answer) = answer else { continue };
            let usual = scaled(took, job.load.weight().recip());
            state.hash_time = (state.hash_time.saturating_mul(7).saturating_add(usual)) / 8;
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

    /// Waits for the next job. Returns it with the time that its share was charged, or `None` when the queue is closed.
    fn next(&self) -> Option<(Job, Duration)> {
        let mut state = self.lock();
        loop {
            state.waiting.remove_cancelled();
            if state.is_closed {
                return None;
            }
            if let Some(next) = state.start() {
                return Some(next);
            }
            state.idle += 1;
            state = self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Waits for a job whose thread gets no core, or until a job waits and no other thread has finished a hash for the
    /// stall time. Returns it with the time that its share was charged, or `None` when the queue is closed.
    fn next_stalled(&self) -> Option<(Job, Duration)> {
        let mut state = self.lock();
        loop {
            state.waiting.remove_cancelled();
            state.stalled.retain(|job| !job.is_over());
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.stalled.pop_front() {
                // Its share was charged when the other thread began.
                state.large += u32::from(job.load.needs_more_memory);
                return Some((job, Duration::ZERO));
            }
            let may_start = state.may_start();
            let Some(queued_at) = state.waiting.peek(&may_start).map(|job| job.queued_at) else {
                state = self.fallback_wakeup.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = self.stall.saturating_sub(queued_at.max(state.last_hash_at).elapsed());
            if left.is_zero() {
                return state.start();
            }
            state = self.fallback_wakeup.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    /// Returns which jobs may start now. Of those that need more memory than usual, one is made at a time, so that the
    /// memory for hashes is bounded.
    fn may_start(&self) -> impl Fn(&Job) -> bool + use<> {
        let is_large_free = self.large == 0;
        move |job| is_large_free || !job.load.needs_more_memory
    }

    /// Removes the next job, with the time that its share is charged.
    fn start(&mut self) -> Option<(Job, Duration)> {
        let job = self.waiting.pop(&self.may_start(), self.hash_time)?;
        self.large += u32::from(job.load.needs_more_memory);
        let charged = job.expected(self.hash_time);
        Some((job, charged))
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

/// The priority of a thread beside those that answer requests. A hash occupies a core for a long time. A request without a
/// hash takes a fraction of that time, so it goes first.
#[derive(Clone, Copy)]
pub(crate) enum Priority {
    /// Of hashing threads: the thread yields its core to other threads at once, and gets almost no time while they need
    /// the core.
    Lowest,
    /// Of computing threads: beside a thread of normal priority, it gets a sixtieth of a core. It yields to the fallback
    /// thread, so that a login does not wait for the preview of another tenant.
    Lower,
    /// Of the fallback thread: beside a thread of normal priority, it gets a tenth of a core, so hashing goes on while
    /// requests need all cores. But it does not yield the core at once. If all hashing threads had this priority, a
    /// request, which wakes several threads one after the other, would wait each time.
    Low,
}

impl Priority {
    /// Sets the priority of the calling thread, on Linux. If this fails, the thread has the normal priority.
    #[cfg(all(feature = "idle-hashing", target_os = "linux"))]
    pub(crate) fn apply(self) {
        use thread_priority::{NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, unix};

        if matches!(self, Self::Lowest) {
            let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            let thread = unix::thread_native_id();
            if let Err(error) = unix::set_thread_priority_and_policy(thread, ThreadPriority::Min, policy) {
                tracing::debug!(?error, "cannot restrict password hashing to idle time");
            }
        }
        let nice = if matches!(self, Self::Lower) { 19 } else { 10 };
        if let Err(error) = rustix::process::setpriority_process(None, nice) {
            tracing::debug!(%error, "cannot lower the priority of a thread");
        }
    }

    #[cfg(not(all(feature = "idle-hashing", target_os = "linux")))]
    pub(crate) fn apply(self) {}
}

#[cfg(test)]
mod tests;
