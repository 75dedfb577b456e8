//! Two requests at once.

use chrono::TimeDelta;
use futures_util::future::join;
use serde_json::json;

use super::Company;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Request, Response};
use crate::table::fresh;

on_every_store![
    editing_and_assigning_a_role_at_once_gives_no_more_than_one_after_the_other,
    a_role_is_not_deleted_and_assigned_at_once,
    a_permission_is_not_deleted_and_put_into_a_role_at_once,
    an_organization_is_not_deleted_and_filled_at_once,
    two_moves_at_once_make_no_circle,
    the_same_role_is_not_assigned_twice_at_once,
    a_caller_whose_role_goes_at_once_gives_it_to_nobody_afterwards,
];

/// How often the order of two requests is left to chance.
const ROUNDS: usize = 6;

/// Sends two requests at once, in both orders in turn. They should come from two people: those of one may have to wait
/// for each other anyway.
async fn race(round: usize, one: Request<'_>, other: Request<'_>) -> (Response, Response) {
    if round.is_multiple_of(2) {
        join(one.send(), other.send()).await
    } else {
        let (other, one) = join(other.send(), one.send()).await;
        (one, other)
    }
}

/// Exactly one succeeds, and the other one is refused like this.
fn one_alone(one: &Response, other: &Response, refusals: [&[u16]; 2]) {
    let succeeds = |answer: &Response| (200..300).contains(&answer.status());
    assert!(succeeds(one) != succeeds(other), "{} {}", one.text(), other.text());
    let refused = if succeeds(one) { (other, refusals[1]) } else { (one, refusals[0]) };
    assert!(refused.1.contains(&refused.0.status()), "{}", refused.0.text());
}

/// An empty role can be given for ever, and strengthened for a while as long as nobody holds it: not both.
async fn editing_and_assigning_a_role_at_once_gives_no_more_than_one_after_the_other(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update"]).await;
    app.permit_until(&mallory, &["users:read"], None, Some(company.within(TimeDelta::minutes(10)))).await;
    let bob = company.employee(&["role-assignments:create"]).await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let edit = company.edit_role(&mallory, &role, &["users:read"]);
        let assign = company.assign(&bob, &bob.user, &role, None);
        let (edit, assign) = race(round, edit, assign).await;
        one_alone(&edit, &assign, [&[403], &[403]]);
    }
}

async fn a_role_is_not_deleted_and_assigned_at_once(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let delete = app.delete(&format!("/roles/{role}")).by(&bob);
        let assign = company.assign(&company.ada, &bob.user, &role, None);
        let (delete, assign) = race(round, delete, assign).await;
        one_alone(&delete, &assign, [&[409], &[404]]);
    }
}

async fn a_permission_is_not_deleted_and_put_into_a_role_at_once(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let registered = app.post("/permissions").by(&company.ada).json(&json!({ "name": "orders:read" })).send().await;
        let path = format!("/permissions/{}", registered.created()["id"].as_str().unwrap());
        let edit = company.edit_role(&company.ada, &role, &["orders:read"]);
        let (delete, edit) = race(round, app.delete(&path).by(&bob), edit).await;
        one_alone(&delete, &edit, [&[409], &[400]]);
        if delete.status() == 409 {
            company.edit_role(&company.ada, &role, &[]).send().await.ok();
            app.delete(&path).by(&company.ada).send().await.no_content();
        }
    }
}

async fn an_organization_is_not_deleted_and_filled_at_once(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    let member = app.role_id(&company.ada, "MEMBER").await;
    for round in 0..ROUNDS {
        let place = app.below(&company.ada, company.north, &fresh("place-")).await;
        let delete = app.delete(&format!("/organizations/{place}")).by(&bob);
        let child = json!({ "name": "Child", "parentId": place });
        let (delete, create) = race(round, delete, app.post("/organizations").by(&company.ada).json(&child)).await;
        one_alone(&delete, &create, [&[409], &[409]]);

        let place = app.below(&company.ada, company.north, &fresh("place-")).await;
        let delete = app.delete(&format!("/organizations/{place}")).by(&bob);
        let (delete, assign) = race(round, delete, company.assign(&company.ada, &bob.user, &member, Some(place))).await;
        // Whichever came first, nobody holds anything in what is gone.
        delete.no_content();
        assert!(matches!(assign.status(), 201 | 409), "{}", assign.text());
        let held = app.get("/role-assignments").by(&company.ada).query("organizationId", &place.to_string());
        assert_eq!(held.send().await.ok()["data"], json!([]));
    }
}

async fn two_moves_at_once_make_no_circle(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let one = app.organization(&company.ada, &fresh("one-")).await;
        let other = app.organization(&company.ada, &fresh("other-")).await;
        let below = company.relocate(&company.ada, one, Some(other));
        let above = company.relocate(&bob, other, Some(one));
        let (below, above) = race(round, below, above).await;
        one_alone(&below, &above, [&[400], &[400]]);
    }
}

async fn the_same_role_is_not_assigned_twice_at_once(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let place = (round % 4 < 2).then_some(company.north);
        let assign = |by: &Person| company.assign(by, &bob.user, &role, place);
        let (one, other) = race(round, assign(&company.ada), assign(&bob)).await;
        one_alone(&one, &other, [&[409], &[409]]);
    }
}

async fn a_caller_whose_role_goes_at_once_gives_it_to_nobody_afterwards(app: TestApp) {
    let company = Company::on(&app).await;
    let admin = app.role_id(&company.ada, "TENANT_ADMIN").await;
    for round in 0..ROUNDS {
        let [mallory, bob] = [company.nobody().await, company.nobody().await];
        let held = app.assign(&company.ada, &mallory.user, "TENANT_ADMIN", None, None).await;
        let revoke = app.delete(&format!("/role-assignments/{held}")).by(&company.ada);
        let (revoke, assign) = race(round, revoke, company.assign(&mallory, &bob.user, &admin, None)).await;
        revoke.no_content();
        match assign.status() {
            201 => {
                // It came first, then: so the audit log says.
                let given = app.history(&company.ada, assign.json()["id"].as_str().unwrap()).await;
                let taken = app.audit(&company.ada, &[("resourceId", &held), ("action", "ROLE_REVOKED")]).await;
                assert!(given[0]["id"].as_str() < taken[0]["id"].as_str(), "{given:?} {taken:?}");
            }
            _ => assign.lacks("role-assignments:create"),
        }
        let late = company.assign(&mallory, &mallory.user, &admin, None);
        company.attacked_by(late).await.lacks("role-assignments:create");
    }
}
