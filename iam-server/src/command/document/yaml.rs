//! Documents of YAML 1.2, with the line of each value.
//!
//! Only what manifests and mappings need are read: one document of mappings, lists and scalars. Anchors, aliases and tags are
//! refused, so that a small file stays small.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::{Map, Number, Value as Json};

use crate::command::document::message::{MAX_FIELD, shortened};

/// How deep a document may be. A manifest has six levels.
const MAX_DEPTH: usize = 16;

/// How many values a document may have.
const MAX_VALUES: usize = 100_000;

/// A value, and the line on which it begins.
#[derive(Debug)]
pub(crate) struct Node {
    line: usize,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Mapping(Vec<(Key, Node)>),
}

/// The key of an entry, and its line.
#[derive(Debug)]
struct Key {
    text: String,
    line: usize,
}

/// Why a text is no document that can be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Malformed {
    fn at(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

impl From<ScanError> for Malformed {
    fn from(error: ScanError) -> Self {
        Self::at(error.marker().line(), format!("is not valid YAML: {}", error.info()))
    }
}

/// Reads the one document of a text.
///
/// # Errors
///
/// [`Malformed`] with the line, if the text is not valid YAML or has more than a manifest needs.
pub(crate) fn parse(text: &str) -> Result<Node, Malformed> {
    let mut reader = Reader { parser: Parser::new_from_str(text), values: 0 };
    let mut document = None;
    loop {
        let (event, span) = reader.event()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            Event::StreamEnd => break,
            _ if document.is_some() => return Err(Malformed::at(span.start.line(), "there is a second document")),
            event => document = Some(reader.node(event, span, 0)?),
        }
    }
    let is_empty = |node: &Node| matches!(node.value, Value::Null);
    document.filter(|node| !is_empty(node)).ok_or_else(|| Malformed::at(1, "there is no document; an empty one is {}"))
}

struct Reader<'t> {
    parser: Parser<'t, StrInput<'t>>,
    values: usize,
}

impl<'t> Reader<'t> {
    fn event(&mut self) -> Result<(Event<'t>, Span), Malformed> {
        let next = self.parser.next_event().ok_or_else(|| Malformed::at(1, "the document does not end"))?;
        Ok(next?)
    }

    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Malformed> {
        let line = span.start.line();
        let refused = |what: &str| Err(Malformed::at(line, format!("{what} are not supported")));
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(Malformed::at(line, format!("there are more than {MAX_VALUES} values")));
        }
        if depth > MAX_DEPTH {
            return Err(Malformed::at(line, format!("there are more than {MAX_DEPTH} levels")));
        }
        let value = match event {
            Event::Alias(_) => return refused("aliases"),
            Event::Scalar(_, _, _, Some(_)) | Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                return refused("tags");
            }
            Event::Scalar(_, _, 1.., _) | Event::SequenceStart(1.., _) | Event::MappingStart(1.., _) => {
                return refused("anchors");
            }
            Event::Scalar(text, ScalarStyle::Plain, ..) => plain(&text),
            Event::Scalar(text, ..) => Value::Text(text.into_owned()),
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.mapping(depth)?,
            _ => return Err(Malformed::at(line, "a value is missing")),
        };
        Ok(Node { line, value })
    }

    fn list(&mut self, depth: usize) -> Result<Value, Malformed> {
        let mut items = Vec::new();
        loop {
            match self.event()? {
                (Event::SequenceEnd, _) => return Ok(Value::List(items)),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, Malformed> {
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        loop {
            let (event, span) = self.event()?;
            if matches!(event, Event::MappingEnd) {
                return Ok(Value::Mapping(entries));
            }
            let Node { line, value } = self.node(event, span, depth + 1)?;
            let text = match value {
                Value::Text(text) => text,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Mapping(_) => {
                    return Err(Malformed::at(line, "a key must be a text"));
                }
            };
            if !seen.insert(text.clone()) {
                return Err(Malformed::at(line, format!("the key {} must be given once", shortened(&text, MAX_FIELD))));
            }
            let (event, span) = self.event()?;
            entries.push((Key { text, line }, self.node(event, span, depth + 1)?));
        }
    }
}

/// The value of a plain scalar, by the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number),
    }
}

fn number(text: &str) -> Option<Number> {
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if !text.bytes().all(is_numeric) || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole = text.parse::<i64>().ok().map(Number::from);
    whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
}

impl Node {
    /// Whether it is a mapping.
    pub(crate) fn is_mapping(&self) -> bool {
        matches!(self.value, Value::Mapping(_))
    }

    /// The value as JSON. An entry that is null is left out.
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.clone()),
            Value::Text(text) => Json::String(text.clone()),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Mapping(entries) => {
                let given = entries.iter().filter(|(_, node)| !matches!(node.value, Value::Null));
                Json::Object(given.map(|(key, node)| (key.text.clone(), node.to_json())).collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the line of a field, such as `roles[3].name`, or of the deepest part above it that there is.
    pub(crate) fn line_of(&self, field: &str) -> usize {
        self.walk(field).0
    }

    /// Whether there is an item, such as `roles[3]`, and it is a mapping without a value for this key.
    pub(crate) fn lacks(&self, item: &str, name: &str) -> bool {
        let Some(Self { value: Value::Mapping(entries), .. }) = self.at(item) else { return false };
        !entries.iter().any(|(key, node)| key.text == name && !matches!(node.value, Value::Null))
    }

    /// Returns the value of a field, such as `roles[3].name`.
    fn at(&self, field: &str) -> Option<&Self> {
        self.walk(field).1
    }

    /// Follows the parts of a field. Returns the line of the last part that is there, and the value if all of them are.
    fn walk(&self, field: &str) -> (usize, Option<&Self>) {
        let (mut node, mut line) = (self, self.line);
        for part in field.split('.') {
            let (name, numbers) = part.split_once('[').unwrap_or((part, ""));
            let Value::Mapping(entries) = &node.value else { return (line, None) };
            let Some((key, value)) = entries.iter().find(|(key, _)| key.text == name) else { return (line, None) };
            (node, line) = (value, key.line);
            for number in numbers.split('[').filter_map(|number| number.trim_end_matches(']').parse::<usize>().ok()) {
                let Value::List(items) = &node.value else { return (line, None) };
                let Some(item) = items.get(number) else { return (line, None) };
                (node, line) = (item, item.line);
            }
        }
        (line, Some(node))
    }

    /// Writes the document as YAML.
    pub(crate) fn write(&self) -> String {
        let mut text = String::new();
        match &self.value {
            Value::Mapping(entries) if !entries.is_empty() => write_entries(&mut text, entries, 0, false),
            _ => {
                text.push_str(&self.scalar());
                text.push('\n');
            }
        }
        text
    }

    /// The text of a value that has no parts.
    fn scalar(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Text(text) if is_plain(text) => text.clone(),
            Value::Text(text) => Json::from(text.as_str()).to_string(),
            Value::List(_) => "[]".to_owned(),
            Value::Mapping(_) => "{}".to_owned(),
        }
    }
}

/// Whether a text means itself without quotes, also for readers of YAML 1.1.
fn is_plain(text: &str) -> bool {
    const WORDS: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_-:.*".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(is_safe)
        && !text.ends_with(':')
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Writes the entries of a mapping. The first one may follow a dash.
fn write_entries(text: &mut String, entries: &[(Key, Node)], indent: usize, follows_dash: bool) {
    for (number, (key, node)) in entries.iter().enumerate() {
        if number > 0 || !follows_dash {
            text.push_str(&" ".repeat(indent));
        }
        text.push_str(&key.text);
        text.push(':');
        match &node.value {
            Value::Mapping(entries) if !entries.is_empty() => {
                text.push('\n');
                write_entries(text, entries, indent + 2, false);
            }
            Value::List(items) if !items.is_empty() => {
                text.push('\n');
                items.iter().for_each(|item| write_item(text, item, indent + 2));
            }
            _ => {
                text.push(' ');
                text.push_str(&node.scalar());
                text.push('\n');
            }
        }
    }
}

fn write_item(text: &mut String, item: &Node, indent: usize) {
    text.push_str(&" ".repeat(indent));
    text.push_str("- ");
    match &item.value {
        Value::Mapping(entries) if !entries.is_empty() => write_entries(text, entries, indent + 2, true),
        _ => {
            text.push_str(&item.scalar());
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SHOPS: &str = r#"# The shops.
settings:
  secondFactorGraceDays: 9
  emailLogin: "ON"
roles:
  - name: CLERK
    permissions: [orders:read, "*", 'it''s']

  - name: OTHER
    description: >-
      Two
      words
organizations:
- slug: north
  name: "North \u00e9"
  parent:
serviceAccounts: []
"#;

    #[test]
    fn a_document_is_read_with_its_lines() {
        let node = parse(SHOPS).unwrap();
        assert_eq!(
            node.to_json(),
            json!({
                "settings": { "secondFactorGraceDays": 9, "emailLogin": "ON" },
                "roles": [
                    { "name": "CLERK", "permissions": ["orders:read", "*", "it's"] },
                    { "name": "OTHER", "description": "Two words" },
                ],
                "organizations": [{ "slug": "north", "name": "North é" }],
                "serviceAccounts": [],
            })
        );
        for (field, line) in [
            ("$", 2),
            ("unknown", 2),
            ("settings", 2),
            ("settings.emailLogin", 4),
            ("roles", 5),
            ("roles[0]", 6),
            ("roles[0].name", 6),
            ("roles[0].permissions[1]", 7),
            ("roles[0].scope", 6),
            ("roles[1].description", 10),
            ("roles[7].name", 5),
            ("roles.OTHER", 5),
            ("organizations[0].parent", 16),
            ("serviceAccounts[0].assignments[1].role", 17),
        ] {
            assert_eq!(node.line_of(field), line, "{field}");
        }
    }

    #[test]
    fn plain_scalars_are_those_of_the_core_schema() {
        for (text, expected) in [
            ("7", json!(7)),
            ("-7", json!(-7)),
            ("7.5", json!(7.5)),
            ("1e2", json!(100.0)),
            ("true", json!(true)),
            ("ON", json!("ON")),
            ("yes", json!("yes")),
            ("e", json!("e")),
            ("1.2.3", json!("1.2.3")),
            ("2027-01-31", json!("2027-01-31")),
            ("2027-01-31T09:15:00Z", json!("2027-01-31T09:15:00Z")),
            ("\"7\"", json!("7")),
            ("orders:*", json!("orders:*")),
        ] {
            let node = parse(&format!("value: {text}")).map(|node| node.to_json()["value"].clone());
            assert_eq!(node, Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_no_manifest_needs_is_refused_with_its_line() {
        let deep = format!("a:\n  {}{}", "[".repeat(40), "]".repeat(40));
        let many = format!("a:\n  [{}]", "1, ".repeat(100_001));
        assert!(parse("a: [1\nb: 2").unwrap_err().message.starts_with("is not valid YAML"));
        for (text, line, message) in [
            ("", 1, "there is no document"),
            ("# nothing\n", 1, "there is no document"),
            ("~", 1, "there is no document"),
            ("a: &x [1]\nb: *x", 1, "anchors are not supported"),
            ("a: 1\nb: *x", 2, "is not valid YAML"),
            ("a: 1\nb: !!str 2", 2, "tags are not supported"),
            ("a: 1\nb: 2\na: 3", 3, "the key a must be given once"),
            ("a: 1\n? [1, 2]\n: b", 2, "a key must be a text"),
            ("a: 1\n---\nb: 2", 3, "there is a second document"),
            (&deep, 2, "there are more than 16 levels"),
            (&many, 2, "there are more than 100000 values"),
        ] {
            let shown: String = text.chars().take(40).collect();
            let malformed = parse(text).unwrap_err();
            assert!(malformed.message.contains(message), "{shown}: {malformed:?}");
            assert_eq!(malformed.line, line, "{shown}: {malformed:?}");
        }
    }

    #[test]
    fn a_written_document_is_read_again_with_the_same_bytes() {
        let manifest = json!({
            "settings": { "name": "Größe 🦀: \"x\" # y", "emailLogin": "ON", "days": 7 },
            "roles": [
                { "name": "CLERK", "permissions": ["*", "orders:*", "orders:read"] },
                { "name": "N", "description": " - [a]", "permissions": [] },
            ],
            "organizations": [{ "slug": "2027", "name": "null" }, { "slug": "a-b", "name": "a: b", "parent": "true" }],
            "serviceAccounts": [{ "name": "x:", "assignments": [{ "role": "A", "expiresAt": "2027-01-31T09:15:00.123Z" }] }],
            "empty": {},
        });
        let text = parse(&manifest.to_string()).unwrap().write();
        let again = parse(&text).unwrap();
        assert_eq!(again.to_json(), manifest, "{text}");
        assert_eq!(again.write(), text);
        assert!(text.contains("\n  - name: CLERK\n    permissions:\n      - \"*\"\n      - orders:*\n"), "{text}");
    }
}
