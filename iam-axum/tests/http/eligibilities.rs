//! Eligibilities: who may ask for which role (`docs/access-requests.md#eligibilities`).

use chrono::TimeDelta;
use iam_core::OrganizationId;
use iam_core::clock::Timestamp;
use iam_core::role::RoleScope;
use serde_json::{Value, json};

use crate::access_table::fresh;
use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::idempotency::was_replayed;
use crate::people::{Person, says, with};
use crate::request::{Request, Response, each, each_sorted, members};

in_memory![
    an_eligibility_of_a_user_has_defaults,
    an_eligibility_of_the_holders_of_a_role_says_everything,
    the_bounds_are_allowed,
    missing_invalid_and_unknown_fields_are_named,
    what_an_eligibility_names_must_exist_and_be_possible,
    an_eligibility_is_covered_like_giving_the_role,
    it_needs_a_recent_authentication_and_no_api_key,
    a_user_who_acts_as_another_makes_and_changes_none,
    a_repeated_request_makes_no_second_one,
    a_narrower_eligibility_needs_the_permission_alone,
    a_wider_eligibility_is_covered_like_a_new_one,
    a_change_and_a_removal_need_the_version_that_they_name,
    invalid_fields_of_a_change_are_named,
    its_role_gets_only_what_its_editor_covers,
    an_expired_eligibility_of_a_role_with_another_scope_stays_expired,
    its_held_role_is_given_by_who_holds_its_role_as_long,
    its_held_role_needs_a_recent_authentication_where_its_role_does,
    its_role_is_neither_deleted_nor_of_another_scope,
    a_user_sees_those_by_which_it_can_ask,
    a_list_shows_those_in_the_callers_organizations,
    with_its_user_or_its_organization_it_goes,
    a_review_lists_it_and_removes_it,
    a_review_is_decided_by_others_than_those_who_may_ask,
    what_happens_to_it_is_recorded,
    another_tenant_finds_none,
];

impl TestApp {
    /// Lets users ask for a role. Returns the id of the eligibility.
    pub(crate) async fn eligibility(&self, by: &Person, members: &Value) -> String {
        let made = self.new_eligibility(by, members).send().await.created();
        made["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn new_eligibility(&self, by: &Person, members: &Value) -> Request<'_> {
        self.post("/eligibilities").by(by).json(members)
    }

    pub(crate) fn change_eligibility(&self, by: &Person, id: &str, change: &Value) -> Request<'_> {
        self.patch(&format!("/eligibilities/{id}")).by(by).json(change)
    }
}

/// An administrator, a user without roles, and a role that reads users.
async fn fixture(app: &TestApp) -> (Person, Person, String) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let role = app.role(&ada, "KEEPER", &["users:read"]).await;
    (ada, grace, role)
}

async fn read(app: &TestApp, by: &Person, id: &str) -> Response {
    app.get(&format!("/eligibilities/{id}")).by(by).send().await
}

/// The eligibilities by which a user can ask.
async fn own(app: &TestApp, by: &Person) -> Vec<String> {
    each_sorted(&app.get("/auth/eligibilities").by(by).send().await.ok(), "id")
}

async fn an_eligibility_of_a_user_has_defaults(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let body = json!({ "roleId": role, "userId": grace.user });
    let made = app.new_eligibility(&ada, &body).send().await.created();
    let expected = json!({
        "id": made["id"],
        "roleId": role,
        "organizationId": null,
        "userId": grace.user,
        "heldRoleId": null,
        "maxSeconds": 28_800,
        "approvals": 1,
        "approverRoleId": null,
        "expiresAt": null,
        "createdAt": app.now(),
        "createdBy": ada.user,
        "updatedAt": app.now(),
    });
    assert_eq!(made, expected);
    let listed = with(expected, &json!({ "role": { "id": role, "name": "KEEPER" } }));
    assert_eq!(read(&app, &ada, made["id"].as_str().unwrap()).await.ok(), listed);
    assert_eq!(app.get("/eligibilities").by(&ada).send().await.ok()["data"], json!([listed]));
    assert_eq!(app.get("/auth/eligibilities").by(&grace).send().await.ok(), json!({ "data": [listed] }));
    // It gives nothing by itself.
    app.get("/users").by(&grace).send().await.lacks("users:read");
}

async fn an_eligibility_of_the_holders_of_a_role_says_everything(app: TestApp) {
    let (ada, _, role) = fixture(&app).await;
    let branch = app.organization(&ada, "branch").await;
    let [held, approver] = [app.role(&ada, "HELD", &[]).await, app.role(&ada, "APPROVER", &[]).await];
    let body = json!({
        "roleId": role,
        "organizationId": branch,
        "heldRoleId": held,
        "maxSeconds": 300,
        "approvals": 2,
        "approverRoleId": approver,
        "expiresAt": shown(app.iam.now() + TimeDelta::days(1)),
    });
    let made = app.new_eligibility(&ada, &body).send().await.created();
    assert_eq!(with(made.clone(), &body), made);
    assert_eq!(made["userId"], Value::Null);
    let listed = read(&app, &ada, made["id"].as_str().unwrap()).await.ok();
    assert_eq!(listed["organization"], json!({ "id": branch, "name": "Organization branch" }));
}

async fn the_bounds_are_allowed(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    for bounds in [json!({ "maxSeconds": 300, "approvals": 0 }), json!({ "maxSeconds": 2_592_000, "approvals": 2 })] {
        let body = with(json!({ "roleId": role, "userId": grace.user }), &bounds);
        let made = app.new_eligibility(&ada, &body).send().await.created();
        assert_eq!(with(made.clone(), &bounds), made);
    }
    let nulls = json!({
        "roleId": role, "userId": grace.user, "organizationId": null, "heldRoleId": null, "maxSeconds": null,
        "approvals": null, "approverRoleId": null, "expiresAt": null,
    });
    assert_eq!(app.new_eligibility(&ada, &nulls).send().await.created()["maxSeconds"], 28_800);
}

async fn missing_invalid_and_unknown_fields_are_named(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let valid = json!({ "roleId": role, "userId": grace.user });
    for (members, fields) in [
        (json!({ "roleId": "x", "userId": "y", "expiresAt": "soon" }), vec!["roleId", "userId", "expiresAt"]),
        (
            json!({ "organizationId": "x", "heldRoleId": "y", "approverRoleId": "z" }),
            vec!["organizationId", "heldRoleId", "approverRoleId"],
        ),
        (json!({ "userId": null }), vec!["userId"]),
        (json!({ "heldRoleId": role }), vec!["heldRoleId"]),
        (json!({ "maxSeconds": 299 }), vec!["maxSeconds"]),
        (json!({ "maxSeconds": 2_592_001 }), vec!["maxSeconds"]),
        (json!({ "maxSeconds": 300.5 }), vec!["maxSeconds"]),
        (json!({ "approvals": 3 }), vec!["approvals"]),
        (json!({ "approvals": -1, "maxSeconds": -1 }), vec!["maxSeconds", "approvals"]),
        (json!({ "expiresAt": app.now() }), vec!["expiresAt"]),
        (json!({ "roleName": "KEEPER" }), vec!["roleName"]),
    ] {
        let request = app.new_eligibility(&ada, &with(valid.clone(), &members));
        assert_eq!(app.unrecorded(&ada, request.send()).await.invalid_fields(), fields, "{members}");
    }
    assert_eq!(app.new_eligibility(&ada, &json!({})).send().await.invalid_fields(), ["roleId"]);
    let refused = app.get("/eligibilities?page=0&userId=x").by(&ada).send().await;
    assert_eq!(refused.invalid_fields(), ["userId"]);
    assert_eq!(read(&app, &ada, "x").await.invalid_fields(), ["id"]);
}

async fn what_an_eligibility_names_must_exist_and_be_possible(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let eve = app.register("eve@example.net").await;
    let theirs = app.role(&eve, "THEIRS", &[]).await;
    let their_branch = app.organization(&eve, "branch").await;
    let valid = json!({ "roleId": role, "userId": grace.user });
    let refused = async |members: Value| {
        app.unrecorded(&ada, app.new_eligibility(&ada, &with(valid.clone(), &members)).send()).await
    };
    for (members, field) in [
        (json!({ "roleId": theirs }), "roleId"),
        (json!({ "organizationId": their_branch }), "organizationId"),
        (json!({ "userId": eve.user }), "userId"),
        (json!({ "userId": null, "heldRoleId": theirs }), "heldRoleId"),
        (json!({ "approverRoleId": theirs }), "approverRoleId"),
    ] {
        assert_eq!(refused(members).await.fields("not-found"), [field]);
    }
    let branch = app.organization(&ada, "branch").await;
    let of_tenant = app.role_of_scope(&ada, "OF_TENANT", RoleScope::Tenant, &[]).await;
    let of_organization = app.role_of_scope(&ada, "OF_ORGANIZATION", RoleScope::Organization, &[]).await;
    for members in [json!({ "roleId": of_tenant, "organizationId": branch }), json!({ "roleId": of_organization })] {
        assert_eq!(refused(members).await.fields("validation"), ["organizationId"]);
    }
    // A program asks for nothing.
    let robot = app.robot(&ada, &[]).await;
    assert_eq!(refused(json!({ "userId": robot })).await.invalid_fields(), ["userId"]);
    app.delete(&format!("/organizations/{branch}")).by(&ada).send().await.no_content();
    refused(json!({ "organizationId": branch })).await.problem("conflict");
    app.set_status(&ada, &grace.user, "INACTIVE").await;
    refused(json!({})).await.problem("conflict");
}

async fn an_eligibility_is_covered_like_giving_the_role(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let [north, south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let end = app.iam.now() + TimeDelta::hours(1);
    let mary = app.colleague(&ada, "mary@example.com").await;
    app.permit_in(&mary, north, &["eligibilities:create"]).await;
    app.permit_until(&mary, &["users:read"], Some(north), Some(end)).await;
    let make = async |place: Option<OrganizationId>, expires_at: Option<String>| {
        let body = json!({
            "roleId": role, "userId": grace.user, "organizationId": place, "expiresAt": expires_at,
        });
        app.new_eligibility(&mary, &body).send().await
    };
    // In time, in place, and in permissions.
    make(Some(north), None).await.escalates();
    make(Some(north), Some(shown(end + TimeDelta::milliseconds(1)))).await.escalates();
    make(None, Some(shown(end))).await.lacks("eligibilities:create");
    assert!(matches!(make(Some(south), Some(shown(end))).await.status(), 403 | 404));
    make(Some(north), Some(shown(end))).await.created();
    let more = app.role(&ada, "MORE", &["users:update"]).await;
    let body = json!({
        "roleId": more, "userId": grace.user, "organizationId": north, "expiresAt": shown(end),
    });
    app.new_eligibility(&mary, &body).send().await.escalates();
    // Giving the role is another permission.
    let giver = app.colleague_who_may(&ada, "giver@example.com", &["role-assignments:create", "users:read"]).await;
    let body = json!({ "roleId": role, "userId": grace.user });
    app.new_eligibility(&giver, &body).send().await.lacks("eligibilities:create");
}

async fn it_needs_a_recent_authentication_and_no_api_key(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let body = json!({ "roleId": role, "userId": grace.user });
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let by_key = Person { access: text(&key).to_owned(), ..ada.clone() };
    let refused = app.unrecorded(&ada, app.new_eligibility(&by_key, &body).send()).await;
    assert!(refused.detail("forbidden").contains("api key"));
    app.age(&ada).await;
    app.new_eligibility(&ada, &body).send().await.problem("insufficient-authentication");
    app.eligibility(&app.login(&ada).await, &body).await;
}

async fn a_user_who_acts_as_another_makes_and_changes_none(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let mary = app.colleague_who_may(&ada, "mary@example.com", &["eligibilities:*", "users:read"]).await;
    let body = json!({ "roleId": role, "userId": grace.user });
    let eligibility = app.eligibility(&mary, &body).await;
    let acting = app.acting(&ada, &mary).await;
    for request in [
        app.new_eligibility(&acting, &body),
        app.change_eligibility(&acting, &eligibility, &json!({ "maxSeconds": 300 })),
        app.delete(&format!("/eligibilities/{eligibility}")).by(&acting),
    ] {
        let refused = app.unrecorded(&ada, request.send()).await;
        assert!(refused.detail("forbidden").contains("act as another user"), "{}", refused.text());
    }
}

async fn a_repeated_request_makes_no_second_one(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let body = json!({ "roleId": role, "userId": grace.user });
    let make = async || app.new_eligibility(&ada, &body).header("idempotency-key", "one").send().await;
    let first = make().await;
    let again = app.unrecorded(&ada, make()).await;
    assert_eq!((again.created(), was_replayed(&again)), (first.created(), true));
    assert_eq!(app.get("/eligibilities").by(&ada).send().await.ok()["pagination"]["total"], 1);
}

async fn a_narrower_eligibility_needs_the_permission_alone(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let id = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    let mary = app.colleague_who_may(&ada, "mary@example.com", &["eligibilities:update"]).await;
    let key = app.key(&mary, &mary.user, &json!({})).await;
    app.age(&mary).await;
    let expires_at = shown(app.iam.now() + TimeDelta::days(7));
    app.pass(TimeDelta::seconds(1));
    for change in [
        json!({ "maxSeconds": 3_600 }),
        json!({ "approvals": 2 }),
        json!({ "expiresAt": expires_at }),
        json!({ "maxSeconds": 600, "approvals": 2, "expiresAt": expires_at }),
    ] {
        let changed = app.change_eligibility(&mary, &id, &change).send().await.ok();
        assert_eq!(with(changed.clone(), &change), changed);
        assert_eq!(changed["updatedAt"], app.now());
    }
    let by_key = Person { access: text(&key).to_owned(), ..mary.clone() };
    app.change_eligibility(&by_key, &id, &json!({ "maxSeconds": 300 })).send().await.ok();
    // What changes nothing is not recorded.
    let same = app.change_eligibility(&mary, &id, &json!({ "maxSeconds": 300 }));
    app.unrecorded(&ada, same.send()).await.ok();
    let empty = app.change_eligibility(&mary, &id, &json!({}));
    app.unrecorded(&ada, empty.send()).await.ok();
}

async fn a_wider_eligibility_is_covered_like_a_new_one(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let expires_at = shown(app.iam.now() + TimeDelta::days(7));
    let body = json!({ "roleId": role, "userId": grace.user, "expiresAt": expires_at });
    let id = app.eligibility(&ada, &body).await;
    let mary = app.colleague_who_may(&ada, "mary@example.com", &["eligibilities:update"]).await;
    let approver = app.role(&ada, "APPROVER", &[]).await;
    let wider = [
        json!({ "maxSeconds": 28_801 }),
        json!({ "approvals": 0 }),
        json!({ "approverRoleId": approver }),
        json!({ "expiresAt": null }),
        json!({ "maxSeconds": 300, "approvals": 0 }),
    ];
    for change in &wider {
        let refused = app.unrecorded(&ada, app.change_eligibility(&mary, &id, change).send()).await;
        refused.escalates();
    }
    app.permit(&mary, &["users:read"]).await;
    let key = app.key(&mary, &mary.user, &json!({})).await;
    let by_key = Person { access: text(&key).to_owned(), ..mary.clone() };
    app.age(&mary).await;
    for change in &wider {
        let refused = app.change_eligibility(&mary, &id, change).send().await;
        refused.problem("insufficient-authentication");
        let refused = app.change_eligibility(&by_key, &id, change).send().await;
        assert!(refused.detail("forbidden").contains("api key"), "{change}");
    }
    let mary = app.login(&mary).await;
    for change in &wider {
        let changed = app.change_eligibility(&mary, &id, change).send().await.ok();
        assert_eq!(with(changed.clone(), change), changed);
    }
}

async fn a_change_and_a_removal_need_the_version_that_they_name(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let id = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    let tag = async || read(&app, &ada, &id).await.header("etag").unwrap().to_owned();
    let first = tag().await;
    let unchanged = app.get(&format!("/eligibilities/{id}")).by(&ada).header("if-none-match", &first);
    assert_eq!(unchanged.send().await.status(), 304);
    let narrower = json!({ "maxSeconds": 600 });
    let changed = app.change_eligibility(&ada, &id, &narrower).header("if-match", &first).send().await;
    changed.ok();
    assert_eq!(changed.header("etag"), Some(tag().await.as_str()));
    for stale in [
        app.change_eligibility(&ada, &id, &json!({ "maxSeconds": 300 })).header("if-match", &first),
        app.delete(&format!("/eligibilities/{id}")).by(&ada).header("if-match", &first),
    ] {
        app.unrecorded(&ada, stale.send()).await.problem("precondition-failed");
    }
    let removal = app.delete(&format!("/eligibilities/{id}")).by(&ada).header("if-match", &tag().await);
    removal.send().await.no_content();
    read(&app, &ada, &id).await.problem("not-found");
}

async fn invalid_fields_of_a_change_are_named(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let id = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    for (change, fields) in [
        (json!({ "maxSeconds": 299, "approvals": 3 }), vec!["maxSeconds", "approvals"]),
        (json!({ "approverRoleId": "x", "expiresAt": "soon" }), vec!["approverRoleId", "expiresAt"]),
        (json!({ "expiresAt": app.now() }), vec!["expiresAt"]),
        // These stay.
        (json!({ "roleId": role }), vec!["roleId"]),
        (json!({ "userId": ada.user }), vec!["userId"]),
        (json!({ "organizationId": null }), vec!["organizationId"]),
    ] {
        let refused = app.unrecorded(&ada, app.change_eligibility(&ada, &id, &change).send()).await;
        assert_eq!(refused.invalid_fields(), fields, "{change}");
    }
    let unknown = app.change_eligibility(&ada, &id, &json!({ "approverRoleId": grace.user })).send().await;
    assert_eq!(unknown.fields("not-found"), ["approverRoleId"]);
}

/// An empty role may be offered by every holder of the permission. What is put into it later is given, too.
/// An eligibility that has expired holds nothing, so its role may have got another scope.
async fn an_expired_eligibility_of_a_role_with_another_scope_stays_expired(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let expires_at = shown(app.iam.now() + TimeDelta::minutes(1));
    let body = json!({ "roleId": role, "userId": grace.user, "expiresAt": expires_at });
    let id = app.eligibility(&ada, &body).await;
    app.pass(TimeDelta::minutes(1));
    let scope = json!({ "scope": "ORGANIZATION" });
    app.patch(&format!("/roles/{role}")).by(&ada).json(&scope).send().await.ok();
    let later = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::minutes(1)) });
    let refused = app.unrecorded(&ada, app.change_eligibility(&ada, &id, &later).send()).await;
    refused.problem("validation");
}

async fn its_role_gets_only_what_its_editor_covers(app: TestApp) {
    let (ada, grace, _) = fixture(&app).await;
    let end = app.iam.now() + TimeDelta::hours(1);
    let mallory = app.colleague_who_may(&ada, "mallory@example.com", &["roles:update"]).await;
    app.permit_until(&mallory, &["users:read"], None, Some(end)).await;
    let [asked, until, free] = [(); 3].map(|()| fresh("EMPTY_"));
    let asked = app.role(&ada, &asked, &[]).await;
    let until = app.role(&ada, &until, &[]).await;
    let free = app.role(&ada, &free, &[]).await;
    let lasting = app.eligibility(&ada, &json!({ "roleId": asked, "userId": grace.user })).await;
    let body = json!({ "roleId": until, "userId": grace.user, "expiresAt": shown(end) });
    app.eligibility(&ada, &body).await;
    let edit = async |role: &str, permission: &str| {
        let body = json!({ "permissions": [permission] });
        app.patch(&format!("/roles/{role}")).by(&mallory).json(&body).send().await
    };
    edit(&asked, "users:read").await.escalates();
    edit(&until, "users:update").await.escalates();
    edit(&until, "users:read").await.ok();
    edit(&free, "users:read").await.ok();
    app.delete(&format!("/eligibilities/{lasting}")).by(&ada).send().await.no_content();
    edit(&asked, "users:read").await.ok();
}

async fn its_held_role_is_given_by_who_holds_its_role_as_long(app: TestApp) {
    let (ada, _, role) = fixture(&app).await;
    let held = app.role(&ada, "HELD", &[]).await;
    let [above, place] = app.chain(&ada, "place").await;
    let body = json!({ "roleId": role, "heldRoleId": held, "organizationId": place, "maxSeconds": 3_600 });
    let eligibility = app.eligibility(&ada, &body).await;
    let end = app.iam.now() + TimeDelta::hours(2);
    let mary = app.colleague(&ada, "mary@example.com").await;
    app.permit_in(&mary, above, &["role-assignments:*"]).await;
    app.permit_until(&mary, &["users:read"], Some(place), Some(end)).await;
    let give = async |place: OrganizationId, expires_at: Option<Timestamp>| {
        let body = json!({
            "userId": mary.user, "roleId": held, "organizationId": place, "expiresAt": expires_at.map(shown),
        });
        app.post("/role-assignments").by(&mary).json(&body).send().await
    };
    // What begins in the last moment lasts for an hour.
    let latest = end - TimeDelta::hours(1);
    for place in [above, place] {
        give(place, None).await.escalates();
        give(place, Some(latest + TimeDelta::seconds(1))).await.escalates();
    }
    let made = give(above, Some(latest)).await.created();
    let prolong = app.patch(&format!("/role-assignments/{}", made["id"].as_str().unwrap())).by(&mary);
    prolong.json(&json!({ "expiresAt": shown(end) })).send().await.escalates();
    // Not if no user asks so late.
    app.change_eligibility(&ada, &eligibility, &json!({ "expiresAt": shown(end) })).send().await.ok();
    give(place, None).await.created();
}

async fn its_held_role_needs_a_recent_authentication_where_its_role_does(app: TestApp) {
    let (ada, grace, _) = fixture(&app).await;
    let held = app.role(&ada, "HELD", &[]).await;
    let guard = app.role(&ada, "GUARD", &["audit-logs:update"]).await;
    app.eligibility(&ada, &json!({ "roleId": guard, "heldRoleId": held })).await;
    app.age(&ada).await;
    let give = async |by: &Person| {
        let body = json!({ "userId": grace.user, "roleId": held });
        app.post("/role-assignments").by(by).json(&body).send().await
    };
    give(&ada).await.problem("insufficient-authentication");
    give(&app.login(&ada).await).await.created();
}

async fn its_role_is_neither_deleted_nor_of_another_scope(app: TestApp) {
    let (ada, _, role) = fixture(&app).await;
    let [held, approver] = [app.role(&ada, "HELD", &[]).await, app.role(&ada, "APPROVER", &[]).await];
    let expires_at = shown(app.iam.now() + TimeDelta::hours(1));
    let body = json!({ "roleId": role, "heldRoleId": held, "approverRoleId": approver, "expiresAt": expires_at });
    let id = app.eligibility(&ada, &body).await;
    let delete = async |by: &Person, role: &str| app.delete(&format!("/roles/{role}")).by(by).send().await;
    for role in [&role, &held, &approver] {
        delete(&ada, role).await.problem("conflict");
    }
    let scope = json!({ "scope": "ORGANIZATION" });
    app.patch(&format!("/roles/{role}")).by(&ada).json(&scope).send().await.problem("conflict");
    app.pass(TimeDelta::hours(1));
    let ada = app.login(&ada).await;
    for role in [&role, &held, &approver] {
        delete(&ada, role).await.no_content();
    }
    read(&app, &ada, &id).await.problem("not-found");
}

async fn a_user_sees_those_by_which_it_can_ask(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let [root, leaf] = app.chain(&ada, "place").await;
    let held = app.role(&ada, "HELD", &[]).await;
    let end = shown(app.iam.now() + TimeDelta::minutes(5));
    let make = async |members: Value| app.eligibility(&ada, &with(json!({ "roleId": role }), &members)).await;
    let named = make(json!({ "userId": grace.user })).await;
    make(json!({ "userId": ada.user })).await;
    let ends = make(json!({ "userId": grace.user, "expiresAt": end })).await;
    let of_holders = make(json!({ "heldRoleId": held })).await;
    let [above, below] = [
        make(json!({ "heldRoleId": held, "organizationId": root })).await,
        make(json!({ "heldRoleId": held, "organizationId": leaf })).await,
    ];
    let sorted = |mut ids: Vec<&String>| {
        ids.sort();
        ids.into_iter().cloned().collect::<Vec<_>>()
    };
    assert_eq!(own(&app, &grace).await, sorted(vec![&named, &ends]));
    // In that place, or above.
    let assignment = app.assign(&ada, &grace.user, "HELD", Some(leaf), None).await;
    assert_eq!(own(&app, &grace).await, sorted(vec![&named, &ends, &below]));
    app.delete(&format!("/role-assignments/{assignment}")).by(&ada).send().await.no_content();
    app.assign(&ada, &grace.user, "HELD", Some(root), None).await;
    assert_eq!(own(&app, &grace).await, sorted(vec![&named, &ends, &above, &below]));
    app.assign(&ada, &grace.user, "HELD", None, None).await;
    assert_eq!(own(&app, &grace).await, sorted(vec![&named, &ends, &of_holders, &above, &below]));
    app.pass(TimeDelta::minutes(5));
    assert_eq!(own(&app, &grace).await, sorted(vec![&named, &of_holders, &above, &below]));
    let key = app.key(&grace, &grace.user, &json!({})).await;
    let refused = app.get("/auth/eligibilities").bearer(text(&key)).send().await;
    assert!(refused.detail("forbidden").contains("api key"));
}

async fn a_list_shows_those_in_the_callers_organizations(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let [root, leaf] = app.chain(&ada, "place").await;
    let other = app.organization(&ada, "other").await;
    let mut made = Vec::new();
    for place in [None, Some(root), Some(leaf), Some(other)] {
        app.pass(TimeDelta::milliseconds(1));
        let body = json!({ "roleId": role, "userId": grace.user, "organizationId": place });
        made.push(app.eligibility(&ada, &body).await);
    }
    let [tenant_wide, above, below, beside] = [0, 1, 2, 3].map(|number: usize| made[number].clone());
    let list = async |by: &Person| each(&app.get("/eligibilities").by(by).send().await.ok(), "id");
    // Newest first.
    let newest: Vec<String> = made.iter().rev().cloned().collect();
    assert_eq!(list(&ada).await, newest);
    let page = app.get("/eligibilities?limit=1&page=2").by(&ada).send().await.ok();
    assert_eq!((each(&page, "id"), &page["pagination"]["total"]), (vec![below.clone()], &json!(4)));
    let mary = app.colleague_in(&ada, root, "mary@example.com", &["eligibilities:*"]).await;
    assert_eq!(list(&mary).await, [below.clone(), above.clone()]);
    read(&app, &mary, &below).await.ok();
    for hidden in [&tenant_wide, &beside] {
        for request in [
            app.get(&format!("/eligibilities/{hidden}")).by(&mary),
            app.change_eligibility(&mary, hidden, &json!({ "maxSeconds": 300 })),
            app.delete(&format!("/eligibilities/{hidden}")).by(&mary),
        ] {
            let refused = app.unrecorded(&ada, request.send()).await;
            assert!(matches!(refused.status(), 403 | 404), "{}", refused.text());
        }
    }
    app.delete(&format!("/eligibilities/{below}")).by(&mary).send().await.no_content();
    app.get("/eligibilities").by(&grace).send().await.lacks("eligibilities:read");
}

async fn with_its_user_or_its_organization_it_goes(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let branch = app.organization(&ada, "branch").await;
    let named = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    let body = json!({ "roleId": role, "userId": ada.user, "organizationId": branch });
    let there = app.eligibility(&ada, &body).await;
    // A suspension leaves it.
    app.set_status(&ada, &grace.user, "SUSPENDED").await;
    read(&app, &ada, &named).await.ok();
    app.delete(&format!("/users/{}", grace.user)).by(&ada).send().await.no_content();
    app.delete(&format!("/organizations/{branch}")).by(&ada).send().await.no_content();
    for (id, reason) in [(&named, "USER_DELETED"), (&there, "ORGANIZATION_DELETED")] {
        read(&app, &ada, id).await.problem("not-found");
        let entry = app.history(&ada, id).await.remove(0);
        says(&entry, &ada, "DELETE", "ELIGIBILITY", id);
        assert_eq!(entry["metadata"]["reason"], reason);
    }
}

async fn a_review_lists_it_and_removes_it(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let seen = app.now();
    app.pass(TimeDelta::seconds(1));
    let (made, held) = (app.now(), app.role(&ada, "HELD", &[]).await);
    let expires_at = shown(app.iam.now() + TimeDelta::days(1));
    let body = json!({ "roleId": role, "userId": grace.user, "expiresAt": expires_at });
    let named = app.eligibility(&ada, &body).await;
    let of_holders = app.eligibility(&ada, &json!({ "roleId": role, "heldRoleId": held })).await;
    let review = app.review(&ada, &json!({ "roleIds": [role] })).await;
    let path = format!("/access-reviews/{review}/items");
    let items = async || app.get(&path).by(&ada).send().await.ok()["data"].as_array().unwrap().clone();
    let item = |items: &[Value], id: &str| items.iter().find(|item| item["id"] == id).unwrap().clone();
    let frozen = items().await;
    let expected = json!({
        "id": named,
        "kind": "ELIGIBILITY",
        "userId": grace.user,
        "user": { "id": grace.user, "email": "grace@example.com" },
        "heldRoleId": null,
        "roleId": role,
        "role": { "id": role, "name": "KEEPER" },
        "organizationId": null,
        "assignmentId": null,
        "eligibilityId": named,
        "expiresAt": expires_at,
        "assignmentCreatedAt": made,
        "grantedBy": ada.user,
        "directoryGroupId": null,
        "lastLoginAt": seen,
        "decision": null,
        "reason": null,
        "decidedBy": null,
        "decidedAt": null,
        "outcome": null,
    });
    assert_eq!((frozen.len(), item(&frozen, &named)), (2, expected));
    let other = item(&frozen, &of_holders);
    assert_eq!((&other["userId"], other.get("user"), &other["heldRoleId"]), (&Value::Null, None, &json!(held)));
    app.decide(&ada, &review, &named, "KEEP").await.ok();
    app.decide(&ada, &review, &of_holders, "REVOKE").await.ok();
    app.post(&format!("/access-reviews/{review}/complete")).by(&ada).send().await.ok();
    let completed = items().await;
    assert_eq!(item(&completed, &named)["outcome"], "KEPT");
    assert_eq!(item(&completed, &of_holders)["outcome"], "REVOKED");
    read(&app, &ada, &named).await.ok();
    read(&app, &ada, &of_holders).await.problem("not-found");
    let entries = app.audit(&ada, &[("resourceId", &of_holders), ("action", "DELETE")]).await;
    assert_eq!((entries.len(), &entries[0]["metadata"]["reason"]), (1, &json!("ACCESS_REVIEW")));
}

async fn a_review_is_decided_by_others_than_those_who_may_ask(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    app.permit(&grace, &["access-reviews:*", "eligibilities:delete"]).await;
    let id = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    let review = app.review(&ada, &json!({ "roleIds": [role] })).await;
    app.unrecorded(&ada, app.decide(&grace, &review, &id, "KEEP")).await.problem("forbidden");
    app.decide(&ada, &review, &id, "REVOKE").await.ok();
    let complete = async |by: &Person| app.post(&format!("/access-reviews/{review}/complete")).by(by).send().await;
    app.unrecorded(&ada, complete(&grace)).await.problem("forbidden");
    // Each removal also needs its permission.
    let mary = app.colleague_who_may(&ada, "mary@example.com", &["access-reviews:*"]).await;
    let refused = app.unrecorded(&ada, complete(&mary)).await;
    assert_eq!(refused.fields("forbidden"), [format!("items[{id}]")]);
    app.permit(&mary, &["eligibilities:delete"]).await;
    complete(&mary).await.ok();
    read(&app, &ada, &id).await.problem("not-found");
}

async fn what_happens_to_it_is_recorded(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let id = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    app.pass(TimeDelta::milliseconds(1));
    app.change_eligibility(&ada, &id, &json!({ "maxSeconds": 600 })).send().await.ok();
    app.pass(TimeDelta::milliseconds(1));
    app.delete(&format!("/eligibilities/{id}")).by(&ada).send().await.no_content();
    let entries = app.history(&ada, &id).await;
    for (entry, action) in entries.iter().zip(["DELETE", "UPDATE", "CREATE"]) {
        says(entry, &ada, action, "ELIGIBILITY", &id);
    }
    assert_eq!(entries.len(), 3);
    let fields =
        ["approvals", "approverRoleId", "expiresAt", "heldRoleId", "maxSeconds", "organizationId", "roleId", "userId"];
    assert_eq!(members(&entries[2]["newValue"]), fields);
    assert_eq!(members(&entries[0]["oldValue"]), fields);
    let [before, after] = [json!({ "maxSeconds": 28_800 }), json!({ "maxSeconds": 600 })];
    assert_eq!((&entries[1]["oldValue"], &entries[1]["newValue"]), (&before, &after));
}

async fn another_tenant_finds_none(app: TestApp) {
    let (ada, grace, role) = fixture(&app).await;
    let id = app.eligibility(&ada, &json!({ "roleId": role, "userId": grace.user })).await;
    let eve = app.register("eve@example.net").await;
    assert_eq!(app.get("/eligibilities").by(&eve).send().await.ok()["data"], json!([]));
    assert!(own(&app, &eve).await.is_empty());
    read(&app, &eve, &id).await.problem("not-found");
}
