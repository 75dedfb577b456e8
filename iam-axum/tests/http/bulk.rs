//! `POST /role-assignments/bulk` (`docs/http-api.md#role-assignments`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::{Person, says, with};
use crate::request::{Response, each_sorted, members};

on_every_store![
    "all or nothing is a transaction of the store";
    bulk_answers_201_with_the_new_assignments_in_order,
    one_role_assigned_entry_is_recorded_for_each_item,
    an_item_may_have_an_organization_and_an_expiry,
    a_batch_has_1_to_500_items,
    an_invalid_field_is_400_and_names_its_item,
    an_unknown_id_is_404_and_names_its_item,
    a_past_expiry_is_400_and_names_its_item,
    a_wrong_scope_is_400_and_names_its_item,
    a_duplicate_is_a_conflict_that_names_its_item,
    a_duplicate_within_the_batch_is_a_conflict_that_names_its_item,
    an_inactive_user_is_a_conflict_that_names_its_item,
    an_escalation_is_forbidden_and_names_its_item,
    an_inaccessible_scope_is_refused_and_names_its_item,
    one_invalid_item_refuses_the_whole_batch,
    one_of_two_concurrent_overlapping_batches_succeeds,
    bulk_needs_role_assignments_create,
];

async fn bulk(app: &TestApp, by: &Person, items: &[Value]) -> Response {
    app.post("/role-assignments/bulk").by(by).json(&json!({ "assignments": items })).send().await
}

/// The number of assignments in the tenant.
async fn total(app: &TestApp, by: &Person) -> Value {
    app.get("/role-assignments?limit=1").by(by).send().await.ok()["pagination"]["total"].clone()
}

/// An administrator, and four valid items: the same user and role, in different resource scopes.
async fn administrator_and_items(app: &TestApp) -> (Person, Vec<Value>) {
    let ada = app.register("ada@example.com").await;
    let item =
        json!({ "userId": app.add_user(&ada, "bob@example.com").await, "roleId": app.role_id(&ada, "MEMBER").await });
    let mut items = vec![item.clone()];
    for slug in ["north", "south", "east"] {
        items.push(with(item.clone(), &json!({ "organizationId": app.organization(&ada, slug).await })));
    }
    (ada, items)
}

/// The items, with these members set in one of them.
fn with_changed_item(items: &[Value], number: usize, members: &Value) -> Vec<Value> {
    let mut items = items.to_vec();
    items[number] = with(items[number].clone(), members);
    items
}

/// Sends a batch that must change nothing and record nothing.
async fn refused(app: &TestApp, administrator: &Person, by: &Person, items: &[Value]) -> Response {
    let before = total(app, administrator).await;
    let answer = app.unrecorded(administrator, bulk(app, by, items)).await;
    assert_eq!(total(app, administrator).await, before);
    answer
}

async fn bulk_answers_201_with_the_new_assignments_in_order(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let body = bulk(&app, &ada, &items).await.created();
    assert_eq!(members(&body), ["assignments", "created"]);
    assert_eq!(body["created"], 4);
    let made = body["assignments"].as_array().unwrap();
    assert_eq!(made.len(), 4);
    let listed = app.get("/role-assignments").by(&ada).send().await.ok();
    for (made, item) in made.iter().zip(&items) {
        assert_eq!(members(made), ["id", "roleId", "userId"]);
        let stored = listed["data"].as_array().unwrap().iter().find(|stored| stored["id"] == made["id"]).unwrap();
        assert_eq!((&made["userId"], &made["roleId"]), (&item["userId"], &item["roleId"]));
        assert_eq!((&stored["userId"], &stored["roleId"]), (&item["userId"], &item["roleId"]));
        assert_eq!(stored["organizationId"], item["organizationId"]);
        assert_eq!(stored["createdBy"], ada.user);
    }
}

async fn one_role_assigned_entry_is_recorded_for_each_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let body = bulk(&app, &ada, &items).await.created();
    for (made, item) in body["assignments"].as_array().unwrap().iter().zip(&items) {
        let id = made["id"].as_str().unwrap();
        let entries = app.history(&ada, id).await;
        assert_eq!(entries.len(), 1);
        says(&entries[0], &ada, "ROLE_ASSIGNED", "ROLE_ASSIGNMENT", id);
        let expected = json!({
            "targetUserId": item["userId"], "roleId": item["roleId"], "roleName": "MEMBER",
            "organizationId": item["organizationId"],
        });
        assert_eq!(entries[0]["metadata"], expected);
    }
}

async fn an_item_may_have_an_organization_and_an_expiry(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let expiry = shown(app.iam.now() + TimeDelta::hours(1));
    let items = with_changed_item(&items, 1, &json!({ "expiresAt": expiry }));
    let items = with_changed_item(&items, 2, &json!({ "expiresAt": null }));
    bulk(&app, &ada, &items).await.created();
    for (item, expiry) in [(&items[1], json!(expiry)), (&items[2], Value::Null)] {
        let organization = item["organizationId"].as_str().unwrap();
        let listed = app.get("/role-assignments").by(&ada).query("organizationId", organization).send().await.ok();
        assert_eq!(listed["data"][0]["expiresAt"], expiry);
    }
}

async fn a_batch_has_1_to_500_items(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let (mut users, mut roles) = (Vec::new(), Vec::new());
    for number in 0..25 {
        users.push(app.add_user(&ada, &format!("user{number}@example.com")).await);
    }
    for number in 0..20 {
        roles.push(app.role(&ada, &format!("R{number}"), &["users:read"]).await);
    }
    let pair = |user: &String, role: &String| json!({ "userId": user, "roleId": role });
    let items: Vec<Value> = users.iter().flat_map(|user| roles.iter().map(|role| pair(user, role))).collect();
    let too_many: Vec<Value> = items.iter().cloned().chain([pair(&ada.user, &roles[0])]).collect();
    assert_eq!((items.len(), too_many.len()), (500, 501));
    let before = total(&app, &ada).await;
    for wrong in [&[][..], &too_many] {
        assert_eq!(bulk(&app, &ada, wrong).await.invalid_fields(), ["assignments"]);
    }
    let missing = app.post("/role-assignments/bulk").by(&ada).json(&json!({})).send().await;
    assert_eq!(missing.invalid_fields(), ["assignments"]);
    assert_eq!(total(&app, &ada).await, before);
    assert_eq!(bulk(&app, &ada, &items).await.created()["created"], 500);
    assert_eq!(total(&app, &ada).await, json!(501));
    let one = bulk(&app, &ada, &too_many[500..]).await.created();
    assert_eq!((&one["created"], one["assignments"].as_array().unwrap().len()), (&json!(1), 1));
}

async fn an_invalid_field_is_400_and_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    for (field, value) in [
        ("userId", json!("bob")),
        ("roleId", json!(17)),
        ("organizationId", json!("north")),
        ("expiresAt", json!("soon")),
        ("expires_at", json!("2030-01-01T00:00:00Z")),
    ] {
        let answer = refused(&app, &ada, &ada, &with_changed_item(&items, 2, &json!({ field: value }))).await;
        assert_eq!(answer.invalid_fields(), [format!("assignments[2].{field}")]);
    }
    let wrong = with_changed_item(
        &with_changed_item(&items, 3, &json!({ "expiresAt": "x" })),
        1,
        &json!({ "userId": "", "roleId": "x" }),
    );
    let expected = ["assignments[1].userId", "assignments[1].roleId", "assignments[3].expiresAt"];
    assert_eq!(refused(&app, &ada, &ada, &wrong).await.invalid_fields(), expected);
    let missing = refused(&app, &ada, &ada, &[items[0].clone(), json!({ "roleId": items[0]["roleId"] })]).await;
    assert_eq!(missing.invalid_fields(), ["assignments[1].userId"]);
}

async fn an_unknown_id_is_404_and_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let eve = app.register("eve@example.com").await;
    let foreign = [
        ("userId", eve.user.clone()),
        ("roleId", app.role_id(&eve, "MEMBER").await),
        ("organizationId", app.organization(&eve, "foreign").await.to_string()),
    ];
    for (field, foreign) in foreign {
        for id in [&foreign, &ada.tenant] {
            let answer = refused(&app, &ada, &ada, &with_changed_item(&items, 3, &json!({ field: id }))).await;
            assert_eq!(answer.fields("not-found"), [format!("assignments[3].{field}")]);
        }
    }
}

async fn a_past_expiry_is_400_and_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let past = json!({ "expiresAt": app.now() });
    let wrong = with_changed_item(&with_changed_item(&items, 0, &past), 2, &past);
    let expected = ["assignments[0].expiresAt", "assignments[2].expiresAt"];
    assert_eq!(refused(&app, &ada, &ada, &wrong).await.invalid_fields(), expected);
}

async fn a_wrong_scope_is_400_and_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    for (number, role) in [(0, "ORGANIZATION_ADMIN"), (1, "AUDITOR")] {
        let role = json!({ "roleId": app.role_id(&ada, role).await });
        let answer = refused(&app, &ada, &ada, &with_changed_item(&items, number, &role)).await;
        assert_eq!(answer.fields("validation"), [format!("assignments[{number}].organizationId")]);
    }
}

async fn a_duplicate_is_a_conflict_that_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    bulk(&app, &ada, &items[2..3]).await.created();
    let answer = refused(&app, &ada, &ada, &items).await;
    assert_eq!(answer.fields("conflict"), ["assignments[2]"]);
}

async fn a_duplicate_within_the_batch_is_a_conflict_that_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    for twice in [0, 2] {
        let mut items = items.clone();
        let expiry = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::hours(1)) });
        items.push(with(items[twice].clone(), &expiry));
        assert_eq!(refused(&app, &ada, &ada, &items).await.fields("conflict"), ["assignments[4]"]);
    }
}

async fn an_inactive_user_is_a_conflict_that_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let deleted = app.add_user(&ada, "deleted@example.com").await;
    app.set_status(&ada, &deleted, "INACTIVE").await;
    let answer = refused(&app, &ada, &ada, &with_changed_item(&items, 1, &json!({ "userId": deleted }))).await;
    assert_eq!(answer.fields("conflict"), ["assignments[1]"]);
}

async fn an_escalation_is_forbidden_and_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let may = ["role-assignments:create", "users:read", "organizations:read"];
    let bob = app.colleague_who_may(&ada, "grantor@example.com", &may).await;
    let auditor = json!({ "roleId": app.role_id(&ada, "AUDITOR").await, "organizationId": null });
    let answer = refused(&app, &ada, &bob, &with_changed_item(&items, 3, &auditor)).await;
    answer.escalates();
    assert_eq!(answer.fields("forbidden"), ["assignments[3]"]);
    bulk(&app, &bob, &items).await.created();
}

async fn an_inaccessible_scope_is_refused_and_names_its_item(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let north = items[1]["organizationId"].as_str().unwrap().parse().unwrap();
    let bob = app.colleague_in(&ada, north, "grantor@example.com", &["*"]).await;
    let answer = refused(&app, &ada, &bob, &items[1..3]).await;
    assert_eq!(answer.fields("not-found"), ["assignments[1].organizationId"]);
    let answer = refused(&app, &ada, &bob, &[items[1].clone(), items[0].clone()]).await;
    assert_eq!(answer.fields("forbidden"), ["assignments[1]"]);
    assert_eq!(bulk(&app, &bob, &items[1..2]).await.created()["created"], 1);
}

async fn one_invalid_item_refuses_the_whole_batch(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let user = items[0]["userId"].as_str().unwrap().to_owned();
    for number in 0..items.len() {
        let wrong = with_changed_item(&items, number, &json!({ "roleId": ada.tenant }));
        refused(&app, &ada, &ada, &wrong).await.problem("not-found");
    }
    let roles = async || app.get(&format!("/users/{user}/roles")).by(&ada).send().await.ok();
    assert_eq!(roles().await, json!({ "data": [] }));
    bulk(&app, &ada, &items).await.created();
    assert_eq!(each_sorted(&roles().await, "id").len(), 4);
}

async fn one_of_two_concurrent_overlapping_batches_succeeds(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let backwards: Vec<Value> = items.iter().rev().cloned().collect();
    let answers = join_all([bulk(&app, &ada, &items), bulk(&app, &ada, &backwards)]).await;
    let mut statuses: Vec<u16> = answers.iter().map(Response::status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409]);
    assert_eq!(total(&app, &ada).await, json!(5));
}

async fn bulk_needs_role_assignments_create(app: TestApp) {
    let (ada, items) = administrator_and_items(&app).await;
    let bob = app.colleague_who_may(&ada, "grantor@example.com", &["role-assignments:update"]).await;
    refused(&app, &ada, &bob, &items).await.lacks("role-assignments:create");
}
