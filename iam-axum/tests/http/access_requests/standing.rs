//! What a role that is held by a request does not count for
//! (`docs/access-requests.md#what-an-elevation-does-not-count-for`), and API keys (`docs/access-requests.md#api-keys`).

use chrono::TimeDelta;
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use super::{Shop, id};
use crate::access_table::fresh_email;
use crate::api_key::text;
use crate::app::{TestApp, shown};

in_memory_with_mail![
    it_counts_for_ordinary_work,
    it_does_not_count_for_deciding_and_for_eligibilities,
    it_does_not_count_for_what_lets_others_in,
    it_does_not_count_for_taking_over_an_account,
    it_makes_no_user_eligible,
    an_account_that_holds_it_is_taken_over_only_by_who_covers_it,
    a_key_of_the_user_never_has_it,
    nothing_about_a_key_shows_it,
];

/// A tenant in which Grace holds TENANT_ADMIN by a request.
async fn elevated(app: &TestApp) -> (Shop<'_>, Value) {
    let shop = Shop::of(app).await;
    let admin = app.role_id(&shop.ada, "TENANT_ADMIN").await;
    let eligibility = app.eligibility(&shop.ada, &json!({ "roleId": admin, "userId": shop.grace.user })).await;
    let request = app.access_request(&shop.grace, &eligibility).await;
    let active = app.decides(&shop.carol, &request, "approve").send().await.ok();
    assert_eq!(active["status"], "ACTIVE");
    (shop, active)
}

async fn it_counts_for_ordinary_work(app: TestApp) {
    let (shop, active) = elevated(&app).await;
    let grace = &shop.grace;
    app.get("/audit-logs").by(grace).send().await.ok();
    app.post("/organizations").by(grace).json(&json!({ "name": "Branch" })).send().await.created();
    let role = json!({ "name": "CLERK", "permissions": ["users:update"] });
    let role = app.post("/roles").by(grace).json(&role).send().await.created();
    let rename = json!({ "lastName": "Lace" });
    app.patch(&format!("/users/{}", shop.carol.user)).by(grace).json(&rename).send().await.ok();
    let body = json!({ "userId": shop.carol.user, "roleId": role["id"], "expiresAt": active["endsAt"] });
    let given = app.post("/role-assignments").by(grace).json(&body).send().await.created();
    assert_eq!(given["accessRequestId"], active["id"]);
}

async fn it_does_not_count_for_deciding_and_for_eligibilities(app: TestApp) {
    let (shop, _) = elevated(&app).await;
    let (ada, grace) = (&shop.ada, &shop.grace);
    let bob = app.colleague(ada, "bob@example.com").await;
    let eligibility = app.eligibility(ada, &json!({ "roleId": shop.role, "userId": bob.user })).await;
    let request = app.access_request(&bob, &eligibility).await;
    // It sees the request, because it reads all of them.
    for how in ["approve", "deny"] {
        let refused = app.unrecorded(ada, app.decides(grace, &request, how).send()).await;
        refused.lacks("access-requests:update");
    }
    app.unrecorded(ada, app.closes(grace, &request, "cancel").send()).await.lacks("access-requests:update");
    let to_decide = app.get("/access-requests?toDecide=true").by(grace).send().await.ok();
    assert_eq!(to_decide["data"], json!([]));
    let body = json!({ "roleId": shop.role, "userId": grace.user });
    let path = format!("/eligibilities/{eligibility}");
    for (request, needed) in [
        (app.new_eligibility(grace, &body), "eligibilities:create"),
        (app.change_eligibility(grace, &eligibility, &json!({ "maxSeconds": 300 })), "eligibilities:update"),
        (app.delete(&path).by(grace), "eligibilities:delete"),
    ] {
        app.unrecorded(ada, request.send()).await.lacks(needed);
    }
}

async fn it_does_not_count_for_what_lets_others_in(app: TestApp) {
    let (shop, _) = elevated(&app).await;
    let (ada, grace) = (&shop.ada, &shop.grace);
    let robot = app.robot(ada, &[]).await;
    let key = app.key(ada, &robot, &json!({ "permissions": [] })).await;
    let webhook = json!({ "url": "https://example.com", "types": ["USER.*"] });
    let made = app.post("/webhooks").by(ada).json(&webhook).send().await.created();
    let provider = app.provider(ada, &json!({})).await;
    let account = app.robot(ada, &["users:*"]).await;
    let directory = app.directory(ada, &json!({ "serviceAccountId": account })).await;
    let group = app.directory_group(ada, id(&directory)).await;
    let grants = json!({ "grants": [{ "roleId": shop.role, "organizationId": null }] });
    let expires_at = shown(app.iam.now() + TimeDelta::minutes(1));
    let invitation = json!({
        "email": fresh_email(), "roles": [{ "roleId": shop.role, "organizationId": null, "expiresAt": expires_at }],
    });
    let invited = app.invite(ada, &json!({ "email": fresh_email(), "roles": [] })).await;
    let post = |path: &str, body: Value| app.post(path).by(grace).json(&body);
    for request in [
        post("/webhooks", webhook),
        app.patch(&format!("/webhooks/{}", id(&made))).by(grace).json(&json!({ "enabled": false })),
        app.delete(&format!("/webhooks/{}", id(&made))).by(grace),
        app.post(&format!("/webhooks/{}/rotate-secret", id(&made))).by(grace),
        post("/identity-providers", json!({ "name": "Mine", "issuer": ISSUER, "clientId": "iam" })),
        app.patch(&format!("/identity-providers/{}", id(&provider))).by(grace).json(&json!({ "slug": "mine" })),
        app.delete(&format!("/identity-providers/{}", id(&provider))).by(grace),
        post("/invitations", invitation),
        app.post(&format!("/invitations/{invited}/resend")).by(grace),
        app.delete(&format!("/invitations/{invited}")).by(grace),
        post("/directories", json!({ "name": "Mine", "serviceAccountId": robot })),
        app.put(&format!("/directories/{}/groups/{group}/grants", id(&directory))).by(grace).json(&grants),
        post(&format!("/users/{robot}/api-keys"), json!({ "name": "mine", "permissions": ["users:read"] })),
        post(&format!("/users/{}/api-keys", shop.carol.user), json!({ "name": "mine", "permissions": [] })),
        post(&format!("/api-keys/{}/rotate", id(&key)), json!({})),
    ] {
        let refused = app.unrecorded(ada, request.send()).await;
        refused.problem("forbidden");
    }
}

async fn it_does_not_count_for_taking_over_an_account(app: TestApp) {
    let (shop, _) = elevated(&app).await;
    let (ada, grace, carol) = (&shop.ada, &shop.grace, &shop.carol);
    app.enrol(carol).await;
    let branch = app.organization(ada, "branch").await;
    let path = format!("/users/{}", carol.user);
    for request in [
        app.patch(&path).by(grace).json(&json!({ "email": fresh_email() })),
        app.patch(&path).by(grace).json(&json!({ "externalId": "mine" })),
        app.patch(&path).by(grace).json(&json!({ "homeOrganizationId": branch })),
        app.post(&format!("{path}/password-reset")).by(grace),
        app.delete(&format!("{path}/factors")).by(grace),
        app.asks_to_act(grace, &carol.user, &json!({})),
    ] {
        let refused = app.unrecorded(ada, request.send()).await;
        refused.problem("forbidden");
    }
    assert!(app.mails().await.iter().all(|mail| mail.kind != iam_core::mail::MailKind::Reset));
}

async fn it_makes_no_user_eligible(app: TestApp) {
    let (shop, _) = elevated(&app).await;
    let admin = app.role_id(&shop.ada, "TENANT_ADMIN").await;
    let body = json!({ "roleId": shop.role, "heldRoleId": admin });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    app.asks(&shop.grace, &eligibility, &json!({})).send().await.problem("forbidden");
    let own = app.get("/auth/eligibilities").by(&shop.grace).send().await.ok();
    assert!(!own.to_string().contains(&eligibility));
}

/// The rights that a user has by a request count where another one takes over its account.
async fn an_account_that_holds_it_is_taken_over_only_by_who_covers_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let mary = app.colleague_who_may(&shop.ada, "mary@example.com", &["users:update"]).await;
    let rename = |id: &str| {
        let body = json!({ "externalId": id });
        app.patch(&format!("/users/{}", shop.grace.user)).by(&mary).json(&body)
    };
    // Grace could ask by its eligibility.
    app.unrecorded(&shop.ada, rename("one").send()).await.problem("forbidden");
    shop.elevate().await;
    app.delete(&format!("/eligibilities/{}", shop.eligibility)).by(&shop.ada).send().await.no_content();
    app.unrecorded(&shop.ada, rename("one").send()).await.problem("forbidden");
    app.permit(&mary, &["users:read"]).await;
    rename("one").send().await.ok();
}

async fn a_key_of_the_user_never_has_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let before = app.key(&shop.grace, &shop.grace.user, &json!({})).await;
    shop.elevate().await;
    let after = app.key(&shop.grace, &shop.grace.user, &json!({ "permissions": ["users:read"] })).await;
    assert!(shop.may_read().await);
    for key in [&before, &after] {
        app.get("/users").bearer(text(key)).send().await.lacks("users:read");
        let question = json!({ "permission": "users:read" });
        let answer = app.post("/authz/check").bearer(text(key)).json(&question).send().await.ok();
        assert_eq!((&answer["allowed"], &answer["grants"]), (&json!(false), &json!([])));
    }
}

async fn nothing_about_a_key_shows_it(app: TestApp) {
    let (shop, active) = elevated(&app).await;
    let key = app.key(&shop.grace, &shop.grace.user, &json!({})).await;
    let me = app.get("/auth/me").bearer(text(&key)).send().await.ok();
    assert_eq!((&me["roles"], &me["permissions"]["tenant"]), (&json!([]), &json!([])));
    let introspect = json!({ "token": text(&key) });
    let found = app.post("/auth/introspect").by(&shop.ada).json(&introspect).send().await.ok();
    for answer in [&me, &found] {
        let text = answer.to_string();
        assert!(!text.contains(id(&active)) && !text.contains(active["assignmentId"].as_str().unwrap()), "{text}");
    }
    // The session of the same user has it.
    let own = app.get("/auth/me").by(&shop.grace).send().await.ok();
    assert_eq!(own["roles"][0]["assignmentId"], active["assignmentId"]);
}
