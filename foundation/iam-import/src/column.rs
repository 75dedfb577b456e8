//! The columns of tables of users.

use csv::StringRecord;

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
        let folded = |name: &String| {
            name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
        };
        Self(names.iter().map(folded).collect())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|found| found == name)
    }

    /// Returns the value of a column without blanks at its ends; empty if there is no such column.
    pub(crate) fn text<'r>(&self, record: &'r StringRecord, name: &str) -> &'r str {
        let position = self.0.iter().position(|found| found == name);
        position.and_then(|position| record.get(position)).unwrap_or_default().trim()
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

    /// Returns the values of a column which separates them by vertical bars.
    pub(crate) fn list(&self, record: &StringRecord, name: &str) -> Vec<String> {
        let parts = self.value(record, name).split('|').map(str::trim);
        parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }
}

/// Whether a value of a column is true, as databases and spreadsheets write it.
pub(crate) fn is_true(text: &str) -> bool {
    ["true", "t", "1", "yes"].iter().any(|word| text.eq_ignore_ascii_case(word))
}
