//! Two concurrent requests about the same access request: one of both wins, whole
//! (`docs/access-requests.md#decisions`).

use chrono::TimeDelta;
use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use super::Shop;
use crate::access_table::fresh_email;
use crate::app::{TestApp, shown};
use crate::attack::race::{ROUNDS, one_succeeds, race};
use crate::people::{Person, with};

on_every_store![
    "transactions race";
    concurrent_requests_ask_once,
    two_approvals_give_one_assignment,
    the_last_two_of_two_approvals_give_one_assignment,
    an_approval_and_a_denial_do_not_both_count,
    an_approval_and_a_cancellation_do_not_both_count,
    a_user_who_is_concurrently_suspended_holds_nothing,
    a_concurrently_narrowed_eligibility_gives_nothing_afterwards,
    a_concurrently_changed_role_is_not_approved_unseen,
    it_ends_once,
    an_end_at_the_instant_of_the_expiry_is_recorded_once,
    concurrent_sweeps_begin_it_once,
    what_is_given_by_an_elevation_that_ends_meanwhile_ends_with_it,
];

/// A new user with an eligibility that has these members. Returns both.
async fn eligible(shop: &Shop<'_>, members: Value) -> (Person, String) {
    let user = shop.app.colleague(&shop.ada, &fresh_email()).await;
    let body = with(json!({ "roleId": shop.role, "userId": user.user }), &members);
    let eligibility = shop.app.eligibility(&shop.ada, &body).await;
    (user, eligibility)
}

/// A new user who has asked by an eligibility that has these members. Returns it, the eligibility and the request.
async fn asked(shop: &Shop<'_>, members: Value) -> (Person, String, String) {
    let (user, eligibility) = eligible(shop, members).await;
    let request = shop.app.access_request(&user, &eligibility).await;
    (user, eligibility, request)
}

/// How often an action on a resource was recorded.
async fn recorded(shop: &Shop<'_>, id: &str, action: &str) -> usize {
    shop.app.audit(&shop.ada, &[("resourceId", id), ("action", action)]).await.len()
}

/// Checks that a user holds the role by a request, once, or not at all.
async fn holds(shop: &Shop<'_>, user: &Person, request: &str, expected: bool) {
    let held = shop.held(&user.user).await;
    assert_eq!(held.len(), usize::from(expected), "{held:?}");
    assert!(held.iter().all(|held| held["accessRequestId"] == request));
    let answer = shop.app.get("/users").by(user).send().await.status();
    assert_eq!(answer == 200, expected, "{answer}");
}

async fn concurrent_requests_ask_once(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, eligibility) = eligible(&shop, json!({})).await;
        let other = app.login(&user).await;
        let ask = |by: &Person| app.asks(by, &eligibility, &json!({}));
        let (one, other) = race(round, ask(&user), ask(&other)).await;
        one_succeeds(&one, &other, [&[409], &[409]]);
        let found = app.get("/access-requests").by(&user).send().await.ok();
        assert_eq!(found["pagination"]["total"], 1);
    }
}

async fn two_approvals_give_one_assignment(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({})).await;
        let approve = |by: &Person| app.decides(by, &request, "approve");
        let (one, other) = race(round, approve(&shop.carol), approve(&shop.ada)).await;
        one_succeeds(&one, &other, [&[409], &[409]]);
        holds(&shop, &user, &request, true).await;
        assert_eq!(recorded(&shop, &request, "APPROVED").await, 1);
    }
}

async fn the_last_two_of_two_approvals_give_one_assignment(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({ "approvals": 2 })).await;
        let approve = |by: &Person| app.decides(by, &request, "approve");
        let (one, other) = race(round, approve(&shop.carol), approve(&shop.ada)).await;
        let mut statuses = [one.ok()["status"].clone(), other.ok()["status"].clone()];
        statuses.sort_by_key(Value::to_string);
        assert_eq!(statuses[0], "ACTIVE");
        holds(&shop, &user, &request, true).await;
        assert_eq!(shop.request(&request).await["decisions"].as_array().unwrap().len(), 2);
    }
}

async fn an_approval_and_a_denial_do_not_both_count(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({})).await;
        let approve = app.decides(&shop.carol, &request, "approve");
        let (approve, deny) = race(round, approve, app.decides(&shop.ada, &request, "deny")).await;
        one_succeeds(&approve, &deny, [&[409], &[409]]);
        holds(&shop, &user, &request, approve.status() == 200).await;
    }
}

async fn an_approval_and_a_cancellation_do_not_both_count(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({})).await;
        let approve = app.decides(&shop.carol, &request, "approve");
        let (approve, cancel) = race(round, approve, app.closes(&user, &request, "cancel")).await;
        one_succeeds(&approve, &cancel, [&[409], &[409]]);
        holds(&shop, &user, &request, approve.status() == 200).await;
        let status = if approve.status() == 200 { "ACTIVE" } else { "CANCELLED" };
        assert_eq!(shop.status(&request).await, status);
    }
}

async fn a_user_who_is_concurrently_suspended_holds_nothing(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({})).await;
        let approve = app.decides(&shop.carol, &request, "approve");
        let suspend = app.post(&format!("/users/{}/suspend", user.user)).by(&shop.ada);
        let (approve, suspend) = race(round, approve, suspend).await;
        suspend.ok();
        assert!(matches!(approve.status(), 200 | 409), "{}", approve.text());
        let status = if approve.status() == 200 { "ENDED" } else { "CANCELLED" };
        assert_eq!(shop.status(&request).await, status);
        app.set_status(&shop.ada, &user.user, "ACTIVE").await;
        assert!(shop.held(&user.user).await.is_empty());
        assert_eq!(recorded(&shop, &request, status).await, 1);
    }
}

async fn a_concurrently_narrowed_eligibility_gives_nothing_afterwards(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, eligibility, request) = asked(&shop, json!({})).await;
        let approve = app.decides(&shop.carol, &request, "approve");
        let path = format!("/eligibilities/{eligibility}");
        let narrow = match round % 4 {
            0 | 1 => app.change_eligibility(&shop.ada, &eligibility, &json!({ "approvals": 2 })),
            _ => app.delete(&path).by(&shop.ada),
        };
        let (approve, narrow) = race(round, approve, narrow).await;
        assert!(matches!(narrow.status(), 200 | 204), "{}", narrow.text());
        assert!(matches!(approve.status(), 200 | 409), "{}", approve.text());
        // What has begun before goes on.
        let is_active = approve.status() == 200;
        assert_eq!(shop.status(&request).await, if is_active { "ACTIVE" } else { "CANCELLED" });
        holds(&shop, &user, &request, is_active).await;
    }
}

async fn a_concurrently_changed_role_is_not_approved_unseen(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({})).await;
        let seen = app.read_request(&shop.carol, &request).await.header("etag").unwrap().to_owned();
        let approve = app.decides(&shop.carol, &request, "approve").header("if-match", &seen);
        let name = format!("orders:do-{round}");
        app.post("/permissions").by(&shop.ada).json(&json!({ "name": name })).send().await.created();
        let permissions = json!({ "permissions": ["users:read", name] });
        let change = app.patch(&format!("/roles/{}", shop.role)).by(&shop.ada).json(&permissions);
        let (approve, change) = race(round, approve, change).await;
        change.ok();
        assert!(matches!(approve.status(), 200 | 412), "{}", approve.text());
        holds(&shop, &user, &request, approve.status() == 200).await;
    }
}

async fn it_ends_once(app: TestApp) {
    let shop = Shop::of(&app).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({ "approvals": 0 })).await;
        let by_user = app.closes(&user, &request, "end");
        let (one, other) = race(round, by_user, app.closes(&shop.ada, &request, "end")).await;
        one_succeeds(&one, &other, [&[409], &[409]]);
        holds(&shop, &user, &request, false).await;
        assert_eq!(recorded(&shop, &request, "ENDED").await, 1);
    }
}

async fn an_end_at_the_instant_of_the_expiry_is_recorded_once(app: TestApp) {
    let shop = Shop::of(&app).await;
    let mut active = Vec::new();
    for _ in 0..ROUNDS {
        let (_, _, request) = asked(&shop, json!({ "approvals": 0, "maxSeconds": 300 })).await;
        let assignment = shop.request(&request).await["assignmentId"].as_str().unwrap().to_owned();
        active.push((request, assignment));
    }
    app.pass(TimeDelta::seconds(300));
    let revoke = |id: &str| app.delete(&format!("/role-assignments/{id}")).by(&shop.ada).send();
    let revocations = join_all(active.iter().map(|(_, assignment)| revoke(assignment)));
    let (revoked, swept) = join(revocations, app.iam.advance_access_requests()).await;
    swept.unwrap();
    for ((request, assignment), revoked) in active.iter().zip(&revoked) {
        assert!(matches!(revoked.status(), 204 | 404), "{}", revoked.text());
        assert_eq!(shop.status(request).await, "ENDED");
        assert_eq!(recorded(&shop, request, "ENDED").await, 1);
        assert_eq!(recorded(&shop, assignment, "ROLE_REVOKED").await, 1);
    }
}

async fn concurrent_sweeps_begin_it_once(app: TestApp) {
    let shop = Shop::of(&app).await;
    let mut waiting = Vec::new();
    let starts_at = shown(app.iam.now() + TimeDelta::minutes(1));
    for _ in 0..ROUNDS {
        let (user, eligibility) = eligible(&shop, json!({ "approvals": 0 })).await;
        let made = app.asks(&user, &eligibility, &json!({ "startsAt": starts_at })).send().await.created();
        waiting.push((user, super::id(&made).to_owned()));
    }
    app.pass(TimeDelta::minutes(1));
    let (one, other) = join(app.iam.advance_access_requests(), app.iam.advance_access_requests()).await;
    assert_eq!(one.unwrap() + other.unwrap(), ROUNDS as u64);
    for (user, request) in &waiting {
        holds(&shop, user, request, true).await;
        let assignment = shop.request(request).await["assignmentId"].as_str().unwrap().to_owned();
        assert_eq!(recorded(&shop, &assignment, "ROLE_ASSIGNED").await, 1);
    }
}

async fn what_is_given_by_an_elevation_that_ends_meanwhile_ends_with_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let giver = app.role(&shop.ada, "GIVER", &["role-assignments:create", "users:read"]).await;
    for round in 0..ROUNDS {
        let (user, _, request) = asked(&shop, json!({ "roleId": giver, "approvals": 0 })).await;
        let bob = app.colleague(&shop.ada, &fresh_email()).await;
        let ends_at = shop.request(&request).await["endsAt"].clone();
        let body = json!({ "userId": bob.user, "roleId": shop.role, "expiresAt": ends_at });
        let give = app.post("/role-assignments").by(&user).json(&body);
        let (give, end) = race(round, give, app.closes(&shop.ada, &request, "end")).await;
        end.ok();
        assert!(matches!(give.status(), 201 | 403), "{}", give.text());
        assert!(shop.held(&bob.user).await.is_empty());
        app.get("/users").by(&bob).send().await.lacks("users:read");
    }
}
