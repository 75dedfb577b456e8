//! External identifiers of users (`docs/http-api.md#users`).

use futures_util::future::join_all;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::access_table::fresh_email;
use crate::app::TestApp;
use crate::people::{Person, profile, with};
use crate::request::Response;

in_memory![
    a_user_shows_it_and_a_list_does_not,
    it_is_kept_as_typed_and_its_form_is_checked,
    null_removes_it,
    it_belongs_to_one_user_of_a_tenant,
    one_of_several_concurrent_creations_gets_it,
    a_deleted_user_keeps_it,
    it_is_not_the_email_of_another_user,
    a_service_account_has_none,
    a_key_does_not_change_it,
    where_mail_is_on_a_user_does_not_change_its_own,
    a_change_ends_no_link_and_sends_no_mail,
    it_is_recorded_where_a_user_has_one,
    a_preview_refuses_what_the_change_refuses,
];

async fn create(app: &TestApp, by: &Person, external_id: impl Into<Value>) -> Response {
    let body = with(profile(&fresh_email()), &json!({ "externalId": external_id.into() }));
    app.post("/users").by(by).json(&body).send().await
}

/// Creates a user with an external identifier. Returns its id.
async fn known(app: &TestApp, by: &Person, external_id: &str) -> String {
    create(app, by, external_id).await.created()["id"].as_str().unwrap().to_owned()
}

async fn set(app: &TestApp, by: &Person, user: &str, external_id: impl Into<Value>) -> Response {
    let body = json!({ "externalId": external_id.into() });
    app.patch(&format!("/users/{user}")).by(by).json(&body).send().await
}

async fn shown(app: &TestApp, reader: &Person, user: &str) -> Value {
    app.user(reader, user).await["externalId"].clone()
}

async fn a_user_shows_it_and_a_list_does_not(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let user = create(&app, &ada, "00u1").await.created();
    assert_eq!(user["externalId"], "00u1");
    let id = user["id"].as_str().unwrap();
    assert_eq!(app.user(&ada, id).await, user);
    assert_eq!(shown(&app, &ada, &ada.user).await, Value::Null);
    let list = app.get("/users").by(&ada).send().await.ok();
    for item in list["data"].as_array().unwrap() {
        assert!(item.get("externalId").is_none(), "{item}");
    }
    let changed = set(&app, &ada, id, "00u2").await.ok();
    assert!(changed.get("externalId").is_none(), "{changed}");
    assert_eq!(shown(&app, &ada, id).await, "00u2");
}

async fn it_is_kept_as_typed_and_its_form_is_checked(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for good in ["0", "Two Words", "e\u{301}", &"ü".repeat(255)] {
        assert_eq!(create(&app, &ada, good).await.created()["externalId"], good);
    }
    for bad in ["", " ", " a", "a\u{a0}", "a\nb", "a\u{202e}b", &"ü".repeat(256)] {
        assert_eq!(create(&app, &ada, bad).await.invalid_fields(), ["externalId"], "{bad:?}");
        assert_eq!(set(&app, &ada, &bob, bad).await.invalid_fields(), ["externalId"], "{bad:?}");
    }
    assert_eq!(create(&app, &ada, 17).await.invalid_fields(), ["externalId"]);
    assert_eq!(set(&app, &ada, &bob, 17).await.invalid_fields(), ["externalId"]);
    let body = json!({ "email": "bob", "externalId": "" });
    let refused = app.post("/users").by(&ada).json(&with(profile("bob@example.com"), &body)).send().await;
    assert_eq!(refused.invalid_fields(), ["externalId", "email"]);
}

async fn null_removes_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(create(&app, &ada, Value::Null).await.created()["externalId"], Value::Null);
    let bob = known(&app, &ada, "00u1").await;
    app.patch(&format!("/users/{bob}")).by(&ada).json(&json!({ "firstName": "Bob" })).send().await.ok();
    assert_eq!(shown(&app, &ada, &bob).await, "00u1");
    set(&app, &ada, &bob, Value::Null).await.ok();
    assert_eq!(shown(&app, &ada, &bob).await, Value::Null);
    app.unrecorded(&ada, set(&app, &ada, &bob, Value::Null)).await.ok();
    known(&app, &ada, "00u1").await;
}

async fn it_belongs_to_one_user_of_a_tenant(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.org").await];
    let first = known(&app, &ada, "00u1").await;
    let other = app.add_user(&ada, "bob@example.com").await;
    let refused = async || [create(&app, &ada, "00u1").await, set(&app, &ada, &other, "00u1").await];
    for answer in app.unrecorded(&ada, refused()).await {
        assert!(answer.detail("conflict").contains("external identifier"), "{}", answer.text());
    }
    assert_eq!(shown(&app, &ada, &other).await, Value::Null);
    app.unrecorded(&ada, set(&app, &ada, &first, "00u1")).await.ok();
    known(&app, &ada, "00U1").await;
    known(&app, &eve, "00u1").await;
}

async fn one_of_several_concurrent_creations_gets_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let creates = join_all((0..6).map(|_| create(&app, &ada, "00u1"))).await;
    let refused: Vec<&Response> = creates.iter().filter(|answer| answer.status() != 201).collect();
    assert_eq!(refused.len(), 5);
    refused.iter().for_each(|answer| drop(answer.problem("conflict")));
    assert_eq!(app.audit(&ada, &[("action", "CREATE"), ("resourceType", "USER")]).await.len(), 2);
}

async fn a_deleted_user_keeps_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = known(&app, &ada, "00u1").await;
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    create(&app, &ada, "00u1").await.problem("conflict");
    set(&app, &ada, &bob, Value::Null).await.problem("conflict");
    assert_eq!(shown(&app, &ada, &bob).await, "00u1");
    let restored = json!({ "status": "ACTIVE", "externalId": "00u2" });
    app.patch(&format!("/users/{bob}")).by(&ada).json(&restored).send().await.ok();
    known(&app, &ada, "00u1").await;
}

async fn it_is_not_the_email_of_another_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let carol = app.add_user(&ada, "carol@example.com").await;
    let refused = async |email: &str| {
        for answer in [create(&app, &ada, email).await, set(&app, &ada, &carol, email).await] {
            assert!(answer.detail("conflict").contains("e-mail of another user"), "{}", answer.text());
        }
    };
    for email in ["bob@example.com", "BOB@Example.com"] {
        app.unrecorded(&ada, refused(email)).await;
    }
    // Its own e-mail, and one that no user has.
    set(&app, &ada, &bob, "BOB@example.com").await.ok();
    set(&app, &ada, &carol, "nobody@example.com").await.ok();
    let own = with(profile("dan@example.com"), &json!({ "externalId": "dan@example.com" }));
    app.post("/users").by(&ada).json(&own).send().await.created();
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    refused("bob@example.com").await;
}

async fn a_service_account_has_none(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &[]).await;
    for external_id in [json!("00u1"), Value::Null] {
        assert_eq!(set(&app, &ada, &robot, external_id).await.invalid_fields(), ["externalId"]);
    }
    let body = json!({ "name": "Importer", "externalId": "00u1" });
    let refused = app.post("/service-accounts").by(&ada).json(&body).send().await;
    assert_eq!(refused.invalid_fields(), ["externalId"]);
    assert_eq!(shown(&app, &ada, &robot).await, Value::Null);
}

async fn a_key_does_not_change_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let body = json!({ "externalId": "00u1" });
    let request = app.patch(&format!("/users/{bob}")).bearer(key["key"].as_str().unwrap()).json(&body);
    let refused = app.unrecorded(&ada, request.send()).await;
    assert!(refused.detail("forbidden").contains("api key"), "{}", refused.text());
    // It creates users, and so also a user with an external identifier.
    let body = with(profile("carol@example.com"), &body);
    app.post("/users").bearer(key["key"].as_str().unwrap()).json(&body).send().await.created();
}

async fn where_mail_is_on_a_user_does_not_change_its_own(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set(&app, &ada, &ada.user, "00u1").await.ok();
    let app = app.with_mail().await;
    for external_id in [json!("00u2"), Value::Null] {
        let refused = app.unrecorded(&ada, set(&app, &ada, &ada.user, external_id)).await;
        assert!(refused.detail("forbidden").contains("own external identifier"), "{}", refused.text());
    }
    set(&app, &ada, &ada.user, "00u1").await.ok();
    let other = app.administrator_beside(&ada).await;
    set(&app, &other, &ada.user, "00u2").await.ok();
    assert_eq!(shown(&app, &ada, &ada.user).await, "00u2");
}

async fn a_change_ends_no_link_and_sends_no_mail(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let token = app.token(MailKind::Verify, "bob@example.com").await;
    set(&app, &ada, &bob, "00u1").await.ok();
    assert!(app.mails().await.is_empty());
    app.post("/auth/email/verify").json(&json!({ "token": token })).send().await.no_content();
    let user = app.user(&ada, &bob).await;
    assert_eq!((&user["externalId"], &user["emailVerifiedAt"]), (&json!("00u1"), &json!(app.now())));
}

async fn it_is_recorded_where_a_user_has_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = known(&app, &ada, "00u1").await;
    set(&app, &ada, &bob, "00u2").await.ok();
    set(&app, &ada, &bob, Value::Null).await.ok();
    let entries = app.history(&ada, &bob).await;
    let [removed, changed, created] = &entries[..] else { panic!("three entries: {entries:?}") };
    assert_eq!(created["newValue"]["externalId"], "00u1");
    let named = |id: Value| json!({ "externalId": id });
    for (entry, before, after) in [(changed, json!("00u1"), json!("00u2")), (removed, json!("00u2"), Value::Null)] {
        assert_eq!(entry["metadata"]["changedFields"], json!(["externalId"]));
        assert_eq!((&entry["oldValue"], &entry["newValue"]), (&named(before), &named(after)));
    }
    let carol = app.add_user(&ada, "carol@example.com").await;
    assert!(app.history(&ada, &carol).await[0]["newValue"].get("externalId").is_none());
}

async fn a_preview_refuses_what_the_change_refuses(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    known(&app, &ada, "00u1").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for taken in ["00u1", "ADA@example.com"] {
        let patch = || app.patch(&format!("/users/{bob}")).by(&ada).json(&json!({ "externalId": taken }));
        let preview = patch().query("preview", "true").send().await.ok();
        assert_eq!(preview["allowed"], false, "{preview}");
        assert_eq!(patch().send().await.problem("conflict")["detail"], preview["problem"]["detail"]);
    }
    let free = app.patch(&format!("/users/{bob}")).by(&ada).json(&json!({ "externalId": "00u2" }));
    assert_eq!(free.query("preview", "true").send().await.ok()["allowed"], true);
    assert_eq!(shown(&app, &ada, &bob).await, Value::Null);
}
