//! What the server removes in the background.

use std::sync::Arc;

use chrono::{SecondsFormat, TimeDelta, Utc};
use iam_core::Iam;
use serde_json::json;

use crate::audit::YearAgo;
use crate::client::{Client, PASSWORD, text};
use crate::command::{listed_keys, published_keys};
use crate::process::{TIMEOUT, wait_for};
use crate::revocation::metric;
use crate::store::Store;

#[test]
fn expired_role_assignments_are_removed_and_recorded() {
    assert_removed_and_recorded(&Store::sqlite(), 1);
}

#[test]
fn expired_role_assignments_are_recorded_once_by_several_servers() {
    assert_removed_and_recorded(&Store::postgres(), 3);
}

fn assert_removed_and_recorded(store: &Store, servers: usize) {
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
    wait_for("the expiry", TIMEOUT, || (client.get(&listed).expect(200)["pagination"]["total"] == 0).then_some(()));
    assert_eq!(server.stop().code, Some(0));

    // A server sweeps as soon as it has started.
    let servers: Vec<_> = (0..servers).map(|_| store.serve()).collect();
    let client = servers[0].client().with_token(&session.access);
    let all = format!("{listed}&includeExpired=true");
    wait_for("the sweep", TIMEOUT, || (client.get(&all).expect(200)["pagination"]["total"] == 0).then_some(()));
    let entries = client.get("/api/v1/audit-logs?action=ROLE_REVOKED").expect(200);
    let entries = entries["data"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["resourceId"], assignment["id"]);
    assert_eq!(entries[0]["metadata"]["reason"], "EXPIRED");
    assert!(entries[0]["userId"].is_null(), "no user did it");
}

#[test]
fn an_access_request_begins_at_its_time_and_its_end_is_recorded_once() {
    let store = Store::postgres();
    let servers: Vec<_> = (0..2).map(|_| store.serve()).collect();
    let session = servers[0].client().register("ada@navy.example");
    let client = servers[0].client().with_token(&session.access);
    let roles = client.get("/api/v1/roles").expect(200);
    let member = roles["data"].as_array().unwrap().iter().find(|role| role["name"] == "MEMBER").unwrap();
    let eligibility = json!({ "roleId": member["id"], "userId": session.user, "approvals": 0 });
    let eligibility = client.post("/api/v1/eligibilities", &eligibility).expect(201);
    let starts_at = (Utc::now() + TimeDelta::seconds(2)).to_rfc3339_opts(SecondsFormat::Millis, true);
    let request = json!({ "eligibilityId": eligibility["id"], "reason": "The yearly audit.", "startsAt": starts_at });
    let request = client.post("/api/v1/access-requests", &request).expect(201);
    assert_eq!(request["status"], "APPROVED");
    let path = format!("/api/v1/access-requests/{}", text(&request["id"]));
    wait_for("the beginning", TIMEOUT, || (client.get(&path).expect(200)["status"] == "ACTIVE").then_some(()));
    client.post(&format!("{path}/end"), &json!({})).expect(200);
    let entries = client.get("/api/v1/audit-logs?action=ROLE_REVOKED").expect(200);
    let entries = entries["data"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(
        (&entries[0]["metadata"]["reason"], &entries[0]["metadata"]["accessRequestId"]),
        (&json!("ENDED"), &request["id"])
    );
}

/// Creates two keys that are a year old, of which the second signs.
async fn old_keys(store: Arc<dyn iam_core::Store>) {
    let iam = Iam::builder(store).clock(YearAgo).build().await.unwrap();
    iam.rotate_keys().await.unwrap();
    iam.close().await;
}

/// Waits until the last step of a sweep is done.
fn wait_until_swept(client: &Client) {
    let last = r#"sweeper_last_success_timestamp_seconds{sweeper="replaced_keys"}"#;
    wait_for("the sweep", TIMEOUT, || (metric(client, last) > 0.0).then_some(()));
}

#[test]
fn an_old_key_is_rotated_and_a_replaced_key_loses_its_private_key() {
    for store in [Store::sqlite(), Store::postgres()] {
        store.with_store(old_keys);
        let states = || listed_keys(&store).into_iter().map(|(_, private)| private).collect::<Vec<_>>();
        assert_eq!(states(), ["plain", "plain"]);

        // The keys are 365 days old.
        let server = store.iam_server().env("IAM_KEY_ROTATION", "366d").serve();
        wait_until_swept(&server.client());
        assert_eq!(states(), ["erased", "plain"]);
        let session = server.client().register("grace@navy.example");
        assert!(!server.stop().log.contains("the signing key was rotated"));

        let server = store.iam_server().env("IAM_KEY_ROTATION", "364d").serve();
        let client = server.client();
        let line = server.log().wait_for_line("the signing key was rotated");
        wait_until_swept(&client);
        assert_eq!(states(), ["erased", "plain", "plain"], "the previous key signs for another minute");
        let keys: Vec<String> = listed_keys(&store).into_iter().map(|(key, _)| key).collect();
        assert!(line.contains(&keys[2]), "{line}");
        assert_eq!(published_keys(&client), keys[1..]);
        client.with_token(&session.access).get("/api/v1/auth/me").expect(200);
        server.stop();

        let server = store.iam_server().env("IAM_KEY_ROTATION", "1d").serve();
        wait_until_swept(&server.client());
        assert_eq!(states().len(), 3, "the newest key is too young");
    }
}
