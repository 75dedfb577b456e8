//! Rights that the tree would give: by moving, waking or restoring organizations.

use serde_json::json;

use super::Company;
use crate::app::TestApp;

on_every_store![
    a_privileged_organization_is_not_drawn_under_ones_own,
    a_move_gives_an_accomplice_nothing,
    a_branch_does_not_leave_its_overseers,
    stronger_roles_are_not_woken,
    roles_are_not_smuggled_in_asleep,
    who_sleeps_with_the_branch_does_not_wake_it,
    a_restored_organization_has_no_roles,
    roles_above_do_not_come_back_with_a_restored_organization,
];

async fn a_privileged_organization_is_not_drawn_under_ones_own(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let treasury = app.organization(&company.ada, "treasury").await;
    let attack = || company.relocate(&mallory, treasury, Some(company.north));
    company.attacked_by(attack()).await.problem("not-found");
    // Even where the move itself is allowed, what mallory would gain in the treasury is not.
    app.permit_in(&mallory, treasury, &["organizations:update"]).await;
    company.attacked_by(attack()).await.escalates();
    company.relocate(&company.ada, treasury, Some(company.north)).send().await.ok();
}

async fn a_move_gives_an_accomplice_nothing(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    app.permit_in(&mallory, company.south, &["organizations:update"]).await;
    let bob = company.member(company.south, &["users:update"]).await;
    company.attacked_by(company.relocate(&mallory, company.north, Some(company.south))).await.escalates();
    let by_accomplice = company.relocate(&bob, company.north, Some(company.south));
    company.attacked_by(by_accomplice).await.problem("not-found");
}

async fn a_branch_does_not_leave_its_overseers(app: TestApp) {
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

async fn stronger_roles_are_not_woken(app: TestApp) {
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
    // What sleeps deeper down wakes up as well.
    company.suspend(company.root).await;
    company.change(&company.ada, company.south, &active).send().await.ok();
    company.attacked_by(company.change(&mallory, company.root, &active)).await.escalates();
    company.suspend(company.south).await;
    company.change(&mallory, company.root, &active).send().await.ok();
}

/// Put to sleep what gives rights, move the prey below, and wake it up.
async fn roles_are_not_smuggled_in_asleep(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["organizations:update"]).await;
    app.permit_in(&mallory, company.south, &["users:update"]).await;
    let treasury = app.organization(&company.ada, "treasury").await;
    company.attacked_by(company.relocate(&mallory, treasury, Some(company.south))).await.escalates();
    company.change(&mallory, company.south, &json!({ "status": "SUSPENDED" })).send().await.ok();
    company.relocate(&mallory, treasury, Some(company.south)).send().await.ok();
    let wake = company.change(&mallory, company.south, &json!({ "status": "ACTIVE" }));
    company.attacked_by(wake).await.escalates();
    // Who is awake further up is asked for at once.
    company.relocate(&company.ada, treasury, None).send().await.ok();
    company.member(company.root, &["users:delete"]).await;
    company.attacked_by(company.relocate(&mallory, treasury, Some(company.south))).await.escalates();
}

async fn who_sleeps_with_the_branch_does_not_wake_it(app: TestApp) {
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

async fn roles_above_do_not_come_back_with_a_restored_organization(app: TestApp) {
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
