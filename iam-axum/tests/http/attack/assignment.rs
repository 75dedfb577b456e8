//! Attacks by role assignments: stronger roles, other resource scopes, or later expiries.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::Company;
use crate::access_table::fresh_email;
use crate::app::TestApp;

in_memory![
    a_caller_cannot_assign_a_stronger_role,
    a_caller_cannot_create_and_assign_a_stronger_role,
    a_branch_administrator_cannot_assign_roles_outside_the_branch,
    a_caller_cannot_extend_an_assignment_beyond_its_own_grants,
    accomplices_cannot_extend_each_others_assignments,
    a_weaker_caller_cannot_renew_an_expired_assignment,
    no_grant_outlives_the_grants_of_its_creator,
    one_escalation_among_500_items_refuses_the_whole_batch,
];

async fn a_caller_cannot_assign_a_stronger_role(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:create", "users:read"]).await;
    let bob = company.user_without_roles().await;
    for stronger in ["TENANT_ADMIN", "AUDITOR", "MEMBER"] {
        let role = app.role_id(&company.ada, stronger).await;
        for user in [&mallory.user, &bob.user] {
            company.attacked_by(company.assign(&mallory, user, &role, None)).await.escalates();
            let bulk = json!({ "assignments": [{ "userId": user, "roleId": role }] });
            let bulk = app.post("/role-assignments/bulk").by(&mallory).json(&bulk);
            company.attacked_by(bulk).await.escalates();
        }
    }
    let equal = company.role(&["users:read"]).await;
    company.assign(&mallory, &bob.user, &equal, None).send().await.created();
}

/// The attack: create or change a role, and assign it. The step that would add the permission is refused.
async fn a_caller_cannot_create_and_assign_a_stronger_role(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:create", "roles:update", "role-assignments:create"]).await;
    let create = |permissions: &[&str]| {
        let body = json!({ "name": "MINE", "permissions": permissions });
        app.post("/roles").by(&mallory).json(&body)
    };
    for stronger in ["*", "users:read", "role-assignments:delete", "roles:*"] {
        company.attacked_by(create(&[stronger])).await.escalates();
    }
    let mine = create(&["roles:create"]).send().await.created();
    let mine = mine["id"].as_str().unwrap();
    company.assign(&mallory, &mallory.user, mine, None).send().await.created();
    company.attacked_by(company.edit_role(&mallory, mine, &["roles:create", "users:read"])).await.escalates();
}

async fn a_branch_administrator_cannot_assign_roles_outside_the_branch(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let bob = company.user_without_roles().await;
    let ids = ["ORGANIZATION_ADMIN", "MEMBER", "TENANT_ADMIN"].map(|name| app.role_id(&company.ada, name));
    let [admin, member, tenant_admin] = ids;
    let (admin, member, tenant_admin) = (admin.await, member.await, tenant_admin.await);
    for user in [&mallory.user, &bob.user] {
        for elsewhere in [company.south, company.root] {
            let answer = company.attacked_by(company.assign(&mallory, user, &admin, Some(elsewhere))).await;
            assert_eq!(answer.fields("not-found"), ["organizationId"]);
        }
        let tenant_wide = company.assign(&mallory, user, &member, None);
        company.attacked_by(tenant_wide).await.lacks("role-assignments:create");
        let misplaced = company.assign(&mallory, user, &tenant_admin, Some(company.north));
        company.attacked_by(misplaced).await.problem("validation");
        let stronger = company.role(&["users:update"]).await;
        company.attacked_by(company.assign(&mallory, user, &stronger, Some(company.north))).await.escalates();
    }
    company.assign(&mallory, &bob.user, &admin, Some(company.north)).send().await.created();
}

async fn a_caller_cannot_extend_an_assignment_beyond_its_own_grants(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.user_without_roles().await;
    let [soon, later] = [10, 20].map(|minutes| company.within(TimeDelta::minutes(minutes)));
    let permissions = ["role-assignments:update", "users:read"];
    let own = app.permit_until(&mallory, &permissions, None, Some(soon)).await;
    for expiry in [Some(later), Some(soon + TimeDelta::milliseconds(1)), None] {
        company.attacked_by(company.extend(&mallory, &own, expiry)).await.escalates();
    }
    // A caller cannot even restore the expiry that it has shortened.
    company.extend(&mallory, &own, Some(soon - TimeDelta::minutes(5))).send().await.ok();
    company.attacked_by(company.extend(&mallory, &own, Some(soon))).await.escalates();
}

async fn accomplices_cannot_extend_each_others_assignments(app: TestApp) {
    let company = Company::on(&app).await;
    let soon = Some(company.within(TimeDelta::minutes(10)));
    let [mallory, bob] = [company.user_without_roles().await, company.user_without_roles().await];
    let permissions = ["role-assignments:update", "users:read"];
    let of_mallory = app.permit_until(&mallory, &permissions, None, soon).await;
    let of_bob = app.permit_until(&bob, &permissions, None, soon).await;
    for (by, assignment) in [(&mallory, &of_bob), (&bob, &of_mallory)] {
        company.attacked_by(company.extend(by, assignment, None)).await.escalates();
        company
            .attacked_by(company.extend(by, assignment, soon.map(|soon| soon + TimeDelta::days(1))))
            .await
            .escalates();
    }
}

async fn a_weaker_caller_cannot_renew_an_expired_assignment(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:update"]).await;
    let bob = company.user_without_roles().await;
    let expiry = company.within(TimeDelta::minutes(1));
    let expired = app.permit_until(&bob, &["users:delete"], None, Some(expiry)).await;
    app.pass(TimeDelta::minutes(1));
    for expiry in [None, Some(company.within(TimeDelta::minutes(1)))] {
        company.attacked_by(company.extend(&mallory, &expired, expiry)).await.escalates();
    }
}

async fn no_grant_outlives_the_grants_of_its_creator(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:create", "roles:update", "users:update"]).await;
    let soon = company.within(TimeDelta::minutes(10));
    app.permit_until(&mallory, &["users:read"], None, Some(soon)).await;
    let bob = company.user_without_roles().await;
    for permissions in [&["users:read"][..], &["users:update", "users:read"]] {
        let role = company.role(permissions).await;
        company.attacked_by(company.assign(&mallory, &bob.user, &role, None)).await.escalates();
        company.attacked_by(company.assign(&mallory, &bob.user, &role, Some(company.north))).await.escalates();
        let later = soon + TimeDelta::milliseconds(1);
        company.attacked_by(company.assign_until(&mallory, &bob.user, &role, later)).await.escalates();
        company.assign_until(&mallory, &bob.user, &role, soon).send().await.created();
    }
    let lasting = company.held_role(&bob.user, &[]).await;
    company.attacked_by(company.edit_role(&mallory, &lasting, &["users:read"])).await.escalates();
}

async fn one_escalation_among_500_items_refuses_the_whole_batch(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:create"]).await;
    let (mut users, mut roles) = (Vec::new(), Vec::new());
    for _ in 0..25 {
        users.push(app.add_user(&company.ada, &fresh_email()).await);
    }
    for _ in 0..20 {
        roles.push(company.role(&[]).await);
    }
    let item = |user: &String, role: &String| json!({ "userId": user, "roleId": role });
    let mut items: Vec<Value> = users.iter().flat_map(|user| roles.iter().map(move |role| item(user, role))).collect();
    items[317]["roleId"] = json!(app.role_id(&company.ada, "TENANT_ADMIN").await);
    let bulk = |items: &[Value]| {
        let body = json!({ "assignments": items });
        app.post("/role-assignments/bulk").by(&mallory).json(&body)
    };
    let refused = company.attacked_by(bulk(&items)).await;
    refused.escalates();
    assert_eq!(refused.fields("forbidden"), ["assignments[317]"]);
    items.remove(317);
    assert_eq!(bulk(&items).send().await.created()["created"], 499);
}
