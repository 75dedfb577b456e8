//! The audit log itself.

use chrono::TimeDelta;
use iam_core::Caller;
use serde_json::{Value, json};

use super::{Fixture, entry};
use crate::access_table::fresh_email;
use crate::people::{PASSWORD, Person, profile, with};

/// A resource type of the application.
pub(super) const OWN_TYPE: &str = "INVOICE";

pub(super) async fn log(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let log = |by: &Person, body: &Value| app.post("/audit-logs").by(by).json(body);
    let body = json!({
        "action": "SENT", "resourceType": OWN_TYPE, "resourceId": "2026-17", "metadata": { "to": 3, "token": "x" },
    });
    fixture.refuses(log(ada, &json!({})), "validation-error").await;
    fixture.refuses(log(ada, &json!({ "action": "DELETE", "resourceType": "USER" })), "validation-error").await;
    fixture.refuses(log(bob, &body), "forbidden").await;
    let logged = entry("SENT", OWN_TYPE, "2026-17".to_owned(), ada.user.clone());
    let logged = logged.metadata(json!({ "to": 3, "token": "[REDACTED]" }));
    let answer = fixture.records(log(ada, &body), 201, [logged]).await.json();
    assert_eq!(app.audit(ada, &[]).await[0], answer, "the answer is the entry");
}

pub(super) async fn export(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let export = |by: &Person| app.get("/audit-logs/export").by(by);
    let read = |metadata| entry("READ", "AUDIT_LOG", ada.tenant.clone(), ada.user.clone()).metadata(metadata);
    fixture.refuses(export(ada).query("userId", "17"), "validation-error").await;
    fixture.refuses(export(bob), "forbidden").await;
    let ndjson = "application/x-ndjson";
    let everything = read(json!({ "format": ndjson, "resumed": false, "filter": {} }));
    fixture.records(export(ada), 200, [everything]).await;
    let filter = json!({
        "action": "USER_SUSPENDED", "resourceType": "USER", "resourceId": bob.user, "userId": ada.user,
        "organizationId": ada.tenant, "correlationId": "x", "startDate": "2026-01-31T00:00:00.000Z",
        "endDate": "2026-01-31T23:59:59.999Z",
    });
    let cursor = app.get("/audit-logs?limit=1").by(ada).send().await.ok()["pagination"]["nextCursor"].clone();
    let query = [
        ("action", "SUSPEND"),
        ("resourceType", "USER"),
        ("resourceId", &bob.user),
        ("userId", &ada.user),
        ("organizationId", &ada.tenant),
        ("correlationId", "x"),
        ("startDate", "2026-01-31"),
        ("endDate", "2026-01-31"),
        ("cursor", cursor.as_str().unwrap()),
    ];
    let request = export(ada).header("accept", "text/csv");
    let request = query.iter().fold(request, |request, (name, value)| request.query(name, value));
    let filtered = read(json!({ "format": "text/csv", "resumed": true, "filter": filter }));
    fixture.records(request, 200, [filtered]).await;
}

pub(super) async fn set_retention(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let set = |by: &Person, body: Value| app.put("/audit-logs/retention").by(by).json(&body);
    let days = |days: Option<u32>| json!({ "retentionDays": days });
    let pending = |days: u32| {
        let from = crate::app::shown(app.iam.now() + TimeDelta::milliseconds(1) + TimeDelta::days(30));
        json!({ "pending": { "retentionDays": days, "from": from } })
    };
    let none = json!({ "pending": null });
    fixture.refuses(set(ada, json!({})), "validation-error").await;
    fixture.refuses(set(ada, days(Some(0))), "validation-error").await;
    fixture.refuses(set(bob, days(Some(30))), "forbidden").await;
    fixture.records(set(ada, days(None)), 200, []).await;
    let updated = || entry("UPDATE", "AUDIT_LOG", ada.tenant.clone(), ada.user.clone());
    let expected = updated().updating(none.clone(), pending(30));
    fixture.records(set(ada, days(Some(30))), 200, [expected]).await;
    fixture.records(set(ada, days(Some(30))), 200, []).await;
    app.iam.audit().hasten_retention(&Caller::system(ada.tenant.parse().unwrap(), "test")).await.unwrap();
    for (before, after) in [(Some(30), Some(60)), (Some(60), None)] {
        fixture.records(set(ada, days(after)), 200, [updated().updating(days(before), days(after))]).await;
        fixture.records(set(ada, days(after)), 200, []).await;
    }
}

pub(super) async fn apply_retention(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let apply = |by: &Person| app.post("/audit-logs/retention/apply").by(by);
    fixture.refuses(apply(bob), "forbidden").await;
    fixture.records(apply(ada), 200, []).await;
    app.put("/audit-logs/retention").by(ada).json(&json!({ "retentionDays": 30 })).send().await.ok();
    app.iam.audit().hasten_retention(&Caller::system(ada.tenant.parse().unwrap(), "test")).await.unwrap();
    fixture.records(apply(ada), 200, []).await;
    let old = app.audit(ada, &[]).await.len();
    app.sequence().await;
    app.pass(TimeDelta::days(31));
    let ada = &app.login(ada).await;
    let (answer, correlation_id) = fixture.answer(app.post("/audit-logs/retention/apply").by(ada), 200).await;
    assert_eq!(answer.json(), json!({ "removed": old }));
    let before = crate::app::shown(app.iam.now() - TimeDelta::days(30));
    let applied = entry("DELETE", "AUDIT_LOG", ada.tenant.clone(), ada.user.clone());
    let after = app.audit(ada, &[]).await;
    let signature = &after[0]["metadata"]["signature"];
    let applied = applied.metadata(json!({ "from": 0, "until": old, "before": before, "signature": signature }));
    assert_eq!(after.len(), 2, "the login and the record of the removal");
    fixture.compare(&after[..1], &correlation_id, &ada.tenant, &[applied]);
    let again = fixture.answer(apply(ada), 200).await.0;
    assert_eq!((again.json(), app.audit(ada, &[]).await), (json!({ "removed": 0 }), after));
}

pub(super) async fn erase(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let erase = |by: &Person, user: &str| app.post("/audit-logs/erasures").by(by).json(&json!({ "userId": user }));
    fixture.refuses(erase(ada, "17"), "validation-error").await;
    fixture.refuses(erase(bob, &bob.user), "forbidden").await;
    fixture.refuses(erase(ada, &ada.tenant), "not-found").await;
    // A user whose name no other user has.
    let profile = with(profile(&fresh_email()), &json!({ "firstName": "Grace", "lastName": "Hopper" }));
    let made = app.post("/users").by(ada).json(&profile).send().await.created();
    let (user, email) = (made["id"].as_str().unwrap(), made["email"].as_str().unwrap());
    app.attempt(email, PASSWORD).send().await.ok();
    fixture.refuses(erase(ada, user), "conflict").await;
    fixture.refuses(erase(ada, &ada.user), "forbidden").await;
    app.delete(&format!("/users/{user}")).by(ada).send().await.no_content();
    let before = app.audit(ada, &[("resourceId", user)]).await;
    let [deleted, created] = [&before[0]["id"], &before[1]["id"]];
    let logins = app.audit(ada, &[("userId", user)]).await;
    let login = &logins[0]["id"];
    let all = app.audit(ada, &[]).await;
    let (answer, correlation_id) = fixture.answer(erase(ada, user), 200).await;
    assert_eq!(answer.json(), json!({ "userId": user, "entries": 3 }));
    // Two records: the older one for the entries by the user, the newer one for the entries about the user.
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    let erased = |record: usize, details: &[&Value], origins: &[&Value]| {
        let signature = &entries[record]["metadata"]["signature"];
        let erased = entry("ERASE", "USER", user.to_owned(), ada.user.clone());
        erased.metadata(json!({ "details": details, "origins": origins, "signature": signature }))
    };
    let expected = [erased(1, &[], &[login]), erased(0, &[created, deleted], &[])];
    fixture.compare(&entries, &correlation_id, &ada.tenant, &expected);
    assert_eq!(app.audit(ada, &[]).await.len(), all.len() + expected.len(), "no entry is removed");
    fixture.records(erase(ada, user), 200, []).await;
}
