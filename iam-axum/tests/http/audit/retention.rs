//! `/audit-logs/retention`: for how long entries are kept.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::proof::Kept;
use crate::app::TestApp;
use crate::people::Person;
use crate::request::Request;

on_every_store![
    entries_are_kept_forever_unless_somebody_says_otherwise,
    the_days_are_a_number_from_1_to_36500_or_null,
    setting_it_removes_nothing,
    applying_it_removes_what_is_older_and_nothing_else,
    an_entry_goes_when_it_is_older_than_that_to_the_millisecond,
    what_is_not_sealed_stays,
    what_remains_is_still_proven,
    it_is_each_tenants_own,
    each_step_needs_its_permission,
];

fn set<'a>(app: &'a TestApp, by: &Person, days: &Value) -> Request<'a> {
    app.put("/audit-logs/retention").by(by).json(&json!({ "retentionDays": days }))
}

async fn get(app: &TestApp, by: &Person) -> Value {
    app.get("/audit-logs/retention").by(by).send().await.ok()
}

async fn apply(app: &TestApp, by: &Person) -> u64 {
    let body = app.post("/audit-logs/retention/apply").by(by).send().await.ok();
    let removed = body["removed"].as_u64().unwrap();
    assert_eq!(body, json!({ "removed": removed }));
    removed
}

async fn entries_are_kept_forever_unless_somebody_says_otherwise(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(get(&app, &ada).await, json!({ "retentionDays": null }));
    app.seal().await;
    app.pass(TimeDelta::days(40_000));
    let ada = app.login(&ada).await;
    assert_eq!((apply(&app, &ada).await, app.audit(&ada, &[]).await.len()), (0, 5));
}

async fn the_days_are_a_number_from_1_to_36500_or_null(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for good in [json!(1), json!(365), json!(36_500), json!(null)] {
        let expected = json!({ "retentionDays": good });
        assert_eq!(set(&app, &ada, &good).send().await.ok(), expected);
        assert_eq!(get(&app, &ada).await, expected);
    }
    assert_eq!(set(&app, &ada, &json!(7.0)).send().await.ok(), json!({ "retentionDays": 7 }));
    set(&app, &ada, &json!(null)).send().await.ok();
    let bad = [json!(0), json!(-1), json!(36_501), json!(1.5), json!(5_000_000_000_u64), json!("30"), json!([1])];
    for bad in bad {
        assert_eq!(set(&app, &ada, &bad).send().await.invalid_fields(), ["retentionDays"], "{bad}");
    }
    let absent = app.put("/audit-logs/retention").by(&ada).json(&json!({})).send().await;
    assert_eq!(absent.invalid_fields(), ["retentionDays"]);
    assert_eq!(get(&app, &ada).await, json!({ "retentionDays": null }));
}

async fn setting_it_removes_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.seal().await;
    app.pass(TimeDelta::days(3));
    let ada = app.login(&ada).await;
    let before = app.audit(&ada, &[]).await;
    set(&app, &ada, &json!(1)).send().await.ok();
    assert_eq!(app.audit(&ada, &[]).await[1..], before);
}

async fn applying_it_removes_what_is_older_and_nothing_else(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set(&app, &ada, &json!(30)).send().await.ok();
    app.seal().await;
    app.pass(TimeDelta::days(20));
    let ada = app.login(&ada).await;
    app.seal().await;
    assert_eq!(apply(&app, &ada).await, 0);
    app.pass(TimeDelta::days(20));
    let ada = app.login(&ada).await;
    let before = app.audit(&ada, &[]).await;
    assert_eq!(apply(&app, &ada).await, 5);
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

async fn an_entry_goes_when_it_is_older_than_that_to_the_millisecond(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set(&app, &ada, &json!(1)).send().await.ok();
    app.seal().await;
    app.pass(TimeDelta::days(1));
    let ada = app.login(&ada).await;
    assert_eq!(apply(&app, &ada).await, 0);
    app.pass(TimeDelta::milliseconds(1));
    assert_eq!(apply(&app, &ada).await, 5);
}

async fn what_is_not_sealed_stays(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set(&app, &ada, &json!(1)).send().await.ok();
    app.pass(TimeDelta::days(3));
    let ada = app.login(&ada).await;
    assert_eq!((apply(&app, &ada).await, app.audit(&ada, &[]).await.len()), (0, 6));
    app.seal().await;
    assert_eq!(apply(&app, &ada).await, 5);
}

async fn what_remains_is_still_proven(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    set(&app, &ada, &json!(1)).send().await.ok();
    for _ in 0..10 {
        app.login(&ada).await;
    }
    app.seal().await;
    app.pass(TimeDelta::days(2));
    let ada = app.login(&ada).await;
    let kept = Kept::of(&app, &ada).await;
    assert_eq!(kept.still_holds(&app, &ada).await, 16);
    assert_eq!(apply(&app, &ada).await, 15);
    assert_eq!(kept.still_holds(&app, &ada).await, 1);
    let app = app.restarted().await;
    assert_eq!(kept.still_holds(&app, &ada).await, 1);
    app.login(&ada).await;
    assert_eq!(kept.still_holds(&app, &ada).await, 1);
}

async fn it_is_each_tenants_own(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    set(&app, &ada, &json!(1)).send().await.ok();
    assert_eq!(get(&app, &eve).await, json!({ "retentionDays": null }));
    app.seal().await;
    app.pass(TimeDelta::days(2));
    let [ada, eve] = [app.login(&ada).await, app.login(&eve).await];
    let before = app.audit(&eve, &[]).await;
    assert_eq!((apply(&app, &ada).await, apply(&app, &eve).await), (5, 0));
    assert_eq!(app.audit(&eve, &[]).await, before);
}

async fn each_step_needs_its_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let reads = app.colleague_who_may(&ada, "reads@example.com", &["audit-logs:read"]).await;
    get(&app, &reads).await;
    set(&app, &reads, &json!(1)).send().await.lacks("audit-logs:update");
    app.post("/audit-logs/retention/apply").by(&reads).send().await.lacks("audit-logs:delete");
    let sets = app.colleague_who_may(&ada, "sets@example.com", &["audit-logs:update"]).await;
    set(&app, &sets, &json!(1)).send().await.ok();
    app.get("/audit-logs/retention").by(&sets).send().await.lacks("audit-logs:read");
    let deletes = app.colleague_who_may(&ada, "deletes@example.com", &["audit-logs:delete"]).await;
    assert_eq!(apply(&app, &deletes).await, 0);
}
