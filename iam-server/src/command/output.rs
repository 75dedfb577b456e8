//! The output of the commands, and the failures that they report.

use std::io::Write as _;

use iam_core::Error;

use crate::failure::Failure;

/// Returns the failure for an error of a service. A validation error names every invalid field and its problem.
pub(crate) fn refused(doing: String, error: &Error) -> Failure {
    let Error::Validation(fields) = error else { return Failure::new(doing, error) };
    let fields: Vec<String> = fields.iter().map(|it| format!("{} {}", in_words(&it.field), it.message)).collect();
    Failure(format!("{doing}: {}", fields.join("; ")).replace('\n', " "))
}

/// Returns `first name` for `firstName`.
fn in_words(field: &str) -> String {
    let word = |c: char| if c.is_ascii_uppercase() { format!(" {}", c.to_ascii_lowercase()) } else { c.to_string() };
    field.chars().map(word).collect()
}

pub(crate) fn print(text: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{text}").map_err(|error| Failure::new("writing to the standard output", &error))
}
