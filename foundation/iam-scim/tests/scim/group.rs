use iam_scim::group::{GroupPatch, GroupResource};
use serde_json::{Value, json};

use crate::{BASE, GROUP, kind, meta, patch_op};

fn parsed(body: Value) -> GroupResource {
    GroupResource::parse(&body).unwrap()
}

#[test]
fn groups_are_read() {
    // Entra, with an unknown entry of `schemas`.
    let entra = parsed(json!({
        "schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
        "externalId": "9c", "displayName": "Sales", "meta": { "resourceType": "Group" },
    }));
    let expected = GroupResource { display_name: "Sales".into(), external_id: Some("9c".into()), members: None };
    assert_eq!(entra, expected);

    let okta = parsed(json!({
        "schemas": [GROUP], "id": "5f0", "DISPLAYNAME": "Sales",
        "Members": [
            { "value": "88d", "display": "bo@firma.example" }, { "VALUE": "77c", "type": "User", "$ref": null }, "88d",
        ],
    }));
    assert_eq!(okta.members, Some(vec!["77c".to_owned(), "88d".to_owned()]));
    assert_eq!(parsed(json!({ "displayName": "Sales", "members": [] })).members, Some(Vec::new()));
    assert_eq!(parsed(json!({ "displayName": "Sales", "members": null })).members, None);
}

#[test]
fn what_a_group_cannot_be_is_refused() {
    for (body, name) in [
        (json!({}), "displayName"),
        (json!({ "displayName": " " }), "displayName"),
        (json!({ "displayName": "x".repeat(256) }), "displayName"),
        (json!({ "displayName": "Sales\n" }), "displayName"),
        (json!({ "displayName": "Sales\u{202e}" }), "displayName"),
        (json!({ "displayName": ["Sales"] }), "displayName"),
        (json!({ "displayName": "Sales", "externalId": "" }), "externalId"),
        (json!({ "displayName": "Sales", "members": 1 }), "members.value"),
        (json!({ "displayName": "Sales", "members": [{ "display": "x" }] }), "members.value"),
        (json!({ "displayName": "Sales", "members": [{ "value": 1 }] }), "members.value"),
        (json!({ "displayName": "Sales", "members": [{ "value": "5f0", "type": "GROUP" }] }), "members"),
    ] {
        let error = GroupResource::parse(&body).unwrap_err();
        assert_eq!(kind(&error), "invalidValue", "{body}");
        assert!(error.detail.starts_with(name), "{}", error.detail);
    }
    assert_eq!(kind(&GroupResource::parse(&json!([])).unwrap_err()), "invalidSyntax");
}

#[test]
fn a_group_is_answered_with_its_members() {
    let group = parsed(json!({ "displayName": "Sales", "externalId": "9c", "members": [{ "value": "77c" }] }));
    let users = format!("{BASE}/Users");
    let expected = json!({
        "schemas": [GROUP],
        "id": "5f0",
        "displayName": "Sales",
        "externalId": "9c",
        "members": [{ "value": "77c", "$ref": "https://iam.example.com/scim/v2/Users/77c", "type": "User" }],
        "meta": {
            "resourceType": "Group",
            "created": "2026-01-31T09:15:00.000Z",
            "lastModified": "2026-02-01T09:15:00.500Z",
            "location": "https://iam.example.com/scim/v2/Groups/5f0",
            "version": "W/\"7\"",
        },
    });
    assert_eq!(group.render("5f0", &meta("Groups/5f0"), &users), expected);
    assert_eq!(parsed(expected), group);

    let unread = GroupResource { members: None, external_id: None, ..group };
    let rendered = unread.render("5f0", &meta("Groups/5f0"), &users);
    assert!(rendered.get("members").is_none() && rendered.get("externalId").is_none());
}

#[test]
fn a_text_in_a_list_with_its_reference_is_a_text() {
    for name in [json!([{ "$ref": null, "value": "Sales" }]), json!("Sales")] {
        let operations = json!([{ "op": "Replace", "path": "displayName", "value": name }]);
        let patch = GroupPatch::parse(&patch_op(operations)).unwrap();
        assert_eq!(patch.display_name.as_deref(), Some("Sales"));
    }
    for name in
        [json!([]), json!(["Sales"]), json!(["Sales", "Support"]), json!([{ "display": "Sales" }]), json!([["Sales"]])]
    {
        assert!(GroupResource::parse(&json!({ "displayName": name })).is_err(), "{name}");
    }
}
