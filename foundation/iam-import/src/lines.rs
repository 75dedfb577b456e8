//! A file of lines, each of limited length.

use std::io::{self, BufRead, Read as _};

use crate::limit::MAX_RECORD;

pub(crate) struct Lines<R> {
    input: R,
    line: u64,
}

/// The text of a line; `None` if it is too long.
pub(crate) type Text = Option<Vec<u8>>;

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, line: 0 }
    }

    /// Returns the next line that is not blank, with its number.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Text)>> {
        loop {
            let mut text = Vec::new();
            let read = self.input.by_ref().take(MAX_RECORD as u64 + 1).read_until(b'\n', &mut text)?;
            if read == 0 {
                return Ok(None);
            }
            self.line += 1;
            if read > MAX_RECORD && !text.ends_with(b"\n") {
                self.skip_rest()?;
                return Ok(Some((self.line, None)));
            }
            let text = text.strip_prefix(b"\xEF\xBB\xBF").filter(|_| self.line == 1).unwrap_or(&text).trim_ascii();
            if !text.is_empty() {
                return Ok(Some((self.line, Some(text.to_vec()))));
            }
        }
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        loop {
            let found = self.input.fill_buf()?;
            match found.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.input.consume(end + 1);
                    return Ok(());
                }
                None if found.is_empty() => return Ok(()),
                None => {
                    let all = found.len();
                    self.input.consume(all);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_does_not_hide_the_next_one() {
        let long = "x".repeat(3 * MAX_RECORD);
        let content = format!("\u{feff}a\n \r\n{long}\nb\n{}\n{long}", "y".repeat(MAX_RECORD));
        let mut lines = Lines::new(content.as_bytes());
        let mut found = Vec::new();
        while let Some((line, text)) = lines.next().unwrap() {
            found.push((line, text.map(|text| text.len())));
        }
        assert_eq!(found, [(1, Some(1)), (3, None), (4, Some(1)), (5, Some(MAX_RECORD)), (6, None)]);
    }
}
