//! Concurrent requests that concern one login by e-mail.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::EMAIL;
use crate::access_table::fresh_email;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Request, Response};

on_every_store_with_mail![
    "the locks of the store decide who is first";
    a_code_raced_on_two_replicas_logs_in_once,
    a_link_raced_with_its_code_logs_in_once,
    concurrent_guesses_of_a_code_cannot_exceed_five,
    a_login_beside_a_suspension_leaves_no_session,
    a_login_beside_a_newer_request_uses_up_its_own_message_only,
];

/// The order in which two concurrent requests take effect is left to chance.
const ROUNDS: usize = 4;

fn finish<'a>(app: &'a TestApp, body: &Value) -> Request<'a> {
    app.post("/auth/email-login/finish").json(body)
}

fn is_ok(answer: &Response) -> bool {
    assert!([200, 400].contains(&answer.status()), "{}", answer.text());
    answer.status() == 200
}

async fn a_code_raced_on_two_replicas_logs_in_once(app: TestApp) {
    let other = app.restarted().await;
    for _ in 0..ROUNDS {
        let ada = app.by_email(&fresh_email()).await;
        let body = app.email_login(&ada).await.by_code();
        let (one, two) = tokio::join!(finish(&app, &body).send_in_race(), finish(&other, &body).send_in_race());
        assert!(is_ok(&one) != is_ok(&two), "{} {}", one.text(), two.text());
        let sessions = app.get(&format!("/users/{}/sessions", ada.user)).by(&ada).send().await.ok();
        assert_eq!(sessions["data"].as_array().unwrap().len(), 2, "that of the registration, and one more");
    }
}

async fn a_link_raced_with_its_code_logs_in_once(app: TestApp) {
    let other = app.restarted().await;
    for _ in 0..ROUNDS {
        let ada = app.by_email(&fresh_email()).await;
        let begun = app.email_login(&ada).await;
        let (by_link, by_code) = (begun.by_link(), begun.by_code());
        let (one, two) = tokio::join!(finish(&app, &by_link).send_in_race(), finish(&other, &by_code).send_in_race());
        assert!(is_ok(&one) != is_ok(&two), "{} {}", one.text(), two.text());
    }
}

async fn concurrent_guesses_of_a_code_cannot_exceed_five(app: TestApp) {
    let app = app.with_settings(|settings| settings.lockout.failures = 100).await;
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let wrong = begun.by_wrong_code();
    for answer in join_all((0..12).map(|_| finish(&app, &wrong).send_in_race())).await {
        assert!(!is_ok(&answer));
    }
    // Guesses after the fifth are refused unseen.
    assert_eq!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.len(), 5);
    assert!(!is_ok(&app.finish(&begun.by_code()).await));
}

async fn a_login_beside_a_suspension_leaves_no_session(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    for _ in 0..ROUNDS {
        let grace = app.colleague(&ada, &fresh_email()).await;
        app.allow_email_login(&grace).await;
        let body = app.email_login(&grace).await.by_link();
        let suspend = app.post(&format!("/users/{}/suspend", grace.user)).by(&ada);
        let (login, suspended) = tokio::join!(finish(&app, &body).send_in_race(), suspend.send_in_race());
        suspended.ok();
        if is_ok(&login) {
            assert!(!app.knows(&Person::logged_in(&login.json())).await);
        }
        assert!(!is_ok(&app.finish(&body).await));
    }
}

async fn a_login_beside_a_newer_request_uses_up_its_own_message_only(app: TestApp) {
    for _ in 0..ROUNDS {
        let ada = app.by_email(&fresh_email()).await;
        let older = app.email_login(&ada).await;
        app.pass(TimeDelta::milliseconds(1));
        let body = older.by_code();
        let (login, newer) = tokio::join!(finish(&app, &body).send_in_race(), app.email_login(&ada));
        is_ok(&login);
        assert!(!is_ok(&app.finish(&older.by_link()).await), "it is used or replaced");
        app.finish(&newer.by_code()).await.ok();
        assert_eq!(app.finish(&json!({ "token": newer.token })).await.invalid_fields(), ["token"]);
    }
}
