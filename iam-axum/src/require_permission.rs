//! A guard for the host program's own routes.

use axum::extract::Request;
use iam_core::permission::Permission;
use iam_core::{Iam, OrganizationId};
use tower::Layer;

use crate::demand::Demand;
use crate::extract::{authenticate, path_parameter};
use crate::guarded::{Guard, Guarded};
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
}

impl Guard for RequirePermission {
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
    type Service = Guarded<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Guarded::new(self.clone(), inner)
    }
}
