//! The extension with the attributes that a tenant has defined (`docs/directories.md#attributes-of-the-tenant`).

use axum::http::Method;
use serde_json::{Value, json};

use super::{PATCH_OP, SCIM_JSON, Staff, USER, person};
use crate::app::TestApp;
use crate::people::with;

in_memory![
    a_directory_reads_and_writes_what_the_tenant_has_defined,
    a_resource_without_the_extension_changes_nothing_of_it,
    a_value_of_another_type_is_refused,
    the_schema_is_shown_to_the_directory_alone,
    without_definitions_the_extension_is_ignored,
];

const TENANT_USER: &str = "urn:ietf:params:scim:schemas:extension:iam:2.0:User";

async fn defined(app: &TestApp) -> Staff<'_> {
    let staff = Staff::of(app).await;
    let definitions = json!([
        { "key": "badge", "type": "STRING", "searchable": true },
        { "key": "floor", "type": "NUMBER" },
        { "key": "remote", "type": "BOOLEAN" },
        { "key": "tags", "type": "STRINGS" },
        { "key": "desk", "type": "OBJECT" },
    ]);
    app.define(&staff.ada, &definitions).await;
    staff
}

async fn a_directory_reads_and_writes_what_the_tenant_has_defined(app: TestApp) {
    let staff = defined(&app).await;
    let said = json!({ "badge": "7", "floor": 3, "Remote": "True", "tags": ["a"], "desk": {}, "unknown": 1 });
    let user = staff.made("grace", &json!({ "schemas": [USER, TENANT_USER], TENANT_USER: said })).await;
    let expected = json!({ "badge": "7", "floor": 3, "remote": true, "tags": ["a"] });
    assert_eq!(user[TENANT_USER], expected);
    assert!(user["schemas"].as_array().unwrap().contains(&json!(TENANT_USER)));
    assert_eq!(staff.shown(&user).await, user);
    let listed = staff.get("/Users").send().await.scim(200);
    assert_eq!(listed["Resources"][0], user);
    assert_eq!(staff.account_of(&user).await["attributes"], expected);
    // What SCIM cannot name stays.
    let id = user["id"].as_str().unwrap();
    let body = json!({ "attributes": { "desk": { "x": 1 }, "other": "kept" } });
    app.patch(&format!("/users/{id}")).by(&staff.ada).json(&body).send().await.ok();
    let changed = staff
        .patched(
            &user,
            &json!([
                { "op": "Replace", "path": format!("{TENANT_USER}:badge"), "value": "8" },
                { "op": "Add", "path": format!("{TENANT_USER}:tags"), "value": ["b"] },
                { "op": "Remove", "path": format!("{TENANT_USER}:floor") },
                { "op": "Add", "value": { TENANT_USER: { "remote": "False" } } },
            ]),
        )
        .await;
    assert_eq!(changed[TENANT_USER], json!({ "badge": "8", "remote": false, "tags": ["a", "b"] }));
    let kept = json!({ "badge": "8", "remote": false, "tags": ["a", "b"], "desk": { "x": 1 }, "other": "kept" });
    assert_eq!(staff.account_of(&user).await["attributes"], kept);
    assert_ne!(changed["meta"]["version"], user["meta"]["version"]);
    let entry = app.history(&staff.ada, id).await.remove(0);
    assert_eq!(entry["newValue"]["attributes"]["badge"], "8");
    assert_eq!(entry["metadata"]["directoryId"], json!(staff.directory));
    let replaced = person("grace", &json!({ TENANT_USER: { "badge": "9" } }));
    let replaced = staff.put(&user, &replaced).send().await.scim(200);
    assert_eq!(replaced[TENANT_USER], json!({ "badge": "9" }));
    assert_eq!(
        staff.account_of(&user).await["attributes"],
        json!({ "badge": "9", "desk": { "x": 1 }, "other": "kept" })
    );
}

async fn a_resource_without_the_extension_changes_nothing_of_it(app: TestApp) {
    let staff = defined(&app).await;
    let user = staff.made("grace", &json!({ TENANT_USER: { "badge": "7" } })).await;
    let replaced = staff.put(&user, &person("grace", &json!({ "displayName": "Grace" }))).send().await.scim(200);
    assert_eq!(replaced[TENANT_USER], json!({ "badge": "7" }));
    let patched = staff.patched(&user, &json!([{ "op": "replace", "path": "active", "value": false }])).await;
    assert_eq!(patched[TENANT_USER], json!({ "badge": "7" }));
    // A value that is older than its definition stays, too.
    app.define(&staff.ada, &json!([{ "key": "badge", "type": "NUMBER" }])).await;
    let patched = staff.patched(&user, &json!([{ "op": "replace", "path": "title", "value": "Admiral" }])).await;
    assert_eq!(patched[TENANT_USER], json!({ "badge": "7" }));
    // Null is the same as absent, and an empty extension removes.
    let kept = staff.put(&user, &person("grace", &json!({ TENANT_USER: null }))).send().await.scim(200);
    assert_eq!(kept[TENANT_USER], json!({ "badge": "7" }));
    let removed = staff.put(&user, &person("grace", &json!({ TENANT_USER: {} }))).send().await.scim(200);
    assert_eq!(removed.get(TENANT_USER), None);
}

async fn a_value_of_another_type_is_refused(app: TestApp) {
    let staff = defined(&app).await;
    let others = [json!({ "floor": "4" }), json!({ "floor": "third" }), json!({ "tags": [1] }), json!("x")];
    for extension in [json!({ "badge": 7 })].into_iter().chain(others) {
        let refused = staff.post(&person("grace", &json!({ TENANT_USER: extension }))).send().await;
        refused.refused(400, Some("invalidValue"));
    }
    let user = staff.made("grace", &json!({})).await;
    // A number that would be rounded, wherever the extension is. Elsewhere, numbers are ignored.
    let path = format!("/Users/{}", user["id"].as_str().unwrap());
    let operations = |operation: &str| format!(r#"{{"schemas":["{PATCH_OP}"],"Operations":[{operation}]}}"#);
    let number = "18446744073709551617";
    let in_path = format!(r#"{{"op":"add","path":"{TENANT_USER}:floor","value":{number}}}"#);
    let in_value = format!(r#"{{"op":"add","value":{{"{}":{{"floor":{number}}}}}}}"#, TENANT_USER.to_lowercase());
    for operation in [in_path, in_value] {
        let request = staff.request(Method::PATCH, &path).header("content-type", SCIM_JSON);
        request.body(operations(&operation)).send().await.refused(400, Some("invalidValue"));
    }
    let ignored = operations(&format!(r#"{{"op":"add","value":{{"lastSet":{number}}}}}"#));
    let request = staff.request(Method::PATCH, &path).header("content-type", SCIM_JSON);
    assert_eq!(request.body(ignored).send().await.scim(200).get(TENANT_USER), None);
    let nul = json!([{ "op": "replace", "path": format!("{TENANT_USER}:badge"), "value": "\u{0}" }]);
    staff.patch(&user, &nul).send().await.refused(400, Some("invalidValue"));
    let filter = json!([{ "op": "remove", "path": format!("{TENANT_USER}:tags[value eq \"a\"]") }]);
    staff.patch(&user, &filter).send().await.refused(400, Some("invalidPath"));
}

async fn the_schema_is_shown_to_the_directory_alone(app: TestApp) {
    let staff = defined(&app).await;
    let ids = |list: &Value| -> Vec<String> {
        list["Resources"].as_array().unwrap().iter().map(|schema| schema["id"].as_str().unwrap().to_owned()).collect()
    };
    assert!(ids(&staff.get("/Schemas").send().await.scim(200)).contains(&TENANT_USER.to_owned()));
    let schema = staff.get(&format!("/Schemas/{TENANT_USER}")).send().await.scim(200);
    let attributes: Vec<[&Value; 3]> = schema["attributes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|attribute| [&attribute["name"], &attribute["type"], &attribute["multiValued"]])
        .collect();
    assert_eq!(
        json!(attributes),
        json!([
            ["badge", "string", false],
            ["floor", "decimal", false],
            ["remote", "boolean", false],
            ["tags", "string", true],
        ])
    );
    let kind = staff.get("/ResourceTypes/User").send().await.scim(200);
    assert_eq!(kind["schemaExtensions"][1], json!({ "schema": TENANT_USER, "required": false }));
    // Without a key, with a wrong one, and for the directory of another tenant.
    let other = app.register("ada@another.example").await;
    let other = Staff::at(&app, &other, &["users:*"], &json!({})).await;
    for key in [None, Some("x"), Some(other.key.as_str()), Some(staff.ada.access.as_str())] {
        let request = app.request(Method::GET, "/scim/v2/Schemas");
        let request = key.into_iter().fold(request, |request, key| request.bearer(key));
        assert!(!ids(&request.send().await.scim(200)).contains(&TENANT_USER.to_owned()), "{key:?}");
    }
}

async fn without_definitions_the_extension_is_ignored(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = staff.made("grace", &json!({ TENANT_USER: { "badge": "7" } })).await;
    assert_eq!(user.get(TENANT_USER), None);
    assert_eq!(staff.account_of(&user).await.get("attributes"), None);
    let body = with(
        json!({ "schemas": [PATCH_OP] }),
        &json!({ "Operations": [
        { "op": "replace", "path": TENANT_USER, "value": { "badge": "8" } },
    ] }),
    );
    let path = format!("/Users/{}", user["id"].as_str().unwrap());
    let patched = staff.request(Method::PATCH, &path).header("content-type", SCIM_JSON).body(body.to_string());
    patched.send().await.scim(200);
    assert_eq!(staff.account_of(&user).await.get("attributes"), None);
}
