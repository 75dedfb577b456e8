//! The exact audit entries of every operation, and no entry if an operation changes nothing (interface §6, decisions
//! §6).
//!
//! The operations come from the OpenAPI document. So a new operation fails here until its entries are listed.

mod access;
mod access_review;
mod account;
mod api_key;
mod audit;
mod factor;
mod invitation;
mod organization;
mod session;
mod user;
mod webhook;

use axum::http::Method;
use iam_core::Caller;
use iam_core::audit::{AuditFilter, CATALOGUE};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::openapi::{Operation, document, operations};
use crate::people::Person;
use crate::permissions;
use crate::request::{Request, Response, status_of};
use crate::table::{fresh, fresh_email};

on_every_store_with_mail![every_operation_records_exactly_its_changes, operations_that_only_read_are_not_recorded];

/// The only operation that is recorded although it only reads.
const RECORDED_READING: &str = "GET /audit-logs/export";

/// Checks the audit entries of one operation, in its own tenant.
async fn check_entries(scene: &Scene<'_>) {
    match scene.operation.as_str() {
        "POST /auth/register" => session::register(scene).await,
        "POST /auth/login" => session::login(scene).await,
        "POST /auth/refresh" => session::refresh(scene).await,
        "POST /auth/logout" => session::logout(scene).await,
        "POST /auth/logout-all" => session::logout_all(scene).await,
        "POST /auth/password" => session::change_password(scene).await,
        "POST /auth/email/verification" => account::request_verification(scene).await,
        "POST /auth/email/verify" => account::verify(scene).await,
        "POST /auth/email" => account::change(scene).await,
        "POST /auth/password/forgot" => account::forgot(scene).await,
        "POST /auth/password/reset" => account::reset(scene).await,
        "POST /auth/login/second-factor" => factor::finish_login(scene).await,
        "POST /auth/passkeys/login" => factor::log_in_by_passkey(scene).await,
        "POST /auth/factors/passkeys" => factor::add_passkey(scene).await,
        // Options are kept for five minutes, and only their answer is recorded.
        "POST /auth/login/second-factor/options"
        | "POST /auth/passkeys/options"
        | "POST /auth/step-up/options"
        | "POST /auth/factors/passkeys/options" => factor::options(scene).await,
        "POST /auth/step-up" => factor::step_up(scene).await,
        "POST /auth/factors/totp" => factor::add_totp(scene).await,
        "POST /auth/factors/totp/{id}/confirm" => factor::confirm_totp(scene).await,
        "POST /auth/factors/recovery-codes" => factor::issue_recovery_codes(scene).await,
        "PATCH /auth/factors/{id}" => factor::rename(scene).await,
        "DELETE /auth/factors/{id}" => factor::remove(scene).await,
        "DELETE /users/{id}/factors" => factor::reset(scene).await,
        "POST /users/{id}/password-reset" => account::start(scene).await,
        "POST /invitations" => invitation::create(scene).await,
        "POST /invitations/lookup" => invitation::look_up(scene).await,
        "POST /invitations/accept" => invitation::accept(scene).await,
        "DELETE /invitations/{id}" => invitation::delete(scene).await,
        "POST /invitations/{id}/resend" => invitation::resend(scene).await,
        "POST /access-reviews" => access_review::create(scene).await,
        "PATCH /access-reviews/{id}/items/{itemId}" => access_review::decide(scene).await,
        "POST /access-reviews/{id}/complete" => access_review::complete(scene).await,
        "POST /access-reviews/{id}/cancel" => access_review::cancel(scene).await,
        "POST /users/{id}/logout-all" => session::logout_user(scene).await,
        "DELETE /sessions/{id}" => session::terminate(scene).await,
        "POST /service-accounts" => api_key::create_account(scene).await,
        "POST /users/{id}/api-keys" => api_key::create(scene).await,
        "PATCH /api-keys/{id}" => api_key::update(scene).await,
        "DELETE /api-keys/{id}" => api_key::delete(scene).await,
        "POST /api-keys/{id}/rotate" => api_key::rotate(scene).await,
        // An introspection is a POST only to keep the token out of the URI. It changes nothing.
        "POST /auth/introspect" => api_key::introspect(scene).await,
        "POST /users" => user::create(scene).await,
        "PATCH /users/{id}" => user::update(scene).await,
        "DELETE /users/{id}" => user::delete(scene).await,
        "POST /users/{id}/suspend" => user::suspend(scene).await,
        "POST /users/{id}/reactivate" => user::reactivate(scene).await,
        "PATCH /tenants/{id}" => organization::update_tenant(scene).await,
        "POST /organizations" => organization::create(scene).await,
        "PATCH /organizations/{id}" => organization::update(scene).await,
        "DELETE /organizations/{id}" => organization::delete(scene).await,
        "POST /permissions" => access::create_permission(scene).await,
        "DELETE /permissions/{id}" => access::delete_permission(scene).await,
        "POST /roles" => access::create_role(scene).await,
        "PATCH /roles/{id}" => access::update_role(scene).await,
        "DELETE /roles/{id}" => access::delete_role(scene).await,
        "POST /role-assignments" => access::assign(scene).await,
        "POST /role-assignments/bulk" => access::assign_all(scene).await,
        "PATCH /role-assignments/{id}" => access::change_expiry(scene).await,
        "DELETE /role-assignments/{id}" => access::revoke(scene).await,
        // A check is a POST only because its question does not fit into a URI. It changes nothing.
        "POST /authz/check" | "POST /authz/check/bulk" => access::check(scene).await,
        "POST /audit-logs" => audit::log(scene).await,
        RECORDED_READING => audit::export(scene).await,
        "PUT /audit-logs/retention" => audit::set_retention(scene).await,
        "POST /audit-logs/retention/apply" => audit::apply_retention(scene).await,
        "POST /audit-logs/erasures" => audit::erase(scene).await,
        "POST /webhooks" => webhook::create(scene).await,
        "PATCH /webhooks/{id}" => webhook::update(scene).await,
        "DELETE /webhooks/{id}" => webhook::delete(scene).await,
        "POST /webhooks/{id}/rotate-secret" => webhook::rotate_secret(scene).await,
        "POST /webhooks/{id}/test" => webhook::test(scene).await,
        "POST /webhooks/{id}/replay" => webhook::replay(scene).await,
        other => panic!("the test does not know what {other} records"),
    }
}

async fn every_operation_records_exactly_its_changes(app: TestApp) {
    let bystander = app.register("bystander@example.org").await;
    // A session of the bystander would expire, because days pass in this test. So the host reads the log.
    let host = Caller::system(bystander.tenant.parse().unwrap(), "test");
    let log = async || app.iam.audit().list(&host, AuditFilter::default(), None, 100).await.unwrap().entries;
    let before = log().await;
    for operation in operations(&document()) {
        let operation = operation.to_string();
        if !operation.starts_with("GET ") || operation == RECORDED_READING {
            check_entries(&Scene::of(&app, operation).await).await;
        }
    }
    assert_eq!(log().await, before, "the log of another tenant");
}

async fn operations_that_only_read_are_not_recorded(app: TestApp) {
    let document = document();
    let only_reads =
        |operation: &Operation| operation.method == Method::GET && operation.to_string() != RECORDED_READING;
    for operation in operations(&document).iter().filter(|operation| only_reads(operation)) {
        let scene = permissions::Scene::set(&app, operation).await;
        let reader = &scene.administrator;
        let answer = app.unrecorded(reader, scene.request(&app, &document, operation).by(reader).send()).await;
        assert_eq!(answer.status(), 200, "{operation}: {}", answer.text());
    }
}

/// The expected content of one entry.
struct Expected(Value);

fn entry(
    action: &str,
    resource_type: &str,
    resource_id: impl Into<Option<String>>,
    user_id: impl Into<Option<String>>,
) -> Expected {
    Expected(json!({
        "action": action,
        "resourceType": resource_type,
        "resourceId": resource_id.into(),
        "userId": user_id.into(),
        "oldValue": null,
        "newValue": null,
        "metadata": {},
    }))
}

impl Expected {
    fn with(mut self, member: &str, value: Value) -> Self {
        self.0[member] = value;
        self
    }

    fn creating(self, fields: Value) -> Self {
        self.with("newValue", fields)
    }

    fn deleting(self, fields: Value) -> Self {
        self.with("oldValue", fields)
    }

    /// The changed fields, with their old and their new values.
    fn changing(self, before: Value, after: Value) -> Self {
        self.with("oldValue", before).with("newValue", after)
    }

    /// The same for an UPDATE, which also names the changed fields.
    fn updating(self, before: Value, after: Value) -> Self {
        let changed: Vec<&String> = after.as_object().unwrap().keys().collect();
        let changed = json!({ "changedFields": changed });
        self.changing(before, after).metadata(changed)
    }

    fn metadata(self, metadata: Value) -> Self {
        self.with("metadata", metadata)
    }
}

/// The tenant for one operation. The test checks its audit log.
struct Scene<'a> {
    app: &'a TestApp,
    operation: String,
    /// The administrator, who reads the log.
    ada: Person,
    /// A user without permissions.
    bob: Person,
}

/// The client address of the requests of this test.
const ADDRESS: &str = "2001:db8::17";
const AGENT: &str = "read-out/1.0";

impl<'a> Scene<'a> {
    async fn of(app: &'a TestApp, operation: String) -> Self {
        let ada = app.register(&fresh_email()).await;
        let bob = app.colleague(&ada, &fresh_email()).await;
        Self { app, operation, ada, bob }
    }

    /// Sends a request and checks that it adds exactly these entries to the tenant's log. Returns the answer.
    async fn records(&self, request: Request<'_>, status: u16, expected: impl AsRef<[Expected]>) -> Response {
        let before = self.app.audit(&self.ada, &[]).await;
        let (answer, correlation_id) = self.answer(request, status).await;
        let mut after = self.app.audit(&self.ada, &[]).await;
        let added = after.len().checked_sub(before.len()).expect("no entry is removed");
        assert_eq!(after.split_off(added), before, "{}: entries are never changed", self.operation);
        self.compare(&after, &correlation_id, &self.ada.tenant, expected.as_ref());
        answer
    }

    /// Sends a request and checks that it is refused and adds no entry.
    async fn refuses(&self, request: Request<'_>, kind: &str) {
        self.records(request, status_of(kind), []).await.problem(kind);
    }

    /// Sends a request with a unique correlation id. Returns the answer and this id.
    async fn answer(&self, request: Request<'_>, status: u16) -> (Response, String) {
        self.app.pass(chrono::TimeDelta::milliseconds(1));
        let correlation_id = fresh("read-out-");
        let request = request.header("x-correlation-id", &correlation_id).header("user-agent", AGENT).from(ADDRESS);
        let answer = request.send().await;
        assert_eq!(answer.status(), status, "{}: {}", self.operation, answer.text());
        (answer, correlation_id)
    }

    /// Checks that these entries, in any order, are the expected ones, with the present time and the data of this
    /// request.
    fn compare(&self, entries: &[Value], correlation_id: &str, tenant: &str, expected: &[Expected]) {
        let whole = |Expected(expected): &Expected| {
            let mut expected = expected.clone();
            expected["tenantId"] = json!(tenant);
            expected["correlationId"] = json!(correlation_id);
            expected["ipAddress"] = json!(ADDRESS);
            expected["userAgent"] = json!(AGENT);
            expected["createdAt"] = json!(self.app.now());
            expected
        };
        let mut expected: Vec<Value> = expected.iter().map(whole).collect();
        let mut found = entries.to_vec();
        for entry in &mut found {
            entry.as_object_mut().unwrap().remove("id").expect("an entry has an id");
        }
        for entries in [&mut expected, &mut found] {
            entries.sort_by_key(Value::to_string);
        }
        assert_eq!(found, expected, "{}", self.operation);
        // The catalogue does not contain an application's own events.
        let by_the_service = found.iter().filter(|entry| entry["resourceType"] != audit::OWN_TYPE);
        for entry in by_the_service {
            assert!(is_in_catalogue(entry), "{}: {entry}", self.operation);
        }
    }

    /// The id in an answer.
    fn made(&self, answer: &Response) -> String {
        answer.json()["id"].as_str().unwrap().to_owned()
    }
}

fn is_in_catalogue(entry: &Value) -> bool {
    CATALOGUE.iter().any(|recorded| {
        entry["resourceType"] == recorded.resource_type.as_str()
            && recorded.actions.iter().any(|action| entry["action"] == *action)
    })
}

/// The entry of a role assignment that is made or revoked.
fn granted(
    action: &str,
    id: &str,
    by: &Person,
    user: &str,
    role: (&str, &str),
    organization: Option<&str>,
) -> Expected {
    entry(action, "ROLE_ASSIGNMENT", id.to_owned(), by.user.clone()).metadata(json!({
        "targetUserId": user,
        "roleId": role.0,
        "roleName": role.1,
        "organizationId": organization,
    }))
}

/// The entry of a session that ended.
fn ended(session: &Person, by: &Person, reason: &str) -> Expected {
    let entry = entry("LOGOUT", "SESSION", session.session.clone(), by.user.clone());
    entry.metadata(json!({ "targetUserId": session.user, "reason": reason }))
}
