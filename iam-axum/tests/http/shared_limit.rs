//! The rate limiter that counts in Redis: several count together, and nobody waits for a server that is away.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use iam_axum::rate_limit::{Limited, RateLimiter, RateLimits, RedisRateLimiter, Taken};
use iam_core::clock::testing::FixedClock;
use redis::AsyncCommands as _;
use test_support::redis::{address, url};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::limiter::{address_of_its_own, limits, user};

/// How long anything may take before a test gives up. Far more than it needs, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(30);

/// One that waits for the server however busy the machine is.
fn patient(limits: RateLimits) -> RedisRateLimiter {
    RedisRateLimiter::new(&url(), limits).unwrap().with_patience(PATIENCE)
}

/// One that goes by a clock of its own, and that clock.
pub(crate) fn by_clock(limits: RateLimits) -> (RedisRateLimiter, FixedClock) {
    let clock = FixedClock::at("2026-01-31T09:15:00Z");
    (patient(limits).with_clock(clock.clone()), clock)
}

#[tokio::test]
async fn two_count_together() {
    let clock = FixedClock::at("2026-01-31T09:15:00Z");
    let [one, other] = [(); 2].map(|()| patient(limits(4, 1, 1)).with_clock(clock.clone()));
    let who = user();
    for (limiter, remaining) in [(&one, 3), (&other, 2), (&other, 1), (&one, 0)] {
        assert_eq!(limiter.take(who).await.remaining, remaining);
    }
    for limiter in [&one, &other] {
        assert_eq!(limiter.take(who).await.retry_after, Some(Duration::from_secs(15)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_requests_that_race_as_many_as_the_limit_are_answered() {
    const LIMIT: u32 = 20;
    let clock = FixedClock::at("2026-01-31T09:15:00Z");
    let limiters = [(); 2].map(|()| Arc::new(patient(limits(LIMIT, 1, 1)).with_clock(clock.clone())));
    for limiter in &limiters {
        // Connects, because what comes meanwhile is counted by each alone.
        limiter.take(user()).await;
    }
    let who = user();
    let mut racing = JoinSet::new();
    for number in 0..100 {
        let limiter = Arc::clone(&limiters[number % 2]);
        racing.spawn(async move { limiter.take(who).await });
    }
    let taken = racing.join_all().await;
    let answered: Vec<&Taken> = taken.iter().filter(|taken| taken.retry_after.is_none()).collect();
    assert_eq!(answered.len(), LIMIT as usize);
    let mut remaining: Vec<u32> = answered.iter().map(|taken| taken.remaining).collect();
    remaining.sort_unstable();
    assert_eq!(remaining, Vec::from_iter(0..LIMIT), "each was counted by itself");
}

#[tokio::test]
async fn the_clock_is_that_of_the_server_and_what_is_kept_expires() {
    let limiter = patient(limits(1_200, 1, 1));
    let Limited::User(id) = user() else { unreachable!() };
    let key = format!("iam:rate:user:{id}");
    let mut connection = redis::Client::open(url()).unwrap().get_multiplexed_async_connection().await.unwrap();
    let start: (i64, i64) = redis::cmd("TIME").query_async(&mut connection).await.unwrap();
    limiter.take(Limited::User(id)).await;
    // One of 1,200 a minute is forgotten after a twentieth of a second.
    let deadline = Instant::now() + PATIENCE;
    while connection.exists(&key).await.unwrap() {
        assert!(Instant::now() < deadline, "{key} is still there");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for _ in 0..600 {
        limiter.take(Limited::User(id)).await;
    }
    let due: Option<i64> = connection.get(&key).await.unwrap();
    let left: i64 = connection.pttl(&key).await.unwrap();
    // Both are missing where it took so long that all of it is past.
    if let Some(due) = due {
        assert!(due > start.0 * 1_000_000 + start.1, "{due} {start:?}");
        assert!(left <= 30_000, "{left}");
    }
}

/// Stands between a limiter and the server. It and its connections are gone when it is dropped.
struct Between {
    address: SocketAddr,
    answers: watch::Sender<bool>,
    accepted: Arc<AtomicUsize>,
    _running: JoinSet<()>,
}

impl Between {
    async fn start() -> Self {
        Self::at("127.0.0.1:0".parse().unwrap()).await
    }

    async fn at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (answers, answering) = watch::channel(true);
        let (accepted, mut running) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
        let count = Arc::clone(&accepted);
        running.spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let answering = answering.clone();
                passing.spawn(async move {
                    let server = TcpStream::connect(self::address()).await.unwrap();
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    let always = watch::channel(true).1;
                    tokio::join!(pass(from_client, to_server, always), pass(from_server, to_client, answering));
                });
            }
        });
        Self { address, answers, accepted, _running: running }
    }

    /// A limiter with the patience of production that knows the server by this address.
    fn limiter(&self) -> RedisRateLimiter {
        let url = url().replace(&address(), &self.address.to_string());
        RedisRateLimiter::new(&url, limits(1_000, 1, 1)).unwrap()
    }
}

async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut may: watch::Receiver<bool>) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if may.wait_for(|may| *may).await.is_err() || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// Whether a limiter knows of requests of which only the server can have told it.
async fn is_shared(limiter: &RedisRateLimiter) -> bool {
    let (direct, who) = (patient(limits(1_000, 1, 1)), user());
    for _ in 0..500 {
        direct.take(who).await;
    }
    limiter.take(who).await.remaining < 999
}

async fn wait_until_shared(limiter: &RedisRateLimiter) {
    let deadline = Instant::now() + PATIENCE;
    while !is_shared(limiter).await {
        assert!(Instant::now() < deadline, "it does not ask the server");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// It limits, and nothing that the server knows counts.
async fn assert_counts_alone(limiter: &RedisRateLimiter) {
    let who = Limited::Anonymous(address_of_its_own().into());
    assert_eq!(limiter.take(who).await.retry_after, None);
    assert!(limiter.take(who).await.retry_after.is_some());
    assert!(!is_shared(limiter).await);
}

#[tokio::test]
async fn a_server_that_is_not_there_yet_is_found_later() {
    let between = Between::start().await;
    let (limiter, address) = (between.limiter(), between.address);
    drop(between);
    assert_counts_alone(&limiter).await;
    let _between = Between::at(address).await;
    wait_until_shared(&limiter).await;
}

#[tokio::test]
async fn a_server_that_goes_away_is_done_without_until_it_is_back() {
    let between = Between::start().await;
    let (limiter, address) = (between.limiter(), between.address);
    wait_until_shared(&limiter).await;
    drop(between);
    assert_counts_alone(&limiter).await;
    let _between = Between::at(address).await;
    wait_until_shared(&limiter).await;
}

#[tokio::test]
async fn a_server_that_hangs_is_done_without_until_it_answers() {
    let between = Between::start().await;
    let limiter = between.limiter();
    wait_until_shared(&limiter).await;
    between.answers.send_replace(false);
    assert_counts_alone(&limiter).await;
    between.answers.send_replace(true);
    wait_until_shared(&limiter).await;
}

#[tokio::test]
async fn a_server_that_hangs_is_asked_once_in_a_while() {
    let between = Between::start().await;
    let limiter = between.limiter();
    between.answers.send_replace(false);
    let (started, who) = (Instant::now(), user());
    for _ in 0..200 {
        limiter.take(who).await;
    }
    let at_most = 1 + started.elapsed().as_secs() as usize;
    let accepted = between.accepted.load(Ordering::Relaxed);
    assert!((1..=at_most).contains(&accepted), "{accepted} of {at_most}");
}

#[test]
fn what_is_no_url_is_refused_and_not_shown() {
    for bad in ["", "hunter2", "http://hunter2", "redis://", "redis://:hunter2@host:port"] {
        let error = RedisRateLimiter::new(bad, RateLimits::default()).unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }
    let limiter = RedisRateLimiter::new("redis://:hunter2@localhost", RateLimits::default()).unwrap();
    assert!(!format!("{limiter:?}").contains("hunter2"));
}
