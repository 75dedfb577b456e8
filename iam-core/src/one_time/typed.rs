//! Codes as people type them.

/// Whether a character of a typed code counts. Apps and printed lists show codes in groups, with blanks or dashes between
/// them, and people type or copy these too.
pub(super) fn is_significant(character: &char) -> bool {
    !character.is_whitespace() && !matches!(character, '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}
