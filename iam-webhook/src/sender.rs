use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, USER_AGENT};
use iam_http_client::{Certificates, Client, InvalidCertificates, Limits, RequestError};
use iam_model::webhook::{AddressPolicy, SendError, WebhookRequest, WebhookSender};
use url::Url;

/// Sends requests over HTTP/1.1, to addresses that its [`AddressPolicy`] allows.
///
/// A request without an answer ends after 15 seconds ([`SendError::TimedOut`]).
pub struct HttpSender {
    policy: AddressPolicy,
    client: Client,
}

pub(crate) const LIMITS: Limits = Limits {
    total: Duration::from_secs(15),
    body: Duration::from_secs(1),
    idle: Duration::from_secs(30),
    bytes: 16 * 1_024,
};

const AGENT: &str = concat!("iam-webhook/", env!("CARGO_PKG_VERSION"));

impl HttpSender {
    /// Returns a sender that trusts the certification authorities of the platform. On Linux, the variables
    /// `SSL_CERT_FILE` and `SSL_CERT_DIR` can name others.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if the platform has none.
    pub fn new(policy: AddressPolicy) -> Result<Self, InvalidCertificates> {
        Self::build(policy, Certificates::of_platform()?, LIMITS)
    }

    /// Returns a sender that also trusts the certificates of a text in PEM, for example of a private authority.
    ///
    /// # Errors
    ///
    /// [`InvalidCertificates`] if the text has none, or one that is not valid.
    pub fn with_certificates(policy: AddressPolicy, pem: &[u8]) -> Result<Self, InvalidCertificates> {
        Self::build(policy, Certificates::of_platform_and(pem)?, LIMITS)
    }

    pub(crate) fn build(
        policy: AddressPolicy,
        trusted: Certificates,
        limits: Limits,
    ) -> Result<Self, InvalidCertificates> {
        Ok(Self { policy, client: Client::new(policy, trusted, limits)? })
    }
}

#[async_trait]
impl WebhookSender for HttpSender {
    fn address_policy(&self) -> AddressPolicy {
        self.policy
    }

    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError> {
        // The URL may be older than the setting.
        request.url.check(self.policy).map_err(|_| SendError::NotPublic)?;
        let request = to_http(request).ok_or(SendError::Unreachable)?;
        // The body is not used, so its error is of no interest.
        let answer = self.client.send(request).await.map_err(failure)?;
        Ok(answer.status().as_u16())
    }
}

impl fmt::Debug for HttpSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSender").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// Returns the request as one of HTTP. `None` if the URL or a header cannot be written, which no request of `iam-core`
/// can cause.
pub(crate) fn to_http(request: WebhookRequest) -> Option<Request<Bytes>> {
    let url = Url::parse(request.url.as_str()).ok()?;
    Request::post(url.as_str())
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, AGENT)
        .header("webhook-id", request.id)
        .header("webhook-timestamp", request.timestamp)
        .header("webhook-signature", request.signature)
        .body(request.body.into())
        .ok()
}

fn failure(error: RequestError) -> SendError {
    match error {
        RequestError::Unresolved => SendError::Unresolved,
        RequestError::NotAllowed => SendError::NotPublic,
        RequestError::Unreachable => SendError::Unreachable,
        RequestError::Tls => SendError::Tls,
        RequestError::Interrupted | RequestError::TooLong => SendError::Interrupted,
        RequestError::TimedOut => SendError::TimedOut,
    }
}
