//! The measured side and the baseline of the same work, and the permitted difference.

use super::series::{Figure, Series};

/// A kind of work, and its baseline.
pub(crate) struct Comparison {
    pub(crate) work: String,
    pub(crate) baseline: String,
    pub(crate) goals: Vec<Goal>,
    pub(crate) ours: Series,
    pub(crate) theirs: Series,
}

/// The goal of a comparison.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    /// At least this fraction of the baseline's requests per second.
    Rate(f64),
    /// A latency of at most this multiple of the baseline's. The first number says how many of a thousand requests do
    /// not exceed the latency.
    Times(usize, f64),
    /// A latency of at most this number of milliseconds. The first number is the same as in `Times`.
    Millis(usize, f64),
    /// No goal: the fraction of the baseline's requests per second is reported for information.
    None,
}

/// A goal, and the result.
pub(crate) struct GoalResult {
    /// Empty if there is no goal.
    pub(crate) goal: String,
    pub(crate) reached: String,
    /// The fraction of the goal that was reached. From 1 on, the goal is reached.
    pub(crate) degree: Option<f64>,
}

impl Comparison {
    pub(crate) fn goal_results(&self) -> impl Iterator<Item = GoalResult> {
        self.goals.iter().map(|goal| self.goal_result(*goal))
    }

    fn goal_result(&self, goal: Goal) -> GoalResult {
        match goal {
            Goal::Rate(least) => {
                let (ratio, reached) = self.ratio(Figure::Rate, "", "");
                GoalResult { goal: format!("≥ {least}"), reached, degree: Some(ratio / least) }
            }
            Goal::Times(per_mille, most) => {
                let name = percentile(per_mille);
                let (ratio, reached) = self.ratio(Figure::Latency(per_mille), &name, "×");
                GoalResult { goal: format!("{name} ≤ {most}×"), reached, degree: Some(most / ratio) }
            }
            Goal::Millis(per_mille, most) => {
                let (name, figure) = (percentile(per_mille), Figure::Latency(per_mille));
                let millis = |seconds: f64| seconds * 1000.0;
                let rounds = self.ours.rounds(figure).map(millis);
                let reached = spread(millis(self.ours.figure(figure)), rounds, &name, " ms");
                let degree = most / millis(self.ours.figure(figure));
                GoalResult { goal: format!("{name} ≤ {most} ms"), reached, degree: Some(degree) }
            }
            Goal::None => GoalResult { goal: String::new(), reached: self.ratio(Figure::Rate, "", "").1, degree: None },
        }
    }

    /// The figure as a multiple of the baseline's, over all rounds. The text also has the lowest and the highest ratio
    /// of a round.
    fn ratio(&self, figure: Figure, name: &str, unit: &str) -> (f64, String) {
        let ratio = self.ours.figure(figure) / self.theirs.figure(figure);
        let rounds = self.ours.rounds(figure).zip(self.theirs.rounds(figure)).map(|(ours, theirs)| ours / theirs);
        (ratio, spread(ratio, rounds, name, unit))
    }
}

fn spread(value: f64, rounds: impl Iterator<Item = f64>, name: &str, unit: &str) -> String {
    let (low, high) = rounds.fold((f64::INFINITY, 0.0_f64), |(low, high), round| (low.min(round), high.max(round)));
    let name = if name.is_empty() { String::new() } else { format!("{name} ") };
    format!("{name}{value:.2}{unit} ({low:.2}–{high:.2})")
}

fn percentile(per_mille: usize) -> String {
    format!("p{}", per_mille as f64 / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(goals: Vec<Goal>) -> Comparison {
        let ours = Series::of_millis((1..=100).map(|_| 6));
        let theirs = Series::of_millis((1..=200).map(|_| 2));
        Comparison { work: "work".to_owned(), baseline: "floor".to_owned(), goals, ours, theirs }
    }

    fn only(goal: Goal) -> GoalResult {
        comparison(vec![goal]).goal_results().next().unwrap()
    }

    #[test]
    fn half_of_the_floors_rate_is_half_of_a_rate_goal_of_1() {
        let goal_result = only(Goal::Rate(1.0));
        assert_eq!((goal_result.goal.as_str(), goal_result.reached.as_str()), ("≥ 1", "0.50 (0.50–0.50)"));
        assert_eq!(goal_result.degree, Some(0.5));
    }

    #[test]
    fn three_times_the_latency_is_half_of_a_latency_goal_of_1_5_times() {
        let goal_result = only(Goal::Times(990, 1.5));
        assert_eq!((goal_result.goal.as_str(), goal_result.reached.as_str()), ("p99 ≤ 1.5×", "p99 3.00× (3.00–3.00)"));
        assert_eq!(goal_result.degree, Some(0.5));
    }

    #[test]
    fn a_latency_of_half_its_bound_is_twice_the_goal() {
        let goal_result = only(Goal::Millis(999, 12.0));
        assert_eq!(
            (goal_result.goal.as_str(), goal_result.reached.as_str()),
            ("p99.9 ≤ 12 ms", "p99.9 6.00 ms (6.00–6.00)")
        );
        assert_eq!(goal_result.degree, Some(2.0));
    }

    #[test]
    fn a_comparison_without_a_goal_has_no_degree() {
        let goal_result = only(Goal::None);
        assert_eq!((goal_result.goal.as_str(), goal_result.reached.as_str()), ("", "0.50 (0.50–0.50)"));
        assert_eq!(goal_result.degree, None);
    }
}
