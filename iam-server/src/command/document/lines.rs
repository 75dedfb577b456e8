//! Files of YAML or JSON that a person writes, and the lines on which they are wrong.

use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::command::document::file::{content_of, limited};
use crate::command::document::message::{MAX_FIELD, Mistake, name_of, refused, shortened};
use crate::command::document::yaml::{Malformed, Node, parse};
use crate::failure::Failure;

/// The maximum size of a document, in bytes (`docs/manifests.md#limits`).
const MAX_DOCUMENT: u64 = 1024 * 1024;

/// A document with the lines of its fields.
#[derive(Debug)]
pub(crate) struct Lines {
    node: Node,
}

impl From<Malformed> for Mistake {
    fn from(Malformed { line, message }: Malformed) -> Self {
        Self { line, message }
    }
}

/// Whether a path names the standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdin")
}

/// Reads a document that is not too large. `what` names it in the error, such as `a manifest`.
pub(crate) fn text_of(path: &Path, what: &str) -> Result<String, Failure> {
    let doing = || format!("reading {}", name_of(path));
    let content = if is_standard_input(path) {
        limited(io::stdin().lock(), MAX_DOCUMENT)
    } else {
        content_of(path, MAX_DOCUMENT)
    };
    let content = content.map_err(|error| Failure::new(doing(), &error))?;
    if content.len() as u64 > MAX_DOCUMENT {
        return Err(Failure(format!("{}: {what} may have 1 MiB at most", doing())));
    }
    String::from_utf8(content).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = 1 + valid.filter(|byte| **byte == b'\n').count();
        refused(path, &[Mistake { line, message: "is not valid UTF-8".to_owned() }])
    })
}

/// Says in the words of files what serde expects. The value may be a secret in the wrong field, and is not repeated.
fn in_words(message: String) -> String {
    let Some((_, expected)) = message.rsplit_once(", expected ") else { return message };
    let expected = match expected {
        "a map" => "a mapping",
        "a sequence" => "a list",
        "a boolean" => "true or false",
        "a string" => "a string, in quotes if it looks like another value",
        other => other,
    };
    format!("must be {expected}")
}

impl Lines {
    /// Reads a document, which must be a mapping. `what` names it in the error, such as `a manifest`.
    pub(crate) fn read(text: &str, what: &str) -> Result<Self, Mistake> {
        let lines = Self { node: parse(text)? };
        // For a struct, serde would also accept a list, with one item for each field.
        if !lines.node.is_mapping() {
            return Err(lines.mistake("$", &format!("{what} is a mapping")));
        }
        Ok(lines)
    }

    /// Returns the document as JSON. An entry that is null is left out.
    pub(crate) fn to_json(&self) -> Value {
        self.node.to_json()
    }

    /// Returns the value that the JSON of the document describes.
    pub(crate) fn decode<T: DeserializeOwned>(&self, json: Value) -> Result<T, Mistake> {
        serde_path_to_error::deserialize(json).map_err(|error| {
            let (path, message) = (error.path().to_string(), error.inner().to_string());
            // The path ends at the mapping that has the field, or at the field.
            let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
            let field = match (path.as_str(), unknown) {
                (".", None) => "$".to_owned(),
                (".", Some(name)) => name.to_owned(),
                (path, Some(name)) if path != name && !path.ends_with(&format!(".{name}")) => format!("{path}.{name}"),
                (path, _) => path.to_owned(),
            };
            let message = if unknown.is_some() { "is not a known field".to_owned() } else { in_words(message) };
            self.mistake(&field, &message)
        })
    }

    /// Returns a mistake of a field; `$` is the whole document.
    pub(crate) fn mistake(&self, field: &str, message: &str) -> Mistake {
        let line = self.node.line_of(field);
        let message =
            if field == "$" { message.to_owned() } else { format!("{}: {message}", shortened(field, MAX_FIELD)) };
        Mistake { line, message }
    }

    /// Whether there is an item, such as `roles[3]`, and it is a mapping without a value for this key.
    pub(crate) fn item_lacks(&self, item: &str, name: &str) -> bool {
        self.node.lacks(item, name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;

    #[test]
    fn a_long_field_is_shown_in_part() {
        let lines = Lines::read(&format!("roles:\n  - {}: x\n", "é".repeat(200)), "a document").unwrap();
        let field = format!("roles[0].{}", "é".repeat(200));
        let expected = format!("roles[0].{}…: is wrong", "é".repeat(MAX_FIELD - "roles[0].".len()));
        assert_eq!(lines.mistake(&field, "is wrong"), Mistake { line: 2, message: expected });
    }

    #[test]
    fn a_value_of_another_type_is_a_mistake_with_its_line() {
        let lines = Lines::read("a: 1\nb: x\n", "a document").unwrap();
        let mistake = lines.decode::<BTreeMap<String, u32>>(lines.to_json()).unwrap_err();
        assert_eq!((mistake.line, mistake.message.as_str()), (2, "b: must be u32"));
        let mistake = Lines::read("- a\n", "a document").unwrap_err();
        assert_eq!((mistake.line, mistake.message.as_str()), (1, "a document is a mapping"));
    }

    #[test]
    fn only_a_regular_file_of_valid_text_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let said = text_of(folder.path(), "a document").unwrap_err().to_string();
        assert!(said.ends_with("it is not a regular file"), "{said}");
        let file = folder.path().join("tenant.yaml");
        fs::write(&file, b"roles:\n  - name: \xff\n").unwrap();
        let said = text_of(&file, "a document").unwrap_err().to_string();
        assert!(said.ends_with("tenant.yaml:2: is not valid UTF-8 (nothing is changed)"), "{said}");
    }
}
