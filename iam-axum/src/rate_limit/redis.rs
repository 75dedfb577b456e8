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

use super::{Limited, MINUTE, MemoryRateLimiter, RateLimiter, RateLimits, Taken};

/// How long a request waits for the server.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long connecting may take. It goes on when no request waits for it any more.
const CONNECTING: Duration = Duration::from_millis(500);
/// For how long a server that has failed is left alone. Longer than connecting takes, so that only one request at a time
/// tries it.
const PAUSE: Duration = Duration::from_secs(1);

/// Counts requests in Redis 5 or later, or in Valkey, so that several processes answer as many together.
///
/// A request waits 50 milliseconds for the server, and twice as long where it has to connect first. While the server is
/// away, or does not answer in time, requests are counted by each process alone, as a [`MemoryRateLimiter`] does; then the
/// server is tried again once a second, by one request. It is connected to when the first request comes, and requests that
/// come meanwhile are counted by the process alone, too.
///
/// What is kept under `iam:rate:` is the identifier of a user or the address of a client, with a time. It expires within a
/// minute.
pub struct RedisRateLimiter {
    server: Arc<Server>,
    script: Script,
    limits: RateLimits,
    /// Counts while the server is away.
    local: MemoryRateLimiter,
    patience: Duration,
    /// Counts instead of the server's own clock.
    clock: Option<Arc<dyn Clock>>,
}

/// The text is not the URL of a Redis. What it says is safe to show.
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
    /// One that counts on this server, which need not be there yet.
    ///
    /// `redis://[USER][:PASSWORD@]HOST[:PORT][/DATABASE]`, or `rediss://` for TLS, which trusts the certificates of the
    /// system, or those in the file that the environment variable `SSL_CERT_FILE` names.
    ///
    /// # Errors
    ///
    /// When the text is not such a URL.
    pub fn new(url: &str, limits: RateLimits) -> Result<Self, InvalidRedisUrl> {
        let client = Client::open(url).map_err(|_| InvalidRedisUrl)?;
        let local = MemoryRateLimiter::new(limits);
        let script = Script::new(include_str!("gcra.lua"));
        Ok(Self { server: Arc::new(Server::new(client)), script, limits, local, patience: PATIENCE, clock: None })
    }

    /// The same with another time than 50 milliseconds for the server to answer in.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same by another clock than the server's, which must not go backwards: for tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Clock) -> Self {
        Self { clock: Some(Arc::new(clock)), ..self }
    }

    /// What the server says, if it says so in time.
    async fn charge_shared(&self, who: Limited, cost: NonZeroU32) -> Option<Taken> {
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
                    (remaining, 0) => Taken::answered(limit, remaining),
                    (_, wait) => Taken::refused(limit, cost, Duration::from_micros(wait)),
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
    async fn charge(&self, who: Limited, cost: NonZeroU32) -> Taken {
        match self.charge_shared(who, cost).await {
            Some(taken) => taken,
            None => self.local.charge(who, cost).await,
        }
    }
}

fn key(who: Limited) -> String {
    match who {
        Limited::User(user) => format!("iam:rate:user:{user}"),
        Limited::Authentication(client) => format!("iam:rate:authentication:{client}"),
        Limited::Anonymous(client) => format!("iam:rate:anonymous:{client}"),
        Limited::Events(tenant) => format!("iam:rate:events:{tenant}"),
    }
}

/// The server, with the one connection that all requests share.
struct Server {
    client: Client,
    link: Mutex<Link>,
    is_away: AtomicBool,
}

struct Link {
    connection: Option<MultiplexedConnection>,
    /// Until then nobody tries to connect.
    rests_until: Instant,
}

impl Server {
    fn new(client: Client) -> Self {
        let link = Link { connection: None, rests_until: Instant::now() };
        Self { client, link: Mutex::new(link), is_away: AtomicBool::new(false) }
    }

    /// The connection; without one, nothing while somebody else connects or the server is left alone.
    async fn connection(self: &Arc<Self>) -> Option<MultiplexedConnection> {
        {
            let mut link = self.link();
            let now = Instant::now();
            if link.connection.is_some() || now < link.rests_until {
                return link.connection.clone();
            }
            link.rests_until = now + PAUSE;
        }
        // A task of its own: no request that is given up may cut it short.
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
            tracing::info!("the server of the rate limits is back: requests are counted together again");
        }
    }

    fn failed(&self, error: &RedisError) {
        *self.link() = Link { connection: None, rests_until: Instant::now() + PAUSE };
        if !self.is_away.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "the server of the rate limits is away: every process counts requests alone");
        }
    }

    fn link(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
