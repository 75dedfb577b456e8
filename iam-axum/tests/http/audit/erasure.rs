//! `POST /audit-logs/erasures`: the erasure of one user's personal values.

use serde_json::{Value, json};

use super::proof::{SavedLog, opening};
use crate::app::TestApp;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};
use crate::request::Request;

on_every_store![
    "statements of the store rewrite entries";
    no_answer_shows_an_erased_value,
    every_proof_is_still_valid_after_an_erasure,
    erased_values_have_no_opening,
    actions_and_names_of_other_users_stay,
    an_erasure_of_pending_entries_keeps_the_log_provable,
    a_repeated_erasure_erases_and_records_nothing,
    the_names_of_the_factors_and_keys_of_the_person_are_erased,
    an_erasure_does_not_follow_what_an_application_has_written,
    an_unknown_user_is_404_and_named,
    a_missing_or_malformed_user_is_400_and_named,
    an_erasure_needs_audit_logs_delete,
];

fn erase<'a>(app: &'a TestApp, by: &Person, user: &str) -> Request<'a> {
    app.post("/audit-logs/erasures").by(by).json(&json!({ "userId": user }))
}

/// The client address and the user agent of Grace.
const ADDRESS: &str = "2001:db8::1906";
const AGENT: &str = "cobol/1959";

/// Texts that identify Grace, with her current or former name, e-mail, external identifier, client address or user agent.
const TRACES: [&str; 9] = ["grace", "Grace", "Hopper", "Murray", "hopper@", "amazing@", "00u1906", ADDRESS, AGENT];

/// A deleted user of Ada's tenant, with personal values in all kinds of entries.
async fn grace(app: &TestApp, ada: &Person) -> Person {
    let names = json!({ "firstName": "Grace", "lastName": "Murray" });
    let body = with(profile("amazing@example.com"), &names);
    app.post("/users").by(ada).json(&body).send().await.created();
    let enter = |email: &str, password: &str| {
        app.attempt_at(&ada.tenant, email, password).from(ADDRESS).header("user-agent", AGENT)
    };
    let grace = Person::logged_in(&enter("amazing@example.com", PASSWORD).send().await.ok());
    enter("Amazing@Example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    app.permit(&grace, &["users:*", "audit-logs:create"]).await;
    let path = format!("/users/{}", grace.user);
    let change = json!({ "email": "grace.hopper@example.com", "lastName": "Hopper", "externalId": "00u1906" });
    app.patch(&path).by(&grace).from(ADDRESS).header("user-agent", AGENT).json(&change).send().await.ok();
    enter("grace.hopper@example.com", WRONG_PASSWORD).send().await.problem("unauthorized");
    let metadata = json!({
        "deep": [{ "to": { "email": "GRACE.HOPPER@example.com" } }], "fullName": "Grace Hopper", "copies": 2,
    });
    let event = json!({ "action": "SENT", "resourceType": "INVOICE", "resourceId": "17", "metadata": metadata });
    app.post("/audit-logs").by(ada).json(&event).send().await.created();
    app.delete(&path).by(ada).send().await.no_content();
    grace
}

/// Everything that the operations of the audit log show.
async fn shown(app: &TestApp, ada: &Person) -> String {
    let entries = app.audit(ada, &[]).await;
    let mut shown = json!(entries).to_string();
    shown += &app.get("/audit-logs/export").by(ada).send().await.text();
    shown += &app.get("/audit-logs/export").by(ada).header("accept", "text/csv").send().await.text();
    app.sequence().await;
    for entry in entries {
        let path = format!("/audit-logs/{}", entry["id"].as_str().unwrap());
        shown += &app.get(&path).by(ada).send().await.text();
        shown += &app.get(&format!("{path}/proof")).by(ada).send().await.text();
    }
    shown
}

async fn no_answer_shows_an_erased_value(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = grace(&app, &ada).await;
    let before = shown(&app, &ada).await;
    assert!(TRACES.iter().all(|trace| before.contains(trace)), "{before}");
    let answer = erase(&app, &ada, &grace.user).send().await.ok();
    // Created, changed, deleted, the user's own actions, two failed logins, and the event.
    let entries = answer["entries"].as_u64().unwrap();
    assert_eq!((answer, entries >= 7), (json!({ "userId": grace.user, "entries": entries }), true));
    // The name of a field contains the name of the user.
    let after = shown(&app, &ada).await.replace("secondFactorGraceDays", "");
    for trace in TRACES {
        assert!(!after.contains(trace), "{trace} in {after}");
    }
    let created = app.audit(&ada, &[("action", "CREATE"), ("resourceId", &grace.user)]).await;
    let expected = json!({
        "email": "[ERASED]", "firstName": "[ERASED]", "lastName": "[ERASED]", "homeOrganizationId": null,
        "status": "ACTIVE", "password": "[REDACTED]",
    });
    assert_eq!(created[0]["newValue"], expected);
    let event = app.audit(&ada, &[("action", "SENT")]).await;
    let expected = json!({ "deep": [{ "to": { "email": "[ERASED]" } }], "fullName": "[ERASED]", "copies": 2 });
    assert_eq!(event[0]["metadata"], expected);
    let failures = app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await;
    assert_eq!(failures.len(), 2);
    for failure in failures {
        assert_eq!((&failure["metadata"]["email"], &failure["ipAddress"]), (&json!("[ERASED]"), &Value::Null));
        assert_eq!(failure["metadata"]["reason"], "INVALID_PASSWORD", "values that are not personal stay");
    }
}

async fn every_proof_is_still_valid_after_an_erasure(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = grace(&app, &ada).await;
    let saved = SavedLog::of(&app, &ada).await;
    let count = usize::try_from(saved.size()).unwrap();
    assert_eq!(saved.still_holds(&app, &ada).await, count);
    erase(&app, &ada, &grace.user).send().await.ok();
    assert_eq!(saved.still_holds(&app, &ada).await, count);
    let app = app.restarted().await;
    assert_eq!(saved.still_holds(&app, &ada).await, count);
}

async fn erased_values_have_no_opening(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = grace(&app, &ada).await;
    erase(&app, &ada, &grace.user).send().await.ok();
    app.sequence().await;
    let openings = async |query: &[(&str, &str)]| {
        let entry = app.audit(&ada, query).await.pop().unwrap();
        [opening(&app, &ada, &entry, "details").await, opening(&app, &ada, &entry, "origin").await]
    };
    let [details, origin] = openings(&[("resourceId", &grace.user), ("action", "CREATE")]).await;
    assert_eq!((details, origin.is_null()), (Value::Null, false), "Ada created the user, so the origin stays");
    let [details, origin] = openings(&[("resourceId", &grace.session), ("action", "LOGIN")]).await;
    assert_eq!((details["values"].clone(), origin), (json!([]), Value::Null));
    let [details, origin] = openings(&[("resourceId", &grace.user), ("action", "UPDATE")]).await;
    assert_eq!((details, origin), (Value::Null, Value::Null));
}

async fn actions_and_names_of_other_users_stay(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("amazing@example.com").await];
    let grace = grace(&app, &ada).await;
    let names = json!({ "firstName": "Grace", "lastName": "Kelly" });
    let other = with(profile("grace.kelly@example.com"), &names);
    let other = app.post("/users").by(&ada).json(&other).send().await.created();
    let other = other["id"].as_str().unwrap();
    let theirs =
        async || (app.history(&ada, other).await, app.history(&ada, &ada.user).await, app.audit(&eve, &[]).await);
    let before = theirs().await;
    erase(&app, &ada, &grace.user).send().await.ok();
    assert_eq!(theirs().await, before);
    assert!(json!(before).to_string().contains("Kelly"));
}

async fn an_erasure_of_pending_entries_keeps_the_log_provable(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = grace(&app, &ada).await;
    erase(&app, &ada, &grace.user).send().await.ok();
    let saved = SavedLog::of(&app, &ada).await;
    assert_eq!(saved.still_holds(&app, &ada).await, usize::try_from(saved.size()).unwrap());
    assert!(!shown(&app, &ada).await.contains("Hopper"));
}

async fn a_repeated_erasure_erases_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = grace(&app, &ada).await;
    assert_ne!(erase(&app, &ada, &grace.user).send().await.ok()["entries"], 0);
    let again = app.unrecorded(&ada, erase(&app, &ada, &grace.user).send()).await;
    assert_eq!(again.ok(), json!({ "userId": grace.user, "entries": 0 }));
}

async fn the_names_of_the_factors_and_keys_of_the_person_are_erased(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let factor = app.enrol(&grace).await.id;
    let own = app.key(&ada, &ada.user, &json!({ "name": "laptop" })).await;
    let key = app.key(&ada, &grace.user, &json!({ "name": "my laptop" })).await;
    let rename = json!({ "name": "my phone" });
    app.patch(&format!("/auth/factors/{factor}")).by(&grace).json(&rename).send().await.ok();
    app.delete(&format!("/users/{}", grace.user)).by(&ada).send().await.no_content();
    erase(&app, &ada, &grace.user).send().await.ok();
    for id in [&*factor, key["id"].as_str().unwrap()] {
        for entry in app.history(&ada, id).await {
            let names = [&entry["oldValue"]["name"], &entry["newValue"]["name"]];
            assert!(names.iter().all(|name| name.is_null() || **name == "[ERASED]"), "{entry}");
            assert!(!entry.to_string().contains("my "), "{entry}");
        }
    }
    assert_eq!(app.history(&ada, own["id"].as_str().unwrap()).await[0]["newValue"]["name"], "laptop");
}

/// An event of an application names the invitation of another person, as if the erased user had accepted it.
async fn an_erasure_does_not_follow_what_an_application_has_written(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let puppet = app.add_user(&ada, "puppet@example.com").await;
    let invitation = app.invite(&ada, &json!({ "email": "grace@example.com", "roles": [] })).await;
    let metadata = json!({ "invitationId": invitation, "targetUserId": puppet });
    for resource_type in ["USER", "FACTOR"] {
        let event = json!({
            "action": "NOTED", "resourceType": resource_type, "resourceId": puppet, "metadata": metadata,
        });
        app.post("/audit-logs").by(&ada).json(&event).send().await.created();
    }
    app.delete(&format!("/users/{puppet}")).by(&ada).send().await.no_content();
    let before = app.history(&ada, &invitation).await;
    erase(&app, &ada, &puppet).send().await.ok();
    assert_eq!(app.history(&ada, &invitation).await, before);
    assert_eq!(before[0]["newValue"]["email"], "grace@example.com");
}

async fn an_unknown_user_is_404_and_named(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let before = app.audit(&eve, &[]).await;
    for user in [&ada.tenant, &eve.user] {
        assert_eq!(erase(&app, &ada, user).send().await.fields("not-found"), ["userId"]);
    }
    assert_eq!(app.audit(&eve, &[]).await, before);
}

async fn a_missing_or_malformed_user_is_400_and_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for user in ["", "17", "ada@example.com"] {
        assert_eq!(erase(&app, &ada, user).send().await.invalid_fields(), ["userId"]);
    }
    let absent = app.post("/audit-logs/erasures").by(&ada).json(&json!({})).send().await;
    assert_eq!(absent.invalid_fields(), ["userId"]);
}

async fn an_erasure_needs_audit_logs_delete(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let others = ["audit-logs:read", "audit-logs:create", "audit-logs:update", "users:*"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &others).await;
    erase(&app, &bob, &bob.user).send().await.lacks("audit-logs:delete");
}
