//! Accounts at providers that are linked to users (`docs/federation.md#identities`).

use iam_core::mail::MailKind;
use serde_json::json;

use super::{Fixture, federated, link};
use crate::app::TestApp;
use crate::people::{PASSWORD, Person};

in_memory_with_mail![
    a_user_links_and_removes_its_own_account,
    an_administrator_removes_the_identity_of_another_user,
    a_link_belongs_to_the_session_that_began_it,
    a_link_is_made_at_a_provider_of_the_own_tenant,
    an_account_belongs_to_one_user,
    the_last_way_to_log_in_stays,
    a_way_to_log_in_that_does_not_work_does_not_count,
    an_identity_at_a_former_issuer_is_no_way_to_log_in,
    the_last_passkey_of_a_user_who_logs_in_by_nothing_else_stays,
    a_removed_provider_takes_its_identities,
    the_values_of_an_identity_are_erased_with_its_user,
];

async fn a_user_links_and_removes_its_own_account(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "OFF" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let claims = json!({ "email": "ada.private@social.example" });
    link(&fixture, ada, Some(ada), &claims).await.no_content();
    assert_eq!(fixture.log_in(&claims).await.ok()["user"]["id"], json!(ada.user));
    let path = format!("/users/{}/identities", ada.user);
    let list = app.get(&path).by(ada).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    let grace = app.colleague(ada, "grace@example.com").await;
    app.delete(&identity).by(&grace).send().await.problem("forbidden");
    app.get(&path).by(&grace).send().await.problem("forbidden");
    app.delete(&identity).by(ada).send().await.no_content();
    assert_eq!(app.get(&path).by(ada).send().await.ok()["data"], json!([]));
    assert_eq!(fixture.result(&claims).await, Err("not_linked".to_owned()));
}

async fn an_administrator_removes_the_identity_of_another_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let remove = async |id: &str, by: &Person| app.delete(&format!("/identities/{id}")).by(by).send().await;
    let clerk = app.colleague(ada, "clerk@example.com").await;
    app.role(ada, "CLERK", &["users:read", "users:update"]).await;
    app.assign(ada, &clerk.user, "CLERK", None, None).await;
    let social = app.social_provider(&ada.tenant).await;
    let grace = app.colleague(ada, "grace@example.com").await;
    let (of_ada, of_grace) = (app.linked(&social, ada).await, app.linked(&social, &grace).await);
    // A clerk does not cover what the administrator may do.
    remove(&of_ada, &clerk).await.problem("forbidden");
    remove(&of_grace, &clerk).await.no_content();
    remove(&of_grace, &clerk).await.problem("not-found");
    let removed = &app.audit(ada, &[("resourceType", "IDENTITY"), ("action", "DELETE")]).await[0];
    assert_eq!((&removed["userId"], &removed["metadata"]["targetUserId"]), (&json!(clerk.user), &json!(grace.user)));
}

async fn a_link_belongs_to_the_session_that_began_it(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let second = fixture.app.login(&fixture.ada).await;
    for finisher in [None, Some(&second)] {
        let answer = link(&fixture, &fixture.ada, finisher, &json!({})).await;
        assert_eq!(answer.invalid_fields(), ["code"]);
    }
}

async fn a_link_is_made_at_a_provider_of_the_own_tenant(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let eve = fixture.app.register("eve@example.net").await;
    let refused = fixture.app.post("/auth/identities/start").by(&eve).json(&fixture.start()).send().await;
    assert_eq!(refused.fields("not-found"), ["providerId"]);
}

async fn an_account_belongs_to_one_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let grace = fixture.app.colleague(&fixture.ada, "grace@example.com").await;
    link(&fixture, &grace, Some(&grace), &json!({})).await.no_content();
    link(&fixture, &fixture.ada, Some(&fixture.ada), &json!({})).await.problem("conflict");
    link(&fixture, &grace, Some(&grace), &json!({ "sub": "another" })).await.problem("conflict");
}

async fn the_last_way_to_log_in_stays(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({ "auth_time": fixture.app.iam.now().timestamp() })).await.ok();
    let path = format!("/users/{}/identities", grace["user"]["id"].as_str().unwrap());
    let list = fixture.app.get(&path).by(&fixture.ada).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    fixture.app.delete(&identity).by(&fixture.ada).send().await.problem("conflict");
    let token = grace["accessToken"].as_str().unwrap();
    fixture.app.delete(&identity).bearer(token).send().await.problem("conflict");
    assert_eq!(fixture.app.get(&path).by(&fixture.ada).send().await.ok(), list);
}

async fn a_way_to_log_in_that_does_not_work_does_not_count(app: TestApp) {
    let fixture = Fixture::new(app, json!({})).await;
    let Fixture { app, ada, .. } = &fixture;
    let grace = app.colleague(ada, "grace@example.com").await;
    link(&fixture, &grace, Some(&grace), &json!({})).await.no_content();
    let list = app.get(&format!("/users/{}/identities", grace.user)).by(&grace).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    federated(&fixture).await;
    app.delete(&identity).by(ada).send().await.problem("conflict");
    let disabled = app.provider(ada, &json!({ "name": "Second" })).await;
    let path = format!("/identity-providers/{}", disabled["id"].as_str().unwrap());
    app.linked(disabled["id"].as_str().unwrap(), &grace).await;
    app.patch(&path).by(ada).json(&json!({ "enabled": false })).send().await.ok();
    app.delete(&identity).by(ada).send().await.problem("conflict");
    app.patch(&path).by(ada).json(&json!({ "enabled": true })).send().await.ok();
    app.delete(&identity).by(ada).send().await.no_content();
}

async fn an_identity_at_a_former_issuer_is_no_way_to_log_in(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let grace = Person::logged_in(&fixture.log_in(&json!({})).await.ok());
    let second = app.provider(ada, &json!({ "name": "Second" })).await;
    app.linked(second["id"].as_str().unwrap(), &grace).await;
    app.providers.discover("https://login.example.org", &json!({}));
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "issuer": "https://login.example.org" })).send().await.ok();
    let list = app.get(&format!("/users/{}/identities", grace.user)).by(ada).send().await.ok();
    let [former, used] = [0, 1].map(|number| format!("/identities/{}", list["data"][number]["id"].as_str().unwrap()));
    app.delete(&used).by(ada).send().await.problem("conflict");
    app.delete(&former).by(ada).send().await.no_content();
    app.delete(&used).by(ada).send().await.problem("conflict");
}

async fn the_last_passkey_of_a_user_who_logs_in_by_nothing_else_stays(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let app = &fixture.app;
    let grace = Person::logged_in(&fixture.log_in(&json!({})).await.ok());
    let mut laptops = [app.passkey(&grace).await, app.passkey(&grace).await];
    let login = app.log_in_by_passkey(&laptops[0].answer(&app.passkey_options(&json!({})).await)).await.ok();
    let grace = Person::logged_in(&login);
    let list = app.get(&format!("/users/{}/identities", grace.user)).by(&grace).send().await.ok();
    let identity = format!("/identities/{}", list["data"][0]["id"].as_str().unwrap());
    app.delete(&identity).by(&grace).send().await.no_content();
    let factors = app.get("/auth/factors").by(&grace).send().await.ok();
    let [first, second] = [0, 1].map(|number| factors["data"][number]["id"].as_str().unwrap());
    let remove = async |factor: &str| app.delete(&format!("/auth/factors/{factor}")).by(&grace).send().await;
    remove(second).await.no_content();
    remove(first).await.problem("conflict");
    // By a password, the user still gets in.
    app.post("/auth/password/forgot").json(&json!({ "email": "grace@example.com" })).send().await.accepted();
    let token = app.token(MailKind::Reset, "grace@example.com").await;
    let body = json!({ "token": token, "newPassword": PASSWORD });
    app.post("/auth/password/reset").json(&body).send().await.no_content();
    let login = app.log_in_by_passkey(&laptops[0].answer(&app.passkey_options(&json!({})).await)).await.ok();
    let factor = format!("/auth/factors/{first}");
    app.delete(&factor).by(&Person::logged_in(&login)).send().await.no_content();
}

async fn a_removed_provider_takes_its_identities(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let path = format!("/identity-providers/{}", fixture.provider["id"].as_str().unwrap());
    fixture.app.delete(&path).by(&fixture.ada).send().await.no_content();
    let identities = format!("/users/{}/identities", grace["user"]["id"].as_str().unwrap());
    assert_eq!(fixture.app.get(&identities).by(&fixture.ada).send().await.ok()["data"], json!([]));
    fixture.app.get("/auth/me").bearer(grace["accessToken"].as_str().unwrap()).send().await.ok();
}

async fn the_values_of_an_identity_are_erased_with_its_user(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let grace = fixture.log_in(&json!({ "sub": "grace.hopper" })).await.ok()["user"]["id"].clone();
    let path = format!("/users/{}", grace.as_str().unwrap());
    app.delete(&path).by(ada).send().await.no_content();
    let list = app.get(&format!("{path}/identities")).by(ada).send().await.ok();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    app.sequence().await;
    app.post("/audit-logs/erasures").by(ada).json(&json!({ "userId": grace })).send().await.ok();
    assert_eq!(app.get(&format!("{path}/identities")).by(ada).send().await.ok()["data"], json!([]));
    let entries = app.audit(ada, &[("resourceType", "IDENTITY")]).await;
    assert_eq!(entries.len(), 2);
    for entry in entries {
        assert!(!entry.to_string().contains("grace.hopper") && !entry.to_string().contains("grace@"), "{entry}");
    }
}
