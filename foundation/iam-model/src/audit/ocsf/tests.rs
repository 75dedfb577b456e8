use serde_json::{Value, json};
use uuid::Uuid;

use crate::audit::{AuditEntry, CATALOGUE, Cursor, OcsfEvent, ResourceType, ShownEntry, action, testing};
use crate::context::{RequestContext, UserAgent};

/// The activities of each class by their actions (`docs/audit.md#forwarding-to-a-siem`).
const ACTIVITIES: [(u64, &[(&str, u64)]); 4] = [
    (
        3001,
        &[
            ("CREATE", 1),
            ("READ", 99),
            ("UPDATE", 99),
            ("DELETE", 6),
            ("USER_SUSPENDED", 5),
            ("USER_REACTIVATED", 2),
            ("PASSWORD_CHANGE", 3),
            ("PASSWORD_RESET_REQUESTED", 4),
            ("EMAIL_VERIFIED", 99),
            ("RECOVERY_CODE_USED", 99),
            ("RECOVERY_CODES_ISSUED", 99),
            ("EMAIL_LOGIN_REQUESTED", 99),
            ("ERASE", 99),
        ],
    ),
    (
        3002,
        &[
            ("LOGIN", 1),
            ("LOGIN_FAILURE", 1),
            ("IMPERSONATION_STARTED", 7),
            ("LOGOUT", 2),
            ("IMPERSONATION_ENDED", 2),
            ("TOKEN_REFRESH", 99),
            ("UPDATE", 99),
        ],
    ),
    (
        3004,
        &[
            ("CREATE", 1),
            ("READ", 2),
            ("UPDATE", 3),
            ("DELETE", 4),
            ("ACCEPTED", 99),
            ("COMPLETED", 99),
            ("APPROVED", 99),
            ("DENIED", 99),
            ("CANCELLED", 99),
            ("LAPSED", 99),
            ("ENDED", 99),
            ("PASSKEY_COUNTER", 99),
        ],
    ),
    (3005, &[("ROLE_ASSIGNED", 1), ("ROLE_REVOKED", 2), ("UPDATE", 99)]),
];

/// Returns the class of what the service records.
fn class_of(resource_type: &str, action: &str) -> u64 {
    match (resource_type, action) {
        ("SESSION", _) | (_, "LOGIN_FAILURE") => 3002,
        ("USER", _) => 3001,
        ("ROLE_ASSIGNMENT", _) => 3005,
        _ => 3004,
    }
}

fn written(event: OcsfEvent<'_>) -> Value {
    serde_json::to_value(event).unwrap()
}

fn event(entry: &AuditEntry) -> Value {
    written(OcsfEvent::of(entry))
}

/// An entry about a resource, with these old and new values and this metadata.
fn entry(resource_type: ResourceType, name: &str, [old, new, metadata]: [Value; 3]) -> AuditEntry {
    AuditEntry {
        action: name.to_owned().into(),
        resource_type,
        old_value: old.as_object().cloned(),
        metadata: metadata.as_object().cloned().unwrap(),
        ..testing::entry(new)
    }
}

fn nothing() -> [Value; 3] {
    [Value::Null, Value::Null, json!({})]
}

#[test]
fn everything_that_the_service_records_has_its_class_and_activity() {
    for recorded in CATALOGUE {
        for name in recorded.actions {
            let resource_type = recorded.resource_type.as_str();
            let class = class_of(resource_type, name);
            let (_, activities) = ACTIVITIES.iter().find(|(uid, _)| *uid == class).unwrap();
            let known = activities.iter().find(|(action, _)| action == name);
            let (_, activity) = known.unwrap_or_else(|| panic!("the test does not know {name} of {resource_type}"));
            let event = event(&entry(recorded.resource_type.clone(), name, nothing()));
            let found = [&event["class_uid"], &event["category_uid"], &event["activity_id"], &event["type_uid"]];
            assert_eq!(found, [class, 3, *activity, class * 100 + activity], "{resource_type}.{name}");
            assert_eq!(event["activity_name"] == *name, *activity == 99, "{resource_type}.{name}");
            assert_eq!(event["metadata"]["event_code"], format!("{resource_type}.{name}"));
        }
    }
}

#[test]
fn an_event_of_the_application_is_an_api_activity_whatever_it_is_about() {
    for (resource_type, name, activity) in [
        ("INVOICE", "SENT", 99),
        ("ORDER", "CREATE", 1),
        ("REPORT", "READ", 2),
        ("ORDER", "UPDATE", 3),
        ("ORDER", "DELETE", 4),
        ("USER", "EXPORTED", 99),
        ("SESSION", "PINNED", 99),
        ("ROLE_ASSIGNMENT", "PRINTED", 99),
    ] {
        let event = event(&entry(resource_type.to_owned().into(), name, nothing()));
        let found = [&event["class_uid"], &event["category_uid"], &event["activity_id"], &event["type_uid"]];
        assert_eq!(found, [6003, 6, activity, 600_300 + activity], "{resource_type}.{name}");
        assert_eq!((&event["status"], &event["severity"]), (&json!("Unknown"), &json!("Informational")));
    }
}

#[test]
fn who_acts_as_another_user_is_the_actor() {
    let acting = json!({ "actorId": "eve" });
    let started = entry(ResourceType::SESSION, action::IMPERSONATION_STARTED, [Value::Null, json!({}), acting.clone()]);
    let user = started.user_id.unwrap().to_string();
    let started = event(&started);
    assert_eq!((&started["actor"]["user"]["uid"], &started["user"]["uid"]), (&json!("eve"), &json!(user)));
    let changed = event(&entry(ResourceType::ROLE, action::UPDATE, [json!({}), json!({}), acting]));
    assert_eq!(changed["actor"]["user"]["uid"], "eve");
    let own = event(&entry(ResourceType::ROLE, action::UPDATE, [json!({}), json!({}), json!({})]));
    assert_eq!(own["actor"]["user"]["uid"], user);
}

#[test]
fn a_created_user_is_a_whole_event() {
    let created = entry(
        ResourceType::USER,
        action::CREATE,
        [Value::Null, json!({ "email": "grace@example.com", "password": "[REDACTED]" }), json!({ "apiKeyId": "key" })],
    );
    let cursor = Cursor::after(&created);
    let expected = json!({
        "category_uid": 3,
        "category_name": "Identity & Access Management",
        "class_uid": 3001,
        "class_name": "Account Change",
        "activity_id": 1,
        "activity_name": "Create",
        "type_uid": 300_101,
        "type_name": "Account Change: Create",
        "time": 1_769_850_900_123_i64,
        "severity_id": 1,
        "severity": "Informational",
        "status_id": 1,
        "status": "Success",
        "metadata": {
            "version": "1.6.0",
            "product": { "name": "iam", "vendor_name": "iam", "version": env!("CARGO_PKG_VERSION") },
            "uid": "00000000-0000-0000-0000-000000000001",
            "event_code": "USER.CREATE",
            "log_name": "audit",
            "tenant_uid": "00000000-0000-0000-0000-000000000002",
            "correlation_uid": "request-1",
        },
        "actor": {
            "user": {
                "uid": "00000000-0000-0000-0000-000000000004",
                "programmatic_credentials": [{ "uid": "key", "type": "API key" }],
            },
        },
        "src_endpoint": { "ip": "192.0.2.7" },
        "http_request": { "user_agent": "test/1.0" },
        "user": { "uid": "00000000-0000-0000-0000-000000000003", "name": "grace@example.com" },
        "user_result": { "uid": "00000000-0000-0000-0000-000000000003", "name": "grace@example.com" },
        "unmapped": {
            "id": "00000000-0000-0000-0000-000000000001",
            "tenantId": "00000000-0000-0000-0000-000000000002",
            "action": "CREATE",
            "resourceType": "USER",
            "resourceId": "00000000-0000-0000-0000-000000000003",
            "userId": "00000000-0000-0000-0000-000000000004",
            "oldValue": null,
            "newValue": { "email": "grace@example.com", "password": "[REDACTED]" },
            "metadata": { "apiKeyId": "key" },
            "correlationId": "request-1",
            "ipAddress": "192.0.2.7",
            "userAgent": "test/1.0",
            "createdAt": "2026-01-31T09:15:00.123Z",
            "cursor": cursor.to_string(),
        },
    });
    assert_eq!(written(OcsfEvent::of(&created).with_cursor(cursor)), expected);
}

#[test]
fn a_change_of_an_address_names_the_user_before_and_after() {
    let [old, new] = [json!({ "email": "grace@example.com" }), json!({ "email": "hopper@example.com" })];
    let event = event(&entry(ResourceType::USER, action::UPDATE, [old, new, json!({})]));
    let names = [&event["user"]["name"], &event["user_result"]["name"]];
    assert_eq!(names, ["grace@example.com", "hopper@example.com"]);
}

#[test]
fn a_failed_login_names_the_address_and_the_reason_or_nobody() {
    let failed = |metadata| {
        let failed = entry(ResourceType::USER, action::LOGIN_FAILURE, [Value::Null, Value::Null, metadata]);
        event(&AuditEntry { resource_id: None, user_id: None, ..failed })
    };
    let known = failed(json!({ "email": "grace@example.com", "reason": "INVALID_PASSWORD" }));
    assert_eq!(known["user"], json!({ "name": "grace@example.com" }));
    assert_eq!([&known["status_detail"], &known["status"], &known["severity"]], ["INVALID_PASSWORD", "Failure", "Low"]);
    assert_eq!((known.get("actor"), known.get("session")), (None, None));
    assert_eq!(known["service"], json!({ "name": "iam" }));
    // After an erasure.
    assert_eq!(failed(json!({ "email": null, "reason": "INVALID_PASSWORD" }))["user"], json!({ "name": "Unknown" }));
}

#[test]
fn the_end_of_a_session_names_its_user_and_not_only_who_ends_it() {
    let ended = |reason: &str| {
        let metadata = json!({ "targetUserId": "grace", "reason": reason });
        event(&entry(ResourceType::SESSION, action::LOGOUT, [Value::Null, Value::Null, metadata]))
    };
    let terminated = ended("TERMINATED");
    assert_eq!(terminated["user"], json!({ "uid": "grace" }));
    assert_eq!(terminated["session"], json!({ "uid": "00000000-0000-0000-0000-000000000003" }));
    assert_eq!(terminated["actor"]["user"]["uid"], "00000000-0000-0000-0000-000000000004");
    assert_eq!((&terminated["severity"], terminated.get("status_detail")), (&json!("Informational"), None));
    assert_eq!(ended("TOKEN_REUSE")["severity"], "High");
}

#[test]
fn a_role_assignment_names_the_user_the_role_and_both_values() {
    let metadata = json!({ "targetUserId": "grace", "roleName": "AUDITOR", "system": "sweeper" });
    let values = [json!({ "expiresAt": null }), json!({ "expiresAt": "2026-02-01T00:00:00.000Z" })];
    let [old, new] = values.clone();
    let changed = entry(ResourceType::ROLE_ASSIGNMENT, action::UPDATE, [old, new, metadata]);
    let event = event(&AuditEntry { user_id: None, ..changed });
    assert_eq!((&event["user"], &event["privileges"]), (&json!({ "uid": "grace" }), &json!(["AUDITOR"])));
    assert_eq!(event["actor"], json!({ "app_name": "sweeper" }));
    let [before, after] = values;
    let resource = json!({
        "type": "ROLE_ASSIGNMENT",
        "uid": "00000000-0000-0000-0000-000000000003",
        "data": { "before": before, "after": after },
    });
    assert_eq!(event["resources"], json!([resource]));
}

#[test]
fn an_entity_has_its_values_before_and_after() {
    let [old, new] = [json!({ "name": "Editor" }), json!({ "name": "Author" })];
    let changed = event(&entry(ResourceType::ROLE, action::UPDATE, [old, new, json!({})]));
    let uid = "00000000-0000-0000-0000-000000000003";
    let entity =
        |name: &str| json!({ "type": "ROLE", "type_id": 99, "uid": uid, "name": name, "data": { "name": name } });
    assert_eq!((&changed["entity"], &changed["entity_result"]), (&entity("Editor"), &entity("Author")));
    for (resource_type, type_id) in [(ResourceType::ORGANIZATION, 4), (ResourceType::DIRECTORY_GROUP, 3)] {
        let deleted = event(&entry(resource_type, action::DELETE, nothing()));
        assert_eq!((&deleted["entity"]["type_id"], deleted.get("entity_result")), (&json!(type_id), None));
    }
    assert_eq!(event(&entry(ResourceType::FACTOR, action::PASSKEY_COUNTER, nothing()))["severity"], "High");
}

/// What an application and a client choose reaches only the attributes that are for it.
#[test]
fn hostile_values_stay_in_unmapped() {
    let metadata = json!({
        "class_uid": 3002, "activity_id": 1, "severity_id": 6, "status_id": 2, "type_uid": "\u{0}\n", "reason": "x",
        "email": "ada@example.com", "targetUserId": "ada", "roleName": "*", "metadata": { "uid": null }, "user": null,
        "unmapped": { "unmapped": [null] },
    });
    let honest = AuditEntry {
        context: RequestContext {
            user_agent: Some(UserAgent::new(&"\r\n\"}".repeat(9_999))),
            ..RequestContext::default()
        },
        ..entry("INVOICE".to_owned().into(), "SENT", nothing())
    };
    let hostile = AuditEntry { metadata: metadata.as_object().cloned().unwrap(), ..honest.clone() };
    let [mut event_of_honest, mut event_of_hostile] = [event(&honest), event(&hostile)];
    assert_eq!(event_of_hostile["http_request"]["user_agent"], "\"}".repeat(256));
    assert_eq!(event_of_hostile["src_endpoint"], json!({ "name": "Unknown" }));
    let take = |event: &mut Value| event.as_object_mut().unwrap().remove("unmapped").unwrap();
    take(&mut event_of_honest);
    let unmapped = take(&mut event_of_hostile);
    assert_eq!(event_of_hostile, event_of_honest);
    assert_eq!(unmapped, serde_json::to_value(ShownEntry::from(&hostile)).unwrap());
    assert_eq!(unmapped["metadata"], metadata);
    let line = serde_json::to_string(&OcsfEvent::of(&hostile)).unwrap();
    assert!(!line.contains(char::is_control), "{line}");
}

#[test]
fn an_event_without_a_known_author_has_the_attributes_that_its_class_requires() {
    let entry = entry("INVOICE".to_owned().into(), "SENT", nothing());
    let nothing_known = AuditEntry {
        id: Uuid::nil().into(),
        resource_id: None,
        user_id: None,
        context: RequestContext::default(),
        ..entry
    };
    let event = event(&nothing_known);
    assert_eq!(event["actor"], json!({ "app_name": "Unknown" }));
    assert_eq!(event["src_endpoint"], json!({ "name": "Unknown" }));
    assert_eq!(event["resources"], json!([{ "type": "INVOICE", "name": "INVOICE" }]));
    assert_eq!(event["api"], json!({ "operation": "SENT" }));
}
