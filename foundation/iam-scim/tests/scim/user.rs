use iam_scim::user::{Profile, UserResource};
use serde_json::{Value, json};

use crate::{ENTERPRISE, USER, kind, meta};

/// What a user whose name is an address has beside it.
fn attributes(body: Value) -> Value {
    let mut whole = json!({ "userName": "ana@firma.example" });
    whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    Value::Object(UserResource::parse(&whole).unwrap().attributes)
}

fn refused(body: &Value) -> String {
    let error = UserResource::parse(body).expect_err(&body.to_string());
    assert_eq!(kind(&error), "invalidValue", "{body}");
    error.detail
}

#[test]
fn what_entra_sends_is_read() {
    let user = UserResource::parse(&json!({
        "schemas": [USER, ENTERPRISE],
        "externalId": "a91",
        "userName": "Ana.Ruiz@firma.example",
        "active": true,
        "displayName": "Ana Ruiz",
        "addresses": null,
        "emails": [{ "primary": true, "type": "work", "value": "ana.ruiz@firma.example" }],
        "meta": { "resourceType": "User" },
        "name": { "formatted": "Ana Ruiz", "familyName": "Ruiz", "givenName": "Ana", "middleName": null },
        "roles": [],
        "department": null,
        "manager": null,
        "title": null,
        ENTERPRISE: { "department": "Care", "manager": "12ab", "costCenter": null, "other": 1 },
    }))
    .unwrap();
    assert_eq!((user.user_name.as_str(), user.external_id.as_deref()), ("Ana.Ruiz@firma.example", Some("a91")));
    assert_eq!(user.active, Some(true));
    let attributes = json!({
        "displayName": "Ana Ruiz",
        "emails": [{ "primary": true, "type": "work", "value": "ana.ruiz@firma.example" }],
        "name": { "formatted": "Ana Ruiz", "familyName": "Ruiz", "givenName": "Ana" },
        ENTERPRISE: { "department": "Care", "manager": { "value": "12ab" } },
    });
    assert_eq!(Value::Object(user.attributes), attributes);
}

#[test]
fn what_okta_sends_is_read() {
    let user = UserResource::parse(&json!({
        "schemas": [USER],
        "id": "77c",
        "userName": "ana@firma.example",
        "name": { "givenName": "Ana", "familyName": "Ruiz", "middleName": "" },
        "emails": [{ "primary": true, "value": "ana@firma.example", "type": "work", "display": "ana@firma.example" }],
        "displayName": "Ana Ruiz",
        "locale": "es-ES",
        "externalId": "00u1",
        "groups": [],
        "password": "x",
        "active": true,
        "meta": { "resourceType": "User", "version": "W/\"1\"" },
    }))
    .unwrap();
    let attributes = json!({
        "displayName": "Ana Ruiz",
        "emails": [{ "primary": true, "value": "ana@firma.example", "type": "work" }],
        "locale": "es-ES",
        "name": { "givenName": "Ana", "familyName": "Ruiz" },
    });
    assert_eq!(Value::Object(user.attributes), attributes);
}

#[test]
fn names_of_attributes_have_no_case() {
    let user = UserResource::parse(&json!({
        "USERNAME": "ana", "ExternalID": "a", "ACTIVE": "False", "phonenumbers": [{ "VALUE": "1", "Type": "work" }],
        "NAME": { "GIVENNAME": "Ana" },
        ENTERPRISE.to_uppercase(): { "Department": "Care" },
    }))
    .unwrap();
    assert_eq!((user.user_name.as_str(), user.external_id.as_deref(), user.active), ("ana", Some("a"), Some(false)));
    let attributes = json!({
        "phoneNumbers": [{ "value": "1", "type": "work" }],
        "name": { "givenName": "Ana" },
        ENTERPRISE: { "department": "Care" },
    });
    assert_eq!(Value::Object(user.attributes), attributes);
}

#[test]
fn values_are_kept_as_they_were_sent() {
    let sent = json!({
        "displayName": "  Ana ", "title": "", "preferredLanguage": "x", "locale": "nowhere", "timezone": "no zone",
        "emails": [
            { "value": "ANA@firma.example", "type": "x", "primary": false },
            { "value": "ana@firma.example" },
        ],
        "phoneNumbers": [{ "value": "3771540659", "type": "fax" }],
        ENTERPRISE: {
            "employeeNumber": "7", "organization": "Firma", "division": "North",
            "manager": { "value": "b", "$ref": "https://iam.example.com/scim/v2/Users/b" },
        },
    });
    assert_eq!(attributes(sent.clone()), sent);
}

#[test]
fn a_manager_comes_in_four_forms() {
    let url = "https://iam.example.com/scim/v2/Users/b";
    for (sent, kept) in [
        (json!("b"), json!({ "value": "b" })),
        (json!({ "value": "b", "displayName": "Bo" }), json!({ "value": "b" })),
        (json!([{ "value": "b", "$ref": url }]), json!({ "value": "b", "$ref": url })),
        (json!({ "$ref": url, "VALUE": "b" }), json!({ "value": "b", "$ref": url })),
    ] {
        assert_eq!(attributes(json!({ ENTERPRISE: { "manager": sent } })), json!({ ENTERPRISE: { "manager": kept } }));
    }
    for nothing in [json!(null), json!(""), json!([]), json!({}), json!({ "value": null }), json!({ "$ref": url })] {
        assert_eq!(attributes(json!({ ENTERPRISE: { "manager": nothing } })), json!({}), "{nothing}");
    }
    refused(&json!({ "userName": "ana", ENTERPRISE: { "manager": ["a", "b"] } }));
    refused(&json!({ "userName": "ana", ENTERPRISE: { "manager": 1 } }));
}

#[test]
fn what_says_nothing_is_left_out() {
    for body in [
        json!({ "emails": null, "name": null, "title": null, "active": null, "externalId": null, ENTERPRISE: null }),
        json!({ "emails": [], "name": {}, ENTERPRISE: {} }),
        json!({ "emails": [{}, null, { "type": "work" }, { "value": "" }, { "value": null, "primary": true }] }),
        json!({ "name": { "givenName": null, "honorificPrefix": "Dr" }, "nickName": "A", "x": { "y": [] } }),
        json!({ "urn:other": { "a": 1 }, "schemas": "none", "id": 1, "groups": [{ "value": "admins" }] }),
    ] {
        assert_eq!(attributes(body.clone()), json!({}), "{body}");
    }
    let twice =
        json!({ "emails": [{ "value": "a", "type": "work" }, { "value": "a", "type": "work", "primary": true }] });
    assert_eq!(attributes(twice), json!({ "emails": [{ "value": "a", "type": "work", "primary": true }] }));
    assert_eq!(attributes(json!({ "emails": "a" })), json!({ "emails": [{ "value": "a" }] }));
    assert_eq!(attributes(json!({ "emails": { "value": "a" } })), json!({ "emails": [{ "value": "a" }] }));
}

#[test]
fn an_error_names_the_attribute() {
    for (body, name) in [
        (json!({}), "userName"),
        (json!({ "userName": null }), "userName"),
        (json!({ "userName": "" }), "userName"),
        (json!({ "userName": " " }), "userName"),
        (json!({ "userName": ["ana"] }), "userName"),
        (json!({ "userName": "a".repeat(256) }), "userName"),
        (json!({ "userName": "a\u{0}" }), "userName"),
        (json!({ "userName": "a", "externalId": "" }), "externalId"),
        (json!({ "userName": "a", "externalId": 1 }), "externalId"),
        (json!({ "userName": "a", "active": "yes" }), "active"),
        (json!({ "userName": "a", "active": 1 }), "active"),
        (json!({ "userName": "a", "title": {} }), "title"),
        (json!({ "userName": "a", "title": "x\u{0}y" }), "title"),
        (json!({ "userName": "a", "name": "Ana Ruiz" }), "name"),
        (json!({ "userName": "a", "name": { "givenName": ["Ana"] } }), "name.givenName"),
        (json!({ "userName": "a", "emails": 1 }), "emails"),
        (json!({ "userName": "a", "emails": [1] }), "emails"),
        (json!({ "userName": "a", "emails": [{ "value": {} }] }), "emails.value"),
        (json!({ "userName": "a", "emails": [{ "value": "a", "primary": "x" }] }), "emails.primary"),
        (json!({ "userName": "a", ENTERPRISE: [] }), ENTERPRISE),
        (json!({ "userName": "a", ENTERPRISE: { "department": 1 } }), "department"),
    ] {
        let detail = refused(&body);
        assert!(detail.starts_with(name), "{detail}");
    }
    let primary = |value: &str| json!({ "value": value, "primary": true });
    let detail = refused(&json!({ "userName": "a", "emails": [primary("a"), primary("b")] }));
    assert_eq!(detail, "emails must have one primary element at most");
    for body in [json!(null), json!([]), json!("x")] {
        assert_eq!(kind(&UserResource::parse(&body).unwrap_err()), "invalidSyntax");
    }
}

#[test]
fn the_attributes_are_bounded_together() {
    let title = |length: usize| json!({ "userName": "a", "title": "x".repeat(length) });
    // {"title":"…"}
    assert!(UserResource::parse(&title(16 * 1024 - 12)).is_ok());
    assert!(refused(&title(16 * 1024 - 11)).contains("16384 bytes"));
    let emails = |count: usize| -> Vec<Value> { (0..count).map(|index| json!(format!("{index}@a.example"))).collect() };
    assert!(UserResource::parse(&json!({ "userName": "a", "emails": emails(20) })).is_ok());
    refused(&json!({ "userName": "a", "emails": emails(21) }));
}

fn profile(body: Value) -> Profile {
    UserResource::parse(&body).unwrap().profile().unwrap()
}

#[test]
fn the_address_is_the_primary_one_or_the_first_one_or_the_name() {
    let other = json!({ "value": "other@firma.example" });
    let primary = json!({ "value": "Ana@firma.example", "primary": true });
    for (user_name, emails, expected) in [
        ("x", json!([other, primary]), "Ana@firma.example"),
        ("x", json!([other, { "value": "b@firma.example", "primary": false }]), "other@firma.example"),
        ("ana@login.example", json!([other]), "other@firma.example"),
        ("ana@login.example", json!([]), "ana@login.example"),
    ] {
        assert_eq!(profile(json!({ "userName": user_name, "emails": emails })).email, expected);
    }
    for body in [json!({ "userName": "ana" }), json!({ "userName": "ana@firma.example", "emails": ["no address"] })] {
        let error = UserResource::parse(&body).unwrap().profile().unwrap_err();
        assert_eq!(kind(&error), "invalidValue");
        assert!(error.detail.starts_with("emails"), "{}", error.detail);
    }
}

#[test]
fn names_come_from_the_next_best_source() {
    let (long, cut) = ("ü".repeat(101), "ü".repeat(100));
    for (body, first, last) in [
        (json!({ "name": { "givenName": "Ana", "familyName": "Ruiz" }, "displayName": "Bo Li" }), "Ana", "Ruiz"),
        (json!({ "displayName": "Ana María Ruiz" }), "Ana María", "Ruiz"),
        (json!({ "name": { "givenName": "Ana" }, "displayName": "A. Ruiz" }), "Ana", "Ruiz"),
        (json!({ "displayName": "Ana" }), "Ana", "-"),
        (json!({ "name": { "givenName": " ", "familyName": "\n" } }), "ana.ruiz", "-"),
        (json!({}), "ana.ruiz", "-"),
        (json!({ "name": { "givenName": long, "familyName": "Ruiz" } }), cut.as_str(), "Ruiz"),
    ] {
        let mut whole = json!({ "userName": "ana.ruiz@firma.example" });
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        let profile = profile(whole);
        assert_eq!((profile.first_name.as_str(), profile.last_name.as_str()), (first, last), "{body}");
    }
}

#[test]
fn an_answer_shows_what_the_directory_says() {
    let mut user = UserResource::parse(&json!({
        "userName": "ana", "externalId": "a91", "active": false, "title": "Nurse", ENTERPRISE: { "department": "Care" },
    }))
    .unwrap();
    let expected = json!({
        "schemas": [USER, ENTERPRISE],
        "id": "77c",
        "userName": "ana",
        "externalId": "a91",
        "active": false,
        "title": "Nurse",
        ENTERPRISE: { "department": "Care" },
        "meta": {
            "resourceType": "User",
            "created": "2026-01-31T09:15:00.000Z",
            "lastModified": "2026-02-01T09:15:00.500Z",
            "location": "https://iam.example.com/scim/v2/Users/77c",
            "version": "W/\"7\"",
        },
    });
    assert_eq!(user.render("77c", &meta("Users/77c")), expected);

    user.attributes.clear();
    (user.external_id, user.active) = (None, None);
    let rendered = user.render("77c", &meta("Users/77c"));
    let names: Vec<&String> = rendered.as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(rendered["schemas"], json!([USER]));
}
