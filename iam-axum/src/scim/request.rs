use std::fmt;
use std::str::FromStr;

use axum::extract::{DefaultBodyLimit, FromRef as _, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use iam_core::audit::ResourceType;
use iam_core::directory::{ScimError, ScimType};
use iam_core::{Caller, DirectoryGroupId, Error, Iam, UserId};
use iam_scim::query::projection;
use iam_scim::{Projection, urn};
use serde_json::Value;

use crate::audit::has_exact_numbers;
use crate::extract::{JSON, call, is_of_no_type, is_of_type, path_parameter};
use crate::long::processed;
use crate::problem::{Kind, Problem, SCIM_JSON};
use crate::scim::error::Refusal;
use crate::scim_url::ScimUrl;
use crate::state::ApiState;

/// Returns the parameters of a query. Unknown ones are ignored.
pub(super) fn parameters(query: Option<&str>) -> form_urlencoded::Parse<'_> {
    form_urlencoded::parse(query.unwrap_or_default().as_bytes())
}

/// What the answer to a request shows of a resource.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) base: String,
    pub(super) projection: Projection,
}

impl FromRequestParts<ApiState> for Shown {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Refusal> {
        let Ok(ScimUrl(base)) = ScimUrl::from_request_parts(parts, state).await;
        Ok(Self { base, projection: projection(parameters(parts.uri.query()))? })
    }
}

/// The identifiers of the resources of directories.
pub(super) trait ResourceId: FromStr {
    /// What an identifier names.
    const OF: ResourceType;
}

impl ResourceId for UserId {
    const OF: ResourceType = ResourceType::USER;
}

impl ResourceId for DirectoryGroupId {
    const OF: ResourceType = ResourceType::DIRECTORY_GROUP;
}

/// The resource in the path of a request, with the versions that the directory has seen.
pub(super) struct At<T> {
    pub(super) id: T,
    /// The header `If-Match`.
    pub(super) if_match: Option<String>,
}

impl<S, T> FromRequestParts<S> for At<T>
where
    S: Send + Sync,
    T: ResourceId,
    T::Err: fmt::Display,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let id = path_parameter::<T>(parts, "id").await;
        // A directory does not know what an identifier looks like.
        let unknown = |problem: Problem| {
            if problem.is_of(Kind::ValidationError) { Error::NotFound(T::OF).into() } else { problem }
        };
        Ok(Self { id: id.map_err(unknown)?, if_match: if_match(&parts.headers) })
    }
}

/// Returns the entity tags of all lines of the header. A line that is no text has none.
fn if_match(headers: &HeaderMap) -> Option<String> {
    let lines = headers.get_all(header::IF_MATCH).iter().map(|line| line.to_str().unwrap_or_default());
    let lines: Vec<&str> = lines.collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// The sender of a request, and the document that it has sent.
pub(super) struct Sent(pub(super) Caller, pub(super) Value);

impl FromRequest<ApiState> for Sent {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, Refusal> {
        sent(request, state, |problem| problem).await
    }
}

/// The same for a group or a change of one, which may be larger.
pub(super) struct SentGroup(pub(super) Caller, pub(super) Value);

/// The maximum size of the body of a group, in bytes. It has room for 5,000 members, each with its URL and its name.
const MAX_GROUP: usize = 1024 * 1024;

impl FromRequest<ApiState> for SentGroup {
    type Rejection = Refusal;

    async fn from_request(mut request: Request, state: &ApiState) -> Result<Self, Refusal> {
        DefaultBodyLimit::max(MAX_GROUP).apply(&mut request);
        let too_large = |problem: Problem| {
            let is_too_large = problem.is_of(Kind::PayloadTooLarge);
            if is_too_large { problem.detail("The body of a group may have 1 MiB at most.") } else { problem }
        };
        sent(request, state, too_large).await.map(|Sent(caller, body)| Self(caller, body))
    }
}

/// Reads a document and its sender. `explained` may say more of a problem of the body.
async fn sent(request: Request, state: &ApiState, explained: impl FnOnce(Problem) -> Problem) -> Result<Sent, Refusal> {
    let is_possible =
        |headers: &HeaderMap| [SCIM_JSON, JSON].iter().any(|of| is_of_type(headers, of)) || is_of_no_type(headers);
    let other_type = |problem: Problem| {
        let is_of_type = problem.is_of(Kind::UnsupportedMediaType);
        if is_of_type { problem.detail("Send a body as application/scim+json.") } else { explained(problem) }
    };
    let (caller, bytes) = call(request, state, is_possible).await.map_err(other_type)?;
    let size = bytes.len();
    let read = move || read_document(&bytes);
    let document = processed(&Iam::from_ref(state), &caller, size, read).await?;
    Ok(Sent(caller, document?))
}

/// Reads a body. If it names the extension of the tenant, whose numbers are kept, none of its numbers may be lost.
fn read_document(body: &[u8]) -> Result<Value, ScimError> {
    // The error of the parser could repeat what a person is called.
    let malformed = || ScimError::bad_request(ScimType::InvalidSyntax, "the body is not valid JSON");
    let text = str::from_utf8(body).map_err(|_| malformed())?;
    let document = iam_json::from_slice::<Value>(body).map_err(|_| malformed())?;
    if !has_exact_numbers(text) && text.to_ascii_lowercase().contains(&urn::CUSTOM_USER.to_ascii_lowercase()) {
        let message = "the body has a number that cannot be kept exactly";
        return Err(ScimError::bad_request(ScimType::InvalidValue, message));
    }
    Ok(document)
}
