#![cfg(test)]

use axum::http::{StatusCode, header};
use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::access_request::NewAccessRequest;
use iam_core::eligibility::NewEligibility;
use iam_core::mail::{Mail, MailKind};
use iam_core::tenant::{EmailLogin, TenantPatch};
use totp_rs::Totp;

use crate::app::{Answer, App, EMAIL, Mailbox, ORIGIN, PASSWORD, form, person};

const REQUEST: &str = "/console/sign-in/email";
const CODE: &str = "/console/sign-in/email/code";
const LINK: &str = "/console/sign-in/link";

/// The console of an installation with a tenant whose users sign in by e-mail, and the mailbox of its administrator.
async fn offering() -> (App, Mailbox, Caller) {
    let mailbox = Mailbox::default();
    let app = App::with_mailbox(&mailbox).await;
    let ada = app.register(EMAIL).await;
    let patch = TenantPatch { email_login: Some(EmailLogin::On), ..TenantPatch::default() };
    app.iam.tenants().update(&ada, ada.tenant(), patch).await.unwrap();
    app.iam.users().verify_email(&Caller::system(ada.tenant(), "test"), EMAIL).await.unwrap();
    (app, mailbox, ada)
}

async fn request(app: &App, fields: &[(&str, &str)]) -> Answer {
    app.post(REQUEST, "", &[fields, &[("email", EMAIL), ("password", "")]].concat()).await
}

async fn opened(app: &App, mailbox: &Mailbox) -> Mail {
    mailbox.last(app, MailKind::Login).await.expect("a message")
}

fn code_of(mail: &Mail) -> String {
    mail.accounts[0].link.as_ref().unwrap().code.as_ref().unwrap().expose().to_owned()
}

fn token_of(mail: &Mail) -> String {
    let url = mail.accounts[0].link.as_ref().unwrap().url.expose().to_owned();
    url.split_once('#').unwrap().1.to_owned()
}

#[tokio::test]
async fn it_is_offered_while_a_tenant_wants_it() {
    let (app, _, ada) = offering().await;
    let offers = async |app: &App| app.get("/console/sign-in", "").await.body.contains(REQUEST);
    assert!(offers(&app).await);
    let patch = TenantPatch { email_login: Some(EmailLogin::Off), ..TenantPatch::default() };
    app.iam.tenants().update(&ada, ada.tenant(), patch).await.unwrap();
    assert!(!offers(&app).await);
    let without = App::new().await;
    assert!(!offers(&without).await);
    let answer = request(&without, &[]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("sends no mail") && answer.body.contains(EMAIL), "{}", answer.body);
}

#[tokio::test]
async fn a_person_signs_in_by_the_code() {
    let (app, mailbox, _) = offering().await;
    let answer = request(&app, &[("next", "/console/users")]).await;
    assert_eq!(answer.location(), "/console/sign-in/email/code?next=%2Fconsole%2Fusers");
    let pending = answer.cookie();
    let page = app.get(answer.location(), &pending).await;
    assert_eq!(page.hidden("next"), "/console/users");
    assert!(page.body.contains(r#"autocomplete="one-time-code""#), "{}", page.body);
    let flow = pending.split('~').nth(1).unwrap();
    assert!(!page.body.contains(flow), "{}", page.body);
    let code = code_of(&opened(&app, &mailbox).await);
    let typed = async |typed: &str| app.post(CODE, &pending, &[("next", "/console/users"), ("code", typed)]).await;
    let wrong = typed(if code == "00000000" { "00000001" } else { "00000000" }).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.body.contains(r#"aria-describedby="code-error code-hint""#), "{}", wrong.body);
    assert_eq!(typed("1").await.status, StatusCode::BAD_REQUEST);
    let answer = typed(&format!("{} {}", &code[..4], &code[4..])).await;
    assert_eq!(answer.location(), "/console/users", "{}", answer.body);
    let cookies: Vec<&str> =
        answer.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
    assert!(cookies.iter().any(|cookie| cookie.contains("email-login=;") && cookie.contains("Max-Age=0")));
    assert_eq!(app.get("/console", &answer.cookies("")).await.status, StatusCode::OK);
    assert_eq!(typed(&code).await.status, StatusCode::BAD_REQUEST, "it works once");
}

#[tokio::test]
async fn a_stranger_gets_the_same_answer() {
    let (app, mailbox, _) = offering().await;
    let mut pages = Vec::new();
    for email in [EMAIL, "unknown@example.com"] {
        let answer = app.post(REQUEST, "", &[("email", email)]).await;
        assert_eq!(answer.location(), "/console/sign-in/email/code?next=%2Fconsole");
        pages.push(app.get(answer.location(), &answer.cookie()).await.body);
    }
    assert_eq!(pages[0], pages[1]);
    opened(&app, &mailbox).await;
    assert!(mailbox.last(&app, MailKind::Login).await.is_none());
    let wrong = app.post(REQUEST, "", &[("email", "ada"), ("tenant", "acme")]).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.body.contains(r#"<p id="email-error""#) && wrong.body.contains(r#"value="acme""#), "{}", wrong.body);
}

#[tokio::test]
async fn a_person_signs_in_by_the_link() {
    let (app, mailbox, _) = offering().await;
    request(&app, &[]).await;
    let token = token_of(&opened(&app, &mailbox).await);
    // The page with the link may be open in another browser than the one that has begun.
    let answer = app.post(LINK, "", &[("token", &token)]).await;
    assert_eq!(answer.location(), "/console", "{}", answer.body);
    assert_eq!(app.get("/console", &answer.cookies("")).await.status, StatusCode::OK);
    let again = app.post(LINK, "", &[("token", &token)]).await;
    assert_eq!(again.status, StatusCode::BAD_REQUEST);
    assert!(again.body.contains("The link does not work") && !again.body.contains(&token), "{}", again.body);
    assert!(!again.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn opening_the_address_of_the_link_does_not_sign_in() {
    let (app, mailbox, _) = offering().await;
    request(&app, &[]).await;
    let token = token_of(&opened(&app, &mailbox).await);
    let answer = app.get(&format!("{LINK}?token={token}"), "").await;
    assert!(answer.status.is_client_error() || answer.is_to_sign_in(), "{answer:?}");
    let mut sent = form(LINK, "", &[("token", &token)]);
    sent.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    sent.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    assert_eq!(app.send(sent).await.status, StatusCode::FORBIDDEN, "only the page of {ORIGIN} sends it");
    assert_eq!(app.post(LINK, "", &[("token", &token)]).await.location(), "/console");
}

#[tokio::test]
async fn a_second_factor_is_asked_for() {
    let (app, mailbox, ada) = offering().await;
    let setup = app.iam.factors().add_totp(&ada, None).await.unwrap();
    let totp = Totp::from_url(setup.uri.expose()).unwrap();
    let code = |app: &App| totp.generate(u64::try_from(app.iam.now().timestamp()).unwrap()).to_string();
    app.iam.factors().confirm_totp(&ada, setup.id, &code(&app).into()).await.unwrap();
    for by_link in [true, false] {
        app.clock.advance(TimeDelta::minutes(1));
        let pending = request(&app, &[]).await.cookie();
        let mail = opened(&app, &mailbox).await;
        let answer = if by_link {
            app.post(LINK, "", &[("token", &token_of(&mail))]).await
        } else {
            app.post(CODE, &pending, &[("next", "/console/users"), ("code", &code_of(&mail))]).await
        };
        let next = if by_link { "%2Fconsole" } else { "%2Fconsole%2Fusers" };
        assert_eq!(answer.location(), format!("/console/sign-in/second-factor?next={next}"));
        let proof = code(&app);
        let fields = [("proof-code", &*proof), ("next", "/console")];
        let entered = app.post("/console/sign-in/second-factor", &answer.cookies(&pending), &fields).await;
        assert_eq!(entered.location(), "/console", "{}", entered.body);
    }
}

#[tokio::test]
async fn a_session_that_began_by_a_message_does_not_decide_about_access() {
    let (app, mailbox, ada) = offering().await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap().id;
    let auditor = app.iam.roles().by_name(&ada, "AUDITOR").await.unwrap().unwrap();
    let new = NewEligibility::of_user(auditor.id, grace);
    let eligibility = app.iam.eligibilities().create(&ada, new).await.unwrap().id;
    let grace = app.caller("grace@example.com").await;
    let (seconds, reason, ticket, starts_at) = (None, "Audit".to_owned(), None, None);
    let new = NewAccessRequest { eligibility, seconds, reason, ticket, starts_at };
    let asked = app.iam.access_requests().create(&grace, new).await.unwrap().id;
    let setup = app.iam.factors().add_totp(&ada, None).await.unwrap();
    let totp = Totp::from_url(setup.uri.expose()).unwrap();
    let code = |app: &App| totp.generate(u64::try_from(app.iam.now().timestamp()).unwrap()).to_string();
    app.iam.factors().confirm_totp(&ada, setup.id, &code(&app).into()).await.unwrap();
    app.clock.advance(TimeDelta::minutes(1));
    let pending = request(&app, &[]).await.cookie();
    let token = token_of(&opened(&app, &mailbox).await);
    let answer = app.post(LINK, "", &[("token", &token)]).await;
    let fields = [("proof-code", &*code(&app)), ("next", "/console")];
    let entered = app.post("/console/sign-in/second-factor", &answer.cookies(&pending), &fields).await;
    let cookies = entered.cookies("");
    let path = format!("/console/access-requests/{asked}");
    let version = app.get(&path, &cookies).await.hidden("version");
    for action in ["approve", "deny"] {
        // No further proof helps, so the page asks for none.
        let fields = [("version", &*version), ("reason", "Not needed")];
        let refused = app.post_signed(&format!("{path}/{action}"), &cookies, &fields).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{}", refused.body);
        assert!(refused.body.contains("You have logged in by e-mail"), "{}", refused.body);
        assert!(!refused.body.contains("proof-code"), "{}", refused.body);
    }
    let request = app.iam.access_requests().get(&ada, asked).await.unwrap().request;
    assert!(request.decisions.is_empty());
}

#[tokio::test]
async fn a_form_that_waits_for_a_session_also_waits_for_the_code() {
    let (app, mailbox, _) = offering().await;
    let kept = [("next", "/console/users/new"), ("kept", "firstName=Grace&lastName=Hopper")];
    let answer = request(&app, &kept).await;
    assert_eq!(answer.hidden("kept"), "firstName=Grace&#38;lastName=Hopper");
    let pending = answer.cookie();
    let wrong = app.post(CODE, &pending, &[kept.as_slice(), &[("code", "x")]].concat()).await;
    assert_eq!(wrong.hidden("kept"), "firstName=Grace&#38;lastName=Hopper");
    let code = code_of(&opened(&app, &mailbox).await);
    let resumed = app.post(CODE, &pending, &[kept.as_slice(), &[("code", &code)]].concat()).await;
    assert!(resumed.body.contains("<dt>lastName</dt><dd>Hopper</dd>"), "{}", resumed.body);
}

#[tokio::test]
async fn a_code_without_a_request_leads_to_the_first_step() {
    let (app, ..) = offering().await;
    for cookie in ["", "__Host-iam-console-email-login=~!", "__Host-iam-console=x~x~x"] {
        let answer = app.get(&format!("{CODE}?next=%2Fconsole%2Faudit"), cookie).await;
        assert_eq!(answer.location(), "/console/sign-in?late=email&next=%2Fconsole%2Faudit", "{cookie}");
        assert!(app.post(CODE, cookie, &[("code", "12345678")]).await.is_to_sign_in(), "{cookie}");
    }
    assert!(app.get("/console/sign-in?late=email", "").await.body.contains("came too late"));
}

#[tokio::test]
async fn attempts_of_one_client_are_limited() {
    let (app, ..) = offering().await;
    let pending = request(&app, &[]).await.cookie();
    for _ in 0..60 {
        app.post("/console/sign-in", "", &[("email", "unknown"), ("password", PASSWORD)]).await;
    }
    for path in [REQUEST, CODE, LINK] {
        let answer = app.post(path, &pending, &[("email", "grace@example.com"), ("code", "12345678")]).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
        assert!(answer.headers.contains_key(header::RETRY_AFTER) && answer.body.contains("Try again in"), "{path}");
    }
}
