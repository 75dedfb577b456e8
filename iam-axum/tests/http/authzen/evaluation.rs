//! Evaluations (`docs/authzen.md#evaluation`, `docs/authzen.md#evaluations`).

use chrono::TimeDelta;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use super::{
    ACTIONS, EVALUATION, EVALUATIONS, PATHS, RESOURCES, SUBJECTS, ask, decision, external, name_by, question, register,
};
use crate::app::TestApp;
use crate::people::{Person, with};

in_memory![
    a_decision_is_that_of_a_check,
    the_place_of_a_resource_is_its_organization,
    an_unregistered_permission_is_denied_to_all,
    a_semantic_ends_at_its_decision,
    an_incomplete_question_is_denied_for_itself,
    at_most_a_hundred_questions_are_asked,
    about_oneself_a_session_is_enough,
    a_key_needs_the_permission,
    names_are_those_of_the_tenant,
    nothing_is_recorded,
    requests_are_limited_as_others_are,
    the_setting_is_recorded_and_needs_tenants_update,
];

/// A tenant with places, and users in every state.
struct World {
    ada: Person,
    places: Vec<Option<OrganizationId>>,
    users: Vec<String>,
}

async fn world(app: &TestApp) -> World {
    let ada = app.register("ada@example.com").await;
    register(app, &ada, &["orders:read", "orders:refund"]).await;
    let [top, middle, low] = app.chain(&ada, "place").await;
    let asleep = app.organization(&ada, "asleep").await;
    let mut users = vec![ada.user.clone()];
    for (name, permissions, place, days) in [
        ("wide", &["orders:read"][..], None, 0),
        ("local", &["orders:*"], Some(middle), 0),
        ("all", &["*"], Some(top), 0),
        ("asleep", &["orders:read"], Some(asleep), 0),
        ("expired", &["orders:read"], None, 1),
        ("suspended", &["orders:read"], None, 0),
        ("deleted", &["orders:read"], None, 0),
        ("bare", &[], None, 0),
    ] {
        let user = app.add_user(&ada, &format!("{name}@example.com")).await;
        let person = Person { user: user.clone(), ..ada.clone() };
        let until = (days > 0).then(|| app.iam.now() + TimeDelta::minutes(1));
        app.permit_until(&person, permissions, place, until).await;
        users.push(user);
    }
    app.set_status(&ada, &users[6], "SUSPENDED").await;
    app.set_status(&ada, &users[7], "INACTIVE").await;
    let suspend = json!({ "status": "SUSPENDED" });
    app.patch(&format!("/organizations/{asleep}")).by(&ada).json(&suspend).send().await.ok();
    app.pass(TimeDelta::minutes(1));
    World { ada, places: vec![None, Some(top), Some(middle), Some(low), Some(asleep)], users }
}

async fn check(app: &TestApp, by: &Person, user: &str, permission: &str, place: Option<OrganizationId>) -> Value {
    let body = json!({ "permission": permission, "userId": user, "organizationId": place });
    app.post("/authz/check").by(by).json(&body).send().await.ok()
}

/// What an evaluation answers for the decision of a check.
fn expected(check: &Value) -> Value {
    let grants: Vec<&Value> = check["grants"].as_array().unwrap().iter().map(|grant| &grant["assignmentId"]).collect();
    json!({ "decision": check["allowed"], "context": { "reason": check["reason"], "grants": grants } })
}

async fn a_decision_is_that_of_a_check(app: TestApp) {
    let World { ada, places, users } = world(&app).await;
    let (mut questions, mut answers) = (Vec::new(), Vec::new());
    for user in &users {
        for permission in ["orders:read", "orders:refund", "users:read"] {
            for place in &places {
                answers.push(expected(&check(&app, &ada, user, permission, *place).await));
                questions.push(question(user, permission, *place));
            }
        }
    }
    assert!(answers.iter().filter(|answer| answer["decision"] == true).count() > 30);
    for (question, answer) in questions.iter().zip(&answers) {
        assert_eq!(ask(&app, &ada, EVALUATION, question).await.ok(), *answer, "{question}");
    }
    for (questions, answers) in questions.chunks(100).zip(answers.chunks(100)) {
        let body = json!({ "evaluations": questions });
        assert_eq!(ask(&app, &ada, EVALUATIONS, &body).await.ok(), json!({ "evaluations": answers }));
    }
}

async fn the_place_of_a_resource_is_its_organization(app: TestApp) {
    let World { ada, places, users } = world(&app).await;
    register(&app, &ada, &["organization:view"]).await;
    let local = Person { user: users[2].clone(), ..ada.clone() };
    let middle = places[2].unwrap();
    app.permit_in(&local, middle, &["organization:view"]).await;
    let [top, middle, low, asleep] = [1, 2, 3, 4].map(|number: usize| places[number].unwrap().to_string());
    let asked = |kind: &str, id: &str, properties: Value| {
        let action = if kind == "organization" { "view" } else { "read" };
        json!({
            "subject": { "type": "user", "id": local.user },
            "action": { "name": action },
            "resource": { "type": kind, "id": id, "properties": properties },
        })
    };
    for (kind, id, properties, expected) in [
        ("orders", "17", json!({ "organizationId": middle }), true),
        ("orders", "17", json!({ "organizationId": low, "status": "open" }), true),
        ("orders", "17", json!({ "organizationId": top }), false),
        ("orders", "17", json!({ "organizationId": null }), false),
        ("orders", "17", json!({}), false),
        ("orders", "17", Value::Null, false),
        ("orders", "17", json!({ "OrganizationId": middle, "organization_id": middle }), false),
        // An organization that is named like the resource is not its place.
        ("orders", middle.as_str(), json!({}), false),
        ("organization", middle.as_str(), json!({}), true),
        ("organization", low.as_str(), json!({}), true),
        ("organization", top.as_str(), json!({}), false),
        ("organization", asleep.as_str(), json!({}), false),
        // Its own identifier counts.
        ("organization", top.as_str(), json!({ "organizationId": middle }), false),
        ("organization", middle.as_str(), json!({ "organizationId": top }), true),
    ] {
        let body = asked(kind, id, properties);
        assert_eq!(decision(&app, &ada, &body).await, expected, "{body}");
    }
}

async fn an_unregistered_permission_is_denied_to_all(app: TestApp) {
    let World { ada, users, .. } = world(&app).await;
    for (permission, is_registered) in [("orders:refund", true), ("orders:raed", false), ("order:read", false)] {
        let body = question(&ada.user, permission, None);
        assert_eq!(decision(&app, &ada, &body).await, is_registered, "{permission}");
    }
    // A check answers that a wildcard gives it, too.
    assert_eq!(check(&app, &ada, &ada.user, "orders:raed", None).await["allowed"], true);
    let mixed = json!({ "evaluations": [
        question(&ada.user, "orders:raed", None), question(&ada.user, "orders:refund", None),
        question(&users[1], "orders:read", None), question(&ada.user, "x:y", None),
    ] });
    let answer = ask(&app, &ada, EVALUATIONS, &mixed).await.ok();
    let decisions: Vec<&Value> = answer["evaluations"].as_array().unwrap().iter().map(|one| &one["decision"]).collect();
    assert_eq!(decisions, [false, true, true, false]);
    for (kind, action) in
        [("orders", "*"), ("*", "*"), ("", ""), ("Orders", "read"), ("orders", "can_read"), ("a:b", "c")]
    {
        let mut body = question(&ada.user, "orders:read", None);
        body["resource"]["type"] = json!(kind);
        body["action"]["name"] = json!(action);
        assert!(!decision(&app, &ada, &body).await, "{kind} {action}");
    }
    for kind in ["robot", "User", "", "organization"] {
        let mut body = question(&ada.user, "orders:read", None);
        body["subject"]["type"] = json!(kind);
        assert!(!decision(&app, &ada, &body).await, "{kind}");
    }
    // Registered now, it counts.
    register(&app, &ada, &["orders:raed"]).await;
    assert!(decision(&app, &ada, &question(&ada.user, "orders:raed", None)).await);
}

async fn a_semantic_ends_at_its_decision(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [yes, no] = ["users:read", "none:read"].map(|permission| question(&ada.user, permission, None));
    let incomplete = json!({ "subject": { "type": "user", "id": ada.user } });
    for (semantic, questions, expected) in [
        ("execute_all", vec![&yes, &no, &incomplete, &yes], &[true, false, false, true][..]),
        ("deny_on_first_deny", vec![&yes, &yes, &no, &yes], &[true, true, false]),
        ("deny_on_first_deny", vec![&yes, &incomplete, &yes], &[true, false]),
        ("deny_on_first_deny", vec![&yes, &yes], &[true, true]),
        ("permit_on_first_permit", vec![&no, &incomplete, &yes, &no], &[false, false, true]),
        ("permit_on_first_permit", vec![&no, &no], &[false, false]),
        ("permit_on_first_permit", vec![&yes, &no], &[true]),
    ] {
        let body = json!({ "evaluations": questions, "options": { "evaluations_semantic": semantic } });
        let answer = ask(&app, &ada, EVALUATIONS, &body).await.ok();
        let decisions: Vec<&Value> =
            answer["evaluations"].as_array().unwrap().iter().map(|evaluation| &evaluation["decision"]).collect();
        assert_eq!(decisions, expected, "{semantic}");
    }
    for wrong in [json!("EXECUTE_ALL"), json!(""), json!(7), json!(["execute_all"]), json!({ "execute_all": null })] {
        let body = json!({ "evaluations": [yes], "options": { "evaluations_semantic": wrong } });
        let refused = ask(&app, &ada, EVALUATIONS, &body).await;
        assert_eq!(refused.invalid_fields(), ["options.evaluations_semantic"], "{wrong}");
    }
    for options in [json!("execute_all"), json!([])] {
        let body = json!({ "evaluations": [yes], "options": options });
        assert_eq!(ask(&app, &ada, EVALUATIONS, &body).await.invalid_fields(), ["options"]);
    }
    for options in [json!(null), json!({}), json!({ "evaluations_semantic": null, "other": [1] })] {
        let body = json!({ "evaluations": [yes, no], "options": options });
        assert_eq!(ask(&app, &ada, EVALUATIONS, &body).await.ok()["evaluations"].as_array().unwrap().len(), 2);
    }
}

async fn an_incomplete_question_is_denied_for_itself(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let defaults = question(&ada.user, "users:read", None);
    for (item, message) in [
        (json!({ "subject": "ada" }), "subject must be an object"),
        (json!({ "subject": ["user", ada.user] }), "subject must be an object"),
        (json!({ "subject": { "type": "user" } }), "subject.id is required"),
        (json!({ "action": {} }), "action.name is required"),
        (json!({ "action": { "name": 7 } }), "action.name must be a string"),
        (json!({ "resource": { "type": "users" } }), "resource.id is required"),
        (
            json!({ "resource": { "type": "users", "id": "1", "properties": 7 } }),
            "resource.properties must be an object",
        ),
        (json!({ "context": 7 }), "context must be an object"),
        (json!("users:read"), "evaluation must be an object"),
        (json!([]), "evaluation must be an object"),
        (json!(null), "evaluation must be an object"),
    ] {
        let body = with(defaults.clone(), &json!({ "evaluations": [{}, item, {}] }));
        let answer = ask(&app, &ada, EVALUATIONS, &body).await.ok();
        let expected = json!({ "decision": false, "context": { "error": { "status": 400, "message": message } } });
        assert_eq!(answer["evaluations"][1], expected, "{item}");
        assert_eq!([&answer["evaluations"][0]["decision"], &answer["evaluations"][2]["decision"]], [true, true]);
    }
    // Without a default, what is missing is missing in each. What all would have is no default if it is no object.
    let bare = json!({ "evaluations": [{ "action": { "name": "read" } }, defaults] });
    let answer = ask(&app, &ada, EVALUATIONS, &bare).await.ok();
    assert_eq!(answer["evaluations"][0]["context"]["error"]["message"], "subject is required");
    assert_eq!(answer["evaluations"][1]["decision"], true);
    let only = json!({ "evaluations": [{}] });
    assert_eq!(ask(&app, &ada, EVALUATIONS, &only).await.ok()["evaluations"][0]["decision"], false);
    let broken = with(defaults.clone(), &json!({ "subject": "ada", "evaluations": [{}] }));
    assert_eq!(ask(&app, &ada, EVALUATIONS, &broken).await.invalid_fields(), ["subject"]);
    for wrong in [json!({}), json!("x"), json!(7)] {
        let body = with(defaults.clone(), &json!({ "evaluations": wrong }));
        assert_eq!(ask(&app, &ada, EVALUATIONS, &body).await.invalid_fields(), ["evaluations"], "{wrong}");
    }
}

async fn at_most_a_hundred_questions_are_asked(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (count, is_accepted) in [(100, true), (101, false)] {
        let body = with(question(&ada.user, "users:read", None), &json!({ "evaluations": vec![json!({}); count] }));
        let answer = ask(&app, &ada, EVALUATIONS, &body).await;
        if is_accepted {
            assert_eq!(answer.ok()["evaluations"].as_array().unwrap().len(), count);
        } else {
            assert_eq!(answer.invalid_fields(), ["evaluations"]);
        }
    }
}

/// The bodies of all operations about a user.
fn bodies(user: &str) -> [(&'static str, Value); 5] {
    let one = question(user, "users:read", None);
    let search = with(one.clone(), &json!({ "resource": { "type": "organization" } }));
    [
        (EVALUATION, one.clone()),
        (EVALUATIONS, json!({ "evaluations": [one] })),
        (RESOURCES, search),
        (ACTIONS, one.clone()),
        (SUBJECTS, one),
    ]
}

async fn about_oneself_a_session_is_enough(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.permit(&bob, &["users:read"]).await;
    for identifiers in ["ID", "NAME"] {
        name_by(&app, &ada, identifiers).await;
        let [own, other, unknown] = match identifiers {
            "ID" => [bob.user.as_str(), &ada.user, &ada.tenant],
            _ => [bob.email.as_str(), &ada.email, "nobody@example.com"],
        };
        for (path, body) in bodies(own) {
            let answer = ask(&app, &bob, path, &body).await;
            if path == SUBJECTS { answer.lacks("role-assignments:read") } else { drop(answer.ok()) }
        }
        for subject in [other, unknown] {
            for (path, body) in bodies(subject) {
                ask(&app, &bob, path, &body).await.lacks("role-assignments:read");
            }
        }
        let both = json!({ "evaluations": [question(own, "users:read", None), question(other, "users:read", None)] });
        ask(&app, &bob, EVALUATIONS, &both).await.lacks("role-assignments:read");
        let mut robot = question(own, "users:read", None);
        robot["subject"]["type"] = json!("robot");
        ask(&app, &bob, EVALUATION, &robot).await.lacks("role-assignments:read");
    }
    name_by(&app, &ada, "ID").await;
    let place = app.organization(&ada, "place").await;
    app.permit_in(&bob, place, &["role-assignments:read"]).await;
    for (path, body) in bodies(&ada.user) {
        ask(&app, &bob, path, &body).await.lacks("role-assignments:read");
    }
    app.permit(&bob, &["role-assignments:read"]).await;
    for (path, body) in bodies(&ada.user) {
        ask(&app, &bob, path, &body).await.ok();
    }
    for path in PATHS {
        app.post(path).json(&json!({})).send().await.problem("unauthorized");
    }
}

async fn a_key_needs_the_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let asked = async |permissions: &[&str]| {
        let robot = app.robot(&ada, permissions).await;
        let key = app.key(&ada, &robot, &json!({})).await;
        let body = question(&robot, "users:read", None);
        app.post(EVALUATION).bearer(key["key"].as_str().unwrap()).json(&body).send().await
    };
    // Its own user is another one for a key.
    asked(&["users:read"]).await.lacks("role-assignments:read");
    assert_eq!(asked(&["users:read", "role-assignments:read"]).await.ok()["decision"], true);
}

async fn names_are_those_of_the_tenant(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let place = app.organization(&ada, "north").await;
    let carl = external(&app, &ada, "carl@example.com", "E-7").await;
    let person = Person { user: carl.clone(), ..ada.clone() };
    app.permit_in(&person, place, &["users:read"]).await;
    let asked = async |user: &str, place: &str| {
        let mut body = question(user, "users:read", None);
        body["resource"]["properties"]["organizationId"] = json!(place);
        decision(&app, &ada, &body).await
    };
    let place = place.to_string();
    for (identifiers, users, places) in
        [("ID", [true, false, false, false], [true, false]), ("NAME", [false, true, true, false], [false, true])]
    {
        name_by(&app, &ada, identifiers).await;
        let known = |is_known: [bool; 2]| if is_known[0] { place.as_str() } else { "north" };
        for (user, expected) in [carl.as_str(), "E-7", "Carl@example.com", "e-7"].into_iter().zip(users) {
            assert_eq!(asked(user, known(places)).await, expected, "{identifiers} {user}");
        }
        let user = if identifiers == "ID" { carl.as_str() } else { "E-7" };
        for (place, expected) in [place.as_str(), "north"].into_iter().zip(places) {
            assert_eq!(asked(user, place).await, expected, "{identifiers} {place}");
        }
    }
}

async fn nothing_is_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, body) in bodies(&ada.user) {
        app.unrecorded(&ada, ask(&app, &ada, path, &body)).await.ok();
        app.unrecorded(&ada, ask(&app, &ada, path, &json!({}))).await.problem("validation-error");
    }
}

async fn requests_are_limited_as_others_are(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.with_http_settings(|settings| {
        let limits = iam_axum::rate_limit::RateLimits::default();
        settings.rate_limiter = Some(std::sync::Arc::new(iam_axum::rate_limit::MemoryRateLimiter::new(limits)));
    });
    for (path, body) in bodies(&ada.user) {
        let answer = ask(&app, &ada, path, &body).await;
        assert!(answer.header("x-ratelimit-remaining").is_some(), "{path}");
    }
}

async fn the_setting_is_recorded_and_needs_tenants_update(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/tenants/{}", ada.tenant);
    assert_eq!(app.get(&path).by(&ada).send().await.ok()["authzenIdentifiers"], "ID");
    let bob = app.colleague(&ada, "bob@example.com").await;
    let body = json!({ "authzenIdentifiers": "NAME" });
    app.patch(&path).by(&bob).json(&body).send().await.lacks("tenants:update");
    for wrong in [json!("name"), json!("UUID"), json!(7)] {
        let refused = app.patch(&path).by(&ada).json(&json!({ "authzenIdentifiers": wrong })).send().await;
        assert_eq!(refused.invalid_fields(), ["authzenIdentifiers"], "{wrong}");
    }
    // It decides whom the questions of gateways are about, so an old session may not change it.
    app.pass(TimeDelta::minutes(11));
    app.patch(&path).by(&ada).json(&body).send().await.problem("insufficient-authentication");
    let ada = app.login(&ada).await;
    name_by(&app, &ada, "NAME").await;
    let entry = &app.history(&ada, &ada.tenant).await[0];
    assert_eq!((&entry["action"], &entry["resourceType"]), (&json!("UPDATE"), &json!("TENANT")));
    assert_eq!(entry["oldValue"], json!({ "authzenIdentifiers": "ID" }));
    assert_eq!(entry["newValue"], json!({ "authzenIdentifiers": "NAME" }));
}
