//! The audit log as an operator sees it: the running server sequences it, and commands verify and maintain it.

use std::fs;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use iam_core::clock::{Clock, Timestamp};
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Iam, RequestContext, TenantId};
use serde_json::{Value, json};

use crate::client::{Answer, Client, PASSWORD, text};
use crate::process::{Ended, TIMEOUT, wait_for};
use crate::store::Store;

fn checkpoint(client: &Client) -> Value {
    client.get("/api/v1/audit-logs/checkpoint").expect(200)
}

pub(crate) fn wait_until_sequenced(client: &Client) {
    let is_sequenced = || checkpoint(client)["unsealed"] == json!([]);
    wait_for("all entries to be sequenced", TIMEOUT, || is_sequenced().then_some(()));
}

/// Creates a tenant with some entries, waits until all of them are sequenced, and stops the server. Returns the tenant.
fn sequenced_log(store: &Store) -> String {
    let server = store.serve();
    let session = server.client().register("admiral@navy.example");
    let client = server.client().with_token(&session.access);
    for number in 0..20 {
        let event = json!({ "action": "SAILED", "resourceType": "SHIP", "resourceId": number.to_string() });
        client.post("/api/v1/audit-logs", &event).expect(201);
    }
    wait_until_sequenced(&client);
    let tenant = text(&client.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
    server.stop();
    tenant
}

fn verify(store: &Store) -> Ended {
    store.iam_server().args(["audit", "verify", "--checkpoint", "kept"]).run()
}

fn keep(store: &Store) {
    let kept = store.iam_server().args(["audit", "checkpoint", "kept"]).run();
    assert_eq!(kept.code, Some(0), "{kept:?}");
}

#[test]
fn a_running_server_sequences_audit_entries() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let session = server.client().register("admiral@navy.example");
        let client = server.client().with_token(&session.access);
        wait_until_sequenced(&client);
        assert_eq!(checkpoint(&client)["treeSize"], 4, "the tenant, the user, its role, its login");
    }
}

#[test]
fn verify_finds_nothing_in_an_unchanged_log() {
    for store in [Store::sqlite(), Store::postgres()] {
        let tenant = sequenced_log(&store);
        keep(&store);
        let files: Vec<_> = fs::read_dir(store.home().path().join("kept")).unwrap().collect();
        let name = files[0].as_ref().unwrap().file_name().into_string().unwrap();
        assert_eq!((files.len(), name), (1, format!("{tenant}-24.checkpoint")));
        let verified = verify(&store);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        assert!(verified.output.contains(&format!("{tenant}: 24 entries sequenced")), "{verified:?}");
        assert!(verified.output.contains("1 kept checkpoints"), "{verified:?}");
    }
}

#[test]
fn verify_shows_its_progress_on_a_terminal_only() {
    const PROGRESS: &str = "log 1 of 1: 24 of 24 entries";
    let store = Store::sqlite();
    sequenced_log(&store);
    let written = store.iam_server().args(["audit", "verify"]).run_on_terminal();
    assert!(written.contains(PROGRESS), "{written:?}");
    assert!(written.ends_with("\r\x1b[K"), "{written:?}");
    let ended = store.iam_server().args(["audit", "verify"]).run();
    assert!(!ended.log.contains(PROGRESS) && !ended.output.contains(PROGRESS), "{ended:?}");
}

#[test]
fn verify_names_the_first_changed_entry() {
    for store in [Store::sqlite(), Store::postgres()] {
        sequenced_log(&store);
        keep(&store);
        store.tamper("UPDATE audit_entries SET resource_id = '99' WHERE resource_id IN ('7', '9')");
        let verified = verify(&store);
        assert_eq!(verified.code, Some(1), "{verified:?}");
        // The four entries of the registration come first.
        assert!(
            verified.output.contains("(sequence number 11) is not the entry that was recorded there"),
            "{verified:?}"
        );
        assert!(verified.log.contains("audit logs that failed verification: 1"), "{verified:?}");
    }
}

#[test]
fn the_server_does_not_continue_a_changed_log_and_reports_it() {
    for store in [Store::sqlite(), Store::postgres()] {
        sequenced_log(&store);
        store.tamper("UPDATE audit_logs SET size = 16, peaks = substr(peaks, 1, 32)");
        let server = store.serve();
        server.client().log_in("admiral@navy.example");
        let line = server.log().wait_for_line("does not match its own checkpoint");
        assert!(line.contains("ERROR"), "{line}");
        // The logs of other tenants go on.
        let session = server.client().register("captain@navy.example");
        wait_until_sequenced(&server.client().with_token(&session.access));
    }
}

#[test]
fn a_kept_checkpoint_detects_an_older_copy() {
    let store = Store::sqlite();
    sequenced_log(&store);
    let (database, copy) = (store.home().path().join("iam.db"), store.home().path().join("copy.db"));
    fs::copy(&database, &copy).unwrap();
    let server = store.serve();
    let session = server.client().log_in("admiral@navy.example");
    wait_until_sequenced(&server.client().with_token(&session.access));
    server.stop();
    keep(&store);
    assert_eq!(verify(&store).code, Some(0));
    fs::copy(&copy, &database).unwrap();
    let verified = verify(&store);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(verified.output.contains("an older copy was restored"), "{verified:?}");
}

/// A clock that is one year behind.
pub(crate) struct YearAgo;

impl Clock for YearAgo {
    fn now(&self) -> Timestamp {
        Utc::now() - TimeDelta::days(365)
    }
}

/// Registers a tenant with this administrator.
async fn register(iam: &Iam, email: &str) -> TenantId {
    let user = NewUser {
        email: email.to_owned(),
        password: PASSWORD.into(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
    };
    let registration = Registration { user, tenant_name: None };
    iam.tenants().register(&RequestContext::default(), registration).await.unwrap().tenant.id
}

/// Registers a tenant a year ago, with a retention of thirty days.
async fn old_log(store: Arc<dyn iam_core::Store>) {
    let iam = Iam::builder(store).clock(YearAgo).build().await.unwrap();
    let caller = Caller::system(register(&iam, "admiral@navy.example").await, "test");
    iam.audit().set_retention(&caller, Some(30)).await.unwrap();
    iam.sequence_audit_logs().await.unwrap();
    iam.close().await;
}

#[test]
fn retain_removes_old_entries_and_the_rest_still_verifies() {
    for store in [Store::sqlite(), Store::postgres()] {
        store.with_store(old_log);
        keep(&store);
        let retained = store.iam_server().args(["audit", "retain"]).run();
        assert_eq!((retained.code, retained.output.as_str()), (Some(0), "Entries removed: 5"), "{retained:?}");
        let server = store.serve();
        let session = server.client().log_in("admiral@navy.example");
        let client = server.client().with_token(&session.access);
        let entries = client.audit_entries("");
        let entries: Vec<_> = entries.iter().map(|entry| (&entry["resourceType"], &entry["action"])).collect();
        assert_eq!(entries, [(&json!("AUDIT_LOG"), &json!("DELETE")), (&json!("SESSION"), &json!("LOGIN"))]);
        wait_until_sequenced(&client);
        let verified = verify(&store);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        assert!(verified.output.contains("7 entries sequenced, 5 of them removed by retention"), "{verified:?}");
    }
}

const RETENTION: &str = "/api/v1/audit-logs/retention";

/// Registers two tenants a year ago.
async fn old_logs(store: Arc<dyn iam_core::Store>) {
    let iam = Iam::builder(store).clock(YearAgo).build().await.unwrap();
    register(&iam, "admiral@navy.example").await;
    register(&iam, "captain@navy.example").await;
    iam.sequence_audit_logs().await.unwrap();
    iam.close().await;
}

#[track_caller]
fn assert_removed(ended: &Ended, number: usize) {
    let expected = format!("Entries removed: {number}");
    assert_eq!((ended.code, ended.output.as_str()), (Some(0), expected.as_str()), "{ended:?}");
}

fn put_retention(client: &Client, days: &Value) -> Answer {
    client.send("PUT", RETENTION, Some(&json!({ "retentionDays": days }).to_string())).unwrap()
}

#[test]
fn the_operator_can_apply_a_pending_retention_at_once() {
    for store in [Store::sqlite(), Store::postgres()] {
        store.with_store(old_logs);
        let server = store.serve();
        let clients = ["admiral@navy.example", "captain@navy.example"]
            .map(|email| server.client().with_token(&server.client().log_in(email).access));
        for client in &clients {
            let set = put_retention(client, &json!(30)).expect(200);
            assert_eq!((&set["retentionDays"], &set["pending"]["retentionDays"]), (&Value::Null, &json!(30)));
        }
        let retain = |arguments: &[&str]| store.iam_server().args(["audit", "retain"]).args(arguments).run();
        assert_removed(&retain(&[]), 0);

        // Of one tenant: the four entries of its registration.
        let id = |client: &Client| text(&client.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
        assert_removed(&retain(&["--now", "--tenant", &id(&clients[0])]), 4);
        let counting = |client: &Client| {
            let retention = client.get(RETENTION).expect(200);
            (retention["retentionDays"].clone(), retention["pending"].is_null())
        };
        assert_eq!(clients.each_ref().map(counting), [(json!(30), true), (Value::Null, false)]);
        let creations = |client: &Client| client.audit_entries("&action=CREATE").len();
        assert_eq!(clients.each_ref().map(creations), [0, 2], "the tenant and the user");

        // Of all tenants, and of both by their ids.
        assert_removed(&retain(&["--now"]), 4);
        assert_eq!(clients.each_ref().map(counting), [(json!(30), true), (json!(30), true)]);
        assert_eq!(clients.each_ref().map(creations), [0, 0]);
        assert_removed(&retain(&["--now", "--tenant", &id(&clients[0]), "--tenant", &id(&clients[1])]), 0);
        for client in &clients {
            let entries = client.audit_entries("&resourceType=AUDIT_LOG&action=UPDATE");
            let by: Vec<&Value> = entries.iter().map(|entry| &entry["metadata"]["system"]).collect();
            assert_eq!(
                by,
                [&Value::Null, &json!("audit command")],
                "set by the user, applied once by the command: {entries:?}"
            );
            wait_until_sequenced(client);
        }
        server.stop();
        assert_eq!(store.iam_server().args(["audit", "verify"]).run().code, Some(0));
    }
}

#[test]
fn retain_accepts_a_tenant_only_by_its_id_and_with_now() {
    const ID: &str = "01a208e0-1452-7000-8000-1e7fc232f5e9";
    let store = Store::sqlite();
    for (arguments, expected) in [(vec!["--tenant", ID], "--now"), (vec!["--now", "--tenant", "navy"], "--tenant <ID>")]
    {
        let refused = store.iam_server().args(["audit", "retain"]).args(arguments).run();
        assert_eq!((refused.code, refused.output.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.log.contains(expected), "{refused:?}");
    }
    assert!(store.home().files().is_empty(), "{:?}", store.home().files());
}

#[test]
fn no_retention_is_shorter_than_the_operators_minimum() {
    for store in [Store::sqlite(), Store::postgres()] {
        let refused = |client: &Client, days: u32, least: u32| {
            let problem = put_retention(client, &json!(days)).expect(400);
            let error =
                json!({ "field": "retentionDays", "message": format!("must be from {least} to 36500, or null") });
            assert_eq!(problem["errors"], json!([error]));
        };
        store.with_store(old_logs);
        let server = store.serve();
        let client = server.client().with_token(&server.client().log_in("admiral@navy.example").access);
        refused(&client, 29, 30);
        put_retention(&client, &json!(30)).expect(200);
        server.stop();

        let least = |days: &str| store.iam_server().env("IAM_AUDIT_MIN_RETENTION", days);
        let server = least("400d").serve();
        let client = server.client().with_token(&server.client().log_in("admiral@navy.example").access);
        refused(&client, 399, 400);
        // A retention that was set before the minimum was raised removes no more than the minimum allows.
        assert_removed(&least("400d").args(["audit", "retain", "--now"]).run(), 0);
        put_retention(&client, &json!(400)).expect(200);
        put_retention(&client, &Value::Null).expect(200);
        server.stop();

        let server = least("25h").serve();
        let client = server.client().with_token(&server.client().log_in("admiral@navy.example").access);
        refused(&client, 1, 2);
        put_retention(&client, &json!(2)).expect(200);
        assert_removed(&least("25h").args(["audit", "retain", "--now"]).run(), 4);
    }
}

#[test]
fn an_error_names_a_file_that_is_not_a_checkpoint() {
    let store = Store::sqlite();
    store.home().file("note", "nonsense");
    let refused = store.iam_server().args(["audit", "verify", "--checkpoint", "note"]).run();
    assert_eq!(refused.code, Some(1));
    assert_eq!(refused.log.lines().last(), Some("iam-server: note is not a signed checkpoint"), "{refused:?}");
    let refused = store.iam_server().args(["audit", "verify", "--checkpoint", "missing"]).run();
    assert!(refused.log.contains("reading missing: No such file"), "{refused:?}");
}
