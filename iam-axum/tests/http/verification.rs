//! `/auth/email` (`docs/http-api.md#links-by-mail`).

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::mail::{kinds, tokens};
use crate::people::{PASSWORD, Person, WRONG_PASSWORD};
use crate::request::Response;

in_memory_with_mail![
    registering_and_creating_a_user_send_a_link,
    the_link_verifies_the_address,
    the_verification_is_recorded_as_the_users_own,
    a_link_works_for_24_hours,
    a_token_works_once,
    a_newer_link_ends_the_older_one,
    every_token_that_is_not_valid_gets_the_same_answer,
    a_verified_address_gets_no_link,
    a_user_changes_its_own_address_by_the_link_to_the_new_one,
    the_former_address_is_told_when_the_new_one_is_verified,
    the_answer_is_the_same_when_another_user_has_the_new_address,
    an_address_that_was_taken_meanwhile_is_409,
    a_wrong_current_password_is_400_and_counts_like_a_failed_login,
    missing_and_invalid_fields_are_named,
    a_changed_address_is_told_to_the_former_one_and_ends_its_links,
    the_own_address_is_not_changed_without_the_password,
    a_user_who_is_not_active_cannot_verify,
    the_users_of_a_suspended_tenant_cannot_verify,
    an_address_can_change_its_letter_case,
    trusted_code_verifies_without_mail,
    a_user_can_only_verify_its_own_address,
];

async fn verify(app: &TestApp, token: &str) -> Response {
    app.post("/auth/email/verify").json(&json!({ "token": token })).send().await
}

async fn change(app: &TestApp, person: &Person, new: &str, password: &str) -> Response {
    let body = json!({ "newEmail": new, "currentPassword": password });
    app.post("/auth/email").by(person).json(&body).send().await
}

async fn registering_and_creating_a_user_send_a_link(app: TestApp) {
    let ada = app.register("Ada@example.com").await;
    app.add_user(&ada, "grace@example.com").await;
    let mails = app.mails().await;
    assert_eq!(kinds(&mails), [(MailKind::Verify, "Ada@example.com"), (MailKind::Verify, "grace@example.com")]);
    for mail in &mails {
        let link = mail.accounts[0].link.as_ref().unwrap();
        assert!(link.url.expose().starts_with("https://app.example.com/verify#iaml_"));
        assert_eq!(link.expires_at, app.iam.now() + TimeDelta::hours(24));
    }
}

async fn the_link_verifies_the_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    app.pass(TimeDelta::seconds(1));
    verify(&app, &token).await.no_content();
    let user = app.user(&ada, &ada.user).await;
    assert_eq!((&user["emailVerifiedAt"], &user["email"]), (&json!(app.now()), &json!("ada@example.com")));
}

async fn the_verification_is_recorded_as_the_users_own(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    let request = app.post("/auth/email/verify").json(&json!({ "token": token }));
    request.header("x-correlation-id", "verifying").send().await.no_content();
    let entries = app.audit(&ada, &[("correlationId", "verifying")]).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    let entry = &entries[0];
    assert_eq!((&entry["action"], &entry["resourceType"]), (&json!("EMAIL_VERIFIED"), &json!("USER")));
    assert_eq!((&entry["resourceId"], &entry["userId"]), (&json!(ada.user), &json!(ada.user)));
    assert!(!format!("{entries:?}").contains(&token));
}

async fn a_link_works_for_24_hours(app: TestApp) {
    app.register("ada@example.com").await;
    app.register("grace@example.com").await;
    let mails = app.mails().await;
    app.pass(TimeDelta::hours(24) - TimeDelta::milliseconds(1));
    verify(&app, &tokens(&mails[0])[0]).await.no_content();
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(verify(&app, &tokens(&mails[1])[0]).await.invalid_fields(), ["token"]);
}

async fn a_token_works_once(app: TestApp) {
    app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    verify(&app, &token).await.no_content();
    assert_eq!(verify(&app, &token).await.invalid_fields(), ["token"]);
}

async fn a_newer_link_ends_the_older_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let older = app.token(MailKind::Verify, "ada@example.com").await;
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    let newer = app.token(MailKind::Verify, "ada@example.com").await;
    assert_eq!(verify(&app, &older).await.invalid_fields(), ["token"]);
    verify(&app, &newer).await.no_content();
}

async fn every_token_that_is_not_valid_gets_the_same_answer(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let replaced = app.token(MailKind::Verify, "ada@example.com").await;
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    let spent = app.token(MailKind::Verify, "ada@example.com").await;
    verify(&app, &spent).await.no_content();
    app.register("grace@example.com").await;
    let expired = app.token(MailKind::Verify, "grace@example.com").await;
    app.pass(TimeDelta::hours(24));
    let other_letter = if spent.ends_with('A') { "B" } else { "A" };
    let forged = format!("{}{other_letter}", &spent[..spent.len() - 1]);
    let mut answers = Vec::new();
    for token in [&replaced, &spent, &expired, &forged, "iaml_", "x", &ada.refresh, &"x".repeat(10_000)] {
        let problem = verify(&app, token).await.problem("validation-error");
        assert_eq!(problem["errors"][0]["field"], "token");
        answers.push((problem["status"].clone(), problem["detail"].clone(), problem["errors"].clone()));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(verify(&app, "").await.invalid_fields(), ["token"]);
}

async fn a_verified_address_gets_no_link(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    verify(&app, &token).await.no_content();
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    assert!(app.mails().await.is_empty());
}

async fn a_user_changes_its_own_address_by_the_link_to_the_new_one(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    change(&app, &ada, "New@example.com", PASSWORD).await.accepted();
    let before = app.user(&ada, &ada.user).await;
    assert_eq!((&before["email"], &before["emailVerifiedAt"]), (&json!("ada@example.com"), &Value::Null));
    let token = app.token(MailKind::Verify, "New@example.com").await;
    let request = app.post("/auth/email/verify").json(&json!({ "token": token }));
    request.header("x-correlation-id", "verifying").send().await.no_content();
    let after = app.user(&ada, &ada.user).await;
    assert_eq!((&after["email"], &after["emailVerifiedAt"]), (&json!("New@example.com"), &json!(app.now())));
    app.attempt("ada@example.com", PASSWORD).send().await.problem("unauthorized");
    app.attempt("new@example.com", PASSWORD).send().await.ok();
    let entries = app.audit(&ada, &[("correlationId", "verifying"), ("action", "UPDATE")]).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(
        (&entries[0]["oldValue"]["email"], &entries[0]["newValue"]["email"]),
        (&json!("ada@example.com"), &json!("New@example.com"))
    );
    assert_eq!(entries[0]["userId"], json!(ada.user));
    assert_eq!(app.audit(&ada, &[("correlationId", "verifying"), ("action", "EMAIL_VERIFIED")]).await.len(), 1);
}

async fn the_former_address_is_told_when_the_new_one_is_verified(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    change(&app, &ada, "new@example.com", PASSWORD).await.accepted();
    let mails = app.mails().await;
    assert_eq!(kinds(&mails), [(MailKind::Verify, "new@example.com")]);
    verify(&app, &tokens(&mails[0])[0]).await.no_content();
    assert_eq!(kinds(&app.mails().await), [(MailKind::EmailChanged, "ada@example.com")]);
}

async fn the_answer_is_the_same_when_another_user_has_the_new_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "grace@example.com").await;
    app.mails().await;
    let free = change(&app, &ada, "free@example.com", PASSWORD).await.accepted();
    assert_eq!(kinds(&app.mails().await), [(MailKind::Verify, "free@example.com")]);
    let taken = change(&app, &ada, "GRACE@example.com", PASSWORD).await.accepted();
    assert!(app.mails().await.is_empty());
    assert_eq!(free, taken);
}

async fn an_address_that_was_taken_meanwhile_is_409(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    change(&app, &ada, "new@example.com", PASSWORD).await.accepted();
    let token = app.token(MailKind::Verify, "new@example.com").await;
    app.add_user(&ada, "new@example.com").await;
    verify(&app, &token).await.problem("conflict");
    assert_eq!(app.user(&ada, &ada.user).await["email"], "ada@example.com");
}

async fn a_wrong_current_password_is_400_and_counts_like_a_failed_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.mails().await;
    for _ in 0..5 {
        let refused = change(&app, &ada, "new@example.com", WRONG_PASSWORD).await;
        assert_eq!(refused.invalid_fields(), ["currentPassword"]);
    }
    change(&app, &ada, "new@example.com", PASSWORD).await.problem("account-locked");
    assert_eq!(kinds(&app.mails().await), [(MailKind::NewLoginBlocked, "ada@example.com")]);
    assert_eq!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.len(), 6);
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = app.post("/auth/email").by(&ada).json(&json!({})).send().await;
    assert_eq!(refused.invalid_fields(), ["newEmail", "currentPassword"]);
    assert_eq!(change(&app, &ada, "no address", PASSWORD).await.invalid_fields(), ["newEmail"]);
    let refused = app.post("/auth/email/verify").json(&json!({ "tokens": "x" })).send().await;
    assert_eq!(refused.invalid_fields(), ["tokens"]);
}

async fn a_changed_address_is_told_to_the_former_one_and_ends_its_links(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.add_user(&ada, "grace@example.com").await;
    let token = app.token(MailKind::Verify, "grace@example.com").await;
    let path = format!("/users/{grace}");
    app.patch(&path).by(&ada).json(&json!({ "email": "new@example.com" })).send().await.ok();
    assert_eq!(kinds(&app.mails().await), [(MailKind::EmailChanged, "grace@example.com")]);
    assert_eq!(verify(&app, &token).await.invalid_fields(), ["token"]);
    let user = app.user(&ada, &grace).await;
    assert_eq!((&user["email"], &user["emailVerifiedAt"]), (&json!("new@example.com"), &Value::Null));
    app.patch(&path).by(&ada).json(&json!({ "email": "NEW@example.com" })).send().await.ok();
    assert!(app.mails().await.is_empty(), "the address is the same in another letter case");
}

async fn the_own_address_is_not_changed_without_the_password(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let path = format!("/users/{}", ada.user);
    let patch = async |body: Value| app.patch(&path).by(&ada).json(&body).send().await;
    for email in ["eve@example.com", "Ada@example.com"] {
        let refused = app.unrecorded(&ada, patch(json!({ "email": email }))).await;
        assert!(refused.detail("forbidden").contains("`post /auth/email`"), "{}", refused.text());
    }
    patch(json!({ "email": "ada@example.com", "firstName": "Augusta" })).await.ok();
}

async fn a_user_who_is_not_active_cannot_verify(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for status in ["SUSPENDED", "INACTIVE"] {
        let email = format!("{}@example.com", status.to_lowercase());
        let user = app.add_user(&ada, &email).await;
        let token = app.token(MailKind::Verify, &email).await;
        app.set_status(&ada, &user, status).await;
        assert_eq!(verify(&app, &token).await.invalid_fields(), ["token"]);
        assert_eq!(app.user(&ada, &user).await["emailVerifiedAt"], Value::Null);
    }
}

async fn the_users_of_a_suspended_tenant_cannot_verify(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.tenants().suspend(&system).await.unwrap();
    assert_eq!(verify(&app, &token).await.invalid_fields(), ["token"]);
    app.iam.tenants().reactivate(&system).await.unwrap();
    assert_eq!(verify(&app, &token).await.invalid_fields(), ["token"], "links have ended with the sessions");
    let ada = app.login(&ada).await;
    app.post("/auth/email/verification").by(&ada).send().await.accepted();
    verify(&app, &app.token(MailKind::Verify, "ada@example.com").await).await.no_content();
}

async fn an_address_can_change_its_letter_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let token = app.token(MailKind::Verify, "ada@example.com").await;
    verify(&app, &token).await.no_content();
    change(&app, &ada, "ada@example.com", PASSWORD).await.accepted();
    assert!(app.mails().await.is_empty(), "the address is verified already");
    change(&app, &ada, "Ada@Example.com", PASSWORD).await.accepted();
    let token = app.token(MailKind::Verify, "Ada@Example.com").await;
    verify(&app, &token).await.no_content();
    assert_eq!(app.user(&ada, &ada.user).await["email"], "Ada@Example.com");
    assert!(app.mails().await.is_empty(), "the address is the same in another letter case");
}

async fn trusted_code_verifies_without_mail(app: TestApp) {
    let app = app.without_mail().await;
    let ada = app.register("ada@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&system, "ada@example.com").await.unwrap();
    assert_eq!(app.user(&ada, &ada.user).await["emailVerifiedAt"], json!(app.now()));
}

async fn a_user_can_only_verify_its_own_address(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mallory = app.register("mallory@example.com").await;
    app.mails().await;
    // A link of one tenant does not change a user of another one, also if the token is put together by hand.
    app.post("/auth/email/verification").by(&mallory).send().await.accepted();
    let own = app.token(MailKind::Verify, "mallory@example.com").await;
    verify(&app, &own).await.no_content();
    assert_eq!(app.user(&ada, &ada.user).await["emailVerifiedAt"], Value::Null);
    let system = Caller::system(mallory.tenant.parse().unwrap(), "test");
    app.iam.verification().request(&system).await.unwrap_err();
}
