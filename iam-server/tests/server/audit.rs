//! The audit log as an operator meets it: sealed by the running server, checked and looked after by commands.

use std::fs;
use std::sync::Arc;

use chrono::{TimeDelta, Utc};
use iam_core::clock::{Clock, Timestamp};
use iam_core::tenant::Registration;
use iam_core::user::NewUser;
use iam_core::{Caller, Iam, RequestContext};
use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::process::{Ended, PATIENCE, wait_for};
use crate::store::Store;

fn checkpoint(client: &Client) -> Value {
    client.get("/api/v1/audit-logs/checkpoint").expect(200)
}

pub(crate) fn wait_until_sealed(client: &Client) {
    let is_sealed = || checkpoint(client)["unsealed"] == json!([]);
    wait_for("everything to be sealed", PATIENCE, || is_sealed().then_some(()));
}

/// A store with a tenant and some entries, all of them sealed; its server has stopped. Gives the tenant too.
fn sealed_log(store: &Store) -> String {
    let server = store.serve();
    let session = server.client().register("admiral@navy.example");
    let client = server.client().with_token(&session.access);
    for number in 0..20 {
        let event = json!({ "action": "SAILED", "resourceType": "SHIP", "resourceId": number.to_string() });
        client.post("/api/v1/audit-logs", &event).expect(201);
    }
    wait_until_sealed(&client);
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
fn a_running_server_seals_what_is_recorded() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let session = server.client().register("admiral@navy.example");
        let client = server.client().with_token(&session.access);
        wait_until_sealed(&client);
        assert_eq!(checkpoint(&client)["treeSize"], 4, "the tenant, the user, its role, its login");
    }
}

#[test]
fn verify_finds_nothing_on_an_untouched_log() {
    for store in [Store::sqlite(), Store::postgres()] {
        let tenant = sealed_log(&store);
        keep(&store);
        let files: Vec<_> = fs::read_dir(store.home().path().join("kept")).unwrap().collect();
        let name = files[0].as_ref().unwrap().file_name().into_string().unwrap();
        assert_eq!((files.len(), name), (1, format!("{tenant}-24.checkpoint")));
        let verified = verify(&store);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        assert!(verified.output.contains(&format!("{tenant}: 24 entries sealed")), "{verified:?}");
        assert!(verified.output.contains("1 kept checkpoints"), "{verified:?}");
    }
}

#[test]
fn verify_tells_a_terminal_alone_how_far_it_is() {
    const PROGRESS: &str = "log 1 of 1: 24 of 24 entries";
    let store = Store::sqlite();
    sealed_log(&store);
    let written = store.iam_server().args(["audit", "verify"]).run_on_terminal();
    assert!(written.contains(PROGRESS), "{written:?}");
    assert!(written.ends_with("\r\x1b[K"), "{written:?}");
    let ended = store.iam_server().args(["audit", "verify"]).run();
    assert!(!ended.log.contains(PROGRESS) && !ended.output.contains(PROGRESS), "{ended:?}");
}

#[test]
fn verify_names_the_first_entry_that_was_changed() {
    for store in [Store::sqlite(), Store::postgres()] {
        sealed_log(&store);
        keep(&store);
        store.tamper("UPDATE audit_entries SET resource_id = '99' WHERE resource_id IN ('7', '9')");
        let verified = verify(&store);
        assert_eq!(verified.code, Some(1), "{verified:?}");
        // After the four of the registration.
        assert!(verified.output.contains("(place 11) is not the entry that was recorded there"), "{verified:?}");
        assert!(verified.log.contains("audit logs that are not what was recorded: 1"), "{verified:?}");
    }
}

#[test]
fn a_log_that_was_changed_is_not_sealed_any_more_and_the_server_says_so() {
    for store in [Store::sqlite(), Store::postgres()] {
        sealed_log(&store);
        store.tamper("UPDATE audit_logs SET size = 16, peaks = substr(peaks, 1, 32)");
        let server = store.serve();
        server.client().log_in("admiral@navy.example");
        let line = server.log().wait_for_line("is not what its own checkpoint says");
        assert!(line.contains("ERROR"), "{line}");
        // Other tenants go on.
        let session = server.client().register("captain@navy.example");
        wait_until_sealed(&server.client().with_token(&session.access));
    }
}

#[test]
fn an_older_copy_is_found_out_by_a_checkpoint_that_was_kept() {
    let store = Store::sqlite();
    sealed_log(&store);
    let (database, copy) = (store.home().path().join("iam.db"), store.home().path().join("copy.db"));
    fs::copy(&database, &copy).unwrap();
    let server = store.serve();
    let session = server.client().log_in("admiral@navy.example");
    wait_until_sealed(&server.client().with_token(&session.access));
    server.stop();
    keep(&store);
    assert_eq!(verify(&store).code, Some(0));
    fs::copy(&copy, &database).unwrap();
    let verified = verify(&store);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(verified.output.contains("an older copy was restored"), "{verified:?}");
}

/// The clock of a year ago.
struct YearAgo;

impl Clock for YearAgo {
    fn now(&self) -> Timestamp {
        Utc::now() - TimeDelta::days(365)
    }
}

/// A tenant that was registered a year ago and keeps its entries for thirty days.
async fn old_log(store: Arc<dyn iam_core::Store>) {
    let iam = Iam::builder(store).clock(YearAgo).build().await.unwrap();
    let user = NewUser {
        email: "admiral@navy.example".to_owned(),
        password: PASSWORD.into(),
        first_name: "Grace".to_owned(),
        last_name: "Hopper".to_owned(),
    };
    let registration = Registration { user, tenant_name: None };
    let tenant = iam.tenants().register(&RequestContext::default(), registration).await.unwrap().tenant;
    let caller = Caller::system(tenant.id, "test");
    iam.audit().set_retention(&caller, Some(30)).await.unwrap();
    iam.seal_audit_logs().await.unwrap();
    iam.close().await;
}

#[test]
fn retain_removes_what_is_too_old_and_the_rest_is_still_proven() {
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
        wait_until_sealed(&client);
        let verified = verify(&store);
        assert_eq!(verified.code, Some(0), "{verified:?}");
        assert!(verified.output.contains("7 entries sealed, 5 of them removed by retention"), "{verified:?}");
    }
}

#[test]
fn a_file_that_is_no_checkpoint_is_named() {
    let store = Store::sqlite();
    store.home().file("note", "nonsense");
    let refused = store.iam_server().args(["audit", "verify", "--checkpoint", "note"]).run();
    assert_eq!(refused.code, Some(1));
    assert_eq!(refused.log.lines().last(), Some("iam-server: note is no signed checkpoint"), "{refused:?}");
    let refused = store.iam_server().args(["audit", "verify", "--checkpoint", "missing"]).run();
    assert!(refused.log.contains("reading missing: No such file"), "{refused:?}");
}
