//! The settings. A value comes from a flag, or else the environment, a TOML file or the default, in this order
//! (`decisions.md` §8).

use std::env;
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, Uri};
use chrono::TimeDelta;
use clap::Args;
use iam_axum::rate_limit::{MemoryRateLimiter, RateLimiter, RateLimits, RedisRateLimiter};
use iam_core::token::MasterKey;
use ipnet::IpNet;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use url::Url;

/// The most connections at a time. Further ones wait to be accepted.
pub(crate) const CONNECTIONS: u32 = 10_000;

/// The longest time that a request may take; no setting can raise it. PostgreSQL cancels a statement after the same
/// time, and a server that stops waits longer.
pub(crate) const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// The flags that set the settings.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A TOML file with the settings below, named in snake case
    #[arg(long, env = "IAM_CONFIG", value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
}

impl Arguments {
    /// Returns a description of the flags.
    pub(crate) fn flags() -> clap::Command {
        Self::augment_args(clap::Command::new("iam-server"))
    }

    /// Returns the settings of the flags and the environment, and those of the file.
    pub(crate) fn read(&self) -> Result<(Given, Given), SettingsError> {
        let mut given = self.given.clone();
        given.database_url = given.database_url.or_else(|| env::var("DATABASE_URL").ok().map(Text));
        given.master_key = env::var(MASTER_KEY).ok().map(Text);
        given.former_master_key = env::var(FORMER_MASTER_KEY).ok().map(Text);
        let file = self.config.as_deref().map(read_file).transpose()?.unwrap_or_default();
        Ok((given, file))
    }
}

/// The settings that have no flag.
pub(crate) const MASTER_KEY: &str = "IAM_MASTER_KEY";
pub(crate) const FORMER_MASTER_KEY: &str = "IAM_FORMER_MASTER_KEY";

/// The text of every setting, from any source.
#[derive(Args, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Given {
    /// The database: sqlite://PATH, postgres://… or memory: (DATABASE_URL is read, too) [default: sqlite://iam.db]
    #[arg(long, env = "IAM_DATABASE_URL", value_name = "URL", global = true, hide_env_values = true)]
    database_url: Option<Text>,
    /// The address to listen on [default: 127.0.0.1:8080]
    #[arg(long, env = "IAM_LISTEN", value_name = "ADDRESS:PORT", global = true)]
    listen: Option<Text>,
    /// A separate, private address that serves /metrics [default: the address of the API]
    #[arg(long, env = "IAM_METRICS_LISTEN", value_name = "ADDRESS:PORT", global = true)]
    metrics_listen: Option<Text>,
    /// A PEM file with the server's certificate and its intermediate certificates; needs tls-key [default: no TLS]
    #[arg(long, env = "IAM_TLS_CERTIFICATE", value_name = "FILE", global = true)]
    tls_certificate: Option<Text>,
    /// A PEM file with the private key of the certificate
    #[arg(long, env = "IAM_TLS_KEY", value_name = "FILE", global = true)]
    tls_key: Option<Text>,
    /// The origins whose web pages may use the API from a browser, separated by commas [default: none]
    #[arg(long, env = "IAM_CORS_ORIGINS", value_name = "ORIGINS", global = true)]
    cors_origins: Option<Text>,
    /// The most connections of one client (by its address) at a time; trusted proxies may have more [default: 1000]
    #[arg(long, env = "IAM_CLIENT_CONNECTIONS", value_name = "NUMBER", global = true)]
    client_connections: Option<Text>,
    /// The longest time until a request is answered, at most 30s [default: 30s]
    #[arg(long, env = "IAM_REQUEST_TIMEOUT", value_name = "DURATION", global = true)]
    request_timeout: Option<Text>,
    /// The longest time that a password may wait to be hashed, at most 30s; a request that would wait longer is
    /// refused at once [default: 2s]
    #[arg(long, env = "IAM_PASSWORD_WAIT", value_name = "DURATION", global = true)]
    password_wait: Option<Text>,
    /// Whether callers without an account may create tenants: open or closed [default: open]
    #[arg(long, env = "IAM_REGISTRATION", value_name = "WORD", global = true)]
    registration: Option<Text>,
    /// Whether the rate of requests is limited: on or off [default: on]
    #[arg(long, env = "IAM_RATE_LIMITS", value_name = "WORD", global = true)]
    rate_limits: Option<Text>,
    /// The most requests of one user per minute [default: 1000]
    #[arg(long, env = "IAM_RATE_LIMIT_USER", value_name = "NUMBER", global = true)]
    rate_limit_user: Option<Text>,
    /// The most requests of one client per minute to log in, register and refresh [default: 60]
    #[arg(long, env = "IAM_RATE_LIMIT_AUTHENTICATION", value_name = "NUMBER", global = true)]
    rate_limit_authentication: Option<Text>,
    /// The most other requests of one client per minute without a token [default: 300]
    #[arg(long, env = "IAM_RATE_LIMIT_ANONYMOUS", value_name = "NUMBER", global = true)]
    rate_limit_anonymous: Option<Text>,
    /// The most KiB of custom audit events per minute that the users of one tenant may record [default: 6000]
    #[arg(long, env = "IAM_RATE_LIMIT_EVENTS", value_name = "NUMBER", global = true)]
    rate_limit_events: Option<Text>,
    /// The Redis server that counts the requests of all replicas together: redis://… or rediss://… [default: none]
    #[arg(long, env = "IAM_RATE_LIMIT_REDIS_URL", value_name = "URL", global = true, hide_env_values = true)]
    rate_limit_redis_url: Option<Text>,
    /// The name of the environment in the health response [default: development]
    #[arg(long, env = "IAM_ENVIRONMENT", value_name = "NAME", global = true)]
    environment: Option<Text>,
    /// The greatest depth of an organization; a root has depth 0 [default: 5]
    #[arg(long, env = "IAM_MAX_ORGANIZATION_DEPTH", value_name = "NUMBER", global = true)]
    max_organization_depth: Option<Text>,
    /// The proxies whose X-Forwarded-For is trusted: addresses or networks, separated by commas [default: none]
    #[arg(long, env = "IAM_TRUSTED_PROXIES", value_name = "NETWORKS", global = true)]
    trusted_proxies: Option<Text>,
    /// Encrypts signing keys at rest: 32 random bytes in base64. It has no flag: the process list shows flags to all
    /// users.
    #[arg(skip)]
    master_key: Option<Text>,
    /// The previous master key, until `iam-server keys reencrypt` is done. It has no flag, either.
    #[arg(skip)]
    former_master_key: Option<Text>,
    /// The age of the newest key for access tokens at which a new key replaces it, at least 1d [default: 90d]
    #[arg(long, env = "IAM_KEY_ROTATION", value_name = "DURATION", global = true)]
    key_rotation: Option<Text>,
    /// The shortest retention that a tenant may set for its audit log [default: 30d]
    #[arg(long, env = "IAM_AUDIT_MIN_RETENTION", value_name = "DURATION", global = true)]
    audit_min_retention: Option<Text>,
    /// The most users of a tenant, including deleted users [default: 100000]
    #[arg(long, env = "IAM_QUOTA_USERS", value_name = "NUMBER", global = true)]
    quota_users: Option<Text>,
    /// The most organizations of a tenant, including deleted organizations [default: 10000]
    #[arg(long, env = "IAM_QUOTA_ORGANIZATIONS", value_name = "NUMBER", global = true)]
    quota_organizations: Option<Text>,
    /// The most roles of a tenant, including built-in roles [default: 1000]
    #[arg(long, env = "IAM_QUOTA_ROLES", value_name = "NUMBER", global = true)]
    quota_roles: Option<Text>,
    /// The most role assignments of a tenant [default: 500000]
    #[arg(long, env = "IAM_QUOTA_ASSIGNMENTS", value_name = "NUMBER", global = true)]
    quota_assignments: Option<Text>,
    /// The most permissions of a tenant, including built-in permissions [default: 1000]
    #[arg(long, env = "IAM_QUOTA_PERMISSIONS", value_name = "NUMBER", global = true)]
    quota_permissions: Option<Text>,
    /// Whether to serve Swagger UI at /docs and the OpenAPI document at /openapi.json: on or off [default: on]
    #[arg(long, env = "IAM_DOCS", value_name = "WORD", global = true)]
    docs: Option<Text>,
    /// The `iss` claim of access tokens [default: iam]
    #[arg(long, env = "IAM_ISSUER", value_name = "TEXT", global = true)]
    issuer: Option<Text>,
    /// The `aud` claim of access tokens [default: iam]
    #[arg(long, env = "IAM_AUDIENCE", value_name = "TEXT", global = true)]
    audience: Option<Text>,
    /// A session ends when it is not refreshed for this long, such as 12h [default: 7d]
    #[arg(long, env = "IAM_SESSION_IDLE", value_name = "DURATION", global = true)]
    session_idle: Option<Text>,
    /// A session ends this long after its login, such as 12h [default: 30d]
    #[arg(long, env = "IAM_SESSION_ABSOLUTE", value_name = "DURATION", global = true)]
    session_absolute: Option<Text>,
    /// The start of the type of every problem document [default: `https://iam.invalid/problems`]
    #[arg(long, env = "IAM_PROBLEM_TYPE_BASE", value_name = "URI", global = true)]
    problem_type_base: Option<Text>,
    /// Which events are logged, as a tracing filter [default: info]
    #[arg(long, env = "IAM_LOG", value_name = "FILTER", global = true)]
    log: Option<Text>,
    /// The format of the log: text or json [default: text]
    #[arg(long, env = "IAM_LOG_FORMAT", value_name = "WORD", global = true)]
    log_format: Option<Text>,
    /// Where to export traces: the base URL of a collector that speaks OTLP over HTTP, such as
    /// `http://localhost:4318` [default: none]
    #[arg(long, env = "IAM_OTLP_ENDPOINT", value_name = "URL", global = true)]
    otlp_endpoint: Option<Text>,
    /// The share of the traces that is recorded, from 0 to 1 [default: 1]
    #[arg(long, env = "IAM_TRACE_SAMPLING", value_name = "SHARE", global = true)]
    trace_sampling: Option<Text>,
}

macro_rules! given {
    ($($field:ident),+ $(,)?) => {
        impl Given {
            /// Returns every setting of `self`, or that of `other` if `self` does not have it.
            fn or(self, other: Self) -> Self {
                Self { $($field: self.$field.or(other.$field),)+ }
            }

            /// Returns the name of every setting, with its text if it is set.
            pub(crate) fn texts(self) -> Vec<(&'static str, Option<String>)> {
                vec![$((stringify!($field), self.$field.map(|Text(text)| text)),)+]
            }
        }
    };
}

given! {
    database_url, listen, metrics_listen, tls_certificate, tls_key, cors_origins, client_connections, request_timeout, password_wait, registration, rate_limits, rate_limit_user, rate_limit_authentication, rate_limit_anonymous, rate_limit_events, rate_limit_redis_url, environment, max_organization_depth, trusted_proxies, master_key, former_master_key,
    key_rotation, audit_min_retention, quota_users, quota_organizations, quota_roles, quota_assignments,
    quota_permissions, docs,
    issuer, audience, session_idle, session_absolute, problem_type_base, log, log_format,
    otlp_endpoint, trace_sampling,
}

/// The text of a setting. In a TOML file it may also be a number, or a list, which is joined with commas.
#[derive(Clone)]
struct Text(String);

impl FromStr for Text {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(number) => Ok(number.to_string()),
            toml::Value::Float(number) => Ok(number.to_string()),
            _ => Err(D::Error::custom("must be a string, a number or a list of strings")),
        };
        match toml::Value::deserialize(deserializer)? {
            toml::Value::Array(items) => Ok(Self(items.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(","))),
            value => Ok(Self(text(&value)?)),
        }
    }
}

/// All settings, validated.
pub(crate) struct Settings {
    pub(crate) database: Database,
    pub(crate) listen: SocketAddr,
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// The file of the certificates and the file of the key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
    /// The most connections of one client at a time.
    pub(crate) client_connections: usize,
    pub(crate) log: String,
    pub(crate) log_format: LogFormat,
    /// Has no slash at its end.
    pub(crate) otlp_endpoint: Option<String>,
    /// From 0 to 1.
    pub(crate) trace_sampling: f64,
    pub(crate) iam: iam_core::Settings,
    pub(crate) http: iam_axum::Settings,
}

/// The store that the database URL names.
#[derive(Clone)]
pub(crate) enum Database {
    Memory,
    Sqlite(String),
    Postgres(String),
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// An invalid setting. The message does not contain the value, which may be secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SettingsError {
    #[error("{name} ({}IAM_{}) {problem}", flag(.name), .name.to_uppercase())]
    Value { name: &'static str, problem: String },
    #[error("{0} is not a setting; `iam-server --help` lists all settings")]
    UnknownVariable(String),
    #[error("the settings file {path}: {problem}")]
    File { path: String, problem: String },
}

/// Returns the flag of a setting, or nothing if it has none.
fn flag(name: &str) -> String {
    if name.ends_with("master_key") { String::new() } else { format!("--{}, ", name.replace('_', "-")) }
}

impl Settings {
    /// Reads the settings from all sources and validates them.
    pub(crate) fn resolve(arguments: &Arguments) -> Result<Self, SettingsError> {
        refuse_unknown_variables(env::vars_os().filter_map(|(name, _)| name.into_string().ok()))?;
        let (given, file) = arguments.read()?;
        Self::check(given.or(file))
    }

    fn check(given: Given) -> Result<Self, SettingsError> {
        let mut iam = iam_core::Settings::default();
        iam.registration = parse("registration", given.registration, iam.registration, open_or_closed)?;
        iam.master_key = parse("master_key", given.master_key, None, master_key)?;
        iam.key_rotation = parse("key_rotation", given.key_rotation, iam.key_rotation, at_least_a_day)?;
        iam.audit_min_retention =
            parse("audit_min_retention", given.audit_min_retention, iam.audit_min_retention, duration)?;
        iam.quota.users = parse("quota_users", given.quota_users, iam.quota.users, quota)?;
        iam.quota.organizations =
            parse("quota_organizations", given.quota_organizations, iam.quota.organizations, quota)?;
        iam.quota.roles = parse("quota_roles", given.quota_roles, iam.quota.roles, quota)?;
        iam.quota.assignments = parse("quota_assignments", given.quota_assignments, iam.quota.assignments, quota)?;
        iam.quota.permissions = parse("quota_permissions", given.quota_permissions, iam.quota.permissions, quota)?;
        let former = parse("former_master_key", given.former_master_key, None, master_key)?;
        iam.master_key = match (iam.master_key, former) {
            (Some(key), Some(former)) => Some(key.replacing(former)),
            (None, Some(_)) => return Err(missing("master_key", "former_master_key")),
            (key, None) => key,
        };
        iam.issuer = parse("issuer", given.issuer, iam.issuer, not_empty)?;
        iam.audience = parse("audience", given.audience, iam.audience, not_empty)?;
        iam.session_idle = parse("session_idle", given.session_idle, iam.session_idle, duration)?;
        iam.session_absolute = parse("session_absolute", given.session_absolute, iam.session_absolute, duration)?;
        iam.password_wait = parse("password_wait", given.password_wait, iam.password_wait, request_duration)?;
        iam.max_organization_depth =
            parse("max_organization_depth", given.max_organization_depth, iam.max_organization_depth, depth)?;
        let mut http = iam_axum::Settings::default();
        http.service = "iam-server".to_owned();
        http.version = env!("CARGO_PKG_VERSION").to_owned();
        http.environment = parse("environment", given.environment, http.environment, not_empty)?;
        http.trusted_proxies = parse("trusted_proxies", given.trusted_proxies, Vec::new(), networks)?;
        http.problem_type_base =
            parse("problem_type_base", given.problem_type_base, http.problem_type_base, not_empty)?;
        let limits = RateLimits::default();
        let limits = RateLimits {
            user: parse("rate_limit_user", given.rate_limit_user, limits.user, per_minute)?,
            authentication: parse(
                "rate_limit_authentication",
                given.rate_limit_authentication,
                limits.authentication,
                per_minute,
            )?,
            anonymous: parse("rate_limit_anonymous", given.rate_limit_anonymous, limits.anonymous, per_minute)?,
            events: parse("rate_limit_events", given.rate_limit_events, limits.events, per_minute)?,
        };
        let is_limited = parse("rate_limits", given.rate_limits, true, on_or_off)?;
        let limiter: Arc<dyn RateLimiter> = Arc::new(MemoryRateLimiter::new(limits));
        let limiter = parse("rate_limit_redis_url", given.rate_limit_redis_url, limiter, |url| {
            Ok(Arc::new(RedisRateLimiter::new(url, limits).map_err(message_of)?))
        })?;
        http.rate_limiter = is_limited.then_some(limiter);
        http.shows_docs = parse("docs", given.docs, http.shows_docs, on_or_off)?;
        http.cors_origins = parse("cors_origins", given.cors_origins, Vec::new(), origins)?;
        http.request_timeout = parse("request_timeout", given.request_timeout, http.request_timeout, request_duration)?;
        let tls = match (given.tls_certificate, given.tls_key) {
            (Some(certificate), Some(key)) => Some((certificate.0.into(), key.0.into())),
            (None, None) => None,
            (Some(_), None) => return Err(missing("tls_key", "tls_certificate")),
            (None, Some(_)) => return Err(missing("tls_certificate", "tls_key")),
        };
        let default_listen = SocketAddr::from(([127, 0, 0, 1], 8080));
        Ok(Self {
            database: parse("database_url", given.database_url, Database::Sqlite("sqlite://iam.db".into()), database)?,
            listen: parse("listen", given.listen, default_listen, listen)?,
            metrics_listen: parse("metrics_listen", given.metrics_listen, None, |text| listen(text).map(Some))?,
            tls,
            client_connections: parse("client_connections", given.client_connections, 1_000, connections)?,
            log: parse("log", given.log, "info".to_owned(), log_filter)?,
            log_format: parse("log_format", given.log_format, LogFormat::Text, log_format)?,
            otlp_endpoint: parse("otlp_endpoint", given.otlp_endpoint, None, |text| collector(text).map(Some))?,
            trace_sampling: parse("trace_sampling", given.trace_sampling, 1.0, share)?,
            iam,
            http,
        })
    }
}

fn parse<T>(
    name: &'static str,
    given: Option<Text>,
    default: T,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, SettingsError> {
    match given {
        None => Ok(default),
        Some(Text(text)) => parse(&text).map_err(|problem| SettingsError::Value { name, problem }),
    }
}

fn message_of(error: impl fmt::Display) -> String {
    error.to_string()
}

fn master_key(text: &str) -> Result<Option<MasterKey>, String> {
    text.parse().map(Some).map_err(message_of)
}

fn database(text: &str) -> Result<Database, String> {
    match text.split_once(':') {
        Some(("memory", "")) => Ok(Database::Memory),
        Some(("sqlite", path)) if path.len() > 2 && path.starts_with("//") => Ok(Database::Sqlite(text.to_owned())),
        Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => Ok(Database::Postgres(text.to_owned())),
        _ => Err("must be sqlite://PATH, postgres://… or memory:".to_owned()),
    }
}

fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an address and a port such as 127.0.0.1:8080".to_owned())
}

fn open_or_closed(text: &str) -> Result<bool, String> {
    choice(text, ("open", true), ("closed", false))
}

fn on_or_off(text: &str) -> Result<bool, String> {
    choice(text, ("on", true), ("off", false))
}

fn log_format(text: &str) -> Result<LogFormat, String> {
    choice(text, ("text", LogFormat::Text), ("json", LogFormat::Json))
}

fn choice<T>(text: &str, (a, is_a): (&str, T), (b, is_b): (&str, T)) -> Result<T, String> {
    match text {
        text if text == a => Ok(is_a),
        text if text == b => Ok(is_b),
        _ => Err(format!("must be {a} or {b}")),
    }
}

fn not_empty(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}

fn depth(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(depth @ 1..=100) => Ok(depth),
        _ => Err("must be a whole number from 1 to 100".to_owned()),
    }
}

fn missing(name: &'static str, beside: &str) -> SettingsError {
    SettingsError::Value { name, problem: format!("is missing, but {beside} is set") }
}

fn origins(text: &str) -> Result<Vec<HeaderValue>, String> {
    let origin = |origin: &str| {
        let is_one = origin.parse::<Uri>().is_ok_and(|uri| {
            let scheme = uri.scheme_str();
            matches!(scheme, Some("http" | "https")) && uri.authority().is_some() && uri.path() == "/"
        });
        HeaderValue::from_str(origin).ok().filter(|_| is_one && !origin.ends_with('/'))
    };
    let all: Option<Vec<HeaderValue>> = text.split(',').map(|part| origin(part.trim())).collect();
    all.ok_or_else(|| "must be origins such as https://app.example.com, separated by commas".to_owned())
}

fn per_minute(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<NonZeroU32>() {
        Ok(requests) if requests.get() <= 1_000_000 => Ok(requests),
        _ => Err("must be a whole number from 1 to 1000000".to_owned()),
    }
}

fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    let network = |part: &str| {
        let address = || part.parse().map(|address: std::net::IpAddr| IpNet::from(address));
        part.parse::<IpNet>()
            .or_else(|_| address())
            .map_err(|_| "must be addresses or networks, such as 10.0.0.0/8".to_owned())
    };
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(network).collect()
}

fn duration(text: &str) -> Result<TimeDelta, String> {
    let problem = || "must be a whole number with a unit: s, m, h or d, such as 12h".to_owned();
    let (number, seconds) = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .ok_or_else(problem)?;
    match number.parse::<u32>() {
        Ok(number @ 1..) => TimeDelta::try_seconds(i64::from(number) * seconds).ok_or_else(problem),
        _ => Err(problem()),
    }
}

fn at_least_a_day(text: &str) -> Result<TimeDelta, String> {
    let time = duration(text)?;
    if time < TimeDelta::days(1) { Err("must be at least 1d".to_owned()) } else { Ok(time) }
}

fn quota(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

fn request_duration(text: &str) -> Result<Duration, String> {
    let time = duration(text)?.to_std().map_err(message_of)?;
    if time > LONGEST_REQUEST { Err("must be at most 30s".to_owned()) } else { Ok(time) }
}

fn connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=CONNECTIONS as usize).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from 1 to {CONNECTIONS}")),
    }
}

fn log_filter(text: &str) -> Result<String, String> {
    let filter = text.parse::<tracing_subscriber::EnvFilter>();
    filter.map(|_| text.to_owned()).map_err(|_| "must be a tracing filter such as info,iam_core=debug".to_owned())
}

/// Parses the URL of a collector. Credentials are refused, because the command `config` shows the URL. They belong in
/// a header.
fn collector(text: &str) -> Result<String, String> {
    let is_base = |url: &Url| {
        let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        matches!(url.scheme(), "http" | "https") && is_plain && url.fragment().is_none()
    };
    let url = Url::parse(text).ok().filter(is_base);
    url.map(|url| url.as_str().trim_end_matches('/').to_owned())
        .ok_or_else(|| "must be a URL such as http://localhost:4318, without credentials".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}

/// Refuses unknown `IAM_…` variables, which may be misspelt settings. `IAM_TEST_…` belongs to the tests. Kubernetes
/// sets variables such as `IAM_SERVICE_HOST` and `IAM_PORT_8080_TCP` in every pod when a service is named `iam`.
fn refuse_unknown_variables(names: impl Iterator<Item = String>) -> Result<(), SettingsError> {
    let command = Arguments::flags();
    let flags = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str());
    let known: Vec<&str> = flags.chain([MASTER_KEY, FORMER_MASTER_KEY]).collect();
    let is_foreign = |name: &str| {
        name.starts_with("IAM_TEST_")
            || ["_SERVICE_HOST", "_SERVICE_PORT", "_PORT"].iter().any(|mark| name.contains(mark))
    };
    let is_unknown = |name: &String| name.starts_with("IAM_") && !known.contains(&name.as_str()) && !is_foreign(name);
    match names.into_iter().find(is_unknown) {
        Some(name) => Err(SettingsError::UnknownVariable(name)),
        None => Ok(()),
    }
}

fn read_file(path: &Path) -> Result<Given, SettingsError> {
    let failed = |problem: String| SettingsError::File { path: path.display().to_string(), problem };
    let text = std::fs::read_to_string(path).map_err(|error| failed(message_of(error)))?;
    parse_file(&text).map_err(failed)
}

fn parse_file(text: &str) -> Result<Given, String> {
    let deserializer = toml::Deserializer::parse(text).map_err(|error| problem_and_line(text, &error))?;
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        let problem = problem_and_line(text, error.inner());
        // The message about an unknown key quotes the key. The other messages do not name the key.
        if problem.contains('`') { problem } else { format!("{}: {problem}", error.path()) }
    })
}

/// Returns what is wrong, and in which line. It leaves out the full text of the error, which has several lines and
/// quotes the file, including its secrets.
fn problem_and_line(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().replace('\n', " ");
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("{message} (line {})", before.matches('\n').count() + 1),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;
    use crate::command::config::default_of;

    fn from_toml(text: &str) -> Result<Settings, String> {
        Settings::check(parse_file(text)?).map_err(|error| error.to_string())
    }

    fn complaint(text: &str) -> String {
        from_toml(text).err().unwrap_or_default()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::flags().debug_assert();
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
        let command = Arguments::flags();
        let line = |argument| Some(format!("{} = '{}'", Arg::get_id(argument), default_of(argument)?));
        let documented: Vec<String> = command.get_arguments().filter_map(line).collect();
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
        assert!(matches!(settings.database, Database::Postgres(_)));
        assert_eq!(settings.http.trusted_proxies.len(), 2);
        assert_eq!(settings.iam.session_idle, TimeDelta::hours(12));
        assert_eq!(settings.trace_sampling.to_string(), "0.25");
    }

    #[test]
    fn an_error_names_a_bad_setting_and_hides_its_value() {
        let cases = [
            ("listen = 'localhost'", "listen"),
            ("database_url = 'mysql://user:hunter2@host/db'", "database_url"),
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
