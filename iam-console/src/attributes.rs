//! The attributes of a user or an organization in a form: a field for each one that the tenant has defined, and a text
//! with all others as JSON.

use iam_axum::attributes_of_json;
use iam_core::attribute::{AttributeDefinitions, AttributeType, Attributes};
use iam_core::{Error, FieldError};
use serde_json::{Map, Number, Value};

use crate::form::{ATTRIBUTE, Form};
use crate::text;
use crate::view::Field;

/// The field with all attributes that have no field of their own.
const OTHERS: &str = "attributes";

/// The fields of a form with attributes.
pub(crate) struct AttributeFields {
    pub(crate) defined: Vec<DefinedField>,
    pub(crate) others: Field,
    /// Whether the form has the field for the others.
    pub(crate) takes_others: bool,
}

/// The attributes of a person on the page of its own account.
pub(crate) struct OwnAttributes {
    /// The keys and the values that the person sees, and does not change.
    pub(crate) seen: Vec<(String, String)>,
    /// The form with those that it changes. `None` if there is none.
    pub(crate) form: Option<AttributeFields>,
}

/// The field of an attribute that the tenant has defined.
pub(crate) struct DefinedField {
    pub(crate) field: Field,
    kind: AttributeType,
}

impl DefinedField {
    /// Whether the person chooses one of two values.
    pub(crate) fn is_choice(&self) -> bool {
        self.kind == AttributeType::Boolean
    }

    /// Whether there is a value in each line.
    pub(crate) fn is_list(&self) -> bool {
        self.kind == AttributeType::Strings
    }
}

impl AttributeFields {
    /// Returns the fields of stored attributes, with the typed values and their errors if the form is shown again.
    pub(crate) fn of(
        definitions: &AttributeDefinitions,
        attributes: &Attributes,
        (form, errors): (Option<&Form>, &[FieldError]),
    ) -> Self {
        let filled = |field: Field, stored: &str| {
            let typed =
                form.filter(|form| form.has(&field.name)).map_or(stored, |form| form.get(&field.name)).to_owned();
            field.filled(&typed).with_errors(errors)
        };
        let defined: Vec<DefinedField> = definitions
            .iter()
            .filter_map(|definition| {
                let key = definition.key.as_str();
                let stored = shown(definition.kind, attributes.get(key))?;
                let field = Field::text(name_of(key), key.to_owned()).optional();
                let field = field.with_hint(text::attribute_hint(definition.kind));
                Some(DefinedField { field: filled(field, &stored), kind: definition.kind })
            })
            .collect();
        let label = if defined.is_empty() { text::t("attributes") } else { text::t("other-attributes") };
        let others = Field::text(OTHERS, label).optional().with_hint(text::t("other-attributes-hint"));
        let others = filled(others, &text_of(&others_of(definitions, attributes)));
        let is_elsewhere = |name: &str| defined.iter().any(|defined| defined.field.name == name);
        let of_others = errors.iter().filter(|error| error.field.starts_with(ATTRIBUTE) && !is_elsewhere(&error.field));
        let of_others = of_others.map(|error| text::about(&error.field, &error.message));
        let all: Vec<String> =
            Some(others.error.clone()).into_iter().filter(|error| !error.is_empty()).chain(of_others).collect();
        Self { defined, others: Field { error: all.join(" "), ..others }, takes_others: true }
    }

    /// Whether no attribute has a value.
    pub(crate) fn is_empty(&self) -> bool {
        self.others.value.is_empty() && self.defined.iter().all(|defined| defined.field.value.is_empty())
    }
}

impl OwnAttributes {
    /// Returns the attributes that a person sees of itself, with the typed values and their errors if the form is shown
    /// again. `None` if the tenant shows none to persons.
    pub(crate) fn of(
        definitions: &AttributeDefinitions,
        attributes: &Attributes,
        typed: (Option<&Form>, &[FieldError]),
    ) -> Option<Self> {
        let seen = definitions.iter().filter(|definition| definition.person_reads && !definition.person_writes);
        let seen: Vec<(String, String)> = seen
            .map(|definition| {
                let key = definition.key.as_str();
                (key.to_owned(), attributes.get(key).map_or_else(|| text::t("not-set").to_owned(), read_as))
            })
            .collect();
        let (written, attributes) = own(definitions, attributes);
        let form = (!written.is_empty()).then(|| AttributeFields {
            // Without a definition, a person writes no key.
            takes_others: has_others(&written, &attributes),
            ..AttributeFields::of(&written, &attributes, typed)
        });
        (form.is_some() || !seen.is_empty()).then_some(Self { seen, form })
    }
}

/// Returns what a form changes of the attributes that a person sees of itself, as [`changes`] does.
pub(crate) fn own_changes(
    definitions: &AttributeDefinitions,
    attributes: &Attributes,
    form: &Form,
) -> Result<Option<Map<String, Value>>, Error> {
    let (written, attributes) = own(definitions, attributes);
    changes(&written, &attributes, form)
}

/// Returns the definitions of the attributes that a person changes itself, and their values.
fn own(definitions: &AttributeDefinitions, attributes: &Attributes) -> (AttributeDefinitions, Attributes) {
    let written = definitions.select(|definition| definition.person_writes);
    let attributes = attributes.select(|key| written.get(key).is_some());
    (written, attributes)
}

/// Whether some of the attributes with a definition have no field of their own.
fn has_others(definitions: &AttributeDefinitions, attributes: &Attributes) -> bool {
    definitions.iter().any(|definition| shown(definition.kind, attributes.get(definition.key.as_str())).is_none())
}

/// Returns a value for a person who does not change it.
fn read_as(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(truth) => (if *truth { text::t("yes") } else { text::t("no") }).to_owned(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    }
}

/// Returns the filter `key:value` of a list by the exact value of an attribute. `None` as long as a person has typed one
/// of the two alone.
pub(crate) fn sought(key: &str, value: &str) -> Option<String> {
    let is_complete = !key.is_empty() && !value.is_empty();
    is_complete.then(|| format!("{key}:{value}"))
}

/// Returns the keys by whose value a list can be searched.
pub(crate) fn searchable(definitions: &AttributeDefinitions) -> Vec<String> {
    let searchable = definitions.iter().filter(|definition| definition.searchable);
    searchable.map(|definition| definition.key.as_str().to_owned()).collect()
}

/// Returns what a form changes of stored attributes, by key: null removes one. `None` if it changes nothing.
///
/// The version in the form says that the attributes are those that the page has shown. Its fields may be those of other
/// definitions, so a key that has a field in the form is none of the others, also if the definitions have changed. A
/// field without a definition is refused, because what is typed there would be lost.
pub(crate) fn changes(
    definitions: &AttributeDefinitions,
    attributes: &Attributes,
    form: &Form,
) -> Result<Option<Map<String, Value>>, Error> {
    let (mut changes, mut errors) = (Map::new(), Vec::new());
    let is_undefined = |name: &&str| name.strip_prefix(ATTRIBUTE).is_some_and(|key| definitions.get(key).is_none());
    let undefined = form.names().filter(is_undefined);
    errors.extend(undefined.map(|name| FieldError::new(name, text::t("has-no-field"))));
    for definition in definitions.iter() {
        let key = definition.key.as_str();
        let name = name_of(key);
        let Some(stored) = shown(definition.kind, attributes.get(key)) else { continue };
        if !form.has(&name) || has_same_lines(form.get(&name), &stored) {
            continue;
        }
        match typed(definition.kind, form.get(&name)) {
            Ok(value) => drop(changes.insert(key.to_owned(), value)),
            Err(message) => errors.push(FieldError::new(name, message)),
        }
    }
    let others = others_of(definitions, attributes);
    if form.has(OTHERS) && !has_same_lines(form.get(OTHERS), &text_of(&others)) {
        let text = form.get(OTHERS).trim();
        match attributes_of_json(if text.is_empty() { "{}" } else { text }) {
            Ok(wanted) => {
                let gone = others.keys().filter(|key| !wanted.contains_key(*key) && !form.has(&name_of(key)));
                changes.extend(gone.map(|key| (key.clone(), Value::Null)));
                for (key, value) in wanted {
                    if form.has(&name_of(&key)) {
                        errors.push(FieldError::new(OTHERS, text::has_a_field(&key)));
                    } else if attributes.get(&key) != Some(&value) {
                        changes.insert(key, value);
                    }
                }
            }
            Err(Error::Validation(refused)) => errors.extend(refused),
            Err(error) => return Err(error),
        }
    }
    if errors.is_empty() {
        Ok(Some(changes).filter(|changes| !changes.is_empty()))
    } else {
        Err(Error::Validation(errors))
    }
}

fn name_of(key: &str) -> String {
    format!("{ATTRIBUTE}{key}")
}

/// Returns the attributes that have no field of their own.
fn others_of(definitions: &AttributeDefinitions, attributes: &Attributes) -> Map<String, Value> {
    let has_field = |key: &str| {
        definitions.get(key).is_some_and(|definition| shown(definition.kind, attributes.get(key)).is_some())
    };
    attributes.select(|key| !has_field(key)).into()
}

/// Returns attributes as a person reads them; empty if there is none.
fn text_of(attributes: &Map<String, Value>) -> String {
    if attributes.is_empty() { String::new() } else { format!("{:#}", Value::Object(attributes.clone())) }
}

/// Returns a value as the field of its type shows it. `None` if that field would lose some of it.
fn shown(kind: AttributeType, value: Option<&Value>) -> Option<String> {
    let is_line = |text: &str| !text.is_empty() && text.trim() == text && !text.contains(char::is_control);
    match (kind, value) {
        (AttributeType::Object, _) => None,
        (_, None) => Some(String::new()),
        (AttributeType::String, Some(Value::String(text))) => Some(text.clone()).filter(|text| is_line(text)),
        (AttributeType::Number, Some(Value::Number(number))) => Some(number.to_string()),
        (AttributeType::Boolean, Some(Value::Bool(truth))) => Some(truth.to_string()),
        (AttributeType::Strings, Some(Value::Array(items))) if !items.is_empty() => {
            let lines = items.iter().map(|item| item.as_str().filter(|text| is_line(text)));
            lines.collect::<Option<Vec<&str>>>().map(|lines| lines.join("\n"))
        }
        (_, Some(_)) => None,
    }
}

/// Returns the value that a person has typed; null for an empty field.
fn typed(kind: AttributeType, text: &str) -> Result<Value, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Value::Null);
    }
    match kind {
        AttributeType::Number => text.parse::<Number>().map(Value::Number).map_err(|_| text::t("must-be-any-number")),
        AttributeType::Boolean => text.parse::<bool>().map(Value::Bool).map_err(|_| text::t("must-be-chosen")),
        AttributeType::Strings => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            Ok(lines.map(Value::from).collect::<Vec<Value>>().into())
        }
        AttributeType::String | AttributeType::Object => Ok(text.into()),
    }
}

/// Whether two texts have the same lines: browsers send other ends of lines than those of the page.
fn has_same_lines(text: &str, other: &str) -> bool {
    text.trim_end().lines().eq(other.trim_end().lines())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DEFINITIONS: &str = r#"[
        {"key":"centre","type":"STRING"},
        {"key":"floor","type":"NUMBER"},
        {"key":"remote","type":"BOOLEAN"},
        {"key":"tags","type":"STRINGS"},
        {"key":"desk","type":"OBJECT"}
    ]"#;

    fn definitions() -> AttributeDefinitions {
        AttributeDefinitions::stored(DEFINITIONS).unwrap()
    }

    fn attributes(value: Value) -> Attributes {
        serde_json::from_value(value).unwrap()
    }

    /// Returns what a form changes that a browser sends as it was shown, except these fields.
    fn changed(stored: Value, typed: &[(&str, &str)]) -> Result<Value, String> {
        let (definitions, stored) = (definitions(), attributes(stored));
        let shown = AttributeFields::of(&definitions, &stored, (None, &[]));
        let defined = shown.defined.iter().map(|defined| &defined.field);
        let form = defined.chain([&shown.others]).fold(Form::default(), |form, field| {
            let value = typed.iter().find(|(name, _)| *name == field.name).map_or(&*field.value, |(_, value)| value);
            form.replacing(&field.name, value.replace('\n', "\r\n"))
        });
        form.check().unwrap();
        match changes(&definitions, &stored, &form) {
            Ok(changes) => Ok(changes.map_or(Value::Null, Value::Object)),
            Err(Error::Validation(errors)) => Err(errors.into_iter().map(|error| error.field).collect()),
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_form_that_is_sent_as_it_was_shown_changes_nothing() {
        for stored in [
            json!({}),
            json!({ "centre": "4711", "floor": 3, "remote": false, "tags": ["a", "b"], "desk": { "x": [1] }, "y": "z" }),
            // Values that their fields would change, and values that are older than their definitions.
            json!({ "centre": " a\nb ", "floor": 1.50, "tags": [], "desk": "x" }),
            json!({ "centre": 7, "floor": "3", "remote": "true", "tags": ["a\nb", ""] }),
        ] {
            assert_eq!(changed(stored.clone(), &[]).unwrap(), Value::Null, "{stored}");
        }
    }

    #[test]
    fn what_is_typed_is_read_by_its_type() {
        let stored = json!({ "centre": "4711", "floor": 3, "remote": true, "tags": ["a"], "other": 1, "more": 2 });
        let typed = [
            ("attributes.centre", " 0815 "),
            ("attributes.floor", "-1.5"),
            ("attributes.remote", "false"),
            ("attributes.tags", "a\n\n b "),
            ("attributes", r#"{ "more": 2, "desk": { "x": 1 } }"#),
        ];
        let expected = json!({
            "centre": "0815", "floor": -1.5, "remote": false, "tags": ["a", "b"], "other": null, "desk": { "x": 1 },
        });
        assert_eq!(changed(stored.clone(), &typed).unwrap(), expected);
        let emptied = ["attributes.centre", "attributes.floor", "attributes.remote", "attributes.tags", "attributes"];
        let expected =
            json!({ "centre": null, "floor": null, "remote": null, "tags": null, "other": null, "more": null });
        assert_eq!(changed(stored, &emptied.map(|name| (name, ""))).unwrap(), expected);
    }

    #[test]
    fn a_mistake_names_its_field() {
        for (name, value, named) in [
            ("attributes.floor", "three", "attributes.floor"),
            ("attributes.remote", "perhaps", "attributes.remote"),
            ("attributes", "{", "attributes"),
            ("attributes", "[]", "attributes"),
            ("attributes", r#"{"a":1,"a":2}"#, "attributes.a"),
            ("attributes", r#"{"centre":"1"}"#, "attributes"),
        ] {
            assert_eq!(changed(json!({}), &[(name, value)]), Err(named.to_owned()), "{value}");
        }
    }

    #[test]
    fn a_field_without_a_definition_is_refused() {
        let form = Form::with("attributes.evil.key", "x".to_owned());
        form.check().unwrap();
        let Err(Error::Validation(errors)) = changes(&definitions(), &Attributes::default(), &form) else { panic!() };
        assert_eq!(errors, [FieldError::new("attributes.evil.key", text::t("has-no-field"))]);
    }
}
