use iam_model::audit::{AuditEntry, EventFormat, OcsfEvent, ShownEntry};
use iam_model::clock::shown;
use iam_model::error::{Error, Result};
use iam_model::webhook::Webhook;
use serde::Serialize;

/// The body of a request to a receiver, by Standard Webhooks 1.0.
#[derive(Serialize)]
struct Message<'a> {
    r#type: String,
    timestamp: String,
    data: ShownEntry<'a>,
}

/// Returns the body of the request that sends an entry. An event of OCSF names its type and its time itself, so it is
/// the whole body.
pub(super) fn body(webhook: &Webhook, entry: &AuditEntry) -> Result<Vec<u8>> {
    let body = match webhook.format {
        EventFormat::Native => {
            let (r#type, timestamp) = (entry.event_type(), shown(entry.created_at));
            serde_json::to_vec(&Message { r#type, timestamp, data: entry.into() })
        }
        EventFormat::Ocsf => serde_json::to_vec(&OcsfEvent::of(entry)),
    };
    body.map_err(|cause| Error::internal("body of a webhook's request", cause))
}
