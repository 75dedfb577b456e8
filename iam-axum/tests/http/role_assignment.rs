//! `/role-assignments`, one assignment at a time (`docs/http-api.md#role-assignments`).

use chrono::TimeDelta;
use futures_util::future::join_all;
use iam_core::role::RoleScope;
use serde_json::{Value, json};

use crate::app::{TestApp, shown};
use crate::people::{Person, says, with};
use crate::request::{Response, members};

in_memory![
    create_answers_201_with_the_full_assignment,
    create_in_an_organization_with_an_expiry,
    null_means_tenant_wide_or_without_expiry,
    create_names_every_invalid_field,
    a_misspelt_expiry_is_refused,
    a_404_names_the_field_of_an_unknown_or_foreign_id,
    an_organization_scoped_role_without_organization_is_400,
    a_tenant_scoped_role_with_an_organization_is_400,
    the_same_role_in_the_same_scope_is_a_conflict,
    one_of_several_equal_concurrent_assignments_succeeds,
    a_revoked_role_can_be_assigned_again,
    an_inactive_user_cannot_be_assigned_a_role,
    a_suspended_user_can_be_assigned_a_role,
    a_caller_cannot_assign_itself_a_role_beyond_its_rights,
    a_caller_cannot_assign_others_a_role_beyond_its_rights,
    a_wildcard_is_more_than_all_existing_actions,
    rights_in_one_organization_cannot_be_granted_in_another,
    rights_in_an_organization_can_be_granted_below_it,
    assigning_needs_the_permission_where_the_role_applies,
    an_expiry_must_be_in_the_future,
    patch_answers_200_with_the_full_assignment,
    patch_takes_null_as_never_and_absent_as_unchanged,
    patch_names_every_invalid_field,
    patch_refuses_an_expiry_in_the_past,
    extending_beyond_the_callers_own_rights_is_forbidden,
    shortening_needs_only_the_permission_to_update,
    delete_answers_204_and_takes_the_role_away_at_once,
    revoking_needs_only_the_permission_to_delete,
    an_unknown_assignment_is_not_found,
    an_assignment_is_recorded_as_role_assigned,
    a_change_of_expiry_is_recorded_as_an_update,
    a_revocation_is_recorded_as_role_revoked,
    a_refused_assignment_writes_and_records_nothing,
];

async fn create(app: &TestApp, by: &Person, body: &Value) -> Response {
    app.post("/role-assignments").by(by).json(body).send().await
}

async fn patch(app: &TestApp, by: &Person, id: &str, body: &Value) -> Response {
    app.patch(&format!("/role-assignments/{id}")).by(by).json(body).send().await
}

async fn delete(app: &TestApp, by: &Person, id: &str) -> Response {
    app.delete(&format!("/role-assignments/{id}")).by(by).send().await
}

/// The assignments that `GET /users/:id/roles` shows, without the embedded role and organization.
async fn held(app: &TestApp, by: &Person, user: &str) -> Vec<Value> {
    let body = app.get(&format!("/users/{user}/roles")).by(by).send().await.ok();
    let mut held = body["data"].as_array().unwrap().clone();
    for assignment in &mut held {
        assignment.as_object_mut().unwrap().retain(|name, _| name != "role" && name != "organization");
    }
    held
}

/// An administrator, a user without roles, and the body that makes the user a MEMBER.
async fn fixture(app: &TestApp) -> (Person, String, Value) {
    let ada = app.register("ada@example.com").await;
    let bob = app.add_user(&ada, "bob@example.com").await;
    let body = json!({ "userId": bob, "roleId": app.role_id(&ada, "MEMBER").await });
    (ada, bob, body)
}

async fn create_answers_201_with_the_full_assignment(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let created = create(&app, &ada, &body).await.created();
    let expected = json!({
        "id": created["id"], "userId": bob, "roleId": body["roleId"], "organizationId": null, "expiresAt": null,
        "createdAt": app.now(), "createdBy": ada.user, "directoryGroupId": null, "accessRequestId": null,
    });
    assert_eq!(created, expected);
    assert_eq!(held(&app, &ada, &bob).await, [expected]);
}

async fn create_in_an_organization_with_an_expiry(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let sales = app.organization(&ada, "sales").await;
    let expiry = app.iam.now() + TimeDelta::days(1);
    let fields =
        json!({ "organizationId": sales, "expiresAt": expiry.format("%Y-%m-%dT%H:%M:%S%.9f+00:00").to_string() });
    let created = create(&app, &ada, &with(body, &fields)).await.created();
    assert_eq!((&created["organizationId"], &created["expiresAt"]), (&json!(sales), &json!(shown(expiry))));
    assert_eq!(held(&app, &ada, &bob).await, [created]);
}

async fn null_means_tenant_wide_or_without_expiry(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let nulls = json!({ "organizationId": null, "expiresAt": null });
    let created = create(&app, &ada, &with(body, &nulls)).await.created();
    assert_eq!((&created["organizationId"], &created["expiresAt"]), (&Value::Null, &Value::Null));
}

async fn create_names_every_invalid_field(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    assert_eq!(create(&app, &ada, &json!({})).await.invalid_fields(), ["userId", "roleId"]);
    let wrong = json!({ "userId": "bob", "roleId": "MEMBER", "organizationId": "sales", "expiresAt": "tomorrow" });
    let expected = ["userId", "roleId", "organizationId", "expiresAt"];
    assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), expected);
    for field in expected {
        let wrong = with(body.clone(), &json!({ field: 17 }));
        assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), [field]);
    }
    for expiry in ["2030-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"] {
        let far = with(body.clone(), &json!({ "expiresAt": expiry }));
        let created = create(&app, &ada, &far).await.created();
        assert_eq!(created["expiresAt"], expiry);
        delete(&app, &ada, created["id"].as_str().unwrap()).await.no_content();
    }
    for expiry in ["", "2030-01-01", "+10000-01-01T00:00:00Z", "2030-01-01T00:00:00", "2030-13-01T00:00:00Z"] {
        let wrong = with(body.clone(), &json!({ "expiresAt": expiry }));
        assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), ["expiresAt"], "{expiry}");
    }
}

async fn a_misspelt_expiry_is_refused(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    for field in ["expires_at", "expiresat", "expiry", "createdBy", "directoryGroupId", "id"] {
        let wrong = with(body.clone(), &json!({ field: "2030-01-01T00:00:00Z" }));
        assert_eq!(create(&app, &ada, &wrong).await.invalid_fields(), [field]);
    }
    assert!(held(&app, &ada, &bob).await.is_empty());
}

async fn a_404_names_the_field_of_an_unknown_or_foreign_id(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let eve = app.register("eve@example.com").await;
    let foreign = [
        ("userId", eve.user.clone()),
        ("roleId", app.role_id(&eve, "MEMBER").await),
        ("organizationId", app.organization(&eve, "foreign").await.to_string()),
    ];
    for (field, foreign) in foreign {
        for id in [&foreign, &ada.tenant] {
            let wrong = with(body.clone(), &json!({ field: id }));
            assert_eq!(app.unrecorded(&ada, create(&app, &ada, &wrong)).await.fields("not-found"), [field]);
        }
    }
}

async fn an_organization_scoped_role_without_organization_is_400(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let sales = app.organization(&ada, "sales").await;
    app.role_of_scope(&ada, "CLERK", RoleScope::Organization, &[]).await;
    for role in ["ORGANIZATION_ADMIN", "CLERK"] {
        let body = with(body.clone(), &json!({ "roleId": app.role_id(&ada, role).await }));
        let detail = app.unrecorded(&ada, create(&app, &ada, &body)).await.detail("validation");
        assert!(detail.contains("organization-scoped roles require an organizationid"), "{detail}");
        create(&app, &ada, &with(body, &json!({ "organizationId": sales }))).await.created();
    }
}

async fn a_tenant_scoped_role_with_an_organization_is_400(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let sales = app.organization(&ada, "sales").await;
    app.role_of_scope(&ada, "CLERK", RoleScope::Tenant, &[]).await;
    for role in ["TENANT_ADMIN", "AUDITOR", "CLERK"] {
        let body = with(body.clone(), &json!({ "roleId": app.role_id(&ada, role).await }));
        let placed = with(body.clone(), &json!({ "organizationId": sales }));
        let detail = app.unrecorded(&ada, create(&app, &ada, &placed)).await.detail("validation");
        assert!(detail.contains("organizationid"), "{detail}");
        create(&app, &ada, &body).await.created();
    }
}

async fn the_same_role_in_the_same_scope_is_a_conflict(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let [sales, other] = [app.organization(&ada, "sales").await, app.organization(&ada, "other").await];
    let organizations = [json!(null), json!(sales), json!(other)];
    for organization in &organizations {
        create(&app, &ada, &with(body.clone(), &json!({ "organizationId": organization }))).await.created();
    }
    let expiry = shown(app.iam.now() + TimeDelta::hours(1));
    for organization in &organizations {
        for expiry in [Value::Null, json!(expiry)] {
            let again = with(body.clone(), &json!({ "organizationId": organization, "expiresAt": expiry }));
            let detail = app.unrecorded(&ada, create(&app, &ada, &again)).await.detail("conflict");
            assert!(detail.contains("already") && detail.contains("this role in this organization"), "{detail}");
        }
    }
    assert_eq!(held(&app, &ada, &bob).await.len(), 3);
}

async fn one_of_several_equal_concurrent_assignments_succeeds(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let answers = join_all((0..6).map(|_| create(&app, &ada, &body))).await;
    let refused: Vec<&Response> = answers.iter().filter(|answer| answer.status() != 201).collect();
    assert_eq!(refused.len(), 5);
    refused.iter().for_each(|answer| drop(answer.problem("conflict")));
    assert_eq!(held(&app, &ada, &bob).await.len(), 1);
    assert_eq!(app.audit(&ada, &[("action", "ROLE_ASSIGNED")]).await.len(), 2, "one is from the registration");
}

async fn a_revoked_role_can_be_assigned_again(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let first = create(&app, &ada, &body).await.created();
    delete(&app, &ada, first["id"].as_str().unwrap()).await.no_content();
    let second = create(&app, &ada, &body).await.created();
    assert_ne!(first["id"], second["id"]);
}

async fn an_inactive_user_cannot_be_assigned_a_role(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    app.set_status(&ada, &bob, "INACTIVE").await;
    app.unrecorded(&ada, create(&app, &ada, &body)).await.problem("conflict");
    assert!(held(&app, &ada, &bob).await.is_empty());
}

async fn a_suspended_user_can_be_assigned_a_role(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    app.set_status(&ada, &bob, "SUSPENDED").await;
    create(&app, &ada, &body).await.created();
}

async fn a_caller_cannot_assign_itself_a_role_beyond_its_rights(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let may = ["role-assignments:*", "users:read", "organizations:read"];
    let bob = app.colleague_who_may(&ada, "bob@example.com", &may).await;
    app.role(&ada, "DELETER", &["users:read", "users:delete"]).await;
    for role in ["TENANT_ADMIN", "AUDITOR", "DELETER"] {
        let body = json!({ "userId": bob.user, "roleId": app.role_id(&ada, role).await });
        app.unrecorded(&ada, create(&app, &bob, &body)).await.escalates();
    }
    let body = json!({ "userId": bob.user, "roleId": app.role_id(&ada, "MEMBER").await });
    create(&app, &bob, &body).await.created();
}

async fn a_caller_cannot_assign_others_a_role_beyond_its_rights(app: TestApp) {
    let (ada, eve, body) = fixture(&app).await;
    let bob = app.colleague_who_may(&ada, "grantor@example.com", &["role-assignments:create", "users:read"]).await;
    app.unrecorded(&ada, create(&app, &bob, &body)).await.escalates();
    assert!(held(&app, &ada, &eve).await.is_empty());
    app.permit(&bob, &["organizations:read"]).await;
    create(&app, &bob, &body).await.created();
}

async fn a_wildcard_is_more_than_all_existing_actions(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let four = ["users:create", "users:read", "users:update", "users:delete"];
    let bob = app.colleague_who_may(&ada, "grantor@example.com", &four).await;
    app.permit(&bob, &["role-assignments:create"]).await;
    let [all, today] = [app.role(&ada, "ALL", &["users:*"]).await, app.role(&ada, "TODAY", &four).await];
    create(&app, &bob, &with(body.clone(), &json!({ "roleId": all }))).await.escalates();
    create(&app, &bob, &with(body.clone(), &json!({ "roleId": today }))).await.created();
    app.permit(&bob, &["users:*"]).await;
    create(&app, &bob, &with(body, &json!({ "roleId": all }))).await.created();
}

async fn rights_in_one_organization_cannot_be_granted_in_another(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let [sales, other] = [app.organization(&ada, "sales").await, app.organization(&ada, "other").await];
    let bob = app.colleague_who_may(&ada, "grantor@example.com", &["role-assignments:create"]).await;
    app.permit_in(&bob, sales, &["users:read", "organizations:read"]).await;
    for organization in [json!(null), json!(other)] {
        create(&app, &bob, &with(body.clone(), &json!({ "organizationId": organization }))).await.escalates();
    }
    create(&app, &bob, &with(body, &json!({ "organizationId": sales }))).await.created();
}

async fn rights_in_an_organization_can_be_granted_below_it(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let [above, middle, below] = app.chain(&ada, "level").await;
    let may = ["role-assignments:create", "users:read", "organizations:read"];
    let bob = app.colleague_in(&ada, middle, "grantor@example.com", &may).await;
    for (organization, is_granted) in [(middle, true), (below, true), (above, false)] {
        let answer = create(&app, &bob, &with(body.clone(), &json!({ "organizationId": organization }))).await;
        if is_granted {
            answer.created();
        } else {
            assert_eq!(answer.fields("not-found"), ["organizationId"]);
        }
    }
}

async fn assigning_needs_the_permission_where_the_role_applies(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let [sales, other] = [app.organization(&ada, "sales").await, app.organization(&ada, "other").await];
    let bob = app.colleague(&ada, "grantor@example.com").await;
    create(&app, &bob, &body).await.lacks("role-assignments:create");
    app.permit_in(&bob, sales, &["*"]).await;
    app.permit_in(&bob, other, &["role-assignments:read"]).await;
    create(&app, &bob, &body).await.lacks("role-assignments:create");
    let in_other = with(body.clone(), &json!({ "organizationId": other }));
    create(&app, &bob, &in_other).await.lacks("role-assignments:create");
    create(&app, &bob, &with(body, &json!({ "organizationId": sales }))).await.created();
}

async fn an_expiry_must_be_in_the_future(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    for millis in [-86_400_000, -1, 0] {
        let expiry = shown(app.iam.now() + TimeDelta::milliseconds(millis));
        let wrong = with(body.clone(), &json!({ "expiresAt": expiry }));
        let refused = app.unrecorded(&ada, create(&app, &ada, &wrong)).await;
        assert_eq!(refused.invalid_fields(), ["expiresAt"], "{millis}");
    }
    let expiry = shown(app.iam.now() + TimeDelta::milliseconds(1));
    create(&app, &ada, &with(body, &json!({ "expiresAt": expiry }))).await.created();
}

async fn patch_answers_200_with_the_full_assignment(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let created = create(&app, &ada, &body).await.created();
    let id = created["id"].as_str().unwrap();
    for hours in [5, 2, 9] {
        let change = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::hours(hours)) });
        let expected = with(created.clone(), &change);
        assert_eq!(patch(&app, &ada, id, &change).await.ok(), expected);
        assert_eq!(held(&app, &ada, &bob).await, [expected]);
    }
}

async fn patch_takes_null_as_never_and_absent_as_unchanged(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let expiry = shown(app.iam.now() + TimeDelta::hours(1));
    let created = create(&app, &ada, &with(body, &json!({ "expiresAt": expiry }))).await.created();
    let id = created["id"].as_str().unwrap();
    for nothing in [json!({}), json!({ "expiresAt": expiry })] {
        assert_eq!(app.unrecorded(&ada, patch(&app, &ada, id, &nothing)).await.ok(), created);
    }
    let never = json!({ "expiresAt": null });
    let expected = with(created.clone(), &never);
    assert_eq!(patch(&app, &ada, id, &never).await.ok(), expected);
    assert_eq!(app.unrecorded(&ada, patch(&app, &ada, id, &never)).await.ok(), expected);
    assert_eq!(held(&app, &ada, &bob).await, [expected]);
}

async fn patch_names_every_invalid_field(app: TestApp) {
    let (ada, _, body) = fixture(&app).await;
    let created = create(&app, &ada, &body).await.created();
    let id = created["id"].as_str().unwrap();
    for field in ["userId", "roleId", "organizationId", "createdBy", "expires_at"] {
        assert_eq!(patch(&app, &ada, id, &json!({ field: null })).await.invalid_fields(), [field]);
    }
    for wrong in [json!("soon"), json!(17), json!(""), json!("2030-01-01")] {
        let body = json!({ "expiresAt": wrong });
        assert_eq!(patch(&app, &ada, id, &body).await.invalid_fields(), ["expiresAt"], "{wrong}");
    }
}

async fn patch_refuses_an_expiry_in_the_past(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let created = create(&app, &ada, &body).await.created();
    let id = created["id"].as_str().unwrap();
    for millis in [-1_000, -1, 0] {
        let past = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::milliseconds(millis)) });
        let refused = app.unrecorded(&ada, patch(&app, &ada, id, &past)).await;
        assert_eq!(refused.invalid_fields(), ["expiresAt"], "{millis}");
    }
    assert_eq!(held(&app, &ada, &bob).await, [created]);
}

async fn extending_beyond_the_callers_own_rights_is_forbidden(app: TestApp) {
    let (ada, bob, _) = fixture(&app).await;
    let [soon, later, latest] = [1, 2, 3].map(|minutes| app.iam.now() + TimeDelta::minutes(minutes));
    let id = app.assign(&ada, &bob, "MEMBER", None, Some(soon)).await;
    let carl = app.colleague_who_may(&ada, "carl@example.com", &["role-assignments:update"]).await;
    let to = |moment| json!({ "expiresAt": shown(moment) });
    app.unrecorded(&ada, patch(&app, &carl, &id, &to(later))).await.escalates();
    app.permit_until(&carl, &["users:read", "organizations:read"], None, Some(later)).await;
    for beyond in [to(latest), to(later + TimeDelta::milliseconds(1)), json!({ "expiresAt": null })] {
        app.unrecorded(&ada, patch(&app, &carl, &id, &beyond)).await.escalates();
    }
    assert_eq!(patch(&app, &carl, &id, &to(later)).await.ok()["expiresAt"], shown(later));
}

async fn shortening_needs_only_the_permission_to_update(app: TestApp) {
    let (ada, bob, _) = fixture(&app).await;
    let id = app.assign(&ada, &bob, "AUDITOR", None, None).await;
    let carl = app.colleague(&ada, "carl@example.com").await;
    let body = json!({ "expiresAt": shown(app.iam.now() + TimeDelta::minutes(5)) });
    patch(&app, &carl, &id, &body).await.lacks("role-assignments:update");
    app.permit(&carl, &["role-assignments:update"]).await;
    assert_eq!(patch(&app, &carl, &id, &body).await.ok()["expiresAt"], body["expiresAt"]);
}

async fn delete_answers_204_and_takes_the_role_away_at_once(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague(&ada, "bob@example.com").await;
    let id = app.assign(&ada, &bob.user, "MEMBER", None, None).await;
    app.get("/users").by(&bob).send().await.ok();
    delete(&app, &ada, &id).await.no_content();
    app.get("/users").by(&bob).send().await.lacks("users:read");
    assert!(held(&app, &ada, &bob.user).await.is_empty());
    app.unrecorded(&ada, delete(&app, &ada, &id)).await.problem("not-found");
}

async fn revoking_needs_only_the_permission_to_delete(app: TestApp) {
    let (ada, bob, _) = fixture(&app).await;
    app.assign(&ada, &bob, "TENANT_ADMIN", None, None).await;
    let id = app.assign(&ada, &bob, "AUDITOR", None, None).await;
    let carl = app.colleague(&ada, "carl@example.com").await;
    delete(&app, &carl, &id).await.lacks("role-assignments:delete");
    app.permit(&carl, &["role-assignments:delete"]).await;
    delete(&app, &carl, &id).await.no_content();
}

async fn an_unknown_assignment_is_not_found(app: TestApp) {
    let [ada, eve] = [app.register("ada@example.com").await, app.register("eve@example.com").await];
    let foreign = app.assign(&eve, &eve.user, "MEMBER", None, None).await;
    for id in [&foreign, &ada.user] {
        patch(&app, &ada, id, &json!({ "expiresAt": null })).await.problem("not-found");
        delete(&app, &ada, id).await.problem("not-found");
    }
    assert_eq!(patch(&app, &ada, "17", &json!({})).await.invalid_fields(), ["id"]);
    assert_eq!(delete(&app, &ada, "17").await.invalid_fields(), ["id"]);
    assert_eq!(held(&app, &eve, &eve.user).await.len(), 2);
}

async fn an_assignment_is_recorded_as_role_assigned(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let sales = app.organization(&ada, "sales").await;
    for organization in [Value::Null, json!(sales)] {
        let created =
            create(&app, &ada, &with(body.clone(), &json!({ "organizationId": organization }))).await.created();
        let id = created["id"].as_str().unwrap();
        let entries = app.history(&ada, id).await;
        assert_eq!(entries.len(), 1);
        says(&entries[0], &ada, "ROLE_ASSIGNED", "ROLE_ASSIGNMENT", id);
        let expected = json!({
            "targetUserId": bob, "roleId": body["roleId"], "roleName": "MEMBER", "organizationId": organization,
        });
        assert_eq!(entries[0]["metadata"], expected);
    }
}

async fn a_change_of_expiry_is_recorded_as_an_update(app: TestApp) {
    let (ada, bob, _) = fixture(&app).await;
    let id = app.assign(&ada, &bob, "MEMBER", None, None).await;
    let expiry = shown(app.iam.now() + TimeDelta::hours(1));
    for (before, after) in [(Value::Null, json!(expiry)), (json!(expiry), Value::Null)] {
        patch(&app, &ada, &id, &json!({ "expiresAt": after })).await.ok();
        let entry = &app.history(&ada, &id).await[0];
        says(entry, &ada, "UPDATE", "ROLE_ASSIGNMENT", &id);
        assert_eq!(entry["oldValue"], json!({ "expiresAt": before }));
        assert_eq!(entry["newValue"], json!({ "expiresAt": after }));
        assert_eq!(entry["metadata"]["changedFields"], json!(["expiresAt"]));
    }
}

async fn a_revocation_is_recorded_as_role_revoked(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let sales = app.organization(&ada, "sales").await;
    for organization in [None, Some(sales)] {
        let id = app.assign(&ada, &bob, "MEMBER", organization, None).await;
        delete(&app, &ada, &id).await.no_content();
        let entry = &app.history(&ada, &id).await[0];
        says(entry, &ada, "ROLE_REVOKED", "ROLE_ASSIGNMENT", &id);
        let expected = json!({
            "targetUserId": bob, "roleId": body["roleId"], "roleName": "MEMBER", "organizationId": organization,
        });
        assert_eq!(entry["metadata"], expected);
    }
}

async fn a_refused_assignment_writes_and_records_nothing(app: TestApp) {
    let (ada, bob, body) = fixture(&app).await;
    let carl = app.colleague_who_may(&ada, "carl@example.com", &["role-assignments:create"]).await;
    let before = app.get("/role-assignments").by(&ada).send().await.ok();
    app.unrecorded(&ada, create(&app, &carl, &body)).await.escalates();
    assert_eq!(app.get("/role-assignments").by(&ada).send().await.ok(), before);
    assert!(held(&app, &ada, &bob).await.is_empty());
    assert_eq!(members(&before), ["data", "pagination"]);
}
