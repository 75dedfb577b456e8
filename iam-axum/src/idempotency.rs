//! `Idempotency-Key` on requests that create something (`docs/http-api.md#repeating-a-request`).

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use iam_core::idempotency::{Idempotency, IdempotencyKey};
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{HeaderBuilder, RefOr, Required};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::extract::whole_body;
use crate::problem::Problem;
use crate::request_state::RequestState;
use crate::state::ApiState;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Lets clients repeat the POST among these operations under a key, and describes this in the OpenAPI document.
pub(crate) fn once(routes: UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let (schemas, mut paths, router) = routes;
    paths.paths.values_mut().filter_map(|path| path.post.as_mut()).for_each(describe);
    // Without the prefix under which the API is mounted, so that the alias without prefix is the same path.
    let path: Arc<str> = paths.paths.keys().map(String::as_str).collect::<String>().into();
    (schemas, paths, router.layer(from_fn_with_state(path, answer_once)))
}

fn describe(operation: &mut Operation) {
    operation.parameters.get_or_insert_default().push(parameter().into());
    for response in operation.responses.responses.iter_mut().filter(|(status, _)| status.starts_with('2')) {
        if let (_, RefOr::T(response)) = response {
            let header = HeaderBuilder::new()
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .description(Some("`true` if this is the response to an earlier request with the same key"));
            response.headers.insert("Idempotent-Replayed".to_owned(), header.build().into());
        }
    }
}

fn parameter() -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(255))
        .pattern(Some("^[!-~]+$"))
        .build();
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(
            "A name that the client gives to the request. A request with the same key and body within a day has no \
             second effect and gets the first response again. Another body under the same key is refused with 422.",
        ))
        .schema(Some(schema))
        .build()
}

/// The key of a request with its content, if it has one.
pub(crate) struct RequestKey(pub(crate) Option<Idempotency>);

impl<S: Send + Sync> FromRequestParts<S> for RequestKey {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(RequestState::of(&parts.extensions).and_then(|state| state.idempotency.clone())))
    }
}

async fn answer_once(State(path): State<Arc<str>>, request: Request, next: Next) -> Response {
    match keyed(&path, request).await {
        Ok((request, None)) => next.run(request).await,
        Ok((mut request, Some(idempotency))) => {
            RequestState::of_mut(request.extensions_mut()).idempotency = Some(idempotency.clone());
            let mut response = next.run(request).await;
            if idempotency.was_replayed() && response.status().is_success() {
                response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
            }
            response
        }
        Err(problem) => problem.into_response(),
    }
}

/// Returns the request, with its key and content if it has a key.
async fn keyed(path: &str, request: Request) -> Result<(Request, Option<Idempotency>), Problem> {
    if request.method() != Method::POST {
        return Ok((request, None));
    }
    let mut keys = request.headers().get_all(&KEY).iter();
    let Some(key) = keys.next() else { return Ok((request, None)) };
    let refused = |message: &str| Problem::invalid_field("Idempotency-Key", message);
    if keys.next().is_some() {
        return Err(refused("must be given once"));
    }
    let key = key.to_str().map_err(|_| refused("must be 1 to 255 visible ASCII characters"))?;
    let key: IdempotencyKey = key.parse().map_err(|invalid: iam_core::Invalid| refused(&invalid.to_string()))?;
    // The size limit of the body is in the extensions of the request.
    let (mut parts, body) = request.into_parts();
    let bytes = whole_body(Request::from_parts(parts.clone(), body), &()).await?;
    // A path that cannot be decoded is refused later, and its answer is not kept.
    let values = RawPathParams::from_request_parts(&mut parts, &()).await.ok();
    let values: String = values.iter().flatten().map(|(name, value)| format!("\n{name}={value}")).collect();
    let content = [path.as_bytes(), values.as_bytes(), b"\n", &bytes].concat();
    Ok((Request::from_parts(parts, Body::from(bytes)), Some(Idempotency::new(key, content))))
}
