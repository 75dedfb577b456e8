//! New passwords by mail (`docs/http-api.md#links-by-mail`).

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::mail::{kinds, tokens};
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};
use crate::request::Response;

in_memory_with_mail![
    the_link_sets_a_new_password_and_logs_nobody_in,
    a_reset_ends_every_session_and_the_lockout,
    a_reset_verifies_the_address,
    a_reset_is_recorded_as_the_users_own,
    a_request_is_recorded_with_the_address_it_came_from,
    a_link_works_for_30_minutes,
    a_token_works_once,
    a_newer_link_ends_the_older_one,
    every_token_that_is_not_valid_gets_the_same_answer,
    a_password_that_breaks_the_policy_leaves_the_link_valid,
    the_answer_is_the_same_for_an_address_without_an_account,
    one_message_has_a_link_for_each_account,
    of_several_accounts_only_the_verified_ones_get_a_link,
    at_most_five_accounts_get_a_link,
    a_named_tenant_limits_the_message_to_its_account,
    no_tenant_learns_who_asked_elsewhere,
    users_who_are_not_active_get_nothing_and_cannot_reset,
    the_users_of_a_suspended_tenant_get_nothing,
    a_message_that_is_sent_again_has_the_same_link,
    a_link_that_was_used_does_not_work_again_when_its_message_is_sent_again,
    a_reset_ends_a_pending_change_of_the_address,
    an_administrator_starts_a_reset_for_another_user,
    a_reset_for_another_user_needs_what_that_user_may_do,
    a_reset_is_started_for_active_users_only,
    a_changed_address_ends_the_link,
    a_changed_password_ends_the_link,
    missing_and_invalid_fields_are_named,
];

const NEW_PASSWORD: &str = "N3w&Password";

async fn forgot(app: &TestApp, email: &str) {
    app.post("/auth/password/forgot").json(&json!({ "email": email })).send().await.accepted();
}

async fn reset(app: &TestApp, token: &str, password: &str) -> Response {
    app.post("/auth/password/reset").json(&json!({ "token": token, "newPassword": password })).send().await
}

/// The token of the link that a request sends to an address with one account.
async fn requested(app: &TestApp, email: &str) -> String {
    app.mails().await;
    forgot(app, email).await;
    app.token(MailKind::Reset, email).await
}

/// Verifies the address of a person who has just registered.
async fn verify(app: &TestApp, person: &Person) {
    let token = app.token(MailKind::Verify, &person.email).await;
    app.post("/auth/email/verify").json(&json!({ "token": token })).send().await.no_content();
}

async fn the_link_sets_a_new_password_and_logs_nobody_in(app: TestApp) {
    app.register("ada@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    let answer = reset(&app, &token, NEW_PASSWORD).await;
    answer.no_content();
    app.attempt("ada@example.com", PASSWORD).send().await.problem("unauthorized");
    app.attempt("ada@example.com", NEW_PASSWORD).send().await.ok();
    assert_eq!(kinds(&app.mails().await), [(MailKind::PasswordChanged, "ada@example.com")]);
}

async fn a_reset_ends_every_session_and_the_lockout(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let again = app.login(&ada).await;
    let token = requested(&app, "ada@example.com").await;
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, "ada@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, "ada@example.com", PASSWORD).send().await.problem("account-locked");
    reset(&app, &token, NEW_PASSWORD).await.no_content();
    assert!(!app.knows(&ada).await && !app.knows(&again).await);
    app.attempt_at(&ada.tenant, "ada@example.com", NEW_PASSWORD).send().await.ok();
}

async fn a_reset_verifies_the_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let token = requested(&app, "grace@example.com").await;
    reset(&app, &token, NEW_PASSWORD).await.no_content();
    assert_eq!(app.user(&ada, &grace).await["emailVerifiedAt"], json!(app.now()));
}

async fn a_reset_is_recorded_as_the_users_own(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let token = requested(&app, "grace@example.com").await;
    let body = json!({ "token": token, "newPassword": NEW_PASSWORD });
    app.post("/auth/password/reset").header("x-correlation-id", "resetting").json(&body).send().await.no_content();
    let entries = app.audit(&ada, &[("correlationId", "resetting")]).await;
    let found = |action: &str| {
        let found: Vec<&Value> = entries.iter().filter(|entry| entry["action"] == action).collect();
        assert_eq!(found.len(), 1, "{action}: {entries:?}");
        found[0]
    };
    let change = found("PASSWORD_CHANGE");
    assert_eq!((&change["resourceId"], &change["userId"]), (&json!(grace.user), &json!(grace.user)));
    assert_eq!(change["metadata"], json!({ "method": "reset" }));
    assert_eq!(found("EMAIL_VERIFIED")["userId"], json!(grace.user));
    assert_eq!(found("LOGOUT")["resourceId"], json!(grace.session));
    let shown = format!("{:?}", app.audit(&ada, &[]).await);
    assert!(!shown.contains(&token) && !shown.contains(NEW_PASSWORD));
}

async fn a_request_is_recorded_with_the_address_it_came_from(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    verify(&app, &ada).await;
    let request = app.post("/auth/password/forgot").json(&json!({ "email": "ada@example.com" }));
    request.from("192.0.2.77").header("x-correlation-id", "forgetting").send().await.accepted();
    app.mails().await;
    let entries = app.audit(&ada, &[("correlationId", "forgetting")]).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!((&entry["action"], &entry["resourceId"]), (&json!("PASSWORD_RESET_REQUESTED"), &json!(ada.user)));
    assert_eq!((&entry["userId"], &entry["ipAddress"]), (&Value::Null, &json!("192.0.2.77")));
}

async fn a_link_works_for_30_minutes(app: TestApp) {
    app.register("ada@example.com").await;
    app.register("grace@example.com").await;
    let [first, second] = [requested(&app, "ada@example.com").await, requested(&app, "grace@example.com").await];
    app.pass(TimeDelta::minutes(30) - TimeDelta::milliseconds(1));
    reset(&app, &first, NEW_PASSWORD).await.no_content();
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(reset(&app, &second, NEW_PASSWORD).await.invalid_fields(), ["token"]);
}

async fn a_token_works_once(app: TestApp) {
    app.register("ada@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    reset(&app, &token, NEW_PASSWORD).await.no_content();
    assert_eq!(reset(&app, &token, PASSWORD).await.invalid_fields(), ["token"]);
    app.attempt("ada@example.com", NEW_PASSWORD).send().await.ok();
}

async fn a_newer_link_ends_the_older_one(app: TestApp) {
    app.register("ada@example.com").await;
    let older = requested(&app, "ada@example.com").await;
    let newer = requested(&app, "ada@example.com").await;
    assert_eq!(reset(&app, &older, NEW_PASSWORD).await.invalid_fields(), ["token"]);
    reset(&app, &newer, NEW_PASSWORD).await.no_content();
}

async fn every_token_that_is_not_valid_gets_the_same_answer(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let verification = app.token(MailKind::Verify, "ada@example.com").await;
    let spent = requested(&app, "ada@example.com").await;
    reset(&app, &spent, NEW_PASSWORD).await.no_content();
    app.register("grace@example.com").await;
    let expired = requested(&app, "grace@example.com").await;
    app.pass(TimeDelta::minutes(30));
    let mut answers = Vec::new();
    for token in [&verification, &spent, &expired, "iaml_", "x", &ada.refresh, &ada.access] {
        let problem = reset(&app, token, PASSWORD).await.problem("validation-error");
        answers.push((problem["status"].clone(), problem["detail"].clone(), problem["errors"].clone()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].2[0]["field"], "token");
}

async fn a_password_that_breaks_the_policy_leaves_the_link_valid(app: TestApp) {
    app.register("ada@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    assert_eq!(reset(&app, &token, "short").await.invalid_fields(), ["newPassword"]);
    reset(&app, &token, NEW_PASSWORD).await.no_content();
}

async fn the_answer_is_the_same_for_an_address_without_an_account(app: TestApp) {
    app.register("ada@example.com").await;
    app.mails().await;
    let answer = async |body: Value| {
        let answer = app.post("/auth/password/forgot").json(&body).send().await;
        answer.accepted();
        let names: Vec<String> = answer.headers.keys().map(ToString::to_string).collect();
        (answer.status(), answer.text(), names)
    };
    let known = answer(json!({ "email": "ada@example.com" })).await;
    assert_eq!(app.mails().await.len(), 1);
    for body in [
        json!({ "email": "nobody@example.com" }),
        json!({ "email": "ada@example.com", "tenant": "no-such-tenant" }),
        json!({ "email": "ada@example.com", "tenant": "not a slug" }),
    ] {
        assert_eq!(answer(body).await, known);
        assert!(app.mails().await.is_empty());
    }
}

async fn one_message_has_a_link_for_each_account(app: TestApp) {
    let [first, second] = [app.register("ada@example.com").await, app.register("ada@example.com").await];
    app.mails().await;
    forgot(&app, "ADA@example.com").await;
    let mails = app.mails().await;
    assert_eq!((mails.len(), mails[0].accounts.len()), (1, 2));
    for token in tokens(&mails[0]) {
        reset(&app, &token, NEW_PASSWORD).await.no_content();
    }
    for person in [first, second] {
        app.attempt_at(&person.tenant, "ada@example.com", NEW_PASSWORD).send().await.ok();
    }
}

async fn of_several_accounts_only_the_verified_ones_get_a_link(app: TestApp) {
    let own = app.register("ada@example.com").await;
    verify(&app, &own).await;
    let of_a_stranger = app.register("ada@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    reset(&app, &token, NEW_PASSWORD).await.no_content();
    app.attempt_at(&own.tenant, "ada@example.com", NEW_PASSWORD).send().await.ok();
    app.attempt_at(&of_a_stranger.tenant, "ada@example.com", PASSWORD).send().await.ok();
}

async fn at_most_five_accounts_get_a_link(app: TestApp) {
    for _ in 0..6 {
        app.register("ada@example.com").await;
    }
    app.mails().await;
    forgot(&app, "ada@example.com").await;
    assert_eq!(app.mails().await[0].accounts.len(), 5);
}

async fn a_named_tenant_limits_the_message_to_its_account(app: TestApp) {
    let [_, second] = [app.register("ada@example.com").await, app.register("ada@example.com").await];
    app.mails().await;
    let body = json!({ "email": "ada@example.com", "tenant": second.tenant });
    app.post("/auth/password/forgot").json(&body).send().await.accepted();
    let mails = app.mails().await;
    assert_eq!(mails[0].accounts.len(), 1);
    reset(&app, &tokens(&mails[0])[0], NEW_PASSWORD).await.no_content();
    app.attempt_at(&second.tenant, "ada@example.com", NEW_PASSWORD).send().await.ok();
}

async fn no_tenant_learns_who_asked_elsewhere(app: TestApp) {
    let mallory = app.register("mallory@example.com").await;
    app.add_user(&mallory, "ada@example.com").await;
    app.mails().await;
    let request = app.post("/auth/password/forgot").json(&json!({ "email": "ada@example.com" }));
    app.register("ada@example.com").await;
    request.from("192.0.2.77").header("x-correlation-id", "forgetting").send().await.accepted();
    app.mails().await;
    assert!(app.audit(&mallory, &[("correlationId", "forgetting")]).await.is_empty());
    let entries = app.audit(&mallory, &[("action", "PASSWORD_RESET_REQUESTED")]).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!((&entries[0]["ipAddress"], &entries[0]["userAgent"]), (&Value::Null, &Value::Null));
}

async fn users_who_are_not_active_get_nothing_and_cannot_reset(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for status in ["SUSPENDED", "INACTIVE"] {
        let email = format!("{}@example.com", status.to_lowercase());
        let user = app.add_user(&ada, &email).await;
        let token = requested(&app, &email).await;
        app.set_status(&ada, &user, status).await;
        assert_eq!(reset(&app, &token, NEW_PASSWORD).await.invalid_fields(), ["token"]);
        forgot(&app, &email).await;
        assert!(app.mails().await.is_empty(), "{status}");
    }
}

async fn the_users_of_a_suspended_tenant_get_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    let system = iam_core::Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&system).await.unwrap();
    assert_eq!(reset(&app, &token, NEW_PASSWORD).await.invalid_fields(), ["token"]);
    forgot(&app, "ada@example.com").await;
    assert!(app.mails().await.is_empty());
}

async fn a_message_that_is_sent_again_has_the_same_link(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    app.lose_answers(true);
    forgot(&app, "ada@example.com").await;
    let first = app.token(MailKind::Reset, "ada@example.com").await;
    app.lose_answers(false);
    app.pass(TimeDelta::minutes(1));
    assert_eq!(app.token(MailKind::Reset, "ada@example.com").await, first);
    assert_eq!(app.audit(&ada, &[("action", "PASSWORD_RESET_REQUESTED")]).await.len(), 1);
    reset(&app, &first, NEW_PASSWORD).await.no_content();
}

async fn a_link_that_was_used_does_not_work_again_when_its_message_is_sent_again(app: TestApp) {
    app.register("ada@example.com").await;
    app.mails().await;
    app.lose_answers(true);
    forgot(&app, "ada@example.com").await;
    let used = app.token(MailKind::Reset, "ada@example.com").await;
    app.lose_answers(false);
    reset(&app, &used, NEW_PASSWORD).await.no_content();
    app.mails().await;
    app.pass(TimeDelta::minutes(1));
    let fresh = app.token(MailKind::Reset, "ada@example.com").await;
    assert_eq!(reset(&app, &used, PASSWORD).await.invalid_fields(), ["token"]);
    reset(&app, &fresh, "N3wer&Password").await.no_content();
}

async fn a_reset_ends_a_pending_change_of_the_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    // A person who knows the password prepares to take the account over.
    let body = json!({ "newEmail": "mallory@example.com", "currentPassword": PASSWORD });
    app.post("/auth/email").by(&ada).json(&body).send().await.accepted();
    let prepared = app.token(MailKind::Verify, "mallory@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    reset(&app, &token, NEW_PASSWORD).await.no_content();
    let verified = app.post("/auth/email/verify").json(&json!({ "token": prepared })).send().await;
    assert_eq!(verified.invalid_fields(), ["token"]);
    app.attempt("ada@example.com", NEW_PASSWORD).send().await.ok();
}

async fn an_administrator_starts_a_reset_for_another_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    app.mails().await;
    let request = app.post(&format!("/users/{grace}/password-reset")).by(&ada);
    request.header("x-correlation-id", "starting").send().await.accepted();
    let token = app.token(MailKind::Reset, "grace@example.com").await;
    let entries = app.audit(&ada, &[("correlationId", "starting")]).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!((&entries[0]["action"], &entries[0]["userId"]), (&json!("PASSWORD_RESET_REQUESTED"), &json!(ada.user)));
    reset(&app, &token, NEW_PASSWORD).await.no_content();
    app.attempt_at(&ada.tenant, "grace@example.com", NEW_PASSWORD).send().await.ok();
}

async fn a_reset_for_another_user_needs_what_that_user_may_do(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let helper = app.colleague(&ada, "helper@example.com").await;
    app.role(&ada, "HELPER", &["users:update"]).await;
    app.assign(&ada, &helper.user, "HELPER", None, None).await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    app.mails().await;
    app.post(&format!("/users/{grace}/password-reset")).by(&helper).send().await.accepted();
    assert_eq!(app.mails().await.len(), 1);
    for _ in 0..4 {
        // Also beyond the limit for the address.
        app.post(&format!("/users/{}/password-reset", ada.user)).by(&helper).send().await.escalates();
        app.post(&format!("/users/{}/password-reset", ada.user)).by(&ada).send().await.accepted();
    }
    assert_eq!(app.mails().await.len(), 1, "the newest link is sent");
}

async fn a_reset_is_started_for_active_users_only(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    app.mails().await;
    for status in ["SUSPENDED", "INACTIVE"] {
        app.set_status(&ada, &grace, status).await;
        app.post(&format!("/users/{grace}/password-reset")).by(&ada).send().await.problem("conflict");
    }
    let unknown = "01a2029f-9b32-7000-8000-45f2b9876ce2";
    app.post(&format!("/users/{unknown}/password-reset")).by(&ada).send().await.problem("not-found");
    assert!(app.mails().await.is_empty());
}

async fn a_changed_address_ends_the_link(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let token = requested(&app, "grace@example.com").await;
    let body = json!({ "email": "new@example.com" });
    app.patch(&format!("/users/{grace}")).by(&ada).json(&body).send().await.ok();
    assert_eq!(reset(&app, &token, NEW_PASSWORD).await.invalid_fields(), ["token"]);
}

async fn a_changed_password_ends_the_link(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = requested(&app, "ada@example.com").await;
    let body = json!({ "currentPassword": PASSWORD, "newPassword": NEW_PASSWORD });
    app.post("/auth/password").by(&ada).json(&body).send().await.no_content();
    assert_eq!(reset(&app, &token, PASSWORD).await.invalid_fields(), ["token"]);
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let refused = async |path: &str, body: Value| app.post(path).json(&body).send().await.invalid_fields();
    assert_eq!(refused("/auth/password/forgot", json!({})).await, ["email"]);
    assert_eq!(refused("/auth/password/forgot", json!({ "email": "no address" })).await, ["email"]);
    // The token says which policy the password must follow.
    assert_eq!(refused("/auth/password/reset", json!({ "token": "x" })).await, ["token"]);
    assert_eq!(refused("/auth/password/reset", json!({ "newPassword": NEW_PASSWORD })).await, ["token"]);
    let extra = with(profile("ada@example.com"), &json!({}));
    assert!(!refused("/auth/password/forgot", extra).await.is_empty());
}
