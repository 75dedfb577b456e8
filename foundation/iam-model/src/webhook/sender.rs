use async_trait::async_trait;

use crate::webhook::{AddressPolicy, WebhookUrl};

/// A request to a receiver of a webhook, by Standard Webhooks 1.0.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WebhookRequest {
    /// Where it goes.
    pub url: WebhookUrl,
    /// The header `webhook-id`: the same for each attempt to deliver one event.
    pub id: String,
    /// The header `webhook-timestamp`: when it is sent, in seconds since 1970.
    pub timestamp: i64,
    /// The header `webhook-signature`.
    pub signature: String,
    /// The body, which is JSON.
    pub body: Vec<u8>,
}

impl WebhookRequest {
    /// Returns a request.
    #[must_use]
    pub fn new(url: WebhookUrl, id: String, timestamp: i64, signature: String, body: Vec<u8>) -> Self {
        Self { url, id, timestamp, signature, body }
    }
}

/// The error of a request without an answer. It is shown to the administrators of the tenant, so it tells nothing about
/// the network of the service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The host does not exist, or its address cannot be found at the moment.
    #[error("the host leads to no public address")]
    Unresolved,
    /// The host has no address that webhooks may reach. Its text is that of [`Unresolved`](Self::Unresolved), so that
    /// no tenant learns which names exist in the network of the service.
    #[error("the host leads to no public address")]
    NotPublic,
    /// No connection could be made.
    #[error("no connection could be made")]
    Unreachable,
    /// The receiver has no valid certificate, or does not speak TLS.
    #[error("no secure connection could be made")]
    Tls,
    /// The connection ended without an answer, or the answer is not one of HTTP.
    #[error("the connection ended without an answer")]
    Interrupted,
    /// There was no answer in time.
    #[error("no answer within 15 seconds")]
    TimedOut,
}

/// Sends requests to receivers of webhooks. `iam-webhook` has one.
///
/// It must not reach addresses beyond its [`AddressPolicy`], must not follow redirects, and must not send more than the
/// request. It should wait for an answer for 15 seconds; the caller cancels a request after 16 seconds.
#[async_trait]
pub trait WebhookSender: Send + Sync + 'static {
    /// The addresses that it may reach.
    fn address_policy(&self) -> AddressPolicy;

    /// Sends a request, and returns the status code of the answer.
    ///
    /// # Errors
    ///
    /// [`SendError`] without an answer.
    async fn send(&self, request: WebhookRequest) -> Result<u16, SendError>;
}
