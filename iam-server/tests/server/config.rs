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
fn every_setting_is_printed_with_its_source() {
    let home = Home::new();
    home.file("iam.toml", "issuer = 'a \"b\" c'\naudience = 'file'\nmax_organization_depth = 7\ntrusted_proxies = ['10.0.0.0/8', '::1']\n");
    let launch = home.iam_server().env("IAM_CONFIG", "iam.toml").env("IAM_AUDIENCE", "variable");
    let launch = launch.env("IAM_LISTEN", "127.0.0.1:1").env("DATABASE_URL", "sqlite://usual.db");
    let output = config(launch.env("IAM_DOCS", "off").args(["--listen", "127.0.0.1:2"]));
    for line in [
        r#"listen = "127.0.0.1:2" # --listen"#,
        r#"audience = "variable" # IAM_AUDIENCE"#,
        r#"database_url = "sqlite://usual.db" # DATABASE_URL"#,
        r#"issuer = "a \"b\" c" # file"#,
        r#"max_organization_depth = "7" # file"#,
        r#"trusted_proxies = "10.0.0.0/8,::1" # file"#,
        r#"problem_type_base = "https://iam.invalid/problems" # default"#,
        r#"session_idle = "7d" # default"#,
        r#"key_rotation = "90d" # default"#,
        r#"audit_min_retention = "30d" # default"#,
        r#"quota_users = "100000" # default"#,
        r#"docs = "off" # IAM_DOCS"#,
        "# master_key is not set",
        "# former_master_key is not set",
    ] {
        assert_line(&output, line);
    }
    assert_eq!(home.files(), ["iam.toml"], "it needs no database");
}

#[test]
fn the_output_is_a_settings_file() {
    let home = Home::new();
    let output = config(home.iam_server().env("IAM_ENVIRONMENT", "caf\u{e9} \\ \"x\""));
    home.file("iam.toml", &output);
    let again = config(home.iam_server().env("IAM_CONFIG", "iam.toml"));
    let values =
        |output: &str| output.lines().map(|line| line.split(" # ").next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(values(&output), values(&again));
}

#[test]
fn secrets_are_masked_everywhere() {
    let home = Home::new();
    let output = config(home.iam_server().env("IAM_MASTER_KEY", MASTER_KEY));
    assert_line(&output, r#"master_key = "***" # IAM_MASTER_KEY"#);
    assert!(!output.contains(MASTER_KEY));
    home.file("iam.toml", format!("master_key = '{MASTER_KEY}'\nformer_master_key = '{MASTER_KEY}'\n"));
    let output = config(home.iam_server().env("IAM_CONFIG", "iam.toml"));
    assert_line(&output, r#"master_key = "***" # file"#);
    assert_line(&output, r#"former_master_key = "***" # file"#);
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

/// Returns the settings of the help and their defaults, if these are values and not remarks.
fn defaults_in_help(help: &str) -> Vec<(String, String)> {
    let (_, options) = help.split_once("Options:").unwrap();
    let mut entries: Vec<String> = Vec::new();
    for line in options.lines().map(str::trim) {
        match entries.last_mut() {
            Some(entry) if !line.starts_with('-') => *entry = format!("{entry} {line}"),
            _ => entries.push(line.to_owned()),
        }
    }
    let default = |entry: &String| {
        let name = entry.strip_prefix("--")?.split_whitespace().next()?.replace('-', "_");
        let (default, _) = entry.split_once("[default: ")?.1.split_once(']')?;
        let default = default.trim_matches('`').to_owned();
        (default != "none" && !default.contains(' ')).then_some((name, default))
    };
    entries.iter().filter_map(default).collect()
}

#[test]
fn the_defaults_in_the_help_are_valid_values() {
    let home = Home::new();
    let defaults = defaults_in_help(&home.iam_server().args(["--help"]).run().output);
    let names: Vec<&str> = defaults.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["listen", "key_rotation", "audit_min_retention", "quota_assignments", "docs", "trace_sampling"] {
        assert!(names.contains(&name), "{name} is missing: {defaults:?}");
    }
    let file: String = defaults.iter().map(|(name, default)| format!("{name} = '{default}'\n")).collect();
    home.file("iam.toml", file);
    let output = config(home.iam_server().env("IAM_CONFIG", "iam.toml"));
    for (name, default) in &defaults {
        assert_line(&output, &format!("{name} = \"{default}\" # file"));
    }
}

#[test]
fn the_documents_list_every_setting() {
    let home = Home::new();
    let output = config(home.iam_server());
    let name = |line: &str| line.trim_start_matches("# ").split(' ').next().unwrap().to_owned();
    let settings: Vec<String> = output.lines().map(name).collect();
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operating.md")).unwrap();
    let (_, table) = document.split_once("| Flag, variable |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let documented = |row: &str| {
        let (_, variable) = row.split_once("`IAM_").unwrap();
        variable.split('`').next().unwrap().to_lowercase()
    };
    assert_eq!(rows.map(documented).collect::<Vec<_>>(), settings);
}
