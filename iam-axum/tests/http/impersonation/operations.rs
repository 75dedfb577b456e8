//! What can be done in a session in which a user acts as another one. The operations come from the OpenAPI document, so
//! a new operation fails here until this is decided.

use axum::http::Method;
use serde_json::{Value, json};

use crate::access_table::fresh_email;
use crate::app::TestApp;
use crate::openapi::{Operation, document, operations};
use crate::permissions::{Fixture, built_in};
use crate::request::Response;

in_memory_with_mail![only_some_changes_can_be_made_as_another_user, where_nothing_can_be_changed_all_can_be_read];

/// What a user cannot do in the name of another one: what decides how a person logs in, what gives rights or takes
/// them, what lets another program act or receive, and decisions.
const REFUSED: [&str; 57] = [
    "POST /auth/password",
    "POST /auth/email",
    "POST /auth/step-up",
    "POST /auth/step-up/options",
    "POST /auth/factors/totp",
    "POST /auth/factors/totp/{id}/confirm",
    "POST /auth/factors/passkeys/options",
    "POST /auth/factors/passkeys",
    "POST /auth/factors/recovery-codes",
    "PATCH /auth/factors/{id}",
    "DELETE /auth/factors/{id}",
    "POST /users",
    "GET /users/{id}/export",
    "DELETE /users/{id}/factors",
    "POST /users/{id}/password-reset",
    "POST /users/{id}/impersonations",
    "POST /users/{id}/api-keys",
    "PATCH /api-keys/{id}",
    "DELETE /api-keys/{id}",
    "POST /api-keys/{id}/rotate",
    "POST /invitations",
    "DELETE /invitations/{id}",
    "POST /invitations/{id}/resend",
    "POST /role-assignments",
    "POST /role-assignments/bulk",
    "PATCH /role-assignments/{id}",
    "DELETE /role-assignments/{id}",
    "PATCH /access-reviews/{id}/items/{itemId}",
    "POST /access-reviews/{id}/complete",
    "POST /access-reviews/{id}/cancel",
    "POST /eligibilities",
    "PATCH /eligibilities/{id}",
    "DELETE /eligibilities/{id}",
    "POST /access-requests",
    "POST /access-requests/{id}/approve",
    "POST /access-requests/{id}/deny",
    "POST /access-requests/{id}/end",
    "POST /auth/identities/start",
    "DELETE /identities/{id}",
    "POST /domains",
    "DELETE /domains/{id}",
    "POST /domains/{id}/verify",
    "POST /legal-holds",
    "POST /legal-holds/{id}/release",
    "POST /identity-providers",
    "PATCH /identity-providers/{id}",
    "DELETE /identity-providers/{id}",
    "POST /directories",
    "PATCH /directories/{id}",
    "DELETE /directories/{id}",
    "PUT /directories/{id}/groups/{groupId}/grants",
    "POST /webhooks",
    "PATCH /webhooks/{id}",
    "DELETE /webhooks/{id}",
    "POST /webhooks/{id}/rotate-secret",
    "POST /webhooks/{id}/test",
    "POST /webhooks/{id}/replay",
];

/// What needs a recent authentication, which such a session never has.
const NEVER_FRESH: [&str; 6] = [
    "POST /auth/logout-all",
    "POST /users/{id}/logout-all",
    "DELETE /sessions/{id}",
    "PUT /audit-logs/retention",
    "POST /audit-logs/retention/apply",
    "POST /audit-logs/erasures",
];

/// What is no GET, and changes nothing or ends the session.
const READS: [&str; 9] = [
    "POST /auth/logout",
    "POST /authz/check",
    "POST /authz/check/bulk",
    "POST /access/v1/evaluation",
    "POST /access/v1/evaluations",
    "POST /access/v1/search/action",
    "POST /access/v1/search/resource",
    "POST /access/v1/search/subject",
    "POST /auth/introspect",
];

/// Each operation that needs a token, with the answer to an administrator who acts as a user who holds all built-in
/// permissions.
async fn answers(app: &TestApp, members: &Value) -> Vec<(Operation, Response)> {
    let document = document();
    let all: Vec<String> = built_in().collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let mut answers = Vec::new();
    for operation in operations(&document) {
        if operation.required_permission() == "public" {
            continue;
        }
        let mut fixture = Fixture::set(app, &operation).await;
        let bob = app.colleague_who_may(&fixture.administrator, &fresh_email(), &all).await;
        fixture.set_up_for(app, &operation, &bob).await;
        if operation.path.ends_with("/reactivate") {
            app.set_status(&fixture.administrator, &fixture.other.user, "SUSPENDED").await;
        }
        let acting = app.acting_with(&fixture.administrator, &bob, members).await;
        let answer = fixture.request(app, &document, &operation).by(&acting).send().await;
        answers.push((operation, answer));
    }
    answers
}

fn is_done(answer: &Response) -> bool {
    (200..400).contains(&answer.status())
}

/// Checks that only the other user's name is the reason.
fn is_refused(operation: &Operation, answer: &Response) {
    let detail = answer.detail("forbidden");
    // The providers of a tenant need all permissions, with which the user could not be acted as.
    let is_expected = detail.contains("act as another user") || operation.path.starts_with("/identity-providers");
    assert!(is_expected, "{operation}: {detail}");
}

async fn only_some_changes_can_be_made_as_another_user(app: TestApp) {
    let mut seen = Vec::new();
    for (operation, answer) in answers(&app, &json!({ "readOnly": false })).await {
        let name = operation.to_string();
        if REFUSED.contains(&&*name) {
            is_refused(&operation, &answer);
        } else if NEVER_FRESH.contains(&&*name) {
            answer.problem("insufficient-authentication");
        } else {
            assert!(is_done(&answer), "{operation}: {}", answer.text());
            continue;
        }
        seen.push(name);
    }
    assert_eq!(seen.len(), REFUSED.len() + NEVER_FRESH.len(), "{seen:?}");
}

async fn where_nothing_can_be_changed_all_can_be_read(app: TestApp) {
    for (operation, answer) in answers(&app, &json!({})).await {
        let name = operation.to_string();
        let is_read = operation.method == Method::GET && !REFUSED.contains(&&*name);
        if is_read || READS.contains(&&*name) {
            assert!(is_done(&answer), "{operation}: {}", answer.text());
        } else if NEVER_FRESH.contains(&&*name) && answer.status() == 401 {
            answer.problem("insufficient-authentication");
        } else {
            is_refused(&operation, &answer);
        }
    }
}
