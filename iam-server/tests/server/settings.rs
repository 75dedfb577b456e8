//! Settings: their sources, and invalid settings.

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, text};
use crate::process::{Ended, Home, Launch, free_address};
use crate::store::Store;

/// Every setting that can be invalid, with an invalid value. The flag, the variable and the key follow from the name.
/// The settings in [`FLAGLESS`] have no flag.
const WRONG: [(&str, &str); 44] = [
    ("database_url", "mysql://iam:hunter2@db/iam"),
    ("database_url", "hunter2"),
    ("listen", "hunter2"),
    ("listen", "127.0.0.1:65536"),
    ("registration", "hunter2"),
    ("metrics_listen", "hunter2"),
    ("client_connections", "0"),
    ("client_connections", "10001"),
    ("request_timeout", "31s"),
    ("password_wait", "0s"),
    ("rate_limits", "hunter2"),
    ("rate_limit_user", "hunter2"),
    ("rate_limit_authentication", "0"),
    ("rate_limit_anonymous", "1.5"),
    ("rate_limit_anonymous", "1000001"),
    ("rate_limit_redis_url", "http://hunter2"),
    ("rate_limit_redis_url", "redis://:hunter2@redis:port"),
    ("environment", ""),
    ("max_organization_depth", "hunter2"),
    ("max_organization_depth", "0"),
    ("master_key", "hunter2"),
    ("former_master_key", "hunter2"),
    // A former master key without a master key.
    ("former_master_key", "hunter2hunter2hunter2hunter2hunter2hunter2a="),
    ("key_rotation", "hunter2"),
    ("key_rotation", "0d"),
    // Less than a day.
    ("key_rotation", "86399s"),
    ("audit_min_retention", "hunter2"),
    ("audit_min_retention", "0d"),
    ("quota_users", "hunter2"),
    ("quota_users", "1.5"),
    ("quota_organizations", "hunter2"),
    ("quota_roles", "hunter2"),
    ("quota_assignments", "18446744073709551616"),
    ("quota_permissions", "hunter2"),
    ("quota_invitations", "hunter2"),
    ("quota_hourly_messages", "hunter2"),
    ("docs", "hunter2"),
    ("session_idle", "hunter2"),
    ("session_absolute", "0d"),
    ("log", "hunter2=hunter2=hunter2"),
    ("log_format", "hunter2"),
    ("otlp_endpoint", "localhost:4318"),
    ("otlp_endpoint", "https://iam:hunter2@collector:4318"),
    ("trace_sampling", "1.5"),
];

/// Secrets have no flag: the process list shows flags to all users.
const FLAGLESS: [&str; 2] = ["master_key", "former_master_key"];

/// Returns the only line of a server that refuses its settings.
#[track_caller]
fn refusal(launch: Launch) -> String {
    let Ended { code, output, log } = launch.run();
    assert_eq!(code, Some(2), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert_eq!(output, "");
    assert!(!log.contains("hunter2"), "{log}");
    log
}

/// Returns the environment in the health response of the server.
fn environment(launch: Launch) -> String {
    let server = launch.env("IAM_DATABASE_URL", "memory:").serve();
    text(&server.client().get("/health").expect(200)["environment"])
}

#[test]
fn a_flag_overrides_the_environment_and_the_environment_the_file() {
    let home = Home::new();
    let file = home.file("iam.toml", "environment = \"file\"\n");
    let from_file = || home.iam_server().env("IAM_CONFIG", &file);
    let from_environment = || from_file().env("IAM_ENVIRONMENT", "variable");
    assert_eq!(environment(home.iam_server()), "development");
    assert_eq!(environment(from_file()), "file");
    assert_eq!(environment(home.iam_server().args(["--config", "iam.toml"])), "file");
    assert_eq!(environment(from_environment()), "variable");
    assert_eq!(environment(from_environment().args(["--environment", "flag"])), "flag");
}

#[test]
fn the_flag_of_the_settings_file_overrides_its_variable() {
    let home = Home::new();
    home.file("flag.toml", "environment = \"flag\"\n");
    let launch = home.iam_server().env("IAM_CONFIG", "no-such-file.toml").args(["--config", "flag.toml"]);
    assert_eq!(environment(launch), "flag");
}

#[test]
fn database_url_is_overridden_by_iam_database_url_and_overrides_the_file() {
    let home = Home::new();
    home.file("iam.toml", "database_url = \"sqlite://file.db\"\n");
    let launch = || home.iam_server().env("IAM_CONFIG", "iam.toml");
    launch().env("DATABASE_URL", "sqlite://usual.db").env("IAM_DATABASE_URL", "sqlite://own.db").serve().stop();
    assert_eq!(home.files(), ["iam.toml", "own.db"]);
    launch().env("DATABASE_URL", "sqlite://usual.db").serve().stop();
    assert_eq!(home.files(), ["iam.toml", "own.db", "usual.db"]);
    launch().serve().stop();
    assert_eq!(home.files(), ["file.db", "iam.toml", "own.db", "usual.db"]);
}

#[test]
fn settings_take_effect() {
    let home = Home::new();
    home.file(
        "iam.toml",
        "database_url = \"memory:\"\n\
         registration = \"closed\"\n\
         problem_type_base = \"https://example.com/problems\"\n\
         trusted_proxies = [\"10.0.0.0/8\", \"192.0.2.1\"]\n\
         max_organization_depth = 7\n",
    );
    let server = home.iam_server().args(["serve", "--config", "iam.toml"]).serve();
    let body = json!({
        "email": "grace@navy.example", "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper",
    });
    let refused = server.client().post("/api/v1/auth/register", &body).expect(403);
    assert_eq!(refused["type"], "https://example.com/problems/forbidden");
}

#[test]
fn an_error_names_a_bad_value_from_any_source() {
    let home = Home::new();
    for (name, value) in WRONG {
        let flag = format!("--{}", name.replace('_', "-"));
        let variable = format!("IAM_{}", name.to_uppercase());
        let file = home.file("iam.toml", format!("{name} = '{value}'\n"));
        let has_flag = !FLAGLESS.contains(&name);
        let by_flag = has_flag.then(|| home.iam_server().args([&flag, value]));
        let others = [home.iam_server().env(&variable, value), home.iam_server().env("IAM_CONFIG", &file)];
        for launch in others.into_iter().chain(by_flag) {
            let line = refusal(launch);
            assert!(line.contains(name) && line.contains(&variable), "{line}");
            assert_eq!(line.contains(&flag), has_flag, "{line}");
        }
    }
    assert!(refusal(home.iam_server().env("IAM_TRUSTED_PROXIES", "proxy")).contains("IAM_TRUSTED_PROXIES"));
    assert!(refusal(home.iam_server().env("DATABASE_URL", "hunter2")).contains("database_url"));
}

#[test]
fn an_error_names_an_unknown_setting() {
    let home = Home::new();
    assert!(refusal(home.iam_server().env("IAM_LISTNE", "127.0.0.1:0")).contains("IAM_LISTNE"));
    assert!(refusal(home.iam_server().args(["--listne", "127.0.0.1:0"])).contains("--listne"));
    let file = home.file("iam.toml", "listen = \"127.0.0.1:0\"\nlistne = \"127.0.0.1:0\"\n");
    let line = refusal(home.iam_server().env("IAM_CONFIG", &file));
    assert!(line.contains("listne") && line.contains("iam.toml") && line.contains("line 2"), "{line}");
    assert!(refusal(home.iam_server().args(["frobnicate"])).contains("frobnicate"));
}

#[test]
fn every_command_refuses_bad_settings() {
    let home = Home::new();
    for command in [
        vec!["serve"],
        vec!["migrate"],
        vec!["migrate", "--check"],
        vec!["openapi"],
        vec!["config"],
        vec!["completions", "bash"],
        vec!["keys", "list"],
        vec!["keys", "rotate"],
        vec!["session", "end-all"],
    ] {
        assert!(refusal(home.iam_server().args(command).env("IAM_MASTER_KEY", "hunter2")).contains("master_key"));
    }
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[test]
fn an_error_names_an_unusable_file() {
    let home = Home::new();
    let mut cases = vec![home.file("directory.toml", "").with_file_name("missing.toml")];
    for (name, content) in [
        ("broken.toml", b"\nmaster_key = \"hunter2\n".as_slice()),
        ("unquoted.toml", b"master_key = hunter2\n"),
        ("twice.toml", b"master_key = 'hunter2'\nmaster_key = 'hunter2'\n"),
        ("table.toml", b"[master_key]\nhunter2 = 1\n"),
        ("boolean.toml", b"listen = true\n"),
        ("latin.toml", b"environment = '\xe9'\n"),
    ] {
        cases.push(home.file(name, content));
    }
    cases.push(tempfile::Builder::new().suffix(".toml").tempdir_in(cases[0].parent().unwrap()).unwrap().keep());
    for path in cases {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let line = refusal(home.iam_server().env("IAM_CONFIG", &path));
        assert!(line.contains(&name), "{line}");
    }
}

#[test]
fn metrics_are_shown_beside_the_api_or_at_an_address_of_their_own() {
    let home = Home::new();
    let memory = || home.iam_server().env("IAM_DATABASE_URL", "memory:");
    let server = memory().serve();
    server.client().get("/health").expect(200);
    let shown = server.client().get("/metrics").expect(200).to_string();
    for name in ["http_requests_total", "http_request_duration_ms", "database_query_duration_ms"] {
        assert!(shown.contains(name), "{name} in {shown}");
    }
    for name in ["active_sessions 0", "failed_login_attempts", "sweeper_last_success_timestamp_seconds"] {
        assert!(shown.contains(name), "{name} in {shown}");
    }
    let address = free_address();
    let server = memory().env("IAM_METRICS_LISTEN", address.to_string()).serve();
    server.client().get("/metrics").expect(404);
    let elsewhere = Client::of(address).get("/metrics").expect(200).to_string();
    assert!(elsewhere.contains("active_sessions 0"), "{elsewhere}");
}

#[test]
fn rate_limits_can_be_set_and_switched_off() {
    let home = Home::new();
    let statuses = |launch: Launch| {
        let server = launch.env("IAM_DATABASE_URL", "memory:").env("IAM_RATE_LIMIT_AUTHENTICATION", "2").serve();
        let client = server.client();
        [(); 3].map(|()| client.send("POST", "/auth/login", Some("{}")).unwrap().status)
    };
    assert_eq!(statuses(home.iam_server().env("IAM_RATE_LIMITS", "on")), [400, 400, 429]);
    assert_eq!(statuses(home.iam_server().env("IAM_RATE_LIMITS", "off")), [400, 400, 400]);
}

#[test]
fn a_master_key_comes_from_the_environment_or_the_file_but_no_flag() {
    const KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let home = Home::new();
    for flag in ["--master-key", "--former-master-key"] {
        let line = refusal(home.iam_server().args(["keys", "rotate", flag, KEY]));
        assert!(line.contains("unexpected argument") && line.contains(flag) && !line.contains(KEY), "{line}");
    }
    assert!(home.files().is_empty(), "{:?}", home.files());
    home.file("iam.toml", format!("master_key = '{KEY}'\n"));
    let from_file = |home: &Home| home.iam_server().env("IAM_CONFIG", "iam.toml");
    let from_environment = |home: &Home| home.iam_server().env("IAM_MASTER_KEY", KEY);
    for (database, launch) in [("file.db", from_file(&home)), ("environment.db", from_environment(&home))] {
        let url = format!("sqlite://{database}");
        let rotated = launch.env("IAM_DATABASE_URL", &url).args(["keys", "rotate"]).run();
        assert_eq!(rotated.code, Some(0), "{rotated:?}");
        let listed = home.iam_server().env("IAM_DATABASE_URL", &url).args(["keys", "list"]).run();
        let rows: Vec<&str> = listed.output.lines().skip(1).collect();
        assert_eq!(rows.len(), 3, "{listed:?}");
        assert!(rows.iter().all(|row| row.ends_with("  encrypted")), "{listed:?}");
    }
}

#[test]
fn the_shortest_rotation_of_keys_is_a_day() {
    let home = Home::new();
    let line = refusal(home.iam_server().env("IAM_KEY_ROTATION", "23h"));
    assert!(line.contains("key_rotation (--key-rotation, IAM_KEY_ROTATION) must be at least 1d"), "{line}");
    let memory = home.iam_server().env("IAM_DATABASE_URL", "memory:");
    memory.env("IAM_KEY_ROTATION", "1d").serve().client().get("/health").expect(200);
}

#[test]
fn the_documentation_can_be_switched_off() {
    let home = Home::new();
    let memory = || home.iam_server().env("IAM_DATABASE_URL", "memory:");
    let pages = ["/docs", "/docs/", "/docs/index.html", "/docs/swagger-ui.css", "/docs/book/audit", "/openapi.json"];
    let statuses = |client: &Client| pages.map(|page| client.get(page).status);
    let server = memory().env("IAM_DOCS", "on").serve();
    assert_eq!(statuses(&server.client()), [303, 200, 200, 200, 200, 200]);

    let server = memory().env("IAM_DOCS", "off").serve();
    let client = server.client();
    assert_eq!(statuses(&client), [404; 6]);
    // Everything else is still served.
    let session = client.register("grace@navy.example");
    for page in ["/api/v1/users", "/roles", "/.well-known/jwks.json", "/health", "/metrics"] {
        client.with_token(&session.access).get(page).expect(200);
    }
    assert_eq!(home.iam_server().env("IAM_DOCS", "off").args(["openapi"]).run().code, Some(0));
    // The log of the stopped server includes the messages of its start.
    let log = server.stop().log;
    assert!(log.contains("there is no tenant yet") && !log.contains("/docs"), "{log}");
}

/// Returns the id of a role in the tenant in which the client is logged in.
pub(crate) fn role(client: &Client, name: &str) -> String {
    let roles = client.get("/api/v1/roles").expect(200);
    text(&roles["data"].as_array().unwrap().iter().find(|role| role["name"] == name).unwrap()["id"])
}

#[test]
fn a_tenant_cannot_exceed_its_quotas() {
    for store in [Store::sqlite(), Store::postgres()] {
        // Registration creates a user, four roles and an assignment.
        let launch = store.iam_server().env("IAM_QUOTA_USERS", "2").env("IAM_QUOTA_ROLES", "5");
        let launch = launch.env("IAM_QUOTA_ORGANIZATIONS", "1").env("IAM_QUOTA_ASSIGNMENTS", "3");
        let launch = launch.env("IAM_QUOTA_USER_ASSIGNMENTS", "2");
        let server = launch.serve();
        let client = server.client();
        let ada = client.with_token(&client.register("ada@example.com").access);
        let user =
            |email: &str| json!({ "email": email, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        let refused = |path: &str, body: &Value, quota: &str| {
            let problem = ada.post(path, body).expect(409);
            assert_eq!(problem["detail"], format!("The tenant has reached its quota of {quota}."));
        };
        let grace = text(&ada.post("/api/v1/users", &user("grace@example.com")).expect(201)["id"]);
        refused("/api/v1/users", &user("jean@example.com"), "2 users");
        let assign = |role: &str| json!({ "userId": grace, "roleId": role });
        ada.post("/api/v1/role-assignments", &assign(&role(&ada, "MEMBER"))).expect(201);
        ada.post("/api/v1/role-assignments", &assign(&role(&ada, "AUDITOR"))).expect(201);
        let third = assign(&role(&ada, "TENANT_ADMIN"));
        refused("/api/v1/role-assignments", &third, "2 role assignments of one user");
        let me = text(&ada.get("/api/v1/auth/me").expect(200)["user"]["id"]);
        let fourth = json!({ "userId": me, "roleId": role(&ada, "MEMBER") });
        refused("/api/v1/role-assignments", &fourth, "3 role assignments");
        ada.post("/api/v1/organizations", &json!({ "name": "Fleet" })).expect(201);
        refused("/api/v1/organizations", &json!({ "name": "Harbour" }), "1 organizations");
        ada.post("/api/v1/roles", &json!({ "name": "PILOT", "permissions": [] })).expect(201);
        refused("/api/v1/roles", &json!({ "name": "COOK", "permissions": [] }), "5 roles");
        // Another tenant has quotas of its own.
        let jean = client.with_token(&client.register("jean@example.com").access);
        jean.post("/api/v1/users", &user("grace@example.com")).expect(201);
    }
}
