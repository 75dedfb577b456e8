//! The responses that the OpenAPI document lists for each operation, and those that the tests receive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::LazyLock;

use axum::http::{Method, StatusCode};
use serde_json::Value;

use crate::app::PREFIX;
use crate::openapi::{Operation, document, operations, resolved};

/// A status, and the kind of the problem if it is an error.
pub(crate) type Answer = (u16, Option<String>);

/// The documented answers of every operation.
static DOCUMENTED: LazyLock<BTreeMap<String, BTreeSet<Answer>>> = LazyLock::new(|| {
    let document = document();
    operations(&document).iter().map(|operation| (operation.to_string(), answers(&document, operation))).collect()
});

/// The answers that the document lists for an operation, without those of the infrastructure.
fn answers(document: &Value, operation: &Operation) -> BTreeSet<Answer> {
    let responses = operation.description["responses"].as_object().unwrap();
    let numbered = responses.iter().filter_map(|(status, response)| Some((status.parse().ok()?, response)));
    numbered
        .flat_map(|(status, response)| match kinds(document, response) {
            kinds if kinds.is_empty() => vec![(status, None)],
            kinds => kinds.into_iter().map(|kind| (status, Some(kind))).collect(),
        })
        .collect()
}

/// Whether each operation can answer this kind of problem. The document lists these kinds once, for all operations.
fn is_of_every_operation(kind: &str) -> bool {
    static KINDS: LazyLock<Vec<String>> = LazyLock::new(|| {
        let document = document();
        kinds(&document, &document["components"]["responses"]["OtherProblems"])
    });
    KINDS.iter().any(|of_every| of_every == kind)
}

/// The kinds of problems of which a response has an example.
fn kinds(document: &Value, response: &Value) -> Vec<String> {
    let examples = resolved(document, response)["content"]["application/problem+json"]["examples"].as_object();
    examples.into_iter().flat_map(|examples| examples.keys().cloned()).collect()
}

/// The operation at a path that may have the prefix.
fn operation(method: &Method, path: &str) -> Option<&'static str> {
    let path = path.strip_prefix(PREFIX).unwrap_or(path);
    let segments = |text: &'static str| text.split('/');
    let matches = |template: &'static str| {
        let mut pairs = segments(template).zip(path.split('/'));
        segments(template).count() == path.split('/').count()
            && pairs.all(|(expected, found)| expected == found || (expected == "{id}" && !found.is_empty()))
    };
    let of_method = DOCUMENTED.keys().filter_map(|name| Some((name.split_once(' ')?, name.as_str())));
    let found = of_method.filter(|((name, template), _)| *name == method.as_str() && matches(template));
    // A literal segment comes before a parameter.
    found.min_by_key(|((_, template), _)| template.matches("{id}").count()).map(|(_, name)| name)
}

/// Checks that the document lists an answer to a request.
///
/// With `IAM_TEST_ANSWERS`, adds the answer to the file of this name. `scripts/test` compares that file with the
/// document.
pub(crate) fn is_documented(method: &Method, path: &str, status: StatusCode, kind: Option<&str>) {
    let Some(operation) = operation(method, path) else { return };
    let answer = (status.as_u16(), kind.map(str::to_owned));
    let is_listed = DOCUMENTED.get(operation).is_some_and(|answers| answers.contains(&answer));
    assert!(is_listed || kind.is_some_and(is_of_every_operation), "{operation} does not list {answer:?}");
    if let Some(file) = std::env::var_os("IAM_TEST_ANSWERS") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        // One write, so that the lines of several tests do not mix.
        file.write_all(format!("{operation} {} {}\n", status.as_u16(), kind.unwrap_or("-")).as_bytes()).unwrap();
    }
}
