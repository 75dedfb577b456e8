//! Attacks by two concurrent requests.

use chrono::TimeDelta;
use futures_util::future::join;
use serde_json::json;

use super::Company;
use crate::access_table::fresh;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Request, Response};

on_every_store![
    "transactions race";
    concurrently_editing_and_assigning_a_role_does_not_escalate,
    a_role_is_not_both_deleted_and_assigned,
    a_permission_is_not_both_deleted_and_added_to_a_role,
    a_concurrently_deleted_organization_has_no_children_or_assignments,
    two_concurrent_moves_make_no_cycle,
    concurrent_requests_do_not_assign_the_same_role_twice,
    a_caller_cannot_grant_a_role_after_it_is_concurrently_revoked,
    acting_as_another_user_ends_with_a_session_that_ends_meanwhile,
    acting_as_another_user_does_not_begin_in_a_session_that_ends_meanwhile,
    a_right_that_is_concurrently_revoked_is_not_used_as_another_user,
];

/// The number of races in each test. The order in which two concurrent requests take effect is left to chance.
pub(crate) const ROUNDS: usize = 6;

/// Sends two requests concurrently, in alternating order. They should come from two users: requests of the same user
/// may have to wait for each other anyway.
pub(crate) async fn race(round: usize, one: Request<'_>, other: Request<'_>) -> (Response, Response) {
    if round.is_multiple_of(2) {
        join(one.send(), other.send()).await
    } else {
        let (other, one) = join(other.send(), one.send()).await;
        (one, other)
    }
}

/// Checks that exactly one request succeeds, and that the other one is refused with one of its statuses.
pub(crate) fn one_succeeds(one: &Response, other: &Response, refusals: [&[u16]; 2]) {
    let succeeds = |answer: &Response| (200..300).contains(&answer.status());
    assert!(succeeds(one) != succeeds(other), "{} {}", one.text(), other.text());
    let refused = if succeeds(one) { (other, refusals[1]) } else { (one, refusals[0]) };
    assert!(refused.1.contains(&refused.0.status()), "{}", refused.0.text());
}

/// An empty role may be assigned without an expiry. A caller with a temporary permission may add that permission to a
/// role that no user holds. Only one of the two may succeed.
async fn concurrently_editing_and_assigning_a_role_does_not_escalate(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update"]).await;
    app.permit_until(&mallory, &["users:read"], None, Some(company.within(TimeDelta::minutes(10)))).await;
    let bob = company.employee(&["role-assignments:create"]).await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let edit = company.edit_role(&mallory, &role, &["users:read"]);
        let assign = company.assign(&bob, &bob.user, &role, None);
        let (edit, assign) = race(round, edit, assign).await;
        one_succeeds(&edit, &assign, [&[403], &[403]]);
    }
}

async fn a_role_is_not_both_deleted_and_assigned(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let delete = app.delete(&format!("/roles/{role}")).by(&bob);
        let assign = company.assign(&company.ada, &bob.user, &role, None);
        let (delete, assign) = race(round, delete, assign).await;
        one_succeeds(&delete, &assign, [&[409], &[404]]);
    }
}

async fn a_permission_is_not_both_deleted_and_added_to_a_role(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let registered = app.post("/permissions").by(&company.ada).json(&json!({ "name": "orders:read" })).send().await;
        let path = format!("/permissions/{}", registered.created()["id"].as_str().unwrap());
        let edit = company.edit_role(&company.ada, &role, &["orders:read"]);
        let (delete, edit) = race(round, app.delete(&path).by(&bob), edit).await;
        one_succeeds(&delete, &edit, [&[409], &[400]]);
        if delete.status() == 409 {
            company.edit_role(&company.ada, &role, &[]).send().await.ok();
            app.delete(&path).by(&company.ada).send().await.no_content();
        }
    }
}

async fn a_concurrently_deleted_organization_has_no_children_or_assignments(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    let member = app.role_id(&company.ada, "MEMBER").await;
    for round in 0..ROUNDS {
        let organization = app.below(&company.ada, company.north, &fresh("organization-")).await;
        let delete = app.delete(&format!("/organizations/{organization}")).by(&bob);
        let child = json!({ "name": "Child", "parentId": organization });
        let (delete, create) = race(round, delete, app.post("/organizations").by(&company.ada).json(&child)).await;
        one_succeeds(&delete, &create, [&[409], &[409]]);

        let organization = app.below(&company.ada, company.north, &fresh("organization-")).await;
        let delete = app.delete(&format!("/organizations/{organization}")).by(&bob);
        let (delete, assign) =
            race(round, delete, company.assign(&company.ada, &bob.user, &member, Some(organization))).await;
        // In either order, no assignment remains in the deleted organization.
        delete.no_content();
        assert!(matches!(assign.status(), 201 | 409), "{}", assign.text());
        let held = app.get("/role-assignments").by(&company.ada).query("organizationId", &organization.to_string());
        assert_eq!(held.send().await.ok()["data"], json!([]));
    }
}

async fn two_concurrent_moves_make_no_cycle(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let one = app.organization(&company.ada, &fresh("one-")).await;
        let other = app.organization(&company.ada, &fresh("other-")).await;
        let below = company.relocate(&company.ada, one, Some(other));
        let above = company.relocate(&bob, other, Some(one));
        let (below, above) = race(round, below, above).await;
        one_succeeds(&below, &above, [&[400], &[400]]);
    }
}

async fn concurrent_requests_do_not_assign_the_same_role_twice(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.tenant_admin().await;
    for round in 0..ROUNDS {
        let role = company.role(&[]).await;
        let organization = (round % 4 < 2).then_some(company.north);
        let assign = |by: &Person| company.assign(by, &bob.user, &role, organization);
        let (one, other) = race(round, assign(&company.ada), assign(&bob)).await;
        one_succeeds(&one, &other, [&[409], &[409]]);
    }
}

async fn a_caller_cannot_grant_a_role_after_it_is_concurrently_revoked(app: TestApp) {
    let company = Company::on(&app).await;
    let admin = app.role_id(&company.ada, "TENANT_ADMIN").await;
    for round in 0..ROUNDS {
        let [mallory, bob] = [company.user_without_roles().await, company.user_without_roles().await];
        let held = app.assign(&company.ada, &mallory.user, "TENANT_ADMIN", None, None).await;
        let revoke = app.delete(&format!("/role-assignments/{held}")).by(&company.ada);
        let (revoke, assign) = race(round, revoke, company.assign(&mallory, &bob.user, &admin, None)).await;
        revoke.no_content();
        match assign.status() {
            201 => {
                // The assignment came first, and the audit log shows this order.
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

/// What a user needs to act as one who creates roles.
const SUPPORT: [&str; 2] = ["impersonations:create", "roles:create"];

async fn acting_as_another_user_ends_with_a_session_that_ends_meanwhile(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.employee(&["roles:create"]).await;
    for round in 0..ROUNDS {
        let support = company.employee(&SUPPORT).await;
        let acting = app.acting(&support, &bob).await;
        let role = json!({ "name": fresh("ROLE_OF_RACE_"), "permissions": [] });
        let (create, logout) = (app.post("/roles").by(&acting).json(&role), app.post("/auth/logout").by(&support));
        let (create, logout) = race(round, create, logout).await;
        logout.no_content();
        assert!(matches!(create.status(), 201 | 401), "{}", create.text());
        assert!(!app.knows(&acting).await);
        let ends = [("action", "IMPERSONATION_ENDED"), ("resourceId", &*acting.session)];
        assert_eq!(app.audit(&company.ada, &ends).await.len(), 1);
    }
}

async fn acting_as_another_user_does_not_begin_in_a_session_that_ends_meanwhile(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.user_without_roles().await;
    for round in 0..ROUNDS {
        let support = company.employee(&SUPPORT).await;
        let end = app.post(&format!("/users/{}/logout-all", support.user)).by(&company.ada);
        let (begun, end) = race(round, app.asks_to_act(&support, &bob.user, &json!({})), end).await;
        end.no_content();
        match begun.status() {
            201 => {
                let access = begun.json()["accessToken"].as_str().unwrap().to_owned();
                assert!(!app.knows(&Person { access, ..bob.clone() }).await);
            }
            _ => drop(begun.problem("unauthorized")),
        }
    }
}

async fn a_right_that_is_concurrently_revoked_is_not_used_as_another_user(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.employee(&["roles:create"]).await;
    for round in 0..ROUNDS {
        let support = company.employee(&["impersonations:create"]).await;
        let held = app.permit(&support, &["roles:create"]).await;
        let acting = app.acting(&support, &bob).await;
        let role = json!({ "name": fresh("ROLE_OF_RACE_"), "permissions": [] });
        let revoke = app.delete(&format!("/role-assignments/{held}")).by(&company.ada);
        let (create, revoke) = race(round, app.post("/roles").by(&acting).json(&role), revoke).await;
        revoke.no_content();
        match create.status() {
            201 => {
                let made = app.history(&company.ada, create.json()["id"].as_str().unwrap()).await;
                let taken = app.audit(&company.ada, &[("resourceId", &held), ("action", "ROLE_REVOKED")]).await;
                assert!(made[0]["id"].as_str() < taken[0]["id"].as_str(), "{made:?} {taken:?}");
            }
            _ => drop(create.problem("unauthorized")),
        }
        assert!(!app.knows(&acting).await);
    }
}
