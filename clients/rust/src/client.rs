//! The client: its settings, and how it sends a call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MATCH, RETRY_AFTER,
    WWW_AUTHENTICATE,
};
use reqwest::{Method, StatusCode, Url, redirect};
use uuid::Uuid;

use crate::call::{Answer, Call, Request};
use crate::error::{Error, Result};
use crate::models::{Refresh, StepUp, Tokens};
use crate::problem::Problem;
use crate::retry::{Attempts, Bounds};
use crate::session::{Credentials, Session, TokensCallback};
use crate::step_up::{StepUpCallback, StepUps};
use crate::value::Secret;

/// How long one attempt may take: the service answers each request within 30 seconds.
const TIMEOUT: Duration = Duration::from_secs(35);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The service answers a refresh token that was just spent again, for ten seconds. Later, it ends the session. So a lost
/// answer is noticed soon, and the second and last attempt ends within ten seconds.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(4);
const REFRESH_BOUNDS: Bounds = Bounds { attempts: 2, max_wait: Duration::from_secs(2) };
/// How large a problem document may be.
const LARGEST_PROBLEM: usize = 256 * 1024;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");

/// A client of the service. Clones are cheap, and share the connections and the session.
///
/// Each operation of the service is a method. It returns a [`Request`], which is sent when it is awaited. On the way,
/// the client
///
/// - keeps the tokens of a login, and refreshes them: once for all calls that wait for it;
/// - asks for a [step-up](Builder::on_step_up) where the service needs a recent authentication;
/// - sends a request again after a failure that may pass, if that cannot have a second effect. A request that creates
///   something has the same `Idempotency-Key` each time;
/// - follows no redirect, so that a token goes to this service only.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    pub(crate) session: Arc<Session>,
    /// `None` for the client of the callback itself.
    steps: Option<Arc<StepUps>>,
}

struct Shared {
    http: reqwest::Client,
    api: String,
    root: String,
    bounds: Bounds,
    timeout: Duration,
}

/// The settings of a [`Client`].
#[must_use]
pub struct Builder {
    url: String,
    credentials: Credentials,
    bounds: Bounds,
    timeout: Duration,
    allow_http: bool,
    http: Option<reqwest::ClientBuilder>,
    on_tokens: Option<TokensCallback>,
    on_step_up: Option<StepUpCallback>,
}

impl Builder {
    /// Acts as the user of this API key.
    pub fn api_key(mut self, key: impl Into<Secret>) -> Self {
        self.credentials = Credentials::Bearer(key.into());
        self
    }

    /// Acts by this access token, until it expires.
    pub fn access_token(mut self, token: impl Into<Secret>) -> Self {
        self.credentials = Credentials::Bearer(token.into());
        self
    }

    /// Continues the session of these tokens, which [`Client::tokens`] or [`on_tokens`](Self::on_tokens) gave.
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.credentials = Credentials::session(tokens);
        self
    }

    /// Calls this function with each new pair of tokens: after a login and after each refresh. A program that must
    /// survive a restart keeps them, because each refresh token can be used once.
    pub fn on_tokens(mut self, keep: impl Fn(&Tokens) + Send + Sync + 'static) -> Self {
        self.on_tokens = Some(Arc::new(keep));
        self
    }

    /// Calls this function when the service needs a recent authentication: the problem says why
    /// ([`Problem::asks_for_step_up`]). Its proof authenticates the session again, and the request is repeated once. With
    /// `None`, the request fails with the problem. The function is called once for all calls that wait for it.
    ///
    /// The client that the function gets is for its own calls, such as the options of a passkey. With another clone, a
    /// call that needs a step-up itself would wait for its own end.
    ///
    /// ```no_run
    /// use iam_client::models::StepUp;
    /// use iam_client::Client;
    ///
    /// # async fn ask_for_code() -> String { String::new() }
    /// let client = Client::builder("https://iam.example.com/api/v1")
    ///     .on_step_up(|_client, problem| async move {
    ///         println!("{}", problem.detail);
    ///         Some(StepUp { code: Some(ask_for_code().await.into()), ..StepUp::default() })
    ///     })
    ///     .build()?;
    /// # Ok::<(), iam_client::Error>(())
    /// ```
    pub fn on_step_up<F>(mut self, prove: impl Fn(Client, Problem) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<StepUp>> + Send + 'static,
    {
        let callback = move |client, problem| -> BoxFuture<'static, _> { Box::pin(prove(client, problem)) };
        self.on_step_up = Some(Arc::new(callback));
        self
    }

    /// How often a request is sent at most, by default 4, and how long the pauses between may take together, by default
    /// 30 seconds. A service that asks for a longer pause gets no further request of the call.
    ///
    /// A request with [`if_match`](Request::if_match) is sent again only if it had no effect for certain. If the answer to
    /// a DELETE was lost, 404 to the second one is a success: what it names is gone.
    pub const fn retries(mut self, attempts: u32, max_wait: Duration) -> Self {
        self.bounds = Bounds { attempts, max_wait };
        self
    }

    /// How long one attempt may take, by default 35 seconds. [`Client::events`] needs more than 20.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Allows `http:` also for hosts other than this machine. Tokens and passwords are then readable on the network.
    pub const fn allow_http(mut self) -> Self {
        self.allow_http = true;
        self
    }

    /// Starts from other settings of HTTP, for example with a certificate authority of your own. Redirects stay off.
    ///
    /// ```
    /// use iam_client::{Client, reqwest};
    ///
    /// let http = reqwest::Client::builder().pool_max_idle_per_host(2);
    /// let client = Client::builder("https://iam.example.com/api/v1").http(http).build()?;
    /// # Ok::<(), iam_client::Error>(())
    /// ```
    pub fn http(mut self, http: reqwest::ClientBuilder) -> Self {
        self.http = Some(http);
        self
    }

    /// Creates the client. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if the URL is not that of an API, or its scheme is `http` for another host than this machine,
    /// and [`Error::Transport`] if TLS cannot be set up.
    pub fn build(self) -> Result<Client> {
        let (api, is_local) = check_url(&self.url, self.allow_http)?;
        let root = api.strip_suffix("/api/v1").unwrap_or(&api).to_owned();
        let http = self.http.unwrap_or_default().connect_timeout(CONNECT_TIMEOUT).redirect(redirect::Policy::none());
        // What goes to this machine must not leave it without TLS.
        let http = if is_local { http.no_proxy() } else { http };
        let http = http.user_agent(concat!("iam-client-rust/", env!("CARGO_PKG_VERSION"))).build()?;
        let shared = Shared { http, api, root, bounds: self.bounds, timeout: self.timeout };
        Ok(Client {
            shared: Arc::new(shared),
            session: Arc::new(Session::new(self.credentials, self.on_tokens)),
            steps: self.on_step_up.map(|callback| Arc::new(StepUps::new(callback))),
        })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Builder").field("url", &self.url).finish_non_exhaustive()
    }
}

/// Returns the URL without a slash at its end, and whether it is that of this machine.
fn check_url(text: &str, allow_http: bool) -> Result<(String, bool)> {
    let invalid = |reason: &str| Error::Request(format!("the URL of the service {reason}"));
    let url = Url::parse(text).map_err(|_| invalid("is not a URL"))?;
    let is_local = url.host_str().is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
    match url.scheme() {
        "https" => {}
        "http" if allow_http || is_local => {}
        "http" => return Err(invalid("has no TLS: use https, or allow_http")),
        _ => return Err(invalid("does not begin with https:")),
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(invalid("has a user, a query or a fragment"));
    }
    Ok((url.as_str().trim_end_matches('/').to_owned(), is_local))
}

impl Client {
    /// Begins a client of the service whose API is at this URL, such as `https://iam.example.com/api/v1`.
    pub fn builder(url: impl Into<String>) -> Builder {
        Builder {
            url: url.into(),
            credentials: Credentials::None,
            bounds: Bounds::default(),
            timeout: TIMEOUT,
            allow_http: false,
            http: None,
            on_tokens: None,
            on_step_up: None,
        }
    }

    /// Returns a client of the same service, with the same connections, that acts by another access token or API key. A
    /// service that serves many users makes one for each request.
    #[must_use]
    pub fn with_access_token(&self, token: impl Into<Secret>) -> Self {
        self.with_credentials(Credentials::Bearer(token.into()))
    }

    /// Returns a client of the same service, with the same connections, that has not logged in. A program that logs
    /// several users in makes one for each, because a client and its clones have one session.
    #[must_use]
    pub fn anonymous(&self) -> Self {
        self.with_credentials(Credentials::None)
    }

    fn with_credentials(&self, credentials: Credentials) -> Self {
        Self { shared: Arc::clone(&self.shared), session: Arc::new(Session::new(credentials, None)), steps: None }
    }

    /// The tokens of the session, if there is one.
    pub fn tokens(&self) -> Option<Tokens> {
        self.session.tokens()
    }

    /// Sends a call of an operation that has no method.
    pub fn send<T>(&self, call: Call) -> Request<T> {
        Request::new(self.clone(), call)
    }

    /// The same client, whose calls ask for no step-up.
    pub(crate) fn without_steps(&self) -> Self {
        Self { steps: None, ..self.clone() }
    }

    /// Sends a call, with everything that the client does around it.
    pub(crate) async fn execute(&self, mut call: Call) -> Result<Answer> {
        if call.is_keyed && call.key.is_none() {
            call.key = Some(Uuid::new_v4().to_string());
        }
        let (mut has_refreshed, mut has_stepped_up) = (false, false);
        loop {
            let refreshes = self.session.ended();
            let token = if call.is_public { None } else { self.current_token().await? };
            // An API key never authenticates again.
            let steps = self.steps.as_ref().filter(|_| token.as_ref().is_some_and(|token| !is_api_key(token)));
            let round = steps.map(|steps| steps.round());
            let problem = match self.attempts(&call, token.as_ref(), self.shared.bounds).await {
                Ok(answer) => return self.succeeded(&call, answer),
                Err(Error::Problem(problem)) if token.is_some() => problem,
                Err(error) => return Err(error),
            };
            if problem.token_refused && !has_refreshed && self.session.can_refresh() {
                has_refreshed = true;
                self.renew(token, refreshes).await?;
            } else if let (Some(steps), Some(round), true, false) =
                (steps, round, problem.asks_for_step_up(), has_stepped_up)
            {
                has_stepped_up = true;
                if !steps.prove(self, round, &problem).await? {
                    return Err(Error::Problem(problem));
                }
            } else {
                return Err(Error::Problem(problem));
            }
        }
    }

    fn succeeded(&self, call: &Call, answer: Answer) -> Result<Answer> {
        if call.is_login && !answer.body.is_empty() {
            self.session.keep(answer.json()?);
        }
        if call.is_logout {
            self.session.forget();
        }
        Ok(answer)
    }

    /// Exchanges a refresh token for the next pair.
    pub(crate) async fn exchange(&self, refresh_token: Secret) -> Result<Tokens> {
        let Shared { bounds, timeout, .. } = &*self.shared;
        let mut call = Call::new(Method::POST, "/auth/refresh").public().reads().json(&Refresh { refresh_token });
        call.timeout = Some(REFRESH_TIMEOUT.min(*timeout));
        let bounds = Bounds {
            attempts: REFRESH_BOUNDS.attempts.min(bounds.attempts),
            max_wait: REFRESH_BOUNDS.max_wait.min(bounds.max_wait),
        };
        self.attempts(&call, None, bounds).await?.json()
    }

    /// Sends a call until it succeeds, fails for good, or has been sent often enough.
    async fn attempts(&self, call: &Call, token: Option<&Secret>, bounds: Bounds) -> Result<Answer> {
        let mut attempts = Attempts::new(bounds);
        let mut may_be_done = false;
        loop {
            let error = match self.once(call, token).await {
                Ok(answer) => return Ok(answer),
                Err(Error::Problem(problem)) if may_be_done && call.deletes() && problem.status == 404 => {
                    return Ok(Answer::of_deleted(problem.correlation_id));
                }
                Err(error) => error,
            };
            let is_repeatable = call.is_repeatable();
            let Some(pause) = attempts.pause(is_repeatable, &error) else { return Err(error) };
            may_be_done |= !error.is_without_effect();
            tokio::time::sleep(pause).await;
        }
    }

    /// Sends a call once.
    pub(crate) async fn once(&self, call: &Call, token: Option<&Secret>) -> Result<Answer> {
        let response = self.open(call, token).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = read(response, call.limit).await?;
        if !body.is_empty() && !has_type(&headers, "application/json") {
            return Err(failure(status, &headers, "the body is not JSON"));
        }
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).map(str::to_owned);
        Ok(Answer {
            status: status.as_u16(),
            etag: text(ETAG),
            is_replayed: headers.contains_key(IDEMPOTENT_REPLAYED),
            correlation_id: text(CORRELATION_ID),
            body,
        })
    }

    /// Sends a call once, and returns the answer before its body has arrived. Any other status than success is an
    /// error.
    pub(crate) async fn open(&self, call: &Call, token: Option<&Secret>) -> Result<reqwest::Response> {
        let response = self.request(call, token)?.send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_success() {
            return Ok(response);
        }
        let body = read(response, call.limit.min(LARGEST_PROBLEM)).await?;
        Err(refusal(status, &headers, &body))
    }

    fn request(&self, call: &Call, token: Option<&Secret>) -> Result<reqwest::RequestBuilder> {
        let Shared { http, api, root, timeout, .. } = &*self.shared;
        if let Some(reason) = &call.invalid {
            return Err(Error::Request(reason.clone()));
        }
        if !call.path.starts_with('/') || call.path.contains(['?', '#', '\\']) {
            return Err(Error::Request("the path does not begin with a slash, or has a query".to_owned()));
        }
        let base = if call.is_at_root { root } else { api };
        let url = Url::parse(&format!("{base}{}", call.path));
        let mut url = url.map_err(|_| Error::Request("the path is invalid".to_owned()))?;
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let mut request = http.request(call.method.clone(), url).timeout(call.timeout.unwrap_or(*timeout));
        request = request.header(ACCEPT, call.accept);
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, bearer(token)?);
        }
        if let Some(key) = &call.key {
            request = request.header(IDEMPOTENCY_KEY, visible(key, "the Idempotency-Key")?);
        }
        if let Some(etag) = &call.if_match {
            request = request.header(IF_MATCH, visible(etag, "If-Match")?);
        }
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.expose().clone());
        }
        Ok(request)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("api", &self.shared.api).finish_non_exhaustive()
    }
}

fn is_api_key(token: &Secret) -> bool {
    token.expose().starts_with("iamk_")
}

fn bearer(token: &Secret) -> Result<HeaderValue> {
    let mut value = visible(&format!("Bearer {}", token.expose()), "the token")?;
    value.set_sensitive(true);
    Ok(value)
}

fn visible(text: &str, name: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(text).map_err(|_| Error::Request(format!("{name} has characters that no header can have")))
}

/// Reads a body, and not more of it than the limit.
async fn read(mut response: reqwest::Response, limit: usize) -> Result<Vec<u8>> {
    let status = response.status();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Err(Error::Answer {
                status: status.as_u16(),
                reason: format!("the body has more than {limit} bytes"),
                retry_after: None,
            });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The error of an answer that is not a success.
fn refusal(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    if status.is_redirection() {
        return failure(status, headers, "a redirect, which the client does not follow");
    }
    if !has_type(headers, "application/problem+json") {
        return failure(status, headers, "the body is not a problem document");
    }
    let Ok(mut problem) = serde_json::from_slice::<Problem>(body) else {
        return failure(status, headers, "the problem document is not valid");
    };
    problem.status = status.as_u16();
    problem.retry_after = problem.retry_after.or_else(|| retry_after(headers));
    let challenges = headers.get_all(WWW_AUTHENTICATE).iter();
    problem.token_refused = status == StatusCode::UNAUTHORIZED
        && challenges.filter_map(|value| value.to_str().ok()).any(|value| value.contains(r#"error="invalid_token""#));
    Error::Problem(Box::new(problem))
}

fn failure(status: StatusCode, headers: &HeaderMap, reason: &str) -> Error {
    let retry_after = retry_after(headers).map(Duration::from_secs);
    Error::Answer { status: status.as_u16(), reason: reason.to_owned(), retry_after }
}

fn retry_after(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// Whether the answer has a media type, with or without parameters.
pub(crate) fn has_type(headers: &HeaderMap, expected: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|found| found.trim().eq_ignore_ascii_case(expected))
}
