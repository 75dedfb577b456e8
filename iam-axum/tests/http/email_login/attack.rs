//! Attacks on logins by e-mail. Each must be refused.

use std::sync::Arc;

use axum::http::Method;
use chrono::TimeDelta;
use iam_axum::rate_limit::MemoryRateLimiter;
use iam_core::Caller;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use super::EMAIL;
use crate::app::TestApp;
use crate::limiter::limits;
use crate::mail::tokens;
use crate::people::{PASSWORD, Person};

in_memory_with_mail![
    a_thief_of_the_mailbox_changes_nothing_without_another_proof,
    a_guesser_over_many_addresses_is_limited_by_its_network,
    a_guesser_gets_five_tries_for_each_of_three_messages_in_an_hour,
    an_insider_who_turns_an_address_gets_no_session,
    an_administrator_of_another_tenant_gets_no_session,
    a_scanner_of_mail_uses_nothing_up,
    a_scanner_of_mail_does_not_log_in_where_the_page_has_a_form,
    a_flow_is_no_challenge_of_another_kind,
];

async fn a_thief_of_the_mailbox_changes_nothing_without_another_proof(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let begun = app.email_login(&ada).await;
    let thief = Person::logged_in(&app.finish(&begun.by_link()).await.ok());
    assert_eq!(app.get("/auth/me").by(&thief).send().await.ok()["authTime"], "1970-01-01T00:00:00.000Z");
    let post = |path: &str, body: Value| app.post(path).by(&thief).json(&body);
    for request in [
        post("/auth/password", json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" })),
        post("/auth/email", json!({ "newEmail": "thief@example.com", "currentPassword": PASSWORD })),
        post("/auth/factors/totp", json!({})),
        app.post("/auth/factors/passkeys/options").by(&thief),
        post(&format!("/users/{}/api-keys", ada.user), json!({ "name": "key" })),
        app.post("/auth/logout-all").by(&thief),
        app.delete(&format!("/users/{}/factors", grace.user)).by(&thief),
        app.patch(&format!("/users/{}", grace.user)).by(&thief).json(&json!({ "email": "thief@example.com" })),
        app.patch(&format!("/tenants/{}", ada.tenant)).by(&thief).json(&json!({ "emailLogin": "OFF" })),
    ] {
        request.send().await.problem("insufficient-authentication");
    }
    let again = json!({ "refreshToken": thief.refresh });
    let again = app.post("/auth/refresh").json(&again).send().await.ok();
    let refreshed = Person { access: again["accessToken"].as_str().unwrap().to_owned(), ..thief.clone() };
    app.post("/auth/factors/totp").by(&refreshed).json(&json!({})).send().await.problem("insufficient-authentication");
    let password = json!({ "password": PASSWORD });
    app.post("/auth/step-up").by(&refreshed).json(&password).send().await.no_content();
    app.post("/auth/factors/totp").by(&refreshed).json(&json!({})).send().await.created();
}

async fn a_guesser_over_many_addresses_is_limited_by_its_network(app: TestApp) {
    let limiter = MemoryRateLimiter::with_clock(limits(100, 4, 100), app.clock.clone());
    let app = app.with_http_settings(|settings| settings.rate_limiter = Some(Arc::new(limiter)));
    for number in 0..2 {
        // A network of 64 bits is one client.
        let address = format!("2001:db8::{number}");
        let start = app.post("/auth/email-login").json(&json!({ "email": format!("{number}@example.com") }));
        let answer = start.from(&address).send().await;
        answer.accepted();
        let body = json!({ "flow": answer.json()["flow"], "code": "00000000" });
        app.post("/auth/email-login/finish").json(&body).from(&address).send().await.problem("validation-error");
    }
    for path in ["/auth/email-login", "/auth/email-login/finish"] {
        app.post(path).json(&json!({})).from("2001:db8::9").send().await.problem("rate-limited");
    }
}

/// Of 10^8 codes, these are 15 in an hour, and the person learns of each five.
async fn a_guesser_gets_five_tries_for_each_of_three_messages_in_an_hour(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let mut messages = 0;
    for _ in 0..6 {
        app.pass(TimeDelta::milliseconds(1));
        let flow = app.flow(&json!({ "email": EMAIL, "tenant": ada.tenant })).await;
        messages += app.mails().await.iter().filter(|mail| mail.kind == MailKind::Login).count();
        for _ in 0..7 {
            let guess = json!({ "flow": flow, "code": "00000000" });
            assert_eq!(app.finish(&guess).await.invalid_fields(), ["code"]);
        }
    }
    assert_eq!(messages, 3);
    let entries = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    let wrong = entries.iter().filter(|entry| entry["metadata"]["reason"] == "INVALID_CODE").count();
    assert_eq!(wrong, 5, "the account is locked after five");
    app.attempt_at(&ada.tenant, EMAIL, PASSWORD).send().await.problem("account-locked");
}

async fn an_insider_who_turns_an_address_gets_no_session(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let mallory = app.colleague_who_may(&ada, "mallory@example.com", &["users:update", "users:read"]).await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.allow_email_login(&grace).await;
    let begun = app.email_login(&grace).await;
    let turn =
        |user: &str| app.patch(&format!("/users/{user}")).by(&mallory).json(&json!({ "email": "mailbox@example.com" }));
    turn(&ada.user).send().await.escalates();
    turn(&grace.user).send().await.ok();
    app.mails().await;
    // The address of the insider is not verified, and only a session of the user asks for that.
    app.flow(&json!({ "email": "mailbox@example.com", "tenant": ada.tenant })).await;
    assert!(app.mails().await.is_empty());
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    let path = format!("/tenants/{}", ada.tenant);
    app.patch(&path).by(&mallory).json(&json!({ "emailLogin": "OFF" })).send().await.lacks("tenants:update");
}

async fn an_administrator_of_another_tenant_gets_no_session(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&system, EMAIL).await.unwrap();
    let mallory = app.by_email("mallory@example.org").await;
    let double = app.colleague(&mallory, EMAIL).await;
    app.allow_email_login(&double).await;
    app.mails().await;
    // Its own tenant decides for its own accounts only.
    let flow = app.flow(&json!({ "email": EMAIL })).await;
    let mails = app.mails().await;
    assert_eq!((mails.len(), mails[0].accounts.len()), (1, 1));
    let session = app.finish(&json!({ "token": tokens(&mails[0])[0] })).await.ok();
    assert_eq!(session["user"]["tenantId"], mallory.tenant);
    // A wrong code counts where a wrong password counts, and nowhere else.
    app.finish(&json!({ "flow": flow, "code": "00000000" })).await.invalid_fields();
    assert_eq!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.len(), 1);
    let path = format!("/tenants/{}", ada.tenant);
    app.patch(&path).by(&mallory).json(&json!({ "emailLogin": "ON" })).send().await.problem("not-found");
}

async fn a_scanner_of_mail_uses_nothing_up(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let page = format!("/account/login?token={}", begun.token);
    for method in [Method::GET, Method::HEAD, Method::GET] {
        let answer = app.request(method.clone(), &page).send_packed().await;
        assert_eq!(answer.status(), 200);
        if method == Method::GET {
            let text = answer.text();
            assert!(text.contains(EMAIL) && !text.contains("<form"), "{text}");
        }
    }
    let posted = app.request(Method::POST, "/account/login").form(&begun.by_link()).send_packed().await;
    assert_eq!(posted.status(), 405, "the page takes no form");
    app.finish(&begun.by_code()).await.ok();
    let (status, text) = app.request(Method::GET, &page).send_to_host().await;
    assert!(status == 400 && text.as_str().unwrap().contains("This link does not work"), "{text}");
}

async fn a_scanner_of_mail_does_not_log_in_where_the_page_has_a_form(app: TestApp) {
    let app = app.with_http_settings(|settings| settings.login_by_link = Some("/console/sign-in/link".to_owned()));
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let answer = app.request(Method::GET, &format!("/account/login?token={}", begun.token)).send().await;
    let text = answer.text();
    assert!(text.contains(r#"<form method="post" action="#) && text.contains(&begun.token), "{text}");
    assert!(answer.header("set-cookie").is_none() && !text.contains("<script"), "{text}");
    app.finish(&begun.by_link()).await.ok();
}

async fn a_flow_is_no_challenge_of_another_kind(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let authenticator = app.enrol(&ada).await;
    let begun = app.email_login(&ada).await;
    let code = authenticator.code(&app, 0);
    app.answer(&begun.flow, &code).await.problem("unauthorized");
    let of_password = app.challenge(&ada).await;
    let pending = app.finish(&begun.by_link()).await.problem("second-factor-required");
    let of_email = pending["challenge"].as_str().unwrap();
    for challenge in [&of_password, of_email] {
        let body = json!({ "flow": challenge, "code": begun.code });
        assert_eq!(app.finish(&body).await.invalid_fields(), ["code"]);
    }
    app.answer(of_email, &code).await.ok();
}
