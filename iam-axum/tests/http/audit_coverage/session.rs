//! Registration, sessions and passwords.

use chrono::TimeDelta;
use serde_json::json;

use super::{Expected, Scene, ended, entry, granted};
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};
use crate::table::fresh_email;

/// The entry of a session that began.
fn began(session: &Person) -> Expected {
    let entry = entry("LOGIN", "SESSION", session.session.clone(), session.user.clone());
    entry.metadata(json!({ "method": "password" }))
}

/// The entry of a failed login.
fn failed(email: &str, reason: &str, attempts: u32) -> Expected {
    let metadata = json!({ "email": email, "reason": reason, "attemptCount": attempts });
    entry("LOGIN_FAILURE", "USER", None, None).metadata(metadata)
}

pub(super) async fn register(scene: &Scene<'_>) {
    let app = scene.app;
    let email = fresh_email();
    let body = with(profile(&email), &json!({ "tenantName": "Read Out" }));
    let (answer, correlation_id) = scene.answer(app.post("/auth/register").json(&body), 201).await;
    let eve = Person::logged_in(&answer.json());
    let me = app.get("/auth/me").by(&eve).send().await.ok();
    let of_user = |action, resource_type, id: &str| entry(action, resource_type, id.to_owned(), eve.user.clone());
    let role = &me["roles"][0];
    let [assignment, role] = [&role["assignmentId"], &role["role"]["id"]].map(|id| id.as_str().unwrap());
    let tenant = json!({
        "name": "Read Out", "slug": me["tenant"]["slug"], "status": "ACTIVE", "passwordPolicy": "seed",
        "secondFactor": "OPTIONAL", "secondFactorGraceDays": 7,
    });
    let user = json!({
        "email": email, "firstName": "Ada", "lastName": "Lovelace", "status": "ACTIVE", "password": "[REDACTED]",
    });
    let expected = [
        of_user("CREATE", "TENANT", &eve.tenant).creating(tenant),
        of_user("CREATE", "USER", &eve.user).creating(user),
        granted("ROLE_ASSIGNED", assignment, &eve, &eve.user, (role, "TENANT_ADMIN"), None),
        began(&eve),
    ];
    scene.compare(&app.audit(&eve, &[]).await, &correlation_id, &eve.tenant, &expected);
    scene.refuses(app.post("/auth/register").json(&json!({})), "validation-error").await;
    let closed = app.with_settings(|settings| settings.registration = false).await;
    scene.refuses(closed.post("/auth/register").json(&body), "forbidden").await;
}

pub(super) async fn login(scene: &Scene<'_>) {
    let Scene { app, bob, ada, .. } = scene;
    let attempt = |email: &str, password: &str| app.attempt_at(&bob.tenant, email, password);
    scene.refuses(app.post("/auth/login").json(&json!({})), "validation-error").await;
    let wrong = attempt(&bob.email, WRONG_PASSWORD);
    scene.records(wrong, 401, [failed(&bob.email, "INVALID_PASSWORD", 1)]).await;
    let (answer, correlation_id) = scene.answer(attempt(&bob.email, PASSWORD), 200).await;
    let session = Person::logged_in(&answer.json());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    scene.compare(&entries, &correlation_id, &bob.tenant, &[began(&session)]);
    let unknown_email = fresh_email();
    for number in 1..=5 {
        let unknown = attempt(&unknown_email, PASSWORD);
        scene.records(unknown, 401, [failed(&unknown_email, "UNKNOWN_USER", number)]).await;
    }
    scene.records(attempt(&unknown_email, PASSWORD), 403, [failed(&unknown_email, "ACCOUNT_LOCKED", 5)]).await;
    for (status, code, reason) in [("SUSPENDED", 403, "USER_SUSPENDED"), ("INACTIVE", 401, "USER_INACTIVE")] {
        app.set_status(ada, &bob.user, status).await;
        let attempts = u32::from(code == 401);
        scene.records(attempt(&bob.email, PASSWORD), code, [failed(&bob.email, reason, attempts)]).await;
    }
    let nowhere = app.attempt_at("no-such-tenant", &bob.email, PASSWORD);
    scene.refuses(nowhere, "unauthorized").await;
}

pub(super) async fn refresh(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    let present = |token: &str| app.post("/auth/refresh").json(&json!({ "refreshToken": token }));
    let refreshed = || entry("TOKEN_REFRESH", "SESSION", bob.session.clone(), bob.user.clone());
    scene.refuses(present(""), "validation-error").await;
    scene.refuses(present("invented"), "unauthorized").await;
    scene.records(present(&bob.refresh), 200, [refreshed()]).await;
    scene.records(present(&bob.refresh), 200, [refreshed().metadata(json!({ "repeated": true }))]).await;
    app.pass(TimeDelta::minutes(1));
    scene.records(present(&bob.refresh), 401, [ended(bob, bob, "TOKEN_REUSE")]).await;
    scene.refuses(present(&bob.refresh), "unauthorized").await;
}

pub(super) async fn logout(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    scene.refuses(app.post("/auth/logout"), "unauthorized").await;
    let ended = entry("LOGOUT", "SESSION", bob.session.clone(), bob.user.clone());
    let ended = ended.metadata(json!({ "targetUserId": bob.user }));
    scene.records(app.post("/auth/logout").by(bob), 204, [ended]).await;
    scene.refuses(app.post("/auth/logout").by(bob), "unauthorized").await;
}

pub(super) async fn logout_all(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    let other = app.login(bob).await;
    let expected = [ended(bob, bob, "LOGOUT_ALL"), ended(&other, bob, "LOGOUT_ALL")];
    scene.records(app.post("/auth/logout-all").by(bob), 204, expected).await;
    scene.refuses(app.post("/auth/logout-all").by(&other), "unauthorized").await;
}

pub(super) async fn logout_user(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let logout = |by: &Person, id: &str| app.post(&format!("/users/{id}/logout-all")).by(by);
    scene.refuses(logout(ada, "17"), "validation-error").await;
    scene.refuses(logout(bob, &ada.user), "forbidden").await;
    scene.refuses(logout(ada, &ada.tenant), "not-found").await;
    let other = app.login(bob).await;
    let expected = [ended(bob, ada, "LOGOUT_ALL"), ended(&other, ada, "LOGOUT_ALL")];
    scene.records(logout(ada, &bob.user), 204, expected).await;
    scene.records(logout(ada, &bob.user), 204, []).await;
    let again = app.login(bob).await;
    scene.records(logout(&again, &bob.user), 204, [ended(&again, bob, "LOGOUT_ALL")]).await;
}

pub(super) async fn change_password(scene: &Scene<'_>) {
    let Scene { app, bob, .. } = scene;
    let change = |current: &str, new: &str| {
        app.post("/auth/password").by(bob).json(&json!({ "currentPassword": current, "newPassword": new }))
    };
    scene.refuses(change(PASSWORD, "weak"), "validation-error").await;
    let wrong = change(WRONG_PASSWORD, "N3w&Password");
    scene.records(wrong, 400, [failed(&bob.email, "INVALID_PASSWORD", 1)]).await;
    let other = app.login(bob).await;
    let changed = entry("PASSWORD_CHANGE", "USER", bob.user.clone(), bob.user.clone());
    scene.records(change(PASSWORD, "N3w&Password"), 204, [changed, ended(&other, bob, "PASSWORD_CHANGE")]).await;
}

pub(super) async fn terminate(scene: &Scene<'_>) {
    let Scene { app, ada, bob, .. } = scene;
    let terminate = |by: &Person, id: &str| app.delete(&format!("/sessions/{id}")).by(by);
    scene.refuses(terminate(ada, "17"), "validation-error").await;
    scene.refuses(terminate(bob, &ada.session), "forbidden").await;
    scene.records(terminate(ada, &bob.session), 204, [ended(bob, ada, "TERMINATED")]).await;
    scene.refuses(terminate(ada, &bob.session), "not-found").await;
}
