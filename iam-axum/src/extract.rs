//! Extractors that refuse requests with problem documents.

use std::fmt;
use std::marker::PhantomData;
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
use iam_core::audit::ResourceType;
use iam_core::token::VerifiedToken;
use iam_core::{Caller, Error, FieldError, Iam, InvalidFields, TenantId, Unauthenticated};
use serde::de::{self, DeserializeOwned, IgnoredAny, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use tower_http::timeout::{DeadlineBody, TimeoutError};

use crate::context::context_of;
use crate::problem::{Kind, Problem};
use crate::request_state::{RequestState, Sender};
use crate::sync_middleware::SyncMiddleware;

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
        let caller = authenticate(parts, &Iam::from_ref(state)).await?;
        RequestState::check(&parts.extensions)?;
        Ok(Self(caller))
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
        let caller = match authenticate(parts, &iam).await {
            // The sender is not kept: no other extractor may take it for one with a factor.
            Err(problem) if problem.is_of(Kind::SecondFactorRequired) => {
                let token = verify(parts, &iam).await?;
                let caller = iam.authenticate_without_factor(&token, context_of(parts)).await?;
                note(parts, &caller);
                caller
            }
            authenticated => authenticated?,
        };
        RequestState::check(&parts.extensions)?;
        Ok(Self(caller))
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

/// Returns the bearer token that the request carries, valid or not. `None` for several `Authorization` fields: a proxy
/// in front may have checked another one.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut fields = headers.get_all(header::AUTHORIZATION).iter();
    let field = fields.next().filter(|_| fields.next().is_none())?;
    let (scheme, token) = field.to_str().ok()?.split_once(' ')?;
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

/// Fails unless a tenant in the path is that of the caller: for a caller, others do not exist.
pub(crate) fn own_tenant(caller: &Caller, tenant: TenantId) -> Result<(), Problem> {
    if caller.tenant() == tenant { Ok(()) } else { Err(Error::NotFound(ResourceType::TENANT).into()) }
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
        form(parts.uri.query().unwrap_or_default().as_bytes()).map(Self)
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

/// Reads a parameter that is true or false.
pub(crate) fn truth(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

/// A JSON body (`docs/http-api.md#bodies`): `application/json`, at most 256 KiB, no unknown fields where the type says
/// so.
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
/// A stranger is refused before the body is read, unless the request has an `Idempotency-Key`. The caller is that of the moment at which the whole body has
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
        let (caller, bytes) = call(request, state, |headers| is_of_type(headers, JSON)).await?;
        parse(&bytes).map(|body| Self(caller, body))
    }
}

/// As [`Call`], for an operation whose fields are all optional: a request without a body is one without fields.
pub(crate) struct CallWithOptionalBody<T>(pub(crate) Caller, pub(crate) T);

impl<S, T> FromRequest<S> for CallWithOptionalBody<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Default,
    Iam: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let is_json = is_of_type(request.headers(), JSON);
        let is_possible = |headers: &HeaderMap| is_json || is_of_no_type(headers);
        let (caller, bytes) = call(request, state, is_possible).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Self(caller, T::default()));
        }
        if !is_json {
            return Err(Problem::new(Kind::UnsupportedMediaType));
        }
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
        let (caller, bytes) = call(request, state, |headers| is_of_type(headers, FORM)).await?;
        form(&bytes).map(|body| Self(caller, body))
    }
}

/// The fields of a form that a page of this crate has sent.
pub(crate) struct Form<T>(pub(crate) T);

impl<S, T> FromRequest<S> for Form<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !is_of_type(request.headers(), FORM) {
            return Err(Problem::new(Kind::UnsupportedMediaType).detail("Send a form."));
        }
        form(&whole_body(request, state).await?).map(Self)
    }
}

/// Authenticates the sender of a request, and reads its body, whose type must be a possible one.
pub(crate) async fn call<S>(
    request: Request,
    state: &S,
    has_possible_type: impl FnOnce(&HeaderMap) -> bool,
) -> Result<(Caller, Bytes), Problem>
where
    S: Send + Sync,
    Iam: FromRef<S>,
{
    let (iam, (mut parts, body)) = (Iam::from_ref(state), request.into_parts());
    let caller = authenticate(&mut parts, &iam).await?;
    RequestState::check(&parts.extensions)?;
    if !has_possible_type(&parts.headers) {
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

/// Fails unless a body is empty, `null` or a JSON object without fields, as some clients always send one.
pub(crate) async fn require_no_fields(request: Request) -> Result<(), Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoFields {}

    let bytes = Bytes::from_request(request, &()).await.map_err(body_problem)?;
    if matches!(bytes.trim_ascii(), b"" | b"null") {
        return Ok(());
    }
    parse(&bytes).map(|NoFields {}| ())
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

impl SyncMiddleware for BodyDeadline {
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

pub(crate) const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// Whether a body is of a media type, and not encoded (RFC 9110 §8.4). It is of no type if it says so twice: a proxy in
/// front may have checked the other one.
pub(crate) fn is_of_type(headers: &HeaderMap, media_type: &str) -> bool {
    if is_encoded(headers) {
        return false;
    }
    let mut fields = headers.get_all(header::CONTENT_TYPE).iter();
    let field = fields.next().filter(|_| fields.next().is_none());
    let Some(content_type) = field.and_then(|field| field.to_str().ok()) else { return false };
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// Whether a request says nothing of the type of its body, which is not encoded.
pub(crate) fn is_of_no_type(headers: &HeaderMap) -> bool {
    !headers.contains_key(header::CONTENT_TYPE) && !is_encoded(headers)
}

fn is_encoded(headers: &HeaderMap) -> bool {
    let is_identity =
        |coding: &[u8]| coding.trim_ascii().is_empty() || coding.trim_ascii().eq_ignore_ascii_case(b"identity");
    let mut codings =
        headers.get_all(header::CONTENT_ENCODING).iter().flat_map(|field| field.as_bytes().split(|byte| *byte == b','));
    !codings.all(is_identity)
}

/// A whole number in a body. `7.0` and `7e0` are whole numbers for JSON Schema, too.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole<T>(pub(crate) T);

/// The integers that a body can have. A number beyond them becomes the nearest one, so that a service says which ones it
/// accepts.
pub(crate) trait Integer: Sized {
    const EXPECTED: &str;

    fn nearest(number: i128) -> Option<Self>;
}

impl Integer for u32 {
    const EXPECTED: &str = "a whole number that is not negative";

    fn nearest(number: i128) -> Option<Self> {
        (number >= 0).then(|| Self::try_from(number).unwrap_or(Self::MAX))
    }
}

impl Integer for u64 {
    const EXPECTED: &str = "a whole number that is not negative";

    fn nearest(number: i128) -> Option<Self> {
        (number >= 0).then(|| Self::try_from(number).unwrap_or(Self::MAX))
    }
}

impl Integer for i64 {
    const EXPECTED: &str = "a whole number";

    fn nearest(number: i128) -> Option<Self> {
        Some(Self::try_from(number).unwrap_or(if number < 0 { Self::MIN } else { Self::MAX }))
    }
}

impl<'de, T: Integer> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number<T>(PhantomData<T>);

        impl<T: Integer> Visitor<'_> for Number<T> {
            type Value = Whole<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(T::EXPECTED)
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Whole<T>, E> {
                let nearest = T::nearest(number.into()).map(Whole);
                nearest.ok_or_else(|| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Whole<T>, E> {
                let nearest = T::nearest(number.into()).map(Whole);
                nearest.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Whole<T>, E> {
                let whole = (number.fract() == 0.0).then_some(number as i128);
                let nearest = whole.and_then(T::nearest).map(Whole);
                nearest.ok_or_else(|| E::invalid_value(Unexpected::Float(number), &self))
            }
        }

        deserializer.deserialize_any(Number(PhantomData))
    }
}

/// How an error names the whole of a body or a query: the root of a JSONPath (RFC 9535).
pub(crate) const ROOT: &str = "$";

/// Parses a JSON object. An error names the invalid field.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    require_object(bytes)?;
    check_syntax(bytes)?;
    parse_fields(bytes)
}

/// Refuses JSON that is not an object. For a struct, serde would also accept an array, with one item for each field.
pub(crate) fn require_object(bytes: &[u8]) -> Result<(), Problem> {
    let is_object = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if is_object { Ok(()) } else { Err(of_the_whole("must be a JSON object")) }
}

/// Checks that a body is JSON, and that its names are names.
pub(crate) fn check_syntax(bytes: &[u8]) -> Result<(), Problem> {
    let malformed = |error| of_the_whole(&format!("is not valid JSON: {}", without_place(&error)));
    serde_json::from_slice::<IgnoredAny>(bytes).map_err(malformed)?;
    match iam_json::check(bytes) {
        Err(error) if error.is_data() => Err(of_the_whole(&format!("cannot be read: {}", without_place(&error)))),
        // The parser of the fields finds the same error, and names the field.
        Err(_) | Ok(()) => Ok(()),
    }
}

/// Parses an object of which the syntax is checked. An error names the invalid field.
pub(crate) fn parse_fields<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    deserialized(&mut serde_json::Deserializer::from_slice(bytes), without_place)
}

/// Parses the fields of a form or a query. An error names the invalid field.
fn form<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    deserialized(serde_html_form::Deserializer::from_bytes(bytes), ToString::to_string)
}

/// The error of a whole body, such as `must be a JSON object`.
pub(crate) fn of_the_whole(message: &str) -> Problem {
    Problem::invalid_field(ROOT, message).detail(format!("The request {message}."))
}

/// Deserializes a value. An error names the invalid field.
pub(crate) fn deserialized<'de, T, D>(deserializer: D, text: impl FnOnce(&D::Error) -> String) -> Result<T, Problem>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    serde_path_to_error::deserialize(deserializer)
        .map_err(|error| fault(&error.path().to_string(), &text(error.inner())))
}

/// Returns an error's message without line and column.
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    error.to_string().split(" at line ").next().unwrap_or_default().to_owned()
}

/// Describes the error without repeating the value, which may be a secret in the wrong field, and without the names of
/// this program's types.
fn fault(path: &str, message: &str) -> Problem {
    // serde's path ends at the object that holds the field, or at the field.
    let named = |start: &str| {
        let name = message.strip_prefix(start)?.split('`').next()?;
        let is_whole = path == name || path.strip_suffix(name).is_some_and(|object| object.ends_with('.'));
        Some(match path {
            "." => name.to_owned(),
            path if is_whole => path.to_owned(),
            path => format!("{path}.{name}"),
        })
    };
    for (start, message) in
        [("unknown field `", "is not a known field"), ("missing field `", "is required"), ("duplicate field `", TWICE)]
    {
        if let Some(field) = named(start) {
            return Problem::invalid_field(field, message);
        }
    }
    // What `serde_html_form` says of several values for a field that has one.
    if message == "unsupported value" {
        return Problem::invalid_field(path, TWICE);
    }
    // The words that a text can be.
    if message.starts_with("must be one of ") {
        return Problem::invalid_field(path, message);
    }
    let message = message.rsplit_once(", expected ").and_then(|(_, expected)| expectation(expected));
    let message = message.map_or_else(|| "is not valid".to_owned(), |expected| format!("must be {expected}"));
    if path == "." { of_the_whole(&message) } else { Problem::invalid_field(path, message) }
}

/// The error of a field or a parameter that a request has twice.
pub(crate) const TWICE: &str = "must be given once";

/// Returns the words of an API for the expectation of a deserializer.
fn expectation(expected: &str) -> Option<String> {
    let words = match expected {
        "a string" | "a boolean" => expected,
        "a sequence" => "an array",
        "a map" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        "f64" | "f32" => "a number",
        "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "usize" | "isize" => "a whole number in range",
        _ if expected.starts_with("a whole number") || expected.starts_with("a time ") => expected,
        _ if expected.starts_with('`') || expected.starts_with("one of `") => return Some(expected.replace('`', "")),
        _ => return None,
    };
    Some(words.to_owned())
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

    #[test]
    fn an_integer_may_be_written_with_a_fraction_of_zero_or_an_exponent() {
        let parsed = |text: &str| serde_json::from_str::<Whole<u32>>(text).ok().map(|Whole(number)| number);
        for (text, number) in [
            ("7", Some(7)),
            ("7.0", Some(7)),
            ("7e0", Some(7)),
            ("0.7e1", Some(7)),
            ("-0.0", Some(0)),
            ("1e30", Some(u32::MAX)),
            ("7.5", None),
            ("-7", None),
            ("-7.0", None),
            ("\"7\"", None),
            ("null", None),
        ] {
            assert_eq!(parsed(text), number, "{text}");
        }
        let signed: Whole<i64> = serde_json::from_str("-7.0").unwrap();
        assert_eq!(signed.0, -7);
        let large: Whole<u64> = serde_json::from_str("18446744073709551615").unwrap();
        assert_eq!(large.0, u64::MAX);
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
            (r#"{"inner": [5]}"#, "inner[0]"),
            (r#"{"inner": {}}"#, "inner"),
            (r#"{"name": "x", "name": "y"}"#, "name"),
            (r#"{"inner": [{"number": 1, "number": 2}]}"#, "inner[0].number"),
            (r#"{"inner": [{"ber": 1, "number": 2}]}"#, "inner[0].ber"),
            (r#"{"name": "x""#, "$"),
            ("", "$"),
            ("[1]", "$"),
            (r#"["x", null]"#, "$"),
            (r#"{"name": "x"} trailing"#, "$"),
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
