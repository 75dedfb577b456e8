//! CSV files (RFC 4180), record by record.

use std::io::{self, BufRead, Chain, Cursor, Read};

use csv::{Position, Reader, ReaderBuilder, StringRecord};
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
}

/// A record, and the line on which it begins.
pub(crate) type TableRecord = (u64, Result<StringRecord, FieldError>);

impl<R: BufRead> Table<R> {
    /// Reads a file whose first line names the columns. All records have as many fields as that.
    pub(crate) fn with_header(mut input: R) -> Result<Self, ReadError> {
        let mut head = Vec::new();
        let mut rest = input.by_ref().take(MAX_HEADER);
        // The lines above the first one that is not empty tell no separator.
        while head.trim_ascii().is_empty() && rest.read_until(b'\n', &mut head)? > 0 {}
        let head = head.strip_prefix(BYTE_ORDER_MARK).map_or_else(|| head.clone(), <[u8]>::to_vec);
        let delimiter = delimiter(&head);
        let input = Kept { input: Cursor::new(head).chain(input), kept: Vec::new(), begin: 0 };
        Ok(Self { records: ReaderBuilder::new().delimiter(delimiter).from_reader(input) })
    }

    /// Returns the names of the columns.
    pub(crate) fn header(&mut self) -> Result<Vec<String>, ReadError> {
        let no_header = || ReadError::malformed(1, "must begin with a line that names the columns, in UTF-8");
        let header = match self.records.headers() {
            Ok(header) => header,
            Err(error) => {
                return Err(match error.into_kind() {
                    csv::ErrorKind::Io(error) => error.into(),
                    _ => no_header(),
                });
            }
        };
        let names: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        if names.iter().all(String::is_empty) { Err(no_header()) } else { Ok(names) }
    }

    /// Returns the next record that has a value.
    pub(crate) fn next(&mut self) -> Result<Option<TableRecord>, ReadError> {
        loop {
            let mut record = StringRecord::new();
            let read = self.records.read_record(&mut record);
            let position = match &read {
                Ok(false) => return Ok(None),
                Ok(true) => record.position().cloned(),
                Err(error) => error.position().cloned(),
            };
            let line = position.map_or(0, |position| self.records.get_ref().line_of(&position));
            let end = self.records.position().byte();
            self.records.get_mut().forget_until(end);
            match read {
                // Spreadsheets write such rows below the last one.
                Ok(_) if record.iter().all(|field| field.trim().is_empty()) => {}
                Ok(_) => return Ok(Some((line, Ok(record)))),
                Err(error) => match error.into_kind() {
                    csv::ErrorKind::Io(error) => return Err(error.into()),
                    kind => return Ok(Some((line, Err(refusal(&kind))))),
                },
            }
        }
    }
}

/// An input whose last part is kept: that of the record which is being read. So it bounds the length of a record.
struct Kept<R> {
    input: R,
    kept: Vec<u8>,
    /// The position of the first byte that is kept.
    begin: u64,
}

impl<R> Kept<R> {
    /// Returns the line of a record. Its position is before the empty lines above it.
    fn line_of(&self, position: &Position) -> u64 {
        let start = usize::try_from(position.byte().saturating_sub(self.begin)).ok();
        let rest = start.and_then(|start| self.kept.get(start..)).unwrap_or_default();
        let above = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
        above.fold(position.line(), |line, byte| line + u64::from(*byte == b'\n'))
    }

    fn forget_until(&mut self, position: u64) {
        let count = usize::try_from(position.saturating_sub(self.begin)).unwrap_or(usize::MAX).min(self.kept.len());
        self.kept.drain(..count);
        self.begin += count as u64;
    }
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.kept.len() > MAX_RECORD {
            return Err(io::Error::other("a record is longer than 1 MiB: is a quotation mark missing?"));
        }
        let count = self.input.read(buffer)?;
        self.kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Returns the separator of the fields of the first line. The names of columns contain no delimiter.
fn delimiter(content: &[u8]) -> u8 {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let first = content.iter().skip_while(|byte| is_break(byte)).take_while(|byte| !is_break(byte));
    first.copied().find(|byte| DELIMITERS.contains(byte)).unwrap_or(b',')
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
        let mut table =
            Table::with_header(io::Cursor::new(format!("a,b\n1,2\n\"{}", "x".repeat(3 * MAX_RECORD)))).unwrap();
        assert_eq!(table.header().unwrap(), ["a", "b"]);
        assert_eq!(table.next().unwrap().unwrap().1.unwrap().get(1), Some("2"));
        let Err(ReadError::Input(error)) = table.next() else { panic!() };
        assert!(error.to_string().contains("longer than 1 MiB"));
    }

    #[test]
    fn the_lines_are_right_in_a_file_of_many_buffers() {
        let mut content = "a,b\r\n".to_owned();
        for number in 0..5_000 {
            content.push_str(&format!("{number},\"x\r\ny\"\r\n\r\n"));
        }
        let mut table = Table::with_header(content.as_bytes()).unwrap();
        let mut expected = 2;
        while let Some((line, record)) = table.next().unwrap() {
            assert_eq!((line, record.is_ok()), (expected, true));
            expected += 3;
        }
        assert_eq!(expected, 2 + 3 * 5_000);
        assert!(table.records.get_ref().kept.len() < MAX_RECORD / 2);
    }
}
