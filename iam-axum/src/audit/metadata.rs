//! The free JSON of an application, before names, numbers and levels are lost that no parsed value has.

use std::num::NonZeroU32;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::problem::Problem;

/// The metadata of an event as the client has written it.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Metadata(Box<RawValue>);

impl Metadata {
    /// The size of the text in KiB, rounded up.
    pub(super) fn kib(&self) -> NonZeroU32 {
        let kib = u32::try_from(self.0.get().len() / 1024);
        kib.map_or(NonZeroU32::MAX, |kib| NonZeroU32::MIN.saturating_add(kib))
    }

    /// Returns the fields.
    pub(super) fn read(&self) -> Result<Map<String, Value>, Problem> {
        let refused = |message: &str| Problem::invalid_field("metadata", message);
        if !has_exact_numbers(self.0.get()) {
            return Err(refused("has a number that cannot be kept exactly: send it as a text"));
        }
        // The error of a text that is too deep is another one.
        if iam_json::check_unique_names(self.0.get().as_bytes()).is_err_and(|error| error.is_data()) {
            return Err(refused("has an object with two fields of the same name"));
        }
        let fields = serde_json::from_str(self.0.get());
        // The text is valid JSON. Only what is too deep for the bounds of an event cannot be read.
        fields.map_err(|_| match self.0.get().starts_with('{') {
            true => refused("must be at most 16 KiB of JSON, 500 values and 120 levels"),
            false => refused("must be an object"),
        })
    }
}

/// Whether every number in a JSON text stays the same as an `f64` (RFC 7493 §2.2).
pub(crate) fn has_exact_numbers(json: &str) -> bool {
    let (mut is_text, mut is_escaped) = (false, false);
    let mut number = String::new();
    for character in json.chars() {
        if is_text {
            is_text = is_escaped || character != '"';
            is_escaped = character == '\\' && !is_escaped;
            continue;
        }
        let starts = character == '-' || character.is_ascii_digit();
        if starts || (!number.is_empty() && matches!(character, '+' | '.' | 'e' | 'E')) {
            number.push(character);
            continue;
        }
        if !number.is_empty() && !is_exact(&number) {
            return false;
        }
        number.clear();
        is_text = character == '"';
    }
    number.is_empty() || is_exact(&number)
}

fn is_exact(number: &str) -> bool {
    // Integers of 64 bits are kept and shown as they are, and all other numbers as an `f64`.
    let integer = number.parse::<i64>().map(i128::from).or_else(|_| number.parse::<u64>().map(i128::from));
    if let Ok(integer) = integer {
        return (integer as f64) as i128 == integer;
    }
    let Ok(nearest) = number.parse::<f64>() else { return false };
    nearest.is_finite() && decimal(number).is_some_and(|written| decimal(&format!("{nearest:e}")) == Some(written))
}

/// Returns the sign, the significant digits and the exponent of a number. `None` for an exponent without sense.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (is_negative, mantissa) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    let exponent = exponent.parse::<i64>().ok()?;
    let exponent =
        exponent.checked_add(i64::try_from(zeros).ok()?)?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    Some((is_negative, significant.to_owned(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_exact_if_an_f64_keeps_it() {
        for exact in [
            "0",
            "-0",
            "7",
            "7.0",
            "0.1",
            "-1.50",
            "1e300",
            "1E+3",
            "100e-2",
            "9007199254740991",
            "-9007199254740991",
            "0e99999999999999999999",
            "3.141592653589793",
            "5e-324",
            "1e16",
        ] {
            assert!(has_exact_numbers(&format!("{{\"a\":[{exact}]}}")), "{exact}");
        }
        for inexact in [
            "9007199254740993",
            "-9007199254740993",
            "18446744073709551616",
            "1e309",
            "1e-400",
            "0.1000000000000000055511151231257827",
            "3.14159265358979323846",
            "9007199254740993.0",
            "1e99999999999999999999",
        ] {
            assert!(!has_exact_numbers(&format!("{{\"a\":[{inexact}]}}")), "{inexact}");
            assert!(!has_exact_numbers(&format!("{{\"a\":{inexact} ,\"b\":1}}")), "{inexact}");
        }
    }

    #[test]
    fn digits_in_a_text_are_no_number() {
        for text in
            [r#"{"9007199254740993":"1e999"}"#, r#"{"a":"\"18446744073709551616","b\\":"1e400"}"#, "[true,null]"]
        {
            assert!(has_exact_numbers(text), "{text}");
        }
        assert!(!has_exact_numbers(r#"{"a\\":1e400}"#));
        assert!(!has_exact_numbers(r#"{"a\"":1e400}"#));
    }
}
