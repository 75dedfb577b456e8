//! What a decision costs, beside a plain loop over numbers and beside what Cedar and Casbin take for the same.

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
    // `cargo bench` says so; `cargo test` only wants to know that it runs.
    let (size, plan) = match env::args().any(|argument| argument == "--bench") {
        true => (Size::FULL, Plan::FULL),
        false => (Size::SMALL, Plan::SMALL),
    };
    run(&World::new(size), &ENTRIES, plan)
}
