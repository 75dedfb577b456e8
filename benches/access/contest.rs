//! Asks several contestants the same questions in turn, so that a change in the machine's speed affects all of them.

use std::error::Error;
use std::hint::black_box;
use std::io::{Write as _, stdout};
use std::ops::Range;
use std::time::{Duration, Instant};

use super::world::World;

/// The result of a call that can fail for many reasons.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// Answers questions.
pub(crate) trait Contestant {
    /// Converts the questions into the contestant's own form. This is not measured.
    fn prepare(&mut self, world: &World);

    /// Whether the answer to the question with this number is yes.
    fn allows(&self, number: usize) -> bool;

    /// The number of questions whose answer is yes. This method is compiled separately for each contestant.
    fn count_allowed(&self, numbers: Range<usize>) -> usize {
        numbers.filter(|number| self.allows(*number)).count()
    }
}

/// A contestant: its name, and the function that builds it from a world.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) load: fn(&World) -> Outcome<Box<dyn Contestant>>,
}

/// The length of the measurements.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) rounds: u32,
    /// The time of each contestant in each round. Before the first round, there is one more that does not count.
    pub(crate) time: Duration,
    /// The number of questions to which all contestants must give the same answers before the measurement.
    pub(crate) agreeing: usize,
}

impl Plan {
    pub(crate) const FULL: Self = Self { rounds: 9, time: Duration::from_millis(500), agreeing: 2_000 };
    pub(crate) const SMALL: Self = Self { rounds: 1, time: Duration::from_millis(5), agreeing: 200 };
}

struct Runner {
    name: &'static str,
    contestant: Box<dyn Contestant>,
    load: Duration,
    /// The nanoseconds for one question, in each round.
    rounds: Vec<f64>,
    next: usize,
}

/// Loads all contestants, checks that they agree, measures them and prints a table. All are compared with the first
/// two: the first is the floor.
pub(crate) fn run(world: &World, entries: &[Entry], plan: Plan) -> Outcome {
    let mut runners = Vec::new();
    for entry in entries {
        let began = Instant::now();
        let mut contestant = (entry.load)(world)?;
        let load = began.elapsed();
        contestant.prepare(world);
        runners.push(Runner { name: entry.name, contestant, load, rounds: Vec::new(), next: 0 });
    }
    let allowed = agree(&runners, world.questions.len(), plan.agreeing)?;
    for round in 0..=plan.rounds {
        for runner in &mut runners {
            let nanoseconds = runner.time(world.questions.len(), plan.time);
            if round > 0 {
                runner.rounds.push(nanoseconds);
            }
        }
    }
    print(world, allowed, &runners)
}

/// Checks that all contestants give the floor's answers to a sample of the questions. Returns the number of all
/// questions that the floor allows.
fn agree(runners: &[Runner], questions: usize, sample: usize) -> Outcome<usize> {
    let Some((floor, others)) = runners.split_first() else { return Ok(0) };
    for runner in others {
        for number in 0..sample.min(questions) {
            if runner.contestant.allows(number) != floor.contestant.allows(number) {
                return Err(format!("{} and {} disagree on question {number}", floor.name, runner.name).into());
            }
        }
    }
    Ok(floor.contestant.count_allowed(0..questions))
}

impl Runner {
    /// The nanoseconds for one question. The clock is read once for every batch, and batches grow until they take long
    /// enough.
    fn time(&mut self, questions: usize, budget: Duration) -> f64 {
        let (mut elapsed, mut asked, mut batch) = (Duration::ZERO, 0_usize, 1_usize);
        while elapsed < budget {
            let from = if self.next + batch <= questions { self.next } else { 0 };
            let to = (from + batch).min(questions);
            let began = Instant::now();
            black_box(self.contestant.count_allowed(black_box(from..to)));
            let took = began.elapsed();
            self.next = to;
            elapsed += took;
            asked += to - from;
            if took < Duration::from_millis(1) && batch < questions {
                batch *= 2;
            }
        }
        elapsed.as_secs_f64() * 1e9 / asked.max(1) as f64
    }
}

fn print(world: &World, allowed: usize, runners: &[Runner]) -> Outcome {
    let mut out = stdout().lock();
    writeln!(
        out,
        "{} users, {} roles, {} organizations, {} assignments; {} questions, of which {:.0} % are allowed\n",
        world.users,
        world.roles.len(),
        world.parents.len(),
        world.assignments.len(),
        world.questions.len(),
        100.0 * allowed as f64 / world.questions.len().max(1) as f64,
    )?;
    let references = runners.get(..2).unwrap_or(runners);
    write!(out, "| Contestant | A decision (rounds) |")?;
    for reference in references {
        write!(out, " × {} (rounds) |", reference.name)?;
    }
    writeln!(out, " Load |\n|---|--:|{}--:|", "--:|".repeat(references.len()))?;
    for runner in runners {
        write!(out, "| {} | {} |", runner.name, shown(&runner.rounds, time))?;
        for reference in references {
            let ratios: Vec<f64> = runner.rounds.iter().zip(&reference.rounds).map(|(it, other)| it / other).collect();
            write!(out, " {} |", shown(&ratios, short))?;
        }
        writeln!(out, " {:.1} ms |", runner.load.as_secs_f64() * 1000.0)?;
    }
    Ok(writeln!(out)?)
}

/// The median, and the least and the greatest value.
fn shown(values: &[f64], show: fn(f64) -> String) -> String {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    let at = |index: usize| show(values.get(index).copied().unwrap_or(f64::NAN));
    format!("{} ({}–{})", at(values.len() / 2), at(0), at(values.len().saturating_sub(1)))
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        ..1e3 => format!("{} ns", short(nanoseconds)),
        ..1e6 => format!("{} µs", short(nanoseconds / 1e3)),
        _ => format!("{} ms", short(nanoseconds / 1e6)),
    }
}

/// The number with three digits, or more if its whole part has more.
fn short(value: f64) -> String {
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$}")
}
