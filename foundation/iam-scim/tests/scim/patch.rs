use iam_scim::user::UserResource;
use serde_json::{Value, json};

use crate::{ENTERPRISE, GROUP, USER, kind, patch_op};

/// A user with everything.
fn whole() -> Value {
    json!({
        "userName": "ana@firma.example",
        "externalId": "a91",
        "active": true,
        "displayName": "Ana Ruiz",
        "title": "Nurse",
        "name": { "formatted": "Ana Ruiz", "givenName": "Ana", "familyName": "Ruiz" },
        "emails": [
            { "value": "ana@firma.example", "type": "work", "primary": true },
            { "value": "ana@home.example", "type": "home" },
        ],
        ENTERPRISE: { "department": "Care", "manager": { "value": "12ab", "$ref": "https://iam.example.com/12ab" } },
    })
}

/// Returns what a user is as it would be sent.
fn sent(user: &UserResource) -> Value {
    let mut sent = user.attributes.clone();
    sent.insert("userName".to_owned(), json!(user.user_name));
    if let Some(external_id) = &user.external_id {
        sent.insert("externalId".to_owned(), json!(external_id));
    }
    if let Some(active) = user.active {
        sent.insert("active".to_owned(), json!(active));
    }
    Value::Object(sent)
}

fn patched(user: &Value, operations: Value) -> Value {
    let mut user = UserResource::parse(user).unwrap();
    let body = patch_op(operations);
    user.patch(&body).unwrap_or_else(|error| panic!("{body}: {error}"));
    sent(&user)
}

/// Applies changes to a user with everything, and fails unless they change only these members. Null is an absent one.
fn changes(operations: Value, members: Value) {
    let mut expected = whole();
    for (name, value) in members.as_object().unwrap() {
        match value {
            Value::Null => drop(expected.as_object_mut().unwrap().remove(name)),
            value => expected[name.as_str()] = value.clone(),
        }
    }
    assert_eq!(patched(&whole(), operations.clone()), expected, "{operations}");
}

fn refused(operations: Value) -> String {
    let mut user = UserResource::parse(&whole()).unwrap();
    let error = user.patch(&patch_op(operations.clone())).expect_err(&operations.to_string());
    assert_eq!(sent(&user), whole(), "{operations} changed something");
    kind(&error).to_owned()
}

/// Every value is a text, and the order matters.
#[test]
fn what_entra_sends_is_applied() {
    let operations = json!([
        { "op": "Replace", "path": "active", "value": "False" },
        { "op": "Replace", "path": "emails[type eq \"work\"].value", "value": "ana.ruiz@firma.example" },
        { "op": "Add", "path": "phoneNumbers[type eq \"mobile\"].value", "value": "0170 1" },
        { "op": "Add", "path": "name.formatted", "value": "Ana R." },
        { "op": "Replace", "path": "externalId", "value": "a92" },
        { "op": "Add", "path": format!("{ENTERPRISE}:department"), "value": "Sales" },
        { "op": "Add", "path": format!("{ENTERPRISE}:manager"), "value": "34cd" },
        { "op": "Remove", "path": "title" },
        { "op": "Add", "path": "addresses[type eq \"work\"].Formatted", "value": "Street 1" },
        { "op": "Replace", "path": "roles[primary eq \"True\"].value", "value": "x" },
    ]);
    changes(
        operations,
        json!({
            "active": false,
            "emails": [
                { "value": "ana.ruiz@firma.example", "type": "work", "primary": true },
                { "value": "ana@home.example", "type": "home" },
            ],
            "phoneNumbers": [{ "type": "mobile", "value": "0170 1" }],
            "name": { "formatted": "Ana R.", "givenName": "Ana", "familyName": "Ruiz" },
            "externalId": "a92",
            ENTERPRISE: { "department": "Sales", "manager": { "value": "34cd" } },
            "title": null,
        }),
    );
}

/// With the flag `aadOptscim062020`.
#[test]
fn what_entra_sends_without_paths_is_applied() {
    let value = json!({
        "displayName": "Ana R.",
        "name.givenName": "Anna",
        "name.familyName": "R.",
        "emails[type eq \"work\"].value": "a@firma.example",
        format!("{ENTERPRISE}:employeeNumber"): "7",
        ENTERPRISE: { "schemas": [ENTERPRISE], "department": "Sales" },
        "addresses": [{ "type": "work" }],
    });
    changes(
        json!([{ "op": "replace", "value": value }]),
        json!({
            "displayName": "Ana R.",
            "name": { "formatted": "Ana Ruiz", "givenName": "Anna", "familyName": "R." },
            "emails": [
                { "value": "a@firma.example", "type": "work", "primary": true },
                { "value": "ana@home.example", "type": "home" },
            ],
            ENTERPRISE: {
                "department": "Sales",
                "employeeNumber": "7",
                "manager": { "value": "12ab", "$ref": "https://iam.example.com/12ab" },
            },
        }),
    );
}

#[test]
fn what_okta_sends_is_applied() {
    changes(json!([{ "op": "replace", "value": { "active": false } }]), json!({ "active": false }));
    let value = json!({ "id": "77c", "schemas": [USER], "meta": {}, "groups": [], "displayName": "Ana R." });
    changes(json!([{ "op": "replace", "path": null, "value": value }]), json!({ "displayName": "Ana R." }));
    changes(json!([{ "op": "REPLACE", "path": USER, "value": { "title": "Chief" } }]), json!({ "title": "Chief" }));
}

#[test]
fn only_true_and_false_change_the_status() {
    for operation in [
        json!({ "op": "replace", "path": "active", "value": null }),
        json!({ "op": "remove", "path": "active" }),
        json!({ "op": "replace", "value": { "active": null } }),
        json!({ "op": "add", "path": "active", "value": "TRUE" }),
    ] {
        changes(json!([operation]), json!({}));
    }
    assert_eq!(refused(json!([{ "op": "replace", "path": "active", "value": "disabled" }])), "invalidValue");
    assert_eq!(refused(json!([{ "op": "replace", "path": "active", "value": 0 }])), "invalidValue");
}

#[test]
fn elements_are_added_without_repetition() {
    let work = json!({ "value": "ana@firma.example", "type": "work", "primary": true });
    let home = json!({ "value": "ana@home.example", "type": "home" });
    let other = json!({ "value": "ana@other.example" });
    for (value, expected) in [
        (json!([other]), json!([work, home, other])),
        (other.clone(), json!([work, home, other])),
        (json!([home]), json!([work, home])),
        (json!([{ "value": "ana@home.example" }]), json!([work, home])),
        (json!([]), json!([work, home])),
        (json!(null), json!([work, home])),
        (
            // A new primary one ends the one before it.
            json!([{ "value": "ana@home.example", "type": "home", "primary": true }]),
            json!([
                { "value": "ana@firma.example", "type": "work", "primary": false },
                { "value": "ana@home.example", "type": "home", "primary": true },
            ]),
        ),
    ] {
        changes(json!([{ "op": "add", "path": "emails", "value": value }]), json!({ "emails": expected }));
        changes(json!([{ "op": "add", "value": { "emails": value } }]), json!({ "emails": expected }));
    }
    let two = json!([{ "value": "a", "primary": true }, { "value": "b", "primary": true }]);
    assert_eq!(refused(json!([{ "op": "add", "path": "emails", "value": two }])), "invalidValue");
}

#[test]
fn elements_are_replaced_together_or_by_a_filter() {
    let home = json!({ "value": "ana@home.example", "type": "home" });
    for (path, value, expected) in [
        ("emails", json!([{ "value": "x", "primary": false }]), json!([{ "value": "x", "primary": false }])),
        ("emails", json!([]), Value::Null),
        ("emails", Value::Null, Value::Null),
        (
            "emails[type eq \"work\"]",
            json!({ "value": "x" }),
            json!([{ "value": "x", "type": "work", "primary": true }, home]),
        ),
        (
            "EMAILS[Type eq \"WORK\" and primary eq \"True\"].Value",
            json!("x"),
            json!([{ "value": "x", "type": "work", "primary": true }, home]),
        ),
        (
            "emails[not(type eq \"work\")].primary",
            json!(true),
            json!([
                { "value": "ana@firma.example", "type": "work", "primary": false },
                { "value": "ana@home.example", "type": "home", "primary": true },
            ]),
        ),
        (
            "emails[type eq \"other\"].value",
            json!("x"),
            json!([
                { "value": "ana@firma.example", "type": "work", "primary": true },
                home,
                { "value": "x", "type": "other" },
            ]),
        ),
    ] {
        changes(json!([{ "op": "replace", "path": path, "value": value }]), json!({ "emails": expected }));
    }
    let described = json!([
        { "op": "add", "path": "phoneNumbers[type eq \"fax\" and primary eq true]", "value": { "value": "1" } },
    ]);
    changes(described, json!({ "phoneNumbers": [{ "type": "fax", "primary": true, "value": "1" }] }));
}

/// A removal writes nothing, and what does not match stays.
#[test]
fn elements_are_removed() {
    let work = json!({ "value": "ana@firma.example", "type": "work", "primary": true });
    let home = json!({ "value": "ana@home.example", "type": "home" });
    let both = json!([work, home]);
    for (operation, expected) in [
        (json!({ "path": "emails" }), Value::Null),
        (json!({ "path": "emails", "value": [] }), both.clone()),
        (json!({ "path": "emails", "value": [{ "value": "ANA@home.example", "display": "x" }] }), json!([work])),
        (json!({ "path": "emails", "value": { "value": "ana@home.example", "type": "work" } }), both.clone()),
        (json!({ "path": "emails[type eq \"home\"]" }), json!([work])),
        (json!({ "path": "emails[type eq \"other\"]" }), both.clone()),
        (json!({ "path": "emails[value eq \"x\"].value", "value": "y" }), both.clone()),
        (json!({ "path": "emails[type eq \"home\"].value" }), json!([work])),
        (
            json!({ "path": "emails[type eq \"work\"].primary" }),
            json!([{ "value": "ana@firma.example", "type": "work" }, home]),
        ),
        (json!({ "path": "emails[type eq \"home\"].display" }), both),
    ] {
        let mut operation = operation;
        operation["op"] = json!("Remove");
        changes(json!([operation]), json!({ "emails": expected }));
    }
}

#[test]
fn objects_keep_their_other_parts() {
    for op in ["add", "Replace"] {
        for (path, value, members) in [
            (
                "name",
                json!({ "givenName": "Anna" }),
                json!({ "name": { "formatted": "Ana Ruiz", "givenName": "Anna", "familyName": "Ruiz" } }),
            ),
            (
                ENTERPRISE,
                json!({ "department": "Sales", "manager": { "value": "34cd" } }),
                json!({ ENTERPRISE: { "department": "Sales", "manager": { "value": "34cd" } } }),
            ),
            (
                "manager",
                json!([{ "$ref": "u", "value": "34cd" }]),
                json!({ ENTERPRISE: { "department": "Care", "manager": { "value": "34cd", "$ref": "u" } } }),
            ),
            (
                "manager.value",
                json!("34cd"),
                json!({ ENTERPRISE: { "department": "Care", "manager": { "value": "34cd" } } }),
            ),
        ] {
            changes(json!([{ "op": op, "path": path, "value": value }]), members);
        }
    }
    for (path, members) in [
        ("name", json!({ "name": null })),
        ("name.formatted", json!({ "name": { "givenName": "Ana", "familyName": "Ruiz" } })),
        ("externalId", json!({ "externalId": null })),
        (ENTERPRISE, json!({ ENTERPRISE: null })),
        ("manager", json!({ ENTERPRISE: { "department": "Care" } })),
        ("manager[value eq \"12ab\"]", json!({ ENTERPRISE: { "department": "Care" } })),
        ("manager[value eq \"another\"]", json!({})),
        ("phoneNumbers", json!({})),
        ("nickName", json!({})),
        ("name.middleName", json!({})),
        ("urn:ietf:params:scim:schemas:extension:acme:2.0:User:color", json!({})),
    ] {
        changes(json!([{ "op": "remove", "path": path }]), members);
    }
    // First the extension, then its attributes.
    let removals = json!([
        { "op": "remove", "path": ENTERPRISE },
        { "op": "remove", "path": format!("{ENTERPRISE}:department") },
        { "op": "remove", "path": format!("{ENTERPRISE}:manager.value") },
    ]);
    changes(removals, json!({ ENTERPRISE: null }));
}

#[test]
fn each_fault_has_its_kind() {
    for (operation, expected) in [
        (json!({ "op": "move", "path": "title", "value": "x" }), "invalidSyntax"),
        (json!({ "path": "title", "value": "x" }), "invalidSyntax"),
        (json!("title"), "invalidSyntax"),
        (json!({ "op": "remove" }), "noTarget"),
        (json!({ "op": "remove", "path": "" }), "noTarget"),
        (json!({ "op": "remove", "path": USER }), "noTarget"),
        (
            json!({ "op": "replace", "path": "emails[type ne \"x\" and value eq \"y\"].value", "value": "x" }),
            "noTarget",
        ),
        (json!({ "op": "add", "path": "emails[type eq \"a\" or type eq \"b\"].value", "value": "x" }), "noTarget"),
        (json!({ "op": "replace", "path": 1, "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": "title x", "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": "title.x", "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": "title[value eq \"x\"]", "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": "emails[type eq", "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": "emails[type eq \"work\"].value eq \"x\"", "value": "x" }), "invalidPath"),
        (json!({ "op": "replace", "path": format!("{GROUP}:displayName"), "value": "x" }), "invalidPath"),
        (
            json!({ "op": "replace", "path": format!("emails[value eq \"{}\"]", "x".repeat(4096)), "value": {} }),
            "invalidPath",
        ),
        (json!({ "op": "replace", "value": { "emails[type eq": "x" } }), "invalidPath"),
        (json!({ "op": "replace", "path": "id", "value": "x" }), "mutability"),
        (json!({ "op": "replace", "path": "meta.created", "value": "x" }), "mutability"),
        (json!({ "op": "remove", "path": "groups[value eq \"admins\"]" }), "invalidPath"),
        (json!({ "op": "remove", "path": "groups" }), "mutability"),
        (json!({ "op": "replace", "path": "title" }), "invalidValue"),
        (json!({ "op": "replace", "value": "x" }), "invalidValue"),
        (json!({ "op": "replace" }), "invalidValue"),
        (json!({ "op": "remove", "path": "userName" }), "invalidValue"),
        (json!({ "op": "replace", "path": "userName", "value": null }), "invalidValue"),
        (json!({ "op": "replace", "path": "userName", "value": "" }), "invalidValue"),
        (json!({ "op": "replace", "path": "title", "value": ["x"] }), "invalidValue"),
        (json!({ "op": "replace", "path": "name.givenName", "value": {} }), "invalidValue"),
        (json!({ "op": "replace", "path": "emails[type eq \"work\"]", "value": [{}, {}] }), "invalidValue"),
        (json!({ "op": "replace", "path": "emails.primary", "value": true }), "invalidValue"),
        (json!({ "op": "replace", "path": "title", "value": "x".repeat(16 * 1024) }), "invalidValue"),
    ] {
        // The first change is good, and nothing of it remains.
        assert_eq!(refused(json!([{ "op": "remove", "path": "title" }, operation])), expected, "{operation}");
    }
    let mut user = UserResource::parse(&whole()).unwrap();
    for body in [json!({}), json!([]), json!({ "Operations": [] }), json!({ "Operations": {} })] {
        assert_eq!(kind(&user.patch(&body).unwrap_err()), "invalidSyntax", "{body}");
    }
    let operation = json!({ "op": "remove", "path": "title" });
    assert_eq!(user.patch(&patch_op(json!(vec![&operation; 101]))).unwrap_err().status, 413);
    assert!(user.patch(&json!({ "operations": vec![&operation; 100] })).is_ok());
}

/// The standard: an update of several parts is all or nothing, and later ones see what earlier ones did.
#[test]
fn later_changes_see_earlier_ones() {
    let operations = json!([
        { "op": "add", "path": "emails", "value": [{ "value": "x", "type": "other" }] },
        { "op": "replace", "path": "emails[type eq \"other\"].primary", "value": true },
        { "op": "remove", "path": "emails[type eq \"work\"]" },
        { "op": "remove", "path": "emails[type eq \"home\"]" },
    ]);
    changes(operations, json!({ "emails": [{ "value": "x", "type": "other", "primary": true }] }));
}
