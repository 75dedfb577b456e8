//! Reads manifests from files, and says on which lines they are wrong.

use std::io;
use std::path::Path;

use iam_core::manifest::Manifest;
use iam_core::{Error, FieldError};

use crate::command::manifest::file::{content_of, limited};
use crate::command::manifest::message::{MAX_FIELD, Mistake, name_of, refused, shortened};
use crate::command::manifest::secret::resolve;
use crate::command::manifest::yaml::{Malformed, Node, parse};
use crate::failure::Failure;

/// The maximum size of a manifest, in bytes (`docs/manifests.md#limits`).
const MAX_MANIFEST: u64 = 1024 * 1024;

/// The fields without which no item can be made.
const REQUIRED: [&str; 8] = ["name", "slug", "role", "url", "types", "issuer", "clientId", "serviceAccount"];

/// A manifest with the lines of its fields.
#[derive(Debug)]
pub(super) struct Lines {
    node: Node,
}

impl From<Malformed> for Mistake {
    fn from(Malformed { line, message }: Malformed) -> Self {
        Self { line, message }
    }
}

/// Whether a path names the standard input.
pub(super) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdin")
}

/// Reads a manifest that is not too large.
pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    let doing = || format!("reading {}", name_of(path));
    let content = if is_standard_input(path) {
        limited(io::stdin().lock(), MAX_MANIFEST)
    } else {
        content_of(path, MAX_MANIFEST)
    };
    let content = content.map_err(|error| Failure::new(doing(), &error))?;
    if content.len() as u64 > MAX_MANIFEST {
        return Err(Failure(format!("{}: a manifest may have 1 MiB at most", doing())));
    }
    String::from_utf8(content).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = 1 + valid.filter(|byte| **byte == b'\n').count();
        refused(path, &[Mistake { line, message: "is not valid UTF-8".to_owned() }])
    })
}

/// Reads a manifest from the text of a file in a folder, with the secrets that it names. None of them is in the variable
/// of the API key.
pub(super) fn read(text: &str, folder: &Path, api_key_env: Option<&str>) -> Result<(Manifest, Lines), Mistake> {
    let lines = Lines { node: parse(text)? };
    // For a struct, serde would also accept a list, with one item for each field.
    if !lines.node.is_mapping() {
        return Err(lines.mistake("$", "a manifest is a mapping"));
    }
    let mut json = lines.node.to_json();
    resolve(&mut json, folder, api_key_env).map_err(|(field, problem)| lines.mistake(&field, &problem))?;
    let manifest = serde_path_to_error::deserialize(json);
    let manifest = manifest.map_err(|error| {
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
        lines.mistake(&field, &message)
    });
    Ok((manifest?, lines))
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
    fn mistake(&self, field: &str, message: &str) -> Mistake {
        let line = self.node.line_of(field);
        let message =
            if field == "$" { message.to_owned() } else { format!("{}: {message}", shortened(field, MAX_FIELD)) };
        Mistake { line, message }
    }

    /// Whether an item lacks a field without which it cannot be made.
    fn lacks(&self, field: &str) -> bool {
        let Some((item, name)) = field.rsplit_once('.') else { return false };
        REQUIRED.contains(&name) && item.ends_with(']') && self.node.lacks(item, name)
    }

    /// The mistakes of which a service tells; none if the error is about no part of the manifest.
    pub(super) fn mistakes(&self, error: &Error) -> Vec<Mistake> {
        match error {
            Error::Validation(errors) => {
                let mistake = |FieldError { field, message }: &FieldError| {
                    self.mistake(field, if self.lacks(field) { "is missing" } else { message })
                };
                errors.iter().map(mistake).collect()
            }
            Error::About { field, error } => vec![self.mistake(field, &error.to_string())],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_mistake_has_its_line_and_its_field() {
        for (text, line, message) in [
            ("roles:\n  - name: CLERK\n    nmae: x\n", 3, "roles[0].nmae: is not a known field"),
            ("roles: []\nrole: []\n", 2, "role: is not a known field"),
            ("roles:\n  - name: 7\n", 2, "roles[0].name: must be a string, in quotes if it looks like another value"),
            ("roles:\n  name: CLERK\n", 1, "roles: must be a list"),
            ("- name: CLERK\n", 1, "a manifest is a mapping"),
            ("roles:\n  - [CLERK]\n", 2, "roles[0]: must be a mapping"),
            ("settings:\n  [Acme, seed]\n", 1, "settings: must be a mapping"),
            ("settings:\n  secondFactorGraceDays: a\n", 2, "settings.secondFactorGraceDays: must be a whole number"),
            ("webhooks:\n  - enabled: 1\n", 2, "webhooks[0].enabled: must be true or false"),
            (
                "serviceAccounts:\n  - assignments:\n    - expiresAt: x\n",
                3,
                "serviceAccounts[0].assignments[0].expiresAt: must be a time such as 2100-01-01T00:00:00Z",
            ),
            ("roles:\n\n  - scope: BOTH\n", 3, "roles[0].scope: must be one of TENANT, ORGANIZATION, ANY"),
            (
                "identityProviders:\n  - slug: a\n    clientSecret: x\n",
                3,
                "identityProviders[0].clientSecret: must be { env: NAME } or { file: PATH }",
            ),
        ] {
            let mistake = read(text, Path::new(""), None).unwrap_err();
            assert!(mistake.message.starts_with(message), "{text}: {mistake:?}");
            assert_eq!(mistake.line, line, "{text}: {mistake:?}");
        }
    }

    #[test]
    fn an_error_of_the_services_has_its_line() {
        let text = "roles:\n  - name: CLERK\n  - name: OTHER\n    description: x\n";
        let (manifest, lines) = read(text, Path::new(""), None).unwrap();
        assert_eq!(manifest.roles.len(), 2);
        let about = Error::from(iam_core::Conflict::SystemRole).about("roles[1]");
        let expected = "roles[1]: Built-in roles can be neither changed nor deleted.";
        assert_eq!(lines.mistakes(&about), [Mistake { line: 3, message: expected.to_owned() }]);
        let invalid = Error::field("roles[1].description", "is wrong");
        let expected = "roles[1].description: is wrong".to_owned();
        assert_eq!(lines.mistakes(&invalid), [Mistake { line: 4, message: expected }]);
        assert_eq!(lines.mistakes(&Error::PreconditionFailed), []);
        let expected = "roles[1].name: is wrong".to_owned();
        let invalid = Error::field("roles[1].name", "is wrong");
        assert_eq!(lines.mistakes(&invalid), [Mistake { line: 3, message: expected }]);
    }

    #[test]
    fn a_field_that_is_missing_is_said_to_be() {
        let (_, lines) = read("roles:\n  - description: x\n  - name:\n", Path::new(""), None).unwrap();
        for (number, line) in [(0, 2), (1, 3)] {
            let field = format!("roles[{number}].name");
            let expected = format!("{field}: is missing");
            let invalid = Error::field(field, "must have 1 to 120 characters");
            assert_eq!(lines.mistakes(&invalid), [Mistake { line, message: expected }]);
        }
    }

    #[test]
    fn a_long_field_is_shown_in_part() {
        let mistake = read(&format!("roles:\n  - {}: x\n", "é".repeat(200)), Path::new(""), None).unwrap_err();
        let expected = format!("roles[0].{}…: is not a known field", "é".repeat(MAX_FIELD - "roles[0].".len()));
        assert_eq!(mistake, Mistake { line: 2, message: expected });
    }

    #[test]
    fn only_a_regular_file_of_valid_text_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let said = text_of(folder.path()).unwrap_err().to_string();
        assert!(said.ends_with("it is not a regular file"), "{said}");
        let file = folder.path().join("tenant.yaml");
        fs::write(&file, b"roles:\n  - name: \xff\n").unwrap();
        let said = text_of(&file).unwrap_err().to_string();
        assert!(said.ends_with("tenant.yaml:2: is not valid UTF-8 (nothing is changed)"), "{said}");
    }
}
