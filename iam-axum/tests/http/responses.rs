//! The responses that the OpenAPI document lists for each operation, and those that the tests receive.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::sync::LazyLock;

use axum::http::{Method, StatusCode};
use serde_json::Value;

use crate::app::PREFIX;
use crate::openapi::{Operation, described, document, resolved};
use crate::request::status_of;

/// A status, and the kind of the problem if it is an error.
type Answer = (u16, Option<String>);

/// The documented answers of every operation.
static DOCUMENTED: LazyLock<BTreeMap<String, BTreeSet<Answer>>> = LazyLock::new(|| {
    let document = document();
    described(&document).iter().map(|operation| (operation.to_string(), answers(&document, operation))).collect()
});

fn answers(document: &Value, operation: &Operation) -> BTreeSet<Answer> {
    let responses = operation.description["responses"].as_object().unwrap();
    responses
        .iter()
        .flat_map(|(status, response)| match kinds(document, response) {
            kinds if kinds.is_empty() => vec![(status.parse().unwrap(), None)],
            // The default response has kinds of several statuses.
            kinds => kinds
                .into_iter()
                .map(|kind| (status.parse().unwrap_or_else(|_| status_of(&kind)), Some(kind)))
                .collect(),
        })
        .collect()
}

/// The kinds of problems of which a response has an example.
fn kinds(document: &Value, response: &Value) -> Vec<String> {
    let examples = resolved(document, response)["content"]["application/problem+json"]["examples"].as_object();
    examples.into_iter().flat_map(|examples| examples.keys().cloned()).collect()
}

/// The operation at a path that may have the prefix, with its documented answers.
fn operation(method: &Method, path: &str) -> Option<(&'static str, &'static BTreeSet<Answer>)> {
    let path = path.strip_prefix(PREFIX).unwrap_or(path);
    let matches = |template: &str| {
        let (template, path) = (template.split('/'), path.split('/'));
        template.clone().count() == path.clone().count()
            && template
                .zip(path)
                .all(|(expected, found)| expected == found || (expected.starts_with('{') && !found.is_empty()))
    };
    let is_asked =
        |name: &str| name.split_once(' ').is_some_and(|(of, template)| of == method.as_str() && matches(template));
    let found = DOCUMENTED.iter().filter(|(name, _)| is_asked(name));
    // A literal segment comes before a parameter.
    found.min_by_key(|(name, _)| name.matches('{').count()).map(|(name, answers)| (name.as_str(), answers))
}

/// Checks that the document lists an answer to a request.
///
/// With `IAM_TEST_ANSWERS`, adds the answer to the file of this name. `scripts/test` compares that file with the
/// document.
pub(crate) fn is_documented(method: &Method, path: &str, status: StatusCode, kind: Option<&str>) {
    let Some((operation, documented)) = operation(method, path) else { return };
    let answer = (status.as_u16(), kind.map(str::to_owned));
    assert!(documented.contains(&answer), "{operation} does not list {answer:?}");
    if let Some(file) = std::env::var_os("IAM_TEST_ANSWERS") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        // One write, so that the lines of several tests do not mix.
        file.write_all(format!("{operation} {} {}\n", status.as_u16(), kind.unwrap_or("-")).as_bytes()).unwrap();
    }
}
