//! Tenants that require second factors (`docs/http-api.md#tenants-that-require-a-factor`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::{PREFIX, TestApp};
use crate::authenticator::Authenticator;
use crate::factor::set_policy;
use crate::openapi::{document, operations};
use crate::people::{PASSWORD, Person, profile, with};
use crate::request::members;

in_memory![
    a_tenant_says_whether_it_requires_factors,
    the_policy_is_recorded,
    invalid_policies_are_named,
    what_protects_everybody_needs_a_recent_session_and_no_key,
    while_the_grace_lasts_a_user_logs_in_and_learns_its_end,
    the_grace_begins_with_the_user_if_that_is_later,
    after_the_grace_only_what_sets_up_a_factor_is_allowed,
    administrators_have_no_exception,
    a_new_factor_ends_the_restriction_at_once,
    a_factor_of_another_session_does_not_end_the_restriction,
    a_restricted_session_manages_no_factors_of_its_user,
    an_app_that_a_restricted_session_has_prepared_is_not_confirmed_beside_a_factor,
    a_step_up_by_any_factor_ends_the_restriction_on_every_replica,
    a_session_whose_user_has_lost_its_factors_is_restricted,
    the_keys_of_a_person_without_a_factor_are_refused_like_its_sessions,
    every_operation_refuses_such_a_key,
    the_keys_of_a_service_account_need_no_factor,
    a_restricted_session_that_waits_with_its_body_stays_restricted,
    another_replica_restricts_and_frees_too,
    a_policy_that_requires_nothing_ends_the_restriction,
    a_renewed_demand_begins_a_new_grace,
    setting_required_again_restarts_no_grace,
    another_grace_counts_from_the_same_moment,
    the_last_factor_cannot_be_removed,
    a_user_whose_factors_were_removed_is_restricted_after_the_grace,
    users_with_a_factor_notice_nothing,
    a_required_factor_allows_shorter_passwords_under_nist,
];

/// A tenant that requires factors, with a grace of some days.
async fn requiring(app: &TestApp, days: u8) -> Person {
    let ada = app.register("ada@example.com").await;
    set_policy(app, &ada, "REQUIRED", days).await;
    ada
}

async fn a_tenant_says_whether_it_requires_factors(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let tenant = app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok();
    assert_eq!((&tenant["secondFactor"], &tenant["secondFactorGraceDays"]), (&json!("OPTIONAL"), &json!(7)));
    for (policy, days) in [("REQUIRED", 90), ("OFF", 0), ("OPTIONAL", 7)] {
        let tenant = set_policy(&app, &ada, policy, days).await;
        assert_eq!((&tenant["secondFactor"], &tenant["secondFactorGraceDays"]), (&json!(policy), &json!(days)));
        // The grace of a required factor has begun a moment ago.
        let shown = app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok();
        assert_eq!(shown, tenant);
    }
}

async fn the_policy_is_recorded(app: TestApp) {
    let ada = requiring(&app, 30).await;
    let entry = &app.history(&ada, &ada.tenant).await[0];
    assert_eq!(entry["oldValue"], json!({ "secondFactor": "OPTIONAL", "secondFactorGraceDays": 7 }));
    assert_eq!(entry["newValue"], json!({ "secondFactor": "REQUIRED", "secondFactorGraceDays": 30 }));
}

async fn what_protects_everybody_needs_a_recent_session_and_no_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let gone = app.add_user(&ada, "grace@example.com").await;
    app.delete(&format!("/users/{gone}")).by(&ada).send().await.no_content();
    let tenant = format!("/tenants/{}", ada.tenant);
    let protections = || {
        let changes = [
            json!({ "secondFactor": "REQUIRED" }),
            json!({ "secondFactorGraceDays": 30 }),
            json!({ "passwordPolicy": "asvs-5", "name": "Engines" }),
        ];
        let patches = changes.map(|body| app.patch(&tenant).json(&body));
        let erasure = app.post("/audit-logs/erasures").json(&json!({ "userId": gone }));
        let retention = app.put("/audit-logs/retention").json(&json!({ "retentionDays": 365 }));
        patches.into_iter().chain([retention, app.post("/audit-logs/retention/apply"), erasure])
    };
    let by_key = async || {
        for request in protections() {
            request.bearer(text(&key)).send().await.problem("forbidden");
        }
    };
    app.unrecorded(&ada, by_key()).await;
    app.pass(TimeDelta::minutes(10) + TimeDelta::milliseconds(1));
    let stale = async || {
        for request in protections() {
            request.by(&ada).send().await.problem("insufficient-authentication");
        }
    };
    app.unrecorded(&ada, stale()).await;
    // The other settings protect no other user, and neither does a value that stays the same.
    let body = json!({ "name": "Engines", "secondFactor": "OPTIONAL", "secondFactorGraceDays": 7 });
    app.patch(&tenant).by(&ada).json(&body).send().await.ok();
    app.patch(&tenant).bearer(text(&key)).json(&json!({ "name": "Looms" })).send().await.ok();
    app.post("/auth/step-up").by(&ada).json(&json!({ "password": PASSWORD })).send().await.no_content();
    for request in protections() {
        request.by(&ada).send().await.ok();
    }
}

async fn invalid_policies_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (body, field) in [
        (json!({ "secondFactor": "SOMETIMES" }), "secondFactor"),
        (json!({ "secondFactorGraceDays": -1 }), "secondFactorGraceDays"),
        (json!({ "secondFactorGraceDays": 91 }), "secondFactorGraceDays"),
        (json!({ "secondFactorGraceDays": 1.5 }), "secondFactorGraceDays"),
    ] {
        let answer = app.patch(&format!("/tenants/{}", ada.tenant)).by(&ada).json(&body).send().await;
        assert_eq!(answer.invalid_fields(), [field], "{body}");
    }
}

async fn while_the_grace_lasts_a_user_logs_in_and_learns_its_end(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert!(!members(&me).contains(&"enrolBy"));
    set_policy(&app, &ada, "REQUIRED", 7).await;
    let enrol_by = json!("2026-02-07T09:15:00.123Z");
    assert_eq!(app.get("/auth/me").by(&ada).send().await.ok()["enrolBy"], enrol_by);
    app.pass(TimeDelta::days(7) - TimeDelta::milliseconds(1));
    let login = app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.ok();
    assert_eq!(login["enrolBy"], enrol_by);
    let ada = Person::logged_in(&login);
    app.get("/users").by(&ada).send().await.ok();
    app.pass(TimeDelta::milliseconds(1));
    app.get("/users").by(&ada).send().await.needs_factor();
    let login = app.attempt(&ada.email, PASSWORD).send().await.ok();
    assert_eq!(login["enrolBy"], enrol_by);
}

async fn the_grace_begins_with_the_user_if_that_is_later(app: TestApp) {
    let ada = requiring(&app, 7).await;
    app.enrol(&ada).await;
    app.pass(TimeDelta::minutes(5));
    let grace = app.colleague(&ada, "grace@example.com").await;
    let me = app.get("/auth/me").by(&grace).send().await.ok();
    assert_eq!(me["enrolBy"], json!("2026-02-07T09:20:00.123Z"));
}

async fn after_the_grace_only_what_sets_up_a_factor_is_allowed(app: TestApp) {
    let app = app.with_mail().await;
    let ada = requiring(&app, 0).await;
    let document = document();
    let mut allowed = Vec::new();
    for operation in operations(&document) {
        if operation.required_permission() == "public" {
            continue;
        }
        let path = operation.path_of(&ada.user);
        // Ends the session.
        if path == "/auth/logout" {
            continue;
        }
        let prefix = if operation.at_the_root { "" } else { PREFIX };
        let request = app.request(operation.method.clone(), &format!("{prefix}{path}")).by(&ada);
        let answer = request.json(&json!({})).send().await;
        if answer.status() == 403 {
            answer.needs_factor();
        } else {
            allowed.push(operation.to_string());
        }
    }
    assert_eq!(
        allowed,
        [
            "GET /auth/factors",
            "POST /auth/factors/passkeys",
            "POST /auth/factors/passkeys/options",
            "POST /auth/factors/recovery-codes",
            "POST /auth/factors/totp",
            "POST /auth/factors/totp/{id}/confirm",
            "PATCH /auth/factors/{id}",
            "DELETE /auth/factors/{id}",
            "GET /auth/me",
            "POST /auth/step-up",
            "POST /auth/step-up/options",
        ]
    );
    app.post("/auth/step-up").by(&ada).json(&json!({ "password": PASSWORD })).send().await.no_content();
    let body = json!({ "refreshToken": ada.refresh });
    app.post("/auth/refresh").json(&body).send().await.ok();
    app.post("/auth/logout").by(&ada).send().await.no_content();
}

async fn administrators_have_no_exception(app: TestApp) {
    let ada = requiring(&app, 0).await;
    let body = json!({ "secondFactor": "OFF" });
    app.patch(&format!("/tenants/{}", ada.tenant)).by(&ada).json(&body).send().await.needs_factor();
    app.get("/audit-logs").by(&ada).send().await.needs_factor();
}

async fn a_new_factor_ends_the_restriction_at_once(app: TestApp) {
    let ada = requiring(&app, 0).await;
    app.get("/users").by(&ada).send().await.needs_factor();
    let pending = app.set_up(&ada).await;
    app.get("/users").by(&ada).send().await.needs_factor();
    app.confirm(&ada, &pending.id, &pending.code(&app, 0)).await.ok();
    app.get("/users").by(&ada).send().await.ok();
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert!(!members(&me).contains(&"enrolBy"));
}

/// Grace has two sessions that began with the password alone, and has set up a factor in the second. Then the tenant
/// requires factors at once.
async fn enrolled_elsewhere(app: &TestApp) -> (Person, Person, Person, Authenticator) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let first = app.colleague(&ada, "grace@example.com").await;
    let second = app.login(&first).await;
    let authenticator = app.enrol(&second).await;
    set_policy(app, &ada, "REQUIRED", 0).await;
    (ada, first, second, authenticator)
}

fn own_sessions(person: &Person) -> String {
    format!("/users/{}/sessions", person.user)
}

async fn a_factor_of_another_session_does_not_end_the_restriction(app: TestApp) {
    let (_, first, second, authenticator) = enrolled_elsewhere(&app).await;
    app.get(&own_sessions(&second)).by(&second).send().await.ok();
    let me = app.get("/auth/me").by(&second).send().await.ok();
    assert!(!members(&me).contains(&"enrolBy") && me["amr"] == json!(["pwd", "otp", "mfa"]), "{me}");
    app.get(&own_sessions(&first)).by(&first).send().await.needs_factor();
    assert_eq!(app.get("/auth/me").by(&first).send().await.ok()["enrolBy"], app.now());
    let refreshed = app.post("/auth/refresh").json(&json!({ "refreshToken": first.refresh })).send().await.ok();
    let access = refreshed["accessToken"].as_str().unwrap();
    app.get(&own_sessions(&first)).bearer(access).send().await.needs_factor();
    let by_password = app.post("/auth/step-up").bearer(access).json(&json!({ "password": PASSWORD })).send().await;
    by_password.problem("unauthorized");
    let by_factor = json!({ "code": authenticator.code(&app, 0) });
    app.post("/auth/step-up").bearer(access).json(&by_factor).send().await.no_content();
    app.get(&own_sessions(&first)).bearer(access).send().await.ok();
    app.post("/auth/factors/recovery-codes").bearer(access).send().await.ok();
}

async fn a_restricted_session_manages_no_factors_of_its_user(app: TestApp) {
    let (ada, first, second, authenticator) = enrolled_elsewhere(&app).await;
    let factor = format!("/auth/factors/{}", authenticator.id);
    let refused = async |person: &Person| {
        let passkey = app.new_passkey(&second).await;
        for request in [
            app.post("/auth/factors/recovery-codes"),
            app.delete(&factor),
            app.patch(&factor).json(&json!({ "name": "Mine" })),
            app.post("/auth/factors/totp").json(&json!({})),
            app.post("/auth/factors/passkeys/options"),
            app.post("/auth/factors/passkeys").json(&json!({ "credential": passkey })),
        ] {
            request.by(person).send().await.needs_factor();
        }
    };
    app.unrecorded(&ada, refused(&first)).await;
    assert_eq!(app.factors(&first).await, (vec!["Authenticator app".to_owned()], 10));
}

async fn an_app_that_a_restricted_session_has_prepared_is_not_confirmed_beside_a_factor(app: TestApp) {
    let ada = requiring(&app, 0).await;
    let (first, second) = (app.login(&ada).await, app.login(&ada).await);
    let pending = app.set_up(&first).await;
    let passkey = app.new_passkey(&second).await;
    app.post("/auth/factors/passkeys").by(&second).json(&json!({ "credential": passkey })).send().await.created();
    app.confirm(&first, &pending.id, &pending.code(&app, 0)).await.needs_factor();
    app.get("/users").by(&first).send().await.needs_factor();
    app.get("/users").by(&second).send().await.ok();
}

async fn a_step_up_by_any_factor_ends_the_restriction_on_every_replica(app: TestApp) {
    let (_, first, _, authenticator) = enrolled_elsewhere(&app).await;
    let other = app.restarted().await;
    other.get(&own_sessions(&first)).by(&first).send().await.needs_factor();
    let body = json!({ "code": authenticator.code(&app, 0) });
    app.post("/auth/step-up").by(&first).json(&body).send().await.no_content();
    other.get(&own_sessions(&first)).by(&first).send().await.ok();
}

async fn a_session_whose_user_has_lost_its_factors_is_restricted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    app.remove_factors(&ada).await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    let other = app.restarted().await;
    other.get("/users").by(&ada).send().await.needs_factor();
    app.enrol(&ada).await;
    other.get("/users").by(&ada).send().await.ok();
}

async fn the_keys_of_a_person_without_a_factor_are_refused_like_its_sessions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let grace = app.colleague_who_may(&ada, "grace@example.com", &["users:read"]).await;
    let key = app.key(&grace, &grace.user, &json!({})).await;
    let asks = async |app: &TestApp| app.get("/users").bearer(text(&key)).send().await;
    let is_active = async || {
        let body = json!({ "token": text(&key) });
        app.post("/auth/introspect").by(&ada).json(&body).send().await.ok()["active"] == true
    };
    let other = app.restarted().await;
    set_policy(&app, &ada, "REQUIRED", 1).await;
    asks(&app).await.ok();
    asks(&other).await.ok();
    assert!(is_active().await);
    set_policy(&app, &ada, "REQUIRED", 0).await;
    asks(&app).await.needs_factor();
    asks(&other).await.needs_factor();
    app.get("/auth/me").bearer(text(&key)).send().await.needs_factor();
    assert!(!is_active().await);
    // Any factor of the user will do: a key authenticates by none.
    app.enrol(&grace).await;
    asks(&app).await.ok();
    asks(&other).await.ok();
    assert!(is_active().await);
    set_policy(&app, &ada, "OPTIONAL", 0).await;
    app.remove_factors(&grace).await;
    app.restarted().await.get("/users").bearer(text(&key)).send().await.ok();
}

async fn every_operation_refuses_such_a_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    let document = document();
    for operation in operations(&document) {
        if operation.required_permission() == "public" {
            continue;
        }
        let prefix = if operation.at_the_root { "" } else { PREFIX };
        let path = format!("{prefix}{}", operation.path_of(&ada.user));
        let request = app.request(operation.method.clone(), &path).bearer(text(&key));
        request.json(&json!({})).send().await.needs_factor();
    }
}

async fn the_keys_of_a_service_account_need_no_factor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let robot = app.robot(&ada, &["users:read"]).await;
    let key = app.key(&ada, &robot, &json!({})).await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    app.get("/users").bearer(text(&key)).send().await.ok();
}

async fn a_restricted_session_that_waits_with_its_body_stays_restricted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = profile("grace@example.com");
    let request = app.post("/users").by(&ada).json(&body);
    let answer = request.send_after(async { drop(set_policy(&app, &ada, "REQUIRED", 0).await) }).await;
    answer.needs_factor();
}

async fn another_replica_restricts_and_frees_too(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.restarted().await;
    other.get("/users").by(&ada).send().await.ok();
    set_policy(&app, &ada, "REQUIRED", 0).await;
    other.get("/users").by(&ada).send().await.needs_factor();
    app.enrol(&ada).await;
    other.get("/users").by(&ada).send().await.ok();
}

async fn a_policy_that_requires_nothing_ends_the_restriction(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.enrol(&ada).await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    let list = format!("/users/{}/sessions", grace.user);
    app.get(&list).by(&grace).send().await.needs_factor();
    set_policy(&app, &ada, "OPTIONAL", 0).await;
    app.get(&list).by(&grace).send().await.ok();
}

async fn a_renewed_demand_begins_a_new_grace(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    let enrol_by = async || app.get("/auth/me").by(&grace).send().await.ok()["enrolBy"].clone();
    set_policy(&app, &ada, "REQUIRED", 1).await;
    app.pass(TimeDelta::minutes(5));
    assert_eq!(enrol_by().await, json!("2026-02-01T09:15:00.123Z"));
    set_policy(&app, &ada, "OPTIONAL", 1).await;
    assert_eq!(enrol_by().await, Value::Null);
    set_policy(&app, &ada, "REQUIRED", 1).await;
    assert_eq!(enrol_by().await, json!("2026-02-01T09:20:00.123Z"));
}

async fn setting_required_again_restarts_no_grace(app: TestApp) {
    let ada = requiring(&app, 1).await;
    app.pass(TimeDelta::minutes(5));
    app.unrecorded(&ada, set_policy(&app, &ada, "REQUIRED", 1)).await;
    let body = json!({ "name": "Engines", "secondFactor": "REQUIRED" });
    app.patch(&format!("/tenants/{}", ada.tenant)).by(&ada).json(&body).send().await.ok();
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!(me["enrolBy"], json!("2026-02-01T09:15:00.123Z"));
}

async fn another_grace_counts_from_the_same_moment(app: TestApp) {
    let ada = requiring(&app, 1).await;
    app.pass(TimeDelta::minutes(5));
    set_policy(&app, &ada, "REQUIRED", 2).await;
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!(me["enrolBy"], json!("2026-02-02T09:15:00.123Z"));
}

async fn the_last_factor_cannot_be_removed(app: TestApp) {
    let ada = requiring(&app, 7).await;
    let (first, second) = (app.enrol(&ada).await, app.enrol(&ada).await);
    app.delete(&format!("/auth/factors/{}", first.id)).by(&ada).send().await.no_content();
    app.delete(&format!("/auth/factors/{}", second.id)).by(&ada).send().await.problem("conflict");
    assert_eq!(app.factors(&ada).await.0.len(), 1);
    set_policy(&app, &ada, "OPTIONAL", 7).await;
    app.delete(&format!("/auth/factors/{}", second.id)).by(&ada).send().await.no_content();
}

async fn a_user_whose_factors_were_removed_is_restricted_after_the_grace(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.enrol(&ada).await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    app.enrol(&grace).await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    app.delete(&format!("/users/{}/factors", grace.user)).by(&ada).send().await.no_content();
    let grace = app.login(&grace).await;
    app.get(&format!("/users/{}/sessions", grace.user)).by(&grace).send().await.needs_factor();
    app.enrol(&grace).await;
    app.get(&format!("/users/{}/sessions", grace.user)).by(&grace).send().await.ok();
}

async fn users_with_a_factor_notice_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    set_policy(&app, &ada, "REQUIRED", 0).await;
    let challenge = app.challenge(&ada).await;
    let login = app.answer(&challenge, &authenticator.code(&app, 0)).await.ok();
    assert!(!members(&login).contains(&"enrolBy"));
    app.get("/users").by(&Person::logged_in(&login)).send().await.ok();
}

async fn a_required_factor_allows_shorter_passwords_under_nist(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "passwordPolicy": "nist-800-63b-4" });
    app.patch(&format!("/tenants/{}", ada.tenant)).by(&ada).json(&body).send().await.ok();
    let create = async |password: &str| {
        let body = with(profile(&format!("{}@example.com", password.len())), &json!({ "password": password }));
        app.post("/users").by(&ada).json(&body).send().await
    };
    assert_eq!(create("vexing quilts").await.invalid_fields(), ["password"]);
    set_policy(&app, &ada, "REQUIRED", 7).await;
    create("vexing quilts").await.created();
    create("vex quil").await.created();
    assert_eq!(create("vex qui").await.invalid_fields(), ["password"]);
}
