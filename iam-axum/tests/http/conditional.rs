//! Entity tags: `If-None-Match` and `If-Match` (RFC 9110 §13).

use axum::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::openapi::{document, operations};
use crate::people::{Person, profile};
use crate::request::Response;

in_memory![
    the_entity_tag_changes_with_the_state_of_a_resource,
    a_matching_if_none_match_is_answered_with_304,
    a_change_with_a_matching_if_match_succeeds,
    a_change_with_a_stale_if_match_is_412_and_changes_nothing,
    one_of_several_concurrent_changes_with_the_same_tag_succeeds,
    an_entity_tag_gives_no_permission,
    moving_a_parent_changes_the_tags_of_its_descendants,
    an_invalid_if_match_is_400_and_named,
    a_missing_token_is_reported_before_an_invalid_if_match,
    if_match_is_400_for_a_change_that_does_not_evaluate_it,
];

fn tag(answer: &Response) -> String {
    let tag = answer.header("etag").unwrap_or_else(|| panic!("no entity tag: {}", answer.text()));
    assert!(tag.len() > 2 && tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    tag.to_owned()
}

/// One resource of each kind: its path, and two changes of it.
async fn resources(app: &TestApp, ada: &Person) -> Vec<(String, [Value; 2])> {
    let made = async |path: &str, body: Value| {
        let made = app.post(path).by(ada).json(&body).send().await.created();
        format!("{path}/{}", made["id"].as_str().unwrap())
    };
    vec![
        (
            made("/users", profile("bob@example.com")).await,
            [json!({ "lastName": "Byron" }), json!({ "lastName": "King" })],
        ),
        (made("/roles", json!({ "name": "SELLER" })).await, [json!({ "name": "BUYER" }), json!({ "name": "KEEPER" })]),
        (
            made("/organizations", json!({ "name": "Branch" })).await,
            [json!({ "name": "Leaf" }), json!({ "name": "Twig" })],
        ),
        (format!("/tenants/{}", ada.tenant), [json!({ "name": "Acme" }), json!({ "name": "Ajax" })]),
    ]
}

async fn get(app: &TestApp, by: &Person, path: &str) -> Response {
    app.get(path).by(by).send().await
}

async fn patch(app: &TestApp, by: &Person, path: &str, seen: &str, body: &Value) -> Response {
    app.patch(path).by(by).header("if-match", seen).json(body).send().await
}

async fn the_entity_tag_changes_with_the_state_of_a_resource(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, [change, _]) in resources(&app, &ada).await {
        let first = tag(&get(&app, &ada, &path).await);
        assert_eq!(tag(&get(&app, &ada, &path).await), first);
        app.pass(chrono::TimeDelta::seconds(1));
        let changed = app.patch(&path).by(&ada).json(&change).send().await;
        changed.ok();
        assert_ne!(tag(&changed), first, "{path}");
        assert_eq!(tag(&changed), tag(&get(&app, &ada, &path).await), "{path}");
    }
}

async fn a_matching_if_none_match_is_answered_with_304(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, [change, _]) in resources(&app, &ada).await {
        let seen = tag(&get(&app, &ada, &path).await);
        let ask = async |known: String| app.get(&path).by(&ada).header("if-none-match", &known).send().await;
        let with_empty_elements = [format!("{seen},"), format!(" , ,\t{seen} , ")];
        let plain = [seen.clone(), format!("W/{seen}"), format!("\"one, other\", {seen}"), "*".to_owned()];
        for known in plain.into_iter().chain(with_empty_elements) {
            let answer = ask(known.clone()).await;
            assert_eq!((answer.status(), answer.text().as_str()), (304, ""), "{known}");
            assert_eq!((tag(&answer), answer.header("content-type")), (seen.clone(), None));
        }
        let other = ask("\"other\"".to_owned()).await;
        assert_eq!((other.status(), tag(&other)), (200, seen.clone()));
        app.pass(chrono::TimeDelta::seconds(1));
        app.patch(&path).by(&ada).json(&change).send().await.ok();
        ask(seen).await.ok();
    }
}

async fn a_change_with_a_matching_if_match_succeeds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, [change, other]) in resources(&app, &ada).await {
        let seen = tag(&get(&app, &ada, &path).await);
        let changed = patch(&app, &ada, &path, &format!(", \"one, other\",,\t{seen} , "), &change).await;
        changed.ok();
        patch(&app, &ada, &path, "*", &other).await.ok();
        if !path.starts_with("/tenants") {
            let seen = tag(&get(&app, &ada, &path).await);
            app.delete(&path).by(&ada).header("if-match", &seen).send().await.no_content();
        }
    }
}

async fn a_change_with_a_stale_if_match_is_412_and_changes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, [change, other]) in resources(&app, &ada).await {
        let seen = tag(&get(&app, &ada, &path).await);
        app.pass(chrono::TimeDelta::seconds(1));
        app.patch(&path).by(&ada).json(&change).send().await.ok();
        let state = get(&app, &ada, &path).await.ok();
        for stale in [seen.clone(), format!("W/{}", tag(&get(&app, &ada, &path).await)), "\"other\"".to_owned()] {
            let refused = app.unrecorded(&ada, patch(&app, &ada, &path, &stale, &other)).await;
            refused.problem("precondition-failed");
            if !path.starts_with("/tenants") {
                let delete = app.delete(&path).by(&ada).header("if-match", &stale);
                app.unrecorded(&ada, delete.send()).await.problem("precondition-failed");
            }
        }
        assert_eq!(get(&app, &ada, &path).await.ok(), state);
    }
}

async fn one_of_several_concurrent_changes_with_the_same_tag_succeeds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, [change, other]) in resources(&app, &ada).await {
        let seen = tag(&get(&app, &ada, &path).await);
        let changes = [&change, &other, &change, &other].map(|body| patch(&app, &ada, &path, &seen, body));
        let statuses: Vec<u16> = join_all(changes).await.iter().map(Response::status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{path} {statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 412).count(), 3, "{path} {statuses:?}");
    }
}

async fn an_entity_tag_gives_no_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let eve = app.register("eve@example.com").await;
    let role = app.post("/roles").by(&ada).json(&json!({ "name": "SELLER" })).send().await.created();
    let path = format!("/roles/{}", role["id"].as_str().unwrap());
    let seen = tag(&get(&app, &ada, &path).await);
    for tag in [seen.as_str(), "\"other\"", "*"] {
        patch(&app, &bob, &path, tag, &json!({ "name": "BUYER" })).await.lacks("roles:update");
        patch(&app, &eve, &path, tag, &json!({ "name": "BUYER" })).await.problem("not-found");
        app.get(&path).by(&bob).header("if-none-match", tag).send().await.lacks("roles:read");
        app.get(&path).by(&eve).header("if-none-match", tag).send().await.problem("not-found");
    }
}

async fn moving_a_parent_changes_the_tags_of_its_descendants(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let make = async |name: &str, parent: &Value| {
        let body = json!({ "name": name, "parentId": parent });
        app.post("/organizations").by(&ada).json(&body).send().await.created()["id"].clone()
    };
    let (top, branch) = (make("Top", &Value::Null).await, make("Branch", &Value::Null).await);
    let leaf = format!("/organizations/{}", make("Leaf", &branch).await.as_str().unwrap());
    let seen = tag(&get(&app, &ada, &leaf).await);
    let branch = format!("/organizations/{}", branch.as_str().unwrap());
    app.patch(&branch).by(&ada).json(&json!({ "parentId": top })).send().await.ok();
    // An organization shows its depth, which has changed.
    assert_ne!(tag(&get(&app, &ada, &leaf).await), seen);
    patch(&app, &ada, &leaf, &seen, &json!({ "name": "Twig" })).await.problem("precondition-failed");
}

async fn an_invalid_if_match_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/users/{}", ada.user);
    for seen in ["", ",", " , ,", "unquoted", "\"half", "\"a\" \"b\"", "\"a\",, b", "ä"] {
        let refused = app.unrecorded(&ada, patch(&app, &ada, &path, seen, &json!({ "lastName": "King" }))).await;
        assert_eq!(refused.invalid_fields(), ["If-Match"], "{seen}");
    }
    // The service ignores `If-Match` on other methods.
    app.request(Method::GET, "/api/v1/users").by(&ada).header("if-match", "unquoted").send().await.ok();
}

async fn a_missing_token_is_reported_before_an_invalid_if_match(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, [change, _]) in resources(&app, &ada).await {
        let unknown = app.patch(&path).header("if-match", "unquoted").json(&change).send().await;
        unknown.problem("unauthorized");
    }
}

async fn if_match_is_400_for_a_change_that_does_not_evaluate_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let changes = operations(&document()).into_iter().filter(|operation| !operation.method.is_safe());
    let unversioned: Vec<_> = changes.filter(|change| !change.has_parameter("If-Match")).collect();
    assert!(unversioned.len() > 20, "{}", unversioned.len());
    let seen = tag(&get(&app, &ada, &format!("/users/{}", bob.user)).await);
    for change in unversioned {
        let path = format!("/api/v1{}", change.path_of(&bob.user));
        for seen in ["*", &seen] {
            let request = app.request(change.method.clone(), &path).by(&ada).header("if-match", seen).json(&json!({}));
            let refused = app.unrecorded(&ada, request.send()).await;
            assert_eq!(refused.invalid_fields(), ["If-Match"], "{change}");
        }
    }
    get(&app, &bob, &format!("/users/{}", bob.user)).await.lacks("users:read");
}

#[test]
fn the_document_describes_304_where_if_none_match_is_accepted() {
    for operation in operations(&document()) {
        let responses = &operation.description["responses"];
        assert_eq!(operation.has_parameter("If-None-Match"), responses.get("304").is_some(), "{operation}");
    }
}
