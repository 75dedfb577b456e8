#![cfg(test)]

use axum::http::{StatusCode, header};
use chrono::TimeDelta;
use iam_core::factor::SecondFactorPolicy;
use iam_core::tenant::TenantPatch;
use iam_core::user::UserPatch;
use iam_core::{Caller, RequestContext};
use totp_rs::Totp;

use crate::app::{App, EMAIL, ORIGIN, PASSWORD, form, person, relying_party};

const ACCOUNT: &str = "/console/account";
const AUTHENTICATOR: &str = "/console/account/authenticator";

/// Returns the present code of the app whose URI a page shows.
fn code_of(app: &App, page: &str) -> String {
    let (_, rest) = page.split_once(r#"<a href="otpauth://"#).unwrap_or_else(|| panic!("no URI: {page}"));
    let uri = format!("otpauth://{}", rest.split('"').next().unwrap()).replace("&#38;", "&");
    let totp = Totp::from_url(uri).unwrap();
    totp.generate(u64::try_from(app.iam.now().timestamp()).unwrap()).to_string()
}

/// Sets up an authenticator app on the pages. Returns the cookies, and the page with the recovery codes.
async fn with_app(app: &App, cookie: &str) -> (String, String) {
    let answer = app.post_signed(AUTHENTICATOR, cookie, &[("name", "Phone")]).await;
    assert_eq!(answer.location(), AUTHENTICATOR, "{}", answer.body);
    let cookies = answer.cookies(cookie);
    let code = code_of(app, &app.get(AUTHENTICATOR, &cookies).await.body);
    let answer = app.post_signed(&format!("{AUTHENTICATOR}/confirm"), &cookies, &[("code", &code)]).await;
    assert_eq!(answer.location(), "/console/account/recovery-codes", "{}", answer.body);
    let cookies = answer.cookies(&cookies);
    let shown = app.get(answer.location(), &cookies).await;
    (shown.cookies(&cookies), shown.body)
}

#[tokio::test]
async fn an_authenticator_app_is_set_up_and_its_secret_is_in_no_address() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.post_signed(AUTHENTICATOR, &cookie, &[("name", "Phone")]).await;
    assert_eq!(answer.location(), AUTHENTICATOR);
    let cookies = answer.cookies(&cookie);
    let page = app.get(AUTHENTICATOR, &cookies).await.body;
    let (_, code) = page.split_once("<figure class=\"code\"").unwrap();
    assert!(code.contains("<svg") && !page.contains("<?xml"), "{page}");
    let (_, secret) = page.split_once("<code data-plain=\"").unwrap();
    let (plain, spaced) = secret.split_once("\">").unwrap();
    let spaced = spaced.split('<').next().unwrap();
    assert_eq!(spaced.replace(' ', ""), plain);
    assert!(spaced.split(' ').all(|group| group.len() == 4) && plain.len() > 20, "{spaced}");
    // A reload shows the same secret.
    assert_eq!(code_of(&app, &page), code_of(&app, &app.get(AUTHENTICATOR, &cookies).await.body));
    let answer = app.post_signed(&format!("{AUTHENTICATOR}/confirm"), &cookies, &[("code", "000 000")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"aria-describedby="code-error""#), "{}", answer.body);
    assert!(answer.body.contains(r#"value="000 000""#) && answer.body.contains("<figure"), "{}", answer.body);

    let code = code_of(&app, &page);
    let typed = format!("{} {}", &code[..3], &code[3..]);
    let answer = app.post_signed(&format!("{AUTHENTICATOR}/confirm"), &cookies, &[("code", &typed)]).await;
    assert_eq!(answer.location(), "/console/account/recovery-codes", "{}", answer.body);
    let cookies = answer.cookies(&cookies);
    assert!(!cookies.contains("authenticator"), "{cookies}");
    let shown = app.get(answer.location(), &cookies).await;
    assert_eq!(shown.body.matches("<li><code>").count(), 10, "{}", shown.body);
    assert!(shown.body.contains("shown only now") && shown.body.contains(r#"download="recovery-codes.txt""#));
    // They are shown once.
    let again = app.get("/console/account/recovery-codes", &shown.cookies(&cookies)).await;
    assert_eq!(again.location(), ACCOUNT);
    let account = app.get(ACCOUNT, &cookie).await.body;
    assert!(account.contains("<strong>Phone</strong>") && account.contains("<strong>10</strong>"), "{account}");
}

#[tokio::test]
async fn a_secret_of_another_session_is_not_shown() {
    let app = App::new().await;
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    let answer = app.post_signed(AUTHENTICATOR, &cookie, &[]).await;
    let left = answer.cookie();
    let page = app.get(AUTHENTICATOR, &format!("{other}; {left}")).await;
    assert!(!page.body.contains("otpauth:"), "{}", page.body);
    let values: Vec<&str> =
        answer.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
    assert!(
        values.iter().all(|value| value.starts_with("__Host-") && value.contains("HttpOnly; SameSite=Strict; Secure"))
    );
}

#[tokio::test]
async fn a_cookie_of_a_page_does_not_replace_renewed_tokens() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let token = app.form_token(&cookie).await;
    app.clock.advance(TimeDelta::minutes(16));
    let fields = [("form-token", &*token), ("proof-password", PASSWORD)];
    let answer = app.post(AUTHENTICATOR, &cookie, &fields).await;
    let cookies = answer.cookies(&cookie);
    assert!(!cookies.contains(cookie.split('~').nth(1).unwrap()), "the tokens are renewed");
    app.clock.advance(TimeDelta::minutes(10));
    assert!(app.get(AUTHENTICATOR, &cookies).await.body.contains("otpauth:"));
}

#[tokio::test]
async fn factors_are_renamed_and_removed_and_recovery_codes_are_replaced() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let (_, codes) = with_app(&app, &cookie).await;
    let account = app.get(ACCOUNT, &cookie).await.body;
    let (_, rest) = account.split_once(r#"action="/console/account/factors/"#).unwrap();
    let path = format!("/console/account/factors/{}", rest.split('/').next().unwrap());
    let answer = app.post_signed(&path, &cookie, &[("name", " ")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains("name-error"), "{}", answer.body);
    let name = "<b>Old</b> phone";
    assert_eq!(app.post_signed(&path, &cookie, &[("name", name)]).await.location(), "/console/account?done=renamed");
    let account = app.get(ACCOUNT, &cookie).await.body;
    assert!(account.contains("&#60;b&#62;Old") && !account.contains("<b>Old"), "{account}");

    let answer = app.post_signed("/console/account/recovery-codes", &cookie, &[]).await;
    let shown = app.get(answer.location(), &answer.cookies(&cookie)).await.body;
    let first = |page: &str| page.split_once("<li><code>").unwrap().1.split('<').next().unwrap().to_owned();
    assert_ne!(first(&shown), first(&codes));

    let answer = app.post_signed(&format!("{path}/remove"), &cookie, &[]).await;
    assert_eq!(answer.location(), "/console/account?done=removed");
    assert!(app.get(ACCOUNT, &cookie).await.body.contains("password alone"));
    // A factor of nobody, or of another user, does not exist.
    assert_eq!(app.get(&path, &cookie).await.status, StatusCode::NOT_FOUND);
    assert_eq!(app.post_signed(&format!("{path}/remove"), &cookie, &[]).await.status, StatusCode::NOT_FOUND);
    let answer = app.post_signed("/console/account/recovery-codes", &cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_person_does_not_change_the_factors_of_another_one() {
    let app = App::new().await;
    app.register("eve@example.org").await;
    let (ada, eve) = (app.sign_in(EMAIL).await, app.sign_in("eve@example.org").await);
    with_app(&app, &ada).await;
    let account = app.get(ACCOUNT, &ada).await.body;
    let (_, rest) = account.split_once(r#"action="/console/account/factors/"#).unwrap();
    let path = format!("/console/account/factors/{}", rest.split('/').next().unwrap());
    assert_eq!(app.get(&path, &eve).await.status, StatusCode::NOT_FOUND);
    for action in ["", "/remove"] {
        let answer = app.post_signed(&format!("{path}{action}"), &eve, &[("name", "Stolen")]).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{action}");
    }
    assert!(app.get(ACCOUNT, &ada).await.body.contains("<strong>Phone</strong>"));
}

#[tokio::test]
async fn a_form_of_the_account_needs_the_token_of_its_session() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    for path in ["/password", "/email", "/authenticator", "/passkey", "/passkey/options", "/end-other-sessions"] {
        let answer = app.post(&format!("{ACCOUNT}{path}"), &cookie, &[("form-token", "x")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn a_person_who_must_set_up_a_factor_does_so_and_then_sees_the_other_pages() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(1));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    app.iam.tenants().update(&Caller::system(ada.tenant(), "test"), ada.tenant(), patch).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    assert!(app.get(ACCOUNT, &cookie).await.body.contains("requires a second factor. Set one up"));
    app.clock.advance(TimeDelta::days(2));

    let cookie = app.sign_in(EMAIL).await;
    assert_eq!(app.get("/console/users", &cookie).await.location(), ACCOUNT);
    let account = app.get(ACCOUNT, &cookie).await.body;
    assert!(account.contains("requires a second factor") && !account.contains("end-other-sessions"), "{account}");
    for path in ["/password", "/email"] {
        assert_eq!(app.get(&format!("{ACCOUNT}{path}"), &cookie).await.location(), ACCOUNT, "{path}");
        let answer = app.post_signed(&format!("{ACCOUNT}{path}"), &cookie, &[]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
    }
    // A session that is not recent authenticates again in place.
    app.clock.advance(TimeDelta::minutes(11));
    let answer = app.post_signed(AUTHENTICATOR, &cookie, &[]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert!(answer.body.contains("proof-password"), "{}", answer.body);
    let answer = app.post_signed(AUTHENTICATOR, &cookie, &[("proof-password", PASSWORD)]).await;
    assert_eq!(answer.location(), AUTHENTICATOR, "{}", answer.body);
    with_app(&app, &cookie).await;
    assert_eq!(app.get("/console/users", &cookie).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_person_whose_factor_is_unused_in_the_session_uses_it_and_goes_on() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    let answer = app.post_signed(AUTHENTICATOR, &other, &[("name", "Phone")]).await;
    let cookies = answer.cookies(&other);
    let page = app.get(AUTHENTICATOR, &cookies).await.body;
    let confirm = format!("{AUTHENTICATOR}/confirm");
    app.post_signed(&confirm, &cookies, &[("code", &code_of(&app, &page))]).await;
    let (second_factor, second_factor_grace_days) = (Some(SecondFactorPolicy::Required), Some(0));
    let patch = TenantPatch { second_factor, second_factor_grace_days, ..TenantPatch::default() };
    app.iam.tenants().update(&Caller::system(ada.tenant(), "test"), ada.tenant(), patch).await.unwrap();

    assert_eq!(app.get("/console/users", &other).await.status, StatusCode::OK);
    assert_eq!(app.get("/console/users", &cookie).await.location(), ACCOUNT);
    let account = app.get(ACCOUNT, &cookie).await.body;
    assert!(account.contains("/account/second-factor") && account.contains("Phone"), "{account}");
    for hidden in ["/remove", "/account/authenticator", "/account/recovery-codes"] {
        assert!(!account.contains(hidden), "{hidden}: {account}");
    }
    // A form that was open before waits for the proof, too.
    for path in ["/account/second-factor", "/account/recovery-codes", "/users/new"] {
        let answer = app.post_signed(&format!("/console{path}"), &cookie, &[("email", "grace@example.com")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path}");
        assert!(answer.body.contains("proof-code") && !answer.body.contains("proof-password"), "{}", answer.body);
        assert!(answer.body.contains("not used yours in this session"), "{}", answer.body);
    }
    app.clock.advance(TimeDelta::seconds(30));
    let code = code_of(&app, &page);
    let answer = app.post_signed(&format!("{ACCOUNT}/second-factor"), &cookie, &[("proof-code", &code)]).await;
    assert_eq!(answer.location(), "/console", "{}", answer.body);
    assert_eq!(app.get("/console/users", &cookie).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_password_is_changed_and_a_mistake_is_shown_at_its_field() {
    let app = App::new().await;
    let (cookie, other) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    let path = "/console/account/password";
    let cases = [
        (("Wr0ng-pass!", "N3w-passw0rd!"), "currentPassword"),
        ((PASSWORD, "short"), "newPassword"),
        (("", "N3w-passw0rd!"), "currentPassword"),
    ];
    for ((current, new), field) in cases {
        let answer = app.post_signed(path, &cookie, &[("currentPassword", current), ("newPassword", new)]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{field}");
        assert!(answer.body.contains(&format!(r#"aria-describedby="{field}-error"#)), "{}", answer.body);
        assert!(!answer.body.contains("Wr0ng-pass!") && !answer.body.contains("N3w-passw0rd!"));
    }
    let fields = [("currentPassword", PASSWORD), ("newPassword", "N3w-passw0rd!")];
    assert_eq!(app.post_signed(path, &cookie, &fields).await.location(), "/console/account?done=password");
    assert!(app.get(ACCOUNT, &other).await.is_to_sign_in());
    let answer = app.post("/console/sign-in", "", &[("email", EMAIL), ("password", "N3w-passw0rd!")]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn a_new_address_gets_a_link_and_the_account_keeps_the_old_one_until_then() {
    let app = App::with_mail().await;
    app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let path = "/console/account/email";
    let wrong = [("newEmail", "new@example.com"), ("currentPassword", "Wr0ng-pass!")];
    let answer = app.post_signed(path, &cookie, &wrong).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
    assert!(answer.body.contains(r#"value="new@example.com""#), "{}", answer.body);
    assert!(answer.body.contains("currentPassword-error") && !answer.body.contains("Wr0ng-pass!"), "{}", answer.body);
    let fields = [("newEmail", "new@example.com"), ("currentPassword", PASSWORD)];
    assert_eq!(app.post_signed(path, &cookie, &fields).await.location(), "/console/account?done=email");
    assert!(app.get(ACCOUNT, &cookie).await.body.contains(EMAIL));
    let answer = app.post_signed("/console/account/verification", &cookie, &[]).await;
    assert_eq!(answer.location(), "/console/account?done=verification");

    // Without mail, the page says so and keeps what was typed.
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let answer = app.post_signed(path, &cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("sends no mail") && answer.body.contains("new@example.com"), "{}", answer.body);
    let answer = app.post_signed("/console/account/verification", &cookie, &[]).await;
    assert!(answer.body.contains("sends no mail") && answer.body.contains("My account"), "{}", answer.body);
}

#[tokio::test]
async fn a_person_ends_one_session_or_all_others() {
    let app = App::new().await;
    let (cookie, second, third) = (app.sign_in(EMAIL).await, app.sign_in(EMAIL).await, app.sign_in(EMAIL).await);
    let session = app.get(ACCOUNT, &cookie).await.hidden("session");
    let answer = app.post_signed("/console/account/end-session", &cookie, &[("session", &session)]).await;
    assert_eq!(answer.location(), "/console/account?done=session");
    assert!(!app.get(ACCOUNT, &cookie).await.body.contains(&session));
    let answer = app.post_signed("/console/account/end-other-sessions", &cookie, &[]).await;
    assert_eq!(answer.location(), "/console/account?done=sessions");
    for other in [&second, &third] {
        assert!(app.get(ACCOUNT, other).await.is_to_sign_in());
    }
    assert!(app.get(ACCOUNT, &cookie).await.body.contains("not signed in anywhere else"));
    // A session of another tenant does not exist.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    let answer = app.post_signed("/console/account/end-session", &eve, &[("session", &session)]).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    let answer = app.post_signed("/console/account/end-session", &eve, &[("session", "x")]).await;
    assert_eq!(answer.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_passkey_needs_options_and_an_answer() {
    let app = App::with(|settings| settings.relying_party = Some(relying_party())).await;
    app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let path = "/console/account/passkey";
    assert!(app.get(ACCOUNT, &cookie).await.body.contains(path));
    let answer = app.post_signed(&format!("{path}/options"), &cookie, &[]).await;
    let options: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(options["user"]["name"], EMAIL);
    app.clock.advance(TimeDelta::minutes(11));
    // The script gets no options, and sends the form without an answer: then the session authenticates again.
    let answer = app.post_signed(path, &cookie, &[("name", "Laptop"), ("credential", "")]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    assert_eq!(answer.hidden("name"), "Laptop");
    let fields = [("name", "Laptop"), ("credential", ""), ("proof-password", PASSWORD)];
    let answer = app.post_signed(path, &cookie, &fields).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert!(
        answer.body.contains("Add the passkey now") && answer.body.contains(r#"value="Laptop""#),
        "{}",
        answer.body
    );

    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    assert!(!app.get(ACCOUNT, &cookie).await.body.contains(path));
    let answer = app.post_signed(path, &cookie, &[("name", "Laptop")]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(
        answer.body.contains("accepts no passkeys") && answer.body.contains(r#"value="Laptop""#),
        "{}",
        answer.body
    );
}

#[tokio::test]
async fn step_up_shows_a_mistake_at_its_field_and_nothing_is_no_attempt() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    with_app(&app, &cookie).await;
    app.clock.advance(TimeDelta::minutes(11));
    let path = "/console/account/recovery-codes";
    assert_eq!(app.post_signed(path, &cookie, &[]).await.status, StatusCode::FORBIDDEN);
    for _ in 0..12 {
        let answer = app.post_signed(path, &cookie, &[("proof-code", " "), ("proof-recovery-code", "")]).await;
        assert!(answer.body.contains(r#"aria-describedby="proof-code-error""#), "{}", answer.body);
    }
    for field in ["proof-code", "proof-recovery-code"] {
        let answer = app.post_signed(path, &cookie, &[(field, "000000")]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains(&format!(r#"aria-describedby="{field}-error""#)), "{}", answer.body);
    }
    let login = iam_core::session::Login { email: EMAIL.into(), password: PASSWORD.into(), tenant: None };
    let again = app.iam.sessions().login(&RequestContext::default(), login).await;
    assert!(matches!(again, Err(iam_core::Error::SecondFactorRequired(_))), "the account is not locked");
}

#[tokio::test]
async fn who_does_not_step_up_goes_back_to_the_page_of_the_form() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    with_app(&app, &cookie).await;
    app.clock.advance(TimeDelta::minutes(11));
    let (path, token) = ("/console/account/recovery-codes", app.form_token(&cookie).await);
    let asked = async |fields: &[(&str, &str)], referer: &str| {
        let fields = [&[("form-token", &*token)][..], fields].concat();
        let mut request = form(path, &cookie, &fields);
        request.headers_mut().insert(header::REFERER, referer.parse().unwrap());
        app.send(request).await
    };
    let own = format!("{ORIGIN}{ACCOUNT}");
    let first = asked(&[], &own).await;
    assert!(first.body.contains("needs a recent proof by your second factor"), "{}", first.body);
    let back = format!(r#"<a href="{ACCOUNT}">Cancel</a>"#);
    assert!(first.body.contains(&back), "{}", first.body);
    // A wrong proof comes from the address of the form.
    let kept = first.hidden("proof-back");
    let again = asked(&[("proof-code", "000000"), ("proof-back", &*kept)], &format!("{ORIGIN}{path}")).await;
    assert!(again.body.contains(&back), "{}", again.body);
    for (field, referer) in [("", "https://evil.example/account"), ("https://evil.example/console", &*own)] {
        let fields = [("proof-back", field)];
        let foreign = asked(&fields, referer).await;
        assert!(!foreign.body.contains("evil.example"), "{}", foreign.body);
    }
}

#[tokio::test]
async fn an_administrator_removes_the_factors_of_a_user() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let other = app.sign_in("grace@example.com").await;
    with_app(&app, &other).await;
    let cookie = app.sign_in(EMAIL).await;
    let path = format!("/console/users/{}", grace.id);
    assert!(app.get(&path, &cookie).await.body.contains("reset-factors"));
    // The form token and the rights are needed.
    assert_eq!(app.post(&format!("{path}/reset-factors"), &cookie, &[]).await.status, StatusCode::FORBIDDEN);
    let own = format!("/console/users/{}", ada.user().unwrap());
    assert!(!app.get(&own, &cookie).await.body.contains("reset-factors"));
    assert_eq!(app.post_signed(&format!("{own}/reset-factors"), &other, &[]).await.status, StatusCode::FORBIDDEN);
    let asked = app.post_signed(&format!("{path}/reset-factors"), &cookie, &[]).await;
    assert!(asked.status == StatusCode::OK && asked.body.contains("Yes, remove the second factors"), "{}", asked.body);
    let answer = app.post_signed(&format!("{path}/reset-factors"), &cookie, &[("confirmed", "yes")]).await;
    assert_eq!(answer.location(), format!("{path}?done=factors-reset"));
    let alone = app.sign_in("grace@example.com").await;
    assert_eq!(app.get(ACCOUNT, &alone).await.status, StatusCode::OK, "the password is enough");
    let without = app.get(&path, &cookie).await.body;
    assert!(without.contains("No second factor is set up") && !without.contains("reset-factors"), "{without}");
    // A user of another tenant does not exist.
    let eve = app.register("eve@example.org").await;
    let foreign = format!("/console/users/{}/reset-factors", eve.user().unwrap());
    assert_eq!(app.post_signed(&foreign, &cookie, &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn names_in_the_account_are_texts() {
    let app = App::empty().await;
    let ada = app.register(EMAIL).await;
    let patch = UserPatch { first_name: Some("<i>Ada</i>".into()), ..UserPatch::default() };
    app.iam.users().update(&ada, ada.user().unwrap(), patch).await.unwrap();
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get(ACCOUNT, &cookie).await.body;
    assert!(page.contains("&#60;i&#62;Ada") && !page.contains("<i>Ada"), "{page}");
}
