//! Who decides about a request, and what a decision does (`docs/access-requests.md#decisions`).

use chrono::TimeDelta;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use super::{Shop, id};
use crate::api_key::text;
use crate::app::{TestApp, shown};
use crate::people::{PASSWORD, Person};
use crate::request::Response;

in_memory![
    an_approval_gives_the_role_for_a_time,
    a_denial_ends_it,
    a_decision_needs_no_body,
    two_approvals_of_two_users_are_needed,
    one_denial_after_an_approval_ends_it,
    the_approver_role_decides_in_that_place_or_above,
    without_an_approver_role_the_permission_decides,
    a_decision_needs_a_recent_authentication_and_no_api_key,
    a_session_by_a_message_to_the_mailbox_does_not_decide,
    the_password_counts_in_place_of_the_message,
    a_user_who_acts_as_another_decides_nothing,
    a_user_does_not_decide_about_itself,
    a_request_is_decided_once,
    a_decision_needs_the_version_of_the_request_with_its_role,
    time_runs_from_the_last_approval_or_from_the_wanted_start,
    it_ends_with_the_eligibility,
    what_was_approved_for_later_begins_after_the_same_checks,
    without_a_sweep_a_request_that_was_approved_for_later_does_not_begin,
    a_request_lapses_after_72_hours,
    what_is_outdated_is_cancelled_by_a_decision,
    what_runs_goes_on_when_the_eligibility_goes,
    a_role_that_was_assigned_meanwhile_cancels_it,
];

async fn an_approval_gives_the_role_for_a_time(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 600 })).await;
    let request = shop.ask().await;
    app.pass(TimeDelta::minutes(1));
    let decide = app.post(&format!("/access-requests/{request}/approve")).by(&shop.carol);
    let approved = decide.json(&json!({ "reason": " It is. " })).send().await.ok();
    let ends_at = shown(app.iam.now() + TimeDelta::seconds(600));
    let decision = json!({
        "userId": shop.carol.user,
        "user": { "id": shop.carol.user, "email": "carol@example.com" },
        "decision": "APPROVE",
        "reason": "It is.",
        "at": app.now(),
        "counts": true,
    });
    assert_eq!((&approved["status"], &approved["decisions"]), (&json!("ACTIVE"), &json!([decision])));
    assert_eq!((&approved["startsAt"], &approved["endsAt"]), (&json!(app.now()), &json!(ends_at)));
    assert_eq!(shop.request(&request).await, approved);
    let held = shop.held(&shop.grace.user).await;
    assert_eq!((held.len(), &held[0]["id"]), (1, &approved["assignmentId"]));
    assert_eq!((&held[0]["accessRequestId"], &held[0]["expiresAt"]), (&json!(request), &json!(ends_at)));
    assert_eq!((&held[0]["roleId"], &held[0]["createdBy"]), (&json!(shop.role), &json!(shop.carol.user)));
    assert!(shop.may_read().await);
    // It is an ordinary assignment in answers about the user.
    let question = json!({ "permission": "users:read", "userId": shop.grace.user });
    let answer = app.post("/authz/check").by(&shop.ada).json(&question).send().await.ok();
    assert_eq!((&answer["allowed"], &answer["grants"][0]["accessRequestId"]), (&json!(true), &json!(request)));
    let who = app.get("/authz/who").by(&shop.ada).query("permission", "users:read").send().await.ok();
    let holder = who["data"].as_array().unwrap().iter().find(|holder| holder["userId"] == shop.grace.user).unwrap();
    assert_eq!(holder["grants"][0]["accessRequestId"], request);
    let listed = app.get("/role-assignments").by(&shop.ada).query("userId", &shop.grace.user).send().await.ok();
    assert_eq!(listed["data"][0]["accessRequestId"], request);
    let me = app.get("/auth/me").by(&shop.grace).send().await.ok();
    assert_eq!(me["roles"][0]["assignmentId"], approved["assignmentId"]);
    app.pass(TimeDelta::seconds(600));
    assert!(!shop.may_read().await);
}

async fn a_denial_ends_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    let decide = app.post(&format!("/access-requests/{request}/deny")).by(&shop.carol);
    let denied = decide.json(&json!({ "reason": "Not today." })).send().await.ok();
    assert_eq!((&denied["status"], &denied["decisions"][0]["decision"]), (&json!("DENIED"), &json!("DENY")));
    assert_eq!(denied["decisions"][0]["reason"], "Not today.");
    assert!(!shop.may_read().await);
    for how in ["approve", "deny"] {
        app.decides(&shop.carol, &request, how).send().await.problem("conflict");
    }
}

async fn a_decision_needs_no_body(app: TestApp) {
    let shop = Shop::of(&app).await;
    for (how, status) in [("deny", "DENIED"), ("approve", "ACTIVE")] {
        let request = shop.ask().await;
        let decide = || app.post(&format!("/access-requests/{request}/{how}")).by(&shop.carol);
        for request in [decide().body("{}"), decide().header("content-type", "text/plain")] {
            app.unrecorded(&shop.ada, request.send()).await.problem("unsupported-media-type");
        }
        let decided = decide().send().await.ok();
        assert_eq!((&decided["status"], &decided["decisions"][0]["reason"]), (&json!(status), &Value::Null));
    }
}

async fn two_approvals_of_two_users_are_needed(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 2 })).await;
    let request = shop.ask().await;
    let first = app.decides(&shop.carol, &request, "approve").send().await.ok();
    assert_eq!((&first["status"], &first["endsAt"]), (&json!("PENDING"), &Value::Null));
    assert!(!shop.may_read().await);
    // Not twice by one.
    let again = app.unrecorded(&shop.ada, app.decides(&shop.carol, &request, "approve").send()).await;
    assert!(again.detail("conflict").contains("decided"));
    app.decides(&shop.carol, &request, "deny").send().await.problem("conflict");
    let last = app.decides(&shop.ada, &request, "approve").send().await.ok();
    assert_eq!((&last["status"], last["decisions"].as_array().unwrap().len()), (&json!("ACTIVE"), 2));
    assert!(shop.may_read().await);
    let assigned = shop.entry(last["assignmentId"].as_str().unwrap(), "ROLE_ASSIGNED").await;
    assert_eq!(assigned["metadata"]["approvedBy"], json!([shop.carol.user, shop.ada.user]));
}

async fn one_denial_after_an_approval_ends_it(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 2 })).await;
    let request = shop.ask().await;
    app.decides(&shop.carol, &request, "approve").send().await.ok();
    assert_eq!(app.decides(&shop.ada, &request, "deny").send().await.ok()["status"], "DENIED");
    assert!(!shop.may_read().await);
}

async fn the_approver_role_decides_in_that_place_or_above(app: TestApp) {
    let shop = Shop::of(&app).await;
    let [root, leaf] = app.chain(&shop.ada, "place").await;
    let approver = app.role(&shop.ada, "APPROVER", &[]).await;
    let body = json!({
        "roleId": shop.role, "userId": shop.grace.user, "organizationId": root, "approverRoleId": approver,
    });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let request = app.access_request(&shop.grace, &eligibility).await;
    let holder = async |place: Option<OrganizationId>, email: &str| {
        let person = app.colleague(&shop.ada, email).await;
        app.assign(&shop.ada, &person.user, "APPROVER", place, None).await;
        person
    };
    // The permission does not count here, even that of an administrator, who sees the request.
    let refused = app.decides(&shop.ada, &request, "approve").send().await;
    assert!(refused.detail("forbidden").contains("approver role"));
    app.decides(&shop.carol, &request, "approve").send().await.problem("not-found");
    let below = holder(Some(leaf), "below@example.com").await;
    app.decides(&below, &request, "approve").send().await.problem("not-found");
    app.closes(&shop.grace, &request, "cancel").send().await.ok();
    for (place, email) in [(Some(root), "there@example.com"), (None, "above@example.com")] {
        let person = holder(place, email).await;
        let request = app.access_request(&shop.grace, &eligibility).await;
        assert_eq!(app.read_request(&person, &request).await.ok()["status"], "PENDING");
        assert_eq!(app.decides(&person, &request, "deny").send().await.ok()["status"], "DENIED");
    }
}

async fn without_an_approver_role_the_permission_decides(app: TestApp) {
    let shop = Shop::of(&app).await;
    let [root, leaf] = app.chain(&shop.ada, "place").await;
    let body = json!({ "roleId": shop.role, "userId": shop.grace.user, "organizationId": leaf });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let request = app.access_request(&shop.grace, &eligibility).await;
    let reader = app.colleague_who_may(&shop.ada, "reader@example.com", &["access-requests:read"]).await;
    app.decides(&reader, &request, "approve").send().await.lacks("access-requests:update");
    let stranger = app.colleague(&shop.ada, "stranger@example.com").await;
    app.decides(&stranger, &request, "approve").send().await.problem("not-found");
    let above = app.colleague_in(&shop.ada, root, "above@example.com", &["access-requests:update"]).await;
    app.decides(&above, &request, "approve").send().await.ok();
    // What was asked for tenant-wide is not decided in an organization.
    let wide = shop.ask().await;
    app.decides(&above, &wide, "approve").send().await.problem("not-found");
}

async fn a_decision_needs_a_recent_authentication_and_no_api_key(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    let key = app.key(&shop.carol, &shop.carol.user, &json!({})).await;
    let by_key = Person { access: text(&key).to_owned(), ..shop.carol.clone() };
    app.age(&shop.carol).await;
    for how in ["approve", "deny"] {
        let refused = app.unrecorded(&shop.ada, app.decides(&by_key, &request, how).send()).await;
        assert!(refused.detail("forbidden").contains("api key"));
        let refused = app.unrecorded(&shop.ada, app.decides(&shop.carol, &request, how).send()).await;
        refused.problem("insufficient-authentication");
    }
    app.decides(&app.login(&shop.carol).await, &request, "approve").send().await.ok();
}

async fn a_session_by_a_message_to_the_mailbox_does_not_decide(app: TestApp) {
    let app = app.with_mail().await;
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    app.allow_email_login(&shop.carol).await;
    let by_email = async || {
        let body = json!({ "token": app.email_login(&shop.carol).await.token });
        app.post("/auth/email-login/finish").json(&body).send().await
    };
    let alone = Person::logged_in(&by_email().await.ok());
    let authenticator = app.enrol(&shop.carol).await;
    let challenge = by_email().await.problem("second-factor-required")["challenge"].clone();
    let body = json!({ "challenge": challenge, "code": authenticator.code(&app, 0) });
    let with_factor = Person::logged_in(&app.post("/auth/login/second-factor").json(&body).send().await.ok());
    for person in [&alone, &with_factor] {
        for how in ["approve", "deny"] {
            let refused = app.unrecorded(&shop.ada, app.decides(person, &request, how).send()).await;
            refused.problem("insufficient-authentication");
            assert!(refused.header("www-authenticate").unwrap().contains("insufficient_user_authentication"));
        }
    }
    let refused = app.decides(&with_factor, &request, "approve").send().await;
    assert!(refused.detail("insufficient-authentication").contains("by e-mail"));
    // What the user may do besides stays.
    app.read_request(&with_factor, &request).await.ok();
}

async fn the_password_counts_in_place_of_the_message(app: TestApp) {
    let app = app.with_mail().await;
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    app.allow_email_login(&shop.carol).await;
    let body = json!({ "token": app.email_login(&shop.carol).await.token });
    let carol = Person::logged_in(&app.post("/auth/email-login/finish").json(&body).send().await.ok());
    app.decides(&carol, &request, "approve").send().await.problem("insufficient-authentication");
    app.post("/auth/step-up").by(&carol).json(&json!({ "password": PASSWORD })).send().await.no_content();
    app.decides(&carol, &request, "approve").send().await.ok();
}

async fn a_user_who_acts_as_another_decides_nothing(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    let acting = app.acting(&shop.ada, &shop.carol).await;
    for how in ["approve", "deny"] {
        let refused = app.unrecorded(&shop.ada, app.decides(&acting, &request, how).send()).await;
        assert!(refused.detail("forbidden").contains("act as another user"));
    }
}

async fn a_user_does_not_decide_about_itself(app: TestApp) {
    let shop = Shop::of(&app).await;
    let body = json!({ "roleId": shop.role, "userId": shop.carol.user });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    let request = app.access_request(&shop.carol, &eligibility).await;
    for how in ["approve", "deny"] {
        let refused = app.unrecorded(&shop.ada, app.decides(&shop.carol, &request, how).send()).await;
        assert!(refused.detail("forbidden").contains("your own"));
    }
}

async fn a_request_is_decided_once(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    for how in ["approve", "deny"] {
        let again = app.unrecorded(&shop.ada, app.decides(&shop.ada, id(&active), how).send()).await;
        assert!(again.detail("conflict").contains("not pending"));
    }
    let cancelled = {
        app.closes(&shop.grace, id(&active), "end").send().await.ok();
        shop.ask().await
    };
    app.closes(&shop.grace, &cancelled, "cancel").send().await.ok();
    app.decides(&shop.carol, &cancelled, "approve").send().await.problem("conflict");
}

async fn a_decision_needs_the_version_of_the_request_with_its_role(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 2 })).await;
    let request = shop.ask().await;
    let tag = async || app.read_request(&shop.carol, &request).await.header("etag").unwrap().to_owned();
    let decide =
        async |by: &Person, tag: &str| app.decides(by, &request, "approve").header("if-match", tag).send().await;
    let first = tag().await;
    let path = format!("/access-requests/{request}");
    let unchanged = app.get(&path).by(&shop.carol).header("if-none-match", &first).send().await;
    assert_eq!(unchanged.status(), 304);
    // What the role permits is what is decided about.
    let more = json!({ "permissions": ["users:read", "users:update"] });
    app.patch(&format!("/roles/{}", shop.role)).by(&shop.ada).json(&more).send().await.ok();
    let changed = app.get(&path).by(&shop.carol).header("if-none-match", &first).send().await;
    assert_eq!(changed.status(), 200);
    app.unrecorded(&shop.ada, decide(&shop.carol, &first)).await.problem("precondition-failed");
    let second = tag().await;
    let approved = decide(&shop.carol, &second).await;
    approved.ok();
    assert_eq!(approved.header("etag"), Some(tag().await.as_str()));
    // Another decision changes the request.
    app.unrecorded(&shop.ada, decide(&shop.ada, &second)).await.problem("precondition-failed");
    let deny = app.decides(&shop.ada, &request, "deny").header("if-match", &second);
    app.unrecorded(&shop.ada, deny.send()).await.problem("precondition-failed");
    assert_eq!(decide(&shop.ada, "none").await.invalid_fields(), ["If-Match"]);
    decide(&shop.ada, "*").await.ok();
}

async fn time_runs_from_the_last_approval_or_from_the_wanted_start(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 2, "maxSeconds": 600 })).await;
    let wanted = app.iam.now() + TimeDelta::minutes(2);
    // The last approval comes after the wanted start, or before it.
    for minutes in [3, 1] {
        let starts_at = (minutes == 1).then_some(wanted + TimeDelta::minutes(3));
        let members = json!({ "seconds": 300, "startsAt": starts_at.map_or_else(|| shown(wanted), shown) });
        let made = app.asks(&shop.grace, &shop.eligibility, &members).send().await.created();
        app.decides(&shop.carol, id(&made), "approve").send().await.ok();
        app.pass(TimeDelta::minutes(minutes));
        let approved = app.decides(&shop.ada, id(&made), "approve").send().await.ok();
        let (status, start) = match starts_at {
            None => ("ACTIVE", app.iam.now()),
            Some(start) => ("APPROVED", start),
        };
        assert_eq!((&approved["status"], &approved["startsAt"]), (&json!(status), &json!(shown(start))));
        assert_eq!(approved["endsAt"], shown(start + TimeDelta::seconds(300)));
        let how = if status == "ACTIVE" { "end" } else { "cancel" };
        app.closes(&shop.grace, id(&made), how).send().await.ok();
    }
}

async fn it_ends_with_the_eligibility(app: TestApp) {
    let end = app.iam.now() + TimeDelta::minutes(5);
    let shop = Shop::with(&app, &json!({ "expiresAt": shown(end) })).await;
    let active = shop.elevate().await;
    assert_eq!((&active["seconds"], &active["endsAt"]), (&json!(28_800), &json!(shown(end))));
    assert_eq!(shop.held(&shop.grace.user).await[0]["expiresAt"], shown(end));
    app.pass(TimeDelta::minutes(5));
    assert!(!shop.may_read().await);
}

async fn what_was_approved_for_later_begins_after_the_same_checks(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 300 })).await;
    let later = async || {
        let starts_at = shown(app.iam.now() + TimeDelta::minutes(1));
        let asks = app.asks(&shop.grace, &shop.eligibility, &json!({ "startsAt": starts_at }));
        let made = asks.send().await.created();
        app.decides(&shop.carol, id(&made), "approve").send().await.ok();
        id(&made).to_owned()
    };
    let begins = later().await;
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 0);
    app.pass(TimeDelta::minutes(1));
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 1);
    let active = shop.request(&begins).await;
    assert_eq!((&active["status"], &active["startsAt"]), (&json!("ACTIVE"), &json!(app.now())));
    assert!(shop.may_read().await);
    let assigned = shop.entry(active["assignmentId"].as_str().unwrap(), "ROLE_ASSIGNED").await;
    assert_eq!((&assigned["userId"], &assigned["metadata"]["approvedBy"]), (&Value::Null, &json!([shop.carol.user])));
    app.closes(&shop.grace, &begins, "end").send().await.ok();

    let cancelled = later().await;
    app.change_eligibility(&shop.ada, &shop.eligibility, &json!({ "approvals": 2 })).send().await.ok();
    app.pass(TimeDelta::minutes(1));
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 1);
    let shown = shop.request(&cancelled).await;
    assert_eq!((&shown["status"], &shown["cancelCause"]), (&json!("CANCELLED"), &json!("OUTDATED")));
    assert!(!shop.may_read().await);
    assert_eq!(shop.entry(&cancelled, "CANCELLED").await["metadata"]["cause"], "OUTDATED");
}

async fn without_a_sweep_a_request_that_was_approved_for_later_does_not_begin(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "maxSeconds": 300 })).await;
    let starts_at = shown(app.iam.now() + TimeDelta::minutes(1));
    let made = app.asks(&shop.grace, &shop.eligibility, &json!({ "startsAt": starts_at })).send().await.created();
    app.decides(&shop.carol, id(&made), "approve").send().await.ok();
    app.pass(TimeDelta::minutes(2));
    assert_eq!(shop.status(id(&made)).await, "APPROVED");
    assert!(!shop.may_read().await);
    // The time that was approved has passed.
    app.pass(TimeDelta::minutes(4));
    assert_eq!(shop.status(id(&made)).await, "LAPSED");
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(shop.status(id(&made)).await, "LAPSED");
    assert!(!shop.may_read().await);
}

async fn a_request_lapses_after_72_hours(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    app.pass(TimeDelta::hours(72) - TimeDelta::milliseconds(1));
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 0);
    app.pass(TimeDelta::milliseconds(1));
    let (ada, carol) = (app.login(&shop.ada).await, app.login(&shop.carol).await);
    let status = async || app.read_request(&ada, &request).await.ok()["status"].clone();
    assert_eq!(status().await, "LAPSED");
    for how in ["approve", "deny"] {
        app.decides(&carol, &request, how).send().await.problem("conflict");
    }
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 1);
    assert_eq!(status().await, "LAPSED");
    let entries = app.audit(&ada, &[("resourceId", &request), ("action", "LAPSED")]).await;
    assert_eq!((entries.len(), &entries[0]["userId"]), (1, &Value::Null));
    assert_eq!(app.iam.advance_access_requests().await.unwrap(), 0);
}

/// Checks that an approval is refused, and that the request is CANCELLED by it.
async fn is_cancelled(shop: &Shop<'_>, request: &str, cause: &str) {
    let app = shop.app;
    let refused: Response = app.decides(&shop.carol, request, "approve").send().await;
    refused.problem("conflict");
    // The user who asks learns why. Who has tried to approve did not close it.
    let shown = app.read_request(&shop.grace, request).await.ok();
    assert_eq!((&shown["status"], &shown["cancelCause"]), (&json!("CANCELLED"), &json!(cause)));
    assert_eq!((&shown["closedAt"], &shown["closedBy"]), (&json!(app.now()), &Value::Null));
    assert_eq!(shop.entry(request, "CANCELLED").await["metadata"]["cause"], cause);
    assert!(!shop.may_read().await);
}

async fn what_is_outdated_is_cancelled_by_a_decision(app: TestApp) {
    let shop = Shop::of(&app).await;
    let (ada, approver) = (&shop.ada, app.role(&shop.ada, "APPROVER", &[]).await);
    let make = async |members: Value| {
        let body = json!({ "roleId": shop.role, "userId": shop.grace.user });
        app.eligibility(ada, &crate::people::with(body, &members)).await
    };
    // Narrower than what was asked for.
    for change in [json!({ "maxSeconds": 300 }), json!({ "approvals": 2 }), json!({ "approverRoleId": approver })] {
        let eligibility = make(json!({})).await;
        let request = app.access_request(&shop.grace, &eligibility).await;
        app.change_eligibility(ada, &eligibility, &change).send().await.ok();
        is_cancelled(&shop, &request, "OUTDATED").await;
    }
    let removed = make(json!({})).await;
    let request = app.access_request(&shop.grace, &removed).await;
    app.delete(&format!("/eligibilities/{removed}")).by(ada).send().await.no_content();
    is_cancelled(&shop, &request, "OUTDATED").await;
    let expired = make(json!({ "expiresAt": shown(app.iam.now() + TimeDelta::minutes(1)) })).await;
    let request = app.access_request(&shop.grace, &expired).await;
    app.pass(TimeDelta::minutes(1));
    is_cancelled(&shop, &request, "OUTDATED").await;
    // The user is not eligible any more.
    app.role(ada, "HELD", &[]).await;
    let held = app.assign(ada, &shop.grace.user, "HELD", None, None).await;
    let of_holders = make(json!({ "userId": null, "heldRoleId": app.role_id(ada, "HELD").await })).await;
    let request = app.access_request(&shop.grace, &of_holders).await;
    app.delete(&format!("/role-assignments/{held}")).by(ada).send().await.no_content();
    is_cancelled(&shop, &request, "NOT_ELIGIBLE").await;
    // As narrow as what was asked for is wide enough.
    let request = app.asks(&shop.grace, &shop.eligibility, &json!({ "seconds": 300 })).send().await.created();
    app.change_eligibility(ada, &shop.eligibility, &json!({ "maxSeconds": 300 })).send().await.ok();
    app.decides(&shop.carol, id(&request), "approve").send().await.ok();
}

async fn what_runs_goes_on_when_the_eligibility_goes(app: TestApp) {
    let shop = Shop::of(&app).await;
    let active = shop.elevate().await;
    app.change_eligibility(&shop.ada, &shop.eligibility, &json!({ "maxSeconds": 300, "approvals": 2 }))
        .send()
        .await
        .ok();
    assert!(shop.may_read().await);
    app.delete(&format!("/eligibilities/{}", shop.eligibility)).by(&shop.ada).send().await.no_content();
    assert!(shop.may_read().await);
    app.iam.advance_access_requests().await.unwrap();
    assert_eq!(shop.request(id(&active)).await["status"], "ACTIVE");
    assert!(shop.may_read().await);
}

async fn a_role_that_was_assigned_meanwhile_cancels_it(app: TestApp) {
    let shop = Shop::of(&app).await;
    let request = shop.ask().await;
    app.assign(&shop.ada, &shop.grace.user, "KEEPER", None, None).await;
    app.decides(&shop.carol, &request, "approve").send().await.problem("conflict");
    assert_eq!(shop.status(&request).await, "CANCELLED");
    // The ordinary assignment stays as it is.
    let held = shop.held(&shop.grace.user).await;
    assert_eq!((held.len(), &held[0]["accessRequestId"]), (1, &Value::Null));
}
