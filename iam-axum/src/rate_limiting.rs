//! Counts requests against the rate limits.

use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use iam_core::token::VerifiedToken;

use crate::context::context_of;
use crate::extract::{bearer_token, verify};
use crate::problem::Problem;
use crate::rate_limit::{Client, Limited, RateLimitOutcome, RateLimiter};
use crate::settings::{Settings, api_path};
use crate::state::ApiState;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The operations by which an anonymous client proves who it is.
const AUTHENTICATION: [&str; 21] = [
    "/auth/register",
    "/auth/login",
    "/auth/login/second-factor",
    "/auth/login/second-factor/options",
    "/auth/passkeys/options",
    "/auth/passkeys/login",
    "/auth/federation/discover",
    "/auth/federation/start",
    "/auth/federation/finish",
    "/auth/refresh",
    "/auth/email/verify",
    "/auth/password/forgot",
    "/auth/password/reset",
    "/auth/email-login",
    "/auth/email-login/finish",
    "/invitations/lookup",
    "/invitations/accept",
    "/account/verify",
    "/account/reset",
    "/account/invitation",
    "/account/login",
];
/// The paths without a rate limit, each with all paths below it.
const UNLIMITED: [&str; 4] = ["/health", "/metrics", "/docs", "/openapi.json"];

/// The kind of a router's paths.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Paths {
    /// They are paths of the API: [`AUTHENTICATION`] and [`UNLIMITED`] have rules of their own.
    OfApi,
    /// They are paths of a host program: the same rule holds for all of them.
    OfHost,
}

/// Answers a request unless it exceeds the rate limit, and adds the headers that say how many more requests are
/// allowed.
pub(crate) async fn limit(State((state, paths)): State<(ApiState, Paths)>, request: Request, next: Next) -> Response {
    let Some(limiter) = &state.settings.rate_limiter else { return next.run(request).await };
    let (mut parts, body) = request.into_parts();
    let outcome = match paths {
        Paths::OfApi => count(&**limiter, &mut parts, &state).await,
        Paths::OfHost => count_sender(&**limiter, &mut parts, &state).await,
    };
    let request = Request::from_parts(parts, body);
    let Some(outcome) = outcome else { return next.run(request).await };
    let mut response = match outcome.retry_after {
        None => next.run(request).await,
        Some(after) => too_many(after).into_response(),
    };
    add_headers(response.headers_mut(), &outcome);
    response
}

/// Refuses an operation that costs more than the limit leaves, as the limits of the API do: with a 429 that says when to
/// try again. Without a rate limiter in the settings, nothing is refused.
///
/// # Errors
///
/// A problem of the kind [`RateLimited`](crate::Kind::RateLimited).
pub async fn charge(settings: &Settings, who: Limited, cost: NonZeroU32) -> Result<(), Problem> {
    let Some(limiter) = &settings.rate_limiter else { return Ok(()) };
    limiter.charge(who, cost).await.retry_after.map_or(Ok(()), |after| Err(too_many(after)))
}

fn too_many(retry_after: Duration) -> Problem {
    Problem::rate_limited(whole_seconds(retry_after).max(1))
}

/// Counts a request in its group; `None` for a request without a rate limit.
async fn count(limiter: &dyn RateLimiter, parts: &mut Parts, state: &ApiState) -> Option<RateLimitOutcome> {
    let path = api_path(parts.uri.path(), &state.settings).to_owned();
    let is_below = |root: &&str| path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if UNLIMITED.iter().any(is_below) {
        return None;
    }
    if AUTHENTICATION.contains(&path.as_str()) {
        return take(limiter, client_of(parts).map(Limited::Authentication)).await;
    }
    count_sender(limiter, parts, state).await
}

/// Counts a request for its user or, without a valid token, for its client.
async fn count_sender(limiter: &dyn RateLimiter, parts: &mut Parts, state: &ApiState) -> Option<RateLimitOutcome> {
    let anonymous = client_of(parts).map(Limited::Anonymous);
    let Some(token) = bearer_token(&parts.headers) else { return take(limiter, anonymous).await };
    // Strangers can invent API keys, and each would cost a query. So an unknown one first counts for the client.
    let is_unknown = !state.iam.knows_token(token);
    let outcome = if is_unknown { take(limiter, anonymous).await } else { None };
    if outcome.is_some_and(|outcome| outcome.retry_after.is_some()) {
        return outcome;
    }
    // The signature alone identifies the user, so that a request over the limit costs no query. A token whose session
    // has ended is counted for the user only once in each process: after that, the process knows that the session has
    // ended.
    match verify(parts, &state.iam).await {
        Ok(token) => take(limiter, Some(group_of(&token))).await,
        // A client with an invalid token is anonymous.
        Err(problem) if problem.is_of_the_client() && is_unknown => outcome,
        Err(problem) if problem.is_of_the_client() => take(limiter, anonymous).await,
        // The store is unavailable, and so are the keys. The user cannot be identified; the operation reports it.
        Err(_) => None,
    }
}

fn client_of(parts: &Parts) -> Option<Client> {
    context_of(parts).ip_address.map(Client::from)
}

async fn take(limiter: &dyn RateLimiter, who: Option<Limited>) -> Option<RateLimitOutcome> {
    match who {
        Some(who) => Some(limiter.take(who).await),
        None => None,
    }
}

fn group_of(token: &VerifiedToken) -> Limited {
    // A user who acts as another one uses up its own limit.
    let user = token.impersonator().unwrap_or_else(|| token.user());
    token.api_key().map_or(Limited::User(user), Limited::ApiKey)
}

fn add_headers(headers: &mut HeaderMap, outcome: &RateLimitOutcome) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    headers.insert(LIMIT, outcome.limit.into());
    headers.insert(REMAINING, outcome.remaining.into());
    headers.insert(RESET, HeaderValue::from(whole_seconds(now + outcome.reset_after)));
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
