//! The floor for every request that hashes a password: bare Argon2id on all cores.

use std::hint::black_box;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use argon2::Block;
use iam_benches::{Outcome, PASSWORD, argon2id};
use iam_core::credential::HashingCost;
use tokio::task::JoinSet;

use super::series::Round;

/// Hashes for this time at the default cost, without other work.
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

/// Hashes until the deadline. Each hash uses the same memory, because newly allocated memory would cost more.
fn hash_until(deadline: Instant) -> Outcome<Vec<Duration>> {
    let argon2 = argon2id(HashingCost::default())?;
    let mut memory = vec![Block::default(); argon2.params().block_count()];
    let mut latencies = Vec::new();
    while Instant::now() < deadline {
        let (began, mut hash) = (Instant::now(), [0; 32]);
        argon2.hash_password_into_with_memory(PASSWORD.as_bytes(), &[7; 16], &mut hash, &mut memory)?;
        black_box(hash);
        latencies.push(began.elapsed());
    }
    Ok(latencies)
}
