//! Queries (`docs/http-api.md#queries`): every operation refuses a parameter that it does not have, and one that is
//! given twice.

use axum::http::Method;
use serde_json::{Value, json};

use crate::app::{PREFIX, TestApp};
use crate::openapi::{Operation, document, operations};
use crate::people::Person;
use crate::request::Request;

in_memory![
    every_operation_refuses_a_parameter_that_it_does_not_have,
    every_operation_refuses_a_parameter_that_is_given_twice,
    the_names_of_parameters_are_compared_exactly,
    a_misspelt_preview_changes_nothing,
    a_missing_token_is_reported_before_an_unknown_parameter,
    documents_and_metrics_ignore_parameters,
    the_error_of_a_query_names_at_most_twenty_parameters,
    the_pages_of_links_ignore_further_parameters,
    the_forms_of_pages_refuse_further_and_doubled_fields,
];

/// A request of an operation with this query. It would fail for other reasons, too: nothing exists at its path.
fn request<'a>(app: &'a TestApp, operation: &Operation, by: &Person, query: &str) -> Request<'a> {
    let prefix = if operation.at_the_root { "" } else { PREFIX };
    let path = operation.path_of(&by.user);
    let request = app.request(operation.method.clone(), &format!("{prefix}{path}?{query}"));
    let request = if operation.description["requestBody"].is_null() { request } else { request.json(&json!({})) };
    if operation.required_permission() == "public" { request } else { request.by(by) }
}

/// The parameters in the query of an operation.
fn parameters(operation: &Operation) -> Vec<&str> {
    let all = operation.description["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let in_query = all.iter().filter(|parameter| parameter["in"] == "query");
    in_query.map(|parameter| parameter["name"].as_str().unwrap()).collect()
}

async fn every_operation_refuses_a_parameter_that_it_does_not_have(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let operations = operations(&document());
    assert!(operations.len() > 100, "{}", operations.len());
    // A client of OAuth ignores parameters that it does not know (RFC 6749 §4.1.2).
    let ignores = |operation: &Operation| operation.path.contains("/callback/");
    for operation in operations.into_iter().filter(|operation| !ignores(operation)) {
        for query in ["nonsense=1", "nonsense", "n%6Fnsense=", "nonsense=1&nonsense=2"] {
            let refused = app.unrecorded(&ada, request(&app, &operation, &ada, query).send()).await;
            assert_eq!(refused.invalid_fields(), ["nonsense"], "{operation}");
        }
    }
}

async fn every_operation_refuses_a_parameter_that_is_given_twice(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut count = 0;
    for operation in operations(&document()) {
        for name in parameters(&operation) {
            for query in [format!("{name}=1&{name}=1"), format!("{name}=&x=1&{name}")] {
                let refused = app.unrecorded(&ada, request(&app, &operation, &ada, &query).send()).await;
                let fields = refused.invalid_fields();
                assert!(fields.contains(&name.to_owned()), "{operation}: {fields:?}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count}");
}

async fn the_names_of_parameters_are_compared_exactly(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for operation in operations(&document()) {
        for name in parameters(&operation) {
            for other in [name.to_uppercase(), format!("{name}[]"), format!(" {name}"), format!("{name}%00")] {
                let query = format!("{}=1", other.replace(' ', "%20"));
                let refused = request(&app, &operation, &ada, &query).send().await.invalid_fields();
                assert_eq!(refused, [other.replace("%00", "\0")], "{operation}");
            }
        }
    }
}

async fn a_misspelt_preview_changes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let organization = app.organization(&ada, "company").await;
    let path = format!("/organizations/{organization}");
    for misspelt in ["preveiw", "Preview", "dryRun"] {
        let refused = app.unrecorded(&ada, app.delete(&path).by(&ada).query(misspelt, "true").send()).await;
        assert_eq!(refused.invalid_fields(), [misspelt]);
    }
    assert_eq!(app.get(&path).by(&ada).send().await.ok()["status"], "ACTIVE");
}

async fn a_missing_token_is_reported_before_an_unknown_parameter(app: TestApp) {
    for operation in operations(&document()) {
        if operation.required_permission() == "public" {
            continue;
        }
        let path = format!("{PREFIX}{}?nonsense=1", operation.path_of("x"));
        let request = app.request(operation.method.clone(), &path).json(&json!({}));
        request.send().await.problem("unauthorized");
    }
}

async fn documents_and_metrics_ignore_parameters(app: TestApp) {
    for path in ["/openapi.json?v=1", "/docs/?v=1", "/docs/book/introduction?v=1"] {
        assert_eq!(app.request(Method::GET, path).send().await.status(), 200, "{path}");
    }
}

async fn the_error_of_a_query_names_at_most_twenty_parameters(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let query: Vec<String> = (0..1000).map(|number| format!("p{number}=1")).collect();
    let refused = app.get(&format!("/users?{}", query.join("&"))).by(&ada).send().await;
    assert_eq!(refused.invalid_fields().len(), 20);
}

/// Mail programs and their filters add parameters to links.
async fn the_pages_of_links_ignore_further_parameters(app: TestApp) {
    for page in ["verify", "reset", "invitation", "login"] {
        let (status, body) =
            app.request(Method::GET, &format!("/account/{page}?token=x&utm_source=mail")).send_to_host().await;
        assert!(status == 400 && body.as_str().unwrap().contains("This link does not work"), "{body}");
        let twice = app.request(Method::GET, &format!("/account/{page}?token=x&token=y"));
        assert_eq!(twice.send().await.invalid_fields(), ["token"]);
    }
}

async fn the_forms_of_pages_refuse_further_and_doubled_fields(app: TestApp) {
    for page in ["verify", "reset", "invitation"] {
        let send = |form: &'static str| {
            let request = app.request(Method::POST, &format!("/account/{page}"));
            request.header("content-type", "application/x-www-form-urlencoded").body(form)
        };
        assert_eq!(send("token=x&newPasword=y").send().await.invalid_fields(), ["newPasword"]);
        assert_eq!(send("token=x&token=y").send().await.invalid_fields(), ["token"]);
        let (status, _) = send("token=x&email=ada@example.com").send_to_host().await;
        assert_eq!(status, 400);
        app.request(Method::POST, &format!("/account/{page}")).send().await.problem("unsupported-media-type");
    }
}

/// The texts of a problem document: its detail, and the fields with their messages.
pub(crate) fn texts(problem: &Value) -> Vec<&str> {
    let errors = problem["errors"].as_array().map_or(&[][..], Vec::as_slice);
    let of_errors = errors.iter().flat_map(|error| [&error["field"], &error["message"]]);
    [&problem["detail"]].into_iter().chain(of_errors).map(|text| text.as_str().unwrap()).collect()
}
