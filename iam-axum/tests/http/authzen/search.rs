//! Searches (`docs/authzen.md#searches`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{ACTIONS, RESOURCES, SUBJECTS, ask, decision, external, found, name_by, question, register, sorted};
use crate::app::TestApp;
use crate::people::{Person, with};

in_memory![
    a_search_finds_what_evaluations_permit,
    a_search_names_as_its_tenant_has_set,
    pages_follow_each_other,
    a_limit_has_bounds,
    a_token_is_for_one_request_of_one_tenant,
];

async fn a_search_finds_what_evaluations_permit(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    register(&app, &ada, &["orders:read", "orders:refund", "organization:view"]).await;
    let [top, low] = app.chain(&ada, "place").await;
    let gone = app.below(&ada, top, "gone").await;
    let mut users = vec![ada.user.clone()];
    for (name, permissions, place) in [
        ("wide", &["orders:read", "organization:view"][..], None),
        ("local", &["orders:*", "organization:view"], Some(low)),
        ("suspended", &["*"], None),
        ("bare", &[], None),
    ] {
        let user = app.add_user(&ada, &format!("{name}@example.com")).await;
        app.permit_until(&Person { user: user.clone(), ..ada.clone() }, permissions, place, None).await;
        users.push(user);
    }
    app.set_status(&ada, &users[3], "SUSPENDED").await;
    app.delete(&format!("/organizations/{gone}")).by(&ada).send().await.no_content();
    for place in [None, Some(top), Some(low)] {
        for permission in ["orders:read", "orders:refund", "users:read"] {
            let mut expected = BTreeSet::new();
            for user in &users {
                if decision(&app, &ada, &question(user, permission, place)).await {
                    expected.insert(user.clone());
                }
            }
            let search = question("any", permission, place);
            let answer = ask(&app, &ada, SUBJECTS, &search).await.ok();
            assert_eq!(BTreeSet::from_iter(found(&answer, "id")), expected, "{permission} {place:?}");
        }
        for user in &users {
            let mut expected = Vec::new();
            for action in ["read", "refund"] {
                if decision(&app, &ada, &question(user, &format!("orders:{action}"), place)).await {
                    expected.push(action);
                }
            }
            let answer = ask(&app, &ada, ACTIONS, &question(user, "orders:any", place)).await.ok();
            assert_eq!(found(&answer, "name"), expected, "{user} {place:?}");
        }
    }
    for (user, expected) in users.iter().zip([vec![top, low], vec![top, low], vec![low], vec![], vec![]]) {
        let body = json!({
            "subject": { "type": "user", "id": user }, "action": { "name": "view" },
            "resource": { "type": "organization" },
        });
        let answer = ask(&app, &ada, RESOURCES, &body).await.ok();
        let mut expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
        expected.sort_unstable();
        assert_eq!(sorted(&answer, "id"), expected, "{user}");
    }
}

async fn a_search_names_as_its_tenant_has_set(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let place = app.organization(&ada, "north").await;
    let carl = external(&app, &ada, "carl@example.com", "E-7").await;
    register(&app, &ada, &["organization:view"]).await;
    app.permit(&Person { user: carl.clone(), ..ada.clone() }, &["organization:view"]).await;
    let robot = app.robot(&ada, &["organization:view"]).await;
    for (identifiers, users, places) in [
        ("ID", [ada.user.clone(), carl.clone(), robot.clone()], place.to_string()),
        (
            "NAME",
            ["ada@example.com".to_owned(), "E-7".to_owned(), format!("{robot}@service.invalid")],
            "north".to_owned(),
        ),
    ] {
        name_by(&app, &ada, identifiers).await;
        let subjects = json!({
            "subject": { "type": "user" }, "action": { "name": "view" },
            "resource": { "type": "organization", "id": places },
        });
        let answer = ask(&app, &ada, SUBJECTS, &subjects).await.ok();
        assert_eq!(BTreeSet::from_iter(found(&answer, "id")), BTreeSet::from(users.clone()), "{identifiers}");
        for user in users {
            let resources = json!({
                "subject": { "type": "user", "id": user }, "action": { "name": "view" },
                "resource": { "type": "organization" },
            });
            assert_eq!(found(&ask(&app, &ada, RESOURCES, &resources).await.ok(), "id"), [places.as_str()]);
        }
    }
}

/// A search that finds seven users.
async fn seven(app: &TestApp) -> (Person, Value) {
    let ada = app.register("ada@example.com").await;
    app.role(&ada, "READER", &["users:read"]).await;
    for number in 0..6 {
        let user = app.add_user(&ada, &format!("user{number}@example.com")).await;
        app.assign(&ada, &user, "READER", None, None).await;
    }
    let body = json!({
        "subject": { "type": "user" }, "action": { "name": "read" }, "resource": { "type": "users", "id": "any" },
    });
    (ada, body)
}

fn page(body: &Value, page: Value) -> Value {
    with(body.clone(), &json!({ "page": page }))
}

async fn pages_follow_each_other(app: TestApp) {
    let (ada, body) = seven(&app).await;
    let all = found(&ask(&app, &ada, SUBJECTS, &body).await.ok(), "id");
    assert_eq!(all.len(), 7);
    for limit in [1, 3, 7, 100] {
        let (mut paged, mut next, mut counts) = (Vec::new(), json!({ "limit": limit }), Vec::new());
        while !next.is_null() {
            let answer = ask(&app, &ada, SUBJECTS, &page(&body, next)).await.ok();
            let results = found(&answer, "id");
            assert_eq!(answer["page"]["count"], results.len());
            counts.push(results.len());
            paged.extend(results);
            let token = answer["page"]["next_token"].as_str().unwrap();
            next = if token.is_empty() { Value::Null } else { json!({ "token": token }) };
        }
        assert_eq!(paged, all, "{limit}");
        assert_eq!(counts.len(), 7_usize.div_ceil(limit), "{limit}");
    }
    // Also of resources and actions.
    register(&app, &ada, &["organization:view"]).await;
    for slug in ["one", "two", "three"] {
        app.organization(&ada, slug).await;
    }
    let subject = json!({ "type": "user", "id": ada.user });
    let resources = json!({ "subject": subject, "action": { "name": "view" }, "resource": { "type": "organization" } });
    let actions = json!({ "subject": subject, "resource": { "type": "users", "id": "any" } });
    for (path, body, member, count) in [(RESOURCES, resources, "id", 3), (ACTIONS, actions, "name", 4)] {
        let all = found(&ask(&app, &ada, path, &body).await.ok(), member);
        assert_eq!(all.len(), count, "{path}");
        let first = ask(&app, &ada, path, &page(&body, json!({ "limit": 2 }))).await.ok();
        let token = &first["page"]["next_token"];
        let second = ask(&app, &ada, path, &page(&body, json!({ "limit": 2, "token": token }))).await.ok();
        assert_eq!([found(&first, member), found(&second, member)].concat(), all, "{path}");
        assert_eq!(second["page"]["next_token"], "");
    }
}

async fn a_limit_has_bounds(app: TestApp) {
    let (ada, body) = seven(&app).await;
    for limit in [json!(0), json!(101), json!(1e30)] {
        let refused = ask(&app, &ada, SUBJECTS, &page(&body, json!({ "limit": limit }))).await;
        assert_eq!(refused.invalid_fields(), ["page.limit"], "{limit}");
    }
    for (wrong, field) in [
        (json!({ "limit": -1 }), "page.limit"),
        (json!({ "limit": "7" }), "page.limit"),
        (json!({ "limit": 1.5 }), "page.limit"),
        (json!({ "token": 7 }), "page.token"),
        (json!({ "token": "" }), "page.token"),
        (json!({ "properties": 7 }), "page.properties"),
        (json!(7), "page"),
        (json!([null, 5, null]), "page"),
    ] {
        assert_eq!(ask(&app, &ada, SUBJECTS, &page(&body, wrong.clone())).await.invalid_fields(), [field], "{wrong}");
    }
    for right in
        [json!({}), json!(null), json!({ "limit": 100, "other": 1 }), json!({ "limit": 7.0, "properties": {} })]
    {
        assert_eq!(ask(&app, &ada, SUBJECTS, &page(&body, right)).await.ok()["page"]["count"], 7);
    }
}

async fn a_token_is_for_one_request_of_one_tenant(app: TestApp) {
    let (ada, body) = seven(&app).await;
    let first = ask(&app, &ada, SUBJECTS, &page(&body, json!({ "limit": 2 }))).await.ok();
    let token = first["page"]["next_token"].as_str().unwrap();
    let next = json!({ "token": token });
    // Members in another order, another process and another caller of the tenant make no difference.
    let resource = r#""resource": {"id": "any", "type": "users"}"#;
    let rest = r#""action": {"name": "read"}, "subject": {"type": "user"}"#;
    let reordered = format!(r#"{{"page": {{"token": "{token}"}}, {resource}, {rest}}}"#);
    let other = app.administrator_beside(&ada).await;
    let elsewhere = app.restarted().await;
    let answer =
        elsewhere.post(SUBJECTS).by(&other).header("content-type", "application/json").body(reordered).send().await;
    assert_eq!(found(&answer.ok(), "id").len(), 2);
    for changed in [
        json!({ "action": { "name": "update" } }),
        json!({ "action": { "name": "read", "properties": {} } }),
        json!({ "resource": { "type": "roles", "id": "any" } }),
        json!({ "resource": { "type": "users", "id": "other" } }),
        json!({ "subject": { "type": "user", "id": "x" } }),
        json!({ "context": {} }),
        json!({ "foo": "bar" }),
        json!({ "page": { "token": token, "limit": 3 } }),
        json!({ "page": { "token": token, "properties": { "a": 1 } } }),
        json!({ "page": { "token": format!("{token}A") } }),
        json!({ "page": { "token": "c29tZXRoaW5nIGVsc2UgdGhhbiBhIHRva2Vu" } }),
    ] {
        let refused = ask(&app, &ada, SUBJECTS, &with(page(&body, next.clone()), &changed)).await;
        assert_eq!(refused.invalid_fields(), ["page.token"], "{changed}");
    }
    let same = with(page(&body, next.clone()), &json!({ "subject": { "type": "user", "id": ada.user } }));
    ask(&app, &ada, ACTIONS, &same).await.problem("validation-error");
    ask(&app, &ada, RESOURCES, &same).await.problem("validation-error");
    let eve = app.register("eve@example.com").await;
    assert_eq!(ask(&app, &eve, SUBJECTS, &page(&body, next)).await.invalid_fields(), ["page.token"]);
}
