#![cfg(test)]

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::audit::AuditFilter;
use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::TenantPatch;

use crate::app::{App, EMAIL, PASSWORD, form, request};

#[tokio::test]
async fn the_cookie_is_for_this_host_and_no_script() {
    let app = App::new().await;
    let answer = app.post("/console/sign-in", "", &[("email", EMAIL), ("password", PASSWORD)]).await;
    let line = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(line.starts_with("__Host-iam-console="), "{line}");
    assert!(line.ends_with("; Path=/; HttpOnly; SameSite=Strict; Secure"), "{line}");
    assert!(line.len() < 4_000);
}

#[tokio::test]
async fn an_expired_access_token_is_renewed_and_open_forms_stay_valid() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let token = app.form_token(&cookie).await;
    app.clock.advance(TimeDelta::minutes(16));
    let answer = app.get("/console", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    let renewed = answer.cookie();
    assert_ne!(renewed, cookie);
    let signed_out = app.post("/console/sign-out", &renewed, &[("form-token", &token)]).await;
    assert_eq!(signed_out.location(), "/console/sign-in?out=1");
    let cookie = app.sign_in(EMAIL).await;
    app.clock.advance(TimeDelta::minutes(16));
    let renewed = app.get("/console", &cookie).await.cookie();
    // A valid token is not renewed.
    assert!(!app.get("/console", &renewed).await.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn a_console_on_another_port_has_a_cookie_of_its_own() {
    let app = App::new().await;
    let mut sent = form("/console/sign-in", "", &[("email", EMAIL), ("password", PASSWORD)]);
    sent.headers_mut().insert(header::HOST, HeaderValue::from_static("localhost:8080"));
    sent.headers_mut().insert(header::ORIGIN, HeaderValue::from_static("http://localhost:8080"));
    let answer = app.send(sent).await;
    let line = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(line.starts_with("iam-console-8080=") && line.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{line}");
    for (host, status) in [("localhost:8080", StatusCode::OK), ("localhost:8081", StatusCode::SEE_OTHER)] {
        let mut sent = request(Method::GET, "/console", &answer.cookie()).body(Body::empty()).unwrap();
        sent.headers_mut().insert(header::HOST, HeaderValue::from_static(host));
        assert_eq!(app.send(sent).await.status, status, "{host}");
    }
}

#[tokio::test]
async fn each_page_has_another_form_token() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let (first, second) = (app.form_token(&cookie).await, app.form_token(&cookie).await);
    assert!(first != second && first[..40] != second[..40] && first[46..] != second[46..]);
    let answer = app.post("/console/sign-out", &cookie, &[("form-token", &first)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_form_that_is_sent_after_the_session_has_ended_is_kept_until_the_person_sends_it_again() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let token = app.form_token(&cookie).await;
    app.post_signed("/console/sign-out", &cookie, &[]).await;
    let typed = [("firstName", "Gr<b>ace"), ("lastName", "Hopper"), ("email", "grace@example.com")];
    let sent = [typed.as_slice(), &[("password", "Passw0rd!2"), ("proof-password", PASSWORD), ("form-token", &token)]]
        .concat();
    let answer = app.post("/console/users/new", &cookie, &sent).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert!(answer.body.contains("What you typed is kept"), "{}", answer.body);
    // The form that waits does not fill in the form for sign-in.
    assert!(!answer.body.contains(r#"value="grace@example.com""#), "{}", answer.body);
    let (next, kept) = (answer.hidden("next"), answer.hidden("kept").replace("&#38;", "&"));
    assert_eq!(next, "/console/users/new");
    assert!(!kept.contains("proof-password") && !kept.contains(&token), "{kept}");

    let wrong = [("email", EMAIL), ("password", "Wr0ng-pass!"), ("next", &*next), ("kept", &*kept)];
    let again = app.post("/console/sign-in", "", &wrong).await;
    assert_eq!(again.hidden("kept").replace("&#38;", "&"), kept);
    let right = [("email", EMAIL), ("password", PASSWORD), ("next", &*next), ("kept", &*kept)];
    let resumed = app.post("/console/sign-in", "", &right).await;
    assert_eq!(resumed.status, StatusCode::OK);
    assert!(resumed.body.contains("<dt>lastName</dt><dd>Hopper</dd>"), "{}", resumed.body);
    assert!(!resumed.body.contains("<dt>password</dt>") && !resumed.body.contains("<b>"), "{}", resumed.body);
    assert!(resumed.body.contains(EMAIL) && resumed.body.contains(r#"action="/console/users/new""#));
    let total = async || app.iam.users().list(&ada, &Default::default(), Default::default(), Default::default()).await;
    assert_eq!(total().await.unwrap().total, 1, "nothing happens before the person agrees");

    let (token, password) = (resumed.hidden("form-token"), resumed.hidden("password"));
    let sent = [typed.as_slice(), &[("password", &password), ("form-token", &token)]].concat();
    let created = app.post("/console/users/new", &resumed.cookie(), &sent).await;
    assert_eq!(created.status, StatusCode::SEE_OTHER, "{}", created.body);
    assert_eq!(total().await.unwrap().total, 2);
}

#[tokio::test]
async fn a_form_of_an_earlier_session_is_shown_again_and_changes_nothing() {
    let app = App::new().await;
    let old = app.sign_in(EMAIL).await;
    let token = app.form_token(&old).await;
    let cookie = app.sign_in(EMAIL).await;
    let fields = [("kept", "x"), ("proof-password", PASSWORD), ("form-token", &*token)];
    let answer = app.post("/console/sign-out", &cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("Send the form again?") && !answer.body.contains(PASSWORD), "{}", answer.body);
    assert_eq!(app.get("/console", &cookie).await.status, StatusCode::OK);
    let token = answer.hidden("form-token");
    let fields = [("kept", "x"), ("form-token", &*token)];
    assert_eq!(app.post("/console/sign-out", &cookie, &fields).await.location(), "/console/sign-in?out=1");
}

#[tokio::test]
async fn requests_that_arrive_together_renew_the_same_session() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    app.clock.advance(TimeDelta::minutes(16));
    let (first, second) = tokio::join!(app.get("/console", &cookie), app.get("/console", &cookie));
    app.clock.advance(TimeDelta::seconds(9));
    let third = app.get("/console", &cookie).await;
    app.clock.advance(TimeDelta::minutes(16));
    for answer in [first, second, third] {
        assert_eq!(answer.status, StatusCode::OK);
        let again = app.get("/console", &answer.cookie()).await;
        assert_eq!(again.status, StatusCode::OK, "all have the same refresh token");
    }
}

#[tokio::test]
async fn a_copied_cookie_ends_the_session_when_it_is_used_late() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    app.clock.advance(TimeDelta::minutes(16));
    let renewed = app.get("/console", &cookie).await.cookie();
    app.clock.advance(TimeDelta::seconds(11));
    let late = app.get("/console", &cookie).await;
    assert!(late.is_to_sign_in());
    assert!(late.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert!(app.get("/console", &renewed).await.is_to_sign_in());
}

#[tokio::test]
async fn sign_out_ends_the_session() {
    let app = App::new().await;
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    let answer = app.post_signed("/console/sign-out", &cookie, &[]).await;
    assert_eq!(answer.location(), "/console/sign-in?out=1");
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert!(app.get("/console", &cookie).await.is_to_sign_in());
    assert_eq!(app.get("/console", &other).await.status, StatusCode::OK);
}

#[tokio::test]
async fn sign_out_everywhere_asks_for_a_recent_proof_and_then_goes_on() {
    let app = App::new().await;
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    app.clock.advance(TimeDelta::minutes(11));
    let path = "/console/sign-out-everywhere";
    let answer = app.post_signed(path, &cookie, &[("kept", "a \"value\"")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("proof-password"), "{}", answer.body);
    assert!(answer.body.contains(r#"name="kept" value="a &#34;value&#34;""#), "{}", answer.body);
    let answer = app.post_signed(path, &cookie, &[("proof-password", "Wr0ng-pass!")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("not correct") && !answer.body.contains("Wr0ng-pass!"), "{}", answer.body);
    assert_eq!(app.get("/console", &other).await.status, StatusCode::OK);
    let answer = app.post_signed(path, &cookie, &[("proof-password", PASSWORD)]).await;
    assert_eq!(answer.location(), "/console/sign-in?out=1");
    assert!(app.get("/console", &cookie).await.is_to_sign_in());
    assert!(app.get("/console", &other).await.is_to_sign_in());
}

#[tokio::test]
async fn the_audit_log_has_the_address_of_the_client() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    app.sign_in(EMAIL).await;
    let log = app.iam.audit().list(&ada, AuditFilter::default(), None, 1).await.unwrap();
    assert_eq!(log.entries[0].action, "LOGIN");
    assert_eq!(log.entries[0].context.ip_address.unwrap().to_string(), "192.0.2.7");
}

#[tokio::test]
async fn a_user_that_must_set_up_a_factor_first_can_sign_out() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(1));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    let system = Caller::system(ada.tenant(), "test");
    app.iam.tenants().update(&system, ada.tenant(), patch).await.unwrap();
    app.clock.advance(TimeDelta::days(2));
    let cookie = app.sign_in(EMAIL).await;
    assert_eq!(app.get("/console", &cookie).await.location(), "/console/account");
    let account = app.get("/console/account", &cookie).await;
    let answer = app.post("/console/sign-out", &cookie, &[("form-token", &account.hidden("form-token"))]).await;
    assert_eq!(answer.location(), "/console/sign-in?out=1");
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert!(app.get("/console", &cookie).await.is_to_sign_in());
}

#[tokio::test]
async fn the_sign_in_page_leads_on_while_there_is_a_session() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    for path in ["/console/sign-in", "/console/sign-in?ended=1"] {
        assert_eq!(app.get(path, &cookie).await.location(), "/console");
    }
}

#[tokio::test]
async fn a_sign_out_with_an_expired_access_token_leaves_no_renewed_cookie() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let token = app.form_token(&cookie).await;
    app.clock.advance(TimeDelta::minutes(16));
    let answer = app.post("/console/sign-out", &cookie, &[("form-token", &token)]).await;
    assert_eq!(answer.location(), "/console/sign-in?out=1");
    let lines: Vec<&str> =
        answer.headers.get_all(header::SET_COOKIE).iter().map(|line| line.to_str().unwrap()).collect();
    assert!(lines.len() == 1 && lines[0].contains("Max-Age=0"), "{lines:?}");
}

#[tokio::test]
async fn a_page_that_needs_no_session_forgets_the_cookie_of_an_ended_one() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    app.post_signed("/console/sign-out", &cookie, &[]).await;
    app.clock.advance(TimeDelta::minutes(16));
    let answer = app.get("/console/sign-in", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert!(!app.get("/console/sign-in", "").await.headers.contains_key(header::SET_COOKIE));
}
