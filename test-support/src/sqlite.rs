//! SQLite files for tests.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The path of a file that does not exist yet, in a temporary directory. The directory is removed when this is dropped.
pub struct TestFile {
    _directory: TempDir,
    path: PathBuf,
    url: String,
}

impl TestFile {
    /// Creates the directory.
    #[must_use]
    pub fn create() -> Self {
        let directory = TempDir::new().expect("a temporary directory can be created");
        let path = directory.path().join("iam.db");
        let url = format!("sqlite://{}", path.display());
        Self { _directory: directory, path, url }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The URL of the file.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
