//! SQLite files for tests.

use std::fs;
use std::path::{Path, PathBuf};

use iam_core::Store as _;
use iam_store_sqlite::SqliteStore;
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// The content of the file of a new store. The migrations take a hundred times as long as a copy.
static NEW_STORE: OnceCell<Vec<u8>> = OnceCell::const_new();

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

    /// Creates the directory, and in it the file of a new store.
    ///
    /// # Panics
    ///
    /// When the migrations fail.
    pub async fn migrated() -> Self {
        let content = NEW_STORE.get_or_init(async || {
            let file = Self::create();
            let store = SqliteStore::open(file.url()).await.expect("the file opens");
            store.migrate().await.expect("the migrations run");
            // Moves the log of the database into the file.
            store.close().await;
            fs::read(file.path()).expect("the file is there")
        });
        let file = Self::create();
        fs::write(file.path(), content.await).expect("the file can be written");
        file
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
