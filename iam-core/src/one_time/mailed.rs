//! Codes in messages: eight digits (`docs/http-api.md#login-by-e-mail`).

use iam_model::error::{Error, Result};
use iam_model::secret::OneTimeCode;

use crate::one_time::typed::digits;

/// The digits of a code.
const DIGITS: usize = 8;

/// Eight digits.
const MODULUS: u64 = 100_000_000;

/// Returns the code that a MAC gives. Each code is as likely as any other, but for less than one part in 10^11.
pub(crate) fn code_of(mac: [u8; 8]) -> OneTimeCode {
    format!("{:0DIGITS$}", u64::from_be_bytes(mac) % MODULUS).into()
}

/// Returns a code as a person has typed it, without blanks and dashes.
///
/// # Errors
///
/// [`Error::Validation`] which names `code` if it is not eight digits.
pub(crate) fn eight_digits(typed: &OneTimeCode) -> Result<OneTimeCode> {
    digits(typed, DIGITS).ok_or_else(|| Error::field("code", "must be eight digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_eight_digits() {
        for (mac, code) in [(0, "00000000"), (7, "00000007"), (100_000_007, "00000007"), (u64::MAX, "09551615")] {
            assert_eq!(code_of(mac.to_be_bytes()).expose(), code);
        }
    }

    #[test]
    fn blanks_and_dashes_are_ignored_and_nothing_else() {
        for typed in ["12345678", "1234 5678", " 1234-5678\n", "12 34\u{2013}56 78"] {
            assert_eq!(eight_digits(&typed.into()).unwrap().expose(), "12345678", "{typed}");
        }
        for typed in ["", "1234567", "123456789", "1234567a", "１２３４５６７８", "+1234567", "492 039"] {
            assert!(eight_digits(&typed.into()).is_err(), "{typed}");
        }
    }
}
