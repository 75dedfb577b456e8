//! `POST /auth/password` (`docs/http-api.md#the-own-password`).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};
use crate::request::{Request, Response};

in_memory![
    the_new_password_replaces_the_old_one,
    a_change_ends_all_other_sessions_of_the_caller,
    a_change_is_recorded_with_the_sessions_that_it_ends,
    a_wrong_current_password_is_400_and_changes_nothing,
    a_wrong_current_password_counts_like_a_failed_login,
    during_a_lockout_the_right_current_password_is_403,
    a_success_resets_the_failed_attempts,
    the_new_password_must_follow_the_policy,
    missing_and_invalid_fields_are_named,
    a_change_needs_a_session,
];

const NEW_PASSWORD: &str = "N3w&Password";

fn change<'a>(app: &'a TestApp, person: &Person, current: &str, new: &str) -> Request<'a> {
    let body = json!({ "currentPassword": current, "newPassword": new });
    app.post("/auth/password").by(person).json(&body)
}

async fn the_new_password_replaces_the_old_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    change(&app, &ada, PASSWORD, NEW_PASSWORD).send().await.no_content();
    app.attempt("ada@example.com", PASSWORD).send().await.problem("unauthorized");
    app.attempt("ada@example.com", NEW_PASSWORD).send().await.ok();
}

async fn a_change_ends_all_other_sessions_of_the_caller(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let [here, there] = [app.login(&ada).await, app.login(&ada).await];
    change(&app, &here, PASSWORD, NEW_PASSWORD).send().await.no_content();
    assert!(app.knows(&here).await && app.knows(&bob).await);
    assert!(!app.knows(&ada).await && !app.knows(&there).await);
    app.post("/auth/refresh").json(&json!({ "refreshToken": here.refresh })).send().await.ok();
}

async fn a_change_is_recorded_with_the_sessions_that_it_ends(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [second, third] = [app.login(&ada).await, app.login(&ada).await];
    change(&app, &ada, PASSWORD, NEW_PASSWORD).header("x-correlation-id", "changing").send().await.no_content();
    let entries = app.audit(&ada, &[("correlationId", "changing")]).await;
    assert_eq!(entries.len(), 3, "{entries:?}");
    let changes: Vec<&Value> = entries.iter().filter(|entry| entry["action"] == "PASSWORD_CHANGE").collect();
    assert_eq!(changes.len(), 1);
    assert_eq!((&changes[0]["resourceType"], &changes[0]["resourceId"]), (&json!("USER"), &json!(ada.user)));
    assert_eq!(changes[0]["userId"], json!(ada.user));
    for ended in [&second, &third] {
        let is_its_end = |entry: &&Value| entry["action"] == "LOGOUT" && entry["resourceId"] == ended.session;
        let end = entries.iter().find(is_its_end).unwrap();
        assert_eq!((&end["userId"], &end["metadata"]["reason"]), (&json!(ada.user), &json!("PASSWORD_CHANGE")));
    }
    let shown = format!("{entries:?}");
    assert!(!shown.contains(NEW_PASSWORD) && !shown.contains("$argon2"));
}

async fn a_wrong_current_password_is_400_and_changes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.login(&ada).await;
    let refused = change(&app, &ada, WRONG_PASSWORD, NEW_PASSWORD).send().await;
    assert_eq!(refused.invalid_fields(), ["currentPassword"]);
    assert!(app.knows(&other).await);
    app.attempt("ada@example.com", PASSWORD).send().await.ok();
}

async fn a_wrong_current_password_counts_like_a_failed_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for count in 1..=5 {
        let refused = change(&app, &ada, WRONG_PASSWORD, NEW_PASSWORD).send().await;
        assert_eq!(refused.invalid_fields(), ["currentPassword"]);
        let entry = &app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await[0];
        let expected = json!({ "email": "ada@example.com", "reason": "INVALID_PASSWORD", "attemptCount": count });
        assert_eq!((&entry["metadata"], &entry["userId"]), (&expected, &Value::Null));
    }
    app.attempt_at(&ada.tenant, "ada@example.com", PASSWORD).send().await.problem("account-locked");
}

async fn during_a_lockout_the_right_current_password_is_403(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..5 {
        app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let locked = change(&app, &ada, PASSWORD, NEW_PASSWORD).send().await;
    assert_eq!(locked.problem("account-locked")["retryAfter"], 900);
    assert_eq!(locked.header("retry-after"), Some("900"));
    app.pass(chrono::TimeDelta::minutes(15));
    app.attempt("ada@example.com", PASSWORD).send().await.ok();
}

async fn a_success_resets_the_failed_attempts(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..4 {
        change(&app, &ada, WRONG_PASSWORD, NEW_PASSWORD).send().await.problem("validation-error");
    }
    change(&app, &ada, PASSWORD, NEW_PASSWORD).send().await.no_content();
    app.attempt("ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    app.attempt("ada@example.com", NEW_PASSWORD).send().await.ok();
}

async fn the_new_password_must_follow_the_policy(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let too_long = format!("Aa1!{}", "a".repeat(125));
    for weak in ["Pass0r!", "passw0rd!", "PASSW0RD!", "Password!", "Passw0rd", "", &too_long] {
        let refused = change(&app, &ada, PASSWORD, weak).send().await;
        assert_eq!(refused.invalid_fields(), ["newPassword"], "{weak}");
    }
    app.attempt("ada@example.com", PASSWORD).send().await.ok();
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = async |body: Value| -> Response { app.post("/auth/password").by(&ada).json(&body).send().await };
    assert_eq!(refused(json!({})).await.invalid_fields(), ["currentPassword", "newPassword"]);
    assert_eq!(refused(json!({ "newPassword": NEW_PASSWORD })).await.invalid_fields(), ["currentPassword"]);
    assert_eq!(
        refused(json!({ "currentPassword": 17, "newPassword": "x" })).await.invalid_fields(),
        ["currentPassword"]
    );
    assert_eq!(refused(json!({ "password": NEW_PASSWORD })).await.invalid_fields(), ["password"]);
    assert!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.is_empty(), "a missing field is no failed attempt");
}

async fn a_change_needs_a_session(app: TestApp) {
    let body = json!({ "currentPassword": PASSWORD, "newPassword": NEW_PASSWORD });
    app.post("/auth/password").json(&body).send().await.problem("unauthorized");
}
