//! The report, in Markdown.

use std::io::{Write as _, stdout};
use std::time::Duration;

use iam_benches::Outcome;

use crate::compare::{CONNECTIONS, Comparison};
use crate::startup::Startup;

pub(crate) fn heading(facts: &[String]) -> Outcome {
    let mut out = stdout().lock();
    for fact in facts {
        writeln!(out, "- {fact}")?;
    }
    writeln!(out, "- {CONNECTIONS} connections; server, floor, client and database on the same cores\n")?;
    Ok(out.flush()?)
}

pub(crate) fn comparisons(comparisons: &[Comparison]) -> Outcome {
    let mut out = stdout().lock();
    writeln!(
        out,
        "| Work | Floor | Server, req/s | Floor, req/s | Ratio (rounds) | Server p50 / p99 | Floor p50 / p99 |"
    )?;
    writeln!(out, "|---|---|--:|--:|--:|--:|--:|")?;
    for comparison in comparisons {
        writeln!(out, "{}", row(comparison))?;
    }
    writeln!(out)?;
    for comparison in comparisons.iter().filter(|comparison| comparison.floor_name == "bare hash") {
        writeln!(out, "{}", beside_the_hash(comparison))?;
    }
    Ok(writeln!(out)?)
}

fn row(comparison: &Comparison) -> String {
    let Comparison { work, floor_name, server, floor } = comparison;
    let (low, high) = comparison.spread();
    format!(
        "| `{work}` | {floor_name} | {:.0} | {:.0} | {:.2} ({low:.2}–{high:.2}) | {} / {} ms | {} / {} ms |",
        server.rate(),
        floor.rate(),
        comparison.ratio(),
        millis(server.percentile(50)),
        millis(server.percentile(99)),
        millis(floor.percentile(50)),
        millis(floor.percentile(99)),
    )
}

/// What a request costs once its hash is subtracted: both rates are of all cores, so their inverses can be compared.
fn beside_the_hash(Comparison { work, server, floor, .. }: &Comparison) -> String {
    let (request, hash) = (1000.0 / server.rate(), 1000.0 / floor.rate());
    let rest = request - hash;
    format!("- `{work}`: one every {request:.2} ms, of which the hash takes {hash:.2} ms and the rest {rest:.2} ms")
}

pub(crate) fn startup(startup: &Startup) -> Outcome {
    let mut out = stdout().lock();
    writeln!(out, "| Start until ready | Median | Slowest |\n|---|--:|--:|")?;
    for (name, times) in [("new file", &startup.new_file), ("filled file", &startup.filled_file)] {
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        let slowest = times.last().copied().unwrap_or_default();
        writeln!(out, "| {name} | {} ms | {} ms |", millis(median), millis(slowest))?;
    }
    Ok(())
}

fn millis(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64() * 1000.0)
}
