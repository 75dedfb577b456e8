//! The report of a run.

mod chart;
mod document;
pub(crate) mod facts;
mod table;

use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::sync::atomic::Ordering;

use iam_benches::Outcome;

use self::chart::Bar;
use crate::measure::comparison::{Comparison, Goal, GoalResult};
use crate::measure::memory::Memory;
use crate::measure::revocation::{Ended, Revocations, WORK};
use crate::measure::{Kind, Results};
use crate::text::{grouped, progress};

/// The goal for the server's memory, in MiB.
const MOST_MEMORY: f64 = 120.0;

/// A line of the table.
struct Line {
    work: String,
    baseline: String,
    goal_results: Vec<GoalResult>,
    ours: String,
    theirs: String,
}

/// Writes the table and the chart into the documentation, or prints the table.
pub(crate) fn publish(kind: Kind, facts: &[String], results: &Results, docs: Option<&Path>) -> Outcome {
    let (name, title) = match kind {
        Kind::Sqlite => ("sqlite", "SQLite"),
        Kind::Postgres => ("postgres", "PostgreSQL"),
    };
    let lines = lines(results);
    let table = table::lines(&lines);
    let about = facts.join("; ");
    let mut notes = notes(results);
    if let Some(startup) = &results.startup {
        notes = format!("{notes}\n\n{}", table::startup(startup));
    }
    let Some(docs) = docs else {
        return Ok(writeln!(stdout(), "{about}.\n\n{table}\n{notes}")?);
    };
    let chart = format!("load-{name}.svg");
    let title = format!("How much of each target is reached on {title}");
    fs::write(docs.join(&chart), chart::draw(&title, &bars(&lines)))?;
    let page = docs.join("performance.md");
    let text = format!("{about}.\n\n![{title}]({chart})\n\n{table}\n{notes}");
    let written = document::replace(&fs::read_to_string(&page)?, &format!("load:{name}"), &text)?;
    fs::write(&page, written)?;
    progress(&format!("wrote {} and {chart} in the same directory", page.display()))
}

/// Prints a table of only these comparisons.
pub(crate) fn print(comparisons: &[Comparison], ended: &[Revocations]) -> Outcome {
    let lines: Vec<Line> = comparisons.iter().map(line).chain(ended.iter().map(revocations)).collect();
    Ok(writeln!(stdout(), "{}", table::lines(&lines))?)
}

fn lines(results: &Results) -> Vec<Line> {
    let compared = results.comparisons.iter().map(line);
    compared.chain([memory(&results.memory)]).chain(results.revocations.iter().map(revocations)).collect()
}

fn line(comparison: &Comparison) -> Line {
    Line {
        work: comparison.work.clone(),
        baseline: comparison.baseline.clone(),
        goal_results: comparison.goal_results().collect(),
        ours: table::figures(&comparison.ours),
        theirs: table::figures(&comparison.theirs),
    }
}

fn memory(memory: &Memory) -> Line {
    let &Memory { sessions, users, resident, peak } = memory;
    let goal_result = GoalResult {
        goal: format!("≤ {MOST_MEMORY} MiB"),
        reached: format!("{resident:.1} MiB"),
        degree: Some(MOST_MEMORY / resident),
    };
    Line {
        work: format!("memory after {} sessions were shown {} users", grouped(sessions), grouped(users)),
        baseline: String::new(),
        goal_results: vec![goal_result],
        ours: format!("at most {peak:.1} MiB"),
        theirs: String::new(),
    }
}

fn revocations(revocations: &Revocations) -> Line {
    line(&Comparison {
        work: format!("{WORK}, {} {}", grouped(revocations.trials), ends(revocations)),
        baseline: "`SELECT 1`".to_owned(),
        goals: vec![Goal::Times(990, 20.0), Goal::Millis(990, 1000.0)],
        ours: revocations.refusals.clone(),
        theirs: revocations.round_trips.clone(),
    })
}

fn ends(revocations: &Revocations) -> &'static str {
    match revocations.ended {
        Ended::Session => "logouts",
        Ended::Key => "revoked keys",
    }
}

fn bars(lines: &[Line]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for line in lines {
        for GoalResult { goal, reached, degree } in &line.goal_results {
            let reached = reached.split(" (").next().unwrap_or_default();
            let label = line.work.replace('`', "");
            bars.extend(degree.map(|degree| Bar { label, text: format!("{reached}; target {goal}"), degree }));
        }
    }
    bars
}

fn notes(results: &Results) -> String {
    let (succeeded, shed) =
        (results.logins.succeeded.load(Ordering::Relaxed), results.logins.shed.load(Ordering::Relaxed));
    let mut notes = format!(
        "While reads were measured among endless logins, {} of these succeeded and {} were refused with 503.",
        grouped(succeeded),
        grouped(shed)
    );
    for revocations in &results.revocations {
        let (late, trials) = (grouped(revocations.late), grouped(revocations.trials));
        notes.push_str(&format!(
            " After {late} of {trials} {} the other process allowed a read that was sent later.",
            ends(revocations)
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        let grouped = [0, 999, 1_000, 65_536, 1_000_000].map(grouped);
        assert_eq!(grouped, ["0", "999", "1,000", "65,536", "1,000,000"]);
    }

    #[test]
    fn every_goal_has_a_bar_and_no_other_figure_has_one() {
        let goal_result =
            |goal: &str, degree| GoalResult { goal: goal.to_owned(), reached: "0.50 (0.4–0.6)".to_owned(), degree };
        let line = |goal_results| Line {
            work: "`GET`".to_owned(),
            baseline: String::new(),
            goal_results,
            ours: String::new(),
            theirs: String::new(),
        };
        let bars = bars(&[
            line(vec![goal_result("≥ 1", Some(0.5)), goal_result("p99", Some(2.0))]),
            line(vec![goal_result("", None)]),
        ]);
        let shown: Vec<_> = bars.iter().map(|bar| (bar.label.as_str(), bar.text.as_str(), bar.degree)).collect();
        assert_eq!(shown, [("GET", "0.50; target ≥ 1", 0.5), ("GET", "0.50; target p99", 2.0)]);
    }
}
