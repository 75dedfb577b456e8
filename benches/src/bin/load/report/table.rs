//! The table, in Markdown.

use std::fmt::Write as _;
use std::time::Duration;

use super::Line;
use crate::measure::series::{Figure, Series};
use crate::measure::startup::Startup;
use crate::text::grouped;

pub(super) fn lines(lines: &[Line]) -> String {
    let mut table =
        "| Work | Baseline | Target | Reached (rounds) | Measured | Measured at the baseline |\n".to_owned();
    table.push_str("|---|---|---|---|---|---|\n");
    for Line { work, baseline, goal_results, ours, theirs } in lines {
        let goals: Vec<&str> = goal_results.iter().map(|goal_result| goal_result.goal.as_str()).collect();
        let reached: Vec<&str> = goal_results.iter().map(|goal_result| goal_result.reached.as_str()).collect();
        let (goals, reached) = (goals.join("; "), reached.join("; "));
        // Writing to a `String` does not fail.
        let _ = writeln!(table, "| {work} | {baseline} | {goals} | {reached} | {ours} | {theirs} |");
    }
    table
}

/// The rate, if there is one, and the latencies that 50 %, 99 % and 99.9 % of the requests do not exceed.
pub(super) fn figures(series: &Series) -> String {
    let latency = |per_mille| millis(series.figure(Figure::Latency(per_mille)));
    let latencies = format!("{} / {} / {} ms", latency(500), latency(990), latency(999));
    match series.figure(Figure::Rate) {
        0.0 => latencies,
        rate => format!("{}/s; {latencies}", grouped(rate.round() as u64)),
    }
}

pub(super) fn startup(startup: &Startup) -> String {
    let mut table = "| Start until ready | Median | Slowest |\n|---|--:|--:|\n".to_owned();
    for (name, times) in [("new file", &startup.new_file), ("filled file", &startup.filled_file)] {
        let time = |time: Option<&Duration>| millis(time.copied().unwrap_or_default().as_secs_f64());
        let (median, slowest) = (time(times.get(times.len() / 2)), time(times.last()));
        let _ = writeln!(table, "| {name} | {median} ms | {slowest} ms |");
    }
    table
}

fn millis(seconds: f64) -> String {
    let millis = seconds * 1000.0;
    if millis < 10.0 { format!("{millis:.2}") } else { format!("{millis:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::comparison::GoalResult;

    #[test]
    fn a_line_has_its_goals_and_its_results_in_the_same_order() {
        let goal_result =
            |goal: &str, reached: &str| GoalResult { goal: goal.to_owned(), reached: reached.to_owned(), degree: None };
        let goal_results = vec![goal_result("≥ 1", "0.5"), goal_result("p99 ≤ 2×", "p99 3×")];
        let [work, baseline, ours, theirs] = ["work", "floor", "5/s", "10/s"].map(str::to_owned);
        let table = lines(&[Line { work, baseline, goal_results, ours, theirs }]);
        let line = table.lines().nth(2).unwrap();
        assert_eq!(line, "| work | floor | ≥ 1; p99 ≤ 2× | 0.5; p99 3× | 5/s | 10/s |");
        let columns = |line: &str| line.matches('|').count();
        assert!(table.lines().all(|other| columns(other) == columns(line)));
    }

    #[test]
    fn figures_are_rounded_by_their_size() {
        assert_eq!(figures(&Series::of_millis((1..=2000).map(|_| 3))), "2,000/s; 3.00 / 3.00 / 3.00 ms");
        assert_eq!(figures(&Series::of_millis([7, 1234])), "2/s; 7.00 / 1234 / 1234 ms");
    }
}
