//! Rate limits (`docs/http-api.md#rate-limits`). The feature `redis` adds a rate limiter that several processes
//! share.

mod memory;
#[cfg(feature = "redis")]
mod redis;

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;
use iam_core::{ApiKeyId, TenantId, UserId};

pub use memory::MemoryRateLimiter;
#[cfg(feature = "redis")]
pub use redis::{InvalidRedisUrl, RedisRateLimiter};

const MINUTE: Duration = Duration::from_secs(60);

/// How many requests a minute are answered. After a minute without requests, the same number may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// The requests of one user, and those by one API key: 1,000 by default.
    pub user: NonZeroU32,
    /// The requests of one client to log in, to register and to refresh tokens, counted together: 60 by default.
    pub authentication: NonZeroU32,
    /// All other requests of one client without a valid access token: 300 by default.
    pub anonymous: NonZeroU32,
    /// The KiB of custom audit events that the users of one tenant record, each event rounded up: 6,000 by default.
    pub events: NonZeroU32,
}

impl Default for RateLimits {
    fn default() -> Self {
        const fn a_minute(requests: u32) -> NonZeroU32 {
            match NonZeroU32::new(requests) {
                Some(requests) => requests,
                None => NonZeroU32::MIN,
            }
        }
        Self { user: a_minute(1_000), authentication: a_minute(60), anonymous: a_minute(300), events: a_minute(6_000) }
    }
}

impl RateLimits {
    fn of(&self, who: Limited) -> NonZeroU32 {
        match who {
            Limited::User(_) | Limited::ApiKey(_) => self.user,
            Limited::Authentication(_) => self.authentication,
            Limited::Anonymous(_) => self.anonymous,
            Limited::Events(_) => self.events,
        }
    }
}

/// A group of requests that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limited {
    /// The requests of a user, in all sessions and from all addresses.
    User(UserId),
    /// The requests by an API key, from all addresses.
    ApiKey(ApiKeyId),
    /// The requests of a client to log in, to register or to refresh tokens.
    Authentication(Client),
    /// All other requests of a client without a valid access token.
    Anonymous(Client),
    /// The custom audit events that the users of a tenant record. Counted in KiB.
    Events(TenantId),
}

/// A client, identified by its address: an IPv4 address, or an IPv6 network of 64 bits. One customer can use any
/// number of addresses in such a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Client(IpAddr);

impl From<IpAddr> for Client {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
            address => address,
        })
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The result of counting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimitOutcome {
    /// How many requests a minute are answered.
    pub limit: u32,
    /// How many more requests are answered right now.
    pub remaining: u32,
    /// The time after which the full limit is available again, if no other request comes until then.
    pub reset_after: Duration,
    /// `Some` if this request is not answered: the time after which the next one is.
    pub retry_after: Option<Duration>,
}

impl RateLimitOutcome {
    fn answered(limit: NonZeroU32, remaining: u32) -> Self {
        let limit = limit.get();
        let reset_after = MINUTE.mul_f64(f64::from(limit.saturating_sub(remaining)) / f64::from(limit));
        Self { limit, remaining, reset_after, retry_after: None }
    }

    fn refused(limit: NonZeroU32, cost: NonZeroU32, retry_after: Duration) -> Self {
        let limit = limit.get();
        // After `retry_after`, the limiter has room for one such request. The rest of the limit comes back later.
        let others = limit.saturating_sub(cost.get());
        let reset_after = retry_after + MINUTE.mul_f64(f64::from(others) / f64::from(limit));
        Self { limit, remaining: 0, reset_after, retry_after: Some(retry_after) }
    }
}

/// Counts requests, by the generic cell rate algorithm (GCRA).
#[async_trait]
pub trait RateLimiter: fmt::Debug + Send + Sync + 'static {
    /// Counts a request, unless it exceeds the limit.
    async fn take(&self, who: Limited) -> RateLimitOutcome {
        self.charge(who, NonZeroU32::MIN).await
    }

    /// Counts a request that costs as much as `cost` ordinary requests, unless it exceeds the limit. A request that
    /// costs more than the limit of a whole minute costs exactly that limit.
    async fn charge(&self, who: Limited, cost: NonZeroU32) -> RateLimitOutcome;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_an_ipv4_address_or_an_ipv6_network_of_64_bits() {
        for (address, client) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"),
            ("2001:db8:1:3::", "2001:db8:1:3::"),
        ] {
            assert_eq!(Client::from(address.parse::<IpAddr>().unwrap()).to_string(), client, "{address}");
        }
    }
}
