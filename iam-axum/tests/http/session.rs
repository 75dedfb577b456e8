//! `/auth/logout`, `/auth/logout-all`, `/auth/me` and sessions (`docs/http-api.md#sessions`).

use chrono::TimeDelta;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::{ADDRESS, members};

in_memory![
    logout_ends_only_the_callers_session,
    logout_is_recorded,
    logout_all_ends_all_of_the_callers_sessions,
    me_shows_user_tenant_session_roles_and_permissions,
    me_shows_roles_in_organizations_and_their_expiry,
    me_shows_no_expired_role,
    sessions_are_listed_with_their_fields,
    a_refresh_updates_the_listed_session,
    only_live_sessions_are_listed,
    listing_own_sessions_needs_no_permission,
    another_users_sessions_need_sessions_read,
    ending_another_users_session_needs_sessions_delete,
    ending_own_sessions_needs_no_permission,
    an_ended_session_is_recorded_as_terminated,
    sessions_of_an_unknown_user_are_not_found,
    an_unknown_or_ended_session_is_not_found,
    a_login_beyond_the_limit_ends_the_session_that_was_used_least_recently,
];

async fn logout_ends_only_the_callers_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let other = app.login(&ada).await;
    app.post("/auth/logout").by(&ada).send().await.no_content();
    assert!(!app.knows(&ada).await && app.knows(&other).await);
    app.post("/auth/logout").by(&ada).send().await.problem("unauthorized");
}

async fn logout_is_recorded(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let out = app.login(&ada).await;
    app.post("/auth/logout").by(&out).send().await.no_content();
    let entries = app.audit(&ada, &[("action", "LOGOUT")]).await;
    assert_eq!(entries.len(), 1);
    assert_eq!((&entries[0]["resourceType"], &entries[0]["resourceId"]), (&json!("SESSION"), &json!(out.session)));
    assert_eq!(entries[0]["userId"], json!(ada.user));
}

async fn logout_all_ends_all_of_the_callers_sessions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let again = app.login(&bob).await;
    app.post("/auth/logout-all").by(&again).send().await.no_content();
    assert!(!app.knows(&bob).await && !app.knows(&again).await && app.knows(&ada).await);
    let entries = app.audit(&ada, &[("action", "LOGOUT")]).await;
    let mut ended: Vec<&str> = entries.iter().map(|entry| entry["resourceId"].as_str().unwrap()).collect();
    ended.sort_unstable();
    let mut sessions = [bob.session.as_str(), again.session.as_str()];
    sessions.sort_unstable();
    assert_eq!(ended, sessions);
    assert!(entries.iter().all(|entry| entry["metadata"]["reason"] == "LOGOUT_ALL"));
    assert!(entries.iter().all(|entry| entry["userId"] == bob.user));
}

async fn me_shows_user_tenant_session_roles_and_permissions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let me = app.get("/auth/me").by(&ada).header("user-agent", "test/1.0").send().await.ok();
    assert_eq!(members(&me), ["amr", "authTime", "permissions", "roles", "session", "tenant", "user", "userTag"]);
    assert_eq!(me["user"], app.user(&ada, &ada.user).await);
    let mut tenant = app.get(&format!("/tenants/{}", ada.tenant)).by(&ada).send().await.ok();
    // Only who may see the settings sees the rules for attributes.
    for rule in ["userAttributes", "organizationAttributes", "unregisteredAttributes"] {
        tenant.as_object_mut().unwrap().remove(rule).unwrap();
    }
    assert_eq!(me["tenant"], tenant);
    assert_eq!((&me["session"]["id"], &me["session"]["current"]), (&json!(ada.session), &json!(true)));
    let role = &me["roles"][0];
    assert_eq!(members(role), ["assignmentId", "expiresAt", "role"]);
    assert_eq!(role["role"], json!({ "id": role["role"]["id"], "name": "TENANT_ADMIN" }));
    assert_eq!(me["permissions"], json!({ "tenant": ["*"], "organizations": [] }));
}

async fn me_shows_roles_in_organizations_and_their_expiry(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    assert_eq!(app.get("/auth/me").by(&bob).send().await.ok()["roles"], json!([]));
    let sales = app.organization(&ada, "sales").await;
    let expiry = app.iam.now() + TimeDelta::hours(1);
    let id = app.assign(&ada, &bob.user, "MEMBER", Some(sales), Some(expiry)).await;
    let me = app.get("/auth/me").by(&bob).send().await.ok();
    let expected = json!([{
        "assignmentId": id,
        "role": { "id": me["roles"][0]["role"]["id"], "name": "MEMBER" },
        "organization": { "id": sales, "name": "Organization sales" },
        "expiresAt": shown(expiry),
    }]);
    assert_eq!(me["roles"], expected);
    assert_eq!(me["permissions"]["tenant"], json!([]));
    let organizations = me["permissions"]["organizations"].as_array().unwrap();
    assert_eq!(organizations.len(), 1);
    assert_eq!(organizations[0]["organizationId"], json!(sales));
    let mut permissions: Vec<&str> =
        organizations[0]["permissions"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    permissions.sort_unstable();
    assert_eq!(permissions, ["organizations:read", "users:read"]);
}

async fn me_shows_no_expired_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", None, Some(app.iam.now() + TimeDelta::minutes(1))).await;
    app.pass(TimeDelta::minutes(1) - TimeDelta::milliseconds(1));
    app.get("/users").by(&bob).send().await.ok();
    app.pass(TimeDelta::milliseconds(1));
    let me = app.get("/auth/me").by(&bob).send().await.ok();
    assert_eq!((&me["roles"], &me["permissions"]["tenant"]), (&json!([]), &json!([])));
    app.get("/users").by(&bob).send().await.problem("forbidden");
}

async fn sessions(app: &TestApp, reader: &Person, user: &str) -> Vec<Value> {
    let body = app.get(&format!("/users/{user}/sessions")).by(reader).send().await.ok();
    assert_eq!(members(&body), ["data"]);
    body["data"].as_array().unwrap().clone()
}

async fn sessions_are_listed_with_their_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.pass(TimeDelta::minutes(1));
    let login = app.attempt("ada@example.com", crate::people::PASSWORD).header("user-agent", "test/1.0");
    let token = login.send().await.ok()["accessToken"].as_str().unwrap().to_owned();
    let body = app.get(&format!("/users/{}/sessions", ada.user)).bearer(&token).send().await.ok();
    let [newer, older]: [Value; 2] = body["data"].as_array().unwrap().clone().try_into().unwrap();
    let expected = json!({
        "id": crate::people::claims(&token)["sid"],
        "createdAt": app.now(),
        "lastUsedAt": app.now(),
        "expiresAt": shown(app.iam.now() + TimeDelta::days(7)),
        "ipAddress": ADDRESS,
        "userAgent": "test/1.0",
        "current": true,
    });
    assert_eq!(newer, expected);
    assert_eq!((&older["id"], &older["current"]), (&json!(ada.session), &json!(false)));
    assert_eq!(older["userAgent"], Value::Null);
}

async fn a_refresh_updates_the_listed_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let began = app.now();
    app.pass(TimeDelta::minutes(5));
    app.post("/auth/refresh").json(&json!({ "refreshToken": ada.refresh })).send().await.ok();
    let session = &sessions(&app, &ada, &ada.user).await[0];
    assert_eq!((&session["createdAt"], &session["lastUsedAt"]), (&json!(began), &json!(app.now())));
    assert_eq!(session["expiresAt"], shown(app.iam.now() + TimeDelta::days(7)));
}

async fn only_live_sessions_are_listed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let out = app.login(&ada).await;
    app.post("/auth/logout").by(&out).send().await.no_content();
    app.pass(TimeDelta::days(6));
    let late = app.login(&ada).await;
    let ids = async || -> Vec<Value> {
        sessions(&app, &late, &ada.user).await.iter().map(|session| session["id"].clone()).collect()
    };
    assert_eq!(ids().await, [json!(late.session), json!(ada.session)]);
    app.pass(TimeDelta::days(1));
    let late = app.login(&ada).await;
    let listed = sessions(&app, &late, &ada.user).await;
    assert!(listed.iter().all(|session| session["id"] != ada.session), "an expired session is not live");
    assert_eq!(listed.len(), 2);
}

async fn listing_own_sessions_needs_no_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    assert_eq!(sessions(&app, &bob, &bob.user).await.len(), 1);
}

async fn another_users_sessions_need_sessions_read(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["sessions:delete", "users:*"]).await;
    let refused = app.get(&format!("/users/{}/sessions", ada.user)).by(&bob).send().await;
    assert!(refused.problem("forbidden")["detail"].as_str().unwrap().contains("sessions:read"));
    app.permit(&bob, &["sessions:read"]).await;
    let listed = sessions(&app, &bob, &ada.user).await;
    assert_eq!((&listed[0]["id"], &listed[0]["current"]), (&json!(ada.session), &json!(false)));
}

async fn ending_another_users_session_needs_sessions_delete(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["sessions:read", "users:*"]).await;
    let refused = app.delete(&format!("/sessions/{}", ada.session)).by(&bob).send().await;
    assert!(refused.problem("forbidden")["detail"].as_str().unwrap().contains("sessions:delete"));
    assert!(app.knows(&ada).await);
    app.permit(&bob, &["sessions:delete"]).await;
    app.delete(&format!("/sessions/{}", ada.session)).by(&bob).send().await.no_content();
    assert!(!app.knows(&ada).await);
}

async fn ending_own_sessions_needs_no_permission(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let other = app.login(&bob).await;
    for session in [&other, &bob] {
        app.delete(&format!("/sessions/{}", session.session)).by(&bob).send().await.no_content();
        assert!(!app.knows(session).await);
    }
}

async fn an_ended_session_is_recorded_as_terminated(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.delete(&format!("/sessions/{}", bob.session)).by(&ada).send().await.no_content();
    let entry = &app.audit(&ada, &[("action", "LOGOUT")]).await[0];
    assert_eq!((&entry["resourceType"], &entry["resourceId"]), (&json!("SESSION"), &json!(bob.session)));
    assert_eq!((&entry["userId"], &entry["metadata"]["reason"]), (&json!(ada.user), &json!("TERMINATED")));
}

async fn sessions_of_an_unknown_user_are_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.get(&format!("/users/{}/sessions", ada.tenant)).by(&ada).send().await.problem("not-found");
    assert_eq!(app.get("/users/17/sessions").by(&ada).send().await.invalid_fields(), ["id"]);
}

async fn an_unknown_or_ended_session_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let out = app.login(&ada).await;
    app.post("/auth/logout").by(&out).send().await.no_content();
    for id in [&out.session, &ada.user] {
        app.delete(&format!("/sessions/{id}")).by(&ada).send().await.problem("not-found");
    }
    assert_eq!(app.delete("/sessions/17").by(&ada).send().await.invalid_fields(), ["id"]);
}

async fn a_login_beyond_the_limit_ends_the_session_that_was_used_least_recently(app: TestApp) {
    let app = app.with_settings(|settings| settings.max_sessions_of_user = 2).await;
    let first = app.register("ada@example.com").await;
    app.pass(TimeDelta::minutes(1));
    let second = app.login(&first).await;
    app.pass(TimeDelta::minutes(1));
    app.post("/auth/refresh").json(&json!({ "refreshToken": first.refresh })).send().await.ok();
    let third = app.login(&first).await;
    assert!(app.knows(&first).await && !app.knows(&second).await && app.knows(&third).await);
    let entries = app.audit(&third, &[("action", "LOGOUT")]).await;
    assert_eq!(entries.len(), 1);
    assert_eq!(
        (&entries[0]["resourceId"], &entries[0]["metadata"]["reason"]),
        (&json!(second.session), &json!("TERMINATED"))
    );
    // Other users have their own.
    let bob = app.colleague(&third, "bob@example.com").await;
    assert!(app.knows(&bob).await && app.knows(&third).await);
}
