//! CSV files (RFC 4180), record by record.

use std::io::{self, BufRead, Chain, Cursor, Read};

use csv::{Reader, ReaderBuilder, StringRecord};
use iam_model::validate::FieldError;

use crate::error::ReadError;
use crate::limit::MAX_RECORD;

/// The separator of the fields of a file: Excel writes the separator of the country.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The bytes of the longest first line.
const MAX_HEADER: u64 = 64 * 1024;

/// The records of a file. A comma, a semicolon or a tab separates the fields. A byte order mark and empty lines have no
/// meaning.
pub(crate) struct Table<R> {
    records: Reader<Kept<Chain<Cursor<Vec<u8>>, R>>>,
    delimiter: u8,
}

/// A record, and the line on which it begins.
pub(crate) type TableRecord = (u64, Result<StringRecord, FieldError>);

impl<R: BufRead> Table<R> {
    /// Reads a file whose first line names the columns, and returns these names. All records have as many fields as that.
    pub(crate) fn with_header(mut input: R) -> Result<(Self, Vec<String>), ReadError> {
        let mut head = Vec::new();
        let mut rest = input.by_ref().take(MAX_HEADER);
        // The lines above the first one that is not empty tell no separator.
        while head.trim_ascii().is_empty() && rest.read_until(b'\n', &mut head)? > 0 {}
        let head = head.strip_prefix(BYTE_ORDER_MARK).map_or_else(|| head.clone(), <[u8]>::to_vec);
        let delimiter = delimiter(&head);
        let input = Kept { input: Cursor::new(head).chain(input), kept: Vec::new(), begin: 0, line: 1 };
        let mut records = ReaderBuilder::new().delimiter(delimiter).from_reader(input);
        let header =
            records.headers().map(|header| header.iter().map(|name| name.trim().to_owned()).collect::<Vec<_>>());
        let mut table = Self { records, delimiter };
        match table.placed(header)? {
            (Place { is_misquoted: false, .. }, Ok(names)) if !names.iter().all(String::is_empty) => Ok((table, names)),
            _ => Err(ReadError::malformed(1, "must begin with a line that names the columns, in UTF-8")),
        }
    }

    /// Returns the next record that has a value.
    pub(crate) fn next(&mut self) -> Result<Option<TableRecord>, ReadError> {
        loop {
            let mut record = StringRecord::new();
            let read = self.records.read_record(&mut record);
            if matches!(read, Ok(false)) {
                return Ok(None);
            }
            let (place, read) = self.placed(read)?;
            let refused = match read {
                // Spreadsheets write such rows below the last one.
                Ok(_) if record.iter().all(|field| field.trim().is_empty()) => continue,
                _ if place.is_misquoted => {
                    let message = "has a quotation mark too many or too few: text follows a quoted field";
                    FieldError::new("row", format!("{message} (lines of the record: {})", place.lines))
                }
                Ok(_) => return Ok(Some((place.line, Ok(record)))),
                Err(error) => refusal(&error),
            };
            return Ok(Some((place.line, Err(refused))));
        }
    }

    /// Returns where the record stands that was just read, and forgets its text.
    ///
    /// # Errors
    ///
    /// [`ReadError`] when the record does not end, or the input has failed.
    fn placed<T>(&mut self, read: csv::Result<T>) -> Result<(Place, Result<T, csv::ErrorKind>), ReadError> {
        let read = read.map_err(csv::Error::into_kind);
        let has_failed = matches!(read, Err(csv::ErrorKind::Io(_)));
        let (end, delimiter) = (self.records.position().byte(), self.delimiter);
        let input = self.records.get_mut();
        let is_too_long = input.is_too_long();
        let place = input.place((!has_failed).then_some(end), delimiter);
        input.forget_until(end);
        match (read, place.open) {
            (_, Some(line)) if !has_failed || is_too_long => {
                Err(ReadError::malformed(line, "has a quotation mark at which a field begins that does not end"))
            }
            (Err(csv::ErrorKind::Io(_)), _) if is_too_long => {
                Err(ReadError::malformed(place.line, "has a record that is longer than 1 MiB"))
            }
            (Err(csv::ErrorKind::Io(error)), _) => Err(error.into()),
            (read, _) => Ok((place, read)),
        }
    }
}

/// Where a record stands, and whether its quotation marks are right. The reader of CSV accepts every text.
struct Place {
    line: u64,
    /// How many lines it has.
    lines: u64,
    /// The line on which its last field begins, if that has a quotation mark and does not end.
    open: Option<u64>,
    /// Whether text follows a quotation mark that ends a field. Such a field usually begins at a mark that is part of a
    /// value, and has swallowed the fields and records up to the next mark.
    is_misquoted: bool,
}

/// Where a byte of a record stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a field.
    Begin,
    Unquoted,
    Quoted,
    /// After a quotation mark in a quoted field: the end of it, or the first of two marks, which stand for one.
    Mark,
    /// After blanks behind a quoted field.
    Blank,
}

/// An input whose last part is kept: that of the record which is being read. So it bounds the length of a record.
struct Kept<R> {
    input: R,
    kept: Vec<u8>,
    /// The position of the first byte that is kept.
    begin: u64,
    /// The line of the first byte that is kept.
    line: u64,
}

impl<R> Kept<R> {
    fn is_too_long(&self) -> bool {
        self.kept.len() > MAX_RECORD
    }

    /// Returns where the first record of the kept text stands, which can have empty lines above it. Without an end, the
    /// record is the whole text.
    fn place(&self, end: Option<u64>, delimiter: u8) -> Place {
        let length = end.and_then(|end| usize::try_from(end.saturating_sub(self.begin)).ok());
        let text = length.and_then(|length| self.kept.get(..length)).unwrap_or(&self.kept);
        let above = text.iter().take_while(|byte| is_break(**byte)).count();
        let (above, record) = text.split_at(above);
        let line = self.line + line_ends(above);
        let (mut state, mut here, mut begun, mut is_misquoted) = (State::Begin, line, line, false);
        for byte in record.iter().copied() {
            state = match (state, byte) {
                (State::Begin, b'"') => {
                    begun = here;
                    State::Quoted
                }
                (State::Quoted, b'"') => State::Mark,
                (State::Quoted, _) | (State::Mark, b'"') => State::Quoted,
                (_, byte) if byte == delimiter || is_break(byte) => State::Begin,
                (State::Mark | State::Blank, b' ') => State::Blank,
                (State::Mark | State::Blank, _) => {
                    is_misquoted = true;
                    State::Unquoted
                }
                (State::Begin | State::Unquoted, _) => State::Unquoted,
            };
            here += u64::from(byte == b'\n');
        }
        let open = (state == State::Quoted).then_some(begun);
        Place { line, lines: 1 + line_ends(record.trim_ascii_end()), open, is_misquoted }
    }

    fn forget_until(&mut self, position: u64) {
        let count = usize::try_from(position.saturating_sub(self.begin)).unwrap_or(usize::MAX).min(self.kept.len());
        self.line += line_ends(self.kept.get(..count).unwrap_or_default());
        self.kept.drain(..count);
        self.begin += count as u64;
    }
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_too_long() {
            return Err(io::Error::other("a record is longer than 1 MiB"));
        }
        let count = self.input.read(buffer)?;
        self.kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn line_ends(text: &[u8]) -> u64 {
    text.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

/// Returns the separator of the fields of the first line. The names of columns contain no delimiter.
fn delimiter(content: &[u8]) -> u8 {
    let mut first = content.iter().copied().skip_while(|byte| is_break(*byte)).take_while(|byte| !is_break(*byte));
    first.find(|byte| DELIMITERS.contains(byte)).unwrap_or(b',')
}

/// Returns the error of a record. No message contains a value of the record: it may be a hash.
fn refusal(kind: &csv::ErrorKind) -> FieldError {
    let message = match kind {
        csv::ErrorKind::UnequalLengths { .. } => "must have as many fields as the first line",
        csv::ErrorKind::Utf8 { .. } => "must be UTF-8",
        _ => "cannot be read",
    };
    FieldError::new("row", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_is_too_long_ends_the_file() {
        for (begin, expected) in [
            ("3,x\n4,\"", "line 4: has a quotation mark at which a field begins that does not end"),
            ("3,x\n4,", "line 4: has a record that is longer than 1 MiB"),
        ] {
            let text = format!("a,b\n1,2\n{begin}{}", "x".repeat(3 * MAX_RECORD));
            let (mut table, header) = Table::with_header(text.as_bytes()).unwrap();
            assert_eq!(header, ["a", "b"]);
            assert_eq!(table.next().unwrap().unwrap().1.unwrap().get(1), Some("2"));
            assert_eq!(table.next().unwrap().unwrap().1.unwrap().get(1), Some("x"));
            assert_eq!(table.next().unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_quotation_mark_that_does_not_end_names_its_line() {
        for (text, line) in [
            ("a,b\n1,2\n\n3,\"4\n5,6\n", 4),
            ("a,b\r\n\"1\r\n2\",\"3\r\n4,5\r\n", 3),
            ("a,b\n1,\"", 2),
            ("a,b\n1,\"2\"\"\n3", 2),
            ("a,\"b\n1,2\n", 1),
        ] {
            let mut error = None;
            match Table::with_header(text.as_bytes()) {
                Ok((mut table, _)) => {
                    while error.is_none() {
                        error = table.next().map(|record| assert!(record.is_some(), "{text}")).err();
                    }
                }
                Err(failure) => error = Some(failure),
            }
            let Some(ReadError::Malformed { line: found, message }) = error else { panic!("{text}") };
            assert_eq!((found, message.contains("does not end")), (line, true), "{text}");
        }
    }

    /// The mark for inches is part of a value, and the next quoted field ends the one that begins there.
    #[test]
    fn a_record_with_text_behind_a_quoted_field_is_refused() {
        let text = "a,b\n1,\"12 inch\n2,x\n3,\"Hopper, Grace\"\n4,\"y \"\"z\"\"\" \n5,6\" x\n\"7\"x,8\n";
        let (mut table, _) = Table::with_header(text.as_bytes()).unwrap();
        let mut found = Vec::new();
        while let Some((line, record)) = table.next().unwrap() {
            let value = record.as_ref().ok().and_then(|record| record.get(1)).map(str::to_owned);
            found.push((line, value, record.err().map(|error| error.message)));
        }
        let refused = |lines: u64| {
            let message = "has a quotation mark too many or too few: text follows a quoted field";
            Some(format!("{message} (lines of the record: {lines})"))
        };
        let of = |text: &str| Some(text.to_owned());
        assert_eq!(
            found,
            [(2, None, refused(3)), (5, of("y \"z\" "), None), (6, of("6\" x"), None), (7, None, refused(1))]
        );
    }

    #[test]
    fn the_lines_are_right_in_a_file_of_many_buffers() {
        let mut content = "a,b\r\n".to_owned();
        for number in 0..5_000 {
            content.push_str(&format!("{number},\"x\r\ny\"\r\n\r\n"));
        }
        let (mut table, _) = Table::with_header(content.as_bytes()).unwrap();
        let mut expected = 2;
        while let Some((line, record)) = table.next().unwrap() {
            assert_eq!((line, record.is_ok()), (expected, true));
            expected += 3;
        }
        assert_eq!(expected, 2 + 3 * 5_000);
        assert!(table.records.get_ref().kept.len() < MAX_RECORD / 2);
    }
}
