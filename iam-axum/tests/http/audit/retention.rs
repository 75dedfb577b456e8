//! `/audit-logs/retention`: how long entries are kept.

use chrono::TimeDelta;
use iam_core::Caller;
use serde_json::{Value, json};

use super::proof::SavedLog;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::Request;

on_every_store![
    "the store removes entries";
    entries_are_kept_forever_by_default,
    the_days_are_a_number_up_to_36500_or_null,
    the_operator_sets_the_minimum_retention,
    a_shorter_retention_takes_effect_after_thirty_days,
    setting_a_retention_removes_nothing,
    applying_a_retention_removes_only_older_entries,
    an_entry_is_removed_one_millisecond_after_its_retention,
    pending_entries_are_not_removed,
    remaining_entries_are_still_proven,
    every_tenant_has_its_own_retention,
    each_operation_needs_its_own_permission,
];

fn set<'a>(app: &'a TestApp, by: &Person, days: &Value) -> Request<'a> {
    app.put("/audit-logs/retention").by(by).json(&json!({ "retentionDays": days }))
}

async fn get(app: &TestApp, by: &Person) -> Value {
    app.get("/audit-logs/retention").by(by).send().await.ok()
}

/// The same service with a minimum retention of one day.
async fn with_a_minimum_of_one_day(app: TestApp) -> TestApp {
    app.with_settings(|settings| settings.audit_min_retention = TimeDelta::days(1)).await
}

/// Sets a retention, and lets it take effect at once, as only the operator can.
async fn set_now(app: &TestApp, by: &Person, days: u32) {
    set(app, by, &json!(days)).send().await.ok();
    app.iam.audit().hasten_retention(&Caller::system(by.tenant.parse().unwrap(), "test")).await.unwrap();
    assert_eq!(get(app, by).await, lasting(days));
}

fn lasting(days: impl Into<Value>) -> Value {
    json!({ "retentionDays": days.into(), "pending": null })
}

async fn apply(app: &TestApp, by: &Person) -> u64 {
    let body = app.post("/audit-logs/retention/apply").by(by).send().await.ok();
    let removed = body["removed"].as_u64().unwrap();
    assert_eq!(body, json!({ "removed": removed }));
    removed
}

async fn entries_are_kept_forever_by_default(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(get(&app, &ada).await, lasting(Value::Null));
    app.sequence().await;
    app.pass(TimeDelta::days(40_000));
    let ada = app.login(&ada).await;
    assert_eq!((apply(&app, &ada).await, app.audit(&ada, &[]).await.len()), (0, 5));
}

async fn the_days_are_a_number_up_to_36500_or_null(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    for good in [json!(30), json!(365), json!(36_500), json!(null)] {
        set(&app, &ada, &good).send().await.ok();
        app.iam.audit().hasten_retention(&system).await.unwrap();
        assert_eq!(get(&app, &ada).await, lasting(good));
    }
    set(&app, &ada, &json!(70.0)).send().await.ok();
    set(&app, &ada, &json!(null)).send().await.ok();
    let bad =
        [json!(0), json!(-1), json!(29), json!(36_501), json!(30.5), json!(5_000_000_000_u64), json!("30"), json!([1])];
    for bad in bad {
        assert_eq!(set(&app, &ada, &bad).send().await.invalid_fields(), ["retentionDays"], "{bad}");
    }
    let absent = app.put("/audit-logs/retention").by(&ada).json(&json!({})).send().await;
    assert_eq!(absent.invalid_fields(), ["retentionDays"]);
    assert_eq!(get(&app, &ada).await, lasting(Value::Null));
}

async fn the_operator_sets_the_minimum_retention(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let refused = async |app: &TestApp, days: u32| {
        let refused = set(app, &ada, &json!(days)).send().await;
        assert_eq!(refused.invalid_fields(), ["retentionDays"]);
        refused.json()["errors"][0]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(refused(&app, 29).await, "must be from 30 to 36500, or null");
    let lenient = with_a_minimum_of_one_day(app).await;
    set_now(&lenient, &ada, 1).await;
    // Part of a day counts as a whole one.
    let strict = lenient.with_settings(|settings| settings.audit_min_retention = TimeDelta::hours(49)).await;
    assert_eq!(refused(&strict, 2).await, "must be from 3 to 36500, or null");
    // The minimum also applies to a retention that was set before.
    strict.sequence().await;
    strict.pass(TimeDelta::days(3));
    let ada = strict.login(&ada).await;
    assert_eq!(apply(&strict, &ada).await, 0);
    assert_eq!(apply(&lenient, &ada).await, 6);
}

/// Otherwise, an administrator could remove the record of its own misuse before an auditor has seen it.
async fn a_shorter_retention_takes_effect_after_thirty_days(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    app.pass(TimeDelta::days(100));
    let ada = app.login(&ada).await;
    let from = crate::app::shown(app.iam.now() + TimeDelta::days(30));
    let pending = json!({ "retentionDays": null, "pending": { "retentionDays": 40, "from": from } });
    assert_eq!(set(&app, &ada, &json!(40)).send().await.ok(), pending);
    assert_eq!((get(&app, &ada).await, apply(&app, &ada).await), (pending.clone(), 0));
    app.pass(TimeDelta::days(30) - TimeDelta::milliseconds(1));
    let ada = app.login(&ada).await;
    // The same request again does not restart the 30 days.
    assert_eq!(set(&app, &ada, &json!(40)).send().await.ok(), pending);
    assert_eq!(apply(&app, &ada).await, 0);
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!((get(&app, &ada).await, apply(&app, &ada).await), (lasting(40), 4));
    // A longer retention takes effect at once and cancels a pending one.
    set(&app, &ada, &json!(35)).send().await.ok();
    assert_eq!(set(&app, &ada, &json!(50)).send().await.ok(), lasting(50));
    app.pass(TimeDelta::days(60));
    let ada = app.login(&ada).await;
    assert_eq!(get(&app, &ada).await, lasting(50));
}

async fn setting_a_retention_removes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.sequence().await;
    app.pass(TimeDelta::days(3));
    let ada = app.login(&ada).await;
    let before = app.audit(&ada, &[]).await;
    set(&app, &ada, &json!(30)).send().await.ok();
    assert_eq!(app.audit(&ada, &[]).await[1..], before);
}

async fn applying_a_retention_removes_only_older_entries(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set_now(&app, &ada, 30).await;
    app.sequence().await;
    app.pass(TimeDelta::days(20));
    let ada = app.login(&ada).await;
    app.sequence().await;
    assert_eq!(apply(&app, &ada).await, 0);
    app.pass(TimeDelta::days(20));
    let ada = app.login(&ada).await;
    let before = app.audit(&ada, &[]).await;
    assert_eq!(apply(&app, &ada).await, 6);
    let after = app.audit(&ada, &[]).await;
    let [applied, kept @ ..] = after.as_slice() else { panic!("{after:?}") };
    assert_eq!((&applied["action"], &applied["resourceType"]), (&json!("DELETE"), &json!("AUDIT_LOG")));
    assert_eq!(kept, &before[..2]);
    for gone in &before[2..] {
        let path = format!("/audit-logs/{}", gone["id"].as_str().unwrap());
        app.get(&path).by(&ada).send().await.problem("not-found");
        app.get(&format!("{path}/proof")).by(&ada).send().await.problem("not-found");
    }
    assert_eq!((apply(&app, &ada).await, app.audit(&ada, &[]).await), (0, after));
}

async fn an_entry_is_removed_one_millisecond_after_its_retention(app: TestApp) {
    let app = with_a_minimum_of_one_day(app).await;
    let ada = app.register("ada@example.com").await;
    set_now(&app, &ada, 1).await;
    app.sequence().await;
    app.pass(TimeDelta::days(1));
    let ada = app.login(&ada).await;
    assert_eq!(apply(&app, &ada).await, 0);
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(apply(&app, &ada).await, 6);
}

async fn pending_entries_are_not_removed(app: TestApp) {
    let app = with_a_minimum_of_one_day(app).await;
    let ada = app.register("ada@example.com").await;
    set_now(&app, &ada, 1).await;
    app.pass(TimeDelta::days(3));
    let ada = app.login(&ada).await;
    assert_eq!((apply(&app, &ada).await, app.audit(&ada, &[]).await.len()), (0, 7));
    app.sequence().await;
    assert_eq!(apply(&app, &ada).await, 6);
}

async fn remaining_entries_are_still_proven(app: TestApp) {
    let app = with_a_minimum_of_one_day(app).await;
    let ada = app.register("ada@example.com").await;
    set_now(&app, &ada, 1).await;
    for _ in 0..10 {
        app.login(&ada).await;
    }
    app.sequence().await;
    app.pass(TimeDelta::days(2));
    let ada = app.login(&ada).await;
    let saved = SavedLog::of(&app, &ada).await;
    assert_eq!(saved.still_holds(&app, &ada).await, 17);
    assert_eq!(apply(&app, &ada).await, 16);
    assert_eq!(saved.still_holds(&app, &ada).await, 1);
    let app = app.restarted().await;
    assert_eq!(saved.still_holds(&app, &ada).await, 1);
    app.login(&ada).await;
    assert_eq!(saved.still_holds(&app, &ada).await, 1);
}

async fn every_tenant_has_its_own_retention(app: TestApp) {
    let app = with_a_minimum_of_one_day(app).await;
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    set_now(&app, &ada, 1).await;
    assert_eq!(get(&app, &eve).await, lasting(Value::Null));
    app.sequence().await;
    app.pass(TimeDelta::days(2));
    let [ada, eve] = [app.login(&ada).await, app.login(&eve).await];
    let before = app.audit(&eve, &[]).await;
    assert_eq!((apply(&app, &ada).await, apply(&app, &eve).await), (6, 0));
    assert_eq!(app.audit(&eve, &[]).await, before);
}

async fn each_operation_needs_its_own_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let reads = app.colleague_who_may(&ada, "reads@example.com", &["audit-logs:read"]).await;
    get(&app, &reads).await;
    set(&app, &reads, &json!(30)).send().await.lacks("audit-logs:update");
    app.post("/audit-logs/retention/apply").by(&reads).send().await.lacks("audit-logs:delete");
    let sets = app.colleague_who_may(&ada, "sets@example.com", &["audit-logs:update"]).await;
    set(&app, &sets, &json!(30)).send().await.ok();
    app.get("/audit-logs/retention").by(&sets).send().await.lacks("audit-logs:read");
    let deletes = app.colleague_who_may(&ada, "deletes@example.com", &["audit-logs:delete"]).await;
    assert_eq!(apply(&app, &deletes).await, 0);
}
