//! Threads that make password hashes, and the queue before them.
//!
//! They are not those of the runtime for what blocks: other work is done on these too, and a thread that has once been
//! given a lower priority never gets it back. And each is given the next password by a thread of its own; none is idle until
//! an async thread, which all those hashes keep from its core, comes to hand it over.

use std::collections::VecDeque;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, available_parallelism};
use std::time::{Duration, Instant};

use argon2::Block;
use argon2::password_hash::phc::Output;
use tokio::sync::oneshot;

use super::Share;
use super::share::Turn;
use crate::error::{Error, Result};

/// How long a hash is taken to last before one was made.
const FIRST_GUESS: Duration = Duration::from_millis(10);

/// For how long no hash is made, while somebody waits, before the [relief](Priority::Low) steps in.
const STALL: Duration = Duration::from_millis(500);

/// As many threads as the machine has cores, each from when it is first needed until this is dropped, and one for when those
/// get no core.
pub(super) struct Workers(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// There is something to do, or there never will be again.
    changed: Condvar,
    /// The same, for the relief.
    waits: Condvar,
    max_threads: NonZero<u32>,
    max_wait: Duration,
    stall: Duration,
}

struct State {
    waiting: Waiting,
    threads: u32,
    idle: usize,
    /// How long a hash takes, by those that were made last.
    pace: Duration,
    /// When one was made last, but for those of the relief.
    made: Instant,
    is_over: bool,
}

/// Jobs by share. On each level those who have something waiting take turns, and within a share the first to come is the first
/// to be served: as long as two wait, neither gets more than every second hash.
#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    turns: VecDeque<(Turn, Waiting)>,
}

impl Waiting {
    fn push(&mut self, job: Job) {
        let mut line = self;
        for turn in job.share.turns() {
            let known = line.turns.iter().position(|(other, _)| *other == turn);
            let place = known.unwrap_or_else(|| {
                line.turns.push_back((turn, Self::default()));
                line.turns.len() - 1
            });
            #[expect(clippy::indexing_slicing, reason = "it was found or put there")]
            let (_, next) = &mut line.turns[place];
            line = next;
        }
        line.jobs.push_back(job);
    }

    fn pop(&mut self) -> Option<Job> {
        if let Some(job) = self.jobs.pop_front() {
            return Some(job);
        }
        let (turn, mut line) = self.turns.pop_front()?;
        let job = line.pop();
        if line.len() > 0 {
            self.turns.push_back((turn, line));
        }
        job
    }

    fn len(&self) -> usize {
        self.jobs.len() + self.turns.iter().map(|(_, line)| line.len()).sum::<usize>()
    }

    /// How many jobs are made before the next one of a share: on each level its own, and as many turns of every other.
    fn ahead_of(&self, turns: &[Turn]) -> usize {
        let [turn, below @ ..] = turns else { return self.jobs.len() };
        let own = self.turns.iter().find(|(other, _)| other == turn).map_or(0, |(_, line)| line.ahead_of(below));
        let others = self.turns.iter().filter(|(other, _)| other != turn);
        own + others.map(|(_, line)| line.len().min(own + 1)).sum::<usize>()
    }

    /// Since when the job that is next has been waiting.
    fn next_since(&self) -> Option<Instant> {
        match self.jobs.front() {
            Some(job) => Some(job.asked),
            None => self.turns.front()?.1.next_since(),
        }
    }

    fn forget_who_gave_up(&mut self) {
        self.jobs.retain(|job| !job.answer.is_closed());
        self.turns.iter_mut().for_each(|(_, line)| line.forget_who_gave_up());
        self.turns.retain(|(_, line)| line.len() > 0);
    }
}

struct Job {
    share: Share,
    hash: Hash,
    asked: Instant,
    answer: oneshot::Sender<Made>,
}

/// Makes a hash, in memory that belongs to the thread and stays as it is left. Memory that is fresh each time costs a tenth
/// of a hash.
pub(super) type Hash = Box<dyn FnOnce(&mut Vec<Block>) -> Result<Output> + Send>;

/// What became of a hash.
pub(super) struct Made {
    pub(super) output: Result<Output>,
    /// How long it waited for a thread.
    pub(super) waited: Duration,
    /// How long it took then.
    pub(super) took: Duration,
}

impl Workers {
    /// Lets nobody wait for longer than this, as far as can be foreseen.
    pub(super) fn new(max_wait: Duration) -> Self {
        Self::with_threads(available_parallelism().unwrap_or(NonZero::<usize>::MIN), max_wait, STALL)
    }

    pub(super) fn with_threads(threads: NonZero<usize>, max_wait: Duration, stall: Duration) -> Self {
        let pace = FIRST_GUESS;
        let state = State { waiting: Waiting::default(), threads: 0, idle: 0, pace, made: now(), is_over: false };
        let (state, changed, waits) = (Mutex::new(state), Condvar::new(), Condvar::new());
        let max_threads = threads.try_into().unwrap_or(NonZero::<u32>::MAX);
        Self(Arc::new(Shared { state, changed, waits, max_threads, max_wait, stall }))
    }

    /// How many hashes wait for a thread.
    pub(super) fn waiting(&self) -> usize {
        let mut state = self.0.lock();
        state.waiting.forget_who_gave_up();
        state.waiting.len()
    }

    /// Refuses a password that would wait for too long.
    pub(super) fn admit(&self, share: Share) -> Result<()> {
        self.0.admit(&mut self.0.lock(), share)
    }

    /// Has a hash made when it is its turn. It is not made any more for whoever drops this before.
    pub(super) async fn make(&self, share: Share, hash: Hash) -> Result<Made> {
        let (answer, made) = oneshot::channel();
        self.put(Job { share, hash, asked: now(), answer })?;
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
                Err(error) if state.threads == 0 => return Err(Error::internal("a thread for password hashes", error)),
                // Those that there are will do it.
                Err(error) => tracing::debug!(%error, "no more threads for password hashes"),
                Ok(()) => {}
            }
        }
        state.waiting.push(job);
        shared.changed.notify_one();
        // While somebody waits, the relief knows until when to leave it to the others.
        if state.waiting.len() == 1 {
            shared.waits.notify_one();
        }
        Ok(())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.changed.notify_all();
        self.0.waits.notify_all();
    }
}

/// Starts a thread that makes hashes, and that which serves it.
fn start(shared: &Arc<Shared>, priority: Priority) -> io::Result<()> {
    let hasher = Hasher::start(priority)?;
    let shared = Arc::clone(shared);
    thread::Builder::new().name("password-queue".to_owned()).spawn(move || shared.serve(&hasher, priority))?;
    Ok(())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, state: &mut State, share: Share) -> Result<()> {
        state.waiting.forget_who_gave_up();
        let ahead = u32::try_from(state.waiting.ahead_of(&share.turns())).unwrap_or(u32::MAX);
        let wait = state.pace.saturating_mul(ahead) / self.max_threads.get();
        if wait <= self.max_wait {
            return Ok(());
        }
        // By then, all that is ahead of it now will have been made.
        Err(Error::Overloaded { retry_after: Duration::from_secs(wait.as_secs() + 1) })
    }

    /// Hands one after the other to a thread that makes hashes.
    fn serve(&self, hasher: &Hasher, priority: Priority) {
        let next = || match priority {
            Priority::Lowest => self.next(),
            Priority::Low => self.next_stalled(),
        };
        while let Some(Job { hash, asked, answer, .. }) = next() {
            let begun = now();
            let output = hasher.make(hash);
            let took = begun.elapsed();
            let mut state = self.lock();
            state.pace = (state.pace.saturating_mul(7).saturating_add(took)) / 8;
            if matches!(priority, Priority::Lowest) {
                state.made = now();
            }
            drop(state);
            // Whoever asked may have given up meanwhile.
            let _ = answer.send(Made { output, waited: begun - asked, took });
        }
    }

    /// What to make next; none when nobody can ask any more.
    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            state.waiting.forget_who_gave_up();
            if state.is_over {
                return None;
            }
            if let Some(job) = state.waiting.pop() {
                return Some(job);
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// What to make next while none of the others makes anything; none when nobody can ask any more.
    fn next_stalled(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            state.waiting.forget_who_gave_up();
            if state.is_over {
                return None;
            }
            let Some(asked) = state.waiting.next_since() else {
                state = self.waits.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = self.stall.saturating_sub(asked.max(state.made).elapsed());
            if left.is_zero() {
                return state.waiting.pop();
            }
            state = self.waits.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A thread that makes hashes, and goes when this is dropped.
///
/// It has a lower priority than all others, so that it may be kept from its core for long at any moment. Whatever lock it
/// held then, nobody else would get: not the queue's, and not those of the runtime, which whoever is to be woken needs. So it
/// shares none with anybody but the thread that serves it, which does all this for it.
struct Hasher {
    hashes: mpsc::Sender<Hash>,
    outputs: mpsc::Receiver<Result<Output>>,
}

impl Hasher {
    fn start(priority: Priority) -> io::Result<Self> {
        let (hashes, given) = mpsc::channel::<Hash>();
        let (give, outputs) = mpsc::channel();
        let work = move || {
            priority.take();
            let mut memory = Vec::new();
            for hash in given {
                // A panic must take neither the thread along nor whoever waits behind it.
                let output = catch_unwind(AssertUnwindSafe(|| hash(&mut memory)));
                let output = output.unwrap_or_else(|_| Err(Error::internal("password hashing", "it panicked")));
                if give.send(output).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("password-hash".to_owned()).spawn(work)?;
        Ok(Self { hashes, outputs })
    }

    fn make(&self, hash: Hash) -> Result<Output> {
        let given = self.hashes.send(hash).map_err(|_| Error::internal("password hashing", "its thread is gone"));
        given.and_then(|()| self.outputs.recv().map_err(|cause| Error::internal("password hashing", cause))?)
    }
}

#[expect(clippy::disallowed_methods, reason = "how long hashes take on this machine no clock of the domain knows")]
fn now() -> Instant {
    Instant::now()
}

/// How far a thread that makes hashes stands back. A hash keeps a core busy for long, and a request that needs none is answered
/// in a fraction of that: it goes first.
#[derive(Clone, Copy)]
enum Priority {
    /// It gives up its core at once to whoever wants it, and gets next to nothing of it for as long as others do.
    Lowest,
    /// That of the relief, so that hashes go on while requests want all cores: it gets a tenth of one beside a thread of the usual
    /// priority. But it need not give it up at once, and a request, which wakes several threads one after the other, would wait
    /// each time.
    Low,
}

impl Priority {
    /// Gives it to the calling thread, on Linux. Without it hashes are made as well.
    #[cfg(all(feature = "idle-hashing", target_os = "linux"))]
    fn take(self) {
        use thread_priority::{NormalThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, unix};

        if matches!(self, Self::Lowest) {
            let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
            let thread = unix::thread_native_id();
            if let Err(error) = unix::set_thread_priority_and_policy(thread, ThreadPriority::Min, policy) {
                tracing::debug!(?error, "password hashes are not made in idle time alone");
            }
        }
        if let Err(error) = rustix::process::setpriority_process(None, NICE) {
            tracing::debug!(%error, "password hashes have the priority of all requests");
        }
    }

    #[cfg(not(all(feature = "idle-hashing", target_os = "linux")))]
    fn take(self) {}
}

#[cfg(all(feature = "idle-hashing", target_os = "linux"))]
const NICE: i32 = 10;

#[cfg(test)]
mod tests {
    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;
    use crate::caller::{Caller, RequestContext};

    const PATIENCE: Duration = Duration::from_secs(30);

    fn workers(threads: usize, max_wait: Duration) -> Workers {
        Workers::with_threads(NonZero::new(threads).unwrap(), max_wait, PATIENCE)
    }

    fn output() -> Result<Output> {
        Ok(Output::new(&[7; 32]).unwrap())
    }

    /// What a test has a thread do.
    struct Gate {
        entered: mpsc::Receiver<()>,
        open: mpsc::Sender<()>,
        made: oneshot::Receiver<Made>,
    }

    /// Keeps a thread busy until it is told.
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
    ) -> Result<oneshot::Receiver<Made>> {
        put_for(workers, Share::SYSTEM, hash)
    }

    fn put_for(
        workers: &Workers,
        share: Share,
        hash: impl FnOnce(&mut Vec<Block>) -> Result<Output> + Send + 'static,
    ) -> Result<oneshot::Receiver<Made>> {
        let (answer, made) = oneshot::channel();
        workers.put(Job { share, hash: Box::new(hash), asked: now(), answer })?;
        Ok(made)
    }

    fn at(number: u8) -> RequestContext {
        RequestContext { ip_address: Some([192, 0, number, 0].into()), ..RequestContext::default() }
    }

    fn network(number: u8) -> Share {
        Share::of_client(&at(number))
    }

    /// Users of a tenant who come from a network.
    fn users(tenant: u128, network: u8) -> Share {
        let id = Uuid::from_u128;
        Share::of(&Caller::founder(id(tenant).into(), id(1).into(), id(2).into(), at(network)))
    }

    #[tokio::test]
    async fn a_client_with_many_tenants_has_no_more_turns_than_another() {
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
        let ahead = |share: Share| workers.0.lock().waiting.ahead_of(&share.turns());
        // Its own tenants take turns; beside it another network does, and beside both those who log in.
        assert_eq!((ahead(users(6, 1)), ahead(users(5, 2)), ahead(users(6, 3))), (4 + 1 + 2, 1 + 2 + 2, 2 + 2));
        assert_eq!((ahead(network(4)), ahead(network(3)), ahead(Share::SYSTEM)), (1 + 2, 2 + 3, 2));
        gate.open.send(()).unwrap();
        for made in made {
            made.await.unwrap().output.unwrap();
        }
        assert_eq!(order.try_iter().collect::<String>(), "aSUTbcd");
    }

    #[tokio::test]
    async fn shares_take_turns_whoever_has_more_waiting() {
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
    async fn a_share_that_fills_the_queue_is_refused_and_the_others_are_not() {
        // Until one is made, a hash is taken to last 10 ms: on one thread, four wait for 40 ms.
        let workers = workers(1, Duration::from_millis(45));
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let put = |share| put_for(&workers, share, |_| output());
        let mut waiting: Vec<_> = (0..5).map(|_| put(network(1)).unwrap()).collect();
        assert!(matches!(put(network(1)), Err(Error::Overloaded { .. })));
        // One of the other is ahead of its first, two of its second, which stands behind one of its own.
        waiting.extend((0..2).map(|_| put(network(2)).unwrap()));
        workers.admit(network(2)).err().unwrap();
        workers.admit(network(3)).unwrap();
        drop(waiting);
        gate.open.send(()).unwrap();
    }

    #[tokio::test]
    async fn those_who_wait_are_served_in_the_order_in_which_they_came() {
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
    async fn as_many_are_made_at_a_time_as_there_are_threads() {
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
    fn whoever_would_wait_for_too_long_is_refused_at_once() {
        // Until one is made, a hash is taken to last 10 ms: on one thread, three wait for 30 ms.
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
    async fn how_long_somebody_will_wait_goes_by_how_long_hashes_take() {
        let workers = workers(1, Duration::from_millis(1));
        workers.0.lock().pace = Duration::ZERO;
        let gate = gate(&workers);
        gate.entered.recv_timeout(PATIENCE).unwrap();
        let made = put(&workers, |_| output()).unwrap();
        workers.admit(Share::SYSTEM).unwrap();
        workers.0.lock().pace = Duration::from_secs(80);
        let refused = workers.admit(Share::SYSTEM);
        assert!(matches!(refused, Err(Error::Overloaded { retry_after }) if retry_after.as_secs() == 81));
        gate.open.send(()).unwrap();
        made.await.unwrap();
        // An eighth of the way each.
        assert!(workers.0.lock().pace < Duration::from_secs(80));
    }

    #[tokio::test]
    async fn a_hash_that_nobody_waits_for_any_more_is_not_made() {
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
    async fn a_panic_takes_neither_the_thread_along_nor_whoever_waits() {
        let workers = workers(1, PATIENCE);
        let made = workers.make(Share::SYSTEM, Box::new(|_| panic!("a defect"))).await.unwrap();
        assert!(matches!(made.output, Err(Error::Internal(_))));
        workers.make(Share::SYSTEM, Box::new(|_| output())).await.unwrap().output.unwrap();
        assert_eq!(workers.0.lock().threads, 1);
    }

    #[tokio::test]
    async fn threads_end_with_whom_they_work_for() {
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
    async fn where_no_hash_is_made_any_more_the_relief_makes_one() {
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
    async fn hashes_are_made_when_a_core_is_idle_and_by_the_relief_at_a_low_priority() {
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
        // The relief may have been quicker to take the first.
        let mut theirs: Vec<_> = told.iter().collect();
        theirs.sort_unstable();
        let (before, policy) = ours();
        let policies = [ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle), policy];
        assert_eq!(theirs, policies.map(|policy| (before.max(NICE), policy)));
    }
}
