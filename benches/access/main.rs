//! The cost of a decision from a snapshot in memory, compared with a plain loop over numbers.

mod contest;
mod floor;
mod ours;
mod world;

use std::env;

use contest::{Entry, Outcome, Plan, run};
use world::{Size, World};

const ENTRIES: [Entry; 3] = [
    Entry { name: "plain loop", load: floor::Floor::load },
    Entry { name: "`Snapshot::allows`", load: ours::Allowing::load },
    Entry { name: "`Snapshot::explain`", load: ours::Explaining::load },
];

fn main() -> Outcome {
    // `cargo bench` passes `--bench`. `cargo test` does not, and only checks that the bench runs.
    let (size, plan) = match env::args().any(|argument| argument == "--bench") {
        true => (Size::FULL, Plan::FULL),
        false => (Size::SMALL, Plan::SMALL),
    };
    run(&World::new(size), &ENTRIES, plan)
}
