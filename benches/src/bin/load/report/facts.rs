//! What the figures depend on.

use std::fs;
use std::process::Command;
use std::thread::available_parallelism;

use iam_benches::Outcome;
use iam_benches::database::Database;

/// The machine, the compiler and the database, a line each.
pub(crate) async fn gather(database: &Database) -> Outcome<Vec<String>> {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown");
    Ok(vec![
        format!("Release {}", env!("CARGO_PKG_VERSION")),
        format!("{} cores, {}", available_parallelism()?, processor()),
        compiler(),
        database.description().await?,
        format!("load average at the start {load}"),
    ])
}

fn processor() -> String {
    let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = facts.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == "model name");
    model.map_or_else(|| "of an unknown model".to_owned(), |(_, name)| name.trim().to_owned())
}

/// The compiler that is at hand, which is the one that has just built this where the script is used.
fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    version.unwrap_or_else(|_| "an unknown rustc".to_owned())
}
