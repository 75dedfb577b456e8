//! What every request gets on its way in and every answer on its way out.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, OriginalUri, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::Response;
use iam_core::{Caller, CorrelationId, RequestContext, UserAgent};
use tracing::Span;
use uuid::Uuid;

use crate::around::{After, Around};
use crate::settings::api_path;
use crate::{Problem, Settings};

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The trace that a request belongs to (W3C Trace Context), for the lines that are logged of it.
///
/// Whoever traces requests puts it into their extensions, in a layer around the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Where the caller of a request is noted once it is proven, for whoever sees the answer.
#[derive(Clone, Default)]
pub(crate) struct Proven(Arc<OnceLock<Caller>>);

impl Proven {
    /// Notes the caller. A request has only one.
    pub(crate) fn note(&self, caller: &Caller) {
        self.0.get_or_init(|| caller.clone());
    }
}

/// Gives the request its context, and the answer its headers and its problem document.
#[derive(Clone)]
pub(crate) struct Conventions(pub(crate) Arc<Settings>);

/// What an answer gets of its request; nothing where a host has conventions for all of its routes.
pub(crate) struct Answering(Option<Box<Asked>>);

struct Asked {
    settings: Arc<Settings>,
    started: Instant,
    context: RequestContext,
    correlation_id: CorrelationId,
    method: Method,
    uri: Uri,
    route: Option<MatchedPath>,
    proven: Proven,
    span: Span,
}

impl Around for Conventions {
    type After = Answering;

    fn before(&self, request: Request) -> (Request, Answering) {
        if request.extensions().get::<RequestContext>().is_some() {
            return (request, Answering(None));
        }
        let started = Instant::now();
        let (mut parts, body) = request.into_parts();
        let correlation_id = correlation_id(&parts.headers);
        let context = RequestContext {
            correlation_id: Some(correlation_id.clone()),
            ip_address: client_address(&parts, &self.0),
            user_agent: user_agent(&parts.headers),
        };
        let uri = parts.extensions.get::<OriginalUri>().map_or(&parts.uri, |OriginalUri(uri)| uri).clone();
        let route = parts.extensions.get::<MatchedPath>().cloned();
        let method = parts.method.clone();
        let span = tracing::info_span!(
            "request",
            %method,
            route = name(route.as_ref()),
            %correlation_id,
            trace_id = parts.extensions.get::<TraceId>().map(tracing::field::display),
            tenant_id = tracing::field::Empty,
            user_id = tracing::field::Empty,
        );
        let proven = Proven::default();
        parts.extensions.insert(context.clone());
        parts.extensions.insert(proven.clone());
        let settings = Arc::clone(&self.0);
        let asked = Asked { settings, started, context, correlation_id, method, uri, route, proven, span };
        (Request::from_parts(parts, body), Answering(Some(Box::new(asked))))
    }
}

impl After for Answering {
    fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(asked) => asked.span.in_scope(work),
            None => work(),
        }
    }

    fn after(self, response: Response) -> Response {
        let Some(asked) = self.0 else { return response };
        let Asked { settings, started, context, correlation_id, method, uri, route, proven, span } = *asked;
        let mut response = with_problem(response, &settings, uri.path(), &correlation_id);
        add_headers(response.headers_mut(), &correlation_id);
        response.extensions_mut().insert(context);
        if let Some(caller) = proven.0.get() {
            response.extensions_mut().insert(caller.clone());
        }
        let elapsed = started.elapsed();
        if let Some(metrics) = &settings.metrics {
            metrics.answered(&method, api_path(name(route.as_ref()), &settings), response.status(), elapsed);
        }
        let elapsed_us = elapsed.as_micros();
        span.in_scope(|| tracing::info!(status = response.status().as_u16(), elapsed_us, "answered"));
        response
    }
}

/// The name of a route, and not the path, into which a client may put anything.
fn name(route: Option<&MatchedPath>) -> &str {
    route.map_or("none", MatchedPath::as_str)
}

/// The context of a request, also where [`Conventions`] did not see it because the host has its own layers.
pub(crate) fn context_of(parts: &Parts) -> RequestContext {
    parts.extensions.get::<RequestContext>().cloned().unwrap_or_else(|| RequestContext {
        correlation_id: Some(correlation_id(&parts.headers)),
        ip_address: peer_address(parts),
        user_agent: user_agent(&parts.headers),
    })
}

/// The client's own correlation id where it is one, else a fresh one.
fn correlation_id(headers: &HeaderMap) -> CorrelationId {
    let given = headers.get(CORRELATION_ID).and_then(|value| value.to_str().ok()?.parse().ok());
    given.unwrap_or_else(fresh_correlation_id)
}

#[expect(clippy::expect_used, reason = "a UUID is 36 visible ASCII characters")]
fn fresh_correlation_id() -> CorrelationId {
    Uuid::now_v7().to_string().parse().expect("a UUID is a correlation id")
}

fn user_agent(headers: &HeaderMap) -> Option<UserAgent> {
    let text = headers.get(header::USER_AGENT)?.to_str().ok()?;
    Some(UserAgent::new(text))
}

fn peer_address(parts: &Parts) -> Option<IpAddr> {
    let ConnectInfo(address) = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
    Some(address.ip().to_canonical())
}

/// Where the request came from: the peer, or what trusted proxies say of it. Of a chain of addresses, the last one
/// that no trusted proxy has is believed; those before it are the client's own claim.
fn client_address(parts: &Parts, settings: &Settings) -> Option<IpAddr> {
    let peer = peer_address(parts)?;
    let is_trusted = |address: &IpAddr| settings.trusted_proxies.iter().any(|proxies| proxies.contains(address));
    if !is_trusted(&peer) {
        return Some(peer);
    }
    // By bytes: what the client wrote before the proxy's own entry need not be text.
    let lines = parts.headers.get_all(FORWARDED_FOR).iter().map(HeaderValue::as_bytes);
    let mut claimed: Vec<&[u8]> = lines.flat_map(|line| line.split(|byte| *byte == b',')).collect();
    let mut client = peer;
    while let Some(address) = claimed.pop().and_then(address) {
        client = address;
        if !is_trusted(&client) {
            break;
        }
    }
    Some(client)
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let address: IpAddr = str::from_utf8(bytes).ok()?.trim().parse().ok()?;
    Some(address.to_canonical())
}

/// Puts the problem document into an error answer, also into one that a library made.
fn with_problem(response: Response, settings: &Settings, path: &str, id: &CorrelationId) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    let problem = parts.extensions.remove::<Problem>().unwrap_or_else(|| Problem::from_status(status));
    let mut response = problem.respond(settings, Some((path, id.as_str())));
    // What other layers have said of the answer, but not of the body that it had.
    let said: Vec<HeaderName> = response.headers().keys().cloned().collect();
    for (name, value) in &parts.headers {
        if !name.as_str().starts_with("content-") && !said.contains(name) {
            response.headers_mut().append(name, value.clone());
        }
    }
    response
}

fn add_headers(headers: &mut HeaderMap, correlation_id: &CorrelationId) {
    headers.reserve(5);
    if let Ok(value) = HeaderValue::from_str(correlation_id.as_str()) {
        headers.insert(CORRELATION_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Whatever does not say otherwise may hold personal data.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
