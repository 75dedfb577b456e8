//! Moving organizations by `PATCH {parentId}` (`docs/http-api.md#moves-of-organizations`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, says};
use crate::request::{Response, each};

on_every_store![
    "the store reads and locks the tree";
    a_move_answers_200_with_the_new_parent_and_depth,
    all_descendants_move_with_an_organization,
    a_null_parent_makes_a_root,
    a_move_is_recorded_as_an_update_of_the_parent,
    a_move_to_the_present_parent_records_nothing,
    an_organization_cannot_become_its_own_ancestor,
    a_move_may_not_exceed_the_maximum_depth,
    a_move_counts_the_deepest_descendant_that_is_not_inactive,
    the_maximum_depth_is_configurable,
    a_hierarchy_that_is_too_deep_can_be_renamed_and_moved_up,
    a_404_names_the_field_of_an_unknown_or_foreign_parent,
    a_404_names_the_field_of_an_invisible_parent,
    an_inactive_parent_is_a_conflict,
    moving_needs_organizations_update_on_the_node,
    moving_needs_organizations_update_on_the_new_parent,
    making_a_root_needs_the_permission_tenant_wide,
    a_patch_moves_and_changes_all_or_nothing,
    roles_in_the_new_parent_apply_after_a_move,
    roles_in_the_old_parent_do_not_apply_after_a_move,
    a_move_cannot_give_others_rights_that_the_caller_lacks,
    concurrent_moves_cannot_make_a_cycle,
    concurrent_moves_cannot_exceed_the_maximum_depth,
];

async fn patch(app: &TestApp, by: &Person, id: OrganizationId, body: &Value) -> Response {
    app.patch(&format!("/organizations/{id}")).by(by).json(body).send().await
}

async fn put(app: &TestApp, by: &Person, id: OrganizationId, below: OrganizationId) -> Response {
    patch(app, by, id, &json!({ "parentId": below })).await
}

async fn get(app: &TestApp, by: &Person, id: OrganizationId) -> Value {
    app.get(&format!("/organizations/{id}")).by(by).send().await.ok()
}

async fn a_move_answers_200_with_the_new_parent_and_depth(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, target] = app.chain(&ada, "level").await;
    let moved = app.organization(&ada, "moved").await;
    app.pass(TimeDelta::seconds(1));
    let created_at = get(&app, &ada, moved).await["createdAt"].clone();
    let expected = json!({
        "id": moved, "name": "Organization moved", "slug": "moved", "status": "ACTIVE", "parentId": target,
        "depth": 2, "createdAt": created_at, "updatedAt": app.now(),
    });
    assert_eq!(put(&app, &ada, moved, target).await.ok(), expected);
    assert_eq!(get(&app, &ada, moved).await, expected);
}

async fn all_descendants_move_with_an_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, moved, leaf] = app.chain(&ada, "level").await;
    let [_, target] = app.chain(&ada, "other").await;
    put(&app, &ada, moved, target).await.ok();
    assert_eq!(get(&app, &ada, leaf).await["depth"], 3);
    let tree = app.get(&format!("/organizations/{target}/tree")).by(&ada).send().await.ok();
    assert_eq!(tree["children"][0]["id"], json!(moved));
    assert_eq!(tree["children"][0]["children"][0]["id"], json!(leaf));
    let left = app.get(&format!("/organizations/{root}/children")).by(&ada).send().await.ok();
    assert_eq!(left, json!({ "data": [] }));
}

async fn a_null_parent_makes_a_root(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, moved, leaf] = app.chain(&ada, "level").await;
    let root = patch(&app, &ada, moved, &json!({ "parentId": null })).await.ok();
    assert_eq!((&root["parentId"], &root["depth"]), (&Value::Null, &json!(0)));
    assert_eq!(get(&app, &ada, leaf).await["depth"], 1);
    let roots = app.get("/organizations?root=true").by(&ada).send().await.ok();
    assert_eq!(roots["pagination"]["total"], 2);
}

async fn a_move_is_recorded_as_an_update_of_the_parent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, moved] = app.chain(&ada, "level").await;
    let target = app.organization(&ada, "target").await;
    put(&app, &ada, moved, target).await.ok();
    patch(&app, &ada, moved, &json!({ "parentId": null })).await.ok();
    let entries = app.history(&ada, &moved.to_string()).await;
    assert_eq!(entries.len(), 3);
    for (entry, before, after) in [(&entries[0], json!(target), Value::Null), (&entries[1], json!(root), json!(target))]
    {
        says(entry, &ada, "UPDATE", "ORGANIZATION", &moved.to_string());
        assert_eq!(entry["oldValue"], json!({ "parentId": before }));
        assert_eq!(entry["newValue"], json!({ "parentId": after }));
        assert_eq!(entry["metadata"], json!({ "changedFields": ["parentId"] }));
    }
}

async fn a_move_to_the_present_parent_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, child] = app.chain(&ada, "level").await;
    let before = get(&app, &ada, child).await;
    app.pass(TimeDelta::seconds(1));
    assert_eq!(app.unrecorded(&ada, put(&app, &ada, child, root)).await.ok(), before);
}

async fn an_organization_cannot_become_its_own_ancestor(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, middle, leaf] = app.chain(&ada, "level").await;
    for (id, below) in [(root, root), (root, middle), (root, leaf), (middle, leaf), (leaf, leaf)] {
        let refused = app.unrecorded(&ada, put(&app, &ada, id, below)).await;
        let detail = refused.detail("validation");
        assert!(detail.contains("circular reference") && detail.contains("parent"), "{detail}");
        assert_eq!(refused.fields("validation"), ["parentId"]);
    }
    assert_eq!(get(&app, &ada, leaf).await["depth"], 2);
}

async fn a_move_may_not_exceed_the_maximum_depth(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [.., fourth, fifth] = app.chain::<6>(&ada, "level").await;
    let single = app.organization(&ada, "single").await;
    let refused = app.unrecorded(&ada, put(&app, &ada, single, fifth)).await;
    let detail = refused.detail("validation");
    assert!(detail.contains("maximum hierarchy depth of 5 exceeded"), "{detail}");
    assert_eq!(get(&app, &ada, single).await["parentId"], Value::Null);
    assert_eq!(put(&app, &ada, single, fourth).await.ok()["depth"], 5);
}

async fn a_move_counts_the_deepest_descendant_that_is_not_inactive(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, _, second, third, _, _] = app.chain(&ada, "level").await;
    let [top, _, lowest] = app.chain(&ada, "moved").await;
    // A shallow branch beside the deep one must not hide it.
    app.below(&ada, top, "beside").await;
    put(&app, &ada, top, third).await.detail("validation");
    assert_eq!(put(&app, &ada, top, second).await.ok()["depth"], 3);
    assert_eq!(get(&app, &ada, lowest).await["depth"], 5);
    put(&app, &ada, top, third).await.problem("validation");
    let suspended = json!({ "status": "SUSPENDED" });
    patch(&app, &ada, lowest, &suspended).await.ok();
    put(&app, &ada, top, third).await.problem("validation");
    app.delete(&format!("/organizations/{lowest}")).by(&ada).send().await.no_content();
    assert_eq!(put(&app, &ada, top, third).await.ok()["depth"], 4);
}

async fn the_maximum_depth_is_configurable(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.with_settings(|settings| settings.max_organization_depth = 2).await;
    let [root, child] = app.chain(&ada, "level").await;
    let [top, _] = app.chain(&ada, "moved").await;
    let detail = put(&app, &ada, top, child).await.detail("validation");
    assert!(detail.contains("maximum hierarchy depth of 2 exceeded"), "{detail}");
    assert_eq!(put(&app, &ada, top, root).await.ok()["depth"], 1);
}

async fn a_hierarchy_that_is_too_deep_can_be_renamed_and_moved_up(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, _, _, deep] = app.chain(&ada, "level").await;
    let app = app.with_settings(|settings| settings.max_organization_depth = 1).await;
    assert_eq!(patch(&app, &ada, deep, &json!({ "name": "Deep" })).await.ok()["depth"], 3);
    assert_eq!(put(&app, &ada, deep, root).await.ok()["depth"], 1);
}

async fn a_404_names_the_field_of_an_unknown_or_foreign_parent(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let [own, foreign] = [app.organization(&ada, "own").await, app.organization(&eve, "foreign").await];
    for parent in [foreign.to_string(), ada.user.clone()] {
        let refused = app.unrecorded(&ada, patch(&app, &ada, own, &json!({ "parentId": parent }))).await;
        assert_eq!(refused.fields("not-found"), ["parentId"]);
    }
    assert_eq!(get(&app, &ada, own).await["parentId"], Value::Null);
}

async fn a_404_names_the_field_of_an_invisible_parent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [own, hidden] = [app.organization(&ada, "own").await, app.organization(&ada, "hidden").await];
    let child = app.below(&ada, own, "child").await;
    let bob = app.colleague_in(&ada, own, "bob@example.com", &["organizations:*"]).await;
    let refused = app.unrecorded(&ada, put(&app, &bob, child, hidden)).await;
    assert_eq!(refused.fields("not-found"), ["parentId"]);
    let unknown = patch(&app, &bob, child, &json!({ "parentId": ada.user })).await;
    assert_eq!(unknown.detail("not-found"), refused.detail("not-found"));
}

async fn an_inactive_parent_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [own, gone] = [app.organization(&ada, "own").await, app.organization(&ada, "gone").await];
    app.delete(&format!("/organizations/{gone}")).by(&ada).send().await.no_content();
    app.unrecorded(&ada, put(&app, &ada, own, gone)).await.problem("conflict");
    assert_eq!(get(&app, &ada, own).await["parentId"], Value::Null);
}

async fn moving_needs_organizations_update_on_the_node(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [target, hidden, seen] =
        [app.organization(&ada, "a").await, app.organization(&ada, "b").await, app.organization(&ada, "c").await];
    let bob = app.colleague_in(&ada, target, "bob@example.com", &["organizations:*"]).await;
    app.permit_in(&bob, seen, &["organizations:read"]).await;
    put(&app, &bob, hidden, target).await.problem("not-found");
    put(&app, &bob, seen, target).await.lacks("organizations:update");
    app.permit_in(&bob, seen, &["organizations:*"]).await;
    assert_eq!(put(&app, &bob, seen, target).await.ok()["parentId"], json!(target));
}

async fn moving_needs_organizations_update_on_the_new_parent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [moved, seen] = [app.organization(&ada, "a").await, app.organization(&ada, "b").await];
    let bob = app.colleague_in(&ada, moved, "bob@example.com", &["organizations:*"]).await;
    app.permit_in(&bob, seen, &["organizations:read", "organizations:create"]).await;
    put(&app, &bob, moved, seen).await.lacks("organizations:update");
    app.permit_in(&bob, seen, &["organizations:*"]).await;
    assert_eq!(put(&app, &bob, moved, seen).await.ok()["parentId"], json!(seen));
}

async fn making_a_root_needs_the_permission_tenant_wide(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, child] = app.chain(&ada, "level").await;
    let bob = app.colleague_in(&ada, root, "bob@example.com", &["*"]).await;
    let up = json!({ "parentId": null });
    app.unrecorded(&ada, patch(&app, &bob, child, &up)).await.lacks("organizations:update");
    let made = app.post("/organizations").by(&bob).json(&json!({ "name": "Root" })).send().await;
    made.lacks("organizations:create");
    app.permit(&bob, &["organizations:update"]).await;
    assert_eq!(patch(&app, &bob, child, &up).await.ok()["depth"], 0);
}

async fn a_patch_moves_and_changes_all_or_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, child] = app.chain(&ada, "level").await;
    let target = app.organization(&ada, "target").await;
    let wrong = json!({ "name": "Other", "slug": "target", "parentId": null });
    app.unrecorded(&ada, patch(&app, &ada, child, &wrong)).await.problem("conflict");
    assert_eq!(get(&app, &ada, child).await["parentId"], json!(root));
    let right = json!({ "name": "Other", "slug": "other", "status": "SUSPENDED", "parentId": target });
    let moved = patch(&app, &ada, child, &right).await.ok();
    let found = [&moved["name"], &moved["slug"], &moved["status"], &moved["parentId"]];
    assert_eq!(found, [&json!("Other"), &json!("other"), &json!("SUSPENDED"), &json!(target)]);
    assert_eq!(app.audit(&ada, &[("action", "UPDATE")]).await.len(), 1);
}

async fn roles_in_the_new_parent_apply_after_a_move(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [target, moved] = [app.organization(&ada, "target").await, app.organization(&ada, "moved").await];
    let leaf = app.below(&ada, moved, "leaf").await;
    let bob = app.colleague_in(&ada, target, "bob@example.com", &["organizations:read"]).await;
    app.get(&format!("/organizations/{leaf}")).by(&bob).send().await.problem("not-found");
    put(&app, &ada, moved, target).await.ok();
    assert_eq!(get(&app, &bob, leaf).await["depth"], 2);
}

async fn roles_in_the_old_parent_do_not_apply_after_a_move(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, moved, leaf] = app.chain(&ada, "level").await;
    let bob = app.colleague_in(&ada, root, "bob@example.com", &["organizations:read"]).await;
    let carl = app.colleague_in(&ada, moved, "carl@example.com", &["organizations:read"]).await;
    patch(&app, &ada, moved, &json!({ "parentId": null })).await.ok();
    app.get(&format!("/organizations/{leaf}")).by(&bob).send().await.problem("not-found");
    assert_eq!(get(&app, &carl, leaf).await["depth"], 1);
}

async fn a_move_cannot_give_others_rights_that_the_caller_lacks(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [target, moved] = [app.organization(&ada, "target").await, app.organization(&ada, "moved").await];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["organizations:update"]).await;
    app.colleague_in(&ada, target, "carl@example.com", &["users:delete"]).await;
    app.unrecorded(&ada, put(&app, &bob, moved, target)).await.escalates();
    assert_eq!(get(&app, &ada, moved).await["parentId"], Value::Null);
    app.permit_in(&bob, moved, &["users:*"]).await;
    put(&app, &bob, moved, target).await.ok();
}

async fn concurrent_moves_cannot_make_a_cycle(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for round in 0..5 {
        let slugs = ["x", "y", "z"].map(|name| format!("{name}-{round}"));
        let mut ring = Vec::new();
        for slug in &slugs {
            ring.push(app.organization(&ada, slug).await);
        }
        let moves =
            [put(&app, &ada, ring[0], ring[1]), put(&app, &ada, ring[1], ring[2]), put(&app, &ada, ring[2], ring[0])];
        let answers = join_all(moves).await;
        let refused: Vec<&Response> = answers.iter().filter(|answer| answer.status() != 200).collect();
        assert_eq!(refused.len(), 1);
        assert!(refused[0].detail("validation").contains("circular reference"));
        let mut depths = Vec::new();
        for id in ring {
            depths.push(get(&app, &ada, id).await["depth"].as_u64().unwrap());
        }
        depths.sort_unstable();
        assert_eq!(depths, [0, 1, 2]);
    }
}

async fn concurrent_moves_cannot_exceed_the_maximum_depth(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.with_settings(|settings| settings.max_organization_depth = 3).await;
    for round in 0..5 {
        let [upper, lower] = app.chain(&ada, &format!("x-{round}")).await;
        let [middle, between] = app.chain(&ada, &format!("y-{round}")).await;
        let [top, last] = app.chain(&ada, &format!("z-{round}")).await;
        // Each move alone makes a hierarchy of depth 3. Both together make one of depth 5.
        let answers = join_all([put(&app, &ada, middle, lower), put(&app, &ada, top, between)]).await;
        let mut statuses: Vec<u16> = answers.iter().map(Response::status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
        let tree = app.get(&format!("/organizations/{upper}/tree")).by(&ada).send().await.ok();
        assert_eq!(tree["depth"], 0);
        assert!(get(&app, &ada, last).await["depth"].as_u64().unwrap() <= 3);
        let shown = each(&app.get(&format!("/organizations/{last}/ancestors")).by(&ada).send().await.ok(), "id");
        assert!(shown.contains(&top.to_string()));
    }
}
