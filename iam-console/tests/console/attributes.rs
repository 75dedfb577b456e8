#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, StatusCode};
use iam_core::Caller;
use iam_core::attribute::{AttributeDefinition, Attributes};
use iam_core::organization::{NewOrganization, OrganizationPatch};
use iam_core::tenant::TenantPatch;
use iam_core::user::UserPatch;
use serde_json::{Map, Value, json};

use crate::app::{App, EMAIL, person, request};

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

#[tokio::test]
async fn a_person_sees_and_changes_the_attributes_that_the_tenant_lets_it() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap().id;
    let attributes = Some(object(json!({ "centre": SCRIPT, "nickname": "Amazing", "note": "of the tenant" })));
    app.iam.users().update(&ada, grace, UserPatch { attributes, ..UserPatch::default() }).await.unwrap();
    let (cookie, path) = (app.sign_in("grace@example.com").await, "/console/account");
    let before = app.get(path, &cookie).await.body;
    assert!(!before.contains("own-attributes") && !before.contains("Amazing"), "{before}");
    let definitions = json!([
        { "key": "centre", "type": "STRING", "personReads": true },
        { "key": "nickname", "type": "STRING", "personWrites": true },
        { "key": "note", "type": "STRING" },
    ]);
    let patch =
        TenantPatch { user_attributes: Some(serde_json::from_value(definitions).unwrap()), ..TenantPatch::default() };
    app.iam.tenants().update(&ada, ada.tenant(), patch).await.unwrap();
    let page = app.get(path, &cookie).await;
    for shown in [
        "<dt>centre</dt><dd>&#60;script&#62;alert(1)&#60;/script&#62;</dd>",
        r#"name="attributes.nickname" type="text" autocomplete="off" value="Amazing""#,
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    for hidden in [SCRIPT, "of the tenant", r#"name="attributes.centre""#, r#"name="attributes""#] {
        assert!(!page.body.contains(hidden), "{hidden}: {}", page.body);
    }
    let version = page.hidden("version");
    let save = async |fields: &[(&str, &str)]| {
        let fields = [&[("version", &*version)][..], fields].concat();
        app.post_signed("/console/account/attributes", &cookie, &fields).await
    };
    let long = "x".repeat(1_025);
    let refused = save(&[("attributes.nickname", &long)]).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(refused.body.contains(r#"id="attributes.nickname-error""#) && refused.body.contains(&long));
    for foreign in [("attributes.centre", "1"), ("attributes", r#"{"note": "mine"}"#)] {
        let refused = save(&[foreign]).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{foreign:?}");
        assert!(refused.body.contains(r#"class="error">attributes."#), "{foreign:?}: {}", refused.body);
    }
    let saved = save(&[("attributes.nickname", "Grace")]).await;
    assert_eq!(saved.location(), "/console/account?done=attributes", "{}", saved.body);
    // The page that was open before does not bring back what it shows.
    assert_eq!(save(&[("attributes.nickname", "Amazing")]).await.status, StatusCode::PRECONDITION_FAILED);
    let stored = app.iam.users().get_with_attributes(&ada, grace).await.unwrap().attributes;
    let expected = json!({ "centre": SCRIPT, "nickname": "Grace", "note": "of the tenant" });
    assert!(is(&stored, expected), "{stored:?}");
}

#[tokio::test]
async fn users_and_organizations_are_found_by_the_value_of_an_attribute() {
    let app = App::empty().await;
    let ada = defined(&app).await;
    for number in 0..26 {
        let user = app.iam.users().create(&ada, person(&format!("user{number}@example.com"), "Many")).await.unwrap();
        let attributes = Some(object(json!({ "costCentre": "47&11" })));
        app.iam.users().update(&ada, user.id, UserPatch { attributes, ..UserPatch::default() }).await.unwrap();
    }
    let cookie = app.sign_in(EMAIL).await;
    let found = app.get("/console/users?attribute=costCentre&value=47%2611", &cookie).await.body;
    assert!(found.contains("26 users") && !found.contains(">Ada Lovelace</a>"), "{found}");
    assert!(
        found.contains("<option selected>costCentre</option>") && found.contains(r#"value="47&#38;11""#),
        "{found}"
    );
    assert!(found.contains("attribute=costCentre&#38;value=47%2611&#38;page=2"), "{found}");
    // Only what is searchable is offered.
    assert!(!found.contains("<option>floor</option>"), "{found}");
    let none = app.get("/console/users?attribute=costCentre&value=47", &cookie).await.body;
    assert!(none.contains("No user matches") && none.contains("Show all users"), "{none}");
    let all = app.get("/console/users?attribute=&value=", &cookie).await.body;
    assert!(all.contains("27 users"), "{all}");
    for list in ["users", "organizations"] {
        for query in ["attribute=floor&value=3", "attribute=garbage&value=3"] {
            let answer = app.get(&format!("/console/{list}?{query}"), &cookie).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{list} {query}");
            assert!(answer.body.contains("<li>Attribute: "), "{list} {query}: {}", answer.body);
        }
        let german = request(Method::GET, &format!("/console/{list}?attribute=garbage&value=3"), &cookie);
        let german = app.send(german.header("accept-language", "de").body(Body::empty()).unwrap()).await;
        assert!(german.body.contains("<li>Attribut: "), "{list}: {}", german.body);
        // While a person fills the two fields, one of them is empty.
        for query in ["value=47", "attribute=costCentre", "attribute=costCentre&value="] {
            let answer = app.get(&format!("/console/{list}?{query}"), &cookie).await;
            assert_eq!(answer.status, StatusCode::OK, "{list} {query}: {}", answer.body);
            assert!(!answer.body.contains(r#"<a class="chip""#), "{list} {query}: {}", answer.body);
        }
    }
    let half = app.get("/console/users?value=47%2611", &cookie).await.body;
    assert!(half.contains("27 users") && half.contains(r#"value="47&#38;11""#), "{half}");

    let page = app.get("/console/organizations", &cookie).await.body;
    assert!(!page.contains(r#"name="attribute""#), "{page}");
    let definitions = json!([{ "key": "region", "type": "STRING", "searchable": true }]);
    let patch = TenantPatch {
        organization_attributes: Some(serde_json::from_value(definitions).unwrap()),
        ..TenantPatch::default()
    };
    app.iam.tenants().update(&ada, ada.tenant(), patch).await.unwrap();
    for name in ["North", "South"] {
        let new = NewOrganization { name: name.to_owned(), ..NewOrganization::default() };
        let id = app.iam.organizations().create(&ada, new).await.unwrap().organization.id;
        let attributes = Some(object(json!({ "region": name })));
        let patch = OrganizationPatch { attributes, ..OrganizationPatch::default() };
        app.iam.organizations().update(&ada, id, patch).await.unwrap();
    }
    let found = app.get("/console/organizations?attribute=region&value=North", &cookie).await.body;
    assert!(found.contains(">North</a>") && !found.contains(">South</a>"), "{found}");
    assert!(found.contains("1 organization") && found.contains("<option selected>region</option>"), "{found}");
}
