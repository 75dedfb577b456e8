//! Attacks by the organization tree: moved, reactivated and restored organizations.

use serde_json::json;

use super::Company;
use crate::app::TestApp;

in_memory![
    a_caller_cannot_move_a_privileged_organization_below_its_own,
    a_move_gives_an_accomplice_no_rights,
    a_branch_administrator_cannot_move_or_create_outside_the_branch,
    a_weaker_caller_cannot_reactivate_stronger_roles,
    suspending_before_a_move_does_not_avoid_the_escalation_check,
    roles_that_invitations_offer_are_compared_like_held_ones,
    a_branch_administrator_cannot_reactivate_the_suspended_branch,
    a_restored_organization_has_no_roles,
    a_weaker_caller_cannot_restore_an_organization_below_stronger_roles,
];

async fn a_caller_cannot_move_a_privileged_organization_below_its_own(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let treasury = app.organization(&company.ada, "treasury").await;
    let attack = || company.relocate(&mallory, treasury, Some(company.north));
    company.attacked_by(attack()).await.problem("not-found");
    // Even if Mallory may move the treasury, the move must not give her more rights in it.
    app.permit_in(&mallory, treasury, &["organizations:update"]).await;
    company.attacked_by(attack()).await.escalates();
    company.relocate(&company.ada, treasury, Some(company.north)).send().await.ok();
}

async fn a_move_gives_an_accomplice_no_rights(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    app.permit_in(&mallory, company.south, &["organizations:update"]).await;
    let bob = company.member(company.south, &["users:update"]).await;
    company.attacked_by(company.relocate(&mallory, company.north, Some(company.south))).await.escalates();
    let by_accomplice = company.relocate(&bob, company.north, Some(company.south));
    company.attacked_by(by_accomplice).await.problem("not-found");
}

async fn a_branch_administrator_cannot_move_or_create_outside_the_branch(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let attack = company.relocate(&mallory, company.north, None);
    company.attacked_by(attack).await.lacks("organizations:update");
    let attack = company.relocate(&mallory, company.north, Some(company.south));
    assert_eq!(company.attacked_by(attack).await.fields("not-found"), ["parentId"]);
    let below = company.south;
    let attack = app.post("/organizations").by(&mallory).json(&json!({ "name": "Outpost", "parentId": below }));
    assert_eq!(company.attacked_by(attack).await.fields("not-found"), ["parentId"]);
    let attack = app.post("/organizations").by(&mallory).json(&json!({ "name": "Outpost" }));
    company.attacked_by(attack).await.lacks("organizations:create");
}

async fn a_weaker_caller_cannot_reactivate_stronger_roles(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["organizations:update"]).await;
    let depot = app.below(&company.ada, company.south, "depot").await;
    company.member(depot, &["users:update"]).await;
    let active = json!({ "status": "ACTIVE" });
    company.suspend(company.south).await;
    company.attacked_by(company.change(&mallory, company.south, &active)).await.escalates();
    for elsewhere in [Some(company.north), Some(company.root), None] {
        company.attacked_by(company.relocate(&mallory, depot, elsewhere)).await.escalates();
        let both = json!({ "status": "ACTIVE", "parentId": elsewhere });
        company.attacked_by(company.change(&mallory, depot, &both)).await.escalates();
    }
    // A reactivation also reactivates the grants further down.
    company.suspend(company.root).await;
    company.change(&company.ada, company.south, &active).send().await.ok();
    company.attacked_by(company.change(&mallory, company.root, &active)).await.escalates();
    company.suspend(company.south).await;
    company.change(&mallory, company.root, &active).send().await.ok();
}

/// The attack: suspend the organization in which the attacker has rights, move the target below it, and reactivate it.
async fn suspending_before_a_move_does_not_avoid_the_escalation_check(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["organizations:update"]).await;
    app.permit_in(&mallory, company.south, &["users:update"]).await;
    let treasury = app.organization(&company.ada, "treasury").await;
    company.attacked_by(company.relocate(&mallory, treasury, Some(company.south))).await.escalates();
    company.change(&mallory, company.south, &json!({ "status": "SUSPENDED" })).send().await.ok();
    // Another administrator, who holds all that is held in the suspended organization, would reactivate it.
    company.attacked_by(company.relocate(&mallory, treasury, Some(company.south))).await.escalates();
}

/// The attack: let an accomplice accept the invitation after the move, or after the reactivation.
async fn roles_that_invitations_offer_are_compared_like_held_ones(app: TestApp) {
    let app = app.with_mail().await;
    let company = Company::on(&app).await;
    let mallory = company.employee(&["organizations:update"]).await;
    let depot = app.below(&company.ada, company.north, "depot").await;
    let role = app.role(&company.ada, "STRONG", &["users:update"]).await;
    let offered = json!([{ "roleId": role, "organizationId": company.south }]);
    let invitation = json!({ "email": "eve@example.com", "roles": offered });
    let invitation = app.invite(&company.ada, &invitation).await;
    company.attacked_by(company.relocate(&mallory, depot, Some(company.south))).await.escalates();
    let active = json!({ "status": "ACTIVE" });
    company.suspend(company.south).await;
    company.attacked_by(company.change(&mallory, company.south, &active)).await.escalates();
    app.delete(&format!("/invitations/{invitation}")).by(&company.ada).send().await.no_content();
    company.change(&mallory, company.south, &active).send().await.ok();
    company.relocate(&mallory, depot, Some(company.south)).send().await.ok();
}

async fn a_branch_administrator_cannot_reactivate_the_suspended_branch(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    company.change(&mallory, company.north, &json!({ "status": "SUSPENDED" })).send().await.ok();
    for body in [json!({ "status": "ACTIVE" }), json!({ "status": "INACTIVE" }), json!({ "parentId": null })] {
        company.attacked_by(company.change(&mallory, company.north, &body)).await.lacks("organizations:update");
    }
}

async fn a_restored_organization_has_no_roles(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    for status in ["INACTIVE", "ACTIVE"] {
        company.change(&company.ada, company.north, &json!({ "status": status })).send().await.ok();
        let attack = company.change(&mallory, company.north, &json!({ "name": "Mine" }));
        company.attacked_by(attack).await.problem("not-found");
    }
}

async fn a_weaker_caller_cannot_restore_an_organization_below_stronger_roles(app: TestApp) {
    let company = Company::on(&app).await;
    let depot = app.below(&company.ada, company.south, "depot").await;
    let bob = company.member(company.south, &["users:update"]).await;
    let mallory = company.employee(&["organizations:update", "organizations:delete"]).await;
    company.change(&mallory, depot, &json!({ "status": "INACTIVE" })).send().await.ok();
    for status in ["ACTIVE", "SUSPENDED"] {
        let restore = company.change(&mallory, depot, &json!({ "status": status }));
        company.attacked_by(restore).await.escalates();
    }
    let elsewhere = json!({ "status": "ACTIVE", "parentId": company.north });
    company.change(&mallory, depot, &elsewhere).send().await.ok();
    company.relocate(&company.ada, depot, Some(company.south)).send().await.ok();
    let check = json!({ "permission": "users:update", "organizationId": depot });
    assert_eq!(app.post("/authz/check").by(&bob).json(&check).send().await.ok()["allowed"], true);
}
