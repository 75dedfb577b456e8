//! The floor of every request that hashes a password: bare Argon2id on all cores.

use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use argon2::PasswordHasher as _;
use iam_benches::{Outcome, PASSWORD, argon2id};
use iam_core::credential::HashingCost;
use tokio::task::JoinSet;

use crate::compare::Round;

/// Hashes for a while at the default cost, with nothing else to do.
pub(crate) async fn round(length: Duration) -> Outcome<Round> {
    let began = Instant::now();
    let mut cores = JoinSet::new();
    for _ in 0..available_parallelism()?.get() {
        cores.spawn_blocking(move || hash_until(began + length));
    }
    let mut latencies = Vec::new();
    while let Some(core) = cores.join_next().await {
        latencies.extend(core??);
    }
    Ok(Round { latencies, elapsed: began.elapsed() })
}

fn hash_until(deadline: Instant) -> Outcome<Vec<Duration>> {
    let argon2 = argon2id(HashingCost::default())?;
    let mut latencies = Vec::new();
    while Instant::now() < deadline {
        let began = Instant::now();
        black_box(argon2.hash_password_with_salt(PASSWORD.as_bytes(), &[7; 16])?);
        latencies.push(began.elapsed());
    }
    Ok(latencies)
}
