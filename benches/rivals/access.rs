//! The cost of a decision, compared with a plain loop over numbers, and with Cedar and Casbin.

#[path = "../access/contest.rs"]
mod contest;
#[path = "../access/floor.rs"]
mod floor;
#[path = "../access/ours.rs"]
mod ours;
#[path = "../access/world.rs"]
mod world;

mod casbin;
mod cedar;
mod entries;

use std::env;

use contest::{Outcome, Plan, run};
use entries::ENTRIES;
use world::{Size, World};

fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let (size, plan) = match env::args().any(|argument| argument == "--bench") {
        true => (Size::FULL, Plan::FULL),
        false => (Size::SMALL, Plan::SMALL),
    };
    run(&World::new(size), &ENTRIES, plan)
}
