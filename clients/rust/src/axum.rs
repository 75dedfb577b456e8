//! Extractors and layers for services on axum that take the access tokens of their users.
//!
//! A [`Guard`] verifies a token by the public keys of the service, and asks the service by the same token what its user
//! may do. Its answers to refused requests are problem documents, as those of the service.
//!
//! ```no_run
//! use axum::{Router, routing::{get, post}};
//! use iam_client::axum::{Authenticated, Guard};
//! use iam_client::{Client, Expected, Tenants, TokenVerifier};
//!
//! async fn whoami(Authenticated(caller): Authenticated) -> String {
//!     format!("{} of {}", caller.user, caller.tenant)
//! }
//!
//! # fn app(tenant: uuid::Uuid) -> iam_client::Result<Router> {
//! let client = Client::builder("https://iam.example.com/api/v1").build()?;
//! let expected = Expected { issuer: "iam".into(), audience: "iam".into(), tenants: Tenants::One(tenant) };
//! let guard = Guard::new(&client, TokenVerifier::new(&client, expected));
//! let refund = guard.require_permission("orders:refund").in_organization("branch");
//! Ok(Router::new()
//!     .route("/branches/{branch}/refunds", post(async || "refunded").route_layer(refund))
//!     .route("/whoami", get(whoami))
//!     .with_state(guard))
//! # }
//! ```

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use ::axum::extract::{FromRef, FromRequestParts, RawPathParams, Request};
use ::axum::http::request::Parts;
use ::axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use ::axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tower_layer::Layer;
use tower_service::Service;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::models::PermissionCheck;
use crate::problem::{Code, Problem};
use crate::verify::{TokenError, TokenVerifier, VerifiedToken};

/// After how many seconds a client may try again when the service is out of reach.
const RETRY_AFTER: u64 = 5;

/// What guards the routes of a service. Clones share everything.
///
/// A token with the claim `readOnly` passes with GET, HEAD, OPTIONS and TRACE only. A handler that changes something in
/// an answer to one of these must look at [`VerifiedToken::read_only`] itself. A token by which another user acts
/// passes, and [`VerifiedToken::actor`] names that user.
///
/// API keys are refused: they are no access tokens.
#[derive(Clone, Debug)]
pub struct Guard {
    client: Client,
    verifier: TokenVerifier,
    problem_type_base: Option<Arc<str>>,
}

/// The token that a verifier has verified, among the extensions of a request.
#[derive(Clone)]
struct Verified(TokenVerifier, Arc<VerifiedToken>);

impl Guard {
    /// Creates a guard. It uses the connections and the [repetitions](crate::Builder::retries) of the client, which should
    /// be few, because a request waits for them. It uses neither the tokens of the client nor its API key.
    pub fn new(client: &Client, verifier: TokenVerifier) -> Self {
        Self { client: client.clone(), verifier, problem_type_base: None }
    }

    /// The start of the `type` of problems, such as `https://shop.example/problems`.
    #[must_use]
    pub fn problem_type_base(mut self, base: &str) -> Self {
        self.problem_type_base = Some(base.trim_end_matches('/').into());
        self
    }

    /// Makes a layer that lets a request pass only if its user holds this permission tenant-wide.
    pub fn require_permission(&self, permission: &str) -> RequirePermission {
        RequirePermission { guard: self.clone(), permission: permission.into(), organization: None }
    }

    /// Verifies the bearer token of a request.
    ///
    /// # Errors
    ///
    /// A problem with the status 401 without a valid token, 403 for a change by a token that may change nothing, and 503
    /// if the public keys are out of reach.
    pub async fn authenticate(&self, parts: &mut Parts) -> Result<VerifiedToken, Problem> {
        if let Some(Verified(verifier, token)) = parts.extensions.get()
            && verifier.is(&self.verifier)
        {
            return Ok(VerifiedToken::clone(token));
        }
        let Some(token) = bearer_token(&parts.headers) else {
            tracing::debug!("a request has no bearer token, or several fields `Authorization`");
            return Err(self.problem(&Code::Unauthorized, "Authentication is required: send a bearer access token."));
        };
        let token = self.verifier.verify(token).await.map_err(|error| self.unauthenticated(&error))?;
        if token.read_only && !parts.method.is_safe() {
            return Err(self.problem(&Code::Forbidden, "Nothing can be changed by this token."));
        }
        parts.extensions.insert(Verified(self.verifier.clone(), Arc::new(token.clone())));
        Ok(token)
    }

    /// Asks the service whether the user of a token holds a permission, tenant-wide or in an organization. For what does
    /// not depend on the path alone.
    ///
    /// # Errors
    ///
    /// A problem with the status 403 without the permission, 404 for an organization of which the user may not know, 401
    /// if the session has ended, 429 if the user has sent too many requests, and 503 if the service does not answer.
    pub async fn require(
        &self,
        caller: &VerifiedToken,
        permission: &str,
        organization: Option<Uuid>,
    ) -> Result<(), Problem> {
        let question = PermissionCheck {
            permission: permission.to_owned(),
            organization_id: organization,
            ..PermissionCheck::default()
        };
        match self.client.with_access_token(caller.bearer.clone()).check(&question).await {
            Ok(decision) if decision.allowed => Ok(()),
            Ok(_) => Err(self.problem(&Code::Forbidden, format!("Missing permission: {permission}."))),
            Err(error) => Err(self.refused(&error)),
        }
    }

    fn problem(&self, code: &Code, detail: impl Into<String>) -> Problem {
        let mut problem = Problem::new(code, detail);
        if let Some(base) = &self.problem_type_base {
            problem.type_uri = format!("{base}/{code}");
        }
        problem
    }

    fn unauthenticated(&self, error: &TokenError) -> Problem {
        let detail = match error {
            TokenError::Keys(_) => return self.unavailable(None),
            TokenError::Expired => "The access token has expired.",
            // A tenant that is not expected is told as a forged token: the sender learns nothing of the service.
            TokenError::Invalid | TokenError::Tenant => "The access token is invalid.",
        };
        Problem { token_refused: true, ..self.problem(&Code::Unauthorized, detail) }
    }

    /// The answer to a request whose check was refused.
    fn refused(&self, error: &Error) -> Problem {
        let retry_after = error.problem().and_then(|problem| problem.retry_after);
        match error.problem().map(|problem| (problem.status, problem.code())) {
            Some((401, _)) => {
                tracing::debug!(reason = "the service refuses it", "an access token is refused");
                let problem = self.problem(&Code::Unauthorized, "The access token is invalid.");
                Problem { token_refused: true, ..problem }
            }
            Some((403, Code::SecondFactorRequired)) => {
                let problem = self.problem(&Code::SecondFactorRequired, "The session needs a second factor.");
                Problem { status: 403, ..problem }
            }
            Some((403, _)) => self.problem(&Code::Forbidden, "You may not do this."),
            Some((404, _)) => self.problem(&Code::NotFound, "There is no such organization."),
            Some((429, _)) => Problem { retry_after, ..self.problem(&Code::RateLimited, "Too many requests.") },
            // The name of the permission is not one.
            Some((400, _)) => self.problem(&Code::Internal, "An internal error occurred."),
            _ => self.unavailable(retry_after),
        }
    }

    fn unavailable(&self, retry_after: Option<u64>) -> Problem {
        let problem = self.problem(&Code::Unavailable, "The service that checks access does not answer.");
        Problem { retry_after: retry_after.or(Some(RETRY_AFTER)), ..problem }
    }
}

/// Returns the bearer token of a request. `None` for several `Authorization` fields: a proxy in front may have checked
/// another one.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut fields = headers.get_all(header::AUTHORIZATION).iter();
    let field = fields.next().filter(|_| fields.next().is_none())?;
    let (scheme, token) = field.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The user of the request's bearer token. Works in a router whose state can give a [`Guard`].
#[derive(Clone, Debug)]
pub struct Authenticated(pub VerifiedToken);

impl<S> FromRequestParts<S> for Authenticated
where
    S: Send + Sync,
    Guard: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Guard::from_ref(state).authenticate(parts).await.map(Self)
    }
}

/// A layer that lets a request pass only if its user holds a permission. It asks the service at each request, so a
/// right that was taken away counts at once.
#[derive(Clone, Debug)]
pub struct RequirePermission {
    guard: Guard,
    permission: Arc<str>,
    organization: Option<&'static str>,
}

impl RequirePermission {
    /// Requires the permission in the organization whose id is this parameter of the path.
    ///
    /// A user who holds nothing there gets a 404. A route without the parameter is a defect and answers 500.
    #[must_use]
    pub const fn in_organization(mut self, parameter: &'static str) -> Self {
        self.organization = Some(parameter);
        self
    }

    async fn admit(&self, request: Request) -> Result<Request, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = self.guard.authenticate(&mut parts).await?;
        let organization = match self.organization {
            Some(parameter) => Some(self.organization(&mut parts, parameter).await?),
            None => None,
        };
        self.guard.require(&caller, &self.permission, organization).await?;
        Ok(Request::from_parts(parts, body))
    }

    async fn organization(&self, parts: &mut Parts, name: &str) -> Result<Uuid, Problem> {
        let invalid = || {
            let mut problem = self.guard.problem(&Code::ValidationError, format!("Invalid input: {name}."));
            problem.errors = vec![crate::FieldError { field: name.to_owned(), message: "must be a UUID".to_owned() }];
            problem
        };
        let parameters = RawPathParams::from_request_parts(parts, &()).await.map_err(|_| invalid())?;
        match parameters.iter().find(|(found, _)| *found == name) {
            Some((_, text)) => Uuid::try_parse(text).map_err(|_| invalid()),
            None => Err(self.guard.problem(&Code::Internal, "An internal error occurred.")),
        }
    }
}

impl<S> Layer<S> for RequirePermission {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { guard: self.clone(), inner }
    }
}

/// A service behind [`RequirePermission`].
#[derive(Clone, Debug)]
pub struct Guarded<S> {
    guard: RequirePermission,
    inner: S,
}

impl<S> Service<Request> for Guarded<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let guard = self.guard.clone();
        // Calls the instance that was polled ready, and puts the fresh clone in its place.
        let fresh = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, fresh);
        Box::pin(async move {
            match guard.admit(request).await {
                Ok(request) => inner.call(request).await,
                Err(problem) => Ok(problem.into_response()),
            }
        })
    }
}

impl IntoResponse for Problem {
    /// The problem as `application/problem+json`. A challenge and further members are left out.
    fn into_response(self) -> Response {
        let mut document = Map::new();
        let mut put = |name: &str, value: Value| {
            if !value.is_null() {
                document.insert(name.to_owned(), value);
            }
        };
        put("type", json!(self.type_uri));
        put("title", json!(self.title));
        put("status", json!(self.status));
        put("detail", json!(self.detail));
        put("instance", json!(self.instance));
        put("correlationId", json!(self.correlation_id));
        put("retryAfter", json!(self.retry_after));
        put("firstSequence", json!(self.first_sequence));
        if !self.errors.is_empty() {
            put("errors", json!(self.errors));
        }
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, Value::Object(document).to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            let challenge = if self.token_refused { r#"Bearer error="invalid_token""# } else { "Bearer" };
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        response
    }
}

impl fmt::Debug for Verified {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.fmt(formatter)
    }
}
