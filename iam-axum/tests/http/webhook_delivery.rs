//! What the receivers of webhooks get, and when (`docs/integrating.md#a-program-is-told-what-happens`).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta};
use iam_core::clock::SystemClock;
use iam_core::webhook::{AddressPolicy, SendError, WebhookRequest, WebhookSender};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::app::TestApp;
use crate::people::{Person, says};
use crate::request::{each, members};
use crate::webhook::{Answer, URL, body, id, is_signed, secret, statuses, system};

on_every_store![
    "replicas take turns by the store";
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
];

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
    let from = json!({ "fromSequence": 1 });
    for (operation, body) in [("rotate-secret", json!({})), ("test", json!({})), ("replay", from)] {
        app.call(&eve, &made, operation, &body).await.problem("not-found");
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
    fn address_policy(&self) -> AddressPolicy {
        AddressPolicy::Public
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
    // The next retries are due two seconds after this at the earliest.
    app.pass(TimeDelta::seconds(8));
    app.deliver().await;
    assert_eq!(app.receiver.requests().len(), 5);
    app.pass(TimeDelta::seconds(62));
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
        while app.receiver.count() < 31 {
            sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(app.receiver.requests().len(), 31);
        release.notify_one();
    };
    futures_util::join!(app.deliver(), others);
    assert_eq!(app.receiver.requests().len(), 30);
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
    // Nothing is sequenced yet, so no number is right.
    let early = app.call(&ada, &made, "replay", &json!({ "fromSequence": 1 })).await;
    assert_eq!(early.invalid_fields(), ["fromSequence"]);
    assert!(early.text().contains("no events yet") && !early.text().contains("1 to 0"), "{}", early.text());
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
