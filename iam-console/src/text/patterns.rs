//! Finds the message that a finished text was made of.

use std::collections::HashMap;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;

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
    pub(super) fn find<'a>(&self, text: &'a str) -> Option<(&'static str, Vec<(&'static str, &'a str)>)> {
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
