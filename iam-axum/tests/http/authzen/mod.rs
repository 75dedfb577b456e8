//! The Authorization API 1.0 of AuthZEN (`docs/authzen.md`).

mod attack;
mod certification;
mod discovery;
mod evaluation;
mod search;

use axum::http::Method;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, profile, with};
use crate::request::{Request, Response};

const EVALUATION: &str = "/access/v1/evaluation";
const EVALUATIONS: &str = "/access/v1/evaluations";
const SUBJECTS: &str = "/access/v1/search/subject";
const RESOURCES: &str = "/access/v1/search/resource";
const ACTIONS: &str = "/access/v1/search/action";
const PATHS: [&str; 5] = [EVALUATION, EVALUATIONS, SUBJECTS, RESOURCES, ACTIONS];

/// A request at the root.
fn asking<'a>(app: &'a TestApp, by: &Person, path: &str, body: &Value) -> Request<'a> {
    app.request(Method::POST, path).by(by).json(body)
}

async fn ask(app: &TestApp, by: &Person, path: &str, body: &Value) -> Response {
    asking(app, by, path, body).send().await
}

/// A question about a user, with a resource in an organization or tenant-wide.
fn question(user: &str, permission: &str, organization: Option<OrganizationId>) -> Value {
    let (kind, action) = permission.split_once(':').unwrap();
    json!({
        "subject": { "type": "user", "id": user },
        "action": { "name": action },
        "resource": { "type": kind, "id": "17", "properties": { "organizationId": organization } },
    })
}

/// The decision of one question.
async fn decision(app: &TestApp, by: &Person, question: &Value) -> bool {
    ask(app, by, EVALUATION, question).await.ok()["decision"].as_bool().unwrap()
}

/// The texts that a search finds.
fn found(answer: &Value, member: &str) -> Vec<String> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|result| result[member].as_str().unwrap().to_owned()).collect()
}

/// The same, in alphabetical order.
fn sorted(answer: &Value, member: &str) -> Vec<String> {
    let mut texts = found(answer, member);
    texts.sort_unstable();
    texts
}

async fn register(app: &TestApp, by: &Person, permissions: &[&str]) {
    for name in permissions {
        app.post("/permissions").by(by).json(&json!({ "name": name })).send().await.created();
    }
}

/// Lets a tenant name users and organizations in this way.
async fn name_by(app: &TestApp, by: &Person, identifiers: &str) {
    let body = json!({ "authzenIdentifiers": identifiers });
    let tenant = app.patch(&format!("/tenants/{}", by.tenant)).by(by).json(&body).send().await.ok();
    assert_eq!(tenant["authzenIdentifiers"], identifiers);
}

/// Creates a user with an external identifier.
async fn external(app: &TestApp, by: &Person, email: &str, external_id: &str) -> String {
    let body = with(profile(email), &json!({ "externalId": external_id }));
    app.post("/users").by(by).json(&body).send().await.created()["id"].as_str().unwrap().to_owned()
}
