//! Registration, sessions and passwords.

use chrono::TimeDelta;
use serde_json::json;

use super::{Expected, Fixture, ended, entry, granted};
use crate::access_table::fresh_email;
use crate::app::shown;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, profile, with};

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

pub(super) async fn register(fixture: &Fixture<'_>) {
    let app = fixture.app;
    let email = fresh_email();
    let body = with(profile(&email), &json!({ "tenantName": "Read Out" }));
    let (answer, correlation_id) = fixture.answer(app.post("/auth/register").json(&body), 201).await;
    let eve = Person::logged_in(&answer.json());
    let me = app.get("/auth/me").by(&eve).send().await.ok();
    let of_user = |action, resource_type, id: &str| entry(action, resource_type, id.to_owned(), eve.user.clone());
    let role = &me["roles"][0];
    let [assignment, role] = [&role["assignmentId"], &role["role"]["id"]].map(|id| id.as_str().unwrap());
    let tenant = json!({
        "name": "Read Out", "slug": me["tenant"]["slug"], "status": "ACTIVE", "passwordPolicy": "seed",
        "secondFactor": "OPTIONAL", "secondFactorGraceDays": 7, "passwordLogin": "ALLOWED",
        "emailLogin": "OFF",
        "authzenIdentifiers": "ID",
        "userAttributes": [], "organizationAttributes": [], "unregisteredAttributes": "ALLOWED",
    });
    let user = json!({
        "email": email, "firstName": "Ada", "lastName": "Lovelace", "homeOrganizationId": null, "status": "ACTIVE", "password": "[REDACTED]",
    });
    let expected = [
        of_user("CREATE", "TENANT", &eve.tenant).creating(tenant),
        of_user("CREATE", "USER", &eve.user).creating(user),
        granted("ROLE_ASSIGNED", assignment, &eve, &eve.user, (role, "TENANT_ADMIN"), None),
        began(&eve),
    ];
    fixture.compare(&app.audit(&eve, &[]).await, &correlation_id, &eve.tenant, &expected);
    fixture.refuses(app.post("/auth/register").json(&json!({})), "validation-error").await;
    let closed = app.with_settings(|settings| settings.registration = false).await;
    fixture.refuses(closed.post("/auth/register").json(&body), "forbidden").await;
}

pub(super) async fn login(fixture: &Fixture<'_>) {
    let Fixture { app, bob, ada, .. } = fixture;
    let attempt = |email: &str, password: &str| app.attempt_at(&bob.tenant, email, password);
    fixture.refuses(app.post("/auth/login").json(&json!({})), "validation-error").await;
    let wrong = attempt(&bob.email, WRONG_PASSWORD);
    fixture.records(wrong, 401, [failed(&bob.email, "INVALID_PASSWORD", 1)]).await;
    let (answer, correlation_id) = fixture.answer(attempt(&bob.email, PASSWORD), 200).await;
    let session = Person::logged_in(&answer.json());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &bob.tenant, &[began(&session)]);
    let unknown_email = fresh_email();
    for number in 1..=5 {
        let unknown = attempt(&unknown_email, PASSWORD);
        fixture.records(unknown, 401, [failed(&unknown_email, "UNKNOWN_USER", number)]).await;
    }
    fixture.records(attempt(&unknown_email, PASSWORD), 403, [failed(&unknown_email, "ACCOUNT_LOCKED", 5)]).await;
    for (status, code, reason) in [("SUSPENDED", 403, "USER_SUSPENDED"), ("INACTIVE", 401, "USER_INACTIVE")] {
        app.set_status(ada, &bob.user, status).await;
        let attempts = u32::from(code == 401);
        fixture.records(attempt(&bob.email, PASSWORD), code, [failed(&bob.email, reason, attempts)]).await;
    }
    let nowhere = app.attempt_at("no-such-tenant", &bob.email, PASSWORD);
    fixture.refuses(nowhere, "unauthorized").await;
}

pub(super) async fn refresh(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let present = |token: &str| app.post("/auth/refresh").json(&json!({ "refreshToken": token }));
    let refreshed = || entry("TOKEN_REFRESH", "SESSION", bob.session.clone(), bob.user.clone());
    fixture.refuses(present(""), "validation-error").await;
    fixture.refuses(present("invented"), "unauthorized").await;
    fixture.records(present(&bob.refresh), 200, [refreshed()]).await;
    fixture.records(present(&bob.refresh), 200, [refreshed().metadata(json!({ "repeated": true }))]).await;
    app.pass(TimeDelta::minutes(1));
    fixture.records(present(&bob.refresh), 401, [ended(bob, bob, "TOKEN_REUSE")]).await;
    fixture.refuses(present(&bob.refresh), "unauthorized").await;
}

pub(super) async fn logout(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    fixture.refuses(app.post("/auth/logout"), "unauthorized").await;
    let ended = entry("LOGOUT", "SESSION", bob.session.clone(), bob.user.clone());
    let ended = ended.metadata(json!({ "targetUserId": bob.user }));
    fixture.records(app.post("/auth/logout").by(bob), 204, [ended]).await;
    fixture.refuses(app.post("/auth/logout").by(bob), "unauthorized").await;
}

pub(super) async fn logout_all(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let other = app.login(bob).await;
    let expected = [ended(bob, bob, "LOGOUT_ALL"), ended(&other, bob, "LOGOUT_ALL")];
    fixture.records(app.post("/auth/logout-all").by(bob), 204, expected).await;
    fixture.refuses(app.post("/auth/logout-all").by(&other), "unauthorized").await;
}

pub(super) async fn logout_user(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let logout = |by: &Person, id: &str| app.post(&format!("/users/{id}/logout-all")).by(by);
    fixture.refuses(logout(ada, "17"), "validation-error").await;
    fixture.refuses(logout(bob, &ada.user), "forbidden").await;
    fixture.refuses(logout(ada, &ada.tenant), "not-found").await;
    let other = app.login(bob).await;
    let expected = [ended(bob, ada, "LOGOUT_ALL"), ended(&other, ada, "LOGOUT_ALL")];
    fixture.records(logout(ada, &bob.user), 204, expected).await;
    fixture.records(logout(ada, &bob.user), 204, []).await;
    let again = app.login(bob).await;
    fixture.records(logout(&again, &bob.user), 204, [ended(&again, bob, "LOGOUT_ALL")]).await;
}

pub(super) async fn change_password(fixture: &Fixture<'_>) {
    let Fixture { app, bob, .. } = fixture;
    let change = |current: &str, new: &str| {
        app.post("/auth/password").by(bob).json(&json!({ "currentPassword": current, "newPassword": new }))
    };
    fixture.refuses(change(PASSWORD, "weak"), "validation-error").await;
    let wrong = change(WRONG_PASSWORD, "N3w&Password");
    fixture.records(wrong, 400, [failed(&bob.email, "INVALID_PASSWORD", 1)]).await;
    let other = app.login(bob).await;
    let changed = entry("PASSWORD_CHANGE", "USER", bob.user.clone(), bob.user.clone());
    fixture.records(change(PASSWORD, "N3w&Password"), 204, [changed, ended(&other, bob, "PASSWORD_CHANGE")]).await;
}

pub(super) async fn terminate(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let terminate = |by: &Person, id: &str| app.delete(&format!("/sessions/{id}")).by(by);
    fixture.refuses(terminate(ada, "17"), "validation-error").await;
    fixture.refuses(terminate(bob, &ada.session), "forbidden").await;
    fixture.records(terminate(ada, &bob.session), 204, [ended(bob, ada, "TERMINATED")]).await;
    fixture.refuses(terminate(ada, &bob.session), "not-found").await;
}

pub(super) async fn impersonate(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let act = |by: &Person, id: &str| {
        let body = json!({ "reason": "Ticket 4711", "seconds": 600 });
        app.post(&format!("/users/{id}/impersonations")).by(by).json(&body)
    };
    fixture.refuses(act(ada, "17"), "validation-error").await;
    fixture.refuses(act(bob, &ada.user), "forbidden").await;
    fixture.refuses(act(ada, &ada.user), "forbidden").await;
    fixture.refuses(act(ada, &ada.tenant), "not-found").await;
    let (answer, correlation_id) = fixture.answer(act(ada, &bob.user), 201).await;
    let (answer, until) = (answer.json(), shown(app.iam.now() + TimeDelta::seconds(600)));
    let session = answer["sessionId"].as_str().unwrap();
    let of_both = |action| entry(action, "SESSION", session.to_owned(), bob.user.clone());
    let why = json!({ "actorId": ada.user, "reason": "Ticket 4711", "readOnly": true });
    let started = of_both("IMPERSONATION_STARTED").metadata(with(why.clone(), &json!({ "expiresAt": until })));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[started]);
    let end = json!({ "cause": "TERMINATED", "endedBy": bob.user });
    let ended = of_both("IMPERSONATION_ENDED").metadata(with(why, &end));
    fixture.records(app.delete(&format!("/sessions/{session}")).by(bob), 204, [ended]).await;
}
