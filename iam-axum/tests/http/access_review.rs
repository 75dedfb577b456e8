//! Access reviews (`docs/http-api.md#access-reviews`).

use chrono::TimeDelta;
use iam_core::{Caller, OrganizationId};
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::{Person, says, with};
use crate::request::{Response, each, each_sorted};

in_memory![
    a_review_shows_what_it_is_about_and_how_many_items_are_decided,
    an_item_shows_the_assignment_as_it_was_when_the_review_began,
    a_review_is_restricted_to_an_organization_roles_and_users,
    missing_invalid_and_unknown_fields_are_named,
    a_repeated_request_begins_no_second_review,
    a_decision_is_changed_until_the_review_is_completed,
    a_user_does_not_decide_about_itself_by_a_session_or_a_key,
    a_user_does_not_end_a_review_that_revokes_its_own_role,
    a_completion_is_409_while_items_are_undecided,
    a_completion_revokes_what_was_decided_with_the_reason,
    where_one_revocation_is_refused_the_item_is_named_and_nothing_is_revoked,
    a_completion_needs_the_permission_for_each_assignment,
    assignments_that_have_ended_are_skipped_and_counted,
    a_cancelled_review_revokes_nothing,
    a_closed_review_is_409,
    lists_filter_and_page,
    a_reviewer_in_an_organization_sees_and_decides_only_there,
    another_tenant_finds_no_review,
    an_item_of_another_review_is_404,
    a_review_is_completed_once_by_several_people,
    the_csv_has_all_items_that_pass_the_filter,
    no_cell_of_the_csv_is_a_spreadsheet_formula,
    a_tenant_has_a_limited_number_of_open_reviews,
];

impl TestApp {
    /// Begins a review. Returns its id.
    pub(crate) async fn review(&self, by: &Person, members: &Value) -> String {
        let made = self.try_review(by, members).await.created();
        made["id"].as_str().unwrap().to_owned()
    }

    async fn try_review(&self, by: &Person, members: &Value) -> Response {
        let due_at = shown(self.iam.now() + TimeDelta::days(14));
        let body = with(json!({ "name": "Spring", "dueAt": due_at }), members);
        self.post("/access-reviews").by(by).json(&body).send().await
    }

    /// The ids of the items of a review, in their order.
    pub(crate) async fn review_items(&self, by: &Person, review: &str) -> Vec<String> {
        each(&self.get(&format!("/access-reviews/{review}/items?limit=100")).by(by).send().await.ok(), "id")
    }

    /// Decides about an item.
    pub(crate) async fn decide(&self, by: &Person, review: &str, item: &str, decision: &str) -> Response {
        let path = format!("/access-reviews/{review}/items/{item}");
        self.patch(&path).by(by).json(&json!({ "decision": decision })).send().await
    }

    async fn counts(&self, by: &Person, review: &str) -> Value {
        self.get(&format!("/access-reviews/{review}")).by(by).send().await.ok()["counts"].clone()
    }

    async fn close(&self, by: &Person, review: &str, how: &str) -> Response {
        self.post(&format!("/access-reviews/{review}/{how}")).by(by).send().await
    }

    async fn held(&self, by: &Person, user: &str) -> Vec<String> {
        each_sorted(&self.get(&format!("/users/{user}/roles")).by(by).send().await.ok(), "id")
    }
}

/// A tenant with its administrator, and assignments of the role CLERK to these many users.
struct Fixture {
    ada: Person,
    role: String,
    users: Vec<String>,
    /// In the order of the items of a review.
    assignments: Vec<String>,
}

impl Fixture {
    async fn of(app: &TestApp, users: usize) -> Self {
        let ada = app.register("ada@example.com").await;
        let role = app.role(&ada, "CLERK", &["users:read"]).await;
        let mut fixture = Self { ada, role, users: Vec::new(), assignments: Vec::new() };
        for number in 0..users {
            let user = app.add_user(&fixture.ada, &format!("user{number}@example.com")).await;
            fixture.assignments.push(app.assign(&fixture.ada, &user, "CLERK", None, None).await);
            fixture.users.push(user);
        }
        fixture
    }

    /// A review of all these assignments.
    async fn review(&self, app: &TestApp) -> String {
        app.review(&self.ada, &json!({ "roleIds": [self.role] })).await
    }
}

async fn a_review_shows_what_it_is_about_and_how_many_items_are_decided(app: TestApp) {
    let Fixture { ada, role, users, assignments } = Fixture::of(&app, 2).await;
    let due_at = shown(app.iam.now() + TimeDelta::days(14));
    let body = json!({ "name": "  Spring ", "roleIds": [role], "userIds": [users[0], users[1]], "dueAt": due_at });
    let made = app.post("/access-reviews").by(&ada).json(&body).send().await.created();
    let id = made["id"].as_str().unwrap();
    let mut sorted = users.clone();
    sorted.sort();
    let expected = json!({
        "id": id,
        "name": "Spring",
        "organizationId": null,
        "roleIds": [role],
        "userIds": sorted,
        "dueAt": due_at,
        "status": "OPEN",
        "counts": { "total": 2, "undecided": 2, "keep": 0, "revoke": 0 },
        "createdAt": app.now(),
        "createdBy": ada.user,
        "closedAt": null,
        "closedBy": null,
    });
    assert_eq!(made, expected);
    let read = app.get(&format!("/access-reviews/{id}")).by(&ada).send().await.ok();
    assert_eq!(read, expected);
    let listed = app.get("/access-reviews").by(&ada).send().await.ok();
    assert_eq!(listed["data"], json!([expected]));
    app.decide(&ada, id, &assignments[0], "REVOKE").await.ok();
    let counts = json!({ "total": 2, "undecided": 1, "keep": 0, "revoke": 1 });
    assert_eq!(app.counts(&ada, id).await, counts);
    assert_eq!(app.get("/access-reviews").by(&ada).send().await.ok()["data"][0]["counts"], counts);
    let created = app.history(&ada, id).await.pop().unwrap();
    says(&created, &ada, "CREATE", "ACCESS_REVIEW", id);
    assert_eq!(created["metadata"]["counts"]["total"], 2);
}

async fn an_item_shows_the_assignment_as_it_was_when_the_review_began(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let role = app.role(&ada, "CLERK", &["users:read"]).await;
    let branch = app.organization(&ada, "branch").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let seen = app.now();
    app.pass(TimeDelta::seconds(1));
    let expires_at = app.iam.now() + TimeDelta::days(7);
    let made = app.now();
    let body = json!({
        "userId": bob.user, "roleId": role, "organizationId": branch.to_string(), "expiresAt": shown(expires_at),
    });
    let assigned = app.post("/role-assignments").by(&ada).json(&body).send().await.created();
    app.pass(TimeDelta::seconds(1));
    let review = app.review(&ada, &json!({ "roleIds": [role] })).await;
    let items = app.get(&format!("/access-reviews/{review}/items")).by(&ada).send().await.ok();
    let before = items["data"][0].clone();
    let expected = json!({
        "id": assigned["id"],
        "kind": "ASSIGNMENT",
        "userId": bob.user,
        "user": { "id": bob.user, "email": "bob@example.com" },
        "roleId": role,
        "role": { "id": role, "name": "CLERK" },
        "organizationId": branch.to_string(),
        "organization": before["organization"],
        "heldRoleId": null,
        "assignmentId": assigned["id"],
        "eligibilityId": null,
        "expiresAt": shown(expires_at),
        "assignmentCreatedAt": made,
        "grantedBy": ada.user,
        "directoryGroupId": null,
        "lastLoginAt": seen,
        "decision": null,
        "reason": null,
        "decidedBy": null,
        "decidedAt": null,
        "outcome": null,
    });
    assert_eq!(before, expected);
    assert_eq!(before["organization"]["id"], json!(branch.to_string()));
    app.login(&bob).await;
    app.patch(&format!("/organizations/{branch}")).by(&ada).json(&json!({ "name": "Renamed" })).send().await.ok();
    app.delete(&format!("/role-assignments/{}", before["id"].as_str().unwrap())).by(&ada).send().await.no_content();
    app.delete(&format!("/roles/{role}")).by(&ada).send().await.no_content();
    let after = app.get(&format!("/access-reviews/{review}/items")).by(&ada).send().await.ok();
    assert_eq!(after["data"], json!([before]));
}

async fn a_review_is_restricted_to_an_organization_roles_and_users(app: TestApp) {
    let Fixture { ada, role, users, assignments } = Fixture::of(&app, 2).await;
    let [root, leaf] = app.chain(&ada, "place").await;
    let above = app.assign(&ada, &users[0], "CLERK", Some(root), None).await;
    let below = app.assign(&ada, &users[1], "CLERK", Some(leaf), None).await;
    let member = app.assign(&ada, &users[1], "MEMBER", Some(leaf), None).await;
    let expired = app.iam.now() + TimeDelta::seconds(1);
    app.assign(&ada, &users[0], "MEMBER", Some(leaf), Some(expired)).await;
    app.pass(TimeDelta::seconds(1));
    let [first, second] = [&assignments[0], &assignments[1]];
    for (members, expected) in [
        (json!({ "roleIds": [role] }), vec![first, second, &above, &below]),
        (json!({ "roleIds": [role], "userIds": [] }), vec![first, second, &above, &below]),
        (json!({ "roleIds": null, "organizationId": root }), vec![&above, &below, &member]),
        (json!({ "organizationId": leaf }), vec![&below, &member]),
        (json!({ "organizationId": leaf, "roleIds": [role] }), vec![&below]),
        (json!({ "roleIds": [role], "userIds": [users[0]] }), vec![first, &above]),
    ] {
        let review = app.review(&ada, &members).await;
        let mut expected: Vec<String> = expected.into_iter().cloned().collect();
        expected.sort();
        assert_eq!(app.review_items(&ada, &review).await, expected, "{members}");
    }
}

async fn missing_invalid_and_unknown_fields_are_named(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let eve = app.register("eve@example.org").await;
    let post = async |body: Value| app.post("/access-reviews").by(&ada).json(&body).send().await;
    assert_eq!(post(json!({})).await.invalid_fields(), ["dueAt"]);
    let ids = json!([ada.user, "x", ada.user]);
    let body = json!({ "name": "x", "dueAt": "soon", "organizationId": "x", "roleIds": ids, "userIds": ids });
    assert_eq!(post(body).await.invalid_fields(), ["organizationId", "roleIds[1]", "userIds[1]", "dueAt"]);
    let many = vec![ada.user.clone(); 101];
    for (members, field) in [
        (json!({ "name": " " }), "name"),
        (json!({ "name": "x".repeat(121) }), "name"),
        (json!({ "dueAt": app.now() }), "dueAt"),
        (json!({ "dueAt": "+10000-01-01T00:00:00Z" }), "dueAt"),
        (json!({ "roleIds": many }), "roleIds"),
        (json!({ "userIds": many }), "userIds"),
        (json!({ "until": app.now() }), "until"),
    ] {
        assert_eq!(app.try_review(&ada, &members).await.invalid_fields(), [field], "{members}");
    }
    for (members, field) in [
        (json!({ "organizationId": eve.user }), "organizationId"),
        (json!({ "roleIds": [eve.user] }), "roleIds[0]"),
        (json!({ "userIds": [ada.user, eve.user] }), "userIds[1]"),
    ] {
        assert_eq!(app.try_review(&ada, &members).await.fields("not-found"), [field], "{members}");
    }
    let gone = app.organization(&ada, "gone").await;
    app.delete(&format!("/organizations/{gone}")).by(&ada).send().await.no_content();
    app.try_review(&ada, &json!({ "organizationId": gone.to_string() })).await.problem("conflict");

    let role = app.role(&ada, "CLERK", &[]).await;
    let user = app.add_user(&ada, "user@example.com").await;
    let item = app.assign(&ada, &user, "CLERK", None, None).await;
    let review = app.review(&ada, &json!({ "roleIds": [role] })).await;
    let path = format!("/access-reviews/{review}/items/{item}");
    let patch = async |body: Value| app.patch(&path).by(&ada).json(&body).send().await;
    for (body, field) in [
        (json!({}), "decision"),
        (json!({ "decision": "UNDECIDED" }), "decision"),
        (json!({ "decision": "KEEP", "reason": "x".repeat(501) }), "reason"),
        (json!({ "decision": "KEEP", "outcome": "KEPT" }), "outcome"),
    ] {
        assert_eq!(patch(body).await.invalid_fields(), [field]);
    }
    let get = async |path: &str| app.get(path).by(&ada).send().await.invalid_fields();
    assert_eq!(get("/access-reviews?status=open&page=0").await, ["page", "status"]);
    assert_eq!(get(&format!("/access-reviews/{review}/items?decision=keep&limit=0")).await, ["limit", "decision"]);
    assert_eq!(get("/access-reviews/x/items").await, ["id"]);
    let path = format!("/access-reviews/{review}/items/x");
    let refused = app.patch(&path).by(&ada).json(&json!({ "decision": "KEEP" })).send().await;
    assert_eq!(refused.invalid_fields(), ["itemId"]);
}

async fn a_repeated_request_begins_no_second_review(app: TestApp) {
    let Fixture { ada, role, .. } = Fixture::of(&app, 1).await;
    let due_at = shown(app.iam.now() + TimeDelta::days(1));
    let body = json!({ "name": "Spring", "roleIds": [role], "dueAt": due_at });
    let post =
        async || app.post("/access-reviews").by(&ada).header("idempotency-key", "spring").json(&body).send().await;
    let first = post().await.created();
    let again = post().await;
    assert_eq!((again.created(), again.header("idempotent-replayed")), (first, Some("true")));
    let other = with(body.clone(), &json!({ "name": "Autumn" }));
    let request = app.post("/access-reviews").by(&ada).header("idempotency-key", "spring").json(&other);
    request.send().await.problem("idempotency-key-reused");
    assert_eq!(app.get("/access-reviews").by(&ada).send().await.ok()["pagination"]["total"], 1);
}

async fn a_decision_is_changed_until_the_review_is_completed(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let (ada, item) = (&fixture.ada, &fixture.assignments[0]);
    let review = fixture.review(&app).await;
    let path = format!("/access-reviews/{review}/items/{item}");
    let decide = async |body: Value| app.patch(&path).by(ada).json(&body).send().await.ok();
    let first = decide(json!({ "decision": "REVOKE", "reason": " Has left. " })).await;
    assert_eq!((&first["decision"], &first["reason"]), (&json!("REVOKE"), &json!("Has left.")));
    assert_eq!((&first["decidedBy"], &first["decidedAt"]), (&json!(ada.user), &json!(app.now())));
    app.pass(TimeDelta::seconds(1));
    let again = app.unrecorded(ada, decide(json!({ "decision": "REVOKE", "reason": "Has left." }))).await;
    assert_eq!(again, first);
    let second = decide(json!({ "decision": "KEEP" })).await;
    assert_eq!((&second["decision"], &second["reason"]), (&json!("KEEP"), &Value::Null));
    let entry = app.history(ada, &review).await.swap_remove(0);
    says(&entry, ada, "UPDATE", "ACCESS_REVIEW", &review);
    assert_eq!(entry["oldValue"], json!({ "decision": "REVOKE", "reason": "Has left." }));
    assert_eq!(entry["newValue"], json!({ "decision": "KEEP", "reason": null }));
    assert_eq!((&entry["metadata"]["itemId"], &entry["metadata"]["assignmentId"]), (&json!(item), &json!(item)));
    assert!(app.held(ada, &fixture.users[0]).await.contains(item));
    app.close(ada, &review, "complete").await.ok();
    app.decide(ada, &review, item, "REVOKE").await.problem("conflict");
    assert!(app.held(ada, &fixture.users[0]).await.contains(item));
}

async fn a_user_does_not_decide_about_itself_by_a_session_or_a_key(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["access-reviews:*"]).await;
    let review = app.review(&ada, &json!({ "userIds": [ada.user, bob.user] })).await;
    let items = app.get(&format!("/access-reviews/{review}/items")).by(&ada).send().await.ok();
    let of = |person: &Person| {
        let items = items["data"].as_array().unwrap();
        items.iter().find(|item| item["userId"] == json!(person.user)).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let key = app.key(&bob, &bob.user, &json!({})).await;
    let by_key = Person { access: key["key"].as_str().unwrap_or_else(|| panic!("{key}")).to_owned(), ..bob.clone() };
    for decision in ["KEEP", "REVOKE"] {
        let refused = app.decide(&bob, &review, &of(&bob), decision).await;
        assert!(refused.detail("forbidden").contains("your own roles"));
        // A user may have made the key of another account for that.
        for item in [of(&bob), of(&ada)] {
            app.decide(&by_key, &review, &item, decision).await.problem("forbidden");
        }
    }
    app.decide(&bob, &review, &of(&ada), "KEEP").await.ok();
    app.decide(&ada, &review, &of(&bob), "REVOKE").await.ok();
    app.close(&ada, &review, "complete").await.ok();
    assert_eq!(app.held(&ada, &bob.user).await, [""; 0]);
}

async fn a_user_does_not_end_a_review_that_revokes_its_own_role(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    app.role(&ada, "REVIEWER", &["access-reviews:*", "role-assignments:*", "users:read"]).await;
    app.assign(&ada, &bob.user, "REVIEWER", None, None).await;
    let key = app.key(&ada, &bob.user, &json!({})).await;
    let by_key = Person { access: key["key"].as_str().unwrap().to_owned(), ..bob.clone() };
    let review = app.review(&ada, &json!({ "userIds": [bob.user] })).await;
    let items = app.review_items(&ada, &review).await;
    let (first, others) = items.split_first().unwrap();
    app.decide(&ada, &review, first, "REVOKE").await.ok();
    for how in ["cancel", "complete"] {
        let refused = app.unrecorded(&ada, app.close(&bob, &review, how)).await;
        assert!(refused.detail("forbidden").contains("your own roles"), "{how}");
        app.unrecorded(&ada, app.close(&by_key, &review, how)).await.problem("forbidden");
    }
    // A review in which nothing of its own is revoked is like that of any other user.
    app.decide(&ada, &review, first, "KEEP").await.ok();
    for item in others {
        app.decide(&ada, &review, item, "KEEP").await.ok();
    }
    app.close(&bob, &review, "complete").await.ok();
    let second = app.review(&ada, &json!({ "userIds": [bob.user] })).await;
    app.decide(&ada, &second, first, "REVOKE").await.ok();
    app.close(&ada, &second, "cancel").await.ok();
}

async fn a_completion_is_409_while_items_are_undecided(app: TestApp) {
    let fixture = Fixture::of(&app, 3).await;
    let review = fixture.review(&app).await;
    app.decide(&fixture.ada, &review, &fixture.assignments[1], "REVOKE").await.ok();
    let refused = app.unrecorded(&fixture.ada, app.close(&fixture.ada, &review, "complete")).await;
    assert!(refused.detail("conflict").starts_with("2 items"), "{}", refused.text());
    assert!(app.held(&fixture.ada, &fixture.users[1]).await.contains(&fixture.assignments[1]));
}

async fn a_completion_revokes_what_was_decided_with_the_reason(app: TestApp) {
    let fixture = Fixture::of(&app, 3).await;
    let ada = &fixture.ada;
    let review = fixture.review(&app).await;
    for (item, decision) in fixture.assignments.iter().zip(["KEEP", "REVOKE", "REVOKE"]) {
        app.decide(ada, &review, item, decision).await.ok();
    }
    let completed = app.close(ada, &review, "complete").await.ok();
    assert_eq!((&completed["status"], &completed["closedBy"]), (&json!("COMPLETED"), &json!(ada.user)));
    assert_eq!((&completed["closedAt"], &completed["counts"]["revoke"]), (&json!(app.now()), &json!(2)));
    for (number, user) in fixture.users.iter().enumerate() {
        assert_eq!(app.held(ada, user).await.len(), usize::from(number == 0));
    }
    let revoked = app.history(ada, &fixture.assignments[2]).await.swap_remove(0);
    says(&revoked, ada, "ROLE_REVOKED", "ROLE_ASSIGNMENT", &fixture.assignments[2]);
    assert_eq!(revoked["metadata"]["reason"], "ACCESS_REVIEW");
    let entry = app.history(ada, &review).await.swap_remove(0);
    says(&entry, ada, "COMPLETED", "ACCESS_REVIEW", &review);
    assert_eq!(entry["metadata"]["counts"], json!({ "kept": 1, "revoked": 2, "gone": 0 }));
    let items = app.get(&format!("/access-reviews/{review}/items")).by(ada).send().await.ok();
    assert_eq!(each(&items, "outcome"), ["KEPT", "REVOKED", "REVOKED"]);
}

async fn where_one_revocation_is_refused_the_item_is_named_and_nothing_is_revoked(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let ada = &fixture.ada;
    let bob = app.administrator_beside(ada).await;
    let administrator = app.role_id(ada, "TENANT_ADMIN").await;
    let review = app.review(ada, &json!({ "roleIds": [fixture.role, administrator] })).await;
    let items = app.get(&format!("/access-reviews/{review}/items")).by(ada).send().await.ok();
    for item in items["data"].as_array().unwrap() {
        let decider = if item["userId"] == json!(ada.user) { &bob } else { ada };
        app.decide(decider, &review, item["id"].as_str().unwrap(), "REVOKE").await.ok();
    }
    let carol = app.colleague_who_may(ada, "carol@example.com", &["access-reviews:*", "role-assignments:*"]).await;
    // Each of the two administrators could be revoked alone.
    let refused = app.unrecorded(ada, app.close(&carol, &review, "complete")).await;
    let named = refused.fields("conflict");
    let administrators: Vec<String> = [&ada.user, &bob.user]
        .iter()
        .map(|user| {
            let items = items["data"].as_array().unwrap();
            let of = items.iter().find(|item| item["userId"] == json!(user)).unwrap();
            format!("items[{}]", of["id"].as_str().unwrap())
        })
        .collect();
    assert!(named.len() == 1 && administrators.contains(&named[0]), "{named:?}");
    assert_eq!(app.held(ada, &fixture.users[0]).await, fixture.assignments);
    assert_eq!(app.counts(ada, &review).await["revoke"], 3);
}

async fn a_completion_needs_the_permission_for_each_assignment(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let bob = app.colleague_who_may(&fixture.ada, "bob@example.com", &["access-reviews:update"]).await;
    let review = fixture.review(&app).await;
    let item = &fixture.assignments[0];
    app.decide(&bob, &review, item, "REVOKE").await.ok();
    let refused = app.close(&bob, &review, "complete").await;
    assert_eq!(refused.fields("forbidden"), [format!("items[{item}]")]);
    app.permit(&bob, &["role-assignments:delete"]).await;
    app.close(&bob, &review, "complete").await.ok();
}

async fn assignments_that_have_ended_are_skipped_and_counted(app: TestApp) {
    let fixture = Fixture::of(&app, 2).await;
    let ada = &fixture.ada;
    let review = fixture.review(&app).await;
    for item in &fixture.assignments {
        app.decide(ada, &review, item, "REVOKE").await.ok();
    }
    app.delete(&format!("/users/{}", fixture.users[0])).by(ada).send().await.no_content();
    app.close(ada, &review, "complete").await.ok();
    let items = app.get(&format!("/access-reviews/{review}/items")).by(ada).send().await.ok();
    assert_eq!(each(&items, "outcome"), ["GONE", "REVOKED"]);
    let entry = app.history(ada, &review).await.swap_remove(0);
    assert_eq!(entry["metadata"]["counts"], json!({ "kept": 0, "revoked": 1, "gone": 1 }));
}

async fn a_cancelled_review_revokes_nothing(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let review = fixture.review(&app).await;
    app.decide(&fixture.ada, &review, &fixture.assignments[0], "REVOKE").await.ok();
    let cancelled = app.close(&fixture.ada, &review, "cancel").await.ok();
    assert_eq!((&cancelled["status"], &cancelled["counts"]["revoke"]), (&json!("CANCELLED"), &json!(1)));
    assert_eq!(app.held(&fixture.ada, &fixture.users[0]).await, fixture.assignments);
    let entry = app.history(&fixture.ada, &review).await.swap_remove(0);
    says(&entry, &fixture.ada, "UPDATE", "ACCESS_REVIEW", &review);
    assert_eq!(entry["newValue"], json!({ "status": "CANCELLED" }));
}

async fn a_closed_review_is_409(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let item = &fixture.assignments[0];
    for how in ["complete", "cancel"] {
        let review = fixture.review(&app).await;
        app.decide(&fixture.ada, &review, item, "KEEP").await.ok();
        app.close(&fixture.ada, &review, how).await.ok();
        app.decide(&fixture.ada, &review, item, "KEEP").await.problem("conflict");
        for again in ["complete", "cancel"] {
            app.close(&fixture.ada, &review, again).await.problem("conflict");
        }
    }
}

async fn lists_filter_and_page(app: TestApp) {
    let fixture = Fixture::of(&app, 3).await;
    let ada = &fixture.ada;
    let [first, second] = [fixture.review(&app).await, fixture.review(&app).await];
    app.close(ada, &second, "cancel").await.ok();
    let reviews =
        async |query: &str| each(&app.get(&format!("/access-reviews?{query}")).by(ada).send().await.ok(), "id");
    assert_eq!(reviews("status=OPEN").await, [first.as_str()]);
    assert_eq!(reviews("status=CANCELLED").await, [second.as_str()]);
    assert_eq!(reviews("status=COMPLETED").await, [""; 0]);
    assert_eq!(reviews("limit=1").await.len(), 1);
    app.decide(ada, &first, &fixture.assignments[0], "KEEP").await.ok();
    app.decide(ada, &first, &fixture.assignments[1], "REVOKE").await.ok();
    let items = async |query: &str| {
        let path = format!("/access-reviews/{first}/items?{query}");
        each(&app.get(&path).by(ada).send().await.ok(), "id")
    };
    for (number, decision) in ["KEEP", "REVOKE", "UNDECIDED"].into_iter().enumerate() {
        assert_eq!(items(&format!("decision={decision}")).await, [fixture.assignments[number].clone()]);
    }
    assert_eq!(items("limit=2&page=2").await, [fixture.assignments[2].clone()]);
}

async fn a_reviewer_in_an_organization_sees_and_decides_only_there(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let (ada, user) = (&fixture.ada, &fixture.users[0]);
    let [own, other]: [OrganizationId; 2] = [app.organization(ada, "own").await, app.organization(ada, "other").await];
    for place in [own, other] {
        app.assign(ada, user, "CLERK", Some(place), None).await;
    }
    let bob = app.colleague_in(ada, own, "bob@example.com", &["access-reviews:*", "role-assignments:*"]).await;
    let here = |place: OrganizationId| json!({ "organizationId": place.to_string(), "userIds": [user] });
    let visible = app.review(&bob, &here(own)).await;
    let hidden = [app.review(ada, &here(other)).await, fixture.review(&app).await];
    assert_eq!(app.try_review(&bob, &here(other)).await.fields("not-found"), ["organizationId"]);
    app.try_review(&bob, &json!({})).await.problem("forbidden");
    assert_eq!(each(&app.get("/access-reviews").by(&bob).send().await.ok(), "id"), [visible.as_str()]);
    let item = app.review_items(&bob, &visible).await.remove(0);
    app.decide(&bob, &visible, &item, "REVOKE").await.ok();
    app.close(&bob, &visible, "complete").await.ok();
    for review in hidden {
        let item = app.review_items(ada, &review).await.remove(0);
        app.get(&format!("/access-reviews/{review}")).by(&bob).send().await.problem("not-found");
        app.get(&format!("/access-reviews/{review}/items")).by(&bob).send().await.problem("not-found");
        app.decide(&bob, &review, &item, "KEEP").await.problem("not-found");
        app.close(&bob, &review, "complete").await.problem("not-found");
        app.close(&bob, &review, "cancel").await.problem("not-found");
    }
}

async fn another_tenant_finds_no_review(app: TestApp) {
    let fixture = Fixture::of(&app, 1).await;
    let eve = app.register("eve@example.org").await;
    let review = fixture.review(&app).await;
    app.get(&format!("/access-reviews/{review}")).by(&eve).send().await.problem("not-found");
    app.get("/access-reviews/x").by(&eve).send().await.problem("validation-error");
    let csv = app.get(&format!("/access-reviews/{review}/items")).by(&eve).header("accept", "text/csv");
    csv.send().await.problem("not-found");
    app.decide(&eve, &review, &fixture.assignments[0], "KEEP").await.problem("not-found");
    app.close(&eve, &review, "complete").await.problem("not-found");
    assert_eq!(app.get("/access-reviews").by(&eve).send().await.ok()["pagination"]["total"], 0);
}

async fn an_item_of_another_review_is_404(app: TestApp) {
    let fixture = Fixture::of(&app, 2).await;
    let review = app.review(&fixture.ada, &json!({ "userIds": [fixture.users[0]] })).await;
    app.decide(&fixture.ada, &review, &fixture.assignments[1], "KEEP").await.problem("not-found");
    app.decide(&fixture.ada, &fixture.assignments[1], &fixture.assignments[1], "KEEP").await.problem("not-found");
}

async fn a_review_is_completed_once_by_several_people(app: TestApp) {
    let fixture = Fixture::of(&app, 4).await;
    let ada = &fixture.ada;
    let bob = app.administrator_beside(ada).await;
    let review = fixture.review(&app).await;
    let decide = |by, item| app.decide(by, &review, item, "REVOKE");
    let [a, b, c, d] = <&[String; 4]>::try_from(fixture.assignments.as_slice()).unwrap();
    let decided = tokio::join!(decide(ada, a), decide(&bob, b), decide(ada, c), decide(&bob, d));
    for answer in [decided.0, decided.1, decided.2, decided.3] {
        answer.ok();
    }
    let path = format!("/access-reviews/{review}/complete");
    let (first, second) = tokio::join!(app.post(&path).by(ada).send(), app.post(&path).by(&bob).send());
    let mut statuses = [first.status(), second.status()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    for user in &fixture.users {
        assert_eq!(app.held(ada, user).await, [""; 0]);
    }
}

/// The rows of a review as CSV, without the first line.
async fn csv(app: &TestApp, by: &Person, review: &str, query: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let path = format!("/access-reviews/{review}/items{query}");
    let answer = app.get(&path).by(by).header("accept", "text/csv").send().await;
    let text = answer.ok_of("text/csv; charset=utf-8");
    assert_eq!(answer.header("content-disposition"), Some(r#"attachment; filename="access-review.csv""#));
    assert!(text.starts_with('\u{feff}'), "a spreadsheet must read UTF-8");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let cells = |row: &csv::StringRecord| row.iter().map(str::to_owned).collect::<Vec<String>>();
    let names = cells(reader.headers().unwrap());
    (names, reader.records().map(|row| cells(&row.unwrap())).collect())
}

async fn the_csv_has_all_items_that_pass_the_filter(app: TestApp) {
    let fixture = Fixture::of(&app, 3).await;
    let ada = &fixture.ada;
    let review = fixture.review(&app).await;
    app.decide(ada, &review, &fixture.assignments[0], "KEEP").await.ok();
    let (names, rows) = csv(&app, ada, &review, "?limit=1").await;
    let items = app.get(&format!("/access-reviews/{review}/items")).by(ada).send().await.ok();
    assert_eq!(rows.len(), 3);
    for (row, item) in rows.iter().zip(items["data"].as_array().unwrap()) {
        for (name, cell) in names.iter().zip(row) {
            let value = match name.as_str() {
                "user" => &item["user"]["email"],
                "role" => &item["role"]["name"],
                "organization" => &Value::Null,
                name => &item[name],
            };
            assert_eq!(cell, value.as_str().unwrap_or_default(), "{name}");
        }
    }
    let (_, undecided) = csv(&app, ada, &review, "?decision=UNDECIDED").await;
    assert_eq!(undecided, rows[1..]);
    let (_, none) = csv(&app, ada, &review, "?decision=REVOKE").await;
    assert!(none.is_empty());
    let json = app.get(&format!("/access-reviews/{review}/items")).by(ada);
    json.header("accept", "text/csv;q=0.5, application/json").send().await.ok();
}

async fn no_cell_of_the_csv_is_a_spreadsheet_formula(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let system = Caller::system(ada.tenant.parse().unwrap(), "test");
    let branch = app.organization(&ada, "branch").await;
    let rename = json!({ "name": "=1+1" });
    app.patch(&format!("/organizations/{branch}")).by(&ada).json(&rename).send().await.ok();
    let new = iam_core::user::NewServiceAccount { name: "@SUM(A1)".to_owned() };
    let robot = app.iam.users().create_service_account(&system, new).await.unwrap().id.to_string();
    let person = app.add_user(&ada, "+1@example.com").await;
    for user in [&robot, &person] {
        app.assign(&ada, user, "MEMBER", Some(branch), None).await;
    }
    let review = app.review(&ada, &json!({ "organizationId": branch.to_string() })).await;
    let items = app.review_items(&ada, &review).await;
    for (item, reason) in items.iter().zip(["-2+3, \"quoted\"", "'quoted'"]) {
        let path = format!("/access-reviews/{review}/items/{item}");
        app.patch(&path).by(&ada).json(&json!({ "decision": "KEEP", "reason": reason })).send().await.ok();
    }
    let (names, rows) = csv(&app, &ada, &review, "").await;
    let of = |row: usize, name: &str| {
        let column = names.iter().position(|found| found == name).unwrap();
        rows[row][column].as_str()
    };
    assert_eq!((of(0, "user"), of(1, "user")), ("'@SUM(A1)", "'+1@example.com"));
    assert_eq!((of(0, "organization"), of(0, "reason")), ("'=1+1", "'-2+3, \"quoted\""));
    assert_eq!(of(1, "reason"), "''quoted'");
}

async fn a_tenant_has_a_limited_number_of_open_reviews(app: TestApp) {
    let app = app.with_settings(|settings| settings.max_open_access_reviews = 2).await;
    let fixture = Fixture::of(&app, 1).await;
    let first = fixture.review(&app).await;
    fixture.review(&app).await;
    let refused = app.try_review(&fixture.ada, &json!({})).await;
    assert!(refused.detail("conflict").contains("2 open access reviews"), "{}", refused.text());
    app.close(&fixture.ada, &first, "cancel").await.ok();
    fixture.review(&app).await;
    // Another tenant has its own.
    let eve = app.register("eve@example.com").await;
    app.review(&eve, &json!({})).await;
}
