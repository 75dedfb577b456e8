//! Mistakes in documents, as text for people.

use std::io::{self, Write as _};
use std::path::Path;

use iam_core::text::controls_text;

use crate::failure::Failure;

/// How many characters of an error are shown.
const MAX_MESSAGE: usize = 1_000;

/// How many characters of a field or a key are shown.
pub(crate) const MAX_FIELD: usize = 100;

/// A mistake of a document, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) line: usize,
    /// The field and its error.
    pub(crate) message: String,
}

/// How many warnings of a file are printed.
const MAX_WARNINGS: usize = 100;

/// The failure of a file with mistakes. Several of them are printed line by line.
pub(crate) fn refused(file: &Path, mistakes: &[Mistake]) -> Failure {
    let file = name_of(file);
    let shown = |mistake: &Mistake| shown(&file, mistake);
    if let [mistake] = mistakes {
        return Failure(format!("{} (nothing is changed)", shown(mistake)));
    }
    for mistake in mistakes {
        // If the error output is closed, no output is left to report that.
        let _ = writeln!(io::stderr(), "{}", shown(mistake));
    }
    Failure(format!("{file} has {} mistakes (nothing is changed)", mistakes.len()))
}

/// Prints what is suspect in a file, line by line, to the error output.
pub(crate) fn warn(file: &Path, warnings: &[&Mistake]) {
    let file = name_of(file);
    let mut output = io::stderr();
    for warning in warnings.iter().take(MAX_WARNINGS) {
        // If the error output is closed, no output is left to report that.
        let _ = writeln!(output, "warning: {}", shown(&file, warning));
    }
    if let Some(more) = warnings.len().checked_sub(MAX_WARNINGS).filter(|more| *more > 0) {
        let _ = writeln!(output, "warning: {file} has {more} more");
    }
}

fn shown(file: &str, Mistake { line, message }: &Mistake) -> String {
    format!("{file}:{line}: {}", escaped(&shortened(message, MAX_MESSAGE)))
}

/// The name of a file in messages.
pub(crate) fn name_of(file: &Path) -> String {
    escaped(&file.display().to_string())
}

/// A text in which characters that would change what a terminal shows are written as escapes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if controls_text(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// The first characters of a text, and an ellipsis if there are more.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_one_line_of_limited_length() {
        let shown = |message: &str| {
            let mistake = Mistake { line: 7, message: message.to_owned() };
            refused(Path::new("a\u{1b}.yaml"), &[mistake]).to_string()
        };
        let expected = "a\\u{1b}.yaml:7: x\\ny\\u{202e}\\u{2028}é (nothing is changed)";
        assert_eq!(shown("x\ny\u{202e}\u{2028}é"), expected);
        let long = shown(&"é".repeat(MAX_MESSAGE + 1));
        assert_eq!(long.matches('é').count(), MAX_MESSAGE);
        assert!(long.ends_with("é… (nothing is changed)"), "{long}");
        assert_eq!(shortened("éé", 2), "éé");
    }
}
