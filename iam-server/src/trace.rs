//! Traces of requests, by the semantic conventions of OpenTelemetry for HTTP servers and database clients.

use std::iter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{Request as HttpRequest, Version};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use iam_axum::{Metrics, TraceId};
use iam_core::credential::LoginFailure;
use iam_core::observe::Observer;
use iam_core::webhook::DeliveryStatus;
use iam_core::{Caller, RequestContext, StoreError};
use ipnet::IpNet;
use opentelemetry::trace::{
    FutureExt as _, Span as _, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt as _, TraceFlags,
    TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};

use crate::failure::Failure;
use crate::settings::Settings;
use crate::{otlp, trace_context};

/// How long the export of the last spans may take when the server stops.
const FLUSH: Duration = Duration::from_secs(5);

/// Assigns requests to traces, and records spans if there is a collector.
#[derive(Clone)]
pub(crate) struct Traces {
    provider: Option<SdkTracerProvider>,
    tracer: Option<SdkTracer>,
    sampling: f64,
    trusted_proxies: Vec<IpNet>,
    scheme: &'static str,
}

impl Traces {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Failure> {
        let endpoint = settings.otlp_endpoint.as_deref();
        let provider = endpoint.map(|endpoint| otlp::provider(endpoint, settings)).transpose()?;
        Ok(Self {
            tracer: provider.as_ref().map(|provider| provider.tracer(env!("CARGO_PKG_NAME"))),
            provider,
            sampling: settings.trace_sampling,
            trusted_proxies: settings.http.trusted_proxies.clone(),
            scheme: if settings.tls.is_some() { "https" } else { "http" },
        })
    }

    /// Returns a router that traces every request, if there is a collector.
    pub(crate) fn layer(&self, router: Router) -> Router {
        let Some(tracer) = self.tracer.clone() else { return router };
        router.layer(from_fn_with_state((Arc::new(self.clone()), tracer), trace))
    }

    /// Returns the observer that counts the metrics. If there is a collector, it also traces the calls of requests to
    /// a store of this kind, and the hashing of passwords.
    pub(crate) fn observer(&self, metrics: Metrics, store: &str) -> Arc<dyn Observer> {
        match self.tracer.clone() {
            Some(tracer) => Arc::new(Traced { metrics, tracer, system: store.to_lowercase() }),
            None => Arc::new(metrics),
        }
    }

    /// Exports the spans that are recorded so far, unless that takes too long, and records no more spans.
    pub(crate) async fn finish(self) {
        let Some(provider) = self.provider else { return };
        // If the collector is unavailable, the log says so already.
        let _ = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FLUSH)).await;
    }

    /// Returns the parent of the request's span. Every client may name the trace. Only a trusted proxy may decide
    /// whether the request is recorded, and may send a trace state: another client could fill the collector, or hide
    /// from it.
    fn parent(&self, request: &Request) -> Context {
        let Some(parent) = trace_context::parent(request.headers()) else { return Context::new() };
        let parent = if self.is_from_proxy(request) { parent } else { self.of_stranger(&parent) };
        Context::new().with_remote_span_context(parent)
    }

    fn is_from_proxy(&self, request: &Request) -> bool {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
        peer.is_some_and(|peer| self.trusted_proxies.iter().any(|proxies| proxies.contains(&peer)))
    }

    /// Returns the parent that a stranger names, with a random decision about sampling. The decision does not depend
    /// on the trace id, because the stranger chooses that.
    fn of_stranger(&self, parent: &SpanContext) -> SpanContext {
        let flags = TraceFlags::default().with_sampled(fastrand::f64() < self.sampling);
        SpanContext::new(parent.trace_id(), parent.span_id(), flags, true, TraceState::NONE)
    }
}

/// Traces a request.
async fn trace(State((traces, tracer)): State<(Arc<Traces>, SdkTracer)>, mut request: Request, next: Next) -> Response {
    let parent = traces.parent(&request);
    let span = tracer.span_builder(name(&request)).with_kind(SpanKind::Server);
    let context = parent.with_span(span.start_with_context(&tracer, &parent));
    let span = context.span();
    if span.is_recording() {
        span.set_attributes(of_request(&request, traces.scheme));
    }
    note(span.span_context(), &mut request);
    let response = next.run(request).with_context(context.clone()).await;
    if span.is_recording() {
        span.set_attributes(of_response(&response));
        if response.status().is_server_error() {
            span.set_status(Status::error(""));
        }
    }
    response
}

/// Notes the trace that a request names, so that the log lines of the request have its id.
pub(crate) fn note_parent<B>(request: &mut HttpRequest<B>) {
    if let Some(parent) = trace_context::parent(request.headers()) {
        note(&parent, request);
    }
}

fn note<B>(span: &SpanContext, request: &mut HttpRequest<B>) {
    if span.is_valid() {
        let trace_id = u128::from_be_bytes(span.trace_id().to_bytes());
        request.extensions_mut().insert(TraceId(trace_id));
    }
}

/// Returns the name of the request's span: method and route. Spans are counted by name, so a name has few values.
fn name(request: &Request) -> String {
    let method = method(request).unwrap_or("HTTP");
    match request.extensions().get::<MatchedPath>() {
        Some(route) => format!("{method} {}", route.as_str()),
        None => method.to_owned(),
    }
}

/// Returns the method if it is a standard one. A client may invent other methods.
fn method(request: &Request) -> Option<&'static str> {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"];
    known.into_iter().find(|known| request.method() == known)
}

/// Returns the attributes of a request. The query and the user agent are left out: clients put e-mail addresses into
/// both.
fn of_request(request: &Request, scheme: &'static str) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("http.request.method", method(request).unwrap_or("_OTHER")),
        KeyValue::new("url.scheme", scheme),
    ];
    if let Some(route) = request.extensions().get::<MatchedPath>() {
        attributes.push(KeyValue::new("http.route", route.as_str().to_owned()));
        attributes.push(KeyValue::new("url.path", without_values(request.uri().path(), route.as_str())));
    }
    let version = match request.version() {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        _ => None,
    };
    attributes.extend(version.map(|version| KeyValue::new("network.protocol.version", version)));
    attributes
}

/// Returns a path with its identifiers. Any other value of a parameter is replaced by the name of the parameter.
fn without_values(path: &str, route: &str) -> String {
    let is_id = |text: &str| text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let segments = iter::zip(path.split('/'), route.split('/'));
    let segments = segments.map(|(text, name)| if name.starts_with('{') && is_id(text) { text } else { name });
    segments.collect::<Vec<_>>().join("/")
}

fn of_response(response: &Response) -> Vec<KeyValue> {
    let status = response.status();
    let mut attributes = vec![KeyValue::new("http.response.status_code", i64::from(status.as_u16()))];
    if status.is_server_error() {
        attributes.push(KeyValue::new("error.type", status.as_str().to_owned()));
    }
    if let Some(context) = response.extensions().get::<RequestContext>() {
        let client = context.ip_address.map(|address| KeyValue::new("client.address", address.to_string()));
        let id = context.correlation_id.as_ref().map(|id| KeyValue::new("iam.correlation_id", id.as_str().to_owned()));
        attributes.extend(client.into_iter().chain(id));
    }
    if let Some(caller) = response.extensions().get::<Caller>() {
        attributes.push(KeyValue::new("iam.tenant_id", caller.tenant().to_string()));
        attributes.extend(caller.user().map(|user| KeyValue::new("enduser.id", user.to_string())));
    }
    attributes
}

/// Records a span for every answer of the store and every hashed password, if the request is recorded.
struct Traced {
    metrics: Metrics,
    tracer: SdkTracer,
    system: String,
}

impl Observer for Traced {
    fn store_answered(&self, operation: &'static str, took: Duration, error: Option<&StoreError>) {
        self.metrics.store_answered(operation, took, error);
        self.record(took, error, || {
            self.tracer.span_builder(operation).with_kind(SpanKind::Client).with_attributes([
                KeyValue::new("db.system.name", self.system.clone()),
                KeyValue::new("db.operation.name", operation),
            ])
        });
    }

    fn login_failed(&self, reason: LoginFailure) {
        self.metrics.login_failed(reason);
    }

    fn password_hashed(&self, waited: Duration, took: Duration) {
        self.metrics.password_hashed(waited, took);
        self.record(waited + took, None, || {
            let waited_ms = KeyValue::new("iam.waited_ms", waited.as_secs_f64() * 1_000.0);
            self.tracer.span_builder("hash_password").with_attributes([waited_ms])
        });
    }

    fn password_refused(&self) {
        self.metrics.password_refused();
    }

    fn webhook_attempted(&self, status: DeliveryStatus) {
        self.metrics.webhook_attempted(status);
    }
}

impl Traced {
    /// Records a span that ends now and took this long, if the current request is recorded.
    fn record(&self, took: Duration, error: Option<&StoreError>, what: impl FnOnce() -> SpanBuilder) {
        Context::map_current(|request| {
            if !request.span().is_recording() {
                return;
            }
            let end = SystemTime::now();
            let mut span = what().with_start_time(end - took).start_with_context(&self.tracer, request);
            if let Some(error) = error {
                span.set_attribute(KeyValue::new("error.type", kind(error)));
                span.set_status(Status::error(""));
            }
            span.end_with_timestamp(end);
        });
    }
}

fn kind(error: &StoreError) -> &'static str {
    match error {
        StoreError::Conflict(_) => "conflict",
        StoreError::Missing(_) => "missing",
        StoreError::Corrupt { .. } => "corrupt",
        StoreError::Busy => "busy",
        StoreError::Unavailable(_) => "unavailable",
        _ => "failed",
    }
}
