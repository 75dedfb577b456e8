//! Lengths of time that a person chooses from a list.

use iam_core::{Error, FieldError};

use crate::form::Form;
use crate::text;
use crate::view::Field;

/// The lengths that every list offers, as far as they are within its bounds, in seconds.
const OFFERED: [u32; 12] =
    [300, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 259_200, 604_800, 1_209_600, 2_592_000];

/// A field in which a person chooses a length.
pub(crate) struct Duration {
    pub(crate) field: Field,
    /// Each length in seconds, with its text, the shortest first.
    pub(crate) options: Vec<(u32, String)>,
    chosen: u32,
}

impl Duration {
    /// Returns the field for a length within bounds, in which one is chosen. Also the bounds and the chosen one are
    /// offered.
    pub(crate) fn of(field: Field, (min, max): (u32, u32), chosen: u32) -> Self {
        let within = OFFERED.into_iter().filter(|seconds| (min..=max).contains(seconds));
        let mut lengths: Vec<u32> = within.chain([max, chosen]).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let options = lengths.into_iter().map(|seconds| (seconds, text::duration(seconds))).collect();
        Self { field, options, chosen }
    }

    /// Shows the typed length of a form, if it is offered, and its error.
    pub(crate) fn shown(self, form: &Form, errors: &[FieldError]) -> Self {
        let is_offered = |typed: &u32| self.options.iter().any(|(seconds, _)| seconds == typed);
        let typed: Option<u32> = form.get(&self.field.name).trim().parse().ok();
        let chosen = typed.filter(is_offered).unwrap_or(self.chosen);
        Self { field: self.field.with_errors(errors), chosen, ..self }
    }

    pub(crate) fn is_chosen(&self, seconds: &u32) -> bool {
        self.chosen == *seconds
    }
}

/// Returns the whole number that a form has in a field. `None` if the field is empty.
pub(crate) fn number(form: &Form, field: &str) -> Result<Option<i64>, Error> {
    let parsed = form.given(field).map(|text| text.parse()).transpose();
    parsed.map_err(|_| Error::field(field, text::t("must-be-a-number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_offers_what_is_within_its_bounds_and_what_is_chosen() {
        let offered = |bounds, chosen| -> Vec<u32> {
            let list = Duration::of(Field::text("seconds", ""), bounds, chosen);
            assert!(list.is_chosen(&chosen));
            list.options.into_iter().map(|(seconds, _)| seconds).collect()
        };
        assert_eq!(offered((60, 3_600), 3_600), [300, 900, 1_800, 3_600]);
        assert_eq!(offered((60, 5_000), 1_000), [300, 900, 1_000, 1_800, 3_600, 5_000]);
        assert_eq!(offered((300, 300), 300), [300]);
    }

    #[test]
    fn a_typed_length_is_chosen_if_it_is_offered() {
        let list = || Duration::of(Field::text("seconds", ""), (60, 3_600), 3_600);
        for (typed, chosen) in [("900", 900), ("7200", 3_600), ("long", 3_600), ("", 3_600)] {
            assert!(list().shown(&Form::of([("seconds", typed.to_owned())]), &[]).is_chosen(&chosen), "{typed}");
        }
    }

    #[test]
    fn a_length_is_said_in_words() {
        for (seconds, text) in [
            (60, "1 minute"),
            (300, "5 minutes"),
            (5_400, "1 hour 30 minutes"),
            (28_800, "8 hours"),
            (2_592_000, "30 days"),
            (90_061, "1 day 1 hour 1 minute 1 second"),
        ] {
            assert_eq!(text::duration(seconds), text);
        }
    }
}
