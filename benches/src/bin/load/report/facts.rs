//! The facts on which the figures depend.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use iam_benches::Outcome;
use iam_benches::database::Database;

/// The program, the machine, the compiler and the database, a line each.
pub(crate) async fn gather(database: &Database) -> Outcome<Vec<String>> {
    Ok(vec![
        format!("Release {}, commit {}", env!("CARGO_PKG_VERSION"), commit()),
        format!("{} cores, {}, {}", available_parallelism()?, processor(), scheduler()),
        // If the script runs this program, this compiler has just built it.
        output("rustc", &["--version"]),
        database.description().await?,
    ])
}

fn processor() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == "model name");
    model.map_or_else(|| "of an unknown model".to_owned(), |(_, name)| name.trim().to_owned())
}

/// Whether the kernel shares the cores only by priority, or first between sessions.
fn scheduler() -> String {
    let setting = fs::read_to_string("/proc/sys/kernel/sched_autogroup_enabled").unwrap_or_default();
    let setting = match setting.trim() {
        "" => "unknown",
        setting => setting,
    };
    format!("sched_autogroup_enabled = {setting}")
}

/// The last commit, and whether there are changes since then. Changes in the documents do not count, because the
/// figures are written there.
fn commit() -> String {
    let changed = output("git", &["status", "--short", "--", ".", ":!docs"]);
    let since = if changed.is_empty() { "" } else { " and changes since" };
    output("git", &["rev-parse", "--short", "HEAD"]) + since
}

/// The output of a program.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    output.unwrap_or_else(|_| format!("an unknown {program}"))
}
