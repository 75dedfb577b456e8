//! Attacks by users who act as another one (`docs/http-api.md#acting-as-another`).

use serde_json::json;

use super::Company;
use crate::app::TestApp;
use crate::people::{Person, claims};

in_memory![
    a_user_who_acts_as_another_cannot_act_as_a_third,
    acting_gives_nothing_to_the_one_who_acts,
    what_acts_as_another_leaves_the_rights_of_all_as_they_are,
    a_stolen_token_is_not_exchanged_for_anything,
    a_token_does_not_lose_its_actor,
    another_tenant_does_not_end_it,
];

async fn a_user_who_acts_as_another_cannot_act_as_a_third(app: TestApp) {
    let company = Company::on(&app).await;
    let (bob, cyd) = (company.employee(&["impersonations:create"]).await, company.user_without_roles().await);
    let acting = app.acting(&company.ada, &bob).await;
    let refused = company.attacked_by(app.asks_to_act(&acting, &cyd.user, &json!({}))).await;
    assert!(refused.detail("forbidden").contains("act as another user"));
    // Neither does the one who acts get back to itself in this way.
    company.attacked_by(app.asks_to_act(&acting, &company.ada.user, &json!({}))).await.problem("forbidden");
    app.acting(&bob, &cyd).await;
}

/// The support may do nothing that the user may not do, as long as it acts as that user.
async fn acting_gives_nothing_to_the_one_who_acts(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.member(company.north, &["organizations:read"]).await;
    let acting = app.acting(&company.ada, &bob).await;
    app.get(&format!("/organizations/{}", company.north)).by(&acting).send().await.ok();
    app.get(&format!("/organizations/{}", company.south)).by(&acting).send().await.problem("not-found");
    company.attacked_by(app.get("/audit-logs").by(&acting)).await.lacks("audit-logs:read");
    let role = company.role(&["users:read"]).await;
    company.attacked_by(company.edit_role(&acting, &role, &[])).await.lacks("roles:update");
}

/// Every way to rights that goes over a role that is held already, an organization that counts again, or a user that
/// comes back.
async fn what_acts_as_another_leaves_the_rights_of_all_as_they_are(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.employee(&["users:*", "roles:*", "organizations:*"]).await;
    let mallory = company.user_without_roles().await;
    let held = company.held_role(&mallory.user, &[]).await;
    let gone = company.member(company.north, &["users:read"]).await;
    company.member(company.south, &["users:read"]).await;
    app.set_status(&company.ada, &gone.user, "SUSPENDED").await;
    company.suspend(company.south).await;
    let acting = app.acting(&company.ada, &bob).await;
    for attack in [
        company.edit_role(&acting, &held, &["users:read"]),
        app.post(&format!("/users/{}/reactivate", gone.user)).by(&acting),
        company.change(&acting, company.south, &json!({ "status": "ACTIVE" })),
        app.patch(&format!("/users/{}", mallory.user)).by(&acting).json(&json!({ "email": "mine@example.com" })),
        app.patch(&format!("/users/{}", mallory.user)).by(&acting).json(&json!({ "externalId": "mine" })),
        // The user of the session, too.
        app.patch(&format!("/users/{}", bob.user)).by(&acting).json(&json!({ "email": "mine@example.com" })),
        // A user with roles would lose them.
        app.delete(&format!("/users/{}", mallory.user)).by(&acting),
        app.delete(&format!("/organizations/{}", company.south)).by(&acting),
    ] {
        let refused = company.attacked_by(attack).await;
        assert!(refused.detail("forbidden").contains("act as another user"), "{}", refused.text());
    }
}

async fn a_stolen_token_is_not_exchanged_for_anything(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.user_without_roles().await;
    let acting = app.acting(&company.ada, &bob).await;
    let refresh = app.post("/auth/refresh").json(&json!({ "refreshToken": acting.access })).send().await;
    refresh.problem("unauthorized");
    let challenge = json!({ "challenge": acting.access, "code": "000000" });
    app.post("/auth/login/second-factor").json(&challenge).send().await.problem("unauthorized");
    company.attacked_by(app.post("/auth/logout-all").by(&acting)).await.problem("insufficient-authentication");
    app.post("/auth/logout").by(&company.ada).send().await.no_content();
    assert!(!app.knows(&acting).await && app.knows(&bob).await);
}

async fn a_token_does_not_lose_its_actor(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.user_without_roles().await;
    let acting = app.acting(&company.ada, &bob).await;
    let mut forged: Vec<&str> = acting.access.split('.').collect();
    let of_bob = bob.access.split('.').nth(1).unwrap();
    forged[1] = of_bob;
    let access = forged.join(".");
    assert_eq!(claims(&access)["sub"], json!(bob.user));
    assert!(!app.knows(&Person { access, ..bob.clone() }).await && app.knows(&bob).await);
}

async fn another_tenant_does_not_end_it(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.user_without_roles().await;
    let acting = app.acting(&company.ada, &bob).await;
    let eve = app.register("eve@example.org").await;
    let path = format!("/sessions/{}", acting.session);
    company.attacked_by(app.delete(&path).by(&eve)).await.problem("not-found");
    app.get(&format!("/users/{}/sessions", bob.user)).by(&eve).send().await.problem("not-found");
    assert!(app.knows(&acting).await);
}
