//! Random sequences of operations, judged by the contract alone: on every store the same answers, and never anybody
//! with more power than somebody could give.
//!
//! `IAM_MODEL_SEED` plays the world of this seed first, `IAM_MODEL_WORLDS` so many of them.

#![cfg(test)]

mod contract;
mod explain;
mod operation;
mod state;
mod world;

use test_support::TestStore;
use world::Ground;

/// How many worlds are played.
const WORLDS: u64 = 50;

/// How many steps each of them takes.
const STEPS: usize = 200;

pub(crate) fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// The same worlds in memory and on a store; what every step answers must be the same.
async fn play(store: TestStore) {
    let first = variable("IAM_MODEL_SEED").unwrap_or_else(|| fastrand::u64(..1 << 40));
    let (memory, other) = (TestStore::memory(), store);
    let (model, tested) = (Ground::new(memory.store()).await, Ground::new(other.store()).await);
    println!("{}: seeds from {first}", other.name());
    for seed in (first..).take(usize::try_from(variable("IAM_MODEL_WORLDS").unwrap_or(WORLDS)).expect("few worlds")) {
        println!("{}: IAM_MODEL_SEED={seed}", other.name());
        let expected = model.play(seed, STEPS).await;
        let found = tested.play(seed, STEPS).await;
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected, found, "memory and {} differ", other.name());
        }
        assert_eq!(expected.len(), found.len());
    }
}

#[tokio::test]
async fn every_step_on_sqlite_is_as_in_memory() {
    play(TestStore::sqlite().await).await;
}

#[tokio::test]
async fn every_step_on_postgres_is_as_in_memory() {
    play(TestStore::postgres().await).await;
}
