//! Reads manifests from files, and says on which lines they are wrong.

use std::path::Path;

use iam_core::manifest::Manifest;
use iam_core::{Error, FieldError};

use crate::command::document::{Lines, Mistake};
use crate::command::manifest::secret::resolve;

/// The name of a manifest in errors.
pub(super) const WHAT: &str = "a manifest";

/// The fields without which no item can be made.
const REQUIRED: [&str; 8] = ["name", "slug", "role", "url", "types", "issuer", "clientId", "serviceAccount"];

/// Reads a manifest from the text of a file in a folder, with the secrets that it names. None of them is in the variable
/// of the API key.
pub(super) fn read(text: &str, folder: &Path, api_key_env: Option<&str>) -> Result<(Manifest, Lines), Mistake> {
    let lines = Lines::read(text, WHAT)?;
    let mut json = lines.to_json();
    resolve(&mut json, folder, api_key_env).map_err(|(field, problem)| lines.mistake(&field, &problem))?;
    Ok((lines.decode(json)?, lines))
}

impl Lines {
    /// Whether an item lacks a field without which it cannot be made.
    fn lacks(&self, field: &str) -> bool {
        let Some((item, name)) = field.rsplit_once('.') else { return false };
        REQUIRED.contains(&name) && item.ends_with(']') && self.item_lacks(item, name)
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
}
