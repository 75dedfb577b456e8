//! A service behind a guard for the host program's own routes.

use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use tower::Service;

use crate::problem::Problem;

/// Lets requests pass, or refuses them.
pub trait Guard: Clone + Send + 'static {
    /// Returns the request if it may pass.
    fn admit(&self, request: Request) -> impl Future<Output = Result<Request, Problem>> + Send;
}

/// A service behind a guard.
#[derive(Clone, Debug)]
pub struct Guarded<G, S> {
    guard: G,
    inner: S,
}

impl<G, S> Guarded<G, S> {
    pub(crate) fn new(guard: G, inner: S) -> Self {
        Self { guard, inner }
    }
}

impl<G, S> Service<Request> for Guarded<G, S>
where
    G: Guard,
    S: Service<Request, Response = Response> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
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
