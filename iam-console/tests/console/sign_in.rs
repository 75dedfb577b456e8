#![cfg(test)]

use axum::http::{StatusCode, header};
use iam_core::RequestContext;
use iam_core::session::Login;
use totp_rs::Totp;

use crate::app::{App, EMAIL, PASSWORD};

#[tokio::test]
async fn a_person_signs_in_and_sees_its_tenant() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.get("/console", &cookie).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(answer.body.contains(EMAIL) && answer.body.contains("TENANT_ADMIN"), "{}", answer.body);
}

#[tokio::test]
async fn a_wrong_password_keeps_what_was_typed_except_the_password() {
    let app = App::new().await;
    let fields = [("email", EMAIL), ("password", "Wr0ng-pass!"), ("tenant", "nowhere")];
    let answer = app.post("/console/sign-in", "", &fields).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.contains(EMAIL) && answer.body.contains("nowhere"), "{}", answer.body);
    assert!(!answer.body.contains("Wr0ng-pass!"));
    assert!(!answer.headers.contains_key(header::SET_COOKIE));
}

#[tokio::test]
async fn an_invalid_field_has_its_error_beside_it() {
    let app = App::new().await;
    let answer = app.post("/console/sign-in", "", &[("email", "nobody"), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"aria-describedby="email-error""#), "{}", answer.body);
}

#[tokio::test]
async fn a_person_of_several_tenants_chooses_one() {
    let app = App::new().await;
    app.register(EMAIL).await;
    let answer = app.post("/console/sign-in", "", &[("email", EMAIL), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
    let (_, rest) = answer.body.split_once(r#"<option value=""#).expect("a choice");
    let slug = rest.split('"').next().unwrap();
    let answer = app.post("/console/sign-in", "", &[("email", EMAIL), ("password", PASSWORD), ("tenant", slug)]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_locked_account_is_told_when_to_try_again() {
    let app = App::new().await;
    for _ in 0..5 {
        app.post("/console/sign-in", "", &[("email", EMAIL), ("password", "Wr0ng-pass!"), ("tenant", "")]).await;
    }
    let answer = app.post("/console/sign-in", "", &[("email", EMAIL), ("password", PASSWORD)]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.headers.contains_key(header::RETRY_AFTER) && answer.body.contains("locked"), "{}", answer.body);
}

#[tokio::test]
async fn after_sign_in_only_a_page_of_the_console_opens() {
    let app = App::new().await;
    let foreign =
        ["https://evil.example", "//evil.example", "/console//evil.example", "/docs", "/consolation", "", "\\evil"];
    let cases = foreign.map(|next| (next, "/console"));
    for (next, expected) in cases.into_iter().chain([("/console/users?page=2", "/console/users?page=2")]) {
        let fields = [("email", EMAIL), ("password", PASSWORD), ("next", next)];
        let answer = app.post("/console/sign-in", "", &fields).await;
        assert_eq!(answer.location(), expected, "{next}");
    }
}

#[tokio::test]
async fn a_page_without_a_session_leads_back_after_sign_in() {
    let app = App::new().await;
    let answer = app.get("/console/sign-in?next=%2Fconsole%2Fusers%3Fsearch%3Dx", "").await;
    assert_eq!(answer.hidden("next"), "/console/users?search=x");
}

#[tokio::test]
async fn a_second_factor_is_asked_for() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let setup = app.iam.factors().add_totp(&ada, None).await.unwrap();
    let totp = Totp::from_url(setup.uri.expose()).unwrap();
    let code = |app: &App| totp.generate(u64::try_from(app.iam.now().timestamp()).unwrap()).to_string();
    let codes = app.iam.factors().confirm_totp(&ada, setup.id, &code(&app).into()).await.unwrap();
    app.clock.advance(chrono::TimeDelta::minutes(1));

    let credentials = [("email", EMAIL), ("password", PASSWORD), ("next", "/console/users")];
    let answer = app.post("/console/sign-in", "", &credentials).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(!answer.headers.contains_key(header::SET_COOKIE));
    let (challenge, methods) = (answer.hidden("challenge"), answer.hidden("methods"));
    let second = |proof: (&'static str, String)| {
        let (challenge, methods, app) = (challenge.clone(), methods.clone(), &app);
        async move {
            let fields = [
                ("challenge", challenge.as_str()),
                ("methods", methods.as_str()),
                ("next", "/console/users"),
                (proof.0, proof.1.as_str()),
            ];
            app.post("/console/sign-in/second-factor", "", &fields).await
        }
    };
    let answer = second(("proof-code", "000000".to_owned())).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.contains("proof-code") && answer.body.contains("proof-recovery-code"), "{}", answer.body);
    let typed = code(&app);
    let answer = second(("proof-code", format!("{} {}", &typed[..3], &typed[3..]))).await;
    assert_eq!(answer.location(), "/console/users");

    let answer = app.post("/console/sign-in", "", &credentials).await;
    let fields = [("challenge", answer.hidden("challenge")), ("proof-recovery-code", codes[0].expose().to_owned())];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let answer = app.post("/console/sign-in/second-factor", "", &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
}

#[tokio::test]
async fn the_first_tenant_is_registered_on_the_page() {
    let app = App::empty().await;
    assert!(app.get("/console/sign-in", "").await.body.contains("/console/register"));
    let fields = [("email", EMAIL), ("password", "short"), ("firstName", "Ada"), ("lastName", "Lovelace")];
    let answer = app.post("/console/register", "", &fields).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"value="Lovelace""#) && answer.body.contains("password-error"), "{}", answer.body);
    let fields = [("email", EMAIL), ("password", PASSWORD), ("firstName", "Ada"), ("lastName", "Lovelace")];
    let answer = app.post("/console/register", "", &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    assert_eq!(app.get("/console", &answer.cookie()).await.status, StatusCode::OK);
    // Only the first: a console is no page on which strangers create tenants.
    assert_eq!(app.post("/console/register", "", &fields).await.status, StatusCode::CONFLICT);
    assert!(!app.get("/console/sign-in", "").await.body.contains("/console/register"));
}

#[tokio::test]
async fn with_registration_closed_the_operator_is_named() {
    let app = App::with(|settings| settings.registration = false).await;
    let answer = app.get("/console/sign-in", "").await;
    assert!(answer.body.contains("iam-server tenant create"), "{}", answer.body);
    let fields = [("email", EMAIL), ("password", PASSWORD), ("firstName", "Ada"), ("lastName", "Lovelace")];
    let answer = app.post("/console/register", "", &fields).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let login = Login { email: EMAIL.into(), password: PASSWORD.into(), tenant: None };
    assert!(app.iam.sessions().login(&RequestContext::default(), login).await.is_err());
}

#[tokio::test]
async fn attempts_of_one_client_are_limited_as_in_the_api_and_lose_nothing_that_was_typed() {
    let app = App::new().await;
    let fields = [("email", "nobody"), ("password", "x"), ("next", "/console/users"), ("challenge", "iamc_x")];
    for _ in 0..60 {
        app.post("/console/sign-in", "", &fields).await;
    }
    let person = [("email", "nobody"), ("firstName", "Nobody")];
    for (path, typed) in [
        ("/console/sign-in", r#"value="nobody""#),
        ("/console/sign-in/second-factor", r#"value="iamc_x""#),
        ("/console/register", r#"value="Nobody""#),
    ] {
        let answer = app.post(path, "", &[fields.as_slice(), &person].concat()).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
        assert!(answer.headers.contains_key(header::RETRY_AFTER), "{path}");
        assert!(answer.body.contains(typed) && answer.body.contains("Try again in"), "{path}: {}", answer.body);
    }
}
