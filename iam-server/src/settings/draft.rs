use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use iam_axum::rate_limit::{MemoryRateLimiter, RateLimiter, RateLimits, RedisRateLimiter};
use iam_core::mail::LinkTemplate;
use iam_core::token::MasterKey;
use iam_mail::{Sender, SmtpServer};

use super::value::{Database, LogFormat};

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
    /// Under which address users reach this server: a URL without a slash at its end. `None` means the address on which
    /// it listens.
    pub(crate) public_url: Option<String>,
    /// The origins of the pages that use passkeys. `None` means the server's own.
    pub(crate) webauthn_origins: Option<Vec<String>>,
    /// `None` if mail is off.
    pub(crate) mail: Option<MailSettings>,
    /// Whether the console is served.
    pub(crate) shows_console: bool,
    /// Whether webhooks may reach private addresses, and use `http`.
    pub(crate) webhooks_allow_private: bool,
    /// Whether identity providers may have private addresses, and use `http`.
    pub(crate) federation_allow_private: bool,
    /// The name servers that look up the records of domains. Empty for those of the system.
    pub(crate) dns_servers: Vec<SocketAddr>,
    /// The file in which deleted tenants are recorded.
    pub(crate) deletions_file: Option<PathBuf>,
    pub(crate) iam: iam_core::Settings,
    pub(crate) http: iam_axum::Settings,
}

/// How mail is sent.
pub(crate) struct MailSettings {
    pub(crate) route: MailRoute,
    pub(crate) sender: Sender,
    /// The directory with the templates of the operator.
    pub(crate) templates: Option<PathBuf>,
    /// The page that verifies an address, instead of the server's own.
    pub(crate) link_verify: Option<LinkTemplate>,
    /// The page that asks for a new password, instead of the server's own.
    pub(crate) link_reset: Option<LinkTemplate>,
    /// The page that accepts an invitation, instead of the server's own.
    pub(crate) link_invitation: Option<LinkTemplate>,
    /// The page that logs in, instead of the server's own.
    pub(crate) link_login: Option<LinkTemplate>,
}

/// Where messages go.
pub(crate) enum MailRoute {
    /// To this mail server.
    Smtp(SmtpServer),
    /// Into this directory.
    Directory(PathBuf),
}

/// The settings while they are read: the defaults, and then the values of the sources. The values that depend on each
/// other are still apart.
pub(super) struct Draft {
    pub(super) settings: Settings,
    pub(super) database_direct_url: Option<String>,
    pub(super) database_read_urls: Vec<String>,
    pub(super) former_master_key: Option<MasterKey>,
    pub(super) tls_certificate: Option<PathBuf>,
    pub(super) tls_key: Option<PathBuf>,
    pub(super) is_rate_limited: bool,
    pub(super) rate_limits: RateLimits,
    pub(super) rate_limit_redis_url: Option<String>,
    pub(super) smtp_url: Option<SmtpServer>,
    pub(super) mail_dir: Option<PathBuf>,
    pub(super) mail_from: Option<Sender>,
    pub(super) mail_templates: Option<PathBuf>,
    pub(super) link_verify: Option<LinkTemplate>,
    pub(super) link_reset: Option<LinkTemplate>,
    pub(super) link_invitation: Option<LinkTemplate>,
    pub(super) link_login: Option<LinkTemplate>,
}

/// The sender of messages in a directory, unless another one is set.
const NO_REPLY: &str = "no-reply@localhost";

impl Default for Draft {
    fn default() -> Self {
        let mut http = iam_axum::Settings::default();
        http.service = "iam-server".to_owned();
        http.version = env!("CARGO_PKG_VERSION").to_owned();
        let settings = Settings {
            database: Database::Sqlite("sqlite://iam.db".to_owned()),
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            metrics_listen: None,
            tls: None,
            client_connections: 1_000,
            log: "info".to_owned(),
            log_format: LogFormat::Text,
            otlp_endpoint: None,
            trace_sampling: 1.0,
            public_url: None,
            webauthn_origins: None,
            mail: None,
            shows_console: true,
            webhooks_allow_private: false,
            federation_allow_private: false,
            dns_servers: Vec::new(),
            deletions_file: None,
            iam: iam_core::Settings::default(),
            http,
        };
        Self {
            settings,
            database_direct_url: None,
            database_read_urls: Vec::new(),
            former_master_key: None,
            tls_certificate: None,
            tls_key: None,
            is_rate_limited: true,
            rate_limits: RateLimits::default(),
            rate_limit_redis_url: None,
            smtp_url: None,
            mail_dir: None,
            mail_from: None,
            mail_templates: None,
            link_verify: None,
            link_reset: None,
            link_invitation: None,
            link_login: None,
        }
    }
}

impl Draft {
    /// Joins the values that depend on each other. An error has the name of a setting and the reason.
    pub(super) fn finish(self) -> Result<Settings, (&'static str, String)> {
        let missing = |name, beside: &str| (name, format!("is missing, but {beside} is set"));
        let mut settings = self.settings;
        let needs_postgres = |name| (name, "is set, but database_url is not postgres://…".to_owned());
        match &mut settings.database {
            Database::Postgres { direct_url, read_urls, .. } => {
                (*direct_url, *read_urls) = (self.database_direct_url, self.database_read_urls);
            }
            _ if self.database_direct_url.is_some() => return Err(needs_postgres("database_direct_url")),
            _ if !self.database_read_urls.is_empty() => return Err(needs_postgres("database_read_url")),
            _ => {}
        }
        if let Some(former) = self.former_master_key {
            let key = settings.iam.master_key.ok_or_else(|| missing("master_key", "former_master_key"))?;
            settings.iam.master_key = Some(key.replacing(former));
        }
        settings.tls = match (self.tls_certificate, self.tls_key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => return Err(missing("tls_key", "tls_certificate")),
            (None, Some(_)) => return Err(missing("tls_certificate", "tls_key")),
        };
        let route = match (self.smtp_url, self.mail_dir) {
            (Some(_), Some(_)) => {
                return Err(("mail_dir", "is set, and smtp_url too: only one of them can be".to_owned()));
            }
            (Some(url), None) => Some(MailRoute::Smtp(url)),
            (None, directory) => directory.map(MailRoute::Directory),
        };
        settings.mail = match (route, self.mail_from) {
            (None, _) => None,
            (Some(MailRoute::Smtp(_)), None) => return Err(missing("mail_from", "smtp_url")),
            (Some(route), sender) => Some(MailSettings {
                route,
                sender: match sender {
                    Some(sender) => sender,
                    None => NO_REPLY.parse().map_err(|_| missing("mail_from", "mail_dir"))?,
                },
                templates: self.mail_templates,
                link_verify: self.link_verify,
                link_reset: self.link_reset,
                link_invitation: self.link_invitation,
                link_login: self.link_login,
            }),
        };
        let limiter: Arc<dyn RateLimiter> = match self.rate_limit_redis_url {
            None => Arc::new(MemoryRateLimiter::new(self.rate_limits)),
            Some(url) => {
                let limiter = RedisRateLimiter::new(&url, self.rate_limits);
                Arc::new(limiter.map_err(|error| ("rate_limit_redis_url", error.to_string()))?)
            }
        };
        settings.http.rate_limiter = self.is_rate_limited.then_some(limiter);
        Ok(settings)
    }
}
