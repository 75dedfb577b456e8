//! Attacks on other users, and by restored users.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::Company;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Request, each};

in_memory![
    members_of_other_branches_are_not_found,
    adding_a_user_to_a_branch_gives_no_rights_over_the_user,
    a_weaker_caller_cannot_reactivate_a_stronger_user,
    a_restored_user_has_no_roles,
];

/// All requests that change a user, each with the permission that it needs.
fn attempts<'a>(app: &'a TestApp, by: &Person, victim: &Person) -> Vec<(Request<'a>, &'static str)> {
    let path = format!("/users/{}", victim.user);
    let patch = |body: Value| (app.patch(&path).by(by).json(&body), "users:update");
    vec![
        patch(json!({ "firstName": "Mine" })),
        patch(json!({ "email": "mine@example.com" })),
        patch(json!({ "status": "SUSPENDED" })),
        patch(json!({ "status": "INACTIVE" })),
        (app.post(&format!("{path}/suspend")).by(by), "users:update"),
        (app.post(&format!("{path}/reactivate")).by(by), "users:update"),
        (app.delete(&path).by(by), "users:delete"),
        (app.delete(&format!("/sessions/{}", victim.session)).by(by), "sessions:delete"),
    ]
}

const ALL_ON_MEMBERS: &[&str] = &["users:*", "sessions:*", "role-assignments:*", "roles:*"];

async fn members_of_other_branches_are_not_found(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.member(company.north, ALL_ON_MEMBERS).await;
    let elsewhere = company.member(company.south, &[]).await;
    let above = company.member(company.root, &[]).await;
    for victim in [&elsewhere, &above, &company.user_without_roles().await, &company.ada] {
        for (attack, _) in attempts(&app, &mallory, victim) {
            company.attacked_by(attack).await.problem("not-found");
        }
        for path in ["", "/roles", "/sessions"] {
            let path = format!("/users/{}{path}", victim.user);
            app.get(&path).by(&mallory).send().await.problem("not-found");
        }
    }
}

async fn adding_a_user_to_a_branch_gives_no_rights_over_the_user(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.member(company.north, ALL_ON_MEMBERS).await;
    let elsewhere = company.member(company.south, &[]).await;
    let suspended = app.below(&company.ada, company.root, "suspended").await;
    let elsewhere_suspended = company.member(suspended, &[]).await;
    company.suspend(suspended).await;
    let above = company.member(company.root, &[]).await;
    let role = company.role(&[]).await;
    for victim in [&company.ada, &elsewhere, &elsewhere_suspended, &above] {
        let held = app.get(&format!("/users/{}/roles", victim.user)).by(&company.ada).send().await.ok();
        company.assign(&mallory, &victim.user, &role, Some(company.north)).send().await.created();
        for (attack, needed) in attempts(&app, &mallory, victim) {
            company.attacked_by(attack).await.lacks(needed);
        }
        for assignment in each(&held, "id") {
            let path = format!("/role-assignments/{assignment}");
            company.attacked_by(app.delete(&path).by(&mallory)).await.problem("not-found");
            let expiry = Some(company.within(TimeDelta::minutes(1)));
            company.attacked_by(company.extend(&mallory, &assignment, expiry)).await.problem("not-found");
        }
    }
}

async fn a_weaker_caller_cannot_reactivate_a_stronger_user(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["users:update"]).await;
    let admin = company.tenant_admin().await;
    let branch_admin = company.branch_admin(company.north).await;
    for user in [&admin.user, &branch_admin.user] {
        app.set_status(&company.ada, user, "SUSPENDED").await;
        let path = format!("/users/{user}");
        company.attacked_by(app.post(&format!("{path}/reactivate")).by(&mallory)).await.escalates();
        for body in [json!({ "status": "ACTIVE" }), json!({ "status": "ACTIVE", "firstName": "Grace" })] {
            company.attacked_by(app.patch(&path).by(&mallory).json(&body)).await.escalates();
        }
        // The way through INACTIVE needs more than users:update, and would end the roles.
        let detour = app.patch(&path).by(&mallory).json(&json!({ "status": "INACTIVE" }));
        company.attacked_by(detour).await.lacks("users:delete");
    }
    let weak = company.user_without_roles().await;
    app.set_status(&company.ada, &weak.user, "SUSPENDED").await;
    app.post(&format!("/users/{}/reactivate", weak.user)).by(&mallory).send().await.ok();
}

async fn a_restored_user_has_no_roles(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["users:*"]).await;
    let admin = company.tenant_admin().await;
    for status in ["INACTIVE", "SUSPENDED", "ACTIVE"] {
        app.set_status(&mallory, &admin.user, status).await;
    }
    let back = app.login(&admin).await;
    app.get("/users").by(&back).send().await.lacks("users:read");
    assert!(!app.knows(&admin).await);
}
