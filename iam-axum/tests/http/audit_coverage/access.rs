//! Permissions, roles and role assignments.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{Fixture, entry, granted};
use crate::app::shown;
use crate::people::{Person, with};

const PERMISSION: &str = "orders:refund";

pub(super) async fn create_permission(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: &Value| app.post("/permissions").by(by).json(body);
    let body = json!({ "name": PERMISSION, "description": "Give money back." });
    fixture.refuses(create(ada, &json!({})), "validation-error").await;
    fixture.refuses(create(bob, &body), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &body), 201).await;
    let made = entry("CREATE", "PERMISSION", fixture.made(&answer), ada.user.clone()).creating(body.clone());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
    fixture.refuses(create(ada, &body), "conflict").await;
}

pub(super) async fn delete_permission(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let delete = |by: &Person, id: &str| app.delete(&format!("/permissions/{id}")).by(by);
    let body = json!({ "name": PERMISSION, "description": "" });
    let id = fixture.made(&app.post("/permissions").by(ada).json(&body).send().await);
    let role = app.role(ada, "CLERK", &[PERMISSION]).await;
    fixture.refuses(delete(ada, "17"), "validation-error").await;
    fixture.refuses(delete(bob, &id), "forbidden").await;
    fixture.refuses(delete(ada, &id), "conflict").await;
    app.delete(&format!("/roles/{role}")).by(ada).send().await.no_content();
    let deleted = entry("DELETE", "PERMISSION", id.clone(), ada.user.clone()).deleting(body);
    fixture.records(delete(ada, &id), 204, [deleted]).await;
    fixture.refuses(delete(ada, &id), "not-found").await;
}

fn clerk() -> Value {
    json!({ "name": "CLERK", "description": "", "scope": "ANY", "permissions": ["users:read"] })
}

pub(super) async fn create_role(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let create = |by: &Person, body: &Value| app.post("/roles").by(by).json(body);
    fixture.refuses(create(ada, &json!({})), "validation-error").await;
    fixture.refuses(create(bob, &clerk()), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &clerk()), 201).await;
    let made = entry("CREATE", "ROLE", fixture.made(&answer), ada.user.clone()).creating(clerk());
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
    fixture.refuses(create(ada, &clerk()), "conflict").await;
}

pub(super) async fn update_role(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let id = app.role(ada, "CLERK", &["users:read"]).await;
    let update = |by: &Person, id: &str, body: Value| app.patch(&format!("/roles/{id}")).by(by).json(&body);
    let change = json!({ "description": "Reads.", "permissions": ["roles:read", "users:read"] });
    fixture.refuses(update(ada, &id, json!({ "permissions": ["nothing:known"] })), "validation-error").await;
    fixture.refuses(update(bob, &id, change.clone()), "forbidden").await;
    fixture.refuses(update(ada, &ada.user, change.clone()), "not-found").await;
    fixture.refuses(update(ada, &app.role_id(ada, "MEMBER").await, change.clone()), "conflict").await;
    fixture.records(update(ada, &id, json!({})), 200, []).await;
    fixture.records(update(ada, &id, clerk()), 200, []).await;
    let updated = entry("UPDATE", "ROLE", id.clone(), ada.user.clone());
    let updated = updated.updating(json!({ "description": "", "permissions": ["users:read"] }), change.clone());
    fixture.records(update(ada, &id, change), 200, [updated]).await;
}

pub(super) async fn delete_role(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let id = app.role(ada, "CLERK", &["users:read"]).await;
    let held = app.assign(ada, &bob.user, "CLERK", None, None).await;
    let delete = |by: &Person, id: &str| app.delete(&format!("/roles/{id}")).by(by);
    fixture.refuses(delete(ada, "17"), "validation-error").await;
    fixture.refuses(delete(bob, &id), "forbidden").await;
    fixture.refuses(delete(ada, &id), "conflict").await;
    app.delete(&format!("/role-assignments/{held}")).by(ada).send().await.no_content();
    let deleted = entry("DELETE", "ROLE", id.clone(), ada.user.clone()).deleting(clerk());
    fixture.records(delete(ada, &id), 204, [deleted]).await;
    fixture.refuses(delete(ada, &id), "not-found").await;
}

pub(super) async fn assign(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let north = app.organization(ada, "north").await.to_string();
    let role = app.role_id(ada, "MEMBER").await;
    let assign = |by: &Person, body: &Value| app.post("/role-assignments").by(by).json(body);
    let body = json!({ "userId": bob.user, "roleId": role, "organizationId": north });
    fixture.refuses(assign(ada, &json!({})), "validation-error").await;
    fixture.refuses(assign(bob, &with(body.clone(), &json!({ "organizationId": null }))), "forbidden").await;
    fixture.refuses(assign(ada, &with(body.clone(), &json!({ "userId": ada.tenant }))), "not-found").await;
    let admin = app.role_id(ada, "TENANT_ADMIN").await;
    fixture.refuses(assign(ada, &with(body.clone(), &json!({ "roleId": admin }))), "validation").await;
    let (answer, correlation_id) = fixture.answer(assign(ada, &body), 201).await;
    let id = fixture.made(&answer);
    let made = granted("ROLE_ASSIGNED", &id, ada, &bob.user, (&role, "MEMBER"), Some(&north));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
    fixture.refuses(assign(ada, &body), "conflict").await;
}

pub(super) async fn assign_all(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let north = app.organization(ada, "north").await.to_string();
    let role = app.role_id(ada, "MEMBER").await;
    let assign = |by: &Person, items: &[&Value]| {
        app.post("/role-assignments/bulk").by(by).json(&json!({ "assignments": items }))
    };
    let everywhere = json!({ "userId": bob.user, "roleId": role });
    let there = with(everywhere.clone(), &json!({ "organizationId": north }));
    let unknown = with(everywhere.clone(), &json!({ "roleId": bob.user }));
    fixture.refuses(assign(ada, &[]), "validation-error").await;
    fixture.refuses(assign(bob, &[&everywhere]), "forbidden").await;
    fixture.refuses(assign(ada, &[&everywhere, &unknown]), "not-found").await;
    fixture.refuses(assign(ada, &[&everywhere, &everywhere]), "conflict").await;
    let (answer, correlation_id) = fixture.answer(assign(ada, &[&everywhere, &there]), 201).await;
    let id = |at: usize| answer.json()["assignments"][at]["id"].as_str().unwrap().to_owned();
    let expected = [
        granted("ROLE_ASSIGNED", &id(0), ada, &bob.user, (&role, "MEMBER"), None),
        granted("ROLE_ASSIGNED", &id(1), ada, &bob.user, (&role, "MEMBER"), Some(&north)),
    ];
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &expected);
}

pub(super) async fn change_expiry(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let id = app.assign(ada, &bob.user, "MEMBER", None, None).await;
    let role = app.role_id(ada, "MEMBER").await;
    let update = |by: &Person, id: &str, body: Value| app.patch(&format!("/role-assignments/{id}")).by(by).json(&body);
    let [never, tomorrow] =
        [json!(null), json!(shown(app.iam.now() + TimeDelta::days(1)))].map(|expiry| json!({ "expiresAt": expiry }));
    fixture.refuses(update(ada, &id, json!({ "expiresAt": "2020-01-01T00:00:00Z" })), "validation-error").await;
    fixture.refuses(update(bob, &id, tomorrow.clone()), "forbidden").await;
    fixture.refuses(update(ada, &ada.user, tomorrow.clone()), "not-found").await;
    fixture.records(update(ada, &id, json!({})), 200, []).await;
    fixture.records(update(ada, &id, never.clone()), 200, []).await;
    for (before, after) in [(&never, &tomorrow), (&tomorrow, &never)] {
        let updated = entry("UPDATE", "ROLE_ASSIGNMENT", id.clone(), ada.user.clone());
        let updated = updated.changing(before.clone(), after.clone()).metadata(json!({
            "changedFields": ["expiresAt"],
            "targetUserId": bob.user,
            "roleId": role,
            "roleName": "MEMBER",
            "organizationId": null,
        }));
        fixture.records(update(ada, &id, after.clone()), 200, [updated]).await;
    }
}

pub(super) async fn revoke(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let north = app.organization(ada, "north").await;
    let id = app.assign(ada, &bob.user, "MEMBER", Some(north), None).await;
    let role = app.role_id(ada, "MEMBER").await;
    let revoke = |by: &Person, id: &str| app.delete(&format!("/role-assignments/{id}")).by(by);
    fixture.refuses(revoke(ada, "17"), "validation-error").await;
    fixture.refuses(revoke(bob, &id), "forbidden").await;
    let revoked = granted("ROLE_REVOKED", &id, ada, &bob.user, (&role, "MEMBER"), Some(&north.to_string()));
    fixture.records(revoke(ada, &id), 204, [revoked]).await;
    fixture.refuses(revoke(ada, &id), "not-found").await;
}

pub(super) async fn check(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let question = json!({ "permission": "users:read", "userId": bob.user });
    for (path, body) in [("/authz/check", question.clone()), ("/authz/check/bulk", json!({ "checks": [question] }))] {
        fixture.records(app.post(path).by(ada).json(&body), 200, []).await;
        fixture.refuses(app.post(path).by(ada).json(&json!({ "checks": [], "x": 1 })), "validation-error").await;
    }
}

pub(super) async fn evaluate(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, operation } = fixture;
    let path = operation.strip_prefix("POST ").unwrap();
    let body = json!({
        "subject": { "type": "user", "id": bob.user },
        "action": { "name": "read" },
        "resource": { "type": "users", "id": "any" },
    });
    fixture.records(app.post(path).by(ada).json(&body), 200, []).await;
    fixture.refuses(app.post(path).by(ada).json(&with(body, &json!({ "subject": 7 }))), "validation-error").await;
}
