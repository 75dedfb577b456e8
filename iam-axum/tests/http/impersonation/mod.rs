//! `/users/{id}/impersonations`: a user acts as another one (`docs/http-api.md#acting-as-another`).

mod ending;
mod operations;

use chrono::TimeDelta;
use iam_core::mail::{Mail, MailKind};
use serde_json::{Value, json};

use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::factor::set_policy;
use crate::idempotency::was_replayed;
use crate::mail::kinds;
use crate::people::{PASSWORD, Person, WRONG_PASSWORD, claims, with};
use crate::request::{Request, Response, members};

in_memory![
    a_session_of_the_user_begins_with_an_access_token_alone,
    what_is_said_of_it_names_both,
    the_user_sees_it_among_its_sessions,
    the_user_is_told_by_mail,
    it_is_no_login_of_the_user,
    invalid_members_are_named,
    the_bounds_are_allowed,
    the_user_must_be_a_person_who_may_do_less,
    the_permission_counts_for_the_whole_tenant_and_by_itself,
    a_user_who_is_not_active_is_a_conflict,
    it_needs_a_recent_authentication,
    an_api_key_cannot_act,
    it_is_never_fresh,
    a_proof_is_refused_before_it_is_checked,
    what_it_changes_is_recorded_with_both,
    a_recorded_read_names_both_also_where_nothing_can_be_changed,
    only_the_service_names_an_actor,
    it_takes_no_room_of_the_users_sessions,
    a_user_acts_as_others_in_as_many_sessions_as_it_may_have,
    the_second_factor_of_the_one_who_acts_counts,
    idempotency_keys_belong_to_one_session,
    a_preview_is_refused_like_the_change,
];

/// Why the tests act as another user.
const REASON: &str = "Ticket 4711";

impl TestApp {
    /// Asks to act as a user for ten minutes, with these members in place of those of the smallest body.
    pub(crate) fn asks_to_act(&self, actor: &Person, user: &str, members: &Value) -> Request<'_> {
        let body = with(json!({ "reason": REASON, "seconds": 600 }), members);
        self.post(&format!("/users/{user}/impersonations")).by(actor).json(&body)
    }

    /// Begins to act as a user. Returns the user in that session.
    pub(crate) async fn acting(&self, actor: &Person, user: &Person) -> Person {
        self.acting_with(actor, user, &json!({ "readOnly": false })).await
    }

    pub(crate) async fn acting_with(&self, actor: &Person, user: &Person, members: &Value) -> Person {
        let begun = self.asks_to_act(actor, &user.user, members).send().await.created();
        let text = |name: &str| begun[name].as_str().unwrap().to_owned();
        Person { session: text("sessionId"), access: text("accessToken"), refresh: String::new(), ..user.clone() }
    }
}

/// An administrator and a user who may read users and change them.
async fn two(app: &TestApp) -> (Person, Person) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:read", "users:update"]).await;
    (ada, bob)
}

async fn a_session_of_the_user_begins_with_an_access_token_alone(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let began = app.iam.now();
    let begun = app.asks_to_act(&ada, &bob.user, &json!({})).send().await.created();
    let token = begun["accessToken"].as_str().unwrap();
    let claims = claims(token);
    let expected = json!({
        "sessionId": claims["sid"], "userId": bob.user, "actorId": ada.user, "reason": REASON, "readOnly": true,
        "createdAt": shown(began), "expiresAt": shown(began + TimeDelta::seconds(600)),
        "accessToken": token, "tokenType": "Bearer", "expiresIn": 600,
    });
    assert_eq!(begun, expected);
    assert_eq!((&claims["sub"], &claims["act"]), (&json!(bob.user), &json!({ "sub": ada.user })));
    let end = (began + TimeDelta::seconds(600)).timestamp();
    assert_eq!((&claims["exp"], &claims["auth_time"], &claims["amr"]), (&json!(end), &json!(0), &json!(["pwd"])));
    assert!(crate::people::claims(&bob.access).get("act").is_none());
}

async fn what_is_said_of_it_names_both(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let acting = app.acting(&ada, &bob).await;
    let me = app.get("/auth/me").by(&acting).send().await.ok();
    let actor = json!({ "id": ada.user, "email": ada.email, "firstName": "Ada", "lastName": "Lovelace" });
    assert_eq!((&me["user"]["id"], &me["actor"]), (&json!(bob.user), &actor));
    assert_eq!((&me["session"]["id"], &me["session"]["actor"]), (&json!(acting.session), &actor));
    assert!(app.get("/auth/me").by(&bob).send().await.ok().get("actor").is_none());
    let introspect = async |person: &Person| {
        app.post("/auth/introspect").by(&ada).json(&json!({ "token": person.access })).send().await.ok()
    };
    assert_eq!(introspect(&acting).await["act"], json!({ "sub": ada.user }));
    assert!(introspect(&bob).await.get("act").is_none());
    app.delete(&format!("/sessions/{}", acting.session)).by(&ada).send().await.no_content();
    assert_eq!(introspect(&acting).await, json!({ "active": false }));
}

async fn the_user_sees_it_among_its_sessions(app: TestApp) {
    let (ada, bob) = two(&app).await;
    app.pass(TimeDelta::milliseconds(1));
    let acting = app.acting_with(&ada, &bob, &json!({})).await;
    let sessions = async |of: &Person| {
        app.get(&format!("/users/{}/sessions", of.user)).by(of).send().await.ok()["data"].as_array().unwrap().clone()
    };
    let [shown, own]: [Value; 2] = sessions(&bob).await.try_into().unwrap();
    assert_eq!((&shown["id"], &own["id"]), (&json!(acting.session), &json!(bob.session)));
    assert_eq!((&shown["actor"]["id"], &shown["reason"]), (&json!(ada.user), &json!(REASON)));
    assert_eq!((&shown["readOnly"], &shown["current"]), (&json!(true), &json!(false)));
    assert!(["actor", "reason", "readOnly"].iter().all(|name| own.get(name).is_none()), "{own}");
    // It is not one of the user who acts.
    assert_eq!(sessions(&ada).await.len(), 1);
}

async fn the_user_is_told_by_mail(app: TestApp) {
    let app = app.with_mail().await;
    let (ada, bob) = two(&app).await;
    app.mails().await;
    app.acting(&ada, &bob).await;
    let mails = app.mails().await;
    assert_eq!(kinds(&mails), [(MailKind::ImpersonationStarted, "bob@example.com")]);
    let actors = |mail: &Mail| -> Vec<(String, String)> {
        mail.accounts[0].actors.iter().map(|actor| (actor.name.clone(), actor.reason.clone())).collect()
    };
    assert_eq!(actors(&mails[0]), [("Ada Lovelace".to_owned(), REASON.to_owned())]);
    // A later message names only those who have begun since, and none who has ended it.
    app.pass(TimeDelta::seconds(1));
    let acting = app.acting_with(&ada, &bob, &json!({ "reason": "Ticket 4712" })).await;
    let mails = app.mails().await;
    assert_eq!(actors(&mails[0]), [("Ada Lovelace".to_owned(), "Ticket 4712".to_owned())]);
    app.delete(&format!("/sessions/{}", acting.session)).by(&ada).send().await.no_content();
    app.pass(TimeDelta::seconds(1));
    let acting = app.acting(&ada, &bob).await;
    app.delete(&format!("/sessions/{}", acting.session)).by(&ada).send().await.no_content();
    assert!(actors(&app.mails().await[0]).is_empty());
}

async fn it_is_no_login_of_the_user(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let before = app.user(&ada, &bob.user).await;
    app.pass(TimeDelta::minutes(1));
    app.acting(&ada, &bob).await;
    assert_eq!(app.user(&ada, &bob.user).await, before);
    let logins = app.audit(&ada, &[("userId", &bob.user), ("action", "LOGIN")]).await;
    assert_eq!(logins.len(), 1);
}

async fn invalid_members_are_named(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let long = "x".repeat(501);
    for (members, field) in [
        (json!({ "reason": "" }), "reason"),
        (json!({ "reason": "  " }), "reason"),
        (json!({ "reason": long }), "reason"),
        (json!({ "reason": null }), "reason"),
        (json!({ "seconds": 59 }), "seconds"),
        (json!({ "seconds": 3601 }), "seconds"),
        (json!({ "seconds": 60.5 }), "seconds"),
        (json!({ "seconds": null }), "seconds"),
        (json!({ "readOnly": "no" }), "readOnly"),
        (json!({ "password": PASSWORD }), "password"),
    ] {
        let refused = app.asks_to_act(&ada, &bob.user, &members).send().await;
        assert_eq!(refused.invalid_fields(), [field], "{members}");
    }
    let empty = app.post(&format!("/users/{}/impersonations", bob.user)).by(&ada).json(&json!({})).send().await;
    assert_eq!(empty.invalid_fields(), ["reason", "seconds"]);
}

async fn the_bounds_are_allowed(app: TestApp) {
    let (ada, bob) = two(&app).await;
    for members in [json!({ "reason": "x".repeat(500), "seconds": 60 }), json!({ "reason": "x", "seconds": 3600 })] {
        app.asks_to_act(&ada, &bob.user, &members).send().await.created();
    }
}

async fn the_user_must_be_a_person_who_may_do_less(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let robot = app.robot(&ada, &[]).await;
    let admin = app.administrator_beside(&ada).await;
    let act = async |by: &Person, user: &str| {
        app.unrecorded(&ada, app.asks_to_act(by, user, &json!({})).send()).await.detail("forbidden")
    };
    for user in [&ada.user, &robot, &admin.user] {
        assert!(act(&ada, user).await.contains("only as another person"), "{user}");
    }
    // What the user may do in an organization counts too.
    let eve = app.colleague_who_may(&ada, "eve@example.com", &["impersonations:create", "users:read"]).await;
    assert!(act(&eve, &bob.user).await.contains("may do more than you"));
    let sales = app.organization(&ada, "sales").await;
    let cyd = app.colleague_in(&ada, sales, "cyd@example.com", &["organizations:read"]).await;
    assert!(act(&eve, &cyd.user).await.contains("may do more than you"));
    app.permit_in(&eve, sales, &["organizations:*"]).await;
    app.acting(&eve, &cyd).await;
}

async fn the_permission_counts_for_the_whole_tenant_and_by_itself(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let sales = app.organization(&ada, "sales").await;
    let users = app.colleague_who_may(&ada, "users@example.com", &["users:*", "sessions:*"]).await;
    let local = app.colleague_who_may(&ada, "local@example.com", &["users:*"]).await;
    app.permit_in(&local, sales, &["impersonations:create"]).await;
    for person in [&users, &local] {
        app.asks_to_act(person, &bob.user, &json!({})).send().await.lacks("impersonations:create");
    }
    app.permit(&users, &["impersonations:create"]).await;
    app.acting(&users, &bob).await;
}

async fn a_user_who_is_not_active_is_a_conflict(app: TestApp) {
    let (ada, bob) = two(&app).await;
    for status in ["SUSPENDED", "INACTIVE"] {
        app.set_status(&ada, &bob.user, status).await;
        app.asks_to_act(&ada, &bob.user, &json!({})).send().await.problem("conflict");
    }
}

async fn it_needs_a_recent_authentication(app: TestApp) {
    let (ada, bob) = two(&app).await;
    app.age(&ada).await;
    app.asks_to_act(&ada, &bob.user, &json!({})).send().await.problem("insufficient-authentication");
    app.post("/auth/step-up").by(&ada).json(&json!({ "password": PASSWORD })).send().await.no_content();
    let acting = app.acting(&ada, &bob).await;
    // It goes on when the authentication is old.
    app.age(&ada).await;
    assert!(app.knows(&acting).await);
}

async fn an_api_key_cannot_act(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let key = app.key(&ada, &ada.user, &json!({})).await;
    let by_key = Person { access: text(&key).to_owned(), ..ada.clone() };
    assert!(app.asks_to_act(&by_key, &bob.user, &json!({})).send().await.detail("forbidden").contains("api key"));
}

async fn it_is_never_fresh(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let acting = app.acting(&ada, &bob).await;
    let answer = app.post("/auth/logout-all").by(&acting).send().await;
    answer.problem("insufficient-authentication");
    let own = format!("/sessions/{}", bob.session);
    app.delete(&own).by(&acting).send().await.problem("insufficient-authentication");
    assert!(app.knows(&bob).await && app.knows(&ada).await);
}

async fn a_proof_is_refused_before_it_is_checked(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let acting = app.acting(&ada, &bob).await;
    for password in [PASSWORD, WRONG_PASSWORD] {
        for (path, body) in [
            ("/auth/step-up", json!({ "password": password })),
            ("/auth/password", json!({ "currentPassword": password, "newPassword": "N3w&Password" })),
            ("/auth/email", json!({ "newEmail": "new@example.com", "currentPassword": password })),
        ] {
            let refused = app.unrecorded(&ada, app.post(path).by(&acting).json(&body).send()).await;
            assert!(refused.detail("forbidden").contains("act as another user"), "{path}");
        }
    }
}

async fn what_it_changes_is_recorded_with_both(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let (acting, cyd) = (app.acting(&ada, &bob).await, app.add_user(&ada, "cyd@example.com").await);
    let rename = async |by: &Person, name: &str| {
        let request = app.patch(&format!("/users/{cyd}")).by(by).json(&json!({ "lastName": name }));
        request.send().await.ok();
        let entry = app.history(&ada, &cyd).await.remove(0);
        assert_eq!((&entry["action"], &entry["userId"]), (&json!("UPDATE"), &json!(bob.user)));
        entry["metadata"].get("actorId").cloned()
    };
    assert_eq!(rename(&acting, "Babbage").await, Some(json!(ada.user)));
    // The user itself is named alone.
    assert_eq!(rename(&bob, "King").await, None);
}

async fn a_recorded_read_names_both_also_where_nothing_can_be_changed(app: TestApp) {
    let (ada, bob) = two(&app).await;
    app.permit(&bob, &["audit-logs:read"]).await;
    let acting = app.acting_with(&ada, &bob, &json!({ "readOnly": true })).await;
    assert_eq!(app.get("/audit-logs/export").by(&acting).send().await.status(), 200);
    let entry = &app.audit(&ada, &[("action", "READ")]).await[0];
    assert_eq!((&entry["userId"], &entry["metadata"]["actorId"]), (&json!(bob.user), &json!(ada.user)));
}

async fn only_the_service_names_an_actor(app: TestApp) {
    let (ada, bob) = two(&app).await;
    app.permit(&bob, &["audit-logs:create"]).await;
    let acting = app.acting(&ada, &bob).await;
    let event = |metadata: Value| json!({ "action": "SENT", "resourceType": "LETTER", "metadata": metadata });
    let log = async |metadata: Value| app.post("/audit-logs").by(&acting).json(&event(metadata)).send().await;
    assert_eq!(log(json!({ "actorId": bob.user })).await.invalid_fields(), ["metadata.actorId"]);
    let entry = log(json!({ "pages": 3 })).await.created();
    assert_eq!(entry["metadata"], json!({ "pages": 3, "actorId": ada.user }));
    let body = json!({ "action": "IMPERSONATION_STARTED", "resourceType": "SESSION" });
    assert_eq!(app.post("/audit-logs").by(&ada).json(&body).send().await.invalid_fields(), ["action"]);
}

async fn it_takes_no_room_of_the_users_sessions(app: TestApp) {
    let app = app.with_settings(|settings| settings.max_sessions_of_user = 1).await;
    let (ada, bob) = two(&app).await;
    let acting = app.acting(&ada, &bob).await;
    assert!(app.knows(&bob).await && app.knows(&ada).await);
    let again = app.login(&bob).await;
    assert!(app.knows(&again).await && app.knows(&acting).await && !app.knows(&bob).await);
}

async fn a_user_acts_as_others_in_as_many_sessions_as_it_may_have(app: TestApp) {
    let app = app.with_settings(|settings| settings.max_sessions_of_user = 2).await;
    let (ada, bob) = two(&app).await;
    let cyd = app.colleague(&ada, "cyd@example.com").await;
    let mut begun = Vec::new();
    for user in [&bob, &cyd, &bob] {
        app.pass(TimeDelta::milliseconds(1));
        begun.push(app.acting(&ada, user).await);
    }
    assert!(!app.knows(&begun[0]).await && app.knows(&begun[1]).await && app.knows(&begun[2]).await);
    assert!(app.knows(&ada).await && app.knows(&bob).await);
    let ended = &app.audit(&ada, &[("action", "IMPERSONATION_ENDED")]).await;
    assert_eq!((ended.len(), &ended[0]["metadata"]["cause"]), (1, &json!("TERMINATED")));
}

/// What the user would have to set up cannot be set up by another one.
async fn the_second_factor_of_the_one_who_acts_counts(app: TestApp) {
    let (ada, bob) = two(&app).await;
    let eve = app.administrator_beside(&ada).await;
    app.enrol(&ada).await;
    let (by_ada, by_eve) = (app.acting(&ada, &bob).await, app.acting(&eve, &bob).await);
    set_policy(&app, &ada, "REQUIRED", 0).await;
    app.get("/users").by(&by_ada).send().await.ok();
    for person in [&bob, &eve, &by_eve] {
        app.get("/users").by(person).send().await.needs_factor();
    }
}

async fn idempotency_keys_belong_to_one_session(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["organizations:create"]).await;
    let create = async |by: &Person| -> Response {
        let request = app.post("/organizations").by(by).header("idempotency-key", "of-bob");
        request.json(&json!({ "name": format!("Of {}", by.session) })).send().await
    };
    let (first, second) = (app.acting(&ada, &bob).await, app.acting(&ada, &bob).await);
    for person in [&bob, &first, &second] {
        let made = create(person).await;
        assert!(!was_replayed(&made), "{}", made.text());
        let again = create(person).await;
        assert!(was_replayed(&again));
        assert_eq!(again.created()["id"], made.created()["id"]);
    }
    // The token is only in the first answer.
    let act = async || app.asks_to_act(&ada, &bob.user, &json!({})).header("idempotency-key", "act").send().await;
    let (begun, again) = (act().await.created(), act().await);
    assert!(was_replayed(&again) && begun["accessToken"].is_string());
    assert_eq!(again.created(), with(begun, &json!({ "accessToken": null })));
}

async fn a_preview_is_refused_like_the_change(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["roles:*", "role-assignments:*"]).await;
    let role = app.role(&ada, "EMPTY", &[]).await;
    let looking = app.acting_with(&ada, &bob, &json!({})).await;
    let acting = app.acting(&ada, &bob).await;
    let assign = |by: &Person| {
        let body = json!({ "userId": bob.user, "roleId": role });
        app.post("/role-assignments").by(by).json(&body).query("preview", "true")
    };
    let create = |by: &Person| {
        let body = json!({ "name": "CLERK", "permissions": [] });
        app.post("/roles").by(by).json(&body).query("preview", "true")
    };
    assert!(assign(&acting).send().await.detail("forbidden").contains("in its name"));
    assert_eq!(create(&acting).send().await.ok()["allowed"], true);
    assert!(create(&looking).send().await.detail("forbidden").contains("can change nothing"));
    assert_eq!(members(&create(&bob).send().await.ok()), ["allowed", "changes", "truncated", "users"]);
}
