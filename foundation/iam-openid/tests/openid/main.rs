//! A provider whose keys the tests have: what it says is accepted, and every fault of it is refused.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod fuzz;
mod id_token;
mod logout_token;
mod metadata;
mod provider;
mod response;

use chrono::{DateTime, TimeDelta, Utc};
use iam_openid::Expectations;

const ISSUER: &str = "https://id.example.com/tenant/";
const CLIENT: &str = "iam";
const EXPECTED: Expectations<'_> = Expectations { issuer: ISSUER, client_id: CLIENT };

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000, 0).unwrap()
}

/// Seconds since 1970, at an offset from now.
fn seconds(offset: i64) -> i64 {
    (now() + TimeDelta::seconds(offset)).timestamp()
}
