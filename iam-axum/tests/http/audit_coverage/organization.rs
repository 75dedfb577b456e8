//! The tenant and its organizations.

use serde_json::{Value, json};

use super::{Fixture, entry, granted};
use crate::people::{Person, with};

pub(super) async fn update_tenant(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let path = format!("/tenants/{}", ada.tenant);
    let before = app.get(&path).by(ada).send().await.ok();
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    let after = json!({ "name": "Renamed", "slug": format!("renamed-{}", ada.tenant) });
    fixture.refuses(update(ada, json!({ "slug": "No Slug" })), "validation-error").await;
    fixture.refuses(update(bob, after.clone()), "forbidden").await;
    fixture.refuses(app.patch(&format!("/tenants/{}", ada.user)).by(ada).json(&after), "not-found").await;
    fixture.records(update(ada, json!({})), 200, []).await;
    fixture.records(update(ada, json!({ "name": before["name"] })), 200, []).await;
    let updated = entry("UPDATE", "TENANT", ada.tenant.clone(), ada.user.clone());
    let updated = updated.updating(json!({ "name": before["name"], "slug": before["slug"] }), after.clone());
    fixture.records(update(ada, after.clone()), 200, [updated]).await;
    fixture.records(update(ada, after), 200, []).await;
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let parent = app.organization(ada, "parent").await;
    let create = |by: &Person, body: Value| app.post("/organizations").by(by).json(&body);
    fixture.refuses(create(ada, json!({})), "validation-error").await;
    fixture.refuses(create(bob, json!({ "name": "North" })), "forbidden").await;
    fixture.refuses(create(ada, json!({ "name": "North", "parentId": ada.user })), "not-found").await;
    fixture.refuses(create(ada, json!({ "name": "North", "slug": "parent" })), "conflict").await;
    let body = json!({ "name": "North", "parentId": parent });
    let (answer, correlation_id) = fixture.answer(create(ada, body.clone()), 201).await;
    let made = entry("CREATE", "ORGANIZATION", fixture.made(&answer), ada.user.clone());
    let made = made.creating(with(body, &json!({ "slug": "north", "status": "ACTIVE" })));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let [upper, lower] = app.chain(ada, "level").await;
    let (id, path) = (lower.to_string(), format!("/organizations/{lower}"));
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    let updated = |before, after| entry("UPDATE", "ORGANIZATION", id.clone(), ada.user.clone()).updating(before, after);
    fixture.refuses(update(ada, json!({ "name": "" })), "validation-error").await;
    fixture.refuses(update(ada, json!({ "parentId": lower })), "validation").await;
    fixture.refuses(update(ada, json!({ "slug": "level-0" })), "conflict").await;
    fixture.refuses(update(bob, json!({ "name": "Lower" })), "not-found").await;
    fixture.records(update(ada, json!({})), 200, []).await;
    fixture.records(update(ada, json!({ "slug": "level-1", "parentId": upper })), 200, []).await;
    let [before, after] = ["Organization level-1", "Lower"].map(|name| json!({ "name": name }));
    fixture.records(update(ada, after.clone()), 200, [updated(before, after)]).await;
    let [before, after] = [json!({ "parentId": upper }), json!({ "parentId": null })];
    fixture.records(update(ada, after.clone()), 200, [updated(before, after)]).await;
    let [active, inactive] = ["ACTIVE", "INACTIVE"].map(|status| json!({ "status": status }));
    let assignment = app.assign(ada, &bob.user, "MEMBER", Some(lower), None).await;
    let role = app.role_id(ada, "MEMBER").await;
    let mut revoked = granted("ROLE_REVOKED", &assignment, ada, &bob.user, (&role, "MEMBER"), Some(&id));
    revoked.0["metadata"]["reason"] = json!("ORGANIZATION_DELETED");
    let expected = [updated(active.clone(), inactive.clone()), revoked];
    fixture.records(update(ada, inactive.clone()), 200, expected).await;
    fixture.records(update(ada, inactive.clone()), 200, []).await;
    fixture.records(update(ada, active.clone()), 200, [updated(inactive, active)]).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let [upper, lower] = app.chain(ada, "level").await;
    let delete = |by: &Person, id: &str| app.delete(&format!("/organizations/{id}")).by(by);
    let [upper, id] = [upper, lower].map(|id| id.to_string());
    let assignment = app.assign(ada, &bob.user, "MEMBER", Some(lower), None).await;
    let role = app.role_id(ada, "MEMBER").await;
    fixture.refuses(delete(ada, "17"), "validation-error").await;
    fixture.refuses(delete(bob, &id), "forbidden").await;
    fixture.refuses(delete(ada, &ada.user), "not-found").await;
    fixture.refuses(delete(ada, &upper), "conflict").await;
    let fields = json!({ "name": "Organization level-1", "slug": "level-1", "status": "ACTIVE", "parentId": upper });
    let deleted = entry("DELETE", "ORGANIZATION", id.clone(), ada.user.clone()).deleting(fields);
    let mut revoked = granted("ROLE_REVOKED", &assignment, ada, &bob.user, (&role, "MEMBER"), Some(&id));
    revoked.0["metadata"]["reason"] = json!("ORGANIZATION_DELETED");
    fixture.records(delete(ada, &id), 204, [deleted, revoked]).await;
    fixture.records(delete(ada, &id), 204, []).await;
}
