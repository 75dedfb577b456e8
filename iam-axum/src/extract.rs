//! Extractors that refuse requests with problem documents.

use std::pin::pin;
use std::str::FromStr;
use std::task::Poll;
use std::time::Duration;

use axum::body::{Bytes, HttpBody as _};
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRef, FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use futures_util::poll;
use iam_core::token::VerifiedToken;
use iam_core::{Caller, Error, FieldError, Iam, InvalidFields, Unauthenticated};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use tower_http::timeout::{DeadlineBody, TimeoutError};

use crate::context::context_of;
use crate::problem::{Kind, Problem};
use crate::request_state::{RequestState, Sender};
use crate::sync_middleware::Around;

/// The user of the request's bearer token (RFC 6750).
///
/// Works in any router whose state can give an [`Iam`]:
///
/// ```
/// use axum::{Router, routing::get};
/// use iam_axum::Authenticated;
/// use iam_core::Iam;
///
/// async fn whoami(Authenticated(caller): Authenticated) -> String {
///     format!("{:?} of {}", caller.user(), caller.tenant())
/// }
///
/// fn app(iam: Iam) -> Router {
///     Router::new().route("/whoami", get(whoami)).with_state(iam)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Authenticated(pub Caller);

impl<S> FromRequestParts<S> for Authenticated
where
    S: Send + Sync,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        authenticate(parts, &Iam::from_ref(state)).await.map(Self)
    }
}

/// The user of the request's bearer token, also if it must set up a second factor first. Only for the operations that
/// such a user needs.
pub(crate) struct WithoutFactor(pub(crate) Caller);

impl<S> FromRequestParts<S> for WithoutFactor
where
    S: Send + Sync,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let iam = Iam::from_ref(state);
        match authenticate(parts, &iam).await {
            // The sender is not kept: no other extractor may take it for one with a factor.
            Err(problem) if problem.is_of(Kind::SecondFactorRequired) => {
                let token = verify(parts, &iam).await?;
                let caller = iam.authenticate_without_factor(&token, context_of(parts)).await?;
                note(parts, &caller);
                Ok(Self(caller))
            }
            authenticated => authenticated.map(Self),
        }
    }
}

/// Returns the caller of a request. A second call returns the caller that the first call found.
pub(crate) async fn authenticate(parts: &mut Parts, iam: &Iam) -> Result<Caller, Problem> {
    if let Some(sender) = RequestState::sender(&parts.extensions) {
        return Ok(sender.caller.clone());
    }
    let token = verify(parts, iam).await?;
    let caller = iam.authenticate_verified(&token, context_of(parts)).await?;
    note(parts, &caller);
    RequestState::of_mut(&mut parts.extensions).sender =
        Some(Sender { iam: iam.clone(), token, caller: caller.clone() });
    Ok(caller)
}

/// Tells the trace and the layers around who has sent a request.
fn note(parts: &mut Parts, caller: &Caller) {
    let span = tracing::Span::current();
    span.record("tenant_id", tracing::field::display(caller.tenant()));
    if let Some(user) = caller.user() {
        span.record("user_id", tracing::field::display(user));
    }
    RequestState::of_mut(&mut parts.extensions).caller.get_or_init(|| caller.clone());
}

/// Verifies the bearer token of a request. Its session may have ended. A second call returns the token that the first
/// call found.
pub(crate) async fn verify(parts: &mut Parts, iam: &Iam) -> Result<VerifiedToken, Problem> {
    if let Some(token) = &RequestState::of_mut(&mut parts.extensions).token {
        return Ok(token.clone());
    }
    let token = bearer_token(&parts.headers).ok_or(Error::from(Unauthenticated::NoToken))?;
    let token = iam.verify(token).await?;
    RequestState::of_mut(&mut parts.extensions).token = Some(token.clone());
    Ok(token)
}

/// Returns the bearer token that the request carries, valid or not.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The context of the request for audit entries, for operations without authentication.
#[derive(Clone, Debug)]
pub struct Context(pub iam_core::RequestContext);

impl<S: Send + Sync> FromRequestParts<S> for Context {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(context_of(parts)))
    }
}

/// The `{id}` of the path.
#[derive(Clone, Copy, Debug)]
pub struct PathId<T>(pub T);

impl<S, T> FromRequestParts<S> for PathId<T>
where
    S: Send + Sync,
    T: FromStr,
    T::Err: std::fmt::Display,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        path_parameter(parts, "id").await.map(Self)
    }
}

/// Parses a parameter of the path. A route without this parameter is a defect.
pub(crate) async fn path_parameter<T: FromStr>(parts: &mut Parts, name: &str) -> Result<T, Problem>
where
    T::Err: std::fmt::Display,
{
    let params = RawPathParams::from_request_parts(parts, &()).await;
    let params = params.map_err(|_| Problem::invalid_field(name, "must be percent-encoded UTF-8"))?;
    let Some((_, text)) = params.iter().find(|(found, _)| *found == name) else {
        tracing::error!(parameter = name, "the route does not have this path parameter");
        return Err(Problem::new(Kind::Internal));
    };
    text.parse().map_err(|error: T::Err| Problem::invalid_field(name, error.to_string()))
}

/// The query of the request's URI.
#[derive(Clone, Copy, Debug)]
pub struct Query<T>(pub T);

impl<S, T> FromRequestParts<S> for Query<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|axum::extract::Query(query)| Self(query))
            .map_err(|error| Problem::invalid_field("query", error.body_text()))
    }
}

/// Parses the texts of a query and collects an error for every invalid one.
#[derive(Default)]
pub(crate) struct Params(Vec<FieldError>);

impl Params {
    /// Returns the value of a parameter, if it is present and valid.
    pub(crate) fn parse<T>(&mut self, name: &str, text: Option<&str>) -> Option<T>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        self.parse_with(name, text, |text| text.parse().map_err(|error: T::Err| error.to_string()))
    }

    /// Like [`parse`](Self::parse), with another way of parsing.
    pub(crate) fn parse_with<T>(
        &mut self,
        name: &str,
        text: Option<&str>,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        parse(text?).map_err(|message| self.0.push(FieldError::new(name, message))).ok()
    }

    /// Adds the errors of the fields that a service found invalid.
    pub(crate) fn check<T>(&mut self, result: Result<T, InvalidFields>) -> Option<T> {
        result.map_err(|InvalidFields(errors)| self.0.extend(errors)).ok()
    }

    /// Returns the value of a required parameter. A missing parameter is as invalid as an empty one.
    pub(crate) fn require<T>(&mut self, name: &str, text: &str) -> Option<T>
    where
        T: FromStr,
        T::Err: std::fmt::Display,
    {
        self.parse(name, Some(text))
    }

    pub(crate) fn finish(self) -> Result<(), Problem> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::invalid(self.0)) }
    }
}

/// A JSON body (`decisions.md` §1): `application/json`, at most 256 KiB, no unknown fields where the type says so.
///
/// Beside [`Authenticated`], or behind a [`RequirePermission`](crate::RequirePermission), a body that arrives later
/// than the head of its request is refused with 408 if the caller's rights have changed meanwhile. [`Call`] continues
/// with the new rights instead.
#[derive(Clone, Copy, Debug)]
pub struct Body<T>(pub T);

impl<S, T> FromRequest<S> for Body<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_of_type(request.headers(), JSON) {
            return Err(Problem::new(Kind::UnsupportedMediaType));
        }
        parse(&whole_body(request, state).await?).map(Self)
    }
}

/// The user of the request's bearer token, and the request's JSON [`Body`].
///
/// A stranger is refused before the body is read. The caller is that of the moment at which the whole body has
/// arrived. At that moment, its token must still be valid and its session must not have ended. It has the rights of
/// that moment, and must still hold the permission that a [`RequirePermission`](crate::RequirePermission) before has
/// required.
///
/// ```
/// use axum::{Router, routing::post};
/// use iam_axum::Call;
/// use iam_core::Iam;
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     article: String,
/// }
///
/// async fn order(Call(caller, order): Call<Order>) -> String {
///     format!("{} for {:?}", order.article, caller.user())
/// }
///
/// fn app(iam: Iam) -> Router {
///     Router::new().route("/orders", post(order)).with_state(iam)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Call<T>(pub Caller, pub T);

impl<S, T> FromRequest<S> for Call<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (caller, bytes) = call(request, state, JSON).await?;
        parse(&bytes).map(|body| Self(caller, body))
    }
}

/// As [`Call`], for an operation that also takes the fields as a form.
pub(crate) struct CallWithForm<T>(pub(crate) Caller, pub(crate) T);

impl<S, T> FromRequest<S> for CallWithForm<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_of_type(request.headers(), FORM) {
            return Call::from_request(request, state).await.map(|Call(caller, body)| Self(caller, body));
        }
        let (caller, bytes) = call(request, state, FORM).await?;
        let body = serde_urlencoded::from_bytes(&bytes).map_err(|error| fault(".", &error.to_string()))?;
        Ok(Self(caller, body))
    }
}

/// Authenticates the sender of a request, and reads its body of this type.
async fn call<S>(request: Request, state: &S, media_type: &str) -> Result<(Caller, Bytes), Problem>
where
    S: Send + Sync,
    Iam: FromRef<S>,
{
    let (iam, (mut parts, body)) = (Iam::from_ref(state), request.into_parts());
    let caller = authenticate(&mut parts, &iam).await?;
    if !is_of_type(&parts.headers, media_type) {
        return Err(Problem::new(Kind::UnsupportedMediaType));
    }
    let demands = RequestState::of_mut(&mut parts.extensions).demands.clone();
    let Arrived { bytes, renewed, .. } = read(Request::from_parts(parts, body), state).await?;
    let caller = match renewed {
        Some(renewed) => {
            demands.check(&iam, &renewed).await?;
            renewed
        }
        None => caller,
    };
    Ok((caller, bytes))
}

/// Reads a body, which must not be too large and must arrive in time.
pub(crate) async fn whole_body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let Arrived { bytes, sender, renewed } = read(request, state).await?;
    let has_changed = |(before, now): (Sender, Caller)| before.caller.authority() != now.authority();
    if sender.zip(renewed).is_some_and(has_changed) {
        let problem = Problem::new(Kind::RequestTimeout);
        return Err(problem.detail("Your rights have changed before the request body arrived. Send it again."));
    }
    Ok(bytes)
}

/// A body that has arrived.
struct Arrived {
    bytes: Bytes,
    /// The sender of the request, if the head of the request was authenticated.
    sender: Option<Sender>,
    /// The same caller with its present rights, if the body arrived later than the head.
    renewed: Option<Caller>,
}

/// Reads a body. A sender that sends the head of a request long before its body must not act with the rights of that
/// earlier moment.
async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Arrived, Problem> {
    let sender = RequestState::sender(request.extensions()).cloned();
    let mut reading = pin!(Bytes::from_request(request, state));
    if let Poll::Ready(read) = poll!(&mut reading) {
        return Ok(Arrived { bytes: read.map_err(body_problem)?, sender, renewed: None });
    }
    let bytes = reading.await.map_err(body_problem)?;
    let renewed = match &sender {
        Some(sender) => Some(sender.renewed().await?),
        None => None,
    };
    Ok(Arrived { bytes, sender, renewed })
}

fn body_problem(rejection: BytesRejection) -> Problem {
    let mut causes =
        std::iter::successors(Some(&rejection as &(dyn std::error::Error + 'static)), |error| error.source());
    if causes.any(|error| error.is::<TimeoutError>()) {
        Problem::new(Kind::RequestTimeout)
    } else {
        Problem::from_status(rejection.status())
    }
}

/// Refuses a request whose body does not arrive within this time.
#[derive(Clone)]
pub(crate) struct BodyDeadline(pub(crate) Duration);

impl Around for BodyDeadline {
    type After = ();

    fn before(&self, request: Request) -> (Request, ()) {
        if request.body().is_end_stream() {
            return (request, ());
        }
        (request.map(|body| axum::body::Body::new(DeadlineBody::new(self.0, body))), ())
    }
}

/// Deserializes a field that can be cleared. Together with `#[serde(default)]`, it distinguishes `null` from absent.
pub(crate) fn nullable<'de, T, D>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    let Some(content_type) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// Converts a number of a body that is whole and not negative to the nearest `u64`. The field is no integer type,
/// because 365.0 is an integer for JSON Schema, too.
pub(crate) fn whole_number(field: &str, number: f64) -> Result<u64, Problem> {
    if number.fract() == 0.0 && number >= 0.0 {
        Ok(number as u64)
    } else {
        Err(Problem::invalid_field(field, "must be a whole number that is not negative"))
    }
}

/// Does the same as [`whole_number`], for the nearest `u32`.
pub(crate) fn whole_u32(field: &str, number: f64) -> Result<u32, Problem> {
    Ok(u32::try_from(whole_number(field, number)?).unwrap_or(u32::MAX))
}

/// Parses a JSON object. An error names the invalid field.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // serde would also accept an array for a struct, with one item for each field.
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(Problem::invalid_field("body", "must be a JSON object"));
    }
    let malformed = |error| Problem::invalid_field("body", format!("is not valid JSON: {}", without_place(&error)));
    serde_json::from_slice::<IgnoredAny>(bytes).map_err(malformed)?;
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| fault(&error.path().to_string(), &without_place(error.inner())))
}

/// Returns an error's message without line and column.
fn without_place(error: &serde_json::Error) -> String {
    error.to_string().split(" at line ").next().unwrap_or_default().to_owned()
}

/// Describes what is wrong without repeating the value, which may be a secret in the wrong field.
fn fault(path: &str, message: &str) -> Problem {
    let quoted = |start: &str| message.strip_prefix(start).and_then(|rest| rest.split('`').next());
    if let Some(name) = quoted("unknown field `") {
        // serde's path ends at the object that holds the field.
        let field = match path {
            "." => name.to_owned(),
            path if path.ends_with(name) => path.to_owned(),
            path => format!("{path}.{name}"),
        };
        return Problem::invalid_field(field, "is not a known field");
    }
    if let Some(name) = quoted("missing field `") {
        return Problem::invalid_field(
            if path == "." { name.to_owned() } else { format!("{path}.{name}") },
            "is required",
        );
    }
    let field = if path == "." { "body" } else { path };
    match message.split_once(", expected ") {
        Some((_, "f64" | "f32")) => Problem::invalid_field(field, "must be a number"),
        Some((_, "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "usize" | "isize")) => {
            Problem::invalid_field(field, "must be a whole number in range")
        }
        Some((_, expected)) => Problem::invalid_field(field, format!("must be {expected}")),
        None => Problem::invalid_field(field, "is not valid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsing is tested")]
    struct Outer {
        name: Option<String>,
        inner: Option<Vec<Inner>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsing is tested")]
    struct Inner {
        number: u8,
    }

    #[tokio::test]
    async fn an_error_names_the_invalid_field() {
        let cases = [
            (r#"{"nmae": "x"}"#, "nmae"),
            (r#"{"name": 5}"#, "name"),
            (r#"{"inner": [{"number": 1}, {"number": "x"}]}"#, "inner[1].number"),
            (r#"{"inner": [{"number": 1, "extra": 1}]}"#, "inner[0].extra"),
            (r#"{"inner": [{}]}"#, "inner[0].number"),
            (r#"{"name": "x""#, "body"),
            ("", "body"),
            ("[1]", "body"),
            (r#"["x", null]"#, "body"),
            (r#"{"name": "x"} trailing"#, "body"),
        ];
        for (body, field) in cases {
            let response =
                parse::<Outer>(body.as_bytes()).unwrap_err().respond(crate::problem::DEFAULT_TYPE_BASE, None);
            let bytes = axum::body::to_bytes(response.into_body(), 9999).await.unwrap();
            let document: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(document["errors"][0]["field"], field, "{body}");
        }
    }
}
