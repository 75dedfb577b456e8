//! The settings. A value comes from a flag, or else the environment, a TOML file or the default, in this order
//! (`docs/operating.md#settings`).

mod draft;
mod list;
mod source;
mod value;

use std::env;

pub(crate) use self::draft::{MailRoute, MailSettings, Settings};
pub(crate) use self::list::{SETTINGS, Setting};
pub(crate) use self::source::{Arguments, SettingsError, Text};
pub(crate) use self::value::{CONNECTIONS, Database, LONGEST_REQUEST, LogFormat};

use self::draft::Draft;
use self::source::{Given, refuse_unknown_variables};

impl Settings {
    /// Reads the settings from all sources and validates them.
    pub(crate) fn resolve(arguments: &Arguments) -> Result<Self, SettingsError> {
        refuse_unknown_variables(env::vars_os().filter_map(|(name, _)| name.into_string().ok()))?;
        Self::check(&arguments.read()?)
    }

    fn check(given: &Given) -> Result<Self, SettingsError> {
        let mut draft = Draft::default();
        for setting in SETTINGS {
            if let Some(Text { text, .. }) = given.get(setting) {
                let set = (setting.set)(&mut draft, text);
                set.map_err(|problem| SettingsError::Value { name: setting.name, problem })?;
            }
        }
        draft.finish().map_err(|(name, problem)| SettingsError::Value { name, problem })
    }
}

/// Reads settings from the text of a file.
#[cfg(test)]
pub(crate) fn from_toml(text: &str) -> Result<Settings, String> {
    Settings::check(&source::parse_file(text)?).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use clap::Args as _;
    use iam_axum::rate_limit::RateLimits;

    use super::*;

    fn complaint(text: &str) -> String {
        from_toml(text).err().unwrap_or_default()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::augment_args(clap::Command::new("iam-server")).debug_assert();
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let settings = from_toml("").unwrap();
        assert!(matches!(settings.database, Database::Sqlite(url) if url == "sqlite://iam.db"));
        assert_eq!(settings.listen, "127.0.0.1:8080".parse().unwrap());
        assert!(settings.iam.registration);
        assert_eq!(settings.log_format, LogFormat::Text);
    }

    #[test]
    fn the_help_shows_the_defaults_in_use() {
        let line = |setting: &Setting| Some(format!("{} = '{}'", setting.name, setting.default()?));
        let documented: Vec<String> = SETTINGS.iter().filter_map(line).collect();
        let all = |settings: Settings| {
            let Settings { database, listen, metrics_listen, tls, iam, http, .. } = &settings;
            let Settings { log, log_format, otlp_endpoint, trace_sampling, client_connections, .. } = &settings;
            assert!(matches!(database, Database::Sqlite(url) if url == "sqlite://iam.db"));
            assert!(tls.is_none());
            format!(
                "{listen} {metrics_listen:?} {log} {log_format:?} {otlp_endpoint:?} {trace_sampling} {client_connections} \
                 {iam:?} {http:?}"
            )
        };
        assert_eq!(all(from_toml(&documented.join("\n")).unwrap()), all(from_toml("").unwrap()));
        // The `Debug` text of the limiter does not show its limits.
        let RateLimits { user, authentication, anonymous, events } = RateLimits::default();
        let limits = [("user", user), ("authentication", authentication), ("anonymous", anonymous), ("events", events)];
        for (name, limit) in limits {
            assert!(documented.contains(&format!("rate_limit_{name} = '{limit}'")), "{documented:?}");
        }
    }

    #[test]
    fn a_file_may_have_values_of_every_type() {
        let text = r#"
            database_url = "postgres://localhost/iam"
            trusted_proxies = ["10.0.0.0/8", "192.0.2.1"]
            max_organization_depth = 7
            session_idle = "12h"
            trace_sampling = 0.25
        "#;
        let settings = from_toml(text).unwrap();
        assert!(matches!(settings.database, Database::Postgres { direct_url: None, .. }));
        assert_eq!(settings.http.trusted_proxies.len(), 2);
        assert_eq!(settings.iam.session_idle, TimeDelta::hours(12));
        assert_eq!(settings.trace_sampling.to_string(), "0.25");
    }

    #[test]
    fn a_database_behind_a_pooler_has_two_urls() {
        let text = "database_url = 'postgres://pooler/iam'\ndatabase_direct_url = 'postgres://db/iam'";
        let Database::Postgres { url, direct_url, .. } = from_toml(text).unwrap().database else {
            panic!("PostgreSQL")
        };
        assert_eq!((&*url, direct_url.as_deref()), ("postgres://pooler/iam", Some("postgres://db/iam")));
    }

    #[test]
    fn the_urls_of_replicas_are_separated_by_commas() {
        let text = "database_url = 'postgres://db/iam'\ndatabase_read_url = 'postgres://one/iam, postgres://two/iam'";
        let Database::Postgres { read_urls, .. } = from_toml(text).unwrap().database else { panic!("PostgreSQL") };
        assert_eq!(read_urls, ["postgres://one/iam", "postgres://two/iam"]);
    }

    #[test]
    fn an_error_names_a_bad_setting_and_hides_its_value() {
        let cases = [
            ("listen = 'localhost'", "listen"),
            ("database_url = 'mysql://user:hunter2@host/db'", "database_url"),
            ("database_direct_url = 'postgres://user:hunter2@host/db'", "database_direct_url"),
            ("database_direct_url = 'sqlite://hunter2.db'", "database_direct_url"),
            ("database_read_url = 'postgres://user:hunter2@host/db'", "database_read_url"),
            ("database_url = 'postgres://h/d'\ndatabase_read_url = 'postgres://h/d,hunter2'", "database_read_url"),
            ("master_key = 'hunter2'", "master_key"),
            ("registration = 'maybe'", "registration"),
            ("log_format = 'xml'", "log_format"),
            ("log = 'a=b=c'", "log"),
            ("session_idle = '7 days'", "session_idle"),
            ("session_absolute = '0d'", "session_absolute"),
            ("max_organization_depth = 0", "max_organization_depth"),
            ("trusted_proxies = 'proxy'", "trusted_proxies"),
            ("environment = ' '", "environment"),
            ("otlp_endpoint = 'http://user:hunter2@localhost:4318'", "otlp_endpoint"),
            ("trace_sampling = nan", "trace_sampling"),
        ];
        for (text, name) in cases {
            let complaint = complaint(text);
            assert!(complaint.starts_with(name), "{text}: {complaint}");
            assert!(!complaint.contains("hunter2") && !complaint.contains('\n'), "{complaint}");
        }
    }

    #[test]
    fn a_brand_is_checked_when_the_settings_are_read() {
        let directory = tempfile::TempDir::new().unwrap();
        let [logo, text, missing] = ["logo.svg", "logo.txt", "missing.svg"].map(|name| directory.path().join(name));
        std::fs::write(&logo, "<svg/>").unwrap();
        std::fs::write(&text, "no picture").unwrap();
        let file = format!("brand_name = 'Acme'\nbrand_accent = '#7c3aed'\nbrand_logo = '{}'", logo.display());
        let brand = from_toml(&file).unwrap().http.brand;
        assert_eq!((brand.name(), brand.logo().unwrap().content_type()), (Some("Acme"), "image/svg+xml"));
        assert_eq!(brand.accent().unwrap().light().to_string(), "#7c3aed");
        let path = |path: &std::path::Path| format!("brand_logo = '{}'", path.display());
        for (text, expected) in [
            ("brand_name = ' '", "brand_name (--brand-name, IAM_BRAND_NAME) must have 1 to 40 characters"),
            ("brand_accent = 'blue'", "brand_accent (--brand-accent, IAM_BRAND_ACCENT) must be a colour"),
            ("brand_accent = '#facc15'", "brand_accent (--brand-accent, IAM_BRAND_ACCENT) must be darker"),
            (&*path(&text), "brand_logo (--brand-logo, IAM_BRAND_LOGO) must be a picture"),
            (&*path(&missing), "brand_logo (--brand-logo, IAM_BRAND_LOGO) cannot be read"),
        ] {
            assert!(complaint(text).starts_with(expected), "{}", complaint(text));
        }
    }

    #[test]
    fn an_error_names_an_unknown_key_or_variable() {
        assert!(complaint("listne = 'x'").contains("listne"));
        assert_eq!(complaint("\nlisten = true"), "listen: must be a string, a number or a list of strings (line 2)");
        assert!(complaint("\n\nmaster_key = hunter2").ends_with("(line 3)"));
        let unknown = |name: &str| refuse_unknown_variables([name.to_owned()].into_iter());
        assert_eq!(unknown("IAM_LISTNE"), Err(SettingsError::UnknownVariable("IAM_LISTNE".into())));
        let others = ["IAM_TEST_POSTGRES_URL", "IAM_SERVICE_HOST", "IAM_PORT_8080_TCP", "PATH"];
        for known in ["IAM_LISTEN", "IAM_CONFIG"].into_iter().chain(others) {
            assert_eq!(unknown(known), Ok(()));
        }
    }
}
