//! A minimal collector of traces: OTLP over HTTP/1.1.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use prost::Message as _;

pub(crate) use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
pub(crate) use opentelemetry_proto::tonic::trace::v1::status::StatusCode;

/// A collector that accepts every request, until the tests end.
pub(crate) struct Collector {
    pub(crate) url: String,
    accepted: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

/// A span, in a form that tests can compare.
#[derive(Debug)]
pub(crate) struct Span {
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for the first span of a trace.
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) status: StatusCode,
    pub(crate) state: String,
    pub(crate) attributes: HashMap<String, String>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let accepted = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&accepted);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let accepted = Arc::clone(&shared);
                thread::spawn(move || while accept(&stream, &accepted).is_some() {});
            }
        });
        Self { url, accepted }
    }

    /// Returns all requests that it received, unchanged.
    pub(crate) fn requests(&self) -> Vec<ExportTraceServiceRequest> {
        self.accepted.lock().unwrap().clone()
    }

    /// Returns the attributes of the resource that sends the traces.
    pub(crate) fn resource(&self) -> HashMap<String, String> {
        let requests = self.requests();
        attributes(&requests[0].resource_spans[0].resource.as_ref().unwrap().attributes)
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let requests = self.requests();
        let scopes = requests.iter().flat_map(|request| &request.resource_spans).flat_map(|spans| &spans.scope_spans);
        let spans = scopes.flat_map(|spans| &spans.spans).map(|span| Span {
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            name: span.name.clone(),
            kind: span.kind(),
            status: span.status.as_ref().map_or(StatusCode::Unset, |status| status.code()),
            state: span.trace_state.clone(),
            attributes: attributes(&span.attributes),
        });
        spans.collect()
    }
}

/// Answers one request. Returns `None` if the connection ended.
fn accept(mut stream: &TcpStream, accepted: &Mutex<Vec<ExportTraceServiceRequest>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf\r\n"), "{head}");
    let (_, length) = head.split_once("content-length: ").unwrap();
    let mut body = vec![0; length.lines().next().unwrap().parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    accepted.lock().unwrap().push(ExportTraceServiceRequest::decode(&*body).unwrap());
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n").ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes(pairs: &[KeyValue]) -> HashMap<String, String> {
    let text = |pair: &KeyValue| match pair.value.as_ref().unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    };
    pairs.iter().map(|pair| (pair.key.clone(), text(pair))).collect()
}
