//! What the service says of itself to directories (`docs/directories.md#the-protocol`).

use axum::http::Method;
use serde_json::{Value, json};

use super::{ENTERPRISE, GROUP, Staff, USER};
use crate::app::TestApp;
use crate::request::Response;

in_memory![
    the_documents_need_no_key,
    the_service_says_what_it_can_do,
    every_type_and_every_schema_has_an_address,
    only_what_is_kept_is_announced,
    what_is_not_announced_is_404,
    other_methods_are_405,
    bulk_and_me_are_501,
];

async fn ask(app: &TestApp, path: &str) -> Response {
    app.request(Method::GET, &format!("/scim/v2{path}")).send().await
}

async fn the_documents_need_no_key(app: TestApp) {
    let staff = Staff::of(&app).await;
    for path in ["/ServiceProviderConfig", "/ResourceTypes", "/ResourceTypes/User", "/ResourceTypes/Group", "/Schemas"]
    {
        let public = ask(&app, path).await.scim(200);
        assert_eq!(staff.get(path).send().await.scim(200), public, "{path}");
        let request = app.request(Method::GET, &format!("/scim/v2{path}")).bearer("nonsense");
        assert_eq!(request.send().await.scim(200), public, "{path}");
    }
}

async fn the_service_says_what_it_can_do(app: TestApp) {
    let config = ask(&app, "/ServiceProviderConfig").await.scim(200);
    for (name, expected) in
        [("patch", true), ("filter", true), ("sort", true), ("etag", true), ("bulk", false), ("changePassword", false)]
    {
        assert_eq!(config[name]["supported"], expected, "{name}");
    }
    assert_eq!(config["filter"]["maxResults"], 200);
    assert_eq!(config["authenticationSchemes"][0]["type"], "oauthbearertoken");
    assert_eq!(config["meta"]["location"], "http://localhost/scim/v2/ServiceProviderConfig");
}

async fn every_type_and_every_schema_has_an_address(app: TestApp) {
    for (collection, ids) in [("/ResourceTypes", vec!["User", "Group"]), ("/Schemas", vec![USER, GROUP, ENTERPRISE])] {
        let list = ask(&app, collection).await.scim(200);
        assert_eq!(list["totalResults"], ids.len());
        let documents = list["Resources"].as_array().unwrap();
        assert!(documents.iter().map(|document| document["id"].as_str().unwrap()).eq(ids), "{list}");
        for document in documents {
            let id = document["id"].as_str().unwrap();
            assert_eq!(document["meta"]["location"], format!("http://localhost/scim/v2{collection}/{id}"));
            for id in [id, &id.to_lowercase()] {
                assert_eq!(&ask(&app, &format!("{collection}/{id}")).await.scim(200), document);
            }
        }
    }
    let types = ask(&app, "/ResourceTypes/User").await.scim(200);
    assert_eq!((&types["endpoint"], &types["schema"]), (&json!("/Users"), &json!(USER)));
    assert_eq!(types["schemaExtensions"], json!([{ "schema": ENTERPRISE, "required": false }]));
    let types = ask(&app, "/ResourceTypes/Group").await.scim(200);
    assert_eq!((&types["endpoint"], &types["schema"]), (&json!("/Groups"), &json!(GROUP)));
}

async fn only_what_is_kept_is_announced(app: TestApp) {
    let staff = Staff::of(&app).await;
    let text = |name: &Value| name.as_str().unwrap().to_owned();
    let announced = async |urn: &str| -> Vec<(String, bool)> {
        let schema = ask(&app, &format!("/Schemas/{urn}")).await.scim(200);
        let attributes = schema["attributes"].as_array().unwrap().iter();
        attributes.map(|attribute| (text(&attribute["name"]), attribute["required"] == true)).collect()
    };
    let of_user = announced(USER).await;
    let required: Vec<&str> =
        of_user.iter().filter(|(_, is_required)| *is_required).map(|(name, _)| name.as_str()).collect();
    assert_eq!(required, ["userName", "active", "emails"]);
    // Each attribute that is announced is given back.
    let value = |name: &str| match name {
        "active" => json!(true),
        "emails" => json!([{ "value": "grace@example.com", "type": "work", "primary": true }]),
        "phoneNumbers" => json!([{ "value": "7", "type": "mobile", "primary": false }]),
        "name" => json!({ "formatted": "G H", "givenName": "G", "familyName": "H" }),
        "manager" => json!({ "value": "1", "$ref": "https://entra.example/1" }),
        _ => json!(format!("a {name}")),
    };
    let all = |names: Vec<(String, bool)>| -> Value {
        names.into_iter().map(|(name, _)| (name.clone(), value(&name))).collect::<serde_json::Map<_, _>>().into()
    };
    let mut body = all(of_user);
    body[ENTERPRISE] = all(announced(ENTERPRISE).await);
    let user = staff.post(&body).send().await.scim(201);
    for (name, value) in body.as_object().unwrap() {
        assert_eq!(user[name], *value, "{name}");
    }
    let of_group = announced(GROUP).await;
    assert_eq!(of_group, [("displayName".to_owned(), true), ("members".to_owned(), false)]);
}

async fn what_is_not_announced_is_404(app: TestApp) {
    for path in ["/ResourceTypes/77c", "/Schemas/77c", "/8b4ba5d4-6a2c-4a4d-9cf9-1b6a1d1f3c5d", "/", ""] {
        ask(&app, path).await.refused(404, None);
    }
}

async fn other_methods_are_405(app: TestApp) {
    for path in ["/ServiceProviderConfig", "/ResourceTypes", "/Schemas"] {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let answer = app.request(method, &format!("/scim/v2{path}")).send().await;
            answer.refused(405, None);
            assert_eq!(answer.header("allow"), Some("GET,HEAD"));
        }
    }
}

async fn bulk_and_me_are_501(app: TestApp) {
    let staff = Staff::of(&app).await;
    for (method, path) in [(Method::POST, "/Bulk"), (Method::GET, "/Me"), (Method::DELETE, "/Me")] {
        staff.write(method, path, &json!({})).send().await.refused(501, None);
    }
}
