//! When requests of directories were recorded.

use chrono::TimeDelta;
use iam_model::clock::Timestamp;
use iam_model::id::DirectoryId;
use quick_cache::sync::Cache;

/// How many directories are remembered.
const DIRECTORIES: usize = 10_000;

/// How long after a request of a directory another one is not recorded: a first synchronisation sends thousands.
const INTERVAL: TimeDelta = TimeDelta::minutes(1);

/// When the last request of each directory was recorded by this process.
pub(crate) struct DirectoryRequests(Cache<DirectoryId, Timestamp>);

impl DirectoryRequests {
    /// Whether a request that arrives now is to be recorded. If so, it counts as recorded.
    pub(crate) fn is_due(&self, directory: DirectoryId, now: Timestamp) -> bool {
        let is_due = self.0.get(&directory).is_none_or(|last| (now - last).abs() >= INTERVAL);
        if is_due {
            self.0.insert(directory, now);
        }
        is_due
    }
}

impl Default for DirectoryRequests {
    fn default() -> Self {
        Self(Cache::new(DIRECTORIES))
    }
}
