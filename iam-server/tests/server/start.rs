//! What happens between the start and the first request.

use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection};

use crate::client::text;
use crate::process::{Ended, Home, Launch, Server};
use crate::store::Store;

/// 32 bytes in base64.
const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const OTHER_MASTER_KEY: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

/// Returns the only log line of a server that could not start.
#[track_caller]
fn only_line(ended: &Ended) -> &str {
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(ended.log.lines().count(), 1, "{}", ended.log);
    &ended.log
}

#[test]
fn without_settings_the_database_is_a_file_in_the_working_directory() {
    let home = Home::new();
    let server = home.serve();
    let session = server.client().register("grace@navy.example");
    assert!(home.files().contains(&"iam.db".to_owned()));
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(home.files(), ["iam.db"], "a clean stop leaves one file");

    let server = home.serve();
    server.client().log_in("grace@navy.example");
    let me = server.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
    assert_eq!(me["user"]["id"], session.user, "a session outlives a restart");
}

#[test]
fn the_log_names_the_address_and_the_first_step() {
    let home = Home::new();
    let server = home.serve();
    let (log, address) = (server.log(), server.address);
    assert!(log.wait_for_line(&format!("listening on http://{address}/api/v1")).contains("SQLite"));
    log.wait_for_line(&format!("http://{address}/docs"));
    let page = server.client().get("/docs/").expect(200);
    assert!(page.as_str().unwrap().contains("swagger-ui"), "{page}");

    // The first step, copied from the log, creates a tenant.
    let step = log.wait_for_line("there is no tenant yet");
    assert!(step.contains(&format!("http://{address}/api/v1/auth/register")), "{step}");
    let (_, body) = step.split_once("-d '").unwrap();
    let body: Value = serde_json::from_str(body.trim_end_matches('\'')).unwrap();
    server.client().post("/api/v1/auth/register", &body).expect(201);
    server.stop();

    let server = home.serve();
    server.log().wait_for_line("/docs");
    assert!(!server.stop().log.contains("auth/register"), "a tenant exists");
}

#[test]
fn the_log_names_postgresql() {
    let store = Store::postgres();
    let server = store.serve();
    assert!(server.log().wait_for_line("listening on").contains("PostgreSQL"));
    server.client().register("grace@navy.example");
    assert!(!server.stop().log.contains("WARN sqlx"));
    store.serve().client().log_in("grace@navy.example");
}

/// Releases before migration 0029 let an application register any name.
#[test]
fn the_log_names_permissions_whose_names_are_reserved_since_an_upgrade() {
    const RESERVED: &str = "had registered a reserved name";
    let constraint = "ALTER TABLE permissions DROP CONSTRAINT permissions_reserved_check;";
    for (store, migrations, unguard) in
        [(Store::sqlite(), "_iam_migrations", ""), (Store::postgres(), "_migrations", constraint)]
    {
        let server = store.serve();
        let session = server.client().register("grace@navy.example");
        let client = server.client().with_token(&session.access);
        let tenant = text(&client.get("/api/v1/auth/me").expect(200)["tenant"]["id"]);
        client.post("/api/v1/permissions", &json!({ "name": "orders:read" })).expect(201);
        let role = json!({ "name": "CLERK", "permissions": ["orders:read"] });
        let role = text(&client.post("/api/v1/roles", &role).expect(201)["id"]);
        assert!(!server.stop().log.contains(RESERVED));
        store.tamper(&format!(
            "{unguard}
            DROP TABLE unchecked_permissions;
            DELETE FROM {migrations} WHERE version = 29;
            UPDATE permissions SET name = 'iam-orders:read' WHERE name = 'orders:read';
            UPDATE role_permissions SET permission = 'iam-orders:read' WHERE permission = 'orders:read'"
        ));

        let server = store.serve();
        let line = server.log().wait_for_line(RESERVED);
        for part in ["WARN", &tenant, "permission=iam-orders:read", "renamed=app-iam-orders:read"] {
            assert!(line.contains(part), "{part}: {line}");
        }
        let client = server.client().with_token(&session.access);
        let renamed = client.get(&format!("/api/v1/roles/{role}")).expect(200);
        assert_eq!(renamed["permissions"], json!(["app-iam-orders:read"]));
        let entries = client.get(&format!("/api/v1/audit-logs?resourceId={role}&action=UPDATE")).expect(200);
        assert_eq!(entries["data"][0]["metadata"]["system"], "renaming of reserved permissions");
        assert!(entries["data"][0]["userId"].is_null());
        server.stop();
        assert!(!store.serve().stop().log.contains(RESERVED), "it is renamed once");
    }
}

#[test]
fn a_database_in_memory_causes_a_warning_and_no_file() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    assert!(server.log().wait_for_line("lost when the server stops").contains("WARN"));
    server.client().register("grace@navy.example");
    server.stop();
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[test]
fn the_server_is_ready_when_it_logs_that_it_listens() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        for prefix in ["", "/api/v1"] {
            let ready = server.client().get(&format!("{prefix}/health/ready")).expect(200);
            assert_eq!(ready["status"], "ok");
            assert_eq!(ready["checks"]["database"]["status"], "ok");
            assert!(ready["checks"]["database"]["latencyMs"].is_number());
            assert_eq!(ready["checks"]["migrations"]["status"], "ok");
            assert_eq!(server.client().get(&format!("{prefix}/health/live")).expect(200)["status"], "ok");
            let health = server.client().get(&format!("{prefix}/health")).expect(200);
            assert_eq!(health["service"], "iam-server");
            assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
        }
    }
}

#[test]
fn a_port_in_use_causes_one_log_line() {
    let home = Home::new();
    let first = home.iam_server().env("IAM_DATABASE_URL", "memory:").serve();
    let address = first.address.to_string();
    let second = home.iam_server().env("IAM_DATABASE_URL", "memory:").env("IAM_LISTEN", &address).run();
    assert!(only_line(&second).contains(&address), "{second:?}");
    first.client().get("/health").expect(200);
}

#[test]
fn a_file_of_deletions_that_cannot_be_written_causes_one_log_line() {
    let home = Home::new();
    for file in [".", "no/such/deletions"] {
        let refused = home.iam_server().env("IAM_LISTEN", "127.0.0.1:0").env("IAM_DELETIONS_FILE", file).run();
        assert!(only_line(&refused).contains(&format!("{file}, the file of IAM_DELETIONS_FILE")), "{refused:?}");
    }
}

#[test]
fn an_unusable_database_causes_one_log_line_without_its_password() {
    let home = Home::new();
    // Nothing listens on port 1.
    let unreachable = "postgres://iam:hunter2@127.0.0.1:1/iam";
    let no_port = "postgres://iam:hunter2@127.0.0.1:port/iam";
    let no_directory = "sqlite://no/such/hunter2/iam.db";
    let no_database = format!("sqlite://{}", home.file("notes.txt", "x".repeat(4096)).display());
    for url in [unreachable, no_port, no_directory, &no_database] {
        let ended = home.iam_server().env("IAM_DATABASE_URL", url).env("IAM_LISTEN", "127.0.0.1:0").run();
        let line = only_line(&ended);
        assert!(line.contains("opening the database"), "{line}");
        assert!(!line.contains("hunter2"), "{line}");
    }
}

#[test]
fn encrypted_keys_need_their_own_master_key() {
    let home = Home::new();
    let server = home.iam_server().env("IAM_MASTER_KEY", MASTER_KEY).serve();
    let session = server.client().register("grace@navy.example");
    assert!(!server.stop().log.contains("unencrypted"));

    let wrong = home.iam_server().env("IAM_MASTER_KEY", OTHER_MASTER_KEY).env("IAM_LISTEN", "127.0.0.1:0").run();
    assert!(only_line(&wrong).contains("another master key"), "{wrong:?}");
    assert!(!wrong.log.contains(OTHER_MASTER_KEY));
    let none = home.iam_server().env("IAM_LISTEN", "127.0.0.1:0").run();
    assert!(only_line(&none).contains("no master key is configured"), "{none:?}");

    let server = home.iam_server().env("IAM_MASTER_KEY", MASTER_KEY).serve();
    server.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
}

#[test]
fn a_change_of_the_master_key_ends_no_session() {
    for store in [Store::sqlite(), Store::postgres()] {
        let with = |master: &str| store.iam_server().env("IAM_MASTER_KEY", master);
        let replacing = || with(OTHER_MASTER_KEY).env("IAM_FORMER_MASTER_KEY", MASTER_KEY);
        let reencrypt = |launch: Launch| launch.args(["keys", "reencrypt"]).run();
        // The first keys are not encrypted.
        let server = store.serve();
        let session = server.client().register("grace@navy.example");
        let is_in = |server: &Server| server.client().with_token(&session.access).get("/api/v1/auth/me").expect(200);
        server.stop();
        let refused = reencrypt(store.iam_server());
        assert_eq!(refused.code, Some(1));
        assert!(refused.log.ends_with("iam-server: encrypting the signing keys: master_key is missing"), "{refused:?}");
        assert_eq!(
            reencrypt(with(MASTER_KEY)).output,
            "2 keys were encrypted. All keys are encrypted under the master key."
        );
        assert_eq!(store.iam_server().args(["keys", "list"]).run().output.matches("encrypted").count(), 2);

        // One server has the new master key, and another one still has the old one.
        let (old, new) = (with(MASTER_KEY).serve(), replacing().serve());
        is_in(&old);
        is_in(&new);
        assert_eq!(
            reencrypt(replacing()).output,
            "2 keys were encrypted. All keys are encrypted under the master key."
        );
        assert_eq!(
            reencrypt(replacing()).output,
            "0 keys were encrypted. All keys are encrypted under the master key."
        );
        let refused = with(MASTER_KEY).args(["keys", "rotate"]).run();
        assert!(refused.code == Some(1) && refused.log.contains("another master key"), "{refused:?}");
        let server = with(OTHER_MASTER_KEY).serve();
        is_in(&server);
        server.client().log_in("grace@navy.example");
    }
}

#[test]
fn unencrypted_keys_cause_one_warning() {
    let home = Home::new();
    let server = home.serve();
    assert!(server.log().wait_for_line("unencrypted").contains("WARN"));
    assert_eq!(server.stop().log.matches("stored unencrypted").count(), 1);
    let keys = home.iam_server().args(["keys", "rotate"]).run();
    assert_eq!((keys.code, keys.log.matches("stored unencrypted").count()), (Some(0), 1), "{keys:?}");
    let demo = home.iam_server().args(["demo", "--database-url", "sqlite://demo.db"]).run();
    assert_eq!((demo.code, demo.log.matches("stored unencrypted").count()), (Some(0), 0), "{demo:?}");
}

#[test]
fn a_server_that_waits_for_its_database_says_that_it_is_alive() {
    let home = Home::new();
    // It accepts connections and never answers, like a database whose migration another replica holds up.
    let database = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://iam@{}/iam", database.local_addr().unwrap());
    let server = home.iam_server().env("IAM_DATABASE_URL", url).start_answering();
    let client = server.client();
    for path in ["/health/live", "/api/v1/health/live"] {
        assert_eq!(client.get(path).expect(200), json!({ "status": "ok" }));
    }
    for path in ["/health/ready", "/api/v1/health/ready"] {
        let checks = &client.get(path).expect(503)["checks"];
        assert_eq!(
            (&checks["database"]["status"], &checks["migrations"]["status"]),
            (&json!("unavailable"), &json!("unavailable"))
        );
    }
    for path in ["/health", "/api/v1/users", "/openapi.json", "/console", "/nowhere"] {
        let problem = client.get(path).expect(503);
        assert!(problem["type"].as_str().unwrap().ends_with("/unavailable"), "{path}: {problem}");
        assert_eq!((&problem["retryAfter"], &problem["instance"]), (&json!(1), &json!(path)));
    }
    let ended = server.stop();
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_server_waits_until_no_other_process_has_locked_its_file() {
    let home = Home::new();
    let url = format!("sqlite://{}?mode=rwc", home.path().join("iam.db").display());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut other = runtime.block_on(SqliteConnection::connect(&url)).unwrap();
    let lock = runtime.block_on(other.begin_with("BEGIN EXCLUSIVE")).unwrap();
    let server = home.iam_server().start_answering();
    assert!(server.log().wait_for_line("no other process has locked it").contains("database is locked"));
    assert_eq!(server.client().get("/health/live").expect(200), json!({ "status": "ok" }));
    server.client().get("/health/ready").expect(503);
    runtime.block_on(lock.rollback()).unwrap();
    server.log().wait_for_line("listening on http");
    server.client().register("grace@navy.example");
    assert_eq!(server.stop().code, Some(0));
}
