//! `POST /auth/register` (`docs/http-api.md#registration`).

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, profile, with};
use crate::request::{Response, members};

in_memory![
    answers_201_with_tenant_user_and_tokens,
    the_first_user_is_tenant_administrator,
    the_tenant_name_is_trimmed_and_makes_the_slug,
    the_default_tenant_name_is_made_from_the_users_name,
    a_slug_that_is_taken_gets_a_suffix,
    a_tenant_name_without_letters_for_a_slug_still_gets_a_slug,
    the_same_email_can_register_another_tenant,
    closed_registration_is_forbidden_and_creates_nothing,
    records_only_tenant_user_role_and_login,
    every_invalid_field_is_named,
    a_wrong_type_or_an_unknown_field_is_named,
    every_rule_of_the_password_policy_is_enforced,
    names_and_email_are_bounded,
    concurrent_registrations_with_the_same_name_all_succeed,
];

async fn register(app: &TestApp, members: &Value) -> Response {
    app.post("/auth/register").json(&with(profile("ada@example.com"), members)).send().await
}

async fn answers_201_with_tenant_user_and_tokens(app: TestApp) {
    let body = register(&app, &json!({ "email": "Ada@Example.com", "tenantName": "Acme" })).await.created();
    assert_eq!(members(&body), ["accessToken", "expiresIn", "refreshToken", "tenant", "tokenType", "user"]);
    assert_eq!((&body["tokenType"], &body["expiresIn"]), (&json!("Bearer"), &json!(900)));
    let (now, tenant, user) = (app.now(), &body["tenant"], &body["user"]);
    assert_eq!(
        *tenant,
        json!({
            "id": tenant["id"], "name": "Acme", "slug": "acme", "status": "ACTIVE", "passwordPolicy": "seed",
            "secondFactor": "OPTIONAL",
            "secondFactorGraceDays": 7,
            "passwordLogin": "ALLOWED",
            "emailLogin": "OFF",
            "authzenIdentifiers": "ID",
            "createdAt": now, "updatedAt": now,
        })
    );
    assert_eq!(
        *user,
        json!({
            "id": user["id"], "kind": "HUMAN", "email": "Ada@Example.com", "emailVerifiedAt": null, "firstName": "Ada", "homeOrganizationId": null,
            "lastName": "Lovelace", "externalId": null,
            "tenantId": tenant["id"], "status": "ACTIVE", "lastLoginAt": now, "createdAt": now, "updatedAt": now,
        })
    );
    let me = app.get("/auth/me").bearer(body["accessToken"].as_str().unwrap()).send().await.ok();
    assert_eq!((&me["user"], &me["tenant"]), (user, tenant));
}

async fn the_first_user_is_tenant_administrator(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    let roles = me["roles"].as_array().unwrap();
    assert_eq!(roles.len(), 1);
    assert_eq!(roles[0]["role"]["name"], "TENANT_ADMIN");
    assert_eq!((roles[0].get("organization"), &roles[0]["expiresAt"]), (None, &Value::Null));
}

async fn the_tenant_name_is_trimmed_and_makes_the_slug(app: TestApp) {
    let body = register(&app, &json!({ "tenantName": "  Müller & Sons (2) GmbH " })).await.created();
    assert_eq!(body["tenant"]["name"], "Müller & Sons (2) GmbH");
    let slug = body["tenant"]["slug"].as_str().unwrap();
    assert!(is_slug(slug) && slug.ends_with("sons-2-gmbh"), "{slug}");
}

async fn the_default_tenant_name_is_made_from_the_users_name(app: TestApp) {
    let body = register(&app, &json!({})).await.created();
    let name = body["tenant"]["name"].as_str().unwrap();
    assert!(name.contains("Ada") && name.contains("Lovelace"), "{name}");
    assert!(is_slug(body["tenant"]["slug"].as_str().unwrap()));
    let null = register(&app, &json!({ "tenantName": null })).await.created();
    assert_eq!(null["tenant"]["name"], name);
    let longest = json!({ "firstName": "a".repeat(100), "lastName": "b".repeat(100) });
    let body = register(&app, &longest).await.created();
    assert!(body["tenant"]["name"].as_str().unwrap().chars().count() <= 120);
}

async fn a_slug_that_is_taken_gets_a_suffix(app: TestApp) {
    for name in ["Acme".to_owned(), "a".repeat(100)] {
        let first = register(&app, &json!({ "tenantName": name })).await.created();
        let second = register(&app, &json!({ "tenantName": name })).await.created();
        assert_eq!(second["tenant"]["name"], name);
        let (first, second) = (&first["tenant"]["slug"], &second["tenant"]["slug"]);
        assert_ne!(first, second);
        assert!(is_slug(first.as_str().unwrap()) && is_slug(second.as_str().unwrap()), "{first} {second}");
    }
}

async fn a_tenant_name_without_letters_for_a_slug_still_gets_a_slug(app: TestApp) {
    let body = register(&app, &json!({ "tenantName": "株式会社" })).await.created();
    assert!(is_slug(body["tenant"]["slug"].as_str().unwrap()), "{body}");
}

async fn the_same_email_can_register_another_tenant(app: TestApp) {
    let first = app.register("ada@example.com").await;
    let second = app.register("ADA@example.com").await;
    assert_ne!(first.tenant, second.tenant);
}

async fn closed_registration_is_forbidden_and_creates_nothing(app: TestApp) {
    let closed = app.with_settings(|settings| settings.registration = false).await;
    register(&closed, &json!({})).await.problem("forbidden");
    closed.attempt("ada@example.com", PASSWORD).send().await.problem("unauthorized");
}

async fn records_only_tenant_user_role_and_login(app: TestApp) {
    let request = app.post("/auth/register").json(&with(profile("ada@example.com"), &json!({ "tenantName": "Acme" })));
    let body = request.header("x-correlation-id", "founding").send().await.created();
    let token = body["accessToken"].as_str().unwrap();
    let me = app.get("/auth/me").bearer(token).send().await.ok();
    let entries = app.get("/audit-logs").bearer(token).send().await.ok();
    let mut entries = entries["data"].as_array().unwrap().clone();
    entries.sort_by_key(|entry| entry["resourceType"].as_str().unwrap().to_owned());
    let (user, tenant) = (&body["user"]["id"], &body["tenant"]["id"]);
    let assignment = &me["roles"][0];
    let expected = [
        ("ROLE_ASSIGNED", "ROLE_ASSIGNMENT", &assignment["assignmentId"]),
        ("LOGIN", "SESSION", &me["session"]["id"]),
        ("CREATE", "TENANT", tenant),
        ("CREATE", "USER", user),
    ];
    assert_eq!(entries.len(), expected.len(), "{entries:?}");
    for (entry, (action, resource_type, resource_id)) in entries.iter().zip(expected) {
        assert_eq!((&entry["action"], &entry["resourceType"]), (&json!(action), &json!(resource_type)));
        assert_eq!((&entry["resourceId"], &entry["userId"]), (resource_id, user), "{action}");
        assert_eq!((&entry["tenantId"], &entry["correlationId"]), (tenant, &json!("founding")));
    }
    let role = json!({
        "targetUserId": user, "roleId": assignment["role"]["id"], "roleName": "TENANT_ADMIN", "organizationId": null,
    });
    assert_eq!(entries[0]["metadata"], role);
    assert_eq!(entries[1]["metadata"]["method"], "password");
    assert_eq!((&entries[2]["newValue"]["name"], &entries[2]["newValue"]["slug"]), (&json!("Acme"), &json!("acme")));
    assert_eq!(entries[3]["newValue"]["email"], "ada@example.com");
    assert_eq!(entries[3]["newValue"]["password"], "[REDACTED]");
}

async fn every_invalid_field_is_named(app: TestApp) {
    let empty = app.post("/auth/register").json(&json!({})).send().await;
    assert_eq!(empty.invalid_fields(), ["email", "password", "firstName", "lastName"]);
    let wrong = json!({ "email": "ada", "password": "x", "firstName": "", "lastName": " ", "tenantName": "" });
    let mut fields = register(&app, &wrong).await.invalid_fields();
    fields.sort_unstable();
    assert_eq!(fields, ["email", "firstName", "lastName", "password", "tenantName"]);
}

async fn a_wrong_type_or_an_unknown_field_is_named(app: TestApp) {
    for field in ["email", "password", "firstName", "lastName", "tenantName", "tenantname", "role"] {
        assert_eq!(register(&app, &json!({ field: 17 })).await.invalid_fields(), [field]);
    }
}

async fn every_rule_of_the_password_policy_is_enforced(app: TestApp) {
    let long = format!("Aa1!{}", "a".repeat(124));
    for special in ["!", "@", "#", "$", "%", "^", "&", "*"] {
        register(&app, &json!({ "password": format!("Passw0r{special}") })).await.created();
    }
    register(&app, &json!({ "password": long })).await.created();
    let too_long = format!("{long}a");
    for weak in ["Pass0r!", "passw0rd!", "PASSW0RD!", "Password!", "Passw0rd", "Passw0rd?", "", &too_long] {
        assert_eq!(register(&app, &json!({ "password": weak })).await.invalid_fields(), ["password"], "{weak}");
    }
}

async fn names_and_email_are_bounded(app: TestApp) {
    let bounds = [("firstName", 100), ("lastName", 100), ("tenantName", 120)];
    for (field, bound) in bounds {
        register(&app, &json!({ field: "ü".repeat(bound) })).await.created();
        for bad in ["ü".repeat(bound + 1), "a\u{7}b".to_owned(), "   ".to_owned()] {
            assert_eq!(register(&app, &json!({ field: bad })).await.invalid_fields(), [field], "{bad}");
        }
    }
    // Every part of the address stays within its own limit, so that only the whole address can be too long.
    let of_length = |length: usize| {
        let domain = format!("{}.{}.{}.example", "b".repeat(60), "c".repeat(60), "d".repeat(length - 195));
        format!("{}@{domain}", "a".repeat(64))
    };
    assert_eq!(of_length(254).len(), 254);
    register(&app, &json!({ "email": of_length(254) })).await.created();
    for bad in [of_length(255), "ada@".to_owned(), "@example.com".to_owned(), "a b@example.com".to_owned()] {
        assert_eq!(register(&app, &json!({ "email": bad })).await.invalid_fields(), ["email"], "{bad}");
    }
}

async fn concurrent_registrations_with_the_same_name_all_succeed(app: TestApp) {
    let body = json!({ "tenantName": "Acme" });
    let answers = join_all((0..6).map(|_| register(&app, &body))).await;
    let slugs: BTreeSet<String> = answers.iter().map(|answer| answer.created()["tenant"]["slug"].to_string()).collect();
    assert_eq!(slugs.len(), 6);
}

fn is_slug(text: &str) -> bool {
    let is_word =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 63 && text.split('-').all(is_word)
}
