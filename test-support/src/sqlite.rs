//! SQLite files for tests.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The path of a file that is not there yet, in a directory that goes when this is dropped.
pub struct TestFile {
    _directory: TempDir,
    path: PathBuf,
    url: String,
}

impl TestFile {
    /// Makes the directory.
    #[must_use]
    pub fn create() -> Self {
        let directory = TempDir::new().expect("a temporary directory can be made");
        let path = directory.path().join("iam.db");
        let url = format!("sqlite://{}", path.display());
        Self { _directory: directory, path, url }
    }

    /// Where the file will be.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same as a URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
