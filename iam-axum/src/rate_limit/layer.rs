use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::{Client, Limited, Taken};
use crate::context::context_of;
use crate::extract::{has_token, verify};
use crate::settings::api_path;
use crate::{ApiState, Problem, Settings};

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

/// The operations by which nobody known becomes somebody.
const AUTHENTICATION: [&str; 3] = ["/auth/register", "/auth/login", "/auth/refresh"];
/// Not limited, each with everything below it.
const FREE: [&str; 4] = ["/health", "/metrics", "/docs", "/openapi.json"];

/// Answers a request unless it is one too many, and says how many more there may be.
pub(crate) async fn limit(State(state): State<ApiState>, request: Request, next: Next) -> Response {
    let Some(limiter) = &state.settings.rate_limiter else { return next.run(request).await };
    let (mut parts, body) = request.into_parts();
    let who = whose(&mut parts, &state).await;
    let request = Request::from_parts(parts, body);
    let Some(who) = who else { return next.run(request).await };
    let taken = limiter.take(who).await;
    let mut response = match taken.retry_after {
        None => next.run(request).await,
        Some(after) => too_many(after).into_response(),
    };
    add_headers(response.headers_mut(), &taken);
    response
}

/// Refuses what costs more than a limit leaves.
pub(crate) async fn charge(settings: &Settings, who: Limited, cost: NonZeroU32) -> Result<(), Problem> {
    let Some(limiter) = &settings.rate_limiter else { return Ok(()) };
    limiter.charge(who, cost).await.retry_after.map_or(Ok(()), |after| Err(too_many(after)))
}

fn too_many(retry_after: Duration) -> Problem {
    Problem::rate_limited(whole_seconds(retry_after).max(1))
}

/// Whose request it is; nothing for one that is not limited.
async fn whose(parts: &mut Parts, state: &ApiState) -> Option<Limited> {
    let path = api_path(parts.uri.path(), &state.settings).to_owned();
    let is_below = |root: &&str| path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if FREE.iter().any(is_below) {
        return None;
    }
    let client = context_of(parts).ip_address.map(Client::from);
    if AUTHENTICATION.contains(&path.as_str()) {
        return client.map(Limited::Authentication);
    }
    if has_token(&parts.headers) {
        // A signature is enough to know whose count it is, so that one too many costs no query. Whoever still has the token
        // of a session that has ended spends the user's count once at each process, which then knows that it has.
        match verify(parts, &state.iam).await {
            Ok(token) => return Some(Limited::User(token.user())),
            // Whoever invents tokens is nobody known.
            Err(problem) if problem.is_of_the_client() => {}
            // The store is away, and with it the keys: who it is cannot be said, and the operation will say so.
            Err(_) => return None,
        }
    }
    client.map(Limited::Anonymous)
}

fn add_headers(headers: &mut HeaderMap, taken: &Taken) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    headers.insert(LIMIT, taken.limit.into());
    headers.insert(REMAINING, taken.remaining.into());
    headers.insert(RESET, HeaderValue::from(whole_seconds(now + taken.reset_after)));
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
