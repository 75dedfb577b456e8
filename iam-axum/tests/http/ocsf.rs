//! Entries as events of the Open Cybersecurity Schema Framework (`docs/audit.md#forwarding-to-a-siem`).
//!
//! `scripts/test` validates the events that these tests and `audit_coverage` keep by the published schema.

use std::fs::OpenOptions;
use std::io::Write as _;

use chrono::TimeDelta;
use iam_core::Caller;
use iam_core::audit::{AuditEntry, AuditFilter, CATALOGUE, OcsfEvent};
use iam_model::audit::testing;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::Person;
use crate::request::each;
use crate::webhook::{Answer, body, is_signed, secret};

in_memory![
    an_export_has_every_entry_as_an_event,
    an_export_is_recorded_and_resumes_from_the_cursor_of_any_line,
    an_export_is_ndjson_whatever_the_client_accepts,
    an_unknown_format_is_400_and_not_recorded,
    a_webhook_sends_the_events_of_the_export,
    a_test_and_a_further_attempt_have_the_present_format,
];

const NDJSON: &str = "application/x-ndjson";

/// With `IAM_TEST_OCSF`, adds lines with an event each to the file of this name.
fn keep(lines: &str) {
    if let Some(file) = std::env::var_os("IAM_TEST_OCSF") {
        let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
        // One write, so that the lines of several tests do not mix.
        file.write_all(lines.as_bytes()).unwrap();
    }
}

fn keep_entries(entries: &[AuditEntry]) {
    let line = |entry| serde_json::to_string(&OcsfEvent::of(entry)).unwrap() + "\n";
    keep(&entries.iter().map(line).collect::<String>());
}

/// Keeps the newest entries of a tenant.
pub(crate) async fn keep_log(app: &TestApp, tenant: &str) {
    let host = Caller::system(tenant.parse().unwrap(), "test");
    keep_entries(&app.iam.audit().list(&host, AuditFilter::default(), None, 100).await.unwrap().entries);
}

/// The events of an export.
async fn exported(app: &TestApp, by: &Person, query: &[(&str, &str)]) -> Vec<Value> {
    let request = app.get("/audit-logs/export").query("format", "ocsf").by(by);
    let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
    let lines = request.send().await.ok_of(NDJSON);
    keep(&lines);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Registers a tenant with entries of every class. Returns its administrator.
async fn with_every_class(app: &TestApp) -> Person {
    let ada = app.register("ada@example.com").await;
    app.attempt_at(&ada.tenant, "ada@example.com", "x").send().await.problem("unauthorized");
    let metadata = json!({
        "class_uid": 3002, "time": null, "text": "\u{0}\r\n\u{2028}\"", "user": { "uid": [] }, "token": "secret",
    });
    let event = json!({ "action": "SENT", "resourceType": "INVOICE", "metadata": metadata });
    app.post("/audit-logs").by(&ada).header("user-agent", &"x".repeat(4_000)).json(&event).send().await.created();
    ada
}

async fn an_export_has_every_entry_as_an_event(app: TestApp) {
    let ada = with_every_class(&app).await;
    let events = exported(&app, &ada, &[]).await;
    for (code, class) in [
        ("AUDIT_LOG.READ", 3004),
        ("INVOICE.SENT", 6003),
        ("USER.LOGIN_FAILURE", 3002),
        ("SESSION.LOGIN", 3002),
        ("ROLE_ASSIGNMENT.ROLE_ASSIGNED", 3005),
        ("USER.CREATE", 3001),
        ("TENANT.CREATE", 3004),
    ] {
        let event = events.iter().find(|event| event["metadata"]["event_code"] == code).unwrap();
        assert_eq!(event["class_uid"], class, "{code}");
    }
    let native = app.get("/audit-logs/export").by(&ada).send().await.ok_of(NDJSON);
    // The record of this export comes first.
    let native: Vec<Value> = native.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.iter().map(|event| event["unmapped"].clone()).collect::<Vec<_>>(), native);
    let sent = &events.iter().find(|event| event["class_uid"] == 6003).unwrap()["unmapped"]["metadata"];
    assert_eq!(sent["token"], "[REDACTED]");
}

async fn an_export_is_recorded_and_resumes_from_the_cursor_of_any_line(app: TestApp) {
    let ada = with_every_class(&app).await;
    let events = exported(&app, &ada, &[]).await;
    let recorded = json!({ "format": "ocsf", "resumed": false, "filter": {} });
    assert_eq!(events[0]["unmapped"]["metadata"], recorded);
    for (at, event) in events.iter().enumerate() {
        let cursor = event["unmapped"]["cursor"].as_str().unwrap();
        assert_eq!(exported(&app, &ada, &[("cursor", cursor)]).await, events[at + 1..]);
    }
    let filtered = exported(&app, &ada, &[("action", "LOGIN_FAILURE")]).await;
    assert_eq!((filtered.len(), &filtered[0]["status"]), (1, &json!("Failure")));
}

async fn an_export_is_ndjson_whatever_the_client_accepts(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let export = |format| app.get("/audit-logs/export").query("format", format).by(&ada).header("accept", "text/csv");
    let answer = export("ocsf").send().await;
    answer.ok_of(NDJSON);
    assert_eq!(answer.header("content-disposition"), Some(r#"attachment; filename="audit-log.ocsf.ndjson""#));
    export("native").send().await.ok_of("text/csv; charset=utf-8");
}

async fn an_unknown_format_is_400_and_not_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for format in ["OCSF", "csv"] {
        let request = app.get("/audit-logs/export").query("format", format).by(&ada);
        assert_eq!(app.unrecorded(&ada, request.send()).await.invalid_fields(), ["format"], "{format}");
    }
}

async fn a_webhook_sends_the_events_of_the_export(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let made = app.webhook(&ada, &json!({ "types": ["USER.*", "LETTER.*"], "format": "ocsf" })).await;
    app.attempt_at(&ada.tenant, "ada@example.com", "x").send().await.problem("unauthorized");
    app.write_and_deliver(&ada, 1).await;
    let requests = app.receiver.requests();
    let events = exported(&app, &ada, &[]).await;
    for request in &requests {
        assert!(is_signed(request, secret(&made)));
        let mut event = events.iter().find(|event| event["metadata"]["uid"] == request.id).unwrap().clone();
        event["unmapped"].as_object_mut().unwrap().remove("cursor");
        assert_eq!(body(request), event);
    }
    assert_eq!(requests.len(), 2);
    let deliveries = json!({ "data": app.deliveries(&ada, &made).await });
    assert_eq!(each(&deliveries, "type"), ["LETTER.SENT", "USER.LOGIN_FAILURE"]);
}

async fn a_test_and_a_further_attempt_have_the_present_format(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.next([Answer::Status(500)]);
    app.write_and_deliver(&ada, 1).await;
    let first = app.receiver.requests().remove(0);
    assert_eq!(body(&first)["type"], "LETTER.SENT");
    app.patch_webhook(&ada, &made, &json!({ "format": "ocsf" })).await.ok();
    app.pass(TimeDelta::seconds(6));
    app.deliver().await;
    app.call(&ada, &made, "test", &json!({})).await.ok();
    for (request, code) in app.receiver.requests().iter().zip(["LETTER.SENT", "WEBHOOK.TEST"]) {
        let event = body(request);
        assert_eq!((&event["class_uid"], &event["metadata"]["event_code"]), (&json!(6003), &json!(code)));
        assert_eq!(event["metadata"]["uid"], request.id);
        assert_eq!(request.id == first.id, code == "LETTER.SENT");
        keep(&format!("{event}\n"));
    }
}

#[test]
fn an_entry_of_which_nothing_is_known_is_an_event() {
    let empty = |resource_type, action: &'static str| AuditEntry {
        action: action.into(),
        resource_type,
        resource_id: None,
        user_id: None,
        context: iam_core::RequestContext::default(),
        ..testing::entry(Value::Null)
    };
    let of_service = CATALOGUE
        .into_iter()
        .flat_map(|recorded| recorded.actions.iter().map(move |action| empty(recorded.resource_type.clone(), action)));
    let of_application = empty("INVOICE".to_owned().into(), "SENT");
    let entries: Vec<_> = of_service.chain([of_application]).collect();
    for entry in &entries {
        let event = serde_json::to_value(OcsfEvent::of(entry)).unwrap();
        assert!(["user", "entity", "api"].iter().any(|subject| event[subject].is_object()), "{event}");
    }
    keep_entries(&entries);
}
