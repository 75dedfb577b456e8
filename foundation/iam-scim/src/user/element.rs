//! The elements of lists: e-mails and phone numbers.

use std::collections::BTreeSet;

use iam_model::text::folded;
use scim_v2::filter::ValFilter;
use serde_json::{Map, Value};

use crate::attribute::{self, Part};
use crate::error::ScimError;
use crate::filter::{asserted, matches};
use crate::operation::Write;
use crate::user::part::{merge, set};

/// The maximum number of elements of a list.
const MAX: usize = 20;

/// The list of an attribute.
pub(super) struct Elements {
    name: &'static str,
    parts: &'static [Part],
    elements: Vec<Map<String, Value>>,
}

impl Elements {
    /// Takes the list of an attribute out of those of a user.
    pub(super) fn take(from: &mut Map<String, Value>, name: &'static str, parts: &'static [Part]) -> Self {
        let values = match from.remove(name) {
            Some(Value::Array(values)) => values,
            _ => Vec::new(),
        };
        let object = |value: Value| if let Value::Object(object) = value { Some(object) } else { None };
        Self { name, parts, elements: values.into_iter().filter_map(object).collect() }
    }

    /// Puts the list back, unless it is empty.
    pub(super) fn give_back(self, into: &mut Map<String, Value>) -> Result<(), ScimError> {
        if self.elements.len() > MAX {
            return Err(too_many(self.name));
        }
        if !self.elements.is_empty() {
            let values = self.elements.into_iter().map(Value::Object).collect();
            into.insert(self.name.to_owned(), Value::Array(values));
        }
        Ok(())
    }

    /// Writes whole elements: all of the list, or those that a filter selects.
    pub(super) fn write(&mut self, filter: Option<&ValFilter>, write: Write, value: &Value) -> Result<(), ScimError> {
        let mut given = self.read(value)?;
        let mut written = BTreeSet::new();
        match (filter, write) {
            (None, Write::Replace) => {
                written.extend(0..given.len());
                self.elements = given;
            }
            (None, Write::Add) => given.into_iter().for_each(|element| written.extend(self.add(element))),
            (Some(filter), Write::Replace) if given.is_empty() => self.remove(Some(filter), None)?,
            (Some(filter), _) => {
                let given = given.pop().filter(|_| given.is_empty());
                let given =
                    given.ok_or_else(|| invalid(self.name, "must be one object where its path has a filter"))?;
                let selected = self.selected(Some(filter));
                if selected.is_empty() {
                    let mut element = self.made_of(Some(filter))?;
                    element.extend(given);
                    written.extend(self.make(element));
                } else {
                    for element in self.at(&selected) {
                        element.extend(given.clone());
                    }
                    written = selected;
                }
            }
        }
        self.leave_one_primary(&written)
    }

    /// Writes a part of the elements that a filter selects. Where there is none, one is made (RFC 7644, section 3.5.2,
    /// leaves it open; Entra ID relies on it).
    pub(super) fn write_part(
        &mut self,
        part: &Part,
        filter: Option<&ValFilter>,
        value: &Value,
    ) -> Result<(), ScimError> {
        let mut written = self.selected(filter);
        let name = self.name;
        for element in self.at(&written) {
            set(element, name, part, value)?;
        }
        if written.is_empty() && !value.is_null() {
            let mut element = self.made_of(filter)?;
            set(&mut element, self.name, part, value)?;
            written.extend(self.make(element));
        }
        self.leave_one_primary(&written)
    }

    /// Removes elements: those that a filter selects, those with the values of a list, or all.
    pub(super) fn remove(&mut self, filter: Option<&ValFilter>, listed: Option<&Value>) -> Result<(), ScimError> {
        match (filter, listed.filter(|listed| !listed.is_null())) {
            (Some(filter), _) => self.elements.retain(|element| !matches(filter, element)),
            (None, Some(listed)) => {
                let listed = self.read(listed)?;
                let is_listed = |element: &Map<String, Value>| listed.iter().any(|other| is_named_by(element, other));
                self.elements.retain(|element| !is_listed(element));
            }
            (None, None) => self.elements.clear(),
        }
        Ok(())
    }

    /// Removes a part of the elements that a filter selects.
    pub(super) fn remove_part(&mut self, part: &Part, filter: Option<&ValFilter>) {
        let selected = self.selected(filter);
        for element in self.at(&selected) {
            element.remove(part.name);
        }
    }

    /// Leaves out what says nothing: elements without a value, and those that repeat the value and the type of another
    /// one.
    pub(super) fn tidy(&mut self) {
        let mut kept: Vec<Map<String, Value>> = Vec::new();
        for element in std::mem::take(&mut self.elements) {
            if text(&element, "value").is_none_or(str::is_empty) {
                continue;
            }
            match kept.iter_mut().find(|other| is_same(other, &element)) {
                Some(other) if is_primary(&element) => drop(other.insert("primary".to_owned(), Value::Bool(true))),
                Some(_) => {}
                None => kept.push(element),
            }
        }
        self.elements = kept;
    }

    /// Reads elements. One alone needs no list, and one that has only a value no object.
    fn read(&self, value: &Value) -> Result<Vec<Map<String, Value>>, ScimError> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(values) if values.len() > MAX => Err(too_many(self.name)),
            Value::Array(values) => values.iter().map(|value| self.read_one(value)).collect(),
            value => Ok(vec![self.read_one(value)?]),
        }
    }

    fn read_one(&self, value: &Value) -> Result<Map<String, Value>, ScimError> {
        let mut element = Map::new();
        match (value, attribute::part(self.parts, "value")) {
            (Value::Null, _) => {}
            (Value::String(_), Some(part)) => set(&mut element, self.name, part, value)?,
            (Value::Object(_), _) => merge(&mut element, self.name, self.parts, Write::Add, value)?,
            _ => return Err(invalid(self.name, "must be a list of objects")),
        }
        Ok(element)
    }

    /// Returns where the elements are that a filter selects; without one, all.
    fn selected(&self, filter: Option<&ValFilter>) -> BTreeSet<usize> {
        let is_selected = |element: &Map<String, Value>| filter.is_none_or(|filter| matches(filter, element));
        self.elements.iter().enumerate().filter(|(_, element)| is_selected(element)).map(|(index, _)| index).collect()
    }

    /// Returns the elements at some places.
    fn at(&mut self, places: &BTreeSet<usize>) -> impl Iterator<Item = &mut Map<String, Value>> {
        self.elements
            .iter_mut()
            .enumerate()
            .filter(move |(index, _)| places.contains(index))
            .map(|(_, element)| element)
    }

    /// Returns the element that a filter describes.
    fn made_of(&self, filter: Option<&ValFilter>) -> Result<Map<String, Value>, ScimError> {
        let mut element = Map::new();
        let Some(filter) = filter else { return Ok(element) };
        let no_target = || ScimError::no_target(format!("{} has no element that the path selects", self.name));
        for (name, value) in asserted(filter).ok_or_else(no_target)? {
            if let Some(part) = attribute::part(self.parts, name) {
                set(&mut element, self.name, part, &value)?;
            }
        }
        Ok(element)
    }

    /// Adds an element that a path describes, unless its value is there already under the same type: the change has
    /// been made before, and what it has made is not what the path selects.
    fn make(&mut self, element: Map<String, Value>) -> Option<usize> {
        if self.elements.iter().any(|other| is_same(other, &element)) { None } else { self.add(element) }
    }

    /// Adds an element, unless one says the same already. Returns where it is.
    fn add(&mut self, element: Map<String, Value>) -> Option<usize> {
        let says_the_same =
            |other: &Map<String, Value>| element.iter().all(|(name, value)| other.get(name) == Some(value));
        if self.elements.iter().any(says_the_same) {
            return None;
        }
        if let Some(index) = self.elements.iter().position(|other| is_same(other, &element)) {
            self.elements.get_mut(index)?.extend(element);
            return Some(index);
        }
        self.elements.push(element);
        Some(self.elements.len() - 1)
    }

    /// A new primary element ends the one before it (RFC 7644, section 3.5.2).
    fn leave_one_primary(&mut self, written: &BTreeSet<usize>) -> Result<(), ScimError> {
        let is_new = |index: &&usize| self.elements.get(**index).is_some_and(is_primary);
        let new: Vec<usize> = written.iter().filter(is_new).copied().collect();
        match new.as_slice() {
            [] => Ok(()),
            [new] => {
                let others = self.elements.iter_mut().enumerate().filter(|(index, _)| index != new);
                for (_, other) in others.filter(|(_, other)| is_primary(other)) {
                    other.insert("primary".to_owned(), Value::Bool(false));
                }
                Ok(())
            }
            _ => Err(invalid(self.name, "must have one primary element at most")),
        }
    }
}

fn text<'e>(element: &'e Map<String, Value>, name: &str) -> Option<&'e str> {
    element.get(name).and_then(Value::as_str)
}

fn is_primary(element: &Map<String, Value>) -> bool {
    element.get("primary") == Some(&Value::Bool(true))
}

/// Whether two elements have the same value and the same type.
fn is_same(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    ["value", "type"].iter().all(|name| text(one, name) == text(other, name))
}

/// Whether an entry of a list, which may leave the type out, names an element.
fn is_named_by(element: &Map<String, Value>, entry: &Map<String, Value>) -> bool {
    let is_equal = |name: &str| text(element, name).map(folded) == text(entry, name).map(folded);
    text(entry, "value").is_some() && is_equal("value") && (text(entry, "type").is_none() || is_equal("type"))
}

fn invalid(name: &str, rule: &str) -> ScimError {
    ScimError::invalid_value(format!("{name} {rule}"))
}

fn too_many(name: &str) -> ScimError {
    invalid(name, &format!("must have at most {MAX} elements"))
}
