//! `POST /audit-logs`: events of an application (`docs/audit.md#events-of-an-application`).

use iam_core::audit::{ACTIONS, CATALOGUE, NewEvent};
use iam_core::{Error, RequestContext};
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, with};
use crate::request::{ADDRESS, Request, members};

in_memory![
    the_answer_is_the_full_entry,
    only_action_and_type_are_required,
    entries_of_the_service_cannot_be_forged,
    reserved_actions_are_refused_for_every_resource_type,
    an_application_may_record_all_other_events,
    action_and_type_are_upper_snake_case_of_at_most_64_characters,
    a_resource_is_named_by_any_text_of_at_most_200_characters,
    metadata_must_be_an_object,
    metadata_is_returned_as_it_was_sent,
    metadata_is_bounded,
    a_number_in_metadata_that_cannot_be_kept_exactly_is_400,
    metadata_cannot_name_the_caller_in_place_of_the_service,
    secrets_are_redacted_by_name_at_any_depth,
    an_unknown_field_is_refused,
    the_permission_is_needed_tenant_wide,
    the_library_accepts_and_refuses_the_same_events,
    an_event_is_found_by_every_filter,
];

fn record<'a>(app: &'a TestApp, by: &Person, body: &Value) -> Request<'a> {
    app.post("/audit-logs").by(by).json(body)
}

fn event(action: &str, resource_type: &str) -> Value {
    json!({ "action": action, "resourceType": resource_type })
}

async fn the_answer_is_the_full_entry(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let metadata = json!({ "to": ["ada@example.com"], "amount": 17.5 });
    let body = with(event("SENT", "INVOICE"), &json!({ "resourceId": "2026-0017", "metadata": metadata }));
    let request = record(&app, &ada, &body).header("x-correlation-id", "sending").header("user-agent", "billing/2");
    let entry = request.send().await.created();
    let expected = json!({
        "id": entry["id"], "tenantId": ada.tenant, "action": "SENT", "resourceType": "INVOICE",
        "resourceId": "2026-0017", "userId": ada.user, "oldValue": null, "newValue": null, "metadata": metadata,
        "correlationId": "sending", "ipAddress": ADDRESS, "userAgent": "billing/2", "createdAt": app.now(),
    });
    assert_eq!(entry, expected);
    assert_eq!(app.audit(&ada, &[]).await[0], entry);
}

async fn only_action_and_type_are_required(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(record(&app, &ada, &json!({})).send().await.invalid_fields(), ["action", "resourceType"]);
    for absent in [json!({}), json!({ "resourceId": null, "metadata": null })] {
        let entry = record(&app, &ada, &with(event("SENT", "INVOICE"), &absent)).send().await.created();
        assert_eq!((&entry["resourceId"], &entry["metadata"]), (&json!(null), &json!({})));
    }
}

async fn entries_of_the_service_cannot_be_forged(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = app.audit(&ada, &[]).await;
    let mut actions: Vec<&str> = CATALOGUE.iter().flat_map(|recorded| recorded.actions).copied().collect();
    actions.extend(ACTIONS);
    for recorded in &CATALOGUE {
        for action in &actions {
            let body = event(action, recorded.resource_type.as_str());
            assert_eq!(record(&app, &ada, &body).send().await.invalid_fields(), ["action"], "{body}");
        }
    }
    assert_eq!(app.audit(&ada, &[]).await, before);
}

async fn reserved_actions_are_refused_for_every_resource_type(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let before = app.audit(&ada, &[]).await;
    let reserved = [
        "LOGIN",
        "LOGOUT",
        "LOGIN_FAILURE",
        "TOKEN_REFRESH",
        "PASSWORD_CHANGE",
        "ROLE_ASSIGNED",
        "ROLE_REVOKED",
        "USER_SUSPENDED",
        "USER_REACTIVATED",
        "SUSPEND",
        "REACTIVATE",
    ];
    for action in reserved {
        for resource_type in ["TURNSTILE", "USER", "INVOICE", "A"] {
            let body = event(action, resource_type);
            assert_eq!(record(&app, &ada, &body).send().await.invalid_fields(), ["action"], "{body}");
        }
    }
    assert_eq!(app.audit(&ada, &[]).await, before);
}

async fn an_application_may_record_all_other_events(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (action, resource_type) in
        [("CREATE", "ORDER"), ("DELETE", "USERS"), ("EXPORTED", "USER"), ("LOGINS", "SESSION")]
    {
        record(&app, &ada, &event(action, resource_type)).send().await.created();
    }
}

async fn action_and_type_are_upper_snake_case_of_at_most_64_characters(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for good in ["A", "A_", "A1_B2", &"A".repeat(64)] {
        record(&app, &ada, &event(good, good)).send().await.created();
    }
    for bad in ["", " ", "a", "Sent", "1A", "_A", "A-B", "A B", "SENT ", "Ä", "A\n", "A\0", &"A".repeat(65)] {
        let refused = record(&app, &ada, &event(bad, bad)).send().await;
        assert_eq!(refused.invalid_fields(), ["action", "resourceType"], "{bad:?}");
    }
}

async fn a_resource_is_named_by_any_text_of_at_most_200_characters(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let named = |id: &str| record(&app, &ada, &with(event("SENT", "INVOICE"), &json!({ "resourceId": id })));
    for good in ["", "x", "2026/17 ü", "=1+1", "'; DROP TABLE users; --", "\u{10ffff}", &"ü".repeat(200)] {
        let entry = named(good).send().await.created();
        assert_eq!(entry["resourceId"], good);
        assert_eq!(app.audit(&ada, &[("resourceId", good)]).await, [entry]);
    }
    for bad in ["a\0", "a\nb", "\u{7f}", &"ü".repeat(201)] {
        assert_eq!(named(bad).send().await.invalid_fields(), ["resourceId"], "{bad:?}");
    }
}

async fn metadata_must_be_an_object(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for bad in [json!("text"), json!(17), json!(true), json!([{}])] {
        let refused = record(&app, &ada, &with(event("SENT", "INVOICE"), &json!({ "metadata": bad }))).send().await;
        assert_eq!(refused.invalid_fields(), ["metadata"], "{bad}");
    }
}

/// Metadata that a conversion could damage: special numbers, characters and depths.
pub(super) fn edge_case_metadata() -> Value {
    let mut deep = json!("bottom");
    for _ in 0..100 {
        deep = json!([{ "deeper": deep }])[0].clone();
    }
    json!({
        "numbers": [0, -0.0, 1.0, 1e16, 1e300, 5e-324, 0.1, i64::MIN, 9_007_199_254_740_992_u64],
        "texts": ["", " x ", "\u{0}", "\u{1}\t\r\n\"\\/", "ü\u{301}", "\u{10ffff}", "\u{2028}", "[REDACTED]"],
        "": { "\u{0}": null, "ä": false, "a.b": [[], {}] },
        "deep": deep,
    })
}

async fn metadata_is_returned_as_it_was_sent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = with(event("SENT", "INVOICE"), &json!({ "metadata": edge_case_metadata() }));
    let entry = record(&app, &ada, &body).send().await.created();
    assert_eq!(entry["metadata"].to_string(), edge_case_metadata().to_string());
    let path = format!("/audit-logs/{}", entry["id"].as_str().unwrap());
    let read = app.get(&path).by(&ada).send().await.ok();
    assert_eq!(read["metadata"].to_string(), edge_case_metadata().to_string());
    assert_eq!(read, entry);
}

/// Records an event with this text as its metadata.
fn with_metadata<'a>(app: &'a TestApp, by: &Person, metadata: &str) -> Request<'a> {
    let body = format!(r#"{{"action":"SENT","resourceType":"INVOICE","metadata":{metadata}}}"#);
    app.post("/audit-logs").by(by).header("content-type", "application/json").body(body)
}

async fn metadata_is_bounded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let nested = |levels: usize| format!(r#"{{"a":{}1{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1));
    let long = |bytes: usize| format!(r#"{{"a":"{}"}}"#, "x".repeat(bytes - 8));
    let many = |values: usize| format!(r#"{{"a":[{}]}}"#, vec!["0"; values - 1].join(","));
    for allowed in [nested(120), long(16 * 1024), many(500)] {
        let made = with_metadata(&app, &ada, &allowed).send().await.created();
        assert_eq!(made["metadata"], serde_json::from_str::<Value>(&allowed).unwrap());
    }
    for refused in [nested(121), nested(126), nested(127), nested(1_000), long(16 * 1024 + 1), many(501)] {
        let answer = app.unrecorded(&ada, with_metadata(&app, &ada, &refused).send()).await;
        assert_eq!(answer.invalid_fields(), ["metadata"], "{}", &refused[..20]);
        assert!(answer.text().contains("16 KiB"), "{}", answer.text());
    }
}

async fn a_number_in_metadata_that_cannot_be_kept_exactly_is_400(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for exact in ["9007199254740992", "-9007199254740991", "0.1", "1.50", "1e300", "-0.0", "7.0"] {
        let made = with_metadata(&app, &ada, &format!(r#"{{"a":[{{"b":{exact}}}]}}"#)).send().await.created();
        let kept = made["metadata"]["a"][0]["b"].as_f64().unwrap();
        assert_eq!(kept, exact.parse::<f64>().unwrap(), "{exact}");
    }
    for inexact in ["9007199254740993", "18446744073709551616", "0.1000000000000000055511", "1e999", "1e-999"] {
        let request = with_metadata(&app, &ada, &format!(r#"{{"a":[{{"b":{inexact}}}]}}"#));
        let refused = app.unrecorded(&ada, request.send()).await;
        assert_eq!(refused.invalid_fields(), ["metadata"], "{inexact}");
        assert!(refused.text().contains("exactly"), "{}", refused.text());
    }
}

async fn metadata_cannot_name_the_caller_in_place_of_the_service(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["apiKeyId", "directoryId", "system"] {
        let refused = with_metadata(&app, &ada, &json!({ name: "x" }).to_string()).send().await;
        assert_eq!(refused.invalid_fields(), [format!("metadata.{name}")]);
        let event = NewEvent {
            action: "SENT".to_owned(),
            resource_type: "INVOICE".to_owned(),
            metadata: json!({ name: "x" }).as_object().cloned().unwrap(),
            ..NewEvent::default()
        };
        let caller = app.iam.authenticate(&ada.access, RequestContext::default()).await.unwrap();
        assert!(matches!(app.iam.audit().log(&caller, event).await, Err(Error::Validation(_))), "{name}");
    }
}

async fn secrets_are_redacted_by_name_at_any_depth(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let names = [
        "password",
        "passwordHash",
        "password_hash",
        "currentPassword",
        "new_password",
        "NEWPASSWORD",
        "refreshToken",
        "refresh_token",
        "accessToken",
        "ACCESS_TOKEN",
        "token",
        "Token",
        "secret",
        "Authorization",
    ];
    for name in names {
        for hidden in [json!("hunter2"), json!(["hunter2"]), json!({ "in": "hunter2" })] {
            let metadata = json!({ name: hidden, "kept": [{ name: hidden, "kept": [[{ name: hidden }]] }] });
            let body = with(event("SENT", "INVOICE"), &json!({ "metadata": metadata }));
            let entry = record(&app, &ada, &body).send().await.created();
            let gone = "[REDACTED]";
            let expected = json!({ name: gone, "kept": [{ name: gone, "kept": [[{ name: gone }]] }] });
            assert_eq!(entry["metadata"], expected);
        }
    }
    assert!(!json!(app.audit(&ada, &[]).await).to_string().contains("hunter2"));
    let kept = json!({ "passwords": 1, "tokens": 2, "secretary": "x", "value": "password" });
    let body = with(event("SENT", "INVOICE"), &json!({ "metadata": kept }));
    assert_eq!(record(&app, &ada, &body).send().await.created()["metadata"], kept);
}

async fn an_unknown_field_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for field in ["userId", "tenantId", "oldValue", "newValue", "createdAt", "id", "meta"] {
        let body = with(event("SENT", "INVOICE"), &json!({ field: ada.user }));
        assert_eq!(record(&app, &ada, &body).send().await.invalid_fields(), [field]);
    }
}

async fn the_permission_is_needed_tenant_wide(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let here = app.colleague_in(&ada, north, "here@example.com", &["audit-logs:create"]).await;
    let reads = app.colleague_who_may(&ada, "reads@example.com", &["audit-logs:read"]).await;
    for person in [&here, &reads] {
        record(&app, person, &event("SENT", "INVOICE")).send().await.lacks("audit-logs:create");
    }
    let writes = app.colleague_who_may(&ada, "writes@example.com", &["audit-logs:create"]).await;
    record(&app, &writes, &event("SENT", "INVOICE")).send().await.created();
}

async fn the_library_accepts_and_refuses_the_same_events(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let context = RequestContext { ip_address: Some(ADDRESS.parse().unwrap()), ..RequestContext::default() };
    let caller = app.iam.authenticate(&ada.access, context).await.unwrap();
    let metadata = json!({ "deep": [{ "access_token": "hunter2", "kept": 1.0 }], "email": "x@example.com" });
    let by_library = |action: &str, resource_type: &str, resource_id: &str| NewEvent {
        action: action.to_owned(),
        resource_type: resource_type.to_owned(),
        resource_id: Some(resource_id.to_owned()),
        metadata: metadata.as_object().unwrap().clone(),
    };
    let by_http = |action: &str, resource_type: &str, resource_id: &str| {
        let rest = json!({ "resourceId": resource_id, "metadata": metadata });
        record(&app, &ada, &with(event(action, resource_type), &rest))
    };
    app.iam.audit().log(&caller, by_library("SENT", "INVOICE", "17")).await.unwrap();
    by_http("SENT", "INVOICE", "17").header("x-correlation-id", "http").send().await.created();
    let entries = app.audit(&ada, &[("action", "SENT")]).await;
    let [by_http_entry, mut by_library_entry] = <[Value; 2]>::try_from(entries).unwrap();
    assert_eq!(by_library_entry["correlationId"], Value::Null);
    for member in ["id", "correlationId"] {
        by_library_entry[member] = by_http_entry[member].clone();
    }
    assert_eq!(by_library_entry, by_http_entry);
    assert_eq!(members(&by_library_entry).len(), 13);
    for (action, resource_type, resource_id) in [
        ("sent", "invoice", "a\0"),
        ("CREATE", "USER", "17"),
        ("LOGIN", "GATE", "17"),
        ("ERASE", "GATE", &"x".repeat(201)),
    ] {
        let refused = app.iam.audit().log(&caller, by_library(action, resource_type, resource_id)).await;
        let Err(Error::Validation(errors)) = refused else { panic!("{action} {resource_type}: {refused:?}") };
        let fields: Vec<String> = errors.into_iter().map(|error| error.field).collect();
        assert_eq!(by_http(action, resource_type, resource_id).send().await.invalid_fields(), fields);
    }
    assert_eq!(app.audit(&ada, &[("action", "SENT")]).await.len(), 2);
}

async fn an_event_is_found_by_every_filter(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = with(event("SENT", "INVOICE"), &json!({ "resourceId": "17" }));
    let entry = record(&app, &ada, &body).header("x-correlation-id", "sending").send().await.created();
    let filters = [("action", "SENT"), ("resourceType", "INVOICE"), ("resourceId", "17"), ("correlationId", "sending")];
    for filter in filters {
        assert_eq!(app.audit(&ada, &[filter]).await, std::slice::from_ref(&entry), "{filter:?}");
    }
    assert_eq!(app.audit(&ada, &filters).await, [entry]);
}
