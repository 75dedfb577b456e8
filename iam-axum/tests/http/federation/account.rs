//! Whose account it is (`docs/federation.md#whose-account`).

use chrono::TimeDelta;
use iam_core::mail::MailKind;
use serde_json::json;

use super::{Fixture, VERIFIER};
use crate::app::TestApp;
use crate::people::{PASSWORD, with};

in_memory_with_mail![
    a_new_person_becomes_a_user_with_the_roles_of_the_provider,
    an_address_may_be_at_the_userinfo_endpoint_alone,
    a_user_with_the_address_is_linked,
    nobody_is_linked_by_an_address_that_is_not_proven,
    a_holder_of_all_permissions_is_never_linked_by_address,
    a_second_person_with_the_address_is_not_linked,
    a_social_provider_makes_users_and_links_nobody,
    an_address_that_a_social_provider_names_is_not_verified,
    a_reset_by_mail_removes_the_accounts_by_which_an_unproven_address_came,
    an_account_that_a_social_provider_made_is_not_linked_by_its_address,
    a_user_whose_provider_was_replaced_is_linked_to_the_new_one,
    a_new_issuer_of_a_provider_finds_its_users,
    a_provider_that_is_off_makes_and_links_nobody,
    first_logins_at_the_same_time_find_one_user,
];

async fn a_new_person_becomes_a_user_with_the_roles_of_the_provider(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let member = app.role_id(ada, "MEMBER").await;
    let grows = app.role(ada, "GROWS", &["users:read"]).await;
    let roles = json!({ "roles": [{ "roleId": member }, { "roleId": grows }] });
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&roles).send().await.ok();
    // A role that has got all permissions since is not given.
    app.patch(&format!("/roles/{grows}")).by(ada).json(&json!({ "permissions": ["*"] })).send().await.ok();
    let grace = fixture.log_in(&json!({})).await.ok();
    let user = &grace["user"];
    assert_eq!((&user["email"], &user["firstName"]), (&json!("grace@example.com"), &json!("Grace")));
    assert!(user["emailVerifiedAt"].is_string());
    let id = user["id"].as_str().unwrap();
    let held = app.get(&format!("/users/{id}/roles")).by(ada).send().await.ok();
    assert_eq!(held["data"].as_array().unwrap().len(), 1);
    assert_eq!(held["data"][0]["role"]["name"], "MEMBER");
    let identities = app.get(&format!("/users/{id}/identities")).by(ada).send().await.ok();
    assert_eq!(identities["data"][0]["subject"], "248289761001");
}

async fn an_address_may_be_at_the_userinfo_endpoint_alone(app: TestApp) {
    app.providers.tell(&json!({ "sub": "248289761001", "email": "grace@example.com", "email_verified": true }));
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let bare = json!({ "email": null, "email_verified": null });
    assert_eq!(fixture.log_in(&bare).await.ok()["user"]["email"], "grace@example.com");
    assert_eq!(fixture.result(&with(bare, &json!({ "sub": "another" }))).await, Err("not_linked".to_owned()));
}

async fn a_user_with_the_address_is_linked(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let grace = fixture.verified("grace@example.com").await;
    assert_eq!(fixture.log_in(&json!({})).await.ok()["user"]["id"], json!(grace));
    let identities = fixture.app.get(&format!("/users/{grace}/identities")).by(&fixture.ada).send().await.ok();
    assert_eq!(identities["data"][0]["email"], "grace@example.com");
    assert_eq!(fixture.log_in(&json!({ "email": null })).await.ok()["user"]["id"], json!(grace));
}

async fn nobody_is_linked_by_an_address_that_is_not_proven(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let not_linked = Err("not_linked".to_owned());
    // No user has the address, and none is made.
    assert_eq!(fixture.result(&json!({})).await, not_linked);
    // The user has not proven it.
    fixture.app.add_user(&fixture.ada, "grace@example.com").await;
    assert_eq!(fixture.result(&json!({})).await, not_linked);
    // The provider does not say that it is verified, or speaks for another domain.
    fixture.verified("bob@example.com").await;
    fixture.verified("bob@elsewhere.example").await;
    assert_eq!(fixture.result(&json!({ "email": "bob@example.com", "email_verified": false })).await, not_linked);
    assert_eq!(fixture.result(&json!({ "email": "bob@elsewhere.example" })).await, not_linked);
    assert_eq!(fixture.result(&json!({ "email": null })).await, not_linked);
    assert!(fixture.failures().await.iter().all(|failure| failure["cause"] == "NOT_LINKED"));
    assert_eq!(fixture.failures().await.len(), 5);
}

async fn a_holder_of_all_permissions_is_never_linked_by_address(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "trustsEmail": true })).await;
    let grace = fixture.verified("grace@example.com").await;
    let until = fixture.app.iam.now() + TimeDelta::days(1);
    fixture.app.assign(&fixture.ada, &grace, "TENANT_ADMIN", None, Some(until)).await;
    assert_eq!(fixture.result(&json!({})).await, Err("not_linked".to_owned()));
}

async fn a_second_person_with_the_address_is_not_linked(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    fixture.verified("grace@example.com").await;
    fixture.log_in(&json!({})).await.ok();
    assert_eq!(fixture.result(&json!({ "sub": "another" })).await, Err("not_linked".to_owned()));
}

async fn a_social_provider_makes_users_and_links_nobody(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "domainIds": [], "trustsEmail": true })).await;
    fixture.verified("bob@social.example").await;
    let not_linked = Err("not_linked".to_owned());
    assert_eq!(fixture.result(&json!({ "email": "bob@social.example" })).await, not_linked);
    assert_eq!(fixture.result(&json!({ "email": "eve@social.example", "email_verified": false })).await, not_linked);
    // It does not speak for a domain that the tenant has proven, also if a person types the address there.
    assert_eq!(fixture.result(&json!({ "email": "chief@example.com" })).await, not_linked);
    fixture.log_in(&json!({ "email": "eve@social.example" })).await.ok();
}

async fn an_address_that_a_social_provider_names_is_not_verified(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "domainIds": [] })).await;
    let app = &fixture.app;
    let eve = fixture.log_in(&json!({ "email": "eve@social.example" })).await.ok();
    assert!(eve["user"]["emailVerifiedAt"].is_null());
    // Its mailbox is told, and can prove it.
    let token = app.token(MailKind::Verify, "eve@social.example").await;
    app.post("/auth/email/verify").json(&json!({ "token": token })).send().await.no_content();
    let eve = fixture.log_in(&json!({})).await.ok();
    assert!(eve["user"]["emailVerifiedAt"].is_string());
}

async fn a_reset_by_mail_removes_the_accounts_by_which_an_unproven_address_came(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "domainIds": [] })).await;
    let Fixture { app, ada, .. } = &fixture;
    let claims = json!({ "email": "eve@social.example" });
    let thief = fixture.log_in(&claims).await.ok();
    app.post("/auth/password/forgot").json(&claims).send().await.accepted();
    let token = app.token(MailKind::Reset, "eve@social.example").await;
    let body = json!({ "token": token, "newPassword": PASSWORD });
    app.post("/auth/password/reset").json(&body).send().await.no_content();
    let path = format!("/users/{}/identities", thief["user"]["id"].as_str().unwrap());
    assert_eq!(app.get(&path).by(ada).send().await.ok()["data"], json!([]));
    assert_eq!(fixture.result(&claims).await, Err("not_linked".to_owned()));
    app.attempt("eve@social.example", PASSWORD).send().await.ok();
}

async fn an_account_that_a_social_provider_made_is_not_linked_by_its_address(app: TestApp) {
    let ada = app.register("ada@other.example").await;
    let social = app.social_provider(&ada.tenant).await;
    let code = app.federated_code(&social, &json!({ "sub": "thief" })).await;
    let body = json!({ "code": code, "codeVerifier": VERIFIER });
    let thief = app.post("/auth/federation/finish").json(&body).send().await.ok();
    assert_eq!(thief["user"]["email"], "grace@example.com");
    // The company comes later, and proves its domain.
    let domain = app.domain(&ada, "example.com").await;
    app.publish(&domain);
    app.post(&format!("/domains/{}/verify", domain["id"].as_str().unwrap())).by(&ada).send().await.ok();
    let members = json!({ "domainIds": [domain["id"]], "provisioning": "CREATE", "trustsEmail": true });
    let provider = app.provider(&ada, &members).await;
    let fixture = Fixture { app, ada, provider };
    assert_eq!(fixture.result(&json!({})).await, Err("not_linked".to_owned()));
}

async fn a_user_whose_provider_was_replaced_is_linked_to_the_new_one(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let Fixture { app, ada, provider } = fixture;
    let (former, id) = (grace["accessToken"].as_str().unwrap(), grace["user"]["id"].as_str().unwrap());
    let key = app.post(&format!("/users/{id}/api-keys")).bearer(former).json(&json!({ "name": "key" })).send().await;
    let key = key.created();
    app.delete(&format!("/identity-providers/{}", provider["id"].as_str().unwrap())).by(&ada).send().await.no_content();
    app.get("/auth/me").bearer(former).send().await.ok();
    let provider = app.provider(&ada, &json!({ "name": "New", "domainIds": provider["domainIds"] })).await;
    let fixture = Fixture { app, ada, provider };
    assert_eq!(fixture.log_in(&json!({ "sub": "another" })).await.ok()["user"]["id"], id);
    // What another person could have left in an account without a way in ends.
    for token in [former, key["key"].as_str().unwrap()] {
        fixture.app.get("/auth/me").bearer(token).send().await.problem("unauthorized");
    }
    let logout = &fixture.app.audit(&fixture.ada, &[("action", "LOGOUT")]).await[0];
    assert_eq!(logout["metadata"]["reason"], "IDENTITY_LINKED");
}

async fn a_new_issuer_of_a_provider_finds_its_users(app: TestApp) {
    const NEW: &str = "https://login.example.org";
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let Fixture { app, ada, provider } = &fixture;
    app.providers.discover(NEW, &json!({}));
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "issuer": NEW })).send().await.ok();
    assert_eq!(fixture.log_in(&json!({ "sub": "another" })).await.ok()["user"]["id"], grace["user"]["id"]);
    let path = format!("/users/{}/identities", grace["user"]["id"].as_str().unwrap());
    let list = app.get(&path).by(ada).send().await.ok();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert_eq!((&list["data"][0]["issuer"], &list["data"][0]["subject"]), (&json!(NEW), &json!("another")));
    app.get("/auth/me").bearer(grace["accessToken"].as_str().unwrap()).send().await.ok();
}

async fn a_provider_that_is_off_makes_and_links_nobody(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "OFF" })).await;
    fixture.verified("grace@example.com").await;
    assert_eq!(fixture.result(&json!({})).await, Err("not_linked".to_owned()));
}

async fn first_logins_at_the_same_time_find_one_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(fixture.result(&json!({})).await.unwrap());
    }
    let [first, second, third] = codes.as_slice() else { panic!() };
    let answers = tokio::join!(fixture.finish(first), fixture.finish(second), fixture.finish(third));
    let users = [answers.0, answers.1, answers.2].map(|answer| answer.ok()["user"]["id"].clone());
    assert!(users[0] == users[1] && users[1] == users[2]);
}
