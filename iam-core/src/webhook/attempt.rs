use std::time::Duration;

use iam_model::audit::AuditEntry;
use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::webhook::{SendError, Webhook, WebhookRequest, WebhookSender};
use tokio::time::{Instant, timeout};

use crate::engine::Engine;
use crate::webhook::message::body;

/// The time limit for a request (`docs/integrating.md#a-program-is-told-what-happens`): 15 seconds for the answer of
/// the receiver, and one for the rest of its body, which decides nothing.
const LIMIT: Duration = Duration::from_secs(16);

/// The answer of a receiver to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookAnswer {
    /// The status code. `None` if there was no answer.
    pub http_status: Option<u16>,
    /// Why the receiver has not accepted the event. `None` if it has.
    pub error: Option<String>,
    /// When the request was sent.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u32,
}

impl WebhookAnswer {
    /// Whether the receiver wants no more events: the status 410, by Standard Webhooks 1.0.
    pub(super) fn is_gone(&self) -> bool {
        self.http_status == Some(410)
    }
}

impl Engine {
    /// Sends an entry to the receiver of a webhook.
    pub(super) async fn attempt(
        &self,
        sender: &dyn WebhookSender,
        webhook: &Webhook,
        entry: &AuditEntry,
    ) -> Result<WebhookAnswer> {
        let (started_at, started, id) = (self.now(), Instant::now(), entry.id.to_string());
        let body = body(webhook, entry)?;
        let signature = self.keys.webhooks.signatures(webhook, started_at, &id, &body);
        let request = WebhookRequest::new(webhook.url.clone(), id, started_at.timestamp(), signature, body);
        let sent = timeout(LIMIT, sender.send(request)).await.unwrap_or(Err(SendError::TimedOut));
        let (http_status, error) = match sent {
            Ok(status) => (Some(status), refused(status).map(str::to_owned)),
            Err(error) => (None, Some(error.to_string())),
        };
        let duration_ms = u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX);
        Ok(WebhookAnswer { http_status, error, started_at, duration_ms })
    }
}

fn refused(status: u16) -> Option<&'static str> {
    match status {
        200..=299 => None,
        300..=399 => Some("redirects are not followed"),
        _ => Some("the status of the answer is not 2xx"),
    }
}
