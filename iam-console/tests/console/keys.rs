#![cfg(test)]

use axum::http::{StatusCode, header};
use chrono::TimeDelta;
use iam_core::api_key::{ApiKey, NewApiKey};
use iam_core::assignment::NewAssignment;
use iam_core::organization::NewOrganization;
use iam_core::role::NewRole;
use iam_core::user::NewServiceAccount;
use iam_core::{Caller, RequestContext, UserId};

use crate::app::{App, EMAIL, PASSWORD, person};

/// Returns the key that a page shows.
fn key_in(page: &str) -> String {
    let (_, rest) = page.split_once("<code>iamk_").unwrap_or_else(|| panic!("no key: {page}"));
    format!("iamk_{}", rest.split('<').next().unwrap())
}

async fn keys_of(app: &App, caller: &Caller, user: UserId) -> Vec<ApiKey> {
    app.iam.api_keys().list(caller, user).await.unwrap()
}

#[tokio::test]
async fn a_person_makes_a_key_sees_it_once_and_revokes_it() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let user = ada.user().unwrap();
    let path = format!("/console/users/{user}/api-keys");
    let account = app.get("/console/account", &cookie).await.body;
    assert!(account.contains(&format!("{path}/new")) && account.contains("There is no key"), "{account}");
    let organization = NewOrganization { name: "Acme <b>".into(), ..NewOrganization::default() };
    let organization = app.iam.organizations().create(&ada, organization).await.unwrap().organization;
    let form = app.get(&format!("{path}/new"), &cookie).await.body;
    assert!(form.contains(r#"hx-get="/console/pick/organizations""#), "{form}");
    let offered = app.get("/console/pick/organizations?organizationId=acme", &cookie).await.body;
    assert!(offered.contains("Acme &#60;b&#62;") && offered.contains(organization.slug.as_str()), "{offered}");

    let fields = [
        ("name", "nightly"),
        ("permission", "users:read"),
        ("permission", "roles:*"),
        ("organizationId", organization.slug.as_str()),
        ("expiresAt", "2026-03-01"),
    ];
    let answer = app.post_signed(&format!("{path}/new"), &cookie, &fields).await;
    assert_eq!(answer.location(), format!("{path}/created"), "{}", answer.body);
    let line = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(line.contains("-api-key=") && line.ends_with("; Max-Age=60"), "{line}");
    let cookies = answer.cookies(&cookie);
    let shown = app.get(answer.location(), &cookies).await;
    let caller = app.iam.authenticate(&key_in(&shown.body), RequestContext::default()).await.unwrap();
    assert_eq!(caller.user(), Some(user));
    assert!(shown.body.contains("data-copies") && !shown.body.contains(" download="), "{}", shown.body);
    let again = app.get(&format!("{path}/created"), &shown.cookies(&cookies)).await;
    assert_eq!(again.location(), "/console/account");
    let key = keys_of(&app, &ada, user).await.remove(0);
    assert_eq!(key.organization_id, Some(organization.id));
    assert_eq!(key.expires_at.to_rfc3339(), "2026-03-02T00:00:00+00:00");
    let permissions = key.permissions.unwrap();
    assert_eq!(permissions.iter().map(|pattern| pattern.as_str()).collect::<Vec<_>>(), ["roles:*", "users:read"]);

    let account = app.get("/console/account", &cookie).await;
    assert_eq!(account.hidden("key"), key.id.to_string());
    let id = key.id.to_string();
    let asked = app.post_signed("/console/account/revoke-key", &cookie, &[("key", &id)]).await;
    assert!(asked.body.contains("Revoke the key nightly</h1>") && asked.hidden("key") == id, "{}", asked.body);
    assert_eq!(keys_of(&app, &ada, user).await.len(), 1);
    let confirmed = [("key", &*id), ("confirmed", "yes")];
    let answer = app.post_signed("/console/account/revoke-key", &cookie, &confirmed).await;
    assert_eq!(answer.location(), "/console/account?done=key-revoked");
    assert!(keys_of(&app, &ada, user).await.is_empty());
    for (key, status) in [(&*id, StatusCode::NOT_FOUND), ("x", StatusCode::BAD_REQUEST)] {
        let confirmed = [("key", key), ("confirmed", "yes")];
        let answer = app.post_signed("/console/account/revoke-key", &cookie, &confirmed).await;
        assert_eq!(answer.status, status);
        assert!(answer.body.contains("My account") && answer.body.contains(r#"role="alert""#), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_mistake_is_shown_at_its_field_and_nothing_typed_is_lost() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let path = format!("/console/users/{}/api-keys/new", ada.user().unwrap());
    let cases = [
        ("name", ""),
        ("organizationId", "nowhere"),
        ("expiresAt", "tomorrow"),
        ("expiresAt", "2026-01-01"),
        ("expiresAt", "2036-01-01"),
    ];
    for (field, value) in cases {
        let mut fields = vec![("name", "nightly"), ("permission", "users:read"), ("expiresAt", "2026-03-01")];
        fields.retain(|(name, _)| *name != field);
        fields.push((field, value));
        let answer = app.post_signed(&path, &cookie, &fields).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field}: {}", answer.body);
        assert!(answer.body.contains(&format!(r#"aria-describedby="{field}-error "#)), "{field}: {}", answer.body);
        assert!(answer.body.contains(r#"value="users:read" checked"#), "{}", answer.body);
    }
    // An error about a permission names it.
    let fields = [("name", "nightly"), ("permission", "users:read"), ("permission", "<nonsense>")];
    let answer = app.post_signed(&path, &cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{}", answer.body);
    let error = answer.body.split_once(r#"<p id="permissions-error" class="error">"#).unwrap().1;
    assert!(error.starts_with("&#60;nonsense&#62; must be ") && error.contains(r#"value="users:read" checked"#));
    // An id that is not one of an organization.
    let unknown = ada.tenant().to_string();
    let fields = [("name", "nightly"), ("organizationId", unknown.as_str())];
    let answer = app.post_signed(&path, &cookie, &fields).await;
    assert!(answer.status == StatusCode::NOT_FOUND && answer.body.contains(r#"value="nightly""#), "{}", answer.body);
    app.clock.advance(TimeDelta::minutes(11));
    let answer = app.post_signed(&path, &cookie, &[("name", "nightly")]).await;
    assert_eq!((answer.status, answer.hidden("name")), (StatusCode::FORBIDDEN, "nightly".to_owned()));
    let proven = [("name", "nightly"), ("proof-password", PASSWORD)];
    assert_eq!(app.post_signed(&path, &cookie, &proven).await.status, StatusCode::SEE_OTHER);
    assert!(keys_of(&app, &ada, ada.user().unwrap()).await.len() == 1);
}

#[tokio::test]
async fn keys_of_a_user_are_for_callers_with_the_permission() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in("grace@example.com").await);
    let page = format!("/console/users/{}", grace.id);
    let path = format!("{page}/api-keys/new");
    let form = app.get(&path, &cookie).await.body;
    assert!(
        form.contains("<h1>New API key for Grace ") && form.contains(&format!(r#"href="{page}">Grace "#)),
        "{form}"
    );
    let answer = app.post_signed(&path, &cookie, &[("name", "<u>batch</u>")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(">Choose at least one permission for the key"), "{}", answer.body);
    let fields = [("name", "<u>batch</u>"), ("permission", "users:read")];
    let answer = app.post_signed(&path, &cookie, &fields).await;
    assert_eq!(answer.location(), format!("{page}/api-keys/created"), "{}", answer.body);
    let shown = app.get(&page, &cookie).await;
    assert!(shown.body.contains("&#60;u&#62;batch") && !shown.body.contains("<u>batch"), "{}", shown.body);
    let key = shown.hidden("key");

    // Grace looks after its own keys, and not after those of others.
    assert!(app.get("/console/account", &other).await.body.contains("batch"));
    let own = format!("/console/users/{}", ada.user().unwrap());
    assert_eq!(app.get(&format!("{own}/api-keys/new"), &other).await.status, StatusCode::FORBIDDEN);
    let answer = app.post_signed(&format!("{own}/api-keys/new"), &other, &[("name", "mine")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let new = NewApiKey { name: "ada".into(), ..NewApiKey::default() };
    let of_ada = app.iam.api_keys().create(&ada, ada.user().unwrap(), new).await.unwrap().key.id.to_string();
    let confirmed = [("key", &*of_ada), ("confirmed", "yes")];
    let answer = app.post_signed("/console/account/revoke-key", &other, &confirmed).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);

    // Those of another tenant do not exist.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    for path in [page.clone(), path.clone()] {
        assert_eq!(app.get(&path, &eve).await.status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(app.post_signed(&path, &eve, &[("name", "x")]).await.status, StatusCode::NOT_FOUND);
    for revoke in [format!("{page}/revoke-key"), "/console/account/revoke-key".to_owned()] {
        for fields in [&[("key", &*key)][..], &[("key", &*key), ("confirmed", "yes")]] {
            assert_eq!(app.post_signed(&revoke, &eve, fields).await.status, StatusCode::NOT_FOUND);
        }
        assert_eq!(app.post(&revoke, &cookie, &[("key", &key)]).await.status, StatusCode::FORBIDDEN);
    }
    assert_eq!(keys_of(&app, &ada, grace.id).await.len(), 1);
    let confirmed = [("key", &*key), ("confirmed", "yes")];
    let answer = app.post_signed(&format!("{page}/revoke-key"), &cookie, &confirmed).await;
    assert_eq!(answer.location(), format!("{page}?done=key-revoked"));
    assert!(keys_of(&app, &ada, grace.id).await.is_empty());
}

#[tokio::test]
async fn a_key_can_have_what_its_maker_holds_and_says_what_its_user_does_not_hold() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let robot = NewServiceAccount { name: "Robot".into() };
    let robot = app.iam.users().create_service_account(&ada, robot).await.unwrap().id;
    let held = ["api-keys:create", "api-keys:read", "role-assignments:read", "users:read"];
    app.person_with(&ada, "grace@example.com", &held).await;
    let cookie = app.sign_in("grace@example.com").await;
    let (page, path) = (format!("/console/users/{robot}"), format!("/console/users/{robot}/api-keys/new"));
    let form = app.get(&path, &cookie).await.body;
    let choice = |form: &str, name: &str| {
        let (_, rest) = form.split_once(&format!(r#"value="{name}""#))?;
        Some(rest.split("</label>").next().unwrap().to_owned())
    };
    assert!(choice(&form, "users:read").is_some_and(|text| text.contains("does not hold it now")), "{form}");
    for name in ["*", "users:*", "users:create"] {
        assert!(choice(&form, name).is_none(), "{name}: {form}");
    }
    let fields = [("name", "batch"), ("permission", "users:read"), ("permission", "api-keys:read")];
    let answer = app.post_signed(&path, &cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    let shown = app.get(&page, &cookie).await.body;
    assert!(shown.contains("The user holds none of these now"), "{shown}");
    let reader = NewRole { name: "READER".into(), permissions: vec!["users:read".into()], ..NewRole::default() };
    let role = app.iam.roles().create(&ada, reader).await.unwrap().id;
    let new = NewAssignment { user: robot, role, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let shown = app.get(&page, &cookie).await.body;
    assert!(shown.contains("The user now holds 1 of these 2."), "{shown}");
    let form = app.get(&path, &cookie).await.body;
    assert!(choice(&form, "users:read").is_some_and(|text| !text.contains("does not hold it now")), "{form}");
}
