use std::time::Duration;

use axum::extract::Request;
use chrono::TimeDelta;
use iam_core::Iam;
use tower::Layer;

use crate::extract::authenticate;
use crate::guarded::{Guard, Guarded};
use crate::problem::Problem;

/// Lets a request pass only if the session of its bearer token has authenticated recently: at its login, or again by
/// `POST /auth/step-up`. Otherwise the response is 401 `insufficient-authentication` (RFC 9470).
///
/// For routes of the host program where a stolen token does the most harm, such as a payment. Each request costs one
/// query. The check is made when the head of the request arrives.
///
/// ```
/// use std::time::Duration;
///
/// use axum::{Router, routing::post};
/// use iam_axum::RequireFresh;
/// use iam_core::Iam;
///
/// fn payments(iam: Iam) -> Router {
///     let fresh = RequireFresh::new(iam, Duration::from_secs(300));
///     Router::new().route("/payments", post(|| async { "paid" })).route_layer(fresh)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RequireFresh {
    iam: Iam,
    max_age: TimeDelta,
}

impl RequireFresh {
    /// Creates a guard that requires an authentication within the last `max_age`.
    #[must_use]
    pub fn new(iam: Iam, max_age: Duration) -> Self {
        Self { iam, max_age: TimeDelta::from_std(max_age).unwrap_or(TimeDelta::MAX) }
    }
}

impl Guard for RequireFresh {
    async fn admit(&self, request: Request) -> Result<Request, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = authenticate(&mut parts, &self.iam).await?;
        self.iam.sessions().require_fresh(&caller, self.max_age).await?;
        Ok(Request::from_parts(parts, body))
    }
}

impl<S> Layer<S> for RequireFresh {
    type Service = Guarded<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Guarded::new(self.clone(), inner)
    }
}
