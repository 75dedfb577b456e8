//! The commands beside `serve`.

use std::path::Path;

use serde_json::Value;

use crate::client::{Client, text};
use crate::process::{Home, PATIENCE, wait_for};
use crate::store::Store;

#[test]
fn help_explains_every_command() {
    let home = Home::new();
    let help = home.iam_server().args(["--help"]).run();
    assert_eq!(help.code, Some(0));
    for word in [
        "serve",
        "migrate",
        "openapi",
        "keys",
        "audit",
        "--database-url",
        "IAM_DATABASE_URL",
        "http://127.0.0.1:8080/docs",
    ] {
        assert!(help.output.contains(word), "{word} is missing:\n{}", help.output);
    }
    for command in [
        vec!["serve"],
        vec!["migrate"],
        vec!["openapi"],
        vec!["keys"],
        vec!["keys", "rotate"],
        vec!["audit"],
        vec!["audit", "verify"],
    ] {
        let help = home.iam_server().args(&command).args(["--help"]).run();
        assert_eq!((help.code, help.log.as_str()), (Some(0), ""), "{command:?}");
        assert!(help.output.contains("Usage: iam-server"), "{}", help.output);
    }
    // Secrets that are set do not show.
    let help = home.iam_server().args(["--help"]).env("IAM_MASTER_KEY", "hunter2").env("IAM_DATABASE_URL", "hunter2");
    assert!(!help.run().output.contains("hunter2"));
    let version = home.iam_server().args(["--version"]).run().output;
    assert_eq!(version, format!("iam-server {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn migrate_prepares_a_database_and_stops() {
    for store in [Store::sqlite(), Store::postgres()] {
        for _ in 0..2 {
            let ended = store.iam_server().args(["migrate"]).run();
            assert_eq!(ended.code, Some(0), "{ended:?}");
            assert!(ended.log.contains("migrated"), "{ended:?}");
        }
        store.serve().client().get("/health/ready").expect(200);
    }
}

#[test]
fn openapi_prints_the_document_that_is_served_and_published() {
    let home = Home::new();
    let ended = home.iam_server().args(["openapi"]).run();
    assert_eq!((ended.code, ended.log.as_str()), (Some(0), ""));
    assert!(home.files().is_empty(), "it needs no database");
    let printed: Value = serde_json::from_str(&ended.output).unwrap();
    assert!(printed["openapi"].as_str().unwrap().starts_with("3.1"), "{}", printed["openapi"]);

    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    assert_eq!(server.client().get("/openapi.json").expect(200), printed);

    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/openapi.json");
    let published = std::fs::read_to_string(&path).unwrap();
    let is_same = published.trim_end() == ended.output;
    assert!(is_same, "write it anew: cargo run -- openapi > docs/openapi.json");
}

fn published_keys(client: &Client) -> Vec<String> {
    let keys = client.get("/.well-known/jwks.json").expect(200);
    keys["keys"].as_array().unwrap().iter().map(|key| text(&key["kid"])).collect()
}

#[test]
fn a_running_server_picks_up_a_rotated_key_and_logs_nobody_out() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let session = client.register("grace@navy.example");
        let before = published_keys(&client);
        assert_eq!(before.len(), 1, "{before:?}");

        let ended = store.iam_server().args(["keys", "rotate"]).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let after = wait_for("the rotated key to be published", 2 * PATIENCE, || {
            Some(published_keys(&client)).filter(|keys| keys.len() == 2)
        });
        assert!(after.contains(&before[0]), "{before:?} {after:?}");
        let is_new = |key: &&String| ended.output.contains(key.as_str()) && !before.contains(key);
        assert!(after.iter().any(|key| is_new(&key)), "{after:?}: {}", ended.output);
        client.with_token(&session.access).get("/api/v1/auth/me").expect(200);
        let fresh = client.log_in("grace@navy.example");
        client.with_token(&fresh.access).get("/api/v1/auth/me").expect(200);
    }
}
