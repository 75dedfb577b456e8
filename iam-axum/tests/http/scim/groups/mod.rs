//! Groups of directories (`docs/directories.md#groups`).

mod abuse;
mod mapped;
mod patch;
mod query;
mod race;

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{GROUP, Staff, path, said};
use crate::app::TestApp;
use crate::people::with;
use crate::request::{Request, members};

in_memory![
    a_group_is_made_as_entra_sends_it,
    a_group_is_made_as_okta_sends_it,
    names_of_attributes_have_no_case_and_unknown_ones_are_ignored,
    a_group_shows_its_members,
    a_name_that_another_group_has_is_409_and_named,
    members_are_present_users_of_the_directory,
    a_group_in_a_group_is_400,
    a_value_that_cannot_be_used_is_400,
    put_replaces_what_was_said,
    a_group_that_is_sent_back_as_it_was_shown_changes_nothing,
    a_deleted_group_is_404_and_its_name_is_free,
    a_user_leaves_its_groups_when_it_is_deleted,
    groups_outside_of_the_directory_are_404,
    each_request_needs_a_permission_of_the_account,
    the_body_of_a_group_has_1_mib_at_most,
    a_request_changes_1000_members_at_most,
    each_group_has_its_address_and_its_tag,
    the_tag_changes_whenever_the_group_changes,
    a_change_needs_the_version_that_it_names,
    a_group_that_the_directory_has_is_304,
    entries_name_the_directory_and_the_numbers_of_members,
    an_administrator_sees_which_requests_were_refused,
];

impl<'a> Staff<'a> {
    fn post_group(&self, body: &Value) -> Request<'a> {
        self.write(Method::POST, "/Groups", body)
    }

    /// Makes a group of these users.
    async fn grouped(&self, name: &str, users: &[&Value]) -> Value {
        let body = json!({ "displayName": name, "members": references(users) });
        self.post_group(&body).send().await.scim(201)
    }

    /// The path of a group for administrators.
    fn administered(&self, group: &Value) -> String {
        format!("/directories/{}/groups/{}", self.directory, group["id"].as_str().unwrap())
    }

    /// A request of the administrator that maps a group to these roles.
    fn map(&self, group: &Value, grants: &Value) -> Request<'a> {
        let path = format!("{}/grants", self.administered(group));
        self.app.put(&path).by(&self.ada).json(&json!({ "grants": grants }))
    }

    /// The role assignments of a user.
    async fn roles_of(&self, user: &Value) -> Vec<Value> {
        let path = format!("/users/{}/roles", user["id"].as_str().unwrap());
        self.app.get(&path).by(&self.ada).send().await.ok()["data"].as_array().unwrap().clone()
    }
}

/// The members of a body: these users.
fn references(users: &[&Value]) -> Value {
    users.iter().map(|user| json!({ "value": user["id"] })).collect()
}

/// The identifiers of the members that an answer shows, in their order.
fn member_ids(group: &Value) -> Vec<&str> {
    group["members"].as_array().unwrap().iter().map(|member| member["value"].as_str().unwrap()).collect()
}

/// The identifiers of users, in the order in which a group shows its members.
fn ids<'v>(users: &[&'v Value]) -> Vec<&'v str> {
    let mut ids: Vec<&str> = users.iter().map(|user| user["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// A group that does not exist, but with this identifier.
fn unknown(id: &Value) -> Value {
    json!({ "id": id, "meta": { "resourceType": "Group" } })
}

/// The body with which Entra ID makes a group. It has no members: they are added afterwards.
fn by_entra() -> Value {
    json!({
        "schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
        "externalId": "9c41",
        "displayName": "Sales",
        "meta": { "resourceType": "Group" },
    })
}

async fn a_group_is_made_as_entra_sends_it(app: TestApp) {
    let staff = Staff::of(&app).await;
    let answer = staff.post_group(&by_entra()).send().await;
    let group = answer.scim(201);
    let location = format!("http://localhost/scim/v2/Groups/{}", group["id"].as_str().unwrap());
    let expected = json!({
        "schemas": [GROUP],
        "id": group["id"],
        "externalId": "9c41",
        "displayName": "Sales",
        "members": [],
        "meta": {
            "resourceType": "Group",
            "created": app.now(),
            "lastModified": app.now(),
            "location": location,
            "version": answer.header("etag").unwrap(),
        },
    });
    assert_eq!(group, expected);
    assert_eq!(answer.header("location"), Some(location.as_str()));
    assert_eq!(staff.shown(&group).await, group);
    let find = staff.get("/Groups?excludedAttributes=members").query("filter", r#"displayName eq "Sales""#);
    let mut found = group.clone();
    found.as_object_mut().unwrap().remove("members");
    assert_eq!(find.send().await.scim(200)["Resources"], json!([found]));
}

async fn a_group_is_made_as_okta_sends_it(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    let find = || staff.get("/Groups?startIndex=1&count=100").query("filter", r#"displayName eq "Sales""#);
    assert_eq!(find().send().await.scim(200)["totalResults"], 0);
    let members = json!([{ "value": grace["id"], "display": "grace@example.com" }]);
    let body = json!({ "schemas": [GROUP], "displayName": "Sales", "members": members });
    let group = staff.post_group(&body).send().await.scim(201);
    assert_eq!(member_ids(&group), ids(&[&grace]));
    assert_eq!(find().send().await.scim(200)["Resources"], json!([group]));
}

async fn names_of_attributes_have_no_case_and_unknown_ones_are_ignored(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    let body = json!({
        "schemas": ["urn:scim:schemas:core:1.0"],
        "DISPLAYNAME": "Sales",
        "externalid": "9c41",
        "Members": [{ "VALUE": grace["id"], "display": "Grace", "$ref": null }, grace["id"]],
        "description": "Sells",
        "urn:example:Own": { "displayName": "Other" },
    });
    let group = staff.post_group(&body).send().await.scim(201);
    assert_eq!((&group["displayName"], &group["externalId"]), (&json!("Sales"), &json!("9c41")));
    assert_eq!(member_ids(&group), ids(&[&grace]));
    assert_eq!(members(&said(group)), ["displayName", "externalId", "id", "members", "schemas"]);
}

async fn a_group_shows_its_members(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    // A suspended user can be a member, and stays one.
    let alan = staff.made("alan", &json!({ "active": false })).await;
    let group = staff.grouped("Sales", &[&alan, &grace]).await;
    let expected: Value = ids(&[&alan, &grace])
        .iter()
        .map(|id| json!({ "value": id, "$ref": format!("http://localhost/scim/v2/Users/{id}"), "type": "User" }))
        .collect();
    assert_eq!(group["members"], expected);
    let activity = json!([{ "op": "replace", "path": "active", "value": false }]);
    staff.patched(&grace, &activity).await;
    assert_eq!(staff.shown(&group).await["members"], expected);
}

async fn a_name_that_another_group_has_is_409_and_named(app: TestApp) {
    let staff = Staff::of(&app).await;
    staff.grouped("Sales", &[]).await;
    let support = staff.grouped("Support", &[]).await;
    let body = json!({ "displayName": "SALES", "externalId": "9c41" });
    let operations = json!([{ "op": "replace", "value": body }]);
    for request in [staff.post_group(&body), staff.put(&support, &body), staff.patch(&support, &operations)] {
        let answer = app.unrecorded(&staff.ada, request.send()).await;
        let detail = answer.refused(409, Some("uniqueness"));
        assert!(detail.starts_with("displayName: "), "{detail}");
    }
    assert_eq!(staff.shown(&support).await, support);
    // Its own name in another case is free, and so is each name in another directory.
    staff.put(&support, &json!({ "displayName": "SUPPORT" })).send().await.scim(200);
    let beside = Staff::at(&app, &staff.ada, &["users:*"], &json!({})).await;
    beside.grouped("Sales", &[]).await;
    // An external identifier is that of the directory alone, and several groups may have it.
    for name in ["One", "Two"] {
        let body = json!({ "displayName": name, "externalId": "9c41" });
        staff.post_group(&body).send().await.scim(201);
    }
}

async fn members_are_present_users_of_the_directory(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    let [gone, removed] = [staff.made("gone", &json!({})).await, staff.made("removed", &json!({})).await];
    staff.delete(&path(&gone)).send().await.no_content();
    let removal = app.delete(&format!("/users/{}", removed["id"].as_str().unwrap())).by(&staff.ada);
    removal.send().await.no_content();
    let beside = Staff::at(&app, &staff.ada, &["users:*"], &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    for stranger in [
        gone["id"].clone(),
        removed["id"].clone(),
        beside.made("alan", &json!({})).await["id"].clone(),
        json!(staff.ada.user),
        json!(staff.account),
        json!(staff.ada.tenant),
        group["id"].clone(),
        json!("77c"),
        json!("grace"),
    ] {
        let members = json!([{ "value": grace["id"] }, { "value": stranger }]);
        let body = json!({ "displayName": "Other", "members": members });
        let operations = json!([
            { "op": "replace", "path": "displayName", "value": "Other" },
            { "op": "Add", "path": "members", "value": members },
        ]);
        for request in [staff.post_group(&body), staff.put(&group, &body), staff.patch(&group, &operations)] {
            let answer = app.unrecorded(&staff.ada, request.send()).await;
            let detail = answer.refused(400, Some("invalidValue"));
            assert!(detail.starts_with("members"), "{stranger}: {detail}");
        }
    }
    assert_eq!(staff.shown(&group).await, group);
}

async fn a_group_in_a_group_is_400(app: TestApp) {
    let staff = Staff::of(&app).await;
    let [inner, outer] = [staff.grouped("Inner", &[]).await, staff.grouped("Outer", &[]).await];
    let members = json!([{ "value": inner["id"], "type": "Group", "$ref": inner["meta"]["location"] }]);
    let body = json!({ "displayName": "Outer", "members": members });
    let operations = json!([{ "op": "add", "path": "members", "value": members }]);
    for request in [staff.put(&outer, &body), staff.patch(&outer, &operations)] {
        let detail = app.unrecorded(&staff.ada, request.send()).await.refused(400, Some("invalidValue"));
        assert!(detail.contains("groups in groups"), "{detail}");
    }
}

async fn a_value_that_cannot_be_used_is_400(app: TestApp) {
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    for (body, name) in [
        (json!({}), "displayName"),
        (json!({ "displayName": null }), "displayName"),
        (json!({ "displayName": "" }), "displayName"),
        (json!({ "displayName": " " }), "displayName"),
        (json!({ "displayName": "x".repeat(256) }), "displayName"),
        (json!({ "displayName": ["Sales"] }), "displayName"),
        (json!({ "displayName": "Sales", "externalId": "" }), "externalId"),
        (json!({ "displayName": "Sales", "externalId": "x".repeat(256) }), "externalId"),
        (json!({ "displayName": "Sales", "members": [{ "display": "grace" }] }), "members.value"),
        (json!({ "displayName": "Sales", "members": [{ "value": 7 }] }), "members.value"),
    ] {
        for request in [staff.post_group(&body), staff.put(&group, &body)] {
            let detail = app.unrecorded(&staff.ada, request.send()).await.refused(400, Some("invalidValue"));
            assert!(detail.starts_with(name), "{body}: {detail}");
        }
    }
}

async fn put_replaces_what_was_said(app: TestApp) {
    let staff = Staff::of(&app).await;
    let [grace, alan] = [staff.made("grace", &json!({})).await, staff.made("alan", &json!({})).await];
    let members = references(&[&grace, &alan]);
    let body = json!({ "displayName": "Sales", "externalId": "9c41", "members": members });
    let group = staff.post_group(&body).send().await.scim(201);
    let put = async |body: Value| {
        let replaced = staff.put(&group, &body).send().await.scim(200);
        assert_eq!(staff.shown(&group).await, replaced);
        replaced
    };
    // A group without `members` keeps them. Everything else that it lacks is removed.
    for members in [json!({}), json!({ "members": null })] {
        let replaced = put(with(json!({ "displayName": "Sales EU" }), &members)).await;
        assert_eq!((&replaced["displayName"], replaced.get("externalId")), (&json!("Sales EU"), None));
        assert_eq!(member_ids(&replaced), ids(&[&grace, &alan]));
    }
    let replaced = put(json!({ "displayName": "Sales", "members": references(&[&alan]) })).await;
    assert_eq!(member_ids(&replaced), ids(&[&alan]));
    let replaced = put(json!({ "displayName": "Sales", "members": references(&[&grace]) })).await;
    assert_eq!(member_ids(&replaced), ids(&[&grace]));
    assert_eq!(put(json!({ "displayName": "Sales", "members": [] })).await["members"], json!([]));
}

/// Okta reads a group and sends it back, with what it adds.
async fn a_group_that_is_sent_back_as_it_was_shown_changes_nothing(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    let group =
        staff.post_group(&with(by_entra(), &json!({ "members": references(&[&grace]) }))).send().await.scim(201);
    app.pass(TimeDelta::seconds(1));
    let mut body = group.clone();
    body["members"][0]["display"] = json!("grace@example.com");
    let answer = app.unrecorded(&staff.ada, staff.put(&group, &body).send()).await;
    assert_eq!(answer.scim(200), group);
}

async fn a_deleted_group_is_404_and_its_name_is_free(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    staff.delete(&path(&group)).send().await.no_content();
    let operations = json!([{ "op": "replace", "path": "displayName", "value": "Other" }]);
    for request in [
        staff.get(&path(&group)),
        staff.put(&group, &json!({ "displayName": "Other" })),
        staff.patch(&group, &operations),
        staff.delete(&path(&group)),
    ] {
        assert_eq!(request.send().await.refused(404, None), "Directory group not found.");
    }
    assert_eq!(staff.get("/Groups").send().await.scim(200)["totalResults"], 0);
    let again = staff.grouped("Sales", &[]).await;
    assert_ne!(again["id"], group["id"]);
    assert_eq!(again["members"], json!([]));
    staff.assert_status(&grace, "ACTIVE").await;
}

async fn a_user_leaves_its_groups_when_it_is_deleted(app: TestApp) {
    let staff = Staff::of(&app).await;
    let [grace, alan] = [staff.made("grace", &json!({})).await, staff.made("alan", &json!({})).await];
    let group = staff.grouped("Sales", &[&grace, &alan]).await;
    staff.delete(&path(&grace)).send().await.no_content();
    let left = staff.shown(&group).await;
    assert_eq!(member_ids(&left), ids(&[&alan]));
    assert_ne!(left["meta"]["version"], group["meta"]["version"]);
    // By an administrator, too.
    app.delete(&format!("/users/{}", alan["id"].as_str().unwrap())).by(&staff.ada).send().await.no_content();
    assert_eq!(staff.shown(&group).await["members"], json!([]));
    // A user who comes back is in no group.
    let back = staff.made("grace", &json!({})).await;
    assert_eq!(back["id"], grace["id"]);
    assert_eq!(staff.shown(&group).await["members"], json!([]));
}

async fn groups_outside_of_the_directory_are_404(app: TestApp) {
    let staff = Staff::of(&app).await;
    let eve = app.register("eve@other.example").await;
    let beside = Staff::at(&app, &staff.ada, &["users:*"], &json!({})).await;
    let elsewhere = Staff::at(&app, &eve, &["users:*"], &json!({})).await;
    let ids = [
        beside.grouped("Sales", &[]).await["id"].clone(),
        elsewhere.grouped("Sales", &[]).await["id"].clone(),
        staff.made("grace", &json!({})).await["id"].clone(),
        json!(staff.directory),
        json!(staff.ada.tenant),
        json!("77c"),
        json!("%F0"),
    ];
    for group in ids.map(|id| unknown(&id)) {
        let operations = json!([{ "op": "replace", "path": "displayName", "value": "Other" }]);
        for request in [
            staff.get(&path(&group)),
            staff.put(&group, &json!({ "displayName": "Other" })),
            staff.patch(&group, &operations),
            staff.delete(&path(&group)),
        ] {
            let answer = app.unrecorded(&staff.ada, request.send()).await;
            assert_eq!(answer.refused(404, None), "Directory group not found.", "{group}");
        }
    }
    assert_eq!(staff.get("/Groups").send().await.scim(200)["totalResults"], 0);
}

async fn each_request_needs_a_permission_of_the_account(app: TestApp) {
    let ada = app.register("ada@other.example").await;
    for missing in ["users:read", "users:update"] {
        let held: Vec<&str> = ["users:create", "users:read", "users:update", "users:delete"]
            .into_iter()
            .filter(|permission| *permission != missing)
            .collect();
        let staff = Staff::at(&app, &ada, &held, &json!({})).await;
        let group = unknown(&json!(ada.tenant));
        let operations = json!([{ "op": "replace", "path": "displayName", "value": "Other" }]);
        for (needed, request) in [
            ("users:update", staff.post_group(&json!({ "displayName": "Sales" }))),
            ("users:read", staff.get("/Groups")),
            ("users:read", staff.get(&path(&group))),
            ("users:read", staff.write(Method::POST, "/Groups/.search", &json!({}))),
            ("users:update", staff.put(&group, &json!({ "displayName": "Other" }))),
            ("users:update", staff.patch(&group, &operations)),
            ("users:update", staff.delete(&path(&group))),
        ] {
            let answer = request.send().await;
            if needed == missing {
                assert_eq!(answer.refused(403, None), format!("Missing permission: {missing}."));
            } else {
                assert_ne!(answer.status(), 403, "{missing}: {}", answer.text());
            }
        }
    }
    // A change is made, also by an account that may not read. It does not see the members.
    let staff = Staff::at(&app, &ada, &["users:create", "users:update"], &json!({})).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    let changed = staff.put(&group, &json!({ "displayName": "Sales", "members": [] })).send().await.scim(200);
    for shown in [&group, &changed] {
        assert_eq!(members(shown), ["displayName", "id", "meta", "schemas"]);
    }
}

async fn the_body_of_a_group_has_1_mib_at_most(app: TestApp) {
    const MAX: usize = 1024 * 1024;
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    let padded = |mut body: Value, size: usize| {
        body["padding"] = json!("");
        let rest = size - body.to_string().len();
        body["padding"] = json!("x".repeat(rest));
        assert_eq!(body.to_string().len(), size);
        body
    };
    let resource = json!({ "displayName": "Sales" });
    let message = json!({ "Operations": [{ "op": "replace", "value": { "displayName": "Sales" } }] });
    let at = path(&group);
    for (method, path, body) in [(Method::PUT, at.as_str(), &resource), (Method::PATCH, at.as_str(), &message)] {
        staff.write(method, path, &padded(body.clone(), MAX)).send().await.scim(200);
    }
    for (method, path, body) in [
        (Method::POST, "/Groups", &resource),
        (Method::PUT, at.as_str(), &resource),
        (Method::PATCH, at.as_str(), &message),
    ] {
        let answer = staff.write(method, path, &padded(body.clone(), MAX + 1)).send().await;
        assert_eq!(answer.refused(413, None), "The body of a group may have 1 MiB at most.");
    }
    // All other bodies are smaller.
    for path in ["/Users", "/Groups/.search", "/.search"] {
        let answer = staff.write(Method::POST, path, &padded(json!({}), 256 * 1024 + 1)).send().await;
        answer.refused(413, None);
    }
}

/// It is refused before the members are looked up.
async fn a_request_changes_1000_members_at_most(app: TestApp) {
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    let members = |count: usize| -> Value {
        (0..count).map(|number| json!({ "value": format!("01a1fdcb-0000-7000-8000-{number:012x}") })).collect()
    };
    for (count, status, scim_type) in [(1_001, 413, None), (1_000, 400, Some("invalidValue"))] {
        let body = json!({ "displayName": "Other", "members": members(count) });
        let operations = json!([{ "op": "add", "path": "members", "value": members(count) }]);
        for request in [staff.post_group(&body), staff.put(&group, &body), staff.patch(&group, &operations)] {
            app.unrecorded(&staff.ada, request.send()).await.refused(status, scim_type);
        }
    }
}

async fn each_group_has_its_address_and_its_tag(app: TestApp) {
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    let operations = json!([{ "op": "replace", "path": "externalId", "value": "9c41" }]);
    for request in [
        staff.post_group(&json!({ "displayName": "Support" })),
        staff.get(&path(&group)),
        staff.put(&group, &json!({ "displayName": "Sales EU" })),
        staff.patch(&group, &operations),
    ] {
        let answer = request.header("host", "iam.example").send().await;
        let shown = answer.scim(if answer.status() == 201 { 201 } else { 200 });
        let location = format!("http://iam.example/scim/v2/Groups/{}", shown["id"].as_str().unwrap());
        assert_eq!(answer.header("location"), Some(location.as_str()));
        assert_eq!(shown["meta"]["location"], location);
        assert_eq!(answer.header("etag"), shown["meta"]["version"].as_str());
        assert!(answer.header("etag").unwrap().starts_with("W/\""), "{shown}");
    }
}

async fn the_tag_changes_whenever_the_group_changes(app: TestApp) {
    let staff = Staff::of(&app).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[]).await;
    let role = app.role(&staff.ada, "CLERK", &[]).await;
    let mut seen = vec![group["meta"]["version"].clone()];
    let add = json!([{ "op": "add", "path": "members", "value": references(&[&grace]) }]);
    let rename = json!([{ "op": "replace", "path": "displayName", "value": "Sales EU" }]);
    for operations in [&add, &rename] {
        let changed = staff.patched(&group, operations).await;
        assert_eq!(staff.shown(&group).await["meta"]["version"], changed["meta"]["version"]);
        assert!(!seen.contains(&changed["meta"]["version"]), "{changed}");
        seen.push(changed["meta"]["version"].clone());
    }
    app.pass(TimeDelta::seconds(1));
    staff.map(&group, &json!([{ "roleId": role }])).send().await.ok();
    let mapped = staff.shown(&group).await;
    assert!(!seen.contains(&mapped["meta"]["version"]), "{mapped}");
    assert_eq!(mapped["meta"]["lastModified"], app.now());
}

async fn a_change_needs_the_version_that_it_names(app: TestApp) {
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    let operations = json!([{ "op": "replace", "path": "displayName", "value": "Sales" }]);
    let body = json!({ "displayName": "Sales" });
    let changes = || [staff.patch(&group, &operations), staff.put(&group, &body), staff.delete(&path(&group))];
    let stale = group["meta"]["version"].as_str().unwrap();
    staff.patched(&group, &json!([{ "op": "add", "path": "externalId", "value": "9c41" }])).await;
    for seen in [stale, "\"other\"", "other", ""] {
        for change in changes() {
            let answer = app.unrecorded(&staff.ada, change.header("if-match", seen).send()).await;
            answer.refused(412, None);
        }
    }
    let current = || async { staff.shown(&group).await["meta"]["version"].as_str().unwrap().to_owned() };
    for seen in [current().await, current().await.replace("W/", ""), "*".to_owned()] {
        let body = json!({ "displayName": "Sales", "externalId": "9c41" });
        staff.put(&group, &body).header("if-match", &seen).send().await.scim(200);
    }
    for change in changes() {
        let seen = format!("{stale}, {}", current().await);
        let answer = change.header("if-match", &seen).send().await;
        assert!(matches!(answer.status(), 200 | 204), "{}", answer.text());
    }
}

async fn a_group_that_the_directory_has_is_304(app: TestApp) {
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    let version = group["meta"]["version"].as_str().unwrap();
    for seen in [version, &version.replace("W/", ""), "*", &format!("\"other\", {version}")] {
        let answer = staff.get(&path(&group)).header("if-none-match", seen).send().await;
        assert_eq!((answer.status(), answer.header("etag"), answer.text()), (304, Some(version), String::new()));
    }
    staff.get(&path(&group)).header("if-none-match", "\"other\"").send().await.scim(200);
}

async fn entries_name_the_directory_and_the_numbers_of_members(app: TestApp) {
    let staff = Staff::of(&app).await;
    let [grace, alan] = [staff.made("grace", &json!({})).await, staff.made("alan", &json!({})).await];
    let group = staff.grouped("Sales", &[&grace]).await;
    let exchange = json!([
        { "op": "remove", "path": "members", "value": references(&[&grace]) },
        { "op": "add", "path": "members", "value": references(&[&alan]) },
    ]);
    staff.patched(&group, &exchange).await;
    staff.delete(&path(&group)).send().await.no_content();
    let entries = app.history(&staff.ada, group["id"].as_str().unwrap()).await;
    let actions: Vec<&str> = entries.iter().rev().map(|entry| entry["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["CREATE", "UPDATE", "DELETE"]);
    for entry in &entries {
        let metadata = &entry["metadata"];
        assert_eq!([&metadata["directoryId"], &metadata["apiKeyId"]], [&staff.directory, &staff.key_id], "{entry}");
        assert_eq!((&entry["resourceType"], &entry["userId"]), (&json!("DIRECTORY_GROUP"), &json!(staff.account)));
        // No entry names a member.
        assert!(!entry.to_string().contains(grace["id"].as_str().unwrap()), "{entry}");
    }
    let fields = json!({ "displayName": "Sales", "externalId": null, "members": 1, "grants": [] });
    assert_eq!([&entries[2]["newValue"], &entries[0]["oldValue"]], [&fields, &fields]);
    let metadata = &entries[1]["metadata"];
    assert_eq!([&metadata["membersAdded"], &metadata["membersRemoved"]], [&json!(1), &json!(1)]);
}

async fn an_administrator_sees_which_requests_were_refused(app: TestApp) {
    let staff = Staff::of(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    assert_eq!(staff.of_administrator().await["lastRequestAt"], app.now());
    for request in [
        staff.post_group(&json!({})),
        staff.patch(&group, &json!([])),
        staff.write(Method::POST, "/Groups/.search", &json!([])),
    ] {
        app.pass(TimeDelta::seconds(1));
        assert_eq!(request.send().await.status(), 400);
    }
    let refusals = staff.of_administrator().await["refusals"].as_array().unwrap().clone();
    let requests: Vec<&str> = refusals.iter().map(|refusal| refusal["request"].as_str().unwrap()).collect();
    assert_eq!(requests, ["POST /Groups/.search", "PATCH /Groups", "POST /Groups"]);
}
