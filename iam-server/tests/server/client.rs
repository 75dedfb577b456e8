//! A client of the HTTP API.

use std::net::SocketAddr;
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

use hyper::Request;
use hyper::body::Bytes;
use iam_core::webhook::AddressPolicy;
use iam_http_client::{Certificates, Client as HttpClient, Limits, RequestError};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::process::TIMEOUT;

const LIMITS: Limits = Limits {
    total: TIMEOUT,
    body: TIMEOUT,
    // The server closes an idle connection after 15 seconds. To keep it for the same time would be a race.
    idle: Duration::from_secs(5),
    bytes: 16 << 20,
};

/// What makes the requests of all clients, so that a test needs no runtime.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

/// The password of all users in these tests.
pub(crate) const PASSWORD: &str = "Correct-Horse-7!";

/// Talks to one server, as one user or anonymously.
#[derive(Clone)]
pub(crate) struct Client {
    http: HttpClient,
    origin: String,
    token: Option<String>,
    headers: Vec<(&'static str, String)>,
}

/// An answer, with the request that it belongs to.
#[derive(Debug)]
pub(crate) struct Answer {
    request: String,
    pub(crate) status: u16,
    pub(crate) correlation_id: Option<String>,
    /// How many more requests the rate limit allows, if there is one.
    pub(crate) remaining: Option<u32>,
    pub(crate) body: Value,
}

impl Answer {
    /// Returns the body. Fails the test if the answer has another status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.request, self.body);
        self.body
    }
}

/// A session, as the program of its user keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) user: String,
    pub(crate) access: String,
    pub(crate) refresh: String,
}

impl Session {
    fn of(body: &Value) -> Self {
        Self {
            user: text(&body["user"]["id"]),
            access: text(&body["accessToken"]),
            refresh: text(&body["refreshToken"]),
        }
    }
}

/// Returns a string of a document. Fails the test if the value is not a string.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string")).to_owned()
}

impl Client {
    pub(crate) fn of(address: SocketAddr) -> Self {
        let http = HttpClient::new(AddressPolicy::Anywhere, Certificates::none(), LIMITS).unwrap();
        Self { http, origin: format!("http://{address}"), token: None, headers: Vec::new() }
    }

    /// Returns the same client, which talks to the server at another address.
    pub(crate) fn at(&self, address: SocketAddr) -> Self {
        Self { origin: format!("http://{address}"), ..self.clone() }
    }

    /// Returns the same client, with this access token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Returns the same client, for one request that may be repeated under this idempotency key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        self.with_header("idempotency-key", key)
    }

    /// Returns the same client. All its requests have this header.
    pub(crate) fn with_header(&self, name: &'static str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name, value.to_owned()));
        client
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None).unwrap()
    }

    /// Returns an error if no answer arrives.
    pub(crate) fn try_get(&self, path: &str) -> Result<Answer, RequestError> {
        self.send("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.try_post(path, body).unwrap()
    }

    /// Returns an error if no answer arrives.
    pub(crate) fn try_post(&self, path: &str, body: &Value) -> Result<Answer, RequestError> {
        self.send("POST", path, Some(&body.to_string()))
    }

    /// Sends a POST whose body is not JSON, or which has no body.
    pub(crate) fn post_text(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, Some(body)).unwrap()
    }

    /// Returns an error if no answer arrives.
    pub(crate) fn try_patch(&self, path: &str, body: &Value) -> Result<Answer, RequestError> {
        self.send("PATCH", path, Some(&body.to_string()))
    }

    /// Returns every entry of the audit log that passes a filter (`&name=value…`), oldest first.
    pub(crate) fn audit_entries(&self, filter: &str) -> Vec<Value> {
        let (mut entries, mut cursor) = (Vec::new(), String::new());
        loop {
            let body = self.get(&format!("/api/v1/audit-logs?limit=100{filter}{cursor}")).expect(200);
            entries.extend(body["data"].as_array().unwrap().iter().cloned());
            match &body["pagination"]["nextCursor"] {
                Value::String(next) => cursor = format!("&cursor={next}"),
                _ => break,
            }
        }
        entries.reverse();
        entries
    }

    /// Returns an error if no answer arrives.
    pub(crate) fn try_delete(&self, path: &str) -> Result<Answer, RequestError> {
        self.send("DELETE", path, None)
    }

    /// Registers a tenant with this administrator.
    pub(crate) fn register(&self, email: &str) -> Session {
        let body = json!({ "email": email, "password": PASSWORD, "firstName": "Ada", "lastName": "Lovelace" });
        Session::of(&self.post("/api/v1/auth/register", &body).expect(201))
    }

    pub(crate) fn log_in(&self, email: &str) -> Session {
        let body = json!({ "email": email, "password": PASSWORD });
        Session::of(&self.post("/api/v1/auth/login", &body).expect(200))
    }

    /// Tries to refresh a session.
    pub(crate) fn refresh(&self, session: &Session) -> Answer {
        self.post("/api/v1/auth/refresh", &json!({ "refreshToken": session.refresh }))
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&str>) -> Result<Answer, RequestError> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.origin));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if body.is_some_and(|body| !body.is_empty()) {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Bytes::copy_from_slice(body.unwrap_or_default().as_bytes())).unwrap();
        let (http, (answered, answer)) = (self.http.clone(), mpsc::channel());
        RUNTIME.spawn(async move { answered.send(http.send(request).await) });
        let response = answer.recv().unwrap()?;
        let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap());
        let correlation_id = header("x-correlation-id").map(str::to_owned);
        let remaining = header("x-ratelimit-remaining").map(|number| number.parse().unwrap());
        let (status, body) = (response.status().as_u16(), json_body(&response.into_body()?));
        Ok(Answer { request: format!("{method} {path}"), status, correlation_id, remaining, body })
    }
}

/// Returns null if there is no body.
fn json_body(body: &[u8]) -> Value {
    if body.is_empty() {
        return Value::Null;
    }
    serde_json::from_slice(body).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(body).into_owned()))
}
