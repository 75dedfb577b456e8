//! Numbers within bounds.

use std::fmt::Display;

use iam_model::validate::Fields;

/// Returns a number within bounds. For another one, adds an error and returns `None`.
pub(crate) fn bounded<T>(fields: &mut Fields, field: &str, given: i64, (min, max): (T, T)) -> Option<T>
where
    T: TryFrom<i64> + PartialOrd + Copy + Display,
{
    let valid = T::try_from(given).ok().filter(|value| (min..=max).contains(value));
    if valid.is_none() {
        fields.reject(field, format!("must be {min} to {max}"));
    }
    valid
}
