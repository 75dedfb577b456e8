//! The states of a user and the changes between them (`docs/http-api.md#the-status-of-a-user`).

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{PASSWORD, Person};
use crate::request::Response;

in_memory![
    patch_moves_between_any_two_states,
    patch_records_an_update_and_a_suspension_or_reactivation,
    suspend_and_reactivate_answer_200_with_the_update_shape,
    suspend_and_reactivate_record_one_entry,
    repeating_suspend_or_reactivate_records_nothing,
    suspend_and_reactivate_of_an_inactive_user_are_a_conflict,
    a_suspension_ends_the_sessions_and_keeps_the_roles,
    a_reactivated_user_can_log_in_again,
    delete_answers_204_and_keeps_the_record_as_inactive,
    delete_ends_sessions_roles_and_login,
    delete_is_recorded_with_the_sessions_and_roles_that_it_ends,
    a_second_delete_is_204_and_records_nothing,
    a_suspended_user_can_be_deleted,
    patch_to_inactive_has_the_effects_of_delete_and_records_an_update,
    patch_to_inactive_needs_users_delete_too,
    leaving_inactive_needs_users_create_too,
    leaving_inactive_restores_the_user_without_roles_or_sessions,
    an_unknown_id_cannot_be_suspended_reactivated_or_deleted,
];

async fn patch(app: &TestApp, by: &Person, id: &str, status: &str) -> Response {
    app.patch(&format!("/users/{id}")).by(by).json(&json!({ "status": status })).send().await
}

async fn act(app: &TestApp, by: &Person, id: &str, action: &str) -> Response {
    app.post(&format!("/users/{id}/{action}")).by(by).send().await
}

/// The entries that a request records, as action and resource, in alphabetical order.
async fn recorded(app: &TestApp, reader: &Person, correlation_id: &str) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let entries = app.audit(reader, &[("correlationId", correlation_id)]).await;
    let mut recorded: Vec<_> =
        entries.iter().map(|entry| (text(&entry["action"]), text(&entry["resourceId"]))).collect();
    recorded.sort_unstable();
    recorded
}

const STATES: [&str; 3] = ["ACTIVE", "SUSPENDED", "INACTIVE"];

async fn patch_moves_between_any_two_states(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for from in STATES {
        for to in STATES {
            app.set_status(&ada, &bob, from).await;
            app.set_status(&ada, &bob, to).await;
            assert_eq!(app.user(&ada, &bob).await["status"], to);
        }
    }
}

async fn patch_records_an_update_and_a_suspension_or_reactivation(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for from in STATES {
        for to in STATES {
            app.set_status(&ada, &bob, from).await;
            let id = format!("{from}-{to}");
            let request = app.patch(&format!("/users/{bob}")).by(&ada).json(&json!({ "status": to }));
            request.header("x-correlation-id", &id).send().await.ok();
            let actions: &[&str] = match (from, to) {
                ("ACTIVE", "SUSPENDED") => &["UPDATE", "USER_SUSPENDED"],
                ("SUSPENDED", "ACTIVE") => &["UPDATE", "USER_REACTIVATED"],
                (from, to) if from == to => &[],
                _ => &["UPDATE"],
            };
            let expected: Vec<_> = actions.iter().map(|action| ((*action).to_owned(), bob.clone())).collect();
            assert_eq!(recorded(&app, &ada, &id).await, expected, "{id}");
            for entry in app.audit(&ada, &[("correlationId", &id)]).await {
                let values = (&entry["oldValue"], &entry["newValue"]);
                assert_eq!(values, (&json!({ "status": from }), &json!({ "status": to })));
            }
        }
    }
}

async fn suspend_and_reactivate_answer_200_with_the_update_shape(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for (action, status) in [("suspend", "SUSPENDED"), ("reactivate", "ACTIVE")] {
        app.pass(chrono::TimeDelta::minutes(1));
        let expected = json!({
            "id": bob, "kind": "HUMAN", "email": "bob@example.com", "firstName": "Ada", "lastName": "Lovelace",
            "status": status, "updatedAt": app.now(),
        });
        assert_eq!(act(&app, &ada, &bob, action).await.ok(), expected);
        assert_eq!(app.user(&ada, &bob).await["status"], status);
    }
}

async fn suspend_and_reactivate_record_one_entry(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let moves = [
        ("suspend", "USER_SUSPENDED", "ACTIVE", "SUSPENDED"),
        ("reactivate", "USER_REACTIVATED", "SUSPENDED", "ACTIVE"),
    ];
    for (path, action, before, after) in moves {
        let known = app.audit(&ada, &[]).await.len();
        act(&app, &ada, &bob, path).await.ok();
        let entries = app.audit(&ada, &[]).await;
        assert_eq!(entries.len(), known + 1);
        let entry = &entries[0];
        assert_eq!((&entry["action"], &entry["resourceType"]), (&json!(action), &json!("USER")));
        assert_eq!((&entry["resourceId"], &entry["userId"]), (&json!(bob), &json!(ada.user)));
        assert_eq!(
            (&entry["oldValue"], &entry["newValue"]),
            (&json!({ "status": before }), &json!({ "status": after }))
        );
    }
}

async fn repeating_suspend_or_reactivate_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    for (prepare, action) in [("ACTIVE", "reactivate"), ("SUSPENDED", "suspend")] {
        app.set_status(&ada, &bob, prepare).await;
        let (user, entries) = (app.user(&ada, &bob).await, app.audit(&ada, &[]).await);
        app.pass(chrono::TimeDelta::minutes(1));
        act(&app, &ada, &bob, action).await.ok();
        assert_eq!((app.user(&ada, &bob).await, app.audit(&ada, &[]).await), (user, entries));
    }
}

async fn suspend_and_reactivate_of_an_inactive_user_are_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.set_status(&ada, &bob, "INACTIVE").await;
    let entries = app.audit(&ada, &[]).await;
    for action in ["suspend", "reactivate"] {
        act(&app, &ada, &bob, action).await.problem("conflict");
    }
    assert_eq!(app.audit(&ada, &[]).await, entries);
}

async fn a_suspension_ends_the_sessions_and_keeps_the_roles(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for by_patch in [true, false] {
        let bob = app.colleague(&ada, &format!("bob-{by_patch}@example.com")).await;
        app.assign(&ada, &bob.user, "MEMBER", None, None).await;
        let other = app.login(&bob).await;
        if by_patch {
            app.set_status(&ada, &bob.user, "SUSPENDED").await;
        } else {
            act(&app, &ada, &bob.user, "suspend").await.ok();
        }
        for ended in [&bob, &other] {
            assert!(!app.knows(ended).await);
            let entries = app.audit(&ada, &[("resourceId", &ended.session), ("action", "LOGOUT")]).await;
            assert_eq!(entries.len(), 1);
            assert_eq!(entries[0]["metadata"]["reason"], "USER_SUSPENDED");
        }
        act(&app, &ada, &bob.user, "reactivate").await.ok();
        assert!(!app.knows(&bob).await, "an ended session stays ended");
        let again = app.login(&bob).await;
        app.get("/users").by(&again).send().await.ok();
    }
}

async fn a_reactivated_user_can_log_in_again(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    act(&app, &ada, &bob, "suspend").await.ok();
    app.attempt("bob@example.com", PASSWORD).send().await.problem("forbidden");
    act(&app, &ada, &bob, "reactivate").await.ok();
    app.attempt("bob@example.com", PASSWORD).send().await.ok();
}

async fn delete_answers_204_and_keeps_the_record_as_inactive(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let before = app.user(&ada, &bob).await;
    app.pass(chrono::TimeDelta::minutes(1));
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    let expected = crate::people::with(before, &json!({ "status": "INACTIVE", "updatedAt": app.now() }));
    assert_eq!(app.user(&ada, &bob).await, expected);
}

async fn delete_ends_sessions_roles_and_login(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    app.delete(&format!("/users/{}", bob.user)).by(&ada).send().await.no_content();
    has_lost_everything(&app, &ada, &bob).await;
}

/// Checks that a user has no session and no login, and that a restored user would have no role.
async fn has_lost_everything(app: &TestApp, administrator: &Person, person: &Person) {
    assert!(!app.knows(person).await);
    app.attempt(&person.email, PASSWORD).send().await.problem("unauthorized");
    let listed = app.get(&format!("/users/{}/sessions", person.user)).by(administrator).send().await.ok();
    assert_eq!(listed["data"], json!([]));
    let query = [("userId", person.user.as_str()), ("includeExpired", "true")];
    let request = app.get("/role-assignments").by(administrator);
    let held = query.iter().fold(request, |request, (name, value)| request.query(name, value)).send().await.ok();
    assert_eq!(held["data"], json!([]));
}

async fn delete_is_recorded_with_the_sessions_and_roles_that_it_ends(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let sales = app.organization(&ada, "sales").await;
    let member = app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    let seller = app.assign(&ada, &bob.user, "MEMBER", Some(sales), None).await;
    app.delete(&format!("/users/{}", bob.user))
        .by(&ada)
        .header("x-correlation-id", "parting")
        .send()
        .await
        .no_content();
    let mut expected = [
        ("DELETE".to_owned(), bob.user.clone()),
        ("LOGOUT".to_owned(), bob.session.clone()),
        ("ROLE_REVOKED".to_owned(), member.clone()),
        ("ROLE_REVOKED".to_owned(), seller),
    ];
    expected.sort_unstable();
    assert_eq!(recorded(&app, &ada, "parting").await, expected);
    for entry in app.audit(&ada, &[("correlationId", "parting")]).await {
        assert_eq!(entry["userId"], json!(ada.user));
        let metadata = &entry["metadata"];
        match entry["action"].as_str().unwrap() {
            "DELETE" => {
                assert_eq!(entry["oldValue"]["email"], "bob@example.com");
                assert_eq!(entry["oldValue"]["status"], "ACTIVE");
            }
            "LOGOUT" => assert_eq!(metadata["reason"], "USER_DELETED"),
            _ => {
                assert_eq!(metadata["reason"], "USER_DELETED");
                assert_eq!(entry["resourceType"], "ROLE_ASSIGNMENT");
                assert_eq!((&metadata["targetUserId"], &metadata["roleName"]), (&json!(bob.user), &json!("MEMBER")));
                let organization = if entry["resourceId"] == member { Value::Null } else { json!(sales) };
                assert_eq!(metadata.get("organizationId"), Some(&organization));
                assert!(metadata["roleId"].is_string());
            }
        }
    }
}

async fn a_second_delete_is_204_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    let (user, entries) = (app.user(&ada, &bob).await, app.audit(&ada, &[]).await);
    app.pass(chrono::TimeDelta::minutes(1));
    app.delete(&format!("/users/{bob}")).by(&ada).send().await.no_content();
    assert_eq!((app.user(&ada, &bob).await, app.audit(&ada, &[]).await), (user, entries));
}

async fn a_suspended_user_can_be_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for by_patch in [true, false] {
        let bob = app.colleague(&ada, &format!("bob-{by_patch}@example.com")).await;
        app.assign(&ada, &bob.user, "MEMBER", None, None).await;
        act(&app, &ada, &bob.user, "suspend").await.ok();
        if by_patch {
            app.set_status(&ada, &bob.user, "INACTIVE").await;
        } else {
            app.delete(&format!("/users/{}", bob.user)).by(&ada).send().await.no_content();
            let entry = &app.audit(&ada, &[("resourceId", &bob.user), ("action", "DELETE")]).await[0];
            assert_eq!(entry["oldValue"]["status"], "SUSPENDED");
        }
        has_lost_everything(&app, &ada, &bob).await;
    }
}

async fn patch_to_inactive_has_the_effects_of_delete_and_records_an_update(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let member = app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    let request = app.patch(&format!("/users/{}", bob.user)).by(&ada).json(&json!({ "status": "INACTIVE" }));
    request.header("x-correlation-id", "parting").send().await.ok();
    has_lost_everything(&app, &ada, &bob).await;
    let expected = [
        ("LOGOUT".to_owned(), bob.session.clone()),
        ("ROLE_REVOKED".to_owned(), member),
        ("UPDATE".to_owned(), bob.user.clone()),
    ];
    assert_eq!(recorded(&app, &ada, "parting").await, expected);
}

async fn patch_to_inactive_needs_users_delete_too(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let eve = app.add_user(&ada, "eve@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:update", "users:read"]).await;
    let refused = patch(&app, &bob, &eve, "INACTIVE").await;
    assert!(refused.problem("forbidden")["detail"].as_str().unwrap().contains("users:delete"));
    assert_eq!(app.user(&ada, &eve).await["status"], "ACTIVE");
    app.permit(&bob, &["users:delete"]).await;
    patch(&app, &bob, &eve, "INACTIVE").await.ok();
}

async fn leaving_inactive_needs_users_create_too(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let eve = app.add_user(&ada, "eve@example.com").await;
    app.set_status(&ada, &eve, "INACTIVE").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:update", "users:delete"]).await;
    for status in ["ACTIVE", "SUSPENDED"] {
        let refused = patch(&app, &bob, &eve, status).await;
        assert!(refused.problem("forbidden")["detail"].as_str().unwrap().contains("users:create"));
    }
    assert_eq!(app.user(&ada, &eve).await["status"], "INACTIVE");
    app.permit(&bob, &["users:create"]).await;
    patch(&app, &bob, &eve, "ACTIVE").await.ok();
}

async fn leaving_inactive_restores_the_user_without_roles_or_sessions(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    app.delete(&format!("/users/{}", bob.user)).by(&ada).send().await.no_content();
    app.set_status(&ada, &bob.user, "ACTIVE").await;
    assert!(!app.knows(&bob).await);
    let again = app.login(&bob).await;
    assert_eq!(app.get("/auth/me").by(&again).send().await.ok()["roles"], json!([]));
}

async fn an_unknown_id_cannot_be_suspended_reactivated_or_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for action in ["suspend", "reactivate"] {
        act(&app, &ada, &ada.tenant, action).await.problem("not-found");
        assert_eq!(act(&app, &ada, "17", action).await.invalid_fields(), ["id"]);
    }
    app.delete(&format!("/users/{}", ada.tenant)).by(&ada).send().await.problem("not-found");
    assert_eq!(app.delete("/users/17").by(&ada).send().await.invalid_fields(), ["id"]);
}
