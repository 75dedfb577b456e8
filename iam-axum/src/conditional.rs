//! Entity tags: `If-None-Match` for reads, `If-Match` for changes (RFC 9110 §13).

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use iam_core::version::{Precondition, Version};
use serde::Serialize;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{HeaderBuilder, RefOr, Required, ResponseBuilder};
use utoipa_axum::router::UtoipaMethodRouter;

use crate::problem::Problem;
use crate::state::ApiState;
use crate::sync_middleware::{After, SyncMiddleware};

/// A resource with its entity tag.
pub(crate) struct Tagged<T>(pub(crate) Version, pub(crate) T);

impl<T: Serialize> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        let Self(version, resource) = self;
        let mut response = Json(resource).into_response();
        if let Ok(tag) = HeaderValue::from_str(&entity_tag(version)) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

/// Returns the entity tag of a version.
pub(crate) fn entity_tag(version: Version) -> String {
    format!("\"{version}\"")
}

/// The precondition of a change, from `If-Match`. To be extracted after the caller: a request without a valid token is
/// refused for that, even if its header is invalid.
pub(crate) struct IfMatch(pub(crate) Precondition);

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        precondition(&parts.headers).map(Self)
    }
}

/// Lets clients send conditional requests to these operations of a resource, and describes this in the OpenAPI
/// document.
pub(crate) fn conditional(routes: UtoipaMethodRouter<ApiState>) -> UtoipaMethodRouter<ApiState> {
    let (schemas, mut paths, router) = routes;
    for path in paths.paths.values_mut() {
        if let Some(operation) = &mut path.get {
            let what = "Entity tags of versions that the client has. If one of them is current, the response is 304.";
            describe(operation, "If-None-Match", what, None);
            let unchanged =
                ResponseBuilder::new().description("A tag is current: the client already has the resource").build();
            operation.responses.responses.insert(StatusCode::NOT_MODIFIED.as_str().to_owned(), unchanged.into());
        }
        let changes = path.post.iter_mut().chain(&mut path.put).chain(&mut path.patch).chain(&mut path.delete);
        for operation in changes {
            let what =
                "Entity tags of versions that the client has seen. If none of them is current, the response is 412.";
            describe(operation, IF_MATCH, what, Some(TAGS));
        }
    }
    (schemas, paths, router)
}

pub(crate) const IF_MATCH: &str = "If-Match";

/// `*`, or entity tags joined by commas (RFC 9110 §8.8.3).
const TAGS: &str = r#"^([*]|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#;

fn describe(operation: &mut Operation, name: &str, description: &str, pattern: Option<&str>) {
    operation.parameters.get_or_insert_default().push(parameter(name, description, pattern).into());
    for (status, response) in &mut operation.responses.responses {
        if let ("200", RefOr::T(response)) = (status.as_str(), response) {
            let tag = HeaderBuilder::new()
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .description(Some("The entity tag of the current version of the resource"));
            response.headers.insert("ETag".to_owned(), tag.build().into());
        }
    }
}

fn parameter(name: &str, description: &str, pattern: Option<&str>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).pattern(pattern)))
        .build()
}

/// Sends a 304 instead of a resource that the client already has.
#[derive(Clone)]
pub(crate) struct NotModified;

/// The entity tags of the resource that the client has.
pub(crate) struct IfNoneMatch(Vec<String>);

impl SyncMiddleware for NotModified {
    type After = IfNoneMatch;

    fn before(&self, request: Request) -> (Request, IfNoneMatch) {
        let tags = match *request.method() {
            Method::GET | Method::HEAD => tags(request.headers(), &header::IF_NONE_MATCH),
            _ => Vec::new(),
        };
        (request, IfNoneMatch(tags))
    }
}

impl After for IfNoneMatch {
    fn after(self, response: Response) -> Response {
        let Self(tags) = self;
        let is_matched = |etag: &HeaderValue| {
            let opaque = etag.as_bytes().strip_prefix(b"W/").unwrap_or(etag.as_bytes());
            tags.iter().any(|tag| tag == "*" || tag.as_bytes() == opaque)
        };
        if response.status() == StatusCode::OK && response.headers().get(header::ETAG).is_some_and(is_matched) {
            let (mut parts, _) = response.into_parts();
            parts.status = StatusCode::NOT_MODIFIED;
            for gone in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
                parts.headers.remove(gone);
            }
            return Response::from_parts(parts, Body::empty());
        }
        response
    }
}

/// Returns the entity tags of a header. Weak tags lose their mark `W/`, because reads compare tags without it.
fn tags(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    let tags = lines.flat_map(members);
    tags.map(|tag| tag.strip_prefix("W/").unwrap_or(tag).to_owned()).collect()
}

/// Splits a list at its commas, but not at commas inside a quoted tag. Elements may be empty (RFC 9110 §5.6.1).
fn members(line: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let separates = move |character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    };
    line.split(separates).map(str::trim).filter(|member| !member.is_empty())
}

fn precondition(headers: &HeaderMap) -> Result<Precondition, Problem> {
    let lines = headers.get_all(header::IF_MATCH).iter();
    if !headers.contains_key(header::IF_MATCH) {
        return Ok(Precondition::Exists);
    }
    let mut has_tag = false;
    let refused = || Problem::invalid_field(IF_MATCH, "must be * or entity tags, joined by commas");
    let mut versions = Vec::new();
    for line in lines {
        for tag in members(line.to_str().map_err(|_| refused())?) {
            has_tag = true;
            if tag == "*" {
                return Ok(Precondition::Exists);
            }
            // A weak tag never matches for a change.
            let (is_weak, quoted) = tag.strip_prefix("W/").map_or((false, tag), |quoted| (true, quoted));
            let opaque = quoted.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
            let opaque = opaque.filter(|tag| !tag.contains('"')).ok_or_else(refused)?;
            // A tag that the service never makes matches nothing.
            versions.extend(opaque.parse::<Version>().ok().filter(|_| !is_weak));
        }
    }
    if has_tag { Ok(Precondition::OneOf(versions)) } else { Err(refused()) }
}
