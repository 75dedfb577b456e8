//! Settings: where they come from, and what is refused.

use crate::client::Client;
use crate::process::{Ended, Home, Launch};

/// Every setting that can be wrong, with a value that is. Flag, variable and key follow from the name.
const WRONG: [(&str, &str); 30] = [
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
    // Before what?
    ("former_master_key", "hunter2hunter2hunter2hunter2hunter2hunter2a="),
    ("session_idle", "hunter2"),
    ("session_absolute", "0d"),
    ("log", "hunter2=hunter2=hunter2"),
    ("log_format", "hunter2"),
    ("otlp_endpoint", "localhost:4318"),
    ("otlp_endpoint", "https://iam:hunter2@collector:4318"),
    ("trace_sampling", "1.5"),
];

/// The line of a server that refuses its settings.
#[track_caller]
fn refusal(launch: Launch) -> String {
    let Ended { code, output, log } = launch.run();
    assert_eq!(code, Some(2), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert_eq!(output, "");
    assert!(!log.contains("hunter2"), "{log}");
    log
}

/// Where the server says it runs.
fn environment(launch: Launch) -> String {
    let server = launch.env("IAM_DATABASE_URL", "memory:").serve();
    crate::client::text(&server.client().get("/health").expect(200)["environment"])
}

#[test]
fn a_flag_counts_before_the_environment_and_that_before_the_file() {
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
fn the_flag_for_the_file_counts_before_its_variable() {
    let home = Home::new();
    home.file("flag.toml", "environment = \"flag\"\n");
    let launch = home.iam_server().env("IAM_CONFIG", "no-such-file.toml").args(["--config", "flag.toml"]);
    assert_eq!(environment(launch), "flag");
}

#[test]
fn the_usual_variable_for_a_database_counts_after_our_own_and_before_the_file() {
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
fn settings_change_what_they_are_for() {
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
    let body = serde_json::json!({
        "email": "grace@navy.example", "password": crate::client::PASSWORD, "firstName": "Grace", "lastName": "Hopper",
    });
    let refused = server.client().post("/api/v1/auth/register", &body).expect(403);
    assert_eq!(refused["type"], "https://example.com/problems/forbidden");
}

#[test]
fn a_bad_value_is_named_wherever_it_was_given() {
    let home = Home::new();
    for (name, value) in WRONG {
        let flag = format!("--{}", name.replace('_', "-"));
        let variable = format!("IAM_{}", name.to_uppercase());
        let file = home.file("iam.toml", format!("{name} = '{value}'\n"));
        for launch in [
            home.iam_server().args([&flag, value]),
            home.iam_server().env(&variable, value),
            home.iam_server().env("IAM_CONFIG", &file),
        ] {
            let line = refusal(launch);
            assert!(line.contains(name) && line.contains(&flag) && line.contains(&variable), "{line}");
        }
    }
    assert!(refusal(home.iam_server().env("IAM_TRUSTED_PROXIES", "proxy")).contains("IAM_TRUSTED_PROXIES"));
    assert!(refusal(home.iam_server().env("DATABASE_URL", "hunter2")).contains("database_url"));
}

#[test]
fn what_is_no_setting_is_named() {
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
    ] {
        assert!(refusal(home.iam_server().args(command).env("IAM_MASTER_KEY", "hunter2")).contains("master_key"));
    }
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
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
    // Taken for a moment, to find one that is free.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
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
