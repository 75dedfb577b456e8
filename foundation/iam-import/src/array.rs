//! The elements of an array inside of a large document of JSON, without the rest of the document.
//!
//! Values are skipped by counting brackets, so neither their depth nor their size needs memory. An element of limited
//! size is parsed as a document of its own.

use std::io::BufRead;

use crate::error::ReadError;
use crate::limit::MAX_RECORD;

/// The bytes of the longest key that is looked at.
const MAX_KEY: usize = 1024;

/// Reads the array with this key in the outermost object, or the outermost array.
pub(crate) struct Elements<R> {
    input: R,
    line: u64,
    key: &'static str,
    place: Place,
    /// Whether an outermost array has objects with that array, in place of the elements themselves.
    has_objects: bool,
    is_in_list: bool,
    /// Whether an array was found. An object without one is another file than its reader means.
    is_found: bool,
}

#[derive(Clone, Copy)]
enum Place {
    Start,
    /// Between the objects of an outermost array.
    List,
    Object,
    Array {
        is_outermost: bool,
    },
    End,
}

/// An element, and the line on which it begins. Its text is `None` if it is too long.
pub(crate) type Element = (u64, Option<Vec<u8>>);

impl<R: BufRead> Elements<R> {
    pub(crate) fn new(input: R, key: &'static str) -> Self {
        let (has_objects, is_in_list) = (false, false);
        Self { input, line: 1, key, place: Place::Start, has_objects, is_in_list, is_found: false }
    }

    /// Reads the arrays with this key of several objects, if the document is a list of them. Objects without one have
    /// no elements.
    pub(crate) fn of_objects(input: R, key: &'static str) -> Self {
        Self { has_objects: true, ..Self::new(input, key) }
    }

    /// Returns the next element.
    pub(crate) fn next(&mut self) -> Result<Option<Element>, ReadError> {
        loop {
            if matches!(self.place, Place::End) {
                return self.end().map(|()| None);
            }
            let byte = self.visible()?;
            match (self.place, byte) {
                (Place::End, _) => return Ok(None),
                (Place::Start, b'[') if self.has_objects => {
                    self.is_in_list = true;
                    self.enter(Place::List)?;
                }
                (Place::Start, b'[') => self.enter(Place::Array { is_outermost: true })?,
                (Place::Start | Place::List, b'{') => self.enter(Place::Object)?,
                (Place::Start, _) => return Err(self.wrong("is no object and no list of JSON")),
                (Place::List | Place::Object | Place::Array { .. }, b',') => self.skip()?,
                (Place::Object, b'}') if self.is_in_list => self.enter(Place::List)?,
                (Place::List, b']') if !self.is_found => {
                    return Err(self.wrong(&format!("no object of the list has a list {}", self.key)));
                }
                (Place::Object, b'}') if !self.is_found => {
                    return Err(self.wrong(&format!("the object has no list {}", self.key)));
                }
                (Place::Object, b'}') | (Place::List | Place::Array { is_outermost: true }, b']') => {
                    self.enter(Place::End)?;
                }
                (Place::List, _) => return Err(self.wrong("an object is missing")),
                (Place::Array { is_outermost: false }, b']') => self.enter(Place::Object)?,
                (Place::Object, b'"') => self.entry()?,
                (Place::Object, _) => return Err(self.wrong("a key is missing")),
                (Place::Array { .. }, b'}' | b':') => return Err(self.wrong("a value is missing")),
                (Place::Array { .. }, _) => {
                    let line = self.line;
                    return Ok(Some((line, self.value(MAX_RECORD)?)));
                }
            }
        }
    }

    fn enter(&mut self, place: Place) -> Result<(), ReadError> {
        self.place = place;
        self.skip()
    }

    /// Reads a key, and skips its value unless that is the array.
    fn entry(&mut self) -> Result<(), ReadError> {
        let key = self.value(MAX_KEY)?;
        if self.visible()? != b':' {
            return Err(self.wrong("a colon is missing"));
        }
        self.skip()?;
        let is_array = self.visible()? == b'[';
        let key: Option<String> = key.and_then(|key| serde_json::from_slice(&key).ok());
        if is_array && key.as_deref() == Some(self.key) {
            self.is_found = true;
            self.enter(Place::Array { is_outermost: false })
        } else {
            self.value(0).map(drop)
        }
    }

    /// Reads a value of at most this size; `None` for a larger one, which is skipped.
    fn value(&mut self, most: usize) -> Result<Option<Vec<u8>>, ReadError> {
        let (mut text, mut is_too_long, mut depth) = (Vec::new(), false, 0_u64);
        let (mut is_in_string, mut is_escaped) = (false, false);
        loop {
            let byte = self.byte()?;
            let is_outside = depth == 0 && !is_in_string;
            // A number or a word ends before what follows it.
            if is_outside && !text.is_empty() && matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') {
                break;
            }
            if text.len() < most.max(1) {
                text.push(byte);
            } else {
                is_too_long = true;
            }
            self.skip()?;
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_in_string => is_escaped = true,
                b'"' => is_in_string = !is_in_string,
                b'{' | b'[' if !is_in_string => depth += 1,
                b'}' | b']' if !is_in_string => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && !is_in_string && matches!(byte, b'"' | b'}' | b']') {
                break;
            }
        }
        Ok((!is_too_long).then_some(text))
    }

    /// Reads the blanks after the document. A second document is one that its writer expects to be read.
    fn end(&mut self) -> Result<(), ReadError> {
        while let Some(byte) = self.input.fill_buf()?.first().copied() {
            if !is_blank(byte) {
                return Err(self.wrong("another text follows after the end of the document: give each document a file"));
            }
            self.skip()?;
        }
        Ok(())
    }

    /// Returns the next byte that is no blank, and leaves it.
    fn visible(&mut self) -> Result<u8, ReadError> {
        loop {
            match self.byte()? {
                byte if is_blank(byte) => self.skip()?,
                byte => return Ok(byte),
            }
        }
    }

    /// Returns the next byte, and leaves it.
    fn byte(&mut self) -> Result<u8, ReadError> {
        let next = self.input.fill_buf()?.first().copied();
        next.ok_or_else(|| self.wrong("the document ends in the middle"))
    }

    fn skip(&mut self) -> Result<(), ReadError> {
        self.line += u64::from(self.byte()? == b'\n');
        self.input.consume(1);
        Ok(())
    }

    fn wrong(&self, message: &str) -> ReadError {
        ReadError::malformed(self.line, message)
    }
}

/// Whether a byte between values has no meaning. A byte order mark has none.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0xEF | 0xBB | 0xBF)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn elements(text: &str) -> Result<Vec<(u64, String)>, ReadError> {
        // A small buffer, so that values are in several parts.
        all(Elements::new(BufReader::with_capacity(3, text.as_bytes()), "users"))
    }

    fn elements_of_objects(text: &str) -> Result<Vec<(u64, String)>, ReadError> {
        all(Elements::of_objects(BufReader::with_capacity(3, text.as_bytes()), "users"))
    }

    fn all<R: BufRead>(mut elements: Elements<R>) -> Result<Vec<(u64, String)>, ReadError> {
        let mut found = Vec::new();
        while let Some((line, text)) = elements.next()? {
            found.push((line, text.map_or_else(|| "too long".to_owned(), |text| String::from_utf8(text).unwrap())));
        }
        Ok(found)
    }

    #[test]
    fn elements_are_found_inside_of_a_document() {
        let text = "\u{feff}{\n \"a\": {\"users\": [1]}, \"users\" : 5,\n\"u\\u0073ers\": [\n{\"x\": \"]},\\\\\\\"\"},\n 7,\"b\",[], null]\n, \"z\": [[{}]] }\n";
        let expected = [(4, r#"{"x": "]},\\\""}"#), (5, "7"), (5, "\"b\""), (5, "[]"), (5, "null")];
        assert_eq!(elements(text).unwrap(), expected.map(|(line, text)| (line, text.to_owned())));
        assert_eq!(elements("[ 1 , {} ]").unwrap().len(), 2);
        assert!(elements("{\"users\": []}").unwrap().is_empty() && elements("[]").unwrap().is_empty());
    }

    #[test]
    fn elements_of_several_objects_are_found() {
        let text = "[ {\"a\": 1, \"users\": [1]},\n{\"users\": null},{}, {\"users\": [[], {}]} ]";
        let expected = [(1, "1"), (2, "[]"), (2, "{}")].map(|(line, text)| (line, text.to_owned()));
        assert_eq!(elements_of_objects(text).unwrap(), expected);
        assert_eq!(elements_of_objects("{\"users\": [1]}").unwrap(), [(1, "1".to_owned())]);
        for text in [
            "[]",
            "[{}]",
            "[{\"email\": \"a\"}]",
            "[1]",
            "[{\"users\": [1]}",
            "[{\"users\": [1]}}",
            "[{\"users\": [1]}]\n[]",
        ] {
            assert!(elements_of_objects(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_deep_or_long_value_does_not_hide_the_next_one() {
        let deep = "[".repeat(600_000) + &"]".repeat(600_000);
        let text = format!("{{\"a\": {deep}, \"users\": [{deep}, 1, \"{}\", 2]}}", "x".repeat(MAX_RECORD));
        let found: Vec<String> = elements(&text).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(found, ["too long", "1", "too long", "2"]);
    }

    #[test]
    fn a_document_that_is_broken_is_an_error_with_its_line() {
        for (text, line) in [
            ("", 1),
            ("\n", 2),
            ("x", 1),
            ("{\"users\": [\n{}", 2),
            ("{\n1: 2}", 2),
            ("{\"a\" 1}", 1),
            ("[\n\n}", 3),
            ("{\"users\": [{}]}\n{\"users\": [{}]}", 2),
            ("{\"users\": [{}]} \n\n x", 3),
            ("[{}]\n[{}]", 2),
            ("[{}]]", 1),
            // Without the list, there are not no users, but another file.
            ("{}", 1),
            ("{\"realm\": \"acme\",\n\"users\": null}", 2),
        ] {
            let Err(ReadError::Malformed { line: found, .. }) = elements(text) else { panic!("{text}") };
            assert_eq!(found, line, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(text in "[\\[\\]{}\",:\\\\a1 \n]{0,64}") {
            let _ = elements(&text);
            let _ = elements_of_objects(&text);
        }
    }
}
