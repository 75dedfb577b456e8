//! `Idempotency-Key` (`docs/http-api.md#repeating-a-request`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::Response;

on_every_store![
    "the answer commits with the change, and repetitions race";
    every_creating_post_takes_effect_once,
    a_repeated_registration_opens_a_new_session,
    a_repeated_registration_needs_the_current_password,
    a_repeated_registration_needs_the_second_factor,
    another_body_or_path_with_the_same_key_is_refused,
    the_alias_of_a_path_is_the_same_path,
    the_ids_in_a_path_belong_to_the_request,
    a_key_belongs_to_one_caller,
    a_key_is_forgotten_after_24_hours,
    failures_are_not_kept,
    concurrent_repeats_have_one_effect_and_one_answer,
    a_repeat_gets_the_first_answer_even_after_later_changes,
    an_invalid_key_is_400_and_named,
    other_requests_ignore_the_key,
    a_too_large_body_with_a_key_is_413,
];

async fn post(app: &TestApp, path: &str, by: &Person, key: &str, body: &Value) -> Response {
    app.post(path).by(by).header("idempotency-key", key).json(body).send().await
}

pub(crate) fn was_replayed(answer: &Response) -> bool {
    match answer.header("idempotent-replayed") {
        None => false,
        Some("true") => true,
        Some(other) => panic!("{other}"),
    }
}

/// The id of a built-in role.
async fn role(app: &TestApp, by: &Person, name: &str) -> Value {
    let roles = app.get("/roles").by(by).send().await.ok();
    roles["data"].as_array().unwrap().iter().find(|role| role["name"] == name).unwrap()["id"].clone()
}

async fn every_creating_post_takes_effect_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (auditor, keeper) = (role(&app, &ada, "AUDITOR").await, role(&app, &ada, "ORGANIZATION_ADMIN").await);
    let bob = app.add_user(&ada, "bob@example.com").await;
    let branch = app.post("/organizations").by(&ada).json(&json!({ "name": "Branch" })).send().await.created();
    let bulk = |organization: &Value| json!({ "assignments": [{ "userId": bob, "roleId": keeper, "organizationId": organization }] });
    let role = json!({ "name": "SELLER", "description": "Sells", "permissions": ["users:read", "roles:*"] });
    let event = json!({ "action": "SENT", "resourceType": "LETTER", "metadata": { "pages": 3 } });
    // A request, and what another request with the same key has instead.
    for (path, body, other) in [
        ("/users", profile("carol@example.com"), json!({ "email": "dave@example.com" })),
        ("/service-accounts", json!({ "name": "Importer" }), json!({ "name": "Exporter" })),
        ("/organizations", json!({ "name": "Leaf", "parentId": branch["id"] }), json!({ "name": "Other" })),
        (
            "/permissions",
            json!({ "name": "orders:read", "description": "Sees orders" }),
            json!({ "name": "orders:do" }),
        ),
        ("/roles", role, json!({ "name": "BUYER" })),
        ("/role-assignments", json!({ "userId": bob, "roleId": auditor }), json!({ "roleId": keeper })),
        ("/role-assignments/bulk", bulk(&branch["id"]), bulk(&Value::Null)),
        ("/audit-logs", event, json!({ "action": "LOST" })),
    ] {
        let key = format!("key-of{path}");
        let first = post(&app, path, &ada, &key, &body).await;
        let made = first.created();
        assert!(!was_replayed(&first), "{path}");
        for _ in 0..2 {
            let again = app.unrecorded(&ada, post(&app, path, &ada, &key, &body)).await;
            assert_eq!((again.created(), was_replayed(&again)), (made.clone(), true), "{path}");
        }
        post(&app, path, &ada, &key, &with(body, &other)).await.problem("idempotency-key-reused");
    }
}

async fn register(app: &TestApp, key: &str, body: &Value) -> Response {
    app.post("/auth/register").header("idempotency-key", key).json(body).send().await
}

fn without_tokens(mut body: Value) -> Value {
    for token in ["accessToken", "refreshToken"] {
        body.as_object_mut().unwrap().remove(token).unwrap();
    }
    body
}

async fn a_repeated_registration_opens_a_new_session(app: TestApp) {
    let body = profile("ada@example.com");
    let first = register(&app, "key", &body).await;
    app.pass(TimeDelta::minutes(5));
    let again = register(&app, "key", &body).await;
    assert_eq!((was_replayed(&first), was_replayed(&again)), (false, true));
    assert_eq!(without_tokens(again.created()), without_tokens(first.created()));
    let [ada, once_more] = [&first, &again].map(|answer| Person::logged_in(&answer.created()));
    assert_ne!(ada.session, once_more.session);
    assert!(app.knows(&ada).await && app.knows(&once_more).await);
    let other = register(&app, "key", &with(body.clone(), &json!({ "tenantName": "Other" }))).await;
    assert!(!was_replayed(&other), "a registration is identified by key and body");
    assert_ne!(other.created()["tenant"]["id"], first.created()["tenant"]["id"]);
}

async fn a_repeated_registration_needs_the_current_password(app: TestApp) {
    let body = profile("ada@example.com");
    let ada = Person::logged_in(&register(&app, "key", &body).await.created());
    let change = json!({ "currentPassword": PASSWORD, "newPassword": "An0ther$ecret" });
    app.post("/auth/password").by(&ada).json(&change).send().await.no_content();
    let refused = register(&app, "key", &body).await;
    refused.problem("unauthorized");
    assert!(!was_replayed(&refused));
}

async fn a_repeated_registration_needs_the_second_factor(app: TestApp) {
    let body = profile("ada@example.com");
    let ada = Person::logged_in(&register(&app, "key", &body).await.created());
    app.enrol(&ada).await;
    let refused = register(&app, "key", &body).await;
    refused.problem("second-factor-required");
    assert!(!was_replayed(&refused));
}

async fn another_body_or_path_with_the_same_key_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = profile("bob@example.com");
    post(&app, "/users", &ada, "key", &body).await.created();
    for (member, value) in [("email", "carol@example.com"), ("password", "An0ther$ecret"), ("lastName", "Byron")] {
        let other = with(body.clone(), &json!({ member: value }));
        let refused = app.unrecorded(&ada, post(&app, "/users", &ada, "key", &other)).await;
        refused.problem("idempotency-key-reused");
    }
    post(&app, "/organizations", &ada, "key", &json!({ "name": "Branch" })).await.problem("idempotency-key-reused");
    assert!(was_replayed(&post(&app, "/users", &ada, "key", &body).await));
}

async fn the_alias_of_a_path_is_the_same_path(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = profile("bob@example.com");
    let first = post(&app, "/users", &ada, "key", &body).await.created();
    let by_alias =
        app.request(axum::http::Method::POST, "/users").by(&ada).header("idempotency-key", "key").json(&body);
    assert_eq!(by_alias.send().await.created(), first);
}

async fn the_ids_in_a_path_belong_to_the_request(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let users = [app.add_user(&ada, "bob@example.com").await, app.add_user(&ada, "carol@example.com").await];
    let [first, second] = users.map(|user| format!("/users/{user}/api-keys"));
    let body = json!({ "name": "nightly", "permissions": [] });
    post(&app, &first, &ada, "key", &body).await.created();
    post(&app, &second, &ada, "key", &body).await.problem("idempotency-key-reused");
    assert_eq!(app.get(&second).by(&ada).send().await.ok()["data"], json!([]));
    assert!(was_replayed(&post(&app, &first, &ada, "key", &body).await));
}

async fn a_key_belongs_to_one_caller(app: TestApp) {
    let (ada, stranger) = (app.register("ada@example.com").await, app.register("eve@example.com").await);
    let colleague = {
        let bob = app.colleague(&ada, "bob@example.com").await;
        let grant = json!({ "userId": bob.user, "roleId": role(&app, &ada, "TENANT_ADMIN").await });
        app.post("/role-assignments").by(&ada).json(&grant).send().await.created();
        bob
    };
    let same = json!({ "name": "Branch" });
    let mut made = Vec::new();
    for person in [&ada, &colleague, &stranger] {
        let answer = post(&app, "/organizations", person, "key", &same).await;
        assert!(!was_replayed(&answer));
        made.push(answer.created()["id"].clone());
    }
    assert!(made[0] != made[1] && made[1] != made[2]);
    // The same user in another session is the same caller.
    let answer = post(&app, "/organizations", &app.login(&ada).await, "key", &same).await;
    assert_eq!((&answer.created()["id"], was_replayed(&answer)), (&made[0], true));
}

async fn a_key_is_forgotten_after_24_hours(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let first = post(&app, "/organizations", &ada, "key", &json!({ "name": "Branch" })).await.created();
    app.pass(TimeDelta::hours(24));
    let ada = app.login(&ada).await;
    let again = post(&app, "/organizations", &ada, "key", &json!({ "name": "Branch" })).await;
    assert_eq!((again.created(), was_replayed(&again)), (first, true));
    app.pass(TimeDelta::milliseconds(1));
    let later = post(&app, "/organizations", &ada, "key", &json!({ "name": "Other" })).await;
    assert!(!was_replayed(&later));
    assert_eq!(later.created()["name"], "Other");
}

async fn failures_are_not_kept(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let leaf = json!({ "name": "Orders", "slug": "leaf" });
    let taken = app.post("/organizations").by(&ada).json(&leaf).send().await.created();
    for (body, kind) in [(json!({ "name": "" }), "validation-error"), (leaf.clone(), "conflict")] {
        for _ in 0..2 {
            let refused = post(&app, "/organizations", &ada, "key", &body).await;
            refused.problem(kind);
            assert!(!was_replayed(&refused));
        }
    }
    app.delete(&format!("/organizations/{}", taken["id"].as_str().unwrap())).by(&ada).send().await.no_content();
    let made = post(&app, "/organizations", &ada, "key", &leaf).await;
    assert!(!was_replayed(&made));
    made.created();
}

async fn concurrent_repeats_have_one_effect_and_one_answer(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = profile("bob@example.com");
    let answers = join_all((0..8).map(|_| post(&app, "/users", &ada, "key", &body))).await;
    let first = answers[0].created();
    assert!(answers.iter().all(|answer| answer.created() == first));
    assert_eq!(answers.iter().filter(|answer| !was_replayed(answer)).count(), 1);
    assert_eq!(app.history(&ada, first["id"].as_str().unwrap()).await.len(), 1);
    let eve = profile("eve@example.com");
    let registrations = join_all((0..4).map(|_| register(&app, "key", &eve))).await;
    let tenant = registrations[0].created()["tenant"].clone();
    assert!(registrations.iter().all(|answer| answer.created()["tenant"] == tenant));
    assert_eq!(registrations.iter().filter(|answer| !was_replayed(answer)).count(), 1);
}

async fn a_repeat_gets_the_first_answer_even_after_later_changes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "SELLER" });
    let first = post(&app, "/roles", &ada, "key", &body).await.created();
    let path = format!("/roles/{}", first["id"].as_str().unwrap());
    app.patch(&path).by(&ada).json(&json!({ "description": "Sells" })).send().await.ok();
    assert_eq!(post(&app, "/roles", &ada, "key", &body).await.created(), first);
    app.delete(&path).by(&ada).send().await.no_content();
    assert_eq!(post(&app, "/roles", &ada, "key", &body).await.created(), first);
    app.get(&path).by(&ada).send().await.problem("not-found");
}

async fn an_invalid_key_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "Branch" });
    for key in ["", "two words", "tab\there", "ä", &"k".repeat(256)] {
        let refused = app.unrecorded(&ada, post(&app, "/organizations", &ada, key, &body)).await;
        assert_eq!(refused.invalid_fields(), ["Idempotency-Key"], "{key:?}");
    }
    let twice = app.post("/organizations").by(&ada).header("idempotency-key", "a").header("idempotency-key", "b");
    assert_eq!(twice.json(&body).send().await.invalid_fields(), ["Idempotency-Key"]);
    post(&app, "/organizations", &ada, &"k".repeat(255), &body).await.created();
}

async fn other_requests_ignore_the_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..2 {
        let login = json!({ "email": ada.email, "password": PASSWORD });
        let answer = app.post("/auth/login").header("idempotency-key", "two words").json(&login).send().await;
        answer.ok();
        assert!(!was_replayed(&answer));
        let list = app.get("/users").by(&ada).header("idempotency-key", "two words").send().await;
        list.ok();
        assert!(!was_replayed(&list));
    }
}

async fn a_too_large_body_with_a_key_is_413(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "x".repeat(300 * 1024) });
    post(&app, "/organizations", &ada, "key", &body).await.problem("payload-too-large");
}
