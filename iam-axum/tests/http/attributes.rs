//! Attributes of users and organizations (`docs/http-api.md#attributes`).

use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::TestApp;
use crate::people::{Person, claims, profile, with};
use crate::request::{Response, each_sorted};

in_memory![
    what_cannot_be_kept_is_refused_by_name,
    definitions_give_types_and_may_refuse_other_keys,
    definitions_are_checked,
    a_change_of_attributes_alone_is_recorded_and_raises_the_version,
    a_person_sees_and_changes_what_the_tenant_allows,
    a_person_overwrites_no_change_that_it_has_not_seen,
    access_tokens_have_the_chosen_values,
    an_erasure_removes_attributes,
    a_service_account_has_attributes,
    a_repeated_creation_shows_the_attributes,
];

mod kept {
    use super::*;

    on_every_store![
        "attributes and their values are rows of the store, and lists find them by statements";
        attributes_are_created_shown_and_changed_by_key,
        a_list_finds_exactly_the_value_of_a_searchable_key,
        organizations_have_attributes,
    ];
}

fn tenant(by: &Person) -> String {
    format!("/tenants/{}", by.tenant)
}

impl TestApp {
    /// Defines the attributes of users.
    pub(crate) async fn define(&self, administrator: &Person, definitions: &Value) {
        let body = json!({ "userAttributes": definitions });
        self.patch(&tenant(administrator)).by(administrator).json(&body).send().await.ok();
    }
}

async fn create(app: &TestApp, by: &Person, email: &str, attributes: &Value) -> Response {
    let body = with(profile(email), &json!({ "attributes": attributes }));
    app.post("/users").by(by).json(&body).send().await
}

async fn patch(app: &TestApp, by: &Person, id: &str, attributes: &Value) -> Response {
    app.patch(&format!("/users/{id}")).by(by).json(&json!({ "attributes": attributes })).send().await
}

async fn attributes_are_created_shown_and_changed_by_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let given = json!({ "costCentre": "4711", "floor": 3, "deep": { "a": [null, "<script>\u{7}😀"] }, "gone": null });
    let made = create(&app, &ada, "bob@example.com", &given).await.created();
    let kept = json!({ "costCentre": "4711", "floor": 3, "deep": { "a": [null, "<script>\u{7}😀"] } });
    assert_eq!(made["attributes"], kept);
    let id = made["id"].as_str().unwrap();
    assert_eq!(app.user(&ada, id).await["attributes"], kept);
    let listed = app.get("/users").by(&ada).send().await.ok();
    assert!(listed["data"].as_array().unwrap().iter().all(|user| user.get("attributes").is_none()));
    patch(&app, &ada, id, &json!({ "floor": null, "deep": { "b": 1 }, "new": true })).await.ok();
    let expected = json!({ "costCentre": "4711", "deep": { "b": 1 }, "new": true });
    assert_eq!(app.user(&ada, id).await["attributes"], expected);
    // Another field does not change them.
    app.patch(&format!("/users/{id}")).by(&ada).json(&json!({ "firstName": "Bob" })).send().await.ok();
    assert_eq!(app.user(&ada, id).await["attributes"], expected);
    patch(&app, &ada, id, &json!({ "costCentre": null, "deep": null, "new": null })).await.ok();
    assert_eq!(app.user(&ada, id).await.get("attributes"), None);
}

async fn what_cannot_be_kept_is_refused_by_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let many: Value =
        (0..33).map(|number| (format!("k{number}"), json!(number))).collect::<serde_json::Map<_, _>>().into();
    for (attributes, field) in [
        (json!({ "1st": 1 }), "attributes.1st"),
        (json!({ "a b": 1 }), "attributes.a b"),
        (json!({ "a": "\u{0}" }), "attributes.a"),
        (json!({ "a": [[[[[1]]]]] }), "attributes.a"),
        (json!({ "a": "x".repeat(16 * 1024) }), "attributes"),
        (json!({ "a": "x".repeat(64 * 1024) }), "attributes"),
        (many, "attributes"),
        (json!([1]), "attributes"),
        (Value::Null, "attributes"),
        (json!("a"), "attributes"),
    ] {
        let refused = create(&app, &ada, "bob@example.com", &attributes).await;
        assert_eq!(refused.invalid_fields(), [field], "{attributes}");
        assert_eq!(patch(&app, &ada, &ada.user, &attributes).await.invalid_fields(), [field], "{attributes}");
    }
    for body in [
        r#"{"attributes":{"a":1,"a":2}}"#,
        r#"{"attributes":{"a":[{"b":1,"b":1}]}}"#,
        r#"{"attributes":{"a":1e999}}"#,
        r#"{"attributes":{"a":"\ud800"}}"#,
    ] {
        let request = app.patch(&format!("/users/{}", ada.user)).by(&ada).header("content-type", "application/json");
        assert_eq!(request.body(body).send().await.invalid_fields(), ["attributes.a"], "{body}");
    }
    assert_eq!(app.user(&ada, &ada.user).await.get("attributes"), None);
}

async fn definitions_give_types_and_may_refuse_other_keys(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    patch(&app, &ada, &ada.user, &json!({ "floor": "third", "other": 1 })).await.ok();
    let definitions = json!([
        { "key": "floor", "type": "NUMBER" },
        { "key": "name", "type": "STRING" },
        { "key": "flag", "type": "BOOLEAN" },
        { "key": "tags", "type": "STRINGS" },
        { "key": "desk", "type": "OBJECT" },
    ]);
    let body = json!({ "userAttributes": definitions, "unregisteredAttributes": "REFUSED" });
    let changed = app.patch(&tenant(&ada)).by(&ada).json(&body).send().await.ok();
    assert_eq!(
        changed["userAttributes"][0],
        json!({
            "key": "floor", "type": "NUMBER", "searchable": false, "personReads": false, "personWrites": false, "inToken": false,
        })
    );
    for (attributes, field) in [
        (json!({ "floor": "fourth" }), "attributes.floor"),
        (json!({ "name": 1 }), "attributes.name"),
        (json!({ "flag": "true" }), "attributes.flag"),
        (json!({ "tags": ["a", 1] }), "attributes.tags"),
        (json!({ "desk": [] }), "attributes.desk"),
        // Also the values that are there, which a caller could guess otherwise.
        (json!({ "floor": "third" }), "attributes.floor"),
        (json!({ "other": 1 }), "attributes.other"),
        (json!({ "other": 2 }), "attributes.other"),
        (json!({ "unknown": 1 }), "attributes.unknown"),
    ] {
        let refused = patch(&app, &ada, &ada.user, &attributes).await;
        assert_eq!(refused.invalid_fields(), [field], "{attributes}");
    }
    // What is there stays, until it is changed or removed.
    let valid = json!({ "other": null, "name": "x", "tags": [], "desk": {} });
    patch(&app, &ada, &ada.user, &valid).await.ok();
    let expected = json!({ "floor": "third", "name": "x", "tags": [], "desk": {} });
    assert_eq!(app.user(&ada, &ada.user).await["attributes"], expected);
}

async fn definitions_are_checked(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let one = |members: Value| json!([with(json!({ "key": "a", "type": "STRING" }), &members)]);
    for (body, field) in [
        (json!({ "userAttributes": one(json!({ "key": "1" })) }), "userAttributes[0].key"),
        (json!({ "userAttributes": one(json!({ "type": "DATE" })) }), "userAttributes[0].type"),
        (
            json!({ "userAttributes": one(json!({ "type": "OBJECT", "searchable": true })) }),
            "userAttributes[0].searchable",
        ),
        (json!({ "userAttributes": [one(json!({}))[0], one(json!({}))[0]] }), "userAttributes[1].key"),
        (json!({ "organizationAttributes": one(json!({ "inToken": true })) }), "organizationAttributes[0].inToken"),
        (json!({ "unregisteredAttributes": "MAYBE" }), "unregisteredAttributes"),
    ] {
        let refused = app.patch(&tenant(&ada)).by(&ada).json(&body).send().await;
        assert_eq!(refused.invalid_fields(), [field], "{body}");
    }
    let shown = app.get(&tenant(&ada)).by(&ada).send().await.ok();
    assert_eq!([&shown["userAttributes"], &shown["organizationAttributes"]], [&json!([]), &json!([])]);
    // A person who may not read the tenant does not learn what it defines.
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!(me["tenant"].get("userAttributes"), None);
}

async fn a_list_finds_exactly_the_value_of_a_searchable_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.define(
        &ada,
        &json!([
            { "key": "costCentre", "type": "STRING", "searchable": true },
            { "key": "floor", "type": "NUMBER", "searchable": true },
            { "key": "secret", "type": "STRING" },
        ]),
    )
    .await;
    for (name, attributes) in [
        ("bob", json!({ "costCentre": "4711", "floor": 3, "secret": "x" })),
        ("carl", json!({ "costCentre": "4711:a", "floor": 3.0 })),
        ("dora", json!({ "costCentre": "471" })),
    ] {
        create(&app, &ada, &format!("{name}@example.com"), &attributes).await.created();
    }
    let found = async |query: &[(&str, &str)]| {
        let request = app.get("/users").by(&ada);
        let body = query.iter().fold(request, |request, (name, value)| request.query(name, value)).send().await.ok();
        let emails = each_sorted(&body, "email");
        assert_eq!(body["pagination"]["total"], json!(emails.len()), "{query:?}");
        emails
    };
    assert_eq!(found(&[("attribute", "costCentre:4711")]).await, ["bob@example.com"]);
    assert_eq!(found(&[("attribute", "costCentre:4711:a")]).await, ["carl@example.com"]);
    assert_eq!(found(&[("attribute", "floor:3")]).await, ["bob@example.com", "carl@example.com"]);
    assert_eq!(found(&[("attribute", "floor:3"), ("search", "carl")]).await, ["carl@example.com"]);
    assert_eq!(found(&[("attribute", "floor:3"), ("status", "SUSPENDED")]).await, Vec::<String>::new());
    for refused in
        ["secret:x", "unknown:x", "costCentre", ":x", "floor:third", &format!("costCentre:{}", "x".repeat(201))]
    {
        let answer = app.get("/users").by(&ada).query("attribute", refused).send().await;
        assert_eq!(answer.invalid_fields(), ["attribute"], "{refused}");
    }
    // Another definition needs no new values.
    app.define(&ada, &json!([{ "key": "secret", "type": "STRING", "searchable": true }])).await;
    assert_eq!(found(&[("attribute", "secret:x")]).await, ["bob@example.com"]);
}

async fn organizations_have_attributes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let definitions = json!([{ "key": "costCentre", "type": "STRING", "searchable": true }]);
    let body = json!({ "organizationAttributes": definitions });
    app.patch(&tenant(&ada)).by(&ada).json(&body).send().await.ok();
    let body = json!({ "name": "North", "attributes": { "costCentre": "4711", "other": [1] } });
    let made = app.post("/organizations").by(&ada).json(&body).send().await.created();
    assert_eq!(made["attributes"], json!({ "costCentre": "4711", "other": [1] }));
    let path = format!("/organizations/{}", made["id"].as_str().unwrap());
    assert_eq!(app.get(&path).by(&ada).send().await.ok(), made);
    app.organization(&ada, "south").await;
    let found = app.get("/organizations").by(&ada).query("attribute", "costCentre:4711").send().await.ok();
    assert_eq!(each_sorted(&found, "slug"), ["north"]);
    let refused = app.get("/organizations").by(&ada).query("attribute", "other:1").send().await;
    assert_eq!(refused.invalid_fields(), ["attribute"]);
    let change = json!({ "attributes": { "costCentre": 7 } });
    let refused = app.patch(&path).by(&ada).json(&change).send().await;
    assert_eq!(refused.invalid_fields(), ["attributes.costCentre"]);
    app.patch(&path).by(&ada).json(&json!({ "attributes": { "costCentre": "8" } })).send().await.ok();
    let shown = app.get(&path).by(&ada).send().await.ok();
    assert_eq!(shown["attributes"], json!({ "costCentre": "8", "other": [1] }));
    let entry = app.audit(&ada, &[("resourceType", "ORGANIZATION"), ("action", "UPDATE")]).await.remove(0);
    assert_eq!(entry["oldValue"], json!({ "attributes": { "costCentre": "4711" } }));
    assert_eq!(entry["newValue"], json!({ "attributes": { "costCentre": "8" } }));
}

async fn a_change_of_attributes_alone_is_recorded_and_raises_the_version(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = create(&app, &ada, "bob@example.com", &json!({ "a": 1, "token": "x" })).await.created();
    let id = made["id"].as_str().unwrap();
    let path = format!("/users/{id}");
    let tag = app.get(&path).by(&ada).send().await.header("etag").unwrap().to_owned();
    app.pass(chrono::TimeDelta::seconds(1));
    let change = json!({ "attributes": { "a": 2, "b": true } });
    app.patch(&path).by(&ada).header("if-match", &tag).json(&change).send().await.ok();
    app.patch(&path).by(&ada).header("if-match", &tag).json(&change).send().await.problem("precondition-failed");
    assert_eq!(app.user(&ada, id).await["updatedAt"], app.now());
    // The same again changes nothing.
    app.unrecorded(&ada, app.patch(&path).by(&ada).json(&change).send()).await.ok();
    let entries = app.history(&ada, id).await;
    let created = entries.iter().find(|entry| entry["action"] == "CREATE").unwrap();
    // A key with the name of a secret is redacted.
    assert_eq!(created["newValue"]["attributes"], json!({ "a": 1, "token": "[REDACTED]" }));
    let updated = entries.iter().find(|entry| entry["action"] == "UPDATE").unwrap();
    assert_eq!(updated["oldValue"], json!({ "attributes": { "a": 1 } }));
    assert_eq!(updated["newValue"], json!({ "attributes": { "a": 2, "b": true } }));
    assert_eq!(updated["metadata"], json!({ "changedFields": ["attributes"] }));
}

async fn a_person_sees_and_changes_what_the_tenant_allows(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let me = async || app.get("/auth/me").by(&bob).send().await.ok();
    patch(&app, &ada, &bob.user, &json!({ "read": "r", "written": "w", "hidden": "h", "other": "o" })).await.ok();
    assert_eq!(me().await.get("attributes"), None);
    app.define(
        &ada,
        &json!([
            { "key": "read", "type": "STRING", "personReads": true },
            { "key": "written", "type": "STRING", "personWrites": true },
            { "key": "hidden", "type": "STRING", "searchable": true },
        ]),
    )
    .await;
    assert_eq!(me().await["attributes"], json!({ "read": "r", "written": "w" }));
    assert_eq!(me().await["user"].get("attributes"), None);
    let change = |body: Value| app.patch("/auth/me").by(&bob).json(&json!({ "attributes": body }));
    let changed = change(json!({ "written": "new" })).send().await.ok();
    assert_eq!(changed, json!({ "attributes": { "read": "r", "written": "new" } }));
    for key in ["read", "hidden", "other", "unknown"] {
        for value in [json!("x"), Value::Null] {
            let refused = change(json!({ "written": "y", key: value })).send().await;
            assert_eq!(refused.invalid_fields(), [format!("attributes.{key}")]);
        }
    }
    assert_eq!(change(json!({ "written": 7 })).send().await.invalid_fields(), ["attributes.written"]);
    assert_eq!(change(Value::Null).send().await.invalid_fields(), ["attributes"]);
    let kept = json!({ "read": "r", "written": "new", "hidden": "h", "other": "o" });
    assert_eq!(app.user(&ada, &bob.user).await["attributes"], kept);
    let entry =
        app.history(&ada, &bob.user).await.into_iter().find(|entry| entry["userId"] == json!(bob.user)).unwrap();
    assert_eq!(entry["newValue"], json!({ "attributes": { "written": "new" } }));
    // It takes no room that the tenant needs.
    assert_eq!(change(json!({ "written": "x".repeat(1_025) })).send().await.invalid_fields(), ["attributes.written"]);
    change(json!({ "written": "x".repeat(1_024) })).send().await.ok();
    patch(&app, &ada, &bob.user, &json!({ "other": "o".repeat(16_000) })).await.ok();
    change(json!({ "written": "new" })).send().await.ok();
    // What a user may do to itself, its key may not do.
    let key = app.key(&bob, &bob.user, &json!({})).await;
    let by_key = app.patch("/auth/me").bearer(text(&key)).json(&json!({ "attributes": { "written": "z" } }));
    by_key.send().await.problem("forbidden");
    assert_eq!(app.get("/auth/me").bearer(text(&key)).send().await.ok().get("attributes"), None);
    change(json!({ "written": null })).send().await.ok();
    assert_eq!(me().await["attributes"], json!({ "read": "r" }));
}

async fn a_person_overwrites_no_change_that_it_has_not_seen(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.define(&ada, &json!([{ "key": "nickname", "type": "STRING", "personWrites": true }])).await;
    let me = app.get("/auth/me").by(&bob).send().await;
    assert_eq!(me.header("etag"), None);
    let seen = me.ok()["userTag"].as_str().unwrap().to_owned();
    let user = app.get(&format!("/users/{}", bob.user)).by(&ada).send().await;
    assert_eq!(user.header("etag"), Some(&*seen));
    let change = |name: &str| {
        let body = json!({ "attributes": { "nickname": name } });
        app.patch("/auth/me").by(&bob).header("if-match", &seen).json(&body)
    };
    let changed = change("Bob").send().await;
    changed.ok();
    app.unrecorded(&ada, change("Rob").send()).await.problem("precondition-failed");
    let me = app.get("/auth/me").by(&bob).send().await.ok();
    assert_eq!(me["attributes"], json!({ "nickname": "Bob" }));
    assert_eq!(me["userTag"], json!(changed.header("etag")));
}

async fn access_tokens_have_the_chosen_values(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let given = json!({ "b": "2", "a": "1", "long": "x".repeat(2_000), "hidden": "h" });
    patch(&app, &ada, &bob.user, &given).await.ok();
    let plain = claims(&app.login(&bob).await.access);
    assert_eq!((plain.get("attributes"), plain.get("attributesTruncated")), (None, None));
    let in_token = |key: &str| json!({ "key": key, "type": "STRING", "inToken": true });
    app.define(&ada, &json!([in_token("b"), in_token("a"), in_token("sub")])).await;
    patch(&app, &ada, &bob.user, &json!({ "sub": "x" })).await.ok();
    let session = app.login(&bob).await;
    let issued = claims(&session.access);
    assert_eq!(issued["attributes"], json!({ "b": "2", "a": "1", "sub": "x" }));
    assert_eq!((&issued["sub"], issued.get("attributesTruncated")), (&json!(bob.user), None));
    // The next token has the new values.
    patch(&app, &ada, &bob.user, &json!({ "a": "new", "sub": null })).await.ok();
    app.define(&ada, &json!([in_token("long"), in_token("a")])).await;
    let body = json!({ "refreshToken": session.refresh });
    let refreshed = app.post("/auth/refresh").json(&body).send().await.ok();
    let access = refreshed["accessToken"].as_str().unwrap();
    let issued = claims(access);
    assert_eq!((&issued["attributes"], &issued["attributesTruncated"]), (&json!({ "a": "new" }), &json!(true)));
    app.get("/auth/me").bearer(access).send().await.ok();
    let introspection = app.post("/auth/introspect").by(&ada).json(&json!({ "token": access })).send().await.ok();
    assert_eq!(introspection["attributes"], json!({ "a": "new" }));
    assert_eq!(introspection["attributesTruncated"], true);
    let acting = app.acting(&ada, &bob).await;
    assert_eq!(claims(&acting.access)["attributes"], json!({ "a": "new" }));
}

async fn an_erasure_removes_attributes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.define(&ada, &json!([{ "key": "badge", "type": "STRING", "searchable": true }])).await;
    let body = with(profile("bob@example.com"), &json!({ "attributes": { "badge": "trace-1906" } }));
    let create = || app.post("/users").by(&ada).header("idempotency-key", "bob").json(&body).send();
    let made = create().await.created();
    let id = made["id"].as_str().unwrap();
    patch(&app, &ada, id, &json!({ "badge": "trace-1907" })).await.ok();
    app.delete(&format!("/users/{id}")).by(&ada).send().await.no_content();
    assert_eq!(app.user(&ada, id).await["attributes"], json!({ "badge": "trace-1907" }));
    app.post("/audit-logs/erasures").by(&ada).json(&json!({ "userId": id })).send().await.ok();
    assert_eq!(app.user(&ada, id).await.get("attributes"), None);
    let found = app.get("/users").by(&ada).query("attribute", "badge:trace-1907").send().await.ok();
    assert_eq!(found["data"], json!([]));
    let entries = json!(app.audit(&ada, &[]).await).to_string();
    assert!(!entries.contains("trace-190"), "{entries}");
    // A repeated creation is no answer with them: it is an ordinary request, for an e-mail that is taken.
    assert_eq!(create().await.status(), 409);
}

async fn a_service_account_has_attributes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "name": "Importer", "attributes": { "owner": "it" } });
    let made = app.post("/service-accounts").by(&ada).json(&body).send().await.created();
    assert_eq!(made["attributes"], json!({ "owner": "it" }));
    let id = made["id"].as_str().unwrap();
    patch(&app, &ada, id, &json!({ "owner": "hr" })).await.ok();
    assert_eq!(app.user(&ada, id).await["attributes"], json!({ "owner": "hr" }));
}

async fn a_repeated_creation_shows_the_attributes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, key, body) in [
        ("/users", "one", with(profile("bob@example.com"), &json!({ "attributes": { "a": 1 } }))),
        ("/organizations", "two", json!({ "name": "North", "attributes": { "a": 1 } })),
        ("/service-accounts", "three", json!({ "name": "Importer", "attributes": { "a": 1 } })),
    ] {
        let create = || app.post(path).by(&ada).header("idempotency-key", key).json(&body).send();
        let (first, again) = (create().await.created(), create().await.created());
        assert_eq!(first, again);
        assert_eq!(first["attributes"], json!({ "a": 1 }));
    }
}
