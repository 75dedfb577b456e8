//! What ends a login by e-mail before it is finished.

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::mail::MailKind;
use iam_core::tenant::{EmailLogin, TenantPatch};
use serde_json::{Value, json};

use super::EMAIL;
use crate::access_table::fresh_email;
use crate::app::TestApp;
use crate::people::{PASSWORD, Person};

in_memory_with_mail![
    what_changes_the_account_ends_the_message,
    a_newer_address_ends_the_message_to_the_former_one,
    turned_off_and_on_again_it_is_a_new_beginning,
    turning_it_off_ends_a_login_that_waits_for_its_second_factor,
    the_users_of_a_suspended_tenant_do_not_log_in,
    a_message_is_not_sent_when_the_account_has_changed,
];

/// What may happen to an account between the request and the end of a login.
const ENDINGS: [&str; 8] = [
    "it is suspended",
    "it is suspended and reactivated",
    "it is deleted",
    "it is erased",
    "an administrator changes the address",
    "the user changes the password",
    "the user resets the password",
    "an administrator ends all sessions",
];

async fn end(app: &TestApp, ada: &Person, grace: &Person, ending: &str) {
    let user = format!("/users/{}", grace.user);
    let change = async |body: Value| app.patch(&user).by(ada).json(&body).send().await.ok();
    match ending {
        "it is suspended" => app.set_status(ada, &grace.user, "SUSPENDED").await,
        "it is suspended and reactivated" => {
            app.set_status(ada, &grace.user, "SUSPENDED").await;
            app.set_status(ada, &grace.user, "ACTIVE").await;
        }
        "it is deleted" => app.delete(&user).by(ada).send().await.no_content(),
        "it is erased" => {
            app.delete(&user).by(ada).send().await.no_content();
            let body = json!({ "userId": grace.user });
            let erased = app.post("/audit-logs/erasures").by(ada).json(&body).send().await;
            assert!((200..300).contains(&erased.status()), "{}", erased.text());
        }
        "an administrator changes the address" => {
            change(json!({ "email": fresh_email() })).await;
            change(json!({ "email": grace.email })).await;
            let system = Caller::system(ada.tenant.parse().unwrap(), "test");
            app.iam.users().verify_email(&system, &grace.email).await.unwrap();
        }
        "the user changes the password" => {
            let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
            app.post("/auth/password").by(grace).json(&body).send().await.no_content();
        }
        "the user resets the password" => {
            let body = json!({ "email": grace.email });
            app.post("/auth/password/forgot").json(&body).send().await.accepted();
            let token = app.token(MailKind::Reset, &grace.email).await;
            let body = json!({ "token": token, "newPassword": "N3w&Password" });
            app.post("/auth/password/reset").json(&body).send().await.no_content();
        }
        "an administrator ends all sessions" => {
            app.post(&format!("{user}/logout-all")).by(ada).send().await.no_content();
        }
        other => panic!("{other}"),
    }
}

async fn what_changes_the_account_ends_the_message(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    for ending in ENDINGS {
        let grace = app.colleague(&ada, &fresh_email()).await;
        app.allow_email_login(&grace).await;
        let begun = app.email_login(&grace).await;
        end(&app, &ada, &grace, ending).await;
        assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"], "{ending}");
        assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"], "{ending}");
    }
}

async fn a_newer_address_ends_the_message_to_the_former_one(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let body = json!({ "newEmail": "new@example.com", "currentPassword": PASSWORD });
    app.post("/auth/email").by(&ada).json(&body).send().await.accepted();
    let token = app.token(MailKind::Verify, "new@example.com").await;
    app.post("/auth/email/verify").json(&json!({ "token": token })).send().await.no_content();
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    let renamed = Person { email: "new@example.com".to_owned(), ..ada };
    let begun = app.email_login(&renamed).await;
    app.finish(&begun.by_link()).await.ok();
}

async fn turned_off_and_on_again_it_is_a_new_beginning(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    app.patch_tenant(&ada, json!({ "emailLogin": "OFF" })).await.ok();
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
    app.patch_tenant(&ada, json!({ "emailLogin": "ON" })).await.ok();
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    // Another change of the tenant ends nothing.
    let begun = app.email_login(&ada).await;
    app.patch_tenant(&ada, json!({ "name": "Engines" })).await.ok();
    app.finish(&begun.by_link()).await.ok();
}

async fn turning_it_off_ends_a_login_that_waits_for_its_second_factor(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let authenticator = app.enrol(&ada).await;
    let begun = app.email_login(&ada).await;
    let pending = app.finish(&begun.by_link()).await.problem("second-factor-required");
    let by_password = app.challenge(&ada).await;
    // The session of the registration has not proven itself by the factor.
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    let code = authenticator.code(&app, 0);
    for turned in [EmailLogin::Off, EmailLogin::On] {
        let patch = TenantPatch { email_login: Some(turned), ..TenantPatch::default() };
        app.iam.tenants().update(&system, system.tenant(), patch).await.unwrap();
        app.answer(pending["challenge"].as_str().unwrap(), &code).await.problem("unauthorized");
    }
    app.answer(&by_password, &code).await.ok();
}

async fn the_users_of_a_suspended_tenant_do_not_log_in(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let begun = app.email_login(&ada).await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&system).await.unwrap();
    assert_eq!(app.finish(&begun.by_link()).await.invalid_fields(), ["token"]);
    assert_eq!(app.finish(&begun.by_code()).await.invalid_fields(), ["code"]);
    app.flow(&json!({ "email": EMAIL })).await;
    assert!(app.mails().await.is_empty());
    app.iam.tenants().reactivate(&system).await.unwrap();
    app.pass(TimeDelta::milliseconds(1));
    let begun = app.email_login(&ada).await;
    app.finish(&begun.by_link()).await.ok();
}

async fn a_message_is_not_sent_when_the_account_has_changed(app: TestApp) {
    let ada = app.by_email(EMAIL).await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.allow_email_login(&grace).await;
    app.mails().await;
    app.flow(&json!({ "email": "grace@example.com" })).await;
    app.set_status(&ada, &grace.user, "SUSPENDED").await;
    assert!(app.mails().await.is_empty());
}
