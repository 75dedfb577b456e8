use std::fmt;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use governor::clock::Clock as _;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::{InsufficientCapacity, Quota};
use iam_core::clock::Clock;
use iam_core::{ApiKeyId, TenantId, UserId};
use lru::LruCache;

use super::{Client, Limited, MINUTE, RateLimitOutcome, RateLimiter, RateLimits};

/// How many users, API keys, tenants, and clients of each kind, are remembered. Beyond that, the limiter forgets those
/// whose last request is the oldest. So a flood of requests from ever new addresses fills some megabytes of memory, and
/// no more.
const REMEMBERED: usize = 1 << 16;
/// The number of parts, each with a lock of its own, so that not all requests wait for one lock.
const SHARDS: usize = 16;

/// Counts the requests to this process only. If several processes serve, each of them answers the full number.
pub struct MemoryRateLimiter {
    limits: RateLimits,
    users: Limiter<UserId>,
    api_keys: Limiter<ApiKeyId>,
    authentication: Limiter<Client>,
    anonymous: Limiter<Client>,
    events: Limiter<TenantId>,
}

type Limiter<K> = governor::RateLimiter<K, States<K>, LimiterClock, StateInformationMiddleware>;

impl fmt::Debug for MemoryRateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRateLimiter").finish_non_exhaustive()
    }
}

impl MemoryRateLimiter {
    /// Creates a limiter that has counted no requests yet.
    #[must_use]
    pub fn new(limits: RateLimits) -> Self {
        Self::by(limits, &LimiterClock::Running(Instant::now()))
    }

    /// Like [`new`](Self::new), with another clock, which must not go backwards: for tests.
    #[must_use]
    pub fn with_clock(limits: RateLimits, clock: impl Clock) -> Self {
        Self::by(limits, &LimiterClock::Custom(Arc::new(clock)))
    }

    fn by(limits: RateLimits, clock: &LimiterClock) -> Self {
        Self {
            limits,
            users: limiter(limits.user, clock),
            api_keys: limiter(limits.user, clock),
            authentication: limiter(limits.authentication, clock),
            anonymous: limiter(limits.anonymous, clock),
            events: limiter(limits.events, clock),
        }
    }
}

fn limiter<K: Copy + Eq + Hash>(a_minute: NonZeroU32, clock: &LimiterClock) -> Limiter<K> {
    Limiter::new(Quota::per_minute(a_minute), States::default(), clock.clone())
}

#[async_trait]
impl RateLimiter for MemoryRateLimiter {
    async fn charge(&self, who: Limited, cost: NonZeroU32) -> RateLimitOutcome {
        let cost = cost.min(self.limits.of(who));
        match who {
            Limited::User(user) => charge(&self.users, user, cost),
            Limited::ApiKey(key) => charge(&self.api_keys, key, cost),
            Limited::Authentication(client) => charge(&self.authentication, client, cost),
            Limited::Anonymous(client) => charge(&self.anonymous, client, cost),
            Limited::Events(tenant) => charge(&self.events, tenant, cost),
        }
    }
}

fn charge<K: Copy + Eq + Hash>(limiter: &Limiter<K>, who: K, cost: NonZeroU32) -> RateLimitOutcome {
    let now = limiter.clock().now();
    match limiter.check_key_n(&who, cost) {
        Ok(Ok(snapshot)) => {
            RateLimitOutcome::answered(snapshot.quota().burst_size(), snapshot.remaining_burst_capacity())
        }
        Ok(Err(refused)) => RateLimitOutcome::refused(refused.quota().burst_size(), cost, refused.wait_time_from(now)),
        Err(InsufficientCapacity(limit)) => {
            RateLimitOutcome::refused(NonZeroU32::new(limit).unwrap_or(cost), cost, MINUTE)
        }
    }
}

/// The state of each key, for a bounded number of keys.
struct States<K> {
    shards: Vec<Mutex<LruCache<K, Nanos>>>,
    hasher: RandomState,
}

impl<K: Eq + Hash> Default for States<K> {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(LruCache::unbounded())).collect();
        Self { shards, hasher: RandomState::new() }
    }
}

impl<K: Copy + Eq + Hash> StateStore for States<K> {
    type Key = K;

    fn measure_and_replace<T, F, E>(&self, key: &K, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let number = self.hasher.hash_one(key) as usize % SHARDS;
        let Some(shard) = self.shards.get(number) else { return measure(None).map(|(outcome, _)| outcome) };
        let mut states = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let (outcome, state) = measure(states.get(key).copied())?;
        states.put(*key, state);
        if states.len() > REMEMBERED / SHARDS {
            states.pop_lru();
        }
        Ok(outcome)
    }
}

/// Measures the time since some moment.
#[derive(Clone)]
enum LimiterClock {
    /// The monotonic time of the system, which never goes backwards.
    Running(Instant),
    Custom(Arc<dyn Clock>),
}

impl governor::clock::Clock for LimiterClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        match self {
            Self::Running(start) => start.elapsed(),
            Self::Custom(clock) => Duration::from_nanos(clock.now().timestamp_nanos_opt().unwrap_or(0).unsigned_abs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    #[tokio::test]
    async fn a_flood_of_addresses_does_not_fill_the_memory() {
        let limiter = MemoryRateLimiter::new(RateLimits::default());
        for number in 0..3 * REMEMBERED as u32 {
            let client = IpAddr::from(Ipv4Addr::from_bits(number)).into();
            limiter.take(Limited::Anonymous(client)).await;
        }
        let states = limiter.anonymous.into_state_store();
        let remembered: usize = states.shards.iter().map(|shard| shard.lock().unwrap().len()).sum();
        assert!(remembered <= REMEMBERED, "{remembered}");
    }
}
