//! A client of the HTTP API.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::process::TIMEOUT;

/// How long a connection may be idle before the client opens another one. The server closes an idle connection after
/// 15 seconds. By default, the client keeps it for the same time, which is a race.
const IDLE: Duration = Duration::from_secs(5);

/// The password of all users in these tests.
pub(crate) const PASSWORD: &str = "Correct-Horse-7!";

/// Talks to one server, as one user or anonymously.
#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
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
        // Without a proxy, even if the environment names one: all requests stay on the machine.
        let config = Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT)).proxy(None);
        let config = config.max_idle_age(IDLE);
        Self { agent: config.build().into(), origin: format!("http://{address}"), token: None, headers: Vec::new() }
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
    pub(crate) fn try_get(&self, path: &str) -> Result<Answer, ureq::Error> {
        self.send("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.try_post(path, body).unwrap()
    }

    /// Returns an error if no answer arrives.
    pub(crate) fn try_post(&self, path: &str, body: &Value) -> Result<Answer, ureq::Error> {
        self.send("POST", path, Some(&body.to_string()))
    }

    /// Sends a POST whose body is not JSON, or which has no body.
    pub(crate) fn post_text(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, Some(body)).unwrap()
    }

    /// Returns an error if no answer arrives.
    pub(crate) fn try_patch(&self, path: &str, body: &Value) -> Result<Answer, ureq::Error> {
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
    pub(crate) fn try_delete(&self, path: &str) -> Result<Answer, ureq::Error> {
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

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&str>) -> Result<Answer, ureq::Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.origin));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let response = match body.filter(|body| !body.is_empty()) {
            Some(body) => self.agent.run(request.header("content-type", "application/json").body(body).unwrap())?,
            None => self.agent.run(request.body(()).unwrap())?,
        };
        let header = |name| response.headers().get(name).map(|value| value.to_str().unwrap());
        let correlation_id = header("x-correlation-id").map(str::to_owned);
        let remaining = header("x-ratelimit-remaining").map(|number| number.parse().unwrap());
        let (status, body) = (response.status().as_u16(), json_body(response)?);
        Ok(Answer { request: format!("{method} {path}"), status, correlation_id, remaining, body })
    }
}

/// Returns null if there is no body.
fn json_body(mut response: Response<ureq::Body>) -> Result<Value, ureq::Error> {
    let text = response.body_mut().read_to_string()?;
    Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap_or(Value::String(text)) })
}
