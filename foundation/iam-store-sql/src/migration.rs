//! Migrations that have run.

use iam_model::clock::Timestamp;
use iam_model::store::Schema;
use sqlx::FromRow;
use sqlx::migrate::{MigrateError, Migrator};

use iam_model::store_error::StoreError;

/// A migration that has run.
#[derive(Debug, FromRow)]
pub struct Applied {
    version: i64,
    checksum: Vec<u8>,
    /// When it ran, in milliseconds since 1970, rounded up.
    installed_at: i64,
}

/// Compares the migrations that have run with those that the program knows.
#[must_use]
pub fn schema(migrator: &Migrator, applied: &[Applied]) -> Schema {
    let is_known = |applied: &Applied| {
        migrator.iter().any(|known| applied.version == known.version && *applied.checksum == *known.checksum)
    };
    Schema::of(applied.iter().all(is_known), is_complete(migrator, applied))
}

/// Whether every migration that the program knows has run.
#[must_use]
pub fn is_complete(migrator: &Migrator, applied: &[Applied]) -> bool {
    let has_run = |version: i64, checksum: &[u8]| {
        applied.iter().any(|applied| applied.version == version && *applied.checksum == *checksum)
    };
    migrator.iter().all(|known| has_run(known.version, &known.checksum))
}

/// Returns when a migration ran; `None` if it has not.
pub(crate) fn installed_at(applied: &[Applied], version: i64) -> Option<Timestamp> {
    let ran = applied.iter().find(|applied| applied.version == version)?;
    Timestamp::from_timestamp_millis(ran.installed_at)
}

/// Converts an error of the migrator. `store_error` converts an error of the driver.
pub fn migrate_error(error: MigrateError, store_error: fn(sqlx::Error) -> StoreError) -> StoreError {
    match error {
        MigrateError::Execute(cause) => store_error(cause),
        error => StoreError::Failed(error.into()),
    }
}
