use serde_json::{Number, Value};

use crate::attribute::{AttributeDefinitions, AttributeType};
use crate::validate::{AttributeKey, Fields};

/// A value by which an owner of attributes is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedValue {
    /// The key of the attribute.
    pub key: String,
    /// The type and the text of the value, in one text: values of different types are never equal.
    pub value: String,
}

impl IndexedValue {
    pub(super) fn of(key: &str, value: &Value) -> Option<Self> {
        let value = match value {
            Value::String(text) if text.chars().count() <= AttributeFilter::MAX_VALUE => of_text(text),
            Value::Number(number) => of_number(number),
            Value::Bool(truth) => of_truth(*truth),
            Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some(Self { key: key.to_owned(), value })
    }
}

fn of_text(text: &str) -> String {
    format!("s:{text}")
}

fn of_truth(truth: bool) -> String {
    format!("b:{truth}")
}

/// Numbers that are equal have the same text, however they were written.
fn of_number(number: &Number) -> String {
    /// All integers up to this one have a floating-point form of their own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match (number.as_u64(), number.as_i64(), number.as_f64()) {
        (Some(integer), ..) => format!("n:{integer}"),
        (_, Some(integer), _) => format!("n:{integer}"),
        (.., Some(float)) if float.fract() == 0.0 && float.abs() <= EXACT => {
            format!("n:{:.0}", float.abs() * sign(float))
        }
        (.., Some(float)) => format!("n:{float:e}"),
        (None, None, None) => format!("n:{number}"),
    }
}

/// Negative zero is zero.
fn sign(float: f64) -> f64 {
    if float < 0.0 { -1.0 } else { 1.0 }
}

/// Selects those that have exactly this value under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributeFilter {
    /// The key and the value.
    pub value: IndexedValue,
}

impl AttributeFilter {
    /// The maximum number of characters of a value by which an owner is found.
    pub const MAX_VALUE: usize = 200;

    /// Reads the text `key:value`. `field` is the name of the parameter in errors. The key must be one that the tenant
    /// has made searchable.
    pub fn parse(fields: &mut Fields, field: &str, text: &str, definitions: &AttributeDefinitions) -> Option<Self> {
        let parsed = Self::parsed(text, definitions);
        parsed.map_err(|message| fields.reject(field, message)).ok()
    }

    fn parsed(text: &str, definitions: &AttributeDefinitions) -> Result<Self, String> {
        let Some((key, typed)) = text.split_once(':') else { return Err("must be key:value".to_owned()) };
        let key: AttributeKey = key.parse().map_err(|_| "must begin with the key of an attribute".to_owned())?;
        let definition = definitions.get(key.as_str()).filter(|definition| definition.searchable);
        let Some(definition) = definition else {
            return Err("must name an attribute that the tenant has made searchable".to_owned());
        };
        if typed.chars().count() > Self::MAX_VALUE {
            return Err(format!("must have a value of at most {} characters", Self::MAX_VALUE));
        }
        let value = match definition.kind {
            AttributeType::String => of_text(typed),
            AttributeType::Number => {
                of_number(&typed.parse().map_err(|_| "must have a number as the value".to_owned())?)
            }
            AttributeType::Boolean => {
                of_truth(typed.parse().map_err(|_| "must have true or false as the value".to_owned())?)
            }
            AttributeType::Strings | AttributeType::Object => {
                return Err("must name an attribute of the type STRING, NUMBER or BOOLEAN".to_owned());
            }
        };
        Ok(Self { value: IndexedValue { key: key.as_str().to_owned(), value } })
    }

    /// Whether one of these values is the one that is searched. For stores that filter in memory.
    #[must_use]
    pub fn matches(&self, indexed: &[IndexedValue]) -> bool {
        indexed.contains(&self.value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attribute::Attributes;

    const DEFINITIONS: &str = r#"[
        {"key":"text","type":"STRING","searchable":true},
        {"key":"number","type":"NUMBER","searchable":true},
        {"key":"flag","type":"BOOLEAN","searchable":true},
        {"key":"hidden","type":"STRING"}
    ]"#;

    fn filter(text: &str) -> Option<AttributeFilter> {
        let definitions = AttributeDefinitions::stored(DEFINITIONS).unwrap();
        AttributeFilter::parse(&mut Fields::default(), "attribute", text, &definitions)
    }

    #[test]
    fn a_filter_finds_exactly_its_value() {
        let values = json!({ "text": "a:b", "number": 7.0, "flag": true, "hidden": "x", "list": ["x"] });
        let indexed = serde_json::from_value::<Attributes>(values).unwrap().indexed();
        assert_eq!(indexed.len(), 4);
        for found in ["text:a:b", "number:7", "number:7.0", "number:70e-1", "flag:true"] {
            assert!(filter(found).unwrap().matches(&indexed), "{found}");
        }
        for other in ["text:a", "text:A:b", "text:", "number:-7", "number:7.1", "flag:false"] {
            assert!(!filter(other).unwrap().matches(&indexed), "{other}");
        }
        for refused in ["text", "hidden:x", "other:x", "number:x", "number:", "flag:1", ":x", "list:x"] {
            assert!(filter(refused).is_none(), "{refused}");
        }
        assert!(filter(&format!("text:{}", "ü".repeat(200))).is_some());
        assert!(filter(&format!("text:{}", "ü".repeat(201))).is_none());
    }

    #[test]
    fn a_text_and_another_type_are_never_equal() {
        let indexed = serde_json::from_value::<Attributes>(json!({ "flag": "true", "number": "7" })).unwrap().indexed();
        assert!(!filter("flag:true").unwrap().matches(&indexed));
        assert!(!filter("number:7").unwrap().matches(&indexed));
        let zero = |value: Value| IndexedValue::of("number", &value).unwrap();
        assert_eq!(zero(json!(-0.0)), zero(json!(0)));
    }
}
