//! What the services say. Their texts are in English; the files of the languages have them, too, under ids that begin
//! with `core-`. A text that no file has stays in English, and says so.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use askama::filters::HtmlSafe;
use askama::filters::{Html, escape};
use fluent_bundle::FluentValue;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;

use super::{ENGLISH_FILE, Language, t_with};

/// The patterns of the texts of the services, in English.
static SERVICES: LazyLock<Patterns> = LazyLock::new(|| Patterns::read(ENGLISH_FILE, |id| id.starts_with("core-")));

enum Part {
    Text(&'static str),
    Variable(&'static str),
}

impl Part {
    fn has_word(&self) -> bool {
        matches!(self, Self::Text(text) if text.contains(char::is_alphabetic))
    }
}

/// Texts by which the id of a message is found.
pub(super) struct Patterns {
    whole: HashMap<&'static str, &'static str>,
    with_variables: Vec<(&'static str, Vec<Part>)>,
}

impl Patterns {
    pub(super) fn read(file: &'static str, is_read: impl Fn(&str) -> bool) -> Self {
        let resource = parser::parse(file).unwrap_or_else(|(resource, _)| resource);
        let (mut whole, mut with_variables) = (HashMap::new(), Vec::new());
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let (id, Some(pattern)) = (message.id.name, message.value) else { continue };
            if !is_read(id) {
                continue;
            }
            let Some(parts) = parts_of(&pattern) else { continue };
            match parts.as_slice() {
                [Part::Text(text)] => {
                    whole.entry(*text).or_insert(id);
                }
                // A pattern without a word has the form of many texts.
                found if found.iter().any(Part::has_word) => with_variables.push((id, parts)),
                _ => {}
            }
        }
        Self { whole, with_variables }
    }

    /// Returns the id of the message with this text, and the values of its variables.
    fn find<'a>(&self, text: &'a str) -> Option<(&'static str, Vec<(&'static str, &'a str)>)> {
        if let Some(id) = self.whole.get(text) {
            return Some((id, Vec::new()));
        }
        self.with_variables.iter().find_map(|(id, parts)| Some((*id, values_of(parts, text)?)))
    }
}

/// Returns the parts of a pattern. `None` for one with a choice.
fn parts_of(pattern: &Pattern<&'static str>) -> Option<Vec<Part>> {
    let part = |element: &PatternElement<&'static str>| match element {
        PatternElement::TextElement { value } => Some(Part::Text(value)),
        PatternElement::Placeable { expression: Expression::Inline(InlineExpression::VariableReference { id }) } => {
            Some(Part::Variable(id.name))
        }
        PatternElement::Placeable { .. } => None,
    };
    pattern.elements.iter().map(part).collect()
}

/// Returns the values of the variables if the text has the form of these parts. Each value is as short as can be.
fn values_of<'a>(parts: &[Part], text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let (mut values, mut rest, mut open) = (Vec::new(), text, None);
    let last = parts.len().checked_sub(1)?;
    for (number, part) in parts.iter().enumerate() {
        match (part, open.take()) {
            (Part::Text(text), None) => rest = rest.strip_prefix(text)?,
            (Part::Text(text), Some(variable)) => {
                let (value, after) =
                    if number == last { (rest.strip_suffix(text)?, "") } else { rest.split_once(text)? };
                values.push((variable, value));
                rest = after;
            }
            (Part::Variable(variable), _) => open = Some(*variable),
        }
    }
    match open {
        Some(variable) => values.push((variable, rest)),
        None if !rest.is_empty() => return None,
        None => {}
    }
    let is_possible = |(name, value): &(&str, &str)| match *name {
        "min" | "max" => value.bytes().all(|byte| byte.is_ascii_digit()),
        _ => true,
    };
    values.iter().all(|found| !found.1.is_empty() && is_possible(found)).then_some(values)
}

/// Returns a text of a service in the language of the request. `None` if no file has it.
fn translated(text: &str) -> Option<String> {
    let (id, values) = SERVICES.find(text)?;
    let mut translations = Vec::new();
    for (name, value) in values {
        let value = if name == "parts" {
            // A list of texts.
            value.split(", ").map(translated).collect::<Option<Vec<_>>>()?.join(", ")
        } else {
            // It can be a text of its own, such as the name of a kind.
            translated(value).unwrap_or_else(|| value.to_owned())
        };
        translations.push((name, FluentValue::from(value)));
    }
    Some(t_with(id, translations))
}

/// Returns a text of a service in the language of the request, or else in English.
pub(crate) fn of_service(text: &str) -> String {
    let is_english = Language::current().tag == "en";
    if is_english { text.to_owned() } else { translated(text).unwrap_or_else(|| text.to_owned()) }
}

/// Whether a page must say that a text is in English: it is no text of the console, and no file has it.
pub(crate) fn is_foreign(text: &str) -> bool {
    let language = Language::current();
    if language.tag == "en" || translated(text).is_some() || language.patterns.find(text).is_some() {
        return false;
    }
    // What is wrong with a field follows its label, and a stop follows it.
    let text = text.trim_end_matches('.');
    let mut ends = text.match_indices(' ').filter_map(|(at, _)| text.get(at + 1..));
    !ends.any(|end| language.patterns.find(end).is_some())
}

/// Returns what is wrong with a field: its label, and the message of a service or of the console. A message that is a
/// whole sentence stands alone.
pub(crate) fn about(label: &str, message: &str) -> String {
    let message = of_service(message);
    if message.ends_with('.') { message } else { format!("{label} {message}.") }
}

/// A text of a service on a page.
pub(crate) struct Said {
    text: String,
    is_foreign: bool,
}

/// Returns a text of a service, or of the console, for a page. One in a language that is not that of the page says so.
pub(crate) fn said(text: &str) -> Said {
    Said { text: of_service(text), is_foreign: is_foreign(text) }
}

/// The text is escaped.
impl HtmlSafe for Said {}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = escape(&*self.text, Html).map_err(|_| fmt::Error)?;
        if self.is_foreign { write!(f, r#"<span lang="en">{text}</span>"#) } else { write!(f, "{text}") }
    }
}
