use iam_scim::group::{GroupPatch, MemberChange};
use serde_json::{Value, json};

use crate::{GROUP, USER, kind, patch_op};

fn parsed(operations: Value) -> GroupPatch {
    let body = patch_op(operations);
    GroupPatch::parse(&body).unwrap_or_else(|error| panic!("{body}: {error}"))
}

fn change(added: &[&str], removed: &[&str]) -> MemberChange {
    let set = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    MemberChange::Change { added: set(added), removed: set(removed) }
}

fn replace(ids: &[&str]) -> MemberChange {
    MemberChange::Replace(ids.iter().map(|id| (*id).to_owned()).collect())
}

fn refused(operation: Value) -> &'static str {
    kind(&GroupPatch::parse(&patch_op(json!([operation]))).expect_err("the change is refused"))
}

#[test]
fn members_come_and_go() {
    for (operations, expected) in [
        // Entra
        (
            json!([{ "op": "Add", "path": "members", "value": [{ "$ref": null, "value": "77c" }] }]),
            change(&["77c"], &[]),
        ),
        (
            json!([{
                "op": "Remove", "path": "members", "value": [{ "$ref": null, "value": "77c" }, { "value": "88d" }],
            }]),
            change(&[], &["77c", "88d"]),
        ),
        (json!([{ "op": "remove", "path": "members[value eq \"77c\"]" }]), change(&[], &["77c"])),
        // Okta
        (
            json!([
                { "op": "remove", "path": "members[value eq \"77c\"]" },
                { "op": "add", "path": "members", "value": [{ "value": "88d", "display": "bo@firma.example" }] },
            ]),
            change(&["88d"], &["77c"]),
        ),
        (
            json!([{ "op": "replace", "path": "members", "value": [{ "value": "77c", "display": "ana" }] }]),
            replace(&["77c"]),
        ),
        (json!([{ "op": "replace", "value": { "members": [], "id": "5f0", "displayName": "Sales" } }]), replace(&[])),
        // Others
        (json!([{ "op": "add", "path": "members", "value": { "value": "a" } }]), change(&["a"], &[])),
        (json!([{ "op": "add", "path": format!("{GROUP}:members"), "value": ["a", "a"] }]), change(&["a"], &[])),
        (json!([{ "op": "add", "value": { "members": [{ "value": "a" }] } }]), change(&["a"], &[])),
        (json!([{ "op": "add", "path": "members[value eq \"a\"]", "value": {} }]), change(&["a"], &[])),
        (json!([{ "op": "add", "path": "members[value eq \"a\"]" }]), change(&["a"], &[])),
        (json!([{ "op": "remove", "path": "members[value eq \"a\" or value eq \"b\"]" }]), change(&[], &["a", "b"])),
        (json!([{ "op": "remove", "path": "members[value eq \"a\"].value" }]), change(&[], &["a"])),
        (json!([{ "op": "remove", "path": "members", "value": { "value": "a" } }]), change(&[], &["a"])),
        (json!([{ "op": "remove", "path": "members.value", "value": ["a"] }]), change(&[], &["a"])),
        // A group is the member of no group.
        (
            json!([{ "op": "remove", "path": "members", "value": [{ "value": "a", "type": "Group" }, { "value": "b" }] }]),
            change(&[], &["b"]),
        ),
        // The same member in another case
        (
            json!([
                { "op": "add", "path": "members", "value": [{ "value": "01A1FDCB-0000-7000-8000-00000000000A" }] },
                { "op": "remove", "path": "members[value eq \"01a1fdcb-0000-7000-8000-00000000000a\"]" },
            ]),
            change(&[], &["01a1fdcb-0000-7000-8000-00000000000a"]),
        ),
        (json!([{ "op": "remove", "path": "members" }]), replace(&[])),
        (json!([{ "op": "remove", "path": "members", "value": null }]), replace(&[])),
        (json!([{ "op": "replace", "path": "members", "value": [] }]), replace(&[])),
        (json!([{ "op": "replace", "path": "members", "value": null }]), replace(&[])),
    ] {
        assert_eq!(parsed(operations.clone()).members, expected, "{operations}");
    }
}

/// Three providers lost the members of their groups in this way.
#[test]
fn what_names_no_members_keeps_them() {
    for operations in [
        json!([{ "op": "Replace", "path": "displayName", "value": "Sales EU" }]),
        json!([{ "op": "Replace", "path": "externalId", "value": "9d" }]),
        json!([{ "op": "replace", "value": { "id": "5f0", "displayName": "Sales" } }]),
        json!([{ "op": "replace", "value": { "displayName": "Sales", "members": null } }]),
        json!([{ "op": "add", "path": "members", "value": [] }]),
        json!([{ "op": "add", "path": "members", "value": null }]),
        json!([{ "op": "remove", "path": "members", "value": [] }]),
        json!([{ "op": "remove", "path": "members[value eq \"a\"].display" }]),
        json!([{ "op": "replace", "path": "members[value eq \"a\"].type", "value": "User" }]),
        json!([{ "op": "replace", "path": "description", "value": "x" }]),
    ] {
        assert!(parsed(operations.clone()).members.is_empty(), "{operations}");
    }
    assert!(!replace(&[]).is_empty());
}

#[test]
fn changes_of_members_come_to_one() {
    let one = |op: &str, id: &str| json!({ "op": op, "path": "members", "value": [{ "value": id }] });
    let all = json!({ "op": "remove", "path": "members" });
    for (operations, expected) in [
        (json!([one("add", "a"), one("remove", "a")]), change(&[], &["a"])),
        (json!([one("remove", "a"), one("add", "a")]), change(&["a"], &[])),
        (json!([one("add", "a"), one("add", "b"), one("remove", "c")]), change(&["a", "b"], &["c"])),
        (json!([one("add", "a"), all]), replace(&[])),
        (json!([all, one("add", "a"), one("add", "b"), one("remove", "b")]), replace(&["a"])),
        (json!([one("replace", "a"), one("add", "b")]), replace(&["a", "b"])),
        (json!([one("add", "a"), one("replace", "b")]), replace(&["b"])),
    ] {
        assert_eq!(parsed(operations.clone()).members, expected, "{operations}");
    }
}

#[test]
fn names_and_identifiers_change() {
    let patch = parsed(json!([
        { "op": "Replace", "path": "displayName", "value": "Sales EU" },
        { "op": "replace", "path": "EXTERNALID", "value": "9d" },
    ]));
    assert_eq!(patch.display_name.as_deref(), Some("Sales EU"));
    assert_eq!(patch.external_id, Some(Some("9d".to_owned())));

    for operation in [
        json!({ "op": "remove", "path": "externalId" }),
        json!({ "op": "replace", "path": "externalId", "value": null }),
        json!({ "op": "replace", "path": GROUP, "value": { "externalId": null } }),
    ] {
        assert_eq!(parsed(json!([operation])).external_id, Some(None));
    }
    let value = json!({ "id": "5f0", "meta": {}, "schemas": [], "displayName": "Sales", "title": "x", "a b": 1 });
    let patch = parsed(json!([{ "op": "replace", "path": "", "value": value }]));
    assert_eq!(patch, GroupPatch { display_name: Some("Sales".to_owned()), ..GroupPatch::default() });
    let nothing = parsed(json!([{ "op": "add", "value": { "displayName": null, "externalId": null } }]));
    assert_eq!(nothing, GroupPatch::default());
}

#[test]
fn each_fault_has_its_kind() {
    for (operation, expected) in [
        (json!({ "op": "remove" }), "noTarget"),
        (json!({ "op": "clear", "path": "members" }), "invalidSyntax"),
        (json!({ "op": "remove", "path": "members[display eq \"x\"]" }), "invalidPath"),
        (json!({ "op": "remove", "path": "members[not (value eq \"x\")]" }), "invalidPath"),
        (json!({ "op": "remove", "path": "members[value eq" }), "invalidPath"),
        (json!({ "op": "remove", "path": "displayName[value eq \"x\"]" }), "invalidPath"),
        (json!({ "op": "remove", "path": "displayName.x" }), "invalidPath"),
        (json!({ "op": "remove", "path": "no path" }), "invalidPath"),
        (json!({ "op": "replace", "path": format!("{USER}:displayName"), "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": "id", "value": "x" }), "mutability"),
        (json!({ "op": "remove", "path": "meta.version" }), "mutability"),
        (json!({ "op": "remove", "path": "displayName" }), "invalidValue"),
        (json!({ "op": "replace", "path": "displayName", "value": "" }), "invalidValue"),
        (json!({ "op": "replace", "path": "displayName", "value": null }), "invalidValue"),
        (json!({ "op": "replace", "path": "displayName", "value": "Sales\n" }), "invalidValue"),
        (json!({ "op": "replace", "path": "externalId", "value": 1 }), "invalidValue"),
        (json!({ "op": "add", "path": "members" }), "invalidValue"),
        (json!({ "op": "add", "path": "members", "value": [{}] }), "invalidValue"),
        (json!({ "op": "add", "path": "members", "value": [{ "value": "x", "type": "Group" }] }), "invalidValue"),
        (json!({ "op": "add" }), "invalidValue"),
    ] {
        assert_eq!(refused(operation.clone()), expected, "{operation}");
    }
    let operation = json!({ "op": "remove", "path": "members[value eq \"77c\"]" });
    assert!(GroupPatch::parse(&patch_op(json!(vec![&operation; 1_000]))).is_ok());
    assert_eq!(GroupPatch::parse(&patch_op(json!(vec![&operation; 1_001]))).unwrap_err().status, 413);
}
