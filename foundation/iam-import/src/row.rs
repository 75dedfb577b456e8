use iam_model::validate::FieldError;

use crate::record::Record;

/// A record of a file, in the order of the file.
#[derive(Clone, Debug)]
pub struct Row {
    /// The line of the file in which the record begins; the first line is 1.
    pub line: u64,
    /// The e-mail as the file has it; empty if the record cannot be read.
    pub email: String,
    /// The identifier as the file has it.
    pub foreign_id: Option<String>,
    /// The name by which the user logged in to the other system, as the file has it.
    pub username: Option<String>,
    /// The user, or the error of the record.
    pub user: Result<Record, FieldError>,
}

impl Row {
    /// Returns the row of a user.
    pub(crate) fn of(line: u64, record: Record) -> Self {
        Self {
            line,
            email: record.email.clone(),
            foreign_id: record.foreign_id.clone(),
            username: record.username.clone(),
            user: Ok(record),
        }
    }

    /// Returns the row of a record that cannot be read.
    pub(crate) fn refused(line: u64, error: FieldError) -> Self {
        Self { line, email: String::new(), foreign_id: None, username: None, user: Err(error) }
    }

    /// Returns the row of a record that is too long.
    pub(crate) fn too_long(line: u64) -> Self {
        Self::refused(line, FieldError::new("row", "is longer than 1 MiB"))
    }
}
