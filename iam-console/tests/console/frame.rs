#![cfg(test)]

use axum::body::Body;
use axum::http::{Method, header};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::factor::SecondFactorPolicy;
use iam_core::organization::NewOrganization;
use iam_core::tenant::TenantPatch;

use crate::app::{App, EMAIL, ORIGIN, PASSWORD, encoded, person, request};

#[tokio::test]
async fn the_menu_marks_the_present_page() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap().id;
    let cookie = app.sign_in(EMAIL).await;
    let ada_id = ada.user().unwrap();
    for (path, marked) in [
        ("/console/users".to_owned(), r#"/users" aria-current="page">"#),
        ("/console/account".to_owned(), r#"/account" aria-current="page">"#),
        ("/console/account/password".to_owned(), r#"/account" aria-current="true">"#),
        ("/console/account/authenticator".to_owned(), r#"/account" aria-current="true">"#),
        (format!("/console/users/{ada_id}/api-keys/new"), r#"/account" aria-current="true">"#),
        (format!("/console/users/{grace}/api-keys/new"), r#"/users" aria-current="true">"#),
    ] {
        let body = app.get(&path, &cookie).await.body;
        assert!(body.contains(marked), "{path}: {body}");
        let (_, menu) = body.split_once("<nav class=\"main\"").unwrap();
        let (menu, _) = menu.split_once("</header>").unwrap();
        assert_eq!(menu.matches("aria-current").count(), 1, "{path}: {menu}");
    }
    let [north, south] = ["North", "South"].map(|name| NewOrganization { name: name.into(), ..Default::default() });
    let north = app.iam.organizations().create(&ada, north).await.unwrap();
    app.iam.organizations().create(&ada, south).await.unwrap();
    let version = north.version().to_string();
    let fields = [("place", "below"), ("parent", "south"), ("version", &*version)];
    let path = format!("/console/organizations/{}/move", north.organization.id);
    let preview = app.post_signed(&path, &cookie, &fields).await.body;
    assert!(preview.contains("Changes in access"), "{preview}");
    assert!(preview.contains(r#"/organizations" aria-current="true">"#), "{preview}");
}

#[tokio::test]
async fn optional_fields_say_so_and_the_cursor_begins_in_the_first_field_of_sign_in() {
    let app = App::empty().await;
    let form = app.get("/console/register", "").await.body;
    assert!(form.contains(r#"Tenant name <span class="hint optional">(optional)</span></label>"#), "{form}");
    assert_eq!(form.matches("(optional)").count(), 1, "{form}");
    app.register(EMAIL).await;
    let form = app.get("/console/sign-in", "").await.body;
    assert_eq!(form.matches(" autofocus").count(), 1, "{form}");
    let (before, _) = form.split_once(" autofocus").unwrap();
    assert!(before.rsplit('<').next().unwrap().starts_with(r#"input id="email""#), "{form}");
    // After a wrong password, it begins in the password: the address is there already.
    let wrong = app.post("/console/sign-in", "", &[("email", EMAIL), ("password", "Wr0ng-pass!")]).await.body;
    assert_eq!(wrong.matches(" autofocus").count(), 1, "{wrong}");
    let (before, _) = wrong.split_once(" autofocus").unwrap();
    assert!(before.rsplit('<').next().unwrap().starts_with(r#"input id="password""#), "{wrong}");
    let cookie = app.sign_in(EMAIL).await;
    assert!(!app.get("/console/users/new", &cookie).await.body.contains("autofocus"));
}

#[tokio::test]
async fn a_session_names_the_browser_and_keeps_what_the_browser_sends() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let agent = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0";
    let form = encoded(&[("email", EMAIL), ("password", PASSWORD)]);
    let sign_in = request(Method::POST, "/console/sign-in", "")
        .header(header::ORIGIN, ORIGIN)
        .header(header::USER_AGENT, agent)
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let cookie = app.send(sign_in.body(Body::from(form)).unwrap()).await.cookie();
    let account = app.get("/console/account", &cookie).await.body;
    assert!(account.contains(&format!(r#"<span title="{agent}">Firefox on Linux</span>"#)), "{account}");
    let user = app.get(&format!("/console/users/{}", ada.user().unwrap()), &cookie).await.body;
    assert!(user.contains("<h3>Firefox on Linux</h3>") && user.contains(&format!(r#"title="{agent}""#)), "{user}");
    let log = app.get("/console/audit?action=LOGIN", &cookie).await.body;
    assert!(log.contains(&format!(r#"<dd title="{agent}">Firefox on Linux</dd>"#)), "{log}");
}

#[tokio::test]
async fn every_page_says_until_when_a_second_factor_is_needed() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let paths = ["/console", "/console/users", "/console/account", "/console/account/password", "/console/roles/new"];
    for path in paths {
        assert!(!app.get(path, &cookie).await.body.contains("Set one up, or sign in again"), "{path}");
    }
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(10));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    app.iam.tenants().update(&Caller::system(ada.tenant(), "test"), ada.tenant(), patch).await.unwrap();
    for path in paths {
        let body = app.get(path, &cookie).await.body;
        assert!(body.contains("Set one up, or sign in again") && body.contains("2026-02-10"), "{path}: {body}");
    }
    app.clock.advance(TimeDelta::days(11));
    let cookie = app.sign_in(EMAIL).await;
    let body = app.get("/console/account", &cookie).await.body;
    assert!(
        body.contains("Set one up to use the other pages") && !body.contains("Set one up, or sign in again"),
        "{body}"
    );
}
