//! The columns of tables of users.

use csv::StringRecord;
use iam_model::validate::FieldError;

use crate::record::shown_name;

/// The names of the columns of a file.
pub(crate) struct Columns(Vec<String>);

impl Columns {
    /// Columns whose names are compared letter by letter.
    pub(crate) fn exact(names: Vec<String>) -> Self {
        Self(names)
    }

    /// Columns whose names are compared by their letters and digits alone, in any case: databases and spreadsheets write
    /// one name as `EmailConfirmed`, `email_confirmed` and `Email confirmed`.
    pub(crate) fn folded(names: &[String]) -> Self {
        Self(names.iter().map(|name| folded(name)).collect())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|found| found == name)
    }

    /// Returns the value of a column without blanks at its ends; empty if there is no such column.
    pub(crate) fn text<'r>(&self, record: &'r StringRecord, name: &str) -> &'r str {
        let position = self.0.iter().position(|found| found == name);
        position.and_then(|position| record.get(position)).unwrap_or_default().trim()
    }

    /// Checks that no value has an end of a line, except in columns of free text. Such a value usually begins at a
    /// quotation mark too many, and has swallowed the records up to the next mark.
    pub(crate) fn check_lines(&self, record: &StringRecord, is_free: impl Fn(&str) -> bool) -> Result<(), FieldError> {
        let has_lines = |text: &str| text.trim().contains(['\r', '\n']);
        match self.0.iter().zip(record).find(|(name, text)| has_lines(text) && !is_free(name)) {
            Some((name, _)) => Err(FieldError::new(
                shown_name(name),
                "has an end of a line in its value: a quotation mark may be missing, or one too many",
            )),
            None => Ok(()),
        }
    }

    /// Returns the values of the columns whose names begin so, without empty ones, by the rest of their names.
    pub(crate) fn beginning<'r>(
        &'r self,
        record: &'r StringRecord,
        begin: &'r str,
    ) -> impl Iterator<Item = (&'r str, &'r str)> {
        let named =
            self.0.iter().zip(record).filter_map(move |(name, text)| Some((name.strip_prefix(begin)?, text.trim())));
        named.filter(|(_, text)| !text.is_empty())
    }

    /// Returns the value of a column of a database; empty for NULL, as databases write it.
    pub(crate) fn value<'r>(&self, record: &'r StringRecord, name: &str) -> &'r str {
        match self.text(record, name) {
            "NULL" | "\\N" => "",
            text => text,
        }
    }

    /// Returns the value of a column of a database; `None` for NULL and for an empty one.
    pub(crate) fn given<'r>(&self, record: &'r StringRecord, name: &str) -> Option<&'r str> {
        Some(self.value(record, name)).filter(|value| !value.is_empty())
    }

    /// Returns the value of a folded column that is true or false; `None` for NULL and for an empty one. Another value
    /// is an error, because it could mean that a user is disabled. The error has the name of the column as it is here.
    pub(crate) fn flag(&self, record: &StringRecord, name: &str) -> Result<Option<bool>, FieldError> {
        match self.given(record, &folded(name)) {
            None => Ok(None),
            Some(text) if is_true(text) => Ok(Some(true)),
            Some(text) if is_one_of(text, ["false", "f", "0", "no"]) => Ok(Some(false)),
            Some(_) => Err(FieldError::new(name, "must be true or false")),
        }
    }

    /// Returns the values of a column which separates them by vertical bars.
    pub(crate) fn list(&self, record: &StringRecord, name: &str) -> Vec<String> {
        let parts = self.value(record, name).split('|').map(str::trim);
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }
}

fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Whether a value of a column is true, as databases and spreadsheets write it.
pub(crate) fn is_true(text: &str) -> bool {
    is_one_of(text, ["true", "t", "1", "yes"])
}

fn is_one_of(text: &str, words: [&str; 4]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}
