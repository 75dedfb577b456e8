//! The certification scenario of AuthZEN, for the levels Basic Core, Batch Core and Search Core. Its records are
//! organizations here, because only these are known.

use axum::http::HeaderValue;
use serde_json::{Value, json};

use super::{
    ACTIONS, EVALUATION, EVALUATIONS, PATHS, RESOURCES, SUBJECTS, ask, asking, external, found, name_by, register,
};
use crate::app::TestApp;
use crate::people::Person;

in_memory![
    basic_decisions,
    basic_refusals,
    basic_content_types_and_bodies,
    request_identifiers,
    batch_decisions,
    batch_without_a_batch,
    searches,
    searches_for_nothing,
    search_refusals,
    search_pages,
];

/// The fixture of the scenario: Alice may read and write, and Bob may read.
async fn scenario(app: &TestApp) -> Person {
    let ada = app.register("ada@example.com").await;
    name_by(app, &ada, "NAME").await;
    register(app, &ada, &["organization:read", "organization:write", "organization:delete"]).await;
    for slug in ["record-1", "record-2"] {
        app.organization(&ada, slug).await;
    }
    let [alice, bob] =
        [external(app, &ada, "a@example.com", "alice").await, external(app, &ada, "b@example.com", "bob").await];
    app.role(&ada, "WRITER", &["organization:read", "organization:write"]).await;
    app.role(&ada, "READER", &["organization:read"]).await;
    app.assign(&ada, &alice, "WRITER", None, None).await;
    app.assign(&ada, &bob, "READER", None, None).await;
    ada
}

fn user(id: &str) -> Value {
    json!({ "type": "user", "id": id })
}

fn action(name: &str) -> Value {
    json!({ "name": name })
}

fn record(id: &str) -> Value {
    json!({ "type": "organization", "id": id })
}

fn question(subject: &str, name: &str, resource: &str) -> Value {
    json!({ "subject": user(subject), "action": action(name), "resource": record(resource) })
}

/// A question with other members.
fn with(question: &Value, members: &Value) -> Value {
    crate::people::with(question.clone(), members)
}

fn without(question: &Value, pointer: &str) -> Value {
    let (object, member) = pointer.rsplit_once('/').unwrap();
    let mut question = question.clone();
    question.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(member).unwrap();
    question
}

async fn basic_decisions(app: TestApp) {
    let pep = scenario(&app).await;
    let permit = question("alice", "read", "record-1");
    let context = json!({ "context": { "time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1" } });
    let properties = json!({
        "subject": { "type": "user", "id": "alice", "properties": { "department": "Sales", "role": "manager" } },
        "action": { "name": "read", "properties": { "method": "GET" } },
        "resource": { "type": "organization", "id": "record-1", "properties": { "status": "active", "owner": "bob" } },
    });
    for (body, expected) in [
        (permit.clone(), true),
        (question("alice", "write", "record-1"), true),
        (question("bob", "read", "record-1"), true),
        (question("bob", "write", "record-1"), false),
        (with(&permit, &context), true),
        (properties, true),
        (with(&permit, &json!({ "foo": "bar", "futureField": { "nested": true } })), true),
    ] {
        // The decision stays the same.
        for _ in 0..3 {
            let answer = ask(&app, &pep, EVALUATION, &body).await.ok();
            assert_eq!(answer["decision"], expected, "{body}");
            assert!(answer["context"].is_object(), "{answer}");
        }
    }
}

async fn basic_refusals(app: TestApp) {
    let pep = scenario(&app).await;
    let permit = question("alice", "read", "record-1");
    for pointer in [
        "/subject",
        "/action",
        "/resource",
        "/subject/type",
        "/subject/id",
        "/action/name",
        "/resource/type",
        "/resource/id",
    ] {
        let field = pointer[1..].replace('/', ".");
        for path in [EVALUATION, EVALUATIONS] {
            let answer = ask(&app, &pep, path, &without(&permit, pointer)).await;
            assert_eq!(answer.invalid_fields(), [field.as_str()], "{path} {pointer}");
        }
    }
    for (wrong, field) in [
        (json!({ "subject": "alice" }), "subject"),
        (json!({ "subject": ["user", "alice", null] }), "subject"),
        (json!({ "subject": null }), "subject"),
        (json!({ "subject": { "type": "user", "id": 7 } }), "subject.id"),
        (json!({ "subject": { "type": "user", "id": "alice", "properties": "x" } }), "subject.properties"),
        (json!({ "action": { "name": 123 } }), "action.name"),
        (json!({ "action": "read" }), "action"),
        (json!({ "resource": [] }), "resource"),
        (json!({ "resource": { "type": null, "id": "record-1" } }), "resource.type"),
        (json!({ "resource": { "type": "organization", "id": "record-1", "properties": [] } }), "resource.properties"),
        (
            json!({ "resource": { "type": "x", "id": "1", "properties": { "organizationId": 7 } } }),
            "resource.properties.organizationId",
        ),
        (json!({ "context": "now" }), "context"),
        (json!({ "context": [] }), "context"),
    ] {
        for path in [EVALUATION, EVALUATIONS] {
            let answer = ask(&app, &pep, path, &with(&permit, &wrong)).await;
            assert_eq!(answer.status(), 400, "{path} {wrong}");
            let fields = answer.invalid_fields();
            // Of several questions, what all have in common may be missing.
            assert!(fields == [field] || fields == [field.split('.').next().unwrap()], "{path} {wrong}: {fields:?}");
        }
    }
}

async fn basic_content_types_and_bodies(app: TestApp) {
    let pep = scenario(&app).await;
    let permit = question("alice", "read", "record-1").to_string();
    for path in PATHS {
        for content_type in
            ["text/plain", "application/xml", "application/x-www-form-urlencoded", "application/jsonp", ""]
        {
            let request = app.request(axum::http::Method::POST, path).by(&pep).body(permit.clone());
            let refused = request.header("content-type", content_type).send().await;
            assert_eq!(refused.invalid_fields(), ["$"], "{path} {content_type}");
        }
        let untyped = app.request(axum::http::Method::POST, path).by(&pep).body(permit.clone());
        assert_eq!(untyped.send().await.invalid_fields(), ["$"], "{path}");
        for body in ["", " ", "{", "nonsense", "null", "[]", "7", "{} x", "\u{feff}{}"] {
            let request = app.request(axum::http::Method::POST, path).by(&pep);
            let refused = request.header("content-type", "application/json").body(body.to_owned()).send().await;
            assert_eq!(refused.invalid_fields(), ["$"], "{path} {body:?}");
        }
    }
    let request = app.request(axum::http::Method::POST, EVALUATION).by(&pep).body(permit);
    let answer = request.header("content-type", "Application/JSON; charset=utf-8").send().await.ok();
    assert_eq!(answer["decision"], true);
}

async fn request_identifiers(app: TestApp) {
    let pep = scenario(&app).await;
    let body = question("alice", "read", "record-1");
    for path in PATHS {
        for id in ["bfe9eb29-ab87-4ca3-be83-a1d5d8305716", "!", "~x:y", &"x".repeat(128)] {
            let answer = asking(&app, &pep, path, &body).header("x-request-id", id).send().await;
            assert_eq!(answer.header("x-request-id"), Some(id), "{path}");
        }
        for id in ["", "a b", "\u{e4}", &"x".repeat(129)] {
            let answer = asking(&app, &pep, path, &body).header("x-request-id", id).send().await;
            assert_eq!((answer.status(), answer.header("x-request-id")), (200, None), "{path} {id}");
        }
        let twice = asking(&app, &pep, path, &body).header("x-request-id", "a").header("x-request-id", "b");
        assert_eq!(twice.send().await.header("x-request-id"), None);
        assert_eq!(ask(&app, &pep, path, &body).await.header("x-request-id"), None);
        // Also of what is refused, and below the prefix.
        let stranger = app.post(path).json(&body).header("x-request-id", "mine").send().await;
        assert_eq!((stranger.status(), stranger.header("x-request-id")), (401, Some("mine")), "{path}");
        let broken = app.post(path).by(&pep).json(&json!({ "subject": 7 })).header("x-request-id", "mine").send().await;
        assert_eq!((broken.status(), broken.header("x-request-id")), (400, Some("mine")), "{path}");
    }
    let elsewhere = app.get("/health").header("x-request-id", "mine").send().await;
    assert_eq!(elsewhere.header("x-request-id"), None);
    let mut bytes = asking(&app, &pep, EVALUATION, &body);
    bytes.headers_mut().insert("x-request-id", HeaderValue::from_bytes(&[0xff]).unwrap());
    assert_eq!(bytes.send().await.header("x-request-id"), None);
}

/// The decisions of several questions.
async fn batch(app: &TestApp, pep: &Person, body: &Value) -> Vec<bool> {
    let answer = ask(app, pep, EVALUATIONS, body).await.ok();
    assert_eq!(answer.get("decision"), None, "{answer}");
    let evaluations = answer["evaluations"].as_array().unwrap();
    evaluations.iter().map(|evaluation| evaluation["decision"].as_bool().unwrap()).collect()
}

async fn batch_decisions(app: TestApp) {
    let pep = scenario(&app).await;
    let (one, two) = (json!({ "resource": record("record-1") }), json!({ "resource": record("record-2") }));
    let [read, write] = ["read", "write"].map(|name| json!({ "action": action(name) }));
    let context = json!({ "context": { "time": "2025-06-27T18:03-07:00" } });
    for (body, expected) in [
        (json!({ "subject": user("alice"), "action": action("read"), "evaluations": [one, two] }), &[true, true][..]),
        (
            json!({ "subject": user("bob"), "resource": record("record-1"), "evaluations": [read, write] }),
            &[true, false],
        ),
        (
            json!({ "evaluations": [question("alice", "read", "record-1"), question("bob", "write", "record-1")] }),
            &[true, false],
        ),
        (
            with(
                &json!({
                    "subject": user("alice"),
                    "action": action("read"),
                    "evaluations": [one, with(&two, &context)],
                }),
                &context,
            ),
            &[true, true],
        ),
        // A part takes the place of the whole default.
        (
            with(&question("bob", "write", "record-1"), &json!({ "evaluations": [{}, { "subject": user("alice") }] })),
            &[false, true],
        ),
        (
            json!({
                "subject": user("alice"), "action": action("read"),
                "options": { "evaluations_semantic": "execute_all", "another_option": "value" },
                "evaluations": [one, {}],
            }),
            &[true, false],
        ),
    ] {
        assert_eq!(batch(&app, &pep, &body).await, expected, "{body}");
    }
}

async fn batch_without_a_batch(app: TestApp) {
    let pep = scenario(&app).await;
    let permit = question("alice", "read", "record-1");
    let expected = ask(&app, &pep, EVALUATION, &permit).await.ok();
    for members in [json!({}), json!({ "evaluations": [] }), json!({ "evaluations": null, "options": null })] {
        assert_eq!(ask(&app, &pep, EVALUATIONS, &with(&permit, &members)).await.ok(), expected, "{members}");
    }
}

async fn searches(app: TestApp) {
    let pep = scenario(&app).await;
    let context = json!({ "context": { "time": "2025-06-27T18:03-07:00", "ip": "192.168.1.1" } });
    let subjects = json!({ "subject": { "type": "user" }, "action": action("read"), "resource": record("record-1") });
    let resources =
        json!({ "subject": user("alice"), "action": action("read"), "resource": { "type": "organization" } });
    let actions = json!({ "subject": user("alice"), "resource": record("record-1") });
    for (path, body, ignored, kind, member, expected) in [
        (SUBJECTS, subjects, json!({ "subject": user("alice") }), "user", "id", &["alice", "bob"][..]),
        (
            RESOURCES,
            resources,
            json!({ "resource": record("record-1") }),
            "organization",
            "id",
            &["record-1", "record-2"],
        ),
        (ACTIONS, actions, json!({ "action": action("delete") }), "", "name", &["read", "write"]),
    ] {
        let first = ask(&app, &pep, path, &body).await.ok();
        let texts = found(&first, member);
        assert!(expected.iter().all(|text| texts.contains(&(*text).to_owned())), "{path}: {texts:?}");
        assert_eq!(
            (&first["page"]["next_token"], &first["page"]["count"]),
            (&json!(""), &json!(texts.len())),
            "{path}"
        );
        for result in first["results"].as_array().unwrap() {
            assert_eq!(result["type"].as_str().unwrap_or_default(), kind, "{path}");
        }
        for members in [&context, &ignored, &json!({ "foo": { "bar": 1 } })] {
            assert_eq!(ask(&app, &pep, path, &with(&body, members)).await.ok(), first, "{path} {members}");
        }
    }
}

async fn searches_for_nothing(app: TestApp) {
    let pep = scenario(&app).await;
    let (known, unknown) = (user("alice"), user("nonexistent-user"));
    let spaceship = json!({ "type": "spaceship", "id": "1" });
    for (path, body) in [
        (ACTIONS, json!({ "subject": unknown, "resource": record("record-1") })),
        (ACTIONS, json!({ "subject": known, "resource": record("record-9") })),
        (ACTIONS, json!({ "subject": known, "resource": spaceship })),
        (ACTIONS, json!({ "subject": spaceship, "resource": record("record-1") })),
        (RESOURCES, json!({ "subject": unknown, "action": action("read"), "resource": { "type": "organization" } })),
        (RESOURCES, json!({ "subject": known, "action": action("read"), "resource": { "type": "spaceship" } })),
        (RESOURCES, json!({ "subject": known, "action": action("fly"), "resource": { "type": "organization" } })),
        (
            SUBJECTS,
            json!({ "subject": { "type": "spaceship" }, "action": action("read"), "resource": record("record-1") }),
        ),
        (SUBJECTS, json!({ "subject": { "type": "user" }, "action": action("read"), "resource": record("record-9") })),
        (SUBJECTS, json!({ "subject": { "type": "user" }, "action": action("read"), "resource": spaceship })),
    ] {
        let answer = ask(&app, &pep, path, &body).await.ok();
        assert_eq!(answer, json!({ "page": { "next_token": "", "count": 0 }, "results": [] }), "{path} {body}");
    }
}

async fn search_refusals(app: TestApp) {
    let pep = scenario(&app).await;
    let (subject, read) = (json!({ "type": "user" }), action("read"));
    let organization = json!({ "type": "organization" });
    for (path, body, field) in [
        (SUBJECTS, json!({ "subject": subject, "resource": record("record-1") }), "action"),
        (SUBJECTS, json!({ "subject": subject, "action": read }), "resource"),
        (SUBJECTS, json!({ "action": read, "resource": record("record-1") }), "subject"),
        (SUBJECTS, json!({ "subject": {}, "action": read, "resource": record("record-1") }), "subject.type"),
        (SUBJECTS, json!({ "subject": subject, "action": read, "resource": organization }), "resource.id"),
        (RESOURCES, json!({ "action": read, "resource": organization }), "subject"),
        (RESOURCES, json!({ "subject": subject, "action": read, "resource": organization }), "subject.id"),
        (RESOURCES, json!({ "subject": user("alice"), "action": read, "resource": {} }), "resource.type"),
        (ACTIONS, json!({ "subject": user("alice") }), "resource"),
        (ACTIONS, json!({ "resource": record("record-1") }), "subject"),
        (ACTIONS, json!({ "subject": subject, "resource": record("record-1") }), "subject.id"),
        (ACTIONS, json!({ "subject": user("alice"), "resource": organization }), "resource.id"),
    ] {
        assert_eq!(ask(&app, &pep, path, &body).await.invalid_fields(), [field], "{path} {body}");
    }
}

async fn search_pages(app: TestApp) {
    let pep = scenario(&app).await;
    let body = json!({ "subject": { "type": "user" }, "action": action("read"), "resource": record("record-1") });
    let all = found(&ask(&app, &pep, SUBJECTS, &body).await.ok(), "id");
    let mut page = json!({ "limit": 1 });
    let mut paged = Vec::new();
    loop {
        let answer = ask(&app, &pep, SUBJECTS, &with(&body, &json!({ "page": page }))).await.ok();
        assert_eq!(answer["page"]["count"], 1);
        paged.extend(found(&answer, "id"));
        let token = answer["page"]["next_token"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
        // The limit may be left out.
        page = if paged.len() % 2 == 1 { json!({ "token": token }) } else { json!({ "token": token, "limit": 1 }) };
    }
    assert_eq!(paged, all);
    assert!(all.len() > 2, "{all:?}");
}
