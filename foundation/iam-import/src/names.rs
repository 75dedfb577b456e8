//! The names of people of whom a system knows less than a first and a last name.

use iam_model::validate::PersonName;

use crate::record::Record;

/// What a system knows of the name of a person.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'a> {
    pub(crate) first: Option<&'a str>,
    pub(crate) last: Option<&'a str>,
    /// The whole name, of which the last word is the last name.
    pub(crate) whole: Option<&'a str>,
}

impl Record {
    /// Sets the names: those that are known and valid, or parts of the whole name. A first name that is not known is the
    /// local part of the e-mail, a last name `-`, as for people who log in by an identity provider.
    pub(crate) fn name(&mut self, known: Known<'_>) {
        let whole = known.whole.unwrap_or_default().trim();
        let (first, last) = whole.rsplit_once(' ').unwrap_or((whole, ""));
        let local = self.email.rsplit_once('@').map_or("", |(local, _)| local);
        let first = valid([known.first, Some(first), Some(local)]);
        let last = valid([known.last, Some(last), None]);
        (self.first_name, self.last_name) = (first, last);
    }
}

fn valid(texts: [Option<&str>; 3]) -> String {
    let names = texts.into_iter().flatten().filter_map(|text| text.parse::<PersonName>().ok());
    names.map(String::from).next().unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_from_what_is_known() {
        let long = "x".repeat(101);
        for (first, last, whole, expected) in [
            (Some("Grace"), Some("Hopper"), Some("G. H."), ("Grace", "Hopper")),
            (None, None, Some("Grace Brewster Hopper"), ("Grace Brewster", "Hopper")),
            (None, None, Some("Grace"), ("Grace", "-")),
            (Some(" "), None, None, ("grace.h", "-")),
            (Some("G\u{202e}"), Some(&*long), None, ("grace.h", "-")),
        ] {
            let mut record = Record::new("grace.h@example.com");
            record.name(Known { first, last, whole });
            assert_eq!((record.first_name.as_str(), record.last_name.as_str()), expected);
        }
        let mut record = Record::new("");
        record.name(Known::default());
        assert_eq!((record.first_name.as_str(), record.last_name.as_str()), ("-", "-"));
    }
}
