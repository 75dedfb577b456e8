//! Wrong codes and wrong tokens: they count like wrong passwords, and all refusals are alike.

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use super::EMAIL;
use crate::app::TestApp;
use crate::mail::kinds;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};

in_memory_with_mail![
    a_wrong_code_counts_like_a_wrong_password,
    the_fifth_wrong_code_ends_the_message,
    while_the_account_is_locked_link_and_code_are_refused,
    a_login_clears_no_failure,
    the_lock_of_a_login_without_a_tenant_counts_codes_too,
    a_wrong_code_without_a_tenant_counts_in_each_account,
    what_is_not_eight_digits_names_code_and_does_not_count,
    every_code_that_is_not_valid_gets_the_same_answer,
    every_token_that_is_not_valid_gets_the_same_answer,
    a_flow_works_for_an_hour,
];

/// The reasons and the counts of failed logins, oldest first.
async fn failures(app: &TestApp, reader: &Person) -> Vec<(String, u64)> {
    let entries = app.audit(reader, &[("action", "LOGIN_FAILURE")]).await;
    let failure = |entry: &Value| {
        let metadata = &entry["metadata"];
        (metadata["reason"].as_str().unwrap().to_owned(), metadata["attemptCount"].as_u64().unwrap())
    };
    entries.iter().rev().map(failure).collect()
}

async fn a_wrong_code_counts_like_a_wrong_password(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    for _ in 0..2 {
        app.attempt_at(&ada.tenant, EMAIL, WRONG_PASSWORD).send().await.problem("unauthorized");
        app.pass(TimeDelta::milliseconds(1));
    }
    for _ in 0..3 {
        assert_eq!(app.finish(&begun.by_wrong_code()).await.invalid_fields(), ["code"]);
        app.pass(TimeDelta::milliseconds(1));
    }
    let problem = app.attempt_at(&ada.tenant, EMAIL, PASSWORD).send().await.problem("account-locked");
    assert!(problem["retryAfter"].as_u64().unwrap() <= 900);
    let expected = [("INVALID_PASSWORD", 1), ("INVALID_PASSWORD", 2)].into_iter();
    let expected =
        expected.chain([("INVALID_CODE", 3), ("INVALID_CODE", 4), ("INVALID_CODE", 5), ("ACCOUNT_LOCKED", 5)]);
    let expected: Vec<(String, u64)> = expected.map(|(reason, count)| (reason.to_owned(), count)).collect();
    assert_eq!(failures(&app, &ada).await, expected);
    assert_eq!(kinds(&app.mails().await), [(MailKind::NewLoginBlocked, EMAIL)], "its owner learns of it");
}

async fn the_fifth_wrong_code_ends_the_message(app: TestApp) {
    let app = app.with_settings(|settings| settings.lockout.failures = 100).await;
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    for _ in 0..5 {
        assert_eq!(app.finish(&begun.by_wrong_code()).await.invalid_fields(), ["code"]);
    }
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
    // Four leave it as it is.
    let begun = app.email_login(&ada).await;
    for _ in 0..4 {
        assert_eq!(app.finish(&begun.by_wrong_code()).await.invalid_fields(), ["code"]);
    }
    app.finish(&begun.by_code()).await.ok();
}

async fn while_the_account_is_locked_link_and_code_are_refused(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, EMAIL, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let never = json!({ "token": "iaml_" });
    let [refused, invented] = [app.finish(&begun.by_link()).await, app.finish(&never).await];
    assert_eq!(refused.problem("validation-error")["errors"], invented.problem("validation-error")["errors"]);
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    assert_eq!(failures(&app, &ada).await.last().unwrap(), &("ACCOUNT_LOCKED".to_owned(), 5));
    app.pass(TimeDelta::minutes(15));
    let begun = app.email_login(&ada).await;
    app.finish(&begun.by_code()).await.ok();
}

/// A thief of the mailbox could otherwise guess passwords without end.
async fn a_login_clears_no_failure(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    for _ in 0..4 {
        app.attempt_at(&ada.tenant, EMAIL, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let begun = app.email_login(&ada).await;
    app.finish(&begun.by_link()).await.ok();
    app.attempt_at(&ada.tenant, EMAIL, WRONG_PASSWORD).send().await.problem("unauthorized");
    app.attempt_at(&ada.tenant, EMAIL, PASSWORD).send().await.problem("account-locked");
}

async fn the_lock_of_a_login_without_a_tenant_counts_codes_too(app: TestApp) {
    app.by_email(EMAIL).await;
    for email in ["unknown@example.com", EMAIL] {
        let flow = app.flow(&json!({ "email": email })).await;
        for _ in 0..5 {
            let guess = json!({ "flow": flow, "code": "00000000" });
            assert_eq!(app.finish(&guess).await.invalid_fields(), ["code"]);
        }
        app.attempt(email, PASSWORD).send().await.problem("account-locked");
    }
}

async fn a_wrong_code_without_a_tenant_counts_in_each_account(app: TestApp) {
    // The last one gets no message, which must not show.
    let people = [app.by_email(EMAIL).await, app.by_email(EMAIL).await, app.register(EMAIL).await];
    app.mails().await;
    let flow = app.flow(&json!({ "email": EMAIL })).await;
    app.mails().await;
    app.finish(&json!({ "flow": flow, "code": "00000000" })).await.invalid_fields();
    for person in &people {
        assert_eq!(failures(&app, person).await, [("INVALID_CODE".to_owned(), 1)]);
    }
}

async fn what_is_not_eight_digits_names_code_and_does_not_count(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    for code in ["", "1234567", "123456789", "1234567x", "\u{ff11}2345678"] {
        for _ in 0..2 {
            let body = json!({ "flow": begun.flow, "code": code });
            assert_eq!(app.finish(&body).await.invalid_fields(), ["code"]);
        }
    }
    assert!(failures(&app, &ada).await.is_empty());
    app.finish(&begun.by_code()).await.ok();
}

async fn every_code_that_is_not_valid_gets_the_same_answer(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let [older, used] = [app.email_login(&ada).await, app.email_login(&ada).await];
    app.finish(&used.by_code()).await.ok();
    let newest = app.email_login(&ada).await;
    let grace = app.by_email("grace@example.com").await;
    let expired = app.email_login(&grace).await;
    app.pass(TimeDelta::minutes(10));
    let of_unknown = app.flow(&json!({ "email": "unknown@example.com" })).await;
    let flow = |flow: &str| json!({ "flow": flow, "code": newest.code });
    let mut answers = Vec::new();
    for body in [
        older.by_code(),
        used.by_code(),
        newest.by_wrong_code(),
        newest.by_code(),
        expired.by_code(),
        flow(&of_unknown),
        flow("x"),
        flow("iamc_"),
        flow(&ada.refresh),
        flow(&newest.token),
    ] {
        let problem = app.finish(&body).await.problem("validation-error");
        answers.push((problem["status"].clone(), problem["detail"].clone(), problem["errors"].clone()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].2[0]["field"], "code");
}

async fn every_token_that_is_not_valid_gets_the_same_answer(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let older = app.email_login(&ada).await;
    let used = app.email_login(&ada).await;
    app.finish(&used.by_link()).await.ok();
    app.post("/auth/password/forgot").json(&json!({ "email": EMAIL })).send().await.accepted();
    let reset = app.token(MailKind::Reset, EMAIL).await;
    let expired = app.email_login(&ada).await;
    app.pass(TimeDelta::minutes(10));
    let mut answers = Vec::new();
    for token in [&older.token, &used.token, &reset, &expired.token, "iaml_", "x", "", &ada.refresh, &expired.flow] {
        let problem = app.finish(&json!({ "token": token })).await.problem("validation-error");
        answers.push((problem["status"].clone(), problem["detail"].clone(), problem["errors"].clone()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].2[0]["field"], "token");
}

async fn a_flow_works_for_an_hour(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let failed = async |after: TimeDelta| {
        let flow = app.flow(&json!({ "email": EMAIL, "tenant": ada.tenant })).await;
        app.pass(after);
        app.finish(&json!({ "flow": flow, "code": "00000000" })).await.invalid_fields();
        failures(&app, &app.login(&ada).await).await.len()
    };
    assert_eq!(failed(TimeDelta::hours(1) - TimeDelta::milliseconds(1)).await, 1);
    assert_eq!(failed(TimeDelta::hours(1)).await, 1, "a flow that has ended counts nothing");
}
