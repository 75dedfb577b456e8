//! JSON in one canonical form, independent of the program and its version: no blanks, sorted keys, integers as
//! digits. All other numbers are the shortest text in scientific notation that gives the same `f64`.

use std::io::Write as _;

use serde_json::{Map, Value};

/// Decides whether the value of a field is withheld. Then only [`WITHHELD`] is written.
pub(super) type Withhold<'f, 'v> = &'f mut dyn FnMut(&str, &'v Value) -> bool;

/// The text that replaces a withheld value.
pub(super) const WITHHELD: &str = "[PERSONAL]";

/// Writes a value and everything inside it.
pub(super) fn write<'v>(value: &'v Value, json: &mut Vec<u8>, withhold: Withhold<'_, 'v>) {
    match value {
        Value::Object(fields) => write_fields(fields, json, withhold),
        Value::Array(items) => write_items(items, json, withhold),
        Value::String(text) => write_text(text, json),
        // `serde_json` does not write numbers in one form: its output has changed between versions, and a host
        // program can compile it so that it keeps numbers as they were written.
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => print(json, format_args!("{number}")),
            (_, Some(number), _) => print(json, format_args!("{number}")),
            (.., Some(number)) => print(json, format_args!("{number:e}")),
            (None, None, None) => print(json, format_args!("{number}")),
        },
        Value::Bool(truth) => print(json, format_args!("{truth}")),
        Value::Null => json.extend_from_slice(b"null"),
    }
}

/// Writes an object.
pub(super) fn write_fields<'v>(fields: &'v Map<String, Value>, json: &mut Vec<u8>, withhold: Withhold<'_, 'v>) {
    json.push(b'{');
    for (number, (name, value)) in sorted(fields).into_iter().enumerate() {
        if number > 0 {
            json.push(b',');
        }
        write_text(name, json);
        json.push(b':');
        if withhold(name, value) {
            write_text(WITHHELD, json);
        } else {
            write(value, json, withhold);
        }
    }
    json.push(b'}');
}

/// Writes an array.
pub(super) fn write_items<'v>(
    items: impl IntoIterator<Item = &'v Value>,
    json: &mut Vec<u8>,
    withhold: Withhold<'_, 'v>,
) {
    json.push(b'[');
    for (number, item) in items.into_iter().enumerate() {
        if number > 0 {
            json.push(b',');
        }
        write(item, json, withhold);
    }
    json.push(b']');
}

/// Writes a string.
pub(super) fn write_text(text: &str, json: &mut Vec<u8>) {
    // A string always serializes, and a write to a vector never fails.
    let _ = serde_json::to_writer(json, text);
}

fn print(json: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // A write to a vector never fails.
    let _ = json.write_fmt(text);
}

/// Sorts fields by name, whether or not a host program has compiled `serde_json` so that it keeps the insertion order.
pub(super) fn sorted(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    fields
}

/// Returns the canonical text of a value: JSON without blanks, keys sorted.
#[must_use]
pub fn canonical_json(value: &Value) -> Vec<u8> {
    let mut json = Vec::new();
    write(value, &mut json, &mut |_, _| false);
    json
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical(value: &Value) -> String {
        let mut json = Vec::new();
        write(value, &mut json, &mut |_, _| false);
        String::from_utf8(json).unwrap()
    }

    #[test]
    fn numbers_have_one_form() {
        let text = canonical(&json!({ "b": [1, -1, 1.0, -0.0, 1e16, 1.5e-7, u64::MAX, i64::MIN], "a": null }));
        let expected = r#"{"a":null,"b":[1,-1,1e0,-0e0,1e16,1.5e-7,18446744073709551615,-9223372036854775808]}"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn strings_are_escaped_only_as_json_requires() {
        assert_eq!(canonical(&json!(["a\"\\/\n\u{1}ü😀", true, {}])), r#"["a\"\\/\n\u0001ü😀",true,{}]"#);
    }

    #[test]
    fn the_callback_receives_every_withheld_value() {
        let value = json!({ "b": { "secret": [1] }, "a": [{ "secret": 2 }] });
        let (mut withheld, mut json) = (Vec::new(), Vec::new());
        write(&value, &mut json, &mut |name, value| {
            let is_secret = name == "secret";
            if is_secret {
                withheld.push(value);
            }
            is_secret
        });
        assert_eq!(String::from_utf8(json).unwrap(), r#"{"a":[{"secret":"[PERSONAL]"}],"b":{"secret":"[PERSONAL]"}}"#);
        assert_eq!(withheld, [&json!(2), &json!([1])]);
    }
}
