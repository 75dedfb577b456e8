//! Step-up: operations that need a recent authentication (`docs/http-api.md#step-up`, RFC 9470).

use axum::http::Method;
use chrono::TimeDelta;
use iam_core::factor::AuthenticationMethod;
use iam_core::federation::code_challenge;
use iam_core::random::SystemRandom;
use iam_core::session::{Session, SessionChange};
use iam_core::{AuditBatch, Caller, Change};
use iam_model::clock::shown;
use iam_model::id::IdGenerator;
use serde_json::{Value, json};
use test_support::identity_provider::ISSUER;

use crate::app::{REDIRECT, TestApp};
use crate::authenticator::STEP;
use crate::federation::VERIFIER;
use crate::openapi::{document, operations};
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, claims, says, with};
use crate::request::Response;

in_memory![
    a_session_tells_how_and_when_it_has_authenticated,
    after_ten_minutes_changes_of_credentials_are_refused,
    the_document_names_the_operations_that_need_it,
    other_operations_need_none,
    a_role_that_changes_no_protections_is_given_without,
    a_key_gives_no_role_that_changes_protections,
    permissions_for_an_offered_role_are_given,
    an_administrator_becomes_active_again_by_a_recent_authentication,
    the_password_of_a_user_without_a_factor_is_enough,
    a_user_with_a_factor_authenticates_by_it,
    a_wrong_proof_counts_like_a_failed_login,
    a_factor_alone_clears_no_failure,
    the_same_code_does_not_work_twice,
    another_replica_knows_at_once,
    only_the_own_session_is_renewed,
    a_step_up_is_recorded,
    the_current_session_can_always_be_ended,
    an_unchanged_email_needs_none,
    a_missing_permission_is_told_first,
    missing_and_invalid_fields_are_named,
    an_ended_session_cannot_authenticate_again,
];

const FRESH: TimeDelta = TimeDelta::minutes(10);

async fn step_up(app: &TestApp, person: &Person, body: &Value) -> Response {
    app.post("/auth/step-up").by(person).json(body).send().await
}

/// Lets the authentication of every session become old, and its access tokens stay valid.
fn wait(app: &TestApp) {
    app.pass(FRESH + TimeDelta::milliseconds(1));
}

async fn a_session_tells_how_and_when_it_has_authenticated(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let began = app.now();
    let seconds = claims(&ada.access)["iat"].clone();
    assert_eq!((&claims(&ada.access)["amr"], &claims(&ada.access)["auth_time"]), (&json!(["pwd"]), &seconds));
    app.pass(TimeDelta::minutes(3));
    let body = json!({ "refreshToken": ada.refresh });
    let refreshed = app.post("/auth/refresh").json(&body).send().await.ok();
    let access = refreshed["accessToken"].as_str().unwrap();
    assert_eq!((&claims(access)["amr"], &claims(access)["auth_time"]), (&json!(["pwd"]), &seconds));
    let me = app.get("/auth/me").bearer(access).send().await.ok();
    assert_eq!((&me["amr"], &me["authTime"]), (&json!(["pwd"]), &json!(began)));
}

/// The operations that need a recent authentication, each with a body that it accepts.
async fn guarded(app: &TestApp, ada: &Person) -> Vec<(Method, String, Option<Value>)> {
    let grace = app.colleague(ada, "grace@example.com").await;
    let second = app.login(ada).await;
    let passkey = app.new_passkey(ada).await;
    let (authenticator, pending) = (app.enrol(ada).await, app.set_up(ada).await);
    let code = pending.code(app, 0);
    let mut keys = Vec::new();
    for _ in 0..3 {
        let key = app.key(ada, &ada.user, &json!({})).await;
        keys.push(format!("/api-keys/{}", key["id"].as_str().unwrap()));
    }
    let key_of_grace = app.key(ada, &grace.user, &json!({ "permissions": [] })).await;
    let [changed, rotated, revoked] = [0, 1, 2].map(|number: usize| keys[number].clone());
    let (bob, admin) = (app.add_user(ada, "bob@example.com").await, app.role_id(ada, "TENANT_ADMIN").await);
    let give = json!({ "userId": bob, "roleId": admin });
    let until = shown(app.iam.now() + TimeDelta::days(1));
    let of_grace = with(give.clone(), &json!({ "userId": grace.user, "expiresAt": until }));
    let ends = app.post("/role-assignments").by(ada).json(&of_grace).send().await.created();
    let eve = app.add_user(ada, "suspended@example.com").await;
    app.assign(ada, &eve, "TENANT_ADMIN", None, None).await;
    app.set_status(ada, &eve, "SUSPENDED").await;
    let held = app.role(ada, "HELD", &["users:read"]).await;
    app.assign(ada, &bob, "HELD", None, None).await;
    let invitation = json!({ "email": "eve@example.com", "roles": [{ "roleId": admin }] });
    let acting = json!({ "reason": "A question about an order", "seconds": 600 });
    let password = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    let email = json!({ "newEmail": "new@example.com", "currentPassword": PASSWORD });
    let [changed_provider, removed_provider] =
        [app.provider(ada, &json!({})).await, app.provider(ada, &json!({})).await]
            .map(|provider| format!("/identity-providers/{}", provider["id"].as_str().unwrap()));
    let provider = json!({ "name": "Acme", "issuer": ISSUER, "clientId": "iam" });
    let social = app.social_provider(&ada.tenant).await;
    let challenge = code_challenge(VERIFIER);
    let start = json!({ "providerId": social, "redirectUri": REDIRECT, "codeChallenge": challenge });
    let identity = format!("/identities/{}", app.linked(&social, ada).await);
    let account = app.robot(ada, &["tenants:update"]).await;
    let directory = app.directory(ada, &json!({ "serviceAccountId": account })).await;
    let directory = format!("/directories/{}", directory["id"].as_str().unwrap());
    let group = app.directory_group(ada, directory.trim_start_matches("/directories/")).await;
    let grants = format!("{directory}/groups/{group}/grants");
    let mapped = app.role(ada, "MAPPED", &["tenants:update"]).await;
    let adopting = json!({ "name": "Staff", "serviceAccountId": app.robot(ada, &[]).await, "adopt": true });
    let eligibility = json!({ "roleId": held, "userId": grace.user });
    let asked = app.eligibility(ada, &json!({ "roleId": held, "userId": ada.user })).await;
    let mut requests = Vec::new();
    for _ in 0..2 {
        requests.push(app.access_request(&grace, &app.eligibility(ada, &eligibility).await).await);
    }
    let widened = format!("/eligibilities/{}", app.eligibility(ada, &eligibility).await);
    let asks = json!({ "eligibilityId": asked, "reason": "A question about an order" });
    let post = |path: &str, body: Option<Value>| (Method::POST, path.to_owned(), body);
    let delete = |path: String| (Method::DELETE, path, None);
    let hold = json!({ "userId": bob, "reason": "Case 2026-17" });
    let hold = app.post("/legal-holds").by(ada).json(&hold).send().await.created();
    let release = format!("/legal-holds/{}/release", hold["id"].as_str().unwrap());
    vec![
        (Method::GET, format!("/users/{}/export", grace.user), None),
        post(&release, Some(json!({ "reason": "The case is closed." }))),
        post("/auth/password", Some(password)),
        post("/auth/email", Some(email)),
        post("/auth/logout-all", None),
        post(&format!("/users/{}/logout-all", ada.user), None),
        post(&format!("/users/{}/logout-all", grace.user), None),
        delete(format!("/sessions/{}", second.session)),
        delete(format!("/sessions/{}", grace.session)),
        post(&format!("/users/{bob}/impersonations"), Some(acting)),
        post("/auth/factors/totp", Some(json!({}))),
        post(&format!("/auth/factors/totp/{}/confirm", pending.id), Some(json!({ "code": code }))),
        post("/auth/factors/passkeys/options", None),
        post("/auth/factors/passkeys", Some(json!({ "credential": passkey }))),
        post("/auth/factors/recovery-codes", None),
        delete(format!("/auth/factors/{}", authenticator.id)),
        delete(format!("/users/{}/factors", grace.user)),
        post(&format!("/users/{}/api-keys", ada.user), Some(json!({ "name": "key" }))),
        post(&format!("{rotated}/rotate"), Some(json!({}))),
        delete(revoked),
        post(&format!("/users/{}/api-keys", grace.user), Some(json!({ "name": "key", "permissions": [] }))),
        post(&format!("/api-keys/{}/rotate", key_of_grace["id"].as_str().unwrap()), Some(json!({}))),
        (Method::PATCH, format!("/tenants/{}", ada.tenant), Some(json!({ "secondFactor": "REQUIRED" }))),
        post(&format!("/tenants/{}/apply", ada.tenant), Some(json!({ "settings": { "authzenIdentifiers": "NAME" } }))),
        (Method::PUT, "/audit-logs/retention".to_owned(), Some(json!({ "retentionDays": 365 }))),
        post("/audit-logs/retention/apply", None),
        post(&format!("/users/{eve}/reactivate"), None),
        post("/role-assignments", Some(give.clone())),
        post("/role-assignments/bulk", Some(json!({ "assignments": [give] }))),
        (
            Method::PATCH,
            format!("/role-assignments/{}", ends["id"].as_str().unwrap()),
            Some(json!({ "expiresAt": null })),
        ),
        (Method::PATCH, format!("/roles/{held}"), Some(json!({ "permissions": ["users:read", "tenants:update"] }))),
        post("/invitations", Some(invitation)),
        post("/audit-logs/erasures", Some(json!({ "userId": grace.user }))),
        post("/eligibilities", Some(eligibility)),
        (Method::PATCH, widened, Some(json!({ "approvals": 0 }))),
        post("/access-requests", Some(asks)),
        post(&format!("/access-requests/{}/approve", requests[0]), Some(json!({}))),
        post(&format!("/access-requests/{}/deny", requests[1]), Some(json!({}))),
        post("/identity-providers", Some(provider)),
        post("/auth/identities/start", Some(start)),
        delete(identity),
        post("/directories", Some(adopting)),
        (Method::PATCH, directory, Some(json!({ "adopt": true }))),
        (Method::PUT, grants, Some(json!({ "grants": [{ "roleId": mapped }] }))),
        (Method::PATCH, changed_provider, Some(json!({ "enabled": false }))),
        delete(removed_provider),
        (Method::PATCH, changed, Some(json!({ "name": "changed" }))),
        (Method::PATCH, format!("/users/{}", grace.user), Some(json!({ "externalId": "00u1" }))),
        (Method::PATCH, format!("/users/{}", grace.user), Some(json!({ "email": "hopper@example.com" }))),
    ]
}

async fn after_ten_minutes_changes_of_credentials_are_refused(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let guarded = guarded(&app, &ada).await;
    let send = async |(method, path, body): &(Method, String, Option<Value>)| {
        let request = app.request(method.clone(), &format!("/api/v1{path}")).by(&ada);
        match body {
            Some(body) => request.json(body).send().await,
            None => request.send().await,
        }
    };
    let last = &guarded[guarded.len() - 1];
    app.pass(FRESH);
    send(last).await.ok();
    app.pass(TimeDelta::milliseconds(1));
    for call in guarded.iter().take(guarded.len() - 1) {
        let answer = send(call).await;
        answer.problem("insufficient-authentication");
        let challenge = r#"Bearer error="insufficient_user_authentication", max_age="600""#;
        assert_eq!(answer.header("www-authenticate"), Some(challenge), "{call:?}");
    }
    let back = (last.0.clone(), last.1.clone(), Some(json!({ "email": "grace@example.com" })));
    send(&back).await.problem("insufficient-authentication");
}

async fn the_document_names_the_operations_that_need_it(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let mut called: Vec<String> = guarded(&app, &ada)
        .await
        .into_iter()
        .map(|(method, path, _)| {
            let is_id = |part: &&str| part.len() == 36;
            let parts: Vec<&str> = path.split('/').map(|part| if is_id(&part) { "{id}" } else { part }).collect();
            format!("{method} {}", parts.join("/"))
        })
        .collect();
    // A step-up at a provider that has not asked the person again.
    called.push("POST /auth/federation/finish".to_owned());
    called.sort_unstable();
    called.dedup();
    let document = document();
    let operations = operations(&document);
    let needs = operations.iter().filter(|operation| {
        let response = operation.description["responses"]["401"]["$ref"].as_str();
        response.is_some_and(|response| response.ends_with("OrInsufficientAuthentication"))
    });
    let mut named: Vec<String> =
        needs.map(|operation| format!("{} {}", operation.method, operation.path_of("{id}"))).collect();
    named.sort_unstable();
    assert_eq!(named, called);
}

async fn other_operations_need_none(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    wait(&app);
    let body = json!({ "firstName": "Grace" });
    app.patch(&format!("/users/{}", grace.user)).by(&ada).json(&body).send().await.ok();
    app.set_status(&ada, &grace.user, "SUSPENDED").await;
    app.get("/auth/factors").by(&ada).send().await.ok();
}

/// In an organization, or without the rights to change what protects everybody, a role needs no recent authentication.
async fn a_role_that_changes_no_protections_is_given_without(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let all = app.role(&ada, "ALL", &["*"]).await;
    wait(&app);
    let give = async |members: Value| {
        let body = with(json!({ "userId": bob }), &members);
        app.post("/role-assignments").by(&ada).json(&body).send().await
    };
    give(json!({ "roleId": app.role_id(&ada, "MEMBER").await })).await.created();
    give(json!({ "roleId": all, "organizationId": sales })).await.created();
    give(json!({ "roleId": all })).await.problem("insufficient-authentication");
    // A role that no user holds gives nothing yet.
    let role = json!({ "name": "PROTECTOR", "permissions": ["tenants:update"] });
    app.post("/roles").by(&ada).json(&role).send().await.created();
}

/// The key could be given to an account whose password its holder has chosen.
async fn a_key_gives_no_role_that_changes_protections(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let (bob, admin) = (app.add_user(&ada, "bob@example.com").await, app.role_id(&ada, "TENANT_ADMIN").await);
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let send =
        async |path: &str, body: Value| app.post(path).bearer(key["key"].as_str().unwrap()).json(&body).send().await;
    // A key gives nothing that outlives it.
    let until = shown(app.iam.now() + TimeDelta::days(1));
    let give = json!({ "userId": bob, "roleId": admin, "expiresAt": until });
    let invitation = json!({ "email": "eve@example.com", "roles": [{ "roleId": admin, "expiresAt": until }] });
    for (path, body) in [
        ("/role-assignments", give.clone()),
        ("/role-assignments/bulk", json!({ "assignments": [give] })),
        ("/invitations", invitation),
    ] {
        assert!(send(path, body).await.detail("forbidden").contains("api key"), "{path}");
    }
    let member = json!({ "userId": bob, "roleId": app.role_id(&ada, "MEMBER").await, "expiresAt": until });
    send("/role-assignments", member).await.created();
}

/// An empty role needs nothing when an invitation offers it, so what is added before the acceptance does.
async fn permissions_for_an_offered_role_are_given(app: TestApp) {
    let app = app.with_mail().await;
    let ada = app.register("ada@example.com").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let key = key["key"].as_str().unwrap();
    let until = shown(app.iam.now() + TimeDelta::days(1));
    let role = app.role(&ada, "EMPTY", &[]).await;
    let path = format!("/roles/{role}");
    let invitation = json!({ "email": "eve@example.com", "roles": [{ "roleId": role, "expiresAt": until }] });
    let made = app.post("/invitations").bearer(key).json(&invitation).send().await.created();
    wait(&app);
    let widen = json!({ "permissions": ["*"] });
    assert!(app.patch(&path).bearer(key).json(&widen).send().await.detail("forbidden").contains("api key"));
    app.patch(&path).by(&ada).json(&widen).send().await.problem("insufficient-authentication");
    // An invitation that was revoked gives no role.
    app.delete(&format!("/invitations/{}", made["id"].as_str().unwrap())).by(&ada).send().await.no_content();
    app.patch(&path).by(&ada).json(&widen).send().await.ok();
}

/// Its former administrators are accounts that a thief of a key may know.
async fn an_administrator_becomes_active_again_by_a_recent_authentication(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "TENANT_ADMIN", None, None).await;
    app.set_status(&ada, &bob.user, "SUSPENDED").await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let path = format!("/users/{}", bob.user);
    let active = json!({ "status": "ACTIVE" });
    let requests = || [app.post(&format!("{path}/reactivate")), app.patch(&path).json(&active)];
    for request in requests() {
        let refused = request.bearer(key["key"].as_str().unwrap()).send().await;
        assert!(refused.detail("forbidden").contains("api key"));
    }
    wait(&app);
    for request in requests() {
        request.by(&ada).send().await.problem("insufficient-authentication");
    }
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.no_content();
    app.post(&format!("{path}/reactivate")).by(&ada).send().await.ok();
}

async fn the_password_of_a_user_without_a_factor_is_enough(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let second = app.login(&ada).await;
    wait(&app);
    let end = format!("/sessions/{}", second.session);
    app.delete(&end).by(&ada).send().await.problem("insufficient-authentication");
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.no_content();
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!((&me["amr"], &me["authTime"]), (&json!(["pwd"]), &json!(app.now())));
    app.delete(&end).by(&ada).send().await.no_content();
}

async fn a_user_with_a_factor_authenticates_by_it(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    wait(&app);
    let refused = step_up(&app, &ada, &json!({ "password": PASSWORD })).await;
    assert!(refused.detail("unauthorized").contains("second factor"));
    let refused = step_up(&app, &ada, &json!({ "password": WRONG_PASSWORD })).await;
    assert!(refused.detail("unauthorized").contains("second factor"));
    assert!(app.audit(&ada, &[("action", "LOGIN_FAILURE")]).await.is_empty());
    step_up(&app, &ada, &json!({ "code": authenticator.code(&app, 0) })).await.no_content();
    let me = app.get("/auth/me").by(&ada).send().await.ok();
    assert_eq!((&me["amr"], &me["authTime"]), (&json!(["pwd", "otp", "mfa"]), &json!(app.now())));
    app.post("/auth/logout-all").by(&ada).send().await.no_content();
}

async fn a_wrong_proof_counts_like_a_failed_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..5 {
        step_up(&app, &ada, &json!({ "password": WRONG_PASSWORD })).await.problem("unauthorized");
    }
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.problem("account-locked");
    app.attempt_at(&ada.tenant, &ada.email, PASSWORD).send().await.problem("account-locked");

    let grace = app.register("grace@example.com").await;
    let authenticator = app.enrol(&grace).await;
    for _ in 0..5 {
        step_up(&app, &grace, &json!({ "code": "000000" })).await.problem("unauthorized");
    }
    let body = json!({ "code": authenticator.code(&app, 0) });
    step_up(&app, &grace, &body).await.problem("account-locked");
    let failures = app.audit(&grace, &[("action", "LOGIN_FAILURE")]).await;
    assert_eq!(failures[1]["metadata"]["reason"], "SECOND_FACTOR");
    assert_eq!(failures[0]["metadata"]["reason"], "ACCOUNT_LOCKED");
}

/// A thief of a session may have added the factor, and must not guess the password forever.
async fn a_factor_alone_clears_no_failure(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let guess = async || {
        let body = json!({ "currentPassword": WRONG_PASSWORD, "newPassword": "N3w&Password" });
        app.post("/auth/password").by(&ada).json(&body).send().await
    };
    for _ in 0..4 {
        guess().await.problem("validation-error");
    }
    step_up(&app, &ada, &json!({ "code": authenticator.code(&app, 0) })).await.no_content();
    guess().await.problem("validation-error");
    guess().await.problem("account-locked");
}

async fn the_same_code_does_not_work_twice(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let authenticator = app.enrol(&ada).await;
    let body = json!({ "code": authenticator.code(&app, 0) });
    step_up(&app, &ada, &body).await.no_content();
    step_up(&app, &ada, &body).await.problem("unauthorized");
    let challenge = app.challenge(&ada).await;
    app.answer(&challenge, body["code"].as_str().unwrap()).await.problem("unauthorized");
    app.pass(TimeDelta::seconds(STEP));
    app.answer(&challenge, &authenticator.code(&app, 0)).await.ok();
}

async fn another_replica_knows_at_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.restarted().await;
    wait(&app);
    other.post("/auth/logout-all").by(&ada).send().await.problem("insufficient-authentication");
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.no_content();
    other.post("/auth/logout-all").by(&ada).send().await.no_content();
}

async fn only_the_own_session_is_renewed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.login(&ada).await;
    wait(&app);
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.no_content();
    app.post("/auth/logout-all").by(&other).send().await.problem("insufficient-authentication");
}

async fn a_step_up_is_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.no_content();
    let authenticator = app.enrol(&ada).await;
    step_up(&app, &ada, &json!({ "code": authenticator.code(&app, 0) })).await.no_content();
    let entries = app.history(&ada, &ada.session).await;
    // The session that has set up the first factor has authenticated by it.
    for (entry, method) in entries.iter().zip(["totp", "totp", "password"]) {
        says(entry, &ada, "UPDATE", "SESSION", &ada.session);
        assert_eq!(entry["metadata"], json!({ "method": method }));
    }
}

async fn the_current_session_can_always_be_ended(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.login(&ada).await;
    wait(&app);
    app.delete(&format!("/sessions/{}", ada.session)).by(&ada).send().await.no_content();
    app.post("/auth/logout").by(&other).send().await.no_content();
}

async fn an_unchanged_email_needs_none(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    wait(&app);
    let body = json!({ "email": "grace@example.com", "lastName": "Hopper" });
    app.patch(&format!("/users/{}", grace.user)).by(&ada).json(&body).send().await.ok();
}

async fn a_missing_permission_is_told_first(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let grace = app.colleague(&ada, "grace@example.com").await;
    wait(&app);
    app.delete(&format!("/sessions/{}", ada.session)).by(&grace).send().await.problem("forbidden");
    app.post(&format!("/users/{}/logout-all", ada.user)).by(&grace).send().await.problem("forbidden");
    app.delete(&format!("/users/{}/factors", ada.user)).by(&grace).send().await.problem("forbidden");
    let body = json!({ "email": "eve@example.com" });
    app.patch(&format!("/users/{}", ada.user)).by(&grace).json(&body).send().await.problem("forbidden");
}

async fn missing_and_invalid_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (body, field) in [
        (json!({}), "password"),
        (json!({ "password": "" }), "password"),
        (json!({ "password": PASSWORD, "code": "123456" }), "code"),
        (json!({ "recoveryCode": "x" }), "recoveryCode"),
        (json!({ "password": 7 }), "password"),
    ] {
        assert_eq!(step_up(&app, &ada, &body).await.invalid_fields(), [field], "{body}");
    }
}

async fn an_ended_session_cannot_authenticate_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.post("/auth/logout").by(&ada).send().await.no_content();
    step_up(&app, &ada, &json!({ "password": PASSWORD })).await.problem("unauthorized");
}

impl TestApp {
    /// Lets the last authentication of a person's session become older than ten minutes, without waiting: its access
    /// token stays valid.
    pub(crate) async fn age(&self, person: &Person) {
        let caller = Caller::system(person.tenant.parse().unwrap(), "test");
        let mut work = self.store.begin(caller.tenant()).await.unwrap();
        let session = work.lock_session(person.session.parse().unwrap()).await.unwrap().unwrap();
        let authenticated_at = session.authenticated_at - FRESH - TimeDelta::milliseconds(1);
        let session = Session { authenticated_at, ..session };
        let change = Change::from(SessionChange::StepUp { session, method: AuthenticationMethod::Password });
        let ids = IdGenerator::new();
        let batch = AuditBatch::of(&change, caller.author(), self.iam.now(), &ids, &SystemRandom);
        work.write(&change, batch).await.unwrap();
        work.commit().await.unwrap();
    }
}
