//! The fields of an entry, with their values before and after.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::audit::ids::named;
use crate::names::Names;
use crate::text;

/// What the log has in the place of a secret.
const REDACTED: &str = "[REDACTED]";
/// What the log has in the place of a personal value that was erased.
const ERASED: &str = "[ERASED]";

/// A field with its values before and after.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The names of the objects around it and its own, with dots between them.
    pub(super) field: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) kind: DifferenceKind,
}

/// How the values of a field differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DifferenceKind {
    Added,
    Changed,
    Removed,
    /// Both values are secrets, so the log does not tell whether they differ.
    Hidden,
    Same,
}

impl DifferenceKind {
    fn of(before: Option<&Value>, after: Option<&Value>) -> Self {
        match (before, after) {
            (Some(before), Some(after)) if before == REDACTED && after == REDACTED => Self::Hidden,
            (before, after) if before == after => Self::Same,
            (None, _) => Self::Added,
            (_, None) => Self::Removed,
            (Some(_), Some(_)) => Self::Changed,
        }
    }

    /// The class of its row.
    pub(super) fn class(&self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Hidden => "hidden-values",
            Self::Same => "same",
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Added => text::t("field-added"),
            Self::Changed => text::t("field-changed"),
            Self::Removed => text::t("field-removed"),
            Self::Hidden => text::t("field-hidden"),
            Self::Same => text::t("field-same"),
        }
    }

    pub(super) fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

/// Returns the fields of both values, by their names. Null is no value. `names` are those of the ids in the values.
pub(super) fn differences(
    before: Option<&Map<String, Value>>,
    after: Option<&Map<String, Value>>,
    names: &Names,
) -> Vec<Difference> {
    let (before, after) = (flattened(before), flattened(after));
    let paths: BTreeSet<&Vec<&str>> = before.keys().chain(after.keys()).collect();
    let value_of = |values: &BTreeMap<Vec<&str>, &Value>, path: &Vec<&str>| {
        values.get(path).copied().filter(|value| !value.is_null()).cloned()
    };
    let difference = |path: &Vec<&str>| {
        let (before, after) = (value_of(&before, path), value_of(&after, path));
        let field = path.join(".");
        let shown = |value: &Value| named(&field, value, names).unwrap_or_else(|| text_of(value));
        Difference {
            kind: DifferenceKind::of(before.as_ref(), after.as_ref()),
            before: before.as_ref().map(shown),
            after: after.as_ref().map(shown),
            field,
        }
    };
    paths.into_iter().map(difference).collect()
}

/// Returns the values that are no objects, or empty ones, by the names that lead to them. A name can itself have a dot,
/// so the names stay apart.
fn flattened(values: Option<&Map<String, Value>>) -> BTreeMap<Vec<&str>, &Value> {
    let mut found = BTreeMap::new();
    if let Some(values) = values {
        collect(&[], values, &mut found);
    }
    found
}

fn collect<'a>(above: &[&'a str], values: &'a Map<String, Value>, found: &mut BTreeMap<Vec<&'a str>, &'a Value>) {
    for (name, value) in values {
        let path = [above, &[name.as_str()]].concat();
        match value {
            Value::Object(inner) if !inner.is_empty() => collect(&path, inner, found),
            value => {
                found.insert(path, value);
            }
        }
    }
}

/// Returns a value as a person reads it: a text without quotes, and a sentence for a value that the log does not have.
pub(super) fn text_of(value: &Value) -> String {
    match value.as_str() {
        Some(REDACTED) => text::t("redacted-value").to_owned(),
        Some(ERASED) => text::t("erased-value").to_owned(),
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The field, its values, and how they differ.
    type Row = (String, Option<String>, Option<String>, DifferenceKind);

    fn found(before: Value, after: Value) -> Vec<Row> {
        let found = differences(before.as_object(), after.as_object(), &Names::default()).into_iter();
        found.map(|difference| (difference.field, difference.before, difference.after, difference.kind)).collect()
    }

    fn row(field: &str, before: Option<&str>, after: Option<&str>, kind: DifferenceKind) -> Row {
        (field.to_owned(), before.map(str::to_owned), after.map(str::to_owned), kind)
    }

    #[test]
    fn a_difference_has_every_field_of_both_values() {
        let expected = [
            row("a", Some("x"), Some("y"), DifferenceKind::Changed),
            row("b", None, Some("[1]"), DifferenceKind::Added),
            row("c", Some("1"), None, DifferenceKind::Removed),
            row("d", Some("true"), Some("true"), DifferenceKind::Same),
            row("e", None, None, DifferenceKind::Same),
        ];
        let before = json!({ "a": "x", "b": null, "c": 1, "d": true, "e": null });
        assert_eq!(found(before, json!({ "a": "y", "b": [1], "d": true })), expected);
        assert_eq!(differences(None, None, &Names::default()), []);
    }

    #[test]
    fn fields_of_objects_have_dotted_names_and_none_replaces_another() {
        let expected = [
            row("a.b", Some("1"), Some("2"), DifferenceKind::Changed),
            row("a.c.d", Some("x"), Some("x"), DifferenceKind::Same),
            row("a.b", Some("3"), Some("3"), DifferenceKind::Same),
            row("e", Some("{}"), None, DifferenceKind::Removed),
            row("e.f", None, Some("1"), DifferenceKind::Added),
        ];
        let before = json!({ "a": { "b": 1, "c": { "d": "x" } }, "a.b": 3, "e": {} });
        let after = json!({ "a": { "b": 2, "c": { "d": "x" } }, "a.b": 3, "e": { "f": 1 } });
        assert_eq!(found(before, after), expected);
    }

    #[test]
    fn a_value_that_the_log_does_not_have_says_so() {
        let (redacted, erased) = (Some(text::t("redacted-value")), Some(text::t("erased-value")));
        let expected = [
            row("email", erased, erased, DifferenceKind::Same),
            row("secret", redacted, redacted, DifferenceKind::Hidden),
            row("token", None, redacted, DifferenceKind::Added),
        ];
        let before = json!({ "email": "[ERASED]", "secret": "[REDACTED]" });
        let after = json!({ "email": "[ERASED]", "secret": "[REDACTED]", "token": "[REDACTED]" });
        assert_eq!(found(before, after), expected);
    }
}
