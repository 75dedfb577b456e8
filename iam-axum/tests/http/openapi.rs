//! The OpenAPI document (`docs/http-api.md#http-api`).

use std::collections::BTreeSet;
use std::path::Path;

use axum::http::Method;
use serde_json::Value;

use crate::app::TestApp;

in_memory![
    the_service_serves_the_document,
    the_links_of_the_document_lead_into_the_book,
    without_the_book_the_document_has_no_links_into_it,
];

/// One operation of the document.
pub(crate) struct Operation {
    pub(crate) method: Method,
    /// The template without prefix, for instance `/users/{id}`.
    pub(crate) path: String,
    /// Whether the path starts at the root, without the prefix.
    pub(crate) at_the_root: bool,
    pub(crate) description: Value,
}

impl Operation {
    pub(crate) fn required_permission(&self) -> &str {
        self.description["x-required-permission"].as_str().unwrap_or_else(|| panic!("{self} names no permission"))
    }

    /// The path, with this identifier in place of each parameter.
    pub(crate) fn path_of(&self, id: &str) -> String {
        let names = ["{id}", "{itemId}", "{groupId}"];
        names.iter().fold(self.path.clone(), |path, name| path.replace(name, id))
    }

    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        let parameters = self.description["parameters"].as_array();
        parameters.is_some_and(|all| all.iter().any(|parameter| parameter["name"] == name))
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

pub(crate) fn document() -> Value {
    serde_json::to_value(iam_axum::openapi(&iam_axum::Settings::default())).unwrap()
}

/// The operations that tests can call one by one. The configuration of AuthZEN is not among them: it needs a public
/// URL, and has tests of its own.
pub(crate) fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = described(document);
    operations.retain(|operation| operation.path != "/.well-known/authzen-configuration");
    operations
}

/// Every operation of the document.
pub(crate) fn described(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            if let Some(description) = item.get(method.as_str().to_lowercase()) {
                let at_the_root = item.get("servers").is_some();
                operations.push(Operation {
                    method,
                    path: path.clone(),
                    at_the_root,
                    description: description.clone(),
                });
            }
        }
    }
    operations
}

/// A value of the document, or the one that it refers to.
pub(crate) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => resolved(document, document.pointer(reference.trim_start_matches('#')).unwrap()),
        None => value,
    }
}

#[test]
fn the_tags_are_described_in_the_order_in_which_one_learns() {
    let document = document();
    let tags: Vec<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(tags[..4], ["Authentication", "Users", "Roles", "Role assignments"]);
    let used: BTreeSet<String> = described(&document)
        .iter()
        .flat_map(|operation| operation.description["tags"].as_array().unwrap().clone())
        .map(|tag| tag.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(used, tags.iter().map(|tag| (*tag).to_owned()).collect());
}

async fn the_service_serves_the_document(app: TestApp) {
    let shown = app.request(Method::GET, "/openapi.json").send().await.ok();
    assert_eq!(shown, document());
    assert_eq!(shown["servers"][0]["url"], "/api/v1");
}

async fn the_links_of_the_document_lead_into_the_book(app: TestApp) {
    let document = document();
    let mut texts = vec![document["info"]["description"].as_str().unwrap()];
    texts.extend(document["tags"].as_array().unwrap().iter().map(|tag| tag["description"].as_str().unwrap()));
    for text in texts {
        let (_, link) = text.rsplit_once("](").unwrap_or_else(|| panic!("there is no link: {text}"));
        let (link, _) = link.split_once(')').unwrap();
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let page = app.request(Method::GET, path).send().await;
        assert_eq!((page.status(), page.header("content-type")), (200, Some("text/html; charset=utf-8")), "{link}");
        assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
        assert!(anchor.is_empty() || page.text().contains(&format!(" id=\"{anchor}\"")), "{link}");
    }
    let start = app.request(Method::GET, "/docs/book").send().await;
    assert_eq!((start.status(), start.header("location")), (307, Some("/docs/book/introduction")));
    for (path, kind) in [("style.css", "text/css; charset=utf-8"), ("load-sqlite.svg", "image/svg+xml")] {
        let file = app.request(Method::GET, &format!("/docs/book/{path}")).send().await;
        assert_eq!((file.status(), file.header("content-type")), (200, Some(kind)));
    }
    app.request(Method::GET, "/docs/book/unknown").send().await.problem("not-found");
}

async fn without_the_book_the_document_has_no_links_into_it(app: TestApp) {
    let mut settings = iam_axum::Settings::default();
    settings.shows_docs = false;
    assert!(!iam_axum::openapi(&settings).to_json().unwrap().contains("/docs/book"));
    let app = app.with_http_settings(|settings| settings.shows_docs = false);
    app.request(Method::GET, "/docs/book/http-api").send().await.problem("not-found");
}

#[test]
fn the_committed_document_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let present = serde_json::to_string_pretty(&iam_axum::openapi(&iam_axum::Settings::default())).unwrap() + "\n";
    if std::env::var_os("IAM_UPDATE_OPENAPI").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &present).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == present, "docs/openapi.json is out of date: IAM_UPDATE_OPENAPI=1 rewrites it");
}

#[test]
fn every_operation_of_the_contract_is_described() {
    let document = document();
    let described: BTreeSet<String> = described(&document).iter().map(ToString::to_string).collect();
    let expected = [
        "POST /auth/register",
        "POST /auth/login",
        "POST /auth/refresh",
        "POST /auth/logout",
        "POST /auth/logout-all",
        "POST /auth/password",
        "POST /auth/email",
        "POST /auth/email/verification",
        "POST /auth/email/verify",
        "POST /auth/password/forgot",
        "POST /auth/password/reset",
        "POST /auth/email-login",
        "POST /auth/email-login/finish",
        "POST /users/{id}/password-reset",
        "GET /invitations",
        "POST /invitations",
        "GET /invitations/{id}",
        "DELETE /invitations/{id}",
        "POST /invitations/{id}/resend",
        "POST /invitations/lookup",
        "POST /invitations/accept",
        "GET /access-reviews",
        "POST /access-reviews",
        "GET /access-reviews/{id}",
        "GET /access-reviews/{id}/items",
        "PATCH /access-reviews/{id}/items/{itemId}",
        "POST /access-reviews/{id}/complete",
        "POST /access-reviews/{id}/cancel",
        "GET /eligibilities",
        "POST /eligibilities",
        "GET /eligibilities/{id}",
        "PATCH /eligibilities/{id}",
        "DELETE /eligibilities/{id}",
        "GET /auth/eligibilities",
        "GET /access-requests",
        "POST /access-requests",
        "GET /access-requests/{id}",
        "POST /access-requests/{id}/approve",
        "POST /access-requests/{id}/deny",
        "POST /access-requests/{id}/cancel",
        "POST /access-requests/{id}/end",
        "GET /auth/me",
        "PATCH /auth/me",
        "GET /users",
        "POST /users",
        "GET /users/{id}",
        "PATCH /users/{id}",
        "DELETE /users/{id}",
        "POST /users/{id}/suspend",
        "POST /users/{id}/reactivate",
        "GET /users/{id}/sessions",
        "POST /users/{id}/logout-all",
        "DELETE /sessions/{id}",
        "POST /users/{id}/impersonations",
        "GET /tenants/{id}",
        "PATCH /tenants/{id}",
        "GET /audit-logs",
        "POST /audit-logs",
        "GET /audit-logs/{id}",
        "GET /audit-logs/{id}/proof",
        "GET /audit-logs/resource-types",
        "GET /audit-logs/actions",
        "GET /audit-logs/catalogue",
        "GET /audit-logs/export",
        "GET /audit-logs/checkpoint",
        "GET /audit-logs/consistency-proof",
        "GET /audit-logs/retention",
        "PUT /audit-logs/retention",
        "POST /audit-logs/retention/apply",
        "POST /audit-logs/erasures",
        "GET /health",
        "GET /health/ready",
        "GET /health/live",
        "GET /.well-known/jwks.json",
        "POST /access/v1/evaluation",
        "POST /access/v1/evaluations",
        "POST /access/v1/search/subject",
        "POST /access/v1/search/resource",
        "POST /access/v1/search/action",
        "GET /.well-known/authzen-configuration",
    ];
    for operation in expected {
        assert!(described.contains(operation), "{operation}");
    }
}

#[test]
fn every_operation_names_a_permission_or_session_or_public() {
    for operation in described(&document()) {
        let required = operation.required_permission();
        let is_permission = required.parse::<iam_core::permission::Permission>().is_ok();
        assert!(is_permission || ["public", "session"].contains(&required), "{operation}: {required}");
    }
}

#[test]
fn only_public_operations_need_no_token() {
    let document = document();
    assert_eq!(document["security"], serde_json::json!([{ "bearer": [] }]));
    for operation in described(&document) {
        let needs_none = operation.description.get("security").is_some_and(|security| {
            security.as_array().unwrap().iter().all(|scheme| scheme.as_object().unwrap().is_empty())
        });
        assert_eq!(needs_none, operation.required_permission() == "public", "{operation}");
    }
}

#[test]
fn every_operation_describes_a_success_and_the_failures() {
    let document = document();
    for operation in described(&document) {
        let responses = operation.description["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with(['2', '3'])), "{operation}");
        assert_eq!(responses["default"]["$ref"], "#/components/responses/OtherProblems", "{operation}");
        assert!(operation.description.get("x-problems").is_none(), "{operation} names an unknown kind");
        for (status, response) in responses {
            let description = resolved(&document, response)["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "{operation} {status}");
        }
        assert!(operation.description["summary"].as_str().is_some_and(|text| !text.is_empty()), "{operation}");
    }
}

#[test]
fn operation_ids_are_unique() {
    let document = document();
    let operations = described(&document);
    let ids: BTreeSet<&str> =
        operations.iter().map(|operation| operation.description["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations.len(), "{ids:?}");
}

#[test]
fn every_reference_has_a_target() {
    let document = document();
    let mut pending = vec![&document];
    while let Some(value) = pending.pop() {
        if let Some(Value::String(reference)) = value.get("$ref") {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        match value {
            Value::Object(members) => pending.extend(members.values()),
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
}
