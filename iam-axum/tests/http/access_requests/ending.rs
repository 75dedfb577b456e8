//! How what a request gives ends (`docs/access-requests.md#the-end-of-an-elevation`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{Shop, id};
use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::people::Person;

in_memory![
    it_ends_at_its_instant_and_a_sweep_records_it,
    its_user_ends_it_before,
    others_end_it_with_the_permission_to_revoke,
    only_what_is_active_ends,
    a_request_that_waits_is_cancelled,
    others_cancel_it_with_the_permission_to_decide,
    a_suspension_ends_it_and_it_does_not_come_back,
    a_deletion_ends_it_and_it_does_not_come_back,
    a_revocation_ends_it,
    its_expiry_is_not_changed_by_hand,
    an_ordinary_assignment_takes_its_place,
    what_is_given_by_it_ends_with_it,
    what_is_given_by_it_does_not_outlast_it,
    what_standing_rights_cover_stays,
    a_deleted_organization_ends_it,
];

/// Checks that Grace has lost the role for a reason, and that its request has ended.
async fn has_ended(shop: &Shop<'_>, request: &Value, reason: &str) {
    let shown = shop.request(id(request)).await;
    assert_eq!((&shown["status"], &shown["assignmentId"]), (&json!("ENDED"), &request["assignmentId"]));
    assert!(shop.held(&shop.grace.user).await.is_empty());
    let revoked = shop.entry(request["assignmentId"].as_str().unwrap(), "ROLE_REVOKED").await;
    assert_eq!(
        (&revoked["metadata"]["reason"], &revoked["metadata"]["accessRequestId"]),
        (&json!(reason), &request["id"])
    );
    shop.entry(id(request), "ENDED").await;
}

async fn it_ends_at_its_instant_and_a_sweep_records_it(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 300 })).await;
    let active = shop.elevate().await;
    app.pass(TimeDelta::seconds(300) - TimeDelta::milliseconds(1));
    assert!(shop.may_read().await);
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 0);
    app.pass(TimeDelta::milliseconds(1));
    // Whether or not a sweep has run.
    assert!(!shop.may_read().await);
    assert_eq!(shop.status(id(&active)).await, "ENDED");
    assert!(app.audit(&shop.ada, &[("action", "ENDED")]).await.is_empty());
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 1);
    has_ended(&shop, &active, "EXPIRED").await;
    assert_eq!(shop.entry(id(&active), "ENDED").await["userId"], Value::Null);
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 0);
}

async fn its_user_ends_it_before(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    // No recent authentication is needed to give rights up.
    app.age(&shop.grace).await;
    let ended = app.closes(&shop.grace, id(&active), "end").send().await.ok();
    assert_eq!(ended["status"], "ENDED");
    assert!(!shop.may_read().await);
    has_ended(&shop, &active, "ENDED").await;
    assert_eq!(shop.entry(id(&active), "ENDED").await["userId"], json!(shop.grace.user));
}

async fn others_end_it_with_the_permission_to_revoke(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    // Who approves may not end.
    app.closes(&shop.carol, id(&active), "end").send().await.lacks("role-assignments:delete");
    let stranger = app.colleague(&shop.ada, "stranger@example.com").await;
    app.closes(&stranger, id(&active), "end").send().await.problem("not-found");
    let branch = app.organization(&shop.ada, "branch").await;
    let there = app.colleague_in(&shop.ada, branch, "there@example.com", &["role-assignments:delete"]).await;
    app.closes(&there, id(&active), "end").send().await.problem("not-found");
    // A key of the user does not act in its session.
    let key = app.key(&shop.grace, &shop.grace.user, &json!({})).await;
    let by_key = Person { access: text(&key).to_owned(), ..shop.grace.clone() };
    app.closes(&by_key, id(&active), "end").send().await.problem("not-found");
    let revoker = app.colleague_who_may(&shop.ada, "revoker@example.com", &["role-assignments:delete"]).await;
    let long = app.closes(&revoker, id(&active), "end").json(&json!({ "reason": "x".repeat(501) }));
    assert_eq!(long.send().await.invalid_fields(), ["reason"]);
    let ended = app.closes(&revoker, id(&active), "end").json(&json!({ "reason": " Enough. " })).send().await.ok();
    assert_eq!((&ended["status"], &ended["closeReason"]), (&json!("ENDED"), &json!("Enough.")));
    assert_eq!((&ended["closedBy"], &ended["closedByUser"]["id"]), (&json!(revoker.user), &json!(revoker.user)));
    assert_eq!(app.read_request(&shop.grace, id(&active)).await.ok()["closeReason"], "Enough.");
    assert_eq!(shop.entry(id(&active), "ENDED").await["metadata"]["closeReason"], "Enough.");
    has_ended(&shop, &active, "ENDED").await;
}

async fn only_what_is_active_ends(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 300 })).await;
    let request = shop.ask().await;
    app.closes(&shop.grace, &request, "end").send().await.problem("conflict");
    app.decides(&shop.carol, &request, "approve").send().await.ok();
    app.closes(&shop.grace, &request, "cancel").send().await.problem("conflict");
    app.pass(TimeDelta::seconds(300));
    app.closes(&shop.grace, &request, "end").send().await.problem("conflict");
    let denied = shop.ask().await;
    app.decides(&shop.carol, &denied, "deny").send().await.ok();
    for how in ["end", "cancel"] {
        app.unrecorded(&shop.ada, app.closes(&shop.grace, &denied, how).send()).await.problem("conflict");
    }
}

async fn a_request_that_waits_is_cancelled(app: TestApp) {
    let shop = Shop::of(&app).await;
    let pending = shop.ask().await;
    assert_eq!(app.closes(&shop.grace, &pending, "cancel").send().await.ok()["status"], "CANCELLED");
    let cancelled = shop.entry(&pending, "CANCELLED").await;
    assert_eq!((&cancelled["userId"], cancelled["metadata"].get("cause")), (&json!(shop.grace.user), None));
    let starts_at = shown(app.iam.now() + TimeDelta::minutes(1));
    let approved = app.asks(&shop.grace, &shop.eligibility, &json!({ "startsAt": starts_at })).send().await.created();
    app.decides(&shop.carol, id(&approved), "approve").send().await.ok();
    assert_eq!(app.closes(&shop.grace, id(&approved), "cancel").send().await.ok()["status"], "CANCELLED");
    app.pass(TimeDelta::minutes(1));
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 0);
    assert!(!shop.may_read().await);
    app.closes(&shop.grace, &pending, "cancel").send().await.problem("conflict");
}

async fn others_cancel_it_with_the_permission_to_decide(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    let stranger = app.colleague(&shop.ada, "stranger@example.com").await;
    app.closes(&stranger, &request, "cancel").send().await.problem("not-found");
    let reader = app.colleague_who_may(&shop.ada, "reader@example.com", &["access-requests:read"]).await;
    app.closes(&reader, &request, "cancel").send().await.lacks("access-requests:update");
    let cancel = app.closes(&shop.carol, &request, "cancel").json(&json!({ "reason": "Not now." }));
    let cancelled = cancel.send().await.ok();
    assert_eq!((&cancelled["status"], &cancelled["cancelCause"]), (&json!("CANCELLED"), &Value::Null));
    assert_eq!((&cancelled["closedBy"], &cancelled["closeReason"]), (&json!(shop.carol.user), &json!("Not now.")));
    assert_eq!(shop.entry(&request, "CANCELLED").await["metadata"]["closeReason"], "Not now.");
}

async fn a_suspension_ends_it_and_it_does_not_come_back(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    let other = app.role(&shop.ada, "OTHER", &[]).await;
    let body = json!({ "roleId": other, "userId": shop.grace.user });
    let pending = app.access_request(&shop.grace, &app.eligibility(&shop.ada, &body).await).await;
    app.set_status(&shop.ada, &shop.grace.user, "SUSPENDED").await;
    has_ended(&shop, &active, "ENDED").await;
    let cancelled = shop.entry(&pending, "CANCELLED").await;
    assert_eq!(cancelled["metadata"]["cause"], "USER_SUSPENDED");
    app.decides(&shop.carol, &pending, "approve").send().await.problem("conflict");
    app.set_status(&shop.ada, &shop.grace.user, "ACTIVE").await;
    app.iam.advance_access_requests().await.unwrap();
    assert!(shop.held(&shop.grace.user).await.is_empty());
    assert_eq!(shop.status(id(&active)).await, "ENDED");
    assert_eq!(shop.status(&pending).await, "CANCELLED");
}

async fn a_deletion_ends_it_and_it_does_not_come_back(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    app.delete(&format!("/users/{}", shop.grace.user)).by(&shop.ada).send().await.no_content();
    assert_eq!(shop.status(id(&active)).await, "ENDED");
    app.set_status(&shop.ada, &shop.grace.user, "ACTIVE").await;
    app.iam.advance_access_requests().await.unwrap();
    assert!(shop.held(&shop.grace.user).await.is_empty());
}

async fn a_revocation_ends_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    let assignment = active["assignmentId"].as_str().unwrap();
    app.delete(&format!("/role-assignments/{assignment}")).by(&shop.ada).send().await.no_content();
    assert!(!shop.may_read().await);
    has_ended(&shop, &active, "ENDED").await;
    shop.ask().await;
}

async fn its_expiry_is_not_changed_by_hand(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    let path = format!("/role-assignments/{}", active["assignmentId"].as_str().unwrap());
    for expires_at in [Value::Null, json!(shown(app.iam.now() + TimeDelta::minutes(1)))] {
        let change = app.patch(&path).by(&shop.ada).json(&json!({ "expiresAt": expires_at }));
        app.unrecorded(&shop.ada, change.send()).await.problem("conflict");
    }
}

async fn an_ordinary_assignment_takes_its_place(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    let body = json!({ "userId": shop.grace.user, "roleId": shop.role });
    let made = app.post("/role-assignments").by(&shop.ada).json(&body).send().await.created();
    assert_eq!(made["accessRequestId"], Value::Null);
    assert_eq!(shop.status(id(&active)).await, "ENDED");
    let held = shop.held(&shop.grace.user).await;
    assert_eq!((held.len(), &held[0]["id"]), (1, &made["id"]));
    assert!(shop.may_read().await);
    app.closes(&shop.grace, id(&active), "end").send().await.problem("conflict");
}

/// A tenant in which Grace holds a role by a request that lets it assign roles.
async fn giving(app: &TestApp) -> (Shop<'_>, Value, Person, String) {
    let shop = Shop::of(app).await;
    let giver = app.role(&shop.ada, "GIVER", &["role-assignments:create", "users:read"]).await;
    let body = json!({ "roleId": giver, "userId": shop.grace.user, "maxSeconds": 600 });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let request = app.access_request(&shop.grace, &eligibility).await;
    let active = app.decides(&shop.carol, &request, "approve").send().await.ok();
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let ends_at = active["endsAt"].as_str().unwrap().to_owned();
    (shop, active, bob, ends_at)
}

async fn what_is_given_by_it_ends_with_it(app: TestApp) {
    let (shop, active, bob, ends_at) = giving(&app).await;
    let body = json!({ "userId": bob.user, "roleId": shop.role, "expiresAt": ends_at });
    let given = app.post("/role-assignments").by(&shop.grace).json(&body).send().await.created();
    assert_eq!(given["accessRequestId"], active["id"]);
    app.get("/users").by(&bob).send().await.ok();
    let assigned = shop.entry(id(&given), "ROLE_ASSIGNED").await;
    assert_eq!(
        (&assigned["userId"], &assigned["metadata"]["accessRequestId"]),
        (&json!(shop.grace.user), &active["id"])
    );
    assert_eq!(assigned["metadata"].get("approvedBy"), None);
    // No key has it either.
    let key = app.key(&bob, &bob.user, &json!({})).await;
    app.get("/users").bearer(text(&key)).send().await.lacks("users:read");
    app.closes(&shop.grace, id(&active), "end").send().await.ok();
    app.get("/users").by(&bob).send().await.lacks("users:read");
    assert!(shop.held(&bob.user).await.is_empty());
    let revoked = shop.entry(id(&given), "ROLE_REVOKED").await;
    assert_eq!(
        (&revoked["metadata"]["reason"], &revoked["metadata"]["accessRequestId"]),
        (&json!("ENDED"), &active["id"])
    );
}

async fn what_is_given_by_it_does_not_outlast_it(app: TestApp) {
    let (shop, active, bob, ends_at) = giving(&app).await;
    let give = async |expires_at: Option<&str>| {
        let body = json!({ "userId": bob.user, "roleId": shop.role, "expiresAt": expires_at });
        app.post("/role-assignments").by(&shop.grace).json(&body).send().await
    };
    give(None).await.escalates();
    let after = ends_at.parse::<iam_core::clock::Timestamp>().unwrap() + TimeDelta::milliseconds(1);
    give(Some(&shown(after))).await.escalates();
    // Neither does it go on by a second step of the one who gets it.
    give(Some(&ends_at)).await.created();
    app.pass(TimeDelta::seconds(600));
    app.get("/users").by(&bob).send().await.lacks("users:read");
    app.iam.advance_access_requests().await.unwrap();
    assert!(shop.held(&bob.user).await.is_empty());
    assert_eq!(shop.status(id(&active)).await, "ENDED");
}

async fn what_standing_rights_cover_stays(app: TestApp) {
    let (shop, active, bob, _) = giving(&app).await;
    app.permit(&shop.grace, &["role-assignments:create", "users:read"]).await;
    let body = json!({ "userId": bob.user, "roleId": shop.role });
    let given = app.post("/role-assignments").by(&shop.grace).json(&body).send().await.created();
    assert_eq!(given["accessRequestId"], Value::Null);
    app.closes(&shop.grace, id(&active), "end").send().await.ok();
    app.get("/users").by(&bob).send().await.ok();
}

async fn a_deleted_organization_ends_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let branch = app.organization(&shop.ada, "branch").await;
    let body = json!({ "roleId": shop.role, "userId": shop.grace.user, "organizationId": branch });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let request = app.access_request(&shop.grace, &eligibility).await;
    app.decides(&shop.carol, &request, "approve").send().await.ok();
    app.delete(&format!("/organizations/{branch}")).by(&shop.ada).send().await.no_content();
    assert_eq!(shop.status(&request).await, "ENDED");
    assert!(shop.held(&shop.grace.user).await.is_empty());
}
