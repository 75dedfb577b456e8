//! Attacks on the questions of AuthZEN (`docs/security.md#a-user-of-a-program-that-asks-by-authzen`).

use axum::http::Method;
use serde_json::{Value, json};

use super::{
    ACTIONS, EVALUATION, EVALUATIONS, PATHS, RESOURCES, SUBJECTS, ask, decision, external, found, name_by, question,
    register,
};
use crate::app::TestApp;
use crate::people::{Person, with};

in_memory![
    what_is_in_another_tenant_is_denied,
    what_is_unseen_is_like_what_does_not_exist,
    a_slug_like_an_identifier_names_only_by_name,
    a_name_of_two_users_gives_no_rights,
    a_member_that_is_given_twice_is_refused,
    names_of_prototypes_have_no_effect,
    deep_and_large_bodies_are_refused,
];

async fn what_is_in_another_tenant_is_denied(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    register(&app, &ada, &["organization:view"]).await;
    register(&app, &eve, &["organization:view", "orders:read"]).await;
    let [own, foreign] = [app.organization(&ada, "own").await, app.organization(&eve, "foreign").await];
    external(&app, &eve, "carl@example.com", "E-1").await;
    assert!(decision(&app, &ada, &question(&ada.user, "users:read", Some(own))).await);
    let organization = |id: &str| {
        with(
            question(&ada.user, "organization:view", None),
            &json!({ "resource": { "type": "organization", "id": id } }),
        )
    };
    for (identifiers, subject, users, slug) in [
        ("ID", &ada.user, [&*eve.user, "x"], foreign.to_string()),
        ("NAME", &ada.email, ["eve@example.com", "E-1"], "foreign".to_owned()),
    ] {
        name_by(&app, &ada, identifiers).await;
        let mut asked: Vec<Value> = users.iter().map(|user| question(user, "users:read", None)).collect();
        let mut placed = question(subject, "users:read", None);
        placed["resource"]["properties"]["organizationId"] = json!(slug);
        let mut viewed = organization(&slug);
        viewed["subject"]["id"] = json!(subject);
        // Registered in the other tenant alone.
        asked.extend([placed, viewed, question(subject, "orders:read", None)]);
        for body in &asked {
            let answer = ask(&app, &ada, EVALUATION, body).await.ok();
            let unknown = json!({
                "decision": false,
                "context": { "reason": "The subject, the action or the resource is unknown.", "grants": [] },
            });
            assert_eq!(answer, unknown, "{body}");
            assert_eq!(ask(&app, &ada, ACTIONS, body).await.ok()["results"], json!([]), "{body}");
        }
        for body in &asked[2..] {
            assert_eq!(ask(&app, &ada, SUBJECTS, body).await.ok()["results"], json!([]), "{body}");
        }
        let resources = json!({
            "subject": { "type": "user", "id": subject }, "action": { "name": "view" },
            "resource": { "type": "organization" },
        });
        let expected = if identifiers == "ID" { own.to_string() } else { "own".to_owned() };
        assert_eq!(found(&ask(&app, &ada, RESOURCES, &resources).await.ok(), "id"), [expected]);
    }
}

async fn what_is_unseen_is_like_what_does_not_exist(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [own, unseen] = [app.organization(&ada, "own").await, app.organization(&ada, "unseen").await];
    let bob = app.colleague_in(&ada, own, "bob@example.com", &["users:read"]).await;
    app.permit_in(&bob, own, &["roles:read"]).await;
    let asked = async |path: &str, place: &str| {
        let mut body = question(&bob.user, "users:read", None);
        body["resource"]["properties"]["organizationId"] = json!(place);
        ask(&app, &bob, path, &body).await.ok()
    };
    for path in [EVALUATION, ACTIONS] {
        let expected = asked(path, &ada.tenant).await;
        assert_eq!(asked(path, &unseen.to_string()).await, expected);
        assert_ne!(asked(path, &own.to_string()).await, expected);
    }
}

async fn a_slug_like_an_identifier_names_only_by_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let real = app.organization(&ada, "real").await;
    // An organization whose slug is the identifier of another one does not take its place.
    let decoy = app.organization(&ada, &real.to_string()).await;
    let carl = external(&app, &ada, "carl@example.com", &ada.user).await;
    let person = Person { user: carl.clone(), ..ada.clone() };
    app.permit_in(&person, decoy, &["users:read"]).await;
    for (identifiers, subject, expected) in [("ID", &carl, false), ("NAME", &ada.user, true)] {
        name_by(&app, &ada, identifiers).await;
        // By identifiers, it is the real one, in which Carl may do nothing. By names, it is the decoy, and the text of
        // an identifier is the name of Carl.
        assert_eq!(decision(&app, &ada, &question(subject, "users:read", Some(real))).await, expected, "{identifiers}");
    }
    name_by(&app, &ada, "NAME").await;
    assert!(!decision(&app, &ada, &question(&ada.user, "users:update", Some(real))).await, "Carl, and not Ada");
    assert!(!decision(&app, &ada, &question(&ada.user, "users:read", Some(decoy))).await, "no slug");
}

async fn a_name_of_two_users_gives_no_rights(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    name_by(&app, &ada, "NAME").await;
    let carl = external(&app, &ada, "carl@example.com", "dora@example.com").await;
    app.permit(&Person { user: carl, ..ada.clone() }, &["users:read"]).await;
    let body = question("dora@example.com", "users:read", None);
    assert!(decision(&app, &ada, &body).await);
    let dora = app.add_user(&ada, "dora@example.com").await;
    let search = with(body.clone(), &json!({ "subject": { "type": "user" } }));
    for is_granted in [false, true] {
        if is_granted {
            app.permit(&Person { user: dora.clone(), ..ada.clone() }, &["users:read"]).await;
        }
        assert!(!decision(&app, &ada, &body).await, "{is_granted}");
        assert_eq!(found(&ask(&app, &ada, SUBJECTS, &search).await.ok(), "id"), ["ada@example.com"], "{is_granted}");
    }
    // A session of that name cannot ask about itself either.
    let dora = app.login(&Person { user: dora, email: "dora@example.com".to_owned(), ..ada.clone() }).await;
    ask(&app, &dora, EVALUATION, &body).await.lacks("role-assignments:read");
}

/// Parsers differ: one takes the first value, another the last.
async fn a_member_that_is_given_twice_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let subject = format!(r#""subject": {{"type": "user", "id": "{}"}}"#, ada.user);
    let (action, resource) = (r#""action": {"name": "read"}"#, r#""resource": {"type": "users", "id": "1"}"#);
    let rest = format!("{action}, {resource}");
    let places = r#"{"organizationId": null, "organizationId": "x"}"#;
    let send = async |path: &str, body: &str| {
        let request = app.request(Method::POST, path).by(&ada).header("content-type", "application/json");
        request.body(body.to_owned()).send().await
    };
    assert_eq!(send(EVALUATION, &format!("{{{subject}, {rest}}}")).await.ok()["decision"], true);
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for path in PATHS {
        for body in [
            format!("{{{subject}, {subject}, {rest}}}"),
            format!("{{{subject}, {rest}, \"\\u0073ubject\": {{\"type\": \"user\", \"id\": \"x\"}}}}"),
            format!(r#"{{{subject}, "action": {{"name": "delete", "name": "read"}}, {resource}}}"#),
            format!(r#"{{{subject}, {action}, "resource": {{"type": "users", "id": "1", "properties": {places}}}}}"#),
            format!(r#"{{{subject}, {rest}, "context": {{"a": 1, "a": 2}}}}"#),
            format!(r#"{{{subject}, {rest}, "other": [{{"a": {{"b": 1, "b": 1}}}}]}}"#),
            format!(r#"{{{subject}, {rest}, "evaluations": [{{"action": {{"name": "delete"}}, {action}}}]}}"#),
            // What is too deep could hide them.
            format!(r#"{{"other": {deep}, {subject}, {rest}, "context": {{"a": 1, "a": 2}}}}"#),
        ] {
            send(path, &body).await.problem("validation-error");
        }
    }
    // The error says what cannot be read.
    for (other, told) in [
        (b"\"\xff\"".as_slice(), "invalid unicode"),
        (b"1e999".as_slice(), "out of range"),
        (deep.as_bytes(), "recursion limit"),
    ] {
        let mut body = format!("{{{subject}, {rest}, \"other\": ").into_bytes();
        body.extend(other);
        body.push(b'}');
        let request = app.request(Method::POST, EVALUATION).by(&ada).header("content-type", "application/json");
        let detail = request.body(body).send().await.detail("validation-error");
        assert!(detail.contains(told), "{detail}");
    }
}

async fn names_of_prototypes_have_no_effect(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let forged = json!({
        "__proto__": { "decision": true, "id": ada.user }, "constructor": { "prototype": { "decision": true } },
        "decision": true, "allowed": true, "tenantId": ada.tenant, "userId": ada.user, "grants": ["*"],
    });
    let mut body = with(question(&bob.user, "users:read", None), &forged);
    for part in ["subject", "action", "resource"] {
        body[part].as_object_mut().unwrap().extend(forged.as_object().unwrap().clone());
    }
    body["resource"]["properties"] = forged;
    assert!(!decision(&app, &ada, &body).await);
    assert_eq!(ask(&app, &ada, ACTIONS, &body).await.ok()["results"], json!([]));
    for (kind, action) in [("__proto__", "read"), ("constructor", "toString"), ("users", "__proto__")] {
        let mut body = question(&ada.user, "users:read", None);
        body["resource"]["type"] = json!(kind);
        body["action"]["name"] = json!(action);
        assert!(!decision(&app, &ada, &body).await, "{kind} {action}");
    }
}

async fn deep_and_large_bodies_are_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = question(&ada.user, "users:read", None).to_string();
    let start = body.strip_suffix('}').unwrap();
    for path in PATHS {
        let send = async |body: String| {
            let request = app.request(Method::POST, path).by(&ada).header("content-type", "application/json");
            request.body(body).send().await
        };
        for depth in [200, 50_000] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            for member in ["context", "other"] {
                send(format!("{start}, \"{member}\": {{\"a\": {deep}}}}}")).await.problem("validation-error");
            }
        }
        send("{\"a\":".repeat(40_000)).await.problem("validation-error");
        send(format!("{}{body}", " ".repeat(256 * 1024))).await.problem("payload-too-large");
        // As large as a body may be.
        let long = "x".repeat(200_000);
        send(format!("{start}, \"context\": {{\"a\": \"{long}\"}}}}")).await.ok();
    }
    let long = "x".repeat(100_000);
    for (pointer, permission) in
        [("/subject/id", "users:read"), ("/resource/type", "users:read"), ("/action/name", "users:read")]
    {
        let mut body = question(&ada.user, permission, None);
        *body.pointer_mut(pointer).unwrap() = json!(long);
        for identifiers in ["ID", "NAME"] {
            name_by(&app, &ada, identifiers).await;
            assert!(!decision(&app, &ada, &body).await, "{pointer}");
        }
    }
    // A default is not copied for each question.
    name_by(&app, &ada, "ID").await;
    let mut body = with(question(&ada.user, "users:read", None), &json!({ "evaluations": vec![json!({}); 100] }));
    body["resource"]["id"] = json!("x".repeat(200_000));
    let answer = ask(&app, &ada, EVALUATIONS, &body).await.ok();
    assert!(answer["evaluations"].as_array().unwrap().iter().all(|evaluation| evaluation["decision"] == true));
}
