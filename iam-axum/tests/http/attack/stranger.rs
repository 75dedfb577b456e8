//! A stranger who registers tenants of its own and makes accounts with the e-mail of somebody else there (decisions §2).

use std::sync::Arc;

use iam_core::Caller;
use iam_core::observe::Observer;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::hashes::Hashes;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};

on_every_store![
    a_stranger_does_not_see_where_somebody_logs_in,
    a_failed_login_tells_a_stranger_nothing_of_its_request,
    a_failed_login_is_told_whole_where_no_stranger_can_have_made_the_account,
    old_tenants_keep_nobody_out,
    a_verified_account_is_not_kept_out_by_others,
    a_stranger_cannot_spoil_the_login_to_a_named_tenant,
    the_status_does_not_depend_on_what_a_stranger_did,
    the_number_of_hashes_does_not_tell_of_an_account,
    a_right_password_that_is_refused_costs_as_much_as_a_wrong_one,
    a_conflict_of_tenants_records_nothing,
];

const EMAIL: &str = "ada@example.com";
const STRANGERS: &str = "Str4nger$";

/// A stranger with an account of this e-mail in a tenant of its own, whose password it knows.
async fn stranger(app: &TestApp, name: &str) -> Person {
    let mallory = app.register(&format!("{name}@example.org")).await;
    let body = with(profile(EMAIL), &json!({ "password": STRANGERS }));
    app.post("/users").by(&mallory).json(&body).send().await.created();
    mallory
}

async fn verify(app: &TestApp, person: &Person) {
    let system = Caller::system(person.tenant.parse().unwrap(), "test");
    app.iam.users().verify_email(&system, &person.email).await.unwrap();
}

async fn failures(app: &TestApp, reader: &Person) -> Vec<Value> {
    app.audit(reader, &[("action", "LOGIN_FAILURE")]).await
}

async fn a_stranger_does_not_see_where_somebody_logs_in(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mallory = stranger(&app, "mallory").await;
    for _ in 0..3 {
        let body = app.attempt(EMAIL, PASSWORD).send().await.ok();
        assert_eq!(body["user"]["id"], ada.user);
    }
    assert_eq!(failures(&app, &mallory).await, Vec::<Value>::new());
    // It counted all the same: or the stranger could guess beside its account without end.
    for _ in 0..2 {
        app.attempt(EMAIL, PASSWORD).send().await.ok();
    }
    app.attempt_at(&mallory.tenant, EMAIL, STRANGERS).send().await.problem("account-locked");
}

/// Whether an entry tells of the request from which it comes.
fn tells(entry: &Value) -> bool {
    let tells = entry["correlationId"] == "the-very-request";
    assert_eq!((entry["ipAddress"] == "203.0.113.9", entry["userAgent"] == "spied/1.0"), (tells, tells), "{entry}");
    assert!(tells || (entry["ipAddress"].is_null() && entry["userAgent"].is_null()), "{entry}");
    assert!(entry["correlationId"].is_string(), "{entry}");
    tells
}

async fn fail(app: &TestApp) {
    // The newest entry comes first, also of several processes.
    app.pass(chrono::TimeDelta::milliseconds(1));
    let attempt = app.attempt(EMAIL, WRONG_PASSWORD).header("x-correlation-id", "the-very-request");
    attempt.header("user-agent", "spied/1.0").from("203.0.113.9").send().await.problem("unauthorized");
}

async fn a_failed_login_tells_a_stranger_nothing_of_its_request(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mallory = stranger(&app, "mallory").await;
    fail(&app).await;
    let (ours, theirs) = (failures(&app, &ada).await, failures(&app, &mallory).await);
    assert_eq!((ours.len(), theirs.len()), (1, 1));
    assert!(!tells(&ours[0]) && !tells(&theirs[0]));
    assert_ne!(ours[0]["correlationId"], theirs[0]["correlationId"]);
    // Where it is verified, the login means no other account, and is told whole.
    verify(&app, &ada).await;
    fail(&app).await;
    let (ours, theirs) = (failures(&app, &ada).await, failures(&app, &mallory).await);
    assert_eq!((ours.len(), theirs.len()), (2, 1));
    assert!(tells(&ours[0]));
    // An e-mail that is locked is recorded like one that matches no account.
    for _ in 0..3 {
        fail(&app).await;
    }
    let locked = app.attempt(EMAIL, PASSWORD).header("x-correlation-id", "the-very-request");
    let locked = locked.header("user-agent", "spied/1.0").from("203.0.113.9").send().await;
    locked.problem("account-locked");
    let ours = failures(&app, &ada).await;
    assert_eq!((ours.len(), &ours[0]["metadata"]["reason"]), (6, &json!("ACCOUNT_LOCKED")));
    assert!(tells(&ours[0]));
    assert_eq!(failures(&app, &mallory).await.len(), 1);
}

async fn a_failed_login_is_told_whole_where_no_stranger_can_have_made_the_account(app: TestApp) {
    let ada = app.register(EMAIL).await;
    fail(&app).await;
    assert!(tells(&failures(&app, &ada).await[0]), "there is one tenant only");
    stranger(&app, "mallory").await;
    fail(&app).await;
    assert!(!tells(&failures(&app, &ada).await[0]));
    let closed = app.with_settings(|settings| settings.registration = false).await;
    fail(&closed).await;
    assert!(tells(&failures(&app, &ada).await[0]), "the operator makes all tenants");
}

async fn old_tenants_keep_nobody_out(app: TestApp) {
    for number in 0..6 {
        stranger(&app, &format!("mallory{number}")).await;
    }
    let ada = app.register(EMAIL).await;
    let body = app.attempt(EMAIL, PASSWORD).send().await.ok();
    assert_eq!(body["user"]["id"], ada.user);
}

async fn a_verified_account_is_not_kept_out_by_others(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mut tenants = Vec::new();
    for number in 0..6 {
        tenants.push(stranger(&app, &format!("mallory{number}")).await.tenant);
    }
    app.pass(chrono::TimeDelta::minutes(1));
    for tenant in &tenants {
        app.attempt_at(tenant, EMAIL, STRANGERS).send().await.ok();
    }
    let refused = app.attempt(EMAIL, PASSWORD).send().await.problem("unauthorized");
    assert!(refused["detail"].as_str().unwrap().contains("name the `tenant`"), "{refused}");
    app.attempt_at(&ada.tenant, EMAIL, PASSWORD).send().await.ok();
    verify(&app, &ada).await;
    app.pass(chrono::TimeDelta::minutes(1));
    for tenant in &tenants {
        app.attempt_at(tenant, EMAIL, STRANGERS).send().await.ok();
    }
    let body = app.attempt(EMAIL, PASSWORD).send().await.ok();
    assert_eq!((&body["user"]["id"], body["user"]["emailVerifiedAt"].is_string()), (&json!(ada.user), true));
}

async fn a_stranger_cannot_spoil_the_login_to_a_named_tenant(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mallory = stranger(&app, "mallory").await;
    for _ in 0..5 {
        app.attempt_at(&mallory.tenant, EMAIL, WRONG_PASSWORD).send().await.problem("unauthorized");
        app.attempt_at("no-such-tenant", EMAIL, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    app.attempt_at(&ada.tenant, EMAIL, PASSWORD).send().await.ok();
    app.attempt(EMAIL, PASSWORD).send().await.ok();
}

/// What an unnamed login answers, with the right password and with a wrong one.
async fn answers(app: &TestApp) -> (u16, u16) {
    let right = app.attempt(EMAIL, PASSWORD).send().await.status();
    (right, app.attempt(EMAIL, WRONG_PASSWORD).send().await.status())
}

async fn the_status_does_not_depend_on_what_a_stranger_did(app: TestApp) {
    let ada = app.register(EMAIL).await;
    assert_eq!(answers(&app).await, (200, 401));
    let mallory = stranger(&app, "mallory").await;
    assert_eq!(answers(&app).await, (200, 401));
    let theirs = app.get("/users").query("search", EMAIL).by(&mallory).send().await.ok();
    let theirs = theirs["data"][0]["id"].as_str().unwrap().to_owned();
    for _ in 0..5 {
        app.attempt_at(&mallory.tenant, EMAIL, WRONG_PASSWORD).send().await;
    }
    assert_eq!(answers(&app).await, (200, 401), "an account of the stranger's is locked");
    for status in ["SUSPENDED", "INACTIVE"] {
        app.set_status(&mallory, &theirs, status).await;
        assert_eq!(answers(&app).await, (200, 401), "{status}");
    }
    // Nobody but strangers has the e-mail: the answers are those of an e-mail that no account has.
    app.delete(&format!("/users/{}", ada.user)).by(&app.administrator_beside(&ada).await).send().await.no_content();
    app.set_status(&mallory, &theirs, "ACTIVE").await;
    assert_eq!(answers(&app).await, (401, 401));
    let unknown = app.attempt("unknown@example.com", PASSWORD).send().await;
    assert_eq!(unknown.status(), 401);
}

async fn the_number_of_hashes_does_not_tell_of_an_account(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let gone = app.colleague(&ada, "gone@example.com").await;
    app.delete(&format!("/users/{}", gone.user)).by(&ada).send().await.no_content();
    let locked = app.colleague(&ada, "locked@example.com").await;
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, &locked.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let counted = Arc::new(Hashes::default());
    let watched = app.observed(Arc::clone(&counted) as Arc<dyn Observer>, |_| {}).await;
    let hashes = async |email: &str, password: &str| {
        watched.attempt(email, password).send().await;
        counted.count()
    };
    for email in ["unknown@example.com", "gone@example.com", "locked@example.com", EMAIL] {
        assert_eq!(hashes(email, WRONG_PASSWORD).await, 1, "{email}");
    }
    assert_eq!(hashes(EMAIL, PASSWORD).await, 1);
    // What remains, and docs/security.md says: several accounts, none of which is verified.
    stranger(&app, "mallory").await;
    assert_eq!(hashes(EMAIL, WRONG_PASSWORD).await, 2);
    verify(&app, &ada).await;
    assert_eq!(hashes(EMAIL, WRONG_PASSWORD).await, 1);
}

/// Its hash is compared with nothing, so that it waits like a wrong one.
async fn a_right_password_that_is_refused_costs_as_much_as_a_wrong_one(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let dearer = app.with_settings(|settings| settings.hashing_cost.memory_kib *= 2).await;
    let [gone, locked] = ["gone@example.com", "locked@example.com"].map(|email| app.colleague(&ada, email));
    let (gone, locked) = (gone.await, locked.await);
    app.delete(&format!("/users/{}", gone.user)).by(&ada).send().await.no_content();
    for _ in 0..5 {
        app.attempt_at(&ada.tenant, &locked.email, WRONG_PASSWORD).send().await.problem("unauthorized");
    }
    let counted = Arc::new(Hashes::default());
    let watched = dearer.observed(Arc::clone(&counted) as Arc<dyn Observer>, |_| {}).await;
    for email in [&gone.email, &locked.email] {
        watched.attempt(email, PASSWORD).send().await.problem("unauthorized");
        assert_eq!(counted.count(), 1, "{email}: a right one would be hashed anew");
    }
}

async fn a_conflict_of_tenants_records_nothing(app: TestApp) {
    let people = [app.register(EMAIL).await, app.register(EMAIL).await];
    let other = app.register_with_password(EMAIL, WRONG_PASSWORD).await;
    let problem = app.attempt(EMAIL, PASSWORD).send().await.problem("conflict");
    assert_eq!(problem["tenants"].as_array().unwrap().len(), 2);
    for person in people.iter().chain([&other]) {
        assert_eq!(failures(&app, person).await, Vec::<Value>::new());
    }
}
