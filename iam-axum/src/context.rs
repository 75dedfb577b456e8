//! The conventions: additions to every request before it is handled, and to every response before it is sent.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, OriginalUri, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::Response;
use iam_core::{Caller, CorrelationId, RequestContext, UserAgent};
use tracing::Span;
use uuid::Uuid;

use crate::problem::Problem;
use crate::request_state::{RequestState, ResponseState};
use crate::settings::{Settings, api_path, is_of_authzen, is_of_directories};
use crate::sync_middleware::{After, SyncMiddleware};

const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The trace that a request belongs to (W3C Trace Context), for the log lines of the request.
///
/// A tracing layer around the router puts it into the extensions of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Gives the request its context, and the response its headers and its problem document.
#[derive(Clone)]
pub(crate) struct Conventions(pub(crate) Arc<Settings>);

/// The facts of the request that the response needs. `None` if the host program already applies the conventions to all
/// of its routes.
pub(crate) struct ResponseConventions(Option<Box<RequestInfo>>);

struct RequestInfo {
    settings: Arc<Settings>,
    started: Instant,
    context: RequestContext,
    correlation_id: CorrelationId,
    /// What the client of AuthZEN calls its request.
    request_id: Option<HeaderValue>,
    method: Method,
    uri: Uri,
    route: Option<MatchedPath>,
    caller: Arc<OnceLock<Caller>>,
    span: Span,
}

impl SyncMiddleware for Conventions {
    type After = ResponseConventions;

    fn before(&self, request: Request) -> (Request, ResponseConventions) {
        let started = Instant::now();
        let (mut parts, body) = request.into_parts();
        if RequestState::of(&parts.extensions).is_some_and(|state| state.context.is_some()) {
            return (Request::from_parts(parts, body), ResponseConventions(None));
        }
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
        let request_id = if is_of_authzen(uri.path()) { request_id(&parts.headers) } else { None };
        let state = RequestState::of_mut(&mut parts.extensions);
        state.context = Some(context.clone());
        let caller = Arc::clone(&state.caller);
        let settings = Arc::clone(&self.0);
        let info =
            RequestInfo { settings, started, context, correlation_id, request_id, method, uri, route, caller, span };
        (Request::from_parts(parts, body), ResponseConventions(Some(Box::new(info))))
    }
}

impl After for ResponseConventions {
    fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(info) => info.span.in_scope(work),
            None => work(),
        }
    }

    fn after(self, response: Response) -> Response {
        let Some(info) = self.0 else { return response };
        let RequestInfo { settings, started, context, correlation_id, request_id, method, uri, route, caller, span } =
            *info;
        let mut response = with_problem(response, &settings, uri.path(), &correlation_id);
        add_headers(response.headers_mut(), &correlation_id);
        if let Some(request_id) = request_id {
            response.headers_mut().insert(REQUEST_ID, request_id);
        }
        response.extensions_mut().insert(context);
        if let Some(caller) = caller.get() {
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

/// Returns the template of the route, not the path of the request: a client can put any text into the path.
fn name(route: Option<&MatchedPath>) -> &str {
    route.map_or("none", MatchedPath::as_str)
}

/// Returns the context of a request, even if [`Conventions`] did not see the request because the host program has its
/// own layers.
pub(crate) fn context_of(parts: &Parts) -> RequestContext {
    let known = RequestState::of(&parts.extensions).and_then(|state| state.context.clone());
    known.unwrap_or_else(|| RequestContext {
        correlation_id: Some(correlation_id(&parts.headers)),
        ip_address: peer_address(parts),
        user_agent: user_agent(&parts.headers),
    })
}

/// Returns the client's own correlation id if it is valid, otherwise a fresh one.
fn correlation_id(headers: &HeaderMap) -> CorrelationId {
    let given = headers.get(CORRELATION_ID).and_then(|value| value.to_str().ok()?.parse().ok());
    given.unwrap_or_else(fresh_correlation_id)
}

/// Returns the client's own identifier of a request (AuthZEN, section 10.1.3): one field of 1–128 visible characters.
fn request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    let mut fields = headers.get_all(REQUEST_ID).iter();
    let field = fields.next().filter(|_| fields.next().is_none())?;
    let is_visible = (1..=128).contains(&field.len()) && field.as_bytes().iter().all(u8::is_ascii_graphic);
    is_visible.then(|| field.clone())
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

/// Returns the address of the client: the address of the peer, or the address that trusted proxies report. In a chain
/// of addresses, the last one that does not belong to a trusted proxy counts. The addresses before it are only a
/// claim of the client.
fn client_address(parts: &Parts, settings: &Settings) -> Option<IpAddr> {
    let peer = peer_address(parts)?;
    let is_trusted = |address: &IpAddr| settings.trusted_proxies.iter().any(|proxies| proxies.contains(address));
    if !is_trusted(&peer) {
        return Some(peer);
    }
    // As bytes: the part that the client wrote, before the proxy's own entry, need not be text.
    let lines = parts.headers.get_all(FORWARDED_FOR).iter().map(HeaderValue::as_bytes);
    let members = lines.flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    let mut claimed: Vec<&[u8]> = members.filter(|member| !member.is_empty()).collect();
    let mut client = peer;
    while let Some(address) = claimed.pop().and_then(address) {
        client = address;
        if !is_trusted(&client) {
            break;
        }
    }
    Some(client)
}

/// Returns the address that a proxy has written. Some proxies add the port, or brackets.
fn address(bytes: &[u8]) -> Option<IpAddr> {
    let text = str::from_utf8(bytes).ok()?;
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    let address = text.parse().ok().or_else(with_port).or_else(in_brackets)?;
    Some(address.to_canonical())
}

/// Puts the problem document into an error response, also into one that a library made. A directory gets the document
/// that it reads. A page for people stays as it is.
fn with_problem(response: Response, settings: &Settings, path: &str, id: &CorrelationId) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || ResponseState::is_page(response.extensions()) {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    let problem = ResponseState::take_problem(&mut parts.extensions).unwrap_or_else(|| Problem::from_status(status));
    let mut response = if is_of_directories(path, settings) {
        problem.respond_as_scim()
    } else {
        problem.respond(&settings.problem_type_base, Some((path, id.as_str())))
    };
    // Keeps the headers that other layers have set, except those that describe the old body.
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
    // A response without its own `Cache-Control` may contain personal data.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_writes_an_address_with_or_without_a_port() {
        for (text, expected) in [
            ("192.0.2.1", Some("192.0.2.1")),
            ("192.0.2.1:5678", Some("192.0.2.1")),
            ("2001:db8::1", Some("2001:db8::1")),
            ("[2001:db8::1]", Some("2001:db8::1")),
            ("[2001:db8::1]:443", Some("2001:db8::1")),
            ("::ffff:192.0.2.1", Some("192.0.2.1")),
            ("unknown", None),
            ("[192.0.2.1]", None),
            ("192.0.2.1:port", None),
        ] {
            assert_eq!(address(text.as_bytes()), expected.map(|address| address.parse().unwrap()), "{text}");
        }
    }
}
