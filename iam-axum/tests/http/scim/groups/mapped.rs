//! Groups that are mapped to roles: their members hold these (`docs/directories.md#what-a-group-gives`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{ids, member_ids, path, references};
use crate::app::{TestApp, shown};
use crate::people::with;
use crate::request::{each, each_sorted};
use crate::scim::Staff;

in_memory![
    members_hold_ordinary_role_assignments,
    what_a_group_gave_is_listed_as_of_then,
    a_review_shows_the_group_and_ends_the_role_but_not_the_membership,
    a_user_gets_and_loses_the_role_with_its_membership,
    a_suspended_member_keeps_the_role,
    a_deleted_group_gives_nothing,
    a_removed_directory_gives_nothing,
    changes_of_memberships_need_further_permissions,
    what_the_account_no_longer_covers_is_refused_as_a_whole,
    a_role_lasts_no_longer_than_the_right_of_the_account,
    a_role_that_was_given_by_hand_is_not_given_twice,
    a_role_stays_while_one_group_gives_it,
    a_role_of_a_group_is_409_when_it_is_changed_by_hand,
    a_mapped_role_is_not_deleted,
    the_last_administrator_stays_in_its_group,
    a_role_that_changes_protections_is_given_by_the_key,
];

const PERMISSIONS: [&str; 3] = ["users:*", "role-assignments:*", "roles:read"];

/// A directory whose account covers the role CLERK, and the group Sales of Grace, which is mapped to it.
struct Sales<'a> {
    staff: Staff<'a>,
    role: String,
    group: Value,
    grace: Value,
}

impl<'a> Sales<'a> {
    async fn of(app: &'a TestApp, permissions: &[&str]) -> Self {
        let staff = Staff::with(app, permissions, &json!({})).await;
        let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
        let grace = staff.made("grace", &json!({})).await;
        let group = staff.grouped("Sales", &[&grace]).await;
        staff.map(&group, &json!([{ "roleId": role }])).send().await.ok();
        Self { staff, role, group, grace }
    }

    /// Whether a user holds the role.
    async fn is_held_by(&self, user: &Value) -> bool {
        self.staff.roles_of(user).await.iter().any(|held| held["roleId"] == self.role)
    }

    /// The only role assignment of Grace.
    async fn held(&self) -> Value {
        let mut held = self.staff.roles_of(&self.grace).await;
        assert_eq!(held.len(), 1, "{held:?}");
        held.remove(0)
    }
}

/// The changes that make a user a member.
fn add(user: &Value) -> Value {
    json!([{ "op": "Add", "path": "members", "value": references(&[user]) }])
}

/// The changes by which a user is a member no longer.
fn remove(user: &Value) -> Value {
    json!([{ "op": "Remove", "path": "members", "value": references(&[user]) }])
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

async fn members_hold_ordinary_role_assignments(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, role, group, grace } = &sales;
    let expected = json!({
        "userId": grace["id"], "roleId": role, "organizationId": null, "expiresAt": null, "createdAt": app.now(),
        "directoryGroupId": group["id"],
    });
    let held = sales.held().await;
    assert_eq!(with(held.clone(), &expected), held);
    let listed = app.get("/role-assignments").by(&staff.ada).query("userId", id(grace)).send().await.ok();
    assert_eq!(with(listed["data"][0].clone(), &expected), listed["data"][0]);
    // Other assignments name no group.
    let own = app.get("/role-assignments").by(&staff.ada).query("userId", &staff.ada.user).send().await.ok();
    assert_eq!(own["data"][0]["directoryGroupId"], Value::Null);
    let question = json!({ "permission": "roles:read", "userId": grace["id"] });
    let decision = app.post("/authz/check").by(&staff.ada).json(&question).send().await.ok();
    assert_eq!(decision["grants"][0]["directoryGroupId"], group["id"]);
    let who = app.get("/authz/who").by(&staff.ada).query("permission", "roles:read").send().await.ok();
    let holder = who["data"].as_array().unwrap().iter().find(|holder| holder["userId"] == grace["id"]).unwrap();
    assert_eq!(holder["grants"][0]["directoryGroupId"], group["id"]);
}

async fn what_a_group_gave_is_listed_as_of_then(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, group, grace, .. } = &sales;
    let then = app.now();
    app.pass(TimeDelta::seconds(1));
    staff.patched(group, &remove(grace)).await;
    assert!(!sales.is_held_by(grace).await);
    for request in
        [app.get("/role-assignments").query("userId", id(grace)), app.get(&format!("/users/{}/roles", id(grace)))]
    {
        let list = request.by(&staff.ada).query("asOf", &then).send().await.ok();
        assert_eq!(each(&list, "directoryGroupId"), [id(group)]);
    }
    let question = json!({ "permission": "roles:read", "userId": grace["id"], "at": then });
    let decision = app.post("/authz/check").by(&staff.ada).json(&question).send().await.ok();
    assert_eq!(decision["grants"][0]["directoryGroupId"], group["id"]);
}

/// The directory gives the role again only by removing the member and adding it.
async fn a_review_shows_the_group_and_ends_the_role_but_not_the_membership(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, group, grace, .. } = &sales;
    let held = sales.held().await;
    let review = app.review(&staff.ada, &json!({ "userIds": [grace["id"]] })).await;
    let path = format!("/access-reviews/{review}/items");
    let items = app.get(&path).by(&staff.ada).send().await.ok();
    assert_eq!(each(&items, "directoryGroupId"), [id(group)]);
    let file = app.get(&path).by(&staff.ada).header("accept", "text/csv").send().await;
    assert!(file.ok_of("text/csv; charset=utf-8").contains(id(group)), "{}", file.text());
    app.decide(&staff.ada, &review, id(&held), "REVOKE").await.ok();
    app.post(&format!("/access-reviews/{review}/complete")).by(&staff.ada).send().await.ok();
    let entry = app.history(&staff.ada, id(&held)).await.swap_remove(0);
    assert_eq!((&entry["action"], &entry["metadata"]["reason"]), (&json!("ROLE_REVOKED"), &json!("ACCESS_REVIEW")));
    assert_eq!(entry["metadata"]["directoryGroupId"], group["id"]);
    assert!(!sales.is_held_by(grace).await);
    assert_eq!(member_ids(&staff.shown(group).await), ids(&[grace]));
    app.unrecorded(&staff.ada, staff.patched(group, &add(grace))).await;
    assert!(!sales.is_held_by(grace).await);
    staff.patched(group, &remove(grace)).await;
    staff.patched(group, &add(grace)).await;
    assert!(sales.is_held_by(grace).await);
}

async fn a_user_gets_and_loses_the_role_with_its_membership(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, group, grace, .. } = &sales;
    let alan = staff.made("alan", &json!({})).await;
    assert!(!sales.is_held_by(&alan).await);
    staff.patched(group, &add(&alan)).await;
    assert!(sales.is_held_by(&alan).await && sales.is_held_by(grace).await);
    let held = staff.roles_of(&alan).await.remove(0);
    let given = app.history(&staff.ada, id(&held)).await.swap_remove(0);
    assert_eq!((&given["action"], &given["userId"]), (&json!("ROLE_ASSIGNED"), &json!(staff.account)));
    let metadata = json!({
        "directoryId": staff.directory, "directoryGroupId": group["id"], "apiKeyId": staff.key_id,
        "targetUserId": alan["id"],
    });
    assert_eq!(with(given["metadata"].clone(), &metadata), given["metadata"]);
    // Another name changes nothing of it.
    let rename = json!([{ "op": "Replace", "path": "displayName", "value": "Sales EU" }]);
    staff.patched(group, &rename).await;
    assert!(sales.is_held_by(&alan).await);
    let body = json!({ "displayName": "Sales", "members": references(&[grace]) });
    staff.put(group, &body).send().await.scim(200);
    assert!(!sales.is_held_by(&alan).await && sales.is_held_by(grace).await);
    let taken = app.history(&staff.ada, id(&held)).await.swap_remove(0);
    let metadata = with(metadata, &json!({ "reason": "DIRECTORY_GROUP" }));
    assert_eq!(
        (&taken["action"], &with(taken["metadata"].clone(), &metadata)),
        (&json!("ROLE_REVOKED"), &taken["metadata"])
    );
    // A new mapping counts for all members.
    staff.patched(group, &add(&alan)).await;
    staff.map(group, &json!([])).send().await.ok();
    assert!(!sales.is_held_by(&alan).await && !sales.is_held_by(grace).await);
    staff.map(group, &json!([{ "roleId": sales.role }])).send().await.ok();
    assert!(sales.is_held_by(&alan).await && sales.is_held_by(grace).await);
}

async fn a_suspended_member_keeps_the_role(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, group, grace, .. } = &sales;
    staff.patched(grace, &json!([{ "op": "replace", "path": "active", "value": false }])).await;
    assert!(sales.is_held_by(grace).await);
    staff.patched(group, &remove(grace)).await;
    staff.patched(group, &add(grace)).await;
    assert!(sales.is_held_by(grace).await);
    // A user who is deleted leaves the group, and comes back without it.
    staff.delete(&path(grace)).send().await.no_content();
    staff.made("grace", &json!({})).await;
    assert!(!sales.is_held_by(grace).await);
}

async fn a_deleted_group_gives_nothing(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, group, grace, .. } = &sales;
    staff.delete(&path(group)).send().await.no_content();
    assert!(!sales.is_held_by(grace).await);
    app.get(&staff.administered(group)).by(&staff.ada).send().await.problem("not-found");
}

async fn a_removed_directory_gives_nothing(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, grace, .. } = &sales;
    let by_hand = app.assign(&staff.ada, id(grace), "MEMBER", None, None).await;
    let removal = app.delete(&format!("/directories/{}?users=keep", staff.directory)).by(&staff.ada);
    removal.send().await.no_content();
    let held = app.get(&format!("/users/{}/roles", id(grace))).by(&staff.ada).send().await.ok();
    assert_eq!(each_sorted(&held, "id"), [by_hand]);
}

async fn changes_of_memberships_need_further_permissions(app: TestApp) {
    let sales = Sales::of(&app, &["users:*", "roles:read"]).await;
    let Sales { staff, group, grace, .. } = &sales;
    let alan = staff.made("alan", &json!({})).await;
    let both = json!({ "displayName": "Sales", "members": references(&[grace, &alan]) });
    let none = json!({ "displayName": "Sales", "members": [] });
    for (request, missing) in [
        (staff.patch(group, &add(&alan)), "role-assignments:create"),
        (staff.put(group, &both), "role-assignments:create"),
        (staff.patch(group, &remove(grace)), "role-assignments:delete"),
        (staff.put(group, &none), "role-assignments:delete"),
        (staff.delete(&path(group)), "role-assignments:delete"),
    ] {
        let answer = app.unrecorded(&staff.ada, request.send()).await;
        assert_eq!(answer.refused(403, None), format!("Missing permission: {missing}."));
    }
    // Neither the name of the group nor a group that is not mapped asks for them.
    staff.patched(group, &json!([{ "op": "Replace", "path": "displayName", "value": "Sales EU" }])).await;
    let plain = staff.grouped("Support", &[grace]).await;
    staff.patched(&plain, &add(&alan)).await;
    staff.delete(&path(&plain)).send().await.no_content();
}

async fn what_the_account_no_longer_covers_is_refused_as_a_whole(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, role, group, grace } = &sales;
    let alan = staff.made("alan", &json!({})).await;
    let change = json!({ "permissions": ["roles:read", "sessions:read"] });
    app.patch(&format!("/roles/{role}")).by(&staff.ada).json(&change).send().await.ok();
    let operations = json!([
        { "op": "Replace", "path": "displayName", "value": "Sales EU" },
        { "op": "Remove", "path": "members", "value": references(&[grace]) },
        { "op": "Add", "path": "members", "value": references(&[&alan]) },
    ]);
    let detail = app.unrecorded(&staff.ada, staff.patch(group, &operations).send()).await.refused(403, None);
    assert!(detail.contains("service account") && detail.contains("sessions:read"), "{detail}");
    // What is held stays, and can be taken away.
    assert!(sales.is_held_by(grace).await);
    staff.patched(group, &remove(grace)).await;
    assert!(!sales.is_held_by(grace).await);
    app.role(&staff.ada, "MORE", &["sessions:read"]).await;
    app.assign(&staff.ada, &staff.account, "MORE", None, None).await;
    staff.patched(group, &add(&alan)).await;
    assert!(sales.is_held_by(&alan).await);
}

async fn a_role_lasts_no_longer_than_the_right_of_the_account(app: TestApp) {
    let staff = Staff::with(&app, &["users:*", "role-assignments:*"], &json!({})).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    let until = app.iam.now() + TimeDelta::days(1);
    app.assign(&staff.ada, &staff.account, "CLERK", None, Some(until)).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Sales", &[&grace]).await;
    staff.map(&group, &json!([{ "roleId": role }])).send().await.ok();
    assert_eq!(staff.roles_of(&grace).await[0]["expiresAt"], shown(until));
}

async fn a_role_that_was_given_by_hand_is_not_given_twice(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, group, .. } = &sales;
    let alan = staff.made("alan", &json!({})).await;
    let by_hand = app.assign(&staff.ada, id(&alan), "CLERK", None, None).await;
    staff.patched(group, &add(&alan)).await;
    let held = staff.roles_of(&alan).await;
    assert_eq!((held.len(), &held[0]["id"], &held[0]["directoryGroupId"]), (1, &json!(by_hand), &Value::Null));
    // The membership ends, and what was given by hand stays.
    staff.patched(group, &remove(&alan)).await;
    assert!(sales.is_held_by(&alan).await);
    staff.patched(group, &add(&alan)).await;
    // What was given by hand ends, and the group gives it.
    app.delete(&format!("/role-assignments/{by_hand}")).by(&staff.ada).send().await.no_content();
    let held = staff.roles_of(&alan).await;
    assert_eq!((held.len(), &held[0]["id"], &held[0]["directoryGroupId"]), (1, &json!(by_hand), &group["id"]));
    staff.patched(group, &remove(&alan)).await;
    assert!(!sales.is_held_by(&alan).await);
}

async fn a_role_stays_while_one_group_gives_it(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, role, group, grace } = &sales;
    let support = staff.grouped("Support", &[grace]).await;
    staff.map(&support, &json!([{ "roleId": role }])).send().await.ok();
    let held = sales.held().await;
    assert_eq!(held["directoryGroupId"], group["id"]);
    staff.patched(group, &remove(grace)).await;
    let after = sales.held().await;
    assert_eq!((&after["id"], &after["directoryGroupId"]), (&held["id"], &support["id"]));
    staff.delete(&path(&support)).send().await.no_content();
    assert!(!sales.is_held_by(grace).await);
}

async fn a_role_of_a_group_is_409_when_it_is_changed_by_hand(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, role, grace, .. } = &sales;
    let at = format!("/role-assignments/{}", id(&sales.held().await));
    let tomorrow = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::days(1)) });
    for request in [app.delete(&at), app.patch(&at).json(&tomorrow)] {
        let detail = app.unrecorded(&staff.ada, request.by(&staff.ada).send()).await.detail("conflict");
        assert!(detail.starts_with("a group of a directory gives this role."), "{detail}");
    }
    // Nor is it given again.
    let again = app.post("/role-assignments").json(&json!({ "userId": grace["id"], "roleId": role }));
    app.unrecorded(&staff.ada, again.by(&staff.ada).send()).await.problem("conflict");
    assert!(sales.is_held_by(grace).await);
    // A caller without the permission learns nothing of it.
    let bob = app.colleague(&staff.ada, "bob@example.com").await;
    app.delete(&at).by(&bob).send().await.lacks("role-assignments:delete");
}

async fn a_mapped_role_is_not_deleted(app: TestApp) {
    let sales = Sales::of(&app, &PERMISSIONS).await;
    let Sales { staff, role, group, grace } = &sales;
    staff.patched(group, &remove(grace)).await;
    let delete = || app.delete(&format!("/roles/{role}")).by(&staff.ada);
    app.unrecorded(&staff.ada, delete().send()).await.problem("conflict");
    let scope = app.patch(&format!("/roles/{role}")).by(&staff.ada).json(&json!({ "scope": "ORGANIZATION" }));
    app.unrecorded(&staff.ada, scope.send()).await.problem("conflict");
    staff.map(group, &json!([])).send().await.ok();
    delete().send().await.no_content();
}

async fn the_last_administrator_stays_in_its_group(app: TestApp) {
    let staff = Staff::with(&app, &["*"], &json!({})).await;
    let grace = staff.made("grace", &json!({})).await;
    let group = staff.grouped("Administrators", &[&grace]).await;
    let role = app.role_id(&staff.ada, "TENANT_ADMIN").await;
    staff.map(&group, &json!([{ "roleId": role }])).send().await.ok();
    let bob = app.colleague_who_may(&staff.ada, "bob@example.com", &["*"]).await;
    app.delete(&format!("/users/{}", staff.ada.user)).by(&bob).send().await.no_content();
    for request in [staff.patch(&group, &remove(&grace)), staff.delete(&path(&group)), staff.delete(&path(&grace))] {
        app.unrecorded(&bob, request.send()).await.refused(409, None);
    }
    let grants = app.put(&format!("{}/grants", staff.administered(&group))).by(&bob).json(&json!({ "grants": [] }));
    app.unrecorded(&bob, grants.send()).await.problem("conflict");
    let removal = app.delete(&format!("/directories/{}?users=keep", staff.directory)).by(&bob);
    app.unrecorded(&bob, removal.send()).await.problem("conflict");
}

/// The administrator who has mapped the group had authenticated for it.
async fn a_role_that_changes_protections_is_given_by_the_key(app: TestApp) {
    let staff = Staff::with(&app, &["*"], &json!({})).await;
    let role = app.role(&staff.ada, "PROTECTOR", &["tenants:update"]).await;
    let group = staff.grouped("Protectors", &[]).await;
    let grants = json!([{ "roleId": role }]);
    app.pass(TimeDelta::minutes(11));
    app.unrecorded(&staff.ada, staff.map(&group, &grants).send()).await.problem("insufficient-authentication");
    let path = format!("{}/grants", staff.administered(&group));
    let by_key = app.put(&path).bearer(&staff.key).json(&json!({ "grants": grants }));
    app.unrecorded(&staff.ada, by_key.send()).await.problem("forbidden");
    let fresh = app.login(&staff.ada).await;
    app.put(&path).by(&fresh).json(&json!({ "grants": grants })).send().await.ok();
    let grace = staff.made("grace", &json!({})).await;
    staff.patched(&group, &add(&grace)).await;
    assert_eq!(staff.roles_of(&grace).await[0]["roleId"], role);
}
