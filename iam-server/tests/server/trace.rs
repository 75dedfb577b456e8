//! The traces that a collector receives, and the behaviour of the server without a collector.

use std::io::Write as _;
use std::net::TcpListener;
use std::thread;

use serde_json::{Value, json};

use crate::client::text;
use crate::collector::{Collector, Span, SpanKind, StatusCode};
use crate::log::send_typical_requests;
use crate::process::{Home, Launch, free_address};
use crate::store::Store;

const EMAIL: &str = "grace@navy.example";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn trace_parent(flags: &str) -> String {
    format!("00-{TRACE}-{PARENT}-{flags}")
}

/// Returns the span of the request with this correlation id.
#[track_caller]
fn span_of<'a>(spans: &'a [Span], correlation_id: &str) -> &'a Span {
    let found =
        spans.iter().find(|span| span.attributes.get("iam.correlation_id").is_some_and(|id| id == correlation_id));
    found.unwrap_or_else(|| panic!("there is no span of {correlation_id}: {spans:#?}"))
}

#[track_caller]
fn assert_attributes(span: &Span, expected: &[(&str, &str)]) {
    let mut attributes: Vec<(&str, &str)> = span.attributes.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut expected = expected.to_vec();
    attributes.sort_unstable();
    expected.sort_unstable();
    assert_eq!(attributes, expected);
}

#[test]
fn the_parent_of_a_requests_span_is_the_clients_span() {
    for (store, system) in [(Store::sqlite(), "sqlite"), (Store::postgres(), "postgresql")] {
        let collector = Collector::start();
        let launch = store.iam_server().env("IAM_OTLP_ENDPOINT", &collector.url).env("IAM_ENVIRONMENT", "test");
        let server = launch.serve();
        let session = server.client().register(EMAIL);
        let user = server.client().with_token(&session.access);
        let path = format!("/api/v1/users/{}", session.user);
        let answer = user.with_header("traceparent", &trace_parent("01")).get(&path);
        let (id, tenant) = (answer.correlation_id.clone().unwrap(), text(&answer.expect(200)["tenantId"]));
        assert_eq!(server.stop().code, Some(0));

        let spans = collector.spans();
        let span = span_of(&spans, &id);
        assert_eq!((&*span.trace, &*span.parent), (TRACE, PARENT));
        assert_eq!((&*span.name, span.kind), ("GET /api/v1/users/{id}", SpanKind::Server));
        assert_eq!(span.status, StatusCode::Unset);
        assert_attributes(
            span,
            &[
                ("http.request.method", "GET"),
                ("http.route", "/api/v1/users/{id}"),
                ("url.scheme", "http"),
                ("url.path", &path),
                ("network.protocol.version", "1.1"),
                ("http.response.status_code", "200"),
                ("client.address", "127.0.0.1"),
                ("iam.correlation_id", &id),
                ("iam.tenant_id", &tenant),
                ("enduser.id", &session.user),
            ],
        );
        let children: Vec<&Span> = spans.iter().filter(|child| child.parent == span.id).collect();
        assert!(children.iter().any(|child| child.name == "user_with_attributes"), "{children:#?}");
        for child in children {
            assert_eq!((&*child.trace, child.kind), (TRACE, SpanKind::Client));
            assert_attributes(child, &[("db.system.name", system), ("db.operation.name", &child.name)]);
        }
        for (name, value) in [("service.name", "iam-server"), ("deployment.environment.name", "test")] {
            assert_eq!(collector.resource()[name], value);
        }
        assert_eq!(collector.resource()["service.version"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn a_request_without_a_valid_parent_starts_a_trace() {
    let (home, collector) = (Home::new(), Collector::start());
    let launch = home.iam_server().env("IAM_OTLP_ENDPOINT", &collector.url).env("IAM_LOG_FORMAT", "json");
    let server = launch.env("IAM_DATABASE_URL", "memory:").serve();
    let requests = ["", "00-nonsense", &trace_parent("01").replace(TRACE, &"0".repeat(32))];
    let ids = requests.map(|parent| server.client().with_header("traceparent", parent).get("/health").correlation_id);
    let log = server.stop().log;

    let spans = collector.spans();
    let mut traces = Vec::new();
    for id in ids.map(Option::unwrap) {
        let span = span_of(&spans, &id);
        assert_eq!(span.parent, "");
        let line: Value = serde_json::from_str(log.lines().find(|line| line.contains(&id)).unwrap()).unwrap();
        assert_eq!(line["span"]["trace_id"], *span.trace, "{line}");
        traces.push(&span.trace);
    }
    traces.sort_unstable();
    traces.dedup();
    assert_eq!(traces.len(), 3, "each has a trace of its own");
}

#[test]
fn no_password_token_or_email_is_traced() {
    for store in [Store::sqlite(), Store::postgres()] {
        let collector = Collector::start();
        let server = store.iam_server().env("IAM_OTLP_ENDPOINT", &collector.url).serve();
        let stranger = server.client().with_header("traceparent", &trace_parent("01"));
        let secrets = send_typical_requests(&stranger.with_header("tracestate", &format!("a={EMAIL}")));
        server.stop();
        let traced = format!("{:#?}", collector.requests());
        assert!(traced.contains("POST /api/v1/auth/login") && traced.contains("lock_guarded_account"), "{traced}");
        for secret in secrets {
            let lines: Vec<&str> = traced.lines().filter(|line| line.contains(&secret)).collect();
            assert!(lines.is_empty(), "{secret} is in the traces:\n{}", lines.join("\n"));
        }
    }
}

/// Returns what a collector receives of a request whose client sends these sampling flags.
fn sampled(launch: Launch, flags: &str) -> Vec<Span> {
    let collector = Collector::start();
    let server = launch.env("IAM_DATABASE_URL", "memory:").env("IAM_OTLP_ENDPOINT", &collector.url).serve();
    let client = server.client().with_header("traceparent", &trace_parent(flags));
    client.with_header("tracestate", "vendor=1").get("/health").expect(200);
    server.client().with_header("x-correlation-id", "first-of-its-trace").get("/health").expect(200);
    server.stop();
    collector.spans()
}

#[test]
fn only_a_trusted_proxy_decides_whether_a_request_is_recorded() {
    let home = Home::new();
    let launch = |sampling| home.iam_server().env("IAM_TRACE_SAMPLING", sampling);
    let of_proxy = |sampling| launch(sampling).env("IAM_TRUSTED_PROXIES", "127.0.0.1");
    assert!(sampled(launch("0"), "01").is_empty());
    let spans = sampled(of_proxy("0"), "01");
    assert_eq!(spans.len(), 1, "{spans:#?}");
    assert_eq!((&*spans[0].trace, &*spans[0].state), (TRACE, "vendor=1"));

    let mut spans = sampled(launch("1"), "00");
    assert_eq!(spans.len(), 2, "{spans:#?}");
    spans.retain(|span| span.trace == TRACE);
    assert_eq!((&*spans[0].parent, &*spans[0].state), (PARENT, ""));
    let spans = sampled(of_proxy("1"), "00");
    assert_eq!(spans.len(), 1, "{spans:#?}");
    span_of(&spans, "first-of-its-trace");
}

#[test]
fn a_failed_request_and_its_failed_store_call_are_marked() {
    let (store, collector) = (Store::sqlite(), Collector::start());
    let server = store.iam_server().env("IAM_OTLP_ENDPOINT", &collector.url).serve();
    let user = server.client().with_token(&server.client().register(EMAIL).access);
    let twice = json!({ "name": "CLERK", "permissions": ["users:read"] });
    user.post("/api/v1/roles", &twice).expect(201);
    let refused = user.post("/api/v1/roles", &twice);
    store.tamper("ALTER TABLE roles RENAME TO rolls");
    let failed = user.get("/api/v1/roles");
    assert_eq!((refused.status, failed.status), (409, 500));
    server.stop();

    let spans = collector.spans();
    let refused = span_of(&spans, &refused.correlation_id.unwrap());
    assert_eq!((refused.status, refused.attributes.get("error.type")), (StatusCode::Unset, None));
    let failed = span_of(&spans, &failed.correlation_id.unwrap());
    assert_eq!((failed.status, &*failed.attributes["error.type"]), (StatusCode::Error, "500"));
    let child = spans.iter().find(|span| span.parent == failed.id && span.status == StatusCode::Error).unwrap();
    assert_eq!((child.kind, &*child.attributes["error.type"]), (SpanKind::Client, "failed"));
}

/// Serves, and stops, with a collector that accepts nothing.
fn serve_without_collector(url: &str) {
    let home = Home::new();
    let launch = home.iam_server().env("IAM_OTLP_ENDPOINT", url).env("OTEL_BSP_SCHEDULE_DELAY", "20");
    let server = launch.serve();
    let user = server.client().with_token(&server.client().register(EMAIL).access);
    // More spans than the server keeps for the export.
    for _ in 0..1000 {
        user.get("/api/v1/auth/me").expect(200);
    }
    server.log().wait_for_line("traces cannot be exported");
    user.get("/api/v1/auth/me").expect(200);
    let ended = server.stop();
    assert_eq!(ended.code, Some(0), "{}", ended.log);
    assert_eq!(ended.log.matches("traces cannot be exported").count(), 1, "logged once: {}", ended.log);
    assert!(ended.log.ends_with("stopped"), "{}", ended.log);
}

#[test]
fn an_unreachable_collector_delays_nothing() {
    serve_without_collector(&format!("http://{}", free_address()));
}

#[test]
fn a_silent_collector_delays_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    serve_without_collector(&format!("http://{}", silent.local_addr().unwrap()));
}

#[test]
fn a_collector_without_the_required_tls_gets_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    thread::spawn(move || {
        for stream in silent.incoming() {
            let _ = stream.unwrap().write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    serve_without_collector(&url);
}
