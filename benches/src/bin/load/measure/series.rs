//! Measured latencies, in rounds.

use std::time::Duration;

/// The measurements of one side in one round.
#[derive(Clone, Default)]
pub(crate) struct Round {
    pub(crate) latencies: Vec<Duration>,
    /// The length of the round; zero if a rate would mean nothing.
    pub(crate) elapsed: Duration,
}

/// The rounds of one side.
#[derive(Clone, Default)]
pub(crate) struct Series(Vec<Round>);

/// A figure that is computed for a side.
#[derive(Clone, Copy)]
pub(crate) enum Figure {
    /// The requests per second.
    Rate,
    /// The latency in seconds that this number of a thousand requests does not exceed.
    Latency(usize),
}

impl Figure {
    fn of<'a>(self, rounds: impl Iterator<Item = &'a Round> + Clone) -> f64 {
        match self {
            Self::Rate => {
                let count: usize = rounds.clone().map(|round| round.latencies.len()).sum();
                let elapsed: Duration = rounds.map(|round| round.elapsed).sum();
                if elapsed.is_zero() { 0.0 } else { count as f64 / elapsed.as_secs_f64() }
            }
            Self::Latency(per_mille) => {
                let mut latencies: Vec<Duration> = rounds.flat_map(|round| &round.latencies).copied().collect();
                let rank = (latencies.len() * per_mille).div_ceil(1000).saturating_sub(1);
                if rank >= latencies.len() {
                    return 0.0;
                }
                latencies.select_nth_unstable(rank).1.as_secs_f64()
            }
        }
    }
}

impl Series {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, round: Round) {
        self.0.push(round);
    }

    /// The figure over all rounds.
    pub(crate) fn figure(&self, figure: Figure) -> f64 {
        figure.of(self.0.iter())
    }

    /// The figure of each round.
    pub(crate) fn rounds(&self, figure: Figure) -> impl Iterator<Item = f64> {
        self.0.iter().map(move |round| figure.of(std::iter::once(round)))
    }
}

#[cfg(test)]
impl Series {
    /// One round of a second with these latencies in milliseconds.
    pub(crate) fn of_millis(latencies: impl IntoIterator<Item = u64>) -> Self {
        let latencies = latencies.into_iter().map(Duration::from_millis).collect();
        Self(vec![Round { latencies, elapsed: Duration::from_secs(1) }])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_latencies_of_all_rounds() {
        let mut series = Series::of_millis((1..=1000).rev());
        series.push(Round { latencies: vec![Duration::from_secs(9); 1000], elapsed: Duration::from_secs(3) });
        assert_eq!(series.figure(Figure::Latency(250)), 0.5);
        assert_eq!(series.figure(Figure::Latency(999)), 9.0);
        assert_eq!(series.rounds(Figure::Latency(999)).collect::<Vec<_>>(), [0.999, 9.0]);
        assert_eq!(series.figure(Figure::Rate), 500.0);
        assert_eq!(series.rounds(Figure::Rate).collect::<Vec<_>>(), [1000.0, 1000.0 / 3.0]);
    }

    #[test]
    fn a_percentile_of_few_latencies_is_the_slowest_and_of_none_is_zero() {
        assert_eq!(Series::of_millis([3]).figure(Figure::Latency(500)), 0.003);
        assert_eq!(Series::of_millis([1, 2]).figure(Figure::Latency(999)), 0.002);
        assert_eq!(Series::of_millis([]).figure(Figure::Latency(500)), 0.0);
        assert_eq!(Series::default().figure(Figure::Rate), 0.0);
    }
}
