//! Laws that hold for all requests, and a bounded run of requests that no client sends.

use iam_scim::filter::{group_filter, user_filter};
use iam_scim::group::{GroupPatch, GroupResource};
use iam_scim::query::{Parameters, projection};
use iam_scim::user::UserResource;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{ENTERPRISE, meta, patch_op};

fn text() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["", "a", "b", "A", "a@firma.example", "True", "work", "home", "é", "\u{0}"])
        .prop_map(Value::from)
}

fn element() -> impl Strategy<Value = Value> {
    let value = prop::sample::select(vec!["a@firma.example", "b@firma.example", "c@firma.example"]);
    let kind = prop::option::of(prop::sample::select(vec!["work", "home"]));
    (value, kind, prop::option::of(Just(false))).prop_map(|(value, kind, primary)| {
        let mut element = json!({ "value": value });
        if let Some(kind) = kind {
            element["type"] = json!(kind);
        }
        if let Some(primary) = primary {
            element["primary"] = json!(primary);
        }
        element
    })
}

fn user() -> impl Strategy<Value = Value> {
    let emails = prop::collection::vec(element(), 0..4);
    (emails, prop::option::of(any::<bool>()), "[a-z]{0,3}").prop_map(|(emails, active, title)| {
        json!({
            "userName": "ana@firma.example", "active": active, "title": title, "emails": emails,
            "name": { "givenName": title },
            ENTERPRISE: { "department": title, "manager": title },
        })
    })
}

/// Paths, each with a value that it can have. A filter asks only whether values are equal: any other may select
/// something else the second time.
fn operation() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec!["add", "Replace", "REMOVE"]);
    let text = prop::sample::select(vec!["x", "a@firma.example", "work"]);
    let target = prop_oneof![
        text.clone().prop_map(|value| (json!("title"), json!(value))),
        text.clone().prop_map(|value| (json!("name.givenName"), json!(value))),
        text.clone().prop_map(|value| (json!(format!("{ENTERPRISE}:manager")), json!(value))),
        text.clone().prop_map(|value| (json!("emails[type eq \"work\"].value"), json!(value))),
        text.clone().prop_map(|value| (json!("emails[value eq \"a@firma.example\"].type"), json!(value))),
        any::<bool>().prop_map(|value| (json!("emails[type eq \"home\"].primary"), json!(value))),
        any::<bool>().prop_map(|value| (json!("active"), json!(value))),
        element().prop_map(|value| (json!("emails[type eq \"home\"]"), value)),
        prop::collection::vec(element(), 0..3).prop_map(|value| (json!("emails"), json!(value))),
        text.prop_map(|value| (json!(ENTERPRISE), json!({ "department": value }))),
    ];
    (op, target).prop_map(|(op, (path, value))| json!({ "op": op, "path": path, "value": value }))
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text(),
    ];
    let name = prop::sample::select(vec![
        "userName",
        "externalId",
        "active",
        "title",
        "name",
        "name.givenName",
        "emails",
        "emails.value",
        "value",
        "type",
        "primary",
        "manager",
        "$ref",
        "members",
        "members.value",
        "displayName",
        "id",
        "meta",
        "schemas",
        "op",
        "path",
        "Operations",
        "emails[type eq \"work\"].value",
        "members[value eq \"a\"]",
        "filter",
        "count",
        "attributes",
        ENTERPRISE,
        "",
        "[",
        "é",
    ]);
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|members| {
                let members: Map<String, Value> =
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                Value::Object(members)
            }),
        ]
    })
}

fn filter_like() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "userName",
        "emails",
        "members",
        "meta.created",
        "active",
        "type",
        "value",
        " ",
        " eq ",
        " pr",
        " and ",
        " or ",
        "not ",
        "not",
        "(",
        ")",
        "[",
        "]",
        ".value",
        "\"",
        "\"x\"",
        "\\",
        "true",
        "null",
        "1e9",
        ":",
        "urn:a:b",
        "é",
        "\u{0}",
        "\"2026-01-31T09:15:00Z\"",
        " gt ",
    ]);
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

/// Reads a value as each message. What is read can be answered.
fn read(value: &Value) {
    if let Ok(user) = UserResource::parse(value) {
        let _profile = user.profile();
        let _rendered = user.render("77c", &meta("Users/77c"));
    }
    if let Ok(group) = GroupResource::parse(value) {
        let _rendered = group.render("5f0", &meta("Groups/5f0"), "https://iam.example.com/Users");
    }
    let mut user = UserResource::parse(&json!({ "userName": "ana" })).unwrap();
    for body in [value.clone(), patch_op(value.clone()), patch_op(json!([{ "op": "replace", "value": value }]))] {
        let before = user.clone();
        if user.patch(&body).is_err() {
            assert_eq!(user, before, "{body}");
        }
        let _patch = GroupPatch::parse(&body);
    }
    if let Ok(parameters) = Parameters::from_search(value) {
        let _of_users = parameters.of_users();
        let _of_groups = parameters.of_groups();
        if let Ok((users, _)) = parameters.of_all() {
            let _shown = users.projection.apply(value.clone());
        }
    }
}

proptest! {
    #[test]
    fn a_change_that_is_repeated_changes_nothing_more(user in user(), operation in operation()) {
        let body = patch_op(json!([operation]));
        let mut once = UserResource::parse(&user).unwrap();
        if once.patch(&body).is_ok() {
            let mut twice = once.clone();
            prop_assert!(twice.patch(&body).is_ok(), "{body}");
            prop_assert_eq!(twice, once, "{}", body);
        }
    }

    #[test]
    fn what_is_answered_can_be_sent_back(user in user(), operations in prop::collection::vec(operation(), 0..4)) {
        let mut user = UserResource::parse(&user).unwrap();
        for operation in operations {
            // A refused one changes nothing.
            let _outcome = user.patch(&patch_op(json!([operation])));
        }
        let rendered = user.render("77c", &meta("Users/77c"));
        prop_assert_eq!(UserResource::parse(&rendered), Ok(user.clone()));
        // So does a change that states everything again.
        let mut patched = user.clone();
        let whole = patch_op(json!([{ "op": "replace", "value": rendered }]));
        prop_assert!(patched.patch(&whole).is_ok());
        prop_assert_eq!(patched, user);
    }

    #[test]
    fn no_message_ends_in_a_panic(value in anything(), operation in anything(), text in ".{0,40}") {
        read(&value);
        let mut operation = operation;
        if let Some(members) = operation.as_object_mut() {
            members.insert("op".to_owned(), json!("add"));
        }
        read(&json!([operation]));
        read(&json!({ "Operations": [{ "op": "replace", "path": text, "value": value }] }));
        read(&json!({ "Operations": [{ "op": "remove", "path": "members", "value": value }] }));
    }

    #[test]
    fn no_filter_ends_in_a_panic(like in filter_like(), text in ".{0,40}") {
        for text in [like, text] {
            let _of_users = user_filter(&text);
            let _of_groups = group_filter(&text);
            if let Ok(parameters) = Parameters::from_pairs([("sortBy", &text), ("attributes", &text)]) {
                let _query = parameters.of_users();
            }
            let _projection = projection([("excludedAttributes", &text)]);
            read(&json!({ "Operations": [{ "op": "replace", "path": text, "value": [{ "value": "x" }] }] }));
        }
    }
}
