//! The time from the start of the server's process until it is ready.

use std::time::{Duration, Instant};

use iam_benches::Outcome;
use test_support::sqlite::TestFile;

use crate::process::Process;

/// The times of several starts, in ascending order.
pub(crate) struct Startup {
    pub(crate) new_file: Vec<Duration>,
    pub(crate) filled_file: Vec<Duration>,
}

/// Starts the server on new files, and on a file with data.
pub(crate) async fn measure(filled: &TestFile, starts: u32) -> Outcome<Startup> {
    let mut new_file = Vec::new();
    let mut filled_file = Vec::new();
    for _ in 0..starts {
        new_file.push(time_start(&TestFile::create()).await?);
        filled_file.push(time_start(filled).await?);
    }
    new_file.sort_unstable();
    filled_file.sort_unstable();
    Ok(Startup { new_file, filled_file })
}

async fn time_start(file: &TestFile) -> Outcome<Duration> {
    let began = Instant::now();
    let server = Process::server(file.url()).await?;
    let elapsed = began.elapsed();
    server.stop().await?;
    Ok(elapsed)
}
