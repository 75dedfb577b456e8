//! Changes of groups by PATCH, as Entra ID and Okta send them (`docs/directories.md#changes`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{ids, member_ids, references};
use crate::app::TestApp;
use crate::scim::{GROUP, Staff, USER};

in_memory![
    entra_adds_and_removes_members,
    entra_changes_names,
    okta_sends_a_change_for_each_member,
    okta_renames_a_group_with_its_id_beside,
    members_are_named_by_a_filter,
    a_value_without_a_path_has_members_too,
    a_replacement_leaves_exactly_the_new_members,
    a_removal_without_values_removes_all,
    what_names_no_members_keeps_them,
    changes_of_a_message_follow_each_other,
    a_change_of_nothing_writes_nothing,
    a_member_that_is_not_there_can_be_removed,
    what_only_the_service_writes_is_not_changed,
    a_message_that_cannot_be_used_is_400,
    a_message_has_at_most_1000_changes,
    all_changes_happen_or_none,
];

/// A directory with the users Grace and Alan, and the group Sales of Grace.
async fn sales(app: &TestApp) -> (Staff<'_>, Value, [Value; 2]) {
    let staff = Staff::of(app).await;
    let [grace, alan] = [staff.made("grace", &json!({})).await, staff.made("alan", &json!({})).await];
    let group = staff.grouped("Sales", &[&grace]).await;
    (staff, group, [grace, alan])
}

/// Makes these changes. Returns the identifiers of the members afterwards.
async fn after(staff: &Staff<'_>, group: &Value, operations: &Value) -> Vec<String> {
    let changed = staff.patched(group, operations).await;
    assert_eq!(staff.shown(group).await, changed, "{operations}");
    member_ids(&changed).into_iter().map(str::to_owned).collect()
}

/// Checks that a message is refused and changes nothing. Returns the text of the error.
async fn refused(staff: &Staff<'_>, group: &Value, operations: &Value, scim_type: &str) -> String {
    let before = staff.shown(group).await;
    let answer = staff.app.unrecorded(&staff.ada, staff.patch(group, operations).send()).await;
    assert_eq!(staff.shown(group).await, before);
    answer.refused(400, Some(scim_type))
}

async fn entra_adds_and_removes_members(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    let change = |op: &str, users: &[&Value]| {
        let members: Vec<Value> = users.iter().map(|user| json!({ "$ref": null, "value": user["id"] })).collect();
        json!([{ "op": op, "path": "members", "value": members }])
    };
    assert_eq!(after(&staff, &group, &change("Add", &[&alan])).await, ids(&[&grace, &alan]));
    assert_eq!(after(&staff, &group, &change("Remove", &[&grace])).await, ids(&[&alan]));
    assert_eq!(after(&staff, &group, &change("Add", &[&grace, &alan])).await, ids(&[&grace, &alan]));
    assert_eq!(after(&staff, &group, &change("Remove", &[&grace, &alan])).await, ids(&[]));
}

async fn entra_changes_names(app: TestApp) {
    let (staff, group, [grace, _]) = sales(&app).await;
    app.pass(TimeDelta::seconds(1));
    let operations = json!([
        { "op": "Replace", "path": "displayName", "value": "Sales EU" },
        { "op": "Add", "path": "externalId", "value": "9c41" },
    ]);
    let changed = staff.patched(&group, &operations).await;
    assert_eq!((&changed["displayName"], &changed["externalId"]), (&json!("Sales EU"), &json!("9c41")));
    assert_eq!(member_ids(&changed), ids(&[&grace]));
    let [before, after] = [&group["meta"], &changed["meta"]];
    assert_eq!((&after["created"], &after["lastModified"]), (&before["created"], &json!(app.now())));
    let removal = json!([{ "op": "Remove", "path": "externalId" }]);
    assert_eq!(staff.patched(&group, &removal).await.get("externalId"), None);
}

async fn okta_sends_a_change_for_each_member(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    let edsger = staff.made("edsger", &json!({})).await;
    let add = |user: &Value, name: &str| {
        let member = json!({ "value": user["id"], "display": name });
        json!({ "op": "add", "path": "members", "value": [member] })
    };
    let remove = |user: &Value| json!({ "op": "remove", "path": format!("members[value eq {}]", user["id"]) });
    let operations = json!([add(&alan, "alan@example.com"), remove(&grace), add(&edsger, "edsger@example.com")]);
    assert_eq!(after(&staff, &group, &operations).await, ids(&[&alan, &edsger]));
    let all = json!([{ "op": "replace", "path": "members", "value": [{ "value": grace["id"], "display": "grace" }] }]);
    assert_eq!(after(&staff, &group, &all).await, ids(&[&grace]));
}

async fn okta_renames_a_group_with_its_id_beside(app: TestApp) {
    let (staff, group, [grace, _]) = sales(&app).await;
    let operations = json!([{ "op": "replace", "value": { "id": group["id"], "displayName": "Sales EU" } }]);
    let changed = staff.patched(&group, &operations).await;
    assert_eq!((&changed["id"], &changed["displayName"]), (&group["id"], &json!("Sales EU")));
    assert_eq!(member_ids(&changed), ids(&[&grace]));
}

async fn members_are_named_by_a_filter(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    let (one, other) = (&grace["id"], &alan["id"]);
    for (op, path, expected) in [
        // A filter that selects no member describes the one that is made.
        ("add", format!("members[value eq {other}]"), ids(&[&grace, &alan])),
        ("REMOVE", format!("MEMBERS[VALUE EQ {one}]"), ids(&[&alan])),
        ("add", format!("members[value eq {one}].value"), ids(&[&grace, &alan])),
        ("remove", format!("members[value eq {one} or value eq {other}]"), ids(&[])),
    ] {
        let operations = json!([{ "op": op, "path": path, "value": {} }]);
        assert_eq!(after(&staff, &group, &operations).await, expected, "{op} {path}");
    }
}

async fn a_value_without_a_path_has_members_too(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    for (op, value, expected) in [
        ("add", json!({ "members": references(&[&alan]) }), ids(&[&grace, &alan])),
        ("replace", json!({ "members": references(&[&alan]), "title": "x" }), ids(&[&alan])),
        ("add", json!({ format!("{GROUP}:members"): references(&[&grace]) }), ids(&[&grace, &alan])),
        ("replace", json!({ "members": [] }), ids(&[])),
    ] {
        let operations = json!([{ "op": op, "value": value }]);
        assert_eq!(after(&staff, &group, &operations).await, expected, "{op} {value}");
    }
    let names = json!({ format!("{GROUP}:displayName"): "Sales EU", "EXTERNALID": "9c41" });
    let changed = staff.patched(&group, &json!([{ "op": "replace", "value": names }])).await;
    assert_eq!((&changed["displayName"], &changed["externalId"]), (&json!("Sales EU"), &json!("9c41")));
}

async fn a_replacement_leaves_exactly_the_new_members(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    for (users, expected) in [
        (references(&[&alan]), ids(&[&alan])),
        (references(&[&grace, &alan]), ids(&[&grace, &alan])),
        (json!({ "value": grace["id"] }), ids(&[&grace])),
        (json!([alan["id"], alan["id"]]), ids(&[&alan])),
        (json!([]), ids(&[])),
        (references(&[&grace]), ids(&[&grace])),
        (Value::Null, ids(&[])),
    ] {
        let operations = json!([{ "op": "replace", "path": "members", "value": users }]);
        assert_eq!(after(&staff, &group, &operations).await, expected, "{users}");
    }
}

async fn a_removal_without_values_removes_all(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    for operation in
        [json!({ "op": "remove", "path": "members" }), json!({ "op": "Remove", "path": "members", "value": null })]
    {
        let all = json!([{ "op": "replace", "path": "members", "value": references(&[&grace, &alan]) }]);
        staff.patched(&group, &all).await;
        assert_eq!(after(&staff, &group, &json!([operation])).await, ids(&[]));
    }
}

/// Other services lost the members of groups in this way.
async fn what_names_no_members_keeps_them(app: TestApp) {
    let (staff, group, [grace, _]) = sales(&app).await;
    for operation in [
        json!({ "op": "Replace", "path": "displayName", "value": "Sales EU" }),
        json!({ "op": "replace", "value": { "displayName": "Sales", "members": null } }),
        json!({ "op": "add", "path": "members", "value": [] }),
        json!({ "op": "remove", "path": "members", "value": [] }),
        json!({ "op": "remove", "path": format!("members[value eq {}].display", grace["id"]) }),
        json!({ "op": "replace", "path": format!("members[value eq {}].type", grace["id"]), "value": "User" }),
        json!({ "op": "replace", "path": "description", "value": "x" }),
    ] {
        assert_eq!(after(&staff, &group, &json!([operation])).await, ids(&[&grace]), "{operation}");
    }
}

async fn changes_of_a_message_follow_each_other(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    let one = |op: &str, user: &Value| json!({ "op": op, "path": "members", "value": references(&[user]) });
    for (operations, expected) in [
        (json!([one("add", &alan), one("remove", &alan)]), ids(&[&grace])),
        (json!([one("remove", &grace), one("add", &grace)]), ids(&[&grace])),
        (json!([{ "op": "remove", "path": "members" }, one("add", &alan)]), ids(&[&alan])),
        (json!([one("replace", &grace), one("add", &alan), one("remove", &grace)]), ids(&[&alan])),
    ] {
        assert_eq!(after(&staff, &group, &operations).await, expected, "{operations}");
    }
}

async fn a_change_of_nothing_writes_nothing(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    app.pass(TimeDelta::seconds(1));
    let operations = json!([
        { "op": "Add", "path": "members", "value": references(&[&grace]) },
        { "op": "Remove", "path": "members", "value": references(&[&alan]) },
        { "op": "replace", "value": { "id": group["id"], "displayName": "Sales" } },
        { "op": "remove", "path": "externalId" },
        { "op": "replace", "path": "members", "value": references(&[&grace]) },
    ]);
    assert_eq!(app.unrecorded(&staff.ada, staff.patched(&group, &operations)).await, group);
}

/// A directory may remove a user whom it has deleted before, or whom it never made.
async fn a_member_that_is_not_there_can_be_removed(app: TestApp) {
    let (staff, group, [_, alan]) = sales(&app).await;
    staff.delete(&super::path(&alan)).send().await.no_content();
    for stranger in [alan["id"].clone(), json!(staff.ada.user), json!("77c")] {
        let operations = json!([{ "op": "Remove", "path": "members", "value": [{ "value": stranger }] }]);
        assert_eq!(app.unrecorded(&staff.ada, staff.patched(&group, &operations)).await, group, "{stranger}");
    }
}

async fn what_only_the_service_writes_is_not_changed(app: TestApp) {
    let (staff, group, _) = sales(&app).await;
    for path in ["id", "meta.created", "schemas"] {
        refused(&staff, &group, &json!([{ "op": "replace", "path": path, "value": "x" }]), "mutability").await;
    }
    let operations = json!([{ "op": "replace", "value": { "id": "x", "meta": {}, "displayName": "Sales EU" } }]);
    let changed = staff.patched(&group, &operations).await;
    assert_eq!((&changed["id"], &changed["displayName"]), (&group["id"], &json!("Sales EU")));
}

async fn a_message_that_cannot_be_used_is_400(app: TestApp) {
    let (staff, group, _) = sales(&app).await;
    for (operations, scim_type) in [
        (json!([]), "invalidSyntax"),
        (json!({}), "invalidSyntax"),
        (json!([{ "op": "move", "path": "members" }]), "invalidSyntax"),
        (json!([{ "op": "remove" }]), "noTarget"),
        (json!([{ "op": "remove", "path": "no path" }]), "invalidPath"),
        (json!([{ "op": "remove", "path": "members[value eq" }]), "invalidPath"),
        (json!([{ "op": "remove", "path": "members[display eq \"x\"]" }]), "invalidPath"),
        (json!([{ "op": "remove", "path": "members[not (value eq \"x\")]" }]), "invalidPath"),
        (json!([{ "op": "replace", "path": "displayName[value eq \"x\"]", "value": "x" }]), "invalidPath"),
        (json!([{ "op": "replace", "path": format!("{USER}:displayName"), "value": "x" }]), "invalidPath"),
        (json!([{ "op": "remove", "path": "displayName" }]), "invalidValue"),
        (json!([{ "op": "replace", "path": "displayName", "value": "" }]), "invalidValue"),
        (json!([{ "op": "replace", "path": "externalId", "value": 7 }]), "invalidValue"),
        (json!([{ "op": "add", "path": "members" }]), "invalidValue"),
        (json!([{ "op": "add", "path": "members", "value": [{ "display": "x" }] }]), "invalidValue"),
        (json!([{ "op": "replace", "value": "x" }]), "invalidValue"),
    ] {
        refused(&staff, &group, &operations, scim_type).await;
    }
}

async fn a_message_has_at_most_1000_changes(app: TestApp) {
    let (staff, group, [grace, _]) = sales(&app).await;
    let add = json!({ "op": "add", "path": "members", "value": references(&[&grace]) });
    let changes = |count: usize| Value::Array(vec![add.clone(); count]);
    assert_eq!(staff.patched(&group, &changes(1_000)).await, group);
    staff.patch(&group, &changes(1_001)).send().await.refused(413, None);
}

async fn all_changes_happen_or_none(app: TestApp) {
    let (staff, group, [grace, alan]) = sales(&app).await;
    let operations = json!([
        { "op": "replace", "path": "displayName", "value": "Sales EU" },
        { "op": "add", "path": "members", "value": references(&[&alan]) },
        { "op": "remove", "path": "members", "value": references(&[&grace]) },
        { "op": "add", "path": "members", "value": [{ "value": "77c" }] },
    ]);
    refused(&staff, &group, &operations, "invalidValue").await;
}
