//! The command `tenant export`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::client::{PASSWORD, text};
use crate::process::Ended;
use crate::store::Store;
use crate::user::{reason, tenant_of, try_log_in};

fn export(store: &Store, tenant: &str, arguments: &[&str]) -> Ended {
    store.iam_server().args(["tenant", "export", "--tenant", tenant]).args(arguments).run()
}

/// Returns the files that the index names, by their names. Checks that it is right about them, and that no other file is
/// there.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let index: Value = serde_json::from_str(&read("index.json")).unwrap();
    let mut files = BTreeMap::new();
    for file in index["files"].as_array().unwrap() {
        let name = text(&file["name"]);
        let content = read(&name);
        assert_eq!(file["lines"], content.lines().count(), "{name}");
        let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(text(&file["sha256"]), digest, "{name}");
        files.insert(name, content);
    }
    assert_eq!(fs::read_dir(directory).unwrap().count(), files.len() + 1);
    files
}

fn rows(content: &str) -> Vec<Value> {
    content.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_tenant_is_exported_without_secrets_and_without_its_neighbour() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let ada = client.with_token(&client.register("ada@example.com").access);
        client.register("grace@example.com");
        let tenant = tenant_of(&ada);
        let (id, slug) = (text(&tenant["id"]), text(&tenant["slug"]));
        let hook = json!({ "url": "https://hooks.example.com/iam", "types": ["USER.*"] });
        ada.post("/api/v1/webhooks", &hook).expect(201);
        let organization = json!({ "name": "Closed", "slug": "closed", "attributes": { "region": "north" } });
        let organization = ada.post("/api/v1/organizations", &organization).expect(201);
        let gone = ada.try_delete(&format!("/api/v1/organizations/{}", text(&organization["id"]))).unwrap();
        assert_eq!(gone.status, 204);
        let own = format!("/api/v1/users/{}", text(&ada.get("/api/v1/auth/me").expect(200)["user"]["id"]));
        let attributes = json!({ "costCentre": "4711", "deep": { "a": [1, null] } });
        ada.try_patch(&own, &json!({ "attributes": attributes })).unwrap().expect(200);

        let written = export(&store, &slug, &["out/"]);
        assert_eq!(written.code, Some(0), "{written:?}");
        let directory = store.home().path().join("out");
        let files = files(&directory);
        let users = rows(&files["users.ndjson"]);
        let emails: Vec<&Value> = users.iter().map(|user| &user["email"]).collect();
        assert_eq!(emails, ["ada@example.com"]);
        assert_eq!(users[0]["attributes"], attributes);
        assert_eq!(rows(&files["tenant.ndjson"])[0]["slug"], json!(slug));
        assert_eq!(rows(&files["roles.ndjson"]).len(), 4);
        assert_eq!(rows(&files["role-assignments.ndjson"]).len(), 1);
        let organization = &rows(&files["organizations.ndjson"])[0];
        assert_eq!(
            (&organization["status"], &organization["attributes"]["region"]),
            (&json!("INACTIVE"), &json!("north"))
        );
        assert_eq!(rows(&files["webhooks.ndjson"])[0]["url"], "https://hooks.example.com/iam");
        let entries = rows(&files["audit-log.ndjson"]);
        let has =
            |action: &str, kind: &str| entries.iter().any(|it| it["action"] == action && it["resourceType"] == kind);
        assert!(has("CREATE", "TENANT") && has("READ", "TENANT"), "{entries:?}");
        for (name, content) in &files {
            for absent in ["$argon2", "\"salt\"", "\"secret\"", "grace@example.com"] {
                assert!(!content.contains(absent), "{name} has {absent}");
            }
        }
        for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".ndjson")) {
            let names: Vec<String> = rows(content)
                .iter()
                .flat_map(|row| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>())
                .collect();
            assert!(!names.iter().any(|member| member.contains('_')), "{name}: {names:?}");
        }
        assert!(!files.contains_key("passwords.ndjson"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&directory), 0o700);
            for name in files.keys().map(String::as_str).chain(["index.json"]) {
                assert_eq!(mode(&directory.join(name)), 0o600, "{name}");
            }
        }
        let checkpoint = files.keys().find(|name| name.ends_with(".checkpoint")).unwrap();
        let checkpoint = directory.join(checkpoint);
        let verify = ["audit", "verify", "--tenant", &id, "--checkpoint", checkpoint.to_str().unwrap()];
        let verified = store.iam_server().args(verify).run();
        assert!(verified.code == Some(0) && verified.output.contains("1 kept checkpoints"), "{verified:?}");

        assert_eq!(reason(&export(&store, &slug, &["out"])), "iam-server: out exists");
        let interrupted = store.home().path().join("late.part");
        fs::create_dir(&interrupted).unwrap();
        let refused = export(&store, &slug, &["late"]);
        assert!(reason(&refused).starts_with("iam-server: late.part exists: another export is running"), "{refused:?}");
        fs::remove_dir(&interrupted).unwrap();
        assert_eq!(reason(&export(&store, "nowhere", &["new"])), "iam-server: there is no tenant nowhere");
        assert!(!store.home().files().iter().any(|name| name == "new" || name.ends_with(".part")));
        let exports = ada.audit_entries("&resourceType=TENANT&action=READ");
        assert_eq!(exports.len(), 1, "a refused export is none");
        assert_eq!(exports[0]["metadata"]["withCredentials"], false);
        assert_eq!(exports[0]["metadata"]["system"], "tenant export command");
    }
}

#[test]
fn the_checkpoint_of_an_export_is_under_all_entries_without_a_server() {
    let store = Store::sqlite();
    let person = ["--email", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace"];
    let created = store.iam_server().args(["tenant", "create", "--name", "New", "--slug", "new"]).args(person).run();
    assert_eq!(created.code, Some(0), "{created:?}");
    let written = export(&store, "new", &["out"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let files = files(&store.home().path().join("out"));
    let entries = rows(&files["audit-log.ndjson"]);
    assert!(entries.len() > 3, "{entries:?}");
    let expected = format!("-{}.checkpoint", entries.len());
    assert!(files.keys().any(|name| name.ends_with(&expected)), "{:?}", files.keys());
}

#[test]
fn exported_passwords_can_be_imported_elsewhere() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = server.client().with_token(&server.client().register("ada@example.com").access);
    let grace = json!({
        "email": "grace@example.com",
        "password": PASSWORD,
        "firstName": "Grace",
        "lastName": "Hopper",
        "externalId": "e-7",
        "attributes": { "costCentre": "4711", "floors": [1, 2] },
    });
    ada.post("/api/v1/users", &grace).expect(201);
    let id = text(&tenant_of(&ada)["id"]);
    let verify = ["user", "verify-email", "--tenant", &id, "--email", "grace@example.com"];
    assert_eq!(store.iam_server().args(verify).run().code, Some(0));
    // A program is no person, and is not imported as one.
    ada.post("/api/v1/service-accounts", &json!({ "name": "nightly" })).expect(201);
    let written = export(&store, &id, &["--with-credentials", "out"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let exports = ada.audit_entries("&resourceType=TENANT&action=READ");
    assert_eq!(exports[0]["metadata"]["withCredentials"], true);
    let directory = store.home().path().join("out");
    let passwords = rows(&files(&directory)["passwords.ndjson"]);
    assert_eq!(passwords.len(), 2);
    assert!(text(&passwords[0]["passwordHash"]).starts_with("$argon2id$"));
    let index: Value = serde_json::from_str(&fs::read_to_string(directory.join("index.json")).unwrap()).unwrap();
    assert_eq!(index["withoutHash"], json!({ "noPassword": 0, "bound": 0 }));

    let other = Store::sqlite();
    let person = ["--email", "root@example.com", "--first-name", "Rosa", "--last-name", "Root"];
    let created = other.iam_server().args(["tenant", "create", "--name", "New", "--slug", "new"]).args(person).run();
    assert_eq!(created.code, Some(0), "{created:?}");
    let file = directory.join("passwords.ndjson");
    let import = ["import", "--from", "ndjson", "--tenant", "new", file.to_str().unwrap()];
    let imported = other.iam_server().args(import).run();
    assert_eq!(imported.code, Some(0), "{imported:?}");
    let there = other.serve();
    for email in ["ada@example.com", "grace@example.com"] {
        try_log_in(&there.client(), email, PASSWORD, 200);
    }
    // An export there has what the first one has.
    let written = export(&other, "new", &["--with-credentials", "out"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let again = rows(&files(&other.home().path().join("out"))["passwords.ndjson"]);
    let of_grace = |rows: &[Value]| {
        let mut row = rows.iter().find(|row| row["email"] == "grace@example.com").unwrap().clone();
        row["passwordHash"].take();
        row
    };
    let expected = json!({
        "email": "grace@example.com",
        "firstName": "Grace",
        "lastName": "Hopper",
        "status": "ACTIVE",
        "externalId": "e-7",
        "emailVerified": true,
        "attributes": { "costCentre": "4711", "floors": [1, 2] },
        "passwordHash": null,
    });
    assert_eq!((of_grace(&passwords), of_grace(&again)), (expected.clone(), expected));
}
