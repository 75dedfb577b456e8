//! Random eligibilities and access requests, checked only against the contract (`docs/access-requests.md`): every store
//! gives the same answers, rights never exceed what their givers hold, and end in time.
//!
//! `IAM_ELEVATION_SEED` is the seed of the first world. `IAM_ELEVATION_WORLDS` is the number of worlds.

#![cfg(test)]

mod check;
mod operation;
mod read;
mod state;
mod world;

use test_support::{TestStore, repetitions, reused};
use world::Installation;

/// The number of worlds in a long run.
const WORLDS: usize = 15;

/// The number of steps in each world.
const STEPS: usize = 140;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

/// Plays the same worlds in memory and on a store. Every step must have the same answer on both.
async fn play(store: TestStore) {
    let first = variable("IAM_ELEVATION_SEED").unwrap_or_else(|| fastrand::u64(..1 << 40));
    let (memory, other) = (TestStore::memory(), store);
    let (model, tested) = (Installation::new(memory.store()).await, Installation::new(other.store()).await);
    println!("{}: seeds from {first}", other.name());
    let worlds = variable("IAM_ELEVATION_WORLDS").map(|worlds| worlds.try_into().expect("few worlds"));
    for seed in (first..).take(worlds.unwrap_or_else(|| repetitions(WORLDS))) {
        println!("{}: IAM_ELEVATION_SEED={seed}", other.name());
        let expected = model.play(seed, STEPS).await;
        let found = tested.play(seed, STEPS).await;
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected, found, "memory and {} differ", other.name());
        }
        assert_eq!(expected.len(), found.len());
    }
}

#[tokio::test]
async fn sqlite_answers_every_step_as_the_memory_store_does() {
    play(TestStore::sqlite().await).await;
}

#[test]
fn postgres_answers_every_step_as_the_memory_store_does() {
    reused::run(async { play(TestStore::postgres().await).await });
}
