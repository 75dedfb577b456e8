//! Problem documents (RFC 9457): why the service refuses a request.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::value::Secret;

macro_rules! codes {
    ($(#[doc = $meaning:literal] $name:ident = $text:literal, $status:literal, $title:literal;)+) => {
        /// The kind of a problem: the last part of its `type`.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = $meaning] $name,)+
            /// Another kind, of a later version of the service. Use the status.
            Other(String),
        }

        impl Code {
            /// The kind as text, for example `not-found`.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// The usual status of the kind.
            pub(crate) const fn status(&self) -> u16 {
                match self {
                    $(Self::$name => $status,)+
                    Self::Other(_) => 500,
                }
            }

            pub(crate) const fn title(&self) -> &'static str {
                match self {
                    $(Self::$name => $title,)+
                    Self::Other(_) => "Problem",
                }
            }

            fn named(text: &str) -> Self {
                match text {
                    $($text => Self::$name,)+
                    _ => Self::Other(text.to_owned()),
                }
            }
        }
    };
}

codes! {
    /// Fields of the input are invalid; each is named in `errors`.
    ValidationError = "validation-error", 400, "Validation Error";
    /// A rule forbids the requested change.
    Validation = "validation", 400, "Validation Error";
    /// The caller is not authenticated.
    Unauthorized = "unauthorized", 401, "Unauthorized";
    /// 401: the password is right, and the login needs a second factor. 403: the session needs one first.
    SecondFactorRequired = "second-factor-required", 401, "Second Factor Required";
    /// The session has authenticated too long ago, or by no factor although its user has one.
    InsufficientAuthentication = "insufficient-authentication", 401, "Insufficient Authentication";
    /// The user logs in by an identity provider alone.
    FederationRequired = "federation-required", 403, "Federation Required";
    /// The caller may not do this.
    Forbidden = "forbidden", 403, "Forbidden";
    /// Too many failed logins.
    AccountLocked = "account-locked", 403, "Account Locked";
    /// The resource does not exist, or the caller may not know of it.
    NotFound = "not-found", 404, "Not Found";
    /// The path does not have this method.
    MethodNotAllowed = "method-not-allowed", 405, "Method Not Allowed";
    /// The body took too long to arrive.
    RequestTimeout = "request-timeout", 408, "Request Timeout";
    /// The present state does not allow it.
    Conflict = "conflict", 409, "Conflict";
    /// A legal hold keeps what the request would destroy.
    LegalHold = "legal-hold", 409, "Legal Hold";
    /// Retention has removed it; `first_sequence` is the first event that is left.
    Gone = "gone", 410, "Gone";
    /// The resource has changed since the client read it.
    PreconditionFailed = "precondition-failed", 412, "Precondition Failed";
    /// The body is too large.
    PayloadTooLarge = "payload-too-large", 413, "Payload Too Large";
    /// The body is not JSON.
    UnsupportedMediaType = "unsupported-media-type", 415, "Unsupported Media Type";
    /// Another request was made under the same idempotency key.
    IdempotencyKeyReused = "idempotency-key-reused", 422, "Idempotency Key Reused";
    /// Too many requests.
    RateLimited = "rate-limited", 429, "Too Many Requests";
    /// A defect of the service. Its log has the details under the correlation id.
    Internal = "internal", 500, "Internal Server Error";
    /// Something that the service needs does not answer.
    Unavailable = "unavailable", 503, "Service Unavailable";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What is wrong with a field.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FieldError {
    /// The field as the request names it.
    pub field: String,
    /// What is wrong, or what would be right.
    pub message: String,
}

/// A problem document (RFC 9457).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Problem {
    /// The URI of the kind of problem. [`code`](Self::code) is its last part.
    #[serde(rename = "type")]
    pub type_uri: String,
    /// The kind in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened in this case, for people.
    #[serde(default)]
    pub detail: String,
    /// The path of the request.
    pub instance: Option<String>,
    /// Identifies the request in the logs of the service and in the audit log.
    pub correlation_id: Option<String>,
    /// The fields that the problem is about.
    #[serde(default)]
    pub errors: Vec<FieldError>,
    /// After how many seconds to try again.
    pub retry_after: Option<u64>,
    /// The number of the first event that is left, for [`Code::Gone`].
    pub first_sequence: Option<u64>,
    /// Continues the login, for [`Code::SecondFactorRequired`] with the status 401.
    pub challenge: Option<Secret>,
    /// How the user can finish the login: `totp`, `passkey`, `recovery-code`, and later perhaps more.
    #[serde(default)]
    pub methods: Vec<String>,
    /// For how many seconds the challenge can be answered.
    pub expires_in: Option<u64>,
    /// All other members, such as the `tenants` of a login.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
    /// Whether the token of the request is not accepted (RFC 6750).
    #[serde(skip)]
    pub(crate) token_refused: bool,
}

impl Problem {
    /// Creates a problem with the usual status of its kind, for a service that answers as this one does. Its `type` is
    /// `https://iam.invalid/problems/` with the kind: the name `invalid` is reserved, and leads nowhere.
    pub fn new(code: &Code, detail: impl Into<String>) -> Self {
        Self {
            type_uri: format!("https://iam.invalid/problems/{code}"),
            title: code.title().to_owned(),
            status: code.status(),
            detail: detail.into(),
            instance: None,
            correlation_id: None,
            errors: Vec::new(),
            retry_after: None,
            first_sequence: None,
            challenge: None,
            methods: Vec::new(),
            expires_in: None,
            extra: Map::new(),
            token_refused: false,
        }
    }

    /// The kind of the problem.
    pub fn code(&self) -> Code {
        Code::named(self.type_uri.rsplit('/').next().unwrap_or_default())
    }

    /// The error of a field, by the name that the request has for it.
    pub fn field(&self, name: &str) -> Option<&FieldError> {
        self.errors.iter().find(|error| error.field == name)
    }

    /// How long to wait before the next try, if the service says so.
    pub fn wait(&self) -> Option<Duration> {
        self.retry_after.map(Duration::from_secs)
    }

    /// Whether a [step-up](crate::Builder::on_step_up) can help.
    pub fn asks_for_step_up(&self) -> bool {
        match self.code() {
            Code::InsufficientAuthentication => true,
            // With 401, it is the first half of a login.
            Code::SecondFactorRequired => self.status == 403,
            _ => false,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}: {}", self.status, self.code(), self.detail)?;
        for FieldError { field, message } in &self.errors {
            write!(formatter, " {field} {message}.")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
