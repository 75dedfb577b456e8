//! A guard for the host's own routes.

use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use iam_core::access::Permission;
use iam_core::{Caller, Iam, OrganizationId};
use tower::{Layer, Service};

use crate::Problem;
use crate::extract::{authenticate, path_parameter};

/// Lets a request pass only when its bearer token stands for a user who holds a permission: a built-in one or one of
/// the application, tenant-wide or in the organization that the path names.
///
/// Behind it, [`Authenticated`](crate::Authenticated) finds the caller without asking again. [`Call`](crate::Call) asks for the
/// permission again when the body comes later than its head, and [`Body`](crate::Body) refuses it when the rights have changed
/// meanwhile; extractors of others, such as axum's `Json`, wait for the body and do not ask.
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
    /// A guard that asks for this permission, tenant-wide.
    #[must_use]
    pub fn new(iam: Iam, permission: Permission) -> Self {
        Self { iam, permission, organization: None }
    }

    /// Asks for the permission in the organization whose id is this parameter of the path.
    ///
    /// To those who hold nothing there it answers 404. A route without the parameter is a defect and answers 500.
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
        parts.extensions.get_or_insert_default::<Demands>().0.push(demand);
        Ok(Request::from_parts(parts, body))
    }
}

/// What a guard has asked of the sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    permission: Permission,
    organization: Option<OrganizationId>,
}

/// What all guards before have asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct Demands(Vec<Demand>);

impl Demand {
    async fn check(&self, iam: &Iam, caller: &Caller) -> Result<(), Problem> {
        Ok(iam.access().require(caller, self.permission.clone(), self.organization).await?)
    }
}

impl Demands {
    /// Asks again, of a caller who was authenticated again.
    pub(crate) async fn check(&self, iam: &Iam, caller: &Caller) -> Result<(), Problem> {
        for demand in &self.0 {
            demand.check(iam, caller).await?;
        }
        Ok(())
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
        // The instance that was polled ready is the one to call; the fresh clone takes its place.
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
