//! Requests to the router.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use iam_core::Iam;
use serde_json::Value;
use tower::ServiceExt as _;

use crate::Outcome;

/// A client without a network.
pub struct Client(Router);

impl Client {
    /// A client of the API, which has no rate limits.
    #[must_use]
    pub fn of(iam: &Iam) -> Self {
        let mut settings = iam_axum::Settings::default();
        settings.rate_limiter = None;
        Self(iam_axum::router(iam.clone(), settings))
    }

    /// Sends a request, and returns the body of the answer, which has this status.
    ///
    /// # Errors
    ///
    /// When the answer has another status.
    pub async fn ask(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: Option<&Value>,
        status: StatusCode,
    ) -> Outcome<Bytes> {
        let request = Request::builder().method(method).uri(path);
        let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let request = request.body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))?;
        let response = self.0.clone().oneshot(request).await?;
        let found = response.status();
        let body = to_bytes(response.into_body(), usize::MAX).await?;
        if found != status {
            return Err(format!("{path} is answered {found}: {}", String::from_utf8_lossy(&body)).into());
        }
        Ok(body)
    }
}
