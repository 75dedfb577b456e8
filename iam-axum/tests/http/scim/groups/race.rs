//! Requests about groups at the same time. In each order, the members of the groups hold exactly the roles to which
//! their groups are mapped.

use std::collections::BTreeSet;

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use super::{path, references};
use crate::access_table::fresh;
use crate::app::TestApp;
use crate::request::{Request, Response};
use crate::scim::Staff;

on_every_store![
    "the store decides between two requests";
    one_of_several_creations_makes_the_group,
    a_member_that_is_added_several_times_holds_the_role_once,
    no_member_gets_lost,
    a_mapping_beside_a_removal_leaves_no_role_behind,
    a_deletion_beside_an_addition_leaves_no_role_behind,
    a_deletion_of_the_user_beside_an_addition_leaves_no_member_behind,
    two_groups_give_a_role_once,
];

/// The number of races in each test. The order in which two requests take effect is left to chance.
const ROUNDS: usize = 4;

/// A directory whose account covers a role, and the role.
async fn staff(app: &TestApp) -> (Staff<'_>, Value) {
    let staff = Staff::with(app, &["users:*", "role-assignments:*", "roles:read"], &json!({})).await;
    let role = app.role(&staff.ada, "CLERK", &["roles:read"]).await;
    (staff, json!([{ "roleId": role }]))
}

/// Sends two requests at the same time, in alternating order.
async fn race(round: usize, one: Request<'_>, other: Request<'_>) -> (Response, Response) {
    if round.is_multiple_of(2) {
        join(one.send(), other.send()).await
    } else {
        let (other, one) = join(other.send(), one.send()).await;
        (one, other)
    }
}

/// The changes that make a user a member, or end that.
fn change(op: &str, user: &Value) -> Value {
    json!([{ "op": op, "path": "members", "value": references(&[user]) }])
}

/// Checks that the role assignments which groups give are those of their members and their grants, each once.
async fn assert_members_hold_the_grants(staff: &Staff<'_>) {
    let list = async |path: &str| {
        let path = format!("{path}?limit=100");
        staff.app.get(&path).by(&staff.ada).send().await.ok()["data"].as_array().unwrap().clone()
    };
    let groups = staff.get("/Groups?count=200").send().await.scim(200)["Resources"].as_array().unwrap().clone();
    let mut expected = BTreeSet::new();
    for group in list(&format!("/directories/{}/groups", staff.directory)).await {
        let shown = groups.iter().find(|shown| shown["id"] == group["id"]).unwrap();
        let members = shown["members"].as_array().unwrap();
        assert_eq!(group["members"], members.len());
        for grant in group["grants"].as_array().unwrap() {
            expected.extend(members.iter().map(|member| [member["value"].to_string(), grant["roleId"].to_string()]));
        }
    }
    let given: Vec<Value> = list("/role-assignments").await;
    let given: Vec<&Value> = given.iter().filter(|given| !given["directoryGroupId"].is_null()).collect();
    let found: BTreeSet<[String; 2]> =
        given.iter().map(|given| [given["userId"].to_string(), given["roleId"].to_string()]).collect();
    assert_eq!(found.len(), given.len());
    assert_eq!(found, expected);
    // The group of each assignment is one of those that give it.
    for given in given {
        let group = groups.iter().find(|group| group["id"] == given["directoryGroupId"]).unwrap();
        let members = group["members"].as_array().unwrap();
        assert!(members.iter().any(|member| member["value"] == given["userId"]), "{given}");
    }
}

async fn one_of_several_creations_makes_the_group(app: TestApp) {
    let (staff, _) = staff(&app).await;
    let names = ["Sales", "SALES", "sales", "Sales", "sALES"];
    let bodies = names.map(|name| json!({ "displayName": name }));
    let answers = join_all(bodies.iter().map(|body| staff.post_group(body).send())).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 201).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status() != 201) {
        answer.refused(409, Some("uniqueness"));
    }
    assert_eq!(staff.get("/Groups").send().await.scim(200)["totalResults"], 1);
}

async fn a_member_that_is_added_several_times_holds_the_role_once(app: TestApp) {
    let (staff, grants) = staff(&app).await;
    for _ in 0..ROUNDS {
        let user = staff.made(&fresh("user-"), &json!({})).await;
        let group = staff.grouped(&fresh("Group "), &[]).await;
        staff.map(&group, &grants).send().await.ok();
        let addition = change("Add", &user);
        for answer in join_all((0..5).map(|_| staff.patch(&group, &addition).send())).await {
            answer.scim(200);
        }
        assert_eq!(staff.roles_of(&user).await.len(), 1);
        assert_members_hold_the_grants(&staff).await;
    }
}

/// Entra ID sends up to five requests at once.
async fn no_member_gets_lost(app: TestApp) {
    let (staff, grants) = staff(&app).await;
    let mut users = Vec::new();
    for _ in 0..5 {
        users.push(staff.made(&fresh("user-"), &json!({})).await);
    }
    let group = staff.grouped("Sales", &[&users[0]]).await;
    staff.map(&group, &grants).send().await.ok();
    let mut changes: Vec<Value> = users[1..].iter().map(|user| change("Add", user)).collect();
    changes.push(change("Remove", &users[0]));
    for answer in join_all(changes.iter().map(|change| staff.patch(&group, change).send())).await {
        answer.scim(200);
    }
    let shown = staff.shown(&group).await;
    let left: Vec<&Value> = users[1..].iter().collect();
    assert_eq!(super::member_ids(&shown), super::ids(&left));
    assert_members_hold_the_grants(&staff).await;
}

async fn a_mapping_beside_a_removal_leaves_no_role_behind(app: TestApp) {
    let (staff, grants) = staff(&app).await;
    for round in 0..ROUNDS {
        let user = staff.made(&fresh("user-"), &json!({})).await;
        let group = staff.grouped(&fresh("Group "), &[&user]).await;
        let removal = staff.patch(&group, &change("Remove", &user));
        let (mapped, removed) = race(round, staff.map(&group, &grants), removal).await;
        mapped.ok();
        removed.scim(200);
        assert!(staff.roles_of(&user).await.is_empty());
        // The other way round: the mapping ends while the user is added.
        let addition = staff.patch(&group, &change("Add", &user));
        let (unmapped, added) = race(round, staff.map(&group, &json!([])), addition).await;
        unmapped.ok();
        added.scim(200);
        assert!(staff.roles_of(&user).await.is_empty());
        assert_members_hold_the_grants(&staff).await;
    }
}

async fn a_deletion_beside_an_addition_leaves_no_role_behind(app: TestApp) {
    let (staff, grants) = staff(&app).await;
    for round in 0..ROUNDS {
        let user = staff.made(&fresh("user-"), &json!({})).await;
        let group = staff.grouped(&fresh("Group "), &[]).await;
        staff.map(&group, &grants).send().await.ok();
        let addition = staff.patch(&group, &change("Add", &user));
        let (deleted, added) = race(round, staff.delete(&path(&group)), addition).await;
        deleted.no_content();
        assert!(matches!(added.status(), 200 | 404), "{}", added.text());
        assert!(staff.roles_of(&user).await.is_empty());
        assert_members_hold_the_grants(&staff).await;
    }
}

async fn a_deletion_of_the_user_beside_an_addition_leaves_no_member_behind(app: TestApp) {
    let (staff, grants) = staff(&app).await;
    let group = staff.grouped("Sales", &[]).await;
    staff.map(&group, &grants).send().await.ok();
    for round in 0..ROUNDS {
        let user = staff.made(&fresh("user-"), &json!({})).await;
        let addition = staff.patch(&group, &change("Add", &user));
        let (deleted, added) = race(round, staff.delete(&path(&user)), addition).await;
        deleted.no_content();
        assert!(matches!(added.status(), 200 | 400), "{}", added.text());
        assert!(staff.roles_of(&user).await.is_empty());
        assert_eq!(staff.shown(&group).await["members"], json!([]));
        assert_members_hold_the_grants(&staff).await;
    }
}

async fn two_groups_give_a_role_once(app: TestApp) {
    let (staff, grants) = staff(&app).await;
    let [one, other] = [staff.grouped("One", &[]).await, staff.grouped("Other", &[]).await];
    for group in [&one, &other] {
        staff.map(group, &grants).send().await.ok();
    }
    for round in 0..ROUNDS {
        let user = staff.made(&fresh("user-"), &json!({})).await;
        let addition = change("Add", &user);
        let (first, second) = race(round, staff.patch(&one, &addition), staff.patch(&other, &addition)).await;
        first.scim(200);
        second.scim(200);
        assert_eq!(staff.roles_of(&user).await.len(), 1);
        assert_members_hold_the_grants(&staff).await;
        // One group loses the member while the other one is unmapped and mapped again.
        let removal = staff.patch(&one, &change("Remove", &user));
        let (unmapped, removed) = race(round, staff.map(&other, &json!([])), removal).await;
        unmapped.ok();
        removed.scim(200);
        assert!(staff.roles_of(&user).await.is_empty());
        staff.map(&other, &grants).send().await.ok();
        assert_members_hold_the_grants(&staff).await;
    }
}
