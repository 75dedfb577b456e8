//! Reads files and other inputs of limited size.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Reads a file, with at most one byte more than these.
///
/// # Errors
///
/// An error if the file cannot be read, or is not regular: to open a pipe can take for ever.
pub(crate) fn content_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    limited(File::open(path)?, most)
}

/// Reads an input, with at most one byte more than these.
pub(crate) fn limited(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    input.take(most + 1).read_to_end(&mut content)?;
    Ok(content)
}
