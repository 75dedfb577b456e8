//! Attacks by a stranger who registers tenants and creates accounts there with the e-mail of another person
//! (`docs/http-api.md#login`).

use std::sync::Arc;

use iam_core::Caller;
use iam_core::observe::Observer;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::hashes::Hashes;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};

in_memory![
    a_stranger_does_not_learn_of_a_login_to_another_tenant,
    a_failed_login_does_not_reveal_its_request_to_a_stranger,
    a_failed_login_is_recorded_fully_where_no_stranger_can_watch,
    older_tenants_of_a_stranger_do_not_block_a_login,
    unverified_accounts_do_not_block_a_verified_account,
    a_stranger_cannot_block_the_login_to_a_named_tenant,
    the_status_does_not_depend_on_the_actions_of_a_stranger,
    the_number_of_hashes_does_not_reveal_an_account,
    a_refused_right_password_costs_as_much_as_a_wrong_one,
    a_login_conflict_between_tenants_records_nothing,
];

const EMAIL: &str = "ada@example.com";
const STRANGER_PASSWORD: &str = "Str4nger$";

/// Registers a stranger's tenant with an account that has [`EMAIL`] and a password that the stranger knows. Returns the
/// stranger.
async fn stranger(app: &TestApp, name: &str) -> Person {
    let mallory = app.register(&format!("{name}@example.org")).await;
    let body = with(profile(EMAIL), &json!({ "password": STRANGER_PASSWORD }));
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

async fn a_stranger_does_not_learn_of_a_login_to_another_tenant(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mallory = stranger(&app, "mallory").await;
    for _ in 0..3 {
        let body = app.attempt(EMAIL, PASSWORD).send().await.ok();
        assert_eq!(body["user"]["id"], ada.user);
    }
    assert_eq!(failures(&app, &mallory).await, Vec::<Value>::new());
    // The failures count all the same: otherwise, the stranger could guess without limit, with logins that succeed in
    // its own account.
    for _ in 0..2 {
        let attempt = app.attempt(EMAIL, PASSWORD).header("x-correlation-id", "the-very-request");
        attempt.header("user-agent", "spied/1.0").from("203.0.113.9").send().await.ok();
    }
    // No account is locked without a trace in its tenant.
    let recorded = failures(&app, &mallory).await;
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0]["metadata"]["attemptCount"], 5);
    assert!(!shows_request(&recorded[0]));
    app.attempt_at(&mallory.tenant, EMAIL, STRANGER_PASSWORD).send().await.problem("account-locked");
}

/// Whether an entry shows the client and the correlation id of the request that caused it.
fn shows_request(entry: &Value) -> bool {
    let shown = entry["correlationId"] == "the-very-request";
    assert_eq!((entry["ipAddress"] == "203.0.113.9", entry["userAgent"] == "spied/1.0"), (shown, shown), "{entry}");
    assert!(shown || (entry["ipAddress"].is_null() && entry["userAgent"].is_null()), "{entry}");
    assert!(entry["correlationId"].is_string(), "{entry}");
    shown
}

async fn fail(app: &TestApp) {
    // A later time, so that the newest entry comes first even if several processes write entries.
    app.pass(chrono::TimeDelta::milliseconds(1));
    let attempt = app.attempt(EMAIL, WRONG_PASSWORD).header("x-correlation-id", "the-very-request");
    attempt.header("user-agent", "spied/1.0").from("203.0.113.9").send().await.problem("unauthorized");
}

async fn a_failed_login_does_not_reveal_its_request_to_a_stranger(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mallory = stranger(&app, "mallory").await;
    fail(&app).await;
    let (ours, theirs) = (failures(&app, &ada).await, failures(&app, &mallory).await);
    assert_eq!((ours.len(), theirs.len()), (1, 1));
    assert!(!shows_request(&ours[0]) && !shows_request(&theirs[0]));
    assert_ne!(ours[0]["correlationId"], theirs[0]["correlationId"]);
    // A login with a verified address means only that account, so its entry shows the whole request.
    verify(&app, &ada).await;
    fail(&app).await;
    let (ours, theirs) = (failures(&app, &ada).await, failures(&app, &mallory).await);
    assert_eq!((ours.len(), theirs.len()), (2, 1));
    assert!(shows_request(&ours[0]));
    // A login with a locked e-mail is recorded like one that matches no account.
    for _ in 0..3 {
        fail(&app).await;
    }
    let locked = app.attempt(EMAIL, PASSWORD).header("x-correlation-id", "the-very-request");
    let locked = locked.header("user-agent", "spied/1.0").from("203.0.113.9").send().await;
    locked.problem("account-locked");
    let ours = failures(&app, &ada).await;
    assert_eq!((ours.len(), &ours[0]["metadata"]["reason"]), (6, &json!("ACCOUNT_LOCKED")));
    assert!(shows_request(&ours[0]));
    assert_eq!(failures(&app, &mallory).await.len(), 1);
}

async fn a_failed_login_is_recorded_fully_where_no_stranger_can_watch(app: TestApp) {
    let ada = app.register(EMAIL).await;
    fail(&app).await;
    assert!(shows_request(&failures(&app, &ada).await[0]), "the installation has only one tenant");
    stranger(&app, "mallory").await;
    fail(&app).await;
    assert!(!shows_request(&failures(&app, &ada).await[0]));
    let closed = app.with_settings(|settings| settings.registration = false).await;
    fail(&closed).await;
    assert!(shows_request(&failures(&app, &ada).await[0]), "only the operator creates tenants");
}

async fn older_tenants_of_a_stranger_do_not_block_a_login(app: TestApp) {
    for number in 0..6 {
        stranger(&app, &format!("mallory{number}")).await;
    }
    let ada = app.register(EMAIL).await;
    let body = app.attempt(EMAIL, PASSWORD).send().await.ok();
    assert_eq!(body["user"]["id"], ada.user);
}

async fn unverified_accounts_do_not_block_a_verified_account(app: TestApp) {
    let ada = app.register(EMAIL).await;
    let mut tenants = Vec::new();
    for number in 0..6 {
        tenants.push(stranger(&app, &format!("mallory{number}")).await.tenant);
    }
    app.pass(chrono::TimeDelta::minutes(1));
    for tenant in &tenants {
        app.attempt_at(tenant, EMAIL, STRANGER_PASSWORD).send().await.ok();
    }
    let refused = app.attempt(EMAIL, PASSWORD).send().await.problem("unauthorized");
    assert!(refused["detail"].as_str().unwrap().contains("name the `tenant`"), "{refused}");
    app.attempt_at(&ada.tenant, EMAIL, PASSWORD).send().await.ok();
    verify(&app, &ada).await;
    app.pass(chrono::TimeDelta::minutes(1));
    for tenant in &tenants {
        app.attempt_at(tenant, EMAIL, STRANGER_PASSWORD).send().await.ok();
    }
    let body = app.attempt(EMAIL, PASSWORD).send().await.ok();
    assert_eq!((&body["user"]["id"], body["user"]["emailVerifiedAt"].is_string()), (&json!(ada.user), true));
}

async fn a_stranger_cannot_block_the_login_to_a_named_tenant(app: TestApp) {
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

async fn the_status_does_not_depend_on_the_actions_of_a_stranger(app: TestApp) {
    let ada = app.register(EMAIL).await;
    assert_eq!(answers(&app).await, (200, 401));
    let mallory = stranger(&app, "mallory").await;
    assert_eq!(answers(&app).await, (200, 401));
    let theirs = app.get("/users").query("search", EMAIL).by(&mallory).send().await.ok();
    let theirs = theirs["data"][0]["id"].as_str().unwrap().to_owned();
    for _ in 0..5 {
        app.attempt_at(&mallory.tenant, EMAIL, WRONG_PASSWORD).send().await;
    }
    assert_eq!(answers(&app).await, (200, 401), "the account of the stranger is locked");
    for status in ["SUSPENDED", "INACTIVE"] {
        app.set_status(&mallory, &theirs, status).await;
        assert_eq!(answers(&app).await, (200, 401), "{status}");
    }
    // Only a stranger has an account with the e-mail: the answers are those of an unknown e-mail.
    app.delete(&format!("/users/{}", ada.user)).by(&app.administrator_beside(&ada).await).send().await.no_content();
    app.set_status(&mallory, &theirs, "ACTIVE").await;
    assert_eq!(answers(&app).await, (401, 401));
    let unknown = app.attempt("unknown@example.com", PASSWORD).send().await;
    assert_eq!(unknown.status(), 401);
}

async fn the_number_of_hashes_does_not_reveal_an_account(app: TestApp) {
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
    // The remaining case, which docs/security.md describes: several accounts, none of which is verified.
    stranger(&app, "mallory").await;
    assert_eq!(hashes(EMAIL, WRONG_PASSWORD).await, 2);
    verify(&app, &ada).await;
    assert_eq!(hashes(EMAIL, WRONG_PASSWORD).await, 1);
}

/// The password is not compared with the stored hash, so that its answer takes as long as that of a wrong one.
async fn a_refused_right_password_costs_as_much_as_a_wrong_one(app: TestApp) {
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
        assert_eq!(counted.count(), 1, "{email}: an accepted password would be hashed again");
    }
}

async fn a_login_conflict_between_tenants_records_nothing(app: TestApp) {
    let people = [app.register(EMAIL).await, app.register(EMAIL).await];
    let other = app.register_with_password(EMAIL, WRONG_PASSWORD).await;
    let problem = app.attempt(EMAIL, PASSWORD).send().await.problem("conflict");
    assert_eq!(problem["tenants"].as_array().unwrap().len(), 2);
    for person in people.iter().chain([&other]) {
        assert_eq!(failures(&app, person).await, Vec::<Value>::new());
    }
}
