//! Invitations of people who come from a provider (`docs/federation.md#whose-account`).

use iam_core::mail::MailKind;
use serde_json::json;

use super::{Fixture, federated};
use crate::app::TestApp;
use crate::people::PASSWORD;

in_memory_with_mail![
    a_pending_invitation_is_accepted_on_the_way,
    an_invitation_without_the_rights_of_its_inviter_is_left,
    an_invitation_to_all_permissions_needs_its_mail,
    a_social_provider_accepts_no_invitation,
];

async fn a_pending_invitation_is_accepted_on_the_way(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, provider } = &fixture;
    let [member, auditor] = [app.role_id(ada, "MEMBER").await, app.role_id(ada, "AUDITOR").await];
    let path = format!("/identity-providers/{}", provider["id"].as_str().unwrap());
    app.patch(&path).by(ada).json(&json!({ "roles": [{ "roleId": member }] })).send().await.ok();
    let branch = app.organization(ada, "branch").await.to_string();
    let roles = json!([{ "roleId": member, "organizationId": branch }, { "roleId": member }, { "roleId": auditor }]);
    let invitation = app.invite(ada, &json!({ "email": "Grace@Example.com", "roles": roles })).await;
    let token = app.token(MailKind::Invitation, "Grace@Example.com").await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let shown = app.get(&format!("/invitations/{invitation}")).by(ada).send().await.ok();
    assert_eq!(shown["status"], "ACCEPTED");
    let held = app.get(&format!("/users/{}/roles", grace["user"]["id"].as_str().unwrap())).by(ada).send().await.ok();
    assert_eq!(held["data"].as_array().unwrap().len(), 3);
    let late = json!({ "token": token, "password": PASSWORD, "firstName": "Eve", "lastName": "Evil" });
    assert_eq!(app.post("/invitations/accept").json(&late).send().await.invalid_fields(), ["token"]);
}

async fn an_invitation_without_the_rights_of_its_inviter_is_left(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE" })).await;
    let Fixture { app, ada, .. } = &fixture;
    let clerk = app.colleague(ada, "clerk@example.com").await;
    app.role(ada, "CLERK", &["invitations:create", "role-assignments:create", "users:read"]).await;
    app.assign(ada, &clerk.user, "CLERK", None, None).await;
    let role = app.role_id(ada, "CLERK").await;
    app.invite(&clerk, &json!({ "email": "grace@example.com", "roles": [{ "roleId": role }] })).await;
    app.set_status(ada, &clerk.user, "SUSPENDED").await;
    let grace = fixture.log_in(&json!({})).await.ok();
    let held = app.get(&format!("/users/{}/roles", grace["user"]["id"].as_str().unwrap())).by(ada).send().await.ok();
    assert_eq!(held["data"], json!([]));
}

async fn an_invitation_to_all_permissions_needs_its_mail(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "trustsEmail": true })).await;
    let Fixture { app, ada, .. } = &fixture;
    let everything = app.role_id(ada, "TENANT_ADMIN").await;
    app.invite(ada, &json!({ "email": "grace@example.com", "roles": [{ "roleId": everything }] })).await;
    let code = fixture.result(&json!({})).await.unwrap();
    fixture.finish(&code).await.problem("unauthorized");
    federated(&fixture).await;
    let token = app.token(MailKind::Invitation, "grace@example.com").await;
    let body = json!({ "token": token, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
    app.post("/invitations/accept").json(&body).send().await.created();
}

async fn a_social_provider_accepts_no_invitation(app: TestApp) {
    let fixture = Fixture::new(app, json!({ "provisioning": "CREATE", "domainIds": [] })).await;
    let claims = json!({ "email": "eve@social.example" });
    fixture.app.invite(&fixture.ada, &json!({ "email": "eve@social.example", "roles": [] })).await;
    assert_eq!(fixture.result(&claims).await, Err("not_linked".to_owned()));
}
