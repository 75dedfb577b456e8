//! Callers with roles in organizations: what they can see, change and grant (`docs/http-api.md#access`).

use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, profile};
use crate::request::{Response, each, each_sorted, members};

on_every_store![
    "the store finds what is in the visible scope";
    the_list_of_users_shows_only_members_in_the_visible_scope,
    a_user_who_is_not_a_member_is_not_found,
    a_tenant_wide_role_does_not_make_a_user_a_member,
    creating_users_needs_users_create_tenant_wide,
    a_member_with_roles_only_in_the_callers_coverage_can_be_changed,
    a_member_with_a_role_elsewhere_can_be_seen_but_not_changed,
    patch_to_inactive_needs_users_delete_where_the_member_is,
    restoring_needs_users_create_tenant_wide,
    only_roles_in_the_callers_coverage_are_shown,
    only_sessions_of_fully_covered_members_can_be_seen_and_ended,
    a_callers_own_data_needs_no_permission,
    an_assignment_covers_its_organization_and_everything_below,
    an_organization_in_which_the_caller_has_no_grant_is_not_found,
    with_another_grant_a_missing_permission_is_forbidden,
    an_organization_admin_administers_only_its_subtree,
    a_caller_can_add_any_user_of_the_tenant_by_its_id,
    adding_a_user_gives_no_control_over_the_user,
    assignments_outside_the_callers_coverage_are_not_found,
    children_are_created_only_where_the_permission_applies,
    assignments_in_a_suspended_organization_or_below_grant_nothing,
    a_role_below_a_suspended_organization_shows_no_members,
    a_suspension_does_not_affect_siblings_or_parents,
    reactivating_an_organization_needs_the_rights_that_it_restores,
    me_shows_permissions_by_organization,
    the_audit_log_and_the_tenant_need_tenant_wide_permissions,
];

async fn status(app: &TestApp, by: &Person, id: OrganizationId, status: &str) -> Response {
    let body = json!({ "status": status });
    app.patch(&format!("/organizations/{id}")).by(by).json(&body).send().await
}

async fn organization(app: &TestApp, by: &Person, id: OrganizationId) -> Response {
    app.get(&format!("/organizations/{id}")).by(by).send().await
}

async fn emails(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<String> {
    let request = app.get("/users").by(by);
    let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
    let body = request.send().await.ok();
    assert_eq!(body["pagination"]["total"], body["data"].as_array().unwrap().len());
    each_sorted(&body, "email").iter().map(|email| email.trim_end_matches("@example.com").to_owned()).collect()
}

/// Creates a user with its home and the role MEMBER in an organization, or tenant-wide with `None`. Returns its id.
async fn member(app: &TestApp, administrator: &Person, name: &str, organization: Option<OrganizationId>) -> String {
    let user = app.add_user(administrator, &format!("{name}@example.com")).await;
    app.set_home(administrator, &user, organization).await;
    app.assign(administrator, &user, "MEMBER", organization, None).await;
    user
}

/// A tenant with two organization trees, and one member of each organization.
struct Tenant {
    ada: Person,
    north: OrganizationId,
    branch: OrganizationId,
    south: OrganizationId,
    /// Members of `north`, `branch` and `south`.
    norma: String,
    brent: String,
    sue: String,
}

async fn tenant(app: &TestApp) -> Tenant {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let branch = app.below(&ada, north, "branch").await;
    let south = app.organization(&ada, "south").await;
    let norma = member(app, &ada, "norma", Some(north)).await;
    let brent = member(app, &ada, "brent", Some(branch)).await;
    let sue = member(app, &ada, "sue", Some(south)).await;
    Tenant { ada, north, branch, south, norma, brent, sue }
}

async fn the_list_of_users_shows_only_members_in_the_visible_scope(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:read"]).await;
    let kim = app.colleague_in(&t.ada, t.branch, "kim@example.com", &["users:read"]).await;
    assert_eq!(emails(&app, &bob, &[]).await, ["bob", "brent", "kim", "norma"]);
    assert_eq!(emails(&app, &kim, &[]).await, ["brent", "kim"]);
    let cases: [(&str, &str, &[&str]); 6] = [
        ("organizationId", &t.north.to_string(), &["bob", "norma"]),
        ("organizationId", &t.branch.to_string(), &["brent", "kim"]),
        ("organizationId", &t.south.to_string(), &[]),
        ("search", "nor", &["norma"]),
        ("search", "sue", &[]),
        ("status", "SUSPENDED", &[]),
    ];
    for (name, value, expected) in cases {
        assert_eq!(emails(&app, &bob, &[(name, value)]).await, expected, "{name}={value}");
    }
    app.permit_in(&kim, t.south, &["users:read"]).await;
    assert_eq!(emails(&app, &kim, &[]).await, ["brent", "kim", "sue"]);
    app.permit(&kim, &["users:read"]).await;
    assert_eq!(emails(&app, &kim, &[]).await, ["ada", "bob", "brent", "kim", "norma", "sue"]);
}

async fn a_user_who_is_not_a_member_is_not_found(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:*"]).await;
    for shown in [&t.norma, &t.brent, &bob.user] {
        assert_eq!(app.user(&bob, shown).await["id"], json!(shown));
    }
    for hidden in [&t.sue, &t.ada.user, &t.ada.tenant] {
        let path = format!("/users/{hidden}");
        app.get(&path).by(&bob).send().await.problem("not-found");
        app.patch(&path).by(&bob).json(&json!({ "firstName": "X" })).send().await.problem("not-found");
        app.patch(&path).by(&bob).json(&json!({ "status": "SUSPENDED" })).send().await.problem("not-found");
        app.delete(&path).by(&bob).send().await.problem("not-found");
        app.post(&format!("{path}/suspend")).by(&bob).send().await.problem("not-found");
        app.post(&format!("{path}/reactivate")).by(&bob).send().await.problem("not-found");
    }
    assert_eq!(app.user(&t.ada, &t.sue).await["status"], "ACTIVE");
}

async fn a_tenant_wide_role_does_not_make_a_user_a_member(app: TestApp) {
    let t = tenant(&app).await;
    let wide = member(&app, &t.ada, "wide", None).await;
    let none = app.add_user(&t.ada, "none@example.com").await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:read"]).await;
    for hidden in [&wide, &none] {
        app.get(&format!("/users/{hidden}")).by(&bob).send().await.problem("not-found");
    }
    assert_eq!(emails(&app, &bob, &[]).await, ["bob", "brent", "norma"]);
}

async fn creating_users_needs_users_create_tenant_wide(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["*"]).await;
    let refused = app.post("/users").by(&bob).json(&profile("new@example.com")).send().await;
    refused.lacks("users:create");
    assert!(emails(&app, &t.ada, &[("search", "new@")]).await.is_empty());
}

async fn a_member_with_roles_only_in_the_callers_coverage_can_be_changed(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:*", "organizations:read"]).await;
    let path = format!("/users/{}", t.brent);
    let patched = app.patch(&path).by(&bob).json(&json!({ "firstName": "Rob" })).send().await.ok();
    assert_eq!(patched["firstName"], "Rob");
    app.post(&format!("{path}/suspend")).by(&bob).send().await.ok();
    assert_eq!(app.user(&bob, &t.brent).await["status"], "SUSPENDED");
    app.post(&format!("{path}/reactivate")).by(&bob).send().await.ok();
    assert_eq!(app.user(&bob, &t.brent).await["status"], "ACTIVE");
    app.delete(&path).by(&bob).send().await.no_content();
    assert_eq!(app.user(&bob, &t.brent).await["status"], "INACTIVE");
}

async fn a_member_with_a_role_elsewhere_can_be_seen_but_not_changed(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:*"]).await;
    app.assign(&t.ada, &t.brent, "MEMBER", Some(t.south), None).await;
    app.assign(&t.ada, &t.norma, "AUDITOR", None, None).await;
    for both in [&t.brent, &t.norma] {
        let path = format!("/users/{both}");
        app.get(&path).by(&bob).send().await.ok();
        app.patch(&path).by(&bob).json(&json!({ "email": "x@example.com" })).send().await.lacks("users:update");
        app.patch(&path).by(&bob).json(&json!({ "status": "INACTIVE" })).send().await.lacks("users:update");
        app.post(&format!("{path}/suspend")).by(&bob).send().await.lacks("users:update");
        app.delete(&path).by(&bob).send().await.lacks("users:delete");
        assert_eq!(app.user(&t.ada, both).await["status"], "ACTIVE");
    }
}

async fn patch_to_inactive_needs_users_delete_where_the_member_is(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:update", "users:read"]).await;
    app.permit_in(&bob, t.branch, &["users:delete"]).await;
    let gone = json!({ "status": "INACTIVE" });
    let refused = app.patch(&format!("/users/{}", t.norma)).by(&bob).json(&gone).send().await;
    assert!(matches!(refused.status(), 403 | 404), "{}", refused.text());
    assert_eq!(app.user(&t.ada, &t.norma).await["status"], "ACTIVE");
    app.patch(&format!("/users/{}", t.brent)).by(&bob).json(&gone).send().await.ok();
}

async fn restoring_needs_users_create_tenant_wide(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["users:*"]).await;
    app.set_status(&t.ada, &t.brent, "INACTIVE").await;
    let body = json!({ "status": "ACTIVE" });
    app.patch(&format!("/users/{}", t.brent)).by(&bob).json(&body).send().await.lacks("users:create");
    app.permit(&bob, &["users:update"]).await;
    app.patch(&format!("/users/{}", t.brent)).by(&bob).json(&body).send().await.lacks("users:create");
    assert_eq!(app.user(&t.ada, &t.brent).await["status"], "INACTIVE");
}

async fn only_roles_in_the_callers_coverage_are_shown(app: TestApp) {
    let t = tenant(&app).await;
    for organization in [None, Some(t.south), Some(t.north)] {
        app.assign(&t.ada, &t.brent, "MEMBER", organization, None).await;
    }
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["role-assignments:read"]).await;
    let body = app.get(&format!("/users/{}/roles", t.brent)).by(&bob).send().await.ok();
    let mut expected = [t.north, t.branch].map(|id| id.to_string());
    expected.sort_unstable();
    assert_eq!(each_sorted(&body, "organizationId"), expected);
    app.get(&format!("/users/{}/roles", t.sue)).by(&bob).send().await.problem("not-found");
    let all = app.get(&format!("/users/{}/roles", t.brent)).by(&t.ada).send().await.ok();
    assert_eq!(all["data"].as_array().unwrap().len(), 4);
}

async fn only_sessions_of_fully_covered_members_can_be_seen_and_ended(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["sessions:*"]).await;
    let [inside, both, outside] = [
        app.colleague_in(&t.ada, t.branch, "inside@example.com", &["users:read"]).await,
        app.colleague_in(&t.ada, t.branch, "both@example.com", &["users:read"]).await,
        app.colleague_in(&t.ada, t.south, "outside@example.com", &["users:read"]).await,
    ];
    app.permit_in(&both, t.south, &["users:read"]).await;
    for (person, home) in [(&inside, t.branch), (&both, t.branch), (&outside, t.south)] {
        app.set_home(&t.ada, &person.user, Some(home)).await;
    }
    let sessions = async |of: &Person| app.get(&format!("/users/{}/sessions", of.user)).by(&bob).send().await;
    assert_eq!(each(&sessions(&inside).await.ok(), "id"), std::slice::from_ref(&inside.session));
    // Sessions show from where a user works. So the caller must cover home and roles of the user, as for a change.
    sessions(&both).await.lacks("sessions:read");
    sessions(&outside).await.problem("not-found");
    let end = async |of: &Person| app.delete(&format!("/sessions/{}", of.session)).by(&bob).send().await;
    end(&outside).await.problem("not-found");
    end(&both).await.lacks("sessions:delete");
    end(&inside).await.no_content();
    assert!(!app.knows(&inside).await && app.knows(&both).await && app.knows(&outside).await);
}

async fn a_callers_own_data_needs_no_permission(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &[]).await;
    let other = app.login(&bob).await;
    for what in ["roles", "sessions"] {
        app.get(&format!("/users/{}/{what}", bob.user)).by(&bob).send().await.ok();
    }
    app.delete(&format!("/sessions/{}", other.session)).by(&bob).send().await.no_content();
    app.get("/auth/me").by(&bob).send().await.ok();
}

async fn an_assignment_covers_its_organization_and_everything_below(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let chain = app.chain::<6>(&ada, "level").await;
    let bob = app.colleague_in(&ada, chain[2], "bob@example.com", &["organizations:read"]).await;
    for (depth, id) in chain.into_iter().enumerate() {
        let answer = organization(&app, &bob, id).await;
        if depth < 2 {
            answer.problem("not-found");
        } else {
            assert_eq!(answer.ok()["depth"], depth);
        }
    }
}

async fn an_organization_in_which_the_caller_has_no_grant_is_not_found(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.branch, "bob@example.com", &["*"]).await;
    let dora = app.colleague(&t.ada, "dora@example.com").await;
    let hidden = [(&bob, t.south), (&bob, t.north), (&dora, t.north)];
    for (by, id) in hidden {
        organization(&app, by, id).await.problem("not-found");
        status(&app, by, id, "SUSPENDED").await.problem("not-found");
        app.delete(&format!("/organizations/{id}")).by(by).send().await.problem("not-found");
        let below = json!({ "name": "Below", "parentId": id });
        let refused = app.post("/organizations").by(by).json(&below).send().await;
        assert_eq!(refused.fields("not-found"), ["parentId"]);
    }
}

async fn with_another_grant_a_missing_permission_is_forbidden(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["sessions:read"]).await;
    for id in [t.north, t.branch] {
        organization(&app, &bob, id).await.lacks("organizations:read");
        status(&app, &bob, id, "SUSPENDED").await.lacks("organizations:update");
        app.delete(&format!("/organizations/{id}")).by(&bob).send().await.lacks("organizations:delete");
    }
    let wide = app.colleague_who_may(&t.ada, "wide@example.com", &["sessions:read"]).await;
    organization(&app, &wide, t.south).await.lacks("organizations:read");
}

async fn an_organization_admin_administers_only_its_subtree(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague(&t.ada, "bob@example.com").await;
    app.assign(&t.ada, &bob.user, "ORGANIZATION_ADMIN", Some(t.north), None).await;
    let roles = app.get("/roles").by(&bob).send().await.ok();
    assert_eq!(roles["pagination"]["total"], 4);
    app.get("/permissions").by(&bob).send().await.ok();
    let made = app.post("/organizations").by(&bob).json(&json!({ "name": "New", "parentId": t.branch })).send().await;
    assert_eq!(made.created()["depth"], 2);
    status(&app, &bob, t.branch, "SUSPENDED").await.ok();
    status(&app, &bob, t.branch, "ACTIVE").await.ok();
    let give = async |role: &str, organization: Value| {
        let body =
            json!({ "userId": t.sue, "roleId": app.role_id(&t.ada, role).await, "organizationId": organization });
        app.post("/role-assignments").by(&bob).json(&body).send().await
    };
    give("ORGANIZATION_ADMIN", json!(t.branch)).await.created();
    give("MEMBER", json!(t.north)).await.created();
    give("MEMBER", Value::Null).await.lacks("role-assignments:create");
    give("TENANT_ADMIN", Value::Null).await.lacks("role-assignments:create");
    assert_eq!(give("MEMBER", json!(t.south)).await.fields("not-found"), ["organizationId"]);
}

async fn a_caller_can_add_any_user_of_the_tenant_by_its_id(app: TestApp) {
    let t = tenant(&app).await;
    let may = ["role-assignments:create", "users:read", "organizations:read"];
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &may).await;
    let role = app.role_id(&t.ada, "MEMBER").await;
    let stranger = app.add_user(&t.ada, "stranger@example.com").await;
    for user in [&t.sue, &stranger, &t.ada.user] {
        app.get(&format!("/users/{user}")).by(&bob).send().await.problem("not-found");
        let body = json!({ "userId": user, "roleId": role, "organizationId": t.branch });
        app.post("/role-assignments").by(&bob).json(&body).send().await.created();
        app.get(&format!("/users/{user}")).by(&bob).send().await.ok();
    }
}

async fn adding_a_user_gives_no_control_over_the_user(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["*"]).await;
    let body = json!({
        "userId": t.ada.user, "roleId": app.role_id(&t.ada, "MEMBER").await, "organizationId": t.north,
    });
    app.post("/role-assignments").by(&bob).json(&body).send().await.created();
    let path = format!("/users/{}", t.ada.user);
    let takeover = json!({ "email": "mine@example.com" });
    app.patch(&path).by(&bob).json(&takeover).send().await.lacks("users:update");
    app.delete(&path).by(&bob).send().await.lacks("users:delete");
    app.delete(&format!("/sessions/{}", t.ada.session)).by(&bob).send().await.lacks("sessions:delete");
    assert!(app.knows(&t.ada).await);
}

async fn assignments_outside_the_callers_coverage_are_not_found(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["role-assignments:*"]).await;
    app.permit_in(&bob, t.south, &["role-assignments:read"]).await;
    let carl = app.add_user(&t.ada, "carl@example.com").await;
    let other = app.organization(&t.ada, "other").await;
    let [inside, outside, seen, wide] = [
        app.assign(&t.ada, &carl, "MEMBER", Some(t.branch), None).await,
        app.assign(&t.ada, &carl, "MEMBER", Some(other), None).await,
        app.assign(&t.ada, &carl, "MEMBER", Some(t.south), None).await,
        app.assign(&t.ada, &carl, "MEMBER", None, None).await,
    ];
    let never = json!({ "expiresAt": null });
    for (id, kind) in [(&outside, "not-found"), (&wide, "not-found"), (&seen, "forbidden")] {
        let path = format!("/role-assignments/{id}");
        app.patch(&path).by(&bob).json(&never).send().await.problem(kind);
        app.delete(&path).by(&bob).send().await.problem(kind);
    }
    let path = format!("/role-assignments/{inside}");
    app.patch(&path).by(&bob).json(&never).send().await.ok();
    app.delete(&path).by(&bob).send().await.no_content();
    let left = app.get(&format!("/users/{carl}/roles")).by(&t.ada).send().await.ok();
    let mut expected = [outside, seen, wide];
    expected.sort_unstable();
    assert_eq!(each_sorted(&left, "id"), expected);
}

async fn children_are_created_only_where_the_permission_applies(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["organizations:create"]).await;
    app.permit_in(&bob, t.south, &["organizations:read"]).await;
    let create = async |parent: Value| {
        let body = json!({ "name": "New", "parentId": parent });
        app.post("/organizations").by(&bob).json(&body).send().await
    };
    assert_eq!(create(json!(t.north)).await.created()["parentId"], json!(t.north));
    assert_eq!(create(json!(t.branch)).await.created()["parentId"], json!(t.branch));
    create(json!(t.south)).await.lacks("organizations:create");
    create(Value::Null).await.lacks("organizations:create");
}

async fn assignments_in_a_suspended_organization_or_below_grant_nothing(app: TestApp) {
    let t = tenant(&app).await;
    let in_north = app.colleague_in(&t.ada, t.north, "in-north@example.com", &["organizations:*"]).await;
    let in_branch = app.colleague_in(&t.ada, t.branch, "in-branch@example.com", &["organizations:*"]).await;
    status(&app, &t.ada, t.north, "SUSPENDED").await.ok();
    for (person, id) in [(&in_north, t.north), (&in_north, t.branch), (&in_branch, t.branch)] {
        organization(&app, person, id).await.lacks("organizations:read");
        status(&app, person, id, "ACTIVE").await.lacks("organizations:update");
    }
    for person in [&in_north, &in_branch] {
        app.get("/organizations").by(person).send().await.lacks("organizations:read");
        let me = app.get("/auth/me").by(person).send().await.ok();
        assert_eq!(me["permissions"], json!({ "tenant": [], "organizations": [] }));
        assert_eq!(me["roles"].as_array().unwrap().len(), 1, "the role is still assigned");
    }
    status(&app, &t.ada, t.north, "ACTIVE").await.ok();
    for (person, id) in [(&in_north, t.north), (&in_north, t.branch), (&in_branch, t.branch)] {
        organization(&app, person, id).await.ok();
    }
}

async fn a_role_below_a_suspended_organization_shows_no_members(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.branch, "bob@example.com", &["users:read", "role-assignments:*"]).await;
    app.permit_in(&bob, t.south, &["users:read"]).await;
    assert_eq!(emails(&app, &bob, &[]).await, ["bob", "brent", "sue"]);
    status(&app, &t.ada, t.north, "SUSPENDED").await.ok();
    assert_eq!(emails(&app, &bob, &[]).await, ["bob", "sue"]);
    app.get(&format!("/users/{}", t.brent)).by(&bob).send().await.problem("not-found");
    app.get("/role-assignments").by(&bob).send().await.lacks("role-assignments:read");
    // Tenant-wide grants still apply.
    assert_eq!(app.user(&t.ada, &t.brent).await["status"], "ACTIVE");
    let body = json!({
        "userId": t.sue, "roleId": app.role_id(&t.ada, "MEMBER").await, "organizationId": t.branch,
    });
    app.post("/role-assignments").by(&t.ada).json(&body).send().await.created();
}

async fn a_suspension_does_not_affect_siblings_or_parents(app: TestApp) {
    let t = tenant(&app).await;
    let sibling = app.below(&t.ada, t.north, "sibling").await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["organizations:read"]).await;
    let kim = app.colleague_in(&t.ada, sibling, "kim@example.com", &["organizations:read"]).await;
    status(&app, &t.ada, t.branch, "SUSPENDED").await.ok();
    organization(&app, &kim, sibling).await.ok();
    for (id, shown) in [(t.north, "ACTIVE"), (sibling, "ACTIVE"), (t.branch, "SUSPENDED")] {
        // A role in the parent also applies in the suspended organization.
        assert_eq!(organization(&app, &bob, id).await.ok()["status"], shown);
    }
}

async fn reactivating_an_organization_needs_the_rights_that_it_restores(app: TestApp) {
    let t = tenant(&app).await;
    app.colleague_in(&t.ada, t.branch, "carl@example.com", &["sessions:delete"]).await;
    let bob = app.colleague_who_may(&t.ada, "bob@example.com", &["organizations:*", "users:read"]).await;
    status(&app, &bob, t.north, "SUSPENDED").await.ok();
    app.unrecorded(&t.ada, status(&app, &bob, t.north, "ACTIVE")).await.escalates();
    app.permit(&bob, &["sessions:delete"]).await;
    assert_eq!(status(&app, &bob, t.north, "ACTIVE").await.ok()["status"], "ACTIVE");
}

async fn me_shows_permissions_by_organization(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_who_may(&t.ada, "bob@example.com", &["roles:read"]).await;
    app.permit_in(&bob, t.north, &["users:read", "sessions:*"]).await;
    app.permit_in(&bob, t.branch, &["organizations:read"]).await;
    let me = app.get("/auth/me").by(&bob).send().await.ok();
    assert_eq!(members(&me["permissions"]), ["organizations", "tenant"]);
    assert_eq!(me["permissions"]["tenant"], json!(["roles:read"]));
    let mut expected = [
        (t.north, json!(["sessions:*", "users:read"])),
        (t.branch, json!(["organizations:read", "sessions:*", "users:read"])),
    ]
    .map(|(id, permissions)| json!({ "organizationId": id, "permissions": permissions }));
    expected.sort_by_key(|item| item["organizationId"].to_string());
    let mut found = me["permissions"]["organizations"].as_array().unwrap().clone();
    found.sort_by_key(|item| item["organizationId"].to_string());
    assert_eq!(found, expected);
    let held: Vec<&Value> =
        me["roles"].as_array().unwrap().iter().filter_map(|role| role.get("organization")).collect();
    let names = [json!("Organization north"), json!("Organization branch")];
    assert!(held.len() == 2 && held.iter().all(|organization| names.contains(&organization["name"])));
}

async fn the_audit_log_and_the_tenant_need_tenant_wide_permissions(app: TestApp) {
    let t = tenant(&app).await;
    let bob = app.colleague_in(&t.ada, t.north, "bob@example.com", &["*"]).await;
    app.get("/audit-logs").by(&bob).send().await.lacks("audit-logs:read");
    let path = format!("/tenants/{}", t.ada.tenant);
    let before = app.get(&path).by(&t.ada).send().await.ok();
    app.get(&path).by(&bob).send().await.lacks("tenants:read");
    app.patch(&path).by(&bob).json(&json!({ "name": "Mine" })).send().await.lacks("tenants:update");
    assert_eq!(app.get(&path).by(&t.ada).send().await.ok(), before);
}
