//! The commands of `tenant`.

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::process::{Ended, Launch, TIMEOUT, wait_for};
use crate::revocation::{READ, wait_until_refused};
use crate::store::Store;
use crate::user::{reason, tenant_of, try_log_in};

const ADMINISTRATOR: [&str; 6] = ["--email", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace"];

fn create(store: &Store, arguments: &[&str]) -> Launch {
    store.iam_server().args(["tenant", "create"]).args(arguments).args(ADMINISTRATOR)
}

fn log_in(client: &Client, email: &str, password: &str) -> Value {
    try_log_in(client, email, password, 200)
}

fn change(store: &Store, command: &str, tenant: &str) -> Ended {
    store.iam_server().args(["tenant", command, "--tenant", tenant]).run()
}

#[test]
fn a_tenant_can_be_created_while_registration_is_closed() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.iam_server().env("IAM_REGISTRATION", "closed").serve();
        server.log().wait_for_line("create the first with `iam-server tenant create`");
        let made = create(&store, &["--name", "Analytical Engines"]).env("IAM_REGISTRATION", "closed").run();
        assert_eq!(made.code, Some(0), "{made:?}");
        let lines: Vec<&str> = made.output.lines().collect();
        assert_eq!(lines.len(), 3, "{made:?}");
        assert!(lines[0].starts_with("Tenant analytical-engines ("), "{made:?}");
        assert!(lines[1].starts_with("ada@example.com ("), "{made:?}");
        let password = lines[2].strip_prefix("Password: ").unwrap();
        assert!(!made.log.contains(password), "{made:?}");

        let session = log_in(&server.client(), "ada@example.com", password);
        let client = server.client().with_token(&text(&session["accessToken"]));
        let me = client.get("/api/v1/auth/me").expect(200);
        assert_eq!(me["roles"][0]["role"]["name"], "TENANT_ADMIN");
        assert_eq!(client.get("/api/v1/roles").expect(200)["pagination"]["total"], 4);
        let entries = client.audit_entries("");
        let (login, made) = entries.split_last().unwrap();
        assert_eq!(login["action"], "LOGIN");
        let actions: Vec<String> =
            made.iter().map(|it| format!("{} {}", text(&it["resourceType"]), text(&it["action"]))).collect();
        assert_eq!(actions, ["TENANT CREATE", "USER CREATE", "ROLE_ASSIGNMENT ROLE_ASSIGNED"]);
        assert!(made.iter().all(|entry| entry["metadata"]["system"] == "tenant create command"), "{made:?}");
        assert!(made.iter().all(|entry| entry["userId"].is_null()), "{made:?}");
        assert!(!json!(entries).to_string().contains(password));
    }
}

#[test]
fn a_slug_and_a_password_can_be_given() {
    let store = Store::sqlite();
    let made = create(&store, &["--name", "Acme", "--slug", "acme-2", "--password-stdin"]);
    let made = made.input(&format!("{PASSWORD}\n")).run();
    assert_eq!(made.code, Some(0), "{made:?}");
    assert!(made.output.starts_with("Tenant acme-2 ("), "{made:?}");
    assert!(!made.output.contains("Password") && !made.output.contains(PASSWORD), "{made:?}");
    log_in(&store.serve().client(), "ada@example.com", PASSWORD);
}

#[test]
fn an_invalid_tenant_causes_a_one_line_error() {
    let store = Store::sqlite();
    assert_eq!(create(&store, &["--name", "Acme"]).run().code, Some(0));
    let taken = create(&store, &["--name", "Acme", "--slug", "acme"]).run();
    assert_eq!(reason(&taken), "iam-server: creating the tenant Acme: This slug is already taken.");
    let weak = create(&store, &["--name", "Weak", "--password-stdin"]).input("hunter2").run();
    assert!(reason(&weak).starts_with("iam-server: creating the tenant Weak: password must have 8"), "{weak:?}");
    assert!(!weak.log.contains("hunter2"), "{weak:?}");
    for input in ["", "\n", "\nhunter2"] {
        let none = create(&store, &["--name", "None", "--password-stdin"]).input(input).run();
        assert_eq!(reason(&none), "iam-server: there is no password in the standard input");
    }
    let bad = create(&store, &["--name", " ", "--slug", "A"]).run();
    assert!(reason(&bad).contains("name must") && reason(&bad).contains("; slug must"), "{bad:?}");
    let missing = store.iam_server().args(["tenant", "create", "--name", "Acme"]).run();
    assert_eq!(missing.code, Some(2));
    assert!(missing.log.contains("not provided: --email <ADDRESS>; --first-name <NAME>"), "{missing:?}");
    store
        .serve()
        .client()
        .post("/api/v1/auth/login", &json!({ "email": "weak@example.com", "password": PASSWORD }))
        .expect(401);
}

#[test]
fn a_suspended_tenant_admits_no_user_until_it_is_reactivated() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let session = client.register("ada@example.com");
        let ada = client.with_token(&session.access);
        let neighbour = client.with_token(&client.register("grace@example.com").access);
        let tenant = tenant_of(&ada);
        let (id, slug) = (text(&tenant["id"]), text(&tenant["slug"]));
        ada.get(READ).expect(200);

        // By the slug, and then by the id.
        for named in [&slug, &id] {
            let suspended = change(&store, "suspend", named);
            let expected = format!("Tenant {slug} ({id}) is suspended and has no sessions.");
            assert_eq!((suspended.code, suspended.output), (Some(0), expected), "{}", suspended.log);
        }
        wait_until_refused(&ada);
        client.refresh(&session).expect(401);
        let refused = try_log_in(&client, "ada@example.com", PASSWORD, 403);
        assert_eq!(refused["detail"], "The tenant is suspended.");
        try_log_in(&client, "ada@example.com", "Wr0ng pass!", 401);
        let named = json!({ "email": "ada@example.com", "password": PASSWORD, "tenant": slug });
        client.post("/api/v1/auth/login", &named).expect(403);
        neighbour.get(READ).expect(200);
        client.log_in("grace@example.com");

        for named in [&slug, &id] {
            let reactivated = change(&store, "reactivate", named);
            let expected = format!("Tenant {slug} ({id}) is active.");
            assert_eq!((reactivated.code, reactivated.output), (Some(0), expected), "{}", reactivated.log);
        }
        let ada_again = client.with_token(&client.log_in("ada@example.com").access);
        ada_again.get(READ).expect(200);
        client.post("/api/v1/auth/login", &named).expect(200);
        // Ended sessions stay ended.
        ada.get(READ).expect(401);
        client.refresh(&session).expect(401);
        let changes = ada_again.audit_entries("&resourceType=TENANT&action=UPDATE");
        let changes: Vec<(&Value, &Value)> =
            changes.iter().map(|entry| (&entry["metadata"]["system"], &entry["newValue"]["status"])).collect();
        let by = |command: &str, status: &str| (json!(format!("tenant {command} command")), json!(status));
        let [suspended, reactivated] = [by("suspend", "SUSPENDED"), by("reactivate", "ACTIVE")];
        assert_eq!(changes, [(&suspended.0, &suspended.1), (&reactivated.0, &reactivated.1)], "each of them once");
    }
}

#[test]
fn an_unknown_tenant_is_neither_suspended_nor_reactivated() {
    let store = Store::sqlite();
    let server = store.serve();
    let session = server.client().register("ada@example.com");
    for command in ["suspend", "reactivate"] {
        let nowhere = change(&store, command, "nowhere");
        assert_eq!(reason(&nowhere), "iam-server: there is no tenant nowhere");
        let unnamed = store.iam_server().args(["tenant", command]).run();
        assert_eq!(unnamed.code, Some(2), "{unnamed:?}");
        assert!(unnamed.log.contains("--tenant <TENANT>"), "{unnamed:?}");
    }
    server.client().with_token(&session.access).get(READ).expect(200);
}

/// `tenant delete` for a tenant.
fn delete(store: &Store, tenant: &str, arguments: &[&str]) -> Ended {
    store.iam_server().args(["tenant", "delete", "--tenant", tenant]).args(arguments).run()
}

#[test]
fn a_deletion_can_be_called_off_until_it_begins() {
    let store = Store::sqlite();
    let server = store.serve();
    let client = server.client();
    let ada = client.with_token(&client.register("ada@example.com").access);
    let tenant = text(&tenant_of(&ada)["slug"]);
    let preview = delete(&store, &tenant, &["--dry-run"]);
    assert!(preview.output.contains("1 users, 0 organizations, 4 roles, 1 role assignments"), "{preview:?}");
    let path = format!("/api/v1/tenants/{}/deletion", text(&tenant_of(&ada)["id"]));
    assert_eq!(ada.get(&path).expect(200)["deletionAt"], Value::Null);
    let reason = ["--reason", "The contract has ended."];
    let scheduled = delete(&store, &tenant, &[&["--audit-log", "keep"][..], &reason[..]].concat());
    assert_eq!(scheduled.code, Some(0), "{scheduled:?}");
    let cancel = format!("iam-server tenant delete --tenant {} --cancel --reason TEXT", text(&tenant_of(&ada)["id"]));
    assert!(scheduled.output.ends_with(&cancel), "{scheduled:?}");
    let shown = ada.get(&path).expect(200);
    assert!(scheduled.output.contains(&format!("after {}.", text(&shown["deletionAt"]))), "{scheduled:?}");
    assert_eq!((&shown["keepsLog"], &shown["reason"]), (&json!(true), &json!("The contract has ended.")));
    assert!(shown["deletionAt"].is_string(), "{shown}");
    let again = delete(&store, &tenant, &[&["--audit-log", "erase"][..], &reason[..]].concat());
    assert!(again.log.contains("The deletion of the tenant is scheduled already."), "{again:?}");
    let cancelled = delete(&store, &tenant, &[&["--cancel"][..], &reason[..]].concat());
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    assert_eq!(ada.get(&path).expect(200)["deletionAt"], Value::Null);
    let changes = ada.audit_entries("&resourceType=TENANT&action=UPDATE");
    let reasons: Vec<&Value> = changes.iter().map(|entry| &entry["metadata"]["reason"]).collect();
    assert_eq!(reasons, [&json!("The contract has ended."); 2]);
    for missing in [vec![], vec!["--audit-log", "keep"], vec!["--reason", "x"], vec!["--cancel"]] {
        assert_eq!(delete(&store, &tenant, &missing).code, Some(2), "{missing:?}");
    }
}

/// The server is killed between the beginning of the deletion and its end.
#[test]
fn a_deleted_tenant_leaves_its_log_and_a_record_outside() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register("ada@example.com").access);
        client.register("grace@example.com");
        let tenant = tenant_of(&ada);
        let (id, slug) = (text(&tenant["id"]), text(&tenant["slug"]));
        server.stop();
        let arguments = ["--after", "0d", "--audit-log", "keep", "--reason", "The contract has ended."];
        let scheduled = delete(&store, &slug, &arguments);
        assert_eq!(scheduled.code, Some(0), "{scheduled:?}");

        let file = store.home().path().join("deletions");
        let serve = || store.iam_server().env("IAM_DELETIONS_FILE", file.to_str().unwrap()).serve();
        let server = serve();
        let verify = || store.iam_server().args(["audit", "verify", "--tenant", &id]).run();
        let has_begun = || {
            let named = json!({ "email": "ada@example.com", "password": PASSWORD, "tenant": id });
            let is_refused = server.client().try_post("/api/v1/auth/login", &named).is_ok_and(|it| it.status != 200);
            (is_refused && verify().output.contains(", 0 pending")).then_some(())
        };
        wait_for("the deletion to begin", TIMEOUT, has_begun);
        server.kill();
        let server = serve();
        let line = wait_for("the record of the deletion", TIMEOUT, || {
            std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n'))
        });
        let record: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&record["tenantId"], &record["slug"], &record["keepsLog"]),
            (&json!(id), &json!(slug), &json!(true))
        );
        assert_eq!(record["contents"]["users"], 1);
        let is_gone = || delete(&store, &slug, &["--dry-run"]).log.contains("there is no tenant").then_some(());
        wait_for("the tenant to be gone", TIMEOUT, is_gone);
        let verified = verify();
        assert!(verified.output.contains(text(&record["logRoot"]).as_str()), "{verified:?}");
        assert_eq!(verified.code, Some(0), "{verified:?}");
        let retained = store.iam_server().args(["audit", "retain", "--now"]).run();
        assert_eq!((retained.code, retained.output.as_str()), (Some(0), "Entries removed: 0"), "{retained:?}");
        server.client().log_in("grace@example.com");
    }
}
