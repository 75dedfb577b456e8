//! Changes by PATCH, as Entra ID and Okta send them (`docs/directories.md#changes`).

use axum::http::Method;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{ENTERPRISE, Staff, USER, path, said};
use crate::app::TestApp;
use crate::people::with;

in_memory![
    entra_changes_a_user,
    entra_changes_a_user_with_the_flag,
    okta_deactivates_a_user,
    the_operation_may_have_any_case,
    a_boolean_may_be_a_text,
    a_filtered_path_that_matches_nothing_creates_the_value,
    a_filter_that_describes_no_element_is_400,
    an_added_value_joins_the_others_and_a_replacement_replaces_them,
    a_removal_with_values_removes_these_alone,
    a_removal_without_values_removes_all,
    a_new_primary_value_ends_the_one_before,
    the_manager_has_four_forms,
    the_extension_is_changed_as_a_whole,
    attributes_that_are_not_kept_are_ignored,
    what_only_the_service_writes_is_not_changed,
    a_user_keeps_a_user_name_and_an_email,
    a_message_that_cannot_be_used_is_400,
    a_message_has_at_most_100_changes,
    all_changes_happen_or_none,
    a_change_of_nothing_writes_nothing,
];

/// A user as Entra ID has made it.
async fn made(staff: &Staff<'_>) -> Value {
    let members = json!({
        "displayName": "Grace Hopper",
        "title": "Admiral",
        "name": { "formatted": "Grace Hopper", "familyName": "Hopper", "givenName": "Grace" },
        ENTERPRISE: { "department": "Navy" },
    });
    staff.made("grace", &members).await
}

/// Checks that a message is refused and changes nothing. Returns the text of the error.
async fn refused(staff: &Staff<'_>, user: &Value, operations: &Value, scim_type: &str) -> String {
    let before = staff.shown(user).await;
    let answer = staff.app.unrecorded(&staff.ada, staff.patch(user, operations).send()).await;
    assert_eq!(staff.shown(user).await, before, "{operations}");
    answer.refused(400, Some(scim_type))
}

/// The value of an attribute after changes.
async fn after(staff: &Staff<'_>, user: &Value, attribute: &str, operations: &Value) -> Value {
    let changed = staff.patched(user, operations).await;
    assert_eq!(staff.shown(user).await, changed);
    changed[attribute].clone()
}

async fn entra_changes_a_user(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    app.pass(TimeDelta::seconds(1));
    let operations = json!([
        { "op": "Replace", "path": "active", "value": "False" },
        { "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "hopper@example.com" },
        { "op": "Add", "path": "phoneNumbers[type eq \"mobile\"].value", "value": "0170 1" },
        { "op": "Add", "path": "name.formatted", "value": "G. Hopper" },
        { "op": "Replace", "path": "externalId", "value": "a92" },
        { "op": "Add", "path": format!("{ENTERPRISE}:department"), "value": "Care" },
        { "op": "Add", "path": format!("{ENTERPRISE}:manager"), "value": "12ab" },
        { "op": "Remove", "path": "title" },
    ]);
    let answer = staff.patch(&user, &operations).send().await;
    let changed = answer.scim(200);
    let mut expected = with(
        said(user.clone()),
        &json!({
            "externalId": "a92",
            "active": false,
            "emails": [{ "primary": true, "type": "work", "value": "hopper@example.com" }],
            "phoneNumbers": [{ "type": "mobile", "value": "0170 1" }],
            "name": { "formatted": "G. Hopper", "familyName": "Hopper", "givenName": "Grace" },
            ENTERPRISE: { "department": "Care", "manager": { "value": "12ab" } },
        }),
    );
    expected.as_object_mut().unwrap().remove("title");
    assert_eq!(said(changed.clone()), expected);
    let [before, after] = [&user["meta"], &changed["meta"]];
    assert_eq!((&after["created"], &after["lastModified"]), (&before["created"], &json!(app.now())));
    assert_eq!(answer.header("etag"), after["version"].as_str());
    assert_ne!(after["version"], before["version"]);
    assert_eq!(staff.shown(&user).await, changed);
    let account = staff.account_of(&user).await;
    let expected = json!({ "email": "hopper@example.com", "externalId": "a92", "status": "SUSPENDED" });
    assert_eq!(with(account.clone(), &expected), account);
}

async fn entra_changes_a_user_with_the_flag(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let value = json!({
        "displayName": "Grace H.",
        "name.givenName": "G.",
        "name.familyName": "H.",
        format!("{ENTERPRISE}:employeeNumber"): "7",
    });
    let operations = json!([
        { "op": "replace", "path": "emails[type eq \"work\"].value", "value": "g@example.com" },
        { "op": "replace", "value": value },
        { "op": "replace", "path": "active", "value": false },
    ]);
    let changed = staff.patched(&user, &operations).await;
    let expected = with(
        said(user),
        &json!({
            "active": false,
            "displayName": "Grace H.",
            "emails": [{ "primary": true, "type": "work", "value": "g@example.com" }],
            "name": { "formatted": "Grace Hopper", "familyName": "H.", "givenName": "G." },
            ENTERPRISE: { "department": "Navy", "employeeNumber": "7" },
        }),
    );
    assert_eq!(said(changed), expected);
}

async fn okta_deactivates_a_user(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for active in [false, true] {
        let body = json!({ "Operations": [{ "op": "replace", "value": { "active": active } }] });
        let changed = staff.write(Method::PATCH, &path(&user), &body).send().await.scim(200);
        assert_eq!(said(changed), with(said(user.clone()), &json!({ "active": active })));
    }
}

async fn the_operation_may_have_any_case(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for (number, op) in ["add", "Add", "ADD", "aDD", "replace", "REPLACE", "rePlace"].iter().enumerate() {
        let title = format!("title {number}");
        let operations = json!([{ "op": op, "path": "title", "value": title }]);
        assert_eq!(after(&staff, &user, "title", &operations).await, title, "{op}");
    }
    for op in ["remove", "Remove", "REMOVE"] {
        let operations = json!([{ "op": "add", "path": "TITLE", "value": "x" }, { "op": op, "path": "Title" }]);
        assert_eq!(after(&staff, &user, "title", &operations).await, Value::Null, "{op}");
    }
}

async fn a_boolean_may_be_a_text(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for (value, expected) in [
        (json!("False"), false),
        (json!("true"), true),
        (json!("FALSE"), false),
        (json!("True"), true),
        (json!(false), false),
        (json!(true), true),
    ] {
        let operations = json!([{ "op": "replace", "path": "active", "value": value }]);
        assert_eq!(after(&staff, &user, "active", &operations).await, expected, "{value}");
    }
    for value in [json!("maybe"), json!(""), json!(0), json!([true]), json!({ "value": true })] {
        let operations = json!([{ "op": "replace", "path": "active", "value": value }]);
        let detail = refused(&staff, &user, &operations, "invalidValue").await;
        assert!(detail.starts_with("active "), "{detail}");
    }
}

async fn a_filtered_path_that_matches_nothing_creates_the_value(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let work = user["emails"][0].clone();
    for op in ["add", "replace"] {
        let operations =
            json!([{ "op": op, "path": "emails[type eq \"home\"].value", "value": format!("{op}@home.example") }]);
        let home = json!({ "type": "home", "value": format!("{op}@home.example") });
        assert_eq!(after(&staff, &user, "emails", &operations).await, json!([work, home]));
    }
    let operations = json!([{
        "op": "add", "path": "phoneNumbers[type eq \"work\" and primary eq \"True\"].value", "value": "7",
    }]);
    let expected = json!([{ "type": "work", "primary": true, "value": "7" }]);
    assert_eq!(after(&staff, &user, "phoneNumbers", &operations).await, expected);
}

async fn a_filter_that_describes_no_element_is_400(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for filter in ["type eq \"a\" or type eq \"b\"", "not (type eq \"work\")", "type ne \"work\"", "type co \"wo\""] {
        let path = format!("phoneNumbers[{filter}].value");
        refused(&staff, &user, &json!([{ "op": "add", "path": path, "value": "7" }]), "noTarget").await;
    }
    refused(&staff, &user, &json!([{ "op": "remove" }]), "noTarget").await;
}

async fn an_added_value_joins_the_others_and_a_replacement_replaces_them(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let [one, two] = ["1", "2"].map(|value| json!({ "type": "work", "value": value }));
    let change = |op: &str, value: Value| json!([{ "op": op, "path": "phoneNumbers", "value": value }]);
    let phones = async |operations: Value| after(&staff, &user, "phoneNumbers", &operations).await;
    assert_eq!(phones(change("add", json!([one]))).await, json!([one]));
    assert_eq!(phones(change("add", json!([two, one]))).await, json!([one, two]));
    assert_eq!(phones(change("add", two.clone())).await, json!([one, two]));
    assert_eq!(phones(change("replace", json!([two]))).await, json!([two]));
    assert_eq!(phones(change("replace", json!([]))).await, Value::Null);
}

async fn a_removal_with_values_removes_these_alone(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let [one, two, three] = ["1", "2", "3"].map(|value| json!({ "type": "work", "value": value }));
    let add = json!([{ "op": "add", "path": "phoneNumbers", "value": [one, two, three] }]);
    staff.patched(&user, &add).await;
    let values = json!([{ "$ref": null, "value": "1" }, { "value": "9" }]);
    let listed = json!([{ "op": "Remove", "path": "phoneNumbers", "value": values }]);
    assert_eq!(after(&staff, &user, "phoneNumbers", &listed).await, json!([two, three]));
    let filtered = json!([{ "op": "remove", "path": "phoneNumbers[value eq \"2\"]" }]);
    assert_eq!(after(&staff, &user, "phoneNumbers", &filtered).await, json!([three]));
}

async fn a_removal_without_values_removes_all(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for attribute in ["displayName", "title", "name", "externalId", ENTERPRISE] {
        let operations = json!([{ "op": "remove", "path": attribute }]);
        assert_eq!(after(&staff, &user, attribute, &operations).await, Value::Null, "{attribute}");
        // What is gone can be removed again.
        app.unrecorded(&staff.ada, staff.patched(&user, &operations)).await;
    }
    assert_eq!(staff.shown(&user).await["schemas"], json!([USER]));
}

async fn a_new_primary_value_ends_the_one_before(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let home = json!({ "type": "home", "value": "grace@home.example", "primary": true });
    let operations = json!([{ "op": "add", "path": "emails", "value": [home] }]);
    let work = with(user["emails"][0].clone(), &json!({ "primary": false }));
    assert_eq!(after(&staff, &user, "emails", &operations).await, json!([work, home]));
    assert_eq!(staff.account_of(&user).await["email"], "grace@home.example");
}

async fn the_manager_has_four_forms(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let own = format!("{ENTERPRISE}:manager");
    let url = "https://entra.example/1";
    for (path, value, expected) in [
        (own.as_str(), json!("1"), json!({ "value": "1" })),
        (own.as_str(), json!({ "value": "2", "displayName": "Ada" }), json!({ "value": "2" })),
        ("manager", json!([{ "$ref": url, "value": "1" }]), json!({ "$ref": url, "value": "1" })),
        ("manager.value", json!("3"), json!({ "value": "3" })),
    ] {
        let operations = json!([{ "op": "Add", "path": path, "value": value }]);
        assert_eq!(after(&staff, &user, ENTERPRISE, &operations).await["manager"], expected, "{path} {value}");
    }
    for (path, expected) in
        [("manager[value eq \"9\"]", json!({ "value": "3" })), ("manager[value eq \"3\"]", Value::Null)]
    {
        let operations = json!([{ "op": "Remove", "path": path }]);
        assert_eq!(after(&staff, &user, ENTERPRISE, &operations).await["manager"], expected, "{path}");
    }
}

async fn the_extension_is_changed_as_a_whole(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let value = json!({ "schemas": [ENTERPRISE], "costCenter": "7", "userName": "other" });
    let operations = json!([{ "op": "add", "path": ENTERPRISE, "value": value }]);
    let expected = json!({ "department": "Navy", "costCenter": "7" });
    assert_eq!(after(&staff, &user, ENTERPRISE, &operations).await, expected);
    assert_eq!(staff.shown(&user).await["userName"], "grace");
}

async fn attributes_that_are_not_kept_are_ignored(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let operations = json!([
        { "op": "Add", "path": "addresses[type eq \"work\"].Formatted", "value": "x" },
        { "op": "Replace", "path": "roles[primary eq \"True\"].value", "value": "x" },
        { "op": "Add", "path": "urn:example:Own:badge", "value": "x" },
        { "op": "Add", "path": "name.middleName", "value": "x" },
        { "op": "replace", "value": { "nickName": "x", "password": "1mz050nq" } },
        { "op": "remove", "path": "nickName" },
    ]);
    assert_eq!(app.unrecorded(&staff.ada, staff.patched(&user, &operations)).await, user);
}

async fn what_only_the_service_writes_is_not_changed(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for path in ["id", "meta.created", "schemas", "groups", "groups[value eq \"1\"]"] {
        let kind = if path.contains('[') { "invalidPath" } else { "mutability" };
        refused(&staff, &user, &json!([{ "op": "replace", "path": path, "value": "x" }]), kind).await;
    }
    // Okta repeats the id.
    let operations = json!([{ "op": "replace", "value": { "id": "x", "meta": {}, "title": "Rear admiral" } }]);
    let changed = staff.patched(&user, &operations).await;
    assert_eq!((&changed["id"], &changed["title"]), (&user["id"], &json!("Rear admiral")));
}

async fn a_user_keeps_a_user_name_and_an_email(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for (operation, attribute) in [
        (json!({ "op": "remove", "path": "userName" }), "userName"),
        (json!({ "op": "replace", "path": "userName", "value": null }), "userName"),
        (json!({ "op": "replace", "path": "userName", "value": "" }), "userName"),
        (json!({ "op": "remove", "path": "emails" }), "emails"),
        (json!({ "op": "replace", "path": "emails", "value": [] }), "emails"),
        (json!({ "op": "replace", "path": "emails[type eq \"work\"].value", "value": "x" }), "emails"),
    ] {
        let detail = refused(&staff, &user, &json!([operation]), "invalidValue").await;
        assert!(detail.starts_with(attribute), "{detail}");
    }
}

async fn a_message_that_cannot_be_used_is_400(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    for (operations, scim_type) in [
        (json!([]), "invalidSyntax"),
        (json!({}), "invalidSyntax"),
        (json!(["remove"]), "invalidSyntax"),
        (json!([{ "op": "move", "path": "title" }]), "invalidSyntax"),
        (json!([{ "path": "title", "value": "x" }]), "invalidSyntax"),
        (json!([{ "op": "add", "path": "a.b.c", "value": "x" }]), "invalidPath"),
        (json!([{ "op": "add", "path": "emails[type eq", "value": "x" }]), "invalidPath"),
        (json!([{ "op": "add", "path": "title.part", "value": "x" }]), "invalidPath"),
        (json!([{ "op": "add", "path": 7, "value": "x" }]), "invalidPath"),
        (json!([{ "op": "add", "path": "title", "value": 7 }]), "invalidValue"),
        (json!([{ "op": "add", "path": "title" }]), "invalidValue"),
        (json!([{ "op": "add", "path": "name", "value": "x" }]), "invalidValue"),
        (json!([{ "op": "add", "path": "phoneNumbers", "value": [7] }]), "invalidValue"),
        (json!([{ "op": "replace", "value": "x" }]), "invalidValue"),
    ] {
        refused(&staff, &user, &operations, scim_type).await;
    }
}

async fn a_message_has_at_most_100_changes(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let changes = |count: usize| Value::Array(vec![json!({ "op": "add", "path": "title", "value": "x" }); count]);
    staff.patched(&user, &changes(100)).await;
    staff.patch(&user, &changes(101)).send().await.refused(413, None);
}

async fn all_changes_happen_or_none(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    let operations = json!([
        { "op": "replace", "path": "title", "value": "x" },
        { "op": "replace", "path": "active", "value": false },
        { "op": "replace", "path": "locale", "value": 7 },
    ]);
    refused(&staff, &user, &operations, "invalidValue").await;
    staff.assert_status(&user, "ACTIVE").await;
}

async fn a_change_of_nothing_writes_nothing(app: TestApp) {
    let staff = Staff::of(&app).await;
    let user = made(&staff).await;
    app.pass(TimeDelta::seconds(1));
    let operations = json!([
        { "op": "Replace", "path": "active", "value": "True" },
        { "op": "add", "path": "title", "value": "Admiral" },
        { "op": "replace", "value": { "userName": "grace", "externalId": "id-grace", "name.givenName": "Grace" } },
        { "op": "add", "path": "emails", "value": [{ "type": "work", "value": "grace@example.com" }] },
    ]);
    assert_eq!(app.unrecorded(&staff.ada, staff.patched(&user, &operations)).await, user);
}
