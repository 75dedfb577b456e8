//! Webhooks, and what they have sent.

use iam_core::webhook::EventFormat;

pub(crate) const WEBHOOKS: &str = "Webhooks";
pub(crate) const WEBHOOK: &str = "Webhook";
pub(crate) const WEBHOOKS_WHAT: &str =
    "A webhook sends events of this tenant to another system, as soon as they are in the audit log.";
pub(crate) const NO_WEBHOOKS: &str = "There is no webhook yet.";
pub(crate) const NEW_WEBHOOK: &str = "New webhook";
pub(crate) const CREATE_WEBHOOK: &str = "Create the webhook";
pub(crate) const WEBHOOK_URL: &str = "Address";
pub(crate) const WEBHOOK_URL_HINT: &str =
    "Where the events go, such as https://example.com/events. It must contain no secret: the audit log shows it.";
pub(crate) const EVENT_TYPES: &str = "Types of events";
pub(crate) const EVENT_TYPES_HINT: &str = "One on each line, such as USER.CREATE. USER.* means every action on users.";
pub(crate) const EVENT_CATALOGUE: &str = "All types of events";
pub(crate) const NEEDS_AUDIT_LOG: &str = "A webhook sends entries of the audit log. You may not read it, so you can change neither the address nor the types.";
pub(crate) const EVENT_FORMAT: &str = "How it writes events";
pub(crate) const WEBHOOK_ENABLED: &str = "It sends events";
pub(crate) const WEBHOOK_DELETED: &str = "The webhook is deleted.";
pub(crate) const WEBHOOK_SECRET: &str = "Secret of the webhook";

/// The name of a format of events.
pub(crate) fn event_format(format: &EventFormat) -> &'static str {
    match format {
        EventFormat::Native => "As entries of the audit log",
        EventFormat::Ocsf => "OCSF: the Open Cybersecurity Schema Framework, for a SIEM",
    }
}

pub(crate) fn unknown_types(types: &str) -> String {
    format!("The service itself records no event of this type: {types}. Only your own application can record it.")
}

pub(crate) const WEBHOOK_CHANGED_MEANWHILE: &str =
    "The webhook has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const WHAT_IT_SENDS: &str = "What it sends";
pub(crate) const ABOUT_THIS_WEBHOOK: &str = "what was done to this webhook";
pub(crate) const SECRET: &str = "Secret";
pub(crate) const SECRET_ONCE: &str =
    "The receiver verifies requests with this secret. Copy it now: it is not shown again.";
pub(crate) const ROTATE_SECRET: &str = "Make a new secret";
pub(crate) const ROTATE_WHAT: &str = "Requests are then signed with the old secret too, for 24 hours.";
pub(crate) const TEST: &str = "Test";
pub(crate) const TEST_WHAT: &str = "Sends an event of the type WEBHOOK.TEST at once, and shows the answer here. A test is neither in the audit log nor in the deliveries.";
pub(crate) const SEND_TEST: &str = "Send a test";
pub(crate) const DELETE_WEBHOOK_WHAT: &str = "It sends no more events, and its deliveries are removed.";
pub(crate) const DELETE_WEBHOOK_CONFIRM: &str = "Yes, delete this webhook";
pub(crate) const DELIVERIES: &str = "Deliveries";
pub(crate) const DELIVERIES_WHAT: &str =
    "The newest 200, by their last attempt. Those that have ended are removed after seven days.";
pub(crate) const NO_DELIVERIES: &str =
    "No event was sent yet. The next event of these types is. Tests are not listed here.";
pub(crate) const DELIVERED: &str = "Delivered";
pub(crate) const DELIVERY_PENDING: &str = "Waiting for the next attempt";
pub(crate) const DELIVERY_PAUSED: &str = "Waiting until the webhook is on";
pub(crate) const DELIVERY_FAILED: &str = "Failed";
pub(crate) const RECEIVER_ANSWER: &str = "Answer";
pub(crate) const NO_ANSWER: &str = "none";
pub(crate) const ATTEMPT: &str = "Attempts";
pub(crate) const NEXT_ATTEMPT: &str = "the next one at";
pub(crate) const SEQUENCE: &str = "Number of the event";
pub(crate) const SEND_AGAIN_FROM_HERE: &str = "Send again, with all later events";
pub(crate) const SEND_AGAIN_EVENTS: &str = "Send old events again";
pub(crate) const FROM_SEQUENCE: &str = "Number of the event to begin with";
pub(crate) const FROM_SEQUENCE_HINT: &str = "This event and all later ones of these types are sent again.";
pub(crate) const EVENTS_ARE_SENT_AGAIN: &str = "The events are sent again. Open this page later to see the answers.";

/// The answer of the receiver of a webhook to a test.
pub(crate) fn test_result(status: Option<u16>, error: Option<&str>, duration_ms: u32) -> String {
    let answer = match status {
        Some(status) => format!("The receiver answered {status} after {duration_ms} ms"),
        None => format!("The test failed after {duration_ms} ms"),
    };
    match error {
        Some(error) => format!("{answer}: {error}."),
        None => format!("{answer}. The test is accepted."),
    }
}
