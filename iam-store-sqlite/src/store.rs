use iam_model::store_error::StoreError;

use crate::open;
use crate::source::Source;

/// A store in one SQLite file. Clones share the connections.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pub(crate) writer: Source,
    pub(crate) readers: Source,
    pub(crate) follower: Source,
}

impl SqliteStore {
    /// Opens the file that a `sqlite://PATH` URL names. Creates it if it is missing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Failed`] when the file cannot be opened, is not a database, or the URL asks for a database in
    /// memory; [`StoreError::Unavailable`] when another process keeps it locked.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        let options = open::options(url)?;
        open::make_private(options.get_filename())?;
        // The writer first: the readers can neither create the database nor turn on its write-ahead log.
        let writer = open::writer(options.clone()).await?;
        let readers = open::readers(options.clone()).await?;
        Ok(Self { writer, readers, follower: open::follower(options) })
    }
}
