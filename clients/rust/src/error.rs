//! The ways in which a call fails.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::problem::{Code, Problem};

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. No text of an error has a token or a password in it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refuses the request, and says why.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// No answer arrived, or only a part of it.
    #[error("no answer from the service: {0}")]
    Transport(#[source] TransportError),
    /// The answer is not one of the service: a proxy in between may have sent it.
    #[error("status {status}: {reason}")]
    Answer {
        /// The HTTP status.
        status: u16,
        /// What is wrong with the answer.
        reason: String,
        /// How long to wait before the next try, if the answer says so.
        retry_after: Option<Duration>,
    },
    /// The request cannot be sent, because the URL, a header or the body is invalid.
    #[error("the request is invalid: {0}")]
    Request(String),
    /// The client has no refresh token: it has not logged in, or its session has ended.
    #[error("there is no session: log in")]
    NoSession,
}

impl Error {
    /// The problem document, if the service sent one.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Problem(problem) => Some(problem),
            _ => None,
        }
    }

    /// The kind of the problem, if the service sent one.
    pub fn code(&self) -> Option<Code> {
        self.problem().map(Problem::code)
    }

    /// Whether the same request may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Problem(problem) => is_temporary(problem.status) || self.is_still_running(),
            Self::Answer { status, .. } => is_temporary(*status),
            Self::Transport(_) => true,
            Self::Request(_) | Self::NoSession => false,
        }
    }

    /// Whether the service refuses the request only because an earlier one goes on.
    pub(crate) fn is_still_running(&self) -> bool {
        self.problem().is_some_and(|problem| problem.status == 409 && problem.retry_after.is_some())
    }

    /// Whether the request had no effect for certain, although it may succeed later.
    pub(crate) fn is_without_effect(&self) -> bool {
        match self {
            Self::Problem(problem) => problem.status == 429,
            Self::Answer { status, .. } => *status == 429,
            Self::Transport(error) => error.0.is_connect(),
            Self::Request(_) | Self::NoSession => false,
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Problem(problem) => problem.wait(),
            Self::Answer { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

const fn is_temporary(status: u16) -> bool {
    matches!(status, 429 | 500 | 502 | 503 | 504)
}

/// A failure of the connection, without the URL of the request.
#[derive(Clone)]
pub struct TransportError(pub(crate) Arc<reqwest::Error>);

impl TransportError {
    /// Whether the time for the request was over.
    pub fn is_timeout(&self) -> bool {
        self.0.is_timeout()
    }

    /// Whether no connection was made, so that the service has not seen the request.
    pub fn is_connect(&self) -> bool {
        self.0.is_connect()
    }
}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Self {
        // The query of a URL may have an e-mail in it.
        Self::Transport(TransportError(Arc::new(error.without_url())))
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = std::iter::successors(std::error::Error::source(&*self.0), |error| error.source());
        write!(formatter, "{}", self.0)?;
        causes.into_iter().try_for_each(|cause| write!(formatter, ": {cause}"))
    }
}

impl fmt::Debug for TransportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TransportError({self})")
    }
}

impl std::error::Error for TransportError {}
