//! The password policy of a tenant (`docs/operating.md#password-policies`).

use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use iam_core::Caller;
use iam_core::mail::MailKind;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::Response;

in_memory_with_mail![
    a_new_tenant_has_the_policy_seed,
    an_administrator_chooses_the_policy,
    an_unknown_policy_is_400_and_named,
    each_policy_has_its_length_and_only_seed_asks_for_kinds,
    a_change_applies_to_new_passwords_only,
    every_new_password_follows_the_policy,
    a_common_password_is_refused_in_any_letter_case,
    a_password_of_the_users_own_words_is_refused,
    a_breached_password_is_refused_until_the_file_is_replaced,
    seed_refuses_them_on_demand,
    seed_refuses_none_of_them_by_default,
    a_file_that_cannot_be_read_sets_no_password,
];

const GOOD: &str = "quartz lemur zigzag";

async fn choose(app: &TestApp, by: &Person, policy: &str) -> Response {
    app.patch(&format!("/tenants/{}", by.tenant)).by(by).json(&json!({ "passwordPolicy": policy })).send().await
}

/// What `POST /users` says of a password, if it refuses it.
async fn complaint(app: &TestApp, by: &Person, password: &str) -> Option<String> {
    let body = with(profile(&crate::access_table::fresh_email()), &json!({ "password": password }));
    let answer = app.post("/users").by(by).json(&body).send().await;
    if answer.status() == 201 {
        return None;
    }
    assert_eq!(answer.invalid_fields(), ["password"]);
    Some(answer.json()["errors"][0]["message"].as_str().unwrap().to_owned())
}

async fn a_new_tenant_has_the_policy_seed(app: TestApp) {
    let made = app.post("/auth/register").json(&profile("ada@example.com")).send().await.created();
    assert_eq!(made["tenant"]["passwordPolicy"], "seed");
    let ada = Person::logged_in(&made);
    let shown = app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok();
    assert_eq!(shown["passwordPolicy"], "seed");
}

async fn an_administrator_chooses_the_policy(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["tenants:read"]).await;
    choose(&app, &bob, "asvs-5").await.lacks("tenants:update");
    for policy in ["nist-800-63b-4", "asvs-5", "seed"] {
        assert_eq!(choose(&app, &ada, policy).await.ok()["passwordPolicy"], policy);
        let shown = app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok();
        assert_eq!(shown["passwordPolicy"], policy);
    }
    let entry = &app.history(&ada, &ada.tenant).await[0];
    assert_eq!(entry["oldValue"], json!({ "passwordPolicy": "asvs-5" }));
    assert_eq!(entry["newValue"], json!({ "passwordPolicy": "seed" }));
    let eve = app.register("eve@example.org").await;
    let other = app.patch(&format!("/tenants/{}", ada.tenant)).by(&eve).json(&json!({ "passwordPolicy": "seed" }));
    other.send().await.problem("not-found");
}

async fn an_unknown_policy_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(choose(&app, &ada, "none").await.invalid_fields(), ["passwordPolicy"]);
    assert_eq!(choose(&app, &ada, "SEED").await.invalid_fields(), ["passwordPolicy"]);
}

async fn each_policy_has_its_length_and_only_seed_asks_for_kinds(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let of_length = |length: usize| "qz-9ü".chars().cycle().take(length).collect::<String>();
    choose(&app, &ada, "nist-800-63b-4").await.ok();
    for length in [14, 129] {
        let expected = Some("must have 15 to 128 characters".to_owned());
        assert_eq!(complaint(&app, &ada, &of_length(length)).await, expected);
    }
    for length in [15, 128] {
        assert_eq!(complaint(&app, &ada, &of_length(length)).await, None);
    }
    choose(&app, &ada, "asvs-5").await.ok();
    assert_eq!(complaint(&app, &ada, &of_length(7)).await, Some("must have 8 to 128 characters".to_owned()));
    assert_eq!(complaint(&app, &ada, &of_length(8)).await, None);
    choose(&app, &ada, "seed").await.ok();
    let expected = "must have an upper-case letter, one of ! @ # $ % ^ & *";
    assert_eq!(complaint(&app, &ada, &of_length(8)).await.as_deref(), Some(expected));
}

async fn a_change_applies_to_new_passwords_only(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    choose(&app, &ada, "nist-800-63b-4").await.ok();
    app.attempt("ada@example.com", PASSWORD).send().await.ok();
    assert!(complaint(&app, &ada, PASSWORD).await.is_some());
}

async fn every_new_password_follows_the_policy(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    choose(&app, &ada, "nist-800-63b-4").await.ok();
    app.mails().await;
    let change = |new: &str| {
        app.post("/auth/password").by(&ada).json(&json!({ "currentPassword": PASSWORD, "newPassword": new })).send()
    };
    assert_eq!(change("N3w&Password").await.invalid_fields(), ["newPassword"]);
    change(GOOD).await.no_content();

    app.post("/auth/password/forgot").json(&json!({ "email": "ada@example.com" })).send().await.accepted();
    app.pass(chrono::TimeDelta::milliseconds(1));
    let token = app.token(MailKind::Reset, "ada@example.com").await;
    let reset =
        |new: &str| app.post("/auth/password/reset").json(&json!({ "token": token, "newPassword": new })).send();
    assert_eq!(reset("N3w&Password").await.invalid_fields(), ["newPassword"]);
    reset(PASSWORD.repeat(2).as_str()).await.no_content();
    let ada = Person::logged_in(&app.attempt("ada@example.com", &PASSWORD.repeat(2)).send().await.ok());

    app.invite(&ada, &json!({ "email": "grace@example.com", "roles": [] })).await;
    let token = app.token(MailKind::Invitation, "grace@example.com").await;
    let accept = |password: &str| {
        let body = json!({ "token": token, "password": password, "firstName": "Grace", "lastName": "Hopper" });
        app.post("/invitations/accept").json(&body).send()
    };
    assert_eq!(accept("N3w&Password").await.invalid_fields(), ["password"]);
    assert_eq!(accept("grace.hopper123").await.invalid_fields(), ["password"]);
    accept(GOOD).await.created();

    let host = Caller::system(ada.tenant.parse().unwrap(), "test");
    let credentials = app.iam.credentials();
    credentials.reset_password(&host, "ada@example.com", "N3w&Password".into()).await.unwrap_err();
    credentials.reset_password(&host, "ada@example.com", GOOD.into()).await.unwrap();
}

async fn a_common_password_is_refused_in_any_letter_case(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    choose(&app, &ada, "asvs-5").await.ok();
    for common in ["password1", "PassWord1", "P@ssw0rd", "1q2w3e4r5t"] {
        let expected = Some("must not be one of the most common passwords".to_owned());
        assert_eq!(complaint(&app, &ada, common).await, expected, "{common}");
    }
}

async fn a_password_of_the_users_own_words_is_refused(app: TestApp) {
    let body = with(profile("ada@example.com"), &json!({ "tenantName": "Analytical Engines" }));
    let ada = Person::logged_in(&app.post("/auth/register").json(&body).send().await.created());
    choose(&app, &ada, "asvs-5").await.ok();
    for own in ["lovelace2024", "analyticalengines", "engines1843"] {
        let said = complaint(&app, &ada, own).await.unwrap();
        assert_eq!(said, "must not consist of your e-mail address, your name or the name of the tenant", "{own}");
    }
    assert_eq!(complaint(&app, &ada, "lovelace-quartz").await, None);
}

/// A file of breached passwords with one more entry than its own.
struct Breaches(PathBuf);

impl Breaches {
    fn of(passwords: &[&str]) -> Self {
        let directory = std::env::temp_dir();
        let file = Self(directory.join(format!("iam-breached-{}", uuid::Uuid::now_v7())));
        file.replace(passwords);
        file
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Replaces the file as an operator does: by renaming another one.
    fn replace(&self, passwords: &[&str]) {
        let mut lines: Vec<String> = passwords
            .iter()
            .map(|password| digest(&SHA1_FOR_LEGACY_USE_ONLY, password.as_bytes()))
            .map(|digest| digest.as_ref().iter().map(|byte| format!("{byte:02X}")).collect::<String>() + ":17\r\n")
            .collect();
        lines.sort_unstable();
        let new = self.0.with_extension("new");
        std::fs::write(&new, lines.concat()).unwrap();
        std::fs::rename(new, &self.0).unwrap();
    }
}

impl Drop for Breaches {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn a_breached_password_is_refused_until_the_file_is_replaced(app: TestApp) {
    let breaches = Breaches::of(&["x", GOOD, "y"]);
    let app = app.with_settings(|settings| settings.breached_passwords = Some(breaches.path().to_owned())).await;
    let ada = app.register("ada@example.com").await;
    choose(&app, &ada, "nist-800-63b-4").await.ok();
    let expected = "must not be a password that is known from a data breach";
    assert_eq!(complaint(&app, &ada, GOOD).await.as_deref(), Some(expected));
    assert_eq!(complaint(&app, &ada, "Quartz lemur zigzag").await, None);
    breaches.replace(&["x", "Quartz lemur zigzag", "y"]);
    assert_eq!(complaint(&app, &ada, GOOD).await, None);
    assert_eq!(complaint(&app, &ada, "Quartz lemur zigzag").await.as_deref(), Some(expected));
}

async fn seed_refuses_them_on_demand(app: TestApp) {
    let breaches = Breaches::of(&["Qu4rtz&Lemur"]);
    let app = app
        .with_settings(|settings| {
            settings.refuse_common_passwords = true;
            settings.breached_passwords = Some(breaches.path().to_owned());
        })
        .await;
    let ada = app.register("ada@example.com").await;
    for bad in ["P@ssw0rd", "Lovelace1!", "Qu4rtz&Lemur"] {
        assert!(complaint(&app, &ada, bad).await.is_some_and(|said| said.starts_with("must not")), "{bad}");
    }
    let refused = async |password: &str| {
        let body = with(profile("eve@example.com"), &json!({ "password": password }));
        app.post("/auth/register").json(&body).send().await.invalid_fields()
    };
    assert_eq!(refused("P@ssw0rd").await, ["password"]);
    assert_eq!(refused("Qu4rtz&Lemur").await, ["password"]);
    assert_eq!(complaint(&app, &ada, "Qu4rtz&Lemur2").await, None);
}

async fn seed_refuses_none_of_them_by_default(app: TestApp) {
    let breaches = Breaches::of(&["Qu4rtz&Lemur"]);
    let app = app.with_settings(|settings| settings.breached_passwords = Some(breaches.path().to_owned())).await;
    let ada = app.register("ada@example.com").await;
    for accepted in ["P@ssw0rd", "Lovelace1!", "Qu4rtz&Lemur"] {
        assert_eq!(complaint(&app, &ada, accepted).await, None, "{accepted}");
    }
}

async fn a_file_that_cannot_be_read_sets_no_password(app: TestApp) {
    let breaches = Breaches::of(&["x"]);
    let app = app.with_settings(|settings| settings.breached_passwords = Some(breaches.path().to_owned())).await;
    let ada = app.register("ada@example.com").await;
    choose(&app, &ada, "nist-800-63b-4").await.ok();
    std::fs::remove_file(breaches.path()).unwrap();
    let change = |new: &str| {
        app.post("/auth/password").by(&ada).json(&json!({ "currentPassword": PASSWORD, "newPassword": new })).send()
    };
    let answer: Value = app.unrecorded(&ada, change(GOOD)).await.problem("internal");
    assert!(!answer.to_string().contains("iam-breached"), "{answer}");
    app.attempt("ada@example.com", PASSWORD).send().await.ok();
    breaches.replace(&["x"]);
    change(GOOD).await.no_content();
}
