use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::id::{AuditEntryId, TenantId, WebhookId};
use crate::webhook::Webhook;

/// The state of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeliveryStatus {
    /// The receiver has accepted the event.
    Delivered,
    /// The last attempt failed, and another one follows.
    Pending,
    /// No attempt follows: all failed, or the event cannot be sent any more.
    Failed,
}

text_enum! { DeliveryStatus { Delivered = "DELIVERED", Pending = "PENDING", Failed = "FAILED" } }

/// The delivery of an event to the receiver of a webhook, after at least one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The number of the event in the log.
    pub sequence: u64,
    /// The entry of the event; the header `webhook-id`.
    pub entry_id: AuditEntryId,
    /// The type of the event.
    pub event_type: String,
    /// The number of attempts so far.
    pub attempt: u32,
    /// Its state.
    pub status: DeliveryStatus,
    /// The status code of the last answer. `None` if there was no answer.
    pub http_status: Option<u16>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// When the last attempt began.
    pub started_at: Timestamp,
    /// How long the last attempt took, in milliseconds.
    pub duration_ms: u32,
    /// When the next attempt is due, if one follows.
    pub next_attempt_at: Option<Timestamp>,
}

impl Delivery {
    /// How many deliveries of a webhook are shown: the newest 200.
    pub const SHOWN: u32 = 200;
}

/// How far a webhook has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryProgress {
    /// Each event up to this number was attempted, or is not meant by the webhook.
    pub attempted: u64,
    /// The number of attempts that failed since the last success.
    pub failures: u32,
    /// Until when no further event is attempted for the first time, after many failures.
    pub paused_until: Option<Timestamp>,
}

impl DeliveryProgress {
    /// After how many failures further events pause.
    const MAX_FAILURES: u32 = 10;

    /// How long they pause.
    const PAUSE: TimeDelta = TimeDelta::minutes(5);

    /// Returns the progress after the first attempt for an event. A receiver that fails again and again gets one
    /// further event every five minutes; the others stay in the log. The first success ends the pause.
    #[must_use]
    pub fn after_first_attempt(self, is_success: bool, now: Timestamp) -> Self {
        let after = self.after_retry(is_success);
        let pauses = after.failures >= Self::MAX_FAILURES;
        Self { paused_until: pauses.then(|| now + Self::PAUSE), ..after }
    }

    /// Returns the progress after another attempt for an event, which does not prolong the pause.
    #[must_use]
    pub fn after_retry(self, is_success: bool) -> Self {
        if is_success { self.restarted() } else { Self { failures: self.failures.saturating_add(1), ..self } }
    }

    /// Returns the progress without the failures so far.
    #[must_use]
    pub fn restarted(self) -> Self {
        Self { failures: 0, paused_until: None, ..self }
    }

    /// Whether further events pause at a moment.
    #[must_use]
    pub fn is_paused(&self, now: Timestamp) -> bool {
        self.paused_until.is_some_and(|until| now < until)
    }
}

/// The work for a webhook.
#[derive(Clone, Debug)]
pub struct WebhookWork {
    /// The webhook, which is enabled, and whose tenant is active.
    pub webhook: Webhook,
    /// How far it has come.
    pub progress: DeliveryProgress,
    /// Deliveries whose next attempt is due, in the order of the log, of events that count as attempted: those after a
    /// replay are sent again anyway.
    pub due: Vec<Delivery>,
}

/// A webhook with something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DueWebhook {
    /// Its tenant.
    pub tenant_id: TenantId,
    /// The webhook.
    pub id: WebhookId,
    /// Whether its last attempt has failed.
    pub is_failing: bool,
}

/// How far the enabled webhooks are behind their logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WebhookBacklog {
    /// The number of events that the webhook furthest behind has not attempted.
    pub entries: u64,
    /// The time of the oldest event that some webhook has not attempted.
    pub since: Option<Timestamp>,
}

/// Returns how long to wait after a failed attempt with this number. `None` after the last one.
///
/// The delays are those of Standard Webhooks 1.0, "Deliverability and reliability": 5 s, 5 min, 30 min, 2 h, 5 h, 10 h,
/// 14 h, 20 h, 24 h.
#[must_use]
pub fn wait_after(attempt: u32) -> Option<TimeDelta> {
    const SECONDS: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
    let index = usize::try_from(attempt.checked_sub(1)?).ok()?;
    SECONDS.get(index).map(|seconds| TimeDelta::seconds(*seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::testing::at;

    #[test]
    fn the_delays_grow_until_the_last_attempt() {
        let delays: Vec<i64> = (1..=9).map(|attempt| wait_after(attempt).unwrap().num_seconds()).collect();
        assert_eq!(delays, [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
        assert_eq!((wait_after(0), wait_after(10)), (None, None));
    }

    #[test]
    fn ten_failures_pause_further_events_until_the_first_success() {
        let mut progress = DeliveryProgress { attempted: 7, ..DeliveryProgress::default() };
        for _ in 0..9 {
            progress = progress.after_first_attempt(false, at(0));
        }
        assert!(!progress.is_paused(at(0)));
        let retried = progress.after_retry(false);
        assert_eq!((retried.failures, retried.paused_until), (10, None));
        progress = progress.after_first_attempt(false, at(0));
        assert!(progress.is_paused(at(299)) && !progress.is_paused(at(300)));
        assert!(!progress.after_retry(false).is_paused(at(300)));
        assert!(progress.after_first_attempt(false, at(300)).is_paused(at(599)));
        let expected = DeliveryProgress { attempted: 7, ..DeliveryProgress::default() };
        assert_eq!((progress.after_first_attempt(true, at(1)), progress.after_retry(true)), (expected, expected));
    }
}
