//! HTTP requests and responses of the tests.

use std::net::SocketAddr;

use axum::body::{Body, BodyDataStream, Bytes, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower::ServiceExt as _;

use crate::app::{TestApp, shown};
use crate::people::{PASSWORD, Person};
use crate::responses::is_documented;

/// The default client address of a request.
pub(crate) const ADDRESS: &str = "192.0.2.7";

/// A request that is not sent yet.
#[derive(Clone)]
pub(crate) struct Request<'a> {
    app: &'a TestApp,
    method: Method,
    target: String,
    headers: HeaderMap,
    body: Bytes,
    address: SocketAddr,
}

impl<'a> Request<'a> {
    pub(crate) fn new(app: &'a TestApp, method: Method, target: &str) -> Self {
        let address = SocketAddr::new(ADDRESS.parse().unwrap(), 50_000);
        Self { app, method, target: target.to_owned(), headers: HeaderMap::new(), body: Bytes::new(), address }
    }

    /// Adds a parameter to the query.
    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        let encoded: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
        self.target.push_str(&format!("{name}={encoded}"));
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap());
        self
    }

    pub(crate) fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.headers
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Adds the person's access token.
    pub(crate) fn by(self, person: &Person) -> Self {
        self.bearer(&person.access)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    /// Sends the members of an object as a form.
    pub(crate) fn form(self, body: &Value) -> Self {
        let members = body.as_object().unwrap().iter().map(|(name, value)| (name, value.as_str().unwrap()));
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(members).finish();
        self.header("content-type", "application/x-www-form-urlencoded").body(body)
    }

    /// Sets a body of any content type.
    pub(crate) fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the client address.
    pub(crate) fn from(mut self, address: &str) -> Self {
        self.address.set_ip(address.parse().unwrap());
        self
    }

    /// Sends the request and checks the rules for every answer.
    pub(crate) async fn send(self) -> Response {
        let response = self.exchange().await;
        response.keeps_the_conventions();
        response
    }

    /// Sends a request that races with others. Its answer may be one that only a race gives, and that the document need
    /// not list.
    pub(crate) async fn send_in_race(self) -> Response {
        let response = self.exchange().await;
        response.is_well_formed();
        response
    }

    /// Sends the request without these checks: the answer may be compressed, be a CORS answer to a browser, or come
    /// from a host program.
    pub(crate) async fn send_packed(self) -> Response {
        self.exchange().await
    }

    /// The status and the body of an answer that may come from a host program, which has its own conventions.
    pub(crate) async fn send_to_host(self) -> (u16, Value) {
        let response = self.exchange().await;
        let body = serde_json::from_slice(&response.body).unwrap_or_else(|_| response.text().into());
        (response.status(), body)
    }

    /// The body of a 200, piece by piece.
    pub(crate) async fn stream(self) -> BodyDataStream {
        self.streamed().await.1
    }

    /// The head of a 200, and its body piece by piece.
    pub(crate) async fn streamed(self) -> (HeaderMap, BodyDataStream) {
        let (parts, body) = self.begin().await;
        assert_eq!(parts.status, StatusCode::OK);
        (parts.headers, body.into_data_stream())
    }

    async fn exchange(self) -> Response {
        let (method, path) = (self.method.clone(), self.path());
        Response::read(method, path, self.begin().await).await
    }

    fn path(&self) -> String {
        self.target.split('?').next().unwrap().to_owned()
    }

    /// Sends the head, runs `meanwhile` while the service waits for the body, and then sends the body.
    pub(crate) async fn send_after(self, meanwhile: impl Future<Output = ()>) -> Response {
        let response = self.send_to_host_after(meanwhile).await;
        response.keeps_the_conventions();
        response
    }

    /// The same for a route of the host.
    pub(crate) async fn send_to_host_after(self, meanwhile: impl Future<Output = ()>) -> Response {
        let (method, path) = (self.method.clone(), self.path());
        let (sender, receiver) = oneshot::channel::<Bytes>();
        let (polled, is_polled) = oneshot::channel();
        let bytes = self.body.clone();
        let held_back = stream::once(async move {
            polled.send(()).unwrap();
            receiver.await
        });
        let answer = self.begin_with(Body::from_stream(held_back));
        let finish = async {
            is_polled.await.unwrap();
            meanwhile.await;
            sender.send(bytes).unwrap();
        };
        let (answer, ()) = tokio::join!(answer, finish);
        Response::read(method, path, answer).await
    }

    async fn begin(mut self) -> (Parts, Body) {
        let body = Body::from(std::mem::take(&mut self.body));
        self.begin_with(body).await
    }

    async fn begin_with(self, body: Body) -> (Parts, Body) {
        let mut request = axum::http::Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.target.parse().unwrap();
        *request.headers_mut() = self.headers;
        request.extensions_mut().insert(ConnectInfo(self.address));
        self.app.router.clone().oneshot(request).await.unwrap().into_parts()
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Bytes,
    method: Method,
    path: String,
}

impl Response {
    async fn read(method: Method, path: String, (parts, body): (Parts, Body)) -> Self {
        let body = to_bytes(body, usize::MAX).await.unwrap();
        Self { status: parts.status, headers: parts.headers, body, method, path }
    }

    /// Checks the rules for every answer.
    fn keeps_the_conventions(&self) {
        self.is_well_formed();
        if !self.is_page() {
            is_documented(&self.method, &self.path, self.status, self.kind().as_deref());
        }
    }

    fn is_well_formed(&self) {
        let correlation_id = self.header("x-correlation-id").expect("every answer has a correlation id");
        assert!((1..=128).contains(&correlation_id.len()));
        assert_eq!(self.header("x-content-type-options"), Some("nosniff"));
        // The book shows a made-up hash.
        let is_book = self.path.starts_with("/docs/book/");
        for secret in [PASSWORD, "$argon2"] {
            assert!(is_book || !self.text().contains(secret), "a secret in {}", self.text());
        }
        if (self.status.is_client_error() || self.status.is_server_error()) && !self.is_page() {
            if self.is_for_a_directory() { self.is_a_scim_error() } else { self.is_a_problem() }
        }
        if self.status == StatusCode::NO_CONTENT {
            assert!(self.body.is_empty());
        }
        // The options of a WebAuthn ceremony have identifiers of that standard.
        let is_ceremony = self.path.ends_with("/options");
        // A tenant of AuthZEN may name users and organizations by texts.
        let is_search = self.path.contains("/access/v1/search/");
        if self.header("content-type") == Some("application/json") && !is_ceremony && !is_search {
            has_plain_ids_and_times(&self.json());
        }
    }

    /// Whether it is a page for people.
    fn is_page(&self) -> bool {
        self.header("content-type").is_some_and(|of| of.starts_with("text/html"))
    }

    /// Whether a directory reads it.
    fn is_for_a_directory(&self) -> bool {
        self.header("content-type") == Some("application/scim+json")
    }

    fn is_a_scim_error(&self) {
        let error = self.json();
        assert_eq!(error["schemas"], json!(["urn:ietf:params:scim:api:messages:2.0:Error"]));
        assert_eq!(error["status"], self.status().to_string());
        assert!(error["detail"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    }

    fn is_a_problem(&self) {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text());
        let problem = self.json();
        for member in ["type", "title", "detail"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{member} in {problem}");
        }
        assert_eq!(problem["status"], self.status());
        assert_eq!(problem["instance"], self.path);
        assert_eq!(problem["correlationId"], self.header("x-correlation-id").unwrap());
    }

    /// The kind of the problem, if it is one.
    fn kind(&self) -> Option<String> {
        let is_error = self.status.is_client_error() || self.status.is_server_error();
        let is_problem = is_error && !self.is_for_a_directory();
        is_problem.then(|| self.json()["type"].as_str().unwrap().rsplit('/').next().unwrap().to_owned())
    }

    pub(crate) fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        Some(self.headers.get(name)?.to_str().unwrap())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    fn having(&self, status: u16) -> &Self {
        assert_eq!(self.status(), status, "{}", self.text());
        self
    }

    /// The body of a 200.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.having(200).header(header::CONTENT_TYPE.as_str()), Some("application/json"));
        self.json()
    }

    /// The body of a 201.
    pub(crate) fn created(&self) -> Value {
        assert_eq!(self.having(201).header(header::CONTENT_TYPE.as_str()), Some("application/json"));
        self.json()
    }

    /// The text of a 200 with another content type than JSON.
    pub(crate) fn ok_of(&self, content_type: &str) -> String {
        assert_eq!(self.having(200).header(header::CONTENT_TYPE.as_str()), Some(content_type));
        self.text()
    }

    /// The body of a 202.
    pub(crate) fn accepted(&self) -> String {
        self.having(202).text()
    }

    /// Checks that the answer is a 204.
    pub(crate) fn no_content(&self) {
        self.having(204);
    }

    /// The problem document. It must be of this kind.
    pub(crate) fn problem(&self, kind: &str) -> Value {
        self.having(status_of(kind));
        let problem = self.json();
        let found = problem["type"].as_str().unwrap();
        assert!(found.ends_with(&format!("/{kind}")), "{kind} expected: {problem}");
        problem
    }

    /// The fields that a validation error names, in order.
    pub(crate) fn invalid_fields(&self) -> Vec<String> {
        self.fields("validation-error")
    }

    /// The fields that the problem document names, in order. The document must be of this kind.
    pub(crate) fn fields(&self, kind: &str) -> Vec<String> {
        let problem = self.problem(kind);
        let errors = problem["errors"].as_array().unwrap_or_else(|| panic!("no errors in {problem}"));
        assert!(errors.iter().all(|error| error["message"].as_str().is_some_and(|text| !text.is_empty())));
        errors.iter().map(|error| error["field"].as_str().unwrap().to_owned()).collect()
    }

    /// The detail of the problem document, in lower case. The document must be of this kind.
    pub(crate) fn detail(&self, kind: &str) -> String {
        self.problem(kind)["detail"].as_str().unwrap().to_lowercase()
    }

    /// Checks that the request is refused because the caller must set up a second factor first.
    pub(crate) fn needs_factor(&self) {
        let problem = self.having(403).json();
        assert!(problem["type"].as_str().unwrap().ends_with("/second-factor-required"), "{problem}");
    }

    /// Checks that the request is refused because this permission is missing.
    pub(crate) fn lacks(&self, permission: &str) {
        assert_eq!(self.detail("forbidden"), format!("missing permission: {permission}."));
    }

    /// Checks that the escalation check refuses the request: the caller would grant more than it holds.
    pub(crate) fn escalates(&self) {
        let detail = self.detail("forbidden");
        assert!(detail.contains("higher privileges than your own"), "{detail}");
    }
}

/// Checks at every depth that identifiers are UUIDs of version 7, and that times are in UTC with milliseconds.
fn has_plain_ids_and_times(value: &Value) {
    match value {
        Value::Array(items) => items.iter().for_each(has_plain_ids_and_times),
        Value::Object(members) => {
            for (name, value) in members {
                match value.as_str() {
                    Some(text) if name == "id" => {
                        let version = text.parse::<uuid::Uuid>().map(|id| id.get_version_num());
                        assert_eq!(version, Ok(7), "{name}: {text}");
                    }
                    Some(text) if name.ends_with("At") || name == "timestamp" => {
                        let moment = text.parse().unwrap_or_else(|error| panic!("{name}: {text}: {error}"));
                        assert_eq!(shown(moment), text, "{name}");
                    }
                    _ => has_plain_ids_and_times(value),
                }
            }
        }
        _ => {}
    }
}

/// The status of every kind of problem.
pub(crate) fn status_of(kind: &str) -> u16 {
    match kind {
        "validation-error" | "validation" => 400,
        "unauthorized" | "second-factor-required" | "insufficient-authentication" => 401,
        "forbidden" | "account-locked" | "federation-required" => 403,
        "not-found" => 404,
        "method-not-allowed" => 405,
        "conflict" | "legal-hold" => 409,
        "gone" => 410,
        "payload-too-large" => 413,
        "precondition-failed" => 412,
        "request-timeout" => 408,
        "idempotency-key-reused" => 422,
        "unsupported-media-type" => 415,
        "rate-limited" => 429,
        "internal" => 500,
        "unavailable" => 503,
        _ => panic!("{kind} is no kind of problem"),
    }
}

/// The names of an object's members, in alphabetical order.
pub(crate) fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// This member of every item of a list, in order.
pub(crate) fn each(list: &Value, member: &str) -> Vec<String> {
    let text = |item: &Value| item[member].as_str().unwrap_or_else(|| panic!("no {member} in {item}")).to_owned();
    list["data"].as_array().unwrap().iter().map(text).collect()
}

/// The same, in alphabetical order.
pub(crate) fn each_sorted(list: &Value, member: &str) -> Vec<String> {
    let mut texts = each(list, member);
    texts.sort_unstable();
    texts
}
