//! `/webhooks` and what their receivers get (`events.md`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::hmac;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta};
use futures_util::future::join_all;
use iam_core::Caller;
use iam_core::clock::SystemClock;
use iam_core::webhook::{Reach, SendError, WebhookRequest, WebhookSender};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::app::{TestApp, shown};
use crate::people::{Person, says, with};
use crate::request::{Response, each, members};

on_every_store![
    a_webhook_is_shown_and_its_secret_only_once,
    a_webhook_without_enabled_sends_events,
    invalid_fields_are_named,
    an_address_that_is_not_public_is_refused,
    a_webhook_needs_the_permission_to_read_the_log,
    permissions_in_an_organization_are_not_enough,
    a_key_makes_a_webhook_only_with_both_permissions,
    a_tenant_has_20_webhooks,
    a_repeated_creation_makes_one_and_shows_the_same_secret,
    a_change_is_recorded_and_honours_the_version,
    events_are_sent_as_the_log_shows_them,
    requests_are_verified_by_the_reference_library,
    events_of_other_types_and_from_before_are_not_sent,
    the_events_of_another_tenant_are_not_sent,
    many_events_are_sent_in_the_order_of_the_log,
    a_failed_event_is_tried_again_and_the_next_ones_go_on,
    after_the_last_attempt_the_webhook_is_switched_off,
    a_receiver_that_is_gone_switches_the_webhook_off,
    a_change_during_the_last_attempt_keeps_the_webhook_on,
    an_answer_that_is_not_2xx_or_none_is_a_failure,
    a_receiver_that_fails_ten_times_gets_no_new_events_for_five_minutes,
    a_slow_receiver_delays_no_other,
    both_secrets_sign_for_a_day_after_a_rotation,
    a_test_shows_the_answer_and_leaves_no_trace,
    the_newest_deliveries_come_first_and_end_after_a_week,
    a_replay_sends_the_same_events_again,
    a_replay_of_what_is_not_in_the_log_is_refused,
    a_replay_during_an_attempt_is_not_lost,
    a_replay_with_due_retries_sends_each_event_once,
    a_change_of_the_types_during_an_attempt_loses_no_event,
    an_event_of_a_type_that_was_removed_is_not_tried_again,
    a_webhook_that_was_off_continues_with_the_events_since,
    a_suspended_tenant_sends_nothing,
    a_removed_webhook_sends_nothing,
    erased_fields_are_null_in_a_later_attempt,
    an_event_that_retention_has_removed_is_not_sent,
    two_processes_send_each_event_once,
    a_stopping_process_ends_what_it_is_sending,
    without_a_sender_what_needs_one_is_503,
];

const URL: &str = "https://example.com/hook";

/// A receiver in the process of the test. It accepts every event, unless it is told to answer otherwise.
#[derive(Clone, Default)]
pub(crate) struct TestReceiver(Arc<Mutex<Received>>);

#[derive(Default)]
struct Received {
    requests: Vec<WebhookRequest>,
    answers: VecDeque<Answer>,
    always: Option<Answer>,
}

#[derive(Clone)]
enum Answer {
    Status(u16),
    None(SendError),
    /// 204 as soon as it is notified.
    Later(Arc<Notify>),
}

#[async_trait]
impl WebhookSender for TestReceiver {
    fn reach(&self) -> Reach {
        Reach::Public
    }

    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
        let answer = {
            let mut received = self.0.lock().unwrap();
            received.requests.push(request);
            received.answers.pop_front().or_else(|| received.always.clone())
        };
        match answer {
            None => Ok(204),
            Some(Answer::Status(status)) => Ok(status),
            Some(Answer::None(error)) => Err(error),
            Some(Answer::Later(notify)) => {
                notify.notified().await;
                Ok(204)
            }
        }
    }
}

impl TestReceiver {
    /// Answers the next requests like this.
    fn next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.0.lock().unwrap().answers = answers.into_iter().collect();
    }

    /// Answers all further requests like this.
    fn always(&self, answer: impl Into<Option<Answer>>) {
        self.0.lock().unwrap().always = answer.into();
    }

    /// The requests since the last call.
    fn requests(&self) -> Vec<WebhookRequest> {
        std::mem::take(&mut self.0.lock().unwrap().requests)
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().requests.len()
    }

    /// The types of the events since the last call.
    fn types(&self) -> Vec<String> {
        each(&json!({ "data": self.requests().iter().map(body).collect::<Vec<_>>() }), "type")
    }
}

fn body(request: &WebhookRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

impl TestApp {
    /// Makes a webhook for the events that [`write`] records. Returns the answer.
    async fn webhook(&self, by: &Person, given: &Value) -> Value {
        self.try_webhook(by, given).await.created()
    }

    async fn try_webhook(&self, by: &Person, given: &Value) -> Response {
        let body = with(json!({ "url": URL, "types": ["LETTER.*"] }), given);
        self.post("/webhooks").by(by).json(&body).send().await
    }

    async fn patch_webhook(&self, by: &Person, webhook: &Value, body: &Value) -> Response {
        self.patch(&format!("/webhooks/{}", id(webhook))).by(by).json(body).send().await
    }

    async fn call(&self, by: &Person, webhook: &Value, operation: &str, body: &Value) -> Response {
        self.post(&format!("/webhooks/{}/{operation}", id(webhook))).by(by).json(body).send().await
    }

    async fn deliveries(&self, by: &Person, webhook: &Value) -> Vec<Value> {
        let path = format!("/webhooks/{}/deliveries", id(webhook));
        self.get(&path).by(by).send().await.ok()["data"].as_array().unwrap().clone()
    }

    /// Records events of the application, and sequences them.
    async fn write(&self, by: &Person, count: usize) {
        for number in 0..count {
            let event = iam_core::audit::NewEvent {
                action: "SENT".to_owned(),
                resource_type: "LETTER".to_owned(),
                resource_id: Some(number.to_string()),
                ..Default::default()
            };
            self.iam.audit().log(&system(by), event).await.unwrap();
        }
        self.sequence().await;
    }

    /// Sends everything that is due now.
    async fn deliver(&self) {
        let stop = async {
            while !self.store.due_webhooks(self.iam.now()).await.unwrap().is_empty() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let delivered = timeout(Duration::from_secs(60), self.iam.deliver_webhooks(stop)).await;
        delivered.expect("everything is sent").unwrap();
    }

    async fn write_and_deliver(&self, by: &Person, count: usize) {
        self.write(by, count).await;
        self.deliver().await;
    }
}

fn system(person: &Person) -> Caller {
    Caller::system(person.tenant.parse().unwrap(), "test")
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

fn secret(webhook: &Value) -> &str {
    webhook["secret"].as_str().unwrap()
}

fn statuses(deliveries: &[Value]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery["status"].as_str().unwrap()).collect()
}

/// Whether one of the signatures of a request is made with a secret.
fn is_signed(request: &WebhookRequest, secret: &str) -> bool {
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = [format!("{}.{}.", request.id, request.timestamp).as_bytes(), &request.body].concat();
    request.signature.split(' ').any(|signature| {
        let tag = STANDARD.decode(signature.strip_prefix("v1,").unwrap()).unwrap();
        hmac::verify(&key, &signed, &tag).is_ok()
    })
}

async fn a_webhook_is_shown_and_its_secret_only_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({ "description": "warehouse", "enabled": false })).await;
    let shown = json!({
        "id": made["id"], "url": URL, "types": ["LETTER.*"], "description": "warehouse", "enabled": false,
        "createdAt": app.now(), "createdBy": ada.user,
    });
    assert_eq!(made, with(shown.clone(), &json!({ "secret": made["secret"] })));
    assert!(secret(&made).starts_with("whsec_"), "{made}");
    let read = app.get(&format!("/webhooks/{}", id(&made))).by(&ada).send().await;
    assert_eq!((read.ok(), read.header("etag")), (shown.clone(), Some("\"1\"")));
    app.pass(TimeDelta::seconds(1));
    let newer = app.webhook(&ada, &json!({})).await;
    assert_ne!(secret(&newer), secret(&made));
    let list = app.get("/webhooks").by(&ada).send().await.ok();
    assert_eq!((members(&list), &list["data"][1]), (vec!["data"], &shown));
    assert_eq!(each(&list, "id"), [id(&newer), id(&made)]);
    let entries = app.history(&ada, id(&made)).await;
    says(&entries[0], &ada, "CREATE", "WEBHOOK", id(&made));
    let recorded = json!({ "url": URL, "types": ["LETTER.*"], "description": "warehouse", "enabled": false });
    assert_eq!((&entries[0]["newValue"], entries.len()), (&recorded, 1));
}

async fn a_webhook_without_enabled_sends_events(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for given in [json!({}), json!({ "enabled": null, "description": null }), json!({ "enabled": true })] {
        let made = app.webhook(&ada, &given).await;
        assert_eq!((&made["enabled"], &made["description"]), (&json!(true), &json!("")));
    }
}

async fn invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = async |given: Value| app.try_webhook(&ada, &given).await.invalid_fields();
    for (given, fields) in [
        (json!({ "url": "", "types": [], "description": "x".repeat(501) }), vec!["url", "types", "description"]),
        (json!({ "types": ["USER.*", "user.create", "*"] }), vec!["types[1]", "types[2]"]),
        (json!({ "types": vec!["USER.*"; 101] }), vec!["types"]),
        (json!({ "types": null }), vec!["types"]),
        (json!({ "url": 7 }), vec!["url"]),
        (json!({ "enabled": "yes" }), vec!["enabled"]),
        (json!({ "secret": "whsec_x" }), vec!["secret"]),
    ] {
        assert_eq!(refused(given.clone()).await, fields, "{given}");
    }
    app.try_webhook(&ada, &json!({ "types": vec!["USER.*"; 100] })).await.created();
    let made = app.webhook(&ada, &json!({})).await;
    for (given, field) in [
        (json!({ "url": "example.com" }), "url"),
        (json!({ "types": [] }), "types"),
        (json!({ "types": ["x"] }), "types[0]"),
        (json!({ "description": "x".repeat(501) }), "description"),
        (json!({ "id": made["id"] }), "id"),
    ] {
        assert_eq!(app.patch_webhook(&ada, &made, &given).await.invalid_fields(), [field], "{given}");
    }
}

async fn an_address_that_is_not_public_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    for url in [
        "http://example.com/hook",
        "https://127.0.0.1/hook",
        "https://169.254.169.254/latest/meta-data",
        "https://[::ffff:10.0.0.1]/",
        "https://[64:ff9b::a00:1]/",
        "https://[2002:a00:1::]/",
        "https://2130706433/",
        "https://user:password@example.com/",
        "file:///etc/passwd",
    ] {
        let given = json!({ "url": url });
        assert_eq!(app.try_webhook(&ada, &given).await.invalid_fields(), ["url"], "{url}");
        assert_eq!(app.patch_webhook(&ada, &made, &given).await.invalid_fields(), ["url"], "{url}");
    }
}

async fn a_webhook_needs_the_permission_to_read_the_log(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    let all = ["webhooks:create", "webhooks:update", "webhooks:read"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &all).await;
    app.try_webhook(&bob, &json!({})).await.lacks("audit-logs:read");
    for given in [json!({ "url": "https://attacker.example" }), json!({ "types": ["USER.*"] })] {
        app.patch_webhook(&bob, &made, &given).await.lacks("audit-logs:read");
    }
    app.patch_webhook(&bob, &made, &json!({ "description": "ours", "enabled": false, "url": URL })).await.ok();
    let eve = app.colleague_who_may(&ada, "eve@example.com", &["audit-logs:read"]).await;
    app.try_webhook(&eve, &json!({})).await.lacks("webhooks:create");
    app.get("/webhooks").by(&eve).send().await.lacks("webhooks:read");
    app.patch_webhook(&eve, &made, &json!({})).await.lacks("webhooks:update");
    for operation in ["rotate-secret", "test", "replay"] {
        app.call(&eve, &made, operation, &json!({ "fromSequence": 1 })).await.lacks("webhooks:update");
    }
    app.get(&format!("/webhooks/{}/deliveries", id(&made))).by(&eve).send().await.lacks("webhooks:read");
    app.delete(&format!("/webhooks/{}", id(&made))).by(&bob).send().await.lacks("webhooks:delete");
}

async fn permissions_in_an_organization_are_not_enough(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let organization = app.organization(&ada, "north").await;
    let all = ["webhooks:create", "webhooks:read", "audit-logs:read"];
    let bob = app.colleague_in(&ada, organization, "bob@example.com", &all).await;
    app.try_webhook(&bob, &json!({})).await.lacks("webhooks:create");
    app.get("/webhooks").by(&bob).send().await.lacks("webhooks:read");
}

async fn a_key_makes_a_webhook_only_with_both_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["webhooks:create", "audit-logs:read"]).await;
    let create = async |permissions: Value| {
        let key = app.key(&ada, &robot, &json!({ "permissions": permissions })).await;
        let body = json!({ "url": URL, "types": ["USER.*"] });
        app.post("/webhooks").bearer(key["key"].as_str().unwrap()).json(&body).send().await
    };
    create(json!(["webhooks:create"])).await.lacks("audit-logs:read");
    create(json!(["audit-logs:read"])).await.lacks("webhooks:create");
    assert_eq!(create(json!(null)).await.created()["createdBy"], robot);
}

async fn a_tenant_has_20_webhooks(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut made = Vec::new();
    for _ in 0..18 {
        made.push(app.webhook(&ada, &json!({})).await);
    }
    let racing = join_all((0..4).map(|_| async {
        let body = json!({ "url": URL, "types": ["USER.*"] });
        app.post("/webhooks").by(&ada).json(&body).send_in_race().await.status()
    }));
    let mut racing = racing.await;
    racing.sort_unstable();
    assert_eq!(racing, [201, 201, 409, 409]);
    let eve = app.register("eve@example.com").await;
    app.webhook(&eve, &json!({})).await;
    app.delete(&format!("/webhooks/{}", id(&made[0]))).by(&ada).send().await.no_content();
    app.webhook(&ada, &json!({})).await;
    assert!(app.try_webhook(&ada, &json!({})).await.detail("conflict").contains("webhooks"));
}

async fn a_repeated_creation_makes_one_and_shows_the_same_secret(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let create = async || {
        let body = json!({ "url": URL, "types": ["USER.*"] });
        app.post("/webhooks").by(&ada).header("idempotency-key", "one").json(&body).send().await.created()
    };
    let made = create().await;
    app.call(&ada, &made, "rotate-secret", &json!({})).await.ok();
    assert_eq!(create().await, made);
    assert_eq!(each(&app.get("/webhooks").by(&ada).send().await.ok(), "id"), [id(&made)]);
}

async fn a_change_is_recorded_and_honours_the_version(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    let path = format!("/webhooks/{}", id(&made));
    let changed = json!({ "url": "https://example.org", "types": ["USER.*", "ROLE.CREATE"], "enabled": false });
    let answer = app.patch(&path).by(&ada).header("if-match", "\"1\"").json(&changed).send().await;
    assert_eq!(answer.header("etag"), Some("\"2\""));
    let mut expected = with(made.clone(), &changed);
    expected.as_object_mut().unwrap().remove("secret");
    assert_eq!(answer.ok(), expected);
    let entries = app.history(&ada, id(&made)).await;
    says(&entries[0], &ada, "UPDATE", "WEBHOOK", id(&made));
    assert_eq!(entries[0]["newValue"], changed);
    assert_eq!(entries[0]["oldValue"], json!({ "url": URL, "types": ["LETTER.*"], "enabled": true }));
    app.unrecorded(&ada, async { app.patch(&path).by(&ada).json(&changed).send().await.ok() }).await;
    let outdated = app.patch(&path).by(&ada).header("if-match", "\"1\"").json(&json!({ "enabled": true }));
    outdated.send().await.problem("precondition-failed");
    app.delete(&path).by(&ada).header("if-match", "\"1\"").send().await.problem("precondition-failed");
    app.delete(&path).by(&ada).header("if-match", "\"2\"").send().await.no_content();
    says(&app.history(&ada, id(&made)).await[0], &ada, "DELETE", "WEBHOOK", id(&made));
    app.get(&path).by(&ada).send().await.problem("not-found");
    app.delete(&path).by(&ada).send().await.problem("not-found");
}

async fn events_are_sent_as_the_log_shows_them(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    let made = app.webhook(&ada, &json!({ "types": ["USER.*", "LETTER.SENT"] })).await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    app.write_and_deliver(&ada, 1).await;
    let requests = app.receiver.requests();
    let mut entries = app.history(&ada, &bob).await;
    entries.retain(|entry| entry["resourceType"] == "USER");
    entries.reverse();
    entries.push(app.audit(&ada, &[("resourceType", "LETTER")]).await.remove(0));
    assert_eq!(requests.len(), entries.len());
    for (request, entry) in requests.iter().zip(&entries) {
        let sent = body(request);
        assert_eq!(members(&sent), ["data", "timestamp", "type"]);
        assert_eq!((&sent["data"], &sent["timestamp"]), (entry, &entry["createdAt"]));
        let expected = format!("{}.{}", entry["resourceType"].as_str().unwrap(), entry["action"].as_str().unwrap());
        assert_eq!((sent["type"].as_str(), request.id.as_str()), (Some(&*expected), id(entry)));
        assert_eq!(request.url.as_str(), URL);
        let now = DateTime::parse_from_rfc3339(&app.now()).unwrap().timestamp();
        assert_eq!(request.timestamp, now);
        assert!(is_signed(request, secret(&made)));
        let another = format!("whsec_{}", STANDARD.encode([7; 32]));
        assert!(!is_signed(request, &another));
    }
    let deliveries = app.deliveries(&ada, &made).await;
    let feed = app.get("/events").query("types", "USER.*,LETTER.*").by(&ada).send().await.ok();
    let sent: Vec<_> = feed["data"].as_array().unwrap().iter().rev().take(entries.len()).collect();
    for (delivery, event) in deliveries.iter().zip(sent) {
        let expected = json!({
            "id": event["entry"]["id"], "sequence": event["sequence"], "type": event["type"], "attempt": 1,
            "status": "DELIVERED", "httpStatus": 204, "error": null, "startedAt": app.now(),
            "durationMs": delivery["durationMs"], "nextAttemptAt": null,
        });
        assert_eq!(delivery, &expected);
    }
    assert_eq!(deliveries.len(), entries.len());
}

async fn requests_are_verified_by_the_reference_library(app: TestApp) {
    // The library compares the time with that of the system.
    let app = app.with_clock(SystemClock).await;
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&ada, 1).await;
    let request = app.receiver.requests().remove(0);
    let mut headers = HeaderMap::new();
    headers.insert("webhook-id", request.id.parse().unwrap());
    headers.insert("webhook-timestamp", request.timestamp.into());
    headers.insert("webhook-signature", request.signature.parse().unwrap());
    let library = standardwebhooks::Webhook::new(secret(&made)).unwrap();
    library.verify(&request.body, &headers).unwrap();
    library.verify(&[&request.body[..], b" "].concat(), &headers).unwrap_err();
    headers.insert("webhook-id", "another".parse().unwrap());
    library.verify(&request.body, &headers).unwrap_err();
}

async fn events_of_other_types_and_from_before_are_not_sent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.write(&ada, 3).await;
    app.webhook(&ada, &json!({ "types": ["USER.CREATE"] })).await;
    app.write_and_deliver(&ada, 30).await;
    assert_eq!(app.receiver.count(), 0);
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    // More events of other types than are read at once.
    app.write_and_deliver(&ada, 230).await;
    assert_eq!(app.receiver.types(), ["USER.CREATE"]);
}

async fn the_events_of_another_tenant_are_not_sent(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let made = app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&eve, 3).await;
    assert_eq!(app.receiver.count(), 0);
    let path = format!("/webhooks/{}", id(&made));
    app.get(&path).by(&eve).send().await.problem("not-found");
    app.get(&format!("{path}/deliveries")).by(&eve).send().await.problem("not-found");
    app.patch_webhook(&eve, &made, &json!({ "url": "https://eve.example" })).await.problem("not-found");
    for operation in ["rotate-secret", "test", "replay"] {
        app.call(&eve, &made, operation, &json!({ "fromSequence": 1 })).await.problem("not-found");
    }
    app.delete(&path).by(&eve).send().await.problem("not-found");
    assert_eq!(each(&app.get("/webhooks").by(&eve).send().await.ok(), "id"), [""; 0]);
}

async fn many_events_are_sent_in_the_order_of_the_log(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&ada, 50).await;
    let sent: Vec<_> =
        app.receiver.requests().iter().map(|request| body(request)["data"]["resourceId"].clone()).collect();
    assert!(sent.iter().map(|id| id.as_str().unwrap().to_owned()).eq((0..50).map(|id| id.to_string())), "{sent:?}");
}

async fn a_failed_event_is_tried_again_and_the_next_ones_go_on(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.next([Answer::Status(500)]);
    app.write_and_deliver(&ada, 2).await;
    let [failed, accepted] = <[_; 2]>::try_from(app.receiver.requests()).unwrap();
    let deliveries = app.deliveries(&ada, &made).await;
    assert_eq!(statuses(&deliveries), ["DELIVERED", "PENDING"]);
    let pending = &deliveries[1];
    assert_eq!(
        (&pending["id"], &pending["attempt"], &pending["httpStatus"]),
        (&json!(failed.id), &json!(1), &json!(500))
    );
    assert_eq!(pending["error"], "the status of the answer is not 2xx");
    assert_ne!(accepted.id, failed.id);
    // 5 s and up to a tenth more.
    let next = DateTime::parse_from_rfc3339(pending["nextAttemptAt"].as_str().unwrap()).unwrap();
    let wait = next - DateTime::parse_from_rfc3339(&app.now()).unwrap();
    assert!(wait >= TimeDelta::seconds(5) && wait <= TimeDelta::milliseconds(5_500), "{wait}");
    app.pass(wait - TimeDelta::milliseconds(1));
    app.deliver().await;
    assert_eq!(app.receiver.count(), 0);
    app.pass(TimeDelta::milliseconds(1));
    app.deliver().await;
    let [again] = <[_; 1]>::try_from(app.receiver.requests()).unwrap();
    assert_eq!((again.id, &again.body), (failed.id, &failed.body));
    assert_eq!(again.timestamp - failed.timestamp, wait.num_seconds());
    assert_ne!(again.signature, failed.signature);
    let newest = &app.deliveries(&ada, &made).await[0];
    let shown = (&newest["attempt"], &newest["status"], &newest["error"], &newest["nextAttemptAt"]);
    assert_eq!(shown, (&json!(2), &json!("DELIVERED"), &Value::Null, &Value::Null));
}

/// Lets a webhook fail until its last attempt but one is over.
async fn before_the_last_attempt(app: &TestApp, ada: &Person) -> Value {
    let made = app.webhook(ada, &json!({})).await;
    app.receiver.always(Answer::Status(503));
    app.write_and_deliver(ada, 1).await;
    for attempt in 2..=9 {
        app.pass(TimeDelta::days(1) + TimeDelta::hours(3));
        app.deliver().await;
        let deliveries = app.deliveries(&app.login(ada).await, &made).await;
        assert_eq!((&deliveries[0]["attempt"], statuses(&deliveries)), (&json!(attempt), vec!["PENDING"]));
    }
    assert_eq!(app.receiver.requests().len(), 9);
    app.pass(TimeDelta::days(1) + TimeDelta::hours(3));
    made
}

async fn after_the_last_attempt_the_webhook_is_switched_off(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = before_the_last_attempt(&app, &ada).await;
    app.deliver().await;
    let ada = app.login(&ada).await;
    let deliveries = app.deliveries(&ada, &made).await;
    assert_eq!((statuses(&deliveries), &deliveries[0]["attempt"]), (vec!["FAILED"], &json!(10)));
    assert_eq!(deliveries[0]["nextAttemptAt"], Value::Null);
    let entry = &app.history(&ada, id(&made)).await[0];
    assert_eq!((&entry["action"], &entry["userId"]), (&json!("UPDATE"), &Value::Null));
    assert_eq!((&entry["oldValue"], &entry["newValue"]), (&json!({ "enabled": true }), &json!({ "enabled": false })));
    let reason = "the last attempt to send an event has failed: the status of the answer is not 2xx";
    let metadata = json!({ "system": "webhook delivery", "changedFields": ["enabled"], "reason": reason });
    assert_eq!(entry["metadata"], metadata);
    app.receiver.requests();
    app.pass(TimeDelta::days(2));
    app.write_and_deliver(&ada, 1).await;
    assert_eq!(app.receiver.count(), 0);
}

async fn a_receiver_that_is_gone_switches_the_webhook_off(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.next([Answer::Status(204), Answer::Status(410)]);
    app.write_and_deliver(&ada, 3).await;
    assert_eq!(app.receiver.requests().len(), 2);
    let deliveries = app.deliveries(&ada, &made).await;
    assert_eq!(statuses(&deliveries), ["FAILED", "DELIVERED"]);
    assert_eq!((&deliveries[0]["httpStatus"], &deliveries[0]["attempt"]), (&json!(410), &json!(1)));
    let entry = &app.history(&ada, id(&made)).await[0];
    assert_eq!(entry["metadata"]["reason"], "the receiver has answered with the status 410");
    assert_eq!(app.get("/webhooks").by(&ada).send().await.ok()["data"][0]["enabled"], false);
    // Switched on again, it continues with the next event.
    app.patch_webhook(&ada, &made, &json!({ "enabled": true })).await.ok();
    app.deliver().await;
    assert_eq!(app.receiver.types(), ["LETTER.SENT"]);
    assert_eq!(statuses(&app.deliveries(&ada, &made).await), ["DELIVERED", "FAILED", "DELIVERED"]);
}

async fn a_change_during_the_last_attempt_keeps_the_webhook_on(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write(&ada, 1).await;
    let gone = Arc::new(Gone { url: Arc::default(), asked: Notify::new(), answer: Notify::new() });
    let app = app.sending(Arc::clone(&gone) as Arc<dyn WebhookSender>).await;
    let changed = async {
        gone.asked.notified().await;
        app.patch_webhook(&ada, &made, &json!({ "url": "https://new.example" })).await.ok();
        gone.answer.notify_one();
    };
    futures_util::join!(app.deliver(), changed);
    // It got 410 at the former address, and the event again at the new one.
    assert_eq!(*gone.url.lock().unwrap(), [URL, "https://new.example"]);
    assert_eq!(app.get("/webhooks").by(&ada).send().await.ok()["data"][0]["enabled"], true);
    assert_eq!(statuses(&app.deliveries(&ada, &made).await), ["DELIVERED"]);
}

/// Answers 410 to the first request, when it is told to.
struct Gone {
    url: Arc<Mutex<Vec<String>>>,
    asked: Notify,
    answer: Notify,
}

#[async_trait]
impl WebhookSender for Gone {
    fn reach(&self) -> Reach {
        Reach::Public
    }

    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
        let count = {
            let mut urls = self.url.lock().unwrap();
            urls.push(request.url.to_string());
            urls.len()
        };
        if count > 1 {
            return Ok(200);
        }
        self.asked.notify_one();
        self.answer.notified().await;
        Ok(410)
    }
}

async fn an_answer_that_is_not_2xx_or_none_is_a_failure(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (answer, status, error) in [
        (Answer::Status(200), json!(200), Value::Null),
        (Answer::Status(299), json!(299), Value::Null),
        (Answer::Status(199), json!(199), json!("the status of the answer is not 2xx")),
        (Answer::Status(302), json!(302), json!("redirects are not followed")),
        (Answer::Status(399), json!(399), json!("redirects are not followed")),
        (Answer::Status(400), json!(400), json!("the status of the answer is not 2xx")),
        (Answer::None(SendError::NotPublic), Value::Null, json!("the host leads to no public address")),
        (Answer::None(SendError::TimedOut), Value::Null, json!("no answer within 15 seconds")),
        (Answer::None(SendError::Unresolved), Value::Null, json!("the host leads to no public address")),
    ] {
        let made = app.webhook(&ada, &json!({})).await;
        app.receiver.next([answer.clone()]);
        app.write_and_deliver(&ada, 1).await;
        let newest = &app.deliveries(&ada, &made).await[0];
        let expected = if error.is_null() { "DELIVERED" } else { "PENDING" };
        assert_eq!((&newest["httpStatus"], &newest["error"], &newest["status"]), (&status, &error, &json!(expected)));
        app.receiver.next([answer]);
        let test = app.call(&ada, &made, "test", &json!({})).await.ok();
        assert_eq!((&test["httpStatus"], &test["error"]), (&status, &error));
        app.delete(&format!("/webhooks/{}", id(&made))).by(&ada).send().await.no_content();
    }
}

async fn a_receiver_that_fails_ten_times_gets_no_new_events_for_five_minutes(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.always(Answer::Status(500));
    app.write_and_deliver(&ada, 15).await;
    assert_eq!(app.receiver.requests().len(), 10);
    // The retries go on.
    app.pass(TimeDelta::seconds(6));
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 10);
    app.receiver.always(None);
    app.pass(TimeDelta::seconds(290));
    app.deliver().await;
    assert_eq!(app.receiver.count(), 0);
    app.pass(TimeDelta::seconds(10));
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 5);
    app.pass(TimeDelta::seconds(60));
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 10);
    assert_eq!(statuses(&app.deliveries(&ada, &made).await), ["DELIVERED"; 15]);
}

async fn a_slow_receiver_delays_no_other(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let release = Arc::new(Notify::new());
    app.webhook(&ada, &json!({ "url": "https://slow.example" })).await;
    app.write(&ada, 1).await;
    app.receiver.next([Answer::Later(Arc::clone(&release))]);
    let others = async {
        while app.receiver.count() == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        app.webhook(&ada, &json!({ "url": "https://quick.example" })).await;
        app.write(&ada, 30).await;
        let quick = || {
            let received = app.receiver.0.lock().unwrap();
            received.requests.iter().filter(|request| request.url.as_str().contains("quick")).count()
        };
        while quick() < 30 {
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(app.receiver.requests().len(), 31);
        release.notify_one();
    };
    futures_util::join!(app.deliver(), others);
    assert_eq!(app.receiver.requests().len(), 30);
}

async fn both_secrets_sign_for_a_day_after_a_rotation(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    let rotated = app.call(&ada, &made, "rotate-secret", &json!({})).await.ok();
    assert_eq!(rotated, with(made.clone(), &json!({ "secret": rotated["secret"] })));
    let until = shown(app.iam.now() + TimeDelta::days(1));
    let entry = &app.history(&ada, id(&made)).await[0];
    says(entry, &ada, "UPDATE", "WEBHOOK", id(&made));
    assert_eq!(entry["metadata"], json!({ "isRotated": true, "formerUntil": until }));
    let signed_by = async |secrets: [&Value; 3]| {
        app.write_and_deliver(&ada, 1).await;
        let request = app.receiver.requests().remove(0);
        secrets.map(|webhook| is_signed(&request, secret(webhook)))
    };
    assert_eq!(signed_by([&made, &rotated, &rotated]).await, [true; 3]);
    let again = app.call(&ada, &made, "rotate-secret", &json!({})).await.ok();
    assert_eq!(signed_by([&made, &rotated, &again]).await, [false, true, true]);
    app.pass(TimeDelta::days(1) - TimeDelta::milliseconds(1));
    assert_eq!(signed_by([&made, &rotated, &again]).await, [false, true, true]);
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(signed_by([&made, &rotated, &again]).await, [false, false, true]);
}

async fn a_test_shows_the_answer_and_leaves_no_trace(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({ "enabled": false })).await;
    app.receiver.next([Answer::Status(418)]);
    let answer = app.unrecorded(&ada, async { app.call(&ada, &made, "test", &json!({})).await.ok() }).await;
    let expected = json!({
        "httpStatus": 418, "error": "the status of the answer is not 2xx", "durationMs": answer["durationMs"],
    });
    assert_eq!(answer, expected);
    let request = app.receiver.requests().remove(0);
    assert!(is_signed(&request, secret(&made)));
    let sent = body(&request);
    assert_eq!((&sent["type"], &sent["data"]["resourceId"]), (&json!("WEBHOOK.TEST"), &made["id"]));
    assert_eq!((&sent["data"]["userId"], &sent["data"]["tenantId"]), (&json!(ada.user), &json!(ada.tenant)));
    app.get(&format!("/audit-logs/{}", request.id)).by(&ada).send().await.problem("not-found");
    assert_eq!(app.deliveries(&ada, &made).await, [] as [Value; 0]);
}

async fn the_newest_deliveries_come_first_and_end_after_a_week(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&ada, 210).await;
    let sequences: Vec<u64> =
        app.deliveries(&ada, &made).await.iter().map(|delivery| delivery["sequence"].as_u64().unwrap()).collect();
    assert!(sequences.len() == 200 && sequences.is_sorted_by(|newer, older| newer > older), "{sequences:?}");
    app.receiver.next([Answer::Status(500)]);
    app.write_and_deliver(&ada, 1).await;
    app.pass(TimeDelta::days(7));
    assert_eq!(app.iam.remove_ended_deliveries().await.unwrap(), 0);
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(app.iam.remove_ended_deliveries().await.unwrap(), 210);
    assert_eq!(statuses(&app.deliveries(&app.login(&ada).await, &made).await), ["PENDING"]);
}

async fn a_replay_sends_the_same_events_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&ada, 3).await;
    let ids = || app.receiver.requests().into_iter().map(|request| request.id).collect::<Vec<_>>();
    let first = ids();
    let sequence = app.deliveries(&ada, &made).await[1]["sequence"].clone();
    assert_eq!(app.call(&ada, &made, "replay", &json!({ "fromSequence": sequence })).await.accepted(), "");
    let entry = &app.history(&ada, id(&made)).await[0];
    says(entry, &ada, "UPDATE", "WEBHOOK", id(&made));
    assert_eq!(entry["metadata"], json!({ "replayedFrom": sequence }));
    app.deliver().await;
    assert_eq!(ids(), first[1..]);
    assert_eq!(app.deliveries(&ada, &made).await.len(), 3);
    // A replay never skips events.
    app.write(&ada, 2).await;
    let last = app.get("/events").by(&ada).query("limit", "500").send().await.ok()["next"].clone();
    app.call(&ada, &made, "replay", &json!({ "fromSequence": last })).await.accepted();
    app.deliver().await;
    assert_eq!(ids().len(), 2);
}

async fn a_replay_of_what_is_not_in_the_log_is_refused(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&ada, 2).await;
    let end = app.get("/events").by(&ada).query("limit", "500").send().await.ok()["next"].as_u64().unwrap();
    for body in [
        json!({ "fromSequence": 0 }),
        json!({ "fromSequence": -1 }),
        json!({ "fromSequence": 1.5 }),
        json!({ "fromSequence": end + 1 }),
        json!({ "fromSequence": 1e300 }),
        json!({ "fromSequence": "1" }),
        json!({ "fromSequence": null }),
        json!({}),
    ] {
        let answer = app.unrecorded(&ada, app.call(&ada, &made, "replay", &body)).await;
        assert_eq!(answer.invalid_fields(), ["fromSequence"], "{body}");
    }
    let ada = purge(&app, &ada).await;
    let gone = app.call(&ada, &made, "replay", &json!({ "fromSequence": end })).await.problem("gone");
    let first = gone["firstSequence"].as_u64().unwrap();
    assert!(first > end, "{gone}");
    app.call(&ada, &made, "replay", &json!({ "fromSequence": first })).await.accepted();
}

/// Lets retention remove all entries so far. Returns the person, logged in again.
async fn purge(app: &TestApp, ada: &Person) -> Person {
    app.put("/audit-logs/retention").by(ada).json(&json!({ "retentionDays": 30 })).send().await.ok();
    app.pass(TimeDelta::days(31));
    app.write(ada, 1).await;
    let ada = app.login(ada).await;
    app.post("/audit-logs/retention/apply").by(&ada).send().await.ok();
    ada
}

impl TestApp {
    /// Sends everything that is due, and does something during the first attempt.
    async fn deliver_and_meanwhile(&self, work: impl Future<Output = ()>) {
        let release = Arc::new(Notify::new());
        self.receiver.next([Answer::Later(Arc::clone(&release))]);
        let meanwhile = async {
            while self.receiver.count() == 0 {
                sleep(Duration::from_millis(5)).await;
            }
            work.await;
            release.notify_one();
        };
        futures_util::join!(self.deliver(), meanwhile);
    }
}

async fn a_replay_during_an_attempt_is_not_lost(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write_and_deliver(&ada, 1).await;
    // From the event before the one in the attempt, and from that one itself.
    for (before, expected) in [(1, 3), (0, 2)] {
        app.write(&ada, 1).await;
        app.receiver.requests();
        let feed = app.get("/events").query("types", "LETTER.*").by(&ada).send().await.ok();
        let from = &feed["data"].as_array().unwrap().iter().rev().nth(before).unwrap()["sequence"];
        let replay = async {
            app.call(&ada, &made, "replay", &json!({ "fromSequence": from })).await.accepted();
        };
        app.deliver_and_meanwhile(replay).await;
        assert_eq!(app.receiver.requests().len(), expected);
    }
    assert_eq!(statuses(&app.deliveries(&ada, &made).await), ["DELIVERED"; 3]);
}

async fn a_replay_with_due_retries_sends_each_event_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.always(Answer::Status(500));
    app.write_and_deliver(&ada, 3).await;
    let first = app.deliveries(&ada, &made).await[2]["sequence"].clone();
    app.receiver.always(None);
    app.receiver.requests();
    app.pass(TimeDelta::seconds(6));
    app.call(&ada, &made, "replay", &json!({ "fromSequence": first })).await.accepted();
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 3);
    assert_eq!(statuses(&app.deliveries(&ada, &made).await), ["DELIVERED"; 3]);
}

async fn a_change_of_the_types_during_an_attempt_loses_no_event(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write(&ada, 1).await;
    let change = async {
        app.patch_webhook(&ada, &made, &json!({ "types": ["LETTER.SENT", "USER.CREATE"] })).await.ok();
        app.add_user(&ada, "bob@example.com").await;
        app.sequence().await;
    };
    app.deliver_and_meanwhile(change).await;
    // What was sent meanwhile may come again.
    assert_eq!(app.receiver.types().last().unwrap(), "USER.CREATE");
}

async fn an_event_of_a_type_that_was_removed_is_not_tried_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.next([Answer::Status(500)]);
    app.write_and_deliver(&ada, 1).await;
    app.patch_webhook(&ada, &made, &json!({ "types": ["USER.*"] })).await.ok();
    app.receiver.requests();
    app.pass(TimeDelta::seconds(6));
    app.deliver().await;
    assert_eq!(app.receiver.count(), 0);
    let delivery = &app.deliveries(&ada, &made).await[0];
    let shown = (&delivery["status"], &delivery["error"], &delivery["attempt"]);
    assert_eq!(shown, (&json!("FAILED"), &json!("the webhook does not send this type any more"), &json!(1)));
}

async fn a_webhook_that_was_off_continues_with_the_events_since(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({ "enabled": false })).await;
    app.write_and_deliver(&ada, 2).await;
    assert_eq!(app.receiver.count(), 0);
    app.patch_webhook(&ada, &made, &json!({ "enabled": true })).await.ok();
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 2);
}

async fn a_suspended_tenant_sends_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.webhook(&ada, &json!({})).await;
    app.write(&ada, 1).await;
    app.iam.tenants().suspend(&system(&ada)).await.unwrap();
    app.deliver().await;
    assert_eq!(app.receiver.count(), 0);
    app.iam.tenants().reactivate(&system(&ada)).await.unwrap();
    app.deliver().await;
    assert_eq!(app.receiver.count(), 1);
}

async fn a_removed_webhook_sends_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.next([Answer::Status(500)]);
    app.write_and_deliver(&ada, 1).await;
    app.delete(&format!("/webhooks/{}", id(&made))).by(&ada).send().await.no_content();
    app.receiver.requests();
    app.pass(TimeDelta::seconds(6));
    app.write_and_deliver(&ada, 1).await;
    assert_eq!(app.receiver.count(), 0);
}

async fn erased_fields_are_null_in_a_later_attempt(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    app.webhook(&ada, &json!({ "types": ["USER.CREATE"] })).await;
    app.receiver.next([Answer::Status(500)]);
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.write_and_deliver(&ada, 0).await;
    assert!(body(&app.receiver.requests()[0]).to_string().contains("bob@example.com"));
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    app.post("/audit-logs/erasures").by(&ada).json(&json!({ "userId": bob })).send().await.ok();
    app.pass(TimeDelta::seconds(6));
    app.deliver().await;
    let sent = body(&app.receiver.requests()[0]);
    assert_eq!(sent["data"], app.history(&ada, &bob).await.last().unwrap().clone());
    assert!(!sent.to_string().contains("bob@example.com"));
}

async fn an_event_that_retention_has_removed_is_not_sent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.receiver.next([Answer::Status(500)]);
    app.write_and_deliver(&ada, 1).await;
    let off = app.webhook(&ada, &json!({ "enabled": false })).await;
    app.write(&ada, 2).await;
    app.patch_webhook(&ada, &made, &json!({ "enabled": false })).await.ok();
    let ada = purge(&app, &ada).await;
    app.receiver.requests();
    for webhook in [&made, &off] {
        app.patch_webhook(&ada, webhook, &json!({ "enabled": true })).await.ok();
    }
    app.deliver().await;
    // The one event that is left, for each of them.
    assert_eq!(app.receiver.requests().len(), 2);
    let deliveries = app.deliveries(&ada, &made).await;
    assert_eq!(statuses(&deliveries), ["DELIVERED", "FAILED"]);
    let failed = &deliveries[1];
    assert_eq!((&failed["error"], &failed["attempt"]), (&json!("retention has removed the event"), &json!(1)));
    assert_eq!(app.get(&format!("/webhooks/{}", id(&made))).by(&ada).send().await.ok()["enabled"], true);
}

async fn two_processes_send_each_event_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..5 {
        app.webhook(&ada, &json!({})).await;
    }
    let other = app.restarted().await;
    for _ in 0..5 {
        app.write(&ada, 4).await;
        futures_util::join!(app.deliver(), other.deliver(), app.deliver());
    }
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 100);
}

async fn a_stopping_process_ends_what_it_is_sending(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    app.write(&ada, 3).await;
    let (release, stop) = (Arc::new(Notify::new()), Notify::new());
    app.receiver.next([Answer::Later(Arc::clone(&release))]);
    let meanwhile = async {
        while app.receiver.count() == 0 {
            sleep(Duration::from_millis(5)).await;
        }
        stop.notify_one();
        sleep(Duration::from_millis(20)).await;
        release.notify_one();
    };
    let (delivered, ()) = futures_util::join!(app.iam.deliver_webhooks(stop.notified()), meanwhile);
    delivered.unwrap();
    assert_eq!((app.receiver.requests().len(), app.deliveries(&ada, &made).await.len()), (1, 1));
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 2);
}

async fn without_a_sender_what_needs_one_is_503(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    let off = app.without_webhooks().await;
    for answer in [
        off.try_webhook(&ada, &json!({})).await,
        off.call(&ada, &made, "test", &json!({})).await,
        off.patch_webhook(&ada, &made, &json!({ "url": URL })).await,
    ] {
        assert!(answer.detail("unavailable").contains("no webhooks"));
    }
    assert_eq!(each(&off.get("/webhooks").by(&ada).send().await.ok(), "id"), [id(&made)]);
    off.patch_webhook(&ada, &made, &json!({ "enabled": false })).await.ok();
    off.iam.deliver_webhooks(std::future::pending()).await.unwrap();
    off.delete(&format!("/webhooks/{}", id(&made))).by(&ada).send().await.no_content();
}
