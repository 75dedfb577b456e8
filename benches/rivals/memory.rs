//! The memory that each contestant needs for decisions about the same world. It is measured separately from the times,
//! because counting slows down allocations.

#[path = "../access/contest.rs"]
#[expect(dead_code, reason = "this program asks no questions")]
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

use std::alloc::System;
use std::env;
use std::io::{Write as _, stdout};

use contest::Outcome;
use entries::ENTRIES;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use world::{Size, World};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn main() -> Outcome {
    let size = if env::args().any(|argument| argument == "--bench") { Size::FULL } else { Size::SMALL };
    let world = World::new(size);
    let mut out = stdout().lock();
    writeln!(out, "| Contestant | Memory |\n|---|--:|")?;
    for entry in &ENTRIES {
        let region = Region::new(ALLOCATOR);
        let contestant = (entry.load)(&world)?;
        let kept = region.change();
        let bytes = kept.bytes_allocated as f64 - kept.bytes_deallocated as f64;
        drop(contestant);
        writeln!(out, "| {} | {:.1} MB |", entry.name, bytes / 1e6)?;
    }
    Ok(writeln!(out)?)
}
