use serde_json::{Value, json};
use thiserror::Error;

use crate::urn;

/// Why a request is refused (RFC 7644, section 3.12).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{detail}")]
pub struct ScimError {
    /// The status code of HTTP.
    pub status: u16,
    /// The kind of the error, if it has one.
    pub scim_type: Option<ScimType>,
    /// A text for people. It names attributes, and never a value of a person.
    pub detail: String,
}

/// The kinds of errors (RFC 7644, section 3.12, table 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScimType {
    /// The filter has an error, or an attribute by which nothing is found.
    InvalidFilter,
    /// There are more results than the service returns.
    TooMany,
    /// The value of an attribute is taken.
    Uniqueness,
    /// The attribute cannot be changed.
    Mutability,
    /// The body has an error.
    InvalidSyntax,
    /// The path has an error.
    InvalidPath,
    /// The path names nothing that can be changed.
    NoTarget,
    /// A required value is missing, or a value cannot be used.
    InvalidValue,
    /// The version of the protocol is unknown.
    InvalidVers,
    /// The request would have personal data in its URL.
    Sensitive,
}

impl ScimType {
    /// Returns the word of the protocol.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidFilter => "invalidFilter",
            Self::TooMany => "tooMany",
            Self::Uniqueness => "uniqueness",
            Self::Mutability => "mutability",
            Self::InvalidSyntax => "invalidSyntax",
            Self::InvalidPath => "invalidPath",
            Self::NoTarget => "noTarget",
            Self::InvalidValue => "invalidValue",
            Self::InvalidVers => "invalidVers",
            Self::Sensitive => "sensitive",
        }
    }
}

impl ScimError {
    /// Returns an error with a status code.
    #[must_use]
    pub fn new(status: u16, scim_type: Option<ScimType>, detail: impl Into<String>) -> Self {
        Self { status, scim_type, detail: detail.into() }
    }

    /// Returns the error 400 of a kind.
    #[must_use]
    pub fn bad_request(scim_type: ScimType, detail: impl Into<String>) -> Self {
        Self::new(400, Some(scim_type), detail)
    }

    /// Returns the body of the answer. Its status is a text, as the standard wants.
    #[must_use]
    pub fn body(&self) -> Value {
        let mut body = json!({
            "schemas": [urn::ERROR],
            "status": self.status.to_string(),
            "detail": self.detail,
        });
        if let (Some(scim_type), Some(members)) = (self.scim_type, body.as_object_mut()) {
            members.insert("scimType".to_owned(), scim_type.as_str().into());
        }
        body
    }

    pub(crate) fn invalid_value(detail: impl Into<String>) -> Self {
        Self::bad_request(ScimType::InvalidValue, detail)
    }

    pub(crate) fn invalid_syntax(detail: impl Into<String>) -> Self {
        Self::bad_request(ScimType::InvalidSyntax, detail)
    }

    pub(crate) fn invalid_path(detail: impl Into<String>) -> Self {
        Self::bad_request(ScimType::InvalidPath, detail)
    }

    pub(crate) fn invalid_filter(detail: impl Into<String>) -> Self {
        Self::bad_request(ScimType::InvalidFilter, detail)
    }

    pub(crate) fn no_target(detail: impl Into<String>) -> Self {
        Self::bad_request(ScimType::NoTarget, detail)
    }

    pub(crate) fn read_only(attribute: &str) -> Self {
        Self::bad_request(ScimType::Mutability, format!("{attribute} cannot be changed"))
    }
}
