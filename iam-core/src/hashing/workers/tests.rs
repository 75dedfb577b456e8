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
    let opened = Mutex::new(opened);
    let made = put(workers, move |_| {
        enter.send(()).unwrap();
        let _ = opened.lock().unwrap().recv();
        output()
    });
    Gate { entered, open, made: made.unwrap() }
}

fn put(
    workers: &Workers,
    hash: impl Fn(&mut Vec<Block>) -> Result<Output> + Send + Sync + 'static,
) -> Result<oneshot::Receiver<HashResult>> {
    put_for(workers, Share::SYSTEM, hash)
}

fn put_for(
    workers: &Workers,
    share: Share,
    hash: impl Fn(&mut Vec<Block>) -> Result<Output> + Send + Sync + 'static,
) -> Result<oneshot::Receiver<HashResult>> {
    let (job, made) = Job::new(share, Load::USUAL, Arc::new(hash));
    workers.put(job)?;
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
    let jobs = [
        (users(1, 1), 'a', 1.0),
        (users(2, 1), 'b', 1.0),
        (users(3, 1), 'c', 1.0),
        (users(4, 1), 'd', 1.0),
        (users(5, 2), 'U', 1.0),
        (network(3), 'S', 1.0),
        (network(3), 'T', 1.0),
    ];
    let put = |(share, ..): (Share, char, f64)| put_for(&workers, share, |_: &mut Vec<Block>| output()).unwrap();
    let made: Vec<_> = jobs.into_iter().map(put).collect();
    // Until the first hash is done, a hash is assumed to take 10 ms.
    let ahead = |share: Share| {
        let ahead = workers.0.lock().waiting.ahead_of(&share.queue_keys(), INITIAL_HASH_TIME);
        ahead.as_millis() / INITIAL_HASH_TIME.as_millis()
    };
    // The jobs ahead are those of its own network, of other networks of users, and of strangers.
    assert_eq!((ahead(users(6, 1)), ahead(users(5, 2)), ahead(users(6, 3))), (4 + 1 + 2, 1 + 2 + 2, 2 + 2));
    assert_eq!((ahead(network(4)), ahead(network(3)), ahead(Share::SYSTEM)), (1 + 2, 2 + 3, 2));
    gate.open.send(()).unwrap();
    for made in made {
        made.await.unwrap().output.unwrap();
    }
    assert_eq!(order_of(jobs).await, "aSUTbcd");
}

#[tokio::test]
async fn shares_are_served_round_robin() {
    let jobs = (0..4).map(|_| (network(1), 'a', 1.0));
    let others = [(network(2), 'b', 1.0), (network(2), 'b', 1.0), (network(3), 'c', 1.0)];
    assert_eq!(order_of(jobs.chain(others)).await, "abcabaa");
}

/// Queues hashes that take 10 ms times their weight by the clock of the queue, and returns in which order one thread
/// makes them.
async fn order_of(jobs: impl IntoIterator<Item = (Share, char, f64)>) -> String {
    let workers = workers(1, PATIENCE);
    let gate = gate(&workers);
    gate.entered.recv_timeout(PATIENCE).unwrap();
    let (served, order) = mpsc::channel();
    let mut made = Vec::new();
    for (share, name, weight) in jobs {
        let served = served.clone();
        let hash = move |_: &mut Vec<Block>| {
            served.send(name).unwrap();
            output()
        };
        let (job, answer) = Job::new(share, Load { weight, needs_more_memory: false }, Arc::new(hash));
        workers.put(job).unwrap();
        made.push(answer);
    }
    // The jobs take almost no time here, so the queue is served without threads.
    let mut state = workers.0.lock();
    let mut order_of_queue = Vec::new();
    while let Some((job, _)) = state.start() {
        order_of_queue.push(job);
    }
    drop(state);
    for job in order_of_queue {
        (job.hash)(&mut Vec::new()).unwrap();
    }
    gate.open.send(()).unwrap();
    drop(made);
    order.try_iter().collect()
}

#[tokio::test]
async fn shares_of_hashing_go_by_time_and_not_by_number() {
    let expensive = (0..4).map(|_| (network(1), 'E', 5.0));
    let cheap = (0..12).map(|_| (network(2), 'c', 1.0));
    assert_eq!(order_of(expensive.chain(cheap)).await, "EcccccEcccccEccE");
    // In one network, the tenants that logins name share its time.
    let tenant = |number| network(1).in_tenant(Uuid::from_u128(number).into());
    let expensive = (0..3).map(|_| (tenant(1), 'E', 3.0));
    let cheap = (0..5).map(|_| (tenant(2), 'c', 1.0));
    assert_eq!(order_of(expensive.chain(cheap)).await, "EcccEccE");
}

#[test]
fn a_share_is_charged_for_what_it_used_while_it_had_nothing_to_do() {
    let mut queue = HashQueue::default();
    let push = |queue: &mut HashQueue, share| {
        let (job, answer) = Job::new(share, Load::USUAL, Arc::new(|_: &mut Vec<Block>| output()));
        queue.push(job);
        answer
    };
    let next =
        |queue: &mut HashQueue| queue.pop(&|_| true, INITIAL_HASH_TIME).map(|job| job.share == network(1)).unwrap();
    let mut kept = Vec::new();
    kept.push(push(&mut queue, network(1)));
    assert!(next(&mut queue));
    // It took ten times as long as expected, and another one comes when the other share already waits.
    queue.charge(network(1), Duration::from_millis(10), Duration::from_millis(100));
    queue.remove_cancelled();
    kept.extend((0..12).map(|_| push(&mut queue, network(2))));
    kept.push(push(&mut queue, network(1)));
    let order: Vec<bool> = (0..13).map(|_| next(&mut queue)).collect();
    assert_eq!(order.iter().position(|is_first| *is_first), Some(10));
    // A share that comes later starts from the time of the others, and has saved up nothing.
    kept.extend((0..3).map(|_| push(&mut queue, network(3))));
    kept.extend((0..3).map(|_| push(&mut queue, network(2))));
    let order: Vec<bool> =
        (0..6).map(|_| queue.pop(&|_| true, INITIAL_HASH_TIME).unwrap().share == network(3)).collect();
    assert!(order[..4].iter().filter(|is_third| **is_third).count() <= 3 && order[..2].contains(&true), "{order:?}");
    // Without jobs and debts, nothing is remembered.
    queue.clock = Duration::MAX;
    queue.remove_cancelled();
    assert!(queue.children.is_empty());
}

#[test]
fn the_number_of_remembered_shares_is_bounded() {
    let mut queue = HashQueue::default();
    for number in 0..=u8::MAX {
        for last in [0, 1] {
            let context =
                RequestContext { ip_address: Some([10, number, last, 0].into()), ..RequestContext::default() };
            let (job, _answer) =
                Job::new(Share::of_client(&context), Load::USUAL, Arc::new(|_: &mut Vec<Block>| output()));
            queue.push(job);
            queue.pop(&|_| true, INITIAL_HASH_TIME).unwrap();
            queue.remove_cancelled();
        }
    }
    let (_, strangers) = &queue.children[0];
    assert!(strangers.children.len() <= MAX_IDLE);
}

#[tokio::test]
async fn one_hash_that_needs_more_memory_is_made_at_a_time() {
    let workers = workers(2, PATIENCE);
    let large = Load { needs_more_memory: true, ..Load::USUAL };
    let (enter, entered) = mpsc::channel();
    let start = |load: Load, name: char| {
        let (open, opened) = mpsc::channel::<()>();
        let (opened, enter) = (Mutex::new(opened), enter.clone());
        let hash = move |_: &mut Vec<Block>| {
            enter.send(name).unwrap();
            let _ = opened.lock().unwrap().recv();
            output()
        };
        let (job, made) = Job::new(Share::SYSTEM, load, Arc::new(hash));
        workers.put(job).unwrap();
        (open, made)
    };
    let (first, _made_first) = start(large, 'a');
    assert_eq!(entered.recv_timeout(PATIENCE).unwrap(), 'a');
    let (second, made_second) = start(large, 'b');
    let (usual, made_usual) = start(Load::USUAL, 'c');
    // The second thread makes the hash that arrived later.
    assert_eq!(entered.recv_timeout(PATIENCE).unwrap(), 'c');
    drop(usual);
    made_usual.await.unwrap().output.unwrap();
    assert_eq!(workers.waiting(), 1);
    drop(first);
    assert_eq!(entered.recv_timeout(PATIENCE).unwrap(), 'b');
    drop(second);
    made_second.await.unwrap().output.unwrap();
    assert_eq!(workers.0.lock().large, 0);
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
        workers.make(Share::SYSTEM, Load::USUAL, Arc::new(|_| output())).await.unwrap();
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
        Load::USUAL,
        Arc::new(move |_| {
            made.send(()).unwrap();
            output()
        }),
    );
    timeout(Duration::ZERO, hurried).await.err().unwrap();
    assert_eq!(workers.waiting(), 0);
    gate.open.send(()).unwrap();
    gate.made.await.unwrap().output.unwrap();
    workers.make(Share::SYSTEM, Load::USUAL, Arc::new(|_| output())).await.unwrap();
    assert!(was_made.recv().is_err());
}

#[tokio::test]
async fn a_panic_ends_neither_the_thread_nor_waiting_jobs() {
    let workers = workers(1, PATIENCE);
    let made = workers.make(Share::SYSTEM, Load::USUAL, Arc::new(|_| panic!("a defect"))).await.unwrap();
    assert!(matches!(made.output, Err(Error::Internal(_))));
    workers.make(Share::SYSTEM, Load::USUAL, Arc::new(|_| output())).await.unwrap().output.unwrap();
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

/// A hash whose first call waits until the sender is dropped, as if its thread got no core.
fn stalling() -> (HashFn, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (call, calls) = mpsc::channel();
    let (open, opened) = mpsc::channel::<()>();
    let opened = Mutex::new(Some(opened));
    let hash = move |_: &mut Vec<Block>| {
        let first = opened.lock().unwrap().take();
        call.send(()).unwrap();
        if let Some(opened) = first {
            let _ = opened.recv();
        }
        output()
    };
    (Arc::new(hash), calls, open)
}

#[tokio::test]
async fn the_fallback_thread_makes_hashes_when_the_others_stall() {
    let workers = Workers::with_threads(NonZero::<usize>::MIN, PATIENCE, Duration::from_millis(1));
    let (hash, calls, open) = stalling();
    let (job, made) = Job::new(Share::SYSTEM, Load::USUAL, hash);
    workers.put(job).unwrap();
    calls.recv_timeout(PATIENCE).unwrap();
    for _ in 0..3 {
        workers.make(Share::SYSTEM, Load::USUAL, Arc::new(|_| output())).await.unwrap().output.unwrap();
    }
    assert_eq!(workers.0.lock().threads, 1);
    drop(open);
    made.await.unwrap().output.unwrap();
}

/// The late result of the thread that got no core answers no other job, and the thread goes on.
#[tokio::test]
async fn the_fallback_thread_makes_a_hash_that_another_thread_has_begun() {
    let workers = workers(1, PATIENCE);
    let (hash, calls, open) = stalling();
    let (job, made) = Job::new(Share::SYSTEM, Load::USUAL, hash);
    workers.put(job.clone()).unwrap();
    calls.recv_timeout(PATIENCE).unwrap();
    workers.0.hand_over(job);
    made.await.unwrap().output.unwrap();
    assert_eq!(calls.try_iter().count(), 1);
    drop(open);
    for _ in 0..3 {
        workers.make(Share::SYSTEM, Load::USUAL, Arc::new(|_| output())).await.unwrap().output.unwrap();
    }
    assert_eq!(workers.0.lock().threads, 1);
}

#[tokio::test]
async fn a_job_that_is_answered_or_cancelled_is_not_made_again() {
    let workers = workers(1, PATIENCE);
    let (tell, told) = mpsc::channel::<()>();
    let hash: HashFn = Arc::new(move |_: &mut Vec<Block>| {
        tell.send(()).unwrap();
        output()
    });
    let (answered, made) = Job::new(Share::SYSTEM, Load::USUAL, Arc::clone(&hash));
    workers.put(answered.clone()).unwrap();
    made.await.unwrap();
    let (cancelled, _) = Job::new(Share::SYSTEM, Load::USUAL, hash);
    for over in [answered, cancelled] {
        workers.0.hand_over(over);
    }
    let (last, made) = Job::new(Share::SYSTEM, Load::USUAL, Arc::new(|_| output()));
    workers.0.hand_over(last);
    made.await.unwrap().output.unwrap();
    assert_eq!(told.try_iter().count(), 1);
}

#[test]
fn a_hash_that_takes_long_is_reported_once() {
    let thread = HashingThread::start(Priority::Low).unwrap();
    let (hash, _calls, open) = stalling();
    let mut reports = 0;
    let made = thread.make(Arc::clone(&hash), Duration::from_millis(1), || {
        reports += 1;
        drop(open);
    });
    made.unwrap();
    assert_eq!(reports, 1);
    thread.make(hash, PATIENCE, || panic!("it took no time")).unwrap();
}

#[cfg(all(feature = "idle-hashing", target_os = "linux"))]
#[tokio::test]
async fn hashing_threads_use_idle_time_and_the_fallback_thread_has_low_priority() {
    use thread_priority::{NormalThreadSchedulePolicy, ThreadSchedulePolicy, unix};

    let ours = || (rustix::process::getpriority_process(None).unwrap(), unix::thread_schedule_policy().unwrap());
    let workers = Workers::with_threads(NonZero::<usize>::MIN, PATIENCE, Duration::from_millis(1));
    let (tell, told) = mpsc::channel();
    let (stalling, calls, open) = stalling();
    let theirs = tell.clone();
    let first = put(&workers, move |memory| {
        theirs.send(ours()).unwrap();
        stalling(memory)
    });
    calls.recv_timeout(PATIENCE).unwrap();
    let hash = move |_: &mut Vec<Block>| {
        tell.send(ours()).unwrap();
        output()
    };
    workers.make(Share::SYSTEM, Load::USUAL, Arc::new(hash)).await.unwrap();
    drop(open);
    first.unwrap().await.unwrap();
    // Either thread may have taken the first job, and both may have called it.
    let mut theirs: Vec<_> = told.iter().collect();
    theirs.sort_unstable();
    theirs.dedup();
    let (before, policy) = ours();
    let policies = [ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle), policy];
    assert_eq!(theirs, policies.map(|policy| (before.max(10), policy)));
}
