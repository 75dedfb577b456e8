//! The search of a file of breached passwords, with cold and with warm cache pages, beside one read of the same size:
//!
//!   cargo bench -p iam-benches --bench breached               a file of a million made-up hashes
//!   IAM_BENCH_HASHES=100000000 cargo bench -p iam-benches --bench breached
//!
//! A hundred million hashes need 4.5 GB of disk.

use std::env;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use iam_benches::Outcome;
use iam_core::credential::BreachedPasswords;
use tempfile::TempDir;

/// How often each search is measured.
const SEARCHES: usize = 400;

fn main() -> Outcome {
    let hashes: u64 = env::var("IAM_BENCH_HASHES").ok().map(|text| text.parse()).transpose()?.unwrap_or(1_000_000);
    let mut output = io::stdout();
    let directory = TempDir::new()?;
    let path = directory.path().join("breached.txt");
    let known = write(&path, hashes)?;
    writeln!(output, "{hashes} hashes, {} bytes", path.metadata()?.len())?;
    let breached = BreachedPasswords::open(&path)?;
    let size = path.metadata()?.len();
    let mut random = fastrand::Rng::with_seed(7);
    let mut unknown = || -> [u8; 20] { std::array::from_fn(|_| random.u8(..)) };
    for (name, is_cold) in [("cold", true), ("warm", false)] {
        let mut reads = Vec::new();
        let mut searches = Vec::new();
        for number in 0..SEARCHES {
            let target = match known.get(number % known.len().max(1)) {
                Some(known) if number % 2 == 0 => *known,
                _ => unknown(),
            };
            if is_cold {
                forget(&path)?;
            }
            let began = Instant::now();
            let found = breached.contains(&target)?;
            searches.push(began.elapsed());
            if found != (number % 2 == 0) {
                return Err("the search is wrong".into());
            }
            if is_cold {
                forget(&path)?;
            }
            let began = Instant::now();
            let mut page = [0; 4096];
            File::open(&path)?.read_at(&mut page, size / 400 * (number as u64))?;
            reads.push(began.elapsed());
        }
        writeln!(output, "breached/{name}: {}; floor, one read of 4 KiB: {}", shown(searches), shown(reads))?;
    }
    writeln!(output, "peak memory: {}", peak()?)?;
    Ok(())
}

/// Writes a sorted file of uniformly distributed hashes. Returns some of them.
fn write(path: &Path, hashes: u64) -> Outcome<Vec<[u8; 20]>> {
    let mut random = fastrand::Rng::with_seed(11);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let (mut known, mean) = (Vec::new(), u64::MAX as f64 / hashes as f64);
    let mut at = 0_f64;
    for number in 0..hashes {
        // The gaps of a uniform sample: with equal gaps, the first guess would always be right.
        at += -(1.0 - random.f64()).ln() * mean;
        if at >= u64::MAX as f64 {
            break;
        }
        let mut hash = [0; 20];
        hash[..8].copy_from_slice(&(at as u64).to_be_bytes());
        random.fill(&mut hash[8..]);
        for byte in hash {
            write!(file, "{byte:02X}")?;
        }
        write!(file, ":{}\r\n", random.u32(1..1000))?;
        if number % (hashes / 1_000).max(1) == 0 {
            known.push(hash);
        }
    }
    file.into_inner()?.sync_all()?;
    Ok(known)
}

/// Drops the pages of the file from the cache.
fn forget(path: &Path) -> Outcome {
    let file = format!("if={}", path.display());
    let status = Command::new("dd").args([&file, "iflag=nocache", "count=0", "status=none"]).status()?;
    if status.success() { Ok(()) } else { Err("dd has failed".into()) }
}

fn shown(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default().as_micros();
    format!("p50 {} µs, p90 {} µs, p99 {} µs", at(50), at(90), at(99))
}

fn peak() -> Outcome<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.ok_or("there is no VmHWM")?.trim().to_owned())
}
