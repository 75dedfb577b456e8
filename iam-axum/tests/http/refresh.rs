//! `POST /auth/refresh` (`docs/http-api.md#tokens`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person};
use crate::request::{Request, members};

on_every_store![
    "refreshes race for the lock of the store";
    answers_200_with_a_new_token_pair,
    reuse_of_a_spent_token_ends_the_whole_session,
    reuse_is_recorded_as_the_end_of_the_session,
    reuse_ends_no_other_session,
    a_spent_token_gets_the_same_successor_for_ten_seconds,
    concurrent_refreshes_get_the_same_successor,
    the_successor_stays_valid_after_a_repeated_refresh,
    only_the_newest_spent_token_can_be_repeated,
    a_forged_token_is_refused_and_ends_no_session,
    an_idle_session_ends_after_exactly_seven_days,
    each_refresh_gives_another_seven_days,
    a_session_ends_after_thirty_days_despite_refreshes,
    an_access_token_does_not_outlive_its_session,
    each_refresh_is_recorded,
    the_tokens_of_ended_sessions_are_refused,
    access_tokens_and_refresh_tokens_are_not_interchangeable,
    a_missing_or_invalid_field_is_named,
    sessions_survive_a_restart,
];

const INSTANT: TimeDelta = TimeDelta::milliseconds(1);

impl TestApp {
    fn present(&self, token: &str) -> Request<'_> {
        self.post("/auth/refresh").json(&json!({ "refreshToken": token }))
    }

    /// Exchanges a token for its successor.
    async fn exchange(&self, token: &str) -> String {
        let body = self.present(token).send().await.ok();
        body["refreshToken"].as_str().unwrap().to_owned()
    }

    async fn is_refused(&self, token: &str) {
        self.present(token).send().await.problem("unauthorized");
    }
}

async fn answers_200_with_a_new_token_pair(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.pass(TimeDelta::minutes(14));
    let body = app.present(&ada.refresh).send().await.ok();
    assert_eq!(members(&body), ["accessToken", "expiresIn", "refreshToken", "tokenType"]);
    assert_eq!((&body["tokenType"], &body["expiresIn"]), (&json!("Bearer"), &json!(900)));
    assert_ne!(body["refreshToken"], json!(ada.refresh));
    app.pass(TimeDelta::minutes(14));
    let me = app.get("/auth/me").bearer(body["accessToken"].as_str().unwrap()).send().await.ok();
    assert_eq!((&me["user"]["id"], &me["session"]["id"]), (&json!(ada.user), &json!(ada.session)));
}

async fn reuse_of_a_spent_token_ends_the_whole_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let second = app.exchange(&ada.refresh).await;
    app.pass(TimeDelta::seconds(10) + INSTANT);
    assert!(app.knows(&ada).await);
    app.is_refused(&ada.refresh).await;
    assert!(!app.knows(&ada).await, "access tokens stop working at once");
    app.is_refused(&second).await;
}

async fn reuse_is_recorded_as_the_end_of_the_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let stolen = app.login(&ada).await;
    app.exchange(&stolen.refresh).await;
    app.pass(TimeDelta::minutes(1));
    app.is_refused(&stolen.refresh).await;
    app.is_refused(&stolen.refresh).await;
    let entries = app.audit(&ada, &[("action", "LOGOUT")]).await;
    assert_eq!(entries.len(), 1);
    assert_eq!((&entries[0]["resourceType"], &entries[0]["resourceId"]), (&json!("SESSION"), &json!(stolen.session)));
    assert_eq!((&entries[0]["userId"], &entries[0]["metadata"]["reason"]), (&json!(ada.user), &json!("TOKEN_REUSE")));
}

async fn reuse_ends_no_other_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let stolen = app.login(&ada).await;
    app.exchange(&stolen.refresh).await;
    app.pass(TimeDelta::minutes(1));
    app.is_refused(&stolen.refresh).await;
    assert!(app.knows(&ada).await);
    app.exchange(&ada.refresh).await;
}

async fn a_spent_token_gets_the_same_successor_for_ten_seconds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let successor = app.exchange(&ada.refresh).await;
    for _ in 0..2 {
        app.pass(TimeDelta::seconds(5));
        let body = app.present(&ada.refresh).send().await.ok();
        assert_eq!(body["refreshToken"], json!(successor));
        app.get("/auth/me").bearer(body["accessToken"].as_str().unwrap()).send().await.ok();
    }
    app.pass(INSTANT);
    app.is_refused(&ada.refresh).await;
}

async fn concurrent_refreshes_get_the_same_successor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bodies = join_all((0..4).map(|_| app.exchange(&ada.refresh))).await;
    assert!(bodies.iter().all(|successor| *successor == bodies[0]));
    app.exchange(&bodies[0]).await;
}

async fn the_successor_stays_valid_after_a_repeated_refresh(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let successor = app.exchange(&ada.refresh).await;
    assert_eq!(app.exchange(&ada.refresh).await, successor);
    app.pass(TimeDelta::hours(1));
    app.exchange(&successor).await;
}

async fn only_the_newest_spent_token_can_be_repeated(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let second = app.exchange(&ada.refresh).await;
    let third = app.exchange(&second).await;
    assert_eq!(app.exchange(&second).await, third);
    app.is_refused(&ada.refresh).await;
    app.is_refused(&third).await;
}

async fn a_forged_token_is_refused_and_ends_no_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let successor = app.exchange(&ada.refresh).await;
    app.pass(TimeDelta::minutes(1));
    let mut forged: Vec<String> = [&ada.refresh, &successor].into_iter().flat_map(|token| distorted(token)).collect();
    forged.extend(["".to_owned(), "x".to_owned(), "a.b.c".to_owned(), "a".repeat(10_000)]);
    for token in &forged {
        let status = app.present(token).send().await.status();
        assert!(matches!(status, 400 | 401), "{token}");
    }
    assert!(app.knows(&ada).await);
    app.exchange(&successor).await;
}

/// Copies of the token: for every position one with another character there, one without the last character, and one
/// with an extra character.
fn distorted(token: &str) -> Vec<String> {
    let replaced = (0..token.len()).map(|at| {
        let replacement = if &token[at..=at] == "A" { "B" } else { "A" };
        format!("{}{replacement}{}", &token[..at], &token[at + 1..])
    });
    replaced.chain([token[..token.len() - 1].to_owned(), format!("{token}A")]).collect()
}

async fn an_idle_session_ends_after_exactly_seven_days(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let late = app.login(&ada).await;
    app.pass(TimeDelta::days(7) - INSTANT);
    app.exchange(&ada.refresh).await;
    app.pass(INSTANT);
    app.is_refused(&late.refresh).await;
}

async fn each_refresh_gives_another_seven_days(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.pass(TimeDelta::days(6));
    let second = app.exchange(&ada.refresh).await;
    app.pass(TimeDelta::days(7) - INSTANT);
    app.exchange(&second).await;
}

async fn a_session_ends_after_thirty_days_despite_refreshes(app: TestApp) {
    let mut token = app.register("ada@example.com").await.refresh;
    for _ in 0..5 {
        app.pass(TimeDelta::days(6) - INSTANT);
        token = app.exchange(&token).await;
    }
    app.pass(INSTANT * 4);
    token = app.exchange(&token).await;
    app.pass(INSTANT);
    app.is_refused(&token).await;
}

async fn an_access_token_does_not_outlive_its_session(app: TestApp) {
    let mut ada = app.register("ada@example.com").await;
    for _ in 0..5 {
        app.pass(TimeDelta::days(6) - TimeDelta::minutes(1));
        let body = app.present(&ada.refresh).send().await.ok();
        ada.refresh = body["refreshToken"].as_str().unwrap().to_owned();
        ada.access = body["accessToken"].as_str().unwrap().to_owned();
    }
    app.pass(TimeDelta::minutes(5) - INSTANT);
    assert!(app.knows(&ada).await);
    app.pass(INSTANT);
    assert!(!app.knows(&ada).await);
    // Nor a session that ends sooner than the token because it is not refreshed.
    let brief = app.with_settings(|settings| settings.session_idle = TimeDelta::minutes(2)).await;
    let body = brief.attempt("ada@example.com", PASSWORD).send().await.ok();
    assert_eq!(body["expiresIn"], 120);
}

async fn each_refresh_is_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let second = app.exchange(&ada.refresh).await;
    app.exchange(&second).await;
    let entries = app.audit(&ada, &[("action", "TOKEN_REFRESH")]).await;
    assert_eq!(entries.len(), 2);
    for entry in entries {
        assert_eq!((&entry["resourceType"], &entry["resourceId"]), (&json!("SESSION"), &json!(ada.session)));
        assert_eq!(entry["userId"], json!(ada.user));
        assert!(!entry.to_string().contains(&second), "no entry shows a token");
    }
}

async fn the_tokens_of_ended_sessions_are_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let out = app.login(&ada).await;
    app.post("/auth/logout").by(&out).send().await.no_content();
    app.is_refused(&out.refresh).await;
    for status in ["SUSPENDED", "INACTIVE"] {
        let bob = app.colleague(&ada, &format!("{status}@example.com")).await;
        app.set_status(&ada, &bob.user, status).await;
        app.is_refused(&bob.refresh).await;
    }
}

async fn access_tokens_and_refresh_tokens_are_not_interchangeable(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.is_refused(&ada.access).await;
    app.get("/auth/me").bearer(&ada.refresh).send().await.problem("unauthorized");
    assert_ne!(ada.refresh.split('.').count(), 3, "a refresh token is opaque to its holder");
}

async fn a_missing_or_invalid_field_is_named(app: TestApp) {
    let refused = async |body: Value| app.post("/auth/refresh").json(&body).send().await.invalid_fields();
    assert_eq!(refused(json!({})).await, ["refreshToken"]);
    assert_eq!(refused(json!({ "refreshToken": 17 })).await, ["refreshToken"]);
    assert_eq!(refused(json!({ "refreshToken": null })).await, ["refreshToken"]);
    assert_eq!(refused(json!({ "refreshToken": "x", "token": "x" })).await, ["token"]);
}

async fn sessions_survive_a_restart(app: TestApp) {
    let ada: Person = app.register("ada@example.com").await;
    let app = app.restarted().await;
    assert!(app.knows(&ada).await);
    let second = app.exchange(&ada.refresh).await;
    assert_eq!(app.restarted().await.exchange(&ada.refresh).await, second);
}
