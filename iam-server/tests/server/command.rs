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
        "config",
        "completions",
        "tenant",
        "user",
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
        vec!["config"],
        vec!["completions"],
        vec!["tenant"],
        vec!["tenant", "create"],
        vec!["user"],
        vec!["user", "create"],
        vec!["user", "reset-password"],
        vec!["keys", "list"],
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
fn a_check_tells_whether_migrations_are_missing_and_changes_nothing() {
    for store in [Store::sqlite(), Store::postgres()] {
        let check = || store.iam_server().args(["migrate", "--check"]).run();
        let absent = check();
        assert_eq!((absent.code, absent.output.as_str(), absent.log.lines().count()), (Some(1), "", 1), "{absent:?}");
        assert!(store.home().files().is_empty(), "{:?}", store.home().files());
        assert_eq!(check().log, absent.log, "it is as it was");

        store.iam_server().args(["migrate"]).run();
        let migrated = check();
        assert_eq!((migrated.code, migrated.log.as_str()), (Some(0), ""), "{migrated:?}");
        assert_eq!(migrated.output, "The schema is up to date.");
    }
    let store = Store::sqlite();
    assert!(store.iam_server().args(["migrate", "--check"]).run().log.contains("there is no file iam.db"));
    store.home().file("iam.db", "");
    let behind = store.iam_server().args(["migrate", "--check"]).run();
    assert_eq!(behind.code, Some(1));
    assert_eq!(behind.log, "iam-server: migrations are missing: run `iam-server migrate`");
}

#[test]
fn a_check_tells_that_the_database_is_newer() {
    let columns = "description, installed_on, success, checksum, execution_time";
    for (store, table) in [(Store::sqlite(), "_iam_migrations"), (Store::postgres(), "_migrations")] {
        store.iam_server().args(["migrate"]).run();
        store.tamper(&format!("INSERT INTO {table} SELECT 9999, {columns} FROM {table} WHERE version = 1"));
        let newer = store.iam_server().args(["migrate", "--check"]).run();
        assert_eq!(newer.code, Some(1));
        assert_eq!(newer.log, "iam-server: the database has a migration that this program does not know");
    }
}

#[test]
fn completions_know_the_commands_and_a_closed_output_is_no_panic() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = home.iam_server().args(["completions", shell]).run();
        assert_eq!((ended.code, ended.log.as_str()), (Some(0), ""), "{shell}");
        assert!(ended.output.contains("reset-password"), "{shell}");
    }
    assert_eq!(home.iam_server().args(["completions", "basic"]).run().code, Some(2));
    assert!(home.files().is_empty(), "it needs no database");

    let closed = home.iam_server().args(["completions", "bash"]).run_unread();
    assert_eq!(closed.code, Some(1));
    assert!(closed.log.contains("writing to the standard output: Broken pipe"), "{closed:?}");
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

#[test]
fn keys_are_listed_with_their_purpose_and_whether_they_are_sealed() {
    const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    for store in [Store::sqlite(), Store::postgres()] {
        let empty = store.iam_server().args(["keys", "list"]).run();
        assert_eq!((empty.code, empty.output.lines().count()), (Some(0), 1), "{empty:?}");
        store.iam_server().args(["keys", "rotate"]).run();
        let sealing = || store.iam_server().env("IAM_MASTER_KEY", MASTER_KEY);
        let rotated = sealing().args(["keys", "rotate"]).run();
        for list in [store.iam_server(), sealing()] {
            let listed = list.args(["keys", "list"]).run();
            assert_eq!((listed.code, listed.log.as_str()), (Some(0), ""), "{listed:?}");
            let rows: Vec<Vec<&str>> =
                listed.output.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
            let told: Vec<(&str, &str)> = rows.iter().map(|row| (row[1], row[4])).collect();
            let access = |sealed| ("ACCESS_TOKENS", sealed);
            assert_eq!(told, [access("no"), access("no"), access("yes"), ("CHECKPOINTS", "no")], "{}", listed.output);
            assert!(rotated.output.contains(rows[2][0]), "{rotated:?}");
            assert!(rows[2][2] < rows[2][3] && rows[2][3].ends_with('Z'), "{}", listed.output);
        }
    }
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
