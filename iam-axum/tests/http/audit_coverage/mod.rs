//! The exact audit entries of every operation, and no entry if an operation changes nothing
//! (`docs/audit.md#what-is-recorded`).
//!
//! The operations come from the OpenAPI document. So a new operation fails here until its entries are listed.

mod access;
mod access_request;
mod access_review;
mod account;
mod api_key;
mod audit;
mod directory;
mod domain;
mod eligibility;
mod factor;
mod federation;
mod identity_provider;
mod invitation;
mod legal_hold;
mod manifest;
mod organization;
mod session;
mod user;
mod webhook;

use axum::http::Method;
use iam_core::Caller;
use iam_core::audit::{AuditFilter, CATALOGUE};
use serde_json::{Value, json};

use crate::access_table::{fresh, fresh_email};
use crate::app::TestApp;
use crate::ocsf::keep_log;
use crate::openapi::{Operation, document, operations};
use crate::people::Person;
use crate::permissions;
use crate::request::{Request, Response, status_of};

on_every_store_with_mail!["a change and its entries are one transaction of the store"; every_operation_records_exactly_its_changes, operations_that_only_read_are_not_recorded];

/// The only operations that are recorded although they only read.
const RECORDED_READINGS: [&str; 2] = ["GET /audit-logs/export", "GET /users/{id}/export"];

/// Checks the audit entries of one operation, in its own tenant.
async fn check_entries(fixture: &Fixture<'_>) {
    match fixture.operation.as_str() {
        "POST /auth/register" => session::register(fixture).await,
        "POST /auth/login" => session::login(fixture).await,
        "POST /auth/refresh" => session::refresh(fixture).await,
        "POST /auth/logout" => session::logout(fixture).await,
        "POST /auth/logout-all" => session::logout_all(fixture).await,
        "POST /auth/password" => session::change_password(fixture).await,
        "POST /auth/email/verification" => account::request_verification(fixture).await,
        "POST /auth/email/verify" => account::verify(fixture).await,
        "POST /auth/email" => account::change(fixture).await,
        "POST /auth/password/forgot" => account::forgot(fixture).await,
        "POST /auth/password/reset" => account::reset(fixture).await,
        "POST /auth/email-login" => account::start_email_login(fixture).await,
        "POST /auth/email-login/finish" => account::finish_email_login(fixture).await,
        "POST /auth/login/second-factor" => factor::finish_login(fixture).await,
        "POST /auth/passkeys/login" => factor::log_in_by_passkey(fixture).await,
        "POST /auth/factors/passkeys" => factor::add_passkey(fixture).await,
        // Options are kept for five minutes, and only their answer is recorded.
        "POST /auth/login/second-factor/options"
        | "POST /auth/passkeys/options"
        | "POST /auth/step-up/options"
        | "POST /auth/factors/passkeys/options" => factor::options(fixture).await,
        "POST /auth/step-up" => factor::step_up(fixture).await,
        "POST /auth/factors/totp" => factor::add_totp(fixture).await,
        "POST /auth/factors/totp/{id}/confirm" => factor::confirm_totp(fixture).await,
        "POST /auth/factors/recovery-codes" => factor::issue_recovery_codes(fixture).await,
        "PATCH /auth/factors/{id}" => factor::rename(fixture).await,
        "DELETE /auth/factors/{id}" => factor::remove(fixture).await,
        "DELETE /users/{id}/factors" => factor::reset(fixture).await,
        "POST /users/{id}/password-reset" => account::start(fixture).await,
        "POST /invitations" => invitation::create(fixture).await,
        "POST /invitations/lookup" => invitation::look_up(fixture).await,
        "POST /invitations/accept" => invitation::accept(fixture).await,
        "DELETE /invitations/{id}" => invitation::delete(fixture).await,
        "POST /invitations/{id}/resend" => invitation::resend(fixture).await,
        "POST /access-reviews" => access_review::create(fixture).await,
        "PATCH /access-reviews/{id}/items/{itemId}" => access_review::decide(fixture).await,
        "POST /access-reviews/{id}/complete" => access_review::complete(fixture).await,
        "POST /access-reviews/{id}/cancel" => access_review::cancel(fixture).await,
        "POST /eligibilities" => eligibility::create(fixture).await,
        "PATCH /eligibilities/{id}" => eligibility::update(fixture).await,
        "DELETE /eligibilities/{id}" => eligibility::delete(fixture).await,
        "POST /access-requests" => access_request::create(fixture).await,
        "POST /access-requests/{id}/approve" => access_request::approve(fixture).await,
        "POST /access-requests/{id}/deny" => access_request::deny(fixture).await,
        "POST /access-requests/{id}/cancel" => access_request::cancel(fixture).await,
        "POST /access-requests/{id}/end" => access_request::end(fixture).await,
        "POST /users/{id}/logout-all" => session::logout_user(fixture).await,
        "DELETE /sessions/{id}" => session::terminate(fixture).await,
        "POST /users/{id}/impersonations" => session::impersonate(fixture).await,
        "POST /service-accounts" => api_key::create_account(fixture).await,
        "POST /users/{id}/api-keys" => api_key::create(fixture).await,
        "PATCH /api-keys/{id}" => api_key::update(fixture).await,
        "DELETE /api-keys/{id}" => api_key::delete(fixture).await,
        "POST /api-keys/{id}/rotate" => api_key::rotate(fixture).await,
        // An introspection is a POST only to keep the token out of the URI. It changes nothing.
        "POST /auth/introspect" => api_key::introspect(fixture).await,
        "POST /users" => user::create(fixture).await,
        "PATCH /auth/me" => user::update_own(fixture).await,
        "PATCH /users/{id}" => user::update(fixture).await,
        "DELETE /users/{id}" => user::delete(fixture).await,
        "POST /users/{id}/suspend" => user::suspend(fixture).await,
        "POST /users/{id}/reactivate" => user::reactivate(fixture).await,
        "PATCH /tenants/{id}" => organization::update_tenant(fixture).await,
        "POST /tenants/{id}/apply" => manifest::apply(fixture).await,
        "POST /organizations" => organization::create(fixture).await,
        "PATCH /organizations/{id}" => organization::update(fixture).await,
        "DELETE /organizations/{id}" => organization::delete(fixture).await,
        "POST /permissions" => access::create_permission(fixture).await,
        "DELETE /permissions/{id}" => access::delete_permission(fixture).await,
        "POST /roles" => access::create_role(fixture).await,
        "PATCH /roles/{id}" => access::update_role(fixture).await,
        "DELETE /roles/{id}" => access::delete_role(fixture).await,
        "POST /role-assignments" => access::assign(fixture).await,
        "POST /role-assignments/bulk" => access::assign_all(fixture).await,
        "PATCH /role-assignments/{id}" => access::change_expiry(fixture).await,
        "DELETE /role-assignments/{id}" => access::revoke(fixture).await,
        // A check is a POST only because its question does not fit into a URI. It changes nothing.
        "POST /authz/check" | "POST /authz/check/bulk" => access::check(fixture).await,
        "POST /access/v1/evaluation"
        | "POST /access/v1/evaluations"
        | "POST /access/v1/search/subject"
        | "POST /access/v1/search/resource"
        | "POST /access/v1/search/action" => access::evaluate(fixture).await,
        "POST /audit-logs" => audit::log(fixture).await,
        "GET /audit-logs/export" => audit::export(fixture).await,
        "GET /users/{id}/export" => user::export(fixture).await,
        "PUT /audit-logs/retention" => audit::set_retention(fixture).await,
        "POST /audit-logs/retention/apply" => audit::apply_retention(fixture).await,
        "POST /audit-logs/erasures" => audit::erase(fixture).await,
        "POST /legal-holds" => legal_hold::create(fixture).await,
        "POST /legal-holds/{id}/release" => legal_hold::release(fixture).await,
        "POST /domains" => domain::create(fixture).await,
        "POST /domains/{id}/verify" => domain::verify(fixture).await,
        "DELETE /domains/{id}" => domain::delete(fixture).await,
        "POST /auth/federation/discover" => federation::discover(fixture).await,
        "POST /auth/federation/start" | "POST /auth/identities/start" => federation::start(fixture).await,
        "POST /auth/federation/finish" => federation::finish(fixture).await,
        "POST /auth/federation/backchannel-logout/{id}" => federation::log_out(fixture).await,
        "DELETE /identities/{id}" => federation::unlink(fixture).await,
        "POST /identity-providers" => identity_provider::create(fixture).await,
        "PATCH /identity-providers/{id}" => identity_provider::update(fixture).await,
        "DELETE /identity-providers/{id}" => identity_provider::delete(fixture).await,
        "POST /directories" => directory::create(fixture).await,
        "PATCH /directories/{id}" => directory::update(fixture).await,
        "DELETE /directories/{id}" => directory::delete(fixture).await,
        "PUT /directories/{id}/groups/{groupId}/grants" => directory::set_grants(fixture).await,
        "POST /webhooks" => webhook::create(fixture).await,
        "PATCH /webhooks/{id}" => webhook::update(fixture).await,
        "DELETE /webhooks/{id}" => webhook::delete(fixture).await,
        "POST /webhooks/{id}/rotate-secret" => webhook::rotate_secret(fixture).await,
        "POST /webhooks/{id}/test" => webhook::test(fixture).await,
        "POST /webhooks/{id}/replay" => webhook::replay(fixture).await,
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
        if !operation.starts_with("GET ") || RECORDED_READINGS.contains(&&*operation) {
            let fixture = Fixture::of(&app, operation).await;
            check_entries(&fixture).await;
            keep_log(&app, &fixture.ada.tenant).await;
        }
    }
    assert_eq!(log().await, before, "the log of another tenant");
}

async fn operations_that_only_read_are_not_recorded(app: TestApp) {
    let document = document();
    let only_reads = |operation: &Operation| {
        operation.method == Method::GET && !RECORDED_READINGS.contains(&&*operation.to_string())
    };
    for operation in operations(&document).iter().filter(|operation| only_reads(operation)) {
        let fixture = permissions::Fixture::set(&app, operation).await;
        let reader = &fixture.administrator;
        let answer = app.unrecorded(reader, fixture.request(&app, &document, operation).by(reader).send()).await;
        // A browser that comes back from a provider goes on.
        assert!([200, 303].contains(&answer.status()), "{operation}: {}", answer.text());
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
struct Fixture<'a> {
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

impl<'a> Fixture<'a> {
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
