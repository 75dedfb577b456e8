//! The texts of errors (`docs/http-api.md#problems`): they name fields and parameters of the request, and no type
//! of the program.

use serde_json::{Map, Value, json};

use crate::app::{PREFIX, TestApp};
use crate::openapi::{Operation, document, operations, resolved};
use crate::people::Person;
use crate::query::texts;
use crate::request::Response;

in_memory![
    no_error_about_a_body_names_a_type_of_the_program,
    no_error_about_a_query_names_a_type_of_the_program,
    an_integer_of_a_body_may_have_a_fraction_of_zero,
    a_member_that_a_body_has_twice_is_400_and_named,
];

/// Words of the program and of its libraries.
const FORBIDDEN: [&str; 17] = [
    "struct",
    "dto",
    "failed to",
    "deserialize",
    "sequence of",
    "variant",
    "enum",
    "serde",
    "f64",
    "u32",
    "u64",
    "i64",
    "invalid type",
    "untagged",
    "utf8error",
    "parseint",
    "fromstr",
];

fn names_no_type(answer: &Response, what: &str) {
    if answer.status() != 400 {
        return;
    }
    let problem = answer.json();
    for text in texts(&problem) {
        let lower = text.to_lowercase();
        let found = FORBIDDEN.iter().find(|word| lower.contains(*word));
        assert!(found.is_none() && !["query", "body"].contains(&&*lower), "{what}: {text}");
        assert!(
            !lower.starts_with("invalid input: query") && !lower.starts_with("invalid input: body"),
            "{what}: {text}"
        );
    }
}

async fn send(app: &TestApp, operation: &Operation, by: &Person, body: String) -> Response {
    let path = operation.path_of(&by.user);
    let request = app.request(operation.method.clone(), &format!("{PREFIX}{path}"));
    let request = request.header("content-type", "application/json").body(body);
    if operation.required_permission() == "public" { request } else { request.by(by) }.send().await
}

/// The schema of the JSON body of an operation, if it has one.
fn schema<'a>(document: &'a Value, operation: &'a Operation) -> Option<&'a Value> {
    let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
    (!schema.is_null()).then(|| resolved(document, schema))
}

fn properties<'a>(document: &'a Value, schema: &'a Value) -> Vec<(&'a String, &'a Value)> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(name, schema)| (name, resolved(document, schema))).collect()
}

/// Values of every type, also inside of an array and of an object.
fn wrong_values() -> Vec<Value> {
    let plain =
        [json!(null), json!(true), json!(7.5), json!(-1), json!(1e300), json!("x"), json!(""), json!([]), json!({})];
    let in_arrays = plain.iter().map(|value| json!([value]));
    let in_objects = plain.iter().map(|value| json!({ "x": value }));
    plain.iter().cloned().chain(in_arrays).chain(in_objects).collect()
}

async fn no_error_about_a_body_names_a_type_of_the_program(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let document = document();
    let refused = app.get("/authz/who").by(&ada).send().await;
    assert_eq!(refused.invalid_fields(), ["permission"]);
    for operation in operations(&document) {
        let Some(schema) = schema(&document, &operation) else { continue };
        if operation.path.starts_with("/auth/logout") {
            continue;
        }
        for body in
            ["", "null", "[]", "7", "\"x\"", "{", "{\"x\":}", "{\"x\":1e999}", "{} x", "\u{feff}{}", "{\"a\" 1}"]
        {
            names_no_type(&send(&app, &operation, &ada, body.to_owned()).await, &format!("{operation} {body}"));
        }
        for (name, _) in properties(&document, schema) {
            for value in wrong_values() {
                let body = json!({ name: value });
                names_no_type(&send(&app, &operation, &ada, body.to_string()).await, &format!("{operation} {body}"));
            }
        }
        for (name, schema) in properties(&document, schema) {
            let items = properties(&document, resolved(&document, &schema["items"]));
            for (member, value) in
                items.iter().flat_map(|(member, _)| wrong_values().into_iter().map(move |value| (member, value)))
            {
                let item: Map<String, Value> = [(member.to_string(), value)].into_iter().collect();
                let body = json!({ name: [item] });
                names_no_type(&send(&app, &operation, &ada, body.to_string()).await, &format!("{operation} {body}"));
            }
        }
    }
}

async fn no_error_about_a_query_names_a_type_of_the_program(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for operation in operations(&document()).into_iter().filter(|operation| !operation.at_the_root) {
        let parameters = operation.description["parameters"].as_array().cloned().unwrap_or_default();
        let in_query: Vec<&str> = parameters
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let path = operation.path_of(&ada.user);
        for name in in_query {
            for value in ["", "x", "-1", "1e99", "%FF", "18446744073709551616", "a,b", "[]"] {
                let target = format!("{PREFIX}{path}?{name}={value}");
                let request = app.request(operation.method.clone(), &target).by(&ada).json(&json!({}));
                names_no_type(&request.send().await, &format!("{operation} {name}={value}"));
            }
        }
        let request = app.request(operation.method.clone(), &format!("{PREFIX}{path}?")).by(&ada).json(&json!({}));
        names_no_type(&request.send().await, &operation.to_string());
    }
}

async fn an_integer_of_a_body_may_have_a_fraction_of_zero(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let document = document();
    let mut found = Vec::new();
    for operation in operations(&document) {
        let Some(schema) = schema(&document, &operation) else { continue };
        for (name, schema) in properties(&document, schema) {
            let is_integer = schema["type"] == "integer"
                || schema["type"].as_array().is_some_and(|types| types.contains(&json!("integer")));
            if !is_integer {
                continue;
            }
            let valid = schema["maximum"].as_u64().unwrap_or(1);
            for text in [format!("{valid}.0"), format!("{valid}e0"), format!("{valid}.000E+0")] {
                let answer = send(&app, &operation, &ada, format!("{{\"{name}\": {text}}}")).await;
                let names_it = answer.status() == 400 && answer.invalid_fields().contains(name);
                assert!(!names_it, "{operation} {name} {text}: {}", answer.text());
            }
            for text in [format!("{valid}.5"), "-0.5".to_owned(), "\"7\"".to_owned(), "1e400".to_owned()] {
                let answer = send(&app, &operation, &ada, format!("{{\"{name}\": {text}}}")).await;
                assert_eq!(answer.status(), 400, "{operation} {name} {text}: {}", answer.text());
            }
            found.push(name.clone());
        }
    }
    found.sort_unstable();
    let expected = [
        "approvals",
        "approvals",
        "fromSequence",
        "maxSeconds",
        "maxSeconds",
        "overlapSeconds",
        "retentionDays",
        "secondFactorGraceDays",
        "seconds",
        "seconds",
    ];
    assert_eq!(found, expected);
}

async fn a_member_that_a_body_has_twice_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let document = document();
    for operation in operations(&document) {
        let Some(schema) = schema(&document, &operation) else { continue };
        if operation.path.contains("passkeys") || operation.path.contains("/login") {
            continue;
        }
        for (name, _) in properties(&document, schema) {
            let value = "null";
            let answer = send(&app, &operation, &ada, format!("{{\"{name}\": {value}, \"{name}\": {value}}}")).await;
            assert_eq!(answer.status(), 400, "{operation} {name}: {}", answer.text());
            assert_eq!(answer.invalid_fields(), std::slice::from_ref(name), "{operation}");
        }
    }
}
