use std::io;

/// Why a file cannot be read any further. The rows before it are valid.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The input has failed.
    #[error("cannot be read")]
    Input(#[from] io::Error),
    /// The text is not of the format.
    #[error("line {line}: {message}")]
    Malformed {
        /// The line; the first one is 1.
        line: u64,
        /// What is wrong. It contains no value of the file.
        message: String,
    },
}

impl ReadError {
    pub(crate) fn malformed(line: u64, message: impl Into<String>) -> Self {
        Self::Malformed { line, message: message.into() }
    }
}
