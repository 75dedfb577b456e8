//! Files that a spreadsheet opens: CSV by RFC 4180.

use iam_core::BoxError;

/// The media type of CSV.
pub(crate) const CSV: &str = "text/csv";

/// The header `Content-Type` of a response with CSV.
pub(crate) const CSV_IN_UTF_8: &str = "text/csv; charset=utf-8";

/// The beginning of a file in UTF-8 for people. Without it, spreadsheets read the file in another character set.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Writes rows as CSV.
pub(crate) fn csv<const N: usize>(rows: impl IntoIterator<Item = [String; N]>) -> Result<Vec<u8>, BoxError> {
    // RFC 4180 requires these line ends.
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row)?;
    }
    Ok(writer.into_inner().map_err(csv::IntoInnerError::into_error)?)
}

/// The first characters by which a spreadsheet takes a cell for a formula (OWASP, CSV injection). In some languages, it
/// reads a full-width character as the ordinary one.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Puts an apostrophe in front of a text that a spreadsheet would take for a formula. A text that starts with an
/// apostrophe gets another one, so that the original text can be restored.
pub(crate) fn harmless(text: String) -> String {
    if text.starts_with(FORMULA) || text.starts_with('\'') { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_begins_like_a_formula_gets_an_apostrophe() {
        for start in ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'"] {
            assert_eq!(harmless(format!("{start}1+2")), format!("'{start}1+2"));
        }
        assert_eq!(harmless("1=2".to_owned()), "1=2");
    }
}
