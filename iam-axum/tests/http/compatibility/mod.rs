//! Checks that the OpenAPI document breaks no client of the last release (docs/versioning.md).

mod comparison;

use std::path::Path;

use serde_json::{Value, json};

use crate::openapi::document;
use comparison::breaks;

/// The document of the last release.
fn released() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi-released.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The document with another value at this JSON pointer, or without the value.
fn with(mut document: Value, pointer: &str, value: Option<Value>) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/");
    let parent = document.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer}"));
    match (parent, value) {
        (Value::Object(members), Some(value)) => drop(members.insert(name, value)),
        (Value::Object(members), None) => drop(members.remove(&name).unwrap_or_else(|| panic!("{pointer}"))),
        (Value::Array(items), Some(value)) if name == "-" => items.push(value),
        (Value::Array(items), None) => drop(items.remove(name.parse().unwrap())),
        _ => panic!("{pointer}"),
    }
    document
}

#[test]
fn the_document_breaks_no_client_of_the_last_release() {
    let breaks = breaks(&released(), &document());
    assert!(breaks.is_empty(), "docs/versioning.md does not allow this: {breaks:#?}");
}

#[test]
fn every_kind_of_breaking_change_is_found() {
    let set = |pointer, value| (pointer, Some(value));
    let remove = |pointer| (pointer, None);
    let required = json!({ "name": "x", "in": "query", "required": true });
    // Every kind of breaking change once, with the message at the first place in the document that reaches it.
    let cases = [
        (set("/servers/0/url", json!("/api/v2")), "servers: another prefix"),
        (remove("/paths/~1.well-known~1jwks.json/servers"), "/.well-known/jwks.json: another prefix"),
        (remove("/paths/~1roles"), "POST /roles: removed"),
        (remove("/paths/~1users/get"), "GET /users: removed"),
        (set("/paths/~1users/get/operationId", json!("findUsers")), "GET /users: another operationId"),
        (set("/paths/~1users/get/x-required-permission", json!("users:list")), "GET /users: another permission"),
        (set("/paths/~1auth~1me/get/x-required-permission", json!("users:read")), "GET /auth/me: another permission"),
        (set("/paths/~1health/get/x-required-permission", json!("session")), "GET /health: another permission"),
        (remove("/paths/~1health/get/security"), "GET /health: a way to authenticate was removed"),
        (set("/paths/~1users/get/security", json!([{ "key": [] }])), "GET /users: a way to authenticate was removed"),
        (remove("/paths/~1users/get/parameters/0"), "GET /users \"page\": removed"),
        (set("/paths/~1users/get/parameters/0/required", json!(true)), "GET /users: \"page\" is required"),
        (set("/paths/~1users/get/parameters/-", required), "GET /users: \"x\" is required"),
        (set("/paths/~1users/get/parameters/1/schema/maximum", json!(50)), "\"limit\": another maximum"),
        (set("/paths/~1users/get/parameters/1/schema/minimum", json!(2)), "\"limit\": another minimum"),
        (set("/paths/~1users/get/parameters/1/schema/type", json!("string")), "\"limit\": another type"),
        (remove("/paths/~1users/get/parameters/2/schema/enum/0"), "\"status\": other enum values"),
        (set("/paths/~1users/get/parameters/4/schema/enum", json!(["a"])), "\"search\": other enum values"),
        (set("/paths/~1users/get/parameters/4/schema/pattern", json!("^a")), "\"search\": another pattern"),
        (set("/paths/~1auth~1logout/post/requestBody", json!({ "required": true })), "logout: a body is required"),
        (remove("/paths/~1users/post/requestBody/content/application~1json"), "/users application/json: removed"),
        (set("/components/schemas/NewOrganization/required/-", json!("slug")), "slug is required"),
        (remove("/components/schemas/NewUser/properties/lastName"), "lastName: removed"),
        (set("/components/schemas/NewUser/properties/lastName/maxLength", json!(9)), "lastName: another maxLength"),
        (set("/components/schemas/UserPatch/properties/email/type", json!("string")), "email: another type"),
        (remove("/components/schemas/UserPatch/properties/status/oneOf/1"), "status: other alternatives"),
        (remove("/components/schemas/UserPatch/properties/status/oneOf/0/enum/0"), "status: other alternatives"),
        (remove("/paths/~1users/post/responses/201"), "POST /users 201: removed"),
        (remove("/paths/~1users/post/responses/201/headers/Idempotent-Replayed"), "Idempotent-Replayed: removed"),
        (remove("/paths/~1users/get/responses/200/content/application~1json"), "200 application/json: removed"),
        (remove("/components/schemas/User/properties/email"), "email: removed"),
        (set("/components/schemas/User/required", json!(["id"])), "status may be missing"),
        (set("/components/schemas/User/properties/email/type", json!(["string", "null"])), "email: another type"),
        (remove("/components/schemas/User/properties/id/format"), "id: another format"),
        (set("/components/schemas/User/properties/status/enum/-", json!("NEW")), "status: other enum values"),
        (remove("/components/schemas/User/properties/status/enum"), "status: other enum values"),
        (remove("/components/schemas/TreeNode/properties/slug"), "slug: removed"),
        (remove("/components/schemas/Tokens/properties/expiresIn"), "expiresIn: removed"),
        (
            set("/components/schemas/Role/properties/permissions/items/type", json!("object")),
            "permissions[]: another type",
        ),
        (remove("/components/schemas/Problem/properties/detail"), "detail: removed"),
    ];
    for ((pointer, value), expected) in cases {
        let found = breaks(&document(), &with(document(), pointer, value));
        assert!(found.iter().any(|found| found.contains(expected)), "{pointer}: {found:#?}");
    }
}

#[test]
fn changes_that_break_no_client_are_allowed() {
    let set = |pointer, value| (pointer, Some(value));
    let remove = |pointer| (pointer, None);
    let optional = json!({ "name": "x", "in": "query", "required": false });
    let cases = [
        set("/info/version", json!("9.0.0")),
        set("/paths/~1orders", json!({ "get": {} })),
        set("/paths/~1roles/put", json!({ "operationId": "replaceRoles" })),
        set("/paths/~1users/get/deprecated", json!(true)),
        set("/paths/~1users/get/summary", json!("Find users")),
        set("/paths/~1users/get/x-required-permission", json!("session")),
        set("/paths/~1auth~1me/get/x-required-permission", json!("public")),
        set("/paths/~1users/get/security", json!([{ "bearer": [] }, { "key": [] }])),
        set("/paths/~1users/get/parameters/-", optional),
        set("/paths/~1users/get/parameters/1/schema/maximum", json!(200)),
        remove("/paths/~1users/get/parameters/1/schema/minimum"),
        set("/paths/~1users/get/parameters/2/schema/enum/-", json!("NEW")),
        set("/paths/~1audit-logs~1consistency-proof/get/parameters/0/required", json!(false)),
        set("/paths/~1auth~1logout/post/requestBody", json!({ "required": false })),
        set("/components/schemas/NewUser/properties/nickname", json!({ "type": "string" })),
        remove("/components/schemas/NewUser/required/0"),
        remove("/components/schemas/NewUser/properties/lastName/maxLength"),
        set("/components/schemas/NewUser/properties/lastName/type", json!(["string", "null"])),
        remove("/components/schemas/NewUser/additionalProperties"),
        set("/components/schemas/NewAuditEvent/properties/metadata/additionalProperties", json!({})),
        set("/components/schemas/UserPatch/properties/status/oneOf/-", json!({ "type": "boolean" })),
        set("/paths/~1users/post/responses/202", json!({ "description": "Later" })),
        set("/paths/~1users/get/responses/200/headers", json!({ "X": { "schema": {} } })),
        set("/paths/~1users/get/responses/200/content/text~1csv", json!({ "schema": {} })),
        set("/components/schemas/User/properties/nickname", json!({ "type": "string" })),
        set("/components/schemas/User/required/-", json!("nickname")),
        remove("/components/schemas/User/properties/status/enum/0"),
        set("/components/schemas/User/properties/email/maxLength", json!(254)),
        set("/components/schemas/User/properties/lastLoginAt", json!({ "$ref": "#/components/schemas/Time" })),
    ];
    for (pointer, value) in cases {
        let found = breaks(&document(), &with(document(), pointer, value));
        assert!(found.is_empty(), "{pointer}: {found:#?}");
    }
}
