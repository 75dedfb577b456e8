//! Converts errors of the driver to errors of the service.

use std::io;

use iam_model::store_error::{Constraint, StoreError};
use sqlx::error::{DatabaseError, ErrorKind};

/// How one database names its errors.
pub struct ErrorCodes {
    /// Returns the violated unique constraint.
    pub constraint: fn(&dyn DatabaseError) -> Option<Constraint>,
    /// Whether trying again later may help, by the code of the error.
    pub is_transient: fn(&str) -> bool,
}

impl ErrorCodes {
    /// Converts an error of the driver.
    #[must_use]
    pub fn store_error(&self, error: sqlx::Error) -> StoreError {
        if let sqlx::Error::Database(cause) = &error
            && let Some(constraint) = self.violated(cause.as_ref())
        {
            return StoreError::Conflict(constraint);
        }
        match error {
            error if is_busy(&error) => StoreError::Busy,
            sqlx::Error::ColumnDecode { index, source } => StoreError::corrupt("column", format!("{index}: {source}")),
            error if self.is_unavailable(&error) => StoreError::Unavailable(error.into()),
            error => StoreError::Failed(error.into()),
        }
    }

    /// Whether the database cannot answer now.
    #[must_use]
    pub fn is_unavailable(&self, error: &sqlx::Error) -> bool {
        match error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => true,
            sqlx::Error::Database(cause) => cause.code().is_some_and(|code| (self.is_transient)(&code)),
            _ => false,
        }
    }

    fn violated(&self, error: &dyn DatabaseError) -> Option<Constraint> {
        match error.kind() {
            ErrorKind::ForeignKeyViolation => Some(Constraint::Reference),
            _ => (self.constraint)(error),
        }
    }
}

/// The error of the pool for a tenant that gets no connection, because it uses its share.
pub(crate) fn busy() -> sqlx::Error {
    sqlx::Error::Io(io::ErrorKind::ResourceBusy.into())
}

fn is_busy(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(cause) if cause.kind() == io::ErrorKind::ResourceBusy)
}

/// Fails when a statement found no row to change.
///
/// # Errors
///
/// [`StoreError::Missing`] when no row was changed.
pub fn expect_row(rows_affected: u64, what: &'static str) -> Result<(), StoreError> {
    expect_rows(rows_affected, 1, what)
}

/// Fails when a statement did not find all rows to change.
///
/// # Errors
///
/// [`StoreError::Missing`] when fewer rows than expected were changed.
pub fn expect_rows(rows_affected: u64, expected: usize, what: &'static str) -> Result<(), StoreError> {
    if rows_affected < expected as u64 { Err(StoreError::Missing(what)) } else { Ok(()) }
}
