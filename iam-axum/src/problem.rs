//! Problem documents (RFC 9457): the one place where an error becomes an HTTP response.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use iam_core::factor::{AuthenticationMethod, PendingLogin};
use iam_core::{Conflict, Error, FieldError, Forbidden, StoreError, Unauthenticated};
use iam_scim::{ScimError, ScimType};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// The base of the `type` of problems, if the settings name no other.
pub(crate) const DEFAULT_TYPE_BASE: &str = "https://iam.invalid/problems";

/// The media type of what directories send and read (RFC 7644, section 8.1).
pub(crate) const SCIM_JSON: &str = "application/scim+json";

/// An error as a client sees it.
///
/// A layer around the routes fills in `instance`, `correlationId` and the base of `type`, because it knows the
/// request.
#[derive(Clone, Debug)]
pub struct Problem {
    kind: Kind,
    status: StatusCode,
    detail: String,
    errors: Vec<FieldError>,
    next: Option<Next>,
    challenge: Option<Challenge>,
    /// What it is called in the answer to a directory.
    scim_type: Option<ScimType>,
    extra: Map<String, Value>,
}

/// How the client can go on.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// Try again after this number of seconds.
    RetryAfter(u64),
    /// Continue at the event with this number.
    Event(u64),
}

/// How to authenticate.
#[derive(Clone, Debug)]
enum Challenge {
    /// The value of `WWW-Authenticate` (RFC 6750 §3).
    Header(Cow<'static, str>),
    /// A second factor finishes this login.
    SecondFactor(Box<PendingLogin>),
}

impl Challenge {
    fn of(reason: Unauthenticated) -> Self {
        Self::Header(match reason {
            Unauthenticated::InvalidToken | Unauthenticated::ExpiredToken | Unauthenticated::ApiKey => {
                r#"Bearer error="invalid_token""#.into()
            }
            // RFC 9470 §3.
            Unauthenticated::NotFresh { max_age } | Unauthenticated::ByEmail { max_age } => {
                let seconds = max_age.as_secs();
                format!(r#"Bearer error="insufficient_user_authentication", max_age="{seconds}""#).into()
            }
            _ => "Bearer".into(),
        })
    }
}

macro_rules! kinds {
    ($(#[doc = $meaning:literal] $name:ident = $text:literal, $title:literal, $status:ident, $detail:literal;)+) => {
        /// The kinds of problems (`docs/http-api.md#problems`); the last part of a problem's `type`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Kind {
            $(#[doc = $meaning] $name,)+
        }

        impl Kind {
            /// The last part of the `type`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }

            /// Returns the kind with this name.
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$name),)+
                    _ => None,
                }
            }

            /// The documentation of the kind.
            pub(crate) fn meaning(self) -> &'static str {
                match self {
                    $(Self::$name => $meaning.trim(),)+
                }
            }

            pub(crate) const fn title(self) -> &'static str {
                match self {
                    $(Self::$name => $title,)+
                }
            }

            pub(crate) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)+
                }
            }

            const fn detail(self) -> &'static str {
                match self {
                    $(Self::$name => $detail,)+
                }
            }
        }
    };
}

kinds! {
    /// Fields of the input are invalid; each is named in `errors`.
    ValidationError = "validation-error", "Validation Error", BAD_REQUEST, "The request is invalid.";
    /// A rule forbids the requested change.
    Validation = "validation", "Validation Error", BAD_REQUEST, "A rule does not allow this.";
    /// The caller is not authenticated.
    Unauthorized = "unauthorized", "Unauthorized", UNAUTHORIZED, "Authentication is required.";
    /// 401: the password is right, and the login needs a second factor. 403: the caller must set up a factor first.
    SecondFactorRequired = "second-factor-required", "Second Factor Required", UNAUTHORIZED, "A second factor is required.";
    /// The session has authenticated too long ago for this operation; see `POST /auth/step-up`.
    InsufficientAuthentication = "insufficient-authentication", "Insufficient Authentication", UNAUTHORIZED, "Authenticate again.";
    /// The password is right, and the user logs in by one of the identity providers in `providers` alone.
    FederationRequired = "federation-required", "Federation Required", FORBIDDEN, "Log in by an identity provider.";
    /// The caller may not do this.
    Forbidden = "forbidden", "Forbidden", FORBIDDEN, "You may not do this.";
    /// Too many failed logins.
    AccountLocked = "account-locked", "Account Locked", FORBIDDEN, "The account is temporarily locked.";
    /// The resource does not exist, or the caller may not know that it exists.
    NotFound = "not-found", "Not Found", NOT_FOUND, "There is no such resource.";
    /// The present state does not allow it.
    Conflict = "conflict", "Conflict", CONFLICT, "The present state does not allow this.";
    /// A legal hold keeps what this would destroy; `legalHoldId` names it.
    LegalHold = "legal-hold", "Legal Hold", CONFLICT, "A legal hold keeps this data.";
    /// Retention has removed it; `firstSequence` is the number of the first event that is left.
    Gone = "gone", "Gone", GONE, "It was removed.";
    /// The resource has changed since the client read it.
    PreconditionFailed = "precondition-failed", "Precondition Failed", PRECONDITION_FAILED, "The resource has changed since it was read.";
    /// The body took too long to arrive.
    RequestTimeout = "request-timeout", "Request Timeout", REQUEST_TIMEOUT, "The request body took too long to arrive.";
    /// Another request was made under the same idempotency key.
    IdempotencyKeyReused = "idempotency-key-reused", "Idempotency Key Reused", UNPROCESSABLE_ENTITY, "The Idempotency-Key was used for another request.";
    /// The body is too large.
    PayloadTooLarge = "payload-too-large", "Payload Too Large", PAYLOAD_TOO_LARGE, "The request body may have 256 KiB at most.";
    /// The body is not JSON.
    UnsupportedMediaType = "unsupported-media-type", "Unsupported Media Type", UNSUPPORTED_MEDIA_TYPE, "Send a body as application/json.";
    /// The path does not have this method.
    MethodNotAllowed = "method-not-allowed", "Method Not Allowed", METHOD_NOT_ALLOWED, "This path does not allow this method; see the Allow header.";
    /// Too many requests.
    RateLimited = "rate-limited", "Too Many Requests", TOO_MANY_REQUESTS, "Too many requests.";
    /// A defect. The log has the details.
    Internal = "internal", "Internal Server Error", INTERNAL_SERVER_ERROR, "An internal error occurred.";
    /// Something that the service needs does not answer.
    Unavailable = "unavailable", "Service Unavailable", SERVICE_UNAVAILABLE, "The service is temporarily unavailable.";
}

impl Problem {
    /// Creates a problem with the usual status and detail of its kind.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            status: kind.status(),
            detail: kind.detail().to_owned(),
            errors: Vec::new(),
            next: None,
            challenge: None,
            scim_type: None,
            extra: Map::new(),
        }
    }

    /// The problem of a request of a directory.
    pub(crate) fn of_scim(error: ScimError) -> Self {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
        Self { detail: error.detail, scim_type: error.scim_type, ..Self::from_status(status) }
    }

    /// Sets the text that explains the problem to the client.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    /// Adds a member beyond those that every problem has.
    #[must_use]
    pub fn with(mut self, member: &str, value: Value) -> Self {
        self.extra.insert(member.to_owned(), value);
        self
    }

    /// No route has the path, or none for this client.
    pub(crate) fn nothing_here() -> Self {
        Self::new(Kind::NotFound).detail("There is nothing at this path.")
    }

    /// Something does not answer. A second attempt after a moment may succeed.
    pub(crate) fn unavailable() -> Self {
        Self { next: Some(Next::RetryAfter(1)), ..Self::new(Kind::Unavailable) }
    }

    /// The tenant requires a second factor, and the caller has none.
    pub(crate) fn second_factor_missing() -> Self {
        Self { status: StatusCode::FORBIDDEN, ..Self::new(Kind::SecondFactorRequired) }
    }

    /// Too many requests. After this number of seconds, another request is answered.
    pub(crate) fn rate_limited(seconds: u64) -> Self {
        let detail = format!("Too many requests. Try again in {seconds} seconds.");
        Self { next: Some(Next::RetryAfter(seconds)), detail, ..Self::new(Kind::RateLimited) }
    }

    /// Invalid fields.
    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        Self { detail: Error::Validation(errors.clone()).to_string(), errors, ..Self::new(Kind::ValidationError) }
    }

    /// One invalid field.
    pub(crate) fn invalid_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError::new(field, message)])
    }

    /// Returns the first invalid field, if one is named.
    pub(crate) fn first_field(&self) -> Option<&FieldError> {
        self.errors.first()
    }

    pub(crate) fn is_of(&self, kind: Kind) -> bool {
        self.kind == kind
    }

    /// Whether the cause is the request, and not the service.
    pub(crate) fn is_of_the_client(&self) -> bool {
        self.status.is_client_error()
    }

    /// Returns the problem for an error response that other code made, such as a library.
    pub(crate) fn from_status(status: StatusCode) -> Self {
        let kind = match status {
            StatusCode::UNAUTHORIZED => Kind::Unauthorized,
            StatusCode::FORBIDDEN => Kind::Forbidden,
            StatusCode::NOT_FOUND => Kind::NotFound,
            StatusCode::METHOD_NOT_ALLOWED => Kind::MethodNotAllowed,
            StatusCode::CONFLICT => Kind::Conflict,
            StatusCode::PAYLOAD_TOO_LARGE => Kind::PayloadTooLarge,
            StatusCode::REQUEST_TIMEOUT => Kind::RequestTimeout,
            StatusCode::TOO_MANY_REQUESTS => Kind::RateLimited,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Kind::UnsupportedMediaType,
            StatusCode::SERVICE_UNAVAILABLE => Kind::Unavailable,
            _ if status.is_client_error() => Kind::ValidationError,
            _ => Kind::Internal,
        };
        Self { status, ..Self::new(kind) }
    }

    /// Returns the response to a request with this path and this correlation id. The type of the problem begins with
    /// `type_base`.
    pub(crate) fn respond(&self, type_base: &str, request: Option<(&str, &str)>) -> Response<Body> {
        self.respond_with("application/problem+json", &self.document(type_base, request))
    }

    /// Returns the response to a request of a directory: the same, with the document that a directory reads (RFC 7644,
    /// section 3.12).
    pub(crate) fn respond_as_scim(&self) -> Response<Body> {
        let is_about_values = self.kind == Kind::ValidationError && self.status == StatusCode::BAD_REQUEST;
        let scim_type = self.scim_type.or(is_about_values.then_some(ScimType::InvalidValue));
        let error = ScimError::new(self.status.as_u16(), scim_type, self.detail.as_str());
        self.respond_with(SCIM_JSON, &error.body())
    }

    fn respond_with(&self, content_type: &'static str, document: &impl Serialize) -> Response<Body> {
        // A document of texts and numbers can always be written as JSON.
        let body = serde_json::to_vec(document).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        if let Some(seconds) = self.retry_after() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let challenge = self.challenge.as_ref().map(|challenge| match challenge {
            Challenge::Header(value) => value,
            Challenge::SecondFactor(_) => "Bearer",
        });
        if let Some(challenge) = challenge.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }

    fn retry_after(&self) -> Option<u64> {
        match self.next {
            Some(Next::RetryAfter(seconds)) => Some(seconds),
            _ => None,
        }
    }

    pub(crate) fn document(&self, type_base: &str, request: Option<(&str, &str)>) -> ProblemDocument {
        let base = type_base.trim_end_matches('/');
        let error =
            |error: &FieldError| FieldErrorDocument { field: error.field.clone(), message: error.message.clone() };
        let login = match &self.challenge {
            Some(Challenge::SecondFactor(login)) => Some(login),
            _ => None,
        };
        let is_about_fields = self.kind == Kind::ValidationError || !self.errors.is_empty();
        ProblemDocument {
            r#type: format!("{base}/{}", self.kind.as_str()),
            title: self.kind.title(),
            status: self.status.as_u16(),
            detail: self.detail.clone(),
            instance: request.map(|(path, _)| path.to_owned()),
            correlation_id: request.map(|(_, correlation_id)| correlation_id.to_owned()),
            errors: is_about_fields.then(|| self.errors.iter().map(error).collect()),
            retry_after: self.retry_after(),
            first_sequence: match self.next {
                Some(Next::Event(first)) => Some(first),
                _ => None,
            },
            challenge: login.map(|login| login.challenge.expose().to_owned()),
            methods: login.map(|login| login.methods.iter().map(|method| method.as_str()).collect()),
            expires_in: login.map(|login| login.expires_in.as_secs()),
            extra: self.extra.clone(),
        }
    }
}

/// The text that explains the problem to the client.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        let problem = match error {
            Error::Validation(errors) => return Self::invalid(errors),
            Error::About { field, error } => {
                let problem = Self::from(*error);
                // The errors of invalid fields already name these fields.
                let errors =
                    if problem.errors.is_empty() { vec![FieldError::new(field, detail)] } else { problem.errors };
                return Self { errors, ..problem };
            }
            Error::Rule(_) => Self::new(Kind::Validation),
            Error::SecondFactorRequired(pending) => {
                let challenge = Some(Challenge::SecondFactor(pending.into()));
                Self { challenge, ..Self::new(Kind::SecondFactorRequired) }
            }
            Error::Unauthenticated(reason @ (Unauthenticated::NotFresh { .. } | Unauthenticated::ByEmail { .. })) => {
                Self { challenge: Some(Challenge::of(reason)), ..Self::new(Kind::InsufficientAuthentication) }
            }
            Error::Unauthenticated(reason) => {
                Self { challenge: Some(Challenge::of(reason)), ..Self::new(Kind::Unauthorized) }
            }
            // Here the status tells that the login is complete.
            Error::Forbidden(Forbidden::SecondFactorRequired) => Self::second_factor_missing(),
            Error::Forbidden(_) => Self::new(Kind::Forbidden),
            Error::AccountLocked { retry_after } => {
                Self { next: Some(Next::RetryAfter(retry_after.as_secs())), ..Self::new(Kind::AccountLocked) }
            }
            Error::Overloaded { retry_after } => {
                Self { next: Some(Next::RetryAfter(retry_after.as_secs())), ..Self::new(Kind::Unavailable) }
            }
            // An estimate: a stream ends when its client closes it, and a long poll within half a minute.
            Error::TooManyStreams(_) | Error::TooManyExports => {
                Self { next: Some(Next::RetryAfter(10)), ..Self::new(Kind::RateLimited) }
            }
            Error::MailOff
            | Error::PasskeysOff
            | Error::WebhooksOff
            | Error::ProviderUnavailable
            | Error::ResolverOff
            | Error::FederationOff => Self::new(Kind::Unavailable),
            Error::NotFound(_) => Self::new(Kind::NotFound),
            Error::Conflict(Conflict::SeveralTenants(tenants)) => {
                let tenant = |tenant: &iam_core::tenant::TenantSummary| json!({ "id": tenant.id, "slug": tenant.slug.as_str(), "name": tenant.name.as_str() });
                Self::new(Kind::Conflict).with("tenants", tenants.iter().map(tenant).collect())
            }
            Error::Conflict(Conflict::LegalHold(id)) => Self::new(Kind::LegalHold).with("legalHoldId", json!(id)),
            Error::FederationRequired(logins) => {
                let shown = |login: &iam_core::federation::FederatedLogin| {
                    let tenant = json!({ "slug": login.tenant.slug.as_str(), "name": login.tenant.name.as_str() });
                    json!({ "id": login.id, "name": login.name.as_str(), "tenant": tenant })
                };
                Self::new(Kind::FederationRequired).with("providers", logins.iter().map(shown).collect())
            }
            Error::PreconditionFailed => Self::new(Kind::PreconditionFailed),
            Error::EventsRemoved { first } => Self { next: Some(Next::Event(first)), ..Self::new(Kind::Gone) },
            Error::IdempotencyKeyReused => Self::new(Kind::IdempotencyKeyReused),
            Error::Conflict(Conflict::NotSequenced | Conflict::StillRunning) => {
                Self { next: Some(Next::RetryAfter(1)), ..Self::new(Kind::Conflict) }
            }
            Error::Conflict(_) => Self::new(Kind::Conflict),
            Error::Store(StoreError::Unavailable(cause)) => {
                tracing::error!(error = %chain(&*cause), "the store is unavailable");
                Self::unavailable()
            }
            other => {
                tracing::error!(error = %chain(&other), "internal error");
                Self::new(Kind::Internal)
            }
        };
        problem.detail(detail)
    }
}

/// A problem of a kind with a status, for the documentation.
pub(crate) fn example(kind: Kind, status: StatusCode, type_base: &str) -> Value {
    let problem = match kind {
        Kind::SecondFactorRequired if status == StatusCode::FORBIDDEN => Problem::second_factor_missing(),
        Kind::SecondFactorRequired => {
            let methods = vec![AuthenticationMethod::Totp, AuthenticationMethod::RecoveryCode];
            let login = PendingLogin::new("iamc_AZux…".into(), methods, Duration::from_secs(300));
            Problem { challenge: Some(Challenge::SecondFactor(login.into())), ..Problem::new(kind) }
        }
        Kind::ValidationError => Problem::invalid_field("name", "must have 1 to 100 characters"),
        Kind::RateLimited => Problem::rate_limited(7),
        Kind::Gone => Problem { next: Some(Next::Event(1_001)), ..Problem::new(kind) },
        Kind::Unavailable => Problem::unavailable(),
        Kind::AccountLocked => Problem { next: Some(Next::RetryAfter(840)), ..Problem::new(kind) },
        kind => Problem::new(kind),
    };
    let request = ("/api/v1/organizations", "01a2107e-5c11-7000-8000-3f9a6e0b7c1d");
    // A document of texts and numbers can always be written as JSON.
    serde_json::to_value(problem.document(type_base, Some(request))).unwrap_or_default()
}

/// The text of an error with all its causes, for the log.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Returns the response in place of a panic. Only the log gets the message of the panic.
pub(crate) fn from_panic(panic: Box<dyn Any + Send>) -> Response<Body> {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("not a text"), "a handler panicked");
    Problem::new(Kind::Internal).into_response()
}

/// A problem document (RFC 9457).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub(crate) struct ProblemDocument {
    /// The URI of the kind of problem.
    #[schema(format = "uri", example = "https://iam.invalid/problems/conflict")]
    r#type: String,
    /// The kind in words.
    title: &'static str,
    /// The HTTP status code.
    #[schema(example = 409)]
    status: u16,
    /// What happened in this case.
    detail: String,
    /// The path of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required, nullable = false)]
    instance: Option<String>,
    /// Identifies the request in the log and in the audit log.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required, nullable = false)]
    correlation_id: Option<String>,
    /// The fields that the problem is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    errors: Option<Vec<FieldErrorDocument>>,
    /// After how many seconds to try again, for `account-locked`, `unavailable` and other problems that soon pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retry_after: Option<u64>,
    /// The number of the first event that is left, for `gone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 1_001)]
    first_sequence: Option<u64>,
    /// Continues the login, for `second-factor-required` with the status 401.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    challenge: Option<String>,
    /// How the user can finish the login, for `second-factor-required` with the status 401: `totp`, `passkey`,
    /// `recovery-code`, and later perhaps more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = json!(["totp", "recovery-code"]))]
    methods: Option<Vec<&'static str>>,
    /// For how many seconds the challenge can be answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 300)]
    expires_in: Option<u64>,
    #[serde(flatten)]
    #[schema(ignore)]
    extra: Map<String, Value>,
}

/// What is wrong with a field.
#[derive(Serialize, ToSchema)]
#[schema(as = FieldError)]
pub(crate) struct FieldErrorDocument {
    /// The field as the request names it.
    field: String,
    /// What is wrong, or what would be right.
    message: String,
}
