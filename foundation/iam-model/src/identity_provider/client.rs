use std::fmt;

use async_trait::async_trait;
use url::Url;

use crate::webhook::{AddressPolicy, SendError};

/// A request to a provider.
#[non_exhaustive]
pub enum ProviderRequest {
    /// For a document.
    Get(Url),
    /// For a document that only the holder of a token gets.
    GetAuthorized {
        /// Where it goes.
        url: Url,
        /// The header `Authorization`.
        authorization: String,
    },
    /// With a form, which may have secrets.
    Post {
        /// Where it goes.
        url: Url,
        /// The header `Authorization`, if it has one.
        authorization: Option<String>,
        /// The form, as `application/x-www-form-urlencoded`.
        form: String,
    },
}

/// Shows where the request goes.
impl fmt::Debug for ProviderRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Get(url) | Self::GetAuthorized { url, .. } | Self::Post { url, .. }) = self;
        f.debug_struct("ProviderRequest").field("url", &url.as_str()).finish_non_exhaustive()
    }
}

/// The answer of a provider.
pub struct ProviderAnswer {
    /// The status code.
    pub status: u16,
    /// The body, of at most 256 KiB.
    pub body: Vec<u8>,
}

/// The error of a request without a whole answer. It is shown to the administrators of the tenant, so it tells nothing
/// about the network of the service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// There was no answer.
    #[error("{}", unanswered(.0))]
    NoAnswer(SendError),
    /// The answer has more than 256 KiB.
    #[error("the answer is longer than 256 KiB")]
    TooLong,
}

/// The text of an error without an answer. A provider has another time for its answer than a receiver of webhooks.
fn unanswered(error: &SendError) -> String {
    match error {
        SendError::TimedOut => "no answer within 10 seconds".to_owned(),
        other => other.to_string(),
    }
}

/// Sends requests to providers. `iam-server` has one.
///
/// It must not reach addresses beyond its [`AddressPolicy`], must not follow redirects, and must send nothing but the
/// request. It should wait for an answer for 10 seconds, and reads 256 KiB of it at most.
#[async_trait]
pub trait ProviderClient: Send + Sync + 'static {
    /// The addresses that it may reach.
    fn address_policy(&self) -> AddressPolicy;

    /// Sends a request, and returns the answer, whatever its status code.
    ///
    /// # Errors
    ///
    /// [`FetchError`] without a whole answer.
    async fn send(&self, request: ProviderRequest) -> Result<ProviderAnswer, FetchError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_provider_is_not_that_of_a_webhook() {
        for (error, expected) in [
            (FetchError::NoAnswer(SendError::TimedOut), "no answer within 10 seconds"),
            (FetchError::NoAnswer(SendError::Unreachable), "no connection could be made"),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }
}
