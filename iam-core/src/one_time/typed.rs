//! Codes as people type them.

use iam_model::secret::OneTimeCode;
use zeroize::Zeroizing;

/// Whether a character of a typed code counts. Apps and printed lists show codes in groups, with blanks or dashes between
/// them, and people type or copy these too.
pub(super) fn is_significant(character: &char) -> bool {
    !character.is_whitespace() && !matches!(character, '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Returns a code as a person has typed it, without blanks and dashes. `None` if it does not consist of this many
/// digits.
pub(super) fn digits(typed: &OneTimeCode, count: usize) -> Option<OneTimeCode> {
    let digits: Zeroizing<String> = Zeroizing::new(typed.expose().chars().filter(is_significant).collect());
    let is_code = digits.len() == count && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_code.then(|| digits.as_str().into())
}
