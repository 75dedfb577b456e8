//! The commands other than `serve`.

use std::path::Path;

use iam_core::token::{KeyPurpose, PrivateKey};
use serde_json::Value;

use crate::client::{Client, text};
use crate::process::{Home, TIMEOUT, wait_for};
use crate::revocation::{READ, wait_until_refused};
use crate::store::Store;
use crate::user::reason;

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
        "healthcheck",
        "completions",
        "tenant",
        "user",
        "session",
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
        vec!["healthcheck"],
        vec!["import"],
        vec!["completions"],
        vec!["tenant"],
        vec!["tenant", "create"],
        vec!["tenant", "suspend"],
        vec!["tenant", "reactivate"],
        vec!["tenant", "delete"],
        vec!["tenant", "export"],
        vec!["user"],
        vec!["user", "create"],
        vec!["user", "reset-password"],
        vec!["user", "reset-factors"],
        vec!["user", "verify-email"],
        vec!["session"],
        vec!["session", "end-all"],
        vec!["keys", "list"],
        vec!["keys", "rotate"],
        vec!["keys", "revoke"],
        vec!["audit"],
        vec!["audit", "verify"],
        vec!["audit", "retain"],
    ] {
        let help = home.iam_server().args(&command).args(["--help"]).run();
        assert_eq!((help.code, help.log.as_str()), (Some(0), ""), "{command:?}");
        assert!(help.output.contains("Usage: iam-server"), "{}", help.output);
    }
    // The help does not show secrets that are set.
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
fn a_check_reports_missing_migrations_and_changes_nothing() {
    for store in [Store::sqlite(), Store::postgres()] {
        let check = || store.iam_server().args(["migrate", "--check"]).run();
        let absent = check();
        assert_eq!((absent.code, absent.output.as_str(), absent.log.lines().count()), (Some(1), "", 1), "{absent:?}");
        assert!(store.home().files().is_empty(), "{:?}", store.home().files());
        assert_eq!(check().log, absent.log, "the first check changed nothing");

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
fn a_check_reports_a_newer_database() {
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
fn completions_contain_the_commands_and_a_closed_output_causes_no_panic() {
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
fn healthcheck_fails_unless_the_server_answers_200() {
    let store = Store::sqlite();
    let server = store.serve();
    let address = server.address.to_string();
    let ask = |arguments: &[&str]| {
        let home = Home::new();
        home.iam_server().env("IAM_LISTEN", &address).args(["healthcheck"]).args(arguments).run()
    };
    assert_eq!(ask(&[]).code, Some(0));
    assert_eq!(ask(&["/api/v1/health/ready"]).code, Some(0));
    let refused = ask(&["/unknown"]);
    assert_eq!((refused.code, refused.log.as_str()), (Some(1), "iam-server: /unknown answers 404"));
    server.stop();
    assert_eq!(ask(&[]).code, Some(1));
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
    assert!(is_same, "update it: cargo run -- openapi > docs/openapi.json");
}

#[test]
fn keys_are_listed_with_their_purpose_and_the_state_of_the_private_key() {
    const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    for store in [Store::sqlite(), Store::postgres()] {
        let empty = store.iam_server().args(["keys", "list"]).run();
        assert_eq!((empty.code, empty.output.lines().count()), (Some(0), 1), "{empty:?}");
        store.iam_server().args(["keys", "rotate"]).run();
        let with_master_key = || store.iam_server().env("IAM_MASTER_KEY", MASTER_KEY);
        let rotated = with_master_key().args(["keys", "rotate"]).run();
        for list in [store.iam_server(), with_master_key()] {
            let listed = list.args(["keys", "list"]).run();
            assert_eq!((listed.code, listed.log.as_str()), (Some(0), ""), "{listed:?}");
            let rows: Vec<Vec<&str>> =
                listed.output.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
            let actual: Vec<(&str, &str)> = rows.iter().map(|row| (row[1], row[4])).collect();
            let access = |private| ("ACCESS_TOKENS", private);
            let expected = [access("plain"), access("plain"), access("encrypted"), ("CHECKPOINTS", "plain")];
            assert_eq!(actual, expected, "{}", listed.output);
            assert!(rotated.output.contains(rows[2][0]), "{rotated:?}");
            assert!(rows[2][2] < rows[2][3] && rows[2][3].ends_with('Z'), "{}", listed.output);
        }
    }
}

pub(crate) fn published_keys(client: &Client) -> Vec<String> {
    let keys = client.get("/.well-known/jwks.json").expect(200);
    keys["keys"].as_array().unwrap().iter().map(|key| text(&key["kid"])).collect()
}

#[test]
fn a_running_server_loads_a_rotated_key_and_keeps_all_sessions() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let session = client.register("grace@navy.example");
        let before = published_keys(&client);
        assert_eq!(before.len(), 1, "{before:?}");

        let ended = store.iam_server().args(["keys", "rotate"]).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let after = wait_for("the rotated key to be published", 2 * TIMEOUT, || {
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

/// Returns the keys that sign access tokens, oldest first, each with the state of its private key.
pub(crate) fn listed_keys(store: &Store) -> Vec<(String, String)> {
    let listed = store.iam_server().args(["keys", "list"]).run();
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let rows = listed.output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row[1] == "ACCESS_TOKENS").map(|row| (row[0].to_owned(), row[4].to_owned())).collect()
}

/// Revokes a key, and returns the key that signs instead.
#[track_caller]
fn revoke(store: &Store, key: &str) -> String {
    let ended = store.iam_server().args(["keys", "revoke", key]).run();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let rest = ended.output.strip_prefix(&format!("Key {key} is revoked. Key "));
    let signer = rest.and_then(|rest| rest.strip_suffix(" signs access tokens."));
    signer.unwrap_or_else(|| panic!("{ended:?}")).to_owned()
}

#[test]
fn tokens_of_a_revoked_key_are_refused_and_sessions_continue() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let session = client.register("grace@navy.example");
        let grace = client.with_token(&session.access);
        let me = grace.get("/api/v1/auth/me").expect(200);
        let before = published_keys(&client);
        let [leaked] = before.as_slice() else { panic!("{before:?}") };
        grace.get(READ).expect(200);

        let signer = revoke(&store, leaked);
        assert_ne!(signer, *leaked);
        wait_until_refused(&grace);
        assert_eq!(published_keys(&client), [signer.as_str()]);
        let fresh = client.refresh(&session).expect(200);
        let fresh = client.with_token(&text(&fresh["accessToken"]));
        fresh.get(READ).expect(200);
        assert_eq!(fresh.get("/api/v1/auth/me").expect(200)["session"]["id"], me["session"]["id"]);
        grace.get(READ).expect(401);
        client.with_token(&client.log_in("grace@navy.example").access).get(READ).expect(200);

        let actual = listed_keys(&store);
        assert_eq!(actual, [(leaked.clone(), "revoked".to_owned()), (signer.clone(), "plain".to_owned())]);
        store.with_store(|store| async move {
            let keys = store.signing_keys(KeyPurpose::AccessTokens).await.unwrap();
            let kept: Vec<_> =
                keys.iter().map(|key| (key.revoked_at.is_some(), key.private == PrivateKey::Erased)).collect();
            assert_eq!(kept, [(true, true), (false, false)], "revoked, erased");
        });
        // A server that starts later refuses the token, too.
        server.stop();
        let server = store.serve();
        server.client().with_token(&session.access).get(READ).expect(401);
        assert_eq!(published_keys(&server.client()), [signer.as_str()]);
    }
}

#[test]
fn an_existing_or_a_new_key_replaces_a_revoked_key() {
    for store in [Store::sqlite(), Store::postgres()] {
        assert_eq!(store.iam_server().args(["keys", "rotate"]).run().code, Some(0));
        let keys = listed_keys(&store);
        let [(first, _), (second, _)] = keys.as_slice() else { panic!("{keys:?}") };
        // The second key signs at once, although it would have signed only a minute later.
        assert_eq!(revoke(&store, first), *second);
        assert_eq!(listed_keys(&store).len(), 2);
        let third = revoke(&store, second);
        let actual = listed_keys(&store);
        let actual: Vec<(&str, &str)> = actual.iter().map(|(key, private)| (key.as_str(), private.as_str())).collect();
        assert_eq!(actual, [(first.as_str(), "revoked"), (second.as_str(), "revoked"), (third.as_str(), "plain")]);
        assert_eq!(revoke(&store, first), third, "the second revocation changes nothing");
        assert_eq!(listed_keys(&store).len(), 3);

        let server = store.serve();
        let client = server.client();
        client.with_token(&client.register("grace@navy.example").access).get(READ).expect(200);
        assert_eq!(published_keys(&client), [third]);
    }
}

#[test]
fn only_keys_for_access_tokens_can_be_revoked() {
    const UNKNOWN: &str = "01a208e0-1452-7000-8000-1e7fc232f5e9";
    let store = Store::sqlite();
    assert_eq!(store.iam_server().args(["keys", "rotate"]).run().code, Some(0));
    let listed = || store.iam_server().args(["keys", "list"]).run().output;
    let before = listed();
    let checkpoints = before.lines().find(|line| line.contains("CHECKPOINTS")).unwrap();
    for key in [UNKNOWN, checkpoints.split_whitespace().next().unwrap()] {
        let refused = store.iam_server().args(["keys", "revoke", key]).run();
        let expected = format!("iam-server: revoking the key {key}: key is no key that signs access tokens");
        assert_eq!(reason(&refused), expected);
    }
    let none = store.iam_server().args(["keys", "revoke", "newest"]).run();
    assert_eq!((none.code, none.output.as_str()), (Some(2), ""), "{none:?}");
    assert!(none.log.contains("newest") && none.log.contains("<KEY>"), "{none:?}");
    assert_eq!(listed(), before);
}
