//! One test for each abuser (`docs/access-requests.md#attackers`).

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::json;

use super::{Shop, id};
use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::each;

in_memory_with_mail![
    who_asks_does_not_approve_by_what_it_has_just_gained,
    an_accomplice_does_not_approve_by_what_an_elevation_has_given,
    two_accounts_of_one_person_leave_two_entries_and_a_message,
    a_thief_of_a_key_waits_for_nothing,
    an_eligibility_is_no_grant_in_disguise,
    who_gives_itself_the_held_role_must_hold_what_it_asks_for,
    a_flood_of_requests_has_bounds,
];

/// A tenant in which Grace holds all permissions by a request, with what she holds until then.
async fn powerful<'a>(app: &'a TestApp) -> (Shop<'a>, String) {
    let shop = Shop::of(app).await;
    let all = app.role(&shop.ada, "ALL", &["*"]).await;
    let eligibility = app.eligibility(&shop.ada, &json!({ "roleId": all, "userId": shop.grace.user })).await;
    let request = app.access_request(&shop.grace, &eligibility).await;
    let active = app.decides(&shop.carol, &request, "approve").send().await.ok();
    (shop, active["endsAt"].as_str().unwrap().to_owned())
}

async fn who_asks_does_not_approve_by_what_it_has_just_gained(app: TestApp) {
    let (shop, _) = powerful(&app).await;
    let own = shop.ask().await;
    let refused = app.unrecorded(&shop.ada, app.decides(&shop.grace, &own, "approve").send()).await;
    assert!(refused.detail("forbidden").contains("your own"));
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let body = json!({ "roleId": shop.role, "userId": bob.user });
    let request = app.access_request(&bob, &app.eligibility(&shop.ada, &body).await).await;
    let refused = app.unrecorded(&shop.ada, app.decides(&shop.grace, &request, "approve").send()).await;
    refused.lacks("access-requests:update");
}

/// The elevated user gives another account the right to decide, and asks for more time in the meanwhile.
async fn an_accomplice_does_not_approve_by_what_an_elevation_has_given(app: TestApp) {
    let (shop, ends_at) = powerful(&app).await;
    let bob = app.colleague(&shop.ada, "bob@example.com").await;
    let decider = app.role(&shop.ada, "DECIDER", &["access-requests:*", "eligibilities:*", "users:read"]).await;
    let body = json!({ "userId": bob.user, "roleId": decider, "expiresAt": ends_at });
    app.post("/role-assignments").by(&shop.grace).json(&body).send().await.created();
    let request = shop.ask().await;
    let refused = app.unrecorded(&shop.ada, app.decides(&bob, &request, "approve").send()).await;
    refused.lacks("access-requests:update");
    let body = json!({ "roleId": shop.role, "userId": bob.user });
    app.unrecorded(&shop.ada, app.new_eligibility(&bob, &body).send()).await.lacks("eligibilities:create");
    // A permission that is put into a role of Bob's own is held as long as the role is, and needs cover for that time.
    let harmless = app.role(&shop.ada, "HARMLESS", &[]).await;
    app.assign(&shop.ada, &bob.user, "HARMLESS", None, None).await;
    let widen = json!({ "permissions": ["access-requests:update"] });
    let widen = app.patch(&format!("/roles/{harmless}")).by(&shop.grace).json(&widen);
    app.unrecorded(&shop.ada, widen.send()).await.escalates();
}

/// This remains: the service does not know persons, but accounts. It leaves traces.
async fn two_accounts_of_one_person_leave_two_entries_and_a_message(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    let by = |entries: &[serde_json::Value], action: &str| {
        entries.iter().find(|entry| entry["action"] == action).map(|entry| entry["userId"].clone())
    };
    let entries = app.history(&shop.ada, id(&active)).await;
    assert_eq!(by(&entries, "CREATE"), Some(json!(shop.grace.user)));
    assert_eq!(by(&entries, "APPROVED"), Some(json!(shop.carol.user)));
    let mails = app.mails().await;
    // Every other user who may decide is told, too.
    let is_told =
        |mail: &iam_core::mail::Mail| mail.kind == MailKind::AccessRequested && mail.to.as_str() == "ada@example.com";
    assert!(mails.iter().any(is_told), "{mails:?}");
    // A review of the role shows who holds it.
    let review = app.review(&shop.ada, &json!({ "roleIds": [shop.role] })).await;
    let items = app.get(&format!("/access-reviews/{review}/items")).by(&shop.ada).send().await.ok();
    let mut kinds = each(&items, "kind");
    kinds.sort_unstable();
    assert_eq!(kinds, ["ASSIGNMENT", "ELIGIBILITY"]);
}

async fn a_thief_of_a_key_waits_for_nothing(app: TestApp) {
    let shop = Shop::of(&app).await;
    let all = app.role(&shop.ada, "ALL", &["*"]).await;
    let body = json!({ "roleId": all, "userId": shop.grace.user, "approvals": 0 });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let key = app.key(&shop.grace, &shop.grace.user, &json!({})).await;
    let thief = Person { access: text(&key).to_owned(), ..shop.grace.clone() };
    // It does not ask in the name of its user.
    app.asks(&thief, &eligibility, &json!({})).send().await.problem("forbidden");
    let request = app.access_request(&shop.grace, &eligibility).await;
    app.get("/users").by(&shop.grace).send().await.ok();
    app.get("/users").by(&thief).send().await.lacks("users:read");
    let body = json!({
        "userId": shop.carol.user, "roleId": shop.role, "expiresAt": shown(app.iam.now() + TimeDelta::minutes(1)),
    });
    let give = app.post("/role-assignments").by(&thief).json(&body);
    app.unrecorded(&shop.ada, give.send()).await.lacks("role-assignments:create");
    app.unrecorded(&shop.ada, app.closes(&thief, &request, "end").send()).await.problem("not-found");
}

async fn an_eligibility_is_no_grant_in_disguise(app: TestApp) {
    let shop = Shop::of(&app).await;
    let mallory = app.colleague_who_may(&shop.ada, "mallory@example.com", &["eligibilities:*"]).await;
    let admin = app.role_id(&shop.ada, "TENANT_ADMIN").await;
    // For itself, and without approvals.
    for role in [&admin, &shop.role] {
        let body = json!({ "roleId": role, "userId": mallory.user, "approvals": 0, "maxSeconds": 2_592_000 });
        app.unrecorded(&shop.ada, app.new_eligibility(&mallory, &body).send()).await.escalates();
    }
    // Nor by that of another user.
    let widen = app.change_eligibility(&mallory, &shop.eligibility, &json!({ "approvals": 0 }));
    app.unrecorded(&shop.ada, widen.send()).await.escalates();
    // A review has it, and removes it.
    let review = app.review(&shop.ada, &json!({ "userIds": [shop.grace.user] })).await;
    let items = app.get(&format!("/access-reviews/{review}/items")).by(&shop.ada).send().await.ok();
    assert_eq!(
        (each(&items, "id"), each(&items, "kind")),
        (vec![shop.eligibility.clone()], vec!["ELIGIBILITY".into()])
    );
    app.decide(&shop.ada, &review, &shop.eligibility, "REVOKE").await.ok();
    app.post(&format!("/access-reviews/{review}/complete")).by(&shop.ada).send().await.ok();
    app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await.problem("not-found");
}

async fn who_gives_itself_the_held_role_must_hold_what_it_asks_for(app: TestApp) {
    let shop = Shop::of(&app).await;
    let held = app.role(&shop.ada, "HELD", &[]).await;
    let body = json!({ "roleId": shop.role, "heldRoleId": held, "approvals": 0 });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let mallory = app.colleague_who_may(&shop.ada, "mallory@example.com", &["role-assignments:*"]).await;
    let give = || {
        let body = json!({ "userId": mallory.user, "roleId": held });
        app.post("/role-assignments").by(&mallory).json(&body)
    };
    let refused = app.unrecorded(&shop.ada, give().send()).await;
    refused.escalates();
    assert!(refused.detail("forbidden").contains("users:read"));
    app.asks(&mallory, &eligibility, &json!({})).send().await.problem("forbidden");
    // Nor by a bulk, and a preview says so.
    let item = json!({ "userId": mallory.user, "roleId": held });
    let bulk = app.post("/role-assignments/bulk").by(&mallory).json(&json!({ "assignments": [item] }));
    app.unrecorded(&shop.ada, bulk.send()).await.escalates();
    let body = json!({ "userId": mallory.user, "roleId": held });
    let preview = app.post("/role-assignments?preview=true").by(&mallory).json(&body).send().await.ok();
    assert_eq!((&preview["allowed"], &preview["problem"]["status"]), (&json!(false), &json!(403)));
    // An elevation lets it give the role, with its mark. That makes no user eligible.
    let body = json!({ "roleId": shop.role, "userId": mallory.user, "approvals": 0 });
    let own = app.eligibility(&shop.ada, &body).await;
    let active = app.asks(&mallory, &own, &json!({})).send().await.created();
    let body = json!({ "userId": shop.grace.user, "roleId": held, "expiresAt": active["endsAt"] });
    let made = app.post("/role-assignments").by(&mallory).json(&body).send().await.created();
    assert_eq!(made["accessRequestId"], active["id"]);
    app.asks(&shop.grace, &eligibility, &json!({})).send().await.problem("forbidden");
    // Who holds it gives it.
    let giver = app.colleague_who_may(&shop.ada, "giver@example.com", &["role-assignments:*", "users:read"]).await;
    let body = json!({ "userId": giver.user, "roleId": held });
    app.post("/role-assignments").by(&giver).json(&body).send().await.created();
}

async fn a_flood_of_requests_has_bounds(app: TestApp) {
    let shop = Shop::of(&app).await;
    app.mails().await;
    for _ in 0..104 {
        let request = shop.ask().await;
        app.closes(&shop.grace, &request, "cancel").send().await.ok();
    }
    // The oldest closed ones are removed when another one is made. The log has all of them.
    let list = app.get("/access-requests").by(&shop.grace).send().await.ok();
    assert_eq!(list["pagination"]["total"], 101);
    assert_eq!(app.audit(&shop.ada, &[("action", "CREATE"), ("resourceType", "ACCESS_REQUEST")]).await.len(), 104);
    let mails = app.mails().await;
    let told =
        mails.iter().filter(|mail| mail.kind == MailKind::AccessRequested && mail.to.as_str() == shop.carol.email);
    assert_eq!(told.count(), 3);
}
