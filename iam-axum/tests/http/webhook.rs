//! `/webhooks` and what their receivers get (`docs/integrating.md#a-program-is-told-what-happens`).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_core::Caller;
use iam_core::webhook::{AddressPolicy, SendError, WebhookRequest, WebhookSender};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::app::{TestApp, shown};
use crate::people::{Person, says, with};
use crate::request::{Response, each, members};

in_memory![
    a_webhook_is_shown_and_its_secret_only_once,
    a_webhook_without_enabled_sends_events,
    invalid_fields_are_named,
    a_malformed_id_is_named,
    an_address_that_is_not_public_is_refused,
    a_webhook_needs_the_permission_to_read_the_log,
    permissions_in_an_organization_are_not_enough,
    a_key_makes_a_webhook_only_with_both_permissions,
    a_tenant_has_20_webhooks,
    a_repeated_creation_makes_one_and_shows_no_secret,
    a_change_is_recorded_and_honours_the_version,
    both_secrets_sign_for_a_day_after_a_rotation,
    a_test_shows_the_answer_and_leaves_no_trace,
    without_a_sender_what_needs_one_is_503,
];

pub(crate) const URL: &str = "https://example.com/hook";

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
pub(crate) enum Answer {
    Status(u16),
    None(SendError),
    /// 204 as soon as it is notified.
    Later(Arc<Notify>),
}

#[async_trait]
impl WebhookSender for TestReceiver {
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
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
    pub(crate) fn next(&self, answers: impl IntoIterator<Item = Answer>) {
        self.0.lock().unwrap().answers = answers.into_iter().collect();
    }

    /// Answers all further requests like this.
    pub(crate) fn always(&self, answer: impl Into<Option<Answer>>) {
        self.0.lock().unwrap().always = answer.into();
    }

    /// The requests since the last call.
    pub(crate) fn requests(&self) -> Vec<WebhookRequest> {
        std::mem::take(&mut self.0.lock().unwrap().requests)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().requests.len()
    }

    /// The types of the events since the last call.
    pub(crate) fn types(&self) -> Vec<String> {
        each(&json!({ "data": self.requests().iter().map(body).collect::<Vec<_>>() }), "type")
    }
}

pub(crate) fn body(request: &WebhookRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

impl TestApp {
    /// Makes a webhook for the events that [`write`] records. Returns the answer.
    pub(crate) async fn webhook(&self, by: &Person, given: &Value) -> Value {
        self.try_webhook(by, given).await.created()
    }

    pub(crate) async fn try_webhook(&self, by: &Person, given: &Value) -> Response {
        let body = with(json!({ "url": URL, "types": ["LETTER.*"] }), given);
        self.post("/webhooks").by(by).json(&body).send().await
    }

    pub(crate) async fn patch_webhook(&self, by: &Person, webhook: &Value, body: &Value) -> Response {
        self.patch(&format!("/webhooks/{}", id(webhook))).by(by).json(body).send().await
    }

    pub(crate) async fn call(&self, by: &Person, webhook: &Value, operation: &str, body: &Value) -> Response {
        self.post(&format!("/webhooks/{}/{operation}", id(webhook))).by(by).json(body).send().await
    }

    pub(crate) async fn deliveries(&self, by: &Person, webhook: &Value) -> Vec<Value> {
        let path = format!("/webhooks/{}/deliveries", id(webhook));
        self.get(&path).by(by).send().await.ok()["data"].as_array().unwrap().clone()
    }

    /// Records events of the application, and sequences them.
    pub(crate) async fn write(&self, by: &Person, count: usize) {
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
    pub(crate) async fn deliver(&self) {
        let stop = async {
            while !self.store.due_webhooks(self.iam.now()).await.unwrap().is_empty() {
                sleep(Duration::from_millis(5)).await;
            }
        };
        let delivered = timeout(Duration::from_secs(60), self.iam.deliver_webhooks(stop)).await;
        delivered.expect("everything is sent").unwrap();
    }

    pub(crate) async fn write_and_deliver(&self, by: &Person, count: usize) {
        self.write(by, count).await;
        self.deliver().await;
    }
}

pub(crate) fn system(person: &Person) -> Caller {
    Caller::system(person.tenant.parse().unwrap(), "test")
}

pub(crate) fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

pub(crate) fn secret(webhook: &Value) -> &str {
    webhook["secret"].as_str().unwrap()
}

pub(crate) fn statuses(deliveries: &[Value]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery["status"].as_str().unwrap()).collect()
}

/// Whether one of the signatures of a request is made with a secret.
pub(crate) fn is_signed(request: &WebhookRequest, secret: &str) -> bool {
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
        "id": made["id"], "url": URL, "types": ["LETTER.*"], "format": "native", "description": "warehouse",
        "enabled": false, "createdAt": app.now(), "createdBy": ada.user,
    });
    assert_eq!(made, with(shown.clone(), &json!({ "secret": made["secret"] })));
    assert!(secret(&made).starts_with("whsec_"), "{made}");
    let read = app.get(&format!("/webhooks/{}", id(&made))).by(&ada).send().await;
    assert_eq!((read.ok(), read.header("etag")), (shown.clone(), Some("\"1\"")));
    let known = app.get(&format!("/webhooks/{}", id(&made))).by(&ada).header("if-none-match", "\"1\"").send().await;
    assert_eq!(known.status(), 304);
    app.pass(TimeDelta::seconds(1));
    let newer = app.webhook(&ada, &json!({})).await;
    assert_ne!(secret(&newer), secret(&made));
    let list = app.get("/webhooks").by(&ada).send().await.ok();
    assert_eq!((members(&list), &list["data"][1]), (vec!["data"], &shown));
    assert_eq!(each(&list, "id"), [id(&newer), id(&made)]);
    let entries = app.history(&ada, id(&made)).await;
    says(&entries[0], &ada, "CREATE", "WEBHOOK", id(&made));
    let recorded = json!({
        "url": URL, "types": ["LETTER.*"], "format": "native", "description": "warehouse", "enabled": false,
    });
    assert_eq!((&entries[0]["newValue"], entries.len()), (&recorded, 1));
}

async fn a_webhook_without_enabled_sends_events(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for given in
        [json!({}), json!({ "enabled": null, "description": null, "format": null }), json!({ "enabled": true })]
    {
        let made = app.webhook(&ada, &given).await;
        let shown = [&made["enabled"], &made["description"], &made["format"]];
        assert_eq!(shown, [&json!(true), &json!(""), &json!("native")]);
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
        (json!({ "format": "OCSF" }), vec!["format"]),
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
        (json!({ "format": "xml" }), "format"),
        (json!({ "description": "x".repeat(501) }), "description"),
        (json!({ "id": made["id"] }), "id"),
    ] {
        assert_eq!(app.patch_webhook(&ada, &made, &given).await.invalid_fields(), [field], "{given}");
    }
}

async fn a_malformed_id_is_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for request in [app.get("/webhooks/7"), app.get("/webhooks/7/deliveries"), app.delete("/webhooks/7")] {
        assert_eq!(request.by(&ada).send().await.invalid_fields(), ["id"]);
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
    // Both send entries of the log to the receiver.
    app.patch_webhook(&bob, &made, &json!({ "enabled": true })).await.lacks("audit-logs:read");
    app.call(&bob, &made, "replay", &json!({ "fromSequence": 1 })).await.lacks("audit-logs:read");
    let eve = app.colleague_who_may(&ada, "eve@example.com", &["audit-logs:read"]).await;
    app.try_webhook(&eve, &json!({})).await.lacks("webhooks:create");
    app.get("/webhooks").by(&eve).send().await.lacks("webhooks:read");
    app.patch_webhook(&eve, &made, &json!({})).await.lacks("webhooks:update");
    let from = json!({ "fromSequence": 1 });
    for (operation, body) in [("rotate-secret", json!({})), ("test", json!({})), ("replay", from)] {
        app.call(&eve, &made, operation, &body).await.lacks("webhooks:update");
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
    assert_eq!(create(json!(["*"])).await.created()["createdBy"], robot);
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

async fn a_repeated_creation_makes_one_and_shows_no_secret(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let create =
        async |body: Value| app.post("/webhooks").by(&ada).header("idempotency-key", "one").json(&body).send().await;
    let given = json!({ "url": URL, "types": ["USER.*"] });
    let made = create(given.clone()).await.created();
    app.call(&ada, &made, "rotate-secret", &json!({})).await.ok();
    let again = create(given.clone()).await.created();
    assert_eq!(again, with(made.clone(), &json!({ "secret": null })));
    create(with(given, &json!({ "types": ["ROLE.*"] }))).await.problem("idempotency-key-reused");
    assert_eq!(each(&app.get("/webhooks").by(&ada).send().await.ok(), "id"), [id(&made)]);
}

async fn a_change_is_recorded_and_honours_the_version(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let made = app.webhook(&ada, &json!({})).await;
    let path = format!("/webhooks/{}", id(&made));
    let changed = json!({
        "url": "https://example.org", "types": ["USER.*", "ROLE.CREATE"], "format": "ocsf", "enabled": false,
    });
    let answer = app.patch(&path).by(&ada).header("if-match", "\"1\"").json(&changed).send().await;
    assert_eq!(answer.header("etag"), Some("\"2\""));
    let mut expected = with(made.clone(), &changed);
    expected.as_object_mut().unwrap().remove("secret");
    assert_eq!(answer.ok(), expected);
    let entries = app.history(&ada, id(&made)).await;
    says(&entries[0], &ada, "UPDATE", "WEBHOOK", id(&made));
    assert_eq!(entries[0]["newValue"], changed);
    let before = json!({ "url": URL, "types": ["LETTER.*"], "format": "native", "enabled": true });
    assert_eq!(entries[0]["oldValue"], before);
    app.unrecorded(&ada, async { app.patch(&path).by(&ada).json(&changed).send().await.ok() }).await;
    let outdated = app.patch(&path).by(&ada).header("if-match", "\"1\"").json(&json!({ "enabled": true }));
    outdated.send().await.problem("precondition-failed");
    app.delete(&path).by(&ada).header("if-match", "\"1\"").send().await.problem("precondition-failed");
    app.delete(&path).by(&ada).header("if-match", "\"2\"").send().await.no_content();
    says(&app.history(&ada, id(&made)).await[0], &ada, "DELETE", "WEBHOOK", id(&made));
    app.get(&path).by(&ada).send().await.problem("not-found");
    app.delete(&path).by(&ada).send().await.problem("not-found");
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
