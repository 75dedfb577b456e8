//! Access requests.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry, granted};
use crate::people::{Person, with};

/// A role, and an eligibility of Bob for it with so many approvals.
async fn eligibility(fixture: &Fixture<'_>, approvals: u32) -> (String, String) {
    let role = fixture.app.role(&fixture.ada, "CLERK", &["users:read"]).await;
    let body = json!({ "roleId": role, "userId": fixture.bob.user, "approvals": approvals, "maxSeconds": 600 });
    let eligibility = fixture.app.eligibility(&fixture.ada, &body).await;
    (role, eligibility)
}

/// An entry about a request of Bob for a role.
fn about(fixture: &Fixture<'_>, action: &str, request: &str, by: &Person, role: &str) -> Expected {
    let metadata = json!({
        "targetUserId": fixture.bob.user,
        "roleId": role,
        "roleName": "CLERK",
        "reason": "The disk is full.",
        "ticket": null,
    });
    entry(action, "ACCESS_REQUEST", request.to_owned(), by.user.clone()).metadata(metadata)
}

/// The entry with more metadata.
fn saying(expected: Expected, more: &Value) -> Expected {
    let metadata = with(expected.0["metadata"].clone(), more);
    expected.metadata(metadata)
}

/// Compares the entries of an answer.
async fn compare(fixture: &Fixture<'_>, correlation_id: &str, expected: &[Expected]) {
    let entries = fixture.app.audit(&fixture.ada, &[("correlationId", correlation_id)]).await;
    fixture.compare(&entries, correlation_id, &fixture.ada.tenant, expected);
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, eligibility) = eligibility(fixture, 1).await;
    let ask = |by: &Person, members: &Value| app.asks(by, &eligibility, members);
    fixture.refuses(ask(bob, &json!({ "reason": "" })), "validation-error").await;
    fixture.refuses(ask(ada, &json!({})), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(ask(bob, &json!({})), 201).await;
    let answer = answer.json();
    let fields = json!({
        "eligibilityId": eligibility,
        "roleId": role,
        "organizationId": null,
        "seconds": 600,
        "approvalsNeeded": 1,
        "approverRoleId": null,
        "status": "PENDING",
        "assignmentId": null,
        "startsAt": null,
        "endsAt": null,
        "lapsesAt": answer["lapsesAt"],
    });
    let made = about(fixture, "CREATE", answer["id"].as_str().unwrap(), bob, &role).creating(fields);
    compare(fixture, &correlation_id, &[made]).await;
    fixture.refuses(ask(bob, &json!({})), "conflict").await;
}

pub(super) async fn approve(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, eligibility) = eligibility(fixture, 1).await;
    let request = app.access_request(bob, &eligibility).await;
    let approve = |by: &Person| app.decides(by, &request, "approve");
    fixture.refuses(approve(bob), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(approve(ada), 200).await;
    let answer = answer.json();
    let before = json!({ "status": "PENDING", "assignmentId": null, "startsAt": null, "endsAt": null });
    let after = json!({
        "status": "ACTIVE",
        "assignmentId": answer["assignmentId"],
        "startsAt": answer["startsAt"],
        "endsAt": answer["endsAt"],
    });
    let approved = about(fixture, "APPROVED", &request, ada, &role).changing(before, after);
    let assignment = answer["assignmentId"].as_str().unwrap();
    let assigned = granted("ROLE_ASSIGNED", assignment, ada, &bob.user, (&role, "CLERK"), None);
    let assigned = saying(assigned, &json!({ "accessRequestId": request, "approvedBy": [ada.user] }));
    compare(fixture, &correlation_id, &[approved, assigned]).await;
    fixture.refuses(approve(ada), "conflict").await;
}

pub(super) async fn deny(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, eligibility) = eligibility(fixture, 1).await;
    let request = app.access_request(bob, &eligibility).await;
    fixture.refuses(app.decides(bob, &request, "deny"), "forbidden").await;
    let denied = about(fixture, "DENIED", &request, ada, &role)
        .changing(json!({ "status": "PENDING" }), json!({ "status": "DENIED" }));
    let denied = saying(denied, &json!({ "decisionReason": "Not today." }));
    let deny = app.post(&format!("/access-requests/{request}/deny")).by(ada);
    fixture.records(deny.json(&json!({ "reason": "Not today." })), 200, [denied]).await;
    fixture.refuses(app.decides(ada, &request, "deny"), "conflict").await;
}

pub(super) async fn cancel(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let (role, eligibility) = eligibility(fixture, 1).await;
    let request = app.access_request(bob, &eligibility).await;
    let cancelled = about(fixture, "CANCELLED", &request, bob, &role)
        .changing(json!({ "status": "PENDING" }), json!({ "status": "CANCELLED" }));
    fixture.records(app.closes(bob, &request, "cancel"), 200, [cancelled]).await;
    fixture.refuses(app.closes(bob, &request, "cancel"), "conflict").await;
}

pub(super) async fn end(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (role, eligibility) = eligibility(fixture, 0).await;
    let made = app.asks(bob, &eligibility, &json!({})).send().await.created();
    let [request, assignment] = ["id", "assignmentId"].map(|name| made[name].as_str().unwrap());
    let revoked = granted("ROLE_REVOKED", assignment, ada, &bob.user, (&role, "CLERK"), None);
    let revoked = saying(revoked, &json!({ "accessRequestId": request, "reason": "ENDED" }));
    let ended = about(fixture, "ENDED", request, ada, &role)
        .changing(json!({ "status": "ACTIVE" }), json!({ "status": "ENDED" }));
    let ended = saying(ended, &json!({ "cause": "ENDED" }));
    fixture.records(app.closes(ada, request, "end"), 200, [revoked, ended]).await;
    fixture.refuses(app.closes(ada, request, "end"), "conflict").await;
}
