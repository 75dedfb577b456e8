use serde_json::{Map, Value};

use crate::audit::catalogue::is_reserved;
use crate::audit::record::{ACTOR, API_KEY, DIRECTORY, SYSTEM};
use crate::audit::{Record, ResourceType};
use crate::id::OrganizationId;
use crate::validate::{Fields, Invalid, InvalidFields};

/// An event that the application wants to record (`docs/audit.md#events-of-an-application`).
#[derive(Clone, Debug, Default)]
pub struct NewEvent {
    /// The action: `[A-Z][A-Z0-9_]{0,63}`. Actions that the service itself records are rejected.
    pub action: String,
    /// The resource type: `[A-Z][A-Z0-9_]{0,63}`.
    pub resource_type: String,
    /// The resource: at most 200 characters, not necessarily a UUID.
    pub resource_id: Option<String>,
    /// Further data: at most 16 KiB of JSON, 500 values and 120 levels, with numbers that an `f64` keeps exactly (RFC
    /// 7493). Fields with the name of a secret are redacted. `system`, `apiKeyId`, `directoryId` and `actorId` are
    /// refused, because the service itself writes them.
    pub metadata: Map<String, Value>,
}

/// A valid event of the application.
#[derive(Clone, Debug)]
pub struct Event {
    action: String,
    resource_type: String,
    resource_id: Option<String>,
    metadata: Map<String, Value>,
}

const MAX_RESOURCE_ID: usize = 200;

/// In bytes. A reader of the log has some hundreds of entries in memory. There, a value of two letters takes up to
/// eighty times the size of its text.
const MAX_METADATA: usize = 16 * 1024;

const MAX_VALUES: usize = 500;

/// Deeper JSON cannot be parsed again.
const MAX_DEPTH: usize = 120;

impl NewEvent {
    /// Checks every field.
    ///
    /// # Errors
    ///
    /// All invalid fields.
    pub fn validate(self) -> Result<Event, InvalidFields> {
        let Self { action, resource_type, resource_id, metadata } = self;
        let mut fields = Fields::default();
        let words = [("action", &action), ("resourceType", &resource_type)];
        for (field, word) in words {
            fields.check(field, check_word(word));
        }
        if fields.is_empty() && is_reserved(&action, &resource_type) {
            fields.reject("action", format!("{action} on {resource_type} is recorded by the service itself"));
        }
        if let Some(id) = &resource_id {
            fields.check("resourceId", check_resource_id(id));
        }
        if !is_bounded(&metadata) {
            fields.reject("metadata", "must be at most 16 KiB of JSON, 500 values and 120 levels");
        } else if !has_exact_numbers(&metadata) {
            fields.reject("metadata", INEXACT);
        }
        let reserved = [
            (SYSTEM, "trusted code"),
            (API_KEY, "API keys"),
            (DIRECTORY, "directories"),
            (ACTOR, "users who act as another"),
        ];
        for (name, of_whom) in reserved {
            if metadata.contains_key(name) {
                fields.reject(&format!("metadata.{name}"), format!("is reserved: the service writes it for {of_whom}"));
            }
        }
        fields.finish()?;
        Ok(Event { action, resource_type, resource_id, metadata })
    }
}

/// The error of metadata whose numbers other programs would read as other numbers.
const INEXACT: &str = "has a number that cannot be kept exactly: send it as a text";

/// Whether an `f64` keeps every integer, as readers of JSON may read it (RFC 7493 §2.2).
fn has_exact_numbers(metadata: &Map<String, Value>) -> bool {
    let mut waiting: Vec<&Value> = metadata.values().collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Number(number) => {
                let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
                if integer.is_some_and(|integer| (integer as f64) as i128 != integer) {
                    return false;
                }
            }
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => waiting.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    true
}

fn is_bounded(metadata: &Map<String, Value>) -> bool {
    let mut waiting: Vec<(usize, &Value)> = metadata.values().map(|value| (1, value)).collect();
    let mut count = 0;
    while let Some((depth, value)) = waiting.pop() {
        count += 1;
        if count + waiting.len() > MAX_VALUES || depth > MAX_DEPTH {
            return false;
        }
        match value {
            Value::Array(items) => waiting.extend(items.iter().map(|item| (depth + 1, item))),
            Value::Object(fields) => waiting.extend(fields.values().map(|value| (depth + 1, value))),
            _ => {}
        }
    }
    serde_json::to_string(metadata).is_ok_and(|text| text.len() <= MAX_METADATA)
}

pub(super) fn check_word(word: &str) -> Result<(), Invalid> {
    let may_follow = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let starts_with_letter = word.starts_with(|first: char| first.is_ascii_uppercase());
    if starts_with_letter && word.len() <= 64 && word.bytes().all(may_follow) {
        Ok(())
    } else {
        Err(Invalid::new("must be upper snake case, such as INVOICE_SENT, at most 64 characters"))
    }
}

fn check_resource_id(id: &str) -> Result<(), Invalid> {
    if id.chars().count() > MAX_RESOURCE_ID || id.chars().any(char::is_control) {
        let message = format!("must be at most {MAX_RESOURCE_ID} characters, none of them a control character");
        return Err(Invalid::new(message));
    }
    Ok(())
}

impl Event {
    pub(crate) fn record(&self) -> Record {
        let Self { action, resource_type, resource_id, metadata } = self;
        let is_organization = resource_type == ResourceType::ORGANIZATION.as_str();
        let organization =
            resource_id.as_deref().filter(|_| is_organization).and_then(|id| id.parse::<OrganizationId>().ok());
        Record::of(action.clone().into(), resource_type.clone().into(), resource_id.clone())
            .in_organization(organization)
            .with_all(metadata.clone())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(action: &str, resource_type: &str) -> Vec<String> {
        let event = NewEvent { action: action.into(), resource_type: resource_type.into(), ..NewEvent::default() };
        match event.validate() {
            Ok(_) => Vec::new(),
            Err(InvalidFields(errors)) => errors.into_iter().map(|error| error.field).collect(),
        }
    }

    #[test]
    fn an_application_cannot_record_events_of_the_service() {
        for (action, resource_type) in [
            ("CREATE", "USER"),
            ("READ", "USER"),
            ("ROLE_ASSIGNED", "USER"),
            ("UPDATE", "ROLE_ASSIGNMENT"),
            ("DELETE", "AUDIT_LOG"),
            ("LOGIN", "TURNSTILE"),
            ("SUSPEND", "SUBSCRIPTION"),
            ("REACTIVATE", "SUBSCRIPTION"),
        ] {
            assert_eq!(refused(action, resource_type), ["action"], "{action} {resource_type}");
        }
        for (action, resource_type) in [("CREATE", "ORDER"), ("EXPORTED", "USER"), ("READ", "REPORT"), ("A", "B")] {
            assert!(refused(action, resource_type).is_empty(), "{action} {resource_type}");
        }
    }

    #[test]
    fn words_are_upper_snake_case_of_at_most_64_characters() {
        assert!(refused(&"A".repeat(64), "B_2__").is_empty());
        for bad in ["", "a", "1A", "_A", "A-B", "A B", "Ä", &"A".repeat(65)] {
            assert_eq!(refused(bad, bad), ["action", "resourceType"], "{bad}");
        }
    }

    #[test]
    fn metadata_is_bounded() {
        let sent = |value: Value| {
            let metadata = Map::from_iter([("a".to_owned(), value)]);
            let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
            NewEvent { action, resource_type, resource_id: None, metadata }.validate().is_ok()
        };
        let text = |length: usize| Value::from("x".repeat(length));
        let nested = |levels: usize| (1..levels).fold(Value::from(1), |value, _| Value::from(vec![value]));
        let frame = r#"{"a":""}"#.len();
        assert!(sent(text(MAX_METADATA - frame)) && !sent(text(MAX_METADATA - frame + 1)));
        assert!(sent(Value::from(vec![0; MAX_VALUES - 1])) && !sent(Value::from(vec![0; MAX_VALUES])));
        assert!(sent(nested(MAX_DEPTH)) && !sent(nested(MAX_DEPTH + 1)));
        assert!(!sent(nested(1_000)));
    }

    /// Returns the fields that are refused in an event with this metadata.
    fn refused_in(metadata: &Value) -> Vec<String> {
        let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
        let metadata = metadata.as_object().cloned().unwrap();
        match (NewEvent { action, resource_type, resource_id: None, metadata }).validate() {
            Ok(_) => Vec::new(),
            Err(InvalidFields(errors)) => errors.into_iter().map(|error| error.field).collect(),
        }
    }

    #[test]
    fn metadata_cannot_name_the_caller_in_place_of_the_service() {
        for name in ["actorId", "apiKeyId", "directoryId", "system"] {
            assert_eq!(refused_in(&json!({ name: "x" })), [format!("metadata.{name}")]);
            assert_eq!(refused_in(&json!({ name: null })), [format!("metadata.{name}")]);
            assert!(refused_in(&json!({ "deep": { name: "x" } })).is_empty(), "{name}");
        }
    }

    #[test]
    fn an_integer_in_metadata_is_one_that_every_reader_keeps() {
        let (largest, power) = (9_007_199_254_740_991_i64, 10_000_000_000_000_000_i64);
        for exact in [json!(largest), json!(-largest), json!(power), json!(i64::MIN), json!(1e300), json!(0.1)] {
            assert!(refused_in(&json!({ "a": [{ "b": exact }] })).is_empty(), "{exact}");
        }
        for inexact in [json!(9_007_199_254_740_993_i64), json!(i64::MAX), json!(u64::MAX)] {
            assert_eq!(refused_in(&json!({ "a": [{ "b": inexact }] })), ["metadata"], "{inexact}");
        }
    }

    #[test]
    fn a_resource_is_named_by_any_text_of_at_most_200_characters() {
        let named = |id: &str| {
            let (action, resource_type) = ("SENT".to_owned(), "INVOICE".to_owned());
            NewEvent { action, resource_type, resource_id: Some(id.into()), metadata: Map::new() }.validate().is_ok()
        };
        assert!(named("2026/17 ü") && named(&"ü".repeat(200)));
        assert!(!named(&"ü".repeat(201)) && !named("a\0b"));
    }
}
