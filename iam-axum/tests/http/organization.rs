//! `/organizations` and `/organizations/:id`: creating, reading, changing and deleting
//! (`docs/http-api.md#organizations`). Lists, trees and moves have their own files.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_core::OrganizationId;
use serde_json::{Value, json};

use crate::app::TestApp;
use crate::people::{Person, says, with};
use crate::request::{Response, each};

in_memory![
    create_answers_201_with_the_full_organization,
    a_child_is_one_level_deeper_than_its_parent,
    a_slug_is_made_from_the_name,
    a_generated_slug_that_is_taken_gets_a_suffix,
    a_given_slug_that_is_taken_is_a_conflict,
    concurrent_creations_never_get_the_same_slug,
    create_names_every_invalid_field,
    names_are_stored_trimmed,
    a_404_names_the_field_of_an_unknown_or_foreign_parent,
    an_inactive_parent_is_a_conflict,
    no_organization_is_created_deeper_than_the_maximum,
    the_maximum_depth_is_configurable,
    get_shows_the_organization,
    an_unknown_organization_is_not_found,
    patch_changes_only_the_given_fields,
    patch_takes_null_as_absent_except_for_the_parent,
    a_patch_that_changes_nothing_writes_and_records_nothing,
    patch_names_every_invalid_field,
    patch_to_a_taken_slug_is_a_conflict,
    delete_answers_204_and_keeps_the_record_as_inactive,
    delete_revokes_only_the_assignments_in_the_organization,
    delete_frees_the_slug,
    a_second_delete_is_204_and_records_nothing,
    an_organization_with_children_cannot_be_deleted,
    inactive_children_do_not_prevent_a_delete,
    patch_to_inactive_has_the_effects_of_delete_and_records_an_update,
    patch_to_inactive_needs_organizations_delete_too,
    only_tenant_wide_readers_see_an_inactive_organization,
    no_role_can_be_assigned_in_an_inactive_organization,
    patch_restores_an_organization_without_its_assignments,
    restoring_below_an_inactive_parent_is_a_conflict,
    restoring_with_a_taken_slug_is_a_conflict,
    restoring_deeper_than_the_maximum_is_a_conflict,
    changes_are_recorded_with_their_values,
    a_refused_change_writes_and_records_nothing,
    an_organization_with_too_many_assignments_is_not_deleted,
];

async fn create(app: &TestApp, by: &Person, body: &Value) -> Response {
    app.post("/organizations").by(by).json(body).send().await
}

async fn patch(app: &TestApp, by: &Person, id: impl ToString, body: &Value) -> Response {
    app.patch(&format!("/organizations/{}", id.to_string())).by(by).json(body).send().await
}

async fn delete(app: &TestApp, by: &Person, id: impl ToString) -> Response {
    app.delete(&format!("/organizations/{}", id.to_string())).by(by).send().await
}

async fn get(app: &TestApp, by: &Person, id: impl ToString) -> Response {
    app.get(&format!("/organizations/{}", id.to_string())).by(by).send().await
}

async fn create_answers_201_with_the_full_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let created = create(&app, &ada, &json!({ "name": "Northern branch", "slug": "north" })).await.created();
    let expected = json!({
        "id": created["id"], "name": "Northern branch", "slug": "north", "status": "ACTIVE", "parentId": null,
        "depth": 0, "createdAt": app.now(), "updatedAt": app.now(),
    });
    assert_eq!(created, expected);
}

async fn a_child_is_one_level_deeper_than_its_parent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let mut parent = json!(null);
    for depth in 0..=5 {
        let created = create(&app, &ada, &json!({ "name": "Branch", "parentId": parent })).await.created();
        assert_eq!((&created["parentId"], &created["depth"]), (&parent, &json!(depth)));
        parent = created["id"].clone();
    }
}

async fn a_slug_is_made_from_the_name(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (name, slug) in [
        ("Northern Branch", "northern-branch"),
        ("  A & B, Inc. (2) ", "a-b-inc-2"),
        ("Größe", "gr-e"),
        ("日本", "organization"),
        (&"x".repeat(120), &"x".repeat(63)),
    ] {
        let created = create(&app, &ada, &json!({ "name": name, "slug": null })).await.created();
        assert_eq!(created["slug"], slug, "{name}");
    }
}

async fn a_generated_slug_that_is_taken_gets_a_suffix(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let name = "x".repeat(120);
    for name in ["North", &name] {
        let [first, second] =
            [create(&app, &ada, &json!({ "name": name })).await, create(&app, &ada, &json!({ "name": name })).await]
                .map(|answer| answer.created()["slug"].as_str().unwrap().to_owned());
        assert_ne!(first, second);
        let (start, suffix) = second.rsplit_once('-').unwrap();
        assert!(first.starts_with(start) && !suffix.is_empty() && second.len() <= 63, "{first} {second}");
    }
}

async fn a_given_slug_that_is_taken_is_a_conflict(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let body = json!({ "name": "North", "slug": "north" });
    let north = create(&app, &ada, &body).await.created();
    app.unrecorded(&ada, create(&app, &ada, &body)).await.problem("conflict");
    let below = with(body.clone(), &json!({ "parentId": north["id"] }));
    create(&app, &ada, &below).await.problem("conflict");
    create(&app, &eve, &body).await.created();
}

async fn concurrent_creations_never_get_the_same_slug(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [given, made] = [json!({ "name": "North", "slug": "north" }), json!({ "name": "South" })];
    let answers = join_all((0..5).map(|_| create(&app, &ada, &given))).await;
    let refused: Vec<&Response> = answers.iter().filter(|answer| answer.status() != 201).collect();
    assert_eq!(refused.len(), 4);
    refused.iter().for_each(|answer| drop(answer.problem("conflict")));
    let answers = join_all((0..5).map(|_| create(&app, &ada, &made))).await;
    let slugs: BTreeSet<String> = answers.iter().map(|answer| answer.created()["slug"].to_string()).collect();
    assert_eq!(slugs.len(), 5, "{slugs:?}");
}

async fn create_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    assert_eq!(create(&app, &ada, &json!({})).await.invalid_fields(), ["name"]);
    for name in ["", "  ", "a\u{7}", &"x".repeat(121)] {
        assert_eq!(create(&app, &ada, &json!({ "name": name })).await.invalid_fields(), ["name"], "{name}");
    }
    for slug in ["", "North", "-n", "n-", "n--n", "n_n", "ü", "n n", &"n".repeat(64)] {
        let body = json!({ "name": "North", "slug": slug });
        assert_eq!(create(&app, &ada, &body).await.invalid_fields(), ["slug"], "{slug}");
    }
    let wrong = json!({ "name": " ", "slug": "A" });
    assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), ["name", "slug"]);
    for (field, value) in [
        ("parentId", json!("17")),
        ("parentId", json!(17)),
        ("status", json!("ACTIVE")),
        ("depth", json!(0)),
        ("parent_id", Value::Null),
    ] {
        let body = json!({ "name": "North", field: value });
        assert_eq!(create(&app, &ada, &body).await.invalid_fields(), [field], "{value}");
    }
}

async fn names_are_stored_trimmed(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let created = create(&app, &ada, &json!({ "name": "  Northern  branch\t" })).await.created();
    assert_eq!(created["name"], "Northern  branch");
    let id = created["id"].as_str().unwrap();
    assert_eq!(patch(&app, &ada, id, &json!({ "name": " South " })).await.ok()["name"], "South");
    let longest = "ü".repeat(120);
    assert_eq!(patch(&app, &ada, id, &json!({ "name": longest })).await.ok()["name"], longest);
}

async fn a_404_names_the_field_of_an_unknown_or_foreign_parent(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let foreign = app.organization(&eve, "foreign").await.to_string();
    for parent in [&foreign, &ada.user] {
        let refused = create(&app, &ada, &json!({ "name": "North", "parentId": parent })).await;
        assert_eq!(refused.fields("not-found"), ["parentId"]);
    }
    assert_eq!(app.get("/organizations").by(&ada).send().await.ok()["data"], json!([]));
}

async fn an_inactive_parent_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    delete(&app, &ada, north).await.no_content();
    create(&app, &ada, &json!({ "name": "Below", "parentId": north })).await.problem("conflict");
    let south = app.organization(&ada, "south").await;
    patch(&app, &ada, south, &json!({ "status": "SUSPENDED" })).await.ok();
    create(&app, &ada, &json!({ "name": "Below", "parentId": south })).await.created();
}

async fn no_organization_is_created_deeper_than_the_maximum(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [.., deepest] = app.chain::<6>(&ada, "level").await;
    assert_eq!(get(&app, &ada, deepest).await.ok()["depth"], 5);
    let below = json!({ "name": "Below", "parentId": deepest });
    let detail = app.unrecorded(&ada, create(&app, &ada, &below)).await.detail("validation");
    assert!(detail.contains("maximum hierarchy depth of 5 exceeded"), "{detail}");
}

async fn the_maximum_depth_is_configurable(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for max in [0, 1, 7] {
        let app = app.with_settings(|settings| settings.max_organization_depth = max).await;
        let mut parent = Value::Null;
        for depth in 0..=max {
            let created = create(&app, &ada, &json!({ "name": "Branch", "parentId": parent })).await.created();
            assert_eq!(created["depth"], depth);
            parent = created["id"].clone();
        }
        let detail = create(&app, &ada, &json!({ "name": "Branch", "parentId": parent })).await.detail("validation");
        assert!(detail.contains(&format!("maximum hierarchy depth of {max} exceeded")), "{detail}");
    }
}

async fn get_shows_the_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let created = create(&app, &ada, &json!({ "name": "Below", "parentId": north })).await.created();
    assert_eq!(get(&app, &ada, created["id"].as_str().unwrap()).await.ok(), created);
}

async fn an_unknown_organization_is_not_found(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for unknown in [&ada.user, &ada.tenant] {
        get(&app, &ada, unknown).await.problem("not-found");
        patch(&app, &ada, unknown, &json!({ "name": "North" })).await.problem("not-found");
        delete(&app, &ada, unknown).await.problem("not-found");
    }
    assert_eq!(get(&app, &ada, "north").await.invalid_fields(), ["id"]);
    assert_eq!(patch(&app, &ada, "17", &json!({})).await.invalid_fields(), ["id"]);
    assert_eq!(delete(&app, &ada, "17").await.invalid_fields(), ["id"]);
}

async fn patch_changes_only_the_given_fields(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let below = app.below(&ada, north, "below").await;
    let mut expected = get(&app, &ada, below).await.ok();
    for change in [
        json!({ "name": "Beneath" }),
        json!({ "slug": "beneath" }),
        json!({ "status": "SUSPENDED" }),
        json!({ "name": "Below", "slug": "below", "status": "ACTIVE" }),
    ] {
        app.pass(TimeDelta::seconds(1));
        expected = with(with(expected, &change), &json!({ "updatedAt": app.now() }));
        assert_eq!(patch(&app, &ada, below, &change).await.ok(), expected);
        assert_eq!(get(&app, &ada, below).await.ok(), expected);
    }
    assert_eq!((&expected["parentId"], &expected["depth"]), (&json!(north), &json!(1)));
}

async fn patch_takes_null_as_absent_except_for_the_parent(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let below = app.below(&ada, north, "below").await;
    changes_nothing(&app, &ada, below, &json!({ "name": null, "slug": null, "status": null })).await;
    let patched = patch(&app, &ada, below, &json!({ "name": null, "parentId": null })).await.ok();
    assert_eq!((&patched["name"], &patched["parentId"]), (&json!("Organization below"), &Value::Null));
}

async fn a_patch_that_changes_nothing_writes_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let below = app.below(&ada, north, "below").await;
    let same = json!({ "name": " Organization below", "slug": "below", "status": "ACTIVE", "parentId": north });
    for body in [json!({}), same] {
        changes_nothing(&app, &ada, below, &body).await;
    }
    changes_nothing(&app, &ada, north, &json!({ "parentId": null })).await;
}

async fn changes_nothing(app: &TestApp, by: &Person, id: OrganizationId, body: &Value) {
    let before = get(app, by, id).await.ok();
    app.pass(TimeDelta::seconds(1));
    assert_eq!(app.unrecorded(by, patch(app, by, id, body)).await.ok(), before);
    assert_eq!(get(app, by, id).await.ok(), before);
}

async fn patch_names_every_invalid_field(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let wrong = json!({ "name": " ", "slug": "North" });
    assert_eq!(patch(&app, &ada, north, &wrong).await.invalid_fields(), ["name", "slug"]);
    for (field, value) in [
        ("status", json!("DELETED")),
        ("status", json!("active")),
        ("parentId", json!("null")),
        ("parentId", json!(0)),
        ("id", Value::Null),
        ("depth", json!(1)),
        ("tenantId", json!(ada.tenant)),
    ] {
        assert_eq!(patch(&app, &ada, north, &json!({ field: value })).await.invalid_fields(), [field], "{value}");
    }
}

async fn patch_to_a_taken_slug_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [north, _south] = [app.organization(&ada, "north").await, app.organization(&ada, "south").await];
    let before = get(&app, &ada, north).await.ok();
    let body = json!({ "slug": "south", "name": "Other" });
    app.unrecorded(&ada, patch(&app, &ada, north, &body)).await.problem("conflict");
    assert_eq!(get(&app, &ada, north).await.ok(), before);
}

async fn delete_answers_204_and_keeps_the_record_as_inactive(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, below] = app.chain(&ada, "level").await;
    let before = get(&app, &ada, below).await.ok();
    app.pass(TimeDelta::seconds(1));
    delete(&app, &ada, below).await.no_content();
    let expected = with(before, &json!({ "status": "INACTIVE", "updatedAt": app.now() }));
    assert_eq!(get(&app, &ada, below).await.ok(), expected);
}

async fn delete_revokes_only_the_assignments_in_the_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let ended = app.assign(&ada, &bob, "MEMBER", Some(below), None).await;
    let kept =
        [app.assign(&ada, &bob, "MEMBER", Some(above), None).await, app.assign(&ada, &bob, "MEMBER", None, None).await];
    delete(&app, &ada, below).await.no_content();
    let mut held = each(&app.get(&format!("/users/{bob}/roles")).by(&ada).send().await.ok(), "id");
    held.sort_unstable();
    let mut expected = kept.to_vec();
    expected.sort_unstable();
    assert_eq!(held, expected);
    let revoked = &app.history(&ada, &ended).await[0];
    says(revoked, &ada, "ROLE_REVOKED", "ROLE_ASSIGNMENT", &ended);
    let expected = json!({
        "targetUserId": bob, "roleId": app.role_id(&ada, "MEMBER").await, "roleName": "MEMBER",
        "organizationId": below, "reason": "ORGANIZATION_DELETED",
    });
    assert_eq!(revoked["metadata"], expected);
}

async fn delete_frees_the_slug(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for _ in 0..3 {
        let north = app.organization(&ada, "north").await;
        delete(&app, &ada, north).await.no_content();
        assert_eq!(get(&app, &ada, north).await.ok()["slug"], "north");
    }
    let made = create(&app, &ada, &json!({ "name": "North" })).await.created();
    assert_eq!(made["slug"], "north");
}

async fn a_second_delete_is_204_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    delete(&app, &ada, north).await.no_content();
    let before = get(&app, &ada, north).await.ok();
    app.pass(TimeDelta::seconds(1));
    app.unrecorded(&ada, delete(&app, &ada, north)).await.no_content();
    assert_eq!(get(&app, &ada, north).await.ok(), before);
}

async fn an_organization_with_children_cannot_be_deleted(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    for status in ["ACTIVE", "SUSPENDED"] {
        patch(&app, &ada, below, &json!({ "status": status })).await.ok();
        app.unrecorded(&ada, delete(&app, &ada, above)).await.problem("conflict");
        let gone = json!({ "status": "INACTIVE" });
        app.unrecorded(&ada, patch(&app, &ada, above, &gone)).await.problem("conflict");
    }
    assert_eq!(get(&app, &ada, above).await.ok()["status"], "ACTIVE");
}

async fn inactive_children_do_not_prevent_a_delete(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    delete(&app, &ada, below).await.no_content();
    delete(&app, &ada, above).await.no_content();
    let [above, below] = app.chain(&ada, "other").await;
    delete(&app, &ada, below).await.no_content();
    assert_eq!(patch(&app, &ada, above, &json!({ "status": "INACTIVE" })).await.ok()["status"], "INACTIVE");
}

async fn patch_to_inactive_has_the_effects_of_delete_and_records_an_update(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let held = app.assign(&ada, &bob, "MEMBER", Some(north), None).await;
    let patched = patch(&app, &ada, north, &json!({ "status": "INACTIVE", "name": "Gone" })).await.ok();
    assert_eq!((&patched["status"], &patched["name"]), (&json!("INACTIVE"), &json!("Gone")));
    app.organization(&ada, "north").await;
    assert_eq!(app.get(&format!("/users/{bob}/roles")).by(&ada).send().await.ok()["data"], json!([]));
    let updated = &app.history(&ada, &north.to_string()).await[0];
    says(updated, &ada, "UPDATE", "ORGANIZATION", &north.to_string());
    assert_eq!(updated["oldValue"], json!({ "name": "Organization north", "status": "ACTIVE" }));
    assert_eq!(updated["newValue"], json!({ "name": "Gone", "status": "INACTIVE" }));
    let revoked = &app.history(&ada, &held).await[0];
    says(revoked, &ada, "ROLE_REVOKED", "ROLE_ASSIGNMENT", &held);
    assert_eq!(revoked["metadata"]["reason"], "ORGANIZATION_DELETED");
    assert!(app.audit(&ada, &[("action", "DELETE")]).await.is_empty());
}

async fn patch_to_inactive_needs_organizations_delete_too(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["organizations:update"]).await;
    let body = json!({ "status": "INACTIVE" });
    app.unrecorded(&ada, patch(&app, &bob, north, &body)).await.lacks("organizations:delete");
    patch(&app, &bob, north, &json!({ "status": "SUSPENDED" })).await.ok();
    app.permit_in(&bob, north, &["organizations:delete"]).await;
    // A role in a suspended organization grants nothing.
    patch(&app, &bob, north, &body).await.lacks("organizations:delete");
    patch(&app, &ada, north, &json!({ "status": "ACTIVE" })).await.ok();
    patch(&app, &bob, north, &body).await.ok();
}

async fn only_tenant_wide_readers_see_an_inactive_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    let reader = app.colleague_who_may(&ada, "reader@example.com", &["organizations:read"]).await;
    let other = app.colleague_who_may(&ada, "other@example.com", &["users:read"]).await;
    let manager = app.colleague_in(&ada, above, "manager@example.com", &["organizations:*"]).await;
    get(&app, &manager, below).await.ok();
    delete(&app, &manager, below).await.no_content();
    assert_eq!(get(&app, &reader, below).await.ok()["status"], "INACTIVE");
    get(&app, &other, below).await.lacks("organizations:read");
    get(&app, &manager, below).await.problem("not-found");
}

async fn no_role_can_be_assigned_in_an_inactive_organization(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    delete(&app, &ada, north).await.no_content();
    let body = json!({
        "userId": ada.user, "roleId": app.role_id(&ada, "MEMBER").await, "organizationId": north,
    });
    app.post("/role-assignments").by(&ada).json(&body).send().await.problem("conflict");
}

async fn patch_restores_an_organization_without_its_assignments(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.assign(&ada, &bob, "MEMBER", Some(below), None).await;
    let before = get(&app, &ada, below).await.ok();
    for status in ["ACTIVE", "SUSPENDED"] {
        delete(&app, &ada, below).await.no_content();
        let restored = patch(&app, &ada, below, &json!({ "status": status })).await.ok();
        let expected = with(before.clone(), &json!({ "status": status, "updatedAt": restored["updatedAt"] }));
        assert_eq!(restored, expected);
        let children = app.get(&format!("/organizations/{above}/children")).by(&ada).send().await.ok();
        assert_eq!(each(&children, "id"), [below.to_string()]);
    }
    assert_eq!(app.get(&format!("/users/{bob}/roles")).by(&ada).send().await.ok()["data"], json!([]));
}

async fn restoring_below_an_inactive_parent_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [above, below] = app.chain(&ada, "level").await;
    delete(&app, &ada, below).await.no_content();
    delete(&app, &ada, above).await.no_content();
    let back = json!({ "status": "ACTIVE" });
    app.unrecorded(&ada, patch(&app, &ada, below, &back)).await.problem("conflict");
    assert_eq!(get(&app, &ada, below).await.ok()["status"], "INACTIVE");
    let as_a_root = patch(&app, &ada, below, &with(back.clone(), &json!({ "parentId": null }))).await.ok();
    assert_eq!((&as_a_root["status"], &as_a_root["depth"]), (&json!("ACTIVE"), &json!(0)));
    patch(&app, &ada, above, &back).await.ok();
}

async fn restoring_with_a_taken_slug_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    delete(&app, &ada, north).await.no_content();
    app.organization(&ada, "north").await;
    let back = json!({ "status": "ACTIVE" });
    app.unrecorded(&ada, patch(&app, &ada, north, &back)).await.problem("conflict");
    assert_eq!(get(&app, &ada, north).await.ok()["status"], "INACTIVE");
    let renamed = patch(&app, &ada, north, &with(back, &json!({ "slug": "old-north" }))).await.ok();
    assert_eq!((&renamed["status"], &renamed["slug"]), (&json!("ACTIVE"), &json!("old-north")));
}

async fn restoring_deeper_than_the_maximum_is_a_conflict(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let [_, parent, deepest] = app.chain(&ada, "level").await;
    delete(&app, &ada, deepest).await.no_content();
    let back = json!({ "status": "ACTIVE" });
    let shallow = app.with_settings(|settings| settings.max_organization_depth = 1).await;
    app.unrecorded(&ada, patch(&shallow, &ada, deepest, &back)).await.problem("conflict");
    // The parent moves down while its child is INACTIVE: a move checks only the depth of organizations that are not
    // INACTIVE.
    let [.., below] = app.chain::<5>(&ada, "other").await;
    patch(&app, &ada, parent, &json!({ "parentId": below })).await.ok();
    app.unrecorded(&ada, patch(&app, &ada, deepest, &back)).await.problem("conflict");
    patch(&app, &ada, parent, &json!({ "parentId": null })).await.ok();
    assert_eq!(patch(&app, &ada, deepest, &back).await.ok()["depth"], 1);
}

async fn changes_are_recorded_with_their_values(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let created = create(&app, &ada, &json!({ "name": "Below", "slug": "below", "parentId": north })).await.created();
    let id = created["id"].as_str().unwrap();
    patch(&app, &ada, id, &json!({ "name": "Beneath", "slug": "below", "status": "SUSPENDED" })).await.ok();
    delete(&app, &ada, id).await.no_content();
    let entries = app.history(&ada, id).await;
    let [deleted, updated, made] = entries.as_slice() else { panic!("{entries:?}") };
    says(made, &ada, "CREATE", "ORGANIZATION", id);
    let fields = json!({ "name": "Below", "slug": "below", "status": "ACTIVE", "parentId": north });
    assert_eq!((&made["oldValue"], &made["newValue"]), (&Value::Null, &fields));
    says(updated, &ada, "UPDATE", "ORGANIZATION", id);
    assert_eq!(updated["oldValue"], json!({ "name": "Below", "status": "ACTIVE" }));
    let after = json!({ "name": "Beneath", "status": "SUSPENDED" });
    assert_eq!(updated["newValue"], after);
    assert_eq!(updated["metadata"], json!({ "changedFields": ["name", "status"] }));
    says(deleted, &ada, "DELETE", "ORGANIZATION", id);
    assert_eq!((&deleted["oldValue"], &deleted["newValue"]), (&with(fields, &after), &Value::Null));
}

async fn a_refused_change_writes_and_records_nothing(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["organizations:read"]).await;
    let before = get(&app, &ada, north).await.ok();
    let entries = app.audit(&ada, &[]).await;
    create(&app, &bob, &json!({ "name": "Other" })).await.lacks("organizations:create");
    create(&app, &bob, &json!({ "name": "Other", "parentId": north })).await.lacks("organizations:create");
    patch(&app, &bob, north, &json!({ "name": "Other" })).await.lacks("organizations:update");
    delete(&app, &bob, north).await.lacks("organizations:delete");
    assert_eq!(get(&app, &ada, north).await.ok(), before);
    assert_eq!(app.audit(&ada, &[]).await, entries);
    assert_eq!(app.get("/organizations").by(&ada).send().await.ok()["pagination"]["total"], 1);
}

async fn an_organization_with_too_many_assignments_is_not_deleted(app: TestApp) {
    let app = app.with_settings(|settings| settings.max_revocations = 1).await;
    let ada = app.register("ada@example.com").await;
    let north = app.organization(&ada, "north").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    app.assign(&ada, &bob, "MEMBER", Some(north), None).await;
    let second = app.assign(&ada, &bob, "ORGANIZATION_ADMIN", Some(north), None).await;
    for refused in [delete(&app, &ada, north).await, patch(&app, &ada, north, &json!({ "status": "INACTIVE" })).await] {
        assert!(refused.detail("conflict").contains("more than 1 role assignments"), "{}", refused.text());
    }
    app.delete(&format!("/role-assignments/{second}")).by(&ada).send().await.no_content();
    delete(&app, &ada, north).await.no_content();
}
