//! A tenant always keeps an active administrator whose role does not expire
//! (`docs/http-api.md#the-last-administrator`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::json;

use crate::app::{TestApp, shown};
use crate::people::Person;
use crate::request::Request;

in_memory![
    the_last_administrator_cannot_be_deleted_suspended_or_lose_the_role,
    an_administrator_can_be_removed_while_another_one_remains,
    a_temporary_administrator_does_not_count_as_remaining,
    a_suspended_or_deleted_administrator_does_not_count_as_remaining,
    an_administrator_of_another_tenant_does_not_count_as_remaining,
    a_role_with_every_permission_does_not_make_an_administrator,
    the_last_administrator_can_be_renamed,
    two_administrators_cannot_remove_each_other_at_the_same_moment,
    two_administrators_cannot_revoke_each_others_role_at_the_same_moment,
    the_last_administrator_may_hold_other_roles_that_expire,
];

/// Requests that end a user's permanent administrator role, in every possible way.
async fn removals<'a>(app: &'a TestApp, by: &Person, id: &str) -> [Request<'a>; 6] {
    let path = format!("/users/{id}");
    let roles = app.get(&format!("{path}/roles")).by(by).send().await.ok();
    let role = roles["data"].as_array().unwrap().iter().find(|held| held["role"]["name"] == "TENANT_ADMIN").unwrap();
    let role = format!("/role-assignments/{}", role["id"].as_str().unwrap());
    let expiry = shown(app.iam.now() + TimeDelta::days(3650));
    [
        app.delete(&role).by(by),
        app.patch(&role).by(by).json(&json!({ "expiresAt": expiry })),
        app.delete(&path).by(by),
        app.post(&format!("{path}/suspend")).by(by),
        app.patch(&path).by(by).json(&json!({ "status": "SUSPENDED" })),
        app.patch(&path).by(by).json(&json!({ "status": "INACTIVE" })),
    ]
}

/// Checks that every removal of the administrator is refused, changes nothing and records nothing.
async fn must_stay(app: &TestApp, by: &Person, id: &str) {
    let (user, entries) = (app.user(by, id).await, app.audit(by, &[]).await);
    for removal in removals(app, by, id).await {
        removal.send().await.problem("conflict");
    }
    assert_eq!((app.user(by, id).await, app.audit(by, &[]).await), (user, entries));
    assert!(app.knows(by).await);
}

async fn the_last_administrator_cannot_be_deleted_suspended_or_lose_the_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.add_user(&ada, "bob@example.com").await;
    must_stay(&app, &ada, &ada.user).await;
}

async fn an_administrator_can_be_removed_while_another_one_remains(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "TENANT_ADMIN", None, None).await;
    let ways = removals(&app, &bob, &ada.user).await.len();
    for way in 0..ways {
        let carl = app.add_user(&bob, &format!("carl{way}@example.com")).await;
        app.assign(&bob, &carl, "TENANT_ADMIN", None, None).await;
        let removal = removals(&app, &bob, &carl).await.into_iter().nth(way).unwrap();
        let answer = removal.send().await;
        assert!(matches!(answer.status(), 200 | 204), "{way}: {}", answer.text());
    }
    app.delete(&format!("/users/{}", ada.user)).by(&bob).send().await.no_content();
    must_stay(&app, &bob, &bob.user).await;
}

async fn a_temporary_administrator_does_not_count_as_remaining(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "TENANT_ADMIN", None, Some(app.iam.now() + TimeDelta::days(365))).await;
    must_stay(&app, &bob, &ada.user).await;
    app.delete(&format!("/users/{}", bob.user)).by(&ada).send().await.no_content();
}

async fn a_suspended_or_deleted_administrator_does_not_count_as_remaining(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for status in ["SUSPENDED", "INACTIVE"] {
        let bob = app.add_user(&ada, &format!("{status}@example.com")).await;
        app.assign(&ada, &bob, "TENANT_ADMIN", None, None).await;
        app.set_status(&ada, &bob, status).await;
        must_stay(&app, &ada, &ada.user).await;
    }
}

async fn an_administrator_of_another_tenant_does_not_count_as_remaining(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.register("ada@example.com").await;
    must_stay(&app, &ada, &ada.user).await;
}

async fn a_role_with_every_permission_does_not_make_an_administrator(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    app.colleague_who_may(&ada, "bob@example.com", &["*"]).await;
    must_stay(&app, &ada, &ada.user).await;
}

async fn the_last_administrator_can_be_renamed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let body = json!({ "firstName": "Augusta", "status": "ACTIVE" });
    app.patch(&format!("/users/{}", ada.user)).by(&ada).json(&body).send().await.ok();
    app.post(&format!("/users/{}/reactivate", ada.user)).by(&ada).send().await.ok();
}

async fn two_administrators_cannot_remove_each_other_at_the_same_moment(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "TENANT_ADMIN", None, None).await;
    let removals = [
        app.delete(&format!("/users/{}", bob.user)).by(&ada).send(),
        app.delete(&format!("/users/{}", ada.user)).by(&bob).send(),
    ];
    let answers = join_all(removals).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 204).count(), 1);
    assert_ne!(app.knows(&ada).await, app.knows(&bob).await);
}

async fn two_administrators_cannot_revoke_each_others_role_at_the_same_moment(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.assign(&ada, &bob.user, "TENANT_ADMIN", None, None).await;
    let [from_bob, ..] = removals(&app, &ada, &bob.user).await;
    let [from_ada, ..] = removals(&app, &bob, &ada.user).await;
    let answers = join_all([from_bob.send(), from_ada.send()]).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 204).count(), 1);
}

async fn the_last_administrator_may_hold_other_roles_that_expire(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let id = app.assign(&ada, &ada.user, "AUDITOR", None, None).await;
    let body = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::minutes(1)) });
    app.patch(&format!("/role-assignments/{id}")).by(&ada).json(&body).send().await.ok();
    app.delete(&format!("/role-assignments/{id}")).by(&ada).send().await.no_content();
}
