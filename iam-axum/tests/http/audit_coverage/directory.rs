//! Directories.

use serde_json::{Value, json};

use super::{Expected, Fixture, entry, granted};
use crate::access_table::fresh_email;
use crate::api_key::text;
use crate::people::{Person, with};

/// An entry about a directory, by Ada.
fn about(fixture: &Fixture<'_>, action: &str, directory: &str) -> Expected {
    entry(action, "DIRECTORY", directory.to_owned(), fixture.ada.user.clone())
}

fn fields(account: &str) -> Value {
    json!({ "name": "Staff", "serviceAccountId": account, "identityProviderId": null, "adopt": false })
}

/// A directory of Ada's tenant, and its account.
async fn directory(fixture: &Fixture<'_>) -> (String, String) {
    let account = fixture.app.robot(&fixture.ada, &["users:create"]).await;
    let directory = fixture.app.directory(&fixture.ada, &json!({ "serviceAccountId": account })).await;
    (directory["id"].as_str().unwrap().to_owned(), account)
}

pub(super) async fn create(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let account = app.robot(ada, &[]).await;
    let body = json!({ "name": "Staff", "serviceAccountId": account });
    let create = |by: &Person, body: &Value| app.post("/directories").by(by).json(body);
    fixture.refuses(create(ada, &json!({})), "validation-error").await;
    fixture.refuses(create(bob, &body), "forbidden").await;
    let (answer, correlation_id) = fixture.answer(create(ada, &body), 201).await;
    let made = about(fixture, "CREATE", &fixture.made(&answer)).creating(fields(&account));
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &[made]);
    fixture.refuses(create(ada, &body), "conflict").await;
}

pub(super) async fn update(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (directory, _) = directory(fixture).await;
    let path = format!("/directories/{directory}");
    let update = |by: &Person, body: Value| app.patch(&path).by(by).json(&body);
    fixture.refuses(update(ada, json!({ "name": "" })), "validation-error").await;
    fixture.refuses(update(bob, json!({ "name": "People" })), "forbidden").await;
    fixture.records(update(ada, json!({})), 200, []).await;
    let [before, after] = [json!({ "adopt": false }), json!({ "adopt": true })];
    let updated = about(fixture, "UPDATE", &directory).updating(before, after.clone());
    fixture.records(update(ada, after), 200, [updated]).await;
}

pub(super) async fn delete(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let (kept, account) = directory(fixture).await;
    let path = format!("/directories/{kept}?users=keep");
    fixture.refuses(app.delete(&path).by(bob), "forbidden").await;
    let removed = about(fixture, "DELETE", &kept).deleting(fields(&account));
    fixture.records(app.delete(&path).by(ada), 204, [removed]).await;
    fixture.refuses(app.delete(&path).by(ada), "not-found").await;

    let (left, account) = directory(fixture).await;
    let key = app.key(ada, &account, &json!({})).await;
    let user = app.provision(key["key"].as_str().unwrap(), &json!({ "userName": fresh_email() })).await;
    let user = user["id"].as_str().unwrap().to_owned();
    let [active, suspended] = ["ACTIVE", "SUSPENDED"].map(|status| json!({ "status": status }));
    let left_user = entry("USER_SUSPENDED", "USER", user, ada.user.clone()).changing(active, suspended);
    let removed = about(fixture, "DELETE", &left).deleting(fields(&account));
    let path = format!("/directories/{left}?users=suspend");
    fixture.records(app.delete(&path).by(ada), 204, [left_user, removed]).await;
}

pub(super) async fn set_grants(fixture: &Fixture<'_>) {
    let Fixture { app, ada, bob, .. } = fixture;
    let account = app.robot(ada, &["users:*", "roles:read"]).await;
    let directory = app.directory(ada, &json!({ "serviceAccountId": account })).await["id"].clone();
    let key = app.key(ada, &account, &json!({})).await;
    let user = app.provision(text(&key), &json!({ "userName": fresh_email() })).await["id"].clone();
    let body = json!({ "displayName": "Sales", "members": [{ "value": user }] });
    let group = app.provision_group(text(&key), &body).await["id"].clone();
    let role = app.role(ada, "CLERK", &["roles:read"]).await;
    let [directory, user, group] = [&directory, &user, &group].map(|id| id.as_str().unwrap());
    let path = format!("/directories/{directory}/groups/{group}/grants");
    let set = |by: &Person, grants: &Value| app.put(&path).by(by).json(&json!({ "grants": grants }));
    let (none, clerk) = (json!([]), json!([{ "roleId": role, "organizationId": null }]));
    let changed = |before: &Value, after: &Value| {
        let entry = entry("UPDATE", "DIRECTORY_GROUP", group.to_owned(), ada.user.clone());
        let [before, after] = [before, after].map(|grants| json!({ "grants": grants }));
        let metadata = json!({ "changedFields": ["grants"], "directoryId": directory });
        entry.changing(before, after).metadata(metadata)
    };
    // The entry of the role that the member gets, or loses with a reason.
    let of_member = |action: &str, id: &str, reason: Value| {
        let entry = granted(action, id, ada, user, (&role, "CLERK"), None);
        let metadata = with(entry.0["metadata"].clone(), &json!({ "directoryGroupId": group }));
        entry.metadata(with(metadata, &reason))
    };
    fixture.refuses(set(ada, &json!([{ "roleId": "x" }])), "validation-error").await;
    fixture.refuses(set(ada, &json!([{ "roleId": bob.user }])), "not-found").await;
    fixture.refuses(set(bob, &clerk), "forbidden").await;
    fixture.records(set(ada, &none), 200, []).await;
    let (_, correlation_id) = fixture.answer(set(ada, &clerk), 200).await;
    let held = app.get(&format!("/users/{user}/roles")).by(ada).send().await.ok();
    let held = held["data"][0]["id"].as_str().unwrap();
    let expected = [changed(&none, &clerk), of_member("ROLE_ASSIGNED", held, json!({}))];
    let entries = app.audit(ada, &[("correlationId", &correlation_id)]).await;
    fixture.compare(&entries, &correlation_id, &ada.tenant, &expected);
    fixture.records(set(ada, &clerk), 200, []).await;
    let reason = json!({ "reason": "DIRECTORY_GROUP" });
    let expected = [changed(&clerk, &none), of_member("ROLE_REVOKED", held, reason)];
    fixture.records(set(ada, &none), 200, expected).await;
}
