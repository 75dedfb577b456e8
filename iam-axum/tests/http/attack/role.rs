//! Attacks by roles: changed roles, misleading names, and permissions that a wildcard covers.

use chrono::TimeDelta;
use serde_json::json;

use super::Company;
use crate::app::TestApp;
use crate::people::Person;

in_memory![
    a_caller_cannot_strengthen_its_own_role,
    a_caller_cannot_strengthen_the_role_of_an_accomplice,
    rights_in_a_branch_cannot_change_roles_of_the_tenant,
    holding_every_action_does_not_cover_the_wildcard,
    a_weaker_caller_cannot_restore_a_permission_that_it_removed,
    strengthening_a_role_counts_users_who_cannot_use_it_now,
    built_in_roles_cannot_be_changed_or_deleted,
    a_name_like_that_of_a_built_in_role_gives_no_rights,
    only_holders_of_a_wildcard_register_permissions_under_it,
];

async fn a_caller_cannot_strengthen_its_own_role(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.user_without_roles().await;
    let role = company.held_role(&mallory.user, &["roles:update", "users:read"]).await;
    for more in ["users:delete", "users:*", "roles:*", "*"] {
        let attack = company.edit_role(&mallory, &role, &["roles:update", "users:read", more]);
        company.attacked_by(attack).await.escalates();
    }
    company.edit_role(&mallory, &role, &["roles:update"]).send().await.ok();
}

async fn a_caller_cannot_strengthen_the_role_of_an_accomplice(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update", "users:read"]).await;
    let bob = company.user_without_roles().await;
    let role = company.held_role(&bob.user, &[]).await;
    for more in ["users:delete", "users:*", "*"] {
        company.attacked_by(company.edit_role(&mallory, &role, &[more])).await.escalates();
    }
    company.edit_role(&mallory, &role, &["users:read"]).send().await.ok();
}

async fn rights_in_a_branch_cannot_change_roles_of_the_tenant(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.member(company.north, &["*"]).await;
    let role = company.role(&[]).await;
    let new = app.post("/roles").by(&mallory).json(&json!({ "name": "MINE", "permissions": ["users:read"] }));
    company.attacked_by(new).await.lacks("roles:create");
    company.attacked_by(company.edit_role(&mallory, &role, &["users:read"])).await.lacks("roles:update");
    company.attacked_by(app.delete(&format!("/roles/{role}")).by(&mallory)).await.lacks("roles:delete");
    let new = app.post("/permissions").by(&mallory).json(&json!({ "name": "things:do" }));
    company.attacked_by(new).await.lacks("permissions:create");
}

async fn holding_every_action_does_not_cover_the_wildcard(app: TestApp) {
    let company = Company::on(&app).await;
    let four = ["users:create", "users:read", "users:update", "users:delete"];
    let others = ["roles:create", "roles:update", "role-assignments:create"];
    let mallory = company.employee(&[&four[..], &others[..]].concat()).await;
    let bob = company.user_without_roles().await;
    let wildcard = company.role(&["users:*"]).await;
    let empty = company.role(&[]).await;
    let new = |permissions: &[&str]| {
        app.post("/roles").by(&mallory).json(&json!({ "name": "NEW_ROLE", "permissions": permissions }))
    };
    company.attacked_by(new(&["users:*"])).await.escalates();
    company.attacked_by(company.edit_role(&mallory, &empty, &["users:*"])).await.escalates();
    for user in [&mallory.user, &bob.user] {
        company.attacked_by(company.assign(&mallory, user, &wildcard, None)).await.escalates();
        company.attacked_by(company.assign(&mallory, user, &wildcard, Some(company.north))).await.escalates();
    }
    new(&four).send().await.created();
}

async fn a_weaker_caller_cannot_restore_a_permission_that_it_removed(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update", "users:read"]).await;
    let bob = company.user_without_roles().await;
    let role = company.held_role(&bob.user, &["users:read", "users:delete"]).await;
    company.edit_role(&mallory, &role, &["users:read"]).send().await.ok();
    let back = company.edit_role(&mallory, &role, &["users:read", "users:delete"]);
    company.attacked_by(back).await.escalates();
}

/// A caller who holds a permission for an hour adds it to a role of users who cannot use it at the moment, but may be
/// able to after that hour.
async fn strengthening_a_role_counts_users_who_cannot_use_it_now(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update"]).await;
    app.permit_until(&mallory, &["users:read"], None, Some(company.within(TimeDelta::hours(1)))).await;
    let (suspended, in_suspended, free) = (company.role(&[]).await, company.role(&[]).await, company.role(&[]).await);
    let bob = company.user_without_roles().await;
    company.assign(&company.ada, &bob.user, &suspended, None).send().await.created();
    app.set_status(&company.ada, &bob.user, "SUSPENDED").await;
    let carl = company.user_without_roles().await;
    company.assign(&company.ada, &carl.user, &in_suspended, Some(company.south)).send().await.created();
    company.suspend(company.south).await;
    for role in [suspended, in_suspended] {
        company.attacked_by(company.edit_role(&mallory, &role, &["users:read"])).await.escalates();
    }
    company.edit_role(&mallory, &free, &["users:read"]).send().await.ok();
}

async fn built_in_roles_cannot_be_changed_or_deleted(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update", "roles:delete", "users:read"]).await;
    for name in ["TENANT_ADMIN", "ORGANIZATION_ADMIN", "MEMBER", "AUDITOR"] {
        let path = format!("/roles/{}", app.role_id(&company.ada, name).await);
        for by in [&company.ada, &mallory] {
            for body in [
                json!({ "permissions": [] }),
                json!({ "permissions": ["users:read"] }),
                json!({ "permissions": ["*", "users:read"] }),
                json!({ "name": "RENAMED" }),
                json!({ "scope": if name == "MEMBER" { "TENANT" } else { "ANY" } }),
                json!({ "description": "Mine." }),
            ] {
                company.attacked_by(app.patch(&path).by(by).json(&body)).await.problem("conflict");
            }
            company.attacked_by(app.delete(&path).by(by)).await.problem("conflict");
        }
    }
}

async fn a_name_like_that_of_a_built_in_role_gives_no_rights(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:create", "roles:update", "role-assignments:create"]).await;
    let create = |name: &str| app.post("/roles").by(&mallory).json(&json!({ "name": name }));
    company.attacked_by(create("TENANT_ADMIN")).await.problem("conflict");
    let cyrillic = "\u{422}ENANT_ADMIN";
    for name in ["tenant_admin", "Tenant_Admin", "TENANT-ADMIN", "TENANT_ADMIN\u{200b}", "TENANT_ADMIN\0", cyrillic] {
        assert_eq!(company.attacked_by(create(name)).await.invalid_fields(), ["name"], "{name:?}");
    }
    // White space around a name may be trimmed or refused.
    let answer = company.attacked_by(create(" TENANT_ADMIN ")).await;
    assert!(matches!(answer.status(), 400 | 409), "{}", answer.text());
    for name in ["ADMIN", "SUPER_ADMIN", "TENANT_ADMIN_2", "SYSTEM"] {
        let role = create(name).send().await.created();
        assert_eq!((&role["system"], &role["permissions"]), (&json!(false), &json!([])));
        let role = role["id"].as_str().unwrap();
        let rename = app.patch(&format!("/roles/{role}")).by(&mallory).json(&json!({ "name": "TENANT_ADMIN" }));
        company.attacked_by(rename).await.problem("conflict");
        company.assign(&mallory, &mallory.user, role, None).send().await.created();
    }
    app.get("/users").by(&mallory).send().await.lacks("users:read");
}

async fn only_holders_of_a_wildcard_register_permissions_under_it(app: TestApp) {
    let company = Company::on(&app).await;
    let register = |by: &Person, name: &str| app.post("/permissions").by(by).json(&json!({ "name": name }));
    register(&company.ada, "orders:read").send().await.created();
    let bob = company.employee(&["orders:*", "permissions:create"]).await;
    let mallory = company.employee(&["orders:read", "permissions:create"]).await;
    company.attacked_by(register(&mallory, "orders:refund")).await.escalates();
    // The same rule applies to built-in resources, and to roles that no user holds yet.
    company.role(&["users:*"]).await;
    company.attacked_by(register(&mallory, "users:impersonate")).await.escalates();
    register(&bob, "orders:refund").send().await.created();
    register(&mallory, "invoices:read").send().await.created();
}
