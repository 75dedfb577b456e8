//! The command that prints the settings.

use crate::process::{Home, Launch};

const MASTER_KEY: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

#[track_caller]
fn config(launch: Launch) -> String {
    let ended = launch.args(["config"]).run();
    assert_eq!((ended.code, ended.log.as_str()), (Some(0), ""), "{ended:?}");
    ended.output
}

#[track_caller]
fn assert_line(output: &str, line: &str) {
    assert!(output.lines().any(|it| it == line), "{line} is missing:\n{output}");
}

#[test]
fn every_setting_is_printed_with_where_it_comes_from() {
    let home = Home::new();
    home.file("iam.toml", "issuer = 'a \"b\" c'\naudience = 'file'\nmax_organization_depth = 7\ntrusted_proxies = ['10.0.0.0/8', '::1']\n");
    let launch = home.iam_server().env("IAM_CONFIG", "iam.toml").env("IAM_AUDIENCE", "variable");
    let launch = launch.env("IAM_LISTEN", "127.0.0.1:1").env("DATABASE_URL", "sqlite://usual.db");
    let output = config(launch.args(["--listen", "127.0.0.1:2"]));
    for line in [
        r#"listen = "127.0.0.1:2" # --listen"#,
        r#"audience = "variable" # IAM_AUDIENCE"#,
        r#"database_url = "sqlite://usual.db" # DATABASE_URL"#,
        r#"issuer = "a \"b\" c" # file"#,
        r#"max_organization_depth = "7" # file"#,
        r#"trusted_proxies = "10.0.0.0/8,::1" # file"#,
        r#"problem_type_base = "https://iam.invalid/problems" # default"#,
        r#"session_idle = "7d" # default"#,
        "# master_key is not set",
    ] {
        assert_line(&output, line);
    }
    assert_eq!(home.files(), ["iam.toml"], "it needs no database");
}

#[test]
fn what_is_printed_is_a_settings_file() {
    let home = Home::new();
    let output = config(home.iam_server().env("IAM_ENVIRONMENT", "caf\u{e9} \\ \"x\""));
    home.file("iam.toml", &output);
    let again = config(home.iam_server().env("IAM_CONFIG", "iam.toml"));
    let values =
        |output: &str| output.lines().map(|line| line.split(" # ").next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(values(&output), values(&again));
}

#[test]
fn secrets_are_masked_wherever_they_stand() {
    let home = Home::new();
    let output = config(home.iam_server().env("IAM_MASTER_KEY", MASTER_KEY));
    assert_line(&output, r#"master_key = "***" # IAM_MASTER_KEY"#);
    assert!(!output.contains(MASTER_KEY));
    let output = config(home.iam_server().env("IAM_RATE_LIMIT_REDIS_URL", "redis://:hunter2@redis"));
    assert_line(&output, r#"rate_limit_redis_url = "***" # IAM_RATE_LIMIT_REDIS_URL"#);
    for (url, shown) in [
        ("postgres://iam@db/iam", "postgres://iam@db/iam"),
        ("postgres://iam:hunter2@db:5433/iam?sslmode=require", "postgres://iam:***@db:5433/iam?sslmode=require"),
        ("postgresql://db/iam?user=iam&password=hunter2", "postgresql://db/iam?user=iam&password=***"),
        ("postgres://db/iam?p%61ssword=hunter2", "postgres://db/iam?password=***"),
        ("postgres://iam:hun/ter2@db/iam", "***"),
        ("postgres://iam:1#hunter2@db/iam", "postgres://iam:1"),
    ] {
        let output = config(home.iam_server().env("IAM_DATABASE_URL", url));
        assert!(!output.contains("hunter2") && !output.contains("ter2"), "{output}");
        assert_line(&output, &format!("database_url = \"{shown}\" # IAM_DATABASE_URL"));
    }
}
