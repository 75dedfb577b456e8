//! `GET /organizations/:id/tree`, `/children` and `/ancestors` (`docs/http-api.md#trees-of-organizations`).

use chrono::TimeDelta;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::Person;
use crate::request::{Response, each};

in_memory![
    a_tree_nests_id_name_slug_status_depth_and_children,
    a_subtree_counts_depth_from_the_root_of_the_hierarchy,
    a_tree_shows_every_branch_newest_first,
    a_tree_may_be_as_deep_as_the_maximum,
    children_shows_direct_children_with_their_fields,
    children_come_newest_first,
    ancestors_come_root_first_without_the_node_itself,
    tree_and_children_omit_inactive_organizations,
    suspended_organizations_are_shown,
    an_inactive_organization_has_no_tree,
    an_unknown_or_foreign_organization_is_not_found,
    tree_children_and_ancestors_need_organizations_read_on_the_node,
    an_organization_outside_the_callers_coverage_is_not_found,
    ancestors_show_only_what_the_caller_may_read,
    a_role_in_an_inner_organization_shows_the_tree_from_there,
];

async fn show(app: &TestApp, by: &Person, id: impl ToString, what: &str) -> Response {
    app.get(&format!("/organizations/{}/{what}", id.to_string())).by(by).send().await
}

/// A node as a tree shows it, with these children.
fn node(id: OrganizationId, slug: &str, depth: u32, children: &[Value]) -> Value {
    let name = format!("Organization {slug}");
    json!({ "id": id, "name": name, "slug": slug, "status": "ACTIVE", "depth": depth, "children": children })
}

async fn a_tree_nests_id_name_slug_status_depth_and_children(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, middle, leaf] = app.chain(&ada, "level").await;
    app.organization(&ada, "elsewhere").await;
    let leaf = node(leaf, "level-2", 2, &[]);
    let expected = node(root, "level-0", 0, &[node(middle, "level-1", 1, &[leaf])]);
    assert_eq!(show(&app, &ada, root, "tree").await.ok(), expected);
}

async fn a_subtree_counts_depth_from_the_root_of_the_hierarchy(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, middle, leaf] = app.chain(&ada, "level").await;
    let expected = node(middle, "level-1", 1, &[node(leaf, "level-2", 2, &[])]);
    assert_eq!(show(&app, &ada, middle, "tree").await.ok(), expected);
    assert_eq!(show(&app, &ada, leaf, "tree").await.ok(), node(leaf, "level-2", 2, &[]));
}

async fn a_tree_shows_every_branch_newest_first(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let root = app.organization(&ada, "root").await;
    let mut children = Vec::new();
    for number in 0..3 {
        app.pass(TimeDelta::seconds(1));
        let slug = format!("branch-{number}");
        let branch = app.below(&ada, root, &slug).await;
        let twig = app.below(&ada, branch, &format!("twig-{number}")).await;
        let twig = node(twig, &format!("twig-{number}"), 2, &[]);
        children.insert(0, node(branch, &slug, 1, &[twig]));
    }
    assert_eq!(show(&app, &ada, root, "tree").await.ok(), node(root, "root", 0, &children));
}

async fn a_tree_may_be_as_deep_as_the_maximum(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let app = app.with_settings(|settings| settings.max_organization_depth = 60).await;
    let chain = app.chain::<61>(&ada, "level").await;
    let tree = show(&app, &ada, chain[0], "tree").await.ok();
    let mut at = &tree;
    for (depth, id) in chain.iter().enumerate() {
        assert_eq!((&at["id"], &at["depth"]), (&json!(id), &json!(depth)));
        at = &at["children"][0];
    }
    assert!(at.is_null());
    let above = show(&app, &ada, chain[60], "ancestors").await.ok();
    assert_eq!(each(&above, "id"), chain[..60].iter().map(ToString::to_string).collect::<Vec<_>>());
}

async fn children_shows_direct_children_with_their_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, middle, leaf] = app.chain(&ada, "level").await;
    let expected = json!({ "data": [{
        "id": middle, "name": "Organization level-1", "slug": "level-1", "status": "ACTIVE", "parentId": root,
    }] });
    assert_eq!(show(&app, &ada, root, "children").await.ok(), expected);
    assert_eq!(show(&app, &ada, leaf, "children").await.ok(), json!({ "data": [] }));
}

async fn children_come_newest_first(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let root = app.organization(&ada, "root").await;
    // More than the default page size, because this list has no pages.
    let mut expected = Vec::new();
    for number in 0..21 {
        app.pass(TimeDelta::milliseconds(1));
        expected.insert(0, app.below(&ada, root, &format!("branch-{number}")).await.to_string());
    }
    assert_eq!(each(&show(&app, &ada, root, "children").await.ok(), "id"), expected);
}

async fn ancestors_come_root_first_without_the_node_itself(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, middle, leaf] = app.chain(&ada, "level").await;
    let mut expected = Vec::new();
    for id in [root, middle] {
        expected.push(app.get(&format!("/organizations/{id}")).by(&ada).send().await.ok());
    }
    assert_eq!(show(&app, &ada, leaf, "ancestors").await.ok(), json!({ "data": expected }));
    assert_eq!((&expected[0]["depth"], &expected[1]["depth"]), (&json!(0), &json!(1)));
    assert_eq!(show(&app, &ada, root, "ancestors").await.ok(), json!({ "data": [] }));
}

async fn tree_and_children_omit_inactive_organizations(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, kept] = app.chain(&ada, "level").await;
    let gone = app.below(&ada, root, "gone").await;
    app.delete(&format!("/organizations/{gone}")).by(&ada).send().await.no_content();
    let expected = node(root, "level-0", 0, &[node(kept, "level-1", 1, &[])]);
    assert_eq!(show(&app, &ada, root, "tree").await.ok(), expected);
    assert_eq!(each(&show(&app, &ada, root, "children").await.ok(), "id"), [kept.to_string()]);
    assert_eq!(show(&app, &ada, gone, "children").await.ok(), json!({ "data": [] }));
}

async fn suspended_organizations_are_shown(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, middle, _] = app.chain(&ada, "level").await;
    let body = json!({ "status": "SUSPENDED" });
    app.patch(&format!("/organizations/{middle}")).by(&ada).json(&body).send().await.ok();
    let tree = show(&app, &ada, root, "tree").await.ok();
    assert_eq!(tree["children"][0]["status"], "SUSPENDED");
    assert_eq!(tree["children"][0]["children"][0]["status"], "ACTIVE");
    assert_eq!(show(&app, &ada, root, "children").await.ok()["data"][0]["status"], "SUSPENDED");
}

async fn an_inactive_organization_has_no_tree(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, below] = app.chain(&ada, "level").await;
    app.delete(&format!("/organizations/{below}")).by(&ada).send().await.no_content();
    show(&app, &ada, below, "tree").await.problem("not-found");
}

async fn an_unknown_or_foreign_organization_is_not_found(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let foreign = app.organization(&eve, "foreign").await;
    for what in ["tree", "children", "ancestors"] {
        show(&app, &ada, foreign, what).await.problem("not-found");
        show(&app, &ada, &ada.user, what).await.problem("not-found");
        assert_eq!(show(&app, &ada, "17", what).await.invalid_fields(), ["id"]);
    }
}

async fn tree_children_and_ancestors_need_organizations_read_on_the_node(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, middle, leaf] = app.chain(&ada, "level").await;
    let bob = app.colleague_in(&ada, middle, "bob@example.com", &["users:read"]).await;
    for what in ["tree", "children", "ancestors"] {
        show(&app, &bob, middle, what).await.lacks("organizations:read");
        show(&app, &bob, leaf, what).await.lacks("organizations:read");
    }
    app.permit_in(&bob, leaf, &["organizations:read"]).await;
    for what in ["tree", "children", "ancestors"] {
        show(&app, &bob, middle, what).await.lacks("organizations:read");
        show(&app, &bob, leaf, what).await.ok();
    }
}

async fn an_organization_outside_the_callers_coverage_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, middle] = app.chain(&ada, "level").await;
    let sibling = app.below(&ada, root, "sibling").await;
    let bob = app.colleague_in(&ada, middle, "bob@example.com", &["organizations:*"]).await;
    for hidden in [root, sibling] {
        for what in ["tree", "children", "ancestors"] {
            show(&app, &bob, hidden, what).await.problem("not-found");
        }
    }
}

async fn ancestors_show_only_what_the_caller_may_read(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [root, upper, lower, leaf] = app.chain(&ada, "level").await;
    let bob = app.colleague_in(&ada, upper, "bob@example.com", &["organizations:read"]).await;
    app.permit_in(&bob, root, &["users:read"]).await;
    let above = show(&app, &bob, leaf, "ancestors").await.ok();
    assert_eq!(each(&above, "id"), [upper, lower].map(|id| id.to_string()));
    assert_eq!((&above["data"][0]["depth"], &above["data"][0]["parentId"]), (&json!(1), &json!(root)));
    assert_eq!(show(&app, &bob, upper, "ancestors").await.ok(), json!({ "data": [] }));
}

async fn a_role_in_an_inner_organization_shows_the_tree_from_there(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, middle, leaf] = app.chain(&ada, "level").await;
    let bob = app.colleague_in(&ada, middle, "bob@example.com", &["organizations:read"]).await;
    let expected = node(middle, "level-1", 1, &[node(leaf, "level-2", 2, &[])]);
    assert_eq!(show(&app, &bob, middle, "tree").await.ok(), expected);
    assert_eq!(each(&show(&app, &bob, middle, "children").await.ok(), "id"), [leaf.to_string()]);
}
