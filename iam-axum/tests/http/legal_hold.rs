//! Legal holds (`docs/operating.md#legal-holds`).

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::legal_hold::LegalHold;
use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Request, Response};

in_memory![
    a_hold_is_got_and_listed_until_it_is_released,
    a_hold_needs_a_reason_and_an_existing_user,
    a_repeated_request_places_no_second_hold,
    a_tenant_has_a_thousand_holds_at_most,
    a_hold_on_a_user_keeps_that_user_and_the_log,
    a_hold_on_the_tenant_keeps_every_user,
    a_hold_keeps_what_directories_say,
    a_hold_keeps_the_texts_of_a_deleted_user,
    a_manifest_removes_no_held_account,
    a_preview_says_that_a_hold_refuses,
    the_hold_of_one_tenant_stops_no_other,
    a_release_needs_a_reason_and_a_recent_authentication,
    a_program_releases_no_hold,
    a_user_releases_no_hold_on_itself,
];

impl TestApp {
    /// Places a hold on a user, or on the tenant. Returns its identifier.
    async fn hold(&self, by: &Person, user: Option<&str>) -> String {
        let hold = self.new_hold(by, user, "Case 2026-17").send().await.created();
        hold["id"].as_str().unwrap().to_owned()
    }

    fn new_hold(&self, by: &Person, user: Option<&str>, reason: &str) -> Request<'_> {
        self.post("/legal-holds").by(by).json(&json!({ "userId": user, "reason": reason }))
    }

    async fn release(&self, by: &Person, hold: &str) -> Response {
        let body = json!({ "reason": "The case is closed." });
        self.post(&format!("/legal-holds/{hold}/release")).by(by).json(&body).send().await
    }

    async fn delete_user(&self, by: &Person, user: &str) -> Response {
        self.delete(&format!("/users/{user}")).by(by).send().await
    }

    async fn erase(&self, by: &Person, user: &str) -> Response {
        self.post("/audit-logs/erasures").by(by).json(&json!({ "userId": user })).send().await
    }

    /// Lets entries become older than the retention of a tenant. Returns a new session of its administrator.
    async fn outlast_retention(&self, ada: &Person) -> Person {
        self.put("/audit-logs/retention").by(ada).json(&json!({ "retentionDays": 30 })).send().await.ok();
        self.sequence().await;
        self.pass(TimeDelta::days(61));
        self.login(ada).await
    }

    async fn apply_retention(&self, by: &Person) -> Response {
        self.post("/audit-logs/retention/apply").by(by).send().await
    }
}

fn assert_held(answer: &Response, hold: &str) {
    assert_eq!(answer.problem("legal-hold")["legalHoldId"], hold);
}

async fn a_hold_is_got_and_listed_until_it_is_released(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let of_user = app.new_hold(&ada, Some(&grace), " Case 2026-17 ").send().await.created();
    let expected = json!({
        "id": of_user["id"],
        "userId": grace,
        "reason": "Case 2026-17",
        "placedBy": ada.user,
        "createdAt": app.now(),
    });
    assert_eq!(of_user, expected);
    app.pass(TimeDelta::seconds(1));
    let of_tenant = app.hold(&ada, None).await;
    let path = format!("/legal-holds/{}", of_user["id"].as_str().unwrap());
    assert_eq!(app.get(&path).by(&ada).send().await.ok(), expected);
    let list = app.get("/legal-holds").by(&ada).send().await.ok();
    assert_eq!((&list["data"][0]["id"], &list["data"][1]), (&json!(of_tenant), &expected));
    assert_eq!(list["data"][0]["userId"], Value::Null);
    app.release(&ada, of_user["id"].as_str().unwrap()).await.no_content();
    app.get(&path).by(&ada).send().await.problem("not-found");
    assert_eq!(app.get("/legal-holds").by(&ada).send().await.ok()["pagination"]["total"], 1);
}

async fn a_hold_needs_a_reason_and_an_existing_user(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    for reason in ["", "  ", "\u{7}", &"x".repeat(501)] {
        assert_eq!(app.new_hold(&ada, None, reason).send().await.invalid_fields(), ["reason"], "{reason}");
    }
    app.new_hold(&ada, Some(&eve.user), "Case 2026-17").send().await.problem("not-found");
    assert_eq!(app.new_hold(&ada, Some("grace"), "Case 2026-17").send().await.invalid_fields(), ["userId"]);
}

async fn a_repeated_request_places_no_second_hold(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let place = || app.new_hold(&ada, None, "Case 2026-17").header("idempotency-key", "one");
    let first = place().send().await.created();
    assert_eq!(place().send().await.created(), first);
    assert_eq!(app.get("/legal-holds").by(&ada).send().await.ok()["pagination"]["total"], 1);
}

async fn a_tenant_has_a_thousand_holds_at_most(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    for _ in 0..LegalHold::MAX {
        app.iam.legal_holds().place(&system, None, "Case 2026-17").await.unwrap();
    }
    app.new_hold(&ada, None, "One more").send().await.problem("conflict");
}

async fn a_hold_on_a_user_keeps_that_user_and_the_log(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let hold = app.hold(&ada, Some(&grace)).await;
    assert_held(&app.delete_user(&ada, &grace).await, &hold);
    let inactive = json!({ "status": "INACTIVE" });
    assert_held(&app.patch(&format!("/users/{grace}")).by(&ada).json(&inactive).send().await, &hold);
    app.post(&format!("/users/{grace}/suspend")).by(&ada).send().await.ok();
    app.delete_user(&ada, &bob).await.no_content();
    app.erase(&ada, &bob).await.ok();

    let ada = app.outlast_retention(&ada).await;
    assert_held(&app.apply_retention(&ada).await, &hold);
    app.release(&ada, &hold).await.no_content();
    assert_ne!(app.apply_retention(&ada).await.ok()["removed"], 0);
    app.delete_user(&ada, &grace).await.no_content();
}

async fn a_hold_on_the_tenant_keeps_every_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let hold = app.hold(&ada, None).await;
    assert_held(&app.delete_user(&ada, &grace).await, &hold);
    // Of several holds, the one that was placed first is named.
    app.pass(TimeDelta::seconds(1));
    let later = app.hold(&ada, Some(&grace)).await;
    assert_held(&app.delete_user(&ada, &grace).await, &hold);
    app.release(&ada, &hold).await.no_content();
    assert_held(&app.delete_user(&ada, &grace).await, &later);
}

async fn a_hold_keeps_what_directories_say(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let account = app.robot(&ada, &["users:create"]).await;
    let directory = app.directory(&ada, &json!({ "serviceAccountId": account })).await;
    let key = app.key(&ada, &account, &json!({})).await;
    let grace = app.provision(text(&key), &json!({ "userName": "grace@example.com" })).await;
    let path = format!("/directories/{}?users=keep", directory["id"].as_str().unwrap());
    for user in [grace["id"].as_str(), None] {
        let hold = app.hold(&ada, user).await;
        assert_held(&app.delete(&path).by(&ada).send().await, &hold);
        app.release(&ada, &hold).await.no_content();
    }
    // The directory says nothing of this user.
    let jean = app.add_user(&ada, "jean@example.com").await;
    app.hold(&ada, Some(&jean)).await;
    app.delete(&path).by(&ada).send().await.no_content();
}

async fn a_hold_keeps_the_texts_of_a_deleted_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    app.delete_user(&ada, &grace).await.no_content();
    let hold = app.hold(&ada, Some(&grace)).await;
    let before = app.audit(&ada, &[]).await;
    assert_held(&app.erase(&ada, &grace).await, &hold);
    assert_eq!(app.audit(&ada, &[]).await, before);
    app.release(&ada, &hold).await.no_content();
    assert_ne!(app.erase(&ada, &grace).await.ok()["entries"], 0);
}

async fn a_manifest_removes_no_held_account(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let apply = |accounts: Value| {
        let path = format!("/tenants/{}/apply", ada.tenant);
        app.post(&path).by(&ada).json(&json!({ "serviceAccounts": accounts })).query("prune", "true")
    };
    apply(json!([{ "name": "Nightly" }])).send().await.ok();
    let hold = app.hold(&ada, None).await;
    assert_held(&apply(json!([])).send().await, &hold);
    app.release(&ada, &hold).await.no_content();
    apply(json!([])).send().await.ok();
}

async fn a_preview_says_that_a_hold_refuses(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let hold = app.hold(&ada, Some(&grace)).await;
    let preview = app.delete(&format!("/users/{grace}")).by(&ada).query("preview", "true");
    let shown = preview.send().await.ok();
    assert_eq!((&shown["allowed"], &shown["problem"]["legalHoldId"]), (&json!(false), &json!(hold)));
}

async fn the_hold_of_one_tenant_stops_no_other(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    app.hold(&ada, None).await;
    for person in [&ada, &eve] {
        app.put("/audit-logs/retention").by(person).json(&json!({ "retentionDays": 30 })).send().await.ok();
    }
    app.sequence().await;
    app.pass(TimeDelta::days(61));
    let count = async |person: &Person| app.audit(&app.login(person).await, &[("action", "CREATE")]).await.len();
    let kept = count(&ada).await;
    assert_ne!((kept, count(&eve).await), (0, 0));
    let mut held = Vec::new();
    assert_ne!(app.iam.apply_audit_retention_watched(|tenant| held.push(tenant.to_string())).await.unwrap(), 0);
    assert_eq!(held, [ada.tenant.as_str()]);
    assert_eq!((count(&ada).await, count(&eve).await), (kept, 0));
}

async fn a_release_needs_a_reason_and_a_recent_authentication(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let hold = app.hold(&ada, None).await;
    let path = format!("/legal-holds/{hold}/release");
    let unexplained = app.post(&path).by(&ada).json(&json!({ "reason": "" })).send().await;
    assert_eq!(unexplained.invalid_fields(), ["reason"]);
    app.age(&ada).await;
    app.release(&ada, &hold).await.problem("insufficient-authentication");
    app.get(&format!("/legal-holds/{hold}")).by(&ada).send().await.ok();
}

/// The thief of a key hides no traces.
async fn a_program_releases_no_hold(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let hold = app.hold(&ada, None).await;
    let key = app.key(&ada, &ada.user, &json!({ "permissions": ["*"] })).await;
    let release = app.post(&format!("/legal-holds/{hold}/release")).bearer(key["key"].as_str().unwrap());
    release.json(&json!({ "reason": "The case is closed." })).send().await.problem("forbidden");
}

async fn a_user_releases_no_hold_on_itself(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["iam-legal-holds:*"]).await;
    let hold = app.hold(&ada, Some(&bob.user)).await;
    app.release(&bob, &hold).await.problem("forbidden");
    app.release(&ada, &hold).await.no_content();
}
