//! The answers of every rate limiter, request by request.

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use chrono::TimeDelta;
use iam_axum::rate_limit::{Limited, MemoryRateLimiter, RateLimitOutcome, RateLimiter, RateLimits};
use iam_core::clock::testing::FixedClock;
use iam_core::{TenantId, UserId};
use uuid::Uuid;

pub(crate) fn limits(user: u32, authentication: u32, anonymous: u32) -> RateLimits {
    let [user, authentication, anonymous] =
        [user, authentication, anonymous].map(|limit| NonZeroU32::new(limit).unwrap());
    RateLimits { user, authentication, anonymous, ..RateLimits::default() }
}

pub(crate) fn user() -> Limited {
    Limited::User(UserId::from_uuid(Uuid::now_v7()))
}

/// An address in a network that no other test uses. The tests share one Redis server.
pub(crate) fn address_of_its_own() -> IpAddr {
    Ipv6Addr::from_bits(Uuid::now_v7().as_u128() << 64).into()
}

/// A limiter in memory, and its clock.
fn memory(limits: RateLimits) -> (impl RateLimiter, FixedClock) {
    let clock = FixedClock::at("2026-01-31T09:15:00Z");
    (MemoryRateLimiter::with_clock(limits, clock.clone()), clock)
}

macro_rules! every_limiter {
    ($($test:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::memory).await;
            })+
        }
        #[cfg(feature = "redis")]
        mod shared {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::shared_limit::by_clock).await;
            })+
        }
    };
}

every_limiter![
    a_burst_up_to_the_limit_is_allowed_then_one_request_at_a_time,
    every_client_has_its_own_limit_of_each_kind,
    a_refused_request_does_not_count,
    a_request_may_count_as_several,
];

async fn a_burst_up_to_the_limit_is_allowed_then_one_request_at_a_time<L: RateLimiter>(
    of: impl Fn(RateLimits) -> (L, FixedClock),
) {
    let (limiter, clock) = of(limits(1, 1, 3));
    let who = Limited::Anonymous(address_of_its_own().into());
    for (remaining, reset) in [(2, 20), (1, 40), (0, 60)] {
        let reset_after = Duration::from_secs(reset);
        assert_eq!(limiter.take(who).await, RateLimitOutcome { limit: 3, remaining, reset_after, retry_after: None });
    }
    let refused = |reset, retry| {
        let (reset_after, retry_after) = (Duration::from_micros(reset), Some(Duration::from_micros(retry)));
        RateLimitOutcome { limit: 3, remaining: 0, reset_after, retry_after }
    };
    clock.advance(TimeDelta::seconds(15));
    assert_eq!(limiter.take(who).await, refused(45_000_000, 5_000_000));
    clock.advance(TimeDelta::microseconds(4_999_999));
    assert_eq!(limiter.take(who).await, refused(40_000_001, 1));
    clock.advance(TimeDelta::microseconds(1));
    let last = RateLimitOutcome { limit: 3, remaining: 0, reset_after: Duration::from_secs(60), retry_after: None };
    assert_eq!(limiter.take(who).await, last);
    assert_eq!(limiter.take(who).await, refused(60_000_000, 20_000_000));
    clock.advance(TimeDelta::milliseconds(40_001));
    assert_eq!(limiter.take(who).await.remaining, 1);
    clock.advance(TimeDelta::minutes(2));
    assert_eq!(limiter.take(who).await.remaining, 2);
}

async fn every_client_has_its_own_limit_of_each_kind<L: RateLimiter>(of: impl Fn(RateLimits) -> (L, FixedClock)) {
    let (limiter, _) = of(limits(1_000, 60, 3));
    let (one, other) = (address_of_its_own().into(), address_of_its_own().into());
    for _ in 0..4 {
        limiter.take(Limited::Anonymous(one)).await;
    }
    assert!(limiter.take(Limited::Anonymous(one)).await.retry_after.is_some());
    assert_eq!(limiter.take(Limited::Anonymous(other)).await.remaining, 2);
    assert_eq!(limiter.take(Limited::Authentication(one)).await.remaining, 59);
    for _ in 0..2 {
        assert_eq!(limiter.take(user()).await.remaining, 999);
    }
}

async fn a_refused_request_does_not_count<L: RateLimiter>(of: impl Fn(RateLimits) -> (L, FixedClock)) {
    let (limiter, clock) = of(limits(1, 1, 1));
    let who = user();
    assert_eq!(limiter.take(who).await.retry_after, None);
    for left in (1..=60).rev() {
        assert_eq!(limiter.take(who).await.retry_after, Some(Duration::from_secs(left)));
        clock.advance(TimeDelta::seconds(1));
    }
    assert_eq!(limiter.take(who).await.retry_after, None);
}

async fn a_request_may_count_as_several<L: RateLimiter>(of: impl Fn(RateLimits) -> (L, FixedClock)) {
    let (limiter, clock) = of(RateLimits { events: NonZeroU32::new(6).unwrap(), ..RateLimits::default() });
    let who = Limited::Events(TenantId::from_uuid(Uuid::now_v7()));
    let charge = async |cost: u32| limiter.charge(who, NonZeroU32::new(cost).unwrap()).await;
    assert_eq!(charge(4).await.remaining, 2);
    let (reset_after, retry_after) = (Duration::from_secs(40), Some(Duration::from_secs(10)));
    assert_eq!(charge(3).await, RateLimitOutcome { limit: 6, remaining: 0, reset_after, retry_after });
    assert_eq!(charge(2).await.remaining, 0);
    clock.advance(TimeDelta::minutes(1));
    assert_eq!(
        charge(7).await,
        RateLimitOutcome { limit: 6, remaining: 0, reset_after: Duration::from_secs(60), retry_after: None }
    );
}
