//! Answers as the documents show them, where `…` stands for the parts that they leave out.

use serde_json::{Map, Value, json};

const ANYTHING: &str = "…";

/// Parses the JSON that a document shows, in which `…` may also stand for a value, further members or items.
pub(super) fn shown(text: &str) -> Value {
    let (mut json, mut containers) = (String::new(), Vec::new());
    let (mut is_in_string, mut is_escaped) = (false, false);
    for character in text.chars() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_in_string = !is_in_string,
            _ if is_in_string => {}
            '{' | '[' => containers.push(character),
            '}' | ']' => drop(containers.pop()),
            '…' if containers.last() == Some(&'{') && !json.trim_end().ends_with(':') => json.push_str("\"…\":\""),
            '…' => json.push('"'),
            _ => {}
        }
        json.push(character);
        if character == '…' && !is_in_string {
            json.push('"');
        }
    }
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

/// Returns all JSON answers at the start of an output, up to the first text that is not JSON.
pub(super) fn said(output: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(output).into_iter().map_while(Result::ok).collect()
}

pub(super) fn is_problem(answer: &Value) -> bool {
    answer["type"].is_string() && answer["status"].is_number()
}

/// Returns where an answer differs from what the document shows.
pub(super) fn differences(shown: &Value, said: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", shown, said, &mut found);
    found
}

fn compare(place: &str, shown: &Value, said: &Value, found: &mut Vec<String>) {
    match (shown, said) {
        (Value::Object(shown), Value::Object(said)) => compare_objects(place, shown, said, found),
        (Value::Array(shown), Value::Array(said)) => {
            let is_open = shown.last().is_some_and(|last| last == ANYTHING);
            let shown = if is_open { &shown[..shown.len() - 1] } else { &shown[..] };
            if said.len() < shown.len() || (!is_open && said.len() > shown.len()) {
                found.push(format!("{place} has {} items", said.len()));
            }
            for (number, (shown, said)) in shown.iter().zip(said).enumerate() {
                compare(&format!("{place}[{number}]"), shown, said, found);
            }
        }
        (Value::String(text), _) if text == ANYTHING => {}
        (Value::String(text), Value::String(_)) if text.contains(ANYTHING) => {}
        _ if shown == said => {}
        _ => found.push(format!("{place} is {said}")),
    }
}

fn compare_objects(place: &str, shown: &Map<String, Value>, said: &Map<String, Value>, found: &mut Vec<String>) {
    for (name, shown) in shown.iter().filter(|(name, _)| *name != ANYTHING) {
        match said.get(name) {
            Some(said) => compare(&format!("{place}.{name}"), shown, said, found),
            None => found.push(format!("{place}.{name} is missing")),
        }
    }
    if !shown.contains_key(ANYTHING) {
        let others = said.keys().filter(|name| !shown.contains_key(*name));
        found.extend(others.map(|name| format!("{place}.{name} is not shown")));
    }
}

/// Fails unless an output has the lines that a document shows, in their order. A word with `…` matches any word, and
/// numbers may differ.
pub(super) fn assert_lines(shown: &str, output: &str) {
    let mut said = output.lines();
    for line in shown.lines() {
        assert!(said.any(|said| is_like(line, said)), "{line:?} is missing in its place:\n{output}");
    }
}

fn is_like(shown: &str, said: &str) -> bool {
    let (shown, said): (Vec<_>, Vec<_>) = (shown.split_whitespace().collect(), said.split_whitespace().collect());
    let is_same = |(shown, said): (&&str, &&str)| shown.contains(ANYTHING) || numberless(shown) == numberless(said);
    shown.len() == said.len() && shown.iter().zip(&said).all(is_same)
}

fn numberless(word: &str) -> String {
    word.split(|character: char| character.is_ascii_digit()).filter(|part| !part.is_empty()).collect()
}

#[test]
fn an_ellipsis_stands_for_text_values_members_and_items() {
    let example = shown(r#"{"id": "01a…", "at": …, "list": [1, …], "who": {"name": "\"Ada\"", …}}"#);
    let same = json!({ "id": "x", "at": 3, "list": [1, 2], "who": { "name": "\"Ada\"", "age": 36 } });
    assert!(differences(&example, &same).is_empty());
    let other = json!({ "id": 7, "at": null, "list": [2], "who": {}, "more": null });
    let found = [".id is 7", ".list[0] is 2", ".who.name is missing", ".more is not shown"];
    assert_eq!(differences(&example, &other), found);
    assert_eq!(differences(&json!([1]), &json!([1, 2])), [" has 2 items"]);
}

#[test]
fn lines_match_except_for_numbers_and_ellipses() {
    assert!(is_like("01a2-…: 16 entries, root m6…", "77: 9 entries, root x"));
    assert!(!is_like("01a2-…: 16 entries", "77: 9 leaves"));
    assert!(!is_like("16 entries", "16 entries more"));
}
