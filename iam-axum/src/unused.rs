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
        parameter: PREVIEW,
        is_used: asks_for_preview,
        refusal: "is not possible here: this operation has no preview, so it was not executed",
    },
    Optional {
        parameter: IF_MATCH,
        is_used: |request| request.headers().contains_key(header::IF_MATCH),
        refusal: "is not possible here: the resource of this path has no entity tag",
    },
];

fn asks_for_preview(request: &Request) -> bool {
    let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
    query.is_ok_and(|query| query.iter().any(|(name, value)| name == PREVIEW && value != "false"))
}

/// Refuses what these operations do not evaluate. All of it in one layer, because every layer costs each request a box.
pub(crate) fn refuse_unused(routes: UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let (schemas, paths, router) = routes;
    let changes = || paths.paths.values().flat_map(|path| [&path.post, &path.put, &path.patch, &path.delete]).flatten();
    let is_unused = |optional: &Optional| changes().any(|change| !has(change, optional.parameter));
    let refused = OPTIONAL.each_ref().map(|optional| is_unused(optional).then_some(optional));
    let has_unused = refused.iter().any(Option::is_some);
    let router = if has_unused { router.route_layer(layer_fn(move |inner| Refuse { inner, refused })) } else { router };
    (schemas, paths, router)
}

fn has(operation: &Operation, parameter: &str) -> bool {
    let mut parameters = operation.parameters.iter().flatten();
    parameters.any(|described| matches!(described, RefOr::T(described) if described.name == parameter))
}

#[derive(Clone)]
struct Refuse<S> {
    inner: S,
    refused: [Option<&'static Optional>; OPTIONAL.len()],
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
        let is_used = |optional: &&Optional| !request.method().is_safe() && (optional.is_used)(&request);
        match self.refused.into_iter().flatten().find(is_used) {
            None => Either::Right(self.inner.call(request)),
            Some(Optional { parameter, refusal, .. }) => {
                Either::Left(ready(Ok(Problem::invalid_field(*parameter, *refusal).into_response())))
            }
        }
    }
}
