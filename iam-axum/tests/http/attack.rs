//! Published ways to more rights than one was given, each tried and refused with nothing changed: OWASP API Security
//! (BOLA, BFLA, mass assignment), Kubernetes RBAC (escalate, bind), AWS IAM (chains by roles and policies).

use std::collections::BTreeSet;

use axum::http::Method;
use chrono::TimeDelta;
use futures_util::future::join;
use iam_core::OrganizationId;
use iam_core::clock::Timestamp;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::openapi::{document, operations};
use crate::people::Person;
use crate::request::{Request, Response, each};
use crate::table::{ROWS, Target, World, fresh, fresh_email};

on_every_store![
    nobody_strengthens_a_role_that_they_hold,
    nobody_strengthens_a_role_that_an_accomplice_holds,
    a_branchs_rights_do_not_change_the_tenants_roles,
    every_action_of_today_is_not_the_wildcard,
    what_was_taken_out_of_a_role_is_put_back_by_the_strong_alone,
    a_role_is_strengthened_for_those_too_who_cannot_use_it_now,
    built_in_roles_stay_as_they_are,
    a_name_like_a_built_in_role_gives_nothing,
    nobody_assigns_a_stronger_role,
    nobody_assigns_a_stronger_role_by_way_of_a_new_one,
    a_branch_admin_stays_in_the_branch,
    nobody_extends_a_role_beyond_their_own,
    accomplices_do_not_extend_each_other,
    an_expired_role_is_not_revived_by_the_weaker,
    no_grant_outlives_its_author,
    one_stronger_among_five_hundred_stops_them_all,
    a_privileged_organization_is_not_drawn_under_ones_own,
    a_move_gives_an_accomplice_nothing,
    a_branch_does_not_leave_its_overseers,
    stronger_roles_are_not_woken,
    roles_are_not_smuggled_in_asleep,
    who_sleeps_with_the_branch_does_not_wake_it,
    a_restored_organization_has_no_roles,
    roles_above_do_not_come_back_with_a_restored_organization,
    members_of_other_branches_are_out_of_reach,
    adding_somebody_to_ones_branch_gives_no_power_over_them,
    a_stronger_user_is_not_reactivated_by_the_weaker,
    a_restored_user_has_no_roles,
    a_permission_under_somebodys_wildcard_is_registered_by_its_holders_alone,
    ids_of_another_tenant_in_paths_lead_nowhere,
    other_spellings_of_an_id_lead_nowhere_either,
    ids_of_another_tenant_in_bodies_lead_nowhere,
    ids_of_another_tenant_in_queries_lead_nowhere,
    a_token_is_worth_what_its_user_holds_now,
    unknown_members_are_refused_everywhere,
    a_member_that_is_there_twice_is_refused,
    a_method_is_what_it_is,
    editing_and_assigning_a_role_at_once_gives_no_more_than_one_after_the_other,
    a_role_is_not_deleted_and_assigned_at_once,
    a_permission_is_not_deleted_and_put_into_a_role_at_once,
    an_organization_is_not_deleted_and_filled_at_once,
    two_moves_at_once_make_no_circle,
    the_same_role_is_not_assigned_twice_at_once,
    a_caller_whose_role_goes_at_once_gives_it_to_nobody_afterwards,
];

/// A company with two branches, and whoever administers it.
struct Company<'a> {
    app: &'a TestApp,
    ada: Person,
    root: OrganizationId,
    north: OrganizationId,
    south: OrganizationId,
}

impl<'a> Company<'a> {
    async fn on(app: &'a TestApp) -> Self {
        let ada = app.register("ada@example.com").await;
        let root = app.organization(&ada, "company").await;
        let north = app.below(&ada, root, "north").await;
        let south = app.below(&ada, root, "south").await;
        Self { app, ada, root, north, south }
    }

    /// Somebody who may do this everywhere.
    async fn employee(&self, permissions: &[&str]) -> Person {
        self.app.colleague_who_may(&self.ada, &fresh_email(), permissions).await
    }

    /// Somebody who may do this in an organization.
    async fn member(&self, organization: OrganizationId, permissions: &[&str]) -> Person {
        self.app.colleague_in(&self.ada, organization, &fresh_email(), permissions).await
    }

    /// Somebody without rights.
    async fn nobody(&self) -> Person {
        self.app.colleague(&self.ada, &fresh_email()).await
    }

    async fn tenant_admin(&self) -> Person {
        let person = self.nobody().await;
        self.app.assign(&self.ada, &person.user, "TENANT_ADMIN", None, None).await;
        person
    }

    async fn branch_admin(&self, organization: OrganizationId) -> Person {
        let person = self.nobody().await;
        self.app.assign(&self.ada, &person.user, "ORGANIZATION_ADMIN", Some(organization), None).await;
        person
    }

    /// A role that somebody holds; tells the role's id.
    async fn held_role(&self, user: &str, permissions: &[&str]) -> String {
        let name = fresh("HELD_ROLE_");
        let id = self.app.role(&self.ada, &name, permissions).await;
        self.app.assign(&self.ada, user, &name, None, None).await;
        id
    }

    async fn role(&self, permissions: &[&str]) -> String {
        self.app.role(&self.ada, &fresh("SOME_ROLE_"), permissions).await
    }

    fn edit_role(&self, by: &Person, role: &str, permissions: &[&str]) -> Request<'a> {
        self.app.patch(&format!("/roles/{role}")).by(by).json(&json!({ "permissions": permissions }))
    }

    fn assign(&self, by: &Person, user: &str, role: &str, organization: Option<OrganizationId>) -> Request<'a> {
        let body = json!({ "userId": user, "roleId": role, "organizationId": organization });
        self.app.post("/role-assignments").by(by).json(&body)
    }

    fn assign_until(&self, by: &Person, user: &str, role: &str, expiry: Timestamp) -> Request<'a> {
        let body = json!({ "userId": user, "roleId": role, "expiresAt": shown(expiry) });
        self.app.post("/role-assignments").by(by).json(&body)
    }

    fn extend(&self, by: &Person, assignment: &str, expiry: Option<Timestamp>) -> Request<'a> {
        let path = format!("/role-assignments/{assignment}");
        self.app.patch(&path).by(by).json(&json!({ "expiresAt": expiry.map(shown) }))
    }

    fn change(&self, by: &Person, organization: OrganizationId, body: &Value) -> Request<'a> {
        self.app.patch(&format!("/organizations/{organization}")).by(by).json(body)
    }

    fn relocate(&self, by: &Person, organization: OrganizationId, parent: Option<OrganizationId>) -> Request<'a> {
        self.change(by, organization, &json!({ "parentId": parent }))
    }

    async fn suspend(&self, organization: OrganizationId) {
        self.change(&self.ada, organization, &json!({ "status": "SUSPENDED" })).send().await.ok();
    }

    fn within(&self, time: TimeDelta) -> Timestamp {
        self.app.iam.now() + time
    }

    /// All that an attack could change, and what the audit log says.
    async fn state(&self) -> Vec<Value> {
        let tenant = format!("/tenants/{}", self.ada.tenant);
        let mut state = self.app.audit(&self.ada, &[]).await;
        for path in [
            "/users?limit=100",
            "/roles?limit=100",
            "/permissions?limit=100",
            "/role-assignments?limit=100&includeExpired=true",
            "/organizations?limit=100",
            "/organizations?limit=100&status=INACTIVE",
            &tenant,
        ] {
            state.push(self.app.get(path).by(&self.ada).send().await.ok());
        }
        state
    }

    /// Lets an attack be tried, which must leave everything as it was.
    async fn attacked_by(&self, attack: Request<'_>) -> Response {
        let before = self.state().await;
        let answer = attack.send().await;
        assert_eq!(self.state().await, before);
        answer
    }
}

async fn nobody_strengthens_a_role_that_they_hold(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.nobody().await;
    let role = company.held_role(&mallory.user, &["roles:update", "users:read"]).await;
    for more in ["users:delete", "users:*", "roles:*", "*"] {
        let attack = company.edit_role(&mallory, &role, &["roles:update", "users:read", more]);
        company.attacked_by(attack).await.escalates();
    }
    company.edit_role(&mallory, &role, &["roles:update"]).send().await.ok();
}

async fn nobody_strengthens_a_role_that_an_accomplice_holds(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update", "users:read"]).await;
    let bob = company.nobody().await;
    let role = company.held_role(&bob.user, &[]).await;
    for more in ["users:delete", "users:*", "*"] {
        company.attacked_by(company.edit_role(&mallory, &role, &[more])).await.escalates();
    }
    company.edit_role(&mallory, &role, &["users:read"]).send().await.ok();
}

async fn a_branchs_rights_do_not_change_the_tenants_roles(app: TestApp) {
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

async fn every_action_of_today_is_not_the_wildcard(app: TestApp) {
    let company = Company::on(&app).await;
    let four = ["users:create", "users:read", "users:update", "users:delete"];
    let others = ["roles:create", "roles:update", "role-assignments:create"];
    let mallory = company.employee(&[&four[..], &others[..]].concat()).await;
    let bob = company.nobody().await;
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

async fn what_was_taken_out_of_a_role_is_put_back_by_the_strong_alone(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update", "users:read"]).await;
    let bob = company.nobody().await;
    let role = company.held_role(&bob.user, &["users:read", "users:delete"]).await;
    company.edit_role(&mallory, &role, &["users:read"]).send().await.ok();
    let back = company.edit_role(&mallory, &role, &["users:read", "users:delete"]);
    company.attacked_by(back).await.escalates();
}

/// Somebody who holds a permission for an hour adds it to a role of those who will be back after that.
async fn a_role_is_strengthened_for_those_too_who_cannot_use_it_now(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:update"]).await;
    app.permit_until(&mallory, &["users:read"], None, Some(company.within(TimeDelta::hours(1)))).await;
    let (suspended, in_suspended, free) = (company.role(&[]).await, company.role(&[]).await, company.role(&[]).await);
    let bob = company.nobody().await;
    company.assign(&company.ada, &bob.user, &suspended, None).send().await.created();
    app.set_status(&company.ada, &bob.user, "SUSPENDED").await;
    let carl = company.nobody().await;
    company.assign(&company.ada, &carl.user, &in_suspended, Some(company.south)).send().await.created();
    company.suspend(company.south).await;
    for role in [suspended, in_suspended] {
        company.attacked_by(company.edit_role(&mallory, &role, &["users:read"])).await.escalates();
    }
    company.edit_role(&mallory, &free, &["users:read"]).send().await.ok();
}

async fn built_in_roles_stay_as_they_are(app: TestApp) {
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

async fn a_name_like_a_built_in_role_gives_nothing(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["roles:create", "roles:update", "role-assignments:create"]).await;
    let create = |name: &str| app.post("/roles").by(&mallory).json(&json!({ "name": name }));
    company.attacked_by(create("TENANT_ADMIN")).await.problem("conflict");
    let cyrillic = "\u{422}ENANT_ADMIN";
    for name in ["tenant_admin", "Tenant_Admin", "TENANT-ADMIN", "TENANT_ADMIN\u{200b}", "TENANT_ADMIN\0", cyrillic] {
        assert_eq!(company.attacked_by(create(name)).await.invalid_fields(), ["name"], "{name:?}");
    }
    // Around a name, white space may be trimmed or refused.
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

async fn nobody_assigns_a_stronger_role(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:create", "users:read"]).await;
    let bob = company.nobody().await;
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

/// Make a role, then give it: each step is refused by itself.
async fn nobody_assigns_a_stronger_role_by_way_of_a_new_one(app: TestApp) {
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

async fn a_branch_admin_stays_in_the_branch(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let bob = company.nobody().await;
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

async fn nobody_extends_a_role_beyond_their_own(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.nobody().await;
    let [soon, later] = [10, 20].map(|minutes| company.within(TimeDelta::minutes(minutes)));
    let permissions = ["role-assignments:update", "users:read"];
    let own = app.permit_until(&mallory, &permissions, None, Some(soon)).await;
    for expiry in [Some(later), Some(soon + TimeDelta::milliseconds(1)), None] {
        company.attacked_by(company.extend(&mallory, &own, expiry)).await.escalates();
    }
    // Not even back to where it was.
    company.extend(&mallory, &own, Some(soon - TimeDelta::minutes(5))).send().await.ok();
    company.attacked_by(company.extend(&mallory, &own, Some(soon))).await.escalates();
}

async fn accomplices_do_not_extend_each_other(app: TestApp) {
    let company = Company::on(&app).await;
    let soon = Some(company.within(TimeDelta::minutes(10)));
    let [mallory, bob] = [company.nobody().await, company.nobody().await];
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

async fn an_expired_role_is_not_revived_by_the_weaker(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:update"]).await;
    let bob = company.nobody().await;
    let expiry = company.within(TimeDelta::minutes(1));
    let expired = app.permit_until(&bob, &["users:delete"], None, Some(expiry)).await;
    app.pass(TimeDelta::minutes(1));
    for expiry in [None, Some(company.within(TimeDelta::minutes(1)))] {
        company.attacked_by(company.extend(&mallory, &expired, expiry)).await.escalates();
    }
}

async fn no_grant_outlives_its_author(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.employee(&["role-assignments:create", "roles:update", "users:update"]).await;
    let soon = company.within(TimeDelta::minutes(10));
    app.permit_until(&mallory, &["users:read"], None, Some(soon)).await;
    let bob = company.nobody().await;
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

async fn one_stronger_among_five_hundred_stops_them_all(app: TestApp) {
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

/// All that somebody could do to a user, with what it needs.
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

const OVER_MEMBERS: &[&str] = &["users:*", "sessions:*", "role-assignments:*", "roles:*"];

async fn members_of_other_branches_are_out_of_reach(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.member(company.north, OVER_MEMBERS).await;
    let elsewhere = company.member(company.south, &[]).await;
    let above = company.member(company.root, &[]).await;
    for victim in [&elsewhere, &above, &company.nobody().await, &company.ada] {
        for (attack, _) in attempts(&app, &mallory, victim) {
            company.attacked_by(attack).await.problem("not-found");
        }
        for path in ["", "/roles", "/sessions"] {
            let path = format!("/users/{}{path}", victim.user);
            app.get(&path).by(&mallory).send().await.problem("not-found");
        }
    }
}

async fn adding_somebody_to_ones_branch_gives_no_power_over_them(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.member(company.north, OVER_MEMBERS).await;
    let elsewhere = company.member(company.south, &[]).await;
    let asleep = app.below(&company.ada, company.root, "asleep").await;
    let elsewhere_asleep = company.member(asleep, &[]).await;
    company.suspend(asleep).await;
    let above = company.member(company.root, &[]).await;
    let role = company.role(&[]).await;
    for victim in [&company.ada, &elsewhere, &elsewhere_asleep, &above] {
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

async fn a_stronger_user_is_not_reactivated_by_the_weaker(app: TestApp) {
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
        // The detour would need more than users:update, and end the roles.
        let detour = app.patch(&path).by(&mallory).json(&json!({ "status": "INACTIVE" }));
        company.attacked_by(detour).await.lacks("users:delete");
    }
    let weak = company.nobody().await;
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

async fn a_permission_under_somebodys_wildcard_is_registered_by_its_holders_alone(app: TestApp) {
    let company = Company::on(&app).await;
    let register = |by: &Person, name: &str| app.post("/permissions").by(by).json(&json!({ "name": name }));
    register(&company.ada, "orders:read").send().await.created();
    let bob = company.employee(&["orders:*", "permissions:create"]).await;
    let mallory = company.employee(&["orders:read", "permissions:create"]).await;
    company.attacked_by(register(&mallory, "orders:refund")).await.escalates();
    // For built-in resources and for roles that nobody holds yet it is the same.
    company.role(&["users:*"]).await;
    company.attacked_by(register(&mallory, "users:impersonate")).await.escalates();
    register(&bob, "orders:refund").send().await.created();
    register(&mallory, "invoices:read").send().await.created();
}

/// The id of the newest entry in the audit log of somebody's tenant.
async fn newest_entry(app: &TestApp, reader: &Person) -> Value {
    app.get("/audit-logs?limit=1").by(reader).send().await.ok()["data"][0]["id"].clone()
}

/// Waits for something of which neither audit log of the two tenants keeps anything.
async fn unrecorded_anywhere(app: &TestApp, world: &World<'_>, request: Request<'_>) -> Response {
    let newest = async || [newest_entry(app, &world.owner).await, newest_entry(app, &world.foreign_owner).await];
    let before = newest().await;
    let answer = request.send().await;
    assert_eq!(newest().await, before);
    answer
}

async fn ids_of_another_tenant_in_paths_lead_nowhere(app: TestApp) {
    let world = World::of(&app).await;
    let eve = &world.foreign_owner;
    for (row, targets) in ROWS.iter().filter(|(row, _)| row.contains("{id}")) {
        for target in targets.iter().filter(|target| !matches!(target, Target::Oneself | Target::OtherTenant)) {
            let call = world.call(row, *target, &world.owner).await;
            let answer = unrecorded_anywhere(&app, &world, call.request(&app).by(eve)).await;
            assert_eq!(answer.status(), 404, "{row} {target:?}: {}", answer.text());
            answer.problem("not-found");
        }
    }
}

async fn other_spellings_of_an_id_lead_nowhere_either(app: TestApp) {
    let company = Company::on(&app).await;
    let mallory = company.branch_admin(company.north).await;
    let eve = app.register("eve@example.com").await;
    let south = company.south.to_string();
    let spellings = [
        south.to_uppercase(),
        south.replace('-', ""),
        format!("%7B{south}%7D"),
        format!("urn:uuid:{south}"),
        format!("{south}%00"),
        format!("{south}%20"),
    ];
    for spelling in spellings {
        let path = format!("/organizations/{spelling}");
        for by in [&mallory, &eve] {
            let attack = app.patch(&path).by(by).json(&json!({ "name": "Mine" }));
            let answer = company.attacked_by(attack).await;
            assert!(matches!(answer.status(), 400 | 404), "{spelling}: {}", answer.text());
        }
    }
}

/// Every id that a body holds: how an error names it, and where it is.
fn ids_in(body: &Value, name: &str, pointer: &str) -> Vec<(String, String)> {
    match body {
        Value::Object(members) => {
            let inner = |(member, value): (&String, &Value)| {
                let name = if name.is_empty() { member.clone() } else { format!("{name}.{member}") };
                ids_in(value, &name, &format!("{pointer}/{member}"))
            };
            members.iter().flat_map(inner).collect()
        }
        Value::Array(items) => {
            let inner = |(number, value)| ids_in(value, &format!("{name}[{number}]"), &format!("{pointer}/{number}"));
            items.iter().enumerate().flat_map(inner).collect()
        }
        Value::String(_) if name.ends_with("Id") => vec![(name.to_owned(), pointer.to_owned())],
        _ => Vec::new(),
    }
}

/// The names of all members that end like that, at any depth of a schema.
fn members_in(document: &Value, schema: &Value) -> BTreeSet<String> {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let mut names = BTreeSet::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone());
        names.extend(members_in(document, member));
        names.extend(members_in(document, &member["items"]));
    }
    names
}

async fn ids_of_another_tenant_in_bodies_lead_nowhere(app: TestApp) {
    let world = World::of(&app).await;
    let mallory = &world.owner;
    let mut tried = BTreeSet::new();
    for (row, targets) in ROWS {
        if !targets.contains(&Target::OwnBranch) {
            continue;
        }
        let own = world.call(row, Target::OwnBranch, mallory).await;
        let Some(body) = &own.body else { continue };
        let foreign = world.call(row, Target::OtherTenant, mallory).await.body.unwrap();
        for (name, pointer) in ids_in(body, "", "") {
            let mut attack = body.clone();
            *attack.pointer_mut(&pointer).unwrap() = foreign.pointer(&pointer).unwrap().clone();
            let request = own.with_body(&app, &attack).by(mallory);
            let answer = unrecorded_anywhere(&app, &world, request).await;
            assert_eq!(answer.status(), 404, "{row} {name}: {}", answer.text());
            assert_eq!(answer.fields("not-found"), [name.as_str()], "{row}");
            let operation = row.split(" (").next().unwrap();
            tried.insert((operation.to_owned(), name.rsplit('.').next().unwrap().to_owned()));
        }
    }
    let document = document();
    for operation in operations(&document) {
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        for name in members_in(&document, schema).into_iter().filter(|name| name.ends_with("Id")) {
            assert!(tried.contains(&(operation.to_string(), name.clone())), "{name} of {operation} was not tried");
        }
    }
}

async fn ids_of_another_tenant_in_queries_lead_nowhere(app: TestApp) {
    let world = World::of(&app).await;
    let (mallory, victim) = (&world.owner, &world.foreign_owner);
    let member = world.call("POST /role-assignments", Target::OtherTenant, victim).await;
    member.request(&app).by(victim).send().await.created();
    let body = member.body.unwrap();
    for operation in operations(&document()) {
        for parameter in operation.description["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            if parameter["in"] != "query" || !name.ends_with("Id") || name == "correlationId" {
                continue;
            }
            let foreign = match name {
                "parentId" => &body["organizationId"],
                "resourceId" => &body["userId"],
                _ => &body[name],
            };
            let foreign = foreign.as_str().unwrap_or_else(|| panic!("the test does not know {name} of {operation}"));
            let found = app.get(&operation.path).by(mallory).query(name, foreign).send().await.ok();
            assert_eq!(found["data"], json!([]), "{operation} {name}");
            let twice = app.get(&operation.path).by(mallory).query(name, foreign).query(name, &mallory.user);
            twice.send().await.problem("validation-error");
        }
    }
}

async fn a_token_is_worth_what_its_user_holds_now(app: TestApp) {
    let company = Company::on(&app).await;
    let ada = &company.ada;
    let attack =
        |by: &Person, organization: OrganizationId| company.change(by, organization, &json!({ "name": "Mine" }));

    let mallory = company.nobody().await;
    let revoked = app.permit(&mallory, &["organizations:update", "users:read"]).await;
    app.permit(&mallory, &["users:read"]).await;
    attack(&mallory, company.north).send().await.ok();
    app.delete(&format!("/role-assignments/{revoked}")).by(ada).send().await.no_content();
    company.attacked_by(attack(&mallory, company.north)).await.lacks("organizations:update");

    let weakened = company.held_role(&mallory.user, &["organizations:update"]).await;
    attack(&mallory, company.south).send().await.ok();
    company.edit_role(ada, &weakened, &[]).send().await.ok();
    company.attacked_by(attack(&mallory, company.south)).await.lacks("organizations:update");

    let expiry = company.within(TimeDelta::minutes(1));
    app.permit_until(&mallory, &["organizations:update"], None, Some(expiry)).await;
    app.pass(TimeDelta::minutes(1));
    company.attacked_by(attack(&mallory, company.south)).await.lacks("organizations:update");

    let bob = company.branch_admin(company.north).await;
    company.suspend(company.north).await;
    company.attacked_by(attack(&bob, company.north)).await.lacks("organizations:update");

    let carl = company.employee(&["organizations:update"]).await;
    app.set_status(ada, &carl.user, "SUSPENDED").await;
    company.attacked_by(attack(&carl, company.south)).await.problem("unauthorized");
    app.set_status(ada, &carl.user, "ACTIVE").await;
    company.attacked_by(attack(&carl, company.south)).await.problem("unauthorized");
}

/// Members with which other services were told more than they asked for.
const UNASKED: [&str; 16] = [
    "id",
    "tenantId",
    "tenant",
    "userId",
    "system",
    "status",
    "role",
    "roles",
    "roleId",
    "permissions",
    "createdBy",
    "createdAt",
    "updatedAt",
    "passwordHash",
    "isAdmin",
    "__proto__",
];

async fn unknown_members_are_refused_everywhere(app: TestApp) {
    let world = World::of(&app).await;
    let document = document();
    for operation in operations(&document) {
        let schema = &operation.description["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            continue;
        }
        let known = members_in(&document, schema);
        let (row, targets) = ROWS.iter().find(|(row, _)| row.starts_with(&operation.to_string())).unwrap();
        let call = world.call(row, targets[0], &world.owner).await;
        let body = call.body.clone().unwrap();
        let lists = body.as_object().unwrap().iter().find(|(_, value)| value[0].is_object());
        let list = lists.map(|(name, _)| name.as_str());
        for name in UNASKED.into_iter().filter(|name| !known.contains(*name)) {
            let mut attack = body.clone();
            attack[name] = json!("00000000-0000-7000-8000-000000000000");
            let request = call.with_body(&app, &attack).by(&world.owner);
            let answer = unrecorded_anywhere(&app, &world, request).await;
            assert_eq!(answer.status(), 400, "{row} {name}: {}", answer.text());
            assert_eq!(answer.invalid_fields(), [name], "{row}");
            if let Some(list) = list {
                let mut attack = body.clone();
                attack[list][0][name] = json!(true);
                let request = call.with_body(&app, &attack).by(&world.owner);
                let answer = unrecorded_anywhere(&app, &world, request).await;
                assert_eq!(answer.invalid_fields(), [format!("{list}[0].{name}")], "{row}");
            }
        }
    }
}

/// One parser takes the first, another the last.
async fn a_member_that_is_there_twice_is_refused(app: TestApp) {
    let company = Company::on(&app).await;
    let (ada, bob) = (&company.ada, company.nobody().await);
    let role = company.role(&[]).await;
    let north = company.north;
    for (request, body) in [
        (app.post("/roles"), r#"{"name": "MINE", "permissions": [], "permissions": ["*"]}"#.to_owned()),
        (app.patch(&format!("/roles/{role}")), r#"{"permissions": [], "permissions": ["*"]}"#.to_owned()),
        (
            app.post("/role-assignments"),
            format!(r#"{{"userId": "{}", "userId": "{}", "roleId": "{role}"}}"#, ada.user, bob.user),
        ),
        (app.patch(&format!("/organizations/{north}")), r#"{"parentId": null, "parentId": null}"#.to_owned()),
        (app.patch(&format!("/users/{}", bob.user)), r#"{"status": "ACTIVE", "status": "SUSPENDED"}"#.to_owned()),
    ] {
        let attack = request.by(ada).header("content-type", "application/json").body(body);
        company.attacked_by(attack).await.problem("validation-error");
    }
}

async fn a_method_is_what_it_is(app: TestApp) {
    let company = Company::on(&app).await;
    let bob = company.nobody().await;
    let path = format!("/users/{}", bob.user);
    for header in ["x-http-method-override", "x-http-method", "x-method-override"] {
        company.attacked_by(app.get(&path).by(&company.ada).header(header, "DELETE")).await.ok();
    }
    company.attacked_by(app.get(&path).by(&company.ada).query("_method", "DELETE")).await.ok();
    for path in [format!("/users//{}", bob.user), format!("{path}/"), format!("/users/../users/{}", bob.user)] {
        let answer = company.attacked_by(app.delete(&path).by(&company.ada)).await;
        assert!(matches!(answer.status(), 400 | 404 | 405), "{path}: {}", answer.text());
    }
    let trace = app.request(Method::TRACE, &format!("/api/v1{path}")).by(&company.ada);
    company.attacked_by(trace).await.problem("method-not-allowed");
}

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
