//! The kinds of problems, compared with the document.
#![cfg(test)]

use std::collections::BTreeSet;

use iam_client::{Code, Problem};
use serde_json::Value;

/// Collects the problem documents among the examples.
fn collect(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
            if kind.contains("/problems/") && fields.contains_key("status") {
                found.push(value.clone());
            }
            fields.values().for_each(|field| collect(field, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

#[test]
fn every_kind_of_the_document_is_known() {
    let document = serde_json::from_str(include_str!("../../../../docs/openapi.json")).unwrap();
    let mut examples = Vec::new();
    collect(&document, &mut examples);
    let mut kinds = BTreeSet::new();
    for example in examples {
        let problem: Problem = serde_json::from_value(example).unwrap();
        let code = problem.code();
        assert!(!matches!(code, Code::Other(_)), "{}", problem.type_uri);
        let usual = Problem::new(&code, "");
        assert_eq!(usual.title, problem.title);
        if code != Code::SecondFactorRequired {
            assert_eq!(usual.status, problem.status, "{code}");
        }
        kinds.insert(code.to_string());
    }
    assert!(kinds.len() > 12, "{kinds:?}");
}

#[test]
fn an_unknown_kind_is_kept() {
    let body = r#"{"type":"https://shop.example/problems/sold-out","title":"Sold Out","status":409}"#;
    let problem: Problem = serde_json::from_str(body).unwrap();
    assert_eq!(problem.code(), Code::Other("sold-out".to_owned()));
    assert_eq!(problem.to_string(), "409 sold-out: ");
}
