//! The texts of values. A parser returns the error of a text, without the text, which may be secret.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::http::{HeaderValue, Uri};
use chrono::TimeDelta;
use iam_core::mail::LinkTemplate;
use iam_core::token::MasterKey;
use iam_mail::{Sender, SmtpServer};
use ipnet::IpNet;
use url::Url;

/// The most connections at a time. Further ones wait to be accepted.
pub(crate) const CONNECTIONS: u32 = 10_000;

/// The longest time that a request may take; no setting can raise it. PostgreSQL cancels a statement after the same
/// time, and a server that stops waits longer.
pub(crate) const LONGEST_REQUEST: Duration = Duration::from_secs(30);

/// The store that the database URL names.
#[derive(Clone)]
pub(crate) enum Database {
    Memory,
    Sqlite(String),
    Postgres {
        url: String,
        /// The database itself, if the URL leads to a pooler.
        direct_url: Option<String>,
        /// The replicas that answer lists.
        read_urls: Vec<String>,
    },
}

/// The format of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Returns the items of a list, without their spaces.
pub(super) fn list(text: &str) -> Vec<String> {
    text.split(',').map(|item| item.trim().to_owned()).collect()
}

fn message_of(error: impl fmt::Display) -> String {
    error.to_string()
}

pub(super) fn master_key(text: &str) -> Result<Option<MasterKey>, String> {
    text.parse().map(Some).map_err(message_of)
}

pub(super) fn database(text: &str) -> Result<Database, String> {
    match text.split_once(':') {
        Some(("memory", "")) => Ok(Database::Memory),
        Some(("sqlite", path)) if path.len() > 2 && path.starts_with("//") => Ok(Database::Sqlite(text.to_owned())),
        Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
            Ok(Database::Postgres { url: text.to_owned(), direct_url: None, read_urls: Vec::new() })
        }
        _ => Err("must be sqlite://PATH, postgres://… or memory:".to_owned()),
    }
}

pub(super) fn direct_database(text: &str) -> Result<String, String> {
    match database(text) {
        Ok(Database::Postgres { url, .. }) => Ok(url),
        _ => Err("must be postgres://…".to_owned()),
    }
}

pub(super) fn read_databases(text: &str) -> Result<Vec<String>, String> {
    text.split(',').map(|url| direct_database(url.trim())).collect()
}

pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "must be an address and a port such as 127.0.0.1:8080".to_owned())
}

pub(super) fn open_or_closed(text: &str) -> Result<bool, String> {
    choice(text, ("open", true), ("closed", false))
}

pub(super) fn on_or_off(text: &str) -> Result<bool, String> {
    choice(text, ("on", true), ("off", false))
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    choice(text, ("text", LogFormat::Text), ("json", LogFormat::Json))
}

fn choice<T>(text: &str, (a, is_a): (&str, T), (b, is_b): (&str, T)) -> Result<T, String> {
    match text {
        text if text == a => Ok(is_a),
        text if text == b => Ok(is_b),
        _ => Err(format!("must be {a} or {b}")),
    }
}

pub(super) fn not_empty(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}

pub(super) fn depth(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(depth @ 1..=100) => Ok(depth),
        _ => Err("must be a whole number from 1 to 100".to_owned()),
    }
}

pub(super) fn origins(text: &str) -> Result<Vec<HeaderValue>, String> {
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

pub(super) fn per_minute(text: &str) -> Result<NonZeroU32, String> {
    match text.parse::<NonZeroU32>() {
        Ok(requests) if requests.get() <= 1_000_000 => Ok(requests),
        _ => Err("must be a whole number from 1 to 1000000".to_owned()),
    }
}

pub(super) fn networks(text: &str) -> Result<Vec<IpNet>, String> {
    let network = |part: &str| {
        let address = || part.parse().map(|address: std::net::IpAddr| IpNet::from(address));
        part.parse::<IpNet>()
            .or_else(|_| address())
            .map_err(|_| "must be addresses or networks, such as 10.0.0.0/8".to_owned())
    };
    addresses(text, network)
}

pub(super) fn name_servers(text: &str) -> Result<Vec<SocketAddr>, String> {
    const PORT: u16 = 53;
    let server = |part: &str| {
        let address = || part.parse().map(|address: std::net::IpAddr| SocketAddr::new(address, PORT));
        part.parse::<SocketAddr>()
            .or_else(|_| address())
            .map_err(|_| "must be addresses of name servers, such as 192.0.2.53".to_owned())
    };
    addresses(text, server)
}

/// Reads a list of addresses, which may be empty.
fn addresses<T>(text: &str, part: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(part).collect()
}

pub(super) fn duration(text: &str) -> Result<TimeDelta, String> {
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

pub(super) fn at_least_a_day(text: &str) -> Result<TimeDelta, String> {
    let time = duration(text)?;
    if time < TimeDelta::days(1) { Err("must be at least 1d".to_owned()) } else { Ok(time) }
}

pub(super) fn quota(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be a whole number".to_owned())
}

pub(super) fn request_duration(text: &str) -> Result<Duration, String> {
    let time = duration(text)?.to_std().map_err(message_of)?;
    if time > LONGEST_REQUEST { Err("must be at most 30s".to_owned()) } else { Ok(time) }
}

pub(super) fn connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=CONNECTIONS as usize).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from 1 to {CONNECTIONS}")),
    }
}

pub(super) fn log_filter(text: &str) -> Result<String, String> {
    let filter = text.parse::<tracing_subscriber::EnvFilter>();
    filter.map(|_| text.to_owned()).map_err(|_| "must be a tracing filter such as info,iam_core=debug".to_owned())
}

/// Parses the URL of a collector. Credentials are refused, because the command `config` shows the URL. They belong in
/// a header.
pub(super) fn collector(text: &str) -> Result<String, String> {
    let is_base = |url: &Url| {
        let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        matches!(url.scheme(), "http" | "https") && is_plain && url.fragment().is_none()
    };
    let url = Url::parse(text).ok().filter(is_base);
    url.map(|url| url.as_str().trim_end_matches('/').to_owned())
        .ok_or_else(|| "must be a URL such as http://localhost:4318, without credentials".to_owned())
}

/// Parses a URL under which paths are served. It has no slash at its end.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    collector(text).map_err(|_| "must be a URL such as https://iam.example.com, without credentials".to_owned())
}

/// Reads a picture. The brand says how large it may be; this only bounds what is read.
pub(super) fn picture(path: &str) -> Result<Vec<u8>, String> {
    const MOST: u64 = 1024 * 1024;
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut content));
    read.map(|_| content).map_err(|error| format!("cannot be read: {error}"))
}

pub(super) fn page(text: &str) -> Result<LinkTemplate, String> {
    text.parse().map_err(message_of)
}

pub(super) fn sender(text: &str) -> Result<Sender, String> {
    text.parse().map_err(message_of)
}

/// Returns the mail server of a URL. The text of an error does not contain the URL, which may have a password.
pub(super) fn mail_server(text: &str) -> Result<SmtpServer, String> {
    text.parse().map_err(message_of)
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1".to_owned())
}
