use std::fmt;
use std::io;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use iam_core::clock::Clock;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisError, Script};
use tokio::time::timeout;

use super::{Limited, MINUTE, MemoryRateLimiter, RateLimitOutcome, RateLimiter, RateLimits};

/// How long a request waits for the Redis server.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long connecting may take. The attempt continues even if no request waits for it.
const CONNECTING: Duration = Duration::from_millis(500);
/// How long no request tries to connect again after a failure. This is longer than connecting takes, so that only one
/// request at a time tries it.
const PAUSE: Duration = Duration::from_secs(1);

/// Counts requests in Redis 5 or later, or in Valkey, so that several processes share one limit.
///
/// A request waits 50 milliseconds for the server, and twice as long if it must connect first. While the server is
/// unavailable or does not answer in time, each process counts requests alone, as a [`MemoryRateLimiter`] does. Once
/// a second, one request then tries the server again. The first request connects to the server. Until the connection
/// is made, the process counts other requests alone, too.
///
/// The keys in Redis start with `iam:rate:`. A key holds the identifier of a user or of a tenant, or the address of a
/// client; its value is a time. It expires within a minute.
pub struct RedisRateLimiter {
    server: Arc<Server>,
    script: Script,
    limits: RateLimits,
    /// Counts requests while the server is unavailable.
    local: MemoryRateLimiter,
    patience: Duration,
    /// Replaces the server's own clock.
    clock: Option<Arc<dyn Clock>>,
}

/// The text is not the URL of a Redis server. The error message does not repeat the text, so it is safe to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRedisUrl;

impl fmt::Display for InvalidRedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be redis://HOST or rediss://HOST, such as redis://:PASSWORD@HOST:6379/0")
    }
}

impl std::error::Error for InvalidRedisUrl {}

impl fmt::Debug for RedisRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisRateLimiter").finish_non_exhaustive()
    }
}

impl RedisRateLimiter {
    /// Creates a limiter that counts on this server. The server need not be available yet.
    ///
    /// The URL is `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`, or `rediss://` for TLS. TLS trusts the
    /// certificates of the system, or those in the file that the environment variable `SSL_CERT_FILE` names.
    ///
    /// # Errors
    ///
    /// [`InvalidRedisUrl`] when the text is not such a URL.
    pub fn new(url: &str, limits: RateLimits) -> Result<Self, InvalidRedisUrl> {
        let client = Client::open(url).map_err(|_| InvalidRedisUrl)?;
        let local = MemoryRateLimiter::new(limits);
        let script = Script::new(include_str!("gcra.lua"));
        Ok(Self { server: Arc::new(Server::new(client)), script, limits, local, patience: PATIENCE, clock: None })
    }

    /// Sets how long a request waits for the server, instead of 50 milliseconds.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Uses another clock than the server's, which must not go backwards: for tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock) -> Self {
        Self { clock: Some(Arc::new(clock)), ..self }
    }

    /// Counts a request on the server. Returns `None` if the server fails or does not answer in time.
    async fn charge_shared(&self, who: Limited, cost: NonZeroU32) -> Option<RateLimitOutcome> {
        let mut connection = timeout(self.patience, self.server.connection()).await.ok()??;
        let limit = self.limits.of(who);
        let interval = (MINUTE / limit.get()).as_micros() as u64;
        let mut asked = self.script.key(key(who));
        let cost = cost.min(limit);
        asked.arg(interval).arg(limit.get()).arg(cost.get());
        if let Some(clock) = &self.clock {
            asked.arg(clock.now().timestamp_micros());
        }
        let answer = timeout(self.patience, asked.invoke_async(&mut connection)).await;
        match answer.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into())) {
            Ok(answer) => {
                self.server.answered();
                Some(match answer {
                    (remaining, 0) => RateLimitOutcome::answered(limit, remaining),
                    (_, wait) => RateLimitOutcome::refused(limit, cost, Duration::from_micros(wait)),
                })
            }
            Err(error) => {
                self.server.failed(&error);
                None
            }
        }
    }
}

#[async_trait]
impl RateLimiter for RedisRateLimiter {
    async fn charge(&self, who: Limited, cost: NonZeroU32) -> RateLimitOutcome {
        match self.charge_shared(who, cost).await {
            Some(outcome) => outcome,
            None => self.local.charge(who, cost).await,
        }
    }
}

fn key(who: Limited) -> String {
    match who {
        Limited::User(user) => format!("iam:rate:user:{user}"),
        Limited::ApiKey(key) => format!("iam:rate:api-key:{key}"),
        Limited::Authentication(client) => format!("iam:rate:authentication:{client}"),
        Limited::Anonymous(client) => format!("iam:rate:anonymous:{client}"),
        Limited::Events(tenant) => format!("iam:rate:events:{tenant}"),
    }
}

/// The Redis server, with the one connection that all requests share.
struct Server {
    client: Client,
    link: Mutex<Link>,
    is_away: AtomicBool,
}

struct Link {
    connection: Option<MultiplexedConnection>,
    /// Before this time, no request tries to connect.
    no_attempt_before: Instant,
}

impl Server {
    fn new(client: Client) -> Self {
        let link = Link { connection: None, no_attempt_before: Instant::now() };
        Self { client, link: Mutex::new(link), is_away: AtomicBool::new(false) }
    }

    /// Returns the connection, and makes it if there is none. Returns `None` while another request connects, and
    /// while no attempt is allowed after a failure.
    async fn connection(self: &Arc<Self>) -> Option<MultiplexedConnection> {
        {
            let mut link = self.link();
            let now = Instant::now();
            if link.connection.is_some() || now < link.no_attempt_before {
                return link.connection.clone();
            }
            link.no_attempt_before = now + PAUSE;
        }
        // A task of its own, so that a cancelled request does not cancel the attempt.
        let server = Arc::clone(self);
        tokio::spawn(async move { server.connect().await }).await.ok()?
    }

    async fn connect(&self) -> Option<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new().set_connection_timeout(Some(CONNECTING));
        match self.client.get_multiplexed_async_connection_with_config(&config).await {
            Ok(connection) => {
                self.link().connection = Some(connection.clone());
                Some(connection)
            }
            Err(error) => {
                self.failed(&error);
                None
            }
        }
    }

    fn answered(&self) {
        if self.is_away.swap(false, Ordering::Relaxed) {
            tracing::info!("the Redis server of the rate limits answers again: the processes count requests together");
        }
    }

    fn failed(&self, error: &RedisError) {
        *self.link() = Link { connection: None, no_attempt_before: Instant::now() + PAUSE };
        if !self.is_away.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "the Redis server of the rate limits is unavailable: each process counts alone");
        }
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
