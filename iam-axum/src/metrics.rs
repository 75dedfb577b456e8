//! Metrics for Prometheus (`docs/operating.md#metrics`).

use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures_util::future::try_join;
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use iam_core::webhook::{DeliveryStatus, is_public};
use iam_core::{Iam, StoreError};
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, Opts, Registry, TEXT_FORMAT,
    TextEncoder,
};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

use crate::problem::Problem;
use crate::request_state::RequestState;
use crate::static_file::{self, StaticFile};

/// The metrics of the service. Clones share them.
///
/// To measure requests, put the metrics into the [`Settings`](crate::Settings). To measure the store, passwords and
/// webhooks, make the metrics the observer of the [`Iam`]:
///
/// ```
/// use std::sync::Arc;
///
/// use iam_axum::{Metrics, Settings};
/// use iam_core::Iam;
/// use iam_store_memory::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let metrics = Metrics::new()?;
/// let iam = Iam::builder(Arc::new(MemoryStore::new())).observer(Arc::new(metrics.clone())).build().await?;
/// let mut settings = Settings::default();
/// settings.metrics = Some(metrics);
/// let app = iam_axum::service(iam, settings);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Metrics(Arc<Collectors>);

struct Collectors {
    registry: Registry,
    requests: IntCounterVec,
    request_duration: HistogramVec,
    query_duration: HistogramVec,
    failed_logins: IntCounterVec,
    password_wait: Histogram,
    passwords_refused: IntCounter,
    passwords_waiting: IntGauge,
    active_sessions: IntGauge,
    pending_entries: IntGauge,
    webhook_attempts: IntCounterVec,
    webhook_backlog: IntGauge,
    webhook_backlog_age: IntGauge,
    /// When the totals in the store were last counted.
    counted: Mutex<Option<Instant>>,
    /// The text that was written last, and when its making began.
    written: Mutex<Option<(Instant, StaticFile)>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// In milliseconds: from a cached read to a request whose client has given up.
const REQUEST_BUCKETS: [f64; 14] =
    [0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0];
const QUERY_BUCKETS: [f64; 12] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 500.0, 2_500.0];
const PASSWORD_BUCKETS: [f64; 9] = [1.0, 10.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 10_000.0];

/// The methods that have a time series of their own. All other methods share one, because any text can be a method.
const METHODS: [Method; 7] =
    [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS];

const FAILURES: [LoginFailure; 5] = [
    LoginFailure::UnknownUser,
    LoginFailure::InvalidPassword,
    LoginFailure::AccountLocked,
    LoginFailure::UserSuspended,
    LoginFailure::UserInactive,
];

impl Metrics {
    /// Creates metrics that have counted nothing yet.
    ///
    /// # Errors
    ///
    /// When two metrics have the same name, which is a defect.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        let of_request = ["method", "route", "status"];
        let collectors = Collectors {
            requests: IntCounterVec::new(
                Opts::new("http_requests_total", "Requests answered, by method, route template and class of status"),
                &of_request,
            )?,
            request_duration: HistogramVec::new(
                HistogramOpts::new("http_request_duration_ms", "How long answers took, in milliseconds")
                    .buckets(REQUEST_BUCKETS.to_vec()),
                &of_request,
            )?,
            query_duration: HistogramVec::new(
                HistogramOpts::new("database_query_duration_ms", "How long the store took, in milliseconds")
                    .buckets(QUERY_BUCKETS.to_vec()),
                &["operation"],
            )?,
            failed_logins: IntCounterVec::new(
                Opts::new("failed_login_attempts", "Logins that failed, by reason, in this process"),
                &["reason"],
            )?,
            password_wait: Histogram::with_opts(
                HistogramOpts::new("password_wait_ms", "How long passwords waited to be hashed, in milliseconds")
                    .buckets(PASSWORD_BUCKETS.to_vec()),
            )?,
            passwords_refused: IntCounter::new(
                "passwords_refused_total",
                "Passwords that were not hashed because too many waited already",
            )?,
            passwords_waiting: IntGauge::new("passwords_waiting", "Passwords that wait to be hashed, in this process")?,
            active_sessions: IntGauge::new(
                "active_sessions",
                "Sessions that have neither ended nor expired; of the whole store, so the same in every replica",
            )?,
            pending_entries: IntGauge::new(
                "audit_unsealed_entries",
                "Pending audit entries, with no sequence number yet; of the whole store, so the same in every replica",
            )?,
            webhook_attempts: IntCounterVec::new(
                Opts::new(
                    "webhook_attempts_total",
                    "Attempts to send an event of a webhook, by the state of the delivery after them, in this process",
                ),
                &["outcome"],
            )?,
            webhook_backlog: IntGauge::new(
                "webhook_backlog_entries",
                "Events that the webhook furthest behind has not attempted; the same in every replica",
            )?,
            webhook_backlog_age: IntGauge::new(
                "webhook_backlog_seconds",
                "Age of the oldest event that a webhook has not attempted; the same in every replica",
            )?,
            registry,
            counted: Mutex::default(),
            written: Mutex::default(),
        };
        let registry = &collectors.registry;
        registry.register(Box::new(collectors.requests.clone()))?;
        registry.register(Box::new(collectors.request_duration.clone()))?;
        registry.register(Box::new(collectors.query_duration.clone()))?;
        registry.register(Box::new(collectors.failed_logins.clone()))?;
        registry.register(Box::new(collectors.password_wait.clone()))?;
        registry.register(Box::new(collectors.passwords_refused.clone()))?;
        registry.register(Box::new(collectors.passwords_waiting.clone()))?;
        registry.register(Box::new(collectors.active_sessions.clone()))?;
        registry.register(Box::new(collectors.pending_entries.clone()))?;
        registry.register(Box::new(collectors.webhook_attempts.clone()))?;
        registry.register(Box::new(collectors.webhook_backlog.clone()))?;
        registry.register(Box::new(collectors.webhook_backlog_age.clone()))?;
        // An alert on a rate needs the zero before the first failure.
        for reason in FAILURES {
            collectors.failed_logins.with_label_values(&[reason.as_str()]);
        }
        for status in [DeliveryStatus::Delivered, DeliveryStatus::Pending, DeliveryStatus::Failed] {
            collectors.webhook_attempts.with_label_values(&[outcome(status)]);
        }
        Ok(Self(Arc::new(collectors)))
    }

    /// The registry, in which a host program can register metrics of its own.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    /// Returns a router with `/metrics`, for a separate listener.
    pub fn router(&self, iam: Iam) -> Router {
        Router::new().route("/metrics", get(scrape)).with_state((self.clone(), iam))
    }

    /// Returns the same router for the address of the API, where a client of the Internet finds nothing: from the counts
    /// of failed logins and of messages, it could tell whether an account exists.
    pub(crate) fn router_beside_api(&self, iam: Iam) -> Router {
        self.router(iam).route_layer(from_fn(async |request: Request, next: Next| {
            let context = RequestState::of(request.extensions()).and_then(|state| state.context.as_ref());
            if context.and_then(|context| context.ip_address).is_some_and(is_public) {
                return Problem::nothing_here().into_response();
            }
            next.run(request).await
        }))
    }

    fn text(&self) -> io::Result<StaticFile> {
        let text = TextEncoder::new().encode_to_string(&self.registry().gather()).map_err(io::Error::other)?;
        StaticFile::new(TEXT_FORMAT, text)
    }

    pub(crate) fn answered(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let method = if METHODS.contains(method) { method.as_str() } else { "OTHER" };
        let class = match status.as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        let labels = [method, route, class];
        self.0.requests.with_label_values(&labels).inc();
        self.0.request_duration.with_label_values(&labels).observe(millis(took));
    }
}

impl Observer for Metrics {
    fn store_answered(&self, operation: &'static str, took: Duration, _: Option<&StoreError>) {
        self.0.query_duration.with_label_values(&[operation]).observe(millis(took));
    }

    fn login_failed(&self, reason: LoginFailure) {
        self.0.failed_logins.with_label_values(&[reason.as_str()]).inc();
    }

    fn password_hashed(&self, waited: Duration, _: Duration) {
        self.0.password_wait.observe(millis(waited));
    }

    fn password_refused(&self) {
        self.0.passwords_refused.inc();
    }

    fn webhook_attempted(&self, status: DeliveryStatus) {
        self.0.webhook_attempts.with_label_values(&[outcome(status)]).inc();
    }
}

fn outcome(status: DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Delivered => "delivered",
        DeliveryStatus::Pending => "pending",
        DeliveryStatus::Failed => "failed",
    }
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// The shortest time between two counts in the store. A count reads whole tables, and any client can request the
/// metrics without a rate limit.
const MIN_COUNT_INTERVAL: Duration = Duration::from_secs(1);

impl Collectors {
    /// Counts the totals in the store.
    async fn count(&self, iam: &Iam) {
        // A request that arrives during a count gets the previous totals.
        let Ok(mut counted) = self.counted.try_lock() else { return };
        if counted.is_some_and(|counted| counted.elapsed() < MIN_COUNT_INTERVAL) {
            return;
        }
        match try_join(iam.totals(), iam.webhook_backlog()).await {
            Ok((totals, backlog)) => {
                self.active_sessions.set(i64::try_from(totals.active_sessions).unwrap_or(i64::MAX));
                self.pending_entries.set(i64::try_from(totals.pending_entries).unwrap_or(i64::MAX));
                self.webhook_backlog.set(i64::try_from(backlog.entries).unwrap_or(i64::MAX));
                let age = backlog.since.map_or(0, |since| (iam.now() - since).num_seconds());
                self.webhook_backlog_age.set(age.max(0));
            }
            // While the store is unavailable, the other metrics are even more important.
            Err(error) => tracing::warn!(error = %crate::problem::chain(&error), "the totals cannot be counted"),
        }
        *counted = Some(Instant::now());
    }
}

/// The shortest time between two texts, which take milliseconds to write and compress.
const MIN_TEXT_INTERVAL: Duration = Duration::from_millis(100);

async fn scrape(State((metrics, iam)): State<(Metrics, Iam)>, headers: HeaderMap) -> Result<Response, Problem> {
    let asked = Instant::now();
    metrics.0.passwords_waiting.set(i64::try_from(iam.passwords_waiting()).unwrap_or(i64::MAX));
    metrics.0.count(&iam).await;
    // Requests that wait here share the text that is written next, which shows all that has happened before them.
    let mut written = metrics.0.written.lock().await;
    if let Some((began, text)) = &*written {
        if *began >= asked {
            return Ok(text.response(&headers));
        }
        sleep_until(*began + MIN_TEXT_INTERVAL).await;
    }
    let began = Instant::now();
    let writer = metrics.clone();
    let text = static_file::make(move || writer.text()).await?;
    let response = text.response(&headers);
    *written = Some((began, text));
    Ok(response)
}
