use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use iam_axum::rate_limit::{MemoryRateLimiter, RateLimiter, RateLimits, RedisRateLimiter};
use iam_core::token::MasterKey;

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
    pub(crate) iam: iam_core::Settings,
    pub(crate) http: iam_axum::Settings,
}

/// The settings while they are read: the defaults, and then the values of the sources. The values that depend on each
/// other are still apart.
pub(super) struct Draft {
    pub(super) settings: Settings,
    pub(super) former_master_key: Option<MasterKey>,
    pub(super) tls_certificate: Option<PathBuf>,
    pub(super) tls_key: Option<PathBuf>,
    pub(super) is_rate_limited: bool,
    pub(super) rate_limits: RateLimits,
    pub(super) rate_limit_redis_url: Option<String>,
}

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
            iam: iam_core::Settings::default(),
            http,
        };
        Self {
            settings,
            former_master_key: None,
            tls_certificate: None,
            tls_key: None,
            is_rate_limited: true,
            rate_limits: RateLimits::default(),
            rate_limit_redis_url: None,
        }
    }
}

impl Draft {
    /// Joins the values that depend on each other. An error is the name of a setting and what is wrong with it.
    pub(super) fn finish(self) -> Result<Settings, (&'static str, String)> {
        let missing = |name, beside: &str| (name, format!("is missing, but {beside} is set"));
        let mut settings = self.settings;
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
