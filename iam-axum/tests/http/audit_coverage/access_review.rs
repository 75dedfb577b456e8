//! Access reviews.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{Expected, Fixture, entry, granted};
use crate::app::shown;
use crate::people::{Person, with};

/// An entry about a review, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, review: &str) -> Expected {
    entry(action, "ACCESS_REVIEW", review.to_owned(), fixture.ada.user.clone())
}

/// A review of the role that Bob holds, its item, and the role.
async fn review(fixture: &Fixture<'_>) -> (String, String, String) {
    let Fixture { app, ada, bob, .. } = fixture;
    let role = app.role(ada, "CLERK", &["roles:create"]).await;
    let item = app.assign(ada, &bob.user, "CLERK", None, None).await;
    (app.review(ada, &json!({ "roleIds": [role] })).await, item, role)
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let role = app.role(ada, "CLERK", &[]).await;
    app.assign(ada, &bob.user, "CLERK", None, None).await;
    let due_at = shown(app.iam.now() + TimeDelta::days(1));
    let body = json!({ "name": "Spring", "roleIds": [role], "dueAt": due_at });
    let create = |by: &Person, body: &Value| app.post("/access-reviews").by(by).json(body);
    fixture.refuses(create(ada, &with(body.clone(), &json!({ "name": "" }))), "validation-error").await;
    fixture.refuses(create(ada, &with(body.clone(), &json!({ "userIds": [role] }))), "not-found").await;
    fixture.refuses(create(bob, &body), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &body), 201).await;
    let fields = json!({
        "name": "Spring",
        "organizationId": null,
        "roleIds": [role],
        "userIds": [],
        "dueAt": due_at,
        "status": "OPEN",
    });
    let counts = json!({ "counts": { "total": 1, "undecided": 1, "keep": 0, "revoke": 0 } });
    let made = about(fixture, "CREATE", &fixture.made(&answer)).creating(fields).metadata(counts);
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn decide(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (review, item, role) = review(fixture).await;
    let path = format!("/access-reviews/{review}/items/{item}");
    let decide = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    fixture.refuses(decide(bob, json!({ "decision": "KEEP" })), "forbidden").await;
    fixture.refuses(decide(ada, json!({ "decision": "MAYBE" })), "validation-error").await;
    let metadata = json!({ "itemId": item, "assignmentId": item, "targetUserId": bob.user, "roleId": role });
    let before = json!({ "decision": null, "reason": null });
    let after = json!({ "decision": "REVOKE", "reason": "Has left." });
    let changed = json!({ "changedFields": ["decision", "reason"] });
    let decided =
        about(fixture, "UPDATE", &review).changing(before, after.clone()).metadata(with(metadata.clone(), &changed));
    fixture.records(decide(ada, after.clone()), 200, [decided]).await;
    fixture.records(decide(ada, after), 200, []).await;
    let changed = json!({ "changedFields": ["reason"] });
    let reason = about(fixture, "UPDATE", &review)
        .changing(json!({ "reason": "Has left." }), json!({ "reason": null }))
        .metadata(with(metadata, &changed));
    fixture.records(decide(ada, json!({ "decision": "REVOKE" })), 200, [reason]).await;
}

pub(super) async fn complete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (review, item, role) = review(fixture).await;
    let complete = |by: &Person| app.post(&format!("/access-reviews/{review}/complete")).by(by);
    fixture.refuses(complete(ada), "conflict").await;
    app.decide(ada, &review, &item, "REVOKE").await.ok();
    fixture.refuses(complete(bob), "forbidden").await;
    let revoked = granted("ROLE_REVOKED", &item, ada, &bob.user, (&role, "CLERK"), None);
    let metadata = with(revoked.0["metadata"].clone(), &json!({ "reason": "ACCESS_REVIEW" }));
    let revoked = revoked.metadata(metadata);
    let completed = about(fixture, "COMPLETED", &review)
        .changing(json!({ "status": "OPEN" }), json!({ "status": "COMPLETED" }))
        .metadata(json!({ "counts": { "kept": 0, "revoked": 1, "gone": 0 } }));
    fixture.records(complete(ada), 200, [revoked, completed]).await;
    fixture.refuses(complete(ada), "conflict").await;
}

pub(super) async fn cancel(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (review, ..) = review(fixture).await;
    let cancel = |by: &Person| app.post(&format!("/access-reviews/{review}/cancel")).by(by);
    fixture.refuses(cancel(bob), "forbidden").await;
    let counts = json!({ "total": 1, "undecided": 1, "keep": 0, "revoke": 0 });
    let cancelled = about(fixture, "UPDATE", &review)
        .changing(json!({ "status": "OPEN" }), json!({ "status": "CANCELLED" }))
        .metadata(json!({ "changedFields": ["status"], "counts": counts }));
    fixture.records(cancel(ada), 200, [cancelled]).await;
    fixture.refuses(cancel(ada), "conflict").await;
}
