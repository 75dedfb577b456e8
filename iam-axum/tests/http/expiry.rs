//! The expiry of assignments (`docs/http-api.md#role-assignments`), exact to the instant. Only the test moves the
//! clock.

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_core::clock::Timestamp;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::{Person, says};
use crate::request::{each, each_sorted};

in_memory![
    an_assignment_grants_nothing_from_the_instant_of_its_expiry,
    an_organization_is_hidden_again_when_the_assignment_expires,
    an_expired_assignment_gives_no_locked_rights,
    an_expired_assignment_does_not_count_as_a_duplicate,
    a_user_with_an_expired_assignment_is_not_a_member,
    an_expiry_is_exact_to_the_millisecond,
    a_grant_cannot_outlive_the_grants_it_depends_on,
    the_longest_grant_that_covers_the_scope_limits_the_expiry,
    the_sweeper_removes_only_expired_assignments,
    the_sweeper_records_role_revoked_with_its_reason,
    the_sweeper_sweeps_every_tenant,
    the_sweeper_removes_more_than_one_batch,
    several_sweepers_remove_each_assignment_once,
    revoking_an_expired_assignment_records_the_reason_expired,
    deleting_a_user_records_which_assignments_had_expired,
    an_administrator_whose_expiry_is_removed_counts_as_remaining,
    an_expired_assignment_is_renewed_only_if_its_role_is_still_assignable,
];

const SECOND: TimeDelta = TimeDelta::seconds(1);
const INSTANT: TimeDelta = TimeDelta::milliseconds(1);

async fn ids(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<String> {
    let request = app.get("/role-assignments?limit=100").by(by);
    let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
    each_sorted(&request.send().await.ok(), "id")
}

/// Every assignment of a user that is still stored.
async fn stored(app: &TestApp, by: &Person, user: &str) -> Vec<String> {
    ids(app, by, &[("userId", user), ("includeExpired", "true")]).await
}

async fn sweep(app: &TestApp) -> u64 {
    app.iam.remove_expired_assignments().await.unwrap()
}

/// An administrator, a user whose MEMBER role expires in a second, and the id of that assignment.
async fn with_expiring_role(app: &TestApp) -> (Person, Person, String) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let id = app.assign(&ada, &bob.user, "MEMBER", None, Some(app.iam.now() + SECOND)).await;
    (ada, bob, id)
}

async fn an_assignment_grants_nothing_from_the_instant_of_its_expiry(app: TestApp) {
    let (_, bob, _) = with_expiring_role(&app).await;
    app.pass(SECOND - INSTANT);
    app.get("/users").by(&bob).send().await.ok();
    app.get("/organizations").by(&bob).send().await.ok();
    app.pass(INSTANT);
    app.get("/users").by(&bob).send().await.lacks("users:read");
    app.get("/organizations").by(&bob).send().await.lacks("organizations:read");
}

async fn an_organization_is_hidden_again_when_the_assignment_expires(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [sales, below] = app.chain(&ada, "level").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), Some(app.iam.now() + SECOND)).await;
    app.pass(SECOND - INSTANT);
    for organization in [sales, below] {
        app.get(&format!("/organizations/{organization}")).by(&bob).send().await.ok();
    }
    app.pass(INSTANT);
    for organization in [sales, below] {
        app.get(&format!("/organizations/{organization}")).by(&bob).send().await.problem("not-found");
    }
}

async fn an_expired_assignment_gives_no_locked_rights(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["role-assignments:create"]).await;
    app.assign(&ada, &bob.user, "MEMBER", None, Some(app.iam.now() + SECOND)).await;
    let body = json!({
        "userId": ada.user, "roleId": app.role_id(&ada, "MEMBER").await,
        "expiresAt": shown(app.iam.now() + SECOND),
    });
    app.pass(SECOND);
    let late = crate::people::with(body, &json!({ "expiresAt": shown(app.iam.now() + INSTANT) }));
    app.post("/role-assignments").by(&bob).json(&late).send().await.escalates();
}

async fn an_expired_assignment_does_not_count_as_a_duplicate(app: TestApp) {
    let (ada, bob, expired) = with_expiring_role(&app).await;
    let body = json!({ "userId": bob.user, "roleId": app.role_id(&ada, "MEMBER").await });
    app.pass(SECOND - INSTANT);
    app.post("/role-assignments").by(&ada).json(&body).send().await.problem("conflict");
    app.pass(INSTANT);
    let created = app.post("/role-assignments").by(&ada).json(&body).send().await.created();
    assert_ne!(created["id"], json!(expired));
    // The expired assignment was removed, and the audit log shows the reason.
    assert_eq!(stored(&app, &ada, &bob.user).await, [created["id"].as_str().unwrap()]);
    let entry = &app.history(&ada, &expired).await[0];
    assert_eq!((&entry["action"], &entry["metadata"]["reason"]), (&json!("ROLE_REVOKED"), &json!("EXPIRED")));
    app.get("/users").by(&bob).send().await.ok();
    assert_eq!(sweep(&app).await, 0);
}

async fn a_user_with_an_expired_assignment_is_not_a_member(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let carl = app.add_user(&ada, "carl@example.com").await;
    app.assign(&ada, &carl, "MEMBER", Some(sales), Some(app.iam.now() + SECOND)).await;
    let bob = app.colleague_in(&ada, sales, "bob@example.com", &["users:read", "sessions:read"]).await;
    app.pass(SECOND - INSTANT);
    app.get(&format!("/users/{carl}")).by(&bob).send().await.ok();
    assert!(each(&app.get("/users").by(&bob).send().await.ok(), "id").contains(&carl));
    app.pass(INSTANT);
    app.get(&format!("/users/{carl}")).by(&bob).send().await.problem("not-found");
    app.get(&format!("/users/{carl}/sessions")).by(&bob).send().await.problem("not-found");
    assert_eq!(each(&app.get("/users").by(&bob).send().await.ok(), "id"), [bob.user]);
}

async fn an_expiry_is_exact_to_the_millisecond(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    // The clock stands at 09:15:00.123.
    let body = json!({
        "userId": bob, "roleId": app.role_id(&ada, "MEMBER").await, "expiresAt": "2026-01-31T10:15:01.4569+01:00",
    });
    let created = app.post("/role-assignments").by(&ada).json(&body).send().await.created();
    assert_eq!(created["expiresAt"], "2026-01-31T09:15:01.456Z");
    app.pass(TimeDelta::milliseconds(1_332));
    assert_eq!(ids(&app, &ada, &[("userId", &bob)]).await.len(), 1);
    app.pass(INSTANT);
    assert_eq!(app.now(), "2026-01-31T09:15:01.456Z");
    assert!(ids(&app, &ada, &[("userId", &bob)]).await.is_empty());
}

async fn a_grant_cannot_outlive_the_grants_it_depends_on(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let carl = app.add_user(&ada, "carl@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["role-assignments:create", "users:read"]).await;
    let expiry = app.iam.now() + SECOND;
    app.permit_until(&bob, &["organizations:read"], None, Some(expiry)).await;
    let role = app.role_id(&ada, "MEMBER").await;
    let give = async |until: Option<Timestamp>| {
        let body = json!({ "userId": carl, "roleId": role, "expiresAt": until.map(shown) });
        app.post("/role-assignments").by(&bob).json(&body).send().await
    };
    for longer in [None, Some(expiry + INSTANT), Some(expiry + TimeDelta::days(1))] {
        give(longer).await.escalates();
    }
    assert_eq!(give(Some(expiry)).await.created()["expiresAt"], shown(expiry));
}

async fn the_longest_grant_that_covers_the_scope_limits_the_expiry(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let carl = app.add_user(&ada, "carl@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["role-assignments:create"]).await;
    let [soon, later] = [1, 2].map(|seconds| app.iam.now() + TimeDelta::seconds(seconds));
    app.assign(&ada, &bob.user, "MEMBER", None, Some(soon)).await;
    app.assign(&ada, &bob.user, "MEMBER", Some(sales), Some(later)).await;
    let role = app.role_id(&ada, "MEMBER").await;
    let give = async |organization: Value| {
        let body = json!({ "userId": carl, "roleId": role, "organizationId": organization, "expiresAt": shown(later) });
        app.post("/role-assignments").by(&bob).json(&body).send().await
    };
    give(Value::Null).await.escalates();
    give(json!(sales)).await.created();
}

async fn the_sweeper_removes_only_expired_assignments(app: TestApp) {
    let (ada, bob, expiring) = with_expiring_role(&app).await;
    let later = app.assign(&ada, &bob.user, "AUDITOR", None, Some(app.iam.now() + SECOND + INSTANT)).await;
    app.pass(SECOND - INSTANT);
    assert_eq!(app.unrecorded(&ada, sweep(&app)).await, 0);
    assert_eq!(stored(&app, &ada, &bob.user).await.len(), 2);
    app.pass(INSTANT);
    assert_eq!(stored(&app, &ada, &bob.user).await.len(), 2);
    assert_eq!(sweep(&app).await, 1);
    assert_eq!(stored(&app, &ada, &bob.user).await, [later]);
    assert_eq!(app.unrecorded(&ada, sweep(&app)).await, 0);
    assert_eq!(app.history(&ada, &expiring).await.len(), 2);
    app.pass(INSTANT);
    assert_eq!(sweep(&app).await, 1);
    assert_eq!(stored(&app, &ada, &ada.user).await.len(), 1, "an assignment without an expiry stays");
}

async fn the_sweeper_records_role_revoked_with_its_reason(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    for organization in [None, Some(sales)] {
        let id = app.assign(&ada, &bob, "MEMBER", organization, Some(app.iam.now() + SECOND)).await;
        app.pass(TimeDelta::minutes(1));
        sweep(&app).await;
        let entry = &app.history(&ada, &id).await[0];
        let found = [&entry["action"], &entry["resourceType"], &entry["userId"], &entry["createdAt"]];
        assert_eq!(found, [&json!("ROLE_REVOKED"), &json!("ROLE_ASSIGNMENT"), &Value::Null, &json!(app.now())]);
        let expected = json!({
            "targetUserId": bob, "roleId": app.role_id(&ada, "MEMBER").await, "roleName": "MEMBER",
            "organizationId": organization, "reason": "EXPIRED",
        });
        assert_eq!(crate::people::with(entry["metadata"].clone(), &expected), entry["metadata"]);
    }
}

async fn the_sweeper_sweeps_every_tenant(app: TestApp) {
    let mut people = Vec::new();
    for email in ["ada@example.com", "eve@example.com", "kim@example.com"] {
        let person = app.register(email).await;
        app.assign(&person, &person.user, "MEMBER", None, Some(app.iam.now() + SECOND)).await;
        people.push(person);
    }
    app.pass(SECOND);
    assert_eq!(sweep(&app).await, 3);
    for person in &people {
        assert_eq!(stored(&app, person, &person.user).await.len(), 1);
        let entries = app.audit(person, &[("action", "ROLE_REVOKED")]).await;
        assert_eq!((entries.len(), &entries[0]["tenantId"]), (1, &json!(person.tenant)));
    }
}

async fn the_sweeper_removes_more_than_one_batch(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (mut users, mut roles) = (vec![ada.user.clone()], Vec::new());
    for number in 0..23 {
        users.push(app.add_user(&ada, &format!("user{number}@example.com")).await);
    }
    for number in 0..22 {
        roles.push(app.role(&ada, &format!("R{number}"), &[]).await);
    }
    let expiry = shown(app.iam.now() + SECOND);
    let item = |user: &String, role: &String| json!({ "userId": user, "roleId": role, "expiresAt": expiry });
    let items: Vec<Value> = users.iter().flat_map(|user| roles.iter().map(|role| item(user, role))).collect();
    for items in items.chunks(500) {
        let body = json!({ "assignments": items });
        app.post("/role-assignments/bulk").by(&ada).json(&body).send().await.created();
    }
    app.pass(SECOND);
    assert_eq!(sweep(&app).await, 24 * 22);
    assert_eq!(stored(&app, &ada, &ada.user).await.len(), 1);
}

async fn several_sweepers_remove_each_assignment_once(app: TestApp) {
    let (ada, bob, expired) = with_expiring_role(&app).await;
    app.assign(&ada, &bob.user, "AUDITOR", None, Some(app.iam.now() + SECOND)).await;
    app.pass(SECOND);
    let other = app.restarted().await;
    let removed = join_all([sweep(&app), sweep(&other), sweep(&app), sweep(&other)]).await;
    assert_eq!(removed.iter().sum::<u64>(), 2, "{removed:?}");
    assert_eq!(app.history(&ada, &expired).await.len(), 2);
}

async fn revoking_an_expired_assignment_records_the_reason_expired(app: TestApp) {
    let (ada, _, id) = with_expiring_role(&app).await;
    app.pass(SECOND);
    app.delete(&format!("/role-assignments/{id}")).by(&ada).send().await.no_content();
    let entry = &app.history(&ada, &id).await[0];
    says(entry, &ada, "ROLE_REVOKED", "ROLE_ASSIGNMENT", &id);
    assert_eq!(entry["metadata"]["reason"], "EXPIRED");
}

async fn deleting_a_user_records_which_assignments_had_expired(app: TestApp) {
    let (ada, bob, expired) = with_expiring_role(&app).await;
    let live = app.assign(&ada, &bob.user, "AUDITOR", None, None).await;
    app.pass(SECOND);
    app.delete(&format!("/users/{}", bob.user)).by(&ada).send().await.no_content();
    for (id, reason) in [(&expired, "EXPIRED"), (&live, "USER_DELETED")] {
        let entries = app.history(&ada, id).await;
        assert_eq!((entries.len(), &entries[0]["metadata"]["reason"]), (2, &json!(reason)));
    }
}

async fn an_administrator_whose_expiry_is_removed_counts_as_remaining(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let expiry = app.iam.now() + TimeDelta::days(1);
    let id = app.assign(&ada, &bob.user, "TENANT_ADMIN", None, Some(expiry)).await;
    app.delete(&format!("/users/{}", ada.user)).by(&bob).send().await.problem("conflict");
    // No user extends their own assignment: only a user who holds the role without an expiry can do so.
    let path = format!("/role-assignments/{id}");
    let never = json!({ "expiresAt": null });
    app.patch(&path).by(&bob).json(&never).send().await.escalates();
    app.patch(&path).by(&ada).json(&never).send().await.ok();
    app.delete(&format!("/users/{}", ada.user)).by(&bob).send().await.no_content();
}

async fn an_expired_assignment_is_renewed_only_if_its_role_is_still_assignable(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let role = app.role(&ada, "CLERK", &["users:read"]).await;
    let id = app.assign(&ada, &bob.user, "CLERK", None, Some(app.iam.now() + SECOND)).await;
    app.pass(SECOND);
    let scope = async |scope: &str| {
        let body = json!({ "scope": scope });
        app.patch(&format!("/roles/{role}")).by(&ada).json(&body).send().await.ok();
    };
    let revive = async || {
        let body = json!({ "expiresAt": null });
        app.patch(&format!("/role-assignments/{id}")).by(&ada).json(&body).send().await
    };
    scope("ORGANIZATION").await;
    revive().await.problem("validation");
    scope("TENANT").await;
    revive().await.ok();
    app.get("/users").by(&bob).send().await.ok();
}
