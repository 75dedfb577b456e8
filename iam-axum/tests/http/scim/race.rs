//! Requests of a directory at the same time. Entra ID sends up to five.

use futures_util::future::join_all;
use serde_json::json;

use super::{Staff, path, person};
use crate::app::TestApp;

on_every_store![
    "the store decides between two requests";
    one_of_several_creations_makes_the_user,
    one_of_several_users_gets_a_user_name,
    no_change_gets_lost,
];

async fn one_of_several_creations_makes_the_user(app: TestApp) {
    let staff = Staff::of(&app).await;
    let body = person("grace", &json!({}));
    let answers = join_all((0..5).map(|_| staff.post(&body).send())).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status() == 201).collect();
    assert_eq!(made.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status() != 201) {
        answer.refused(409, Some("uniqueness"));
    }
    assert_eq!(staff.get("/Users").send().await.scim(200)["totalResults"], 1);
}

async fn one_of_several_users_gets_a_user_name(app: TestApp) {
    let staff = Staff::of(&app).await;
    let mut users = Vec::new();
    for name in ["one", "two", "three"] {
        users.push(staff.made(name, &json!({})).await);
    }
    let rename = json!([{ "op": "replace", "path": "userName", "value": "Grace" }]);
    let answers = join_all(users.iter().map(|user| staff.patch(user, &rename).send())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status() != 200) {
        answer.refused(409, Some("uniqueness"));
    }
}

async fn no_change_gets_lost(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({})).await;
    let types = ["work", "home", "mobile", "fax", "pager"];
    let add = |of: &str| json!([{ "op": "add", "path": format!("phoneNumbers[type eq \"{of}\"].value"), "value": of }]);
    let changes = types.map(|of| staff.patch(&user, &add(of)).send());
    for answer in join_all(changes).await {
        answer.scim(200);
    }
    let shown = staff.get(&path(&user)).send().await.scim(200);
    let mut found: Vec<&str> =
        shown["phoneNumbers"].as_array().unwrap().iter().map(|phone| phone["type"].as_str().unwrap()).collect();
    found.sort_unstable();
    assert_eq!(found, ["fax", "home", "mobile", "pager", "work"]);
}
