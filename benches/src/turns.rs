//! Two operations measured in turn, for a comparison that a slow minute of the machine does not change.

use std::fmt;
use std::time::{Duration, Instant};

use crate::Outcome;

/// The times of two operations, by round.
#[derive(Debug, Default)]
pub struct Turns {
    first: Vec<Duration>,
    second: Vec<Duration>,
}

/// Executes two operations in turn. Each begins every other round.
///
/// # Errors
///
/// The errors of the operations.
pub async fn in_turn<A, B>(
    rounds: usize,
    mut first: impl AsyncFnMut() -> Outcome<A>,
    mut second: impl AsyncFnMut() -> Outcome<B>,
) -> Outcome<Turns> {
    let mut turns = Turns::default();
    for round in 0..rounds {
        if round % 2 == 0 {
            turns.first.push(time(&mut first).await?);
            turns.second.push(time(&mut second).await?);
        } else {
            turns.second.push(time(&mut second).await?);
            turns.first.push(time(&mut first).await?);
        }
    }
    Ok(turns)
}

async fn time<T>(operation: &mut impl AsyncFnMut() -> Outcome<T>) -> Outcome<Duration> {
    let began = Instant::now();
    operation().await?;
    Ok(began.elapsed())
}

impl Turns {
    /// The median time of the first operation, the time that 95 % of its executions do not exceed, and the median time
    /// of the second.
    #[must_use]
    pub fn times(&self) -> [Duration; 3] {
        [median(&self.first), percentile(&self.first, 95), median(&self.second)]
    }

    /// The median time of the second operation divided by that of the first.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        median(&self.second).as_secs_f64() / median(&self.first).as_secs_f64()
    }

    /// The probability that the second operation takes longer than the first, for two executions chosen at random. 0.5
    /// means that a time does not show which operation it was.
    #[must_use]
    pub fn separation(&self) -> f64 {
        let pairs = || self.first.iter().flat_map(|first| self.second.iter().map(move |second| (first, second)));
        let longer = pairs().filter(|(first, second)| second > first).count();
        let equal = pairs().filter(|(first, second)| second == first).count();
        (2 * longer + equal) as f64 / (2 * self.first.len() * self.second.len()).max(1) as f64
    }
}

impl fmt::Display for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, second) = (median(&self.first), median(&self.second));
        write!(f, "{first:.2?} and {second:.2?}, ratio {:.3}, separation {:.2}", self.ratio(), self.separation())
    }
}

fn median(times: &[Duration]) -> Duration {
    percentile(times, 50)
}

fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() * percent / 100).copied().unwrap_or_default()
}
