//! Reads manifests from files, and says on which lines they are wrong.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use iam_core::manifest::Manifest;
use iam_core::{Error, FieldError};

use crate::command::manifest::secret::resolve;
use crate::command::manifest::yaml::{Malformed, Node, parse};
use crate::failure::Failure;

/// The maximum size of a manifest, in bytes (`docs/manifests.md#limits`).
const MAX_MANIFEST: u64 = 1024 * 1024;

/// A manifest with the lines of its fields.
#[derive(Debug)]
pub(super) struct Lines {
    node: Node,
}

/// A mistake of a manifest, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) line: usize,
    /// The field and its error.
    pub(super) message: String,
}

impl From<Malformed> for Mistake {
    fn from(Malformed { line, message }: Malformed) -> Self {
        Self { line, message }
    }
}

/// Reads a file that is not too large.
pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    let doing = || format!("reading {}", path.display());
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_MANIFEST + 1).read_to_end(&mut content));
    read.map_err(|error| Failure::new(doing(), &error))?;
    if content.len() as u64 > MAX_MANIFEST {
        return Err(Failure(format!("{}: a manifest may have 1 MiB at most", doing())));
    }
    String::from_utf8(content).map_err(|error| Failure::new(doing(), &error))
}

/// Reads a manifest from the text of a file in a folder, with the secrets that it names.
pub(super) fn read(text: &str, folder: &Path) -> Result<(Manifest, Lines), Mistake> {
    let lines = Lines { node: parse(text)? };
    // For a struct, serde would also accept a list, with one item for each field.
    if !lines.node.is_mapping() {
        return Err(lines.mistake("$", "a manifest is a mapping"));
    }
    let mut json = lines.node.to_json();
    resolve(&mut json, folder).map_err(|(field, problem)| lines.mistake(&field, &problem))?;
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
        let message = if unknown.is_some() { "is not a known field".to_owned() } else { message };
        lines.mistake(&field, &message)
    });
    Ok((manifest?, lines))
}

impl Lines {
    fn mistake(&self, field: &str, message: &str) -> Mistake {
        let message = if field == "$" { message.to_owned() } else { format!("{field}: {message}") };
        Mistake { line: self.node.line_of(field), message }
    }

    /// The mistakes of which a service tells; none if the error is about no part of the manifest.
    pub(super) fn mistakes(&self, error: &Error) -> Vec<Mistake> {
        match error {
            Error::Validation(errors) => {
                let mistake = |FieldError { field, message }: &FieldError| self.mistake(field, message);
                errors.iter().map(mistake).collect()
            }
            Error::About { field, error } => vec![self.mistake(field, &error.to_string())],
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_has_its_line_and_its_field() {
        for (text, line, message) in [
            ("roles:\n  - name: CLERK\n    nmae: x\n", 3, "roles[0].nmae: is not a known field"),
            ("roles: []\nrole: []\n", 2, "role: is not a known field"),
            ("roles:\n  - name: 7\n", 2, "roles[0].name: invalid type: integer `7`, expected a string"),
            ("roles:\n  name: CLERK\n", 1, "roles: invalid type: map, expected a sequence"),
            ("- name: CLERK\n", 1, "a manifest is a mapping"),
            ("roles:\n\n  - scope: BOTH\n", 3, "roles[0].scope: must be one of TENANT, ORGANIZATION, ANY"),
            (
                "identityProviders:\n  - slug: a\n    clientSecret: x\n",
                3,
                "identityProviders[0].clientSecret: must be { env: NAME } or { file: PATH }",
            ),
        ] {
            let mistake = read(text, Path::new("")).unwrap_err();
            assert!(mistake.message.starts_with(message), "{text}: {mistake:?}");
            assert_eq!(mistake.line, line, "{text}: {mistake:?}");
        }
    }

    #[test]
    fn an_error_of_the_services_has_its_line() {
        let text = "roles:\n  - name: CLERK\n  - name: OTHER\n    description: x\n";
        let (manifest, lines) = read(text, Path::new("")).unwrap();
        assert_eq!(manifest.roles.len(), 2);
        let about = Error::from(iam_core::Conflict::SystemRole).about("roles[1]");
        let expected = "roles[1]: Built-in roles can be neither changed nor deleted.";
        assert_eq!(lines.mistakes(&about), [Mistake { line: 3, message: expected.to_owned() }]);
        let invalid = Error::field("roles[1].description", "is wrong");
        let expected = "roles[1].description: is wrong".to_owned();
        assert_eq!(lines.mistakes(&invalid), [Mistake { line: 4, message: expected }]);
        assert_eq!(lines.mistakes(&Error::PreconditionFailed), []);
    }
}
