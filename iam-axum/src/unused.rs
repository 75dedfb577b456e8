//! Refuses input that an operation would not evaluate: a query parameter that it does not have or that is given twice,
//! a condition on a change of a resource without entity tag, and the fields of a body that it does not take. Otherwise
//! a client would believe that its filter, its preview or its condition has counted.

use std::collections::BTreeSet;
use std::future::{Ready, ready};
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody as _};
use axum::extract::Request;
use axum::http::{Method, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::{BoxFuture, Either};
use iam_core::FieldError;
use serde_json::Value;
use tower::Service;
use tower::layer::layer_fn;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::{PathItem, RefOr};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::conditional::IF_MATCH;
use crate::description::IGNORES_PARAMETERS;
use crate::extract::{TWICE, require_no_fields};
use crate::problem::Problem;
use crate::request_state::RequestState;
use crate::state::ApiState;

/// The input that an operation evaluates, from its description in the OpenAPI document. The types of its extractors
/// have written this description.
struct Evaluated {
    method: Method,
    parameters: BTreeSet<String>,
    has_condition: bool,
    has_body: bool,
    is_public: bool,
    /// Whether parameters that it does not know are ignored. A client of OAuth must do so (RFC 6749 §4.1.2), because
    /// providers send parameters of their own.
    ignores_parameters: bool,
}

impl Evaluated {
    fn of(method: Method, operation: &Operation) -> Self {
        let in_header = |parameter: &&Parameter| parameter.parameter_in == ParameterIn::Header;
        let in_query = |parameter: &&Parameter| parameter.parameter_in == ParameterIn::Query;
        let extension = |name: &str| operation.extensions.as_ref().and_then(|extensions| extensions.get(name));
        Self {
            has_condition: method.is_safe()
                || parameters(operation).filter(in_header).any(|header| header.name == IF_MATCH),
            has_body: operation.request_body.is_some(),
            parameters: parameters(operation).filter(in_query).map(|parameter| parameter.name.clone()).collect(),
            is_public: extension("x-required-permission").and_then(Value::as_str) == Some("public"),
            ignores_parameters: extension(IGNORES_PARAMETERS).is_some(),
            method,
        }
    }

    /// Returns the error of a request, if it has one.
    fn faults(&self, request: &Request) -> Vec<FieldError> {
        let mut faults = Vec::new();
        if !self.ignores_parameters && request.uri().query().is_some_and(|query| !query.is_empty()) {
            faults = query_faults(request, &self.parameters);
        }
        if !self.has_condition && request.headers().contains_key(header::IF_MATCH) {
            faults.push(FieldError::new(IF_MATCH, "is not possible here: the resource of this path has no entity tag"));
        }
        faults
    }

    /// Whether a request has a body that the operation does not take. The body of a read means nothing (RFC 9110
    /// §9.3.1).
    fn has_unused_body(&self, request: &Request) -> bool {
        let body = request.body();
        !self.has_body && !self.method.is_safe() && !body.is_end_stream() && body.size_hint().exact() != Some(0)
    }
}

/// How many parameters an answer names. A query can have thousands.
const NAMED: usize = 20;

fn query_faults(request: &Request, known: &BTreeSet<String>) -> Vec<FieldError> {
    let query = request.uri().query().unwrap_or_default();
    let (mut seen, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let mut faults = Vec::new();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        let message = if !known.contains(&*name) {
            "is not a parameter of this operation, so it was not executed"
        } else if !seen.insert(name.clone()) {
            TWICE
        } else {
            continue;
        };
        if refused.insert(name.clone()) {
            faults.push(FieldError::new(&*name, message));
        }
        if faults.len() == NAMED {
            break;
        }
    }
    faults
}

fn parameters(operation: &Operation) -> impl Iterator<Item = &Parameter> {
    operation.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    })
}

/// Refuses input that these operations do not evaluate. A caller that an operation does not know is refused for that
/// first: [`RequestState::refusal`] waits for the authentication.
pub(crate) fn refuse_unused(routes: UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let (schemas, paths, router) = routes;
    let evaluated: Arc<[Evaluated]> = paths.paths.values().flat_map(evaluated).collect();
    (schemas, paths, router.route_layer(layer_fn(move |inner| Refuse { inner, evaluated: Arc::clone(&evaluated) })))
}

fn evaluated(path: &PathItem) -> impl Iterator<Item = Evaluated> {
    let operations = [
        (Method::GET, &path.get),
        (Method::POST, &path.post),
        (Method::PUT, &path.put),
        (Method::PATCH, &path.patch),
        (Method::DELETE, &path.delete),
    ];
    operations.into_iter().filter_map(|(method, operation)| Some(Evaluated::of(method, operation.as_ref()?)))
}

#[derive(Clone)]
struct Refuse<S> {
    inner: S,
    evaluated: Arc<[Evaluated]>,
}

impl<S> Service<Request> for Refuse<S>
where
    S: Service<Request, Response = Response, Future: Send> + Clone + Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future =
        Either<BoxFuture<'static, Result<Response, S::Error>>, Either<Ready<Result<Response, S::Error>>, S::Future>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // A HEAD request is answered by the GET operation.
        let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
        let Some(operation) = self.evaluated.iter().find(|operation| operation.method == *method) else {
            return Either::Right(Either::Right(self.inner.call(request)));
        };
        let (is_public, faults) = (operation.is_public, operation.faults(&request));
        let refusal = (!faults.is_empty()).then(|| Problem::invalid(faults));
        if refusal.is_none() && operation.has_unused_body(&request) {
            // The clone is not ready, but the original is.
            let clone = self.inner.clone();
            let mut inner = mem::replace(&mut self.inner, clone);
            return Either::Left(Box::pin(async move {
                let (parts, body) = request.into_parts();
                let read = require_no_fields(Request::from_parts(parts.clone(), body)).await;
                let mut request = Request::from_parts(parts, Body::empty());
                match refuse(&mut request, is_public, read.err()) {
                    Some(refusal) => Ok(refusal),
                    None => inner.call(request).await,
                }
            }));
        }
        Either::Right(match refuse(&mut request, is_public, refusal) {
            Some(refusal) => Either::Left(ready(Ok(refusal))),
            None => Either::Right(self.inner.call(request)),
        })
    }
}

/// Refuses a request, if there is a refusal. Without a public operation, it waits for the authentication.
fn refuse(request: &mut Request, is_public: bool, refusal: Option<Problem>) -> Option<Response> {
    let refusal = refusal?;
    if is_public {
        return Some(refusal.into_response());
    }
    RequestState::of_mut(request.extensions_mut()).refusal = Some(Box::new(refusal));
    None
}
