//! Passwords in a tenant that wants its people to use their providers (`docs/federation.md#passwords`).

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::json;

use super::{Fixture, federated, link};
use crate::app::TestApp;
use crate::people::{PASSWORD, Person};

in_memory_with_mail![
    a_right_password_is_refused_where_the_provider_is_known,
    an_administrator_of_the_tenant_may_use_its_password,
    a_linked_person_with_another_address_uses_the_provider,
    a_forgotten_password_sends_nothing_where_the_provider_is_known,
    a_login_by_mail_is_refused_where_the_provider_is_known,
    an_invitation_is_accepted_at_the_provider_where_passwords_are_not_allowed,
    a_user_without_a_password_chooses_one_by_a_link,
];

async fn a_right_password_is_refused_where_the_provider_is_known(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, provider } = &fixture;
    fixture.verified("grace@example.com").await;
    let elsewhere = app.add_user(ada, "eve@elsewhere.example").await;
    let session = Person::logged_in(&app.attempt("grace@example.com", PASSWORD).send().await.ok());
    federated(&fixture).await;
    let refused = app.attempt("grace@example.com", PASSWORD).send().await.problem("federation-required");
    assert_eq!(refused["providers"][0]["id"], provider["id"]);
    assert_eq!(refused["providers"][0]["name"], "Acme");
    let failure = &fixture.failures().await[0];
    assert_eq!((&failure["reason"], &failure["attemptCount"]), (&json!("FEDERATION_REQUIRED"), &json!(0)));
    app.attempt("grace@example.com", "wrong").send().await.problem("unauthorized");
    app.attempt("eve@elsewhere.example", PASSWORD).send().await.ok();
    assert!(!elsewhere.is_empty());
    let step_up = app.post("/auth/step-up").by(&session).json(&json!({ "password": PASSWORD }));
    step_up.send().await.problem("federation-required");
    let discover = app.post("/auth/federation/discover").json(&json!({ "email": "x@example.com" }));
    assert_eq!(discover.send().await.ok()["passwordAllowed"], false);
    fixture.log_in(&json!({})).await.ok();
    // Without a provider that is enabled, the password counts again.
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "enabled": false })).send().await.ok();
    app.attempt("grace@example.com", PASSWORD).send().await.ok();
}

async fn an_administrator_of_the_tenant_may_use_its_password(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let grace = fixture.verified("grace@example.com").await;
    federated(&fixture).await;
    app.role(ada, "EVERYTHING", &["*"]).await;
    app.assign(ada, &grace, "EVERYTHING", None, None).await;
    app.attempt("grace@example.com", PASSWORD).send().await.problem("federation-required");
    let until = app.iam.now() + TimeDelta::hours(1);
    app.assign(ada, &grace, "TENANT_ADMIN", None, Some(until)).await;
    app.attempt("grace@example.com", PASSWORD).send().await.ok();
    app.pass(TimeDelta::hours(1));
    app.attempt("grace@example.com", PASSWORD).send().await.problem("federation-required");
}

async fn a_linked_person_with_another_address_uses_the_provider(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, provider } = &fixture;
    let grace = app.colleague(ada, "grace@private.example").await;
    link(&fixture, &grace, Some(&grace), &json!({})).await.no_content();
    federated(&fixture).await;
    let refused = app.attempt("grace@private.example", PASSWORD).send().await.problem("federation-required");
    assert_eq!(refused["providers"][0]["id"], provider["id"]);
}

async fn a_forgotten_password_sends_nothing_where_the_provider_is_known(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let app = &fixture.app;
    fixture.verified("grace@example.com").await;
    federated(&fixture).await;
    app.mails().await;
    for email in ["grace@example.com", "ada@other.example"] {
        app.post("/auth/password/forgot").json(&json!({ "email": email })).send().await.accepted();
    }
    let sent: Vec<String> = app.mails().await.iter().map(|mail| mail.to.as_str().to_owned()).collect();
    assert_eq!(sent, ["ada@other.example"]);
}

async fn a_login_by_mail_is_refused_where_the_provider_is_known(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    fixture.verified("grace@example.com").await;
    let grace = Person::logged_in(&app.attempt("grace@example.com", PASSWORD).send().await.ok());
    for person in [ada, &grace] {
        app.allow_email_login(person).await;
    }
    let begun = app.email_login(&grace).await;
    federated(&fixture).await;
    let finish = async |token: &str| app.post("/auth/email-login/finish").json(&json!({ "token": token })).send().await;
    assert_eq!(finish(&begun.token).await.invalid_fields(), ["token"]);
    let failure = &fixture.failures().await[0];
    assert_eq!((&failure["reason"], &failure["attemptCount"]), (&json!("FEDERATION_REQUIRED"), &json!(0)));
    app.post("/auth/email-login").json(&json!({ "email": "grace@example.com" })).send().await.accepted();
    assert!(app.mails().await.is_empty());
    // The administrators may still log in when the provider is down.
    let begun = app.email_login(ada).await;
    finish(&begun.token).await.ok();
}

async fn an_invitation_is_accepted_at_the_provider_where_passwords_are_not_allowed(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    federated(&fixture).await;
    app.invite(ada, &json!({ "email": "grace@example.com", "roles": [] })).await;
    let token = app.token(MailKind::Invitation, "grace@example.com").await;
    let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    app.post("/invitations/accept").json(&body).send().await.problem("federation-required");
    // A provider that makes no users would leave the person outside.
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "provisioning": "LINK" })).send().await.ok();
    app.post("/invitations/accept").json(&body).send().await.created();
}

async fn a_user_without_a_password_chooses_one_by_a_link(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    fixture.log_in(&json!({})).await.ok();
    let login = async |password: &str| {
        let body = json!({ "email": "grace@example.com", "password": password });
        app.post("/auth/login").json(&body).send().await
    };
    for guess in ["!", PASSWORD] {
        login(guess).await.problem("unauthorized");
    }
    app.post("/auth/password/forgot").json(&json!({ "email": "grace@example.com" })).send().await.accepted();
    let token = app.token(MailKind::Reset, "grace@example.com").await;
    let body = json!({ "token": token, "newPassword": PASSWORD });
    app.post("/auth/password/reset").json(&body).send().await.no_content();
    let session = login(PASSWORD).await.ok();
    let path = format!("/users/{}/identities", session["user"]["id"].as_str().unwrap());
    let list = app.get(&path).by(&fixture.ada).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    app.delete(&identity).by(&fixture.ada).send().await.no_content();
}
