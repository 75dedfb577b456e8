//! The rows of a form, each of which names a role and where it is held. Their fields have numbers.

use iam_core::{Error, FieldError};

use crate::form::Form;

/// Returns the name of a field of a row in the form.
pub(crate) fn name(field: &str, number: usize) -> String {
    format!("{field}-{number}")
}

/// Returns how many rows a form has, with the one that the person has asked for.
pub(crate) fn number(form: &Form, max: usize) -> usize {
    let number = form.get("roles").parse().unwrap_or(1_usize);
    number.saturating_add(usize::from(form.has("more"))).clamp(1, max)
}

/// Names the fields of an error as the form does. The service names the fields of the n-th role of a list, which is in
/// the row with the n-th of these numbers.
pub(crate) fn as_typed(error: Error, list: &str, numbers: &[usize]) -> Error {
    let field = |named: &str| {
        let (index, field) = named.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
        let number = numbers.get(index.parse::<usize>().ok()?)?;
        let field = match field {
            ".organizationId" => "organization",
            ".expiresAt" => "until",
            // An error about the whole row stands at its first field.
            _ => "role",
        };
        Some(name(field, *number))
    };
    match error {
        Error::Validation(errors) => Error::Validation(
            errors
                .into_iter()
                .map(|error| FieldError::new(field(&error.field).unwrap_or(error.field), error.message))
                .collect(),
        ),
        Error::About { field: named, error } => Error::About { field: field(&named).unwrap_or(named), error },
        error => error,
    }
}
