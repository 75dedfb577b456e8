//! Refuses of a change what it would not evaluate. Otherwise a client would believe that its change overwrites no other
//! change, or that it is only tried out.

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use axum::extract::{Query, Request};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::future::Either;
use tower::Service;
use tower::layer::layer_fn;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::Operation;
use utoipa_axum::router::UtoipaMethodRouter;

use crate::conditional::IF_MATCH;
use crate::preview::PREVIEW;
use crate::problem::Problem;
use crate::state::ApiState;

/// What only some changes evaluate: those that the OpenAPI document describes with this parameter.
struct Optional {
    parameter: &'static str,
    is_used: fn(&Request) -> bool,
    refusal: &'static str,
}

static OPTIONAL: [Optional; 2] = [
    Optional {
        parameter: IF_MATCH,
        is_used: |request| request.headers().contains_key(header::IF_MATCH),
        refusal: "is not possible here: the resource of this path has no entity tag",
    },
    Optional {
        parameter: PREVIEW,
        is_used: asks_for_preview,
        refusal: "is not possible here: this operation has no preview, so it was not executed",
    },
];

fn asks_for_preview(request: &Request) -> bool {
    let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    query.is_ok_and(|query| query.iter().any(|(name, value)| name == PREVIEW && value != "false"))
}

/// Refuses what these operations do not evaluate.
pub(crate) fn refuse_unused(routes: UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let (schemas, paths, mut router) = routes;
    let changes = || paths.paths.values().flat_map(|path| [&path.post, &path.put, &path.patch, &path.delete]).flatten();
    for optional in &OPTIONAL {
        if changes().any(|change| !has(change, optional.parameter)) {
            router = router.route_layer(layer_fn(move |inner| Refuse { inner, optional }));
        }
    }
    (schemas, paths, router)
}

fn has(operation: &Operation, parameter: &str) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|described| matches!(described, RefOr::T(described) if described.name == parameter))
}

#[derive(Clone)]
struct Refuse<S> {
    inner: S,
    optional: &'static Optional,
}

impl<S> Service<Request> for Refuse<S>
where
    S: Service<Request, Response = Response>,
{
    type Response = Response;
    type Error = S::Error;
    type Future = Either<Ready<Result<Response, S::Error>>, S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Optional { parameter, is_used, refusal } = self.optional;
        if request.method().is_safe() || !is_used(&request) {
            return Either::Right(self.inner.call(request));
        }
        Either::Left(ready(Ok(Problem::invalid_field(*parameter, *refusal).into_response())))
    }
}
