//! The rate limiter that counts in Redis. Several limiters count together, and no request waits for a server that
//! does not answer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use iam_axum::rate_limit::{Limited, RateLimitOutcome, RateLimiter, RateLimits, RedisRateLimiter};
use iam_core::clock::testing::FixedClock;
use redis::AsyncCommands as _;
use test_support::redis::{address, url};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::limiter::{address_of_its_own, limits, user};

/// The time after which a test fails. Every step needs far less, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A limiter that waits for the server even on a busy machine.
fn patient(limits: RateLimits) -> RedisRateLimiter {
    RedisRateLimiter::new(&url(), limits).unwrap().with_patience(PATIENCE)
}

/// A limiter with its own clock, and this clock.
pub(crate) fn by_clock(limits: RateLimits) -> (RedisRateLimiter, FixedClock) {
    let clock = FixedClock::at("2026-01-31T09:15:00Z");
    (patient(limits).with_clock(clock.clone()), clock)
}

#[tokio::test]
async fn two_limiters_count_together() {
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
async fn concurrent_requests_are_answered_up_to_the_limit() {
    const LIMIT: u32 = 20;
    let clock = FixedClock::at("2026-01-31T09:15:00Z");
    let limiters = [(); 2].map(|()| Arc::new(patient(limits(LIMIT, 1, 1)).with_clock(clock.clone())));
    for limiter in &limiters {
        // Connects the limiter. Until it is connected, a limiter counts alone.
        limiter.take(user()).await;
    }
    let who = user();
    let mut racing = JoinSet::new();
    for number in 0..100 {
        let limiter = Arc::clone(&limiters[number % 2]);
        racing.spawn(async move { limiter.take(who).await });
    }
    let outcome = racing.join_all().await;
    let answered: Vec<&RateLimitOutcome> = outcome.iter().filter(|outcome| outcome.retry_after.is_none()).collect();
    assert_eq!(answered.len(), LIMIT as usize);
    let mut remaining: Vec<u32> = answered.iter().map(|outcome| outcome.remaining).collect();
    remaining.sort_unstable();
    assert_eq!(remaining, Vec::from_iter(0..LIMIT), "each request was counted once");
}

#[tokio::test]
async fn the_limiter_uses_the_clock_of_the_server_and_its_keys_expire() {
    let limiter = patient(limits(1_200, 1, 1));
    let Limited::User(id) = user() else { unreachable!() };
    let key = format!("iam:rate:user:{id}");
    let mut connection = redis::Client::open(url()).unwrap().get_multiplexed_async_connection().await.unwrap();
    let start: (i64, i64) = redis::cmd("TIME").query_async(&mut connection).await.unwrap();
    limiter.take(Limited::User(id)).await;
    // With a limit of 1,200 a minute, one request is counted for a twentieth of a second.
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
    // If the requests took so long that the key has expired, both values are missing.
    if let Some(due) = due {
        assert!(due > start.0 * 1_000_000 + start.1, "{due} {start:?}");
        assert!(left <= 30_000, "{left}");
    }
}

/// A proxy from a limiter to the server. The proxy and its connections end when it is dropped.
struct Proxy {
    address: SocketAddr,
    answers: watch::Sender<bool>,
    accepted: Arc<AtomicUsize>,
    _running: JoinSet<()>,
}

impl Proxy {
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
            let mut forwarding = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let answering = answering.clone();
                forwarding.spawn(async move {
                    let server = TcpStream::connect(self::address()).await.unwrap();
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    let always = watch::channel(true).1;
                    tokio::join!(forward(from_client, to_server, always), forward(from_server, to_client, answering));
                });
            }
        });
        Self { address, answers, accepted, _running: running }
    }

    /// A limiter with the default patience that connects to the server through this proxy.
    fn limiter(&self) -> RedisRateLimiter {
        let url = url().replace(&address(), &self.address.to_string());
        RedisRateLimiter::new(&url, limits(1_000, 1, 1)).unwrap()
    }
}

/// Copies bytes. Waits with what it has read while `allowed` is false.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut allowed: watch::Receiver<bool>,
) {
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        if allowed.wait_for(|allowed| *allowed).await.is_err() || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// Whether a limiter counts requests that it can know only from the server.
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
        assert!(Instant::now() < deadline, "the limiter does not use the server");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Checks that the limiter limits, and that it ignores the counts of the server.
async fn assert_counts_alone(limiter: &RedisRateLimiter) {
    let who = Limited::Anonymous(address_of_its_own().into());
    assert_eq!(limiter.take(who).await.retry_after, None);
    assert!(limiter.take(who).await.retry_after.is_some());
    assert!(!is_shared(limiter).await);
}

#[tokio::test]
async fn a_limiter_connects_to_a_server_that_starts_later() {
    let proxy = Proxy::start().await;
    let (limiter, address) = (proxy.limiter(), proxy.address);
    drop(proxy);
    assert_counts_alone(&limiter).await;
    let _proxy = Proxy::at(address).await;
    wait_until_shared(&limiter).await;
}

#[tokio::test]
async fn a_limiter_counts_alone_until_an_absent_server_is_back() {
    let proxy = Proxy::start().await;
    let (limiter, address) = (proxy.limiter(), proxy.address);
    wait_until_shared(&limiter).await;
    drop(proxy);
    assert_counts_alone(&limiter).await;
    let _proxy = Proxy::at(address).await;
    wait_until_shared(&limiter).await;
}

#[tokio::test]
async fn a_limiter_counts_alone_until_a_hanging_server_answers() {
    let proxy = Proxy::start().await;
    let limiter = proxy.limiter();
    wait_until_shared(&limiter).await;
    proxy.answers.send_replace(false);
    assert_counts_alone(&limiter).await;
    proxy.answers.send_replace(true);
    wait_until_shared(&limiter).await;
}

#[tokio::test]
async fn a_hanging_server_is_tried_at_most_once_a_second() {
    let proxy = Proxy::start().await;
    let limiter = proxy.limiter();
    proxy.answers.send_replace(false);
    let (started, who) = (Instant::now(), user());
    for _ in 0..200 {
        limiter.take(who).await;
    }
    let at_most = 1 + started.elapsed().as_secs() as usize;
    let accepted = proxy.accepted.load(Ordering::Relaxed);
    assert!((1..=at_most).contains(&accepted), "{accepted} of {at_most}");
}

#[test]
fn an_invalid_url_is_refused_and_not_shown() {
    for bad in ["", "hunter2", "http://hunter2", "redis://", "redis://:hunter2@host:port"] {
        let error = RedisRateLimiter::new(bad, RateLimits::default()).unwrap_err();
        assert!(!error.to_string().contains("hunter2"));
    }
    let limiter = RedisRateLimiter::new("redis://:hunter2@localhost", RateLimits::default()).unwrap();
    assert!(!format!("{limiter:?}").contains("hunter2"));
}
