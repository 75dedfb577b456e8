#![cfg(test)]

use axum::http::{StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use iam_core::RequestContext;
use iam_core::session::Login;
use totp_rs::Totp;

use crate::app::{App, EMAIL, HOST, ORIGIN, PASSWORD, relying_party};

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
    // A reload of the second page must not send the password again.
    assert_eq!(answer.location(), "/console/sign-in/second-factor?next=%2Fconsole%2Fusers");
    let pending = answer.cookie();
    let page = app.get(answer.location(), &pending).await;
    assert_eq!(page.hidden("next"), "/console/users");
    let challenge = pending.split('~').nth(1).unwrap();
    assert!(!page.body.contains(challenge) && page.body.contains("proof-recovery-code"), "{}", page.body);
    let path = "/console/sign-in/second-factor";
    let second =
        async |pending: &str, proof: (&str, &str)| app.post(path, pending, &[("next", "/console/users"), proof]).await;
    let answer = second(&pending, ("proof-code", "000000")).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
    assert!(answer.body.contains(r#"aria-describedby="proof-code-error""#), "{}", answer.body);
    let typed = code(&app);
    let answer = second(&pending, ("proof-code", &format!("{} {}", &typed[..3], &typed[3..]))).await;
    assert_eq!(answer.location(), "/console/users");
    let cookies: Vec<&str> =
        answer.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
    assert!(cookies.iter().any(|cookie| cookie.contains("second-factor=;") && cookie.contains("Max-Age=0")));

    let pending = app.post("/console/sign-in", "", &credentials).await.cookie();
    // Nothing is no attempt: more of them than a challenge is worth do not end it.
    for _ in 0..6 {
        for empty in ["proof-code", "proof-recovery-code"] {
            let answer = second(&pending, (empty, " ")).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST);
            assert!(answer.body.contains(&format!(r#"aria-describedby="{empty}-error""#)), "{}", answer.body);
        }
    }
    let answer = second(&pending, ("proof-recovery-code", codes[0].expose())).await;
    assert_eq!(answer.location(), "/console/users", "{}", answer.body);
    // The challenge works once.
    let answer = second(&pending, ("proof-recovery-code", codes[1].expose())).await;
    assert_eq!(answer.location(), "/console/sign-in?late=1&next=%2Fconsole%2Fusers");
}

#[tokio::test]
async fn a_form_that_waits_for_a_session_also_waits_for_the_second_step() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let setup = app.iam.factors().add_totp(&ada, None).await.unwrap();
    let totp = Totp::from_url(setup.uri.expose()).unwrap();
    let now = u64::try_from(app.iam.now().timestamp()).unwrap();
    let codes = app.iam.factors().confirm_totp(&ada, setup.id, &totp.generate(now).to_string().into()).await.unwrap();
    let kept = [("next", "/console/users/new"), ("kept", "firstName=Grace&lastName=Hopper")];
    let credentials = [kept.as_slice(), &[("email", EMAIL), ("password", PASSWORD)]].concat();
    let answer = app.post("/console/sign-in", "", &credentials).await;
    assert_eq!(answer.hidden("kept"), "firstName=Grace&#38;lastName=Hopper");
    let pending = answer.cookie();
    let path = "/console/sign-in/second-factor";
    let wrong = app.post(path, &pending, &[kept.as_slice(), &[("proof-code", "000000")]].concat()).await;
    assert_eq!(wrong.hidden("kept"), "firstName=Grace&#38;lastName=Hopper");
    let proof = [kept.as_slice(), &[("proof-recovery-code", codes[0].expose())]].concat();
    let resumed = app.post(path, &pending, &proof).await;
    assert!(resumed.body.contains("<dt>lastName</dt><dd>Hopper</dd>"), "{}", resumed.body);
    assert_eq!(app.get("/console", &resumed.cookies("")).await.status, StatusCode::OK);
    let late = app.post(path, "", &proof).await;
    assert_eq!(late.hidden("kept"), "firstName=Grace&#38;lastName=Hopper");
    assert!(late.body.contains("came too late"), "{}", late.body);
}

#[tokio::test]
async fn the_second_step_without_the_first_leads_to_the_first() {
    let app = App::new().await;
    let path = "/console/sign-in/second-factor";
    for cookie in [
        "",
        "__Host-iam-console-second-factor=~!~x",
        "__Host-iam-console-second-factor=~eA",
        "__Host-iam-console=x~x~x",
    ] {
        let answer = app.get(&format!("{path}?next=%2Fconsole%2Faudit"), cookie).await;
        assert_eq!(answer.location(), "/console/sign-in?late=1&next=%2Fconsole%2Faudit", "{cookie}");
        let answer = app.post(path, cookie, &[("proof-code", "123456")]).await;
        assert!(answer.is_to_sign_in(), "{cookie}");
    }
    assert!(app.get("/console/sign-in?late=1", "").await.body.contains("came too late"));
}

#[tokio::test]
async fn a_passkey_signs_in_where_the_installation_accepts_passkeys() {
    let app = App::new().await;
    assert!(!app.get("/console/sign-in", "").await.body.contains("data-passkey"));
    let answer = app.post("/console/sign-in/passkey/options", "", &[]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);

    let app = App::with(|settings| settings.relying_party = Some(relying_party())).await;
    app.register(EMAIL).await;
    assert!(app.get("/console/sign-in", "").await.body.contains(r#"data-options="/console/sign-in/passkey/options""#));
    let answer = app.post("/console/sign-in/passkey/options", "", &[]).await;
    let options: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(options["rpId"], HOST);
    for (credential, status) in [("", StatusCode::BAD_REQUEST), ("{}", StatusCode::BAD_REQUEST)] {
        let answer = app.post("/console/sign-in/passkey", "", &[("proof-credential", credential)]).await;
        assert_eq!(answer.status, status);
        assert!(answer.body.contains("no answer of a passkey"), "{}", answer.body);
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
    // Made for another challenge, by a key that nobody has registered.
    let client_data = format!(r#"{{"type":"webauthn.get","challenge":"AAAA","origin":"{ORIGIN}"}}"#);
    let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let credential = serde_json::json!({
        "id": part(b"key"), "rawId": part(b"key"), "type": "public-key", "clientExtensionResults": {},
        "response": {
            "clientDataJSON": part(client_data.as_bytes()), "authenticatorData": part(&[0; 37]),
            "signature": part(&[0; 64]), "userHandle": part(&[0; 32]),
        },
    });
    let answer = app.post("/console/sign-in/passkey", "", &[("proof-credential", &credential.to_string())]).await;
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{}", answer.body);
    assert!(answer.body.contains("The passkey is not accepted."), "{}", answer.body);
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
    let app = App::with(|settings| settings.relying_party = Some(relying_party())).await;
    app.register(EMAIL).await;
    let fields = [("email", "nobody"), ("password", "x"), ("next", "/console/users"), ("proof-code", "123456")];
    for _ in 0..60 {
        app.post("/console/sign-in", "", &fields).await;
    }
    let person = [("firstName", "Nobody")];
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    for (path, typed) in [
        ("/console/sign-in", r#"value="nobody""#),
        ("/console/sign-in/second-factor", r#"value="/console/users""#),
        ("/console/sign-in/passkey", r#"value="nobody""#),
        ("/console/register", r#"value="Nobody""#),
    ] {
        let pending = format!("__Host-iam-console-second-factor=~{}~{}", part("challenge"), part("totp"));
        let answer = app.post(path, &pending, &[fields.as_slice(), &person].concat()).await;
        assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "{path}");
        assert!(answer.headers.contains_key(header::RETRY_AFTER), "{path}");
        assert!(answer.body.contains(typed) && answer.body.contains("Try again in"), "{path}: {}", answer.body);
    }
}

#[tokio::test]
async fn a_person_who_has_forgotten_its_password_gets_the_same_answer_as_a_stranger() {
    let app = App::with_mail().await;
    app.register(EMAIL).await;
    assert!(app.get("/console/sign-in", "").await.body.contains("/console/sign-in/forgot"));
    assert!(app.get("/console/sign-in/forgot", "").await.body.contains(r#"name="email""#));
    let mut answers = Vec::new();
    for email in [EMAIL, "nobody@example.com"] {
        let answer = app.post("/console/sign-in/forgot", "", &[("email", email)]).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(answer.body.contains("the message is on its way"), "{}", answer.body);
        answers.push(answer.body);
    }
    assert_eq!(answers[0], answers[1]);
    let wrong = app.post("/console/sign-in/forgot", "", &[("email", "ada"), ("tenant", "acme")]).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.body.contains(r#"<p id="email-error""#) && wrong.body.contains(r#"value="acme""#), "{}", wrong.body);
    let without = App::new().await;
    assert!(!without.get("/console/sign-in", "").await.body.contains("/sign-in/forgot"));
    let answer = without.post("/console/sign-in/forgot", "", &[("email", EMAIL)]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("sends no mail") && answer.body.contains(EMAIL), "{}", answer.body);
}
