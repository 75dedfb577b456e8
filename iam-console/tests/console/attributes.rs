#![cfg(test)]

use axum::http::StatusCode;
use iam_core::Caller;
use iam_core::attribute::{AttributeDefinition, Attributes};
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::tenant::TenantPatch;
use iam_core::user::UserPatch;
use serde_json::{Map, Value, json};

use crate::app::{App, EMAIL, person};

const SCRIPT: &str = "<script>alert(1)</script>";

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

/// Returns an administrator of a tenant that has defined attributes.
async fn defined(app: &App) -> Caller {
    let ada = app.register(EMAIL).await;
    let definitions = |value: Value| Some(serde_json::from_value::<Vec<AttributeDefinition>>(value).unwrap());
    let patch = TenantPatch {
        user_attributes: definitions(json!([
            { "key": "costCentre", "type": "STRING", "searchable": true },
            { "key": "floor", "type": "NUMBER" },
            { "key": "remote", "type": "BOOLEAN" },
            { "key": "tags", "type": "STRINGS" },
        ])),
        organization_attributes: definitions(json!([{ "key": "region", "type": "STRING" }])),
        ..TenantPatch::default()
    };
    app.iam.tenants().update(&ada, ada.tenant(), patch).await.unwrap();
    ada
}

fn is(attributes: &Attributes, expected: Value) -> bool {
    Value::Object(attributes.clone().into()) == expected
}

#[tokio::test]
async fn the_attributes_of_a_user_are_shown_and_changed() {
    let app = App::empty().await;
    let ada = defined(&app).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap().id;
    let attributes = Some(object(json!({ "costCentre": SCRIPT, "floor": 3, "note": SCRIPT })));
    app.iam.users().update(&ada, grace, UserPatch { attributes, ..UserPatch::default() }).await.unwrap();
    let (cookie, path) = (app.sign_in(EMAIL).await, format!("/console/users/{grace}"));
    let page = app.get(&path, &cookie).await;
    assert!(!page.body.contains(SCRIPT), "{}", page.body);
    for shown in [
        r#"name="attributes.costCentre" type="text" autocomplete="off" value="&#60;script&#62;alert(1)&#60;/script&#62;""#,
        r#"name="attributes.floor" type="text" autocomplete="off" value="3""#,
        r#"<select id="attributes.remote""#,
        r#"<textarea id="attributes.tags""#,
        "&#34;note&#34;: &#34;&#60;script&#62;",
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    let version = page.hidden("version");
    let typed = [
        ("firstName", "Grace"),
        ("lastName", "Lovelace"),
        ("email", "grace@example.com"),
        ("version", &*version),
        ("attributes.costCentre", "4711"),
        ("attributes.floor", ""),
        ("attributes.remote", "true"),
        ("attributes.tags", "a\r\nb"),
        ("attributes", r#"{"desk": {"x": 1}}"#),
    ];
    let mut wrong = typed;
    wrong[5].1 = "third";
    let refused = app.post_signed(&path, &cookie, &wrong).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains(r#"id="attributes.floor-error""#), "{}", refused.body);
    assert!(refused.body.contains(r#"value="4711""#), "{}", refused.body);
    let saved = app.post_signed(&path, &cookie, &typed).await;
    assert_eq!(saved.location(), format!("{path}?done=saved"), "{}", saved.body);
    let stored = app.iam.users().get_with_attributes(&ada, grace).await.unwrap().attributes;
    let expected = json!({ "costCentre": "4711", "remote": true, "tags": ["a", "b"], "desk": { "x": 1 } });
    assert!(is(&stored, expected), "{stored:?}");
    // The page that was open before does not replace them.
    assert_eq!(app.post_signed(&path, &cookie, &typed).await.status, StatusCode::PRECONDITION_FAILED);
}

#[tokio::test]
async fn the_attributes_of_an_organization_are_shown_and_changed() {
    let app = App::empty().await;
    let ada = defined(&app).await;
    let new = NewOrganization { name: "North".to_owned(), ..NewOrganization::default() };
    let north = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
    let attributes = Some(object(json!({ "region": "north", "note": SCRIPT })));
    let patch = OrganizationPatch { attributes, ..OrganizationPatch::default() };
    app.iam.organizations().update(&ada, north, patch).await.unwrap();
    let (cookie, path) = (app.sign_in(EMAIL).await, format!("/console/organizations/{north}"));
    let page = app.get(&path, &cookie).await;
    assert!(page.body.contains(r#"value="north""#) && !page.body.contains(SCRIPT), "{}", page.body);
    let version = page.hidden("version");
    let typed = [
        ("name", "North"),
        ("slug", "north"),
        ("version", &*version),
        ("attributes.region", "south"),
        ("attributes", "{"),
    ];
    let refused = app.post_signed(&path, &cookie, &typed).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains(r#"id="attributes-error""#), "{}", refused.body);
    let mut typed = typed;
    typed[4].1 = "";
    let saved = app.post_signed(&path, &cookie, &typed).await;
    assert_eq!(saved.location(), format!("{path}?done=saved"), "{}", saved.body);
    let stored = app.iam.organizations().get_with_attributes(&ada, north).await.unwrap().attributes;
    assert!(is(&stored, json!({ "region": "south" })), "{stored:?}");
}
