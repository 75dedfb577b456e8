//! A guard for the host program's own routes.

use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use iam_core::permission::Permission;
use iam_core::{Iam, OrganizationId};
use tower::{Layer, Service};

use crate::demand::Demand;
use crate::extract::{authenticate, path_parameter};
use crate::problem::Problem;
use crate::request_state::RequestState;

/// Lets a request pass only if the user of its bearer token holds a permission: a built-in permission or one of the
/// application, tenant-wide or in the organization that the path names.
///
/// Behind it, [`Authenticated`](crate::Authenticated) returns the caller without a second authentication. If the body
/// arrives later than the head of the request, [`Call`](crate::Call) checks the permission again, and
/// [`Body`](crate::Body) refuses the request if the rights have changed meanwhile. Other extractors, such as axum's
/// `Json`, wait for the body and check nothing.
///
/// ```
/// use axum::{Router, routing::post};
/// use iam_axum::RequirePermission;
/// use iam_core::Iam;
///
/// fn orders(iam: Iam) -> Result<Router, iam_core::Invalid> {
///     let anywhere = RequirePermission::new(iam.clone(), "orders:report".parse()?);
///     let in_branch = RequirePermission::new(iam, "orders:refund".parse()?).in_organization("branch");
///     Ok(Router::new()
///         .route("/branches/{branch}/refunds", post(|| async { "refunded" }))
///         .route_layer(in_branch)
///         .merge(Router::new().route("/report", post(|| async { "reported" })).route_layer(anywhere)))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RequirePermission {
    iam: Iam,
    permission: Permission,
    organization: Option<&'static str>,
}

impl RequirePermission {
    /// Creates a guard that requires this permission tenant-wide.
    #[must_use]
    pub fn new(iam: Iam, permission: Permission) -> Self {
        Self { iam, permission, organization: None }
    }

    /// Requires the permission in the organization whose id is this parameter of the path.
    ///
    /// A caller who holds nothing there gets a 404. A route without the parameter is a defect and answers 500.
    #[must_use]
    pub fn in_organization(mut self, parameter: &'static str) -> Self {
        self.organization = Some(parameter);
        self
    }

    async fn admit(&self, request: Request) -> Result<Request, Problem> {
        let (mut parts, body) = request.into_parts();
        let caller = authenticate(&mut parts, &self.iam).await?;
        let organization = match self.organization {
            Some(parameter) => Some(path_parameter::<OrganizationId>(&mut parts, parameter).await?),
            None => None,
        };
        let demand = Demand { permission: self.permission.clone(), organization };
        demand.check(&self.iam, &caller).await?;
        RequestState::of_mut(&mut parts.extensions).demands.push(demand);
        Ok(Request::from_parts(parts, body))
    }
}

impl<S> Layer<S> for RequirePermission {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { guard: self.clone(), inner }
    }
}

/// A service behind a [`RequirePermission`].
#[derive(Clone, Debug)]
pub struct Guarded<S> {
    guard: RequirePermission,
    inner: S,
}

impl<S> Service<Request> for Guarded<S>
where
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
