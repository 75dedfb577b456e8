//! A request before it is sent, and its answer.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::time::Duration;

use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::value::Secret;

/// How large an answer may be, in bytes, unless the call says otherwise.
const LARGEST_ANSWER: usize = 32 * 1024 * 1024;

/// A call of an operation: what the methods of [`Client`] send. Only an operation that this version of the crate does
/// not know needs it.
///
/// ```no_run
/// use iam_client::{Call, Client, Method};
///
/// # async fn example(client: &Client) -> iam_client::Result<()> {
/// let health: serde_json::Value = client.send(Call::new(Method::GET, "/health").public()).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Call {
    pub(crate) method: Method,
    pub(crate) path: Cow<'static, str>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Option<Secret<Vec<u8>>>,
    pub(crate) key: Option<String>,
    pub(crate) if_match: Option<String>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) limit: usize,
    pub(crate) accept: &'static str,
    pub(crate) is_keyed: bool,
    pub(crate) is_public: bool,
    pub(crate) is_at_root: bool,
    pub(crate) is_login: bool,
    pub(crate) is_logout: bool,
    reads: bool,
    pub(crate) invalid: Option<String>,
}

impl Call {
    /// Creates a call of the operation with this path, which begins with a slash.
    pub fn new(method: Method, path: impl Into<Cow<'static, str>>) -> Self {
        Self {
            method,
            path: path.into(),
            query: Vec::new(),
            body: None,
            key: None,
            if_match: None,
            timeout: None,
            limit: LARGEST_ANSWER,
            accept: "application/json, application/problem+json",
            is_keyed: false,
            is_public: false,
            is_at_root: false,
            is_login: false,
            is_logout: false,
            reads: false,
            invalid: None,
        }
    }

    /// Sends this body as JSON.
    #[must_use]
    pub fn json(mut self, body: &impl Serialize) -> Self {
        match serde_json::to_vec(body) {
            Ok(body) => self.body = Some(Secret::new(body)),
            // The text of the error may have a value in it.
            Err(_) => self.invalid = Some("the body cannot be written as JSON".to_owned()),
        }
        self
    }

    /// Sends the fields of a struct as the parameters of the query. Fields that are null are not sent.
    #[must_use]
    pub fn query(mut self, query: &impl Serialize) -> Self {
        match serde_json::to_value(query) {
            Ok(Value::Object(fields)) => {
                for (name, value) in fields {
                    match value {
                        Value::Null => {}
                        Value::String(text) => self.query.push((name, text)),
                        value => self.query.push((name, value.to_string())),
                    }
                }
            }
            _ => self.invalid = Some("the query is not an object".to_owned()),
        }
        self
    }

    /// Sends an `Idempotency-Key`, so that the request can be repeated. Without one of the caller, the client makes a
    /// key.
    #[must_use]
    pub const fn keyed(mut self) -> Self {
        self.is_keyed = true;
        self
    }

    /// Sends no token.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.is_public = true;
        self
    }

    /// A POST that changes nothing, so that it can be repeated.
    #[must_use]
    pub(crate) const fn reads(mut self) -> Self {
        self.reads = true;
        self
    }

    /// The path is below the root of the service, without the prefix of the API.
    #[must_use]
    pub(crate) const fn at_root(mut self) -> Self {
        self.is_at_root = true;
        self
    }

    /// The client keeps the tokens of the answer.
    #[must_use]
    pub(crate) const fn keeps_tokens(mut self) -> Self {
        self.is_login = true;
        self
    }

    /// The client forgets its tokens after a success.
    #[must_use]
    pub(crate) const fn forgets_tokens(mut self) -> Self {
        self.is_logout = true;
        self
    }

    #[must_use]
    pub(crate) fn preview(self) -> Self {
        self.with("preview", "true".to_owned())
    }

    /// Replaces a parameter of the query.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: String) -> Self {
        self.query.retain(|(other, _)| other != name);
        self.query.push((name.to_owned(), value));
        self
    }

    /// The time for one attempt, and the size of the answer.
    #[cfg(feature = "verify")]
    #[must_use]
    pub(crate) const fn within(mut self, timeout: Duration, limit: usize) -> Self {
        self.timeout = Some(timeout);
        self.limit = limit;
        self
    }

    /// Whether a repetition has no second effect.
    pub(crate) fn is_repeatable(&self) -> bool {
        // After a lost answer, a condition on the former version fails although the change was made.
        let is_idempotent =
            self.if_match.is_none() && matches!(self.method, Method::GET | Method::PUT | Method::DELETE);
        self.reads || self.is_keyed || is_idempotent
    }

    /// Whether it deletes what its path names: a preview does not.
    pub(crate) fn deletes(&self) -> bool {
        self.method == Method::DELETE && !self.query.iter().any(|(name, _)| name == "preview")
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)
    }
}

/// A request that is sent when it is awaited. Its output is the body of the answer.
#[must_use = "a request does nothing until it is awaited"]
pub struct Request<T> {
    pub(crate) client: Client,
    pub(crate) call: Call,
    answer: PhantomData<fn() -> T>,
}

impl<T> Request<T> {
    pub(crate) const fn new(client: Client, call: Call) -> Self {
        Self { client, call, answer: PhantomData }
    }

    /// Sends this `Idempotency-Key`, 1 to 255 visible ASCII characters, in place of one that the client makes. A request
    /// of another process with the same key and body gets the same answer, for 24 hours. It has no effect on an
    /// operation that takes no key.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.call.key = Some(key.into());
        self
    }

    /// Changes the resource only if it still has this [`etag`](Response::etag).
    pub fn if_match(mut self, etag: impl Into<String>) -> Self {
        self.call.if_match = Some(etag.into());
        self
    }
}

impl<T: DeserializeOwned> Request<T> {
    /// Sends the request, and returns the answer with its headers.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn response(self) -> Result<Response<T>> {
        let answer = self.client.execute(self.call).await?;
        let value = answer.json()?;
        Ok(Response {
            value,
            etag: answer.etag,
            is_replayed: answer.is_replayed,
            correlation_id: answer.correlation_id,
        })
    }
}

impl<T: DeserializeOwned + Send + 'static> IntoFuture for Request<T> {
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.response().await.map(|response| response.value) })
    }
}

impl<T> fmt::Debug for Request<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Request({:?})", self.call)
    }
}

/// An answer with its headers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response<T> {
    /// The body.
    pub value: T,
    /// The version of the resource, for [`Request::if_match`].
    pub etag: Option<String>,
    /// Whether this is the answer to an earlier request with the same `Idempotency-Key`. A secret that is shown once is
    /// absent from it.
    pub is_replayed: bool,
    /// Identifies the request in the logs of the service and in the audit log.
    pub correlation_id: Option<String>,
}

/// An answer whose body is not read as JSON yet.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) etag: Option<String>,
    pub(crate) is_replayed: bool,
    pub(crate) correlation_id: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The answer to a DELETE whose first answer was lost.
    pub(crate) const fn of_deleted(correlation_id: Option<String>) -> Self {
        Self { status: 204, etag: None, is_replayed: false, correlation_id, body: Vec::new() }
    }

    /// Reads the body. An empty one is null.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T> {
        let body = if self.body.is_empty() { b"null" } else { self.body.as_slice() };
        serde_json::from_slice(body).map_err(|error| Error::Answer {
            status: self.status,
            // The text of the error may have a value in it, for example a token.
            reason: format!("the body is not the JSON of this operation, at line {}", error.line()),
            retry_after: None,
        })
    }
}
