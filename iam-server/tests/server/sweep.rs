//! What the server tidies up by itself.

use chrono::{SecondsFormat, TimeDelta, Utc};
use serde_json::json;

use crate::client::{PASSWORD, text};
use crate::process::{PATIENCE, wait_for};
use crate::store::Store;

#[test]
fn expired_role_assignments_are_removed_and_recorded() {
    are_removed_and_recorded(&Store::sqlite(), 1);
}

#[test]
fn expired_role_assignments_are_recorded_once_by_several_servers() {
    are_removed_and_recorded(&Store::postgres(), 3);
}

fn are_removed_and_recorded(store: &Store, servers: usize) {
    let server = store.serve();
    let session = server.client().register("grace@navy.example");
    let client = server.client().with_token(&session.access);
    let user = json!({ "email": "ada@navy.example", "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" });
    let user = text(&client.post("/api/v1/users", &user).expect(201)["id"]);
    let roles = client.get("/api/v1/roles").expect(200);
    let member = roles["data"].as_array().unwrap().iter().find(|role| role["name"] == "MEMBER").unwrap();
    let expires_at = (Utc::now() + TimeDelta::seconds(2)).to_rfc3339_opts(SecondsFormat::Millis, true);
    let assignment = json!({ "userId": user, "roleId": member["id"], "expiresAt": expires_at });
    let assignment = client.post("/api/v1/role-assignments", &assignment).expect(201);
    let listed = format!("/api/v1/role-assignments?userId={user}");
    wait_for("the expiry", PATIENCE, || (client.get(&listed).expect(200)["pagination"]["total"] == 0).then_some(()));
    assert_eq!(server.stop().code, Some(0));

    // A server sweeps as soon as it has started.
    let servers: Vec<_> = (0..servers).map(|_| store.serve()).collect();
    let client = servers[0].client().with_token(&session.access);
    let all = format!("{listed}&includeExpired=true");
    wait_for("the sweep", PATIENCE, || (client.get(&all).expect(200)["pagination"]["total"] == 0).then_some(()));
    let entries = client.get("/api/v1/audit-logs?action=ROLE_REVOKED").expect(200);
    let entries = entries["data"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["resourceId"], assignment["id"]);
    assert_eq!(entries[0]["metadata"]["reason"], "EXPIRED");
    assert!(entries[0]["userId"].is_null(), "nobody did it");
}
